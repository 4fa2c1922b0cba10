// y[i] = scale * x[i], but at least the first limit and at most the second.
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(1) @binding(0) var<uniform> limits: vec2<f32>;

override scale: f32;
override threads: u32 = 64;

@compute @workgroup_size(threads)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    if i < arrayLength(&y) {
        y[i] = clamp(scale * x[i], limits.x, limits.y);
    }
}
