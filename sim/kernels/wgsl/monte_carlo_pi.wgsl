// Pi by throwing darts: how many of the random points (x, y) of a square lie in the quarter circle, times 4 / points. Each
// invocation has its own xorshift32 generator and counts on its own; a subgroup adds up with subgroupAdd and adds to the result
// with one atomic. All integers, so the count is exact.

@group(0) @binding(0) var<storage, read_write> hits: atomic<u32>;

override points: u32; // an invocation
override seed: u32;

fn xorshift(state: ptr<function, u32>) -> u32 {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

@compute @workgroup_size(256)
fn monte_carlo_pi(@builtin(global_invocation_id) id: vec3<u32>, @builtin(subgroup_invocation_id) lane: u32) {
    var state = max(((id.x + 1) * 0x9E3779B9) ^ seed, 1);
    var count = 0u;
    for (var i = 0u; i < points; i++) {
        let random = xorshift(&state);
        let point = vec2(random, random >> 15) & vec2(0x7FFF);
        if dot(point, point) < 0x40000000 { // the radius is 2^15
            count++;
        }
    }
    count = subgroupAdd(count);
    if lane == 0 {
        atomicAdd(&hits, count);
    }
}
