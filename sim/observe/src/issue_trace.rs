//! The trace of issue: one line per instruction, in the form of the reference emulator, with cycle, core and
//! mask added.

use std::io::{self, Write};
use wave_isa::WORD_BYTES;
use wave_isa::program::dis::Labels;
use wave_isa::program::disassemble_inst;
use wave_machine::core::probe::{Event, EventKind, Issued, Observer, Wants};
use wave_machine::core::uop::Kind;

/// Prints every instruction that leaves an instruction buffer.
#[derive(Debug)]
pub struct IssueTrace<W> {
    out: W,
    first_word: u32,
    labels: Labels,
    /// Hexadecimal digits of a mask.
    mask_digits: usize,
    /// The first write error. Nothing is written after it.
    error: Option<io::Error>,
}

impl<W: Write> IssueTrace<W> {
    /// A trace of a machine with `wave_width` lanes.
    pub fn new(out: W, wave_width: u32) -> IssueTrace<W> {
        let mask_digits = wave_width.div_ceil(4) as usize;
        IssueTrace { out, first_word: 0, labels: Labels::new(), mask_digits, error: None }
    }

    /// A kernel starts; its code begins at this word of the code section. A `heading` is printed first, as a
    /// comment.
    pub fn start(&mut self, first_word: u32, heading: Option<&str>) {
        self.first_word = first_word;
        if let (Some(heading), None) = (heading, &self.error) {
            self.error = writeln!(self.out, "# {heading}").err();
        }
    }

    /// Writes what is buffered.
    ///
    /// # Errors
    /// The first write error.
    pub fn finish(mut self) -> io::Result<()> {
        match self.error.take() {
            Some(error) => Err(error),
            None => self.out.flush(),
        }
    }
}

impl<W: Write> Observer for IssueTrace<W> {
    fn wants(&self) -> Wants {
        Wants::of(&[EventKind::Issued])
    }

    fn event(&mut self, event: &Event<'_>) {
        if let Event::Issued(issued) = event {
            self.issued(issued);
        }
    }
}

impl<W: Write> IssueTrace<W> {
    fn issued(&mut self, issued: &Issued<'_>) {
        let &Issued { event, workgroup, wave, op, mask, .. } = issued;
        if self.error.is_some() || op.kind == Kind::End {
            return;
        }
        let text = match op.kind {
            Kind::Illegal(why) => format!("illegal instruction: {why}"),
            _ => disassemble_inst(&op.inst, &self.labels),
        };
        let [x, y, z] = workgroup;
        let pc = (self.first_word + event.word) * WORD_BYTES;
        self.error = writeln!(
            self.out,
            "{:>8} core[{}] wg({x},{y},{z}) wave[{wave}] pc=0x{pc:04x} mask={mask:0digits$x}: {text}",
            event.cycle,
            event.core,
            digits = self.mask_digits,
        )
        .err();
    }
}
