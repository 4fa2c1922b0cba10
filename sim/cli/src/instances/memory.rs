//! The linear memories of instances: files that they begin with, and files that they go to.

use super::Instances;
use crate::{files, inputs};
use std::path::{Path, PathBuf};
use wave_compile::batch::Batch;
use wave_isa::diagnostic::Diagnostic;

/// The flag, in messages.
const SAVE: &str = "--instance-save";
/// The flag, in messages.
const LOAD: &str = "--instance-load";
/// What stands for the number of a thread in the name of a file.
const THREAD: &str = "{thread}";

/// The file for the memory of a thread.
fn of_thread(file: &Path, thread: usize) -> PathBuf {
    PathBuf::from(file.to_string_lossy().replace(THREAD, &thread.to_string()))
}

/// Makes sure that the memories of so many instances can be written.
pub(super) fn check_save(file: &Path, batch: &Batch, instances: u64) -> Result<(), Diagnostic> {
    if batch.most_memory_bytes().is_none() {
        return Err(Diagnostic::error(format!("{SAVE}: `{}` has no memory", batch.source().file)));
    }
    let has_thread = file.to_string_lossy().contains(THREAD);
    if instances > 1 && !has_thread {
        let message =
            format!("{SAVE}: {instances} instances have a memory each, and `{}` is one file", file.display());
        let hint = format!("{THREAD} in its name gives each a file; --workgroup 1 runs one instance");
        return Err(Diagnostic::error(message).hint(hint));
    }
    files::cannot_write(&of_thread(file, 0), SAVE).map_or(Ok(()), Err)
}

/// The linear memories begin with the contents of a file.
pub(super) fn load(batch: &mut Batch, file: &Path) -> Result<(), Diagnostic> {
    let Some(most) = batch.most_memory_bytes() else {
        return Err(Diagnostic::error(format!("{LOAD}: `{}` has no memory", batch.source().file)));
    };
    let bytes = inputs::read(file, most.saturating_add(1), LOAD)?;
    if bytes.len() as u64 > most {
        let message = format!(
            "{LOAD}: `{}` has more bytes than the memory of an instance may have: {most}",
            file.display()
        );
        return Err(
            Diagnostic::error(message).hint("--instance-memory lets it grow further, if the module grows it")
        );
    }
    batch.load(&bytes);
    Ok(())
}

impl Instances {
    /// Writes the linear memories where the flags say.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(crate) fn save(&self, memory: &mut [u8]) -> Result<(), Vec<Diagnostic>> {
        let Some(file) = &self.save else { return Ok(()) };
        let mut saved = Ok(());
        self.batch.memories(&self.launch, self.wave_width, self.start, memory, &mut |thread, bytes| {
            if saved.is_ok() {
                saved = files::write(&of_thread(file, thread), &bytes, SAVE);
            }
        });
        saved
    }
}
