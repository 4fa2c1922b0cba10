//! The first walk over a function: types, errors, and what the translation has to know ahead.
//!
//! The type of a construct is that of the values that reach its end: by its last expression, and by branches. If they
//! have one type, it is that; else the construct has no value. What control does not reach adds nothing, but its
//! operands are checked too.

use super::operators::Form;
use super::sections::Sections;
use super::tree::{Code, Immediate, Node, SwitchTarget, Visitor, walk};
use crate::encoding::{Error, Fault};
use crate::ir::{Signature, Type};
use crate::wasm::Scan;
use std::collections::BTreeSet;

/// What an expression gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Given {
    /// Control does not come to its end: it stands for a value of any type.
    Never,
    /// No value.
    Nothing,
    Value(Type),
}

impl Given {
    /// What there is where control comes with one or the other.
    fn or(self, other: Given) -> Given {
        match (self, other) {
            (Given::Never, given) | (given, Given::Never) => given,
            _ if self == other => self,
            _ => Given::Nothing,
        }
    }

    fn of(result: &[Type]) -> Given {
        result.first().map_or(Given::Nothing, |&ty| Given::Value(ty))
    }

    fn name(self) -> &'static str {
        match self {
            Given::Never => "never complete",
            Given::Nothing => "without a value",
            Given::Value(ty) => ty.name(),
        }
    }
}

/// What is known of a function that is right.
#[derive(Debug, Default)]
pub(super) struct Checked {
    /// Assignments, and ends of constructs in the order in which the translation opens them.
    pub(super) scan: Scan,
    /// The value of each of these constructs.
    pub(super) results: Vec<Option<Type>>,
    /// Signatures that indirect calls name.
    pub(super) indirect: BTreeSet<u32>,
}

/// A label, with what reaches it.
#[derive(Debug, Clone, Copy)]
struct Label {
    given: Given,
    is_reached: bool,
}

const NEW: Label = Label { given: Given::Never, is_reached: false };

/// A node that has begun.
#[derive(Debug, Clone, Copy)]
struct Open {
    /// The first of its constructs.
    construct: usize,
    /// What its end has so far, where it has no label.
    end: Label,
    /// Whether control comes to its other branch.
    otherwise: bool,
    /// The type of the first operand of a `select`.
    first: Given,
}

struct Check<'a> {
    code: &'a Code<'a>,
    checked: Checked,
    labels: Vec<Label>,
    /// For each `tableswitch` that is open, to which of its cases the switch goes.
    cases: Vec<Vec<bool>>,
    open: Vec<Open>,
    is_reached: bool,
    /// What the expression gives that was complete last.
    last: Given,
}

/// Checks a function with a body.
pub(super) fn check(code: &Code<'_>) -> Result<Checked, Error> {
    let mut check = Check {
        code,
        checked: Checked::default(),
        labels: Vec::new(),
        cases: Vec::new(),
        open: Vec::new(),
        is_reached: true,
        last: Given::Nothing,
    };
    walk(code, &mut check)?;
    let wanted = Given::of(&code.signature.results);
    if check.is_reached && matches!(wanted, Given::Value(_)) && check.last != wanted {
        let message =
            format!("the function gives {}, and its last expression is {}", wanted.name(), check.last.name());
        return Err(invalid(message, code.body.end));
    }
    check.checked.scan.assignments.sort_unstable();
    Ok(check.checked)
}

fn invalid(message: String, at: usize) -> Error {
    Error::new(Fault::Invalid, message).at(at as u64)
}

impl Check<'_> {
    fn sections(&self) -> &Sections {
        self.code.sections
    }

    /// A construct that the translation opens. Its end and its value come later.
    fn construct(&mut self, has_else: bool) -> usize {
        self.checked.scan.ends.push(0);
        self.checked.scan.has_else.push(has_else);
        self.checked.results.push(None);
        self.checked.results.len() - 1
    }

    fn top(&mut self) -> &mut Open {
        self.open.last_mut().expect("the node has begun")
    }

    /// Control goes to a label with what was given last.
    fn arrive(is_reached: bool, given: Given, label: &mut Label) {
        if is_reached {
            label.given = label.given.or(given);
            label.is_reached = true;
        }
    }

    /// The label of this depth.
    fn label(&mut self, node: &Node, depth: u32) -> Result<&mut Label, Error> {
        let count = self.labels.len();
        let index = count.checked_sub(depth as usize + 1);
        let index = index.ok_or_else(|| {
            invalid(
                format!("`{}` names depth {depth}, and there are {count} constructs", node.row.name),
                node.at,
            )
        })?;
        Ok(&mut self.labels[index])
    }

    /// Branches with what was given last. A branch that is not taken goes on.
    fn branch(&mut self, node: &Node, depth: u32, given: Given) -> Result<(), Error> {
        let is_reached = self.is_reached;
        let label = self.label(node, depth)?;
        Check::arrive(is_reached, given, label);
        Ok(())
    }

    /// Checks what was given last as an operand of a node.
    fn operand(&self, node: &Node, index: u32, at: usize, wanted: Type) -> Result<(), Error> {
        if self.last == Given::Never || self.last == Given::Value(wanted) {
            return Ok(());
        }
        let message = format!(
            "operand {index} of `{}` is {wanted}, and the expression here is {}",
            node.row.name,
            self.last.name()
        );
        Err(invalid(message, at))
    }

    /// The end of a construct with its label: control comes from the label only.
    fn join(&mut self, label: Label) -> Given {
        self.is_reached = label.is_reached;
        if label.is_reached { label.given } else { Given::Never }
    }

    /// Sets end and value of constructs from `first` on, of which the first `valued` have the value.
    fn close(&mut self, first: usize, count: usize, valued: usize, given: Given, end: usize) {
        let result = match given {
            Given::Value(ty) => Some(ty),
            _ => None,
        };
        for (number, construct) in (first..first + count).enumerate() {
            self.checked.scan.ends[construct] = end as u32;
            self.checked.results[construct] = result.filter(|_| number < valued);
        }
    }

    /// The key of a `tableswitch` is complete: its label and its cases begin.
    fn switch(&mut self, node: &Node) -> Result<(), Error> {
        let Immediate::Targets(targets, cases) = &node.immediate else { return Ok(()) };
        if targets.is_empty() {
            return Err(invalid("a `tableswitch` has a target at least".to_owned(), node.at));
        }
        self.labels.push(NEW);
        self.top().construct = self.construct(false);
        for _ in 0..*cases {
            self.construct(false);
        }
        let mut reached = vec![false; usize::from(*cases)];
        for &target in targets {
            match SwitchTarget::of(target) {
                SwitchTarget::Case(case) if case < u32::from(*cases) => {
                    reached[case as usize] = self.is_reached;
                }
                SwitchTarget::Case(case) => {
                    let message = format!("a `tableswitch` goes to case {case}, and there are {cases}");
                    return Err(invalid(message, node.at));
                }
                SwitchTarget::Branch(depth) => self.branch(node, depth, Given::Nothing)?,
            }
        }
        self.cases.push(reached);
        self.begin_case(0, false);
        Ok(())
    }

    /// Control comes to a case from the switch, or from the case before it.
    fn begin_case(&mut self, case: u32, falls: bool) {
        let reached = self.cases.last().and_then(|cases| cases.get(case as usize));
        self.is_reached = falls || reached.is_some_and(|&reached| reached);
    }

    /// An expression of a block, or a case, is complete. The last one's value is that of the construct.
    fn arrive_at_end(&mut self) {
        let (is_reached, given) = (self.is_reached, self.last);
        let label = self.labels.last_mut().expect("the construct has a label");
        Check::arrive(is_reached, given, label);
    }
}

impl Visitor for Check<'_> {
    fn enter(&mut self, node: &Node) -> Result<(), Error> {
        let mut open = Open { construct: 0, end: NEW, otherwise: false, first: Given::Nothing };
        match node.row.form {
            Form::Block => {
                open.construct = self.construct(false);
                self.labels.push(NEW);
            }
            Form::Loop => {
                open.construct = self.construct(false);
                self.construct(false);
                self.labels.extend([NEW, NEW]);
            }
            Form::SetLocal => self.checked.scan.assignments.push((node.number(), node.at as u32)),
            Form::CallIndirect => _ = self.checked.indirect.insert(node.number()),
            _ => {}
        }
        self.open.push(open);
        let uses_memory = match node.row.form {
            Form::MemorySize | Form::GrowMemory => true,
            Form::Simple(..) => matches!(node.immediate, Immediate::Number(_)),
            _ => false,
        };
        if uses_memory && self.sections().memory.is_none() {
            let message = format!("`{}` needs a memory, and the module has none", node.row.name);
            return Err(invalid(message, node.at));
        }
        Ok(())
    }

    fn child(&mut self, node: &Node, index: u32, at: usize) -> Result<(), Error> {
        let is_last = index + 1 == node.children;
        let given = self.last;
        match node.row.form {
            Form::If | Form::IfElse if index == 0 => {
                self.operand(node, 0, at, Type::I32)?;
                let construct = self.construct(node.row.form == Form::IfElse);
                let is_reached = self.is_reached;
                let top = self.top();
                (top.construct, top.otherwise) = (construct, is_reached);
                if node.row.form == Form::If {
                    Check::arrive(is_reached, Given::Nothing, &mut top.end);
                }
            }
            Form::If | Form::IfElse => {
                let is_reached = self.is_reached;
                let top = self.top();
                Check::arrive(is_reached, given, &mut top.end);
                self.is_reached = self.top().otherwise;
            }
            Form::TableSwitch if index == 0 => {
                self.operand(node, 0, at, Type::I32)?;
                self.switch(node)?;
            }
            Form::TableSwitch if is_last => self.arrive_at_end(),
            Form::TableSwitch => self.begin_case(index, self.is_reached),
            Form::Select => match index {
                0 => {
                    if given == Given::Nothing {
                        return Err(invalid("operand 0 of `select` is without a value".to_owned(), at));
                    }
                    self.top().first = given;
                }
                1 => match self.top().first {
                    Given::Value(ty) => self.operand(node, 1, at, ty)?,
                    _ if given == Given::Nothing => {
                        return Err(invalid("operand 1 of `select` is without a value".to_owned(), at));
                    }
                    _ => self.top().first = given,
                },
                _ => self.operand(node, 2, at, Type::I32)?,
            },
            Form::Br => {
                self.branch(node, node.number(), given)?;
                self.is_reached = false;
            }
            Form::BrIf if index == 0 => self.top().first = given,
            Form::BrIf => {
                self.operand(node, 1, at, Type::I32)?;
                let value = self.top().first;
                // Control has come past the value.
                self.branch(node, node.number(), value)?;
            }
            Form::Return => {
                let result = self.code.signature.results[0];
                self.operand(node, index, at, result)?;
            }
            Form::SetLocal => self.operand(node, index, at, self.code.locals[node.number() as usize])?,
            Form::StoreGlobal => {
                let ty = self.sections().globals[node.number() as usize].ty.ty;
                self.operand(node, index, at, ty)?;
            }
            Form::CallFunction => {
                let signature = self.code.signature_of(node.number()).expect("reading checks it");
                self.operand(node, index, at, signature.parameters[index as usize])?;
            }
            Form::CallIndirect => {
                let Signature { parameters, .. } = &self.sections().signatures[node.number() as usize];
                let wanted = if index == 0 { Type::I32 } else { parameters[index as usize - 1] };
                self.operand(node, index, at, wanted)?;
            }
            Form::GrowMemory => self.operand(node, index, at, Type::I32)?,
            Form::Simple(_, operands, _) => self.operand(node, index, at, operands[index as usize])?,
            _ => {}
        }
        Ok(())
    }

    fn leave(&mut self, node: &Node, end: usize) -> Result<(), Error> {
        let sections = self.sections();
        let simple = match node.row.form {
            Form::Simple(_, _, result) => Given::Value(result),
            Form::Constant(ty) => Given::Value(ty),
            Form::ShortConstant | Form::MemorySize | Form::GrowMemory => Given::Value(Type::I32),
            Form::GetLocal | Form::SetLocal => Given::Value(self.code.locals[node.number() as usize]),
            Form::LoadGlobal | Form::StoreGlobal => {
                Given::Value(sections.globals[node.number() as usize].ty.ty)
            }
            Form::CallFunction => {
                let signature = self.code.signature_of(node.number()).expect("reading checks it");
                Given::of(&signature.results)
            }
            Form::CallIndirect => Given::of(&sections.signatures[node.number() as usize].results),
            _ => Given::Nothing,
        };
        let open = self.open.pop().expect("the node has begun");
        self.last = match node.row.form {
            Form::Block | Form::Loop => {
                if node.children == 0 {
                    self.last = Given::Nothing;
                }
                if node.row.form == Form::Loop {
                    // The label of the head, to which values do not go.
                    self.labels.pop();
                }
                self.arrive_at_end();
                let label = self.labels.pop().expect("it was pushed");
                let given = self.join(label);
                let count = if node.row.form == Form::Loop { 2 } else { 1 };
                self.close(open.construct, count, count, given, end);
                given
            }
            Form::TableSwitch => {
                self.cases.pop();
                let label = self.labels.pop().expect("it was pushed");
                let given = self.join(label);
                self.close(open.construct, node.children as usize, 1, given, end);
                given
            }
            Form::If | Form::IfElse => {
                let given = self.join(open.end);
                self.close(open.construct, 1, 1, given, end);
                given
            }
            Form::Br | Form::Return | Form::Unreachable => {
                self.is_reached = false;
                Given::Never
            }
            Form::Select => open.first,
            _ => simple,
        };
        Ok(())
    }
}
