//! Indices that the program computes, inside and outside.

use super::{HEAD, of_eight, ran, ran_as_text, ran_trapping};

#[test]
fn vectors_and_matrices_are_indexed() {
    let body = "var v = vec4<u32>(10u, 11u, 12u, 13u);\nfound[0] = v[given[0]];\nv[given[1]] = 5u;\n\
                found[1] = v.x * 1000u + v.y * 100u + v.z * 10u + v.w;\n\
                var m = mat3x3<f32>(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0);\n\
                found[2] = u32(m[given[1]][given[2]]);\nm[given[2]][given[1]] = 50.0;\n\
                m[given[1]] += vec3<f32>(100.0);\n\
                found[3] = u32(m[0][0] + m[0][1] * 10.0);\nfound[4] = u32(m[1][2] + m[1][0]);\nfound[5] = u32(m[2][1] + m[2][0]);\n\
                let value = m;\nfound[6] = u32(value[given[2]][given[1]]);\nfound[7] = u32(value[given[0]][given[0]]);";
    let run = |given: &[u32]| ran(&of_eight("", body), &[&[0; 8], given]);
    // v[3]; v[1] = 5; m[1][2] is 6; m[2][1] = 50; column 1 is 104, 105, 106.
    assert_eq!(run(&[3, 1, 2]), [13, 10_000 + 500 + 120 + 13, 6, 21, 106 + 104, 57, 50, 9]);
    // What is outside is the last one: v[3]; v[3] = 5; m[2][0] is 7; m[0][2] = 50; column 2 is 107, 108, 109.
    assert_eq!(run(&[9, 7, 0]), [13, 10_000 + 1100 + 120 + 5, 7, 21, 10, 215, 50, 109]);
}

#[test]
fn rows_of_rows_are_indexed() {
    let body = "var a: array<array<u32, 3>, 3>;\n\
                for (var k = 0u; k < 9u; k++) { a[k / 3u][k % 3u] = k; }\n\
                a[given[0]][given[1]] = 70u;\nfound[0] = a[given[1]][given[0]];\n\
                var sum = 0u;\nfor (var k = 0u; k < 3u; k++) { sum = sum * 100u + a[given[0]][k]; }\nfound[1] = sum;\n\
                found[2] = a[1][given[2]] * 100u + a[given[2]][1];\n\
                var p = array<vec2<u32>, 3>(vec2(1u, 2u), vec2(3u, 4u), vec2(5u, 6u));\n\
                p[given[0]].y = 9u;\np[given[1]] = p[given[0]] + 1u;\n\
                found[3] = 100000u * p[0].x + 10000u * p[0].y + 1000u * p[1].x + 100u * p[1].y + 10u * p[2].x + p[2].y;";
    let found = ran(&of_eight("", body), &[&[0; 4], &[2, 0, 8]]);
    // a[2] is 70, 7, 8; a[0][2] is 2; a[1][2] and a[2][1] are 5 and 7; p is 6 10, 3 4, 5 9.
    assert_eq!(found, [2, 700_708, 507, 6 * 100_000 + 10 * 10_000 + 3459]);
}

/// The turns of a loop that is unrolled go beyond the array.
#[test]
fn a_number_outside_is_the_last() {
    let body = "var a = array<u32, 3>(5u, 6u, 7u);\nvar next = 900u;\nvar sum = 0u;\n\
                for (var k = 0u; k < 5u; k++) { sum = sum * 10u + a[k]; }\nfound[0] = sum;\n\
                for (var k = 0u; k < 5u; k++) { a[k] = k; }\nfound[1] = a[0] * 100u + a[1] * 10u + a[2];\nfound[2] = next;\n\
                for (var k = 0u; k < 4u; k++) { found[3] = fixed[k]; }";
    let declarations = "@group(0) @binding(2) var<storage, read> fixed: array<u32, 3>;";
    let found = ran(&of_eight(declarations, body), &[&[0; 4], &[0], &[21, 22, 23, 24]]);
    assert_eq!(found, [56777, 14, 900, 23]);
    // SPIR-V leaves this one open.
    let of_value = "for (var k = 2u; k < 4u; k++) { found[i] = vec3<u32>(1u, 2u, 3u)[k]; }\nfound[i] += vec3<u32>(10u, 20u, 30u)[i];";
    assert_eq!(ran_as_text(&of_eight("", of_value), &[&[0; 8], &[0]]), [13, 23, 33, 33, 33, 33, 33, 33]);
}

#[test]
fn the_end_is_outside() {
    let at = |body: &str, index: u32| {
        let declarations = "@group(0) @binding(2) var<storage, read> fixed: array<u32, 4>;\nvar<workgroup> shared_words: array<u32, 4>;";
        ran_trapping(&of_eight(declarations, body), &[&[0; 2], &[index, 4], &[1, 2, 3, 4, 5]])
    };
    let bodies = [
        "found[0] = fixed[given[0]];",
        "shared_words[given[0]] = 4u;\nfound[0] = shared_words[3];",
        "var v = vec4<u32>(4u);\nfound[0] = v[given[0]];",
        "let v = vec4<u32>(4u);\nfound[0] = v[given[0]];",
        "var a: array<u32, 4>;\na[given[0]] = 4u;\nfound[0] = a[3];",
        "found[given[0] - 2u] = 4u;\nfound[0] = found[1];",
        "found[0] = fixed[given[0]];\nfound[0] = fixed[given[0] + 0u];",
    ];
    for body in bodies {
        assert_eq!(at(body, 3).map(|found| found[0]), Some(4), "{body}");
        assert_eq!(at(body, 4), None, "{body}");
        assert_eq!(at(body, u32::MAX), None, "{body}");
    }
    // Without its condition this one would trap.
    assert_eq!(at("if given[0] < 4u { found[0] = fixed[given[0]]; }", 9), Some(vec![0, 0]));
}

/// What is known of an index follows from how it is computed.
#[test]
fn bounds_follow_from_operators() {
    let numbers: Vec<u32> = (0..40).collect();
    let of = |index: &str, length: u32| {
        let declarations = format!("@group(0) @binding(2) var<storage, read> a: array<u32, {length}>;");
        let body = format!("let j = min(given[i], 5u);\nfound[i] = a[{index}];");
        ran(&of_eight(&declarations, &body), &[&[0; 8], &[0, 1, 2, 3, 4, 5, 6, 7], &numbers])
    };
    // The last element that the index may be is one less than the last that there is.
    assert_eq!(of("i", 7), [0, 1, 2, 3, 4, 5, 6, 6]);
    assert_eq!(of("i + j", 12), [0, 2, 4, 6, 8, 10, 11, 11]);
    assert_eq!(of("i * j", 35), [0, 1, 4, 9, 16, 25, 30, 34]);
    assert_eq!(of("max(i, j + 1u)", 6), [1, 2, 3, 4, 5, 5, 5, 5]);
    assert_eq!(of("i | 8u", 15), [8, 9, 10, 11, 12, 13, 14, 14]);
    assert_eq!(of("i ^ 1u", 7), [1, 0, 3, 2, 5, 4, 6, 6]);
    assert_eq!(of("i << 1u", 14), [0, 2, 4, 6, 8, 10, 12, 13]);
    assert_eq!(of("i >> 1u", 3), [0, 0, 1, 1, 2, 2, 2, 2]);
    assert_eq!(of("(i + 3u) % 8u", 7), [3, 4, 5, 6, 6, 0, 1, 2]);
    assert_eq!(of("i / 2u", 3), [0, 0, 1, 1, 2, 2, 2, 2]);
    assert_eq!(of("i % given[0]", 7), [0; 8]);
    assert_eq!(of("i / given[0]", 7), [0, 1, 2, 3, 4, 5, 6, 6]);
    assert_eq!(of("i - 1u", 8), [7, 0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(of("~i", 8), [7; 8]);
    assert_eq!(of("countOneBits(i - 1u)", 32), [31, 0, 1, 1, 2, 1, 2, 2]);
    assert_eq!(of("select(i, 9u, i == 3u)", 9), [0, 1, 2, 8, 4, 5, 6, 7]);
    assert_eq!(of("u32(i > 3u)", 1), [0; 8]);
    assert_eq!(of("u32(min(i32(i) - 4, 2))", 8), [7, 7, 7, 7, 0, 1, 2, 2]);
    assert_eq!(of("u32(max(i32(i) - 4, -2))", 8), [7, 7, 7, 7, 0, 1, 2, 3]);
    assert_eq!(of("u32((i32(i) - 4) % 3)", 8), [7, 0, 7, 7, 0, 1, 2, 0]);
    assert_eq!(of("u32((i32(i) - 4) / 2)", 8), [7, 7, 7, 0, 0, 0, 1, 1]);
}

/// Two entry points whose tables are as long, but not the same.
#[test]
fn tables_belong_to_their_entry_point() {
    let row = |from: u32| (from..from + 12).map(|number| format!("{number}u")).collect::<Vec<_>>().join(", ");
    let wgsl = format!(
        "{HEAD}const ONE = array<u32, 12>({});\nconst OTHER = array<u32, 12>({});\n\
         @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) {{ found[i] = ONE[given[i]] + ONE[i]; }}\n\
         @compute @workgroup_size(8) fn other(@builtin(local_invocation_index) i: u32) {{ found[i] = OTHER[given[i]] + ONE[i]; }}\n",
        row(100),
        row(200)
    );
    let program = crate::machine::program(&wgsl, Default::default()).expect("it is right");
    let run = |entry| super::run(&program, entry, &[&[0; 8], &[3, 11, 12, u32::MAX, 0, 0, 0, 0]]);
    assert_eq!(run("main"), Ok(vec![203, 212, 213, 214, 204, 205, 206, 207]));
    assert_eq!(run("other"), Ok(vec![303, 312, 313, 314, 304, 305, 306, 307]));
}
