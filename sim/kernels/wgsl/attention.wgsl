// Attention: softmax(Q K^T / sqrt(width)) V for each head, row-major, 32 numbers a row, without the matrix of scores ever being
// stored. An invocation owns a query. It walks over the keys and keeps a sum of values, weighted by the exponential of the score
// less the largest score so far; where a larger one comes, what was summed is scaled down (the online softmax of Milakov and
// Gimelshein, 2018). Keys and values come through workgroup memory, 32 at a time.

@group(0) @binding(0) var<storage, read> queries: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> keys: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> values: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> result: array<vec4<f32>>;

override tokens: u32; // rows of a head, a multiple of 64

const WORKGROUP = 64u;
const VECTORS = 8u; // of a row
const TILE = 32u; // keys
const LOWEST = -3.4028235e38;
// exp(score / sqrt(32)) = 2^(score * this)
const SCALE = 1.44269504 / 5.65685425;

var<workgroup> key_tile: array<array<vec4<f32>, VECTORS>, TILE>;
var<workgroup> value_tile: array<array<vec4<f32>, VECTORS>, TILE>;

// Grid: x = tokens / 64, y = heads.
@compute @workgroup_size(WORKGROUP)
fn attention(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    let head = workgroup.y * tokens;
    let my_row = (head + id.x) * VECTORS;
    var query: array<vec4<f32>, VECTORS>;
    for (var i = 0u; i < VECTORS; i++) {
        query[i] = queries[my_row + i] * SCALE;
    }
    var sum: array<vec4<f32>, VECTORS>;
    var weight = 0.0;
    var largest = f32(LOWEST);

    for (var start = 0u; start < tokens; start += TILE) {
        workgroupBarrier(); // nobody reads the last tile any more
        for (var i = t; i < TILE * VECTORS; i += WORKGROUP) {
            key_tile[i / VECTORS][i % VECTORS] = keys[(head + start) * VECTORS + i];
            value_tile[i / VECTORS][i % VECTORS] = values[(head + start) * VECTORS + i];
        }
        workgroupBarrier();

        for (var four = 0u; four < TILE; four += 4) {
            var scores: vec4<f32>;
            for (var k = 0u; k < 4; k++) {
                var products = query[0] * key_tile[four + k][0];
                for (var i = 1u; i < VECTORS; i++) {
                    products = fma(query[i], key_tile[four + k][i], products);
                }
                scores[k] = products.x + products.y + (products.z + products.w);
            }
            let now = max(largest, max(max(scores.x, scores.y), max(scores.z, scores.w)));
            let shrink = exp2(largest - now);
            let weights = exp2(scores - now);
            largest = now;
            weight = weight * shrink + (weights.x + weights.y + (weights.z + weights.w));
            for (var i = 0u; i < VECTORS; i++) {
                var s = sum[i] * shrink;
                for (var k = 0u; k < 4; k++) {
                    s = fma(vec4(weights[k]), value_tile[four + k][i], s);
                }
                sum[i] = s;
            }
        }
    }

    let scale = 1.0 / weight;
    for (var i = 0u; i < VECTORS; i++) {
        result[my_row + i] = sum[i] * scale;
    }
}
