//! Occupancy against brute force: workgroups are put on a core one by one, wave by wave, until one does not fit.

use rand::{RngExt, SeedableRng};
use wave_isa::program::Launch;
use wave_machine::config::Config;
use wave_machine::gpu::occupancy::{Limiter, Occupancy};

/// What is left of a core.
struct Room {
    /// Free wave slots and bytes of the register file, for each scheduler.
    schedulers: Vec<(u32, u32)>,
    local_bytes: u32,
    workgroups: u32,
}

impl Room {
    fn of(config: &Config) -> Room {
        let core = &config.core;
        let mut schedulers = vec![(0, core.register_file_bytes / core.schedulers); core.schedulers as usize];
        (0..core.max_waves).for_each(|slot| schedulers[(slot % core.schedulers) as usize].0 += 1);
        Room { schedulers, local_bytes: core.local_memory_bytes, workgroups: core.max_workgroups }
    }

    /// Puts a workgroup there, if it fits.
    fn takes(&mut self, waves: u32, wave_bytes: u32, local_bytes: u32) -> bool {
        if self.workgroups == 0 || self.local_bytes < local_bytes {
            return false;
        }
        let before = self.schedulers.clone();
        for _ in 0..waves {
            let free = self.schedulers.iter_mut().find(|(slots, bytes)| *slots > 0 && *bytes >= wave_bytes);
            let Some((slots, bytes)) = free else {
                self.schedulers = before;
                return false;
            };
            *slots -= 1;
            *bytes -= wave_bytes;
        }
        self.workgroups -= 1;
        self.local_bytes -= local_bytes;
        true
    }
}

/// Workgroups of a launch that a core with this room takes.
fn placed(mut room: Room, config: &Config, launch: &Launch) -> u32 {
    let threads: u32 = launch.workgroup.iter().product();
    let waves = threads.div_ceil(config.core.wave_width);
    let wave_bytes = launch.registers * config.core.wave_width * 4;
    (0..).find(|_| !room.takes(waves, wave_bytes, launch.local_memory_bytes)).unwrap()
}

/// Room for everything but one thing.
fn alone(config: &Config, launch: &Launch, limiter: Limiter) -> u32 {
    let real = Room::of(config);
    const PLENTY: u32 = 1 << 24;
    let wide = |room: Room| {
        let each = |(slots, bytes)| match limiter {
            Limiter::Waves => (slots, PLENTY),
            Limiter::Registers => (PLENTY, bytes),
            Limiter::Workgroups | Limiter::LocalMemory => (PLENTY, u32::MAX),
        };
        let workgroups = if limiter == Limiter::Workgroups { room.workgroups } else { PLENTY };
        let local_bytes = if limiter == Limiter::LocalMemory { room.local_bytes } else { u32::MAX };
        Room { schedulers: room.schedulers.into_iter().map(each).collect(), local_bytes, workgroups }
    };
    placed(wide(real), config, launch)
}

#[test]
fn occupancy_is_what_fits_wave_by_wave() {
    let mut random = rand_pcg::Pcg32::seed_from_u64(44);
    let mut limiters = [0; 4];
    let mut uneven = 0;
    for _ in 0..20_000 {
        let mut config = Config::example();
        let core = &mut config.core;
        core.schedulers = random.random_range(1..=8);
        core.wave_width = 1 << random.random_range(3..=6);
        core.max_waves = core.schedulers * random.random_range(1..=16);
        core.max_workgroups = random.random_range(1..=40);
        // No multiple of anything: each scheduler has its share, and what is left in it is left.
        core.register_file_bytes = random.random_range(16 << 10..=512 << 10);
        core.local_memory_bytes = random.random_range(16 << 10..=128 << 10);
        core.max_workgroup_size = 1024;
        core.max_registers = 256;
        let launch = Launch {
            kernel: 0,
            grid: [1; 3],
            workgroup: [random.random_range(1..=128), random.random_range(1..=4), random.random_range(1..=2)],
            registers: random.random_range(1..=256),
            local_memory_bytes: [0, random.random_range(1..=40 << 10)][random.random_range(0..2)],
            initial_registers: Vec::new(),
        };
        let expected = placed(Room::of(&config), &config, &launch);
        let Ok(found) = Occupancy::of(&config, &launch) else {
            assert_eq!(expected, 0, "{launch:?} on {:?}", config.core);
            continue;
        };
        assert_eq!(found.workgroups, expected, "{launch:?} on {:?}", config.core);
        // The resource that is named limits so much alone.
        assert_eq!(alone(&config, &launch, found.limiter), expected, "{found:?}, {launch:?}");
        limiters[found.limiter as usize] += 1;
        let wave_bytes = launch.registers * config.core.wave_width * 4;
        let (whole, share) =
            (config.core.register_file_bytes, config.core.register_file_bytes / config.core.schedulers);
        uneven += u32::from(whole / wave_bytes != share / wave_bytes * config.core.schedulers);
    }
    assert!(limiters.iter().all(|&count| count > 200) && uneven > 2000, "{limiters:?} {uneven}");
}
