// Sum of u32 values, modulo 2^32, added to one word. Three levels: each invocation sums what it walks over, subgroupAdd sums a
// subgroup, workgroup memory the subgroups of a workgroup; then one atomic a workgroup. The number of values is a multiple of 4.

@group(0) @binding(0) var<storage, read> values: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> result: atomic<u32>;

const WORKGROUP = 256u;

// A word for each subgroup, whatever its size.
var<workgroup> sums: array<u32, WORKGROUP>;

@compute @workgroup_size(WORKGROUP)
fn reduction(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(subgroup_id) subgroup: u32,
    @builtin(num_subgroups) subgroups: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) lanes: u32,
) {
    var sum = 0u;
    for (var i = id.x; i < arrayLength(&values); i += grid.x * WORKGROUP) {
        let four = values[i];
        sum += four.x + four.y + (four.z + four.w);
    }
    sum = subgroupAdd(sum);
    if lane == 0 {
        sums[subgroup] = sum;
    }
    workgroupBarrier();

    // The first subgroup walks over the sums of all of them in steps of its size.
    if subgroup == 0 {
        sum = 0u;
        for (var i = lane; i < subgroups; i += lanes) {
            sum += sums[i];
        }
        sum = subgroupAdd(sum);
        if lane == 0 {
            atomicAdd(&result, sum);
        }
    }
}
