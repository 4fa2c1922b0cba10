// y = A x for a sparse f32 matrix in compressed rows: row i has values[offsets[i]..offsets[i+1]], in the columns of the same
// positions. One invocation a row: rows of different length diverge, and reads of x follow the columns wherever they lead.

@group(0) @binding(0) var<storage, read> offsets: array<u32>;
@group(0) @binding(1) var<storage, read> columns: array<u32>;
@group(0) @binding(2) var<storage, read> values: array<f32>;
@group(0) @binding(3) var<storage, read> x: array<f32>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(128)
fn spmv(@builtin(global_invocation_id) id: vec3<u32>) {
    let row = id.x;
    if row >= arrayLength(&y) {
        return;
    }
    var sum = 0.0;
    let end = offsets[row + 1];
    for (var entry = offsets[row]; entry < end; entry++) {
        sum = fma(values[entry], x[columns[entry]], sum);
    }
    y[row] = sum;
}
