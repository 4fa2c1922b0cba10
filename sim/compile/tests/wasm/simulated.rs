//! Scripts on the timing simulator: every lane of two waves runs an instance of its own.

use super::script::{Executor, Stopped};
use std::collections::HashMap;
use std::sync::Arc;
use wave_compile::ir::interpret::Trapped;
use wave_compile::ir::{Constant, DataId, ElementsId, FunctionId, GlobalId, Module, PAGE_BYTES, Trap};
use wave_compile::lower::instance::{
    DEFAULT_TABLE_PLACES, Ended, InstanceOptions, Instances, Lane, State, instances,
};
use wave_compile::wasm::{Linked, Linker};
use wave_compile::{CompileError, Compiled, Options, Reason, compile};
use wave_isa::program::{Launch, Program};
use wave_machine::config::{self, Config, DivergenceMode};
use wave_machine::gpu::{Machine, RunOptions};

/// Threads of a launch: a full wave of the machine, and half of one; a wave where two have not enough memory.
const THREADS: [u32; 2] = [12, 8];
/// Lanes whose instances do what the script says. The others are neighbours: they are called with what the same
/// function was called with before, and their instances are what that makes of them.
const OF_SCRIPT: [u32; 5] = [0, 3, 4, 6, 9];
/// Cycles after which a launch is taken for one that does not end.
const MOST_CYCLES: u64 = 200_000_000;
/// Pages up to which a memory grows here.
const MOST_PAGES: u64 = 900;

/// A function that is ready to be called in every lane.
struct Ready {
    instances: Instances,
    compiled: Compiled,
    program: Arc<Program>,
}

/// The simulator.
pub(crate) struct Simulator {
    config: Arc<Config>,
    /// Instances of the lanes of the script, and those of their neighbours.
    states: [State; 2],
    /// Functions, with the numbers of functions, element segments and bytes that the linked module had.
    ready: HashMap<(FunctionId, [u64; 3]), Result<Ready, CompileError>>,
    /// Arguments of the last call of a function.
    before: HashMap<FunctionId, Vec<Constant>>,
    /// Launches, and cycles that they took.
    pub(crate) launches: u64,
    pub(crate) cycles: u64,
}

/// How a call ended, and its results if it has any.
pub(crate) type Call = (Ended, Vec<Constant>);

/// Why a launch has no results.
pub(crate) enum NoLaunch {
    Compile(CompileError),
    Wrong(String),
}

impl Simulator {
    pub(crate) fn new() -> Simulator {
        let mut config = config::load("tiny").expect("a preset");
        config.device_memory_bytes = u64::from(u32::MAX) + 1;
        // The states of recursive functions are the cases of one loop. A machine that walks through the cases that no
        // lane takes needs ten times as long for them.
        config.core.divergence = DivergenceMode::Jump;
        Simulator {
            config: Arc::new(config),
            states: Default::default(),
            ready: HashMap::new(),
            before: HashMap::new(),
            launches: 0,
            cycles: 0,
        }
    }

    /// A simulator for one module, with its segments copied.
    pub(crate) fn of(module: &Module) -> Result<Simulator, Trap> {
        let state = State::new(module)?;
        Ok(Simulator { states: [state.clone(), state], ..Simulator::new() })
    }

    /// The instances of the lanes of the script and of their neighbours.
    pub(crate) fn states(&self) -> &[State; 2] {
        &self.states
    }

    /// Calls a function in all lanes, with the arguments of the script and those of the neighbours; how the calls of
    /// either ended.
    pub(crate) fn launch(
        &mut self,
        all: &Module,
        function: FunctionId,
        of_lanes: [&[Constant]; 2],
    ) -> Result<[Call; 2], NoLaunch> {
        // Memories of one size are compiled for; neighbours begin anew where theirs have another.
        let sizes = |state: &State| {
            let places = state.tables.values().map(|table| table.places as usize);
            state.memories.values().map(Vec::len).chain(places).collect::<Vec<_>>()
        };
        if sizes(&self.states[0]) != sizes(&self.states[1]) {
            self.states[1] = self.states[0].clone();
        }
        let bytes = self.states[0].memories.values().map(|memory| memory.len() as u64);
        let places = self.states[0].tables.values().map(|table| table.places);
        let sizes = [all.functions.len() as u64, all.elements.len() as u64, bytes.chain(places).sum()];
        let state = &self.states[0];
        let ready = self.ready.entry((function, sizes)).or_insert_with(|| make_ready(all, state, function));
        let Ready { instances, compiled, program } =
            ready.as_ref().map_err(|error| NoLaunch::Compile(error.clone()))?;

        let plan = compiled.private.as_ref().expect("instances have private memory");
        let private = compiled.program.kernels[0].private.expect("it is there where the plan is");
        let start = 256;
        let bytes = |waves: u64| u64::from(plan.bytes_per_wave()) * waves + u64::from(start);
        let (threads, waves) = if bytes(2) < 1 << 32 { (THREADS[0], 2) } else { (THREADS[1], 1) };
        let mut memory = vec![0; bytes(waves) as usize];
        let width = self.config.core.wave_width;
        let place = |thread: u32| (thread / width, thread % width);
        for thread in 0..threads {
            let (wave, lane) = place(thread);
            let kind = usize::from(!OF_SCRIPT.contains(&thread));
            let mut lane = Lane::new(&mut memory, plan, start, wave, lane);
            instances.layout.write(all, &self.states[kind], of_lanes[kind], &mut lane);
        }
        let mut launch = Launch::of(program, 0, [1, 1, 1]);
        launch.workgroup = [threads, 1, 1];
        launch.initial_registers = vec![(private.register, start)];
        let mut machine = Machine::new(Arc::clone(&self.config), Arc::clone(program), memory);
        let options = RunOptions { max_cycles: Some(MOST_CYCLES), ..RunOptions::UNBOUNDED };
        let report = machine.run(&launch, &options, None, &mut |_| {}).map_err(|error| {
            let text: String = format!("{error:?}").chars().take(300).collect();
            NoLaunch::Wrong(text)
        })?;
        self.launches += 1;
        self.cycles += report.cycles;
        let mut memory = machine.into_memory();

        let mut first: [Option<(u32, Call)>; 2] = [None, None];
        for thread in 0..threads {
            let kind = usize::from(!OF_SCRIPT.contains(&thread));
            let (wave, lane) = place(thread);
            let lane = Lane::new(&mut memory, plan, start, wave, lane);
            let ended = (instances.layout.ended(&lane), instances.layout.results(&lane));
            match &first[kind] {
                None => {
                    first[kind] = Some((thread, ended));
                    instances.layout.read(&mut self.states[kind], &lane);
                }
                Some((_, first)) if *first == ended => {}
                Some((other, first)) => {
                    let what = format!("lane {thread}: {ended:x?}, not {first:x?} as lane {other}");
                    return Err(NoLaunch::Wrong(what));
                }
            }
        }
        // A later lane, in the other wave if there is one, has done the same to its instance.
        let last = OF_SCRIPT.into_iter().rfind(|&thread| thread < threads).unwrap_or(0);
        let [one, other] = [OF_SCRIPT[0], last].map(|thread| {
            let (wave, lane) = place(thread);
            Lane::new(&mut memory, plan, start, wave, lane).context(&instances.layout)
        });
        if one != other {
            return Err(NoLaunch::Wrong("two lanes differ in their memory".to_owned()));
        }
        Ok(first.map(|call| call.expect("there are lanes of both kinds").1))
    }
}

fn make_ready(all: &Module, state: &State, function: FunctionId) -> Result<Ready, CompileError> {
    let mut all = all.clone();
    for (id, memory) in &mut all.memories {
        memory.pages = state.memories[id].len() as u64 / memory.page_bytes;
    }
    for (id, table) in &mut all.tables {
        table.places = state.tables[id].places;
    }
    let lanes = wave_isa::MAX_WAVE_WIDTH as u32;
    let options = InstanceOptions {
        function,
        start: None,
        most_pages: MOST_PAGES,
        most_places: DEFAULT_TABLE_PLACES,
        lanes,
    };
    let instances = instances(&all, &options)?;
    if let Err(invalid) = wave_compile::ir::verify::verify(&instances.module) {
        panic!("{invalid}\n{}", instances.module);
    }
    let compiled = compile(&instances.module, instances.entry, &Options::of_instances(&instances))?;
    let program = Arc::new(compiled.program.clone());
    Ok(Ready { instances, compiled, program })
}

/// What is missing, in words that do not depend on the function.
pub(crate) fn missing(error: &CompileError) -> String {
    match &error.reason {
        Reason::Recursion(_) => "recursion".to_owned(),
        Reason::Registers { .. } => "more registers than there are".to_owned(),
        Reason::Private(..) => "more private memory than addresses reach".to_owned(),
        Reason::Nesting(..) => "nesting".to_owned(),
        Reason::Type(_, ty) => format!("the type {ty}"),
        reason => reason.to_string(),
    }
}

impl Executor for Simulator {
    fn prepare(&self, linker: &mut Linker) {
        let ids: Vec<_> = linker.module().memories.keys().collect();
        for (id, memory) in ids.into_iter().zip(self.states[0].memories.values()) {
            linker.set_pages(id, memory.len() as u64 / PAGE_BYTES);
        }
    }

    fn instantiate(&mut self, all: &Module, linked: &Linked, _alone: Module) -> Result<(), Stopped> {
        let elements: Vec<ElementsId> = linked.elements.clone().map(ElementsId::from_u32).collect();
        let data: Vec<DataId> = linked.data.clone().map(DataId::from_u32).collect();
        let mut copied = Ok(());
        for state in &mut self.states {
            state.extend(all);
            copied = state.copy_segments(all, &elements, &data);
        }
        let trapped = |trap| Trapped { trap, function: None, place: Default::default() };
        copied.map_err(|trap| Stopped::Trapped(trapped(trap)))?;
        match linked.start {
            Some(start) => self.call(all, start, &[]).map(drop),
            None => Ok(()),
        }
    }

    fn call(
        &mut self,
        all: &Module,
        function: FunctionId,
        arguments: &[Constant],
    ) -> Result<Vec<Constant>, Stopped> {
        let before = self.before.insert(function, arguments.to_vec());
        let neighbours = before.as_deref().unwrap_or(arguments);
        match self.launch(all, function, [arguments, neighbours]).map(|[call, _]| call) {
            Ok((Ended::Returned, results)) => Ok(results),
            Ok((Ended::Trapped(trap, place), _)) => {
                Err(Stopped::Trapped(Trapped { trap, function: Some(function), place }))
            }
            Ok((Ended::Not, _)) => Err(Stopped::Wrong("the call has not ended".to_owned())),
            Err(NoLaunch::Compile(error)) => Err(Stopped::LeftOut(missing(&error))),
            Err(NoLaunch::Wrong(what)) => Err(Stopped::Wrong(what)),
        }
    }

    fn global(&self, global: GlobalId) -> Constant {
        self.states[0].globals[global]
    }
}
