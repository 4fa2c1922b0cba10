//! Waveform signals of the machine around the pipeline, compared with counters, samples and memory commands
//! of the same run.

use super::viewers::waveform;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::ops::Range;
use tempfile::TempDir;
use wave_isa::program::{Launch, Program};
use wave_machine::config::{self, Config};
use wave_machine::core::probe::{Event, EventKind, Hop, Level, Listeners, Observer, Sample, Wants};
use wave_machine::gpu::{Machine, RunOptions};
use wave_machine::memory::dram::IssuedCommand as Command;
use wave_machine::memory::dram::timing::Command as Kind;
use wave_observe::trace::view::signals::{Signals, tree};
use wave_observe::trace::view::waves::Vcd;
use wave_observe::trace::{How, Recorder, Sink, Trigger, When, Window};
use wave_study::launch::{self, Size};

/// The signals of a run, from its waveform: changes by name.
pub(crate) struct Waves(BTreeMap<String, Vec<(u64, u64)>>);

impl Waves {
    /// The value at the end of a cycle.
    pub(crate) fn at(&self, name: &str, cycle: u64) -> u64 {
        let changes = self.0.get(name).unwrap_or_else(|| panic!("{name}"));
        changes[..changes.partition_point(|(at, _)| *at <= cycle)].last().map_or(0, |(_, value)| *value)
    }

    fn named(&self, begin: &str, end: &str) -> Vec<&str> {
        let fits = |name: &&str| name.starts_with(begin) && name.ends_with(end);
        self.0.keys().map(String::as_str).filter(fits).collect()
    }

    /// Values summed over the cycles before `end`, and over the signals that begin and end so.
    pub(crate) fn sum(&self, begin: &str, end: &str, until: u64) -> u64 {
        let names = self.named(begin, end);
        assert!(!names.is_empty(), "{begin}…{end}");
        let of = |name: &str| {
            let changes = self.0[name].iter().filter(|(at, _)| *at < until);
            let ends = self.0[name].iter().skip(1).map(|(at, _)| *at).chain([until]);
            changes.zip(ends).map(|((from, value), to)| value * (to.min(until) - from)).sum::<u64>()
        };
        names.into_iter().map(of).sum()
    }

    /// The sum over signals in one cycle.
    pub(crate) fn all_at(&self, begin: &str, end: &str, cycle: u64) -> u64 {
        self.named(begin, end).into_iter().map(|name| self.at(name, cycle)).sum()
    }

    /// The most that a signal of these ever is.
    fn most(&self, begin: &str, end: &str) -> u64 {
        let values = self.named(begin, end).into_iter().flat_map(|name| &self.0[name]);
        values.map(|(_, value)| *value).max().unwrap_or(0)
    }
}

/// Looks at the machine every so many cycles, in the way of the report, and notes what happens to requests.
struct Sampler {
    every: u64,
    samples: Vec<Sample>,
    ended: Option<u64>,
    hops: Vec<Hop>,
}

impl Observer for Sampler {
    fn sample_at(&self) -> u64 {
        if self.ended.is_some() {
            u64::MAX
        } else {
            self.samples.last().map_or(0, |sample| sample.cycle) + self.every
        }
    }

    fn wants(&self) -> Wants {
        Wants::of(&[EventKind::Sample, EventKind::Release, EventKind::Hop])
    }

    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Sample(sample, _) => self.sample(sample),
            Event::Release(end) => self.ended = Some(*end),
            Event::Hop(hop) => self.hops.push(*hop),
            _ => {}
        }
    }
}

impl Sampler {
    fn sample(&mut self, sample: &Sample) {
        // Waveforms stand still in the release: the first sample in it is that of the kernel's end.
        match self.ended {
            None => self.samples.push(*sample),
            Some(end) if self.samples.last().is_none_or(|last| last.cycle < end) => {
                self.samples.push(Sample { cycle: end, ..*sample });
            }
            Some(_) => {}
        }
    }
}

pub(crate) struct Seen {
    pub waves: Waves,
    pub samples: Vec<Sample>,
    pub hops: Vec<Hop>,
    /// Commands of each memory channel.
    commands: Vec<Vec<Command>>,
}

fn seen(config: &Config, kernel: &str, window: Window, trigger: Option<Trigger>) -> Seen {
    let job = launch::load(kernel, Size::Small).unwrap();
    seen_every(13, config, (&job.program, &job.steps[0], &job.memory), window, trigger)
}

/// A launch of a program over what is in the first bytes of memory, looked at every so many cycles.
pub(crate) fn seen_every(
    every: u64,
    config: &Config,
    (program, step, bytes): (&Program, &Launch, &[u8]),
    window: Window,
    trigger: Option<Trigger>,
) -> Seen {
    let mut memory = vec![0; config.device_memory_bytes as usize];
    memory[..bytes.len()].copy_from_slice(bytes);
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("vcd");
    let file = Vcd::new(BufWriter::new(File::create(&path).unwrap()), &tree(config)).unwrap();
    let sinks: Vec<(String, Box<dyn Sink>)> = vec![("vcd".into(), Box::new(Signals::new(file, config)))];
    let mut recorder = Recorder::new(config, sinks, window).with_trigger(trigger);
    let mut sampler = Sampler { every, samples: Vec::new(), ended: None, hops: Vec::new() };
    let mut gpu = Machine::new(config.clone(), program.clone(), memory);
    gpu.memory_system().record_commands();
    recorder.start(program, step, 0);
    let both: [&mut dyn Observer; 2] = [&mut recorder, &mut sampler];
    let mut both = Listeners::new(both);
    let report = gpu.run(step, &RunOptions::UNBOUNDED, Some(&mut both), &mut |_| {}).unwrap();
    recorder.finish(How::Complete, report.running_cycles(), "").unwrap();
    let number = |(at, bits): (u64, String)| (at, u64::from_str_radix(&bits, 2).unwrap());
    let waves =
        waveform(&path).into_iter().map(|(name, changes)| (name, changes.into_iter().map(number).collect()));
    let waves = Waves(waves.collect());
    let memory = gpu.memory_system();
    let commands = (0..config.dram.channels as usize).map(|c| memory.commands(c).to_vec()).collect();
    Seen { waves, samples: sampler.samples, hops: sampler.hops, commands }
}

pub(crate) fn machine(name: &str) -> Config {
    let mut config = config::load(name).unwrap();
    config.device_memory_bytes = 1 << 20;
    config
}

/// A machine whose cores and slices stand in a ring.
pub(crate) fn ring() -> Config {
    let settings = ["interconnect.topology=ring".to_owned()];
    let mut config = config::load_with_settings("tiny", &settings).unwrap().0;
    config.device_memory_bytes = 1 << 20;
    config
}

#[test]
fn sums_over_time_are_the_counters_of_the_run() {
    for (config, kernel) in [
        (machine("tiny"), "spmv"),
        (machine("tiny"), "histogram"),
        (ring(), "transpose_naive"),
        (machine("gpu"), "scan"),
    ] {
        let seen = seen(&config, kernel, Window::ALL, None);
        let (waves, last) = (&seen.waves, seen.samples.last().unwrap());
        let of = format!("{kernel} on {}", config.name);
        let end = last.cycle;
        let (network, l2, dram) = (&last.memory.interconnect, &last.memory.l2, &last.memory.dram);
        assert_eq!(waves.sum("dram.", ".reads", end), dram.reads, "{of}");
        assert_eq!(waves.sum("dram.", ".writes", end), dram.writes, "{of}");
        assert!(dram.reads > 20, "{of}");
        assert_eq!(waves.sum("l2.", ".stalled", end), l2.reservation_fail_cycles, "{of}");
        let ports = |network: &str, ends: &str| {
            let names = waves.named(&format!("network.{network}.{ends}"), ".busy");
            let ports = names.into_iter().filter(|name| !name.contains("_to_"));
            ports.map(|name| waves.sum(name, "", end)).sum::<u64>()
        };
        assert_eq!(ports("requests", "slice"), network.request_port_busy_cycles, "{of}");
        assert_eq!(ports("replies", "core"), network.reply_port_busy_cycles, "{of}");
        // A request takes as long to leave the core's port as to enter the slice's.
        assert_eq!(waves.sum("core", ".port.sending", end), network.request_port_busy_cycles, "{of}");
        if network.hops > 0 {
            let links = ["requests", "replies"].map(|way| {
                let names = waves.named(&format!("network.{way}."), ".busy");
                names.into_iter().filter(|n| n.contains("_to_")).map(|n| waves.sum(n, "", end)).sum::<u64>()
            });
            assert_eq!(links.iter().sum::<u64>(), network.link_busy_cycles, "{of}");
            assert!(waves.most("network.requests.", ".packets") > 0, "{of}");
        }
        // An L1 that turns accesses away does so for a part of the time in which they wait.
        let blocked = waves.sum("core", ".l1.blocked", end);
        assert!(blocked <= last.l1.reservation_fail_cycles, "{of}: {blocked}");
        assert_eq!(blocked > 0, last.l1.reservation_fail_cycles > 20, "{of}: {blocked}");
    }
}

#[test]
fn entries_in_use_are_those_of_samples_and_never_more_than_there_are() {
    for (config, kernel) in [(machine("tiny"), "spmv"), (ring(), "histogram"), (machine("gpu"), "scan")] {
        let seen = seen(&config, kernel, Window::ALL, None);
        let waves = &seen.waves;
        let mut full = [0; Level::COUNT];
        for sample in &seen.samples {
            let at = sample.cycle - 1;
            let levels = [
                (Level::L1Mshrs, waves.all_at("core", ".l1.mshrs", at)),
                (Level::L2Mshrs, waves.all_at("l2.", ".mshrs", at)),
                (Level::LsuQueue, waves.all_at("core", ".lsu.queue", at)),
                (Level::DramQueue, waves.all_at("dram.", ".queue", at)),
            ];
            for (level, n) in levels {
                assert_eq!(n, sample.levels[level as usize], "{kernel}: {level:?} in cycle {at}");
                full[level as usize] += usize::from(n > 0);
            }
        }
        assert!(seen.samples.len() > 50 && full.iter().all(|&n| n > 5), "{full:?} of {}", seen.samples.len());
        let (core, l2) = (&config.core, &config.l2);
        for (begin, end, most) in [
            ("core", ".l1.mshrs", core.l1.mshrs),
            ("core", ".l1.waiting", core.l1.mshrs * core.l1.mshr_merges),
            ("core", ".lsu.queue", core.lsu.queue_entries),
            ("core", ".lsu.outstanding", core.lsu.pending_entries),
            ("l2.", ".queue", l2.queue_entries),
            ("l2.", ".mshrs", l2.mshrs),
            ("l2.", ".waiting", l2.mshrs * l2.mshr_merges),
            ("dram.", ".queue", config.dram.queue_entries),
        ] {
            let seen = waves.most(begin, end);
            assert!(seen > 0 && seen <= most.into(), "{kernel}: {begin}…{end} is {seen} of {most}");
        }
        // Who waits for an outstanding line has an MSHR.
        let last = seen.samples.last().unwrap().cycle;
        for cycle in (0..last).step_by(7) {
            for core in 0..config.cores {
                let of = |name: &str| waves.at(&format!("core{core}.l1.{name}"), cycle);
                assert!(of("waiting") >= of("mshrs") || of("mshrs") > 0, "cycle {cycle}");
                assert!(of("mshrs") > 0 || of("waiting") == 0, "cycle {cycle}");
            }
        }
    }
}

/// The rows that the commands on a channel's bus have opened and not closed.
#[test]
fn open_rows_are_those_that_commands_have_opened() {
    let mut refreshes = 0;
    for (config, kernel) in [(machine("tiny"), "transpose_naive"), (machine("gpu"), "spmv")] {
        let seen = seen(&config, kernel, Window::ALL, None);
        let last = seen.samples.last().unwrap().cycle;
        let (core, memory) = (u64::from(config.core_clock_mhz), u64::from(config.dram.clock_mhz));
        for (channel, commands) in seen.commands.iter().enumerate() {
            let banks = config.dram.banks as usize;
            let (mut rows, mut commands) = (vec![None; banks], commands.iter().peekable());
            for cycle in 0..last {
                // A memory clock belongs to the cycle of the core in which it begins.
                while let Some(command) =
                    commands.next_if(|command| command.clock * core < (cycle + 1) * memory)
                {
                    match command.command {
                        Kind::Activate => rows[usize::from(command.bank)] = Some(command.row),
                        Kind::Precharge => rows[usize::from(command.bank)] = None,
                        Kind::PrechargeAll => rows.fill(None),
                        Kind::Refresh => refreshes += 1,
                        Kind::Read | Kind::Write => {}
                    }
                }
                if cycle % 5 != 0 {
                    continue;
                }
                let of = |name: &str| seen.waves.at(&format!("dram.channel{channel}.{name}"), cycle);
                let open = rows
                    .iter()
                    .enumerate()
                    .fold(0, |open, (bank, row)| open | u64::from(row.is_some()) << bank);
                assert_eq!(of("open"), open, "{kernel}: channel {channel}, cycle {cycle}");
                for (bank, row) in rows.iter().enumerate() {
                    assert_eq!(
                        of(&format!("row{bank}")),
                        row.map_or(0, u64::from),
                        "{kernel}: cycle {cycle}"
                    );
                }
            }
        }
    }
    assert!(refreshes > 0);
}

/// In its window, and around a trigger, a waveform is that of the whole run, and outside of it everything is 0.
#[test]
fn a_window_and_a_trigger_show_the_machine_as_the_whole_run_does() {
    let config = machine("tiny");
    let whole = seen(&config, "spmv", Window::ALL, None).waves;
    let is_of_machine = |name: &str| {
        !name.contains("slot")
            && [".l1.", ".lsu.", ".port.", "network", "l2.", "dram."].iter().any(|part| name.contains(part))
    };
    let compare = |part: &Waves, cycles: Range<u64>, of: &str| {
        let mut shown = 0;
        for (name, changes) in part.0.iter().filter(|(name, _)| is_of_machine(name)) {
            for (at, value) in changes.iter().filter(|(at, _)| *at > 0) {
                assert!(cycles.contains(at) || (*value == 0 && *at == cycles.end), "{of}: {name} in {at}");
            }
            for cycle in cycles.clone() {
                assert_eq!(part.at(name, cycle), whole.at(name, cycle), "{of}: {name} in {cycle}");
                shown += part.at(name, cycle);
            }
        }
        assert!(shown > 100, "{of}: {shown}");
    };
    let window = Window { cycles: 700..900, waves: Vec::new() };
    compare(&seen(&config, "spmv", window, None).waves, 700..900, "window");
    let trigger = Trigger { when: When::Stall(200), before: 120, after: 60 };
    let part = seen(&config, "spmv", Window::ALL, Some(trigger)).waves;
    let first = part.0.iter().filter(|(name, _)| is_of_machine(name));
    let first =
        first.flat_map(|(_, changes)| changes.iter().map(|(at, _)| *at)).filter(|&at| at > 0).min().unwrap();
    assert!(first > 300, "it fires late");
    compare(&part, first..first + 181, "trigger");
}
