//! A working folder, a command run in it, and a simple kernel.

use assert_cmd::Command;
use std::path::PathBuf;
use tempfile::TempDir;

/// out[i] = in[i] + r2 for workgroups of 16 threads; in at r0, out at r1.
pub(crate) const ADD: &str = "\
.kernel add
.registers 8
.workgroup_size 16, 1, 1
    mov_sr  r3, sr_thread_id_x
    mov_imm r4, 2
    shl     r3, r3, r4
    iadd    r4, r0, r3
    device_load_u32 r5, r4
    iadd    r5, r5, r2
    iadd    r4, r1, r3
    device_store_u32 r4, r5
.end
";

/// A folder that is removed at the end of the test.
pub(crate) struct Scratch(TempDir);

/// Result of a command.
pub(crate) struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// [`ADD`] without a workgroup size of its own: `--workgroup` decides.
pub(crate) fn add_of_any_size() -> String {
    let source = ADD.replace(".workgroup_size 16, 1, 1\n", "");
    assert_ne!(source, ADD);
    source
}

impl Scratch {
    pub(crate) fn new() -> Scratch {
        Scratch(TempDir::new().unwrap())
    }

    /// A folder with these files.
    pub(crate) fn with(files: &[(&str, &str)]) -> Scratch {
        let scratch = Scratch::new();
        for (name, text) in files {
            scratch.write(name, text.as_bytes());
        }
        scratch
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// Runs `wave-sim` in the folder with these arguments, separated by blanks.
    pub(crate) fn run(&self, arguments: &str) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wave-sim"));
        command.current_dir(self.0.path()).args(arguments.split_whitespace());
        let output = command.output().unwrap();
        // A panic gives 101, and a signal gives no code.
        let code = output.status.code().expect("no signal");
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let ran = Ran { code, out: text(output.stdout), err: text(output.stderr) };
        assert_ne!(code, 101, "wave-sim {arguments}: {}", ran.err);
        ran
    }

    /// As `run`, for commands that must succeed. Returns standard output.
    pub(crate) fn out(&self, arguments: &str) -> String {
        let ran = self.run(arguments);
        assert_eq!(ran.code, 0, "wave-sim {arguments}: {}", ran.err);
        ran.out
    }
}

/// Standard error without the lines that differ between runs: the speed of the host.
pub(crate) fn without_host(err: &str) -> String {
    err.lines().filter(|line| !line.starts_with("host: ")).map(|line| format!("{line}\n")).collect()
}
