// Exclusive prefix sum of u32 values in a single launch, by decoupled look-back (Merrill and Garland, 2016). A workgroup scans a
// block of values and tells the others its sum at once; then it looks back at the blocks before it, adding up their sums until it
// finds one that knows the sum of everything before it already.
//
// What a block has told is one word, so that a relaxed atomic reads all of it or nothing: two bits for how much is known, 30 for
// the sum. Hence the total must be below 2^30. Workgroups take blocks in the order in which they start, not by their number: so
// the blocks before one's own are all under way, and every wait ends, in whatever order workgroups are dispatched.

const WORKGROUP = 256u;
const PER_INVOCATION = 4u; // vectors of four values

const NOTHING = 0u; // what buffers begin with
const SUM = 1u; // the sum of the block
const PREFIX = 2u; // the sum of all blocks up to and with this one
const SUM_BITS = 30u;

@group(0) @binding(0) var<storage, read> values: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> scanned: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> told: array<atomic<u32>>; // by block
@group(0) @binding(3) var<storage, read_write> started: atomic<u32>; // blocks

var<workgroup> block: u32;
var<workgroup> before_block: u32;
// A word for each subgroup, whatever its size.
var<workgroup> subgroup_sums: array<u32, WORKGROUP>;

@compute @workgroup_size(WORKGROUP)
fn lookback_scan(
    @builtin(local_invocation_index) t: u32,
    @builtin(subgroup_id) subgroup: u32,
    @builtin(num_subgroups) subgroups: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) lanes: u32,
) {
    if t == 0 {
        block = atomicAdd(&started, 1);
    }
    let mine = workgroupUniformLoad(&block);

    // Vector j of the invocation is one of WORKGROUP neighbours, so the block is scanned in PER_INVOCATION rows.
    let first = mine * WORKGROUP * PER_INVOCATION + t;
    var row: array<vec4<u32>, PER_INVOCATION>; // prefix sums inside the vector, ends with the sum in w
    var offset: array<u32, PER_INVOCATION>; // of the vector, in the block
    var sum = 0u; // of the rows so far
    for (var j = 0u; j < PER_INVOCATION; j++) {
        var four = vec4<u32>();
        if first + j * WORKGROUP < arrayLength(&values) {
            four = values[first + j * WORKGROUP];
        }
        four.y += four.x;
        four.z += four.y;
        four.w += four.z;
        row[j] = four;
        let subgroup_sum = subgroupAdd(four.w);
        workgroupBarrier(); // the sums of the last row were read
        if lane == 0 {
            subgroup_sums[subgroup] = subgroup_sum;
        }
        workgroupBarrier();
        var before = 0u;
        var all = 0u;
        for (var start = 0u; start < subgroups; start += lanes) {
            let other = start + lane;
            if other < subgroups {
                let other_sum = subgroup_sums[other];
                all += other_sum;
                before += select(0, other_sum, other < subgroup);
            }
        }
        offset[j] = sum + subgroupAdd(before) + subgroupExclusiveAdd(four.w);
        sum += subgroupAdd(all);
    }

    // The first subgroup looks back, as many blocks at once as it has lanes.
    if subgroup == 0 {
        var prefix = 0u;
        if mine > 0 {
            if lane == 0 {
                atomicStore(&told[mine], (SUM << SUM_BITS) | sum);
            }
            var end = mine; // blocks from here on are added up
            loop {
                // What is before the first block is known to be 0.
                var word = PREFIX << SUM_BITS;
                if lane < end {
                    word = atomicLoad(&told[end - 1 - lane]);
                }
                let known = word >> SUM_BITS;
                let nearest = subgroupMin(select(lanes, lane, known == PREFIX));
                if subgroupAny(known == NOTHING && lane < nearest) {
                    continue; // look again
                }
                let value = word & ((1u << SUM_BITS) - 1);
                prefix += subgroupAdd(select(0, value, lane <= nearest));
                if nearest < lanes {
                    break;
                }
                end -= lanes;
            }
        }
        if lane == 0 {
            atomicStore(&told[mine], (PREFIX << SUM_BITS) | (prefix + sum));
            before_block = prefix;
        }
    }
    let prefix = workgroupUniformLoad(&before_block);

    for (var j = 0u; j < PER_INVOCATION; j++) {
        let i = first + j * WORKGROUP;
        if i < arrayLength(&scanned) {
            scanned[i] = prefix + offset[j] + vec4(0, row[j].xyz);
        }
    }
}
