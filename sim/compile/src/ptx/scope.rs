//! Names in nested blocks: registers, ranges of registers, variables, labels.

use super::tree::RegisterId;
use std::collections::HashMap;

/// What a name of a block stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    Register(RegisterId),
    /// A variable of the function, by its number.
    Variable(usize),
}

#[derive(Debug, Default)]
struct Scope {
    names: HashMap<String, Named>,
    /// Registers with numbers: what comes before the number, the first register and how many there are.
    ranges: HashMap<String, (u32, u32)>,
    /// The number of the block, and that of the one around it.
    number: usize,
}

/// The blocks around a statement.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    open: Vec<Scope>,
    /// For each block the one around it.
    outer: Vec<Option<usize>>,
    /// Labels of each block, and of tables.
    labels: HashMap<(usize, String), usize>,
    tables: HashMap<(usize, String), usize>,
}

impl Scopes {
    pub(super) fn open(&mut self) {
        let outer = self.open.last().map(|scope| scope.number);
        let number = self.outer.len();
        self.outer.push(outer);
        self.open.push(Scope { number, ..Scope::default() });
    }

    /// Closes the innermost block. True if it was the outermost.
    pub(super) fn close(&mut self) -> bool {
        self.open.pop();
        self.open.is_empty()
    }

    /// The number of the innermost block.
    pub(super) fn current(&self) -> usize {
        self.open.last().map_or(0, |scope| scope.number)
    }

    fn innermost(&mut self) -> &mut Scope {
        self.open.last_mut().expect("a function has a block")
    }

    pub(super) fn register(&mut self, name: &str, id: RegisterId) {
        self.innermost().names.insert(name.to_owned(), Named::Register(id));
    }

    pub(super) fn range(&mut self, base: &str, first: u32, count: u32) {
        self.innermost().ranges.insert(base.to_owned(), (first, count));
    }

    pub(super) fn variable(&mut self, name: &str, number: usize) {
        self.innermost().names.insert(name.to_owned(), Named::Variable(number));
    }

    /// What a name stands for: in the innermost block that has it.
    pub(super) fn find(&self, name: &str) -> Option<Named> {
        self.open
            .iter()
            .rev()
            .find_map(|scope| scope.names.get(name).copied().or_else(|| scope.of_range(name)))
    }

    /// Names that are visible, for suggestions.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.open.iter().flat_map(|scope| scope.names.keys().chain(scope.ranges.keys())).map(String::as_str)
    }

    /// Defines a label in the innermost block. False if it is there.
    pub(super) fn label(&mut self, name: &str, number: usize) -> bool {
        self.labels.insert((self.current(), name.to_owned()), number).is_none()
    }

    /// Defines a table of labels in the innermost block. False if it is there.
    pub(super) fn table(&mut self, name: &str, number: usize) -> bool {
        self.tables.insert((self.current(), name.to_owned()), number).is_none()
    }

    /// A label that is visible in a block.
    pub(super) fn find_label(&self, block: usize, name: &str) -> Option<usize> {
        self.find_in(&self.labels, block, name)
    }

    /// A table of labels that is visible in a block.
    pub(super) fn find_table(&self, block: usize, name: &str) -> Option<usize> {
        self.find_in(&self.tables, block, name)
    }

    fn find_in(&self, all: &HashMap<(usize, String), usize>, block: usize, name: &str) -> Option<usize> {
        let mut block = Some(block);
        while let Some(number) = block {
            if let Some(&found) = all.get(&(number, name.to_owned())) {
                return Some(found);
            }
            block = self.outer[number];
        }
        // A label may also stand in a block that is closed: names of labels are unique in practice.
        let mut found = all.iter().filter(|((_, other), _)| other == name).map(|(_, &number)| number);
        found.next().filter(|_| found.next().is_none())
    }
}

impl Scope {
    fn of_range(&self, name: &str) -> Option<Named> {
        let digits = name.len() - name.bytes().rev().take_while(u8::is_ascii_digit).count();
        (digits.max(1)..name.len()).find_map(|split| {
            let (base, number) = name.split_at(split);
            let &(first, count) = self.ranges.get(base)?;
            let has_zeros = number.len() > 1 && number.starts_with('0');
            let number: u32 = number.parse().ok().filter(|&number| number < count && !has_zeros)?;
            Some(Named::Register(RegisterId(first + number)))
        })
    }
}
