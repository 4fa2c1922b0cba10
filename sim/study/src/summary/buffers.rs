//! What each buffer had of the accesses, as JSON. docs/attribution.md describes it.

use serde::Serialize;
use wave_observe::attribution::{Attributed, L2Share, Split, Tally};

/// A buffer, in a run or in a launch.
#[derive(Debug, Serialize)]
pub(super) struct BufferJson<'a> {
    buffer: &'a str,
    /// Absent for the code and for what is in no buffer.
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    loads: u64,
    stores: u64,
    atomics: u64,
    loaded_bytes: u64,
    stored_bytes: u64,
    atomic_bytes: u64,
    l1: L1Json,
    l2: L2Json,
    dram: DramJson,
}

#[derive(Debug, Serialize)]
struct L1Json {
    loads: u64,
    uncached_loads: u64,
    stores: u64,
    store_hits: u64,
    atomics: u64,
    remote_atomics: u64,
    hits: u64,
    mshr_hits: u64,
    sector_misses: u64,
    misses: u64,
    requested_sectors: u64,
    /// The misses of lines and of sectors by class.
    split: Split,
}

#[derive(Debug, Serialize)]
struct L2Json {
    #[serde(flatten)]
    outcomes: L2Share,
    split: Split,
}

#[derive(Debug, Serialize)]
struct DramJson {
    read_bytes: u64,
    written_bytes: u64,
}

/// The buffers of a run.
pub(super) fn of_run(attributed: &Attributed) -> Vec<BufferJson<'_>> {
    rows(attributed, &attributed.total)
}

/// The buffers of a launch, by its number among those that have ended.
pub(super) fn of_launch(attributed: &Attributed, number: usize) -> Vec<BufferJson<'_>> {
    attributed.launches.get(number).map_or_else(Vec::new, |tallies| rows(attributed, tallies))
}

fn rows<'a>(attributed: &'a Attributed, tallies: &'a [Tally]) -> Vec<BufferJson<'a>> {
    let names = attributed.regions.names().iter().enumerate();
    let used = names.zip(tallies).filter(|(_, tally)| !tally.is_empty());
    used.map(|((i, name), tally)| {
        let region = attributed.regions.region(i);
        let l1 = &tally.l1;
        BufferJson {
            buffer: name,
            address: region.map(|region| region.start),
            bytes: region.map(|region| region.end - region.start),
            loads: tally.loads,
            stores: tally.stores,
            atomics: tally.atomics,
            loaded_bytes: tally.loaded_bytes,
            stored_bytes: tally.stored_bytes,
            atomic_bytes: tally.atomic_bytes,
            l1: L1Json {
                loads: l1.loads,
                uncached_loads: l1.uncached_loads,
                stores: l1.stores,
                store_hits: l1.store_hits,
                atomics: l1.atomics,
                remote_atomics: l1.remote_atomics,
                hits: l1.hits,
                mshr_hits: l1.mshr_hits,
                sector_misses: l1.sector_misses,
                misses: l1.misses,
                requested_sectors: l1.requested_sectors,
                split: tally.l1_split,
            },
            l2: L2Json { outcomes: tally.l2, split: tally.l2_split },
            dram: DramJson { read_bytes: tally.dram_read_bytes, written_bytes: tally.dram_written_bytes },
        }
    })
    .collect()
}
