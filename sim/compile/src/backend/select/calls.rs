//! Calls and returns.

use super::{Code, Predicates, Register, Selector};
use crate::backend::code::Transfer;
use crate::backend::private;
use crate::ir::{FunctionId, Value};
use wave_isa::Op;

impl Selector<'_> {
    /// A call: arguments and results are moved to and from the registers of the called function.
    pub(super) fn call(&mut self, callee: FunctionId, arguments: &[Value], results: &[Value]) {
        let convention = self.conventions[callee].as_ref().expect("called functions are compiled before");
        self.spill_words = self.spill_words.max(convention.spill_words);
        let (mut to, mut taken) = (Vec::new(), Vec::new());
        for (place, &argument) in convention.parameters.iter().zip(arguments) {
            if let Some(machine) = *place {
                to.push(self.fixed(machine));
                taken.push(argument);
            }
        }
        let read = to.clone();
        self.moves(to, &taken);
        let written: Vec<Register> = convention.results.iter().map(|&machine| self.fixed(machine)).collect();
        let clobbered = convention.written;
        let transfer = Transfer { callee: Some(callee), read, written: written.clone(), clobbered };
        self.code.push(Code { transfer: Some(Box::new(transfer)), ..Code::new(Op::Call, self.at) });
        self.predicates = Predicates::default();
        for (&result, from) in results.iter().zip(written) {
            if self.uses[result] > 0 {
                let kept = self.emit(Op::Mov, &[from]);
                self.values[result] = Some(kept);
            }
        }
    }

    /// The end of a called function.
    pub(super) fn give_back(&mut self, values: &[Value]) {
        let results = self.results.clone();
        self.moves(results.clone(), values);
        let transfer =
            Transfer { callee: None, read: results, written: Vec::new(), clobbered: Default::default() };
        self.code.push(Code { transfer: Some(Box::new(transfer)), ..Code::new(Op::Return, self.at) });
    }

    /// A register that has to be this machine register.
    fn fixed(&mut self, machine: u8) -> Register {
        private::register(&mut self.registers, machine)
    }

    /// The address of this lane's private memory.
    pub(super) fn private_base(&mut self) -> Register {
        let fixed = self.base_register.expect("a program that takes the base has one");
        let registers = &mut self.registers;
        *self.private_base.get_or_insert_with(|| private::register(registers, fixed))
    }
}
