// Exclusive prefix sum of u32 values, modulo 2^32, in three launches:
//   1. scan_blocks over the values: each workgroup scans its block and puts down the block's sum;
//   2. scan_blocks over the sums, by one workgroup;
//   3. add_offsets adds to each block the scanned sum of the blocks before it.
// A block has four values an invocation; the number of values is a multiple of 4.

@group(0) @binding(0) var<storage, read> values: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> scanned: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> sums: array<u32>; // of blocks

const WORKGROUP = 256u;

// A word for each subgroup, whatever its size.
var<workgroup> subgroup_sums: array<u32, WORKGROUP>;

@compute @workgroup_size(WORKGROUP)
fn scan_blocks(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(workgroup_id) block: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
    @builtin(subgroup_id) subgroup: u32,
    @builtin(num_subgroups) subgroups: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) lanes: u32,
) {
    // Those past the end scan zeros.
    var four = vec4<u32>();
    if id.x < arrayLength(&values) {
        four = values[id.x];
    }

    // Inside the invocation, and inside the subgroup.
    let two = four.x + four.y;
    let three = two + four.z;
    let all = three + four.w;
    let lane_offset = subgroupExclusiveAdd(all);
    let subgroup_sum = subgroupAdd(all);
    if lane == 0 {
        subgroup_sums[subgroup] = subgroup_sum;
    }
    workgroupBarrier();

    // Inside the workgroup: every subgroup sums those before it and all of them.
    var before = 0u;
    var sum = 0u;
    for (var first = 0u; first < subgroups; first += lanes) {
        let other = first + lane;
        if other < subgroups {
            let other_sum = subgroup_sums[other];
            sum += other_sum;
            before += select(0, other_sum, other < subgroup);
        }
    }
    let offset = lane_offset + subgroupAdd(before);
    sum = subgroupAdd(sum);

    if id.x < arrayLength(&values) {
        scanned[id.x] = offset + vec4(0, four.x, two, three);
    }
    if t == 0 {
        sums[block.x] = sum;
    }
}

@group(0) @binding(3) var<storage, read> offsets: array<u32>; // of blocks

@compute @workgroup_size(WORKGROUP)
fn add_offsets(@builtin(global_invocation_id) id: vec3<u32>, @builtin(workgroup_id) block: vec3<u32>) {
    if id.x < arrayLength(&scanned) {
        scanned[id.x] += vec4(offsets[block.x]);
    }
}
