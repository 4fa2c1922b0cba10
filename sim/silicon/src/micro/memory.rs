//! Local memory, caches, memory, atomics.

use super::{Figure, Kernel, Memory, Micro, OUT_BYTES, Says, Shape, Topic, four, kernel_text, rounds};
use wave_ptx::WAVE_WIDTH;

/// Bytes from line to line of a chase.
const LINE: u32 = 128;
/// Loads of a chase in a round, in the two kernels.
const LOADS: [u32; 2] = [16, 32];
/// Bytes of a lane in a load of a stream.
const LANE: u32 = 16;

/// All of them.
pub(super) fn all(shape: &Shape) -> Vec<Micro> {
    let mut all = latencies(shape);
    all.extend(local_patterns(shape));
    all.extend(device_patterns(shape));
    all.extend(streams(shape));
    all.extend(atomics(shape));
    all
}

/// A chase of one lane through a footprint, over and over.
fn chase(footprint: u32, hint: &str, laps: u32) -> [Kernel; 2] {
    let lines = footprint / LINE;
    LOADS.map(|loads| {
        let body = format!("device_load_u32{hint} r1, r1\n").repeat(loads as usize);
        let text = rounds(&body) + &format!("mov_imm r9, {footprint}\ndevice_store_u32 r9, r1\n");
        // The shorter kernel goes round at least once.
        let rounds = (laps * lines).div_ceil(LOADS[0]);
        Kernel {
            text: kernel_text(&text),
            groups: 1,
            threads: 1,
            local_memory_bytes: 0,
            arguments: vec![rounds, 0],
        }
    })
}

fn latencies(shape: &Shape) -> Vec<Micro> {
    let latency = |name: String, footprint: u32, hint: &str, laps: u32, says: Option<&'static str>| {
        let kernels = chase(footprint, hint, laps);
        let rounds = kernels[0].arguments[0];
        Micro {
            topic: Topic::Latency,
            name,
            kernels: four(kernels),
            memory: Memory::Chase { footprint, line: LINE },
            figure: Figure::CyclesPer(f64::from(rounds * (LOADS[1] - LOADS[0]))),
            says: says.map(Says::Key),
            unit: "cycles",
        }
    };
    let local = LOADS.map(|loads| {
        let body = "local_load_u32 r1, r1\n".repeat(loads as usize);
        // Behind the barrier the compiler cannot know what the first load finds.
        let text = format!("local_store_u32 r1, r1\nbarrier\n{}", rounds(&body));
        Kernel {
            text: kernel_text(&(text + "mov_imm r9, 0\ndevice_store_u32 r9, r1\n")),
            groups: 1,
            threads: WAVE_WIDTH,
            local_memory_bytes: 1024,
            arguments: vec![16, 0],
        }
    });
    let mut all = vec![
        Micro {
            topic: Topic::Latency,
            name: "local memory".to_owned(),
            kernels: four(local),
            memory: Memory::Zeros(OUT_BYTES),
            figure: Figure::CyclesPer(256.0),
            says: Some(Says::Key("core.local.latency_cycles")),
            unit: "cycles",
        },
        latency("L1 over 2 KiB".to_owned(), 2 << 10, "", 4, Some("core.l1.hit_latency_cycles")),
        latency("L2 over 8 KiB".to_owned(), 8 << 10, ".uncached", 4, Some("l2.hit_latency_cycles")),
    ];
    // Where the latency rises is the end of the L1. A core may give a part of it to local memory.
    for bits in 4..=9 {
        let footprint = 1u32 << (bits + 10);
        if footprint <= shape.memory_bytes / 2 {
            all.push(latency(format!("loads over {} KiB", footprint >> 10), footprint, "", 2, None));
        }
    }
    // No line is touched twice.
    let footprint = shape.memory_bytes / 2;
    let cold = LOADS.map(|loads| {
        let body = "device_load_u32 r1, r1\n".repeat(loads as usize);
        let text = rounds(&body) + &format!("mov_imm r9, {footprint}\ndevice_store_u32 r9, r1\n");
        let rounds = (footprint / LINE / LOADS[1] / 2).min(16);
        Kernel {
            text: kernel_text(&text),
            groups: 1,
            threads: 1,
            local_memory_bytes: 0,
            arguments: vec![rounds, 0],
        }
    });
    let more = f64::from(cold[0].arguments[0] * (LOADS[1] - LOADS[0]));
    all.push(Micro {
        topic: Topic::Latency,
        name: "memory, lines in random order".to_owned(),
        kernels: four(cold),
        memory: Memory::Chase { footprint, line: LINE },
        figure: Figure::CyclesPer(more),
        says: None,
        unit: "cycles",
    });
    all
}

/// A body in which four chains of addresses each take so many loads. What is loaded is zero, and the compiler does not know it.
fn four_chains(load: &str, repeats: u32) -> String {
    let mut text = String::new();
    for _ in 0..repeats {
        for chain in 0..4 {
            let (value, address) = (12 + 4 * chain, 4 + chain);
            text += &format!("{load} r{value}, r{address}\niadd r{address}, r{address}, r{value}\n");
        }
    }
    text
}

/// The end of a kernel with the four chains.
const SUM: &str = "iadd r4, r4, r5\niadd r4, r4, r6\niadd r4, r4, r7\n";

/// Addresses of the four chains: the lane's number times r1, and so many bytes more for each chain.
fn addresses(apart: u32) -> String {
    format!(
        "mov_sr r4, sr_lane_id\nimul r4, r4, r1\nmov_imm r8, {apart}\niadd r5, r4, r8\niadd r6, r5, r8\niadd r7, r6, r8\n"
    )
}

/// Loads a cycle of one core full of waves, with lanes `stride` bytes apart.
fn pattern(
    shape: &Shape,
    name: String,
    (load, local): (&str, u32),
    (stride, apart): (u32, u32),
    says: Option<Says>,
) -> Micro {
    let kernels = [4, 8].map(|repeats| {
        let body = four_chains(load, repeats);
        let zero = match local {
            0 => String::new(),
            // Every word that is loaded holds zero.
            bytes => format!(
                "mov_sr r4, sr_thread_id_x\nmov_imm r8, 4\nimul r4, r4, r8\nmov_imm r8, {bytes}\nmov_imm r9, {}\n\
                 mov_imm r10, 0\nloop\nlocal_store_u32 r4, r10\niadd r4, r4, r9\nucmp_lt p1, r4, r8\nbreak !p1\n\
                 endloop\nbarrier\n",
                4 * WAVE_WIDTH * shape.waves
            ),
        };
        let text = format!(
            "{zero}{}{}{SUM}mov_imm r9, 0\niadd r9, r9, r2\ndevice_store_u32 r9, r4\n",
            addresses(apart),
            rounds(&body)
        );
        Kernel {
            text: kernel_text(&text),
            groups: 1,
            threads: shape.waves * WAVE_WIDTH,
            local_memory_bytes: local,
            arguments: vec![8, stride, 4 * stride * WAVE_WIDTH + 1024],
        }
    });
    // 4 more of each of four chains, in 8 rounds.
    let more = f64::from(4 * 4 * 8 * shape.waves);
    Micro {
        topic: Topic::Patterns,
        name,
        kernels: four(kernels),
        memory: Memory::Zeros((4 * stride * WAVE_WIDTH + 1024 + OUT_BYTES).next_multiple_of(4096)),
        figure: Figure::CyclesPer(more),
        says,
        unit: "cycles a load",
    }
}

fn local_patterns(shape: &Shape) -> Vec<Micro> {
    [1, 2, 4, 8, 16, 32]
        .into_iter()
        .map(|words| {
            // Of 8 to 256 banks the lanes share so many with a factor of two between them.
            let says = (words == 8).then_some(Says::Key("core.local.banks"));
            let name = format!("local memory, lanes {words} words apart");
            // Four chains of 32 lanes a stride apart, and a word for each chain.
            let bytes = 4 * words * WAVE_WIDTH + 64;
            let store = bytes.next_multiple_of(4 * WAVE_WIDTH * shape.waves).next_multiple_of(1024);
            let store = store.min(shape.local_bytes.saturating_sub(1024) & !255).max(bytes);
            pattern(shape, name, ("local_load_u32", store), (4 * words, 4), says)
        })
        .collect()
}

fn device_patterns(shape: &Shape) -> Vec<Micro> {
    let of = |hint: &str, level: &str| {
        let load = format!("device_load_u32{hint}");
        let level = level.to_owned();
        let shape = *shape;
        [4, 8, 16, 32, 64, 128].into_iter().map(move |stride| {
            let name = format!("{level}, lanes {stride} bytes apart");
            pattern(&shape, name, (&load, 0), (stride, stride * WAVE_WIDTH), None)
        })
    };
    of("", "L1").chain(of(".uncached", "L2")).collect()
}

/// A stream of loads of 16 bytes a lane. Of `own`, every wave of every core has bytes of its own that no one has touched; else it
/// goes over a small footprint again and again.
fn stream(
    shape: &Shape,
    (name, hint): (&str, &str),
    (cores, waves): (u32, u32),
    footprint: Option<u32>,
    says: Option<Says>,
) -> Micro {
    const ROUNDS: u32 = 8;
    let threads = waves * WAVE_WIDTH;
    // Bytes of a load of all waves.
    let sweep = cores * threads * LANE;
    let count = 4;
    let rounds_of = match footprint {
        Some(_) => ROUNDS,
        None => (shape.memory_bytes / 4 / sweep / count).clamp(1, ROUNDS),
    };
    // Of twice the rounds.
    let bytes = footprint.unwrap_or(sweep * count * 2 * rounds_of);
    // The same code with more rounds: how many loads are under way has a part in what a stream reaches.
    let kernels = [rounds_of, 2 * rounds_of].map(|rounds_of| {
        let load = |i: u32| format!("device_load_u128{hint} r{}, r4\niadd r4, r4, r1\n", 12 + 4 * (i % 4));
        let bound = |i: u32| match footprint {
            // Back to the beginning of the footprint.
            Some(_) if i % 4 == 3 => "and r4, r4, r3\niadd r4, r4, r5\n".to_owned(),
            _ => String::new(),
        };
        // All that a load brings is used, once four are under way.
        let use_of = |i: u32| match i % 4 == 3 || i + 1 == count {
            true => (0..=i % 4).map(|k| format!("xor r10, r10, r{}\nxor r10, r10, r{}\n", 12 + 4 * k, 15 + 4 * k)).collect(),
            false => String::new(),
        };
        let body: String = (0..count).map(|i| load(i) + &bound(i) + &use_of(i)).collect();
        let text = format!(
            "mov_sr r4, sr_workgroup_id_x\nmov_sr r5, sr_workgroup_size_x\nmov_sr r6, sr_thread_id_x\n\
             imad r4, r4, r5, r6\nmov_imm r5, {LANE}\nimul r4, r4, r5\n{}mov_imm r10, 0\n{}\
             mov_imm r9, {bytes}\ndevice_store_u32 r9, r10\n",
            match footprint {
                // The lane's place in a piece of the wave; the piece is bounded.
                Some(_) => "mov_sr r5, sr_lane_id\nmov_imm r6, 16\nimul r5, r5, r6\nisub r4, r4, r5\nand r4, r4, r3\n\
                            iadd r4, r4, r5\n",
                None => "",
            },
            rounds(&body)
        );
        // r1: from load to load of a wave; r3: what of an address is kept, without the lane's place.
        let step = if footprint.is_some() { WAVE_WIDTH * LANE } else { sweep };
        let mask = footprint.map_or(0, |bytes| bytes - 1) & !(WAVE_WIDTH * LANE - 1);
        Kernel {
            text: kernel_text(&text),
            groups: cores,
            threads,
            local_memory_bytes: 0,
            arguments: vec![rounds_of, step, 0, mask],
        }
    });
    let more = f64::from(count * rounds_of) * f64::from(sweep);
    Micro {
        topic: Topic::Bandwidth,
        name: name.to_owned(),
        kernels: kernels.into(),
        // The last loads of a wave may begin where the footprint ends.
        memory: Memory::Zeros(bytes + 4 * WAVE_WIDTH * LANE + OUT_BYTES),
        figure: Figure::PerCycle(more),
        says,
        unit: "bytes a cycle",
    }
}

fn streams(shape: &Shape) -> Vec<Micro> {
    let waves = shape.waves;
    let mut all = vec![
        stream(shape, ("L1, read, 1 core", ""), (1, waves), Some(4 << 10), None),
        stream(
            shape,
            ("L2, read, 1 core", ".uncached"),
            (1, waves),
            Some(16 << 10),
            Some(Says::Key("interconnect.port_bytes_per_cycle")),
        ),
    ];
    if shape.cores > 1 {
        let footprint = (shape.memory_bytes / 8).min(4 << 20);
        all.push(stream(
            shape,
            ("L2, read, all cores", ".uncached"),
            (shape.cores, waves),
            Some(footprint),
            None,
        ));
    }
    // As many waves as have room for four loads of their own.
    let room = shape.memory_bytes / 4 / (4 * shape.cores * WAVE_WIDTH * LANE);
    let waves = waves.min(room.max(1));
    all.push(stream(shape, ("memory, read, all cores", ""), (shape.cores, waves), None, None));
    all
}

/// Additions a cycle, of one word or of a word for each thread.
fn atomics(shape: &Shape) -> Vec<Micro> {
    let threads = shape.waves * WAVE_WIDTH;
    let atomic = |name: String, instruction: &str, cores: u32, apart: u32, local: u32| {
        let kernels = [8, 16].map(|count| {
            let body = format!("{instruction}\n").repeat(count);
            let text = format!(
                "mov_sr r4, sr_workgroup_id_x\nmov_sr r5, sr_workgroup_size_x\nmov_sr r6, sr_thread_id_x\n\
                 {}imul r4, r4, r1\nmov_imm r8, 1\n{}",
                match local {
                    0 => "imad r4, r4, r5, r6\n",
                    _ => "mov r4, r6\n",
                },
                rounds(&body)
            );
            Kernel {
                text: kernel_text(&text),
                groups: cores,
                threads,
                local_memory_bytes: local,
                arguments: vec![4, apart],
            }
        });
        Micro {
            topic: Topic::Atomics,
            name,
            kernels: four(kernels),
            memory: Memory::Zeros((cores * threads * 4).max(4096)),
            figure: Figure::PerCycle(f64::from(8 * 4 * cores) * f64::from(threads)),
            says: None,
            unit: "additions a cycle",
        }
    };
    let mut all = Vec::new();
    for (words, apart) in [("one word", 0), ("a word a lane", 4)] {
        all.push(atomic(format!("local memory, {words}"), "local_atomic_add r4, r8", 1, apart, 4 * threads));
        let mut cores = vec![1, shape.cores];
        cores.dedup();
        for cores in cores {
            let name = format!("device scope, {words}, {cores} cores").replace(" 1 cores", " 1 core");
            all.push(atomic(name, "atomic_add r4, r8, .device", cores, apart, 0));
        }
    }
    all
}
