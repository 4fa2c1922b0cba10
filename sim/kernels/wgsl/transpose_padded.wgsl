// out[x][y] = in[y][x] of a matrix of 32-bit elements, by tiles of 32 x 32 through workgroup memory, so that reads and writes of
// device memory both run along rows. A row of the tile takes 33 words: with 32, the words of a column would all lie in one bank.

@group(0) @binding(0) var<storage, read> in: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@group(0) @binding(2) var<uniform> size: vec2<u32>; // of in, multiples of 32

const TILE = 32u;
const ROWS = 4u; // of invocations: each moves 8 elements

var<workgroup> tile: array<array<u32, TILE + 1>, TILE>;

@compute @workgroup_size(TILE, ROWS)
fn transpose_padded(@builtin(local_invocation_id) local: vec3<u32>, @builtin(workgroup_id) workgroup: vec3<u32>) {
    let corner = workgroup.xy * TILE;

    var source = (corner.y + local.y) * size.x + corner.x + local.x;
    for (var y = local.y; y < TILE; y += ROWS) {
        tile[y][local.x] = in[source];
        source += ROWS * size.x;
    }
    workgroupBarrier();

    var destination = (corner.x + local.y) * size.y + corner.y + local.x;
    for (var x = local.y; x < TILE; x += ROWS) {
        out[destination] = tile[local.x][x];
        destination += ROWS * size.y;
    }
}
