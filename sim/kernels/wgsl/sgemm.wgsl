// C = A B in f32, row-major: A is M x K, B is K x N, C is M x N; M and N multiples of 32, K of 16.
//
// A workgroup of 64 invocations computes a tile of 32 x 32, each invocation 4 x 4 of it. It walks along K in steps of 16: it
// fetches a 32 x 16 piece of A and a 16 x 32 piece of B, puts them into workgroup memory, and multiplies them.

struct Sizes {
    n: u32,
    k: u32,
}

@group(0) @binding(0) var<storage, read> a: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> b: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> c: array<vec4<f32>>;
@group(0) @binding(3) var<uniform> sizes: Sizes;

const TILE = 32u;
const DEPTH = 16u;

// Both pieces by k, two values in an element. A row takes 34 words: with 32, invocations that store different k of A would
// meet in one bank.
var<workgroup> a_piece: array<array<vec2<f32>, TILE / 2 + 1>, DEPTH>;
var<workgroup> b_piece: array<array<vec2<f32>, TILE / 2 + 1>, DEPTH>;

// Grid: x = N / 32, y = M / 32.
@compute @workgroup_size(64)
fn sgemm(@builtin(local_invocation_index) t: u32, @builtin(workgroup_id) tile: vec3<u32>) {
    let column = tile.x * TILE;
    let row = tile.y * TILE;
    let n4 = sizes.n / 4; // vectors in a row of B and C
    let k4 = sizes.k / 4; // and of A

    // What the invocation fetches: four values of a row of A, and of the row 16 below; the same of B, 8 rows apart.
    let a_row = t / 4;
    let a_depth = t % 4 * 4;
    var a_at = (row + a_row) * k4 + a_depth / 4;
    let b_depth = t / 8;
    let b_column = t % 8 * 4;
    var b_at = b_depth * n4 + (column + b_column) / 4;

    // What it computes.
    let my_row = t / 8 * 4;
    let my_column = t % 8 * 4;
    var sum: array<vec4<f32>, 4>;
    for (var start = 0u; start < sizes.k; start += DEPTH) {
        let a_high = a[a_at];
        let a_low = a[a_at + 16 * k4];
        let b_high = b[b_at];
        let b_low = b[b_at + 8 * n4];
        a_at += DEPTH / 4;
        b_at += DEPTH * n4;

        workgroupBarrier(); // nobody reads the pieces of the last step any more
        for (var i = 0u; i < 4; i++) {
            a_piece[a_depth + i][a_row / 2][a_row % 2] = a_high[i];
            a_piece[a_depth + i][a_row / 2 + 8][a_row % 2] = a_low[i];
        }
        b_piece[b_depth][b_column / 2] = b_high.xy;
        b_piece[b_depth][b_column / 2 + 1] = b_high.zw;
        b_piece[b_depth + 8][b_column / 2] = b_low.xy;
        b_piece[b_depth + 8][b_column / 2 + 1] = b_low.zw;
        workgroupBarrier(); // the pieces are complete

        for (var d = 0u; d < DEPTH; d++) {
            let left = vec4(a_piece[d][my_row / 2], a_piece[d][my_row / 2 + 1]);
            let right = vec4(b_piece[d][my_column / 2], b_piece[d][my_column / 2 + 1]);
            for (var i = 0u; i < 4; i++) {
                sum[i] = fma(vec4(left[i]), right, sum[i]);
            }
        }
    }
    var c_at = (row + my_row) * n4 + (column + my_column) / 4;
    for (var i = 0u; i < 4; i++) {
        c[c_at] = sum[i];
        c_at += n4;
    }
}
