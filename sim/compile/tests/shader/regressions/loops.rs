//! Which loops are unrolled, what is known of counters, what is computed before a loop.

use super::{of_eight, ran, ran_trapping};
use std::collections::HashSet;
use wave_compile::ir::{Block, Function};
use wave_compile::shader::{ShaderOptions, decode_wgsl};

/// The number of edges that lead back to a block from which they come.
fn loops(function: &Function) -> usize {
    fn visit(function: &Function, block: Block, on_way: &mut Vec<Block>, seen: &mut HashSet<Block>) -> usize {
        if !seen.insert(block) {
            return 0;
        }
        on_way.push(block);
        let targets = function.blocks[block].terminator.targets();
        let mut found = 0;
        for target in targets {
            found += usize::from(on_way.contains(&target.block));
            found += visit(function, target.block, on_way, seen);
        }
        on_way.pop();
        found
    }
    visit(function, function.entry(), &mut Vec::new(), &mut HashSet::new())
}

/// The loops that are left of a shader with this body.
fn left(declarations: &str, body: &str) -> usize {
    let decoded = decode_wgsl(&of_eight(declarations, body), "a.wgsl", &ShaderOptions::default());
    decoded.expect("it is right").module.functions.values().map(loops).sum()
}

#[test]
fn loops_with_few_known_turns_are_unrolled() {
    let bodies = [
        "var sum = 0u; for (var k = 0u; k < 8u; k++) { sum += given[k]; } found[i] = sum;",
        "var sum = 0u; for (var k = 7i; k >= 0; k--) { sum += given[k]; } found[i] = sum;",
        "var sum = 0u; for (var k = 0u; k != 6u; k += 2u) { sum += given[k]; } found[i] = sum;",
        "var sum = 0u; var k = 0u; while (k < 3u) { sum += given[k]; k++; if sum > 9u { break; } } found[i] = sum;",
        "for (var k = 0u; k < 0u; k++) { found[k] = i; }",
    ];
    let counts = bodies.map(|body| left("", body));
    // A `while` changes its counter in its body.
    assert_eq!(counts, [0, 0, 0, 1, 0]);
    let nested = "var sum = 0u;\nfor (var k = 0u; k < 4u; k++) { for (var l = k; l < 4u; l++) { sum += given[l]; } }\n\
                  found[i] = sum;";
    assert_eq!(left("", nested), 0);
    // 4 rows: 1 + 2 + 3 + 4, 2 + 3 + 4, 3 + 4, 4.
    assert_eq!(ran(&of_eight("", nested), &[&[0], &[1, 2, 3, 4]]), [30]);
}

#[test]
fn other_loops_stay() {
    let bodies = [
        // The number of turns is not known.
        "var sum = 0u; for (var k = 0u; k < given[0]; k++) { sum += k; } found[i] = sum;",
        // There are many.
        "var sum = 0u; for (var k = 0u; k < 1000u; k++) { sum += k * k ^ sum; } found[i] = sum;",
        // The body changes the counter.
        "var n = given[0];\nfor (var k = 0u; k < 10u; k++) { if n > 0u { k = 0u; n--; } found[i] += 1u; }",
        // The limit changes.
        "var limit = 4u;\nfor (var k = 0u; k < limit; k++) { limit = given[k]; found[i] += 1u; }",
    ];
    assert_eq!(bodies.map(|body| left("", body)), [1; 4]);
    let run = |number: usize, given: &[u32]| ran(&of_eight("", bodies[number]), &[&[0; 8], given]);
    assert_eq!(run(0, &[5]), [10; 8]);
    // 100 turns with the counter at 1 behind them, and 9 more.
    assert_eq!(run(2, &[100]), [109; 8]);
    // The last limit is the third number.
    assert_eq!(run(3, &[9, 9, 3, 0]), [3; 8]);
}

#[test]
fn a_counter_has_its_value_behind_the_loop() {
    let body = "var k = 0u;\nfor (; k < 5u; k++) { }\nfound[0] = k;\n\
                k = 0u;\nfor (; k < 10u; k += 3u) { }\nfound[1] = k;\n\
                var l = 3i;\nfor (; l > -2; l--) { }\nfound[2] = u32(l);\n\
                k = 0u;\nfor (; k < 9u; k++) { if k == given[0] { break; } }\nfound[3] = k;\n\
                k = 0u;\nfor (; k < given[1]; k += 4u) { }\nfound[4] = k;\n\
                k = 0u;\nloop { if k >= given[1] { break; } k += 4u; continuing { k += 1u; } }\nfound[5] = k;";
    let found = ran(&of_eight("", body), &[&[0; 6], &[6, 7]]);
    assert_eq!(found, [5, 12, -2i32 as u32, 6, 8, 10]);
}

/// Arrays of 69 numbers, and 70 turns: what the counter is at most decides whether the index is checked.
#[test]
fn counters_that_leave_an_array_are_clamped() {
    let numbers: Vec<u32> = (100..180).collect();
    let turns = |head: &str, then: &str| {
        let body = format!("var last = 0u;\n{head} {{ last = a[k]; {then} }}\nfound[i] = last;");
        let declarations = "@group(0) @binding(2) var<storage, read> a: array<u32, 69>;";
        ran(&of_eight(declarations, &body), &[&[0], &[70, 3], &numbers])[0]
    };
    assert_eq!(turns("for (var k = 0u; k < 70u; k++)", ""), 168);
    assert_eq!(turns("for (var k = 0u; k <= 69u; k++)", ""), 168);
    assert_eq!(turns("for (var k = 0u; k < given[0]; k++)", ""), 168);
    assert_eq!(turns("for (var k = 0i; k < 70; k++)", ""), 168);
    // One that counts down comes by numbers that are great without a sign.
    assert_eq!(turns("for (var k = 50i; k < 60; k--)", "if k < -2 { break; }"), 168);
    // One that begins behind its limit, and never comes to it.
    assert_eq!(turns("for (var k = 72u; k != 5u; k++)", "if k == 75u { break; }"), 168);
    assert_eq!(turns("for (var k = 72u; k != given[1]; k++)", "if k == 75u { break; }"), 168);
    // One that goes beyond the greatest number.
    assert_eq!(turns("for (var k = 50i; k < 60; k += 2147483647)", "if k < 0 { break; }"), 168);
    assert_eq!(turns("for (var k = 50i; k <= 60; k += 2147483600)", "if k < 0 { break; }"), 168);
}

#[test]
fn counters_are_bounded_only_in_their_loop() {
    let declarations = "@group(0) @binding(2) var<storage, read> a: array<u32, 4>;";
    let body = "var k = given[0];\nvar sum = 0u;\nfor (k = 0u; k < 4u; k++) { if given[k] == 7u { k = given[1]; break; } sum += a[k]; }\n\
                found[i] = 1000u * sum + a[k];";
    let a = [1, 2, 3, 4, 90, 91];
    // Behind the loop it is 4, and so one that was loaded.
    assert_eq!(ran(&of_eight(declarations, body), &[&[0], &[0, 0, 0, 0], &a]), [10_004]);
    assert_eq!(ran(&of_eight(declarations, body), &[&[0], &[0, 5, 7, 0], &a]), [3_004]);
}

#[test]
fn a_loop_without_turns_does_nothing() {
    // The index is outside, and the divisor 0.
    let body = "var sum = 1u;\nfor (var k = 0u; k < given[0]; k++) { sum += given[given[1]] / given[0]; }\nfound[i] = sum;";
    assert_eq!(ran_trapping(&of_eight("", body), &[&[0; 8], &[0, 99]]), Some(vec![1; 8]));
    assert_eq!(ran_trapping(&of_eight("", body), &[&[0; 8], &[1, 99]]), None);
    let wide = "var sum = 5u;\nlet low = i64(given[1]) - 1li;\n\
                for (var k = 0u; k < given[0]; k++) { sum += u32(100li / low) + u32(7li % low); }\nfound[i] = sum;";
    assert_eq!(ran(&of_eight("", wide), &[&[0], &[0, 1]]), [5]);
    // By 0: the dividend, and no remainder. By 9: 11 and 7.
    assert_eq!(ran(&of_eight("", wide), &[&[0], &[2, 1]]), [205]);
    assert_eq!(ran(&of_eight("", wide), &[&[0], &[1, 10]]), [5 + 11 + 7]);
    let least = "let least = -0x7fffffffffffffffli - i64(given[0]);\nlet minus = -i64(given[0]);\n\
                 found[0] = u32(least / minus == least);\nfound[1] = u32(least % minus);";
    assert_eq!(ran(&of_eight("", least), &[&[7, 7], &[1]]), [1, 0]);
}

#[test]
fn loads_stay_behind_the_stores_of_a_loop() {
    let body = "if i == 0u { for (var k = 0u; k < given[0]; k++) { found[0] = found[0] + found[1]; found[1] += 1u; } }";
    assert_eq!(ran(&of_eight("", body), &[&[1, 2], &[3]]), [1 + 2 + 3 + 4, 5]);
}

#[test]
fn functions_in_loops_change_private_variables() {
    let declarations = "var<private> count: u32 = 3u;\nvar<private> table: array<u32, 4>;\n\
                        fn step(by: u32) -> u32 { count += by; table[by & 3u] += 1u; return count; }";
    let body =
        "for (var k = 0u; k < given[0]; k++) { found[i] = 10u * step(k); }\nfound[i] += count + table[1];";
    // 3 + 0 + 1 + 2 + 3 + 4 + 5 = 18; 1 and 5 are counted.
    assert_eq!(ran(&of_eight(declarations, body), &[&[0], &[6]]), [180 + 18 + 2]);
}

#[test]
fn a_continuing_block_ends_loops() {
    let body = "var k = 0u;\nvar sum = 0u;\n\
                loop {\n  if k == 2u { continue; }\n  if sum > 50u { break; }\n  sum += k;\n\
                  continuing { let next = k + 1u; k = next; break if next >= given[0]; }\n}\n\
                found[0] = sum;\nfound[1] = k;";
    let of = |given: u32| ran(&of_eight("", body), &[&[9, 9], &[given]]);
    // At least one turn.
    assert_eq!(of(0), [0, 1]);
    assert_eq!(of(5), [1 + 3 + 4, 5]);
    // 1 + 3 + ... + 10 is 53: the turn of 11 breaks.
    assert_eq!(of(99), [53, 11]);
}
