//! Every packet that a core sends, what becomes of it in the L2 and the memory channels, and the report: of kernels of
//! the suite on several machines, to the cycle, held against what was recorded.

use fnv::FnvHasher;
use std::fmt::Write;
use std::hash::Hasher;
use wave_machine::config::{self, Config, Topology, WritePolicy};
use wave_machine::core::probe::{Event, EventKind, Observer, Wants};
use wave_machine::gpu::{Machine, RunOptions};
use wave_machine::memory::{Request, RequestKind};
use wave_study::launch::{self, Size};
use wave_testing::golden;

const KERNELS: [&str; 8] =
    ["saxpy", "spmv", "pointer_chase", "transpose_naive", "bfs", "histogram", "sgemm", "reduction"];

/// Hashes what is told of the memory side.
#[derive(Default)]
struct Listener {
    packets: FnvHasher,
    /// Sum over the events: which of two blocks tells first does not matter.
    behind: u64,
    sent: u64,
}

impl Listener {
    fn add(&mut self, event: &str) {
        let mut hash = FnvHasher::default();
        hash.write(event.as_bytes());
        self.behind = self.behind.wrapping_add(hash.finish());
    }
}

impl Observer for Listener {
    fn wants(&self) -> Wants {
        Wants::of(&[EventKind::Packet, EventKind::Hop, EventKind::Burst])
    }

    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Packet(packet) => {
                self.sent += 1;
                let Request { tag, kind, hint, line, sectors, .. } = packet.request;
                let fields = (packet.cycle, packet.core, tag, kind, hint, line, sectors);
                self.packets.write(format!("{fields:?}").as_bytes());
                if let (Some(values), RequestKind::Write | RequestKind::Atomic(_)) =
                    (&packet.request.values, kind)
                {
                    self.packets.write(&values.byte_mask.to_le_bytes());
                    let written = (0..values.data.len()).filter(|at| values.byte_mask >> at & 1 == 1);
                    written.for_each(|at| self.packets.write_u8(values.data[at]));
                }
            }
            Event::Hop(hop) => self.add(&format!("{hop:?}")),
            Event::Burst(burst) => self.add(&format!("{burst:?}")),
            _ => {}
        }
    }
}

/// Machines, with names.
fn machines() -> Vec<(&'static str, Config)> {
    let of = |name, preset, change: fn(&mut Config)| {
        let mut config = config::load(preset).expect("a preset");
        change(&mut config);
        let found = config.check();
        assert!(found.is_empty(), "{name}: {found:?}");
        (name, config)
    };
    vec![
        of("gpu", "gpu.ron", |_| {}),
        of("gpu, write back", "gpu.ron", |c| c.core.l1.write_policy = WritePolicy::WriteBack),
        of("gpu, mesh", "gpu.ron", |c| c.interconnect.topology = Topology::Mesh),
        of("tiny", "tiny.ron", |_| {}),
    ]
}

/// The line of the golden file for a kernel on a machine.
fn line(kernel: &str, machine: &str, config: &Config) -> String {
    let job = launch::load(kernel, Size::Small).unwrap_or_else(|errors| panic!("{kernel}: {}", errors[0]));
    let mut memory = job.memory.clone();
    memory.resize(memory.len().max(config.device_memory_bytes as usize), 0);
    let play = |listener: Option<&mut Listener>| {
        let mut gpu = Machine::new(config.clone(), job.program.clone(), memory.clone());
        let mut listener = listener;
        let mut text = String::new();
        for step in &job.steps {
            let observer = listener.as_mut().map(|listener| &mut **listener as &mut dyn Observer);
            let report = gpu.run(step, &RunOptions::UNBOUNDED, observer, &mut |_| {});
            writeln!(text, "{report:?}").unwrap();
        }
        let mut hash = FnvHasher::default();
        hash.write(text.as_bytes());
        hash.write(&gpu.into_memory());
        hash.finish()
    };
    let mut listener = Listener::default();
    let report = play(Some(&mut listener));
    assert_eq!(report, play(None), "{kernel} on {machine}: a listener changes the run");
    assert!(listener.sent > 10, "{kernel} on {machine} sends nothing");
    let (packets, behind) = (listener.packets.finish(), listener.behind);
    format!("{kernel} on {machine}: {}, {packets:016x}, {behind:016x}, {report:016x}\n", listener.sent)
}

#[test]
fn the_packets_of_kernels_and_what_becomes_of_them_are_what_was_recorded() {
    let mut text =
        "# Packets, their hash, that of what becomes of them, and that of the report and memory.\n"
            .to_owned();
    for (machine, config) in machines() {
        KERNELS.iter().for_each(|kernel| text += &line(kernel, machine, &config));
    }
    golden::check("sim/machine/tests/golden/packets.txt", &text);
}
