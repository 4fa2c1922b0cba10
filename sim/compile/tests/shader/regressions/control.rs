//! What conditions say of what comes behind them; functions and pointers; choices among cases.

use super::{HEAD, of_eight, ran};

const FOUR: &str = "@group(0) @binding(2) var<storage, read> a: array<u32, 4>;";
/// A buffer that goes on behind the four elements of its type.
const NUMBERS: [u32; 8] = [10, 11, 12, 13, 14, 15, 16, 17];

#[test]
fn an_early_return_says_the_opposite_of_its_condition() {
    let run = |body: &str| ran(&of_eight(FOUR, body), &[&[0; 8], &[0], &NUMBERS]);
    assert_eq!(
        run("if i < 2u { found[i] = 100u; return; }\nfound[i] = a[i];"),
        [100, 100, 12, 13, 13, 13, 13, 13]
    );
    assert_eq!(run("if i > 5u { return; }\nfound[i] = a[i];"), [10, 11, 12, 13, 13, 13, 0, 0]);
    assert_eq!(run("if i >= 3u { return; }\nfound[i] = a[i];"), [10, 11, 12, 0, 0, 0, 0, 0]);
    assert_eq!(
        run("if i < 4u { } else { found[i] = a[i]; return; }\nfound[i] = 1u + a[i];"),
        [11, 12, 13, 14, 13, 13, 13, 13]
    );
    // Only behind it.
    assert_eq!(
        run("{ if i < 6u { if i > 1u { return; } } }\nfound[i] = a[i];"),
        [10, 11, 0, 0, 0, 0, 13, 13]
    );
    let called = "fn first(k: u32) -> u32 { if k < 2u { return 5u; } return a[k]; }";
    let body = "let x = first(i);\nfound[i] = 100u * x + a[i];";
    assert_eq!(
        ran(&of_eight(&format!("{FOUR}\n{called}"), body), &[&[0; 8], &[0], &NUMBERS]),
        [510, 511, 1212, 1313, 1313, 1313, 1313, 1313]
    );
}

#[test]
fn a_condition_holds_in_its_branch_only() {
    let body = "var x = 0u;\nif i < 2u { x = 100u * a[i]; }\nfound[i] = x + a[i];";
    let found = ran(&of_eight(FOUR, body), &[&[0; 8], &[0], &NUMBERS]);
    assert_eq!(found, [1010, 1111, 12, 13, 13, 13, 13, 13]);
    let body = "var x = 0u;\nif i < 2u { x = a[i]; } else { x = 100u * a[i]; }\nfound[i] = x;";
    let found = ran(&of_eight(FOUR, body), &[&[0; 8], &[0], &NUMBERS]);
    assert_eq!(found, [10, 11, 1200, 1300, 1300, 1300, 1300, 1300]);
}

/// An index that is at most 4 may be 4; below 5 it may be 4 too.
#[test]
fn equal_is_not_below() {
    let of = |condition: &str, given: [u32; 2]| {
        let body = format!(
            "let most = min(given[0], 4u);\nlet n = given[1];\nif {condition} {{ found[i] = a[n]; }}"
        );
        ran(&of_eight(FOUR, &body), &[&[0], &given, &NUMBERS])
    };
    assert_eq!(of("most >= n", [9, 4]), [13]);
    assert_eq!(of("n <= most", [9, 4]), [13]);
    assert_eq!(of("!(most < n)", [9, 4]), [13]);
    assert_eq!(of("!(n > most)", [9, 4]), [13]);
    assert_eq!(of("n < most", [9, 3]), [13]);
    assert_eq!(of("most > n", [9, 2]), [12]);
    assert_eq!(of("n < most + 1u", [9, 4]), [13]);
    // Numbers with a sign may be below 0.
    assert_eq!(of("i32(n) < i32(most)", [9, u32::MAX]), [13]);
}

/// An index that is below one array's length is not below that of another.
#[test]
fn a_length_bounds_its_own_array() {
    let declarations = "@group(0) @binding(2) var<storage, read> b: array<u32>;";
    let body = "let n = given[0];\nif n < given[1] { found[0] = b[n]; }\nif given[2] > n { found[1] = b[given[2]]; }\n\
                if n < arrayLength(&given) { found[2] = b[n]; }\nif n < arrayLength(&b) { found[3] = b[n]; }";
    let run = |n| ran(&of_eight(declarations, body), &[&[0; 4], &[n, 90, 80, 0, 0, 0], &[20, 21, 22, 23]]);
    assert_eq!(run(5), [23, 23, 23, 0]);
    assert_eq!(run(2), [22, 23, 22, 22]);
}

#[test]
fn a_switch_finds_its_default_anywhere() {
    let cases = "fn first(x: u32) -> u32 {\n switch x { default: { return 1u; } case 3u: { return 2u; } case 4u, 5u: { return 3u; } } }\n\
                 fn middle(x: u32) -> u32 {\n var r = 0u;\n switch x { case 1u: { r = 1u; } case 2u, default: { r = 2u; if x > 6u { break; } r += 10u; } case 3u: { r = 3u; } }\n return r; }\n\
                 fn of_sign(x: i32) -> u32 {\n switch x { case -1: { return 1u; } case 0: { return 2u; } default: { return 3u; } } }";
    let body = "found[i] = 100u * first(i) + middle(i);";
    assert_eq!(ran(&of_eight(cases, body), &[&[0; 8], &[0]]), [112, 101, 112, 203, 312, 312, 112, 102]);
    let known = "found[0] = first(9u);\nfound[1] = first(5u);\nfound[2] = middle(0u);\nfound[3] = middle(7u);\nfound[4] = middle(3u);\n\
                 found[5] = of_sign(-1);\nfound[6] = of_sign(-2);\nfound[7] = of_sign(i32(given[0]));";
    assert_eq!(ran(&of_eight(cases, known), &[&[0; 8], &[u32::MAX]]), [1, 3, 12, 2, 3, 1, 3, 1]);
    // The counter of a loop is known at each turn.
    let turns = "for (var k = 0u; k < 8u; k++) { switch k { case 2u: { continue; } case 5u: { found[5] = 9u; } default: { found[k] = k; } } }";
    assert_eq!(ran(&of_eight("", turns), &[&[7; 8], &[0]]), [0, 1, 7, 3, 4, 9, 6, 7]);
}

#[test]
fn pointers_lead_to_what_was_passed() {
    let functions = "fn bump(p: ptr<function, u32>) -> u32 { let old = *p; *p += 1u; return old; }\n\
                     fn twice(p: ptr<function, u32>) -> u32 { return 10u * bump(p) + bump(p); }\n\
                     fn swap(p: ptr<function, u32>, q: ptr<function, u32>) { let old = *p; *p = *q; *q = old; }\n\
                     fn put(p: ptr<function, array<u32, 16>>, at: u32, x: u32) -> u32 { let old = (*p)[at]; (*p)[at] = x; return old; }\n\
                     var<private> all: u32;\n\
                     fn add(p: ptr<private, u32>, q: ptr<function, u32>) { *p += *q; all += 1u; *q += *p; }";
    let body = "var x = 3u;\nvar y = 50u;\nlet p = &x;\nfound[0] = twice(p);\nfound[1] = *p;\nswap(&x, &y);\nfound[2] = 100u * x + y;\n\
                var row: array<u32, 16>;\nrow[3] = 7u;\nlet old = put(&row, given[0], 8u);\nfound[3] = 100u * old + 10u * row[3] + put(&row, 4u, 0u);\n\
                for (var k = 0u; k < given[1]; k++) { _ = bump(&y); swap(&x, &y); }\nfound[4] = 100u * x + y;\n\
                all = 5u;\nx = 2u;\nadd(&all, &x);\nfound[5] = 10u * all + x;";
    // 50 and 5, then 5 + 1 and 50, 51 and 6, 7 and 51.
    let found = ran(&of_eight(functions, body), &[&[0; 6], &[3, 3]]);
    assert_eq!(found, [34, 5, 5005, 780, 751, 90]);
}

/// Two variables of one function live in each of its calls.
#[test]
fn calls_have_variables_of_their_own() {
    let functions = "fn leaf(x: u32) -> u32 { var own: array<u32, 12>; own[x % 12u] += x; own[1] += 1u; return own[x % 12u] + own[1]; }\n\
                     fn both(x: u32) -> u32 { var own = x; own += leaf(x); return own + leaf(x + 1u); }";
    // leaf(x) is x + 1, but 4 for 1.
    let body = "found[i] = both(i);";
    assert_eq!(ran(&of_eight(functions, body), &[&[0; 8], &[0]]), [5, 8, 9, 12, 15, 18, 21, 24]);
}

/// Lanes that have returned do not take part in what subgroups compute.
#[test]
fn lanes_that_have_returned_take_no_part() {
    let wgsl = format!(
        "{HEAD}@compute @workgroup_size(64)\nfn main(@builtin(local_invocation_index) i: u32) {{\n\
         let x = select(3u, 2u, i < 4u);\nif i >= 20u {{ return; }}\n\
         found[i] = subgroupMul(select(1u, x, i < 6u));\n}}"
    );
    assert_eq!(ran(&wgsl, &[&[0; 64], &[0]])[..21], [[144; 20].as_slice(), &[0]].concat());
}
