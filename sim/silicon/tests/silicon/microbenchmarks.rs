//! The microbenchmarks: what ptxas accepts, and that the device and the simulator say the same.

use crate::small;
use wave_machine::config;
use wave_machine::gpu::RunOptions;
use wave_ptx::{Arch, Options, SpecialFunctions, translate};
use wave_silicon::bench::{self, program, simulate};
use wave_silicon::device::Device;
use wave_silicon::job::Repeats;
use wave_silicon::micro::{self, Shape, Topic};
use wave_silicon::rehearsal::Rehearsal;
use wave_silicon::session::{Session, Settings};
use wave_testing::ptxas;

fn options() -> Options {
    Options { aligned: true, times: true, special: SpecialFunctions::Hardware, ..Options::default() }
}

#[test]
fn ptxas_accepts_every_microbenchmark() {
    let Some(ptxas) = ptxas::find() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let shape = Shape::of_config(&config::load("h200").expect("a preset"));
    ptxas::assemble(&ptxas, folder.path(), wave_driver::EVICT, "sm_80").unwrap_or_else(|why| panic!("{why}"));
    let mut kernels = 0;
    for (number, micro) in micro::all(&shape).iter().enumerate() {
        let kernel = &micro.kernels[number % micro.kernels.len()];
        let (program, _) = program(kernel).unwrap_or_else(|why| panic!("{}: {why}", micro.name));
        let arch = Arch::ALL[number % Arch::ALL.len()];
        let options = Options { arch, threads: Some(kernel.threads), ..options() };
        let text =
            translate(&program, &[0], &options).unwrap_or_else(|errors| panic!("{}: {errors:?}", micro.name));
        ptxas::assemble(&ptxas, folder.path(), &text, arch.name)
            .unwrap_or_else(|why| panic!("{}: {why}", micro.name));
        kernels += 1;
    }
    assert!(kernels > 60, "{kernels} microbenchmarks");
}

#[test]
fn every_microbenchmark_has_a_name_of_its_own_and_says_something_on_every_preset() {
    for preset in ["gpu", "t4", "a100", "h200"] {
        let shape = Shape::of_config(&config::load(preset).expect("a preset"));
        let mut names: Vec<String> = micro::all(&shape).into_iter().map(|micro| micro.name).collect();
        names.sort();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count, "{preset}");
    }
    for topic in Topic::ALL {
        let shape = Shape::of_config(&small(&[]));
        assert!(micro::all(&shape).iter().any(|micro| micro.topic == topic), "{}", topic.name());
    }
}

#[test]
fn a_device_with_the_clock_of_a_machine_says_what_the_machine_says() {
    let config = small(&[]);
    let mut device = Rehearsal::new(&config).unwrap();
    let shape = Shape::of(device.properties());
    let never = || false;
    let settings = Settings { options: options(), ..Settings::default() };
    let mut session = Session::new(&mut device, &settings, &never).unwrap();
    let once = Repeats { warm_up: 0, measured: 1 };
    for micro in micro::all(&shape) {
        // Those with many waves take the interpreter long, and there are many alike.
        if micro.topic == Topic::Units && micro.name.contains("full") && !micro.name.starts_with("fp32,") {
            continue;
        }
        let measured = bench::measure(&mut session, &micro, once)
            .unwrap_or_else(|why| panic!("{}: {why:?}", micro.name));
        let simulated = simulate(&config, &micro, &RunOptions::UNBOUNDED);
        assert_eq!(Ok(measured.median), simulated, "{}", micro.name);
        assert!(measured.median > 0.0, "{}: {}", micro.name, measured.median);
    }
}
