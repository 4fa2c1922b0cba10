//! Nominal cycles: in which place and cycle each workgroup starts, and the first wave to come to an instruction.

use super::{Kernel, kernel, tiny};
use wave_machine::functional::{Doing, Execution, ExecutionError, ExecutionStop, Limits, Until};

/// Each workgroup goes round as often as its number says in the table at 0, then stores at pc `STORE`.
const ROUNDS: &str = "
    mov_sr r1, sr_workgroup_id_x
    mov_imm r2, 2
    shl r3, r1, r2
    device_load_u32 r4, r3
    mov_imm r5, 1
    mov_imm r6, 0
    loop
        isub r4, r4, r5
        icmp_eq p1, r4, r6
        break p1
    endloop
    mov_imm r7, 256
    iadd r3, r3, r7
    device_store_u32 r3, r1
    halt";
/// Instructions before the loop, in a round, and from the end of the loop to the store; and from there to the end.
const PARTS: [u64; 4] = [7, 4, 2, 2];

fn memory(rounds: &[u32]) -> Vec<u8> {
    let mut memory = vec![0; 4096];
    for (word, rounds) in memory.chunks_exact_mut(4).zip(rounds) {
        word.copy_from_slice(&rounds.to_le_bytes());
    }
    memory
}

fn execution(kernel: &Kernel) -> Execution {
    Execution::new(&tiny(), &kernel.program, &kernel.launch).expect("it fits")
}

/// Instructions of a workgroup up to its store, and in all. In the last round the wave leaves at `break`, and still
/// walks over `endloop`.
fn lengths(rounds: u32) -> (u64, u64) {
    let store = PARTS[0] + PARTS[1] * u64::from(rounds) + PARTS[2];
    (store, store + PARTS[3])
}

/// The byte offset of the store.
fn store(kernel: &Kernel) -> u32 {
    let code = &kernel.program.code;
    // Behind it there is only `halt`; both have a word or two, so it is found by walking from the front.
    let mut starts = Vec::new();
    let mut word = 0;
    while word < code.len() {
        starts.push(word as u32 * 4);
        word += wave_isa::program::structure::instruction_words(code[word]) as usize;
    }
    starts[starts.len() - 2]
}

#[test]
fn a_workgroup_starts_in_the_place_that_is_free_first() {
    let rounds = [9, 3, 30, 4, 12, 5, 6, 31, 7, 1, 1, 25, 2, 8, 3, 3, 40, 1];
    let kernel = kernel(ROUNDS, rounds.len() as u32, 8);
    // The same, worked out one workgroup after the other: (free at, place).
    let mut free: Vec<(u64, usize)> = (0..8).map(|place| (0, place)).collect();
    let mut expected = Vec::new();
    for &rounds in &rounds {
        let first = (0..free.len()).min_by_key(|&n| free[n]).unwrap();
        let start = free[first].0;
        free[first].0 += lengths(rounds).1;
        expected.push((free[first].1, start, free[first].0));
    }
    let end = free.iter().map(|(cycle, _)| *cycle).max().unwrap();
    let limits = Limits::default();
    for cycle in (0..end).step_by(3) {
        let (mut execution, mut memory) = (execution(&kernel), memory(&rounds));
        let stop = execution.advance(&mut memory, Until::Cycle(cycle), &limits, &mut |_| {});
        assert_eq!(stop, Ok(ExecutionStop::Cycle), "cycle {cycle} of {end}");
        let mut resident: Vec<_> = execution.residents().map(|(place, it)| (it.id[0], place)).collect();
        resident.sort_unstable();
        let under_way =
            expected.iter().enumerate().filter(|(_, (_, start, end))| *start < cycle && *end > cycle);
        let under_way: Vec<_> = under_way.map(|(id, (place, ..))| (id as u32, *place)).collect();
        assert_eq!(resident, under_way, "cycle {cycle} of {end}");
    }
    let mut execution = execution(&kernel);
    let stop = execution.advance(&mut memory(&rounds), Until::Cycle(end), &limits, &mut |_| {});
    assert_eq!((stop, execution.cycle(), execution.is_over()), (Ok(ExecutionStop::End), end, true));
}

/// The wave that comes first need not be of the first workgroup.
#[test]
fn the_first_wave_to_come_to_an_instruction_is_found() {
    for (rounds, first) in [([50, 9, 30], 9), ([7, 9, 30], 7), ([5000, 9000, 4800], 4800), ([9, 9, 9], 9)] {
        let kernel = kernel(ROUNDS, 3, 8);
        let (mut execution, mut memory) = (execution(&kernel), memory(&rounds));
        let stop = execution.reach(&mut memory, store(&kernel), &Limits::default(), &mut |_| {});
        assert_eq!((stop, execution.cycle()), (Ok(ExecutionStop::Cycle), lengths(first).0), "{rounds:?}");
        assert_eq!(memory[256..268], [0; 12], "nothing is stored yet");
        let waves = execution.residents().flat_map(|(_, it)| &it.waves);
        let there = waves.filter(|wave| wave.doing == Doing::Runs && wave.word * 4 == store(&kernel)).count();
        assert_eq!(there, rounds.iter().filter(|&&rounds| rounds == first).count());
        // It ends as ever from there, and no wave comes there again.
        execution.advance(&mut memory, Until::End, &Limits::default(), &mut |_| {}).expect("it ends");
        assert_eq!(memory[256..268], [0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]);
    }
    let kernel = kernel(ROUNDS, 3, 8);
    let mut execution = execution(&kernel);
    let never = execution.reach(&mut memory(&[5, 6, 7]), 4000, &Limits::default(), &mut |_| {});
    assert_eq!((never, execution.cycle()), (Ok(ExecutionStop::End), lengths(7).1));
}

/// Workgroup 1 faults in its first round but one; what happens before the fault is found, and the fault otherwise.
#[test]
fn a_fault_counts_only_if_it_comes_first() {
    let body = ROUNDS.replace("isub r4", "device_load_u32 r8, r4\n isub r4");
    let kernel = kernel(&body, 2, 8);
    let outside = 1 << 20;
    for (rounds, faults) in [([4, outside], true), ([outside, 4], true)] {
        let mut execution = execution(&kernel);
        let stop = execution.reach(&mut memory(&rounds), store(&kernel), &Limits::default(), &mut |_| {});
        assert_eq!(matches!(stop, Err(ExecutionError::Fault(_))), faults, "{stop:?}");
    }
    // The loads fault once r4 wraps around, behind the store of the other workgroup.
    let late = "
        mov_sr r1, sr_workgroup_id_x
        mov_imm r2, 0
        mov_imm r3, 1
        mov_imm r4, 40
        icmp_eq p1, r1, r2
        if p1
            loop
                isub r4, r4, r3
                icmp_eq p2, r4, r2
                break p2
            endloop
            mov_imm r5, 8192
            device_load_u32 r6, r5
        endif
        device_store_u32 r1, r1
        halt";
    let kernel = super::kernel(late, 2, 8);
    let mut execution = self::execution(&kernel);
    let stop = execution.reach(&mut vec![0; 4096], store(&kernel), &Limits::default(), &mut |_| {});
    assert_eq!(stop, Ok(ExecutionStop::Cycle));
    assert!(execution.cycle() < 40, "{}", execution.cycle());
}

/// Looking for an instruction behind waves that wait for ever ends.
#[test]
fn a_standstill_in_front_of_an_instruction_is_found() {
    let body =
        "mov_imm r1, 8\nloop\ndevice_load_u32 r2, r1\nicmp_ne p1, r2, r3\nbreak p1\nendloop\nnop\nhalt";
    let kernel = kernel(body, 2, 16);
    let mut execution = execution(&kernel);
    let stop = execution.reach(&mut vec![0; 4096], store(&kernel), &Limits::default(), &mut |_| {});
    assert!(matches!(stop, Err(ExecutionError::NoProgress(_))), "{stop:?}");
}
