//! Predicts when a memory channel delivers a read, with one read at a time, by rules M24 to M29: every clock,
//! with open rows, activate windows and refresh. It predicts each access of a pointer chase.

use super::expected::Place;
use wave_machine::clock::Cycle;
use wave_machine::config::{Config, Dram};

/// Rows and recent commands of all channels.
#[derive(Debug, Clone)]
pub(crate) struct Channels {
    dram: Dram,
    core_mhz: u64,
    bursts: u64,
    channels: Vec<Channel>,
}

#[derive(Debug, Clone)]
struct Channel {
    banks: Vec<Bank>,
    /// Clocks and bank groups of the last activates, latest first; at most four.
    activates: Vec<(u64, u32)>,
    /// Clock and bank group of the last read.
    read: Option<(u64, u32)>,
    /// First clock in which the command bus is free.
    free: u64,
    /// First clock after a refresh in which rows may be opened.
    refreshed: u64,
    /// Clock of the next refresh.
    due: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Bank {
    row: Option<u64>,
    activate: Option<u64>,
    read: Option<u64>,
    precharge: Option<u64>,
}

/// Clock of something that never happens.
const NEVER: u64 = u64::MAX;

impl Channels {
    /// Idle channels at clock 0. A read takes the bursts of one sector, together with sectors that share its
    /// burst.
    pub(crate) fn new(config: &Config) -> Channels {
        let dram = config.dram;
        let due = if dram.t_refi == 0 { NEVER } else { u64::from(dram.t_refi) };
        let channel = Channel {
            banks: vec![Bank::default(); dram.banks as usize],
            activates: Vec::new(),
            read: None,
            free: 0,
            refreshed: 0,
            due,
        };
        Channels {
            dram,
            core_mhz: u64::from(config.core_clock_mhz),
            bursts: u64::from(config.core.l1.sector_bytes.div_ceil(dram.burst_bytes)),
            channels: vec![channel; dram.channels as usize],
        }
    }

    /// The cycle in which a line that its slice missed in cycle `miss` is back, and the state of its row.
    pub(crate) fn read(&mut self, miss: Cycle, place: Place) -> (Cycle, RowState) {
        let memory_mhz = u64::from(self.dram.clock_mhz);
        let first = ((miss + 1) * memory_mhz).div_ceil(self.core_mhz);
        let channel = &mut self.channels[place.channel as usize];
        let (data, state) = channel.read(&self.dram, first, place, self.bursts);
        let at_channel = (data * self.core_mhz).div_ceil(memory_mhz);
        (at_channel + 2 * Cycle::from(self.dram.latency_cycles), state)
    }
}

/// State of the bank at an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowState {
    /// Its row was open.
    Hit,
    /// No row was open.
    Closed,
    /// Another row was open.
    Conflict,
    /// A refresh came in between.
    Refresh,
}

impl Channel {
    /// The clock after the last data of a read that the channel sees at clock `now`.
    fn read(&mut self, dram: &Dram, now: u64, place: Place, bursts: u64) -> (u64, RowState) {
        let bank = (place.group * (dram.banks / dram.bank_groups) + place.bank) as usize;
        let clocks = u64::from;
        let mut state = None;
        let mut left = bursts;
        let burst = clocks(dram.burst_clocks());
        loop {
            // Refreshes that were due earlier go first, even if nothing else happened.
            let seen = now.max(self.free);
            if self.due <= seen {
                let interrupted = self.refresh(dram) > now;
                if interrupted {
                    state = Some(RowState::Refresh);
                }
                continue;
            }
            let b = self.banks[bank];
            let found = match b.row {
                Some(row) if row == place.row => RowState::Hit,
                Some(_) => RowState::Conflict,
                None => RowState::Closed,
            };
            let at = match found {
                RowState::Hit => seen
                    .max(after(b.activate, dram.t_rcd))
                    .max(after(self.read.map(|r| r.0), dram.t_ccd_s.max(dram.burst_clocks())))
                    .max(after(self.read.filter(|r| r.1 == place.group).map(|r| r.0), dram.t_ccd_l)),
                RowState::Conflict => seen.max(after(b.activate, dram.t_ras)).max(after(b.read, dram.t_rtp)),
                _ => {
                    let mut at = seen
                        .max(after(b.precharge, dram.t_rp))
                        .max(after(b.activate, dram.t_rc))
                        .max(self.refreshed);
                    for &(clock, group) in &self.activates {
                        at = at.max(
                            clock + clocks(if group == place.group { dram.t_rrd_l } else { dram.t_rrd_s }),
                        );
                    }
                    at.max(after(self.activates.get(3).map(|a| a.0), dram.t_faw))
                }
            };
            if at >= self.due {
                self.refresh(dram);
                state = Some(RowState::Refresh);
                continue;
            }
            state.get_or_insert(found);
            self.free = at + 1;
            let b = &mut self.banks[bank];
            match found {
                RowState::Hit => {
                    b.read = Some(at);
                    self.read = Some((at, place.group));
                    left -= 1;
                    if left == 0 {
                        return (at + clocks(dram.t_cl) + burst, state.unwrap_or(found));
                    }
                }
                RowState::Conflict => (b.row, b.precharge) = (None, Some(at)),
                _ => {
                    (b.row, b.activate) = (Some(place.row), Some(at));
                    self.activates.insert(0, (at, place.group));
                    self.activates.truncate(4);
                }
            }
        }
    }

    /// Closes all rows and refreshes. Returns the first clock in which a row may be opened again.
    fn refresh(&mut self, dram: &Dram) -> u64 {
        let mut at = self.due.max(self.free);
        if self.banks.iter().any(|b| b.row.is_some()) {
            for b in &self.banks {
                at = at.max(after(b.activate, dram.t_ras)).max(after(b.read, dram.t_rtp));
            }
            for b in &mut self.banks {
                if b.row.take().is_some() {
                    b.precharge = Some(at);
                }
            }
        }
        let closed = self.banks.iter().map(|b| after(b.precharge, dram.t_rp)).max().unwrap_or(0);
        let opened = self.banks.iter().map(|b| after(b.activate, dram.t_rc)).max().unwrap_or(0);
        at = at.max(closed).max(opened).max(self.refreshed);
        self.free = at + 1;
        self.refreshed = at + u64::from(dram.t_rfc);
        self.due += u64::from(dram.t_refi);
        self.refreshed
    }
}

/// `clocks` clocks after an event; 0 if there was no event.
fn after(event: Option<u64>, clocks: u32) -> u64 {
    event.map_or(0, |clock| clock + u64::from(clocks))
}
