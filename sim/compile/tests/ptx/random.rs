//! Random kernels against the interpreter of `wave-verify`, which shares no code with the compiler.

use crate::machine::{BUFFERS, Run, run_with};
use wave_compile::kernels::Settings;
use wave_verify::ptx::random::{ENTRY, Kernel};
use wave_verify::ptx::{self, Call, Region};

/// Seeds of a run of the test.
const SEEDS: std::ops::Range<u64> = 0..200;

/// The seeds that `WAVE_SIM_PTX_SEEDS=FIRST..END` names, or those of the tests.
pub(crate) fn seeds(usual: std::ops::Range<u64>) -> std::ops::Range<u64> {
    let stated = std::env::var("WAVE_SIM_PTX_SEEDS").ok().map(|text| {
        let (first, end) = text.split_once("..").expect("FIRST..END");
        first.parse().expect("a number")..end.parse().expect("a number")
    });
    stated.unwrap_or(usual)
}

/// The memory after a run of the interpreter.
fn interpreted(kernel: &Kernel, seed: u64) -> Result<Vec<u8>, String> {
    let module = ptx::parse(&kernel.text())?;
    let mut memory = kernel.memory.clone();
    let mut parameters = u64::from(BUFFERS).to_le_bytes().to_vec();
    parameters.extend(kernel.scalar.to_le_bytes());
    let call = Call {
        entry: ENTRY,
        grid: [kernel.grid, 1, 1],
        threads: kernel.threads,
        shared_bytes: kernel.shared_bytes(),
        parameters: &parameters,
    };
    let mut regions = [Region { start: BUFFERS.into(), bytes: &mut memory }];
    if ptx::call(&module, &call, &mut regions, seed, &|_, _, _| 0)? {
        return Err("it trapped".to_owned());
    }
    Ok(memory)
}

/// The launch of a kernel.
fn run_of(kernel: &Kernel) -> Run<'static> {
    Run {
        kernel: ENTRY,
        grid: kernel.grid,
        threads: kernel.threads,
        dynamic: kernel.shared_bytes(),
        arguments: vec![BUFFERS, 0, kernel.scalar],
    }
}

/// The memory after a run of the compiled kernel. Half of the seeds have instructions for f64, some few registers.
fn compiled(kernel: &Kernel, seed: u64) -> Result<Vec<u8>, String> {
    let registers = [None, None, Some(48), Some(96)][(seed / 2 % 4) as usize];
    let settings = Settings { f64_instructions: seed % 2 == 1, registers, ..Settings::default() };
    run_with(&kernel.text(), &run_of(kernel), &kernel.memory, settings)
}

/// The first byte that differs, or what else went wrong.
fn difference(kernel: &Kernel, seed: u64) -> Option<String> {
    let expected = match interpreted(kernel, seed) {
        Ok(expected) => expected,
        Err(error) => return Some(format!("interpreter: {error}")),
    };
    match compiled(kernel, seed) {
        Err(error) => Some(format!("compiler: {}", error.chars().take(400).collect::<String>())),
        Ok(memory) => {
            let at = (0..memory.len()).find(|&at| memory[at] != expected[at])?;
            let word = |memory: &[u8]| u32::from_le_bytes(memory[at / 4 * 4..][..4].try_into().unwrap());
            Some(format!("byte {at}: {:#x}, expected {:#x}", word(&memory), word(&expected)))
        }
    }
}

#[test]
fn random_kernels_do_what_the_interpreter_does() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for seed in seeds(SEEDS) {
        count += 1;
        let mut kernel = Kernel::new(seed);
        if let Some(what) = difference(&kernel, seed) {
            // A smaller kernel goes wrong in the same way.
            let kind = |what: &str| {
                what.split(':').next().map(|kind| kind.split(' ').next().unwrap_or("").to_owned())
            };
            kernel.shrink(&|smaller| {
                difference(smaller, seed).is_some_and(|other| kind(&other) == kind(&what))
            });
            let smallest = difference(&kernel, seed).unwrap_or_default();
            println!("seed {seed}: {what}; smallest: {smallest}");
            let parts = kernel.parts.iter().map(|part| format!("{part:?}")).collect::<Vec<_>>();
            println!("  {}", parts.join("\n  "));
            wrong.push(seed);
        }
    }
    println!("{count} kernels, {} wrong", wrong.len());
    assert!(wrong.is_empty(), "{count} kernels, wrong with seeds {wrong:?}");
}

/// A bug in the compiler would be seen: a kernel whose text is changed gives something else.
#[test]
fn a_changed_kernel_is_found() {
    let change = |text: String| {
        text.replace("add.u32", "sub.u32").replace("min.s32", "max.s32").replace("xor.b32", "or.b32")
    };
    let mut found = 0;
    for seed in 0..12 {
        let kernel = Kernel::new(seed);
        // The places of threads are sums too: only what comes after them changes.
        let text = kernel.text();
        let (start, rest) = text.split_at(text.find("ld.global").expect("it loads its input"));
        let changed = format!("{start}{}", change(rest.to_owned()));
        let memory = run_with(&changed, &run_of(&kernel), &kernel.memory, Settings::default());
        found += u32::from(memory.ok() != interpreted(&kernel, seed).ok());
    }
    assert!(found >= 6, "{found} of 12");
}
