// Forces between all pairs of charges: a_i = sum over j of q_j * (p_j - p_i) / (|p_j - p_i|^2 + e)^1.5.
// The pairs of one i and a segment of the j belong to one invocation; nbody_sum adds the segments.

struct Sizes {
    bodies: u32,
    segment: u32, // bodies of a segment; both are multiples of 64
    segments: u32,
}

@group(0) @binding(0) var<storage, read> bodies: array<vec4<f32>>; // position and charge
@group(0) @binding(1) var<storage, read_write> partial: array<vec4<f32>>; // by segment, then body
@group(0) @binding(2) var<uniform> sizes: Sizes;

override softening: f32 = 0.01;

const WORKGROUP = 64u;

var<workgroup> others: array<vec4<f32>, WORKGROUP>;

// Grid: x covers the bodies, y the segments.
@compute @workgroup_size(WORKGROUP)
fn nbody_partial(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    let position = bodies[id.x].xyz;
    var fetch = workgroup.y * sizes.segment + t;
    var force = vec3<f32>();
    for (var done = 0u; done < sizes.segment; done += WORKGROUP) {
        let body = bodies[fetch];
        fetch += WORKGROUP;
        workgroupBarrier(); // nobody reads the last bodies any more
        others[t] = body;
        workgroupBarrier();
        for (var j = 0u; j < WORKGROUP; j++) {
            let other = others[j]; // the same for all invocations
            let d = other.xyz - position;
            let inverse = inverseSqrt(dot(d, d) + softening);
            force = fma(d, vec3(other.w * inverse * (inverse * inverse)), force);
        }
    }
    partial[workgroup.y * sizes.bodies + id.x] = vec4(force, 0.0);
}

@group(0) @binding(3) var<storage, read_write> forces: array<vec4<f32>>;

@compute @workgroup_size(WORKGROUP)
fn nbody_sum(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= sizes.bodies {
        return;
    }
    var sum = vec4<f32>();
    for (var i = 0u; i < sizes.segments; i++) {
        sum += partial[i * sizes.bodies + id.x];
    }
    forces[id.x] = sum;
}
