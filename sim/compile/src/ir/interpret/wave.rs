//! Operations on the values of all lanes of a wave that take part.

use super::super::Wave;

/// The results in all lanes. `lanes` has the operands of each lane of the wave, `None` for one that does not take part.
///
/// A source lane outside the wave gives 0. The machine gives the register of a source lane that does not take part;
/// the representation has no registers, so what comes from there is undefined, and here it is 0.
pub(super) fn apply(operation: Wave, lanes: &[Option<[u64; 2]>]) -> Vec<u64> {
    let of = |lane: u32| lanes.get(lane as usize).copied().flatten().map_or(0, |[value, _]| value);
    let taking_part = || lanes.iter().enumerate().filter_map(|(lane, operands)| Some((lane, (*operands)?)));
    let fold = |identity: u32, f: fn(u32, u32) -> u32| {
        let values = taking_part().map(|(_, [value, _])| value as u32);
        vec![u64::from(values.fold(identity, f)); lanes.len()]
    };
    let shuffle = |source: fn(u32, u32) -> u32| {
        let result = |(lane, operands): (usize, &Option<[u64; 2]>)| {
            operands.map_or(0, |[_, second]| of(source(lane as u32, second as u32)))
        };
        lanes.iter().enumerate().map(result).collect()
    };
    match operation {
        Wave::Shuffle => shuffle(|_, source| source),
        Wave::ShuffleUp => shuffle(u32::wrapping_sub),
        Wave::ShuffleDown => shuffle(u32::wrapping_add),
        Wave::ShuffleXor => shuffle(|lane, bits| lane ^ bits),
        Wave::Broadcast => {
            let source = taking_part().next().map_or(0, |(_, [_, source])| source as u32);
            vec![of(source); lanes.len()]
        }
        Wave::Ballot => {
            let votes = taking_part().fold(0, |votes, (lane, [value, _])| votes | value << lane);
            vec![votes; lanes.len()]
        }
        Wave::Any => vec![u64::from(taking_part().any(|(_, [value, _])| value != 0)); lanes.len()],
        Wave::All => vec![u64::from(taking_part().all(|(_, [value, _])| value != 0)); lanes.len()],
        Wave::PrefixSum => {
            let mut sum = 0u32;
            let mut results = Vec::with_capacity(lanes.len());
            for operands in lanes {
                results.push(sum.into());
                sum = sum.wrapping_add(operands.map_or(0, |[value, _]| value as u32));
            }
            results
        }
        Wave::ReduceAdd => fold(0, u32::wrapping_add),
        Wave::ReduceMin => fold(u32::MAX, u32::min),
        Wave::ReduceMax => fold(0, u32::max),
        Wave::ReduceAnd => fold(u32::MAX, |a, b| a & b),
        Wave::ReduceOr => fold(0, |a, b| a | b),
        Wave::ReduceXor => fold(0, |a, b| a ^ b),
    }
}
