//! Published energies and areas beside those of the model: each lies within the factor that is stated for it.
//!
//! `UPDATE=1 cargo test -p wave-observe --lib` writes the table into docs/energy.md.

use super::*;
use wave_machine::config::{Config, load, load_with_settings};
use wave_machine::stats::CoreCounters;

/// A published figure.
struct Figure {
    what: &'static str,
    unit: &'static str,
    published: f64,
    /// What the model says.
    model: f64,
    /// Factor within which the two must be, both ways.
    within: f64,
    source: &'static str,
}

/// A price of the model of a machine, in pJ.
fn pj(config: &Config, node_nm: f64, block: Block, name: &str) -> f64 {
    let model = Model::new(config, &Prices::built_in().at_node(node_nm));
    let item = model.items().iter().find(|item| item.block == block && item.name == name);
    item.unwrap_or_else(|| panic!("{block:?} has no {name}")).pj
}

/// Energy of a full wave instruction, for each lane, in pJ, without leakage: `count` fills in its class.
fn instruction(config: &Config, node_nm: f64, rows: (u64, u64), count: fn(&mut CoreCounters)) -> f64 {
    let model = Model::new(config, &Prices::built_in().at_node(node_nm));
    let lanes = 32;
    let mut activity = Activity::default();
    let core = &mut activity.core;
    (core.wave_instructions, core.lane_instructions) = (1, lanes);
    (core.register_reads, core.register_writes) = (rows.0 * lanes, rows.1 * lanes);
    count(core);
    // Two instructions of two words come with a fetch.
    let fetch = pj(config, node_nm, Block::FrontEnd, "instruction fetch") / 2.0;
    (model.energy(&activity).total_joules() * 1e12 + fetch) / lanes as f64
}

/// A bit of memory with an activation for every `bytes` bytes, in pJ, on the device's side.
fn memory(config: &Config, bytes: f64) -> f64 {
    let of = |name| pj(config, 12.0, Block::Dram, name);
    let cycle = of("standby");
    let dram = &config.dram;
    let bits_a_clock = f64::from(dram.bus_bits * dram.transfers_per_clock * dram.channels);
    let bits_a_cycle = bits_a_clock * f64::from(dram.clock_mhz) / f64::from(config.core_clock_mhz);
    of("reads") / 8.0 + of("activates") / (bytes * 8.0) + cycle / bits_a_cycle
}

fn figures() -> Vec<Figure> {
    let gpu = Config::example();
    let with = |settings: &[&str]| {
        let settings: Vec<String> = settings.iter().map(|&s| s.to_owned()).collect();
        load_with_settings("gpu.ron", &settings).unwrap().0
    };
    let hbm = with(&["dram.part=hbm2e.ron"]);
    let lpddr = with(&["dram.part=lpddr5.ron"]);
    let t4 = load("t4.ron").unwrap();
    let prices = Prices::built_in();
    let at7 = |name: &str| prices.at_node(7.0).list().into_iter().find(|(n, ..)| n == name).unwrap().2;
    let array = |node_nm: f64, kib: f64| {
        let list = prices.at_node(node_nm).list();
        list.into_iter().find(|(n, ..)| n == "energy.array_8kib_pj_per_bit").unwrap().2 * (kib / 8.0).sqrt()
    };
    let fma = |node_nm| instruction(&gpu, node_nm, (3, 1), |core| core.fp32_lanes = 32);
    let overhead = instruction(&gpu, 45.0, (3, 1), |core| core.fp16_lanes = 32)
        - prices.at_node(45.0).list().into_iter().find(|(n, ..)| n == "energy.fp16_pj").unwrap().2;
    // V100: 80 SMs of 64 multiply-adds at 1530 MHz, 300 W, 815 mm2.
    let v100_fmas = 80.0 * 64.0 * 1530e6;
    let v100_leakage = 815.0 * 0.046 / v100_fmas * 1e12;
    let figure = |what, unit, published, model, within, source| Figure {
        what,
        unit,
        published,
        model,
        within,
        source,
    };
    let table2 = "Jouppi et al., ISCA 2021, table 2";
    vec![
        figure("int32 add, 7 nm", "pJ", 0.03, at7("energy.int_pj"), 1.5, table2),
        figure("int32 multiply and add, 7 nm", "pJ", 1.51, at7("energy.int_mul_pj"), 1.5, table2),
        figure("f16 multiply and add, 7 nm", "pJ", 0.5, at7("energy.fp16_pj"), 1.5, table2),
        figure("f32 multiply and add, 7 nm", "pJ", 1.69, at7("energy.fp32_pj"), 1.5, table2),
        figure("64 bits of an SRAM of 8 KB, 7 nm", "pJ", 7.5, 64.0 * array(7.0, 8.0), 2.0, table2),
        figure("64 bits of an SRAM of 32 KB, 7 nm", "pJ", 8.5, 64.0 * array(7.0, 32.0), 1.5, table2),
        figure("64 bits of an SRAM of 1 MB, 7 nm", "pJ", 14.0, 64.0 * array(7.0, 1024.0), 4.0, table2),
        figure(
            "64 bits of a cache of 1 MB, 45 nm",
            "pJ",
            100.0,
            64.0 * array(45.0, 1024.0),
            1.5,
            "Horowitz, ISSCC 2014",
        ),
        figure(
            "256 bits of an SRAM of 8 KB, 28 nm",
            "pJ",
            50.0,
            256.0 * array(28.0, 8.0),
            2.0,
            "Perez-Serrano et al., BMC Bioinformatics 2018, table 7",
        ),
        figure(
            "a bit of an SRAM of 8 KB read 64 bytes wide, 28 nm",
            "pJ",
            0.0347,
            array(28.0, 8.0),
            4.0,
            "CACTI 7, as github.com/Dongyunkam/DRAM_info lists it",
        ),
        figure(
            "a register read, 28 nm",
            "pJ",
            2.0,
            pj(&gpu, 28.0, Block::Registers, "register reads"),
            3.0,
            "Perez-Serrano et al., table 7",
        ),
        figure(
            "f16 multiply-add less its arithmetic, a lane, 45 nm",
            "pJ",
            30.0,
            overhead,
            2.0,
            "Dally, HFMA: fetch, decode and operands",
        ),
        figure(
            "f32 multiply-add of a V100 at full rate with leakage, a lane, 12 nm",
            "pJ",
            300.0 / v100_fmas * 1e12,
            fma(12.0) + v100_leakage,
            1.5,
            "NVIDIA, V100 data sheet: 300 W, 15.7 TFLOPS",
        ),
        figure(
            "a bit from an L2 of 128 KB slices to the L1, 28 nm",
            "pJ",
            15.48,
            pj(&with(&["l2.slice_bytes=131072"]), 28.0, Block::L2, "packets' data") / 8.0
                + pj(&gpu, 28.0, Block::Interconnect, "crossbar") / 8.0,
            1.5,
            "Arunkumar et al., HPCA 2019 (K40)",
        ),
        figure(
            "a bit of HBM2 with the activations of GPU kernels (94 bytes each)",
            "pJ",
            3.97,
            memory(&hbm, 94.0),
            1.5,
            "O'Connor et al., MICRO 2017",
        ),
        figure(
            "a bit of HBM2E, device",
            "pJ",
            6.0,
            memory(&hbm, 256.0),
            2.5,
            "Micron, Ultra-bandwidth solutions, 2020",
        ),
        figure(
            "a bit of GDDR6, device",
            "pJ",
            7.5,
            memory(&gpu, 256.0),
            1.5,
            "Micron, Ultra-bandwidth solutions, 2020",
        ),
        figure(
            "a bit of GDDR6",
            "pJ",
            6.5,
            memory(&gpu, 256.0),
            1.5,
            "Jouppi et al., table 2: 350 to 480 pJ for 64 bits",
        ),
        figure(
            "a bit of LPDDR4 (the model: LPDDR5)",
            "pJ",
            8.0,
            memory(&lpddr, 256.0),
            2.0,
            "Accelergy's table of memories",
        ),
        figure(
            "area of t4.ron (TU104 has graphics and more)",
            "mm²",
            545.0,
            Area::of(&t4, prices).total_mm2(),
            3.0,
            "NVIDIA, Turing white paper, 2018",
        ),
    ]
}

#[test]
fn published_figures_are_met_within_their_factors() {
    let mut table = String::from(
        "| figure | unit | published | model | model / published | within a factor of | source |\n|---|---|---|---|---|---|---|\n",
    );
    let mut wrong = Vec::new();
    for Figure { what, unit, published, model, within, source } in figures() {
        let ratio = model / published;
        if !(1.0 / within..=within).contains(&ratio) {
            wrong.push(format!(
                "{what}: the model has {model:.3} {unit}, published are {published:.3} {unit}: {ratio:.2}"
            ));
        }
        let digits = |value: f64| crate::numbers::short(value);
        table += &format!(
            "| {what} | {unit} | {} | {} | {ratio:.2} | {within} | {source} |\n",
            digits(published),
            digits(model)
        );
    }
    assert_eq!(wrong, Vec::<String>::new());
    let mut prices =
        String::from("| price | value | node | factor | here | source |\n|---|---|---|---|---|---|\n");
    for (name, price, here) in Prices::built_in().list() {
        let node = price.node_nm.map_or("-".to_owned(), |node| format!("{node} nm"));
        let here = crate::numbers::short(here);
        prices += &format!(
            "| `{name}` | {} | {node} | {} | {here} | {} |\n",
            price.value,
            price.factor(),
            price.source
        );
    }
    let page = "docs/energy.md";
    wave_testing::golden::check_part(page, "published", &table);
    wave_testing::golden::check_part(page, "prices", &prices);
}
