// Keeps the values above a threshold: kept[0..count) holds them afterwards, in any order. A ballot tells how many values a
// subgroup keeps, and each invocation how many of them are before its own; one atomic a subgroup reserves the room for all.

@group(0) @binding(0) var<storage, read> values: array<u32>;
@group(0) @binding(1) var<storage, read_write> kept: array<u32>;
@group(0) @binding(2) var<storage, read_write> count: atomic<u32>;

override threshold: u32;

const WORKGROUP = 256u;

@compute @workgroup_size(WORKGROUP)
fn compact(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(subgroup_invocation_id) lane: u32,
) {
    // A subgroup leaves the loop as a whole, so that its first invocation is there for the atomic.
    for (var first = id.x - lane; first < arrayLength(&values); first += grid.x * WORKGROUP) {
        let i = first + lane;
        var value = 0u;
        var keep = false;
        if i < arrayLength(&values) {
            value = values[i];
            keep = value > threshold;
        }
        let bits = countOneBits(subgroupBallot(keep));
        var place = 0u;
        if lane == 0 {
            place = atomicAdd(&count, bits.x + bits.y + bits.z + bits.w);
        }
        place = subgroupBroadcastFirst(place) + subgroupExclusiveAdd(u32(keep));
        if keep {
            kept[place] = value;
        }
    }
}
