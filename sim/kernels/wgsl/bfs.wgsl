// Breadth-first search, one level a launch. The graph is in compressed rows: the neighbours of v are
// columns[offsets[v]..offsets[v+1]]. A launch takes the vertices of one level from a queue, gives every neighbour that has no depth
// the next one, and puts it into the queue of the next level.
//
// Only atomics touch a depth, and a compare-and-exchange decides who discovers a vertex: so the queue holds each vertex once, in
// an order that differs from machine to machine; the depths do not.

const NONE = 0xFFFFFFFFu;
const WORKGROUP = 256u;

struct Level {
    depth: u32, // of the vertices in the queue
    length: u32, // of the queue
    next_length: atomic<u32>,
}

@group(0) @binding(0) var<storage, read> offsets: array<u32>;
@group(0) @binding(1) var<storage, read> columns: array<u32>;
@group(0) @binding(2) var<storage, read_write> depths: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read> queue: array<u32>;
@group(0) @binding(4) var<storage, read_write> next_queue: array<u32>;
@group(0) @binding(5) var<storage, read_write> level: Level;

@compute @workgroup_size(WORKGROUP)
fn visit(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>) {
    let length = level.length;
    let depth = level.depth;
    for (var i = id.x; i < length; i += grid.x * WORKGROUP) {
        let vertex = queue[i];
        let end = offsets[vertex + 1];
        for (var edge = offsets[vertex]; edge < end; edge++) {
            let neighbour = columns[edge];
            // The exchange may fail without a reason: then it is tried again.
            var old = atomicCompareExchangeWeak(&depths[neighbour], NONE, depth + 1);
            while old.old_value == NONE && !old.exchanged {
                old = atomicCompareExchangeWeak(&depths[neighbour], NONE, depth + 1);
            }
            if old.exchanged {
                next_queue[atomicAdd(&level.next_length, 1)] = neighbour;
            }
        }
    }
}

// The next level begins.
@compute @workgroup_size(1)
fn advance() {
    level.depth++;
    level.length = atomicExchange(&level.next_length, 0);
}
