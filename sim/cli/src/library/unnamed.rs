//! Kernels that are in no file of the user's.

use wave_files::reason;
use wave_files::temporary::TemporaryFolder;
use wave_isa::diagnostic::{Diagnostic, Place};
use wave_isa::program::Program;

/// A text as a file that the user does not know of. Messages leave out its folder.
pub(super) struct Unnamed {
    folder: TemporaryFolder,
    file: String,
}

impl Unnamed {
    /// Writes the file.
    ///
    /// # Errors
    /// It cannot be written, or these are no parts of a file name.
    pub(super) fn new(name: &str, extension: &str, bytes: &[u8]) -> Result<Unnamed, Diagnostic> {
        let plain =
            |part: &str| !part.is_empty() && !part.contains(['/', '\\', '\0']) && !part.starts_with('.');
        let file = format!("{name}.{extension}");
        if !plain(name) || !plain(extension) {
            return Err(Diagnostic::error(format!("`{file}` is no file name")));
        }
        let made = TemporaryFolder::scratch();
        let written =
            made.and_then(|folder| std::fs::write(folder.path().join(&file), bytes).map(|()| folder));
        match written {
            Ok(folder) => Ok(Unnamed { folder, file }),
            Err(error) => {
                let message = format!("the text of `{file}` cannot be written to a file: {}", reason(&error));
                Err(Diagnostic::error(message))
            }
        }
    }

    /// Its path.
    pub(super) fn word(&self) -> String {
        self.folder.path().join(&self.file).to_string_lossy().into_owned()
    }

    fn forget(&self, text: &str) -> String {
        let folder = self.folder.path().to_string_lossy();
        text.replace(&format!("{folder}{}", std::path::MAIN_SEPARATOR), "")
    }

    /// Messages without its folder.
    pub(super) fn forget_all(&self, diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let forget = |diagnostic: Diagnostic| Diagnostic {
            message: self.forget(&diagnostic.message),
            place: diagnostic.place.map(|place| Place { file: self.forget(&place.file), ..place }),
            hint: diagnostic.hint.map(|hint| self.forget(&hint)),
            ..diagnostic
        };
        diagnostics.into_iter().map(forget).collect()
    }

    /// Names of files without its folder.
    pub(super) fn forget_in(&self, program: &mut Program) {
        if let Some(source) = &mut program.source {
            source.file = self.forget(&source.file);
        }
        if let Some(module) = &mut program.module {
            module.file = self.forget(&module.file);
        }
    }
}
