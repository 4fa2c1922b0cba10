//! A program for each numbered rule of docs/pipeline.md, on both sides; and that it exercises its rule: with a parameter of the
//! rule changed on the simulator's side alone, or with a bug planted in the RTL, the same program differs.

use crate::bench::{Case, executable, root};
use crate::directed::kernel;
use wave_sim::config::{ClassTiming, Config, DivergenceMode, IssuePolicy, Unit};
use wave_sim::isa::ExecClass;
use wave_sim::rtl::{Disagreement, Mode, Variant};

/// A parameter that is changed on one side: its name, the change, and the stage that has to move first.
type Change = (&'static str, fn(&mut Config), &'static str);

/// A rule, what exercises it, and how that shows.
struct Rule {
    name: &'static str,
    /// What the program does.
    what: &'static str,
    lines: fn() -> String,
    threads: u32,
    grid: [u32; 3],
    change: Option<Change>,
    bugs: &'static [u32],
}

/// Rules that say nothing about the machine of `rtl.ron`, and why.
const ELSEWHERE: &[(&str, &str)] =
    &[("P2", "the RTL has one scheduler"), ("I7", "an account of the simulator; the RTL counts nothing")];

/// Repeats a line so often.
fn times(n: usize, line: &str) -> String {
    vec![line; n].join("\n")
}

const fn rule(
    name: &'static str,
    what: &'static str,
    lines: fn() -> String,
    change: Option<Change>,
    bugs: &'static [u32],
) -> Rule {
    Rule { name, what, lines, threads: 8, grid: [1, 1, 1], change, bugs }
}

impl Rule {
    const fn threads(self, threads: u32) -> Rule {
        Rule { threads, ..self }
    }

    const fn grid(self, x: u32) -> Rule {
        Rule { grid: [x, 1, 1], ..self }
    }

    fn case(&self) -> Case {
        Case::of(&kernel(&(self.lines)()), self.threads).grid(self.grid)
    }
}

fn unit(config: &mut Config, class: ExecClass) -> &mut Unit {
    let units = &mut config.core.units;
    units.iter_mut().find(|u| u.classes.iter().any(|c| c.class == class)).expect("a unit of the class")
}

fn class(config: &mut Config, class: ExecClass) -> &mut ClassTiming {
    let unit = unit(config, class);
    unit.classes.iter_mut().find(|c| c.class == class).expect("the class")
}

const RULES: &[Rule] = &[
    rule(
        "P1",
        "results read in the cycle after their write, a full load/store queue",
        || {
            "mov_sr r2, sr_lane_id\nmov_imm r9, 32\nimul r2, r2, r9\niadd r3, r2, r1\niadd r4, r3, r2\niadd r5, r4, r3\nimul r6, r5, r4\n\
             local_store_u32 r2, r3\nlocal_store_u32 r2, r4\nlocal_store_u32 r2, r5\nlocal_store_u32 r2, r6\n\
             iadd r7, r6, r6\niadd r8, r7, r6"
                .to_owned()
        },
        Some(("core.lsu.queue_entries", |c| c.core.lsu.queue_entries = 1, "execute")),
        &[138],
    )
    .threads(32),
    rule(
        "R1",
        "more workgroups than fit, in their order",
        || "mov_sr r2, sr_workgroup_id_x\niadd r3, r2, r1".to_owned(),
        Some(("dispatcher.latency_cycles", |c| c.dispatcher.latency_cycles += 1, "fetch")),
        &[159],
    )
    .grid(9),
    rule(
        "R2",
        "partial waves, slots taken lowest first, registers that begin with 0",
        || {
            "iadd r3, r2, r1\nmov_sr r2, sr_thread_id_x\niadd r4, r3, r2\nlocal_load_u32 r5, r8\nlocal_store_u32 r8, r4\n\
             local_load_u32 r6, r8"
                .to_owned()
        },
        Some(("core.local_poison", |c| c.core.local_poison ^= 1, "retire")),
        &[127, 160],
    )
    .threads(13)
    .grid(5),
    rule(
        "R3",
        "waves that end while their loads are on the way, and slots that are used again",
        || "mov_sr r2, sr_thread_id_x\nshl r3, r2, r1\ndevice_load_u32 r4, r3\ndevice_load_u32 r5, r2\ndevice_store_u32 r2, r2".to_owned(),
        None,
        &[128],
    )
    .threads(16)
    .grid(9),
    rule(
        "F1",
        "waves that take turns at the fetch port, with full buffers",
        || times(24, "nop"),
        Some(("core.fetch.buffer_entries", |c| c.core.fetch.buffer_entries += 1, "fetch")),
        &[112, 117],
    )
    .threads(32),
    rule(
        "F2",
        "groups cut off by the end of the code",
        || times(5, "nop"),
        Some(("core.fetch.words", |c| c.core.fetch.words = 4, "decode")),
        &[115],
    ),
    rule(
        "F3",
        "groups that hit",
        || times(12, "nop"),
        Some(("core.fetch.icache_latency_cycles", |c| c.core.fetch.icache_latency_cycles += 1, "decode")),
        &[],
    ),
    rule(
        "F4",
        "code of more lines than the instruction cache has, twice",
        || {
            let body = times(700, "nop");
            format!("mov_imm r3, 1\nmov_imm r4, 0\nloop\n{body}\nicmp_ge p1, r4, r3\niadd r4, r4, r3\nbreak p1\nendloop")
        },
        Some(("core.fetch.icache_ways", |c| c.core.fetch.icache_ways = 4, "fetch")),
        &[114, 116],
    )
    .threads(16),
    rule(
        "F5",
        "code that ends without a halt, at the end of a group and inside one",
        || "icmp_eq p1, r0, r1\nif p1\nhalt\nendif\nnop\ncall 24\nnop".to_owned(),
        None,
        &[115],
    ),
    rule(
        "F6",
        "branches back while a group is on its way",
        || {
            "mov_imm r3, 3\nmov_imm r4, 0\nmov_imm r5, 1\nloop\niadd r4, r4, r5\nicmp_ge p1, r4, r3\nbreak p1\nendloop\n\
             mov_imm r6, 9\nmov_imm r7, 8"
                .to_owned()
        },
        Some(("core.fetch.icache_latency_cycles", |c| c.core.fetch.icache_latency_cycles = 4, "decode")),
        &[],
    )
    .threads(16),
    rule(
        "D1",
        "groups of two instructions, which issue from the next cycle on",
        || times(9, "not r2, r2"),
        Some(("core.fetch.words", |c| c.core.fetch.words = 1, "decode")),
        &[],
    ),
    rule(
        "D2",
        "instructions of two words across two groups, also behind a branch",
        || {
            "nop\nmov_imm r2, 1\nmov_imm r3, 2\nicmp_eq p1, r2, r3\nloop\niadd r4, r2, r3\nbreak p1\nicmp_lt p1, r2, r3\n\
             endloop\nmov_imm r5, 7\niadd r6, r5, r4"
                .to_owned()
        },
        Some(("core.fetch.words", |c| c.core.fetch.words = 4, "decode")),
        &[118],
    ),
    rule(
        "I1",
        "several waves that are ready in one cycle",
        || times(12, "nop"),
        Some(("core.issue.width", |c| c.core.issue.width = 2, "issue")),
        &[],
    )
    .threads(32),
    rule(
        "I2",
        "no collector free, operands and destinations outstanding",
        || {
            "idiv r2, r0, r1\nidiv r3, r0, r1\nidiv r4, r0, r1\niadd r5, r0, r1\niadd r6, r5, r2\nicmp_lt p1, r5, r6\n\
             @p1 iadd r2, r6, r3"
                .to_owned()
        },
        Some(("core.registers.collectors", |c| c.core.registers.collectors = 4, "issue")),
        &[108, 110],
    )
    .threads(24),
    rule(
        "I3",
        "waves in turn",
        || times(12, "nop"),
        Some(("core.issue.policy", |c| c.core.issue.policy = IssuePolicy::Gto, "issue")),
        &[102],
    )
    .threads(32),
    rule(
        "I4",
        "operands in one bank, a second instruction of the wave behind them",
        || "imad r2, r4, r8, r12\niadd r3, r0, r1\nimad r5, r4, r8, r12\niadd r8, r0, r1".to_owned(),
        Some(("core.registers.banks", |c| c.core.registers.banks = 8, "operand read")),
        &[131],
    ),
    rule(
        "I5",
        "results read and written again at once",
        || "imul r2, r0, r1\niadd r3, r2, r1\nimul r2, r3, r3\nimul r2, r1, r1\niadd r4, r2, r2".to_owned(),
        None,
        &[109],
    ),
    rule(
        "I6",
        "guards that no lane, some lanes and all lanes pass",
        || {
            "mov_sr r2, sr_lane_id\nicmp_lt p1, r2, r1\nicmp_lt p2, r1, r2\nicmp_eq p3, r2, r2\n@p1 iadd r3, r2, r0\n\
             @!p1 iadd r3, r2, r1\n@p2 iadd r4, r2, r0\n@!p3 iadd r5, r2, r2\n@p2 break p1\n@p3 nop\n@!p3 nop\nloop\n\
             @!p3 break p3\n@p3 break p3\nendloop"
                .to_owned()
        },
        None,
        &[103],
    ),
    rule(
        "B1",
        "shadows that redirect and that do not",
        || {
            "mov_imm r3, 2\nmov_imm r4, 0\nmov_imm r5, 1\nicmp_eq p2, r3, r5\nif p2\nnop\nelse\nnop\nendif\nloop\niadd r4, r4, r5\n\
             icmp_ge p1, r4, r3\nbreak p1\nendloop\nwait"
                .to_owned()
        },
        Some(("core.branch_latency_cycles", |c| c.core.branch_latency_cycles += 1, "issue")),
        &[101],
    )
    .threads(16),
    rule(
        "B2",
        "loops that go back, calls and returns",
        || {
            "mov_imm r3, 2\nmov_imm r4, 0\nmov_imm r5, 1\nloop\niadd r4, r4, r5\nicmp_ge p1, r4, r3\nbreak p1\nendloop\n\
             icmp_eq p2, r3, r5\nif !p2\ncall 72\nnop\nendif\nhalt\nnop\nnop\niadd r6, r5, r4\nreturn"
                .to_owned()
        },
        Some(("core.branch_latency_cycles", |c| c.core.branch_latency_cycles += 1, "issue")),
        &[],
    ),
    rule(
        "B3",
        "regions that no lane enters, constructs inside them",
        || {
            "mov_sr r2, sr_lane_id\nicmp_lt p1, r2, r2\nif p1\niadd r3, r2, r2\nif p1\nloop\nbreak p1\nendloop\nelse\nnop\nendif\n\
             iadd r4, r2, r2\nelse\niadd r5, r2, r2\nendif"
                .to_owned()
        },
        Some(("core.divergence", |c| c.core.divergence = DivergenceMode::Jump, "issue")),
        &[123],
    ),
    rule(
        "B4",
        "barriers behind accesses, and behind waves that have ended",
        || {
            "mov_sr r2, sr_wave_id\nmov_imm r3, 4\nimul r4, r2, r3\nlocal_store_u32 r4, r2\nbarrier\nlocal_load_u32 r5, r4\n\
             icmp_eq p1, r2, r1\n@p1 halt\nbarrier\nlocal_load_u32 r6, r4\nbarrier\nmov_sr r7, sr_lane_id\nicmp_lt p2, r7, r3\n@p2 halt\nbarrier"
                .to_owned()
        },
        Some(("core.branch_latency_cycles", |c| c.core.branch_latency_cycles += 1, "issue")),
        &[111],
    )
    .threads(64),
    rule(
        "B5",
        "fences of each scope and waits behind loads and stores",
        || {
            "mov_sr r2, sr_thread_id_x\nshl r3, r2, r1\ndevice_load_u32 r4, r2\nwait\ndevice_store_u32 r3, r2\nfence_release .workgroup\n\
             device_load_u32 r5, r3\nfence_acquire .device\ndevice_load_u32 r6, r3\nfence_acq_rel .wave\nfence_acq_rel .system\n\
             device_load_u32 r7, r3"
                .to_owned()
        },
        Some(("core.branch_latency_cycles", |c| c.core.branch_latency_cycles += 1, "issue")),
        &[106, 107],
    )
    .threads(16),
    rule(
        "B6",
        "releases of several waves, with stores before and after them",
        || {
            "mov_sr r2, sr_thread_id_x\nshl r3, r2, r1\ndevice_store_u32 r3, r2\nfence_release .device\ndevice_store_u32 r2, r3\n\
             device_store_u32 r3, r3\nfence_release .device\nfence_release .system\ndevice_store_u32 r2, r2\nfence_acq_rel .device"
                .to_owned()
        },
        None,
        &[155, 156],
    )
    .threads(32),
    rule(
        "O1",
        "rows of one bank, of several waves at once",
        || "imad r2, r4, r8, r12\nimad r3, r5, r9, r13\nfma r6, r4, r8, r4\nbfi r7, r4, r8, r12, r16".to_owned(),
        Some(("core.registers.banks", |c| c.core.registers.banks = 8, "operand read")),
        &[129],
    )
    .threads(32),
    rule(
        "O2",
        "a register overwritten while an instruction that has read it waits for its unit",
        || "mov_imm r2, 900\nmov_imm r3, 7\nidiv r4, r2, r3\nidiv r5, r2, r3\nmov r2, r1\nmov r3, r0\niadd r6, r5, r4".to_owned(),
        Some(("int_div passes", |c| class(c, ExecClass::IntDiv).passes = 1, "execute")),
        &[],
    ),
    rule(
        "O3",
        "instructions without register operands",
        || "mov_imm r2, 5\nmov_sr r3, sr_lane_id\nmov_imm r4, 6\nwave_ballot r5, p1".to_owned(),
        Some(("int latency_cycles", |c| class(c, ExecClass::Int).latency_cycles += 1, "write-back")),
        &[],
    ),
    rule(
        "X1",
        "an instruction that waits for its unit, which another class keeps",
        || "idiv r2, r0, r1\nfdiv r3, r0, r1\niadd r4, r0, r1".to_owned(),
        Some((
            "a unit of its own for fp32_div",
            |c| {
                let unit = unit(c, ExecClass::Fp32Div);
                let place = unit.classes.iter().position(|c| c.class == ExecClass::Fp32Div);
                let classes = vec![unit.classes.remove(place.expect("the class"))];
                let lanes = unit.lanes;
                c.core.units.push(Unit { name: "fdiv".to_owned(), lanes, classes });
            },
            "execute",
        )),
        &[],
    ),
    rule(
        "X2",
        "units that are busy for an interval",
        || "fsin r2, r0\nfcos r3, r0\nfdiv r4, r0, r1\nfsqrt r5, r1\nidiv r6, r0, r1\nimod r7, r0, r1".to_owned(),
        Some(("fp32_div passes", |c| class(c, ExecClass::Fp32Div).passes -= 1, "execute")),
        &[132],
    )
    .threads(16),
    rule(
        "X3",
        "results of different latencies in one cycle",
        || "imul r2, r0, r1\niadd r3, r0, r1\nfadd r4, r0, r1\nimul r5, r0, r1\niadd r6, r0, r1\nicmp_eq p1, r0, r1\niadd r7, r1, r1".to_owned(),
        Some(("core.registers.write_ports", |c| c.core.registers.write_ports = 2, "execute")),
        &[133],
    )
    .threads(32),
    rule(
        "X4",
        "a memory instruction of each collector",
        || "mov_sr r2, sr_lane_id\nmov_imm r9, 32\nimul r2, r2, r9\nlocal_store_u32 r2, r2\nlocal_load_u32 r3, r2\nlocal_load_u32 r4, r2\nlocal_store_u32 r2, r2".to_owned(),
        Some(("core.lsu.queue_entries", |c| c.core.lsu.queue_entries = 4, "execute")),
        &[138],
    )
    .threads(32),
    rule(
        "W1",
        "results of each class",
        || "iadd r2, r0, r1\nimul r3, r2, r1\ncvt_f32_i32 r4, r3\nfadd r5, r4, r4\nicmp_lt p1, r2, r3\nhadd r6, r4, r5\nwave_reduce_add r7, r2".to_owned(),
        Some(("int latency_cycles", |c| class(c, ExecClass::Int).latency_cycles += 1, "write-back")),
        &[],
    ),
    rule(
        "W2",
        "loads that wait for a write port",
        || "mov_sr r2, sr_lane_id\nlocal_load_u64 r4, r2\niadd r6, r2, r1\niadd r7, r2, r1\nlocal_load_u32 r8, r2\nlocal_load_u64 r10, r2\niadd r9, r2, r1".to_owned(),
        Some(("core.registers.write_ports", |c| c.core.registers.write_ports = 2, "write-back")),
        &[135],
    )
    .threads(32),
    rule(
        "L1",
        "a queue that works on its head only, and an access outside its memory",
        || "mov_imm r2, 64\ndevice_load_u32 r3, r2\nlocal_load_u32 r4, r2\nlocal_store_u32 r2, r4\natomic_add r5, r2, r1, .device\nmov_imm r6, 2\natomic_add r5, r6, r1, .device".to_owned(),
        None,
        &[140],
    ),
    rule(
        "L2",
        "conflicts, broadcasts and atomics in the banks of local memory",
        || "mov_sr r2, sr_lane_id\nmov_imm r3, 32\nimul r4, r2, r3\nlocal_load_u32 r5, r4\nlocal_load_u32 r6, r3\nlocal_atomic_add r7, r3, r2\nlocal_store_u64 r4, r4".to_owned(),
        Some(("core.local.banks", |c| c.core.local.banks = 16, "access")),
        &[141],
    ),
    rule(
        "L3",
        "loads, stores and atomics of local memory",
        || "mov_sr r2, sr_lane_id\nlocal_store_u32 r2, r1\nlocal_load_u32 r3, r2\nmov_imm r4, 8\nlocal_atomic_add r5, r4, r2\nlocal_atomic_max r4, r2".to_owned(),
        Some(("core.local.latency_cycles", |c| c.core.local.latency_cycles += 1, "write-back")),
        &[139],
    ),
    rule(
        "L4",
        "accesses of several lines, and across their ends",
        || "mov_sr r2, sr_lane_id\nmov_imm r3, 30\nimul r4, r2, r3\ndevice_load_u32 r5, r4\ndevice_load_u64 r6, r4\ndevice_store_u32 r4, r2\ndevice_load_u128 r8, r3".to_owned(),
        None,
        &[137],
    ),
    rule(
        "L5",
        "atomics of several lanes on one word, and compare-and-swap",
        || "mov_sr r2, sr_lane_id\nmov_imm r3, 12\nand r4, r2, r1\nshl r4, r4, r2\nand r4, r4, r3\natomic_add r5, r4, r2, .device\natomic_cas r6, r4, r5, r2, .device\natomic_add r7, r3, r2, .workgroup\natomic_cas r8, r3, r7, r2, .workgroup".to_owned(),
        None,
        &[144, 145],
    ),
    rule(
        "L6",
        "accesses that the L1 refuses",
        || "mov_sr r2, sr_thread_id_x\nmov_imm r3, 128\nimul r4, r2, r3\nand r4, r4, r8\niadd r4, r4, r2\nmov_imm r5, 36\nimul r5, r2, r5\ndevice_load_u32 r6, r5\ndevice_load_u32 r7, r5".to_owned(),
        Some(("core.l1.mshrs", |c| c.core.l1.mshrs = 2, "execute")),
        &[],
    )
    .threads(16),
    rule(
        "L7",
        "more loads than pending entries; more complete loads than return entries",
        || {
            let pile: String =
                (4..13).map(|n| format!("iadd r3, r1, r1\nlocal_load_u64 r{}, r2\n", 2 * n)).collect();
            let lines: String = (0..4).map(|n| format!("mov_imm r{}, {}\n", 26 + n, 64 * n)).collect();
            let loads: String =
                (0..8).map(|n| format!("device_load_u32 r{}, r{}\n", 8 + n, 26 + n % 4)).collect();
            format!("{lines}{loads}{pile}")
        },
        Some(("core.lsu.pending_entries", |c| c.core.lsu.pending_entries = 5, "access")),
        &[136, 170],
    )
    .threads(256),
    rule(
        "L8",
        "hits, misses and stores of the L1",
        || "mov_imm r2, 64\ndevice_load_u32 r3, r2\ndevice_load_u32 r4, r2\niadd r5, r4, r3\ndevice_load_u32 r6, r2\ndevice_store_u32 r2, r6\ndevice_load_u32 r7, r2".to_owned(),
        Some(("core.l1.hit_latency_cycles", |c| c.core.l1.hit_latency_cycles += 1, "write-back")),
        &[152],
    ),
];

/// The programs whose workgroups have at most so many threads.
pub fn cases(threads: u32) -> impl Iterator<Item = (String, Case)> {
    let fit = RULES.iter().filter(move |rule| rule.threads <= threads);
    fit.map(|rule| (format!("rule {}", rule.name), rule.case()))
}

/// The names of the rules in the book.
fn numbered() -> Vec<String> {
    let book = std::fs::read_to_string(root().join("docs/pipeline.md")).expect("the book");
    let names =
        book.lines().filter_map(|line| line.strip_prefix("**")?.split_once(". ").map(|(name, _)| name));
    names.map(str::to_owned).collect()
}

#[test]
fn every_rule_of_the_book_has_a_program() {
    let rules = numbered();
    assert!(rules.len() > 35, "{rules:?}");
    let known: Vec<&str> = RULES.iter().map(|r| r.name).chain(ELSEWHERE.iter().map(|r| r.0)).collect();
    for rule in &rules {
        assert!(known.contains(&rule.as_str()), "{rule} has no program");
    }
    for name in known {
        assert!(rules.iter().any(|rule| rule == name), "{name} is no rule");
    }
    for rule in RULES {
        assert!(
            rule.change.is_some() || !rule.bugs.is_empty(),
            "nothing shows that {} is exercised",
            rule.name
        );
    }
}

#[test]
fn the_program_of_each_rule_agrees() {
    for rule in RULES {
        println!("{}", rule.name);
        rule.case().agrees();
    }
}

#[test]
fn a_rule_with_another_parameter_on_one_side_differs_at_its_stage() {
    let Some(core) = crate::bench::core() else { return };
    let mut wrong = String::new();
    for rule in RULES {
        let Some((parameter, change, stage)) = rule.change else { continue };
        let mut case = rule.case();
        change(&mut case.config);
        match case.run_on(core, Mode::Cycle) {
            Err(Disagreement::Differs { stage: moved, .. }) if moved == stage => {}
            other => wrong += &format!("{}, {parameter}: {stage} expected, and not {other:?}\n", rule.name),
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
#[ignore = "builds another executable, which takes minutes: --ignored"]
fn the_program_of_each_rule_finds_its_bugs() {
    let variant = Variant { bugs: true, ..Variant::default() };
    let Some(core) = executable(&variant) else { return };
    let mut survivors = Vec::new();
    for rule in RULES {
        let mut case = rule.case();
        let agreement = case.run_on(&core, Mode::Cycle).unwrap_or_else(|why| panic!("{}: {why}", rule.name));
        case.max_cycles = 2 * agreement.cycles as u32 + 20_000;
        for bug in rule.bugs {
            if case.run_with(&core, Mode::Cycle, &[&format!("+bug={bug}")]).is_ok() {
                survivors.push((rule.name, bug));
            }
        }
    }
    assert!(survivors.is_empty(), "{survivors:?}");
}

/// The table of docs/cosim.md.
fn table() -> String {
    let mut text = "| rule | program | what shows that it exercises the rule |\n|---|---|---|\n".to_owned();
    for rule in RULES {
        let change = rule.change.map(|(name, _, stage)| format!("`{name}` on one side: {stage}"));
        let bugs = rule.bugs.iter().map(|bug| format!("planted bug {bug}"));
        let shows: Vec<String> = change.into_iter().chain(bugs).collect();
        text += &format!("| {} | {} | {} |\n", rule.name, rule.what, shows.join("; "));
    }
    for (name, why) in ELSEWHERE {
        text += &format!("| {name} | none: {why} | |\n");
    }
    text
}

#[test]
fn the_table_of_the_book_is_current() {
    let page = std::fs::read_to_string(root().join("docs/cosim.md")).expect("the page");
    assert!(page.contains(&table()), "docs/cosim.md has to have this table:\n{}", table());
}
