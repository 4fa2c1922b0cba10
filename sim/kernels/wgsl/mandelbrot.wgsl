// For each pixel the number of steps of z = z^2 + c until |z| > 2. Invocations of a subgroup leave the loop at different steps:
// the subgroup goes on until its last one has left. The host gets the same result if nothing is fused or reordered.

struct View {
    origin: vec2<f32>, // c of pixel (0, 0)
    step: vec2<f32>, // of c from pixel to pixel
}

struct Sizes {
    width: u32,
    height: u32,
    limit: u32, // most steps
}

@group(0) @binding(0) var<storage, read_write> picture: array<u32>;
@group(0) @binding(1) var<uniform> view: View;
@group(0) @binding(2) var<uniform> sizes: Sizes;

@compute @workgroup_size(16, 8)
fn mandelbrot(@builtin(global_invocation_id) at: vec3<u32>) {
    if at.x >= sizes.width || at.y >= sizes.height {
        return;
    }
    let c = vec2<f32>(at.xy) * view.step + view.origin;
    var z = vec2<f32>();
    var steps = 0u;
    while steps < sizes.limit {
        let square = z * z;
        if square.x + square.y > 4.0 {
            break;
        }
        let product = z.x * z.y;
        z = vec2(square.x - square.y, product + product) + c;
        steps++;
    }
    picture[at.y * sizes.width + at.x] = steps;
}
