//! Every memory command of every kernel of the suite, checked.

use wave_machine::config::{Config, Dram, DramPolicy, from_text};
use wave_machine::gpu::{Machine, RunOptions};
use wave_machine::memory::dram::IssuedCommand;
use wave_machine::memory::dram::check::first_violation;
use wave_study::launch::{self, Size};

/// The commands of each channel while a kernel of the suite runs.
fn commands(config: &Config, kernel: &str) -> Vec<Vec<IssuedCommand>> {
    let job = launch::load(kernel, Size::Small).unwrap_or_else(|errors| panic!("{kernel}: {}", errors[0]));
    let mut memory = job.memory.clone();
    memory.resize(config.device_memory_bytes as usize, 0);
    let mut gpu = Machine::new(config.clone(), job.program.clone(), memory);
    gpu.memory_system().record_commands();
    for step in &job.steps {
        gpu.run(step, &RunOptions::UNBOUNDED, None, &mut |_| {})
            .unwrap_or_else(|e| panic!("{kernel}: {e:?}"));
    }
    (0..config.dram.channels).map(|c| gpu.memory_system().commands(c as usize).to_vec()).collect()
}

/// Small caches, so that many accesses reach memory.
fn machine(part: &str, channels: u32, policy: DramPolicy) -> Config {
    let text = format!(
        "(cores: 2, device_memory_bytes: 8_388_608, dram: (part: {part:?}, channels: {channels}),
          core: (l1: (bytes: 4096)), l2: (slices: {channels}, slice_bytes: 8192, ways: 4))"
    );
    let (mut config, _) = from_text("suite.ron", &text).unwrap_or_else(|errors| panic!("{}", errors[0]));
    config.dram.policy = policy;
    config
}

#[test]
fn the_suite_breaks_no_constraint_of_any_part() {
    for (part, channels) in [("gddr6", 2), ("hbm2e", 2), ("lpddr5", 2), ("gddr6", 6)] {
        let mut busy = vec![0; channels as usize];
        for policy in [DramPolicy::FrFcfs, DramPolicy::Fcfs] {
            let config = machine(part, channels, policy);
            for kernel in launch::suite() {
                for (channel, stream) in commands(&config, kernel).iter().enumerate() {
                    busy[channel] += stream.len();
                    if let Some(fault) = first_violation(&config.dram, stream) {
                        panic!("{part}, {policy:?}, {kernel}, channel {channel}: {fault}");
                    }
                }
            }
        }
        let total: usize = busy.iter().sum();
        assert!(total > 20_000, "{part}: only {total} commands");
        let (least, most) = (busy.iter().min(), busy.iter().max());
        assert!(least.zip(most).is_some_and(|(least, most)| 2 * least > *most), "{part}: {busy:?}");
    }
}

/// The same command streams violate limits that are one clock longer. This shows that the check above can
/// fail.
#[test]
fn the_suite_meets_the_limits_that_it_keeps() {
    type Longer = fn(&mut Dram);
    let longer: [(&str, Longer); 6] = [
        ("t_rcd", |d| d.t_rcd += 1),
        ("t_rp", |d| d.t_rp += 1),
        ("t_rc", |d| d.t_rc += 30),
        ("t_ccd_s", |d| d.t_ccd_s += 1),
        ("t_rtp", |d| d.t_rtp += 1),
        ("t_wtr", |d| (d.t_wtr_s, d.t_wtr_l) = (d.t_wtr_s + 1, d.t_wtr_l + 1)),
    ];
    let config = machine("gddr6", 2, DramPolicy::FrFcfs);
    let kernels = launch::suite();
    let streams: Vec<_> = kernels.into_iter().flat_map(|kernel| commands(&config, kernel)).collect();
    for (name, change) in longer {
        let mut dram = config.dram;
        change(&mut dram);
        let said: Vec<String> = streams.iter().filter_map(|stream| first_violation(&dram, stream)).collect();
        assert!(said.iter().any(|said| said.contains(&format!("breaks {name}"))), "{name}: {said:?}");
    }
}
