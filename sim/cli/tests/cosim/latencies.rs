//! Each latency of the core is changed on one side alone, in `configs/rtl.ron` or in the RTL. The comparison
//! must fail at the first instruction affected and name the stage.

use crate::bench::{Case, SMALL_WAVES, config, core, small_config};
use crate::directed::{self, kernel};
use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::Path;
use wave_isa::ExecClass;
use wave_machine::config::Config;
use wave_verify::rtl::{self, Disagreement, Mode, Variant};

/// A parameter, the code around the first instruction that depends on it, that instruction, and the stage
/// whose cycle changes.
struct Latency {
    parameter: String,
    /// Its name in `wave_core_pkg.sv`.
    number: String,
    change: Box<dyn Fn(&mut Config)>,
    lines: &'static str,
    first: &'static str,
    stage: &'static str,
}

/// The first instructions of every program.
const FIRST: &str = "mov_imm r2, 40";
const SECOND: &str = "mov_imm r3, 6";

/// For each class: the class, an instruction, and the stage whose cycle changes.
const CLASSES: &[(ExecClass, &str, &str)] = &[
    (ExecClass::Int, "iadd r4, r2, r3", "write-back"),
    (ExecClass::IntMul, "imul r4, r2, r3", "write-back"),
    (ExecClass::Convert, "cvt_f32_i32 r4, r2", "write-back"),
    (ExecClass::Wave, "wave_reduce_add r4, r2", "write-back"),
    (ExecClass::IntDiv, "idiv r4, r2, r3", "write-back"),
    (ExecClass::Fp32Div, "fdiv r4, r2, r3", "write-back"),
    (ExecClass::Fp32, "fadd r4, r2, r3", "write-back"),
    (ExecClass::Fp16, "hadd r4, r2, r3", "write-back"),
    (ExecClass::Sfu, "fsin r4, r2", "write-back"),
];

fn latency(
    parameter: &str,
    lines: &'static str,
    first: &'static str,
    stage: &'static str,
    change: fn(&mut Config),
) -> Latency {
    let number = parameter.trim_start_matches("core.").replace('.', "_").to_uppercase();
    Latency { parameter: parameter.to_owned(), number, change: Box::new(change), lines, first, stage }
}

impl Latency {
    /// The first two instructions are of class int. A change of its latency delays the result of the first, a
    /// change of its interval delays the second.
    fn expected(&self) -> (&'static str, &'static str) {
        match self.parameter.split_once(" int ") {
            Some((_, "latency_cycles")) => (FIRST, self.stage),
            Some(_) => (SECOND, "execute"),
            None => (self.first, self.stage),
        }
    }

    fn case(&self) -> Case {
        Case::of(&kernel(&format!("{FIRST}\n{SECOND}\nwait\n{}", self.lines)), 8)
    }

    /// Runs a case with different latencies on the two sides. Returns what is wrong with the report.
    fn wrong(&self, case: &Case, core: &Path) -> Option<String> {
        let (first, stage) = self.expected();
        match case.run_on(core, Mode::Cycle) {
            Err(Disagreement::Differs { stage: moved, report, .. }) => {
                let told = report.lines().find(|line| line.contains("  only the ")).unwrap_or_default();
                let right = moved == stage && told.contains(first);
                (!right).then(|| {
                    format!("{}: {stage} of `{first}` expected, and not {moved}: {told}\n", self.parameter)
                })
            }
            other => Some(format!("{}: {other:?}\n", self.parameter)),
        }
    }
}

fn latencies() -> Vec<Latency> {
    let mut all = vec![
        // The wave asks for its code.
        latency("dispatcher.latency_cycles", "nop", "read of code line", "packet", |c| {
            c.dispatcher.latency_cycles += 1;
        }),
        latency("core.fetch.icache_latency_cycles", "nop", FIRST, "decode", |c| {
            c.core.fetch.icache_latency_cycles += 1;
        }),
        latency("core.branch_latency_cycles", "nop\nif p1\nnop\nendif", "nop", "issue", |c| {
            c.core.branch_latency_cycles += 1;
        }),
        latency(
            "core.local.latency_cycles",
            "nop\nlocal_load_u32 r4, r5",
            "local_load_u32 r4, r5",
            "write-back",
            |c| {
                c.core.local.latency_cycles += 1;
            },
        ),
        latency(
            "core.l1.hit_latency_cycles",
            "device_load_u32 r4, r5\niadd r6, r4, r4\ndevice_load_u32 r7, r5",
            "device_load_u32 r7, r5",
            "write-back",
            |c| c.core.l1.hit_latency_cycles += 1,
        ),
    ];
    for &(class, first, stage) in CLASSES {
        let timing = move |c: &mut Config, change: fn(&mut u32, &mut u32)| {
            let classes = c.core.units.iter_mut().flat_map(|unit| &mut unit.classes);
            let timing = classes.filter(|t| t.class == class).last().expect("a unit serves the class");
            change(&mut timing.latency_cycles, &mut timing.passes);
        };
        let name = class.name();
        all.push(Latency {
            parameter: format!("core.units[].classes[] {name} latency_cycles"),
            number: format!("{}_LATENCY_CYCLES", name.to_uppercase()),
            change: Box::new(move |c| timing(c, |latency, _| *latency += 1)),
            lines: first,
            first,
            stage,
        });
        all.push(Latency {
            parameter: format!("core.units[].classes[] {name} passes"),
            number: format!("{}_PASSES", name.to_uppercase()),
            change: Box::new(move |c| timing(c, |_, passes| *passes += 1)),
            lines: first,
            first,
            stage,
        });
    }
    for (name, first) in
        [("int", CLASSES[0].1), ("div", CLASSES[5].1), ("fp32", CLASSES[6].1), ("sfu", CLASSES[8].1)]
    {
        all.push(Latency {
            parameter: format!("core.units[] {name} lanes"),
            number: format!("UNIT_{}_LANES", name.to_uppercase()),
            change: Box::new(move |c| {
                let unit = c.core.units.iter_mut().find(|unit| unit.name == name).expect("the unit");
                unit.lanes /= 2;
            }),
            lines: first,
            first,
            stage: "write-back",
        });
    }
    all
}

#[test]
fn a_latency_of_the_simulator_alone_fails_at_the_first_instruction_that_it_concerns() {
    let Some(core) = core() else { return };
    let mut wrong = String::new();
    for latency in latencies() {
        let mut case = latency.case();
        case.agrees();
        (latency.change)(&mut case.config);
        wrong += &latency.wrong(&case, core).unwrap_or_default();
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Names the executable for a changed number. Numbers that no program depends on together share an
/// executable. Every program depends on the numbers of class int and on those of the stages before the units.
fn build_of(number: &str) -> &str {
    let everywhere = ["INT_LATENCY_CYCLES", "INT_PASSES", "UNIT_INT_LANES", "BRANCH_LATENCY_CYCLES"];
    let before = ["DISPATCHER_", "FETCH_"].iter().any(|block| number.starts_with(block));
    match number.rsplit('_').next() {
        _ if before || everywhere.contains(&number) => number,
        Some(kind) => kind,
        None => number,
    }
}

#[test]
#[ignore = "builds other executables, which takes minutes: --ignored"]
fn a_latency_of_the_rtl_alone_fails_at_the_first_instruction_that_it_concerns() {
    if rtl::skipped() {
        return;
    }
    let mut builds: BTreeMap<String, Vec<Latency>> = BTreeMap::new();
    for latency in latencies() {
        builds.entry(build_of(&latency.number).to_owned()).or_default().push(latency);
    }
    let mut wrong = String::new();
    for (name, latencies) in builds {
        println!("{name}: {} numbers", latencies.len());
        let directory = tempfile::tempdir().expect("a directory");
        sources_with(&latencies, directory.path());
        let variant = Variant { waves: Some(SMALL_WAVES), ..Variant::default() };
        let mut model = rtl::wave_core(directory.path(), &variant).expect("the sources");
        // The run takes only a few hundred cycles.
        model.arguments.extend(["-MAKEFLAGS", "OPT_FAST=-O0"].map(str::to_owned));
        let core = rtl::build(&model, &directory.path().join("build")).unwrap_or_else(|e| panic!("{e}"));
        let mut same = small_config();
        for latency in &latencies {
            let case = Case { config: small_config(), ..latency.case() };
            wrong += &latency.wrong(&case, &core).unwrap_or_default();
            (latency.change)(&mut same);
        }
        // With the change on both sides, they agree.
        for (stresses, lines) in directed::kernels() {
            let case = Case { config: same.clone(), ..Case::of(&directed::kernel(lines), 29) };
            if let Err(difference) = case.run_on(&core, Mode::Cycle) {
                wrong += &format!("{name} on both sides, {stresses}: {difference}\n");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Writes the RTL sources to `directory` with these numbers increased by one, or half of the lanes.
fn sources_with(latencies: &[Latency], directory: &Path) {
    let original = rtl::directory().canonicalize().expect("the RTL");
    std::fs::create_dir(directory.join("rtl")).expect("a directory");
    symlink(original.join("bench"), directory.join("bench")).expect("a link");
    for entry in std::fs::read_dir(original.join("rtl")).expect("the sources") {
        let path = entry.expect("a file").path();
        symlink(&path, directory.join("rtl").join(path.file_name().expect("a name"))).expect("a link");
    }
    let package = directory.join("rtl/wave_core_pkg.sv");
    let mut text = std::fs::read_to_string(&package).expect("the package");
    for Latency { number, .. } in latencies {
        let start = format!("  localparam int {number} = ");
        let (before, rest) = text.split_once(&start).unwrap_or_else(|| panic!("there is no {number}"));
        let (value, after) = rest.split_once(';').expect("a value");
        let value: u32 = value.parse().expect("a number");
        let other = if number.ends_with("_LANES") { value / 2 } else { value + 1 };
        text = format!("{before}{start}{other};{after}");
    }
    std::fs::remove_file(&package).expect("the link");
    std::fs::write(&package, text).expect("the package");
}

/// Checks that the list above contains every latency of the core.
#[test]
fn every_latency_of_the_core_is_changed() {
    let config = config();
    let names: Vec<String> = latencies().into_iter().map(|l| l.parameter).collect();
    for unit in &config.core.units {
        assert!(names.contains(&format!("core.units[] {} lanes", unit.name)));
        for class in &unit.classes {
            let name = class.class.name();
            assert!(names.contains(&format!("core.units[].classes[] {name} latency_cycles")), "{name}");
        }
    }
    // A script of latencies replaces the rest of the memory system, and the launch carries the latency of the
    // test bench's links. These are not numbers of the RTL.
    let of_memory = ["interconnect", "l2"].len();
    let text =
        std::fs::read_to_string(crate::bench::root().join("configs/rtl.ron")).expect("the configuration");
    let stated = text.matches("latency_cycles: ").count();
    let changed = names.iter().filter(|name| name.ends_with("latency_cycles")).count();
    assert_eq!(stated, changed + of_memory);
}
