//! The order of instructions: loads that are under way at once, and accesses that keep their order.

use crate::machine::{BUFFERS, Run, program, rendered, run};
use wave_isa::program::disassemble;

const HEAD: &str = ".version 7.8\n.target sm_80\n.address_size 64\n";

/// A kernel whose threads sum up eight words, 128 bytes apart, with something between a load and the next.
fn sum(between: &str) -> String {
    let step = |number: u32| {
        format!("ld.global.u32 %r1, [%rd0+{}]; mad.lo.u32 %r9, %r9, 3, %r1;\n{between}\n", 128 * number)
    };
    let steps: String = (0..8).map(step).collect();
    format!(
        "{HEAD}.visible .entry k(.param .u64 p) {{\n.reg .b64 %rd<4>; .reg .b32 %r<10>; .reg .pred %p<2>;\n\
         .shared .align 4 .b8 s[128];\nld.param.u64 %rd0, [p]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, %r0, 4;\n\
         mov.u64 %rd3, s; cvta.to.shared.u64 %rd3, %rd3; add.s64 %rd3, %rd3, %rd1;\n\
         add.s64 %rd0, %rd0, %rd1; mov.u32 %r9, 1;\n{steps}st.global.u32 [%rd0], %r9;\nret;\n}}\n"
    )
}

/// The loads and other instructions of a kernel in order from the first load on, as letters: `l` for a load of device
/// memory, `s` for a store there, `a` for an atomic, `m` for a multiplication with addition.
fn order(text: &str) -> String {
    let (program, _) = program(text).unwrap_or_else(|errors| panic!("{}", rendered(&errors)));
    let letter = |line: &str| match line.split_whitespace().find(|word| word.contains('_') || *word == "imad")
    {
        Some(word) if word.starts_with("device_load") => Some('l'),
        Some(word) if word.starts_with("device_store") => Some('s'),
        Some(word) if word.starts_with("atomic") => Some('a'),
        Some("imad") => Some('m'),
        _ => None,
    };
    disassemble(&program).lines().filter_map(letter).skip_while(|&letter| letter != 'l').collect()
}

/// The values do not depend on the order.
fn sums_are_right(text: &str, more: impl Fn(u32) -> u32) {
    let given: Vec<u32> = (0..8 * 32).map(|place| 7 * place + 1).collect();
    let contents: Vec<u8> = given.iter().flat_map(|word| word.to_le_bytes()).collect();
    let launch = Run { kernel: "k", grid: 1, threads: 32, dynamic: 0, arguments: vec![BUFFERS, 0] };
    let after = run(text, &launch, &contents).unwrap_or_else(|error| panic!("{text}\n{error}"));
    for thread in 0..32 {
        let value = u32::from_le_bytes(after[4 * thread..][..4].try_into().unwrap());
        let sum =
            (0..8).fold(1_u32, |sum, step| more(sum.wrapping_mul(3).wrapping_add(given[32 * step + thread])));
        assert_eq!(value, sum, "thread {thread}");
    }
}

#[test]
fn loads_are_on_their_way_at_once() {
    let text = sum("");
    let order = order(&text);
    assert!(order.starts_with("llllllll") && order.ends_with("mmmms"), "{order}");
    sums_are_right(&text, |sum| sum);
    // What goes to local memory, and comes from there, does not hold them up.
    let local = sum("st.shared.u32 [%rd3], %r9; ld.shared.u32 %r9, [%rd3];");
    let order = self::order(&local);
    assert!(order.starts_with("llllllll"), "{order}");
    sums_are_right(&local, |sum| sum);
}

#[test]
fn loads_pass_stores_to_other_bytes_only() {
    // The store is 128 bytes or more before what the loads after it read.
    let apart = sum("st.global.u32 [%rd0], %r9;");
    assert!(order(&apart).starts_with("llllllll"), "{}", order(&apart));
    sums_are_right(&apart, |sum| sum);
    // The same address, which only the launch tells.
    let unknown = sum("shr.u32 %r2, %r0, 31; cvt.u64.u32 %rd2, %r2; add.s64 %rd2, %rd0, %rd2;\n\
                       st.global.u32 [%rd2], %r9;");
    assert!(order(&unknown).starts_with("lslmslms"), "{}", order(&unknown));
    sums_are_right(&unknown, |sum| sum);
    // Half of the word that the last load reads.
    let last = sum("st.global.u16 [%rd0+898], %r9;");
    assert_eq!(order(&last).replace('m', ""), "lllllllssssssslss");
}

#[test]
fn loads_do_not_pass_atomics_barriers_and_branches() {
    let atomics = sum("atom.global.add.u32 %r2, [%rd0+2048], 1;");
    assert_eq!(order(&atomics).replace('m', ""), format!("{}s", "la".repeat(8)));
    for between in ["bar.sync 0;", "membar.gl;"] {
        let text = sum(between);
        // The first multiplication is by 1.
        assert!(order(&text).starts_with("llmlmlm"), "{between}: {}", order(&text));
    }
}

#[test]
fn a_load_whose_address_was_loaded_waits() {
    // The highest bit of what was loaded, which is 0.
    let chase = "shr.u32 %r2, %r1, 31; cvt.u64.u32 %rd2, %r2; add.s64 %rd0, %rd0, %rd2;";
    let text = sum(chase);
    assert!(order(&text).starts_with("llmlmlm"), "{}", order(&text));
    sums_are_right(&text, |sum| sum);
}
