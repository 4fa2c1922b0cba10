//! Round trips between text, program and container.

use crate::instructions::{instruction, program};
use proptest::prelude::*;
use wave_isa::program::dis::Labels;
use wave_isa::program::{Program, assemble, disassemble, disassemble_inst, wbin};
use wave_isa::{Inst, Op};

/// Checks that the disassembly of `program` assembles to the same kernels, words and container.
pub(crate) fn check_text(program: &Program) {
    let text = disassemble(program);
    let (again, _) = assemble(&text, "dis").unwrap_or_else(|errors| panic!("{text}\n{errors:#?}"));
    assert_eq!(again.code, program.code, "{text}");
    assert_eq!(again.kernels, program.kernels, "{text}");
    assert_eq!(wbin::write(&again), wbin::write(program));
}

proptest! {
    #[test]
    fn instructions_and_words(inst in instruction()) {
        prop_assert_eq!(Inst::decode(&inst.encode()), Ok(inst));
    }

    #[test]
    fn instructions_and_text(inst in instruction()) {
        let line = disassemble_inst(&inst, &Labels::new());
        let end = match inst.op {
            Op::If => "endif",
            Op::Loop => "endloop",
            _ => "",
        };
        let text = format!(".kernel k\n.registers 256\n{line}\n{end}\n.end\n");
        let (program, _) = assemble(&text, "k").unwrap_or_else(|errors| panic!("{line}\n{errors:#?}"));
        let words = inst.words() as usize;
        prop_assert_eq!(&program.code[..words], &inst.encode()[..words], "{}", line);
    }

    #[test]
    fn programs_and_text(program in program()) {
        check_text(&program);
    }

    #[test]
    fn programs_and_containers(program in program()) {
        let bytes = wbin::write(&program);
        prop_assert_eq!(wbin::read(&bytes, "p.wbin"), Ok(program));
    }
}

#[test]
fn a_listing() {
    let text = "\
.kernel scale
.registers 6
.workgroup_size 64, 1, 1
    mov r0, sr_thread_id_x
    mov_imm r1, 2.5
    mov_imm r2, -4
    call body
    halt
body:
    @!p0 fmul r3, r1, r2
    atomic_add r0, r3 .device
    if !p1
    device_store_u32.streaming r0, r3
    endif
    .word 0xFFFFFFFF
    return
.end
";
    let (program, warnings) = assemble(text, "scale.wave").expect("assembles");
    assert_eq!(warnings, []);
    crate::golden::check("sim/isa/tests/programs/listing.txt", &disassemble(&program));
    check_text(&program);
}

/// Bytes assembled by hand from the layout of the container.
#[test]
fn the_container_is_that_of_the_specification() {
    let (program, _) = assemble(
        ".kernel ab\n.registers 7\n.local_memory 16\n.workgroup_size 1, 2, 3\nhalt\n.end\n.kernel c\nnop\nnop\n.end",
        "x",
    )
    .expect("assembles");
    let mut expected = b"WAVE\x01\0\0\0".to_vec();
    let code = [0x3F00_0090u32, 0x3F00_00F0, 0x3F00_00F0];
    let words = [32u32, 12, 44, 5, 49, 68].into_iter().chain(code);
    words.for_each(|word| expected.extend(word.to_le_bytes()));
    expected.extend(b"ab\0c\0");
    let metadata = [2, 44, 7, 16, 1, 2, 3, 0, 4, 47, 32, 0, 0, 0, 0, 4, 8u32];
    metadata.iter().for_each(|word| expected.extend(word.to_le_bytes()));
    assert_eq!(wbin::write(&program), expected);
}

/// An `if` that nothing closes is an error in text, and code all the same.
#[test]
fn unclosed_ifs_become_words() {
    let closed = assemble(".kernel k\nloop\nif p1\nendif\nendloop\nif p2\nnop\nendif\nhalt\n.end\n", "k")
        .expect("assembles")
        .0;
    // The last `endif` goes, and with it the end of the second `if`.
    let mut open = closed.clone();
    open.code[6] = open.code[5];
    check_text(&open);
    let text = disassemble(&open);
    assert_eq!(text.matches(".word").count(), 1, "{text}");
    assert!(text.contains("if p2, which is never closed"), "{text}");
    assert!(!disassemble(&closed).contains(".word"));
}

/// What the reference toolchain writes beside our form: fragments as registers, scopes behind the mnemonic.
#[test]
fn the_forms_of_the_reference_toolchain_are_the_same_instructions() {
    for (theirs, ours) in [
        ("mma_load_a r0, r4, r9", "mma_load_a f0, r4, r9"),
        ("mma_store_c r4, r9, r7", "mma_store_c r4, r9, f7"),
        ("mma_compute r1, r2, r3", "mma_compute f1, f2, f3"),
        ("atomic_add.device r3, r4, r5", "atomic_add r3, r4, r5, .device"),
        ("atomic_add.system r4, r5", "atomic_add r4, r5, .system"),
        ("atomic_cas.workgroup r1, r2, r3, r4", "atomic_cas r1, r2, r3, r4, .workgroup"),
        ("fence_release.device", "fence_release .device"),
    ] {
        let code = |line: &str| {
            let text = format!(".kernel k\n.registers 16\n{line}\n.end\n");
            assemble(&text, "k").unwrap_or_else(|errors| panic!("{line}\n{errors:#?}")).0.code
        };
        assert_eq!(code(theirs), code(ours), "{theirs}");
    }
    let (guarded, warnings) = assemble(".kernel k\n@p0 nop\n.end\n", "k").expect("assembles");
    assert_eq!(guarded.code, [0x3F00_00F0]);
    assert!(warnings[0].message.starts_with("`@p0` guards nothing"), "{warnings:?}");
}

#[test]
fn kernels_are_in_the_order_of_their_code() {
    let (program, _) =
        assemble(".kernel a\nhalt\n.end\n.kernel b\nnop\n.end\n.kernel c\n.end", "x").expect("assembles");
    let mut swapped = program.clone();
    swapped.kernels.reverse();
    let read = wbin::read(&wbin::write(&swapped), "x.wbin").expect("a valid container");
    assert_eq!(read.kernels, program.kernels);
    check_text(&read);
}
