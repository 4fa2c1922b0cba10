//! The entry of a kernel: what a launch passes, what it begins with, what it does on a fault.

use super::Translation;
use crate::times;
use std::fmt::Write;
use wave_isa::Special;
use wave_isa::program::{Kernel, Launch};

/// Bytes of the fault record.
pub const FAULT_RECORD_BYTES: usize = 36;

/// Why a kernel stopped, as the fault record has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// An illegal instruction was reached.
    IllegalInstruction = 1,
    /// An access outside of device memory.
    DeviceOutOfBounds = 2,
    /// An access outside of local memory.
    LocalOutOfBounds = 3,
    /// An atomic at an address that is no multiple of 4.
    MisalignedAtomic = 4,
    /// A barrier that not all lanes of the wave reach together.
    BarrierInDivergence = 5,
}

/// The parameters of an entry in order, without the array of registers at their end: type, name, what it is.
const PARAMETERS: [(&str, &str, &str); 7] = [
    ("u64", "memory", "address of device memory: a multiple of 16"),
    ("u64", "memory_bytes", "bytes of device memory"),
    ("u64", "fault", "address of the fault record, or 0"),
    ("u32", "size_x", "threads of a workgroup, x"),
    ("u32", "size_y", "threads of a workgroup, y"),
    ("u32", "size_z", "threads of a workgroup, z"),
    ("u32", "local_bytes", "bytes of local memory: the dynamic shared memory of the launch"),
];

/// The parameter behind them where workgroups leave their times.
const TIMES: (&str, &str, &str) = ("u64", "times", "address of the times of the workgroups");

/// Addresses of the device, as its driver knows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// Of device memory: a multiple of 16.
    pub start: u64,
    /// Its size, bytes.
    pub bytes: u64,
    /// Of the fault record, or 0.
    pub fault: u64,
    /// Of the times of the workgroups, if the translation leaves them.
    pub times: Option<u64>,
}

/// The parameters of a kernel's entry for a launch, as bytes in the order and with the alignment of PTX. `registers` are
/// those that the kernel states. A register that it does not have is left out.
pub fn parameters(launch: &Launch, registers: u32, memory: &Memory) -> Vec<u8> {
    let mut bytes: Vec<u8> =
        [memory.start, memory.bytes, memory.fault].into_iter().flat_map(u64::to_le_bytes).collect();
    let words = launch.workgroup.into_iter().chain([launch.local_memory_bytes]);
    bytes.extend(words.flat_map(u32::to_le_bytes));
    bytes.extend(memory.times.into_iter().flat_map(u64::to_le_bytes));
    let mut start = vec![0u32; registers as usize];
    for &(register, value) in &launch.initial_registers {
        if let Some(place) = start.get_mut(usize::from(register)) {
            *place = value;
        }
    }
    bytes.extend(start.into_iter().flat_map(u32::to_le_bytes));
    bytes
}

/// The name of the entry of a kernel: its own as far as PTX has such names.
pub fn entry_name(kernel: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '$' { c } else { '_' };
    let name: String = kernel.chars().map(letter).collect();
    // Words of PTX itself are taken, and so are the names of the functions that the translation brings.
    let is_word = KEYWORDS.contains(&name.as_str()) || name.starts_with("wave_");
    match name.chars().next() {
        None => "kernel".to_owned(),
        Some(first) if !first.is_ascii_alphabetic() => format!("kernel{name}"),
        Some(_) if is_word => format!("{name}_kernel"),
        Some(_) => name,
    }
}

/// Words that PTX reserves.
const KEYWORDS: [&str; 104] = [
    "abs",
    "activemask",
    "add",
    "addc",
    "alloca",
    "and",
    "applypriority",
    "atom",
    "bar",
    "barrier",
    "bfe",
    "bfi",
    "bfind",
    "bmsk",
    "bra",
    "brev",
    "brkpt",
    "brx",
    "call",
    "clz",
    "cnot",
    "copysign",
    "cos",
    "cp",
    "createpolicy",
    "cvt",
    "cvta",
    "discard",
    "div",
    "dp2a",
    "dp4a",
    "elect",
    "ex2",
    "exit",
    "fence",
    "fma",
    "fns",
    "getctarank",
    "griddepcontrol",
    "isspacep",
    "istypep",
    "ld",
    "ldmatrix",
    "ldu",
    "lg2",
    "lop3",
    "mad",
    "mad24",
    "madc",
    "mapa",
    "match",
    "max",
    "mbarrier",
    "membar",
    "min",
    "mma",
    "mov",
    "movmatrix",
    "mul",
    "mul24",
    "multimem",
    "nanosleep",
    "neg",
    "not",
    "or",
    "pmevent",
    "popc",
    "prefetch",
    "prefetchu",
    "prmt",
    "rcp",
    "red",
    "redux",
    "rem",
    "ret",
    "rsqrt",
    "sad",
    "selp",
    "set",
    "setmaxnreg",
    "setp",
    "shf",
    "shfl",
    "shl",
    "shr",
    "sin",
    "slct",
    "sqrt",
    "st",
    "stackrestore",
    "stacksave",
    "stmatrix",
    "sub",
    "subc",
    "suld",
    "suq",
    "sured",
    "sust",
    "szext",
    "tanh",
    "testp",
    "tex",
    "trap",
    "vote",
];

/// The text of an entry: its parameters, registers, beginning, code and end.
pub(crate) fn entry(mut translation: Translation<'_>, name: &str) -> String {
    let kernel = translation.plan.kernel;
    let registers = kernel.registers;
    let head = beginning(&translation);
    let mut tail = String::from("$end:\n");
    if translation.options.times {
        tail += times::END;
    }
    tail += "\tret;\n";
    if translation.faults {
        tail += &fault(&mut translation);
    }
    assemble(translation, name, registers, &head, &tail)
}

fn assemble(translation: Translation<'_>, name: &str, registers: u32, head: &str, tail: &str) -> String {
    let kernel = translation.plan.kernel;
    let mut text = format!("// kernel {:?}\n{}.visible .entry {name}(\n", kernel.name, launch_notes(kernel));
    let times = translation.options.times;
    for (ty, parameter, meaning) in PARAMETERS.into_iter().chain(times.then_some(TIMES)) {
        _ = writeln!(text, "\t.param .{ty} p_{parameter}, // {meaning}");
    }
    _ = writeln!(
        text,
        "\t.param .align 4 .b8 p_registers[{}] // start values of r0 to r{}\n)",
        4 * registers,
        registers - 1
    );
    let stated: u32 = kernel.workgroup_size.iter().fold(1, |threads, &size| threads.saturating_mul(size));
    let threads = translation.options.threads.or((stated > 0).then_some(stated));
    if let Some(threads) = threads {
        _ = writeln!(text, ".maxntid {}, 1, 1", threads.next_multiple_of(crate::WAVE_WIDTH));
    }
    text += "{\n";
    _ = writeln!(text, "\t.reg .b32 %r<{registers}>;\n\t.reg .pred %p<4>;\n\t.reg .pred %on, %live;");
    text += "\t.reg .b32 %lane, %thread, %threads, %size_x, %size_y, %size_z, %local;\n";
    text += "\t.reg .b64 %memory, %memory_bytes, %local_bytes, %fault;\n";
    if times {
        text += times::REGISTERS;
    }
    if translation.faults {
        text += "\t.reg .b32 %fault_pc, %fault_kind, %fault_lanes, %fault_address;\n";
    }
    if !translation.plan.calls.is_empty() {
        _ = writeln!(text, "\t.reg .b32 %link, %save<{}>;", translation.plan.calls.len());
    }
    for code in &translation.specials {
        _ = writeln!(text, "\t.reg .b32 %special{code};");
    }
    for (kind, number) in &translation.fragments {
        _ = writeln!(text, "\t.reg .b32 %m{kind}{number}_<16>;");
    }
    for (number, construct) in translation.plan.structure.constructs.iter().enumerate() {
        if !translation.plan.reached[construct.open] {
            continue;
        }
        _ = match (construct.is_loop, construct.alternative) {
            (true, _) => writeln!(text, "\t.reg .pred %broken{number}, %continued{number};"),
            (false, Some(_)) => writeln!(text, "\t.reg .pred %else{number}, %joined{number};"),
            (false, None) => writeln!(text, "\t.reg .pred %else{number};"),
        };
    }
    let (declared, lines) = translation.body.finish();
    text + &declared + head + &lines + tail + "}\n\n"
}

/// What a launch has to put into registers, as comments.
fn launch_notes(kernel: &Kernel) -> String {
    let mut text = String::new();
    let mut register = 0;
    for parameter in kernel.parameters.iter().flatten() {
        _ = writeln!(text, "//   r{register}: {parameter}");
        register += parameter.ty.registers();
    }
    for binding in &kernel.bindings {
        _ = write!(
            text,
            "//   r{}: address of {binding}, at least {} bytes",
            binding.address, binding.least_bytes
        );
        _ = match binding.length {
            Some(length) => writeln!(text, "; r{length}: its length in bytes"),
            None => writeln!(text),
        };
    }
    if let Some(private) = kernel.private {
        let (register, bytes) = (private.register, private.bytes_per_wave);
        _ = writeln!(
            text,
            "//   r{register}: address of private memory, {bytes} bytes for each wave of the grid"
        );
    }
    // A name may have anything in it; a comment ends with its line.
    text.replace('\r', " ")
}

/// Loads the parameters and sets what a wave begins with.
fn beginning(translation: &Translation<'_>) -> String {
    let mut lines = String::from(if translation.options.times { times::BEGINNING } else { "" });
    let mut add = |line: String| _ = writeln!(lines, "\t{line}");
    add("ld.param.u64 %memory, [p_memory];".to_owned());
    add("cvta.to.global.u64 %memory, %memory;".to_owned());
    add("ld.param.u64 %memory_bytes, [p_memory_bytes];".to_owned());
    for axis in ["x", "y", "z"] {
        add(format!("ld.param.u32 %size_{axis}, [p_size_{axis}];"));
    }
    if translation.uses_local {
        add("mov.u32 %local, wave_local;".to_owned());
        add("ld.param.u32 %thread, [p_local_bytes];".to_owned());
        add("cvt.u64.u32 %local_bytes, %thread;".to_owned());
    }
    add("mov.u32 %thread, %tid.x;".to_owned());
    add("and.b32 %lane, %thread, 31;".to_owned());
    add("mul.lo.u32 %threads, %size_x, %size_y;".to_owned());
    add("mul.lo.u32 %threads, %threads, %size_z;".to_owned());
    // Lanes of the last wave on which no thread falls are there, and never active.
    add("setp.lt.u32 %on, %thread, %threads;".to_owned());
    add("mov.pred %live, %on;".to_owned());
    for predicate in 0..wave_isa::PREDICATES {
        add(format!("mov.pred %p{predicate}, 0;"));
    }
    for register in 0..translation.plan.kernel.registers {
        add(format!("ld.param.b32 %r{register}, [p_registers+{}];", 4 * register));
    }
    for (kind, number) in &translation.fragments {
        for element in 0..16 {
            add(format!("mov.b32 %m{kind}{number}_{element}, 0;"));
        }
    }
    if !translation.plan.calls.is_empty() {
        add("mov.b32 %link, 0xFFFFFFFF;".to_owned());
    }
    for &code in &translation.specials {
        let d = format!("%special{code}");
        let special = Special::from_code(code).expect("the instruction is legal");
        match special {
            Special::ThreadIdX => add(format!("rem.u32 {d}, %thread, %size_x;")),
            Special::ThreadIdY => {
                add(format!("div.u32 {d}, %thread, %size_x;"));
                add(format!("rem.u32 {d}, {d}, %size_y;"));
            }
            Special::ThreadIdZ => {
                add(format!("div.u32 {d}, %thread, %size_x;"));
                add(format!("div.u32 {d}, {d}, %size_y;"));
            }
            Special::WaveId => add(format!("shr.u32 {d}, %thread, 5;")),
            Special::WorkgroupIdX => add(format!("mov.u32 {d}, %ctaid.x;")),
            Special::WorkgroupIdY => add(format!("mov.u32 {d}, %ctaid.y;")),
            Special::WorkgroupIdZ => add(format!("mov.u32 {d}, %ctaid.z;")),
            Special::WorkgroupSizeX => add(format!("mov.b32 {d}, %size_x;")),
            Special::WorkgroupSizeY => add(format!("mov.b32 {d}, %size_y;")),
            Special::WorkgroupSizeZ => add(format!("mov.b32 {d}, %size_z;")),
            Special::GridSizeX => add(format!("mov.u32 {d}, %nctaid.x;")),
            Special::GridSizeY => add(format!("mov.u32 {d}, %nctaid.y;")),
            Special::GridSizeZ => add(format!("mov.u32 {d}, %nctaid.z;")),
            Special::NumWaves => {
                add(format!("add.u32 {d}, %threads, 31;"));
                add(format!("shr.u32 {d}, {d}, 5;"));
            }
            Special::LaneId | Special::WaveWidth | Special::MmaSupported => {}
            Special::MmaM | Special::MmaN | Special::MmaK => {}
        }
    }
    lines
}

/// The fault: the first one of a launch leaves its record.
fn fault(translation: &mut Translation<'_>) -> String {
    let mut lines = String::from("$fault:\n");
    let body = &mut translation.body;
    body.next_instruction();
    let (old, first, none, lowest) = (body.word(), body.word(), body.predicate(), body.predicate());
    let mut add = |line: String| _ = writeln!(lines, "\t{line}");
    add("ld.param.u64 %fault, [p_fault];".to_owned());
    add(format!("setp.eq.u64 {none}, %fault, 0;"));
    add(format!("@{none} bra.uni $trap;"));
    // The lowest of the lanes that fault writes the record, with its own address.
    add(format!("brev.b32 {first}, %fault_lanes;"));
    add(format!("clz.b32 {first}, {first};"));
    add(format!("setp.ne.u32 {lowest}, {first}, %lane;"));
    add(format!("@{lowest} bra $trap;"));
    add("cvta.to.global.u64 %fault, %fault;".to_owned());
    add(format!("atom.relaxed.sys.global.cas.b32 {old}, [%fault], 0, 1;"));
    add(format!("setp.ne.u32 {none}, {old}, 0;"));
    add(format!("@{none} bra $trap;"));
    add("st.global.b32 [%fault+4], %fault_kind;".to_owned());
    add("st.global.b32 [%fault+8], %fault_pc;".to_owned());
    for (place, axis) in [(12, "x"), (16, "y"), (20, "z")] {
        add(format!("mov.u32 {old}, %ctaid.{axis};"));
        add(format!("st.global.b32 [%fault+{place}], {old};"));
    }
    add(format!("shr.u32 {old}, %thread, 5;"));
    add(format!("st.global.b32 [%fault+24], {old};"));
    add("st.global.b32 [%fault+28], %fault_lanes;".to_owned());
    add("st.global.b32 [%fault+32], %fault_address;".to_owned());
    add("fence.acq_rel.sys;".to_owned());
    add("st.relaxed.sys.global.b32 [%fault], 2;".to_owned());
    lines += "$trap:\n";
    lines += "\tbar.warp.sync 0xffffffff;\n\ttrap;\n";
    lines
}
