//! Prices scaled to one technology node.

use super::declare::{AreaPrices, DevicePrices, EnergyPrices, Exponents, File, Price, Scaling};
use super::error::{NODES, read};
use std::path::Path;
use std::sync::LazyLock;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::ron_text::Source;
use wave_machine::config::Dram;

/// The built-in prices.
const BUILT_IN: (&str, &str) =
    ("prices.ron", include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/parts/prices.ron")));

/// Prices of energy and area, all at one technology node. They are no part of a machine's configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Prices {
    /// What they are, in a sentence.
    pub description: String,
    /// The technology node, in nm.
    pub node_nm: f64,
    /// Energies.
    pub(super) energy: EnergyPrices,
    /// Areas.
    pub(super) area: AreaPrices,
    devices: Vec<DevicePrices>,
    /// The prices as the file states them.
    stated: File,
}

/// Prices of the memory device of a machine.
pub type Device = DevicePrices;

impl Price {
    /// The value at another node, by the rule of this kind of price.
    fn at(&self, node_nm: f64, scaling: Scaling, exponents: &Exponents) -> Price {
        let exponent = match scaling {
            Scaling::LogicEnergy => exponents.logic_energy.value,
            Scaling::SramEnergy => exponents.sram_energy.value,
            Scaling::WireEnergy => exponents.wire_energy.value,
            Scaling::LogicArea => exponents.logic_area.value,
            Scaling::SramArea => exponents.sram_area.value,
            Scaling::Fixed => 0.0,
        };
        let factor = self.node_nm.map_or(1.0, |from| (node_nm / from).powf(exponent));
        Price { value: self.value * factor, node_nm: Some(node_nm), ..self.clone() }
    }

    /// The factor within which the true value should lie.
    pub fn factor(&self) -> f64 {
        self.uncertainty.unwrap_or(1.0)
    }
}

impl Prices {
    /// The built-in prices, `configs/parts/prices.ron`. The first call reads them.
    ///
    /// # Panics
    /// Never: a test reads them.
    pub fn built_in() -> &'static Prices {
        static PRICES: LazyLock<Prices> = LazyLock::new(|| {
            Prices::from_text(BUILT_IN.0, BUILT_IN.1).expect("the built-in prices are valid")
        });
        &PRICES
    }

    /// The prices in the file at a path; or for `7nm`, say, the built-in ones at that node.
    ///
    /// # Errors
    /// All errors of the file, each with its place.
    pub fn load(name_or_path: &str) -> Result<Prices, Vec<Diagnostic>> {
        let path = Path::new(name_or_path);
        if path.exists() && !path.is_dir() {
            let source = Source::read(path, "file of prices").map_err(|e| vec![e])?;
            return read(&source).map(Prices::of);
        }
        if name_or_path == BUILT_IN.0 {
            return Ok(Prices::built_in().clone());
        }
        let node = name_or_path.strip_suffix("nm").and_then(|number| number.parse::<f64>().ok());
        match node {
            Some(node) if NODES.contains(&node) => Ok(Prices::built_in().at_node(node)),
            Some(node) => {
                let (first, last) = (NODES.start(), NODES.end());
                let message = format!("the rules of scaling are for {first} to {last} nm, not for {node} nm");
                Err(vec![Diagnostic::error(message)])
            }
            None => Err(vec![
                Diagnostic::error(format!("there is no file of prices `{name_or_path}`")).hint(
                    "name a file like configs/parts/prices.ron, or a technology node for the built-in prices: `7nm`",
                ),
            ]),
        }
    }

    /// The prices in a text. `file` is its name in messages.
    ///
    /// # Errors
    /// As [`load`](Prices::load).
    pub fn from_text(file: &str, text: &str) -> Result<Prices, Vec<Diagnostic>> {
        read(&Source { file: file.to_owned(), text: text.to_owned(), path: None }).map(Prices::of)
    }

    fn of(file: File) -> Prices {
        let node_nm = file.node_nm;
        let (mut energy, mut area) = (file.energy.clone(), file.area.clone());
        for (price, scaling) in energy.list_mut().into_iter().chain(area.list_mut()) {
            *price = price.at(node_nm, scaling, &file.scaling);
        }
        let description = file.description.clone();
        Prices { description, node_nm, energy, area, devices: file.dram.clone(), stated: file }
    }

    /// The same prices at another technology node, in nm.
    #[must_use]
    pub fn at_node(&self, node_nm: f64) -> Prices {
        Prices::of(File { node_nm, ..self.stated.clone() })
    }

    /// The prices of the memory device whose channels are nearest to those of a machine in width and data rate, by the
    /// sum of the logarithms of the ratios; of equal ones the first.
    pub fn device(&self, dram: &Dram) -> &Device {
        let bits = f64::from(dram.bus_bits);
        let mbps = f64::from(dram.clock_mhz) * f64::from(dram.transfers_per_clock);
        let distance =
            |device: &Device| (bits / device.bus_bits).ln().abs() + (mbps / device.pin_mbps).ln().abs();
        let (first, rest) = self.devices.split_first().expect("a file lists a device");
        rest.iter().fold(first, |a, b| if distance(b) < distance(a) { b } else { a })
    }

    /// Every price of energy and area: its name, as stated, its value at this node.
    pub fn list(&self) -> Vec<(String, Price, f64)> {
        let stated = [("energy", self.stated.energy.list()), ("area", self.stated.area.list())];
        let here = [self.energy.list(), self.area.list()];
        let rows = |((section, stated), here): ((&'static str, Vec<_>), Vec<_>)| {
            let pairs = stated.into_iter().zip(here);
            pairs
                .map(
                    |((name, stated, _), (_, here, _)): (
                        (&str, &Price, Scaling),
                        (&str, &Price, Scaling),
                    )| { (format!("{section}.{name}"), stated.clone(), here.value) },
                )
                .collect::<Vec<_>>()
        };
        let mut list: Vec<(String, Price, f64)> = stated.into_iter().zip(here).flat_map(rows).collect();
        for device in &self.devices {
            let name = |name: &str| format!("{}.{name}", device.device);
            list.extend(device.list().into_iter().map(|(n, price)| (name(n), price.clone(), price.value)));
        }
        list
    }
}
