//! The executable with the execution units: build, inputs, and comparison of its outputs.

use crate::oracle;
use std::collections::VecDeque;
use std::fmt;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use wave_isa::{ExecClass, Field, Op, Role};
use wave_machine::alu::{self, HostVectors, LaneContext};
use wave_machine::config::{self, Config};
use wave_verify::rtl::{self, Model};

/// Lanes of the test bench.
pub(crate) const LANES: usize = 8;
type Row = [u32; LANES];

/// Length of a request and of a response of `rtl-tests/bench/units_main.cpp`, in words.
const REQUEST: usize = 6 + 4 * LANES;
const RESPONSE: usize = 3 + LANES;

/// An operation on all lanes. `rows` are the operands rs1 to rs4.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub op: Op,
    pub mask: u32,
    pub select: u32,
    pub imm: u32,
    pub rows: [Row; 4],
}

/// Units in one executable: the parameter GROUP of `units_bench.sv`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    All,
    Integer,
    FloatingPoint,
    Division,
    Special,
}

/// The executable and its expected timing.
pub(crate) struct Bench {
    executable: PathBuf,
    /// By [`ExecClass`]: clocks to the result, and clocks that the unit is occupied. 0 if there is no unit.
    timing: [(u32, u32); ExecClass::ALL.len()],
}

pub(crate) fn rtl_directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rtl-tests").canonicalize().unwrap()
}

/// SystemVerilog packages in order of import.
pub(crate) fn packages() -> Vec<PathBuf> {
    ["rtl/wave_isa_pkg.sv", "rtl/units/wave_fp_pkg.sv", "rtl/units/sfu_rom_pkg.sv"]
        .map(|path| rtl_directory().join(path))
        .to_vec()
}

pub(crate) fn includes() -> Vec<PathBuf> {
    ["rtl", "rtl/units"].map(|path| rtl_directory().join(path)).to_vec()
}

impl Bench {
    /// Builds the units of `group` with the latencies of `config`, with planted bugs if `bugs` is true.
    pub(crate) fn build(group: Group, config: &Config, bugs: bool) -> Bench {
        let mut timing = [(0, 0); ExecClass::ALL.len()];
        let mut arguments = vec![format!("-GGROUP={}", group as u8)];
        for unit in &config.core.units {
            for class in &unit.classes {
                let interval = class.passes * (LANES as u32).div_ceil(unit.lanes);
                timing[class.class as usize] = (class.latency_cycles + interval - 1, interval);
                let name = class.class.name().to_uppercase();
                arguments.push(format!("-G{name}_LATENCY={}", class.latency_cycles));
                if matches!(class.class, ExecClass::IntDiv | ExecClass::Fp32Div) {
                    arguments.push(format!("-G{name}_PASSES={}", class.passes));
                }
                if class.class == ExecClass::Sfu {
                    arguments.push(format!("-GSFU_LANES={}", unit.lanes));
                }
            }
        }
        if bugs {
            arguments.push("-DBUGS".into());
        }
        let mut sources = packages();
        sources.extend(
            ["units_bench.sv", "units_main.cpp"].map(|name| rtl_directory().join("bench").join(name)),
        );
        let model = Model {
            name: format!("units-{group:?}").to_lowercase(),
            top: "units_bench".into(),
            sources,
            includes: includes(),
            arguments,
        };
        let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/rtl");
        let executable = rtl::build(&model, &target).unwrap_or_else(|error| panic!("{error}"));
        Bench { executable, timing }
    }

    /// Runs the requests with planted bug `bug` (0 for none). Compares every answer with `wave_machine::alu`,
    /// with SoftFloat if it has the operation, and in its clock. Returns the number of answers.
    pub(crate) fn run(
        &self,
        bug: u32,
        requests: impl Iterator<Item = Request> + Send,
    ) -> Result<usize, Difference> {
        let mut child = Command::new(&self.executable)
            .arg(format!("+bug={bug}"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", self.executable.display()));
        let stdin = child.stdin.take().unwrap();
        let result = std::thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            scope.spawn(move || {
                let mut stdin = BufWriter::with_capacity(1 << 16, stdin);
                for request in requests {
                    // Both fail when the comparison has stopped at a difference.
                    if stdin.write_all(&self.encode(&request)).is_err() || sender.send(request).is_err() {
                        return;
                    }
                }
            });
            let result = self.compare(&mut child, receiver);
            // Otherwise the writer would wait for a process that no longer reads.
            if result.is_err() {
                _ = child.kill();
            }
            result
        });
        let status = child.wait().unwrap();
        if result.is_ok() && !status.success() {
            let request = Request { op: Op::Nop, mask: 0, select: 0, imm: 0, rows: [[0; LANES]; 4] };
            let what = format!("is not behind the result that comes at the end ({status})");
            return Err(Difference { request: Box::new(request), what });
        }
        result
    }

    fn compare(&self, child: &mut Child, requests: mpsc::Receiver<Request>) -> Result<usize, Difference> {
        let mut stdout = BufReader::with_capacity(1 << 16, child.stdout.take().unwrap());
        let mut waiting: VecDeque<Option<Request>> = VecDeque::new();
        let mut first = 0;
        let mut answers = 0;
        let mut bytes = [0; 4 * RESPONSE];
        while stdout.read_exact(&mut bytes).is_ok() {
            let words: [u32; RESPONSE] =
                std::array::from_fn(|i| u32::from_le_bytes(bytes[4 * i..][..4].try_into().unwrap()));
            let index = words[0] as usize - first;
            while waiting.len() <= index {
                waiting.push_back(Some(requests.recv().expect("an answer to a request")));
            }
            let request = waiting[index].take().expect("one answer to each request");
            self.check(&request, words[1], words[2], words[3..].try_into().unwrap())?;
            answers += 1;
            while let Some(None) = waiting.front() {
                waiting.pop_front();
                first += 1;
            }
        }
        let unanswered = waiting.into_iter().flatten().next().or_else(|| requests.recv().ok());
        match unanswered {
            Some(request) => Err(Difference { request: Box::new(request), what: "has no result".into() }),
            None => Ok(answers),
        }
    }

    fn encode(&self, request: &Request) -> Vec<u8> {
        let class = request.op.info().class;
        let interval = self.timing[class as usize].1;
        let mut words = Vec::with_capacity(REQUEST);
        words.extend([request.op as u32, class as u32, interval, request.mask, request.select, request.imm]);
        words.extend(request.rows.iter().flatten());
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn check(&self, request: &Request, clocks: u32, pred: u32, row: &Row) -> Result<(), Difference> {
        let differs = |what: String| Err(Difference { request: Box::new(request.clone()), what });
        let due = self.timing[request.op.info().class as usize].0;
        if clocks != due {
            return differs(format!("has its result after {clocks} clocks instead of {due}"));
        }
        let (expected, expected_pred) = reference(request);
        if let Some(expected) = expected {
            for lane in 0..LANES {
                let operands = request.rows.map(|row| row[lane]);
                let oracle = oracle::binary32(request.op, operands).unwrap_or(expected[lane]);
                for (right, name) in [(expected[lane], "wave_machine::alu"), (oracle, "SoftFloat")] {
                    if row[lane] != right {
                        let got = row[lane];
                        return differs(format!("of {operands:08x?} gives {got:08x}, {name} {right:08x}"));
                    }
                }
            }
        }
        if let Some((expected, relevant)) = expected_pred
            && (pred ^ expected) & relevant != 0
        {
            return differs(format!(
                "gives the predicate {pred:08b}, wave_machine::alu {expected:08b} of {relevant:08b}"
            ));
        }
        Ok(())
    }
}

/// Result of `wave_machine::alu`: the row, or the predicate and the lanes in which it is valid.
fn reference(request: &Request) -> (Option<Row>, Option<(u32, u32)>) {
    let operands = request.op.info().operands;
    let row = |field: Field| {
        &request.rows[match field {
            Field::Rs1 => 0,
            Field::Rs2 => 1,
            Field::Rs3 => 2,
            _ => 3,
        }]
    };
    let rows: Vec<&[u32]> = operands
        .iter()
        .filter(|operand| matches!(operand.role, Role::Src(_)))
        .map(|operand| &row(operand.field)[..])
        .collect();
    let has_pred = operands.iter().any(|operand| operand.role == Role::PredDst);
    let mut out = [0; LANES];
    let context = LaneContext { mask: request.mask.into(), pred: request.select.into(), imm: request.imm };
    let written = if has_pred { &mut out[..0] } else { &mut out[..] };
    let pred = alu::execute(HostVectors::new(), request.op, &rows, context, written) as u32;
    // Inactive lanes are not written.
    let relevant = if request.op.info().class == ExecClass::Wave { request.mask } else { 0xFF };
    if has_pred { (None, Some((pred, relevant))) } else { (Some(out), None) }
}

/// A request with a wrong answer.
#[derive(Debug)]
pub(crate) struct Difference {
    pub request: Box<Request>,
    pub what: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}; all of it: {:x?}", self.request.op.info().mnemonic, self.what, self.request)
    }
}

/// The configuration that the RTL implements.
pub(crate) fn machine() -> Config {
    config::load("rtl.ron").unwrap_or_else(|errors| panic!("{errors:?}"))
}
