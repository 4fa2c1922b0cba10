//! Everything that watches a run watches it at the same time: files and output are the same bytes as those of separate
//! runs.

use super::scratch::{Ran, Scratch, without_host};

/// Workgroups race on a few words, add to a counter, and go on to other lines. In the last but one line, workgroup 21
/// may do something else: `{21}`.
const RACY: &str = "\
.kernel racy
.registers 12
.workgroup_size 64, 1, 1
    mov_sr  r0, sr_workgroup_id_x
    mov_sr  r1, sr_thread_id_x
    mov_imm r2, 2
    shl     r3, r1, r2
    mov_imm r7, 15
    and     r6, r0, r7
    shl     r6, r6, r2
    iadd    r3, r3, r6
    mov_imm r8, 0x4000
    atomic_add r9, r8, r1, .device
    device_load_u32 r4, r3
    iadd    r4, r4, r0
    device_store_u32 r3, r4
    mov_imm r10, 21
    ucmp_eq p1, r0, r10
    mov_imm r11, -256
    {21}
    atomic_add r8, r4, .device
    halt
.end
";

/// What can be asked of a run: flags, and the file that they write.
const ALONE: [(&str, Option<&str>); 8] = [
    ("--trace", None),
    ("--check-races", None),
    ("--wvfi t.wvfi", Some("t.wvfi")),
    ("--kanata t.kanata", Some("t.kanata")),
    ("--perfetto t.pftrace", Some("t.pftrace")),
    ("--vcd t.vcd", Some("t.vcd")),
    ("--fst t.fst", Some("t.fst")),
    ("--report t.html", Some("t.html")),
];

/// Combinations, as places in [`ALONE`]: all; without waveforms, for which the machine is looked at in every cycle;
/// without the report too; and some.
const TOGETHER: [&[usize]; 5] =
    [&[0, 1, 2, 3, 4, 5, 6, 7], &[0, 1, 2, 3, 4, 7], &[0, 1, 2, 3, 4], &[0, 6], &[1, 7]];

fn scratch() -> Scratch {
    let racy = |what: &str| RACY.replace("{21}", what);
    Scratch::with(&[("racy.wave", &racy("nop")), ("faulty.wave", &racy("@p1 device_store_u32 r11, r4"))])
}

/// Checks that combinations of flags give what each gives alone, and the exit codes without and with
/// `--check-races`.
fn agree(arguments: &str, codes: [i32; 2]) {
    let alone: Vec<(Ran, Option<Vec<u8>>)> = ALONE
        .iter()
        .map(|(flag, file)| {
            let scratch = scratch();
            let ran = scratch.run(&format!("{arguments} --threads 1 {flag}"));
            let file = file.map(|file| scratch.read(file));
            (ran, file)
        })
        .collect();
    let (plain, with_races, with_trace) = (&alone[2].0, &alone[1].0, &alone[0].0);
    assert!(with_races.out.contains("\nrace"), "{arguments}: {}", with_races.out);
    assert!(without_host(&with_trace.err).contains(" core["), "{arguments}: {}", with_trace.err);
    for flags in TOGETHER {
        let words: Vec<&str> = flags.iter().map(|&flag| ALONE[flag].0).collect();
        for threads in [1, 2] {
            let scratch = scratch();
            let command = format!("{arguments} --threads {threads} {}", words.join(" "));
            let ran = scratch.run(&command);
            let has = |flag: usize| flags.contains(&flag);
            let out = if has(1) { with_races } else { plain };
            let err = if has(0) { with_trace } else { plain };
            assert!(ran.out == out.out, "{command}:\n{}\nalone:\n{}", ran.out, out.out);
            assert!(without_host(&ran.err) == without_host(&err.err), "{command}: standard error differs");
            assert_eq!(ran.code, out.code, "{command}");
            assert_eq!(out.code, codes[usize::from(has(1))], "{command}");
            for &flag in flags {
                let (Some(name), Some(file)) = (ALONE[flag].1, &alone[flag].1) else { continue };
                assert!(scratch.read(name) == *file, "{command}: {name} differs");
            }
        }
    }
}

#[test]
fn a_kernel_of_several_launches_is_watched_by_all_at_once() {
    agree("bfs --config gpu --size small", [0, 0]);
}

#[test]
fn a_kernel_with_races_is_watched_by_all_at_once() {
    agree("racy.wave --config gpu --device-memory 64KiB --grid 48", [0, 1]);
}

/// In the cycle of the fault, cores that run ahead of the one at fault are further than it.
#[test]
fn a_kernel_that_faults_is_watched_by_all_up_to_the_fault() {
    agree("faulty.wave --config gpu --device-memory 64KiB --grid 48", [3, 3]);
}

#[test]
fn a_kernel_that_reaches_a_bound_is_watched_by_all_up_to_the_bound() {
    agree("racy.wave --config gpu --device-memory 64KiB --grid 48 --max-instructions 777", [3, 3]);
    agree("racy.wave --config gpu --device-memory 64KiB --grid 48 --max-cycles 333", [3, 3]);
}

/// What every flag keeps from the others: a window of the files is none of the races and of the issue trace.
#[test]
fn the_window_of_the_files_leaves_the_rest_whole() {
    let scratch = scratch();
    let kernel = "racy.wave --config gpu --device-memory 64KiB --grid 48";
    let window = "--from-cycle 100 --to-cycle 200 --wvfi w.wvfi";
    let alone = scratch.run(&format!("{kernel} {window}"));
    let file = scratch.read("w.wvfi");
    let races = scratch.run(&format!("{kernel} --check-races"));
    let trace = scratch.run(&format!("{kernel} --trace"));
    let all = scratch.run(&format!("{kernel} {window} --check-races --trace"));
    assert_eq!((alone.code, all.code), (0, 1));
    assert!(scratch.read("w.wvfi") == file);
    assert_eq!(all.out, races.out);
    assert!(without_host(&all.err) == without_host(&trace.err));
}
