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
    // The decode at cycle 1 fills the buffer. Its last instruction leaves at 5, which makes room from 6 on.
    let t = run(&fetching(4, 4, 1), NOPS);
    assert_eq!(t.fetches(0)[..3], [(0, 0), (6, 4), (12, 8)]);
    // With one more entry, the next request is sent when one instruction is left: those of 2 to 4 have gone at 5.
    let t = run(&fetching(4, 5, 1), NOPS);
    assert_eq!(t.fetches(0)[..3], [(0, 0), (5, 4), (10, 8)]);
    // With eight, the second group fits in the cycle of the first decode, and the third when the first has gone.
    let t = run(&fetching(4, 8, 1), NOPS);
    assert_eq!(t.fetches(0)[..3], [(0, 0), (1, 4), (6, 8)]);
}

#[test]
fn f1_a_group_that_arrives_counts_with_its_instructions() {
    // Instructions of two words: a group of four brings two. They issue at 2 and 3, which makes room from 3 and 4 on.
    let two = "a: iadd r1, r2, r3\niadd r4, r2, r3\nb: iadd r5, r2, r3\niadd r6, r2, r3\nhalt";
    for (entries, next) in [(4, 4), (5, 3), (6, 1)] {
        let t = run(&fetching(4, entries, 1), two);
        assert_eq!(t.fetches(0)[..2], [(0, 0), (next, 4)], "{entries}");
    }
    // What is left of the group before counts as at the end of the cycle before, also what issues in this one.
    //
    // cycle            0  1  2  3  4  5
    // group 0          F  D  I  I  I  I
    // group 1             F  D                at 2: 4 in use at the end of 1, and 4 come
    // group 2                   F             at 3, with 11 entries: 4 - 1 + 4 in use at the end of 2
    for (entries, next) in [(12, 2), (11, 3), (10, 4), (9, 5), (8, 6)] {
        let t = run(&fetching(4, entries, 1), NOPS);
        assert_eq!(t.fetches(0)[..3], [(0, 0), (1, 4), (next, 8)], "{entries}");
    }
}

#[test]
fn f1_fetch_does_not_see_what_issues_in_its_cycle() {
    for latency in [1, 2, 4] {
        let mut config = fetching(4, 16, 1);
        config.core.branch_latency_cycles = latency;
        // The first instruction issues at 2, in which the second group arrives. There is room for the third, and it is
        // requested in that cycle. Then the shadow keeps the wave from fetching.
        for control in ["wait", "loop", "fence_acquire .wave"] {
            let t = run(&config, &format!("{control}\n{}halt", "nop\n".repeat(20)));
            assert_eq!(
                t.fetches(0)[..4],
                [(0, 0), (1, 4), (2, 8), (2 + u64::from(latency), 12)],
                "{control}"
            );
        }
        // A halt ends the wave at 3. The request of 2 has been sent, and its group is dropped.
        let t = run(&config, &format!("halt\n{}", "nop\n".repeat(20)));
        assert_eq!(t.fetches(0), [(0, 0), (1, 4), (2, 8)]);
        assert_eq!(t.report.core.fetches_discarded, 1);
    }
}

#[test]
fn f2_groups_are_aligned_in_the_code_section() {
    for (base, words) in [(0, [0, 4, 8]), (1, [0, 3, 7]), (3, [0, 1, 5]), (4, [0, 4, 8])] {
        let t = bench(&fetching(4, 16, 1)).base(base).run(NOPS);
        let fetches: Vec<u32> = t.fetches(0).iter().map(|&(_, word)| word).collect();
        assert_eq!(fetches[..3], words, "{base} words in front");
    }
    // A group ends at the end of the kernel at the latest: the words after it belong to another kernel. The three
    // instructions issue from 2 to 4, so there is room for a whole group, of no words here, from 5 on.
    let t = run(&fetching(16, 16, 1), "a: nop\nnop\nnop");
    assert_eq!(t.fetches(0), [(0, 0), (5, 3)]);
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

#[test]
fn f4_a_line_that_comes_serves_a_wave_before_another_replaces_it() {
    // A cache of one line. Each wave calls a function of its own, so each line that comes replaces that of another wave.
    for waves in [2, 4, 8] {
        for mshrs in [1, 2, 4] {
            let mut config = one_set(1);
            config.core.fetch.icache_mshrs = mshrs;
            config.interconnect.port_bytes_per_cycle = 256;
            let path = |wave| format!("mov_imm r2, {wave}\nicmp_eq p1, r1, r2\nif p1\ncall f{wave}\nendif\n");
            let paths: String = (0..waves).map(path).collect();
            let function = |wave| format!("f{wave}: {}return\n", "nop\n".repeat(9));
            let functions: String = (0..waves).map(function).collect();
            let t =
                bench(&config).waves(waves).run(&format!("mov_sr r1, sr_wave_id\n{paths}halt\n{functions}"));
            // Each group is a line. A line serves nobody, and is a miss without a fetch, only if its wave is in a shadow.
            let core = &t.report.core;
            let (misses, most) = (core.icache_misses, core.fetches + u64::from(waves));
            assert!(
                misses <= most,
                "{waves} waves, {mshrs} entries: {misses} misses and {} fetches",
                core.fetches
            );
        }
    }
}

#[test]
fn f4a_lines_ahead_are_asked_for_and_none_behind_the_code() {
    // 12 lines, of which a cache of 16 holds all.
    let kernel = format!("{}halt", "nop\n".repeat(47));
    let with = |prefetch_lines, icache_mshrs| {
        let mut config = one_set(16);
        config.core.fetch.prefetch_lines = prefetch_lines;
        config.core.fetch.icache_mshrs = icache_mshrs;
        let report = run(&config, &kernel).report;
        assert_eq!(report.memory.l2.reads, 12, "each line is asked for once");
        (report.cycles, report.core.icache_misses)
    };
    let (alone, two, all) = (with(0, 4), with(2, 4), with(16, 16));
    assert_eq!(alone.1, 12);
    assert!(alone.0 > two.0 && two.0 > all.0 && all.1 <= two.1, "{alone:?}, {two:?}, {all:?}");
    // All lines are on their way with the first, one a cycle.
    assert!(all.0 * 3 < alone.0, "{alone:?}, {all:?}");
}

#[test]
fn f4_a_miss_asks_the_port_in_the_next_cycle() {
    for latency in [3, 8] {
        // Each group is a line of the instruction cache. The first miss brings the others to the L2, whose lines are longer.
        let mut config = one_set(8);
        config.core.fetch.buffer_entries = 16;
        config.interconnect.latency_cycles = latency;
        let t = run(&config, NOPS);
        // The wave arrives at 3, requests its first group and misses.
        let requests = t.code_requests();
        let first = u64::from(config.dispatcher.latency_cycles);
        assert_eq!(requests[0], (first + 1, 0));
        // The others miss in the cycle of the decode before them. The request leaves in the next, crosses the interconnect
        // and hits in the L2. The reply has 8 + 128 bytes, and in the cycle of its last the wave requests again.
        let reply = (8u32 + 128).div_ceil(config.interconnect.port_bytes_per_cycle) - 1;
        let answer = u64::from(2 * latency + config.l2.hit_latency_cycles + reply);
        for (before, group, request) in [("a", "b", requests[1]), ("b", "c", requests[2])] {
            let miss = t.at(before, Decode);
            assert_eq!(request.0, miss + 1, "{group}");
            assert_eq!(t.at(group, Fetch), miss + 1 + answer, "{group}");
        }
    }
}

/// Two waves miss on two different lines in one cycle. Returns the cycles from the first request to the hit
/// of each, and those to the requests to the memory side.
fn two_misses(mshrs: u32, interconnect: u32) -> [[u64; 2]; 2] {
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
    let requests: Vec<u64> = t.code_requests().iter().filter(|r| r.0 >= start).map(|r| r.0 - start).collect();
    [[hit(0, "x"), hit(1, "y")], [requests[0], requests[1]]]
}

#[test]
fn f4_misses_take_entries_and_one_request_a_cycle() {
    let [[x, y], requests] = two_misses(2, 3);
    // With two entries, the second line is requested while the first is still in flight: one a cycle, from the cycle
    // after the misses on.
    assert!(x < y && y < x + x / 2, "{x} {y}");
    assert_eq!(requests, [1, 2]);
    // With one entry, it is requested after the first has arrived, and takes the full latency again. The second wave
    // misses in the cycle in which the reply frees the entry.
    let [[one_x, one_y], requests] = two_misses(1, 3);
    assert_eq!(one_x, x);
    assert!(one_y > x + 2 * 3 + 24, "{one_x} {one_y}");
    assert_eq!(requests, [1, x + 1]);
    // Each line crosses the interconnect twice.
    let [[far_x, far_y], _] = two_misses(1, 8);
    assert_eq!([far_x, far_y], [one_x + 10, one_y + 20]);
}

#[test]
fn f5_the_end_of_the_code_issues_like_an_instruction() {
    let t = run(&fetching(4, 8, 1), "a: nop\nnop\nnop\nnop");
    assert_eq!(t.end_mark(), t.at("a", Issue) + 4);
    assert_eq!(t.fetches(0), [(0, 0), (1, 4)]);
    // With a buffer of four instructions, the end mark waits for space like any group. The last instruction issues at
    // 5: F 6, D 7, I 8.
    let t = run(&fetching(4, 4, 1), "a: nop\nnop\nnop\nnop");
    assert_eq!(t.end_mark(), t.at("a", Fetch) + 8);
}

#[test]
fn f6_a_redirect_drops_what_was_fetched() {
    for (latency, buffer_entries, discarded) in [(1, 4, 0), (1, 16, 1), (7, 4, 0), (7, 16, 1)] {
        for branch in [1, 2, 5] {
            let mut config = fetching(4, buffer_entries, latency);
            config.core.branch_latency_cycles = branch;
            // Behind the end mark nothing is fetched, so only the call drops something.
            let t = run(&config, "a: call x\nb: nop\nnop\nc: nop\nnop\nx: nop");
            assert!(t.all(0, "b", Issue).is_empty());
            // When the shadow ends. The redirect empties the buffer in the cycle after the issue, and what it leaves is
            // room from the next on: with four entries, of which the group still uses some, two cycles after the issue.
            let room = if buffer_entries == 4 { 2 } else { 1 };
            assert_eq!(t.after("a", "x", Fetch), u64::from(branch).max(room), "{latency} {branch}");
            assert_eq!(t.at("x", Issue), t.at("x", Fetch) + u64::from(latency) + 1);
            assert_eq!(t.report.core.fetches_discarded, discarded, "{latency} {branch}");
        }
    }
}

/// Four groups of four words with a control instruction in the word `at`; the second group begins with `b`, the third
/// with `c`. Groups arrive three cycles after their request.
fn control_at(at: usize, control: &str, branch: u32) -> Trace {
    let mut config = fetching(4, 16, 3);
    config.core.branch_latency_cycles = branch;
    let mut lines = vec!["nop"; 16];
    let line = format!("a: {control}");
    (lines[4], lines[8], lines[12]) = ("b: nop", "c: nop", "x: halt");
    lines[at] = &line;
    if control.starts_with("call") {
        // It has two words.
        lines.remove(3);
    }
    run(&config, &lines.join("\n"))
}

#[test]
fn f6_a_control_instruction_acts_on_fetch_in_the_cycle_after_its_issue() {
    // cycle       0  1  2  3  4  5  6  7  8  9
    // group 0     F  .  .  D  I  I  I  I              instruction n issues at 4 + n
    // group 1              F  .  .  D
    // group 2                       F  .  .  D
    for branch in [1, 2, 4] {
        for control in ["call x", "halt"] {
            // It issues at 6, in which group 1 arrives: it is decoded, and group 2 is requested. This one is dropped.
            let t = control_at(2, control, branch);
            assert_eq!(t.at("b", Decode), t.at("a", Issue), "{control}");
            assert_eq!(t.at("c", Fetch), t.at("a", Issue), "{control}");
            assert!(t.all(0, "c", Decode).is_empty(), "{control}");
            // It issues at 5: group 1 arrives in the cycle in which it acts and is dropped.
            let t = control_at(1, control, branch);
            assert_eq!(t.at("b", Fetch) + 3, t.at("a", Issue) + 1, "{control}");
            assert!(t.all(0, "b", Decode).is_empty(), "{control}");
            assert!(t.all(0, "c", Fetch).is_empty(), "{control}");
        }
        // Without a redirect nothing is dropped.
        for at in [1, 2] {
            let t = control_at(at, "wait", branch);
            assert_eq!([t.all(0, "b", Decode).len(), t.all(0, "c", Decode).len()], [1, 1]);
        }
    }
}

#[test]
fn f6_a_redirect_forgets_the_first_half_of_an_instruction() {
    // Word 7, the last of group 1, is the first of an addition. The call issues last of group 0, with a latency of 3 in
    // the cycle in which group 1 arrives, with 2 in the cycle after. Group 2 is on its way.
    for latency in [2, 3] {
        let t = run(
            &fetching(4, 16, latency),
            "nop\nnop\na: call x\nb: nop\nnop\nnop\nd: iadd r1, r2, r3\nc: nop\nnop\nnop\nx: mov_imm r1, 7\ny: nop\nhalt",
        );
        assert_eq!(t.at("b", Decode) + u64::from(3 - latency), t.at("a", Issue));
        assert!(t.all(0, "d", Decode).is_empty() && t.all(0, "c", Decode).is_empty());
        // The first instruction of the group that the call leads to comes first.
        assert_eq!(t.at("x", Issue), t.at("x", Fetch) + u64::from(latency) + 1);
        assert_eq!(t.at("y", Issue), t.at("x", Issue) + 1);
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
