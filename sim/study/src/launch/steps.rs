//! Expands steps to launches.

use super::buffer::Buffer;
use super::build::unusable_name;
use super::expression::{Expression, Failure, Value};
use super::file::{Dimensions, File, Repeat, Run, Step};
use super::given::Given;
use super::messages::Problem;
use super::scope::Names;
use super::shader;
use wave_isa::program::{Argument, Kernel, Launch, Program};

/// Most launches of a launch file.
const MAX_LAUNCHES: usize = 100_000;

/// Deepest nesting of repeats.
const MAX_DEPTH: usize = 16;

/// All launches, in order.
pub(crate) fn expand(
    steps: &[Step],
    entry: Option<&str>,
    program: &Program,
    buffers: &[Buffer],
    names: &mut Names,
) -> Result<Vec<Launch>, Vec<Problem>> {
    let mut launches = Vec::new();
    let mut expansion = Expansion { program, entry, buffers, names, launches: &mut launches, rounds: 0 };
    expansion.steps(steps, "steps", 0).map_err(|problem| vec![problem])?;
    Ok(launches)
}

struct Expansion<'a> {
    program: &'a Program,
    /// Kernel of the steps that name none.
    entry: Option<&'a str>,
    buffers: &'a [Buffer],
    names: &'a mut Names,
    launches: &'a mut Vec<Launch>,
    /// Iterations of repeats so far. They take time even if they launch nothing.
    rounds: usize,
}

impl Expansion<'_> {
    fn steps(&mut self, steps: &[Step], path: &str, depth: usize) -> Result<(), Problem> {
        for (i, step) in steps.iter().enumerate() {
            let path = format!("{path}[{i}]");
            match step {
                Step::Run(run) => {
                    let launch = self.launch(run, &path)?;
                    self.launches.push(launch);
                }
                Step::Repeat(repeat) => self.repeat(repeat, &path, depth)?,
            }
            if self.launches.len() > MAX_LAUNCHES {
                return Err(Problem::new(&path, format!("more than {MAX_LAUNCHES} launches")));
            }
        }
        Ok(())
    }

    fn repeat(&mut self, repeat: &Repeat, path: &str, depth: usize) -> Result<(), Problem> {
        let number = |names: &Names, key: &str, expression: &Expression| {
            names.integer(expression, key).map_err(|f| Problem::of(format!("{path}.{key}"), f))
        };
        if depth == MAX_DEPTH {
            return Err(Problem::new(path, format!("more than {MAX_DEPTH} repeats inside each other")));
        }
        let variable = format!("{path}.variable");
        if let Some(message) = unusable_name(&repeat.variable) {
            return Err(Problem::new(&variable, message));
        }
        if self.names.has(&repeat.variable) {
            let message = format!("`{}` already stands for something else", repeat.variable);
            return Err(Problem::new(&variable, message));
        }
        let from = number(self.names, "from", &repeat.from)?;
        let to = number(self.names, "to", &repeat.to)?;
        let by = repeat.by.as_ref().map_or(Ok(1), |by| number(self.names, "by", by))?;
        if by == 0 {
            return Err(Problem::new(&format!("{path}.by"), "a repeat by 0 does not end"));
        }
        let mut value = from;
        while if by > 0 { value <= to } else { value >= to } {
            self.rounds += 1;
            if self.rounds > MAX_LAUNCHES {
                return Err(Problem::new(path, format!("more than {MAX_LAUNCHES} rounds of repeats")));
            }
            self.names.push(&repeat.variable, Value::Int(value));
            self.steps(&repeat.steps, &format!("{path}.steps"), depth + 1)?;
            self.names.pop();
            match value.checked_add(by) {
                Some(next) => value = next,
                None => break,
            }
        }
        Ok(())
    }

    fn launch(&self, run: &Run, path: &str) -> Result<Launch, Problem> {
        let at = |key: &str| format!("{path}.{key}");
        let index = self.kernel(run).map_err(|f| Problem::of(at("kernel"), f))?;
        let kernel = &self.program.kernels[index];
        let grid = self.dimensions(&run.grid, "grid", path)?;
        let workgroup = match &run.workgroup {
            Some(workgroup) => self.dimensions(workgroup, "workgroup", path)?,
            None if kernel.workgroup_size.contains(&0) => {
                let message = format!("kernel `{}` does not state a workgroup size", kernel.name);
                let hint = Some("state `workgroup` here".to_owned());
                return Err(Problem::of(path.to_owned(), Failure { message, hint }));
            }
            None => kernel.workgroup_size,
        };
        let initial_registers = match kernel.bindings.is_empty() && run.bindings.0.is_empty() {
            true => self.arguments(kernel, &run.arguments, path)?,
            false => {
                shader::check(kernel, run, workgroup, path)?;
                shader::registers(kernel, &run.bindings, self.buffers, self.names, path)?
            }
        };
        Ok(Launch {
            kernel: index,
            grid,
            workgroup,
            registers: kernel.registers,
            local_memory_bytes: self.local_memory(kernel, run, path)?,
            initial_registers,
        })
    }

    /// Bytes of local memory of a workgroup.
    fn local_memory(&self, kernel: &Kernel, run: &Run, path: &str) -> Result<u32, Problem> {
        let Some(dynamic) = &run.dynamic_local else { return Ok(self.program.local_memory_needed(kernel)) };
        let failed = |failure| Problem::of(format!("{path}.dynamic_local"), failure);
        let bytes = self.names.integer(dynamic, "dynamic_local").map_err(failed)?;
        let all =
            u64::try_from(bytes).ok().and_then(|bytes| bytes.checked_add(kernel.local_memory_bytes.into()));
        all.and_then(|all| u32::try_from(all).ok()).ok_or_else(|| {
            failed(Failure::new(format!("dynamic_local is {bytes}: it must be from 0 to what 32 bits count")))
        })
    }

    /// The registers that bring arguments, with their values.
    fn arguments(&self, kernel: &Kernel, arguments: &[Given], path: &str) -> Result<Vec<(u8, u32)>, Problem> {
        let number = |i: usize| format!("{path}.arguments[{i}]");
        let value = |(i, given): (usize, &Given)| match given {
            Given::Written(argument) => Ok(argument.clone()),
            Given::Computed(expression) => match self.names.number(expression) {
                Ok(Value::Int(value)) => Ok(Argument::integer(value)),
                Ok(Value::Float(value)) => Ok(Argument::float(value)),
                Err(failure) => Err(Problem::of(number(i), failure)),
            },
        };
        let arguments = arguments.iter().enumerate().map(value).collect::<Result<Vec<_>, _>>()?;
        kernel.argument_registers(&arguments).map_err(|error| {
            let at = error.number.map_or_else(|| format!("{path}.arguments"), number);
            Problem::new(&at, error.message)
        })
    }

    fn kernel(&self, run: &Run) -> Result<usize, Failure> {
        let kernels = || self.program.kernels.iter().map(|k| k.name.as_str());
        match run.kernel.as_deref().or(self.entry) {
            Some(name) => self.program.kernel_named(name).ok_or_else(|| {
                Failure::unknown(format!("the source has no kernel `{name}`"), name, kernels())
            }),
            None if self.program.kernels.len() == 1 => Ok(0),
            None => Err(Failure {
                message: "the source does not have one kernel: state `kernel`".to_owned(),
                hint: Some(format!("its kernels: {}", kernels().collect::<Vec<_>>().join(", "))),
            }),
        }
    }

    fn dimensions(&self, stated: &Dimensions, key: &str, path: &str) -> Result<[u32; 3], Problem> {
        let mut sizes = [1; 3];
        for (i, expression) in stated.0.iter().enumerate() {
            let failed = |failure| Problem::of(format!("{path}.{key}[{i}]"), failure);
            let size = self.names.integer(expression, key).map_err(failed)?;
            sizes[i] = u32::try_from(size).ok().filter(|&size| size > 0).ok_or_else(|| {
                let message = format!("{key} is {size} in {}: it must be at least 1", ["x", "y", "z"][i]);
                failed(Failure::new(message))
            })?;
        }
        Ok(sizes)
    }
}

/// The kernels that a launch file names, each once.
pub(super) fn kernels(file: &File) -> Vec<String> {
    fn collect<'a>(steps: &'a [Step], names: &mut Vec<&'a str>) {
        for step in steps {
            match step {
                Step::Run(run) => names.extend(run.kernel.as_deref()),
                Step::Repeat(repeat) => collect(&repeat.steps, names),
            }
        }
    }
    let mut names: Vec<&str> = file.entry.as_deref().into_iter().collect();
    collect(&file.steps, &mut names);
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(str::to_owned).collect()
}
