// A step of particles that fly through a box and bounce off its walls, from one buffer into the other.

// 32 bytes: a vec3 takes 12 and begins at a multiple of 16.
struct Particle {
    position: vec3<f32>,
    bounces: f32,
    velocity: vec3<f32>,
    mass: f32,
}

struct Box {
    low: vec3<f32>,
    high: vec3<f32>,
    time: f32, // of a step
}

@group(0) @binding(0) var<storage, read> before: array<Particle>;
@group(0) @binding(1) var<storage, read_write> after: array<Particle>;
@group(1) @binding(0) var<uniform> box: Box;

@compute @workgroup_size(64)
fn particles(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= arrayLength(&before) {
        return;
    }
    var particle = before[id.x];
    let reached = particle.position + box.time * particle.velocity;
    let below = reached < box.low;
    let above = reached > box.high;
    let bounced = below | above;
    particle.position = select(select(reached, 2 * box.high - reached, above), 2 * box.low - reached, below);
    particle.velocity = select(particle.velocity, -particle.velocity, bounced);
    particle.bounces += dot(vec3<f32>(bounced), vec3(1.0));
    after[id.x] = particle;
}
