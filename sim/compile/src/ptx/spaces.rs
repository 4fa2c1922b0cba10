//! Which spaces generic addresses point to.
//!
//! A generic address has a tag in its upper half: 0 for device memory, [`SHARED`] and [`PRIVATE`] for the others. Where all
//! addresses that may come to an access have one tag, the access needs no test. The analysis does not follow the order of
//! statements: it gives each variable the tags of all its values.

use super::graph::{Item, SourceGraph, parts_of_call};
use super::table::Meaning;
use super::tree::{Formal, Operand, OperandKind, StateSpace, Statement, Tree, VariableId};

/// The tag of addresses of memory of the workgroup.
pub(super) const SHARED: u64 = 1;
/// The tag of addresses of memory of the thread.
pub(super) const PRIVATE: u64 = 2;

/// A set of tags: a bit for each.
pub(super) type Tags = u8;

const NONE: Tags = 1;

/// The bit of a tag.
pub(super) const fn bit(tag: u64) -> Tags {
    1 << tag
}

/// Tags of the values of each variable.
#[derive(Debug)]
pub(super) struct Spaces {
    tags: Vec<Tags>,
    /// Tags of the addresses that are stored.
    stored: Tags,
    changed: bool,
}

impl Spaces {
    pub(super) fn new(tree: &Tree, graph: &SourceGraph) -> Spaces {
        let mut spaces = Spaces { tags: vec![0; graph.variables.len()], stored: 0, changed: true };
        while std::mem::take(&mut spaces.changed) {
            for item in graph.blocks.iter().flat_map(|block| &block.items) {
                match *item {
                    Item::Statement(frame, number) => {
                        spaces.statement(graph, frame, graph.statement(tree, frame, number));
                    }
                    Item::Enter(frame) => spaces.pass(tree, graph, frame, true),
                    Item::Leave(frame) => spaces.pass(tree, graph, frame, false),
                }
            }
        }
        spaces
    }

    /// The tags of a variable.
    pub(super) fn of(&self, variable: u32) -> Tags {
        self.tags[variable as usize]
    }

    fn join(&mut self, variable: u32, tags: Tags) {
        let known = &mut self.tags[variable as usize];
        self.changed |= *known | tags != *known;
        *known |= tags;
    }

    fn operand(&self, graph: &SourceGraph, frame: usize, operand: &Operand) -> Tags {
        match &operand.kind {
            OperandKind::Register(id) => self.of(graph.frames[frame].first + id.0),
            OperandKind::Vector(all) => {
                all.iter().fold(0, |tags, one| tags | self.operand(graph, frame, one))
            }
            _ => NONE,
        }
    }

    fn set(&mut self, graph: &SourceGraph, frame: usize, operand: &Operand, tags: Tags) {
        match &operand.kind {
            OperandKind::Register(id) => self.join(graph.frames[frame].first + id.0, tags),
            OperandKind::Vector(all) => all.iter().for_each(|one| self.set(graph, frame, one, tags)),
            OperandKind::Both(first, _) => self.set(graph, frame, first, tags),
            _ => {}
        }
    }

    /// The variable of the word that an address in the space of parameters names.
    fn word(graph: &SourceGraph, frame: usize, address: &Operand) -> Option<u32> {
        let OperandKind::Address(base, offset) = &address.kind else { return None };
        let OperandKind::Variable(VariableId::Own(own), _) = base.kind else { return None };
        let first = graph.frames[frame].words.get(&own)?;
        first.checked_add(u32::try_from(*offset / 4).ok()?)
    }

    fn statement(&mut self, graph: &SourceGraph, frame: usize, statement: &Statement) {
        let operands = &statement.operands;
        let all = |spaces: &Spaces, some: &[Operand]| {
            some.iter().fold(0, |tags, one| tags | spaces.operand(graph, frame, one))
        };
        let Some(first) = operands.first() else { return };
        let tags = match statement.row.meaning {
            Meaning::ConvertAddress => match space_of(statement) {
                _ if statement.has("to") => NONE,
                Some(StateSpace::Shared) => bit(SHARED),
                Some(StateSpace::Local | StateSpace::Param) => bit(PRIVATE),
                _ => NONE,
            },
            Meaning::Load => match Spaces::word(graph, frame, &operands[1]) {
                Some(word) if word < self.tags.len() as u32 => self.of(word),
                _ => NONE | self.stored,
            },
            Meaning::Store => {
                let tags = self.operand(graph, frame, &operands[1]);
                match Spaces::word(graph, frame, first) {
                    Some(word) if word < self.tags.len() as u32 => self.join(word, tags),
                    _ => self.escape(tags),
                }
                return;
            }
            Meaning::Atomic => {
                let tags = all(self, &operands[1..]);
                self.escape(tags);
                NONE | self.stored
            }
            Meaning::Add | Meaning::And | Meaning::Or | Meaning::Xor => {
                let [a, b] = [1, 2].map(|number| self.operand(graph, frame, &operands[number]));
                combined(a, b, false)
            }
            Meaning::Subtract => {
                let [a, b] = [1, 2].map(|number| self.operand(graph, frame, &operands[number]));
                combined(a, b, true)
            }
            Meaning::MultiplyAdd => combined(NONE, self.operand(graph, frame, &operands[3]), false),
            Meaning::Move
            | Meaning::Select
            | Meaning::SelectBySign
            | Meaning::MaxMin
            | Meaning::Convert
            | Meaning::ShiftLeft
            | Meaning::ShiftRight
            | Meaning::Permute
            | Meaning::Lookup3
            | Meaning::BitFieldInsert
            | Meaning::Shuffle => all(self, &operands[1..]),
            _ => NONE,
        };
        self.set(graph, frame, first, tags);
    }

    fn escape(&mut self, tags: Tags) {
        let tags = tags & !NONE;
        self.changed |= self.stored | tags != self.stored;
        self.stored |= tags;
    }

    /// What a call passes: arguments, or results.
    fn pass(&mut self, tree: &Tree, graph: &SourceGraph, frame: usize, enters: bool) {
        let Some((caller, number)) = graph.frames[frame].caller else { return };
        let function = graph.function(tree, frame);
        let (results, _, arguments) = parts_of_call(graph.statement(tree, caller, number));
        let (actual, formal) =
            if enters { (arguments, &function.parameters) } else { (results, &function.results) };
        for (actual, formal) in actual.iter().zip(formal) {
            let inside = match formal {
                Formal::Register(id) => vec![graph.frames[frame].first + id.0],
                Formal::Memory(own) => {
                    let first = graph.frames[frame].words[own];
                    (first..first + function.variables[*own].size().div_ceil(4) as u32).collect()
                }
            };
            let outside: Vec<u32> = match actual.kind {
                OperandKind::Register(id) => vec![graph.frames[caller].first + id.0; inside.len()],
                OperandKind::Variable(VariableId::Own(own), _) => {
                    match graph.frames[caller].words.get(&own) {
                        Some(&first) => (first..first + inside.len() as u32).collect(),
                        None => continue,
                    }
                }
                _ => continue,
            };
            for (inside, outside) in inside.into_iter().zip(outside) {
                let (from, into) = if enters { (outside, inside) } else { (inside, outside) };
                if let (Some(&tags), true) = (self.tags.get(from as usize), (into as usize) < self.tags.len())
                {
                    self.join(into, tags);
                }
            }
        }
    }
}

/// The tags of a sum, or of a difference.
fn combined(a: Tags, b: Tags, is_difference: bool) -> Tags {
    let mut tags = 0;
    for i in (0..3).filter(|i| a >> i & 1 == 1) {
        for j in (0..3).filter(|j| b >> j & 1 == 1) {
            tags |= match (i, j) {
                (i, 0) => 1 << i,
                (0, _) if is_difference => NONE,
                (0, j) => 1 << j,
                (i, j) if i == j && is_difference => NONE,
                (i, j) if i == j => 1 << i,
                _ => 0b111,
            };
        }
    }
    tags
}

/// The state space that an instruction names.
pub(super) fn space_of(statement: &Statement) -> Option<StateSpace> {
    statement.modifiers.iter().find_map(|modifier| StateSpace::from_name(modifier))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_has_the_tag_of_its_address() {
        let (shared, private) = (bit(SHARED), bit(PRIVATE));
        assert_eq!(combined(shared, NONE, false), shared);
        assert_eq!(combined(NONE, shared | NONE, false), shared | NONE);
        assert_eq!(combined(shared, shared, true), NONE);
        assert_eq!(combined(shared, private, false), 0b111);
        assert_eq!(combined(0, shared, false), 0);
    }
}
