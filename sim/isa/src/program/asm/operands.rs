//! Encodes an instruction as [`Inst`] from its text, following the opcode table.

use super::Problem;
use super::parser::{Argument, ArgumentKind, GuardText, Piece};
use crate::number;
use crate::suggest::did_you_mean;
use crate::table::{AccessKind, OpInfo, Space, TABLE};
use crate::{Guard, Inst, MMA_FRAGMENTS, Op, Operand, Role, Scope, Special};
use std::ops::Range;

/// Other names of a mnemonic.
pub(crate) const ALIASES: &[(&str, &str)] = &[("wave_shuffle_idx", "wave_shuffle")];

const SCOPES: &str = ".wave .workgroup .device .system";

/// An encoded instruction, with what can be checked only at the end of its kernel.
#[derive(Debug)]
pub(super) struct Encoded<'a> {
    /// The instruction. The target of a call to a label is still 0.
    pub inst: Inst,
    /// Label of a call.
    pub target: Option<Piece<'a>>,
    /// Per register operand: the highest register that it touches, and its span.
    pub registers: Vec<(u16, Range<usize>)>,
    /// Warnings about accepted operands.
    pub warnings: Vec<Problem>,
}

/// The table row of a mnemonic with its cache hint. `mov rd, sr_name` is `mov_sr`.
pub(super) fn lookup(
    mnemonic: &Piece,
    hint: Option<&Piece>,
    arguments: &[Argument],
) -> Result<&'static OpInfo, Problem> {
    let name = ALIASES.iter().find(|(alias, _)| *alias == mnemonic.text).map_or(mnemonic.text, |(_, n)| n);
    let Some(op) = Op::from_mnemonic(name) else {
        let names = TABLE.iter().map(|i| i.mnemonic).filter(|n| !n.contains('.'));
        let names = names.chain(ALIASES.iter().map(|(alias, _)| *alias));
        let problem = Problem::new(&mnemonic.span, format!("unknown instruction `{}`", mnemonic.text));
        let list = "docs/isa.md lists the instructions".to_owned();
        return Err(problem.hint(did_you_mean(mnemonic.text, names).unwrap_or(list)));
    };
    let Some(hint) = hint else {
        let special = arguments.get(1).is_some_and(|a| a.text.starts_with("sr_"));
        return Ok(if op == Op::Mov && special { Op::MovSr.info() } else { op.info() });
    };
    let takes_hint = op
        .memory()
        .is_some_and(|m| m.space == Space::Device && matches!(m.kind, AccessKind::Load | AccessKind::Store));
    if !takes_hint {
        let message = format!("`{name}` takes no cache hint, found `.{}`", hint.text);
        let note = "cache hints (.cached, .uncached, .streaming) belong to device_load_* and device_store_*";
        return Err(Problem::new(&hint.span, message).hint(note.to_owned()));
    }
    let hinted = match hint.text {
        "cached" => Some(op),
        _ => Op::from_mnemonic(&format!("{name}.{}", hint.text)),
    };
    hinted.map(Op::info).ok_or_else(|| {
        Problem::new(&hint.span, format!("unknown cache hint `.{}`", hint.text))
            .hint("the cache hints are .cached (the default), .uncached and .streaming".to_owned())
    })
}

/// The guard of an instruction, and a warning if it is none.
pub(super) fn guard(text: &GuardText, info: &OpInfo) -> Result<(Guard, Option<Problem>), Problem> {
    let predicate = predicate(text.predicate.text)
        .map_err(|message| Problem::new(&text.predicate.span, message).hint(GUARD_HINT.to_owned()))?;
    let guard = Guard { predicate, negated: text.negated };
    if !guard.is_some() {
        let message = "`@p0` guards nothing: its bits are those of an instruction without a guard";
        let hint = "leave it out, or use another predicate (`@p1` to `@p3`) or the negated one (`@!p0`)";
        return Ok((guard, Some(Problem::new(&text.span, message).hint(hint.to_owned()))));
    }
    if info.op.rejects_guard() {
        let note = match info.op {
            Op::If => "a second condition goes into an inner `if`",
            _ => "put it inside `if`/`endif`",
        };
        let message = format!("`{}` takes no guard", info.mnemonic);
        return Err(Problem::new(&text.span, message).hint(note.to_owned()));
    }
    Ok((guard, None))
}

const GUARD_HINT: &str = "a guard is `@p1` to `@p3` or `@!p0` to `@!p3`";

/// Matches arguments with the operands of a table row.
///
/// # Errors
/// Every argument that does not fit, or one message if there are too few or too many.
pub(super) fn encode<'a>(
    info: &'static OpInfo,
    guard: Guard,
    mnemonic: &Piece<'a>,
    arguments: &[Argument<'a>],
) -> Result<Encoded<'a>, Vec<Problem>> {
    let optional = info.operands.first().is_some_and(|o| o.role == Role::DstOptional);
    let full = info.operands.len();
    let least = full - usize::from(optional);
    if arguments.len() < least || arguments.len() > full {
        return Err(vec![wrong_count(info, least, mnemonic, arguments)]);
    }
    let operands = &info.operands[full - arguments.len()..];
    let mut encoded = Encoded {
        inst: Inst { guard, ..Inst::new(info.op) },
        target: None,
        registers: Vec::new(),
        warnings: Vec::new(),
    };
    let mut problems = Vec::new();
    for (operand, argument) in operands.iter().zip(arguments) {
        if let Err(problem) = set_operand(&mut encoded, info, operand, argument) {
            problems.push(problem);
        }
    }
    if problems.is_empty() { Ok(encoded) } else { Err(problems) }
}

fn wrong_count(info: &OpInfo, least: usize, mnemonic: &Piece, arguments: &[Argument]) -> Problem {
    let full = info.operands.len();
    let takes = match (least, full) {
        (_, 0) => "no operands".to_owned(),
        (1, 1) => "1 operand".to_owned(),
        (l, f) if l == f => format!("{f} operands"),
        (l, f) => format!("{l} or {f} operands"),
    };
    let span = match arguments.get(full) {
        Some(surplus) => surplus.span.start..arguments[arguments.len() - 1].span.end,
        None => mnemonic.span.clone(),
    };
    let found = arguments.len();
    let message = format!("`{}` takes {takes}, found {found}", info.mnemonic);
    let mut hint = format!("its form is `{}`", info.syntax());
    let scope = info.operands.last().is_some_and(|o| o.role == Role::Scope);
    let has_scope = arguments.last().is_some_and(|a| Scope::from_name(a.text).is_some());
    if scope && !has_scope && found < full {
        hint.push_str(&format!("; the scopes are {SCOPES}"));
    }
    if arguments.get(full).is_some_and(|a| Op::from_mnemonic(a.text).is_some()) {
        hint.push_str("; a line has one instruction");
    }
    Problem::new(&span, message).hint(hint)
}

fn set_operand<'a>(
    encoded: &mut Encoded<'a>,
    info: &OpInfo,
    operand: &Operand,
    argument: &Argument<'a>,
) -> Result<(), Problem> {
    let inst = &mut encoded.inst;
    let value = match operand.role {
        Role::Dst(_) | Role::DstOptional | Role::DstBallot | Role::Src(_) => {
            let register = register_operand(info, argument)?;
            encoded
                .registers
                .push((u16::from(register) + u16::from(operand.rows()) - 1, argument.span.clone()));
            encoded.warnings.extend(register_warning(operand.role, register, argument));
            register
        }
        Role::PredDst | Role::PredSrc => predicate_operand(info, argument, false)?,
        Role::PredSrcNeg => {
            predicate_operand(info, argument, true)? | u8::from(argument.kind == ArgumentKind::NotWord) << 2
        }
        Role::Special => special_operand(info, argument)?,
        Role::FragA | Role::FragB | Role::FragC => fragment_operand(info, argument)?,
        Role::Imm => {
            inst.imm = literal_operand(info, argument)?;
            return Ok(());
        }
        Role::Label => {
            match argument.kind {
                ArgumentKind::Word => {
                    encoded.target = Some(Piece { text: argument.text, span: argument.span.clone() });
                }
                ArgumentKind::Number => {
                    inst.imm =
                        number::parse_u32(argument.text).map_err(|m| Problem::new(&argument.span, m))?;
                }
                _ => return Err(expected(info, argument, "a label")),
            }
            return Ok(());
        }
        Role::Scope => {
            inst.scope = scope_operand(info, argument)?;
            return Ok(());
        }
    };
    inst.set_field(operand.field, value);
    Ok(())
}

fn register_warning(role: Role, register: u8, argument: &Argument) -> Option<Problem> {
    match (role, argument.kind) {
        (Role::DstOptional, _) if register == 0 => Some(
            Problem::new(&argument.span, "r0 as the destination of an atomic means that nothing is returned")
                .hint("name another register to get the old value, or leave the operand out".to_owned()),
        ),
        (_, ArgumentKind::Half(true)) => Some(
            Problem::new(&argument.span, "the encoding has no register halves: `.hi` is ignored")
                .hint("shift the high half down first (`shr`), or use a packed instruction".to_owned()),
        ),
        _ => None,
    }
}

fn register_operand(info: &OpInfo, argument: &Argument) -> Result<u8, Problem> {
    let what = "a register";
    let number = match argument.kind {
        ArgumentKind::Word | ArgumentKind::Half(_) => argument.text.strip_prefix('r').filter(|n| is_index(n)),
        _ => None,
    };
    let Some(number) = number else {
        let problem = expected(info, argument, what);
        let usage = problem.hint.clone();
        let hint = match argument.kind {
            ArgumentKind::Number if info.op == Op::Mov => {
                Some("`mov_imm rd, value` loads a literal".to_owned())
            }
            ArgumentKind::Number => Some(
                "operands are registers: load the literal into one first, with `mov_imm rd, value`"
                    .to_owned(),
            ),
            _ if Special::from_name(argument.text).is_some() => {
                Some(format!("read it into a register first: `mov_sr rd, {}`", argument.text))
            }
            _ if argument.text.strip_prefix('R').is_some_and(is_index) => {
                Some(format!("registers are lower case: `{}`", argument.text.to_lowercase()))
            }
            _ => usage,
        };
        return Err(problem.hint(hint));
    };
    number.parse().map_err(|_| {
        Problem::new(&argument.span, format!("register `{}` does not exist", argument.text))
            .hint("the registers are r0 to r255".to_owned())
    })
}

fn predicate_operand(info: &OpInfo, argument: &Argument, may_negate: bool) -> Result<u8, Problem> {
    match argument.kind {
        ArgumentKind::NotWord if !may_negate => {
            Err(Problem::new(&argument.span, format!("`{}` takes no negated predicate", info.mnemonic)).hint(
                "only `if`, `break`, `continue` and guards negate; compare the other way round".to_owned(),
            ))
        }
        ArgumentKind::Word | ArgumentKind::NotWord
            if argument.text.strip_prefix('p').is_some_and(is_index) =>
        {
            predicate(argument.text).map_err(|message| Problem::new(&argument.span, message))
        }
        _ => Err(expected(info, argument, "a predicate, p0 to p3")),
    }
}

/// The index in a predicate's name.
fn predicate(text: &str) -> Result<u8, String> {
    match text.strip_prefix('p').filter(|n| is_index(n)).map(str::parse::<u8>) {
        Some(Ok(index @ 0..=3)) => Ok(index),
        Some(_) => Err(format!("predicate `{text}` does not exist, there are p0 to p3")),
        None => Err(format!("expected a predicate, p0 to p3, found `{text}`")),
    }
}

fn special_operand(info: &OpInfo, argument: &Argument) -> Result<u8, Problem> {
    if argument.kind != ArgumentKind::Word || !argument.text.starts_with("sr_") {
        let problem = expected(info, argument, "a special register such as sr_lane_id");
        let prefixed = format!("sr_{}", argument.text);
        let hint =
            Special::from_name(&prefixed).map(|_| format!("write `{prefixed}`")).or(problem.hint.clone());
        return Err(problem.hint(hint));
    }
    Special::from_name(argument.text).map(|s| s as u8).ok_or_else(|| {
        Problem::new(&argument.span, format!("unknown special register `{}`", argument.text))
            .hint(did_you_mean(argument.text, Special::ALL.iter().map(|s| s.name())))
    })
}

fn fragment_operand(info: &OpInfo, argument: &Argument) -> Result<u8, Problem> {
    let digits = match argument.kind {
        ArgumentKind::Number => Some(argument.text),
        // The reference assembler has fragments in the guise of registers: the fields are the same.
        ArgumentKind::Word => argument.text.strip_prefix(['f', 'r']),
        _ => None,
    };
    let last = MMA_FRAGMENTS - 1;
    match digits.filter(|d| is_index(d)).map(str::parse::<usize>) {
        Some(Ok(index)) if index < MMA_FRAGMENTS => Ok(index as u8),
        Some(_) => Err(Problem::new(
            &argument.span,
            format!(
                "matrix fragment `{}` does not exist, there are f0 to f{last} of each kind",
                argument.text
            ),
        )),
        None => Err(expected(info, argument, &format!("a matrix fragment, f0 to f{last}"))),
    }
}

fn literal_operand(info: &OpInfo, argument: &Argument) -> Result<u32, Problem> {
    match (argument.kind, argument.text) {
        (ArgumentKind::Number, text) | (ArgumentKind::Word, text @ ("inf" | "nan")) => {
            number::parse_bits(text).map_err(|message| {
                let plain = text.trim_end_matches(['f', 'F']);
                let suffixed = plain != text && number::parse_bits(plain).is_ok();
                let hint = suffixed.then(|| format!("literals have no suffix: `{plain}`"));
                Problem::new(&argument.span, message).hint(hint)
            })
        }
        _ => {
            let problem = expected(info, argument, "a literal");
            let hint = match argument.text {
                text if text.starts_with("sr_") => Some("`mov_sr` reads a special register".to_owned()),
                text if text.strip_prefix('r').is_some_and(is_index) => {
                    Some("`mov` copies a register".to_owned())
                }
                _ => problem.hint.clone(),
            };
            Err(problem.hint(hint))
        }
    }
}

fn scope_operand(info: &OpInfo, argument: &Argument) -> Result<Scope, Problem> {
    if !matches!(argument.kind, ArgumentKind::Word | ArgumentKind::Dotted) {
        return Err(expected(info, argument, "a scope"));
    }
    Scope::from_name(argument.text).ok_or_else(|| {
        let near = did_you_mean(argument.text, Scope::ALL.iter().map(|s| s.name()));
        Problem::new(&argument.span, format!("expected a scope, found `{}`", argument.text))
            .hint(near.unwrap_or(format!("the scopes are {SCOPES}; the form is `{}`", info.syntax())))
    })
}

/// The message about an argument of the wrong kind. Its hint is the usage line.
fn expected(info: &OpInfo, argument: &Argument, what: &str) -> Problem {
    let found = match argument.kind {
        ArgumentKind::NotWord => format!("!{}", argument.text),
        ArgumentKind::Dotted => format!(".{}", argument.text),
        ArgumentKind::Half(true) => format!("{}.hi", argument.text),
        ArgumentKind::Half(false) => format!("{}.lo", argument.text),
        _ => argument.text.to_owned(),
    };
    Problem::new(&argument.span, format!("expected {what}, found `{found}`"))
        .hint(format!("its form is `{}`", info.syntax()))
}

fn is_index(digits: &str) -> bool {
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}
