//! `OpSwitch`, of which naga misunderstands two forms.
//!
//! naga takes the default for the last case. A case that leads to the block of the default would be one without statements
//! that goes on in the case behind it; such cases are left out, and then they are the default. Where control goes on from a
//! case into the default, or from the default into a case, the module is refused.

use super::spirv::{Broken, op};
use std::collections::{HashMap, HashSet};

/// The words of an `OpSwitch` without the cases that lead where the default does.
pub(super) fn without_default(operands: &[u32]) -> Vec<u32> {
    let Some((head, cases)) = operands.split_at_checked(2) else {
        return [instruction(op::SWITCH, operands.len())]
            .into_iter()
            .chain(operands.iter().copied())
            .collect();
    };
    // Two words that are no pair are for naga to complain of.
    let kept = cases.chunks(2).filter(|case| case.get(1) != Some(&head[1])).flatten();
    let words: Vec<u32> = head.iter().chain(kept).copied().collect();
    [instruction(op::SWITCH, words.len())].into_iter().chain(words).collect()
}

fn instruction(opcode: u32, operands: usize) -> u32 {
    (operands as u32 + 1) << 16 | opcode
}

/// The blocks of a module, and its switches.
#[derive(Debug, Default)]
pub(super) struct Switches {
    /// Where control goes on behind each block.
    next: HashMap<u32, Vec<u32>>,
    block: u32,
    /// The block behind the construct that begins in the current one.
    merge: Option<u32>,
    found: Vec<Switch>,
}

#[derive(Debug)]
struct Switch {
    byte: usize,
    block: u32,
    merge: Option<u32>,
    default: u32,
    /// Blocks of its cases in order, each once.
    cases: Vec<u32>,
}

impl Switches {
    /// Takes an instruction in.
    pub(super) fn add(&mut self, opcode: u32, operands: &[u32], byte: usize) {
        let targets: Vec<u32> = match (opcode, operands) {
            (op::LABEL, &[block, ..]) => {
                (self.block, self.merge) = (block, None);
                return;
            }
            (op::SELECTION_MERGE, &[merge, ..]) => {
                self.merge = Some(merge);
                return;
            }
            (op::BRANCH, &[to, ..]) => vec![to],
            (op::BRANCH_CONDITIONAL, &[_, yes, no, ..]) => vec![yes, no],
            (op::SWITCH, &[_, default, ref cases @ ..]) => {
                let mut unique = Vec::new();
                let mut seen = HashSet::from([default]);
                unique.extend(cases.iter().skip(1).step_by(2).copied().filter(|&case| seen.insert(case)));
                let targets = unique.iter().copied().chain([default]).collect();
                let (block, merge) = (self.block, self.merge);
                self.found.push(Switch { byte, block, merge, default, cases: unique });
                targets
            }
            _ => return,
        };
        self.next.insert(self.block, targets);
    }

    /// Looks for switches that naga misunderstands.
    ///
    /// # Errors
    /// One of them.
    pub(super) fn check(&self) -> Result<(), Broken> {
        for switch in self.found.iter().filter(|switch| switch.merge != Some(switch.default)) {
            // Without its last case, which may go on in the default.
            let before = &switch.cases[..switch.cases.len().saturating_sub(1)];
            let into = self.leads(switch, before, &[switch.default]);
            let out = self.leads(switch, &[switch.default], &switch.cases);
            if into || out {
                let what = "a switch whose default goes on in another case, or a case in the default that is not \
                            beside it: the parser, naga, does not understand that";
                return Err(Broken { what, byte: switch.byte });
            }
        }
        Ok(())
    }

    /// True if control goes on from one of these cases into another, not by way of the switch or of a third case.
    fn leads(&self, switch: &Switch, from: &[u32], into: &[u32]) -> bool {
        let mut seen: HashSet<u32> = from.iter().copied().collect();
        let mut work = from.to_vec();
        while let Some(block) = work.pop() {
            for &next in self.next.get(&block).into_iter().flatten() {
                if into.contains(&next) {
                    return true;
                }
                let is_end = next == switch.block || Some(next) == switch.merge;
                let is_case = next == switch.default || switch.cases.contains(&next);
                if !is_end && !is_case && seen.insert(next) {
                    work.push(next);
                }
            }
        }
        false
    }
}
