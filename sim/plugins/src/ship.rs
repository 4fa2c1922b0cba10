//! Signature-based hit prediction: C.-J. Wu et al., "SHiP: Signature-based Hit Predictor for High Performance Caching",
//! MICRO 2011, on SRRIP of A. Jaleel et al., ISCA 2010.
//!
//! A table of counters, indexed by a signature, learns whether the lines of that signature are used again. Lines of a
//! signature that are not come in as the next to leave. The signature is the pc of the instruction where the cache
//! knows it (the L1), else the region of memory.

use wave_capture::Capture;
use wave_sim::plugin::{CacheSet, CacheSetup, Reference, Registry, Replacement};

/// Registers it as `ship`.
pub(crate) fn register(registry: &mut Registry) {
    registry
        .replacement("ship", Ship::new)
        .doc(
            "The line that its instruction, or its region, predicts not to be used again (SHiP, MICRO 2011).",
        )
        .parameter("table_bits", 14, 4..=20, "bits", "Logarithm of the entries of the table of signatures.")
        .parameter("counter_most", 7, 1..=255, "uses", "Largest value of a counter of the table.")
        .parameter(
            "region_bits",
            14,
            6..=24,
            "bits",
            "Logarithm of the bytes of a region, where no pc is known.",
        )
        .counter("predicted_dead", "lines", "Lines that came in as the next to leave.")
        .counter("dead", "lines", "Lines that left without a further use.");
}

/// Longest predicted distance to the next use: SRRIP with two bits.
const DISTANT: u8 = 3;

/// A line in a frame.
#[derive(Debug, Clone, Copy, Default, Capture)]
struct Line {
    signature: u32,
    /// Predicted distance to its next use, up to [`DISTANT`].
    distance: u8,
    was_used: bool,
}

#[derive(Debug, Capture)]
struct Ship {
    #[spec]
    ways: usize,
    #[spec]
    table_bits: u32,
    #[spec]
    most: u64,
    #[spec]
    region_bits: u32,
    lines: Vec<Line>,
    table: Vec<u8>,
    predicted_dead: u64,
    dead: u64,
}

impl Ship {
    fn new(setup: &CacheSetup) -> Ship {
        let table_bits = setup.parameter("table_bits") as u32;
        Ship {
            ways: setup.ways,
            table_bits,
            most: setup.parameter("counter_most"),
            region_bits: setup.parameter("region_bits") as u32,
            lines: vec![Line { distance: DISTANT, ..Line::default() }; setup.sets * setup.ways],
            table: vec![1; 1 << table_bits],
            predicted_dead: 0,
            dead: 0,
        }
    }

    fn signature(&self, by: &Reference) -> u32 {
        let key = by.by.word().map_or(by.line >> self.region_bits, u64::from);
        // Fibonacci hashing: the upper bits of a product with 2⁶⁴ / φ.
        (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - self.table_bits)) as u32
    }
}

impl Replacement for Ship {
    fn victim(&self, set: &CacheSet<'_>) -> Option<usize> {
        // The most distant, of several the first.
        set.candidates().max_by_key(|&frame| (self.lines[frame].distance, std::cmp::Reverse(frame)))
    }

    fn evicted(&mut self, frame: usize) {
        let Line { signature, distance, was_used } = self.lines[frame];
        if !was_used {
            self.dead += 1;
            let counter = &mut self.table[signature as usize];
            *counter = counter.saturating_sub(1);
        }
        // SRRIP ages the whole set until the victim is distant.
        let first = frame / self.ways * self.ways;
        for line in &mut self.lines[first..first + self.ways] {
            line.distance = (line.distance + (DISTANT - distance)).min(DISTANT);
        }
    }

    fn installed(&mut self, frame: usize, by: &Reference) {
        let signature = self.signature(by);
        let is_dead = by.streaming || self.table[signature as usize] == 0;
        self.predicted_dead += u64::from(is_dead);
        let distance = if is_dead { DISTANT } else { DISTANT - 1 };
        self.lines[frame] = Line { signature, distance, was_used: false };
    }

    fn hit(&mut self, frame: usize, _: &Reference) {
        let line = &mut self.lines[frame];
        line.distance = 0;
        if !std::mem::replace(&mut line.was_used, true) {
            let counter = &mut self.table[line.signature as usize];
            *counter = u64::from(*counter).saturating_add(1).min(self.most) as u8;
        }
    }

    fn counters(&self) -> Vec<u64> {
        vec![self.predicted_dead, self.dead]
    }
}
