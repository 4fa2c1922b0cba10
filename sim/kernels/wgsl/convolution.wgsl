// Convolution of a grey picture with a square filter. A workgroup loads the pixels under its filter, 16 x 16 and a rim (the halo)
// around them, into workgroup memory, whose size a pipeline constant decides. Past the border the nearest pixel counts.

@group(0) @binding(0) var<storage, read> picture: array<f32>;
@group(0) @binding(1) var<storage, read_write> result: array<f32>;
@group(0) @binding(2) var<uniform> size: vec2<u32>;
// Row by row. Elements of arrays in uniform buffers are 16 bytes apart: so four numbers in each.
@group(0) @binding(3) var<uniform> filter_rows: array<vec4<f32>, 13>;

override radius: u32 = 2; // at most 3: 7 x 7 numbers

const TILE = 16u;
override side = TILE + 2 * radius; // of the tile with its rim

var<workgroup> tile: array<f32, side * side>;

@compute @workgroup_size(TILE, TILE)
fn convolution(
    @builtin(global_invocation_id) at: vec3<u32>,
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    let corner = vec2<i32>(workgroup.xy * TILE) - i32(radius);
    let last = vec2<i32>(size) - 1;
    for (var i = t; i < side * side; i += TILE * TILE) {
        let pixel = clamp(corner + vec2<i32>(vec2(i % side, i / side)), vec2(0), last);
        tile[i] = picture[u32(pixel.y) * size.x + u32(pixel.x)];
    }
    workgroupBarrier();
    if any(at.xy >= size) {
        return;
    }

    var sum = 0.0;
    let width = 2 * radius + 1;
    for (var y = 0u; y < width; y++) {
        for (var x = 0u; x < width; x++) {
            let i = y * width + x;
            sum = fma(filter_rows[i / 4][i % 4], tile[(local.y + y) * side + local.x + x], sum);
        }
    }
    result[at.y * size.x + at.x] = sum;
}
