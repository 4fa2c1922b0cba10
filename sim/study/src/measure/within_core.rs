//! Streaming bandwidth within a core: local memory and the L1.

use super::bandwidth::{LANE, QUADS, UNIT, What};
use super::bound::{Bound, by_issue, figure};
use super::kernel::{Kernel, again_and_again, in_turn, waves};
use super::{Figure, Listener};
use wave_machine::config::Config;

/// Instructions of an unrolled loop.
const UNROLLED: u32 = 64;
/// Iterations of it.
const ITERATIONS: u32 = 4;
/// Most bytes of local memory that are walked over.
const LOCAL: u32 = 16 << 10;

/// A kernel that every wave of one core runs over its own piece of local memory or of the L1.
fn unrolled(
    config: &Config,
    instruction: &dyn Fn(u32, u32) -> String,
    lane: u32,
    bytes: u32,
) -> Result<Kernel, String> {
    let waves = waves(config, 64);
    let threads = waves * config.core.wave_width;
    let body: String = (0..UNROLLED).map(|i| instruction(10 + i % 4, 16 + 4 * (i % QUADS)) + "\n").collect();
    let piece = config.core.wave_width * lane;
    let text = format!(
        "mov_sr r4, sr_thread_id_x\nmov_sr r5, sr_lane_id\nisub r4, r4, r5\nmov_imm r6, {four}\nimul r4, r4, r6\n\
         mov_imm r6, {lane}\nimul r5, r5, r6\niadd r4, r4, r5\nmov_imm r6, {mask}\nmov_imm r7, {piece}\n\
         and r10, r4, r6\niadd r4, r4, r7\nand r11, r4, r6\niadd r4, r4, r7\nand r12, r4, r6\niadd r4, r4, r7\n\
         and r13, r4, r6\n{start}{loops}",
        four = 4 * lane,
        mask = bytes - 1,
        start = in_turn(config, &instruction(10, 16), 1),
        loops = again_and_again(&body),
    );
    Kernel::new(&text, 1, threads, &[ITERATIONS])
}

/// Bytes a cycle that loads can write to a core's registers: one row a cycle (W2).
pub(super) fn row_bytes(config: &Config) -> f64 {
    f64::from(4 * config.core.wave_width)
}

/// Measures both, with one core.
///
/// # Errors
/// Why a kernel did not end.
pub(super) fn measure(config: &Config, progress: &mut dyn Listener) -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    let (local_bytes, l1_bytes) = (config.core.local_memory_bytes.min(LOCAL), config.core.l1.bytes / 2);
    let powers = [local_bytes, l1_bytes].map(|bytes| 1 << bytes.max(1).ilog2());
    let width = config.core.wave_width;
    for what in [What::Read, What::Write].into_iter().filter(|_| powers[0] >= 8 * width) {
        figures.push(local(config, powers[0], what, progress)?);
    }
    if powers[1] >= LANE * width {
        figures.push(l1(config, powers[1], progress)?);
    }
    Ok(figures)
}

fn local(config: &Config, size: u32, what: What, progress: &mut dyn Listener) -> Result<Figure, String> {
    let name = format!("local memory, {}, 1 core", what.name());
    progress.starts(&name);
    let bytes = f64::from(8 * config.core.wave_width);
    let local = &config.core.local;
    let words = (8 * config.core.wave_width).div_ceil(local.bank_bytes);
    let passes = f64::from(words.div_ceil(local.banks));
    let instruction = |address: u32, data: u32| match what {
        What::Write => format!("local_store_u64 r{address}, r{data}"),
        _ => format!("local_load_u64 r{data}, r{address}"),
    };
    let kernel = unrolled(config, &instruction, 8, size)?.with_local_memory(size);
    let (rate, _) = kernel.rate(config, progress)?;
    let mut bounds = by_issue(config, 1, &kernel.work(config), bytes);
    bounds.push(Bound::new(bytes / passes, "core.local.banks, a pass a cycle"));
    if what == What::Read {
        bounds.push(Bound::new(row_bytes(config), "core.wave_width, a row a cycle"));
    }
    Ok(figure(name, rate.of(bytes), UNIT, &bounds, None))
}

fn l1(config: &Config, size: u32, progress: &mut dyn Listener) -> Result<Figure, String> {
    let name = "L1, read, 1 core";
    progress.starts(name);
    let l1 = &config.core.l1;
    let instruction = |address: u32, data: u32| format!("device_load_u128 r{data}, r{address}");
    let kernel = unrolled(config, &instruction, LANE, size)?;
    let (rate, _) = kernel.rate(config, progress)?;
    let bytes = f64::from(config.core.wave_width * LANE);
    let groups = (config.core.wave_width * LANE).div_ceil(l1.line_bytes).div_ceil(l1.tag_banks);
    // From the first access to the response to the last one (L7, L8).
    let held = f64::from(groups - 1 + l1.hit_latency_cycles);
    let mut bounds = by_issue(config, 1, &kernel.work(config), bytes);
    bounds.push(Bound::new(bytes / f64::from(groups), "core.l1.line_bytes, core.l1.tag_banks lines a cycle"));
    if l1.banks > 0 {
        bounds.push(Bound::new(f64::from(4 * l1.banks), "core.l1.banks, 4 bytes of each a cycle"));
    }
    bounds.push(Bound::new(row_bytes(config), "core.wave_width, a row a cycle"));
    let pending = f64::from(config.core.lsu.pending_entries) * bytes;
    bounds.push(Bound::in_flight(pending, held, "core.lsu.pending_entries loads under way"));
    Ok(figure(name.to_owned(), rate.of(bytes), UNIT, &bounds, None))
}
