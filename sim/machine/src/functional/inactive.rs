//! Regions that no lane executes: a wave with an empty active mask goes through them at once, with the counts and the
//! place of one that walks word by word (B3).

use wave_isa::Inst;
use wave_isa::Op;
use wave_isa::program::structure::{instruction_words, skip_targets};

/// What is known of a kernel for waves without active lanes.
#[derive(Debug, Clone)]
pub(super) struct Regions {
    /// For each word, where a wave from there next has an effect at the level at which it stands.
    ends: Vec<u32>,
    /// For each word the number of its instruction, and [`INSIDE`] in one of two words. The end counts as one more.
    numbers: Vec<u32>,
    /// The first word of each instruction.
    words: Vec<u32>,
    /// Constructs opened and not closed before each instruction. May be negative in code that does not nest.
    open: Vec<i32>,
}

/// The number of a word that begins no instruction.
const INSIDE: u32 = u32::MAX;

impl Regions {
    /// Looks at the words of a kernel.
    pub(super) fn new(code: &[u32]) -> Regions {
        let (mut numbers, mut words, mut open) = (vec![INSIDE; code.len() + 1], Vec::new(), Vec::new());
        let (mut word, mut level) = (0, 0);
        while word < code.len() {
            numbers[word] = words.len() as u32;
            words.push(word as u32);
            open.push(level);
            level += match Inst::decode(&code[word..]).map(|inst| inst.op) {
                Ok(Op::If | Op::Loop) => 1,
                Ok(Op::EndIf | Op::EndLoop) => -1,
                _ => 0,
            };
            word += instruction_words(code[word]) as usize;
        }
        numbers[code.len()] = words.len() as u32;
        words.push(code.len() as u32);
        open.push(level);
        Regions { ends: skip_targets(code), numbers, words, open }
    }

    /// Moves a wave without active lanes by up to `most` instructions, to the instruction that has an effect again.
    /// `skipped` counts the constructs that it has opened and not closed. Returns the number of instructions passed.
    pub(super) fn pass(&self, word: &mut u32, skipped: &mut u32, most: u64) -> u64 {
        let mut left = most;
        while left > 0 && self.numbers[*word as usize] != INSIDE {
            let from = self.numbers[*word as usize] as usize;
            let end = self.numbers[self.ends[*word as usize] as usize] as usize;
            let opened = |to: usize| self.open[to] - self.open[from];
            if left < (end - from) as u64 {
                let to = from + left as usize;
                *word = self.words[to];
                *skipped = skipped.wrapping_add_signed(opened(to));
                return most;
            }
            left -= (end - from) as u64;
            *word = self.words[end];
            // Nothing, unless the code ends first.
            *skipped = skipped.wrapping_add_signed(opened(end));
            // An end of a construct that was opened on the way has no effect.
            let is_last = end + 1 == self.words.len();
            if *skipped == 0 || left == 0 || is_last {
                break;
            }
            *skipped = skipped.wrapping_add_signed(self.open[end + 1] - self.open[end]);
            *word = self.words[end + 1];
            left -= 1;
        }
        most - left
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wave_isa::Guard;

    /// Words of code, nested or not: control flow, other instructions of one and two words, words that are none.
    fn code() -> impl Strategy<Value = Vec<u32>> {
        let one = (0..12u8, any::<u32>()).prop_map(|(kind, word)| {
            let control = |op| vec![Inst::new(op).encode()[0]];
            match kind {
                0 | 1 => control(Op::If),
                2 | 3 => control(Op::EndIf),
                4 => control(Op::Else),
                5 | 6 => control(Op::Loop),
                7 => control(Op::EndLoop),
                // Illegal, so that it closes nothing.
                8 => {
                    let guard = Guard { predicate: 1, negated: false };
                    vec![Inst { guard, ..Inst::new(Op::EndIf) }.encode()[0]]
                }
                9 => Inst { imm: word, ..Inst::new(Op::MovImm) }.encode().to_vec(),
                10 => vec![word],
                _ => control(Op::Nop),
            }
        });
        prop::collection::vec(one, 1..40).prop_map(|words| words.concat())
    }

    /// As [`Regions::pass`], word by word.
    fn walk(code: &[u32], word: &mut u32, skipped: &mut u32, most: u64) -> u64 {
        for passed in 0..most {
            let Some(&here) = code.get(*word as usize) else { return passed };
            match Inst::decode(&code[*word as usize..]).map(|inst| inst.op) {
                Ok(Op::Else | Op::EndIf | Op::EndLoop) if *skipped == 0 => return passed,
                Ok(Op::If | Op::Loop) => *skipped += 1,
                Ok(Op::EndIf | Op::EndLoop) => *skipped -= 1,
                _ => {}
            }
            *word = (*word + instruction_words(here)).min(code.len() as u32);
        }
        most
    }

    proptest! {
        #[test]
        fn regions_are_passed_as_if_walked(code in code(), bounds in prop::collection::vec(0..30u64, 1..6)) {
            let regions = Regions::new(&code);
            let starts = (0..=code.len() as u32).filter(|&word| regions.numbers[word as usize] != INSIDE);
            for start in starts {
                let (mut word, mut skipped) = (start, 0);
                for &most in &bounds {
                    let (mut walked, mut counted) = (word, skipped);
                    let steps = walk(&code, &mut walked, &mut counted, most);
                    prop_assert_eq!(regions.pass(&mut word, &mut skipped, most), steps);
                    prop_assert_eq!((word, skipped), (walked, counted), "from {}", start);
                }
            }
        }
    }
}
