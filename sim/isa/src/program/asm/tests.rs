use super::*;

/// The words of one line in a kernel with 256 registers.
fn words(line: &str) -> Vec<u32> {
    let text = format!(".kernel k\n.registers 256\n{line}\nnop\n.end\n");
    match assemble(&text, "k.wave") {
        Ok((program, _)) => program.code[..program.code.len() - 1].to_vec(),
        Err(errors) => panic!("{line}: {errors:?}"),
    }
}

/// Messages of a whole text: the errors and warnings, rendered.
fn messages(text: &str) -> Vec<String> {
    let diagnostics = match assemble(text, "k.wave") {
        Ok((_, warnings)) => warnings,
        Err(errors) => errors,
    };
    diagnostics.iter().map(|d| d.message.clone()).collect()
}

/// Words composed by hand from the layout in isa section 2.
#[test]
fn words_are_those_of_the_encoding_page() {
    let cases: &[(&str, &[u32])] = &[
        ("iadd r1, r2, r3", &[0x0001_0200, 0x0300_0000]),
        ("@p1 iadd r1, r2, r3", &[0x0001_0201, 0x0300_0000]),
        ("@!p3 imad r1, r2, r3, r4", &[0x0401_0207, 0x0304_0000]),
        ("@!p0 bfi r255, r254, r253, r252, r251", &[0x27FF_FE44, 0xFDFC_FB00]),
        ("fsqrt r9, r10", &[0x1A09_0A00]),
        ("flog2 r1, r2", &[0x1B01_02B0]),
        ("icmp_ge p2, r5, r6", &[0x2802_0550, 0x0600_0000]),
        ("fcmp_unord p0, r0, r1", &[0x2A00_0070, 0x0100_0000]),
        ("select r1, p3, r4, r5", &[0x2B01_0300, 0x0405_0000]),
        ("cvt_bf16_f32 r1, r2", &[0x2C01_0290]),
        ("local_store_u64 r1, r2", &[0x3100_0130, 0x0200_0000]),
        ("device_load_u32 r1, r2", &[0x3801_0220]),
        ("device_load_u32.cached r1, r2", &[0x3801_0220]),
        ("device_load_u32.uncached r1, r2", &[0x3801_0270]),
        ("device_load_u128 .streaming r4, r2", &[0x3804_02E0]),
        ("device_store_u8.streaming r1, r2", &[0x3900_01A0, 0x0200_0000]),
        ("local_atomic_cas r3, r1, r2, r4", &[0x3C03_0180, 0x0204_0000]),
        ("local_atomic_cas r1, r2, r4", &[0x3C00_0180, 0x0204_0000]),
        ("atomic_add r3, r1, r2, .device", &[0x3D03_0100, 0x0200_0002]),
        ("atomic_add r3, r1, r2 .system", &[0x3D03_0100, 0x0200_0003]),
        ("atomic_max r1, r2, workgroup", &[0x3D00_0130, 0x0200_0001]),
        ("atomic_cas r3, r1, r2, r4, .wave", &[0x3D03_0180, 0x0204_0000]),
        ("wave_shuffle_idx r1, r2, r3", &[0x3E01_0200, 0x0300_0000]),
        ("wave_ballot r1, p2", &[0x3E01_0250]),
        ("wave_all p1, p2", &[0x3E01_0270]),
        ("wave_reduce_xor r1, r2", &[0x3E01_02E0]),
        ("if !p1", &[0x3F00_0500]),
        ("break !p0", &[0x3F00_0440]),
        ("@p2 continue p3", &[0x3F00_0352]),
        ("endloop", &[0x3F00_0060]),
        ("here: call here", &[0x3F00_0070, 0]),
        ("nop\nthere: call there", &[0x3F00_00F0, 0x3F00_0070, 4]),
        ("call there\nthere: nop", &[0x3F00_0070, 8, 0x3F00_00F0]),
        ("call 4", &[0x3F00_0070, 4]),
        ("fence_acquire .workgroup", &[0x3F00_00B0, 1]),
        ("fence_release.device", &[0x3F00_00C0, 2]),
        ("fence_acq_rel system", &[0x3F00_00D0, 3]),
        ("mma_load_b f7, r1, r2", &[0x4007_0110, 0x0200_0000]),
        ("mma_store_c r1, r2, f3", &[0x4001_0220, 0x0300_0000]),
        ("mma_compute f1, 2, f3", &[0x4001_0230, 0x0300_0000]),
        ("mov r1, r2", &[0x4101_0200]),
        ("mov_imm r1, -2", &[0x4101_0010, 0xFFFF_FFFE]),
        ("mov_imm r1, 0b1_01", &[0x4101_0010, 5]),
        ("mov_imm r1, 0.1", &[0x4101_0010, 0x3DCC_CCCD]),
        ("mov_imm r1, -inf", &[0x4101_0010, 0xFF80_0000]),
        ("mov r1, sr_mma_k", &[0x4101_1320]),
        ("mov_sr r1, sr_lane_id", &[0x4101_0420]),
        ("hadd r1.lo, r2.lo, r3.lo", &[0x1C01_0200, 0x0300_0000]),
        (".word 0xDEADBEEF, 1", &[0xDEAD_BEEF, 1]),
        ("\tiadd\tr1 ,r2,\u{a0}r3 ; c # c", &[0x0001_0200, 0x0300_0000]),
    ];
    for (line, expected) in cases {
        assert_eq!(words(line), *expected, "{line}");
    }
}

#[test]
fn kernels_lines_and_defaults() {
    let text = "\u{feff}# two kernels\r\n.kernel first\r\nx: nop\r\ncall x\r\n.end\r\n\r\n\
                .kernel second .\n.end\n.kernel \"a \\\"b\\u{e9}\"\n.registers 0x10\n.local_memory 1_024\n\
                .workgroup_size 8, 4, 2\nx: call x\n.end";
    let text = text.replace("second .", "second");
    let (program, warnings) = assemble(&text, "k.wave").unwrap();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!(warnings[0].message, "kernel `second` has no instructions");
    assert_eq!(program.code, [0x3F00_00F0, 0x3F00_0070, 0, 0x3F00_0070, 12]);
    let [first, second, third] = program.kernels.as_slice() else { panic!("{:?}", program.kernels) };
    assert_eq!((first.registers, first.local_memory_bytes, first.workgroup_size), (32, 0, [0; 3]));
    assert_eq!(second.code, 3..3);
    assert_eq!(third.name, "a \"bé");
    assert_eq!((third.registers, third.local_memory_bytes, third.workgroup_size), (16, 1024, [8, 4, 2]));
    assert_eq!(third.code, 3..5);
    let source = program.source.unwrap();
    assert_eq!(source.lines, [3, 4, 4, 13, 13]);
    assert_eq!(source.line_of_word(1), Some((4, "call x")));
}

#[test]
fn every_line_reports_on_its_own() {
    let text =
        ".kernel k\niad r0, r1, r2\niadd r0, r1\nnop\nmov r0 r1\ncall nowhere\niadd r0, p1, 5\n.ned\n.end\n";
    assert_eq!(
        messages(text),
        [
            "unknown instruction `iad`",
            "`iadd` takes 3 operands, found 2",
            "expected a comma, found `r1`",
            "label `nowhere` is not defined in kernel `k`",
            "expected a register, found `p1`",
            "expected a register, found `5`",
            "unknown directive `.ned`",
        ]
    );
}

#[test]
fn refused() {
    for (line, message) in [
        ("mma_load_a r8, r0, r0", "matrix fragment `r8` does not exist, there are f0 to f7 of each kind"),
        (".equ N, 4", "unknown directive `.equ`"),
        ("@p4 nop", "predicate `p4` does not exist, there are p0 to p3"),
        ("@p1 endif", "`endif` takes no guard"),
        ("@ nop nop", "expected a predicate, p0 to p3, found `nop`"),
        ("iadd r0, r1, r256", "register `r256` does not exist"),
        ("iadd r0, r1, r2.ho", "expected `.lo` or `.hi`, found `.ho`"),
        ("iadd r0, r1, r2 .ho", "expected a comma or the end of the line, found `.ho`"),
        ("select r0, !p1, r1, r2", "`select` takes no negated predicate"),
        ("iadd.cached r0, r1, r2", "`iadd` takes no cache hint, found `.cached`"),
        ("device_load_u32.cache r0, r1", "unknown cache hint `.cache`"),
        ("mov_imm r0, 0x1_0000_0000", "`0x1_0000_0000` does not fit 32 bits (-2147483648 to 4294967295)"),
        ("mov_imm r0, 1e39", "`1e39` is too large for an f32; infinity is written `inf`"),
        ("mov_imm r0, 12abc", "`12abc` is not a number"),
        ("mma_compute f8, f0, f0", "matrix fragment `f8` does not exist, there are f0 to f7 of each kind"),
        ("mov r0, sr_lane", "unknown special register `sr_lane`"),
        ("fence_acquire .gpu", "expected a scope, found `gpu`"),
        ("iadd r0, r1,", "expected an operand after the comma, but the line ends"),
        ("iadd r0,, r1", "expected an operand, found `,`"),
        ("iadd r0, [r1], r2", "expected an operand, found `[`"),
        ("nop // two", "expected an operand, found `//`"),
        (".registers 0", "a kernel has 1 to 256 registers, found 0"),
        (".registers 257", "a kernel has 1 to 256 registers, found 257"),
        (".registers -1", "`-1` is out of range 0 to 4294967295"),
        (".registers 1.5", "`1.5` is not an integer"),
        (".registers", "`.registers` needs a value"),
        (".workgroup_size 1, 2", "`.workgroup_size` takes 3 values, found 2"),
        (".kernel", "`.kernel` needs a name"),
        (".end 5", "`.end` takes no values"),
        ("x: nop\nx: nop", "label `x` is already defined in kernel `k`"),
    ] {
        let found = messages(&format!(".kernel k\n{line}\n.end\n"));
        assert!(found.iter().any(|m| m == message), "{line}: {found:#?}");
        assert!(assemble(&format!(".kernel k\n{line}\n.end\n"), "k").is_err(), "{line}");
    }
}

#[test]
fn labels_belong_to_their_kernel() {
    let other = ".kernel a\nx: nop\n.end\n.kernel b\ncall x\n.end";
    assert_eq!(messages(other), ["label `x` is not defined in kernel `b`"]);
    assert_eq!(messages("x:\n.kernel a\nnop\n.end"), ["label `x` is outside every kernel and names nothing"]);
    let past = ".kernel a\ncall x\nx:\n.end";
    assert_eq!(messages(past), ["the call's target, byte 0x8, is not in kernel `a`"]);
}

#[test]
fn registers_are_counted() {
    let text =
        ".kernel k\n.registers 4\niadd r4, r9, r2\ndadd r6, r8, r10\nmov_imm r200, 1\n.registers 8\n.end";
    let Err(errors) = assemble(text, "k") else { panic!("accepted") };
    let [error, again] = errors.as_slice() else { panic!("{errors:#?}") };
    assert_eq!(again.severity, Severity::Warning);
    assert_eq!(error.message, "r9 is past the 8 registers that kernel `k` declares");
    assert_eq!(error.hint.as_deref(), Some("`.registers 201` is enough for all of `k`"));
    // A pair touches the register after the named one.
    assert_eq!(messages(".kernel k\n.registers 3\ndadd r0, r0, r2\n.end").len(), 1);
    assert_eq!(messages(".kernel k\n.registers 4\ndadd r0, r0, r2\n.end").len(), 0);
    assert_eq!(messages(".kernel k\n.registers 256\ndadd r0, r0, r255\n.end").len(), 1);
    assert_eq!(messages(".kernel k\nnot r0, r32\n.end").len(), 1);
}

#[test]
fn a_flood_of_errors_is_cut() {
    for (lines, last) in [
        (50, "unknown instruction `bad`"),
        (300, "250 more messages about `k.wave` are not shown"),
        (100_000, "950 more messages about `k.wave` are not shown, and the rest of the file was not read"),
    ] {
        let text = format!(".kernel k\n{}.end\n", "bad r0\n".repeat(lines));
        let Err(errors) = assemble(&text, "k.wave") else { panic!("accepted") };
        assert_eq!(errors.len(), (MOST_DIAGNOSTICS + 1).min(lines));
        assert_eq!(errors.last().map(|e| e.message.as_str()), Some(last));
    }
}

#[test]
fn a_flood_of_warnings_hides_no_error_and_no_code() {
    let line = "hadd r1, r2.hi, r3\n";
    let text = format!(".kernel k\n{}.end\n", line.repeat(5000));
    let Ok((program, warnings)) = assemble(&text, "k.wave") else { panic!("refused") };
    assert_eq!(program.code.len(), 10_000);
    assert_eq!(warnings.len(), MOST_DIAGNOSTICS + 1);
    assert!(warnings.iter().all(|w| w.severity == Severity::Warning));
    let text = format!(".kernel k\n{}bad\n.end\n", line.repeat(5000));
    let Err(errors) = assemble(&text, "k.wave") else { panic!("accepted") };
    assert!(errors.iter().any(|e| e.message == "unknown instruction `bad`"));
}

#[test]
fn an_instruction_outside_is_reported_once() {
    assert_eq!(messages("nop\nnop\n.registers 4\n"), ["instruction outside a kernel"]);
    assert_eq!(messages(".end\n"), ["`.end` without a `.kernel`"]);
    assert_eq!(messages(".kernel k\nnop\n"), ["kernel `k` has no `.end` at the end of the file"]);
    assert_eq!(
        messages(".kernel k\nnop\n.kernel m\nnop\n.end"),
        ["kernel `k` has no `.end` before the next one begins"]
    );
    assert_eq!(messages(""), ["the file has no kernel"]);
}
