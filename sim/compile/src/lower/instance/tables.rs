//! Indirect calls: a choice among the functions that a table may hold.

use super::super::edit::Editor;
use super::body::Bodies;
use super::layout::of_signature;
use crate::ir::{
    Binary, Compare, Instruction, Operation, SignatureId, TableId, Target, Terminator, Trap, Value,
};

impl Bodies<'_> {
    /// Calls what is at a place of a table, after the checks; gives the results.
    pub(super) fn call_indirect(
        &self,
        editor: &mut Editor,
        table: TableId,
        signature: SignatureId,
        place: Value,
        arguments: &[Value],
    ) -> Vec<Value> {
        let signature = &self.module.signatures[signature];
        let entry = self.entry_at(editor, table, place, Trap::UndefinedElement);
        let empty = editor.compare_with(Compare::Eq, entry, 0);
        editor.leave_if(empty, Terminator::Trap(Trap::UninitialisedElement));
        let (first, functions) = of_signature(self.module, &self.layout.in_tables, signature);
        let number = editor.with(Binary::Sub, entry, first.into());
        let other = editor.compare_with(Compare::GeU, number, functions.len() as u64);
        editor.leave_if(other, Terminator::Trap(Trap::SignatureMismatch));
        let join = editor.function.block(&signature.results);
        let before = editor.block;
        let mut targets = Vec::new();
        for callee in functions {
            let block = editor.function.block(&[]);
            editor.block = block;
            let results: Vec<Value> = signature.results.iter().map(|&ty| editor.function.value(ty)).collect();
            let callee = self.new.functions[callee].expect("it is reached");
            let operation = Operation::Call(callee, arguments.to_vec());
            editor.keep(Instruction { operation, results: results.clone(), at: editor.at });
            let body = &mut editor.function.blocks[block];
            body.terminator = Terminator::Jump(Target { block: join, arguments: results });
            body.at = editor.at;
            targets.push(Target { block, arguments: Vec::new() });
        }
        let body = &mut editor.function.blocks[before];
        body.at = editor.at;
        body.terminator = match targets.len() {
            // No number gets here.
            0 => Terminator::Trap(Trap::SignatureMismatch),
            1 => Terminator::Jump(targets.remove(0)),
            _ => Terminator::Switch(number, targets),
        };
        editor.block = join;
        editor.function.blocks[join].parameters.clone()
    }
}
