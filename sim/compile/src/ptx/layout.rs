//! Where the variables of a module lie.

use super::Wrong;
use super::graph::{Item, SourceGraph};
use super::table::Meaning;
use super::tree::{Initial, Operand, OperandKind, StateSpace, Statement, Tree, Variable, VariableId};
use std::collections::{BTreeSet, HashMap};

/// Most bytes of the variables of a module.
const MOST_DEVICE: u64 = 1 << 31;
/// Most bytes of workgroup memory, and of memory of a thread.
const MOST_LOCAL: u64 = 1 << 28;
/// Locks of atomic accesses of 64 bits. An address has that of its number of 8 bytes, modulo this.
pub(super) const LOCKS: u32 = 64;

/// The variables in device memory.
#[derive(Debug, Default)]
pub(super) struct DeviceLayout {
    /// Addresses by the number of the variable in the module.
    addresses: HashMap<usize, u32>,
    /// Addresses of variables that functions declare in device memory.
    of_functions: HashMap<(usize, usize), u32>,
    /// What they hold at the start, where that is not zero.
    pub(super) data: Vec<(u32, Vec<u8>)>,
    /// The end of all of them; 0 if there is none.
    pub(super) end: u64,
    /// The address of the locks, if the module needs some.
    pub(super) locks: Option<u32>,
    /// The address of the workspace of grids that synchronise, if a kernel asks for it: two words, of which the second is a
    /// barrier. CUDA's headers read it from `%envreg1` and `%envreg2`, and leave it as a new grid needs it.
    pub(super) workspace: Option<u32>,
}

/// Bytes of the workspace of a grid.
const WORKSPACE_BYTES: u64 = 8;
/// The special register with the low half of its address. The high half is 0.
pub(super) const WORKSPACE_LOW: &str = "envreg2";

fn is_device(space: StateSpace) -> bool {
    matches!(space, StateSpace::Global | StateSpace::Const)
}

impl DeviceLayout {
    pub(super) fn new(tree: &Tree, first: u32) -> Result<DeviceLayout, Wrong> {
        let mut layout = DeviceLayout::default();
        let first = u64::from(first);
        let mut end = first;
        let mut place = |variable: &Variable| -> Result<u32, Wrong> {
            let address = end.next_multiple_of(u64::from(variable.alignment.max(1)));
            end = address + variable.size();
            if end > MOST_DEVICE {
                let message = format!("the variables of this module have more than {MOST_DEVICE} bytes");
                return Err(Wrong::new(variable.at.clone(), message));
            }
            Ok(address as u32)
        };
        let mut defined = Vec::new();
        for (number, variable) in tree.variables.iter().enumerate() {
            if is_device(variable.space) && !variable.is_extern {
                let address = place(variable)?;
                layout.addresses.insert(number, address);
                defined.push((address, variable));
            }
        }
        for (of, function) in tree.functions.iter().enumerate() {
            for (number, variable) in function.variables.iter().enumerate() {
                if is_device(variable.space) && !variable.is_extern {
                    let address = place(variable)?;
                    layout.of_functions.insert((of, number), address);
                    defined.push((address, variable));
                }
            }
        }
        let mut bodies = tree.functions.iter().filter_map(|function| function.body.as_ref());
        let is_wide = |one: &Statement| {
            one.row.meaning == Meaning::Atomic && one.types.first().is_some_and(|ty| ty.bits == 64)
        };
        if bodies.any(|body| body.statements.iter().any(is_wide)) {
            let address = end.next_multiple_of(16);
            layout.locks = Some(address as u32);
            end = address + u64::from(LOCKS) * 4;
        }
        let mut asks = false;
        let mut look = |operand: &Operand| {
            asks |= matches!(&operand.kind, OperandKind::Special(name) if name == WORKSPACE_LOW);
        };
        let bodies = tree.functions.iter().filter_map(|function| function.body.as_ref());
        for operand in bodies.flat_map(|body| &body.statements).flat_map(|one| &one.operands) {
            each_operand(operand, &mut look);
        }
        if asks {
            let address = end.next_multiple_of(16);
            layout.workspace = Some(address as u32);
            end = address + WORKSPACE_BYTES;
        }
        // A declaration has the address of the definition that follows it.
        for (number, variable) in tree.variables.iter().enumerate().filter(|(_, one)| one.is_extern) {
            let found =
                tree.variables.iter().position(|other| other.name == variable.name && !other.is_extern);
            if let Some(&address) = found.and_then(|found| layout.addresses.get(&found)) {
                layout.addresses.insert(number, address);
            }
        }
        for (address, variable) in defined {
            let bytes = layout.contents(tree, variable)?;
            if bytes.iter().any(|&byte| byte != 0) {
                layout.data.push((address, bytes));
            }
        }
        if end > first {
            layout.end = end;
        }
        Ok(layout)
    }

    /// The variables that a program can name: name, address, bytes.
    pub(super) fn named(&self, tree: &Tree) -> Vec<(String, u32, u64)> {
        let mut all: Vec<(String, u32, u64)> = Vec::new();
        for (number, variable) in tree.variables.iter().enumerate().filter(|(_, one)| !one.is_extern) {
            if let Some(&address) = self.addresses.get(&number) {
                all.push((variable.name.clone(), address, variable.size()));
            }
        }
        all
    }

    /// What a variable holds at the start.
    fn contents(&self, tree: &Tree, variable: &Variable) -> Result<Vec<u8>, Wrong> {
        let mut bytes = Vec::new();
        let width = variable.ty.bytes() as usize;
        for initial in &variable.initial {
            let bits = match initial {
                Initial::Bits(bits) => *bits,
                Initial::Address { name, offset, at, .. } => {
                    let number = tree.variables.iter().position(|other| other.name == *name);
                    let address = number.and_then(|number| self.addresses.get(&number)).ok_or_else(|| {
                        let message = format!("`{name}` is no variable in device memory");
                        Wrong::new(at.clone(), message)
                            .hint("the value of a variable at the start is a number or the address of such a variable")
                    })?;
                    u64::from(*address).wrapping_add(*offset as u64)
                }
            };
            bytes.extend(&bits.to_le_bytes()[..width]);
        }
        bytes.truncate(variable.size() as usize);
        Ok(bytes)
    }
}

/// Where the variables lie that an entry uses.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// Addresses by function and variable; those of the module are of no function.
    addresses: HashMap<(Option<usize>, usize), u32>,
    /// Bytes of workgroup memory.
    pub(super) shared_bytes: u32,
    /// Bytes of memory of a thread.
    pub(super) private_bytes: u32,
    /// Parameters whose address is taken: they have a copy in the memory of the thread.
    pub(super) copied: BTreeSet<(usize, usize)>,
    /// A word for each wave in workgroup memory, where a barrier reduces a predicate.
    pub(super) reduction: Option<u32>,
}

/// Most waves of a workgroup.
const MOST_WAVES: u64 = 32;

/// The address of an operand and everything inside it.
fn each_operand<'a>(operand: &'a Operand, tell: &mut dyn FnMut(&'a Operand)) {
    tell(operand);
    match &operand.kind {
        OperandKind::Vector(all) | OperandKind::List(all) => {
            all.iter().for_each(|one| each_operand(one, tell))
        }
        OperandKind::Address(base, _) | OperandKind::Not(base) => each_operand(base, tell),
        OperandKind::Both(a, b) => {
            each_operand(a, tell);
            each_operand(b, tell);
        }
        _ => {}
    }
}

/// True if a barrier reduces a predicate.
fn reduces(tree: &Tree, graph: &SourceGraph) -> bool {
    graph.blocks.iter().flat_map(|block| &block.items).any(|item| match *item {
        Item::Statement(frame, number) => {
            graph.statement(tree, frame, number).row.meaning == Meaning::BarrierReduction
        }
        Item::Enter(_) | Item::Leave(_) => false,
    })
}

impl Places {
    pub(super) fn new(tree: &Tree, graph: &SourceGraph, device: &DeviceLayout) -> Result<Places, Wrong> {
        let mut used: BTreeSet<(Option<usize>, usize)> = BTreeSet::new();
        let mut places = Places::default();
        for item in graph.blocks.iter().flat_map(|block| &block.items) {
            let Item::Statement(frame, number) = *item else { continue };
            let of = graph.frames[frame].function;
            let statement = graph.statement(tree, frame, number);
            for operand in &statement.operands {
                each_operand(operand, &mut |one| {
                    let key = match one.kind {
                        OperandKind::Variable(VariableId::Module(number), _) => (None, number),
                        OperandKind::Variable(VariableId::Own(number), _) => (Some(of), number),
                        _ => return,
                    };
                    used.insert(key);
                });
                // Outside of brackets the name of a parameter is its address.
                if let OperandKind::Variable(VariableId::Own(own), _) = operand.kind
                    && tree.functions[of].variables[own].space == StateSpace::Param
                {
                    places.copied.insert((of, own));
                }
            }
        }
        let variable = |&(of, number): &(Option<usize>, usize)| match of {
            None => &tree.variables[number],
            Some(of) => &tree.functions[of].variables[number],
        };
        let (mut shared, mut private) = (0u64, 0u64);
        if reduces(tree, graph) {
            places.reduction = Some(0);
            shared = 4 * MOST_WAVES;
        }
        let mut dynamic = Vec::new();
        for key in &used {
            let one = variable(key);
            let alignment = u64::from(one.alignment.max(1));
            let end = match one.space {
                StateSpace::Shared if one.bytes.is_none() => {
                    dynamic.push(*key);
                    continue;
                }
                StateSpace::Shared => &mut shared,
                StateSpace::Local => &mut private,
                StateSpace::Param if key.0.is_some_and(|of| places.copied.contains(&(of, key.1))) => {
                    &mut private
                }
                StateSpace::Param => continue,
                StateSpace::Global | StateSpace::Const => {
                    let address = match key.0 {
                        None => device.addresses.get(&key.1),
                        Some(of) => device.of_functions.get(&(of, key.1)),
                    };
                    let Some(&address) = address else {
                        let message = format!("`{}` is declared and nothing defines it", one.name);
                        return Err(
                            Wrong::new(one.at.clone(), message).hint("link the module that defines it")
                        );
                    };
                    places.addresses.insert(*key, address);
                    continue;
                }
            };
            let address = end.next_multiple_of(alignment.max(4));
            *end = address + one.size();
            if *end > MOST_LOCAL {
                return Err(Wrong::new(
                    one.at.clone(),
                    format!("more than {MOST_LOCAL} bytes of such memory"),
                ));
            }
            places.addresses.insert(*key, address as u32);
        }
        let most = dynamic.iter().map(|key| u64::from(variable(key).alignment)).max();
        // Arrays whose length the launch says begin at the end of the others, all at one address.
        let start = shared.next_multiple_of(most.unwrap_or(4).max(4));
        for key in dynamic {
            places.addresses.insert(key, start as u32);
        }
        places.shared_bytes = if most.is_some() { start as u32 } else { shared.next_multiple_of(4) as u32 };
        places.private_bytes = private.next_multiple_of(16) as u32;
        Ok(places)
    }

    /// The address of a variable in its space.
    pub(super) fn address(&self, function: usize, id: VariableId) -> Option<u32> {
        let key = match id {
            VariableId::Module(number) => (None, number),
            VariableId::Own(number) => (Some(function), number),
        };
        self.addresses.get(&key).copied()
    }
}
