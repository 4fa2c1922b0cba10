//! A folder to work in, and a terminal in it.

use assert_cmd::Command;
use std::path::PathBuf;
use tempfile::TempDir;

/// A folder that goes away with the test.
pub struct Scratch(TempDir);

/// What a command left behind.
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Scratch {
    pub fn new() -> Scratch {
        Scratch(TempDir::new().unwrap())
    }

    /// A folder with these files.
    pub fn with(files: &[(&str, &str)]) -> Scratch {
        let scratch = Scratch::new();
        for (name, text) in files {
            scratch.write(name, text.as_bytes());
        }
        scratch
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// Runs `wave-sim` here with these arguments, in one string.
    pub fn run(&self, arguments: &str) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wave-sim"));
        command.current_dir(self.0.path()).args(arguments.split_whitespace());
        let output = command.output().unwrap();
        // A panic ends with 101, a signal with none.
        let code = output.status.code().expect("no signal");
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let ran = Ran { code, out: text(output.stdout), err: text(output.stderr) };
        assert_ne!(code, 101, "wave-sim {arguments}: {}", ran.err);
        ran
    }

    /// The same for what has to succeed; gives standard output.
    pub fn out(&self, arguments: &str) -> String {
        let ran = self.run(arguments);
        assert_eq!(ran.code, 0, "wave-sim {arguments}: {}", ran.err);
        ran.out
    }
}

/// Standard error without what differs from run to run: how fast the host was.
pub fn without_host(err: &str) -> String {
    err.lines().filter(|line| !line.starts_with("host: ")).map(|line| format!("{line}\n")).collect()
}
