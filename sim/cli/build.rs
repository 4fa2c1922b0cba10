//! Makes two libraries, which the executable contains: that which programs load under `wave-sim run`, and one by which
//! `wave-sim nvcc` links them.
//!
//! `sim/runtime` is compiled as a static library, and linked with an assembly file that gives its functions their names in
//! CUDA and OpenCL. One library stands for several files of the vendors, so that a program that uses two of them has one
//! connection. Programs ask for functions of libcudart by version, so each has its name once for each version; a function
//! `wave13_NAME` takes the place of `wave_NAME` for version 13 alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Versions of libcudart: what functions of their own begin with, and the name of the version.
const VERSIONS: [(&str, &str); 3] =
    [("wave11_", "libcudart.so.11.0"), ("wave12_", "libcudart.so.12"), ("wave13_", "libcudart.so.13")];

/// The version that `dlsym` finds.
const DEFAULT_VERSION: &str = "libcudart.so.12";

fn main() {
    let sources = Path::new("../runtime/src");
    println!("cargo::rerun-if-changed={}", sources.display());
    println!("cargo::rerun-if-changed=build.rs");
    let environment = |name: &str| std::env::var(name).unwrap_or_default();
    let out = PathBuf::from(environment("OUT_DIR"));
    let (made, linked) = (out.join("libwave_runtime.so"), out.join("libcudart.so.12"));
    let (system, processor) = (environment("CARGO_CFG_TARGET_OS"), environment("CARGO_CFG_TARGET_ARCH"));
    let Some(jumps) = Jumps::of(&processor).filter(|_| system == "linux") else {
        // `wave-sim run` says that there is no library for this system.
        for library in [made, linked] {
            std::fs::write(library, []).expect("cargo's folder can be written");
        }
        return;
    };
    let archive = out.join("libwave_runtime.a");
    run(Command::new(environment("RUSTC"))
        .args(["--edition", "2024", "--crate-name", "wave_runtime", "--crate-type", "staticlib"])
        .args([
            "-C",
            "opt-level=s",
            "-C",
            "panic=abort",
            "-C",
            "relocation-model=pic",
            "-C",
            "codegen-units=1",
        ])
        .args(["--cap-lints", "allow", "--target", &environment("TARGET"), "-o"])
        .arg(&archive)
        .arg(sources.join("lib.rs")));
    let functions = Functions::of(sources);
    let (names, versions) = (out.join("names.s"), out.join("versions.map"));
    std::fs::write(&names, functions.assembly(&jumps)).expect("cargo's folder can be written");
    std::fs::write(&versions, functions.versions()).expect("cargo's folder can be written");
    run(compiler()
        .args(["-shared", "-Wl,-soname,libwave_runtime.so", "-Wl,--gc-sections", "-s", "-o"])
        .arg(&made)
        .arg(format!("-Wl,--version-script={}", versions.display()))
        .arg(&names)
        .arg(&archive)
        .args(["-lpthread", "-ldl", "-lm", "-lgcc_s"]));
    let (names, versions) = (out.join("names_only.s"), out.join("one_version.map"));
    std::fs::write(&names, functions.names()).expect("cargo's folder can be written");
    std::fs::write(&versions, functions.version()).expect("cargo's folder can be written");
    run(compiler()
        .args(["-shared", "-nostdlib", "-s", "-o"])
        .arg(&linked)
        .arg(format!("-Wl,-soname,{DEFAULT_VERSION}"))
        .arg(format!("-Wl,--version-script={}", versions.display()))
        .arg(&names));
}

/// The compiler that links.
fn compiler() -> Command {
    Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()))
}

fn run(command: &mut Command) {
    let status = command.status();
    assert!(status.as_ref().is_ok_and(|status| status.success()), "{command:?}: {status:?}");
}

/// How a processor goes on in another function.
struct Jumps {
    jump: &'static str,
    /// Loads an address as the first argument.
    load: fn(&str) -> String,
}

impl Jumps {
    fn of(processor: &str) -> Option<Jumps> {
        match processor {
            "x86_64" => Some(Jumps { jump: "jmp", load: |name| format!("lea {name}(%rip), %rdi") }),
            "aarch64" => {
                Some(Jumps { jump: "b", load: |name| format!("adrp x0, {name}\n add x0, x0, :lo12:{name}") })
            }
            _ => None,
        }
    }
}

/// The functions that the library has.
struct Functions {
    /// Names of CUDA's runtime API, with the symbol of each version.
    runtime: BTreeMap<String, BTreeMap<&'static str, String>>,
    /// Names of functions that the library lacks, and reports by name.
    missing: Vec<String>,
    /// Names of OpenCL, by the version of the standard that they belong to.
    opencl: BTreeMap<String, BTreeSet<String>>,
    /// Names of the driver API, which have no versions.
    others: BTreeSet<String>,
}

impl Functions {
    fn of(sources: &Path) -> Functions {
        let mut symbols = BTreeSet::new();
        collect(sources, &mut symbols);
        let mut runtime: BTreeMap<String, BTreeMap<&'static str, String>> = BTreeMap::new();
        let mut others = BTreeSet::new();
        for symbol in &symbols {
            let Some(name) = symbol.strip_prefix("wave_").filter(|name| *name != "missing") else { continue };
            if !name.trim_start_matches('_').starts_with("cuda") {
                others.insert(name.to_owned());
                continue;
            }
            let of_version = |(prefix, version): (&str, &'static str)| {
                let own = format!("{prefix}{name}");
                (version, if symbols.contains(&own) { own } else { symbol.clone() })
            };
            let symbols: BTreeMap<_, _> = VERSIONS.into_iter().map(of_version).collect();
            // With a default stream for each thread, functions have these names.
            for twin in [format!("{name}_ptsz"), format!("{name}_ptds")] {
                runtime.insert(twin, symbols.clone());
            }
            runtime.insert(name.to_owned(), symbols);
        }
        let list = |file: &str| std::fs::read_to_string(sources.join(file)).expect("the list is there");
        let missing = list("cuda/missing.txt").lines().map(str::to_owned).collect();
        let versions = list("opencl/versions.txt");
        let versions: BTreeMap<&str, &str> = versions
            .lines()
            .filter_map(|line| line.split_once(' ').map(|(version, name)| (name, version)))
            .collect();
        let (of_opencl, others) = others.into_iter().partition(|name: &String| name.starts_with("cl"));
        let mut opencl: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for name in BTreeSet::into_iter(of_opencl) {
            let version = versions.get(name.as_str()).copied().unwrap_or("OPENCL_1.0");
            opencl.entry(version.to_owned()).or_default().insert(name);
        }
        Functions { runtime, missing, opencl, others }
    }

    /// Each name as a function that jumps to its symbol.
    fn assembly(&self, Jumps { jump, load }: &Jumps) -> String {
        let mut text = ".text\n".to_owned();
        let mut place = |name: &str, version: &str, body: &str| {
            let local = format!("{name}__{}", version.replace('.', "_"));
            let at = if version == DEFAULT_VERSION { "@@" } else { "@" };
            _ = write!(text, ".globl {local}\n.type {local}, %function\n{local}:\n {body}\n");
            _ = writeln!(text, ".symver {local}, {name}{at}{version}, remove");
        };
        for (name, symbols) in &self.runtime {
            for (version, symbol) in symbols {
                place(name, version, &format!("{jump} {symbol}"));
            }
        }
        for name in &self.missing {
            for (_, version) in VERSIONS {
                place(name, version, &format!("{}\n {jump} wave_missing", load(&format!(".Lname_{name}"))));
            }
        }
        for name in self.others.iter().chain(self.opencl.values().flatten()) {
            _ = write!(text, ".globl {name}\n.type {name}, %function\n{name}:\n {jump} wave_{name}\n");
        }
        text += ".section .rodata\n";
        for name in &self.missing {
            _ = writeln!(text, ".Lname_{name}: .asciz \"{name}\"");
        }
        text + ".section .note.GNU-stack,\"\",%progbits\n"
    }

    /// The names of the runtime API as empty functions.
    fn names(&self) -> String {
        let mut text = ".text\n".to_owned();
        for name in self.runtime.keys().chain(&self.missing) {
            _ = write!(text, ".globl {name}\n.type {name}, %function\n{name}:\n");
        }
        text + " nop\n.section .note.GNU-stack,\"\",%progbits\n"
    }

    /// The version script of these names.
    fn version(&self) -> String {
        format!(
            "{DEFAULT_VERSION} {{ global: {}; local: *; }};\n",
            joined(self.runtime.keys().chain(&self.missing))
        )
    }

    /// The version script of the library: the linker makes these names visible.
    fn versions(&self) -> String {
        let runtime = joined(self.runtime.keys().chain(&self.missing));
        let mut text = String::new();
        for (_, version) in VERSIONS {
            _ = writeln!(text, "{version} {{ global: {runtime}; }};");
        }
        for (version, names) in &self.opencl {
            _ = writeln!(text, "{version} {{ global: {}; }};", joined(names.iter()));
        }
        text + &format!("WAVE_SIM {{ global: {}; local: *; }};\n", joined(self.others.iter()))
    }
}

/// Names in a version script.
fn joined<'a>(names: impl Iterator<Item = &'a String>) -> String {
    names.map(String::as_str).collect::<Vec<_>>().join("; ")
}

/// The symbols that the files in a folder export.
fn collect(folder: &Path, symbols: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("the sources are there") {
        let path = entry.expect("the sources are there").path();
        if path.is_dir() {
            collect(&path, symbols);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).expect("sources are text");
            let exported = text.split("export_name = \"").skip(1).filter_map(|rest| rest.split('"').next());
            symbols.extend(exported.map(str::to_owned));
        }
    }
}
