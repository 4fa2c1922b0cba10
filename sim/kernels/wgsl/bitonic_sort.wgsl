// Bitonic sort of u32 keys, ascending; n a power of two, at least 512. A bitonic network compares keys i and i + j in rounds:
// k = 2, 4, .. n (length of the sorted runs), for each k: j = k/2, k/4, .. 1. Runs ascend where bit k of i is clear and descend
// where it is set.
//
// Rounds with j <= 256 stay inside blocks of 512 keys: sort_local does as many of them as it can in workgroup memory, in one
// launch. Rounds with a larger j need all blocks, so each is a launch of compare_global.

struct Rounds {
    first_k: u32,
    last_k: u32,
    j: u32, // of compare_global
}

@group(0) @binding(0) var<storage, read_write> keys: array<u32>;
@group(0) @binding(1) var<uniform> rounds: Rounds;

const WORKGROUP = 256u;
const BLOCK = 512u;

var<workgroup> block: array<u32, BLOCK>;

// Rounds of each k from j = min(k/2, 256) down.
@compute @workgroup_size(WORKGROUP)
fn sort_local(@builtin(local_invocation_index) t: u32, @builtin(workgroup_id) workgroup: vec3<u32>) {
    let start = workgroup.x * BLOCK;
    block[t] = keys[start + t];
    block[t + WORKGROUP] = keys[start + t + WORKGROUP];
    for (var k = rounds.first_k; k <= rounds.last_k; k <<= 1) {
        for (var j = min(k / 2, WORKGROUP); j > 0; j >>= 1) {
            workgroupBarrier(); // the last round is complete
            let a = 2 * t - (t & (j - 1)); // t with a zero put in at the bit of j
            let x = block[a];
            let y = block[a + j];
            let ascending = ((start + a) & k) == 0;
            block[a] = select(max(x, y), min(x, y), ascending);
            block[a + j] = select(min(x, y), max(x, y), ascending);
        }
    }
    workgroupBarrier();
    keys[start + t] = block[t];
    keys[start + t + WORKGROUP] = block[t + WORKGROUP];
}

// One invocation a pair; k is first_k.
@compute @workgroup_size(WORKGROUP)
fn compare_global(@builtin(global_invocation_id) id: vec3<u32>) {
    let j = rounds.j;
    let i = 2 * id.x - (id.x & (j - 1));
    let x = keys[i];
    let y = keys[i + j];
    let ascending = (i & rounds.first_k) == 0;
    keys[i] = select(max(x, y), min(x, y), ascending);
    keys[i + j] = select(min(x, y), max(x, y), ascending);
}
