//! The core of `rtl-tests/` as a Verilator model.

use super::verilate::{BuildError, Model};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use wave_machine::config::Config;

/// Variant of the core to build.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variant {
    /// Wave slots, if different from `configs/rtl.ron`.
    pub waves: Option<u32>,
    /// Build with planted bugs, of which `+bug=n` selects one.
    pub bugs: bool,
    /// Build with waveforms.
    pub fst: bool,
    /// Build with line coverage.
    pub lines: bool,
    /// Build with counts of events and operands.
    pub events: bool,
}

/// Wave slots in the sources.
const WAVES: u32 = 32;

/// Wave slots of the small variant, for quick runs.
pub const SMALL_WAVES: u32 = 4;

/// A machine with the wave slots of the small variant and their share of the register file, which is less than a file
/// may state: it does not hold the workgroups that the instruction set requires.
pub fn small(mut config: Config) -> Config {
    config.core.register_file_bytes = config.core.register_file_bytes / WAVES * SMALL_WAVES;
    config.core.max_waves = SMALL_WAVES;
    config.name += "-small";
    config
}

/// The directory of the RTL in the source tree of this crate.
pub fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rtl-tests")
}

/// The model of the core and its test bench.
///
/// # Errors
/// If the directory cannot be read.
pub fn wave_core(rtl_tests: &Path, variant: &Variant) -> Result<Model, BuildError> {
    let rtl = rtl_tests.join("rtl");
    let units = rtl.join("units");
    let mut sources: Vec<PathBuf> =
        ["lint.vlt", "wave_isa_pkg.sv", "wave_core_pkg.sv"].iter().map(|f| rtl.join(f)).collect();
    for directory in [&rtl, &units] {
        if !directory.is_dir() {
            continue;
        }
        let at = |error| BuildError::File(directory.clone(), error);
        let mut files = Vec::new();
        for entry in fs::read_dir(directory).map_err(at)? {
            files.push(entry.map_err(at)?.path());
        }
        files.retain(|f| f.extension().is_some_and(|e| e == "sv") && !sources.contains(f));
        // Packages come before the files that use them.
        files.sort_by_key(|f| (!f.to_string_lossy().ends_with("_pkg.sv"), f.clone()));
        sources.append(&mut files);
    }
    for file in ["bench/wave_bench.sv", "bench/bench.cpp"] {
        sources.push(rtl_tests.join(file));
    }
    if variant.events {
        sources.push(rtl_tests.join("bench/events.cpp"));
    }
    let sources = sources.into_iter().map(|f| f.canonicalize().map_err(|e| BuildError::File(f, e)));
    let mut arguments = vec!["-Wall".to_owned()];
    arguments.extend(variant.waves.filter(|&n| n != WAVES).map(|n| format!("-DWAVE_MAX_WAVES={n}")));
    if variant.bugs {
        arguments.push("-DBUGS".to_owned());
    }
    arguments.push("--assert".to_owned());
    if variant.fst {
        arguments.push("--trace-fst".to_owned());
    }
    if variant.lines {
        arguments.push("--coverage-line".to_owned());
    }
    if variant.events {
        arguments.extend(["-DEVENTS", "-CFLAGS", "-DEVENTS=1"].map(str::to_owned));
    }
    Ok(Model {
        name: "wave_bench".to_owned(),
        top: "wave_bench".to_owned(),
        sources: sources.collect::<Result<_, _>>()?,
        includes: vec![rtl],
        arguments,
    })
}

/// The numbers of the bugs planted in the core's sources as `BUG(n)`. Empty if there are no sources.
pub fn planted_bugs(rtl_tests: &Path) -> BTreeSet<u32> {
    let files = ["rtl", "rtl/units"].map(|folder| fs::read_dir(rtl_tests.join(folder)));
    let files = files.into_iter().flatten().flatten().flatten().map(|entry| entry.path());
    let mut numbers = BTreeSet::new();
    for file in files.filter(|file| file.extension().is_some_and(|e| e == "sv")) {
        let text = fs::read_to_string(file).unwrap_or_default();
        let places = text.split("`BUG(").skip(1);
        numbers.extend(places.filter_map(|rest| rest.split(')').next()?.parse::<u32>().ok()));
    }
    numbers
}
