//! Lowers a scenario to a kernel that runs it once.
//!
//! The kernel runs the test twice: first on other words, so that the second, measured pass finds its
//! instructions in the instruction caches. Before each pass the waves meet through a counter and atomics
//! without fences. These order nothing (H2 of docs/memory-model.md), so the first pass does not forbid
//! anything in the second.
//!
//! Lanes that are no thread do nothing that matters: the accesses of thread t are made by one lane of its
//! wave, under a guard. So control flow is uniform, and barriers are legal everywhere.

use super::test::{Action, Expression, MAX_LOCATIONS, Operator, Statement, Term};
use super::variant::{Place, Scenario};
use std::fmt::Write;
use wave_isa::program::{Launch, Program, assemble};
use wave_isa::special::Scope;
use wave_isa::table::CacheHint;
use wave_machine::config::Config;
use wave_machine::gpu::occupancy::Occupancy;

/// Bytes between the results of two threads, so that they share no line.
const RESULT_STRIDE: u32 = 128;

/// Bytes in which a run's locations may lie. The locations of the first pass follow, then the results.
pub(crate) const LOCATION_BYTES: u32 = 2048;

/// Bytes of device memory of a run.
pub(crate) const RUN_BYTES: u32 = 3 * LOCATION_BYTES;

/// Bytes of local memory of a pass.
const LOCAL_SHIFT: u32 = 4 * MAX_LOCATIONS as u32;

/// Offset from the results to the counter at which waves meet, in bytes.
const COUNTER: u32 = 1024;

/// The kernel of a scenario and its launch on a machine.
#[derive(Debug)]
pub(crate) struct Lowered {
    /// The program with this one kernel.
    pub program: Program,
    /// The launch, without arguments.
    launch: Launch,
    locations: usize,
    threads: usize,
}

/// The parameters that differ from run to run.
#[derive(Debug, Clone)]
pub(crate) struct Arguments {
    /// First byte of the run's device memory.
    pub base: u32,
    /// Address of each location: of device memory, or of local memory.
    pub addresses: Vec<u32>,
    /// Delay of each thread before it begins, as iterations of an empty loop.
    pub delays: Vec<u32>,
    /// The locations that each thread's core reads before the thread begins (bit i is location i); the values
    /// are dropped. A thread's first read may return the initial value anyway, so these reads take no outcome
    /// away.
    pub looks: Vec<u32>,
}

/// Register assignment of the kernel.
struct Registers {
    locations: usize,
    threads: usize,
}

impl Registers {
    fn result(&self) -> usize {
        self.locations
    }

    fn delay(&self, thread: usize) -> usize {
        self.locations + 1 + thread
    }

    fn look(&self, thread: usize) -> usize {
        self.delay(self.threads) + thread
    }

    /// Receives the value of a look.
    fn looked(&self, location: usize) -> usize {
        self.look(self.threads) + location
    }

    /// Address of a location in the current pass.
    fn location(&self, location: usize) -> usize {
        self.looked(self.locations) + location
    }

    fn fixed(&self, index: usize) -> usize {
        self.location(self.locations) + index
    }

    fn zero(&self) -> usize {
        self.fixed(0)
    }

    fn one(&self) -> usize {
        self.fixed(1)
    }

    fn lane(&self) -> usize {
        self.fixed(2)
    }

    fn wave(&self) -> usize {
        self.fixed(3)
    }

    fn address(&self) -> usize {
        self.fixed(4)
    }

    fn value(&self) -> usize {
        self.fixed(5)
    }

    fn swap(&self) -> usize {
        self.fixed(6)
    }

    /// Offset of the locations in the current pass: some bytes first, then 0.
    fn shift(&self) -> usize {
        self.fixed(7)
    }

    /// The value that the counter has to reach.
    fn target(&self) -> usize {
        self.fixed(8)
    }

    /// A register of a thread.
    fn own(&self, register: usize) -> usize {
        self.fixed(9) + register
    }
}

impl Lowered {
    /// The kernel of a scenario for this machine; `None` if the machine cannot place its threads that way.
    pub(crate) fn new(scenario: &Scenario<'_>, config: &Config) -> Option<Lowered> {
        let test = scenario.test;
        let places = || scenario.threads.iter().map(|t| t.place);
        let count = |index: fn(Place) -> usize| places().map(index).max().unwrap_or(0) + 1;
        let (cores, workgroups, waves) = (count(|p| p.core), count(|p| p.workgroup), count(|p| p.wave));
        let width = config.core.wave_width as usize;
        if cores > config.cores as usize || scenario.threads.len() > width {
            return None;
        }
        let machine_cores = config.cores as usize;
        let registers = Registers { locations: test.locations.len(), threads: test.threads.len() };
        let own = test.threads.iter().map(|t| t.registers.len()).max().unwrap_or(0);
        let used = registers.own(own);
        let mut text = Text { out: String::new(), scenario, registers: &registers, used };
        text.kernel(waves, machine_cores);
        let launch = Launch {
            kernel: 0,
            // The dispatcher sends workgroups to the cores in turn. Workgroups in between only fill the
            // turns.
            grid: [(machine_cores * (workgroups - 1) + cores) as u32, 1, 1],
            workgroup: [(waves * width) as u32, 1, 1],
            registers: used as u32,
            local_memory_bytes: if test.locations.iter().any(|l| l.local) { LOCAL_SHIFT * 2 } else { 0 },
            initial_registers: Vec::new(),
        };
        let fits = Occupancy::of(config, &launch).is_ok_and(|o| o.workgroups as usize >= workgroups);
        let source = format!(".kernel litmus\n.registers {}\n{}.end\n", launch.registers, text.out);
        let (program, _) = assemble(&source, "litmus").ok().filter(|_| fits)?;
        Some(Lowered { program, launch, locations: test.locations.len(), threads: test.threads.len() })
    }

    /// The launch of a run.
    pub(crate) fn launch(&self, arguments: &Arguments) -> Launch {
        let registers = Registers { locations: self.locations, threads: self.threads };
        let mut initial = vec![(registers.result() as u8, arguments.base + 2 * LOCATION_BYTES)];
        let pairs = |values: &[u32], register: &dyn Fn(usize) -> usize| {
            values.iter().enumerate().map(|(i, &value)| (register(i) as u8, value)).collect::<Vec<_>>()
        };
        initial.extend(pairs(&arguments.addresses, &|i| i));
        initial.extend(pairs(&arguments.delays, &|i| registers.delay(i)));
        initial.extend(pairs(&arguments.looks, &|i| registers.look(i)));
        Launch { initial_registers: initial, ..self.launch.clone() }
    }
}

/// Address of a thread's register in a run's device memory.
pub(crate) fn result_address(base: u32, thread: usize, register: usize) -> u32 {
    base + 2 * LOCATION_BYTES + result_offset(thread, register)
}

fn result_offset(thread: usize, register: usize) -> u32 {
    RESULT_STRIDE * thread as u32 + 4 * register as u32
}

/// The assembly text being generated.
struct Text<'a> {
    out: String,
    scenario: &'a Scenario<'a>,
    registers: &'a Registers,
    /// Number of registers of the kernel.
    used: usize,
}

impl Text<'_> {
    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        _ = writeln!(self.out, "    {line}");
    }

    fn kernel(&mut self, waves: usize, machine_cores: usize) {
        let r = self.registers;
        let (wave, lane, value) = (r.wave(), r.lane(), r.value());
        self.line(format_args!("mov_imm r{}, 0", r.zero()));
        self.line(format_args!("mov_imm r{}, 1", r.one()));
        self.line(format_args!("mov_sr r{lane}, sr_lane_id"));
        self.line(format_args!("mov_sr r{wave}, sr_wave_id"));
        self.clear_local_memory();
        self.line(format_args!("mov_sr r{value}, sr_workgroup_id_x"));
        self.line(format_args!("mov_imm r{}, {waves}", r.address()));
        self.line(format_args!("imad r{wave}, r{value}, r{}, r{wave}", r.address()));
        let mut done = Vec::new();
        for thread in 0..self.scenario.threads.len() {
            let place = self.scenario.threads[thread].place;
            if done.contains(&place) {
                continue;
            }
            done.push(place);
            let number = (place.workgroup * machine_cores + place.core) * waves + place.wave;
            self.line(format_args!("mov_imm r{value}, {number}"));
            self.line(format_args!("ucmp_eq p0, r{wave}, r{value}"));
            self.line(format_args!("if p0"));
            self.wave(thread);
            self.line(format_args!("endif"));
        }
        self.line(format_args!("halt"));
    }

    /// The first wave of each workgroup initialises locations in local memory.
    fn clear_local_memory(&mut self) {
        let (r, test) = (self.registers, self.scenario.test);
        if !test.locations.iter().any(|l| l.local) {
            return;
        }
        self.line(format_args!("iadd r{}, r{}, r{}", r.value(), r.wave(), r.lane()));
        self.line(format_args!("ucmp_eq p1, r{}, r{}", r.value(), r.zero()));
        for (location, l) in test.locations.iter().enumerate().filter(|(_, l)| l.local) {
            self.line(format_args!("mov_imm r{}, {}", r.swap(), l.initial as i32));
            self.line(format_args!("@p1 local_store_u32 r{location}, r{}", r.swap()));
            self.line(format_args!("mov_imm r{}, {LOCAL_SHIFT}", r.value()));
            self.line(format_args!("iadd r{0}, r{0}, r{location}", r.value()));
            self.line(format_args!("@p1 local_store_u32 r{}, r{}", r.value(), r.swap()));
        }
        self.line(format_args!("barrier"));
    }

    /// Everything that a wave executes. `first` is one of its threads.
    fn wave(&mut self, first: usize) {
        let (r, scenario) = (self.registers, self.scenario);
        let place = scenario.threads[first].place;
        self.line(format_args!("mov_imm r{}, {LOCATION_BYTES}", r.shift()));
        self.line(format_args!("mov_imm r{}, 0", r.target()));
        self.line(format_args!("loop"));
        for location in 0..r.locations {
            if scenario.test.locations[location].local {
                // Converts the shift for device memory to that for local memory.
                let shift = (LOCATION_BYTES / LOCAL_SHIFT).trailing_zeros();
                self.line(format_args!("mov_imm r{}, {shift}", r.value()));
                self.line(format_args!("shr r{0}, r{1}, r{0}", r.value(), r.shift()));
                self.line(format_args!("iadd r{}, r{location}, r{}", r.location(location), r.value()));
                continue;
            }
            self.line(format_args!("iadd r{}, r{location}, r{}", r.location(location), r.shift()));
            self.line(format_args!("mov_imm r{}, {}", r.value(), 1 << location));
            self.line(format_args!("and r{0}, r{0}, r{1}", r.value(), r.look(first)));
            self.line(format_args!("ucmp_ne p3, r{}, r{}", r.value(), r.zero()));
            self.line(format_args!("@p3 device_load_u32 r{}, r{}", r.looked(location), r.location(location)));
        }
        for register in r.own(0)..self.used {
            self.line(format_args!("mov_imm r{register}, 0"));
        }
        self.meet();
        self.line(format_args!("mov r{}, r{}", r.value(), r.delay(first)));
        self.line(format_args!("loop"));
        self.line(format_args!("ucmp_eq p0, r{}, r{}", r.value(), r.zero()));
        self.line(format_args!("break p0"));
        self.line(format_args!("isub r{0}, r{0}, r{1}", r.value(), r.one()));
        self.line(format_args!("endloop"));
        self.statements(place);
        self.line(format_args!("ucmp_eq p0, r{}, r{}", r.shift(), r.zero()));
        self.line(format_args!("break p0"));
        self.line(format_args!("mov_imm r{}, 0", r.shift()));
        self.line(format_args!("endloop"));
        let mut selected = None;
        for thread in (0..scenario.threads.len()).filter(|&t| scenario.threads[t].place == place) {
            self.select(&mut selected, thread);
            for register in 0..scenario.test.threads[thread].registers.len() {
                self.line(format_args!("mov_imm r{}, {}", r.address(), result_offset(thread, register)));
                self.line(format_args!("iadd r{0}, r{0}, r{1}", r.address(), r.result()));
                self.line(format_args!("@p1 device_store_u32 r{}, r{}", r.address(), r.own(register)));
            }
        }
    }

    /// Waits until every wave has arrived here the same number of times.
    fn meet(&mut self) {
        let r = self.registers;
        let mut waves: Vec<_> = self.scenario.threads.iter().map(|t| t.place).collect();
        waves.dedup();
        self.line(format_args!("mov_imm r{}, {}", r.value(), waves.len()));
        self.line(format_args!("iadd r{0}, r{0}, r{1}", r.target(), r.value()));
        self.line(format_args!("mov_imm r{}, {COUNTER}", r.address()));
        self.line(format_args!("iadd r{0}, r{0}, r{1}", r.address(), r.result()));
        self.line(format_args!("ucmp_eq p1, r{}, r{}", r.lane(), r.zero()));
        self.line(format_args!("@p1 atomic_add r{}, r{}, .device", r.address(), r.one()));
        self.line(format_args!("loop"));
        self.line(format_args!("@p1 atomic_or r{}, r{}, r{}, .device", r.value(), r.address(), r.zero()));
        self.line(format_args!("wave_broadcast r{0}, r{0}, r{1}", r.value(), r.zero()));
        self.line(format_args!("ucmp_ge p0, r{}, r{}", r.value(), r.target()));
        self.line(format_args!("break p0"));
        self.line(format_args!("endloop"));
    }

    /// The statements of the threads of a wave.
    fn statements(&mut self, place: Place) {
        let scenario = self.scenario;
        let mut statements: Vec<(usize, usize, &Statement)> = Vec::new();
        for (thread, placed) in scenario.threads.iter().enumerate().filter(|(_, t)| t.place == place) {
            let of_thread = placed.body.iter().zip(&placed.steps);
            statements.extend(of_thread.map(|(statement, &step)| (step, thread, statement)));
        }
        statements.sort_by_key(|&(step, thread, _)| (step, thread));
        // A barrier is one instruction for all lanes of the wave.
        statements.dedup_by_key(|&mut (step, _, _)| step);
        let mut selected = None;
        for (_, thread, statement) in statements {
            self.select(&mut selected, thread);
            self.statement(statement);
        }
    }

    /// Sets p1 to the lane of a thread: the first lane of its wave, or its own lane if all threads are in one
    /// wave.
    fn select(&mut self, selected: &mut Option<usize>, thread: usize) {
        let threads = &self.scenario.threads;
        let lane = (0..thread).filter(|&t| threads[t].place == threads[thread].place).count();
        if *selected != Some(lane) {
            self.line(format_args!("mov_imm r{}, {lane}", self.registers.value()));
            self.line(format_args!("ucmp_eq p1, r{}, r{}", self.registers.lane(), self.registers.value()));
            *selected = Some(lane);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        let r = self.registers;
        let mut guard = "@p1";
        if let Some(condition) = statement.guard {
            let compare = if condition.equal { "ucmp_eq" } else { "ucmp_ne" };
            self.line(format_args!("mov_imm r{}, {}", r.value(), condition.value as i32));
            self.line(format_args!("ucmp_ne p2, r{0}, r{0}", r.zero()));
            self.line(format_args!("@p1 {compare} p2, r{}, r{}", r.own(condition.register), r.value()));
            guard = "@p2";
        }
        match &statement.action {
            Action::Load { register, location, hint, dependency } => {
                let (space, address) = (self.space(*location), self.address(*location, *dependency));
                let hint = hint_text(*hint);
                let register = r.own(*register);
                self.line(format_args!("{guard} {space}_load_u32{hint} r{register}, r{address}"));
            }
            Action::Store { location, value, hint, dependency } => {
                self.expression(value, r.value());
                let (space, address) = (self.space(*location), self.address(*location, *dependency));
                let hint = hint_text(*hint);
                self.line(format_args!("{guard} {space}_store_u32{hint} r{address}, r{}", r.value()));
            }
            Action::Atomic { register, op, location, value, swap, scope } => {
                self.expression(value, r.value());
                let local = self.scenario.test.locations[*location].local;
                let mut operands = register.map_or(String::new(), |own| format!("r{}, ", r.own(own)));
                operands += &format!("r{}, r{}", r.location(*location), r.value());
                if *op == wave_isa::table::AtomicOp::Cas {
                    self.expression(swap, r.swap());
                    operands += &format!(", r{}", r.swap());
                }
                if !local {
                    operands += &format!(", .{}", scope.unwrap_or(Scope::Device).name());
                }
                let space = if local { "local_" } else { "" };
                self.line(format_args!(
                    "{guard} {space}atomic_{} {operands}",
                    super::parse::atomic_name(*op)
                ));
            }
            Action::Fence { release, acquire, scope } => {
                let kind = match (release, acquire) {
                    (true, true) => "acq_rel",
                    (true, false) => "release",
                    _ => "acquire",
                };
                let scope = scope.unwrap_or(Scope::Wave).name();
                self.line(format_args!("{guard} fence_{kind} .{scope}"));
            }
            Action::Barrier => self.line(format_args!("barrier")),
        }
    }

    fn space(&self, location: usize) -> &'static str {
        if self.scenario.test.locations[location].local { "local" } else { "device" }
    }

    /// The register with the address of a location. If the address depends on another register, it is
    /// computed from it.
    fn address(&mut self, location: usize, dependency: Option<usize>) -> usize {
        let r = self.registers;
        let Some(register) = dependency else { return r.location(location) };
        self.line(format_args!("and r{}, r{}, r{}", r.address(), r.own(register), r.zero()));
        self.line(format_args!("iadd r{0}, r{0}, r{1}", r.address(), r.location(location)));
        r.address()
    }

    fn expression(&mut self, expression: &Expression, into: usize) {
        let r = self.registers;
        // A constant operand goes through the address register, which is free by then.
        match expression.first {
            Term::Number(n) => self.line(format_args!("mov_imm r{into}, {}", n as i32)),
            Term::Register(own) => self.line(format_args!("mov r{into}, r{}", r.own(own))),
        }
        for &(operator, term) in &expression.rest {
            let word = match operator {
                Operator::Add => "iadd",
                Operator::Xor => "xor",
            };
            let operand = match term {
                Term::Register(own) => r.own(own),
                Term::Number(n) => {
                    self.line(format_args!("mov_imm r{}, {}", r.address(), n as i32));
                    r.address()
                }
            };
            self.line(format_args!("{word} r{into}, r{into}, r{operand}"));
        }
    }
}

fn hint_text(hint: CacheHint) -> &'static str {
    match hint {
        CacheHint::Cached => "",
        CacheHint::Uncached => ".uncached",
        CacheHint::Streaming => ".streaming",
    }
}
