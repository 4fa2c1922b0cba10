//! The prices, each declared once, with its unit in its name and with how it scales.

use serde::Deserialize;

/// A price as its source states it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Its value, in the unit that its name ends with.
    pub value: f64,
    /// Technology node of the source in nm. Devices outside the chip have none.
    #[serde(default)]
    pub node_nm: Option<f64>,
    /// Factor within which the true value should lie, both ways; 1 if not stated.
    #[serde(default)]
    pub uncertainty: Option<f64>,
    /// Where the value comes from; begins with "guess" if it is one.
    pub source: String,
}

/// How a price changes with the technology node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scaling {
    /// Energy of gates.
    LogicEnergy,
    /// Energy of memory arrays.
    SramEnergy,
    /// Energy of wires.
    WireEnergy,
    /// Area of gates.
    LogicArea,
    /// Area of memory arrays.
    SramArea,
    /// Not at all.
    Fixed,
}

/// Declares a section of prices: `name: Scaling`.
macro_rules! prices {
    ($(#[$meta:meta])* $name:ident { $($(#[doc = $doc:literal])+ $field:ident: $scaling:ident,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) struct $name { $($(#[doc = $doc])+ pub $field: Price,)* }

        impl $name {
            /// Every price with its name and how it scales, in order.
            pub(super) fn list(&self) -> Vec<(&'static str, &Price, Scaling)> {
                vec![$((stringify!($field), &self.$field, Scaling::$scaling)),*]
            }

            /// Every price to change it, with how it scales.
    pub(super) fn list_mut(&mut self) -> Vec<(&mut Price, Scaling)> {
                vec![$((&mut self.$field, Scaling::$scaling)),*]
            }
        }
    };
}

/// Exponents of the rules by which prices scale: a price of node n is multiplied by (target / n)^exponent.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Exponents {
    /// Energy of gates.
    pub logic_energy: Price,
    /// Energy of memory arrays.
    pub sram_energy: Price,
    /// Energy of wires.
    pub wire_energy: Price,
    /// Area of gates.
    pub logic_area: Price,
    /// Area of memory arrays.
    pub sram_area: Price,
}

impl Exponents {
    /// Every exponent with its name.
    pub(super) fn list(&self) -> Vec<(&'static str, &Price, Scaling)> {
        let list = [
            ("logic_energy", &self.logic_energy),
            ("sram_energy", &self.sram_energy),
            ("wire_energy", &self.wire_energy),
            ("logic_area", &self.logic_area),
            ("sram_area", &self.sram_area),
        ];
        list.map(|(name, price)| (name, price, Scaling::Fixed)).to_vec()
    }
}

prices! {
    /// Energies.
    EnergyPrices {
        /// Decode and issue of a wave instruction, squashed ones too.
        decode_pj: LogicEnergy,
        /// A bit read from or written to a memory array of 8 KiB; it grows with the root of the size.
        array_8kib_pj_per_bit: SramEnergy,
        /// Pipeline registers, clock and collectors, of each lane of each instruction.
        lane_pj: LogicEnergy,
        /// Integer add, of a lane.
        int_pj: LogicEnergy,
        /// Integer multiply-add, of a lane.
        int_mul_pj: LogicEnergy,
        /// Integer division, of a lane.
        int_div_pj: LogicEnergy,
        /// f32 multiply-add, of a lane.
        fp32_pj: LogicEnergy,
        /// f32 division or root, of a lane.
        fp32_div_pj: LogicEnergy,
        /// f16 multiply-add, of a lane.
        fp16_pj: LogicEnergy,
        /// f64 multiply-add, of a lane.
        fp64_pj: LogicEnergy,
        /// f64 division or root, of a lane.
        fp64_div_pj: LogicEnergy,
        /// Conversion, of a lane.
        convert_pj: LogicEnergy,
        /// Special function, of a lane.
        sfu_pj: LogicEnergy,
        /// Operation across lanes, of a lane.
        wave_pj: WireEnergy,
        /// A multiply-add of the matrix unit; an instruction has 64 a lane.
        mma_fma_pj: LogicEnergy,
        /// Address of a memory access, of a lane.
        address_pj: LogicEnergy,
        /// A bit between registers and a local memory of 64 KiB.
        local_64kib_pj_per_bit: LogicEnergy,
        /// A bit between registers and an L1 of 64 KiB.
        l1_64kib_pj_per_bit: LogicEnergy,
        /// A bit of a packet's data in an L2 slice of 128 KiB, without the way to it.
        l2_128kib_pj_per_bit: LogicEnergy,
        /// A bit over a mm of wire with its repeaters.
        wire_pj_per_bit_mm: WireEnergy,
        /// A bit through memory controller and interface, on the chip's side.
        phy_pj_per_bit: LogicEnergy,
        /// Leakage of a mm² of chip.
        leakage_mw_per_mm2: Fixed,
    }
}

prices! {
    /// Areas.
    AreaPrices {
        /// A bit of a memory array, with its periphery.
        sram_um2_per_bit: SramArea,
        /// A lane of class int.
        int_um2: LogicArea,
        /// A lane of class int_mul.
        int_mul_um2: LogicArea,
        /// A lane of class int_div.
        int_div_um2: LogicArea,
        /// A lane of class fp32.
        fp32_um2: LogicArea,
        /// A lane of class fp32_div.
        fp32_div_um2: LogicArea,
        /// A lane of class fp16.
        fp16_um2: LogicArea,
        /// A lane of class fp64.
        fp64_um2: LogicArea,
        /// A lane of class fp64_div.
        fp64_div_um2: LogicArea,
        /// A lane of class convert.
        convert_um2: LogicArea,
        /// A lane of class sfu.
        sfu_um2: LogicArea,
        /// A lane of class wave.
        wave_um2: LogicArea,
        /// A multiply-add of the matrix unit.
        mma_fma_um2: LogicArea,
        /// Fetch, decode, issue, collectors and load/store path of a scheduler.
        scheduler_mm2: LogicArea,
        /// Distance of wires from one another.
        wire_pitch_um: Fixed,
    }
}

/// Prices of a memory device, of one channel.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DevicePrices {
    /// Name.
    pub device: String,
    /// Pins of a channel.
    pub bus_bits: f64,
    /// Data rate of a pin in Mb/s.
    pub pin_mbps: f64,
    /// Activation and precharge of a row, for each KiB of the row.
    pub activate_pj_per_row_kib: Price,
    /// A bit read or written, with the device's interface.
    pub data_pj_per_bit: Price,
    /// A refresh command.
    pub refresh_pj: Price,
    /// Standby of a channel with an open row.
    pub standby_mw: Price,
    /// Interface and controller on the chip.
    pub phy_mm2_per_pin: Price,
}

impl DevicePrices {
    /// Every price with its name.
    pub(super) fn list(&self) -> [(&'static str, &Price); 5] {
        [
            ("activate_pj_per_row_kib", &self.activate_pj_per_row_kib),
            ("data_pj_per_bit", &self.data_pj_per_bit),
            ("refresh_pj", &self.refresh_pj),
            ("standby_mw", &self.standby_mw),
            ("phy_mm2_per_pin", &self.phy_mm2_per_pin),
        ]
    }
}

/// A file of prices.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    /// What they are, in a sentence.
    pub description: String,
    /// The node that prices are scaled to, in nm.
    pub node_nm: f64,
    /// Exponents of the scaling rules.
    pub scaling: Exponents,
    /// Energies.
    pub energy: EnergyPrices,
    /// Areas.
    pub area: AreaPrices,
    /// Memory devices.
    pub dram: Vec<DevicePrices>,
}
