// How often each byte value occurs. Each workgroup counts into 256 bins in workgroup memory and adds its bins to those in device
// memory at the end: 256 device atomics a workgroup, not one a byte. The number of bytes is a multiple of 16.

@group(0) @binding(0) var<storage, read> data: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> bins: array<atomic<u32>>;

const BINS = 256u;

var<workgroup> counts: array<atomic<u32>, BINS>; // zeros, as all workgroup memory at the start

@compute @workgroup_size(BINS)
fn histogram(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    for (var i = id.x; i < arrayLength(&data); i += grid.x * BINS) {
        let words = data[i];
        for (var shift = 0u; shift < 32; shift += 8) {
            let bytes = (words >> vec4(shift)) & vec4(255);
            atomicAdd(&counts[bytes.x], 1);
            atomicAdd(&counts[bytes.y], 1);
            atomicAdd(&counts[bytes.z], 1);
            atomicAdd(&counts[bytes.w], 1);
        }
    }
    workgroupBarrier();

    let count = atomicLoad(&counts[t]);
    if count != 0 { // an empty bin needs no atomic
        atomicAdd(&bins[t], count);
    }
}
