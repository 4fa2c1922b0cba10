//! Each operation on 64-bit numbers in a kernel of its own, on special and random operands.

use crate::machine::{Size, compiled, execute, interpret, listing, preset};
use cranelift_entity::EntityRef;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use std::fmt::Write;
use wave_compile::ir::random::constant;
use wave_compile::ir::{DataId, Module, Type, text};

/// Threads of a run, and so triples of operands.
const THREADS: u32 = 512;
/// Bytes of operands of a thread.
const OPERAND_BYTES: u32 = 24;
/// Where results begin.
const RESULTS: u32 = 0x8000;

/// A machine without f64 instructions, and one with them.
const MACHINES: [&str; 2] = ["m-series", "tiny"];

/// An operation: its text, types of its operands, type of its result.
struct Case {
    text: &'static str,
    from: &'static [Type],
    to: Type,
}

/// All operations on `f64` and those on `i64` that are routines.
fn cases() -> Vec<Case> {
    use Type::{Bool, F32, F64, I32, I64};
    let mut cases = Vec::new();
    let mut add = |from: &'static [Type], to: Type, texts: &[&'static str]| {
        cases.extend(texts.iter().map(|&text| Case { text, from, to }));
    };
    add(
        &[F64, F64],
        F64,
        &["fadd", "fsub", "fmul", "fdiv", "fmin", "fmax", "fmin_number", "fmax_number", "fcopysign"],
    );
    add(&[F64], F64, &["fneg", "fabs", "fceil", "ffloor", "ftrunc", "fnearest", "fsqrt"]);
    add(&[F64, F64, F64], F64, &["fma"]);
    add(&[F64, F64], Bool, &["feq", "fne", "flt", "fle", "fgt", "fge"]);
    add(&[F64], I32, &["i32_trunc_sat_s", "i32_trunc_sat_u"]);
    add(&[F64], I64, &["i64_trunc_sat_s", "i64_trunc_sat_u", "reinterpret"]);
    add(&[F64], F32, &["f32_demote"]);
    add(&[F32], F64, &["f64_promote"]);
    add(&[I32], F64, &["f64_convert_s", "f64_convert_u"]);
    add(&[I64], F64, &["f64_convert_s", "f64_convert_u", "reinterpret"]);
    add(&[I64], F32, &["f32_convert_s", "f32_convert_u"]);
    add(&[F32], I64, &["i64_trunc_sat_s", "i64_trunc_sat_u"]);
    add(&[F32, F32], F32, &["fmin", "fmax", "fmin_number", "fmax_number", "fcopysign"]);
    add(&[F32], F32, &["fceil", "ffloor", "ftrunc", "fnearest"]);
    add(&[I64, I64], I64, &["div_u", "rem_u", "rotl", "rotr", "shl", "shr_s", "shr_u", "mul"]);
    add(&[I64], I64, &["clz", "ctz", "popcnt", "extend8_s", "extend16_s", "extend32_s"]);
    add(&[I64, I64], Bool, &["eq", "ne", "lt_s", "lt_u", "le_s", "le_u", "gt_s", "gt_u", "ge_s", "ge_u"]);
    cases
}

/// A kernel that computes `operation` of operands that a thread loads, and stores its result.
fn kernel(case: &Case) -> Module {
    let mut body = String::new();
    let mut operands = Vec::new();
    for (number, ty) in case.from.iter().enumerate() {
        let name = ["x", "y", "z"][number];
        writeln!(body, "    {name}: {ty} = load.{ty} mem0[base + {}]", 8 * number).expect("a string");
        operands.push(name);
    }
    // A divisor of 0 traps.
    if case.text.starts_with("div") || case.text.starts_with("rem") {
        body += "    divisor: i64 = or y, wide\n";
        operands[1] = "divisor";
    }
    writeln!(body, "    result: {} = {} {}", case.to, case.text, operands.join(", ")).expect("a string");
    let (result, ty) = if case.to == Type::Bool {
        body += "    number: i32 = i32_bool result\n";
        ("number", Type::I32)
    } else {
        ("result", case.to)
    };
    let text = format!(
        "memory mem0 device 1\ndata data0 at mem0 0\nfunction f0 \"kernel\" () -> () {{\nb0:
    group: i32 = special sr_workgroup_id_x
    size: i32 = special sr_workgroup_size_x
    lane: i32 = special sr_thread_id_x
    first: i32 = mul group, size
    thread: i32 = add first, lane
    bytes: i32 = const.i32 {OPERAND_BYTES}
    base: i32 = mul thread, bytes
    eight: i32 = const.i32 8
    to: i32 = mul thread, eight
    wide: i64 = const.i64 1\n{body}    store.{ty} mem0[to + {RESULTS}], {result}\n    return\n}}\n"
    );
    let mut module = text::parse(&text, case.text).unwrap_or_else(|error| panic!("{}", error.render(false)));
    let mut random = Pcg64Mcg::seed_from_u64(case.text.len() as u64);
    let bytes = &mut module.data[DataId::new(0)].bytes;
    for _ in 0..THREADS {
        let mut last = 0;
        for number in 0..3 {
            let ty = case.from.get(number).copied().unwrap_or(Type::I64);
            let value = constant(&mut random, ty).bits();
            // Some are equal, or nearly.
            last = if value % 8 == 3 { last ^ (value >> 5 & 1) } else { value };
            bytes.extend(last.to_le_bytes());
        }
    }
    module
}

#[test]
fn operations_on_special_and_random_numbers() {
    let size = Size { workgroups: 4, threads: THREADS / 4 };
    for case in cases() {
        let module = kernel(&case);
        wave_compile::ir::verify::verify(&module).unwrap_or_else(|error| panic!("{}: {error}", case.text));
        for machine in MACHINES {
            let config = preset(machine);
            let expected = interpret(&module, &[], size, config.core.wave_width).expect("it ends");
            let compiled = compiled(&module, &config, &wave_compile::Options::default())
                .unwrap_or_else(|error| panic!("{error}"));
            let found = execute(&module, &compiled, &[], size, &config);
            assert_eq!(expected.0, found.0, "{} on {machine}", case.text);
            let differs = |place: &usize| expected.1[*place] != found.1[*place];
            if let Some(place) = (RESULTS as usize..expected.1.len()).find(differs) {
                let thread = (place - RESULTS as usize) / 8;
                let word = |memory: &[u8], at: usize| {
                    u64::from_le_bytes(memory[at..at + 8].try_into().expect("eight bytes"))
                };
                let from: Vec<String> = (0..3)
                    .map(|number| word(&expected.1, thread * OPERAND_BYTES as usize + 8 * number))
                    .map(|bits| format!("{bits:#x}"))
                    .collect();
                let [wanted, found] =
                    [&expected.1, &found.1].map(|memory| word(memory, RESULTS as usize + 8 * thread));
                panic!(
                    "{} of {from:?} on {machine}: {found:#x}, not {wanted:#x}\n{}",
                    case.text,
                    listing(&compiled)
                );
            }
        }
    }
}

/// A table of the instructions of each operation: in the code, and what a wave executes on the operands of the test.
#[test]
#[ignore = "a table"]
fn instructions_of_operations() {
    use wave_machine::functional;
    let size = Size { workgroups: 4, threads: THREADS / 4 };
    let executed = |module: &Module, machine: &str| {
        let config = preset(machine);
        let compiled = compiled(module, &config, &wave_compile::Options::default()).expect("it is supported");
        let mut memory = vec![0; 1 << 16];
        memory[..module.data[DataId::new(0)].bytes.len()].copy_from_slice(&module.data[DataId::new(0)].bytes);
        let mut launch = wave_isa::program::Launch::of(&compiled.program, 0, [size.workgroups, 1, 1]);
        launch.workgroup = [size.threads, 1, 1];
        let limits = functional::Limits::default();
        let report = functional::run(&config, &compiled.program, &launch, &mut memory, &limits, &mut |_| {});
        let values = report.expect("it runs").values();
        let waves = u64::from(size.workgroups * size.threads.div_ceil(config.core.wave_width));
        let count = values.iter().find(|(declared, _)| declared.name == "core.wave_instructions");
        (compiled.statistics, count.expect("it is counted").1 / waves)
    };
    println!("{:30} {:>15} {:>15}", "operation", "without f64", "with f64");
    println!("{:30} {:>8} {:>6} {:>8} {:>6}", "", "code", "run", "code", "run");
    for case in cases() {
        let module = kernel(&case);
        let from: Vec<&str> = case.from.iter().map(|ty| ty.name()).collect();
        let mut line = format!("{:30}", format!("{} {} {}", case.to, case.text, from.join(" ")));
        for machine in MACHINES {
            let (statistics, run) = executed(&module, machine);
            write!(line, " {:8} {run:6}", statistics.instructions).expect("a string");
        }
        println!("{line}");
    }
}
