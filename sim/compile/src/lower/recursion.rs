//! The functions of a cycle of the call graph become one function: a loop with frames in private memory.
//!
//! The loop has a state for the start of each function and for the place behind each call inside of the cycle. Such a
//! call saves the values that are wanted behind it, and the number of that state, in a frame, and goes on with the state
//! of the called function; a return takes the state from the last frame. Depth is bounded by the memory for frames only,
//! and its end is a trap.

mod close;

use super::calls::{callees, wrapper};
use super::edit::Editor;
use super::unused::drop_unreached;
use crate::ir::{
    Access, Binary, Block, Compare, Convert, Function, FunctionId, Instruction, Memory, MemoryId, Module,
    Operation, PRIVATE_PAGE_BYTES, Place, Signature, Space, Target, Terminator, Trap, Type, Value,
};
use cranelift_entity::{EntitySet, SecondaryMap};
use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;

/// Makes one function of each cycle that the entry reaches; `frame_bytes` are those of the frames of one cycle. Gives
/// the entry, which is another function if it was in a cycle itself.
pub(crate) fn to_loops(module: &mut Module, entry: FunctionId, frame_bytes: u32) -> FunctionId {
    let mut graph = DiGraphMap::<FunctionId, ()>::new();
    let mut work = vec![entry];
    let mut seen: EntitySet<FunctionId> = EntitySet::new();
    while let Some(id) = work.pop() {
        if !seen.insert(id) {
            continue;
        }
        graph.add_node(id);
        let Some(function) = module.functions.get_mut(id) else { continue };
        drop_unreached(function);
        for (callee, _) in callees(function) {
            graph.add_edge(id, callee, ());
            work.push(callee);
        }
    }
    let mut entry = entry;
    for mut members in tarjan_scc(&graph) {
        let calls_itself = graph.contains_edge(members[0], members[0]);
        if members.len() == 1 && !calls_itself {
            continue;
        }
        members.sort_unstable();
        if members.contains(&entry) {
            entry = wrapper(module, entry);
        }
        Cycle::new(module, members, frame_bytes).merge(module);
    }
    entry
}

/// Types of values that are passed in places of their own: one place can have any value of its type.
#[derive(Debug, Clone, Default)]
struct Pool(Vec<Type>);

impl Pool {
    /// Makes room for values of these types.
    fn extend(&mut self, types: &[Type]) {
        for (number, &ty) in types.iter().enumerate() {
            let before = types[..number].iter().filter(|&&other| other == ty).count();
            if self.0.iter().filter(|&&other| other == ty).count() <= before {
                self.0.push(ty);
            }
        }
    }

    /// The places of values of these types.
    fn places(&self, types: &[Type]) -> Vec<usize> {
        let place = |(number, &ty): (usize, &Type)| {
            let before = types[..number].iter().filter(|&&other| other == ty).count();
            let mut places = (0..self.0.len()).filter(|&place| self.0[place] == ty);
            places.nth(before).expect("the pool has room")
        };
        types.iter().enumerate().map(place).collect()
    }

    /// Values for all places: these, and zeros.
    fn fill(&self, editor: &mut Editor, values: &[Value]) -> Vec<Value> {
        let types: Vec<Type> = values.iter().map(|&value| editor.ty(value)).collect();
        let places = self.places(&types);
        let mut all: Vec<Option<Value>> = vec![None; self.0.len()];
        for (&place, &value) in places.iter().zip(values) {
            all[place] = Some(value);
        }
        let zero = |(value, &ty): (Option<Value>, &Type)| value.unwrap_or_else(|| editor.constant(ty, 0));
        all.into_iter().zip(&self.0).map(zero).collect()
    }
}

/// A cycle, and the function that it becomes.
struct Cycle {
    members: Vec<FunctionId>,
    signatures: SecondaryMap<FunctionId, Signature>,
    /// What goes to the start of functions, and behind calls.
    pool: Pool,
    results: Pool,
    memory: MemoryId,
    frame_bytes: u32,
    function: Function,
    /// The block that goes on with a state: its number, the frame, and the pool.
    dispatch: Block,
    /// The blocks of the states, and the types of their values; each has the frame as its last parameter.
    states: Vec<(Block, Vec<Type>)>,
}

impl Cycle {
    fn new(module: &mut Module, members: Vec<FunctionId>, frame_bytes: u32) -> Cycle {
        let frame_bytes = frame_bytes.next_multiple_of(PRIVATE_PAGE_BYTES as u32);
        let pages = u64::from(frame_bytes) / PRIVATE_PAGE_BYTES;
        let memory = module.memories.push(Memory::new(Space::Private, pages, Some(pages)));
        let (mut pool, mut results, mut signatures) = (Pool::default(), Pool::default(), SecondaryMap::new());
        for &id in &members {
            let signature = module.functions[id].signature.clone();
            pool.extend(&signature.parameters);
            pool.extend(&signature.results);
            results.extend(&signature.results);
            signatures[id] = signature;
        }
        let first = &module.functions[members[0]];
        let parameters = [Type::I32].into_iter().chain(pool.0.iter().copied()).collect();
        let signature = Signature { parameters, results: results.0.clone() };
        let mut function = Function::new(first.name.clone(), signature, first.at);
        let types: Vec<Type> = [Type::I32; 2].into_iter().chain(pool.0.iter().copied()).collect();
        let dispatch = function.block(&types);
        Cycle {
            members,
            signatures,
            pool,
            results,
            memory,
            frame_bytes,
            function,
            dispatch,
            states: Vec::new(),
        }
    }

    /// Makes the function, and lets all others call it.
    fn merge(mut self, module: &mut Module) {
        let mut open = Vec::new();
        for &id in &self.members.clone() {
            open.push(self.copy(&module.functions[id]));
            let signature = self.signatures[id].parameters.clone();
            let (entry, _) = *open.last().expect("it was pushed");
            self.states.push((entry, signature));
        }
        // The state of the first frame is the end.
        let last = self.function.block(&[]);
        for (entry, blocks) in open {
            _ = entry;
            for (block, frame) in blocks {
                self.block(block, frame);
            }
        }
        self.begin(last);
        let id = module.functions.push(self.function.clone());
        for (other, function) in &mut module.functions {
            if other != id && !self.members.contains(&other) {
                self.call_from_outside(function, id);
            }
        }
    }

    /// Copies the blocks of a function, each with all that it takes as parameters. Gives the first one, and the blocks
    /// with the frame of each that has one.
    fn copy(&mut self, member: &Function) -> (Block, Vec<(Block, Option<Value>)>) {
        let mut member = member.clone();
        let frame = member.value(Type::I32);
        let entry = member.entry();
        member.blocks[entry].parameters.push(frame);
        let is_inside = |operation: &Operation| match operation {
            Operation::Call(callee, _) => self.members.contains(callee),
            _ => false,
        };
        let frames = close::close(&mut member, frame, is_inside);
        let mut copies: SecondaryMap<Value, Option<Value>> = SecondaryMap::new();
        for (value, &ty) in &member.values {
            copies[value] = Some(self.function.value(ty));
        }
        let copy = |value: Value| copies[value].expect("all are copied");
        let blocks: Vec<Block> = member.blocks.keys().map(|_| self.function.block(&[])).collect();
        for (body, &block) in member.blocks.values().zip(&blocks) {
            self.function.blocks[block] = body.copied(copy, |target| blocks[target.as_u32() as usize]);
        }
        let with_frame = member.blocks.keys().zip(&blocks);
        let all = with_frame.map(|(old, &new)| (new, frames[old].map(copy))).collect();
        (blocks[0], all)
    }

    fn access(&self, ty: Type, offset: u32) -> Access {
        Access { memory: self.memory, ty, bytes: ty.bytes(), signed: false, offset }
    }

    /// Replaces the calls inside of the cycle, and the return, in a block.
    fn block(&mut self, mut block: Block, mut frame: Option<Value>) {
        loop {
            let call = self.function.blocks[block].instructions.iter().position(|one| match &one.operation {
                Operation::Call(callee, _) => self.members.contains(callee),
                _ => false,
            });
            let Some(number) = call else { break };
            let at_frame = frame.expect("a block with a call has the frame");
            (block, frame) = self.call(block, number, at_frame);
        }
        let at = self.function.blocks[block].at;
        if let Terminator::Return(values) = self.function.blocks[block].terminator.clone() {
            let frame = frame.expect("a block with a return has the frame");
            let state = self.access(Type::I32, 0);
            let mut editor = Editor::at_end(&mut self.function, block, at);
            let place = editor.with(Binary::Sub, frame, 4);
            let state = editor.emit(Operation::Load(state, place), Type::I32);
            let mut arguments = vec![state, frame];
            arguments.extend(self.pool.fill(&mut editor, &values));
            let target = Target { block: self.dispatch, arguments };
            self.function.blocks[block].terminator = Terminator::Jump(target);
        }
    }

    /// Replaces a call inside of the cycle. Gives the block behind it, and the frame there.
    fn call(&mut self, block: Block, number: usize, frame: Value) -> (Block, Option<Value>) {
        let mut rest = self.function.blocks[block].instructions.split_off(number);
        let call = rest.remove(0);
        let Operation::Call(callee, arguments) = &call.operation else {
            unreachable!("the instruction of this number is a call")
        };
        let body = &mut self.function.blocks[block];
        let (end, end_at) =
            (std::mem::replace(&mut body.terminator, Terminator::Return(Vec::new())), body.at);
        // What is taken behind the call and made before it. The frame is known by its end.
        let mut made: EntitySet<Value> = EntitySet::new();
        made.extend(rest.iter().flat_map(|one| &one.results).chain(&call.results).chain([&frame]).copied());
        let targets = end.targets().iter().flat_map(|target| &target.arguments);
        let taken = rest.iter().flat_map(|one| one.operation.operands());
        let taken = taken.chain(end.operands().iter().copied()).chain(targets.copied());
        let mut saved: Vec<Value> = taken.filter(|&value| !made.contains(value)).collect();
        saved.sort_unstable();
        saved.dedup();

        let mut offset = 0;
        let mut places = Vec::new();
        for &value in &saved {
            let ty = self.function.values[value];
            let ty = if ty == Type::Bool { Type::I32 } else { ty };
            places.push((ty, offset));
            offset += ty.bytes();
        }
        let size = offset + 4;
        let types: Vec<Type> = call.results.iter().map(|&value| self.function.values[value]).collect();
        let behind = self.function.block(&[]);
        let state = self.states.len() as u32;
        self.states.push((behind, types));

        // In front of the call.
        let accesses: Vec<Access> = places.iter().map(|&(ty, offset)| self.access(ty, offset)).collect();
        let state_access = self.access(Type::I32, offset);
        let callee = self.members.iter().position(|id| id == callee).expect("it is in the cycle");
        let mut editor = Editor::at_end(&mut self.function, block, call.at);
        let next = editor.with(Binary::Add, frame, size.into());
        let past = editor.compare_with(Compare::GtU, next, self.frame_bytes.into());
        editor.leave_if(past, Terminator::Trap(Trap::StackExhausted));
        let state = editor.i32(state);
        for (&value, &access) in saved.iter().zip(&accesses).chain([(&state, &state_access)]) {
            let is_bool = editor.ty(value) == Type::Bool;
            let value = if is_bool { editor.convert(Convert::BoolToI32, value) } else { value };
            let operation = Operation::Store(access, [frame, value]);
            editor.keep(Instruction { operation, results: Vec::new(), at: call.at });
        }
        let mut to = vec![editor.i32(callee as u32), next];
        to.extend(self.pool.fill(&mut editor, arguments));
        let block = editor.block;
        self.function.blocks[block].terminator =
            Terminator::Jump(Target { block: self.dispatch, arguments: to });
        self.function.blocks[block].at = call.at;

        // Behind it.
        let above = self.function.value(Type::I32);
        self.function.blocks[behind].parameters = call.results.iter().copied().chain([above]).collect();
        self.function.blocks[behind].at = end_at;
        let mut editor = Editor::at_end(&mut self.function, behind, call.at);
        let before = editor.with(Binary::Sub, above, size.into());
        let mut renamed: SecondaryMap<Value, Option<Value>> = SecondaryMap::new();
        renamed[frame] = Some(before);
        for (&value, &access) in saved.iter().zip(&accesses) {
            let loaded = editor.emit(Operation::Load(access, before), access.ty);
            let is_bool = editor.ty(value) == Type::Bool;
            renamed[value] = Some(if is_bool { editor.compare_with(Compare::Ne, loaded, 0) } else { loaded });
        }
        let mut rename = |value: &mut Value| {
            if let Some(new) = renamed[*value] {
                *value = new;
            }
        };
        for mut instruction in rest {
            instruction.operation.operands_mut().for_each(&mut rename);
            self.function.blocks[behind].instructions.push(instruction);
        }
        let mut end = end;
        end.operands_mut().iter_mut().for_each(&mut rename);
        end.targets_mut().iter_mut().flat_map(|target| &mut target.arguments).for_each(&mut rename);
        self.function.blocks[behind].terminator = end;
        (behind, Some(before))
    }

    /// Makes the start, the choice among states, and the end.
    fn begin(&mut self, last: Block) {
        let at = self.function.at;
        let entry = self.function.entry();
        let given = self.function.blocks[entry].parameters.clone();
        let access = self.access(Type::I32, 0);
        let end = self.states.len() as u32;
        let mut editor = Editor::at_end(&mut self.function, entry, at);
        let [zero, end, frame] = [0, end, 4].map(|number| editor.i32(number));
        let operation = Operation::Store(access, [zero, end]);
        editor.keep(Instruction { operation, results: Vec::new(), at });
        let arguments = [given[0], frame].into_iter().chain(given[1..].iter().copied()).collect();
        self.function.blocks[entry].terminator = Terminator::Jump(Target { block: self.dispatch, arguments });
        let parameters = self.function.blocks[self.dispatch].parameters.clone();
        let (frame, values) = (parameters[1], &parameters[2..]);
        let targets = self.states.iter().map(|(block, types)| {
            let places = self.pool.places(types);
            let arguments = places.into_iter().map(|place| values[place]).chain([frame]).collect();
            Target { block: *block, arguments }
        });
        let end = Target { block: last, arguments: Vec::new() };
        let targets = targets.chain([end]).collect();
        let results = self.pool.places(&self.results.0).into_iter().map(|place| values[place]).collect();
        self.function.blocks[self.dispatch].terminator = Terminator::Switch(parameters[0], targets);
        self.function.blocks[self.dispatch].at = at;
        self.function.blocks[last].terminator = Terminator::Return(results);
        self.function.blocks[last].at = at;
    }

    /// Lets calls of members in another function call the function that they have become.
    fn call_from_outside(&self, function: &mut Function, id: FunctionId) {
        for block in function.blocks.keys().collect::<Vec<_>>() {
            let calls_member = |one: &Instruction| match &one.operation {
                Operation::Call(callee, _) => self.members.contains(callee),
                _ => false,
            };
            if !function.blocks[block].instructions.iter().any(calls_member) {
                continue;
            }
            let instructions = std::mem::take(&mut function.blocks[block].instructions);
            let mut editor = Editor::at_end(function, block, Place::default());
            for instruction in instructions {
                editor.at = instruction.at;
                let Operation::Call(callee, arguments) = &instruction.operation else {
                    editor.keep(instruction);
                    continue;
                };
                let Some(state) = self.members.iter().position(|member| member == callee) else {
                    editor.keep(instruction);
                    continue;
                };
                let mut all = vec![editor.i32(state as u32)];
                all.extend(self.pool.fill(&mut editor, arguments));
                let places = self.results.places(&self.signatures[*callee].results);
                let types = self.results.0.iter();
                let mut results: Vec<Value> = types.map(|&ty| editor.function.value(ty)).collect();
                for (place, &result) in places.into_iter().zip(&instruction.results) {
                    results[place] = result;
                }
                let operation = Operation::Call(id, all);
                editor.keep(Instruction { operation, results, at: instruction.at });
            }
        }
    }
}
