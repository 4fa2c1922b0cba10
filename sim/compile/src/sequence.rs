//! Several calls of one instance, one after the other, as a function of its module.

use crate::ir::{
    Block, Constant, Function, FunctionId, Global, GlobalId, Instruction, Module, Operation, Place,
    Signature, Terminator, Type, Value,
};

/// A call with its arguments, which have the types of the parameters.
pub type Step = (FunctionId, Vec<Constant>);

/// The function that makes the calls, and the variables in which it leaves what they came to.
#[derive(Debug, Clone)]
pub(crate) struct Sequence {
    /// The function; it has neither parameters nor results.
    pub(crate) function: FunctionId,
    /// The number of calls that have returned.
    pub(crate) returned: GlobalId,
    /// The results of each call.
    pub(crate) results: Vec<Vec<GlobalId>>,
}

impl Sequence {
    /// Adds the function and its variables to a module. What calls return is there also if a later call traps.
    pub(crate) fn add(module: &mut Module, steps: &[Step]) -> Sequence {
        let variable = |module: &mut Module, name: String, ty: Type| {
            let initial = Constant::from_bits(ty, 0);
            module.globals.push(Global { name: Some(name), initial, is_mutable: true })
        };
        let returned = variable(module, "calls that have returned".to_owned(), Type::I32);
        let name = Some("calls one after the other".to_owned());
        let mut function = Function::new(name, Signature::default(), Place::default());
        let mut results = Vec::new();
        for (number, (callee, arguments)) in (1..).zip(steps) {
            let arguments = arguments.iter().map(|&value| constant(&mut function, value)).collect();
            let types = module.functions[*callee].signature.results.clone();
            let values: Vec<Value> = types.iter().map(|&ty| function.value(ty)).collect();
            push(&mut function, Operation::Call(*callee, arguments), values.clone());
            let variables: Vec<GlobalId> = (1..)
                .zip(&types)
                .map(|(result, &ty)| variable(module, format!("result {result} of call {number}"), ty))
                .collect();
            for (&global, value) in variables.iter().zip(values) {
                push(&mut function, Operation::GlobalSet(global, value), Vec::new());
            }
            let so_far = constant(&mut function, Constant::I32(number));
            push(&mut function, Operation::GlobalSet(returned, so_far), Vec::new());
            results.push(variables);
        }
        let entry = function.entry();
        function.blocks[entry].terminator = Terminator::Return(Vec::new());
        Sequence { function: module.functions.push(function), returned, results }
    }
}

fn constant(function: &mut Function, constant: Constant) -> Value {
    let value = function.value(constant.ty());
    push(function, Operation::Constant(constant), vec![value]);
    value
}

fn push(function: &mut Function, operation: Operation, results: Vec<Value>) {
    let (entry, at): (Block, Place) = (function.entry(), function.at);
    function.blocks[entry].instructions.push(Instruction { operation, results, at });
}
