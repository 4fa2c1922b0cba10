// Softmax of each row of an f32 matrix: exp(x - m) / sum of exp(x - m), m the largest x of the row. One workgroup a row. The row
// stays in workgroup memory between the passes; maximum and sum go across a subgroup by its functions and across the workgroup
// through workgroup memory.

@group(0) @binding(0) var<storage, read> scores: array<f32>;
@group(0) @binding(1) var<storage, read_write> weights: array<f32>;
@group(0) @binding(2) var<uniform> columns: u32; // up to 2048

const WORKGROUP = 128u;
const LOWEST = -3.4028235e38;
const LOG2_E = 1.44269504;

var<workgroup> row: array<f32, 2048>;
// A word for each subgroup, whatever its size.
var<workgroup> maxima: array<f32, WORKGROUP>;
var<workgroup> sums: array<f32, WORKGROUP>;

// Grid: x = rows.
@compute @workgroup_size(WORKGROUP)
fn softmax(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
    @builtin(subgroup_id) subgroup: u32,
    @builtin(num_subgroups) subgroups: u32,
    @builtin(subgroup_invocation_id) lane: u32,
) {
    let start = workgroup.x * columns;

    var largest = f32(LOWEST);
    for (var i = t; i < columns; i += WORKGROUP) {
        let x = scores[start + i];
        row[i] = x;
        largest = max(largest, x);
    }
    largest = subgroupMax(largest);
    if lane == 0 {
        maxima[subgroup] = largest;
    }
    workgroupBarrier();
    for (var i = 0u; i < subgroups; i++) {
        largest = max(largest, maxima[i]);
    }

    var sum = 0.0;
    for (var i = t; i < columns; i += WORKGROUP) {
        let x = exp2((row[i] - largest) * LOG2_E); // what this invocation put there: no barrier
        row[i] = x;
        sum += x;
    }
    sum = subgroupAdd(sum);
    if lane == 0 {
        sums[subgroup] = sum;
    }
    workgroupBarrier();
    sum = 0.0;
    for (var i = 0u; i < subgroups; i++) {
        sum += sums[i];
    }

    let scale = 1.0 / sum;
    for (var i = t; i < columns; i += WORKGROUP) {
        weights[start + i] = row[i] * scale;
    }
}
