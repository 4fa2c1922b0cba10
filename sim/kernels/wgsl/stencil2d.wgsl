// One step of Jacobi's method: out = mean of the four neighbours in `in`; the border stays as it is. Each workgroup of 32 x 4 puts
// its cells and the ones around them (the halo) into workgroup memory, so that a cell is read from device memory about once.

@group(0) @binding(0) var<storage, read> in: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@group(0) @binding(2) var<uniform> size: vec2<u32>; // multiples of 32 and 4

const WIDTH = 32u;
const HEIGHT = 4u;

// Cell (x, y) of the workgroup is at [y + 1][x + 1]. The corners of the halo are not used and not loaded.
var<workgroup> cells: array<array<f32, WIDTH + 2>, HEIGHT + 2>;

@compute @workgroup_size(WIDTH, HEIGHT)
fn stencil2d(@builtin(global_invocation_id) at: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>) {
    let i = at.y * size.x + at.x;
    let x = local.x + 1;
    let y = local.y + 1;
    let last = size - 1;
    var cell = in[i];
    cells[y][x] = cell;

    // The halo, by the invocations at the edges. Past the border of the grid a cell stands for its neighbour.
    if local.x == 0 {
        cells[y][0] = in[i - min(at.x, 1)];
    }
    if local.x == WIDTH - 1 {
        cells[y][WIDTH + 1] = in[i + min(last.x - at.x, 1)];
    }
    if local.y == 0 {
        cells[0][x] = in[i - min(at.y, 1) * size.x];
    }
    if local.y == HEIGHT - 1 {
        cells[HEIGHT + 1][x] = in[i + min(last.y - at.y, 1) * size.x];
    }
    workgroupBarrier();

    if all(at.xy > vec2<u32>()) && all(at.xy < last) {
        cell = 0.25 * ((cells[y - 1][x] + cells[y][x - 1]) + (cells[y][x + 1] + cells[y + 1][x]));
    }
    out[i] = cell;
}
