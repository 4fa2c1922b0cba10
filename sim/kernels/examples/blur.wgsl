// Each pixel becomes the mean of the pixels around it. A pixel is a word: red, green, blue and alpha from the lowest byte on.

@group(0) @binding(0) var<storage, read> picture: array<u32>;
@group(0) @binding(1) var<storage, read_write> blurred: array<u32>;
@group(0) @binding(2) var<uniform> size: vec2<i32>;

override radius: i32 = 2;

@compute @workgroup_size(8, 8)
fn blur(@builtin(global_invocation_id) id: vec3<u32>) {
    let at = vec2<i32>(id.xy);
    if any(at >= size) {
        return;
    }
    var sum = vec4<f32>();
    for (var y = -radius; y <= radius; y++) {
        for (var x = -radius; x <= radius; x++) {
            let near = clamp(at + vec2(x, y), vec2<i32>(), size - 1);
            sum += unpack4x8unorm(picture[near.y * size.x + near.x]);
        }
    }
    let side = f32(2 * radius + 1);
    blurred[at.y * size.x + at.x] = pack4x8unorm(sum / (side * side));
}
