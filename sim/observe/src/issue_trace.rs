//! The trace of issue: one line per instruction, in the form of the reference emulator, with cycle, core and
//! mask added.

use crate::per_core::{in_order, lock, most};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use wave_isa::WORD_BYTES;
use wave_isa::program::dis::Labels;
use wave_isa::program::disassemble_inst;
use wave_machine::clock::{Cycle, NEVER};
use wave_machine::config::Config;
use wave_machine::core::probe::{Event, EventKind, Issued, Observer, OfCore, Wants};
use wave_machine::core::uop::Kind;
use wave_machine::gpu::{KernelReport, RunError};

/// Prints every instruction that leaves an instruction buffer, in the order of cycles and then of cores.
#[derive(Debug)]
pub struct IssueTrace<W> {
    out: W,
    cores: Vec<Arc<Mutex<Lines>>>,
    /// Set when the lines of a core should be written.
    full: Arc<AtomicBool>,
    /// The first write error. Nothing is written after it.
    error: Option<io::Error>,
}

/// The lines of one core that are not written yet.
#[derive(Debug)]
struct Lines {
    core: u32,
    first_word: u32,
    labels: Labels,
    /// Hexadecimal digits of a mask.
    mask_digits: usize,
    text: String,
    /// Cycle of each line, and its end in `text`.
    lines: Vec<(Cycle, usize)>,
    full: Arc<AtomicBool>,
    /// Bytes of `text` from which on it should be written.
    most: usize,
}

impl<W: Write> IssueTrace<W> {
    /// A trace of this machine.
    pub fn new(out: W, config: &Config) -> IssueTrace<W> {
        let full = Arc::new(AtomicBool::new(false));
        let lines = |core| Lines {
            core,
            first_word: 0,
            labels: Labels::new(),
            mask_digits: config.core.wave_width.div_ceil(4) as usize,
            text: String::new(),
            lines: Vec::new(),
            full: full.clone(),
            most: most(config.cores),
        };
        let cores = (0..config.cores).map(|core| Arc::new(Mutex::new(lines(core)))).collect();
        IssueTrace { out, cores, full, error: None }
    }

    /// A kernel starts; its code begins at this word of the code section. A `heading` is printed first, as a
    /// comment.
    pub fn start(&mut self, first_word: u32, heading: Option<&str>) {
        self.cores.iter().for_each(|core| lock(core).first_word = first_word);
        if let (Some(heading), None) = (heading, &self.error) {
            self.error = writeln!(self.out, "# {heading}").err();
        }
    }

    /// The kernel has ended, or failed. After a fault, cores that were simulated further than the core at fault have
    /// lines of later cycles, which are dropped.
    pub fn end(&mut self, ended: Result<&KernelReport, &RunError>) {
        self.write(match ended {
            Err(RunError::Fault(fault)) => fault.cycle.unwrap_or(NEVER),
            _ => NEVER,
        });
    }

    /// Writes what is buffered.
    ///
    /// # Errors
    /// The first write error.
    pub fn finish(mut self) -> io::Result<()> {
        self.write(NEVER);
        match self.error.take() {
            Some(error) => Err(error),
            None => self.out.flush(),
        }
    }

    /// Writes the lines up to cycle `last`, and drops others.
    fn write(&mut self, last: Cycle) {
        self.full.store(false, Ordering::Relaxed);
        let mut cores: Vec<_> = self.cores.iter().map(|core| lock(core)).collect();
        let places = in_order(cores.iter().map(|core| core.lines.iter().map(|&(cycle, _)| cycle)));
        for (_, core, line) in places.into_iter().take_while(|&(cycle, ..)| cycle <= last) {
            if self.error.is_some() {
                break;
            }
            self.error = self.out.write_all(cores[core as usize].line(line).as_bytes()).err();
        }
        for core in &mut cores {
            core.text.clear();
            core.lines.clear();
        }
    }
}

impl Lines {
    /// A line, with its end.
    fn line(&self, line: usize) -> &str {
        let from = line.checked_sub(1).map_or(0, |before| self.lines[before].1);
        &self.text[from..self.lines[line].1]
    }

    fn issued(&mut self, issued: &Issued<'_>) {
        let &Issued { event, workgroup, wave, op, mask, .. } = issued;
        if op.kind == Kind::End {
            return;
        }
        let instruction = match op.kind {
            Kind::Illegal(why) => format!("illegal instruction: {why}"),
            _ => disassemble_inst(&op.inst, &self.labels),
        };
        let [x, y, z] = workgroup;
        let pc = (self.first_word + event.word) * WORD_BYTES;
        let written = writeln!(
            self.text,
            "{:>8} core[{}] wg({x},{y},{z}) wave[{wave}] pc=0x{pc:04x} mask={mask:0digits$x}: {instruction}",
            event.cycle,
            self.core,
            digits = self.mask_digits,
        );
        debug_assert!(written.is_ok(), "a string takes all that is written to it");
        self.lines.push((event.cycle, self.text.len()));
        if self.text.len() > self.most {
            self.full.store(true, Ordering::Relaxed);
        }
    }
}

impl Observer for Lines {
    fn wants(&self) -> Wants {
        Wants::of(&[EventKind::Issued])
    }

    fn event(&mut self, event: &Event<'_>) {
        if let Event::Issued(issued) = event {
            self.issued(issued);
        }
    }
}

impl<W: Write> Observer for IssueTrace<W> {
    fn wants(&self) -> Wants {
        Wants::NONE
    }

    fn of_cores(&self) -> Vec<Vec<OfCore>> {
        vec![self.cores.iter().map(|core| core.clone() as OfCore).collect()]
    }

    fn event(&mut self, _: &Event<'_>) {}

    fn advanced(&mut self, _: Cycle) -> ControlFlow<()> {
        if self.full.load(Ordering::Relaxed) {
            self.write(NEVER);
        }
        ControlFlow::Continue(())
    }
}
