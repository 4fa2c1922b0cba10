//! Tests of prices, area and energy.

use super::*;
use wave_machine::config::{Config, PRESETS, load};
use wave_machine::memory::{L1Counters, MemoryCounters};
use wave_machine::stats::CoreCounters;

fn example() -> Config {
    Config::example()
}

/// An activity in which every counter is different.
fn activity() -> Activity {
    let mut a = Activity { cycles: 1000, ..Activity::default() };
    let CoreCounters { wave_instructions, lane_instructions, fp32_lanes, register_reads, .. } = &mut a.core;
    (*wave_instructions, *lane_instructions, *fp32_lanes, *register_reads) = (100, 3000, 2000, 6000);
    a.l1 = L1Counters { requested_sectors: 40, ..L1Counters::default() };
    let mut memory = MemoryCounters::default();
    memory.interconnect.requests = 20;
    memory.interconnect.request_bytes = 160;
    memory.interconnect.replies = 20;
    memory.interconnect.reply_bytes = 800;
    memory.dram.read_bytes = 640;
    memory.dram.activates = 3;
    a.memory = memory;
    a
}

#[test]
fn blocks_sum_to_the_total_and_every_item_is_in_it() {
    let model = Model::new(&example(), Prices::built_in());
    let energy = model.energy(&activity());
    let blocks: f64 = energy.blocks().map(|(_, joules)| joules).sum();
    let items: f64 = model.items().iter().map(|i| i.count(&activity()) as f64 * i.pj * 1e-12).sum();
    assert!((blocks - energy.total_joules()).abs() < 1e-18);
    assert!((items - energy.total_joules()).abs() < 1e-15, "{items} {blocks}");
    let (least, most) = energy.bounds_joules();
    assert!(least < blocks && blocks < most);
}

#[test]
fn no_block_and_no_class_is_forgotten() {
    for name in ["gpu.ron", "large.ron", "mi300x.ron"] {
        let config = load(name).unwrap();
        let model = Model::new(&config, Prices::built_in());
        for block in Block::ALL.into_iter().filter(|&block| block != Block::L3 || config.l3.is_there()) {
            assert!(model.items().iter().any(|item| item.block == block && item.pj > 0.0), "{block:?}");
        }
    }
    // Each class has a price of its own, but for those that are done at issue.
    let model = Model::new(&example(), Prices::built_in());
    let nothing = model.energy(&Activity::default()).total_joules();
    type Field = fn(&mut CoreCounters) -> &mut u64;
    let classes: [Field; 14] = [
        |c| &mut c.int_lanes,
        |c| &mut c.int_mul_lanes,
        |c| &mut c.int_div_lanes,
        |c| &mut c.fp32_lanes,
        |c| &mut c.fp32_div_lanes,
        |c| &mut c.fp16_lanes,
        |c| &mut c.fp64_lanes,
        |c| &mut c.fp64_div_lanes,
        |c| &mut c.convert_lanes,
        |c| &mut c.sfu_lanes,
        |c| &mut c.wave_lanes,
        |c| &mut c.mma_lanes,
        |c| &mut c.local_memory_lanes,
        |c| &mut c.device_memory_lanes,
    ];
    for (i, class) in classes.into_iter().enumerate() {
        let mut activity = Activity::default();
        *class(&mut activity.core) = 1;
        assert!(model.energy(&activity).total_joules() > nothing, "class {i}");
    }
}

#[test]
fn each_counter_times_its_price() {
    // By hand, from the prices of the file: gpu.ron has register banks of 16 KiB and an L1 of 64 KiB.
    let energy = Model::new(&example(), Prices::built_in()).energy(&activity());
    let logic = |pj: f64, node: f64| pj * (12.0 / node).powf(0.51);
    let close = |block: Block, pj: f64| {
        let joules = energy.block(block);
        assert!((joules / (pj * 1e-12) - 1.0).abs() < 1e-9, "{block:?}: {joules} {pj}");
    };
    close(Block::FrontEnd, 100.0 * logic(39.0, 45.0));
    close(Block::Registers, 6000.0 * 32.0 * logic(0.156, 45.0) * 2f64.sqrt());
    close(Block::Pipeline, 3000.0 * logic(13.0, 28.0));
    close(Block::F32, 2000.0 * logic(4.6, 45.0));
    close(Block::L1, 40.0 * 256.0 * logic(0.156, 45.0) * 8f64.sqrt());
    close(Block::Controllers, 640.0 * 8.0 * logic(1.95, 28.0));
    // GDDR6 with rows of 2 KiB, four channels at standby for 1000 cycles of 1500 MHz.
    close(Block::Dram, 3.0 * 2.0 * 828.0 + 640.0 * 8.0 * 6.5 + 4.0 * 37.0 * 1000.0 / 1500.0 * 1000.0);
}

#[test]
fn energies_of_parts_sum_to_the_whole() {
    let model = Model::new(&example(), Prices::built_in());
    let half = model.energy(&activity());
    let mut both = activity();
    both.cycles *= 2;
    both.core += &activity().core;
    both.l1 += &activity().l1;
    both.memory += &activity().memory;
    let whole = model.energy(&both);
    assert!((whole.total_joules() / half.total_joules() - 2.0).abs() < 1e-12);
}

#[test]
fn every_preset_has_an_area() {
    let prices = Prices::built_in();
    for preset in PRESETS {
        let config = load(preset.file).unwrap();
        let area = Area::of(&config, prices);
        assert!(area.blocks().iter().all(|b| b.mm2 >= 0.0 && b.uncertainty >= 1.0), "{}", preset.file);
        assert!((1.0..20_000.0).contains(&area.total_mm2()), "{}: {}", preset.file, area.total_mm2());
    }
}

#[test]
fn a_larger_cache_costs_more() {
    let prices = Prices::built_in();
    let larger = example().with(&["core.l1.bytes=262144".to_owned()]).unwrap();
    assert!(Area::of(&larger, prices).total_mm2() > Area::of(&example(), prices).total_mm2());
    let pj = |config: &Config| {
        let model = Model::new(config, prices);
        model.items().iter().find(|i| i.block == Block::L1 && i.name == "words").unwrap().pj
    };
    assert!(pj(&larger) > pj(&example()));
}

#[test]
fn a_smaller_node_costs_less() {
    let (now, then) = (Prices::built_in(), &Prices::built_in().at_node(28.0));
    let energy = |prices: &Prices| Model::new(&example(), prices).energy(&activity()).total_joules();
    assert!(energy(now) < energy(then));
    assert!(Area::of(&example(), now).total_mm2() < Area::of(&example(), then).total_mm2());
    assert_eq!(&Prices::load("28nm").unwrap(), then);
}

#[test]
fn devices_are_told_by_their_channels() {
    let prices = Prices::built_in();
    let device = |settings: &[&str]| {
        let settings: Vec<String> = settings.iter().map(|&s| s.to_owned()).collect();
        prices.device(&example().with(&settings).unwrap().dram).device.clone()
    };
    assert_eq!(device(&[]), "GDDR6");
    assert_eq!(device(&["dram.bus_bits=64", "dram.clock_mhz=1600", "dram.transfers_per_clock=2"]), "HBM2E");
    assert_eq!(device(&["dram.clock_mhz=800"]), "LPDDR5");
    assert_eq!(prices.device(&load("h200.ron").unwrap().dram).device, "HBM3E");
}

#[test]
fn errors_name_their_place() {
    let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/parts/prices.ron"));
    let errors = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        let errors = Prices::from_text("mine.ron", &text.replacen(from, to, 1)).unwrap_err();
        errors.iter().map(|e| e.render(false)).collect::<String>()
    };
    let cases = [
        (("int_pj:", "int_pk:"), "int_pk"),
        (("fp16_pj: (value: 1.5", "fp16_pj: (value: -1.5"), "`energy.fp16_pj` is -1.5; a price is 0 or more"),
        (("node_nm: 12,", "node_nm: 0,"), "`node_nm` is 0 nm; the rules are for 2 to 180 nm"),
        (("uncertainty: 2.5", "uncertainty: 0.5"), "is a factor of 1 to 1000"),
        (("source: \"[H] 32-bit add\"", "source: \"\""), "says nothing of its source"),
        (("value: 39", "value: 3x9"), "a comma is missing"),
        (("energy: (", "energy ("), "mine.ron"),
    ];
    for ((from, to), expected) in cases {
        let found = errors(from, to);
        assert!(found.contains(expected) && found.contains("mine.ron:"), "{from} → {to}:\n{found}");
    }
    assert!(Prices::load("no-such-file.ron").is_err());
    assert!(Prices::load("500nm").is_err());
}
