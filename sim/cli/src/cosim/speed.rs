//! Speed of the simulator compared with the Verilated core, on the same launches with the same memory side.

use super::super::terminal::Terminal;
use super::super::{Ended, Exit};
use super::{Bench, no_temporary};
use comfy_table::{CellAlignment, Table, presets};
use std::time::{Duration, Instant};
use wave_files::temporary::TemporaryFile;
use wave_isa::diagnostic::Diagnostic;
use wave_machine::clock::Cycle;
use wave_study::launch::suite;
use wave_verify::rtl::{Beginning, Cosim, End};

/// Time for which the simulator repeats a launch.
const REPEATED: Duration = Duration::from_millis(300);
/// Factor on the patience: the other side writes nothing until it ends.
const PATIENCE: u32 = 20;
/// Tells the core to write nothing but the end.
pub(super) const QUIET: &str = "+quiet";

/// Times of one kernel, all its launches.
#[derive(Debug, Clone, Copy, Default)]
struct Times {
    cycles: Cycle,
    simulator: Duration,
    other: Duration,
}

impl Times {
    fn add(&mut self, other: Times) {
        self.cycles += other.cycles;
        self.simulator += other.simulator;
        self.other += other.other;
    }

    fn row(&self, name: &str) -> [String; 5] {
        let rate = |time: Duration| format!("{:.0}", self.cycles as f64 / time.as_secs_f64().max(1e-9) / 1e3);
        let ratio = self.other.as_secs_f64() / self.simulator.as_secs_f64().max(1e-9);
        [name.into(), self.cycles.to_string(), rate(self.simulator), rate(self.other), format!("{ratio:.1}")]
    }
}

/// Prints thousand cycles a second of both sides for each kernel, and how many times faster the simulator is.
pub(super) fn run(bench: &Bench<'_>, terminal: &Terminal) -> Ended {
    let named = &bench.args.kernels;
    let kernels: Vec<String> = match named.is_empty() {
        true => suite().map(str::to_owned).collect(),
        false => named.clone(),
    };
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["kernel", "cycles", "simulator kcycles/s", "RTL kcycles/s", "ratio"]);
    let mut all = Times::default();
    for word in &kernels {
        let Ok(work) = bench.work(word, terminal)? else { continue };
        let (script, beginning) = (bench.script(), Beginning::default());
        let mut times = Times::default();
        bench.steps(&work, |step| {
            let cosim = bench.cosim(&work.program, step.launch, &step.memory, &script, &beginning);
            times.add(launch(bench, &step.title, &cosim)?);
            Ok(())
        })?;
        table.add_row(times.row(&work.name));
        all.add(times);
    }
    table.add_row(all.row("all"));
    table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    terminal.out(&format!("{}\n", table.trim_fmt()))?;
    if cfg!(debug_assertions) {
        terminal.err("this program was built without optimization: the simulator's speed is not its speed\n");
    }
    Ok(Exit::Success)
}

fn launch(bench: &Bench<'_>, title: &str, cosim: &Cosim<'_>) -> Result<Times, Vec<Diagnostic>> {
    let failed = |what: String| vec![Diagnostic::error(format!("{title}: {what}"))];
    let since = Instant::now();
    let mut runs = 0;
    let cycles = loop {
        let end = cosim.simulate(None).map_err(|why| failed(why.to_string()))?;
        runs += 1;
        let End::Over(last, _) = end else {
            return Err(failed("the simulator does not come to its end".to_owned()));
        };
        if since.elapsed() >= REPEATED {
            break last + 1;
        }
    };
    let simulator = since.elapsed() / runs;
    let stimulus = TemporaryFile::scratch().map_err(|e| no_temporary(&e))?;
    let arguments: Vec<&str> = cosim.arguments.iter().copied().chain([QUIET]).collect();
    let cosim = Cosim { arguments: &arguments, patience: cosim.patience * PATIENCE, ..cosim.clone() };
    let since = Instant::now();
    let ended = cosim.run_other(bench.executable, stimulus.path()).map_err(failed)?;
    let other = since.elapsed();
    if ended + 1 != cycles {
        return Err(failed(format!("the sides end in cycles {} and {ended}: they differ", cycles - 1)));
    }
    Ok(Times { cycles, simulator, other })
}
