//! Operations across the lanes of a wave (opcode 3E).

use super::decode::Decoded;
use super::wave::Lane;

/// Executes one. `taking_part` is ascending and not empty.
pub(super) fn execute(i: &Decoded, lanes: &mut [Lane], taking_part: &[usize]) {
    let width = lanes.len() as u32;
    // The operands of all lanes before the instruction, also of lanes that do not participate.
    let column = |n: u8| -> Vec<u32> {
        lanes.iter().map(|l| l.registers.get(usize::from(n)).copied().unwrap_or(0)).collect()
    };
    let (a, b) = (column(i.rs1), column(i.rs2));
    let flag = |lane: usize| lanes[lane].predicates[usize::from(i.rs1 & 3)];
    let of_lane = |source: u32| if source < width { a[source as usize] } else { 0 };
    let mine = || taking_part.iter().map(|&lane| a[lane]);

    // The word or the predicate that each participating lane receives.
    let words: Vec<u64> = match i.modifier {
        0 => taking_part.iter().map(|&l| of_lane(b[l]).into()).collect(),
        1 => taking_part.iter().map(|&l| of_lane((l as u32).wrapping_sub(b[l])).into()).collect(),
        2 => taking_part.iter().map(|&l| of_lane((l as u32).wrapping_add(b[l])).into()).collect(),
        3 => taking_part.iter().map(|&l| of_lane(l as u32 ^ b[l]).into()).collect(),
        4 => vec![of_lane(b[taking_part[0]]).into(); taking_part.len()],
        5 => vec![taking_part.iter().map(|&l| u64::from(flag(l)) << l).sum(); taking_part.len()],
        6 => vec![taking_part.iter().any(|&l| flag(l)).into(); taking_part.len()],
        7 => vec![taking_part.iter().all(|&l| flag(l)).into(); taking_part.len()],
        8 => {
            let mut sum = 0u32;
            mine()
                .map(|word| {
                    let before = sum;
                    sum = sum.wrapping_add(word);
                    before.into()
                })
                .collect()
        }
        m => {
            let combine = |x: u32, y: u32| match m {
                9 => x.wrapping_add(y),
                10 => x.min(y),
                11 => x.max(y),
                12 => x & y,
                13 => x | y,
                _ => x ^ y,
            };
            vec![mine().reduce(combine).unwrap_or(0).into(); taking_part.len()]
        }
    };
    for (&lane, word) in taking_part.iter().zip(words) {
        let lane = &mut lanes[lane];
        let rd = usize::from(i.rd);
        match i.modifier {
            6 | 7 => lane.predicates[rd] = word == 1,
            _ => lane.registers[rd] = word as u32,
        }
        if i.modifier == 5 && width > 32 {
            lane.registers[rd + 1] = (word >> 32) as u32;
        }
    }
}
