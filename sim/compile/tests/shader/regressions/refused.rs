//! What is not taken is named, with its place and what to do instead.

use crate::machine::{program, program_of, rendered};
use crate::spirv::{bytes, parsed, written};
use naga::valid::{Capabilities, ValidationFlags, Validator};
use wave_compile::shader::{ShaderOptions, decode_wgsl};
use wave_compile::source::Format;

const OUT: &str = "@group(0) @binding(0) var<storage, read_write> found: array<u32>;";

/// A shader with declarations, one in each line, and a line of its entry point.
fn shader(declarations: &str, body: &str) -> String {
    format!("{declarations}\n{OUT}\n@compute @workgroup_size(8) fn main() {{\n{body}\n}}\n")
}

/// Declarations and body, the line that is named, what the message says, what the hint says.
const REFUSED: &[(&str, &str, u32, &str, &str)] = &[
    (
        "struct Given { a: u32, b: u32 }\nvar<immediate> given: Given;",
        "found[0] = given.b;",
        2,
        "this shader uses the push constant `given`, which is not taken",
        "put the numbers into a uniform buffer",
    ),
    (
        "@group(0) @binding(1) var picture: texture_2d<f32>;",
        "found[0] = u32(textureLoad(picture, vec2<u32>(1u, 2u), 0).x);",
        1,
        "this shader uses the texture `picture`, which is not taken",
        "put the texels into a storage buffer",
    ),
    (
        "@group(0) @binding(1) var target_picture: texture_storage_2d<rgba8unorm, write>;",
        "textureStore(target_picture, vec2<u32>(1u, 2u), vec4<f32>(1.0));",
        1,
        "this shader uses the texture `target_picture`, which is not taken",
        "put the texels into a storage buffer",
    ),
    (
        "@group(0) @binding(1) var counts: texture_storage_2d<r32uint, atomic>;",
        "textureAtomicAdd(counts, vec2<u32>(1u, 2u), 1u);",
        1,
        "this shader uses the texture `counts`, which is not taken",
        "put the texels into a storage buffer",
    ),
    (
        "@group(0) @binding(2) var smooth_one: sampler;\n@group(0) @binding(1) var picture: texture_2d<f32>;",
        "found[0] = u32(textureSampleLevel(picture, smooth_one, vec2<f32>(0.5), 0.0).x);",
        1,
        "this shader uses the sampler `smooth_one`, which is not taken",
        "put the texels into a storage buffer",
    ),
    (
        "enable wgpu_binding_array;\nstruct Words { words: array<u32, 4> }\n@group(0) @binding(1) var<storage, read> rows: binding_array<Words, 4>;",
        "found[0] = rows[1].words[2];",
        3,
        "this shader uses the array of resources `rows`, which is not taken",
        "give each buffer a binding of its own",
    ),
    (
        "enable wgpu_ray_query;\n@group(0) @binding(1) var scene: acceleration_structure;",
        "var query: ray_query;\nrayQueryInitialize(&query, scene, RayDesc(0u, 255u, 0.1, 9.0, vec3<f32>(0.0), vec3<f32>(1.0)));\n\
         found[0] = u32(rayQueryProceed(&query));",
        2,
        "this shader uses the acceleration structure `scene`, which is not taken",
        "intersect in the shader",
    ),
    (
        "@group(0) @binding(1) var<storage, read_write> wide: atomic<u64>;",
        "atomicAdd(&wide, 1lu);",
        4,
        "this shader uses an atomic of 64 bits, which is not taken",
        "atomics of 32 bits",
    ),
    (
        "@group(0) @binding(1) var<storage, read_write> wide: atomic<u64>;",
        "found[0] = u32(atomicLoad(&wide));",
        4,
        "this shader uses an atomic of 64 bits, which is not taken",
        "atomics of 32 bits",
    ),
    (
        "@group(0) @binding(1) var<storage, read_write> wide: array<atomic<i64>, 2>;",
        "found[0] = 3u;\natomicStore(&wide[1], 7li);",
        5,
        "this shader uses an atomic of 64 bits, which is not taken",
        "atomics of 32 bits",
    ),
    (
        "@group(0) @binding(1) var<storage, read_write> wide: atomic<u64>;",
        "atomicMax(&wide, 7lu);",
        4,
        "this shader uses an atomic of 64 bits, which is not taken",
        "atomics of 32 bits",
    ),
];

#[test]
fn what_is_not_taken_has_a_name() {
    for (declarations, body, line, message, hint) in REFUSED {
        let wgsl = shader(declarations, body);
        let errors = program(&wgsl, ShaderOptions::default()).expect_err(message);
        let [error] = &errors[..] else { panic!("{}", rendered(&errors)) };
        assert_eq!(error.message, *message, "{}", rendered(&errors));
        assert_eq!(error.place.as_ref().map(|place| place.line), Some(*line), "{}", rendered(&errors));
        let found = error.hint.as_deref().unwrap_or_default();
        assert!(found.contains(hint), "{found}");
        // Where nobody uses it, it does no harm.
        let other = format!("{wgsl}@compute @workgroup_size(8) fn other() {{ found[1] = 1u; }}\n").replacen(
            body,
            "found[0] = 1u;",
            1,
        );
        decode_wgsl(&other, "a.wgsl", &ShaderOptions::default())
            .unwrap_or_else(|error| panic!("{}", error.render(false)));
    }
}

#[test]
fn what_is_not_taken_of_spirv_has_a_name() {
    let mut count = 0;
    for (declarations, body, _, message, hint) in REFUSED {
        // naga reads less than it writes.
        let words = written(&parsed(&shader(declarations, body)), None).expect("it is right");
        let errors = program_of(&bytes(&words), Format::Spv, ShaderOptions::default()).expect_err(message);
        let [error] = &errors[..] else { panic!("{}", rendered(&errors)) };
        if error.message.contains("read as SPIR-V: ") {
            continue;
        }
        count += 1;
        // Without debugging information variables have no name.
        let what = message.split('`').next().expect("the beginning").trim_end();
        assert!(error.message.contains(what), "{}", rendered(&errors));
        assert!(error.place.as_ref().is_some_and(|place| place.text.contains("Op")), "{}", rendered(&errors));
        assert!(error.hint.as_deref().unwrap_or_default().contains(hint), "{}", rendered(&errors));
    }
    assert!(count > 7, "{count} of {} came through naga", REFUSED.len());
}

#[test]
fn the_name_of_vulkan_has_a_hint() {
    let wgsl = shader("var<push_constant> given: u32;", "found[0] = given;");
    let errors = program(&wgsl, ShaderOptions::default()).expect_err("WGSL has another name");
    let text = rendered(&errors);
    assert!(text.contains("push_constant") && text.contains("a uniform buffer"), "{text}");
    assert_eq!(errors[0].place.as_ref().map(|place| place.line), Some(1), "{text}");
}

#[test]
fn graphics_stages_are_no_kernels() {
    let vertex = "@vertex fn corner(@builtin(vertex_index) i: u32) -> @builtin(position) vec4<f32> { return vec4<f32>(f32(i)); }\n\
                  @fragment fn colour() -> @location(0) vec4<f32> { return vec4<f32>(1.0); }\n";
    let errors = program(vertex, ShaderOptions::default()).expect_err("there is no kernel");
    let text = rendered(&errors);
    assert!(text.contains("no compute entry point, only `corner` (vertex), `colour` (fragment)"), "{text}");
    let words = written(&parsed(vertex), None).expect("it is right");
    let errors =
        program_of(&bytes(&words), Format::Spv, ShaderOptions::default()).expect_err("there is no kernel");
    assert!(
        rendered(&errors).contains("only `corner` (vertex), `colour` (fragment)"),
        "{}",
        rendered(&errors)
    );
    let both = format!("{vertex}{}", shader("", "found[0] = 1u;"));
    assert!(program(&both, ShaderOptions::default()).is_ok());
}

/// The shaders of this page are right for naga, whatever is enabled.
#[test]
fn the_shaders_are_right() {
    for (declarations, body, ..) in REFUSED {
        let module = parsed(&shader(declarations, body));
        let mut validator = Validator::new(ValidationFlags::all(), Capabilities::all());
        validator.validate(&module).unwrap_or_else(|error| panic!("{error:?}\n{body}"));
    }
}
