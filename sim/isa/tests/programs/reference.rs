//! The published assembler of the older encoding, crate `wave-asm`, reads the same language: what it accepts
//! is accepted here with the same operands. Deviations are listed and tested.

use proptest::prelude::*;
use proptest::sample::Index;
use std::collections::BTreeSet;
use wave_asm::opcodes::{InstructionSignature, MNEMONIC_MAP, OperandKind, SPECIAL_REGISTERS};
use wave_isa::program::assemble;
use wave_isa::table::TABLE;
use wave_isa::{Inst, Op, Scope, Special};

const SCOPES: [&str; 4] = ["wave", "workgroup", "device", "system"];

fn reference_accepts(line: &str) -> bool {
    wave_asm::assemble(&kernel(line), "k.wave").is_ok()
}

fn kernel(line: &str) -> String {
    format!(".kernel k\n.registers 32\n{line}\ntarget: nop\n.end\n")
}

/// The instruction of one line.
fn ours(line: &str) -> Result<Inst, String> {
    let end = match line.split_whitespace().next() {
        Some("if") => "\nendif",
        Some("loop") => "\nendloop",
        _ => "",
    };
    let text = kernel(&format!("{line}{end}")).replace(".registers 32", ".registers 256");
    let (program, _) = assemble(&text, "k.wave").map_err(|errors| format!("{line}: {errors:?}"))?;
    Inst::decode(&program.code).map_err(|error| format!("{line}: {error}"))
}

fn sorted_mnemonics() -> Vec<(&'static str, &'static InstructionSignature)> {
    let mut all: Vec<_> = MNEMONIC_MAP.iter().map(|(name, signature)| (*name, signature)).collect();
    all.sort_by_key(|(name, _)| *name);
    all
}

#[test]
fn mnemonics_of_both_and_of_one() {
    let theirs: BTreeSet<&str> = MNEMONIC_MAP.keys().copied().collect();
    let mine: BTreeSet<&str> = TABLE.iter().map(|i| i.mnemonic).filter(|m| !m.contains('.')).collect();
    assert_eq!(theirs.difference(&mine).collect::<Vec<_>>(), Vec::<&&str>::new());
    let newer = "badd badd2 bma bma2 bmul bmul2 bsub cvt_bf16_f32 cvt_f32_bf16 fcmp_ge mma_compute mma_load_a \
                 mma_load_b mma_store_c ucmp_eq ucmp_ge ucmp_gt ucmp_ne umax umin wave_reduce_and wave_reduce_or \
                 wave_reduce_xor";
    assert_eq!(mine.difference(&theirs).copied().collect::<Vec<_>>().join(" "), newer);
    assert!(theirs.len() > 150);
}

#[test]
fn special_registers_have_the_same_numbers() {
    for (name, code) in SPECIAL_REGISTERS.iter() {
        assert_eq!(Special::from_name(name).map(|s| s as u8), Some(*code), "{name}");
    }
    assert_eq!(Special::ALL.len() - SPECIAL_REGISTERS.len(), 4, "only those of the matrix unit are newer");
}

/// An operand of a line: its text, and the expected value of the field named by the signature.
#[derive(Debug, Clone)]
struct Sample {
    text: String,
    value: u32,
}

/// Random operands for `signature`.
fn sample(signature: &InstructionSignature, draw: &mut impl FnMut(u32) -> u32) -> Vec<Sample> {
    let kinds = signature.operands.iter();
    kinds
        .filter_map(|kind| {
            let n = draw(u32::MAX);
            let (text, value) = match kind {
                // In both assemblers, register pairs and quadruples must end at r31 at the latest.
                OperandKind::OptionalRd if draw(2) == 0 => return None,
                OperandKind::OptionalRd => (format!("r{}", 1 + n % 31), 1 + n % 31),
                OperandKind::Rd
                | OperandKind::Rs1
                | OperandKind::Rs2
                | OperandKind::Rs3
                | OperandKind::Rs4 => {
                    (format!("r{}{}", n % 29, ["", "", "", ".lo", ".hi"][draw(5) as usize]), n % 29)
                }
                OperandKind::Pd | OperandKind::PdSrc => (format!("p{}", n % 4), n % 4),
                OperandKind::Imm32 => match draw(4) {
                    0 => (format!("{}", n.cast_signed()), n),
                    1 => (format!("0x{n:X}"), n),
                    2 => (format!("{n}"), n),
                    _ => (format!("{}_{:03}", n % 1000, n % 7), n % 1000 * 1000 + n % 7),
                },
                OperandKind::Label => ("target".to_owned(), 8),
                OperandKind::Scope => {
                    let dot = if draw(2) == 0 { "." } else { "" };
                    (format!("{dot}{}", SCOPES[n as usize % 4]), n % 4)
                }
                OperandKind::SpecialReg => {
                    let name = Special::ALL[n as usize % 16].name();
                    (name.to_owned(), n % 16)
                }
            };
            Some(Sample { text, value })
        })
        .collect()
}

/// Fields of `inst` in the order of the reference's operands.
fn fields(inst: &Inst, signature: &InstructionSignature, given: usize) -> Vec<u32> {
    let skipped = signature.operands.len() - given;
    let fields = signature.operands.iter().skip(skipped).map(|kind| match kind {
        // The older encoding names the registers of a select rs1 and rs2. Here rs1 holds its predicate.
        OperandKind::Rs1 if inst.op == Op::Select => inst.rs2.into(),
        OperandKind::Rs2 if inst.op == Op::Select => inst.rs3.into(),
        OperandKind::Rd | OperandKind::OptionalRd | OperandKind::Pd => inst.rd.into(),
        OperandKind::Rs1 | OperandKind::PdSrc | OperandKind::SpecialReg => inst.rs1.into(),
        OperandKind::Rs2 => inst.rs2.into(),
        OperandKind::Rs3 => inst.rs3.into(),
        OperandKind::Rs4 => inst.rs4.into(),
        OperandKind::Imm32 | OperandKind::Label => inst.imm,
        OperandKind::Scope => inst.scope as u32,
    });
    fields.collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(1024), ..ProptestConfig::default() })]

    /// Both assemblers accept lines made from the reference's own operand table, and the operands have the
    /// same values in the fields of the same name.
    #[test]
    fn lines_of_the_reference_mean_the_same(
        row in any::<Index>(), draws in prop::collection::vec(any::<u32>(), 24), guard in 0u8..12, hint in 0usize..4,
    ) {
        let all = sorted_mnemonics();
        let (mnemonic, signature) = all[row.index(all.len())];
        let mut draws = draws.into_iter().cycle();
        let mut draw = |below: u32| draws.next().map_or(0, |d| d % below);
        let samples = sample(signature, &mut draw);
        let operands: Vec<&str> = samples.iter().map(|s| s.text.as_str()).collect();
        let op = Op::from_mnemonic(mnemonic).expect("every mnemonic of the reference is known");
        let guard = match guard {
            guard @ 1..=7 if !op.rejects_guard() => {
                format!("@{}p{} ", if guard & 4 != 0 { "!" } else { "" }, guard & 3)
            }
            _ => String::new(),
        };
        let hint = match mnemonic.starts_with("device_") {
            true => ["", ".cached", ".uncached", " .streaming"][hint],
            false => "",
        };
        let line = format!("{guard}{mnemonic}{hint} {}", operands.join(", "));
        prop_assert!(reference_accepts(&line), "the reference refuses {}", line);
        let inst = match ours(&line) {
            Ok(inst) => inst,
            Err(error) => return Err(TestCaseError::fail(error)),
        };
        let expected: Vec<u32> = samples.iter().map(|s| s.value).collect();
        let found = fields(&inst, signature, samples.len());
        // The target of a call is the label after it.
        prop_assert_eq!(found, expected, "{}", line);
        let base = inst.op.info().mnemonic.split('.').next().unwrap_or_default();
        let expected_base = if mnemonic == "mov" { base } else { mnemonic };
        prop_assert_eq!(base, expected_base, "{}", line);
        let shown = inst.op.info().mnemonic.split_once('.').map_or("cached", |(_, hint)| hint);
        let asked = hint.trim().trim_start_matches('.');
        prop_assert_eq!(shown, if asked.is_empty() { "cached" } else { asked }, "{}", line);
        prop_assert_eq!(inst.guard.is_some(), !guard.is_empty());
    }
}

/// Each operand of each mnemonic is replaced by each of these in turn, valid or not. What the reference
/// accepts is accepted here, except for the deviations.
#[test]
fn what_the_reference_accepts_is_accepted() {
    const OPERANDS: &[&str] = &[
        "r0",
        "r5",
        "r28",
        "r3.lo",
        "r3.hi",
        "r3 .hi",
        "r99",
        "p0",
        "p3",
        "p4",
        "sr_lane_id",
        "sr_nothing",
        "7",
        "-1",
        "0x10",
        "0XF",
        "2.5",
        "1e3",
        "1.",
        ".device",
        ". device",
        "system",
        "target",
        "elsewhere",
        "0xFFFFFFFFF",
        "",
        "r1, r2",
    ];
    let (mut accepted, mut refused) = (0, 0);
    for (mnemonic, signature) in sorted_mnemonics() {
        let valid: Vec<Sample> = sample(signature, &mut |below| 1 % below);
        for (position, operand) in (0..valid.len()).flat_map(|p| OPERANDS.iter().map(move |o| (p, o))) {
            let mut operands: Vec<&str> = valid.iter().map(|s| s.text.as_str()).collect();
            operands[position] = operand;
            let line = format!("{mnemonic} {}", operands.join(", "));
            // The reference takes the number of a special register for that of a general register.
            let special = operand.starts_with("sr_") && (position != 1 || !mnemonic.starts_with("mov"));
            // The reference never checks the scope of a compare-and-swap.
            let scope = mnemonic == "atomic_cas" && position + 1 == valid.len();
            match reference_accepts(&line) {
                true if !special && !scope => {
                    ours(&line).unwrap();
                    accepted += 1;
                }
                _ => refused += 1,
            }
        }
    }
    assert!(accepted > 1500 && refused > 5000, "{accepted} {refused}");
}

/// Whole texts that the reference accepts, in every form of its syntax.
#[test]
fn texts_of_the_reference() {
    for text in [
        ".kernel a\nx: nop\ncall x\ny:\n.end",
        ".kernel a\n.registers 4\n.local_memory 0x400\n.workgroup_size 1_6, 1, 1\n@p1 nop\n.end",
        ".kernel größe\nnop ; ü\n.end\n# end",
        "\n\n;x\n.kernel a\n\n\tnop\r\n.end\r\n\r\n",
        ".kernel a\nx :\ncall x\n.end",
        ".kernel a\n.end",
        ".kernel a\nnop\n.end\n.kernel a\nnop\n.end",
        ".kernel a\nnop\n.registers 4\n.registers 8\n.end",
        ".kernel a\niadd r0 , r1,r2\nfence_acquire device\n.end",
    ] {
        assert!(wave_asm::assemble(text, "k.wave").is_ok(), "{text:?}");
        assert_eq!(assemble(text, "k.wave").err(), None, "{text:?}");
    }
}

/// Texts that the reference accepts and that are errors here, with a part of the message.
#[test]
fn deviations() {
    for (line, reason) in [
        // The reference silently ignores the guard or hint.
        ("@p1 endif", "takes no guard"),
        ("iadd.cached r0, r1, r2", "takes no cache hint"),
        // The reference reads r4.
        ("iadd r0, sr_lane_id, r1", "expected a register"),
        // The reference does not check this.
        (".registers 2\niadd r0, r1, r2", "past the 2 registers"),
        ("iadd r0, r1, r2 nop", "expected a comma"),
        (".registers 8 .local_memory 4", "expected a comma or the end of the line"),
    ] {
        assert!(reference_accepts(line), "{line}");
        let text = kernel(line).replace(".registers 32\n.registers", ".registers");
        let errors = assemble(&text, "k").expect_err(line);
        assert!(errors.iter().any(|e| e.message.contains(reason)), "{line}: {errors:?}");
    }
    // The reference stores the low half of the f64 value, here it is the f32.
    assert_eq!(ours("mov_imm r0, 1.5").map(|i| i.imm), Ok(1.5f32.to_bits()));
    // The reference drops the scope of atomic_cas.
    assert_eq!(ours("atomic_cas r1, r2, r3, r4, .system").map(|i| i.scope), Ok(Scope::System));
}
