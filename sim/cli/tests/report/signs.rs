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

/// Whether the machine is filled is of no interest to the other signs: small sizes do not fill it.
const NOT_FILLED: &str = "The machine is not filled: ";

/// Signs but that.
fn others(reported: &Reported) -> Vec<(String, Vec<String>)> {
    signs(reported).into_iter().filter(|(says, _)| !says.starts_with(NOT_FILLED)).collect()
}

#[test]
fn a_machine_that_is_not_filled_stands_out() {
    let kernel = ROWS.replace("STRIDE", "260");
    let scratch = Scratch::with(&[("rows.wave", &kernel)]);
    let few = report_in(scratch, "rows.wave --config t4 --grid 4");
    let says = format!("{NOT_FILLED}4 workgroups on 40 cores: 36 cores had none.");
    assert!(signs(&few)[0].0.starts_with(&says), "{:?}", signs(&few));
    let (run, explained) = (
        few.scratch.out("rows.wave --config t4 --grid 4"),
        few.scratch.out("explain rows.wave --config t4 --grid 4"),
    );
    assert!(run.contains("\n  not filled   4 workgroups on 40 cores: 36 cores had none\n"), "{run}");
    assert!(explained.contains(says.trim_end_matches('.')), "{explained}");
    // One for each core fills it.
    let scratch = Scratch::with(&[("rows.wave", &kernel)]);
    let filled = report_in(scratch, "rows.wave --config t4 --grid 40");
    assert!(signs(&filled).iter().all(|(says, _)| !says.starts_with(NOT_FILLED)), "{:?}", signs(&filled));
    assert!(!filled.scratch.out("rows.wave --config t4 --grid 40").contains("not filled"));
    // Of several launches, those that leave cores empty count with their cycles.
    let page = report("bfs --size small --config gpu").page;
    let all: Vec<String> = page.all("ul.signs > li").into_iter().map(text).collect();
    assert!(all.iter().any(|says| says.starts_with(NOT_FILLED) && says.contains("launch")), "{all:?}");
}

#[test]
fn scattered_accesses_stand_out() {
    let naive = report("transpose_naive --size small --config gpu");
    let found = others(&naive);
    assert_eq!(found.len(), 1, "{found:?}");
    let (says, named) = &found[0];
    assert!(says.contains("times as many lines as they would"), "{says}");
    // A wave of 32 lanes stores a column, so each lane touches its own line.
    assert_eq!(named.len(), 1, "{named:?}");
    assert!(named[0].starts_with("device_store_u32 r1, r6 (line 33): 32.0 lines each of "), "{named:?}");
    assert!(named[0].ends_with("where 1.00 would do; 4.00 bytes of each line of 128 are used"), "{named:?}");
    let link = naive.page.one("ul.signs li li a").attribute("href").unwrap();
    assert!(text(naive.page.one(link)).contains("device_store_u32"), "it leads to the instruction");
    assert_eq!(others(&report("transpose_padded --size small --config gpu")), []);
}

#[test]
fn bank_conflicts_stand_out() {
    for (stride, conflicts) in [(256, true), (260, false)] {
        let kernel = ROWS.replace("STRIDE", &stride.to_string());
        let scratch = Scratch::with(&[("rows.wave", &kernel)]);
        let found = others(&report_in(scratch, "rows.wave --config gpu --grid 16"));
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
    let found = others(&reported);
    assert_eq!(found.len(), 1, "{found:?}");
    let lanes = reported.statistic("core.lane_instructions") as f64;
    let part = 100.0 * lanes / (32.0 * reported.statistic("core.wave_instructions") as f64);
    assert!(
        part < 60.0 && found[0].0.starts_with(&format!("Only {part:.1} % of the lanes")),
        "{part}: {found:?}"
    );
    assert_eq!(others(&report("sgemm --size small --config gpu")), []);
}
