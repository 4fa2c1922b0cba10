//! Each latency of `configs/rtl.ron`, changed on the simulator's side alone: the comparison with the RTL as it is fails at the
//! first instruction that the latency concerns, and names the stage.

use crate::bench::{Case, config, core};
use crate::directed::kernel;
use wave_sim::config::Config;
use wave_sim::isa::ExecClass;
use wave_sim::rtl::{Disagreement, Mode};

/// A parameter, what is around the first instruction that it concerns, that instruction, and the stage that moves.
struct Latency {
    parameter: String,
    change: Box<dyn Fn(&mut Config)>,
    lines: &'static str,
    first: &'static str,
    stage: &'static str,
}

/// The instructions that every program begins with.
const FIRST: &str = "mov_imm r2, 40";
const SECOND: &str = "mov_imm r3, 6";

/// For each class, an instruction, and another one behind it on the same unit.
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
    Latency { parameter: parameter.to_owned(), change: Box::new(change), lines, first, stage }
}

fn latencies() -> Vec<Latency> {
    let mut all = vec![
        latency("dispatcher.latency_cycles", "nop", FIRST, "fetch", |c| c.dispatcher.latency_cycles += 1),
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
            change: Box::new(move |c| timing(c, |latency, _| *latency += 1)),
            lines: first,
            first,
            stage,
        });
        all.push(Latency {
            parameter: format!("core.units[].classes[] {name} passes"),
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
fn a_latency_of_one_side_alone_fails_at_the_first_instruction_that_it_concerns() {
    let Some(core) = core() else { return };
    let mut wrong = String::new();
    for Latency { parameter, change, lines, first, stage } in latencies() {
        let mut case = Case::of(&kernel(&format!("{FIRST}\n{SECOND}\nwait\n{lines}")), 8);
        case.agrees();
        change(&mut case.config);
        // The first ones are of class int: another latency moves the result of the first, another interval the second.
        let (first, stage) = match parameter.split_once(" int ") {
            Some((_, "latency_cycles")) => (FIRST, stage),
            Some(_) => (SECOND, "execute"),
            None => (first, stage),
        };
        match case.run_on(core, Mode::Cycle) {
            Err(Disagreement::Differs { stage: moved, report, .. }) => {
                let told = report.lines().find(|line| line.contains("  only the ")).unwrap_or_default();
                if moved != stage || !told.contains(first) {
                    wrong +=
                        &format!("{parameter}: {stage} of `{first}` expected, and not {moved}: {told}\n");
                }
            }
            other => wrong += &format!("{parameter}: {other:?}\n"),
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// No latency of the core is left out above.
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
    // Of the rest of the memory system a script of latencies takes the place, and the test bench's links are told their
    // latency with the launch: they are no numbers of the RTL.
    let of_memory = ["interconnect", "l2"].len();
    let text =
        std::fs::read_to_string(crate::bench::root().join("configs/rtl.ron")).expect("the configuration");
    let stated = text.matches("latency_cycles: ").count();
    let changed = names.iter().filter(|name| name.ends_with("latency_cycles")).count();
    assert_eq!(stated, changed + of_memory);
}
