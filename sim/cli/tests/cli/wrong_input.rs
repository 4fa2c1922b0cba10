//! Golden messages for every class of wrong input.

use super::golden;
use super::scratch::{Scratch, without_host};

const KERNEL: &str = "\
.kernel k
.registers 8
    mov_sr r0, sr_thread_id_x
    mov_imm r1, 2
    shl r2, r0, r1
    device_store_u32 r2, r0
    halt
.end
";

const MODULE: &str = "\
(module
  (memory 2)
  (data (i32.const 0x1FFF0) \"0123456789\")
  (func (export \"store\") (param $to i32) (i32.store (local.get $to) (i32.const 1)))
  (func (export \"far\")))
";

/// Command lines with what they get wrong; each ends with 2 and writes nothing to standard output.
const MISTAKES: &[&str] = &[
    // Names.
    "k.wav",
    "kk.wave",
    "sgemn",
    "sgemm.ron",
    "chekc",
    "run k.wave",
    "nodir/k.wave",
    ".",
    "gpu.ron",
    "tiny",
    "mine.ron",
    "--config k.wave",
    "--config k.wbin",
    "--config launch.ron",
    "--config tyni.ron",
    "--config nodir/gpu.ron",
    "--config broken.ron",
    "--config typo.ron",
    // Content.
    "broken.wave",
    "cut.wbin",
    "binary.wave",
    "empty.wave",
    "two.wave --kernel c",
    "open.wave",
    "constant.wave",
    "broken.ron",
    "lost.ron",
    "typo_launch.ron",
    "--config typo_launch.ron",
    // Flags and their values.
    "k.wave --gird 4",
    "k.wave --grid 1,2,3,4",
    "k.wave --grid 0",
    "k.wave --grid 70000,70000",
    "k.wave --workgroup x",
    "k.wave --set-reg 1",
    "k.wave --set-reg r300:1",
    "k.wave --set-reg 1:4294967296",
    "k.wave --set-reg 1:one",
    "k.wave --fill-iota 0:u8:300:1",
    "k.wave --fill-iota 0:i65:3:1",
    "k.wave --fill-iota 0:f32:3:1e300",
    "k.wave --param u8:300 --param f32:1e39",
    "k.wave --param u9:3",
    "k.wave --fill-iota 0:u32:3:0.5",
    "k.wave --fill-iota 0:f32",
    "k.wave --fill-zero -4:u32:1",
    "k.wave --dump-memory 8:8",
    "k.wave --dump-f32 0",
    "k.wave --save 0:4",
    "k.wave --max-cycles many",
    "k.wave --size medium",
    "k.wave --format xml",
    // Values that do not fit the kernel or the machine.
    "k.wave --set-reg 9:1 --fill-zero 0x3ffffff:u32:1 --fill-iota 0:u32:0x2000000:1 --arg 0:ten --arg 0:tenn --arg 99999999:ten",
    "k.wave --config small.ron --arg 4090:ten",
    "k.wave --dump-u32 0x4000000:1 --dump-f32 0:99999999999 --dump-memory 0:0x5000000",
    "k.wave --save 0:99999999:x --save 0:1:nodir/x --save 0:1:.",
    "k.wave --dump-f32 out:4 --save out:x",
    "k.wave --arg 0:ten --arg 5:ten",
    "k.wave --arg 4:ten --fill-iota 0:u8:8",
    "launch.ron --dump-f32 otu:4",
    "k.wave --registers 300",
    "k.wave --workgroup 2048",
    "k.wave --local-memory 0x100000",
    "k.wave --config tiny --registers 255 --workgroup 256",
    "k.wave --wave-width 128",
    "k.wave --wave-width 12",
    "k.wave --device-memory 0x200000000",
    "k.wave --device-memory -1",
    "k.wave --threads -1",
    "big.ron --config small.ron",
    "launch.ron --device-memory 100",
    // Settings.
    "k.wave --set core.l1.mshrs",
    "k.wave --set =3",
    "k.wave --set core..l1=3",
    "k.wave --set core.units[int.lanes=3",
    "k.wave --set core.l1.mshr=64",
    "k.wave --set mshrs=64 --set hit_latency=3 --set l2=4 --set core.l1.mshrs.x=4",
    "k.wave --set core.l1.mshrs=many --set core.issue.policy=gtoo --set capabilities.f64=yes --set cores=0",
    "k.wave --set core.units.lanes=8 --set core.units[in].lanes=8 --set core.units[9].lanes=8",
    "k.wave --set core.units[int].classes[integer].passes=8 --set core.units[int].classes=8",
    "k.wave --set l1.bytes=64KB --set l2.slice_bytes=1TiB --set l1.mshrs=1K --set dram.row_bytes=0x1K",
    "k.wave --device-memory 64MB",
    "k.wave --local-memory 8GiB",
    "k.wave --set base=tiny.ron",
    "k.wave --set dram.part=ddr9.ron",
    "k.wave --set core.l1.line_bytes=32 --set core.l1.sector_bytes=64 --set core.fetch.icache_line_bytes=32",
    "k.wave --set core.fetch.icache_line_bytes=256",
    "k.wave --config mine.ron --set l2.slices=2",
    "config show tiny --set cors=3",
    "measure --set dram.t_rcdd=3",
    // Flags where they have no use.
    "--grid 4",
    "launch.ron --grid 4 --set-reg 0:0",
    "k.wave --seed 7",
    "k.wave launch.ron --dump-u32 0:1",
    "--config tiny --trace",
    "--config tiny stats",
    "k.wave --checkpoint-every 100",
    "k.wave --checkpoint-on-signal",
    "k.wave --checkpoint c",
    "k.wave --checkpoint c --checkpoint-every 0",
    "k.wave --checkpoint c --checkpoint-every often",
    "k.wave --checkpoint nodir/c --checkpoint-every 100",
    "k.wave --checkpoint . --checkpoint-every 100",
    "k.wave --checkpoint checkpoint --checkpoint-every 100",
    "k.wave --overwrite",
    "k.wave --resume checkpoint --checkpoint c --checkpoint-every 100 --overwrite",
    "k.wave --resume checkpiont",
    "k.wave --resume nodir/c",
    "k.wave --resume .",
    "k.wave --resume ten",
    "k.wave --resume cut.checkpoint",
    "k.wave --resume checkpoint",
    "k.wave --resume checkpoint --config tiny --device-memory 64KiB --set cores=1",
    "two.wave --resume checkpoint --config tiny --device-memory 64KiB",
    "k.wave --resume checkpoint --config tiny --device-memory 64KiB --grid 3",
    "k.wave --resume checkpoint --config tiny --device-memory 64KiB --fill-iota 0:u32:9:1",
    "k.wave --resume checkpoint --config tiny --device-memory 64KiB --wvfi k.wvfi",
    "k.wave --resume traced --config tiny --device-memory 64KiB",
    "k.wave --resume traced --config tiny --device-memory 64KiB --wvfi k.txt",
    "k.wave --resume traced --config tiny --device-memory 64KiB --wvfi k.wvfi",
    "k.wave --resume newer.checkpoint",
    "k.wave --resume changed.checkpoint",
    "k.wave --resume checkpoint --config tiny --device-memory 64KiB --vcd k.vcd --trace",
    "k.wave two.wave --resume checkpoint",
    "--resume checkpoint",
    "cosim saxpy --grid 2",
    "cosim --random 1 --set-reg 1:2",
    "cosim nofile.wave",
    "cosim k.wave --grid 0 --core k.wave",
    // Commands.
    "asm",
    "asm nofile.wave",
    "asm broken.wave",
    "asm k.wbin",
    "asm k.wave -o nodir/k.wbin",
    "dis k.wbni",
    "dis cut.wbin",
    "check k.wave --kernel j",
    "ptx",
    "ptx k.wav",
    "ptx broken.wave",
    "ptx k.wave --kernel j",
    "ptx k.wave --arch sm_70",
    "ptx k.wave --threads 0",
    "ptx k.wave --threads 2000",
    "ptx k.wave --special fast",
    "ptx k.wave -o nodir/k.ptx",
    "ptx k.wave -o k.wave",
    "ptx recursive.wave",
    "ptx large.wave",
    "ptx roomy.wave --arch sm_89",
    "k.wasm",
    "k.wat",
    "k.wat --kernel stroe",
    "k.wat --kernel store --param 0 --param 1",
    "k.wat --kernel store --param 1.5",
    "k.wat --kernel store --param u64:1",
    "k.wat --kernel store --param f32:1",
    "k.wat --kernel far --device-memory 64KiB",
    "module.ron",
    "none.wat",
    "check cut.wasm",
    "check k.wave bad.wasm",
    "check types.wat",
    "check unbalanced.wat",
    "check import.wat",
    "check simd.wat",
    "check bad.ir",
    "dis --ir k.wave",
    "dis --ir --raw types.wat",
    "wasm",
    "wasm annotate k.wasm",
    "wasm annotate nofile.wasm -o x.wasm",
    "wasm annotate k.wasm -o k.wasm",
    "wasm annotate k.wasm -o nodir/x.wasm",
    "wasm annotate bad.wasm -o x.wasm",
    "wasm annotate types.wat -o x.wasm",
    "wasm annotate unbalanced.wat -o x.wasm",
    "wasm verify",
    "wasm verify k.wasm",
    "wasm verify wrong.wasm cut.wasm nofile.wasm",
    "check wrong.wasm",
    "check k.wave --config typo.ron",
    "config explain core.issue.widht",
    "config explain latency_cycles",
    "config diff gpu.ron tyni.ron",
    "config show k.wave",
    "config shwo",
    "completions fsh",
];

fn scratch() -> Scratch {
    let broken = KERNEL.replace("mov_imm", "mov_im").replace("r2, r0, r1", "r2, r9, r1").replace(".end", "");
    let launch =
        "(source: \"k.wave\", buffers: (x: (type: u32, length: 32)), steps: [run(grid: 1, workgroup: 32)])";
    let scratch = Scratch::with(&[
        ("k.wave", KERNEL),
        ("broken.wave", &broken),
        ("two.wave", ".kernel a\n.registers 4\n  halt\n.end\n.kernel b\n.registers 4\n  halt\n.end\n"),
        ("open.wave", &KERNEL.replace("    halt", "    if p1\n    halt")),
        ("constant.wave", &KERNEL.replace("    halt", "    .equ N, 4\n    halt")),
        ("empty.wave", "; nothing yet\n"),
        (
            "recursive.wave",
            &KERNEL.replace("    halt", "again:\n    if p1\n        call again\n    endif\n    return"),
        ),
        ("large.wave", &KERNEL.replace(".registers 8", ".registers 8\n.workgroup_size 64, 32, 1")),
        ("roomy.wave", &KERNEL.replace(".registers 8", ".registers 8\n.local_memory 131072")),
        ("mine.ron", "(cores: 2)"),
        ("broken.ron", "(cores: 2"),
        ("typo.ron", "(core: (issue: (widht: 2)), cores: 0)"),
        ("small.ron", "(base: \"tiny.ron\", device_memory_bytes: 4096)"),
        ("launch.ron", launch),
        ("lost.ron", &launch.replace("k.wave", "kk.wave")),
        ("big.ron", &launch.replace("length: 32", "length: 5000")),
        ("typo_launch.ron", &launch.replace("grid", "gird")),
        ("ten", "0123456789"),
        ("bad.wasm", "no module"),
        ("types.wat", "(module\n  (func $sum (result i32)\n    (i32.add (i32.const 1) (f32.const 2))))"),
        ("unbalanced.wat", "(module\n  (func (result i32)\n    (i32.const 1))"),
        ("import.wat", "(module (import \"wave\" \"thread_id\" (func (result i32))))"),
        ("k.wat", MODULE),
        ("none.wat", "(module (memory (export \"memory\") 1))"),
        ("module.ron", &launch.replace("k.wave", "k.wat").replace("(grid", "(kernel: \"stor\", grid")),
        ("simd.wat", "(module (func (result v128) (v128.const i32x4 0 0 0 0)))"),
        ("bad.ir", "function f0 () -> () {\nb0:\n    v0: i32 = ad v0, v0\n    return\n}\n"),
    ]);
    scratch.out("asm k.wave");
    let container = scratch.read("k.wbin");
    scratch.write("cut.wbin", &container[..40]);
    let saves = "--checkpoint checkpoint --checkpoint-every 20";
    scratch.out(&format!("k.wave --config tiny --device-memory 64KiB {saves}"));
    let traced = saves.replace("checkpoint checkpoint", "checkpoint traced");
    scratch.out(&format!("k.wave --config tiny --device-memory 64KiB {traced} --wvfi k.wvfi"));
    std::fs::remove_file(scratch.path("k.wvfi")).unwrap();
    let checkpoint = scratch.read("checkpoint");
    scratch.write("cut.checkpoint", &checkpoint[..100]);
    for (name, place) in [("newer.checkpoint", 7), ("changed.checkpoint", 100)] {
        let mut other = checkpoint.clone();
        other[place] += 1;
        scratch.write(name, &other);
    }
    scratch.write("k.wasm", b"\0asm\x01\0\0\0");
    scratch.write("cut.wasm", b"\0asm\x01\0\0\0\x01\x05");
    scratch.write("block.wat", b"(module (func (param i32) (block (br_if 0 (local.get 0)))))");
    scratch.out("wasm annotate block.wat -o block.wasm");
    let mut wrong = scratch.read("block.wasm");
    // The type of the function, and the end of the block.
    let types = wrong.windows(6).position(|bytes| bytes == b"nw_fti").unwrap() + 6;
    let end = wrong.len() - 4;
    [types, end].iter().for_each(|&byte| wrong[byte] += 1);
    scratch.write("wrong.wasm", &wrong);
    scratch.write("binary.wave", &[0x7F, b'E', b'L', b'F', 0xFF]);
    scratch
}

#[test]
fn every_mistake_has_its_message() {
    let scratch = scratch();
    let mut text = String::new();
    for mistake in MISTAKES {
        let ran = scratch.run(mistake);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "wave-sim {mistake}: {}", ran.err);
        text += &format!("$ wave-sim {mistake}\n{}\n", without_host(&ran.err));
    }
    golden::check("sim/cli/tests/cli/wrong_input.txt", &text);
}

#[test]
fn messages_are_plain_where_nobody_looks() {
    let ran = scratch().run("broken.wave");
    assert!(!ran.err.contains('\u{1b}'), "{}", ran.err);
}
