//! Accesses to neighbouring words of one block that become one wide access.
//!
//! Words join where they have one base and lie at a multiple of the width from it: two words, or in device memory four.
//! The base itself may have any alignment: an access that is not aligned works, and is charged as its parts. Loads come
//! with the first of them, stores with the last; between the two no other access may touch these words, and nothing
//! orders memory.

use crate::ir::{Access, Binary, Block, Constant, Function, MemoryId, Module, Operation, Space, Value};
use cranelift_entity::SecondaryMap;
use std::collections::HashMap;

/// An access of several words.
#[derive(Debug, Clone)]
pub(super) struct Group {
    /// The base, and what is added to it.
    pub(super) base: Value,
    pub(super) offset: u32,
    /// Bytes: 8 or 16.
    pub(super) bytes: u32,
    /// The values loaded or stored, in the order of addresses.
    pub(super) values: Vec<Value>,
}

/// What becomes of an access.
#[derive(Debug, Clone)]
pub(super) enum Part {
    /// All of the group is done here.
    Whole(Group),
    /// It is done with another one.
    Elsewhere,
}

/// The accesses that join.
#[derive(Debug, Default)]
pub(super) struct Joined {
    parts: HashMap<(Block, usize), Part>,
}

impl Joined {
    /// What becomes of the access that is the instruction of this number, if it joins others.
    pub(super) fn part(&self, block: Block, number: usize) -> Option<&Part> {
        self.parts.get(&(block, number))
    }

    /// Finds the accesses of a function that join, and counts who uses their addresses now.
    pub(super) fn new<'a>(
        module: &Module,
        function: &Function,
        uses: &mut SecondaryMap<Value, u32>,
        operation: impl Fn(Value) -> Option<&'a Operation>,
    ) -> Joined {
        let mut joined = Joined::default();
        for (block, body) in &function.blocks {
            let mut finder = Finder { module, block, open: Vec::new(), joined: &mut joined, uses };
            for (number, instruction) in body.instructions.iter().enumerate() {
                match &instruction.operation {
                    Operation::Load(access, address) => {
                        let value = instruction.results[0];
                        finder.access(Kind::Load, number, *access, *address, value, &operation);
                    }
                    Operation::Store(access, [address, value]) => {
                        finder.access(Kind::Store, number, *access, *address, *value, &operation);
                    }
                    // What does not touch memory.
                    other if other.is_pure() || matches!(other, Operation::Double(..)) => {}
                    _ => finder.close(|_| true),
                }
            }
            finder.close(|_| true);
        }
        joined
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Load,
    Store,
}

/// A word that may join others.
#[derive(Debug, Clone, Copy)]
struct Word {
    number: usize,
    /// Bytes behind the base.
    offset: i64,
    address: Value,
    value: Value,
}

/// Words of one base since something touched them.
struct Words {
    kind: Kind,
    memory: MemoryId,
    base: Value,
    words: Vec<Word>,
}

struct Finder<'a> {
    module: &'a Module,
    block: Block,
    open: Vec<Words>,
    joined: &'a mut Joined,
    uses: &'a mut SecondaryMap<Value, u32>,
}

impl Finder<'_> {
    fn access<'a>(
        &mut self,
        kind: Kind,
        number: usize,
        access: Access,
        address: Value,
        value: Value,
        operation: &impl Fn(Value) -> Option<&'a Operation>,
    ) {
        let (base, more) = match operation(address) {
            Some(&Operation::Binary(Binary::Add, [base, more])) => match operation(more) {
                Some(Operation::Constant(Constant::I32(bits))) => (base, i64::from(bits.cast_signed())),
                _ => (address, 0),
            },
            _ => (address, 0),
        };
        let offset = i64::from(access.offset) + more;
        let space = |memory: MemoryId| self.module.memories[memory].space;
        let own = space(access.memory);
        let bytes = i64::from(access.bytes);
        let apart = |words: &Words| {
            let touches = |word: &Word| word.offset < offset + bytes && offset < word.offset + 4;
            words.base == base && !words.words.iter().any(touches)
        };
        let ends = |words: &Words| {
            let is_over = match (words.kind, kind) {
                (Kind::Load, Kind::Load) => false,
                // A load that comes later would move in front of this store, whatever it touches.
                (Kind::Load, Kind::Store) => true,
                (Kind::Store, _) => !apart(words),
            };
            space(words.memory) == own && is_over
        };
        self.close(ends);
        if access.bytes != 4 {
            return;
        }
        let word = Word { number, offset, address, value };
        let same = |words: &&mut Words| (words.kind, words.memory, words.base) == (kind, access.memory, base);
        match self.open.iter_mut().find(same) {
            Some(words) if words.words.iter().all(|other| other.offset != offset) => words.words.push(word),
            Some(_) => {}
            None => self.open.push(Words { kind, memory: access.memory, base, words: vec![word] }),
        }
    }

    /// Joins what can be joined of some words, and forgets them.
    fn close(&mut self, which: impl Fn(&Words) -> bool) {
        let (closed, open) = std::mem::take(&mut self.open).into_iter().partition(|words| which(words));
        self.open = open;
        for mut words in closed {
            words.words.sort_by_key(|word| word.offset);
            let most = if self.module.memories[words.memory].space == Space::Local { 2 } else { 4 };
            let mut first = 0;
            while first < words.words.len() {
                let start = words.words[first].offset;
                let fits = |&count: &usize| {
                    let run = words.words.get(first..first + count);
                    let in_a_row = |run: &[Word]| {
                        run.iter().zip(0..).all(|(word, place)| word.offset == start + 4 * place)
                    };
                    count <= most && start.rem_euclid(4 * count as i64) == 0 && run.is_some_and(in_a_row)
                };
                let count = [4, 2].into_iter().find(fits).unwrap_or(1);
                if count > 1 {
                    let run = words.words[first..first + count].to_vec();
                    self.join(words.kind, words.base, &run);
                }
                first += count;
            }
        }
    }

    fn join(&mut self, kind: Kind, base: Value, words: &[Word]) {
        let numbers = words.iter().map(|word| word.number);
        let place = match kind {
            Kind::Load => numbers.min(),
            Kind::Store => numbers.max(),
        };
        for word in words {
            self.uses[word.address] -= 1;
            let part = match Some(word.number) == place {
                false => Part::Elsewhere,
                true => Part::Whole(Group {
                    base,
                    offset: words[0].offset as u32,
                    bytes: 4 * words.len() as u32,
                    values: words.iter().map(|word| word.value).collect(),
                }),
            };
            self.joined.parts.insert((self.block, word.number), part);
        }
        self.uses[base] += 1;
    }
}
