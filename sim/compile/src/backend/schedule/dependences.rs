//! Which instructions of a run have to stay in which order.

use super::latency;
use crate::backend::code::{Code, FIELDS, Register, Selected, Slot};
use std::collections::HashMap;
use wave_isa::operand::Role;
use wave_isa::table::{AccessKind, CacheHint, MemoryOp, Space};
use wave_isa::{Field, Op};

/// An instruction that has to come after another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edge {
    pub(super) to: usize,
    /// Cycles between the two.
    pub(super) latency: u32,
}

/// Registers with one number in the whole function.
pub(super) struct Constants(HashMap<u32, u32>);

impl Constants {
    pub(super) fn of(selected: &Selected) -> Constants {
        let mut known: HashMap<u32, Option<u32>> = HashMap::new();
        for one in &selected.code {
            let transferred = one.transfer.iter().flat_map(|transfer| &transfer.written).copied();
            for to in one.written().into_iter().chain(transferred) {
                let is_constant = one.op == Op::MovImm && !one.guard.is_some() && one.literal.is_none();
                let bits = is_constant.then_some(one.imm);
                known.entry(to.number).and_modify(|known| *known = None).or_insert(bits);
            }
        }
        Constants(known.into_iter().filter_map(|(number, bits)| Some((number, bits?))).collect())
    }
}

/// For each instruction, those that have to come after it: that read what it writes, that write what it reads or writes,
/// and accesses to the bytes that it accesses, if one of the two writes.
pub(super) fn dependences(selected: &Selected, code: &[Code], constants: &Constants) -> Vec<Vec<Edge>> {
    let mut run = Dependences { after: vec![Vec::new(); code.len()], names: HashMap::new() };
    let mut addresses = Addresses { constants, known: HashMap::new(), writes: HashMap::new() };
    let mut accesses: [Vec<Accessed>; 2] = Default::default();
    for (place, one) in code.iter().enumerate() {
        for register in one.read() {
            run.read(name(selected, register), place);
        }
        predicates_read(one).for_each(|predicate| run.read(Name::Predicate(predicate), place));
        if let Some(memory) = one.op.memory() {
            let access = Accessed { place, memory, address: addresses.of_access(one) };
            let earlier = &mut accesses[usize::from(memory.space == Space::Device)];
            for other in earlier.iter().filter(|other| access.stays_after(other)) {
                run.edge(other.place, place, 0);
            }
            earlier.push(access);
        }
        if let Some(to) = one.written() {
            run.write(name(selected, to), place, latency(one));
            addresses.write(one, to);
        }
        if let Some(predicate) = one.written_predicate() {
            run.write(Name::Predicate(predicate), place, latency(one));
        }
    }
    run.keep_copies_free(code);
    run.after
}

/// The holder of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Name {
    /// A virtual register.
    Virtual(u32),
    /// The machine register of those that have to be this one.
    Machine(u8),
    Predicate(u8),
}

fn name(selected: &Selected, register: Register) -> Name {
    let fixed = selected.registers[register.number as usize].fixed;
    fixed.map_or(Name::Virtual(register.number), Name::Machine)
}

/// The predicates that an instruction reads.
fn predicates_read(code: &Code) -> impl Iterator<Item = u8> + '_ {
    let guard = code.guard.is_some().then_some(code.guard.predicate);
    let fields = code.op.info().operands.iter().filter_map(|operand| {
        let is_read = matches!(operand.role, Role::PredSrc | Role::PredSrcNeg);
        let field = FIELDS.iter().position(|&field| field == operand.field).filter(|_| is_read)?;
        match code.fields[field] {
            Slot::Number(number) => Some(number & 3),
            _ => None,
        }
    });
    guard.into_iter().chain(fields)
}

/// The instruction that wrote a value, how long that takes, and those that read it since.
#[derive(Default)]
struct Held {
    writer: Option<(usize, u32)>,
    readers: Vec<usize>,
}

struct Dependences {
    after: Vec<Vec<Edge>>,
    names: HashMap<Name, Held>,
}

impl Dependences {
    fn edge(&mut self, from: usize, to: usize, latency: u32) {
        match self.after[from].iter_mut().find(|edge| edge.to == to) {
            Some(edge) => edge.latency = edge.latency.max(latency),
            None if from != to => self.after[from].push(Edge { to, latency }),
            None => {}
        }
    }

    fn read(&mut self, name: Name, place: usize) {
        let held = self.names.entry(name).or_default();
        held.readers.push(place);
        if let Some((writer, latency)) = held.writer {
            self.edge(writer, place, latency);
        }
    }

    fn write(&mut self, name: Name, place: usize, takes: u32) {
        let held = std::mem::replace(
            self.names.entry(name).or_default(),
            Held { writer: Some((place, takes)), readers: Vec::new() },
        );
        for reader in held.readers {
            self.edge(reader, place, 0);
        }
        if let Some((writer, latency)) = held.writer {
            self.edge(writer, place, latency);
        }
    }
}

impl Dependences {
    /// Variables of a loop get their next value in a copy at its end, which costs nothing if the two share a register:
    /// if the variable is not read after its next value is there. If that is so, it stays so.
    fn keep_copies_free(&mut self, code: &[Code]) {
        let mut readers: HashMap<u32, Vec<usize>> = HashMap::new();
        let mut writer: HashMap<u32, usize> = HashMap::new();
        for (place, one) in code.iter().enumerate() {
            if one.is_copy()
                && let (Some(to), Some(from)) = (one.written(), one.read().next())
                && let Some(&next) = writer.get(&from.number)
                && let Some(readers) = readers.get(&to.number)
                && readers.iter().all(|&reader| reader <= next)
            {
                readers.iter().for_each(|&reader| self.edge(reader, next, 0));
            }
            for register in one.read() {
                readers.entry(register.number).or_default().push(place);
            }
            if let Some(to) = one.written() {
                writer.insert(to.number, place);
            }
        }
    }
}

/// An address: a register as it was after so many writes of the run, and what is added.
type Address = (u32, u32, u32);

/// The addresses of a run, as far as they are known.
struct Addresses<'c> {
    constants: &'c Constants,
    /// Registers that the run has written: as others with something added.
    known: HashMap<u32, Address>,
    /// Writes of each register so far.
    writes: HashMap<u32, u32>,
}

impl Addresses<'_> {
    fn of(&self, register: Register) -> Address {
        let writes = self.writes.get(&register.number).copied().unwrap_or(0);
        self.known.get(&register.number).copied().unwrap_or((register.number, writes, 0))
    }

    /// That of an access whose bytes are known.
    fn of_access(&self, code: &Code) -> Option<Address> {
        let is_plain = !matches!(code.op.memory()?.kind, AccessKind::Tile);
        let mut read = code.read().filter(|_| is_plain);
        // The address comes first in the text.
        let first = code.op.info().operands.iter().find(|operand| matches!(operand.role, Role::Src(_)))?;
        (first.field == Field::Rs1).then(|| read.next()).flatten().map(|register| self.of(register))
    }

    fn write(&mut self, code: &Code, to: Register) {
        let sum = || {
            let mut read = code.read();
            let (a, b) = (read.next()?, read.next());
            match (code.op, b) {
                (Op::Mov, _) => Some(self.of(a)),
                (Op::IAdd, Some(b)) => {
                    let constant = |register: Register| self.constants.0.get(&register.number);
                    let (of, more) = match (constant(a), constant(b)) {
                        (_, Some(&more)) => (a, more),
                        (Some(&more), _) => (b, more),
                        _ => return None,
                    };
                    let (root, writes, distance) = self.of(of);
                    Some((root, writes, distance.wrapping_add(more)))
                }
                _ => None,
            }
        };
        let known = if code.guard.is_some() || code.keeps || to.row != 0 { None } else { sum() };
        *self.writes.entry(to.number).or_default() += 1;
        match known {
            Some(address) => self.known.insert(to.number, address),
            None => self.known.remove(&to.number),
        };
    }
}

/// An access of a run.
struct Accessed {
    place: usize,
    memory: MemoryOp,
    address: Option<Address>,
}

impl Accessed {
    /// True if it has to come after an earlier access of the same memory.
    fn stays_after(&self, other: &Accessed) -> bool {
        let is_load = |access: &Accessed| access.memory.kind == AccessKind::Load;
        if is_load(self) && is_load(other) {
            // Loads past the caches are those of volatile and atomic accesses.
            return self.memory.hint == CacheHint::Uncached && other.memory.hint == CacheHint::Uncached;
        }
        let is_store = |access: &Accessed| access.memory.kind == AccessKind::Store;
        // Programs synchronise by atomics, also without a fence. Writes keep their order among themselves.
        if !(is_load(self) && is_store(other) || is_store(self) && is_load(other)) {
            return true;
        }
        match (self.address, other.address) {
            (Some((root, writes, a)), Some((other_root, other_writes, b)))
                if (root, writes) == (other_root, other_writes) =>
            {
                let (to_other, to_self) = (b.wrapping_sub(a), a.wrapping_sub(b));
                to_other < self.memory.bytes.into() || to_self < other.memory.bytes.into()
            }
            _ => true,
        }
    }
}
