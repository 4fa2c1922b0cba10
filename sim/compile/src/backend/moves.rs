//! Moves that happen at once, one after the other.

use super::code::Register;

/// What is moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// A register.
    Register(Register),
    /// A constant.
    Constant(u32),
}

/// Orders moves so that each register is read before it is written; cycles take a temporary register. Destinations
/// are all different.
pub(super) fn in_sequence<C>(
    mut wanted: Vec<(Register, Source)>,
    context: &mut C,
    mut temporary: impl FnMut(&mut C) -> Register,
) -> Vec<(Register, Source)> {
    wanted.retain(|&(to, from)| from != Source::Register(to));
    let mut sequence = Vec::new();
    while !wanted.is_empty() {
        let is_read = |to: Register| wanted.iter().any(|&(_, from)| from == Source::Register(to));
        if let Some(ready) = wanted.iter().position(|&(to, _)| !is_read(to)) {
            sequence.push(wanted.remove(ready));
            continue;
        }
        // All that is left are cycles. One register is saved, and read from there.
        let (first, _) = wanted[0];
        let saved = temporary(context);
        sequence.push((saved, Source::Register(first)));
        for (_, from) in &mut wanted {
            if *from == Source::Register(first) {
                *from = Source::Register(saved);
            }
        }
    }
    sequence
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg32;

    #[test]
    fn a_sequence_does_what_the_moves_do_at_once() {
        let mut random = Pcg32::seed_from_u64(1);
        let register = |number: u32| Register { number, row: 0 };
        for _ in 0..2000 {
            let count = random.random_range(1..7u32);
            let mut wanted = Vec::new();
            for to in 0..count {
                let from = match random.random_range(0..8) {
                    7 => Source::Constant(1000 + to),
                    _ => Source::Register(register(random.random_range(0..count + 1))),
                };
                wanted.push((register(to), from));
            }
            let mut next = 10;
            let mut values: Vec<u32> = (0..40).collect();
            let read = |values: &[u32], from| match from {
                Source::Register(from) => values[from.number as usize],
                Source::Constant(bits) => bits,
            };
            let expected: Vec<u32> = wanted.iter().map(|&(_, from)| read(&values, from)).collect();
            let sequence = in_sequence(wanted, &mut next, |next| {
                *next += 1;
                register(*next)
            });
            for (to, from) in sequence {
                values[to.number as usize] = read(&values, from);
            }
            assert_eq!(values[..count as usize], expected);
        }
    }
}
