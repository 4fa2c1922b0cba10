// Sort of u32 keys by digits of 4 bits, the lowest first: eight passes of three launches.
//   1. count: each block of 256 keys counts its digits;
//   2. scan: exclusive prefix sums over the counts, digit by digit and in a digit block by block, by one workgroup. They are the
//      places where the keys of a digit of a block begin;
//   3. scatter: each block sorts its keys by the digit in workgroup memory, and writes them out in runs.
// Keys of the same digit keep their order: so the order by lower digits survives. The number of keys is a multiple of 256.

struct Pass {
    shift: u32, // of the digit
    blocks: u32,
}

@group(0) @binding(0) var<storage, read> keys: array<u32>;
@group(0) @binding(1) var<storage, read_write> sorted: array<u32>;
@group(0) @binding(2) var<storage, read_write> counts: array<u32>; // by digit, then block
@group(0) @binding(3) var<uniform> digit_pass: Pass;

const BLOCK = 256u;
const DIGITS = 16u;

fn digit(key: u32) -> u32 {
    return extractBits(key, digit_pass.shift, 4);
}

var<workgroup> bins: array<atomic<u32>, DIGITS>;

@compute @workgroup_size(BLOCK)
fn count(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(workgroup_id) block: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    atomicAdd(&bins[digit(keys[id.x])], 1);
    workgroupBarrier();
    if t < DIGITS {
        counts[t * digit_pass.blocks + block.x] = atomicLoad(&bins[t]);
    }
}

// A word for each subgroup, whatever its size.
var<workgroup> subgroup_sums: array<u32, BLOCK>;

struct Sums {
    before: u32, // of the invocations before this one
    all: u32,
}

// Which invocation this is.
struct Place {
    subgroup: u32,
    subgroups: u32,
    lane: u32,
    lanes: u32,
}

// Exclusive prefix sum over the workgroup. All of its invocations must call it.
fn workgroup_scan(value: u32, place: Place) -> Sums {
    let inside = subgroupExclusiveAdd(value);
    let sum = subgroupAdd(value);
    workgroupBarrier(); // the sums of the last call were read
    if place.lane == 0 {
        subgroup_sums[place.subgroup] = sum;
    }
    workgroupBarrier();
    // Every subgroup sums those before it and all of them.
    var sums = Sums(0, 0);
    for (var first = 0u; first < place.subgroups; first += place.lanes) {
        let i = first + place.lane;
        if i < place.subgroups {
            let other = subgroup_sums[i];
            sums.before += select(0, other, i < place.subgroup);
            sums.all += other;
        }
    }
    return Sums(inside + subgroupAdd(sums.before), subgroupAdd(sums.all));
}

@compute @workgroup_size(BLOCK)
fn scan(
    @builtin(local_invocation_index) t: u32,
    @builtin(subgroup_id) subgroup: u32,
    @builtin(num_subgroups) subgroups: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) lanes: u32,
) {
    let place = Place(subgroup, subgroups, lane, lanes);
    let length = DIGITS * digit_pass.blocks;
    var done = 0u;
    for (var start = 0u; start < length; start += BLOCK) {
        let i = start + t;
        var value = 0u;
        if i < length {
            value = counts[i];
        }
        let sums = workgroup_scan(value, place);
        if i < length {
            counts[i] = done + sums.before;
        }
        done += sums.all;
    }
}

var<workgroup> block_keys: array<u32, BLOCK>;
var<workgroup> begins: array<u32, DIGITS>; // first key of each digit in block_keys

@compute @workgroup_size(BLOCK)
fn scatter(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(workgroup_id) block: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
    @builtin(subgroup_id) subgroup: u32,
    @builtin(num_subgroups) subgroups: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) lanes: u32,
) {
    let place = Place(subgroup, subgroups, lane, lanes);
    // Bit by bit: the keys with a 0 come before those with a 1.
    var key = keys[id.x];
    for (var bit = digit_pass.shift; bit < digit_pass.shift + 4; bit++) {
        let one = extractBits(key, bit, 1);
        let zeros = workgroup_scan(1 - one, place);
        block_keys[select(zeros.before, zeros.all + t - zeros.before, one == 1)] = key;
        workgroupBarrier();
        key = block_keys[t];
    }
    let mine = digit(key);
    if t == 0 || digit(block_keys[t - 1]) != mine {
        begins[mine] = t;
    }
    workgroupBarrier();
    sorted[counts[mine * digit_pass.blocks + block.x] + t - begins[mine]] = key;
}
