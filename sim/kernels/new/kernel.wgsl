// y = a x + y, one element an invocation.

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;

override a: f32 = 1.0;

@compute @workgroup_size(128)
fn saxpy(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    // The last workgroup may reach past the end.
    if i < arrayLength(&y) {
        y[i] = fma(a, x[i], y[i]);
    }
}
