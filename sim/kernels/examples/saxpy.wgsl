// y = a * x + y, one element an invocation.

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;

override a: f32 = 2.0;

@compute @workgroup_size(64)
fn saxpy(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    if i < arrayLength(&y) {
        y[i] = a * x[i] + y[i];
    }
}
