//! Checks a retirement trace against the reference interpreter: every architectural field of every record.
//!
//! The trace itself holds what ran: the code, shape and arguments of its launches. Only the contents of
//! device memory come from elsewhere. The cycles of a trace are not checked here.

use super::reference::{self, Lane, Machine, Options, Step, Watch, operands};
use std::collections::HashMap;
use wave_isa::program::{Kernel, Launch, Program};
use wave_observe::trace::record::{DestinationKind, MemoryKind};
use wave_observe::trace::{Header, Launched, Record};

/// Source of the values that loads and atomics return in the replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loads {
    /// The interpreter's own memory: for kernels whose result does not depend on the order of waves.
    Checked,
    /// The trace: for other kernels. Everything computed from the values is checked.
    Taken,
}

/// A record that differs from what the interpreter does.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("workgroup {workgroup:?} wave {wave} record {sequence} at pc 0x{pc:04x}: {what}")]
pub struct Mismatch {
    /// The workgroup's position in the grid.
    pub workgroup: [u32; 3],
    /// The wave's index in it.
    pub wave: u32,
    /// Sequence number of the record.
    pub sequence: u64,
    /// The interpreter's pc.
    pub pc: u32,
    /// The field, with both values.
    pub what: String,
}

/// Replays one launch with all its records. Returns the number of records checked. `memory` is device memory
/// before the launch and, as the interpreter leaves it, after it.
///
/// Records of instructions without an active lane are skipped, because a machine may jump over them.
///
/// # Errors
/// The first wrong record, missing or surplus records, or why the interpreter stopped.
pub fn replay(
    header: &Header,
    launched: &Launched,
    records: &[Record],
    machine: &Machine,
    loads: Loads,
    memory: &mut [u8],
) -> Result<u64, Mismatch> {
    let mut waves: HashMap<([u32; 3], u32), Vec<&Record>> = HashMap::new();
    for record in records.iter().filter(|r| r.active != 0) {
        waves.entry((record.workgroup, record.wave)).or_default().push(record);
    }
    for records in waves.values_mut() {
        records.sort_by_key(|record| std::cmp::Reverse(record.sequence));
    }
    let (program, launch) = program_of(launched);
    let machine = Machine { wave_width: header.wave_width, ..*machine };
    let mut checked = 0;
    let mut wrong = None;
    let mut watch = |step: &Step<'_>, after: &mut [Lane]| {
        if wrong.is_some() || step.active == 0 {
            return;
        }
        let mismatch = |sequence, what| Mismatch {
            workgroup: step.workgroup,
            wave: step.wave,
            sequence,
            pc: step.pc,
            what,
        };
        match waves.get_mut(&(step.workgroup, step.wave)).and_then(Vec::pop) {
            None => wrong = Some(mismatch(0, "there is no record of it".to_owned())),
            Some(record) => {
                if loads == Loads::Taken {
                    take_loads(record, after);
                }
                checked += 1;
                wrong = check(launched, record, step, after).map(|what| mismatch(record.sequence, what));
            }
        }
    };
    let watch: Watch<'_> = &mut watch;
    let ended = reference::run_watched(&program, &launch, &machine, &Options::default(), memory, Some(watch));
    if let Some(wrong) = wrong {
        return Err(wrong);
    }
    let left = waves.into_values().find_map(|records| records.last().copied());
    let stopped = ended.err().map(|stop| format!("the interpreter stopped: {stop}"));
    match (left, stopped) {
        (None, None) => Ok(checked),
        (left, stopped) => {
            let nothing = Record::default();
            let record = left.unwrap_or(&nothing);
            Err(Mismatch {
                workgroup: record.workgroup,
                wave: record.wave,
                sequence: record.sequence,
                pc: record.pc,
                what: stopped.unwrap_or_else(|| "the interpreter's wave has ended".to_owned()),
            })
        }
    }
}

/// The program and launch that a trace describes.
fn program_of(launched: &Launched) -> (Program, Launch) {
    let first = launched.base / 4;
    let mut code = vec![0; first as usize];
    code.extend(&launched.code);
    let kernel = Kernel {
        name: launched.kernel.clone(),
        registers: launched.registers,
        local_memory_bytes: launched.local_memory,
        workgroup_size: launched.workgroup,
        code: first..code.len() as u32,
        parameters: None,
        private: None,
        bindings: Vec::new(),
    };
    let launch = Launch {
        kernel: 0,
        grid: launched.grid,
        workgroup: launched.workgroup,
        registers: launched.registers,
        local_memory_bytes: launched.local_memory,
        initial_registers: launched.arguments.clone(),
    };
    (Program { code, kernels: vec![kernel], source: None, module: None }, launch)
}

/// Sets the lanes' destinations to what a load or atomic returned in the trace.
fn take_loads(record: &Record, lanes: &mut [Lane]) {
    let returns = matches!(record.memory, MemoryKind::Load | MemoryKind::Atomic);
    if !returns || record.destination != DestinationKind::Registers {
        return;
    }
    let width = lanes.len();
    for (row, values) in record.values.chunks_exact(width).enumerate() {
        for (n, lane) in lanes.iter_mut().enumerate().filter(|(n, _)| record.effective >> n & 1 == 1) {
            lane.registers[usize::from(record.index) + row] = values[n];
        }
    }
}

/// The fields of the words that hold operands.
struct Fields {
    opcode: u8,
    modifier: u8,
    rd: usize,
    rs1: usize,
    rs2: usize,
    rs3: usize,
}

impl Fields {
    fn of(words: [u32; 2]) -> Fields {
        let [word0, word1] = words;
        let byte = |word: u32, shift: u32| (word >> shift & 0xFF) as usize;
        Fields {
            opcode: (word0 >> 24) as u8,
            modifier: (word0 >> 4 & 15) as u8,
            rd: byte(word0, 16),
            rs1: byte(word0, 8),
            rs2: byte(word1, 24),
            rs3: byte(word1, 16),
        }
    }
}

/// What is wrong with a record, if anything.
fn check(launched: &Launched, record: &Record, step: &Step<'_>, after: &[Lane]) -> Option<String> {
    let width = after.len();
    let words = launched.words_at(step.pc);
    let fields = Fields::of([words.first().copied().unwrap_or(0), words.get(1).copied().unwrap_or(0)]);
    let letters = if words.is_empty() { "" } else { operands(fields.opcode, fields.modifier).unwrap_or("") };
    let two_words = letters.contains(['b', 'c', 'e', 'h', 'i', 'l', 'o']);
    let count = if words.is_empty() { 0 } else { 1 + usize::from(two_words) };
    let mut expected_words = [0; 2];
    expected_words[..count].copy_from_slice(&words[..count]);
    let effective = effective_lanes(words.first().copied().unwrap_or(0), step);

    let next_pc = step.next_pc.unwrap_or(0);
    // With no lane left, a machine may jump to where lanes are reactivated.
    let jumps = step.next_pc.is_some() && step.active_after == 0;
    let hex = |value: u64| format!("{value:x}");
    let scalars = [
        ("pc", hex(record.pc.into()), hex(step.pc.into())),
        ("words", format!("{:08x?}", record.words), format!("{expected_words:08x?}")),
        ("word count", record.word_count.to_string(), count.to_string()),
        ("active", hex(record.active), hex(step.active)),
        ("effective", hex(record.effective), hex(effective)),
        ("ends", record.ends.to_string(), step.next_pc.is_none().to_string()),
        (
            "next_pc",
            hex(if jumps { 0 } else { record.next_pc }.into()),
            hex(if jumps { 0 } else { next_pc }.into()),
        ),
    ];
    if let Some((field, got, expected)) = scalars.into_iter().find(|(_, got, expected)| got != expected) {
        return Some(format!("{field} is {got}, and {expected} in the interpreter"));
    }
    let row = |value: &dyn Fn(usize) -> u32| -> Vec<u32> {
        (0..width).map(|lane| if effective >> lane & 1 == 1 { value(lane) } else { 0 }).collect()
    };
    let (kind, index, values) = result(&fields, letters, effective, after, &row);
    let (memory, addresses, strides, sent) = access(&fields, effective, step.before, &row);
    let rows = [
        (
            "destination",
            vec![record.destination as u32, record.index.into()],
            vec![kind as u32, index as u32],
        ),
        ("values", record.values.clone(), values),
        ("memory", access_key(record.memory, record.device, record.bytes), memory),
        ("addresses", record.addresses.clone(), addresses),
        ("strides", record.strides.clone(), strides),
        ("sent", record.sent.clone(), sent),
    ];
    let (field, got, expected) = rows.into_iter().find(|(_, got, expected)| got != expected)?;
    Some(format!("{field} is {got:x?}, and {expected:x?} in the interpreter"))
}

fn access_key(kind: MemoryKind, device: bool, bytes: u8) -> Vec<u32> {
    vec![kind as u32, device.into(), bytes.into()]
}

/// Active lanes that pass the guard (section 3 of the instruction set).
fn effective_lanes(word0: u32, step: &Step<'_>) -> u64 {
    let (predicate, negated) = ((word0 & 3) as usize, word0 >> 2 & 1 == 1);
    let passes = |lane: &Lane| (predicate, negated) == (0, false) || lane.predicates[predicate] != negated;
    let lanes = step.before.iter().enumerate().filter(|(_, lane)| passes(lane));
    lanes.fold(0, |mask, (n, _)| mask | 1 << n) & step.active
}

type RowOf<'a> = &'a dyn Fn(&dyn Fn(usize) -> u32) -> Vec<u32>;

/// Destination of an instruction: kind, index, rows.
fn result(
    fields: &Fields,
    letters: &str,
    effective: u64,
    after: &[Lane],
    row: RowOf<'_>,
) -> (DestinationKind, usize, Vec<u32>) {
    let none = (DestinationKind::None, 0, Vec::new());
    let first = letters.split(' ').next().unwrap_or("");
    if effective == 0 {
        return none;
    }
    let fragment = |pick: &dyn Fn(&Lane) -> [[u32; 4]; 4]| -> Vec<u32> {
        (0..16).flat_map(|n| row(&|lane| pick(&after[lane])[n / 4][n % 4])).collect()
    };
    match (fields.opcode, fields.modifier, first) {
        (0x40, 0, _) => (DestinationKind::FragmentA, fields.rd, fragment(&|lane| lane.a[fields.rd])),
        (0x40, 1, _) => (DestinationKind::FragmentB, fields.rd, fragment(&|lane| lane.b[fields.rd])),
        (0x40, 3, _) => (DestinationKind::FragmentC, fields.rs2, fragment(&|lane| lane.c[fields.rs2])),
        (0x40, ..) | (_, _, "") => none,
        (_, _, "p") => {
            let values = row(&|lane| after[lane].predicates[fields.rd].into());
            (DestinationKind::Predicate, fields.rd, values)
        }
        (_, _, "x") if fields.rd == 0 => none,
        (_, _, name) if name.starts_with(['d', 'x', 'w']) => {
            let rows = match name {
                "w" if after.len() > 32 => 2,
                name => name[1..].parse().unwrap_or(1),
            };
            let values = (0..rows).flat_map(|n| row(&|lane| after[lane].registers[fields.rd + n])).collect();
            (DestinationKind::Registers, fields.rd, values)
        }
        _ => none,
    }
}

/// Access of an instruction: kind, rows of addresses, strides, and rows that it sends.
fn access(
    fields: &Fields,
    effective: u64,
    before: &[Lane],
    row: RowOf<'_>,
) -> (Vec<u32>, Vec<u32>, Vec<u32>, Vec<u32>) {
    let nothing = (access_key(MemoryKind::None, false, 0), Vec::new(), Vec::new(), Vec::new());
    if effective == 0 || !matches!(fields.opcode, 0x30 | 0x31 | 0x38 | 0x39 | 0x3C | 0x3D | 0x40) {
        return nothing;
    }
    if (fields.opcode, fields.modifier) == (0x40, 3) {
        return nothing;
    }
    let register = |n: usize| row(&|lane| before[lane].registers[n]);
    let bytes = 1u8 << (fields.modifier % 5);
    let address = register(fields.rs1);
    match (fields.opcode, fields.modifier) {
        (0x30 | 0x38, _) => {
            (access_key(MemoryKind::Load, fields.opcode == 0x38, bytes), address, Vec::new(), Vec::new())
        }
        (0x31 | 0x39, _) => {
            let kept = if bytes < 4 { (1u32 << (8 * bytes)) - 1 } else { u32::MAX };
            let rows = (0..usize::from(bytes).div_ceil(4)).flat_map(|n| register(fields.rs2 + n));
            let sent = rows.map(|word| word & kept).collect();
            (access_key(MemoryKind::Store, fields.opcode == 0x39, bytes), address, Vec::new(), sent)
        }
        (0x3C | 0x3D, m) => {
            let mut sent = register(fields.rs2);
            if m == 8 {
                sent.extend(register(fields.rs3));
            }
            (access_key(MemoryKind::Atomic, fields.opcode == 0x3D, 4), address, Vec::new(), sent)
        }
        (0x40, 0 | 1) => {
            (access_key(MemoryKind::TileLoad, false, 16), address, register(fields.rs2), Vec::new())
        }
        (0x40, 2) => {
            let sent = (0..16).flat_map(|n| row(&|lane| before[lane].c[fields.rs2][n / 4][n % 4])).collect();
            (access_key(MemoryKind::TileStore, false, 16), register(fields.rd), address, sent)
        }
        _ => nothing,
    }
}
