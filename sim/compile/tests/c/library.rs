//! The C library on the machine: its text against that of glibc, printing, the heap.

use crate::clang;
use std::path::Path;
use wave_compile::c::CompileOptions;
use wave_compile::kernels::{self, Settings};
use wave_compile::source::SourceOptions;
use wave_isa::program::{Argument, Launch, ParameterType, Printed, Program};
use wave_machine::config::{self, Config};
use wave_machine::functional::{self, Limits};
use wave_testing::golden::root;

/// Device memory of the runs, bytes.
const MEMORY_BYTES: usize = 64 << 20;

/// A kernel in C with what its run needs.
pub(crate) struct Kernel {
    pub(crate) program: Program,
    config: Config,
}

impl Kernel {
    /// Compiles a file; warnings are errors.
    pub(crate) fn of(path: &Path, flags: &[&str], bytes: [u32; 2], f64_instructions: bool) -> Kernel {
        let flags = flags.iter().map(|&flag| flag.to_owned()).collect();
        let settings = Settings {
            source: SourceOptions {
                c: CompileOptions { flags, ..CompileOptions::default() },
                ..SourceOptions::default()
            },
            stack_bytes: Some(bytes[0]),
            heap_bytes: Some(bytes[1]),
            f64_instructions,
            ..Settings::default()
        };
        let (program, warnings) = kernels::load(path, &settings).unwrap_or_else(|errors| {
            panic!("{}", errors.iter().map(|error| error.render(false)).collect::<Vec<_>>().join("\n"))
        });
        assert!(warnings.is_empty(), "{warnings:?}");
        let mut config = config::load("gpu").expect("a preset");
        config.capabilities.f64 = f64_instructions;
        Kernel { program, config }
    }

    /// A kernel of this text.
    pub(crate) fn of_text(text: &str, flags: &[&str], bytes: [u32; 2], f64_instructions: bool) -> Kernel {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("kernel.c");
        std::fs::write(&path, text).expect("it can be written");
        Kernel::of(&path, flags, bytes, f64_instructions)
    }

    /// Runs one of the kernels. `memory` begins with what the program has there.
    pub(crate) fn run(
        &self,
        name: &str,
        (grid, workgroup): (u32, u32),
        arguments: &[Argument],
        memory: &mut [u8],
    ) -> Printed {
        let kernel = self.program.kernel_named(name).expect("the kernel is there");
        let mut launch = Launch::of(&self.program, kernel, [grid, 1, 1]);
        launch.workgroup = [workgroup, 1, 1];
        for (register, argument) in (0..).zip(arguments) {
            let bits = argument.bits(ParameterType::I32).expect("it is an integer");
            launch.initial_registers.push((register, bits as u32));
        }
        let bytes = memory.len() as u64;
        launch.place_private(&self.program, 32, bytes, 0).expect("it fits");
        functional::run(&self.config, &self.program, &launch, memory, &Limits::default(), &mut |_| {})
            .unwrap_or_else(|error| panic!("{error:?}"));
        let module = self.program.module.as_ref().expect("it is compiled");
        module.printed(memory, &[]).unwrap_or_default()
    }

    /// Device memory at the start.
    pub(crate) fn memory(&self) -> Vec<u8> {
        let mut memory = vec![0; MEMORY_BYTES];
        self.program.module.as_ref().expect("it is compiled").place_data(&mut memory).expect("it fits");
        memory
    }

    /// The first address behind the data of the program, and a page.
    pub(crate) fn free(&self) -> u32 {
        let end = self.program.module.as_ref().expect("it is compiled").data_end;
        u32::try_from(end.next_multiple_of(4096)).expect("it is small")
    }
}

#[test]
fn what_the_library_does_is_what_glibc_does() {
    if !clang() {
        return;
    }
    let cases = root().join("sim/compile/tests/c/cases");
    let expected = std::fs::read_to_string(cases.join("library.txt")).expect("the text is there");
    assert!(expected.lines().count() > 30);
    for f64_instructions in [true, false] {
        let kernel = Kernel::of(&cases.join("library.c"), &["-w"], [16 << 10, 16 << 10], f64_instructions);
        let printed = kernel.run("library", (1, 1), &[], &mut kernel.memory());
        assert_eq!((printed.lost, printed.heap_full), (0, 0));
        for (number, (line, wanted)) in printed.text.lines().zip(expected.lines()).enumerate() {
            assert_eq!(line, wanted, "line {}", number + 1);
        }
        assert_eq!(printed.text, expected);
    }
}

#[test]
fn what_is_printed_comes_by_workgroup_and_thread_and_calls_without_room_are_counted() {
    if !clang() {
        return;
    }
    let text = "#include <stdio.h>\n#include <wave.h>\nKERNEL void hello(void)\n{\n    \
                for (unsigned i = 0; i <= thread_id_x() % 2; i++)\n        \
                printf(\"%u:%u%s\\n\", workgroup_id_x(), thread_id_x(), i ? \"+\" : \"\");\n}\n";
    let kernel = Kernel::of_text(text, &[], [1024, 0], true);
    let printed = kernel.run("hello", (3, 70), &[], &mut kernel.memory());
    let line = |i: u32| {
        let (group, thread) = (i / 70, i % 70);
        if thread % 2 == 1 {
            format!("{group}:{thread}\n{group}:{thread}+\n")
        } else {
            format!("{group}:{thread}\n")
        }
    };
    assert_eq!(printed.text, (0..210).map(line).collect::<String>());
    let kernel = Kernel::of_text(text, &["-DWAVE_OUTPUT_BYTES=480"], [1024, 0], true);
    let printed = kernel.run("hello", (3, 70), &[], &mut kernel.memory());
    assert_eq!(printed.buffer_bytes, 480);
    assert_eq!(printed.text.lines().count() + printed.lost as usize, 315);
    assert!((18..=24).contains(&printed.text.lines().count()), "{}", printed.text);
}

#[test]
fn a_heap_that_is_full_gives_null_and_is_counted() {
    if !clang() {
        return;
    }
    // The compiler leaves out allocations that nobody looks at.
    let text = "#include <stdlib.h>\n#include <wave.h>\nvoid *volatile kept;\nKERNEL void fill(unsigned *out)\n{\n    \
                unsigned count = 0;\n    for (void *p; (p = malloc(48)); kept = p) count++;\n    \
                out[global_id_x()] = count;\n}\n";
    for (bytes, blocks) in [(0u32, 0u32), (63, 0), (64, 1), (1024, 16)] {
        let kernel = Kernel::of_text(text, &[], [1024, bytes], true);
        let (mut memory, at) = (kernel.memory(), kernel.free());
        let argument: Argument = format!("{at}").parse().expect("a number");
        let printed = kernel.run("fill", (2, 33), &[argument], &mut memory);
        assert_eq!(printed.heap_full, 66);
        let words = memory[at as usize..].as_chunks::<4>().0.iter().take(66);
        // Sizes are rounded up to what a stack is a multiple of.
        let blocks = if bytes == 63 { 1 } else { blocks };
        assert!(words.into_iter().all(|&word| u32::from_le_bytes(word) == blocks), "{bytes} bytes");
    }
}

#[test]
fn each_thread_has_random_numbers_of_its_own() {
    if !clang() {
        return;
    }
    let text = "#include <stdlib.h>\n#include <wave.h>\nKERNEL void draw(unsigned *out, unsigned seed)\n{\n    \
                if (seed) srand(seed + global_id_x());\n    \
                for (int i = 0; i < 4; i++) out[4 * global_id_x() + i] = rand();\n}\n";
    let kernel = Kernel::of_text(text, &[], [1024, 0], true);
    let draw = |seed: u32| {
        let (mut memory, at) = (kernel.memory(), kernel.free());
        let arguments = [at, seed].map(|word| word.to_string().parse().expect("a number"));
        kernel.run("draw", (1, 64), &arguments, &mut memory);
        let words = memory[at as usize..].as_chunks::<4>().0.iter().take(256);
        words.map(|&word| u32::from_le_bytes(word)).collect::<Vec<u32>>()
    };
    let same = draw(0);
    assert!(same.chunks(4).all(|four| four == &same[..4] && four.iter().all(|&word| word < 1 << 31)));
    let mut seeded = draw(5);
    seeded.sort_unstable();
    seeded.dedup();
    assert_eq!(seeded.len(), 256);
}
