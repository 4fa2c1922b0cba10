// C = A B in f16 with sums in f16, row-major: A is M x K, B is K x N, C is M x N; M a multiple of 32, N of 64, K of 16.
//
// A workgroup of 64 invocations computes a tile of 32 x 64, each invocation 4 rows x 8 columns of it, in pairs of columns. So
// that a value of A multiplies a pair, it lies in workgroup memory twice over.
enable f16;

// 16 bytes: the largest vector of f16 has only four.
struct Eight {
    low: vec4<f16>,
    high: vec4<f16>,
}

struct Sizes {
    n: u32,
    k: u32,
}

@group(0) @binding(0) var<storage, read> a: array<Eight>;
@group(0) @binding(1) var<storage, read> b: array<Eight>;
@group(0) @binding(2) var<storage, read_write> c: array<Eight>;
@group(0) @binding(3) var<uniform> sizes: Sizes;

const ROWS = 32u;
const COLUMNS = 64u;
const DEPTH = 16u;

// Both pieces by k. A row takes 34 words: with 32, invocations that store different k of A would meet in one bank.
var<workgroup> a_piece: array<array<vec2<f16>, ROWS + 2>, DEPTH>;
var<workgroup> b_piece: array<array<vec4<f16>, COLUMNS / 4 + 1>, DEPTH>;

// Grid: x = N / 64, y = M / 32.
@compute @workgroup_size(64)
fn hgemm(@builtin(local_invocation_index) t: u32, @builtin(workgroup_id) tile: vec3<u32>) {
    let column = tile.x * COLUMNS;
    let row = tile.y * ROWS;
    let n8 = sizes.n / 8;
    let k8 = sizes.k / 8;

    // What the invocation fetches: eight values of a row of A; eight of a row of B, and of the row 8 below.
    let a_row = t / 2;
    let a_depth = t % 2 * 8;
    var a_at = (row + a_row) * k8 + a_depth / 8;
    let b_depth = t / 8;
    let b_column = t % 8 * 8;
    var b_at = b_depth * n8 + (column + b_column) / 8;

    // What it computes.
    let my_row = t / 8 * 4;
    let my_column = t % 8 * 8;
    var sum: array<array<vec2<f16>, 4>, 4>;
    for (var start = 0u; start < sizes.k; start += DEPTH) {
        let left = a[a_at];
        let high = b[b_at];
        let low = b[b_at + 8 * n8];
        a_at += DEPTH / 8;
        b_at += DEPTH * n8;

        workgroupBarrier(); // nobody reads the pieces of the last step any more
        for (var i = 0u; i < 4; i++) {
            a_piece[a_depth + i][a_row] = vec2(left.low[i]);
            a_piece[a_depth + 4 + i][a_row] = vec2(left.high[i]);
        }
        b_piece[b_depth][b_column / 4] = high.low;
        b_piece[b_depth][b_column / 4 + 1] = high.high;
        b_piece[b_depth + 8][b_column / 4] = low.low;
        b_piece[b_depth + 8][b_column / 4 + 1] = low.high;
        workgroupBarrier(); // the pieces are complete

        for (var d = 0u; d < DEPTH; d++) {
            let first = b_piece[d][my_column / 4];
            let second = b_piece[d][my_column / 4 + 1];
            for (var i = 0u; i < 4; i++) {
                let twice = a_piece[d][my_row + i];
                sum[i][0] = fma(twice, first.xy, sum[i][0]);
                sum[i][1] = fma(twice, first.zw, sum[i][1]);
                sum[i][2] = fma(twice, second.xy, sum[i][2]);
                sum[i][3] = fma(twice, second.zw, sum[i][3]);
            }
        }
    }
    var c_at = (row + my_row) * n8 + (column + my_column) / 8;
    for (var i = 0u; i < 4; i++) {
        c[c_at] = Eight(vec4(sum[i][0], sum[i][1]), vec4(sum[i][2], sum[i][3]));
        c_at += n8;
    }
}
