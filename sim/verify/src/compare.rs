//! Compares a machine with the reference interpreter on one program.

use super::reference::{self, Machine, Options, Stop};
use std::fmt;
use wave_isa::program::{Fault, FaultKind, Launch, Program};
use wave_machine::clock::NEVER;
use wave_machine::config::Config;
use wave_machine::functional::{self, Execution, Limits, Until};
use wave_machine::gpu::{self, RunError, RunOptions};

/// Why a run did not end in the way the program intends.
#[derive(Debug, Clone, PartialEq)]
pub enum Early {
    /// The kernel faulted.
    Fault(Box<Fault>),
    /// A limit was reached, no progress was made, or the launch was refused.
    Other(String),
}

/// Runs a kernel on the simulator and returns its wave instructions. `memory` is device memory before and, as
/// the host sees it, after the run.
///
/// # Errors
/// [`Early`]; memory is then empty.
pub fn simulate(
    config: &Config,
    options: &RunOptions,
    program: &Program,
    launch: &Launch,
    memory: &mut Vec<u8>,
) -> Result<u64, Early> {
    let mut gpu = gpu::Machine::new(config.clone(), program.clone(), std::mem::take(memory));
    let report = gpu.run(launch, options, None, &mut |_| {}).map_err(|error| match error {
        RunError::Fault(fault) => Early::Fault(fault),
        other => Early::Other(format!("{other:?}")),
    })?;
    *memory = gpu.into_memory();
    Ok(report.core.wave_instructions)
}

/// As [`simulate`], without timing ([`functional`]).
///
/// # Errors
/// [`Early`]. Then memory is as the wave instructions before it left it.
pub fn execute(
    config: &Config,
    limits: &Limits,
    program: &Program,
    launch: &Launch,
    memory: &mut [u8],
) -> Result<u64, Early> {
    match functional::run(config, program, launch, memory, limits, &mut |_| {}) {
        Ok(report) => Ok(report.counters.wave_instructions),
        Err(functional::ExecutionError::Fault(fault)) => Err(Early::Fault(fault)),
        Err(other) => Err(Early::Other(format!("{other:?}"))),
    }
}

/// Where a run passes from the machine without timing to the one with timing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The beginning of this nominal cycle.
    Cycle(u64),
    /// The nominal cycle in which a wave first comes to the instruction at this byte offset in the code section.
    Pc(u32),
}

/// As [`simulate`], but without timing up to a place, and with timing from there on, without any bounds of
/// `options` in front of it.
///
/// # Errors
/// [`Early`]; memory is then what it was at some time.
pub fn hand_over(
    config: &Config,
    options: &RunOptions,
    place: Place,
    program: &Program,
    launch: &Launch,
    memory: &mut Vec<u8>,
) -> Result<u64, Early> {
    let early = |error| match error {
        functional::ExecutionError::Fault(fault) => Early::Fault(fault),
        other => Early::Other(format!("{other:?}")),
    };
    let other = |error| Early::Other(format!("{error:?}"));
    let mut execution = Execution::new(config, program, launch).map_err(other)?;
    let (limits, mut progress) = (Limits::default(), |_| {});
    let stop = match place {
        Place::Cycle(cycle) => execution.advance(memory, Until::Cycle(cycle), &limits, &mut progress),
        Place::Pc(pc) => execution.reach(memory, pc, &limits, &mut progress),
    };
    let before = execution.report().counters.wave_instructions;
    if stop.map_err(early)? == functional::ExecutionStop::End {
        return Ok(before);
    }
    let mut gpu = gpu::Machine::new(config.clone(), program.clone(), std::mem::take(memory));
    gpu.begin_from(&execution, options).map_err(|error| Early::Other(format!("{error:?}")))?;
    match gpu.advance(NEVER, None) {
        Ok(gpu::Stop::Ended(report)) => {
            *memory = gpu.into_memory();
            Ok(before + report.core.wave_instructions)
        }
        Err(RunError::Fault(fault)) => Err(Early::Fault(fault)),
        stop => Err(Early::Other(format!("{stop:?}"))),
    }
}

/// A difference between a machine and the reference interpreter.
#[derive(Debug, Clone, PartialEq)]
pub enum Difference {
    /// Both end, with different device memory.
    Memory {
        /// First address that differs.
        address: usize,
        /// The byte in the reference interpreter.
        expected: u8,
        /// The byte in the machine.
        got: u8,
        /// Number of bytes that differ.
        count: usize,
    },
    /// Both end with the same memory, after different numbers of wave instructions.
    Instructions {
        /// Of the reference interpreter.
        expected: u64,
        /// Of the machine.
        got: u64,
    },
    /// Only one faults, or both fault differently.
    Fault {
        /// Of the reference interpreter.
        expected: Option<Box<Fault>>,
        /// Of the machine.
        got: Option<Box<Fault>>,
    },
    /// The machine did not end.
    Stopped(String),
    /// The reference interpreter did not end, so there is nothing to compare with.
    NoReference(Box<Stop>),
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told = |fault: &Option<Box<Fault>>| match fault {
            Some(fault) => fault.to_string(),
            None => "no fault".to_owned(),
        };
        match self {
            Difference::Memory { address, expected, got, count } => write!(
                f,
                "{count} bytes of device memory differ, the first at 0x{address:x}: \
                 0x{got:02x}, but 0x{expected:02x} in the reference"
            ),
            Difference::Instructions { expected, got } => {
                write!(f, "{got} wave instructions, but {expected} in the reference")
            }
            Difference::Fault { expected, got } => {
                write!(f, "{}, but in the reference: {}", told(got), told(expected))
            }
            Difference::Stopped(why) => write!(f, "the machine did not end: {why}"),
            Difference::NoReference(stop) => write!(f, "the reference did not end: {stop}"),
        }
    }
}

impl std::error::Error for Difference {}

/// Runs a program on the reference interpreter and through `simulate`, both over the given `memory`. Compares
/// device memory at the end and the wave instructions that `simulate` returns (counted as
/// [`reference::Outcome::instructions`] defines).
///
/// If the program faults, the kind and the pc must agree, and for the same wave also lanes and addresses.
/// Which wave faults first depends on timing, so a program of several waves should have at most one faulting instruction.
///
/// # Errors
/// The first [`Difference`].
pub fn compare(
    program: &Program,
    launch: &Launch,
    machine: &Machine,
    memory: &[u8],
    simulate: impl FnOnce(&Program, &Launch, &mut Vec<u8>) -> Result<u64, Early>,
) -> Result<(), Difference> {
    compare_within(&Options::default(), program, launch, machine, memory, simulate).map(|_| ())
}

/// [`compare`], with options of the reference interpreter. Returns its fault.
///
/// # Errors
/// As [`compare`].
pub fn compare_within(
    options: &Options,
    program: &Program,
    launch: &Launch,
    machine: &Machine,
    memory: &[u8],
    simulate: impl FnOnce(&Program, &Launch, &mut Vec<u8>) -> Result<u64, Early>,
) -> Result<Option<Box<Fault>>, Difference> {
    let mut expected_memory = memory.to_vec();
    let expected = match reference::run(program, launch, machine, options, &mut expected_memory) {
        Ok(outcome) => Ok(outcome.instructions),
        Err(Stop::Fault(fault)) => Err(fault),
        Err(stop) => return Err(Difference::NoReference(Box::new(stop))),
    };
    let mut got_memory = memory.to_vec();
    match (expected, simulate(program, launch, &mut got_memory)) {
        (Ok(expected), Ok(got)) => {
            compare_memory(&expected_memory, &got_memory)?;
            if expected == got { Ok(None) } else { Err(Difference::Instructions { expected, got }) }
        }
        (Err(expected), Err(Early::Fault(got))) if same_fault(&expected, &got) => {
            Ok(Some(Box::new(expected)))
        }
        (_, Err(Early::Other(why))) => Err(Difference::Stopped(why)),
        (expected, got) => Err(Difference::Fault {
            expected: expected.err().map(Box::new),
            got: got.err().and_then(|early| match early {
                Early::Fault(fault) => Some(fault),
                Early::Other(_) => None,
            }),
        }),
    }
}

fn compare_memory(expected: &[u8], got: &[u8]) -> Result<(), Difference> {
    let mut differing = (0..expected.len().max(got.len())).filter(|&n| expected.get(n) != got.get(n));
    let Some(address) = differing.next() else { return Ok(()) };
    let byte = |memory: &[u8]| memory.get(address).copied().unwrap_or(0);
    Err(Difference::Memory {
        address,
        expected: byte(expected),
        got: byte(got),
        count: 1 + differing.count(),
    })
}

fn same_fault(a: &Fault, b: &Fault) -> bool {
    let same_kind = match (a.kind, b.kind) {
        // If there are several reasons, each decoder reports the one that it finds first.
        (FaultKind::IllegalInstruction(_), FaultKind::IllegalInstruction(_)) => true,
        (a_kind, b_kind) if (a.workgroup, a.wave) == (b.workgroup, b.wave) => {
            a_kind == b_kind && a.lanes == b.lanes
        }
        (a_kind, b_kind) => std::mem::discriminant(&a_kind) == std::mem::discriminant(&b_kind),
    };
    same_kind && a.kernel == b.kernel && a.pc == b.pc
}

#[cfg(test)]
mod tests {
    use super::*;
    use wave_isa::program::assemble;

    const MACHINE: Machine =
        Machine { wave_width: 4, f64: true, mma: true, divergence_depth: 32, call_depth: 8, local_poison: 0 };

    fn check(
        body: &str,
        simulate: impl FnOnce(&Program, &Launch, &mut Vec<u8>) -> Result<u64, Early>,
    ) -> Result<(), Difference> {
        let text = format!(".kernel k\n.registers 8\n{body}\n.end\n");
        let (program, _) = assemble(&text, "k.wave").unwrap();
        let launch = Launch {
            kernel: 0,
            grid: [1, 1, 1],
            workgroup: [8, 1, 1],
            registers: 8,
            local_memory_bytes: 0,
            initial_registers: Vec::new(),
        };
        compare(&program, &launch, &MACHINE, &[0; 16], simulate)
    }

    /// The reference interpreter with another order of waves; `spoil` is applied to its result.
    fn other(
        spoil: impl Fn(&mut [u8], Result<u64, Fault>) -> Result<u64, Fault>,
    ) -> impl FnOnce(&Program, &Launch, &mut Vec<u8>) -> Result<u64, Early> {
        move |program, launch, memory| {
            let options = Options { order: reference::Order::Random(7), ..Options::default() };
            let result = match reference::run(program, launch, &MACHINE, &options, memory) {
                Ok(outcome) => Ok(outcome.instructions),
                Err(Stop::Fault(fault)) => Err(fault),
                Err(stop) => panic!("{stop}"),
            };
            spoil(memory, result).map_err(|fault| Early::Fault(Box::new(fault)))
        }
    }

    fn changed(change: impl Fn(Fault) -> Fault) -> Result<(), Difference> {
        check("nop\nelse", other(|_, result| result.map_err(&change)))
    }

    const STORE: &str = "mov_sr r1, sr_thread_id_x\ndevice_store_u8 r1, r1";

    #[test]
    fn an_equal_run_passes() {
        assert_eq!(check(STORE, other(|_, result| result)), Ok(()));
        assert_eq!(changed(|fault| fault), Ok(()));
        // Another wave may be the first to fault, in another cycle.
        assert_eq!(changed(|fault| Fault { wave: 1 - fault.wave, cycle: Some(9), ..fault }), Ok(()));
    }

    #[test]
    fn each_kind_of_difference_is_told() {
        let wrong_bytes = check(
            STORE,
            other(|memory, result| {
                memory[3] ^= 8;
                memory[9] = 1;
                result
            }),
        );
        let memory = Difference::Memory { address: 3, expected: 3, got: 11, count: 2 };
        assert!(memory.to_string().contains("at 0x3: 0x0b, but 0x03"));
        assert_eq!(wrong_bytes, Err(memory));

        let wrong_count = check(STORE, other(|_, result| Ok(result? - 1)));
        assert_eq!(wrong_count, Err(Difference::Instructions { expected: 4, got: 3 }));

        assert_eq!(
            check(STORE, |_, _, _| Err(Early::Other("stuck".into()))),
            Err(Difference::Stopped("stuck".into()))
        );
        let no_fault = check("else", |_, _, _| Ok(2));
        assert!(matches!(no_fault, Err(Difference::Fault { expected: Some(_), got: None })));

        for change in [
            |fault: Fault| Fault { pc: 0, ..fault },
            |fault: Fault| Fault { lanes: 1, wave: 0, ..fault },
            |fault: Fault| Fault { kind: FaultKind::ReturnDepth, ..fault },
            |fault: Fault| Fault { kind: FaultKind::ReturnDepth, wave: 1 - fault.wave, ..fault },
        ] {
            assert!(matches!(changed(change), Err(Difference::Fault { .. })));
        }
    }
}
