//! Signs in a report: kernels with one problem, and the same kernels without it.

use super::page::{all, text};
use super::run::{Reported, report, report_in};
use super::scratch::Scratch;

/// Each lane reads its own row of `STRIDE` bytes in local memory.
const ROWS: &str = "\
.kernel rows
.registers 16
.local_memory 16384
.workgroup_size 32, 1, 1
    mov_sr  r1, sr_thread_id_x
    mov_imm r2, STRIDE
    imul    r3, r1, r2
    mov_imm r4, 0
    mov_imm r5, 64
    mov_imm r6, 4
    loop
    local_store_u32 r3, r4
    iadd    r3, r3, r6
    iadd    r4, r4, r6
    ucmp_ge p1, r4, r5
    break   p1
    endloop
    halt
.end
";

/// Lanes 0 to 7 of 32 take another path than the others.
const PARTED: &str = "\
.kernel parted
.registers 8
.workgroup_size 32, 1, 1
    mov_sr  r1, sr_thread_id_x
    mov_imm r2, 8
    ucmp_lt p1, r1, r2
    if p1
    iadd r3, r1, r2
    iadd r3, r3, r2
    iadd r3, r3, r2
    iadd r3, r3, r2
    iadd r3, r3, r2
    iadd r3, r3, r2
    iadd r3, r3, r2
    iadd r3, r3, r2
    endif
    halt
.end
";

/// Each sign: its text, and the instructions that it names.
fn signs(reported: &Reported) -> Vec<(String, Vec<String>)> {
    let signs = reported.page.all("ul.signs > li");
    let named = |sign| all(sign, "li a").into_iter().map(text).collect();
    signs.into_iter().map(|sign| (text(sign), named(sign))).collect()
}

#[test]
fn scattered_accesses_stand_out() {
    let naive = report("transpose_naive --size small --config gpu");
    let found = signs(&naive);
    assert_eq!(found.len(), 1, "{found:?}");
    let (says, named) = &found[0];
    assert!(says.contains("times as many lines as they would"), "{says}");
    // A wave of 32 lanes stores a column, so each lane touches its own line.
    assert_eq!(named.len(), 1, "{named:?}");
    assert!(named[0].starts_with("device_store_u32 r1, r6 (line 33): 32.0 lines each of "), "{named:?}");
    assert!(named[0].ends_with("where 1.00 would do; 4.00 bytes of each line of 128 are used"), "{named:?}");
    let link = naive.page.one("ul.signs li li a").attribute("href").unwrap();
    assert!(text(naive.page.one(link)).contains("device_store_u32"), "it leads to the instruction");
    assert_eq!(signs(&report("transpose_padded --size small --config gpu")), []);
}

#[test]
fn bank_conflicts_stand_out() {
    for (stride, conflicts) in [(256, true), (260, false)] {
        let kernel = ROWS.replace("STRIDE", &stride.to_string());
        let scratch = Scratch::with(&[("rows.wave", &kernel)]);
        let found = signs(&report_in(scratch, "rows.wave --config gpu --grid 16"));
        assert_eq!(found.len(), usize::from(conflicts), "{stride}: {found:?}");
        for (says, named) in found {
            assert!(says.contains("32.0 times as many passes over the banks"), "{says}");
            assert!(named[0].starts_with("local_store_u32 r3, r4 (line 12): 32.0 passes"), "{named:?}");
        }
    }
}

#[test]
fn lanes_that_are_off_stand_out() {
    let scratch = Scratch::with(&[("parted.wave", PARTED)]);
    let reported = report_in(scratch, "parted.wave --config gpu --grid 16");
    let found = signs(&reported);
    assert_eq!(found.len(), 1, "{found:?}");
    let lanes = reported.statistic("core.lane_instructions") as f64;
    let part = 100.0 * lanes / (32.0 * reported.statistic("core.wave_instructions") as f64);
    assert!(
        part < 60.0 && found[0].0.starts_with(&format!("Only {part:.1} % of the lanes")),
        "{part}: {found:?}"
    );
    assert_eq!(signs(&report("sgemm --size small --config gpu")), []);
}
