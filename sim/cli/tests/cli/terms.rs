//! The words of other GPU models: the page, and the messages that know them.

use super::golden;
use super::scratch::{ADD, Scratch};
use wave_isa::terms;

#[test]
fn the_page_of_terms_is_current() {
    golden::check("docs/terms.md", &terms::page());
}

/// What the table names is there.
#[test]
fn the_table_names_what_there_is() {
    let statistics: Vec<&str> =
        wave_study::summary::statistics::declared().iter().map(|row| row.name).collect();
    let help = Scratch::new().out("--help");
    let (mut keys, mut flags) = (0, 0);
    for term in terms::TERMS {
        for (key, others) in term.keys {
            let explained = wave_machine::config::explain(key).unwrap_or_else(|e| panic!("{key}: {e}"));
            assert!(explained.starts_with(&format!("{key}\n")), "{key} is not a complete path");
            for other in *others {
                assert!(!wave_machine::config::is_key(other), "`{other}` is a parameter here");
            }
            keys += 1;
        }
        for (flag, others) in term.flags {
            let is_flag =
                |name: &str| help.contains(&format!("--{name} ")) || help.contains(&format!("--{name}\n"));
            assert!(is_flag(flag), "--{flag}");
            assert!(others.iter().all(|other| !is_flag(other)), "{others:?}: one is a flag here");
            flags += 1;
        }
        for name in term.statistics {
            assert!(statistics.contains(name), "{name}");
        }
    }
    assert!(keys > 20 && flags > 8, "{keys} {flags}");
}

#[test]
fn config_explain_knows_words_of_other_models() {
    let scratch = Scratch::new();
    let warp = scratch.out("config explain warp");
    for part in ["wave\n", "wavefront", "core.wave_width", "Lanes of a wave", "--wave-width"] {
        assert!(warp.contains(part), "{part}: {warp}");
    }
    for (word, here) in [("SM", "core\n"), ("shared_memory", "local memory\n"), ("CTA", "workgroup\n")] {
        assert!(scratch.out(&format!("config explain {word}")).starts_with(here), "{word}");
    }
    // A parameter has its term.
    assert!(scratch.out("config explain core.wave_width").contains("CUDA: warp"), "core.wave_width");
    let ran = scratch.run("config explain banana");
    assert!(ran.code == 2 && ran.err.contains("there is no parameter `banana`"), "{}", ran.err);
}

#[test]
fn messages_about_unknown_names_know_words_of_other_models() {
    let launch =
        "(source: \"add.wave\", buffers: (x: (type: u32, length: 64)), steps: [run(grid: 1, block: 16)])";
    let machine = "(core: (warp_size: 16))";
    let memory = "(dram: (frequency: 1750))";
    let scratch = Scratch::with(&[
        ("add.wave", ADD),
        ("block.ron", launch),
        ("machine.ron", machine),
        ("memory.ron", memory),
    ]);
    for (words, hint) in [
        ("saxpy --set warp_size=16", "here: `core.wave_width`"),
        ("saxpy --set core.warp_size=16", "here: `core.wave_width`"),
        ("saxpy --set shared_memory=64KiB", "here: `core.local_memory_bytes`"),
        ("saxpy --config machine.ron", "here: `core.wave_width`"),
        ("saxpy --config memory.ron", "here: `dram.clock_mhz`"),
        ("add.wave --block-size 64", "here: `--workgroup`"),
        ("add.wave --warp-size=64", "here: `--wave-width`"),
        ("add.wave --shared-memory 64", "here: `--local-memory`"),
        ("block.ron", "here: `workgroup`"),
        ("warp", "is a wave here"),
        ("stats banana", "`wave-sim stats` lists all of them"),
        ("stats texture", "docs/terms.md has `texture`"),
        ("sweep saxpy --set num_sms=1,2", "here: `cores`"),
    ] {
        let ran = scratch.run(words);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{words}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(hint), "{words}: {}", ran.err);
    }
    // The nearest name by letters is still suggested where no model has the word.
    assert!(scratch.run("add.wave --gird 4").err.contains("--grid"));
    let conflicts = scratch.out("stats bank_conflict");
    assert!(
        conflicts.contains("core.bank_conflicts (row reads)") && !conflicts.contains("dram"),
        "{conflicts}"
    );
    assert!(scratch.out("stats coalescing").starts_with("core.line_accesses"));
    assert_eq!(scratch.out("stats l1.hits").lines().filter(|line| !line.starts_with(' ')).count(), 1);
}

#[test]
fn a_kernel_in_another_language_gets_the_way() {
    let scratch = Scratch::with(&[
        ("k.hip", "__global__ void k(float *x) { x[threadIdx.x] = 1; }\n"),
        ("k.comp", "#version 450\nvoid main() {}\n"),
        ("k.metal", "kernel void k() {}\n"),
        ("k.hlsl", "[numthreads(1,1,1)] void main() {}\n"),
        ("hip.ron", "(source: \"k.hip\", steps: [run(grid: 1)])"),
        ("assembly.cu", ADD),
    ]);
    for (words, parts) in [
        ("k.hip", ["is HIP", "docs/terms.md"]),
        ("check k.hip", ["is HIP", "`wave-sim new NAME`"]),
        ("asm k.hip", ["is HIP", "wave.h"]),
        ("hip.ron", ["is HIP", "wave.h"]),
        ("k.comp", ["is GLSL", "glslangValidator -V -g -S comp k.comp -o k.spv"]),
        ("k.metal", ["is Metal", "--lang wgsl"]),
        ("k.hlsl", ["is HLSL", "dxc -T cs_6_0"]),
    ] {
        let ran = scratch.run(words);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{words}: {}{}", ran.out, ran.err);
        assert!(parts.iter().all(|part| ran.err.contains(part)), "{words}: {}", ran.err);
        assert_eq!(ran.err.matches("error: ").count(), 1, "{words}: {}", ran.err);
    }
    // A flag says that the file is what its name does not say.
    scratch.out("check assembly.cu --source-format wave");
}
