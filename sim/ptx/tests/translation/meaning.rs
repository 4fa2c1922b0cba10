//! The PTX does what the kernel does: an interpreter of PTX, written from its description, against the functional
//! machine.

use crate::operations;
use crate::suites;
use wave_isa::program::{Launch, Program};
use wave_machine::config::{self, Config};
use wave_machine::functional::{self, ExecutionError, Limits};
use wave_ptx::{FaultKind, Options, entry_name, translate};
use wave_study::launch::Verification;
use wave_testing::environment::count;
use wave_verify::generate::{self, Case};
use wave_verify::ptx::{self, Outcome};

/// Device memory beside the buffers, bytes: for stacks.
const STACK_BYTES: usize = 16 << 20;

/// Kernels of which the order of atomics decides what memory holds, beside the results.
const ANY_ORDER: &[&str] = &["compact", "bfs", "c/bfs", "wgsl/compact", "wgsl/bfs"];

fn machine() -> Config {
    let mut config = config::load("gpu").expect("a preset");
    config.core.wave_width = wave_ptx::WAVE_WIDTH;
    config
}

/// How a launch ends on the functional machine: `None` without a fault.
fn functional(config: &Config, program: &Program, launch: &Launch, memory: &mut [u8]) -> Option<u32> {
    match functional::run(config, program, launch, memory, &Limits::default(), &mut |_| {}) {
        Ok(_) => None,
        Err(ExecutionError::Fault(fault)) => Some(fault.pc),
        Err(other) => panic!("{other:?}"),
    }
}

/// The first byte in which two memories differ.
pub(crate) fn difference(a: &[u8], b: &[u8]) -> Option<usize> {
    (a != b).then(|| a.iter().zip(b).position(|(a, b)| a != b).expect("they are equally long"))
}

/// Runs all launches of a kernel of the suites as PTX and on the functional machine.
///
/// # Errors
/// What differs.
pub(crate) fn same(name: &str, options: &Options, alter: &dyn Fn(String) -> String) -> Result<(), String> {
    let (config, job) = (machine(), suites::job(name));
    let text =
        translate(&job.program, &suites::kernels(&job), options).map_err(|errors| format!("{errors:?}"))?;
    let module = ptx::parse(&alter(text))?;
    let used = job.memory.len();
    let mut expected = job.memory.clone();
    expected.resize((used + STACK_BYTES).next_multiple_of(4096), 0);
    let mut memory = expected.clone();
    for (step, launch) in job.steps.iter().enumerate() {
        let mut launch = launch.clone();
        launch
            .place_private(&job.program, wave_ptx::WAVE_WIDTH, memory.len() as u64, used as u64)
            .map_err(|e| e.to_string())?;
        assert_eq!(functional(&config, &job.program, &launch, &mut expected), None, "{name}");
        let entry = entry_name(&job.program.kernels[launch.kernel].name);
        let outcome = ptx::run(&module, &entry, &launch, &mut memory, step as u64)?;
        if outcome != Outcome::Finished {
            return Err(format!("step {step}: {outcome:?}"));
        }
        // The verdict counts where order decides; all bytes do elsewhere.
        if !ANY_ORDER.contains(&name)
            && let Some(place) = difference(&expected, &memory)
        {
            return Err(format!("step {step}: memory differs at {place:#x}"));
        }
    }
    match job.verify(&memory[..used]) {
        Verification::Passed { .. } => Ok(()),
        other => Err(other.to_string()),
    }
}

#[test]
fn kernels_of_the_suites_give_their_results() {
    let mut failed = Vec::new();
    for name in suites::names() {
        if let Err(why) = same(name, &Options::default(), &|text| text) {
            failed.push(format!("{name}: {why}"));
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

/// Runs a random program both ways.
///
/// # Errors
/// What differs.
pub(crate) fn same_case(
    case: &Case,
    options: &Options,
    seed: u64,
    alter: &dyn Fn(String) -> String,
) -> Result<(), String> {
    let config = machine();
    let text = translate(&case.program, &[0], options).map_err(|errors| format!("{errors:?}"))?;
    let module = ptx::parse(&alter(text))?;
    let (mut expected, mut memory) = (case.memory.clone(), case.memory.clone());
    let fault = functional(&config, &case.program, &case.launch, &mut expected);
    let entry = entry_name(&case.program.kernels[0].name);
    let outcome = ptx::run(&module, &entry, &case.launch, &mut memory, seed)?;
    match (fault, outcome) {
        (None, Outcome::Finished) => match difference(&expected, &memory) {
            None => Ok(()),
            Some(place) => Err(format!("memory differs at {place:#x}")),
        },
        // Other waves may fault first: only that one does is the same.
        (Some(_), Outcome::Trapped(record)) if record[0] == 2 => Ok(()),
        (fault, outcome) => Err(format!("fault {fault:?} and {outcome:x?}")),
    }
}

/// Compares random programs. Gives the number of those that are translated.
fn campaign(programs: u64, options: impl Fn(u64) -> Options, generated: &generate::Options) -> u64 {
    let mut translated = 0;
    for seed in 0..programs {
        let tree = generate::grow(seed, generated);
        let options = options(seed);
        // An `endloop` without `loop` is a fault that is refused before.
        if generated.fault && translate(&tree.case().program, &[0], &options).is_err() {
            continue;
        }
        translated += 1;
        if let Err(why) = same_case(&tree.case(), &options, seed, &|text| text) {
            let mut fails = |case: &Case| same_case(case, &options, seed, &|text| text).is_err();
            let small = generate::shrink(&tree, &mut fails);
            let listing = wave_isa::program::disassemble(&small.case().program);
            panic!("seed {seed}: {why}\n{listing}");
        }
    }
    translated
}

#[test]
fn random_programs_do_the_same() {
    let generated = generate::Options { wave_width: 32, ..generate::Options::of(&machine()) };
    let plain = Options { lane_order: true, ..Options::default() };
    let programs = count("WAVE_SIM_PTX_PROGRAMS", 60);
    let translated = campaign(programs, |seed| Options { check_bounds: seed % 2 == 1, ..plain }, &generated);
    assert_eq!(translated, programs);
}

#[test]
fn random_programs_fault_where_they_should() {
    let generated = generate::Options { wave_width: 32, fault: true, ..generate::Options::of(&machine()) };
    let checked = Options { lane_order: true, check_bounds: true, ..Options::default() };
    let programs = count("WAVE_SIM_PTX_PROGRAMS", 40);
    let translated = campaign(programs, |_| checked, &generated);
    assert!(translated > programs / 2, "{translated} of {programs}");
}

/// A case of a kernel in assembly, with device memory of these words.
pub(crate) fn case_of(text: &str, grid: u32, workgroup: u32, memory: impl IntoIterator<Item = u32>) -> Case {
    let (program, _) =
        wave_isa::program::assemble(text, "k.wave").unwrap_or_else(|errors| panic!("{errors:?}"));
    let launch = Launch { workgroup: [workgroup, 1, 1], ..Launch::of(&program, 0, [grid, 1, 1]) };
    Case { program, launch, memory: memory.into_iter().flat_map(u32::to_le_bytes).collect() }
}

/// A lane loads what its neighbour has stored, in local and in device memory, without a barrier: in a wave, no lane
/// goes ahead of another one. Then two lanes store to one word, and all add to one.
pub(crate) const EXCHANGE: &str = "
.kernel exchange
.registers 8
.local_memory 256
    mov_sr  r0, sr_lane_id
    mov_imm r1, 2
    shl     r2, r0, r1
    mov_imm r3, 4
    mov_imm r4, 0
    loop
        local_store_u32 r2, r0
        device_store_u32 r2, r0
        xor     r5, r2, r3
        local_load_u32 r6, r5
        device_load_u32 r7, r5
        iadd    r0, r6, r7
        mov_imm r6, 1
        iadd    r4, r4, r6
        mov_imm r6, 20
        icmp_eq p1, r4, r6
        break   p1
    endloop
    mov_imm r6, 128
    device_store_u32 r6, r0
    mov_imm r6, 132
    atomic_add r7, r6, r0, .device
    iadd    r2, r2, r6
    device_store_u32 r2, r7
    halt
.end
";

#[test]
fn lanes_of_a_wave_see_what_each_other_stored() {
    let case = case_of(EXCHANGE, 1, 32, vec![0; 128]);
    for seed in 0..20 {
        let ordered = Options { lane_order: true, ..Options::default() };
        assert_eq!(same_case(&case, &ordered, seed, &|text| text), Ok(()));
    }
    // Without the order of lanes the stores to one word, and the atomics, are in another one.
    assert!((0..20).any(|seed| same_case(&case, &Options::default(), seed, &|text| text).is_err()));
}

/// NaNs in registers that hold only f32, whose bits are read in many ways; and one that is read before it is written.
pub(crate) const NANS: &str = "
.kernel nans
.registers 24
    mov_sr  r0, sr_lane_id
    mov_imm r1, 8
    shl     r0, r0, r1
    mov_imm r1, inf
    mov_imm r2, 4
    mov     r10, r3
    fadd    r3, r1, r1
    icmp_gt p1, r0, r2
    if p1
        fsub r4, r1, r1
    else
        fmul r4, r1, r1
    endif
    mov     r5, r4
    select  r6, p1, r5, r3
    fneg    r11, r6
    fabs    r12, r6
    icmp_eq p2, r6, r1
    select  r13, p2, r0, r2
    device_store_u32 r0, r6
    iadd    r0, r0, r2
    device_store_u128 r0, r10
    mov_imm r7, 16
    iadd    r0, r0, r7
    loop
        fsub    r8, r1, r5
        @p1 fmul r8, r5, r3
        iadd    r0, r0, r2
        break   p1
        device_store_u32 r0, r8
        break   !p1
    endloop
    wave_broadcast r9, r4, r13
    iadd    r0, r0, r2
    device_store_u64 r0, r8
    halt
.end
";

#[test]
fn a_nan_is_that_of_wave_where_its_bits_are_read() {
    let mut case = case_of(NANS, 1, 8, vec![0; 1024]);
    // A NaN of the launch's own stays what it is.
    case.launch.initial_registers = vec![(3, 0x7F81_2345)];
    assert_eq!(same_case(&case, &Options::default(), 1, &|text| text), Ok(()));
}

#[test]
fn operations_do_the_same_on_special_values() {
    let case = operations::grid();
    for options in
        [Options::default(), Options { check_bounds: true, lane_order: true, ..Options::default() }]
    {
        assert_eq!(same_case(&case, &options, 1, &|text| text), Ok(()));
    }
}

#[test]
fn special_functions_have_the_same_bits() {
    let text = "
.kernel special
.registers 6
    mov_sr  r0, sr_workgroup_id_x
    mov_sr  r1, sr_workgroup_size_x
    mov_sr  r2, sr_thread_id_x
    imad    r0, r0, r1, r2
    mov_imm r1, 4
    shl     r0, r0, r1
    device_load_u32 r5, r0
    fsin    r1, r5
    fcos    r2, r5
    fexp2   r3, r5
    flog2   r4, r5
    device_store_u128 r0, r1
    halt
.end
";
    let text = text
        .replace("device_store_u128 r0, r1", "mov_imm r5, 0\n iadd r5, r5, r0\n device_store_u128 r5, r1");
    // Every exponent with either sign, each with many significands: 0, all ones, and others.
    let values = (0..1u32 << 15).map(|i| {
        let significand = match i >> 9 {
            0 => 0,
            1 => 0x7F_FFFF,
            other => other.wrapping_mul(0x9E37_79B9).wrapping_add(i.wrapping_mul(0x85EB_CA6B)) >> 9,
        };
        (i & 0x1FF) << 23 | significand
    });
    let memory = values.flat_map(|value| [value, 0, 0, 0]);
    let case = case_of(&text, 128, 256, memory);
    assert_eq!(same_case(&case, &Options::default(), 1, &|text| text), Ok(()));
}

#[test]
fn a_fault_leaves_its_record() {
    for (code, kind, pc, lanes, address) in [
        (
            "mov_imm r1, 0x100000\n @p1 device_load_u32 r2, r1\n",
            FaultKind::DeviceOutOfBounds,
            28,
            0xF0,
            0x10_0000,
        ),
        ("mov_imm r1, 1021\n local_store_u32 r1, r0\n", FaultKind::LocalOutOfBounds, 28, 0xFF, 1021),
        ("mov_imm r1, 6\n local_atomic_add r1, r0\n", FaultKind::MisalignedAtomic, 28, 0xFF, 6),
        ("if p1\n barrier\n endif\n", FaultKind::BarrierInDivergence, 24, 0xF0, 0),
        (".word 0xFF000000\n", FaultKind::IllegalInstruction, 20, 0xFF, 0),
    ] {
        let text = format!(
            ".kernel k\n.registers 8\n.local_memory 1024\nmov_sr r0, sr_lane_id\nmov_imm r3, 3\n\
             icmp_gt p1, r0, r3\n{code}halt\n.end\n"
        );
        let (program, _) = wave_isa::program::assemble(&text, "k.wave").expect("it assembles");
        let options = Options { check_bounds: true, ..Options::default() };
        let module =
            ptx::parse(&translate(&program, &[0], &options).expect("it translates")).expect("it parses");
        let launch = Launch { workgroup: [8, 1, 1], ..Launch::of(&program, 0, [1, 1, 1]) };
        let outcome = ptx::run(&module, "k", &launch, &mut [0; 4096], 1).expect("it runs");
        assert_eq!(outcome, Outcome::Trapped([2, kind as u32, pc, 0, 0, 0, 0, lanes, address]), "{code}");
    }
}
