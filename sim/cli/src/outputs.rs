//! What a run leaves of device memory: dumps and saved bytes. They are checked before the run.

use super::address::Save;
use super::args::OutputArgs;
use super::dumps::Dump;
use super::files;
use super::memory_map::MemoryMap;
use super::terminal::Terminal;
use super::work::region;
use std::ops::Range;
use wave_isa::diagnostic::Diagnostic;

/// Dumps and saves with the bytes that they show.
#[derive(Debug, Default)]
pub(crate) struct Outputs {
    dumps: Vec<(Dump, Range<u64>)>,
    saves: Vec<(Save, Range<u64>)>,
}

/// Rejects outputs that are impossible whatever runs: bytes behind the end of device memory, files that cannot be written.
///
/// # Errors
/// A message for each.
pub(crate) fn check(args: &OutputArgs, device_memory: u64) -> Result<(), Vec<Diagnostic>> {
    let inside = |flag: &str, range: Option<Range<u64>>| {
        let range = range?;
        region(flag, range.start, range.end - range.start, device_memory).err()
    };
    let dumps = args.dumps.0.iter().map(|dump| inside(&dump.flag(), dump.span().known()));
    let saves = args
        .save
        .iter()
        .flat_map(|save| [inside("--save", save.span.known()), files::cannot_write(&save.file, "--save")]);
    let wrong: Vec<Diagnostic> = dumps.chain(saves).flatten().collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

impl Outputs {
    /// The outputs of a run, which has `size` bytes of device memory.
    ///
    /// # Errors
    /// A message for each that names no buffer, or bytes without a meaning.
    pub(crate) fn of(args: &OutputArgs, map: &MemoryMap, size: u64) -> Result<Outputs, Vec<Diagnostic>> {
        let mut wrong = Vec::new();
        let mut outputs = Outputs::default();
        for dump in &args.dumps.0 {
            match dump.span().resolve(&dump.flag(), map, size) {
                Ok(range) => outputs.dumps.push((dump.clone(), range)),
                Err(error) => wrong.push(error),
            }
        }
        for save in &args.save {
            match save.span.resolve("--save", map, size) {
                Ok(range) => outputs.saves.push((save.clone(), range)),
                Err(error) => wrong.push(error),
            }
        }
        if wrong.is_empty() { Ok(outputs) } else { Err(wrong) }
    }

    /// Dumps to standard output, saves to files.
    ///
    /// # Errors
    /// What cannot be written.
    pub(crate) fn write(&self, memory: &[u8], terminal: &Terminal) -> Result<(), Vec<Diagnostic>> {
        for (dump, range) in &self.dumps {
            terminal.out(&dump.text(range, memory))?;
        }
        for (save, range) in &self.saves {
            files::write(&save.file, &memory[range.start as usize..range.end as usize], "--save")?;
        }
        Ok(())
    }
}
