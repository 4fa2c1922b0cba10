//! Barriers to which not all threads of a workgroup may come are errors.

use super::of_eight;
use wave_compile::shader::{ShaderOptions, decode_wgsl};

const DECLARATIONS: &str = "var<workgroup> shared_words: array<u32, 8>;\nvar<workgroup> count: atomic<u32>;\n\
     @group(0) @binding(2) var<uniform> width: vec4<u32>;\n\
     fn wait(really: bool) { if really { workgroupBarrier(); } }";

/// A shader with this body in an entry point that has all inputs.
fn shader(body: &str) -> String {
    let inputs = "@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) group: vec3<u32>, \
                  @builtin(subgroup_id) wave: u32, @builtin(subgroup_invocation_id) lane: u32, \
                  @builtin(num_workgroups) groups: vec3<u32>";
    of_eight(DECLARATIONS, body).replace("@builtin(local_invocation_index) i: u32", inputs)
}

/// The lines of the barrier and of the condition that are named; the body begins in line 1.
fn refused(body: &str) -> Option<(u32, u32)> {
    let wgsl = shader(body);
    let error = decode_wgsl(&wgsl, "a.wgsl", &ShaderOptions::default()).err()?;
    assert!(error.message.starts_with("not all invocations of a workgroup may come"), "{}", error.message);
    let before = wgsl[..wgsl.find(body).expect("the body")].lines().count() as u32;
    let hint = error.hint.as_deref().expect("the condition");
    let condition = hint.split(' ').nth(4).and_then(|word| word.parse::<u32>().ok()).expect("a line");
    let line = error.place.as_ref().expect("a place").line;
    Some((line.wrapping_sub(before), condition.wrapping_sub(before)))
}

#[test]
fn threads_that_are_apart_come_to_no_barrier() {
    let bodies: &[(&str, (u32, u32))] = &[
        ("if i == 0u {\nworkgroupBarrier(); }", (2, 1)),
        ("if wave == 0u {\nstorageBarrier(); }", (2, 1)),
        ("if lane > 3u { } else {\nworkgroupBarrier(); }", (2, 1)),
        ("if i > 3u { return; }\nworkgroupBarrier();", (2, 1)),
        // Memory that threads write.
        ("if found[0] == 1u {\nworkgroupBarrier(); }", (2, 1)),
        ("if shared_words[0] == 1u {\nworkgroupBarrier(); }", (2, 1)),
        ("if atomicLoad(&count) == 1u {\nworkgroupBarrier(); }", (2, 1)),
        ("if atomicAdd(&count, 1u) == 1u {\nworkgroupBarrier(); }", (2, 1)),
        ("if given[i] == 1u {\nworkgroupBarrier(); }", (2, 1)),
        ("if subgroupAdd(1u) == 8u {\nworkgroupBarrier(); }", (2, 1)),
        // A value that the sides of a branch brought.
        ("var x = 0u;\nif i == 3u { x = 1u; }\nif x == 1u {\nworkgroupBarrier(); }", (4, 3)),
        // Loops that threads leave at different turns: in them, and by what they leave.
        ("var k = 0u;\nloop { if k == i { break; }\nk++;\nworkgroupBarrier(); }", (4, 2)),
        ("var k = 0u;\nloop { if k == i { break; } k++; }\nif k == 3u {\nworkgroupBarrier(); }", (4, 3)),
        ("for (var k = 0u; k < given[i]; k++) {\nworkgroupBarrier(); }", (2, 1)),
        ("switch i { case 1u: {\nworkgroupBarrier(); } default: { } }", (2, 1)),
        ("_ = select(1u, 2u, i > 2u);\nif i > 2u && width.x > 1u {\nworkgroupBarrier(); }", (3, 2)),
    ];
    for (body, expected) in bodies {
        assert_eq!(refused(body), Some(*expected), "{body}");
    }
    assert!(refused("wait(i == 1u);").is_some());
    assert!(refused("if i < 3u { shared_words[i] = workgroupUniformLoad(&shared_words[0]); }").is_some());
}

#[test]
fn threads_that_stay_together_do() {
    for body in [
        "workgroupBarrier();",
        "if group.x == 0u { workgroupBarrier(); }",
        "if groups.x == 1u { return; }\nworkgroupBarrier();",
        "if given[0] == 1u { workgroupBarrier(); }",
        "if width.y == 1u { workgroupBarrier(); }",
        "if workgroupUniformLoad(&shared_words[0]) == 1u { workgroupBarrier(); }",
        "for (var k = 0u; k < given[3]; k++) { workgroupBarrier(); shared_words[i] += k; }",
        "if i == 0u { shared_words[1] = 3u; }\nworkgroupBarrier();",
        "var k = 0u;\nloop { if k == width.x { break; } k++; }\nif k == 3u { workgroupBarrier(); }",
        "loop { if i == 3u { shared_words[2] = 1u; break; } break; }\nworkgroupBarrier();",
        "var x = i;\nx = width.x;\nif x == 1u { workgroupBarrier(); }",
        "wait(given[2] == 1u);\nwait(true);",
    ] {
        assert_eq!(refused(body), None, "{body}");
    }
}
