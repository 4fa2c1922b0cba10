//! The parts of device memory that have a name.

use wave_machine::config::Config;

/// A named part of device memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// Name: of a buffer, or in parentheses what it is.
    pub name: String,
    /// Address of its first byte.
    pub start: u64,
    /// Address behind its last byte.
    pub end: u64,
}

/// All of memory as regions in the order of their addresses, and behind them the kernels' code and everything else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Regions {
    named: Vec<Region>,
    /// Names of all rows of a table.
    names: Vec<String>,
}

/// The bit of an address that selects the code of the kernels.
const CODE_SPACE: u64 = 1 << 32;

impl Regions {
    /// These regions, those without bytes left out. Where two overlap, the one that begins first has the bytes.
    pub fn new(mut named: Vec<Region>) -> Regions {
        named.retain(|region| region.start < region.end);
        named.sort_by_key(|region| region.start);
        let mut end = 0;
        for region in &mut named {
            region.start = region.start.max(end);
            end = region.end.max(end);
        }
        named.retain(|region| region.start < region.end);
        let others = ["(code)", "(other)"].map(str::to_owned);
        let names = named.iter().map(|region| region.name.clone()).chain(others).collect();
        Regions { named, names }
    }

    /// Names of the regions, then of the code and of what is in no region.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The region of row `i`; none for the last two.
    pub fn region(&self, i: usize) -> Option<&Region> {
        self.named.get(i)
    }

    /// The row of some bytes: the first region that has one of those from `start` to before `end`.
    pub(super) fn row(&self, start: u64, end: u64) -> usize {
        if start >= CODE_SPACE {
            return self.named.len();
        }
        let i = self.named.partition_point(|region| region.end <= start);
        match self.named.get(i) {
            Some(region) if region.start < end => i,
            _ => self.named.len() + 1,
        }
    }
}

/// How lines divide into sectors: every level has the lines and sectors of the L1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lines {
    line_bytes: u64,
    sector_bytes: u32,
    /// Sectors that one burst of memory brings together.
    burst_sectors: u32,
}

impl Lines {
    pub(super) fn new(config: &Config) -> Lines {
        let l1 = &config.core.l1;
        let burst_sectors =
            (config.dram.burst_bytes / l1.sector_bytes).clamp(1, l1.line_bytes / l1.sector_bytes);
        Lines { line_bytes: l1.line_bytes.into(), sector_bytes: l1.sector_bytes, burst_sectors }
    }

    /// Number of the line at an address. Addresses, that bit of the code included, are below 2³³, and lines have at
    /// least 4 bytes.
    pub(super) fn number(self, address: u64) -> u32 {
        (address / self.line_bytes) as u32
    }

    /// Bytes of some sectors, as a mask over the line.
    pub(super) fn bytes_of(self, sectors: u8) -> u128 {
        let one = u128::MAX >> (128 - self.sector_bytes);
        let bits = (0..8).filter(|sector| sectors >> sector & 1 != 0);
        bits.fold(0, |bytes, sector| bytes | one << (sector * self.sector_bytes))
    }

    /// Sectors that a byte mask touches.
    pub(super) fn sectors_of(self, bytes: u128) -> u8 {
        let sectors = (self.line_bytes / u64::from(self.sector_bytes)) as u32;
        (0..sectors).fold(0, |of, i| of | u8::from(bytes & self.bytes_of(1 << i) != 0) << i)
    }

    /// Sectors with all others that come from memory in the same bursts (M22).
    pub(super) fn in_bursts(self, sectors: u8) -> u8 {
        let group = ((1u32 << self.burst_sectors) - 1) as u8;
        let firsts = (0..8).step_by(self.burst_sectors as usize);
        firsts.fold(0, |all, first| all | if sectors & group << first != 0 { group << first } else { 0 })
    }

    /// The row of the first bytes of a mask over the line at an address.
    pub(super) fn row(self, regions: &Regions, line: u64, bytes: u128) -> usize {
        let (first, behind) = (bytes.trailing_zeros(), 128 - bytes.leading_zeros());
        regions.row(line + u64::from(first), line + u64::from(behind.max(first + 1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wave_machine::config;

    fn region(name: &str, start: u64, end: u64) -> Region {
        Region { name: name.to_owned(), start, end }
    }

    #[test]
    fn bytes_belong_to_the_first_region_that_has_one_of_them() {
        let regions = Regions::new(vec![region("b", 300, 400), region("none", 5, 5), region("a", 256, 300)]);
        assert_eq!(regions.names(), ["a", "b", "(code)", "(other)"]);
        let row = |start, end| regions.names()[regions.row(start, end)].as_str();
        assert_eq!(
            [row(0, 256), row(0, 257), row(256, 300), row(299, 301), row(300, 301)].join(" "),
            "(other) a a a b"
        );
        assert_eq!([row(399, 512), row(400, 512), row(1 << 32, (1 << 32) + 4)].join(" "), "b (other) (code)");
    }

    #[test]
    fn masks_of_sectors_follow_the_configuration() {
        let mut config = config::load("gpu.ron").expect("a preset");
        (config.core.l1.line_bytes, config.core.l1.sector_bytes, config.dram.burst_bytes) = (128, 32, 64);
        let lines = Lines::new(&config);
        assert_eq!(lines.bytes_of(0b0010), 0xFFFF_FFFF << 32);
        assert_eq!(lines.bytes_of(0b1111), u128::MAX);
        assert_eq!(lines.sectors_of(1 << 31 | 1 << 96), 0b1001);
        assert_eq!(lines.in_bursts(0b0010), 0b0011);
        assert_eq!(lines.in_bursts(0b0110), 0b1111);
        (config.core.l1.sector_bytes, config.dram.burst_bytes) = (128, 32);
        let whole = Lines::new(&config);
        assert_eq!((whole.bytes_of(1), whole.in_bursts(1), whole.sectors_of(1 << 127)), (u128::MAX, 1, 1));
    }
}
