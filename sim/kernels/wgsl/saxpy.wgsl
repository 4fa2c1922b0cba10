// y = factor * x + y in f32, four elements at a time, in a grid-stride loop: the grid may have any size. Neighbouring
// invocations touch neighbouring 16 bytes. The number of elements is a multiple of 4.

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> y: array<vec4<f32>>;
@group(0) @binding(2) var<uniform> factor: f32;

const WORKGROUP = 256u;

@compute @workgroup_size(WORKGROUP)
fn saxpy(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>) {
    for (var i = id.x; i < arrayLength(&y); i += grid.x * WORKGROUP) {
        y[i] = fma(vec4(factor), x[i], y[i]);
    }
}
