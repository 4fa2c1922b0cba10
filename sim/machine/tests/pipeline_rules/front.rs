//! Rules F and D of docs/pipeline.md: fetch, instruction cache, decode.

use crate::machine::*;
use wave_machine::config::Config;

/// A machine that fetches `words` words into a buffer of `buffer_entries` instructions.
fn fetching(words: u32, buffer_entries: u32, latency: u32) -> Config {
    let mut config = machine();
    config.core.fetch.words = words;
    config.core.fetch.buffer_entries = buffer_entries;
    config.core.fetch.icache_latency_cycles = latency;
    config
}

const NOPS: &str = "a: nop\nnop\nnop\nnop\nb: nop\nnop\nnop\nnop\nc: nop\nnop\nnop\nhalt";

#[test]
fn f1_a_scheduler_requests_one_group_a_cycle_for_the_next_wave_in_turn() {
    let t = bench(&fetching(4, 12, 2)).waves(3).run(NOPS);
    let fetches: Vec<_> = t.events.iter().filter(|e| e.stage == Fetch).map(|e| (e.cycle, e.slot)).collect();
    let start = fetches[0].0;
    // With three waves and two cycles per group, the port is never idle and every wave gets its turn.
    let first = fetches[0].1;
    for (n, &(cycle, slot)) in fetches[..9].iter().enumerate() {
        assert_eq!((cycle - start, slot), (n as u64, (first + n) % 3), "{fetches:?}");
    }
}

#[test]
fn f1_a_wave_is_requested_when_a_whole_group_fits_its_buffer() {
    // The decode at cycle 1 fills the buffer. Its last instruction leaves at 5.
    let t = run(&fetching(4, 4, 1), NOPS);
    assert_eq!(t.fetches(0)[..3], [(0, 0), (5, 4), (10, 8)]);
    // With one more entry, the next request is sent when one instruction is left.
    let t = run(&fetching(4, 5, 1), NOPS);
    assert_eq!(t.fetches(0)[..3], [(0, 0), (4, 4), (8, 8)]);
    let t = run(&fetching(4, 8, 1), NOPS);
    assert_eq!(t.fetches(0)[..3], [(0, 0), (1, 4), (5, 8)]);
}

#[test]
fn f2_groups_are_aligned_in_the_code_section() {
    for (base, words) in [(0, [0, 4, 8]), (1, [0, 3, 7]), (3, [0, 1, 5]), (4, [0, 4, 8])] {
        let t = bench(&fetching(4, 16, 1)).base(base).run(NOPS);
        let fetches: Vec<u32> = t.fetches(0).iter().map(|&(_, word)| word).collect();
        assert_eq!(fetches[..3], words, "{base} words in front");
    }
    // A group ends at the end of the kernel at the latest: the words after it belong to another kernel.
    let t = run(&fetching(16, 16, 1), "a: nop\nnop\nnop");
    assert_eq!(t.fetches(0), [(0, 0), (1 + 3, 3)]);
}

#[test]
fn f3_a_group_that_hits_is_decoded_after_the_latency() {
    for latency in [1, 3, 6] {
        let t = run(&fetching(4, 16, latency), NOPS);
        let latency = u64::from(latency);
        assert_eq!(t.at("a", Decode) - t.at("a", Fetch), latency);
        // Decode runs before fetch, so the wave requests again in the same cycle.
        assert_eq!(t.at("b", Fetch), t.at("a", Decode));
        assert_eq!(t.at("c", Fetch) - t.at("a", Fetch), 2 * latency);
    }
}

/// One set of lines that hold one group each.
fn one_set(ways: u32) -> Config {
    let mut config = fetching(4, 4, 1);
    config.core.fetch.icache_line_bytes = 16;
    config.core.fetch.icache_ways = ways;
    config.core.fetch.icache_bytes = 16 * ways;
    config
}

#[test]
fn f4_the_least_recently_used_way_is_replaced() {
    // Lines 0 and 1 hold the calls. Then come x, y and z, each with a return in its first word.
    let lines = "x: return\nnop\nnop\nnop\ny: return\nnop\nnop\nnop\nz: return\nnop\nnop\nnop";
    let misses = |calls: [&str; 4], ways| {
        let calls: String = calls.iter().map(|c| format!("call {c}\n")).collect();
        // The calls and the halt take lines 0 to 2.
        run(&one_set(ways), &format!("{calls}halt\nnop\nnop\nnop\n{lines}")).report.core.icache_misses
    };
    // All lines fit: each misses once, the three of the calls and the halt and those of the called functions.
    let all = misses(["x", "y", "x", "y"], 8);
    assert_eq!(misses(["x", "x", "x", "x"], 8), all - 1);
    // Order of use: c0 x c0 y c1 x c1 y h. With two ways only the lines of the calls hit again.
    assert_eq!(misses(["x", "y", "x", "y"], 2), all + 2);
    // With three ways: c0 x (c0) y | c1 replaces x | x replaces c0, because c1 and y were used later | (c1)
    // (y).
    assert_eq!(misses(["x", "y", "x", "y"], 3), all + 1);
}

#[test]
fn f4_waves_that_miss_one_line_wait_for_it_together() {
    let mut config = machine();
    config.core.schedulers = 2;
    config.dispatcher.workgroups_per_cycle = 2;
    let t = bench(&config).waves(2).run("a: nop\nhalt");
    assert_eq!(t.report.core.icache_misses, 2);
    assert_eq!(t.of(0, "a", Fetch), t.of(1, "a", Fetch));
}

/// Two waves miss on two different lines in one cycle. Returns the cycles from the first request to the hit
/// of each.
fn two_misses(mshrs: u32, interconnect: u32) -> [u64; 2] {
    let mut config = machine();
    config.core.schedulers = 2;
    config.core.divergence = wave_machine::config::DivergenceMode::Jump;
    config.core.l1.line_bytes = 32;
    config.interconnect.latency_cycles = interconnect;
    config.core.fetch.words = 4;
    config.core.fetch.buffer_entries = 4;
    config.core.fetch.icache_line_bytes = 32;
    config.core.fetch.icache_mshrs = mshrs;
    let far = "nop\n".repeat(64);
    let t = bench(&config).waves(2).run(&format!(
        "mov_sr r1, sr_wave_id\nicmp_eq p1, r1, r2\nif p1\nbarrier\na: call x\nelse\nbarrier\nb: call y\nendif
        halt\n{far}x: return\n{far}y: return"
    ));
    let start = t.of(0, "a", Issue) + u64::from(config.core.branch_latency_cycles);
    assert_eq!(t.of(0, "a", Issue), t.of(1, "b", Issue));
    let hit = |slot, label| t.all(slot, label, Fetch)[0] - start;
    [hit(0, "x"), hit(1, "y")]
}

#[test]
fn f4_misses_take_entries_and_one_request_a_cycle() {
    let [x, y] = two_misses(2, 3);
    // With two entries, the second line is requested while the first is still in flight.
    assert!(x < y && y < x + x / 2, "{x} {y}");
    // With one entry, it is requested after the first has arrived, and takes the full latency again.
    let [one_x, one_y] = two_misses(1, 3);
    assert_eq!(one_x, x);
    assert!(one_y > x + 2 * 3 + 24, "{one_x} {one_y}");
    // Each line crosses the interconnect twice.
    let [far_x, far_y] = two_misses(1, 8);
    assert_eq!([far_x, far_y], [one_x + 10, one_y + 20]);
}

#[test]
fn f5_the_end_of_the_code_issues_like_an_instruction() {
    let t = run(&fetching(4, 8, 1), "a: nop\nnop\nnop\nnop");
    let end = t.events.iter().filter(|e| e.word == t.end && e.stage == Issue).map(|e| e.cycle);
    assert_eq!(end.collect::<Vec<_>>(), [t.at("a", Issue) + 4]);
    assert_eq!(t.fetches(0), [(0, 0), (1, 4)]);
    // With a buffer of four instructions, the end mark waits for space like any group: F 5, D 6, I 7.
    let t = run(&fetching(4, 4, 1), "a: nop\nnop\nnop\nnop");
    let end = t.events.iter().filter(|e| e.word == t.end && e.stage == Issue).map(|e| e.cycle);
    assert_eq!(end.collect::<Vec<_>>(), [t.at("a", Fetch) + 7]);
}

#[test]
fn f6_a_redirect_drops_what_was_fetched() {
    for (latency, buffer_entries, discarded) in [(1, 4, 0), (1, 16, 1), (7, 4, 0), (7, 16, 1)] {
        for branch in [1, 2, 5] {
            let mut config = fetching(4, buffer_entries, latency);
            config.core.branch_latency_cycles = branch;
            let t = run(&config, "a: call x\nb: nop\nnop\nc: nop\nnop\nx: halt");
            assert!(t.all(0, "b", Issue).is_empty());
            assert_eq!(t.after("a", "x", Fetch), u64::from(branch), "{latency} {branch}");
            assert_eq!(t.at("x", Issue), t.at("x", Fetch) + u64::from(latency) + 1);
            // The halt can discard one more.
            assert!(t.report.core.fetches_discarded >= discarded, "{latency} {branch}");
        }
    }
}

#[test]
fn d1_a_group_enters_the_buffer_at_once_and_issues_from_the_next_cycle_on() {
    let t =
        run(&fetching(4, 16, 1), "a: nop\nb: mov_imm r1, 5\nc: nop\nd: nop\ne: mov_imm r2, 5\nf: nop\nhalt");
    let decode = t.at("a", Decode);
    assert_eq!(["a", "b", "c", "d", "e", "f"].map(|l| t.at(l, Decode) - decode), [0, 0, 0, 1, 1, 1]);
    assert_eq!(t.at("a", Issue), decode + 1);
}

#[test]
fn d2_an_instruction_across_groups_waits_for_its_second_word() {
    for latency in [1, 3] {
        let t = run(&fetching(4, 16, latency), "a: nop\nb: nop\nc: nop\nd: iadd r1, r2, r3\ne: nop\nhalt");
        let decode = t.at("a", Decode);
        let next = u64::from(latency);
        assert_eq!(["a", "b", "c", "d", "e"].map(|l| t.at(l, Decode) - decode), [0, 0, 0, next, next]);
    }
    // It is the fourth to issue, without a gap if the groups arrive back to back.
    let t = run(&fetching(4, 16, 1), "a: nop\nb: nop\nc: nop\nd: iadd r1, r2, r3\ne: nop\nhalt");
    assert_eq!(["b", "c", "d", "e"].map(|l| t.after("a", l, Issue)), [1, 2, 3, 4]);
}
