//! Queues between cores and memory. In every cycle, a waveform must show as many entries as counters and
//! events imply. These tests never read a queue directly.

use super::machine::{Seen, machine, ring, seen_every};
use wave_isa::program::asm::assemble;
use wave_isa::program::{Launch, Program};
use wave_machine::config::{self, Config};
use wave_machine::core::probe::{HopKind, Sample};
use wave_observe::trace::Window;
use wave_study::launch::{self, Size};

/// Runs a kernel of the suite and samples it in every cycle.
fn seen(config: &Config, kernel: &str) -> Seen {
    let job = launch::load(kernel, Size::Small).unwrap();
    seen_every(1, config, (&job.program, &job.steps[0], &job.memory), Window::ALL, None)
}

#[test]
fn what_slices_hold_is_what_has_come_and_not_gone() {
    for (config, kernel) in [
        (machine("tiny"), "spmv"),
        (machine("tiny"), "histogram"),
        (ring(), "transpose_naive"),
        (machine("gpu"), "scan"),
    ] {
        let seen = seen(&config, kernel);
        let (mut hops, mut fetches) = (seen.hops.iter().peekable(), 0);
        let mut held = [0u64; 4];
        for sample in &seen.samples {
            let at = sample.cycle - 1;
            let (network, l2, dram) = (sample.memory.interconnect, sample.memory.l2, sample.memory.dram);
            while let Some(hop) = hops.next_if(|hop| hop.cycle <= at || !is_fetch(hop.what)) {
                fetches += u64::from(is_fetch(hop.what));
            }
            let begun = l2.hits + l2.mshr_hits + l2.sector_misses + l2.misses;
            let served = l2.reads + l2.writes + l2.atomics;
            for (n, (name, expected)) in [
                ("queue", network.requests - begun - l2.releases),
                ("waiting", begun - served),
                ("replies", served - network.replies),
                ("to_memory", fetches + l2.write_backs - dram.requests),
            ]
            .into_iter()
            .enumerate()
            {
                let mut shown = seen.waves.all_at("l2.", &format!(".{name}"), at);
                if name == "replies" {
                    // Packets between routers count as in flight until they leave the last link.
                    shown += seen.waves.all_at("network.replies.", ".packets", at);
                }
                assert_eq!(shown, expected, "{kernel} on {}: {name} in cycle {at}", config.name);
                held[n] += u64::from(shown > 0);
            }
            assert_eq!(l2.releases, 0, "{kernel}: a release has a reply that none of these counts");
        }
        assert!(held.iter().all(|&cycles| cycles > 2), "{kernel}: {held:?}");
        assert!(seen.samples.last().unwrap().cycle > 500);
    }
}

fn is_fetch(what: HopKind) -> bool {
    what == HopKind::Fetch
}

/// A kernel in which each instruction of `body` accesses a line of 64 bytes, in waves of eight lanes: r3 is
/// the address, r4 the distance to the next line.
fn lines(body: &str) -> (Program, Launch) {
    let text = format!(
        ".kernel k\n.registers 16\n.workgroup_size 32, 1, 1\n    mov_sr r0, sr_workgroup_id_x\n    mov_imm r2, 8\n    \
         shl r3, r0, r2\n    mov_sr r1, sr_thread_id_x\n    mov_imm r2, 3\n    shl r1, r1, r2\n    iadd r3, r3, r1\n    \
         mov_imm r4, 4096\n    mov_imm r5, 40\n    mov_imm r6, 1\n    mov_imm r7, 0\n    loop\n{body}\n    \
         iadd r3, r3, r4\n    isub r5, r5, r6\n    ucmp_eq p0, r5, r7\n    break p0\n    endloop\n    halt\n.end\n"
    );
    let (program, _) = assemble(&text, "k.wave").unwrap_or_else(|errors| panic!("{}", errors[0]));
    let launch = Launch {
        kernel: 0,
        grid: [8, 1, 1],
        workgroup: [32, 1, 1],
        registers: 16,
        local_memory_bytes: 0,
        initial_registers: Vec::new(),
    };
    (program, launch)
}

/// Runs it on one core. Returns the run, the first sample after the last instruction fetch, and the number of
/// code requests.
fn of_one_core(body: &str) -> (Seen, usize, u64) {
    let mut config = config::load_with_settings("tiny", &["cores=1".to_owned()]).unwrap().0;
    config.device_memory_bytes = 1 << 20;
    let (program, launch) = lines(body);
    let seen = seen_every(1, &config, (&program, &launch, &[]), Window::ALL, None);
    let code = seen.hops.iter().filter(|hop| hop.line >> 32 != 0);
    let requests = code.clone().filter(|hop| matches!(hop.what, HopKind::Arrive(..))).count();
    let last = code.map(|hop| hop.cycle).max().unwrap() + 100;
    let from = seen.samples.partition_point(|sample| sample.cycle < last);
    assert!(requests > 0 && seen.samples.len() - from > 500, "{from} of {}", seen.samples.len());
    (seen, from, requests as u64)
}

/// Number of packets, `cycles` long, that the core's port has begun to send up to each sample.
fn sent(seen: &Seen, code: u64, cycles: u64) -> Vec<u64> {
    let mut sending = 0;
    let upto = |sample: &Sample| {
        sending += seen.waves.at("core0.port.sending", sample.cycle - 1);
        sending.saturating_sub(code).div_ceil(cycles)
    };
    let begun = (0..seen.samples[0].cycle - 1).map(|cycle| seen.waves.at("core0.port.sending", cycle));
    assert_eq!(begun.sum::<u64>(), 0);
    seen.samples.iter().map(upto).collect()
}

#[test]
fn what_a_core_has_under_way_is_what_has_left_and_not_come_back() {
    // Each line is loaded twice, and once more after others have been requested.
    let body = "    device_load_u64 r8, r3\n    device_load_u64 r10, r3\n    iadd r12, r3, r6\n    device_load_u64 r12, r3";
    let (seen, from, code) = of_one_core(body);
    let sent = sent(&seen, code, 1);
    let mut held = [0u64; 4];
    for (sample, sent) in seen.samples.iter().zip(sent).skip(from) {
        let at = sample.cycle - 1;
        let of = |name: &str| seen.waves.at(&format!("core0.{name}"), at);
        let l1 = &sample.l1;
        assert_eq!(l1.sector_misses + l1.stores, 0, "a line is asked for once");
        let back = l1.misses - of("l1.mshrs");
        let (outstanding, responses) = (of("lsu.outstanding"), of("l1.responses"));
        assert_eq!(of("l1.to_l2"), l1.misses - sent, "to_l2 in cycle {at}");
        assert_eq!(of("port.replies"), sample.memory.interconnect.replies - code - back, "replies in {at}");
        // A load accesses one line. It waits for the line, or its response is on the way.
        assert_eq!(outstanding, of("l1.waiting") + responses, "responses in cycle {at}");
        for (held, n) in
            held.iter_mut().zip([of("l1.to_l2"), of("port.replies"), of("l1.waiting"), responses])
        {
            *held += u64::from(n > 0);
        }
    }
    let last = seen.samples.last().unwrap().l1;
    assert!(last.hits > 20 && last.mshr_hits > 20, "{last:?}");
    assert!(held.iter().all(|&cycles| cycles > 50), "{held:?}");
}

#[test]
fn stores_wait_for_the_port_until_it_has_sent_those_before() {
    let (seen, from, code) = of_one_core("    device_store_u64 r3, r8");
    // 64 bytes and a header of 8 bytes, through a port of 16 bytes per cycle.
    let sent = sent(&seen, code, 5);
    let mut waiting = 0;
    for (sample, sent) in seen.samples.iter().zip(sent).skip(from) {
        let shown = seen.waves.at("core0.l1.to_l2", sample.cycle - 1);
        assert_eq!(shown, sample.l1.stores - sent, "cycle {}", sample.cycle - 1);
        waiting += u64::from(shown > 0);
    }
    assert!(waiting > 100, "{waiting}");
}

/// Without contention, a request occupies each link of its route for the latency of that link.
#[test]
fn requests_are_on_links_for_their_latency() {
    let config = ring();
    let (program, launch) = lines("    device_load_u32 r8, r3\n    iadd r8, r8, r8");
    let launch = Launch { grid: [1, 1, 1], workgroup: [8, 1, 1], ..launch };
    let seen = seen_every(1, &config, (&program, &launch, &[]), Window::ALL, None);
    let last = seen.samples.last().unwrap();
    let (network, end) = (&last.memory.interconnect, last.cycle);
    assert_eq!(network.link_stall_cycles, 0);
    let latency = u64::from(config.interconnect.link_latency_cycles);
    assert!(network.hops > 50 && latency > 1, "{} hops", network.hops);
    // A request is as long as a link is wide, and its reply returns on the same route. Replies are checked
    // above.
    let shown = seen.waves.sum("network.requests.", ".packets", end);
    assert_eq!(shown, network.hops / 2 * latency);
}
