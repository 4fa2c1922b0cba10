//! The timing constraints of a memory channel (M26): the first clock in which each command may be issued.

use crate::clock::END_OF_TIME;
use crate::config::Dram;
use wave_capture::{Capture, Misfit};

/// Memory clocks from 0 at the start of simulated time.
pub type Clock = u64;

/// A command to a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Command {
    /// Opens a row of a bank.
    Activate,
    /// Closes the row of a bank.
    Precharge,
    /// Closes the rows of all banks.
    PrechargeAll,
    /// Reads a burst from an open row.
    Read,
    /// Writes a burst to an open row.
    Write,
    /// Refreshes all banks, which are closed.
    Refresh,
}

/// Clocks for which the data bus rests between read data and write data (M26; JESD79-4, "read to write": one for
/// the postamble, one for the preamble).
pub(crate) const BUS_TURNAROUND_CLOCKS: u32 = 2;

/// Activates in a tFAW window, the window of four activates (M26).
pub(crate) const ACTIVATE_WINDOW: usize = 4;

/// Least distances between commands, in memory clocks.
#[derive(Debug, Clone)]
struct Gaps {
    dram: Dram,
    /// Column commands of one direction, in the channel. Two bursts cannot share the data bus, whatever tCCD is.
    same: Clock,
    /// Write data may start once read data is through and the bus has turned round.
    read_to_write: Clock,
    /// From a write command to the end of its data.
    write_data: Clock,
}

/// The first clocks of the commands to a bank, by the constraints of the bank.
#[derive(Debug, Clone, Copy, Default, Capture)]
struct OfBank {
    activate: Clock,
    precharge: Clock,
    column: Clock,
}

/// The first clock in which each command may be issued. A command that is issued has waited for all that it had to wait
/// for, so the clock of the next of its kind is assigned; those of other kinds may be later already.
#[derive(Debug, Clone, Capture)]
#[sound]
pub struct Timing {
    #[spec]
    gaps: Gaps,
    #[spec]
    group_shift: u32,
    #[fixed]
    banks: Vec<OfBank>,
    /// By the constraints of each group: activates, and column commands by direction.
    #[fixed]
    group_activates: Vec<Clock>,
    #[fixed]
    group_columns: [Vec<Clock>; 2],
    /// By the constraints of the channel.
    activate: Clock,
    columns: [Clock; 2],
    precharge_all: Clock,
    refresh: Clock,
    /// Ends of the tFAW windows that the last activates began, and the place of the oldest.
    windows: [Clock; ACTIVATE_WINDOW],
    oldest_window: usize,
}

impl Timing {
    /// A channel to which no command was issued.
    pub fn new(d: &Dram) -> Timing {
        let (banks, groups) = (d.banks as usize, d.bank_groups as usize);
        let burst = d.burst_clocks();
        Timing {
            gaps: Gaps {
                dram: *d,
                same: d.t_ccd_s.max(burst).into(),
                read_to_write: (d.t_cl + burst + BUS_TURNAROUND_CLOCKS).saturating_sub(d.t_cwl).max(1).into(),
                write_data: (d.t_cwl + burst).into(),
            },
            group_shift: (banks / groups).trailing_zeros(),
            banks: vec![OfBank::default(); banks],
            group_activates: vec![0; groups],
            group_columns: [vec![0; groups], vec![0; groups]],
            activate: 0,
            columns: [0; 2],
            precharge_all: 0,
            refresh: 0,
            windows: [0; ACTIVATE_WINDOW],
            oldest_window: 0,
        }
    }

    fn sound(&self) -> Result<(), Misfit> {
        Misfit::in_range(self.oldest_window < ACTIVATE_WINDOW, "oldest_window")?;
        let of_banks = self.banks.iter().flat_map(|bank| [bank.activate, bank.precharge, bank.column]);
        let of_groups = self.group_activates.iter().chain(self.group_columns.iter().flatten()).copied();
        let of_channel = [self.activate, self.precharge_all, self.refresh];
        let mut all = of_banks.chain(of_groups).chain(of_channel).chain(self.columns).chain(self.windows);
        Misfit::in_range(all.all(|clock| clock <= END_OF_TIME), "banks")
    }

    /// First clock in which the constraints of the channel allow a column command of a direction (0 reads, 1 writes),
    /// and those of its groups.
    #[inline]
    pub(crate) fn columns(&self, direction: usize) -> (Clock, &[Clock]) {
        (self.columns[direction], &self.group_columns[direction])
    }

    /// First clock in which the row that is open in a bank can be read and written.
    #[inline]
    pub(crate) fn open_from(&self, bank: usize) -> Clock {
        self.banks[bank].column
    }

    /// First clock in which a command to a bank breaks no constraint. Commands to all banks ignore `bank`.
    #[inline]
    pub fn earliest(&self, command: Command, bank: usize) -> Clock {
        let group = bank >> self.group_shift;
        let of_bank = &self.banks[bank];
        let column = |direction: usize| {
            of_bank.column.max(self.group_columns[direction][group]).max(self.columns[direction])
        };
        match command {
            Command::Activate => of_bank.activate.max(self.group_activates[group]).max(self.activate),
            Command::Precharge => of_bank.precharge,
            Command::PrechargeAll => self.precharge_all,
            Command::Read => column(0),
            Command::Write => column(1),
            Command::Refresh => self.refresh,
        }
    }

    /// Of the `banks` (bits), those that can be activated in clock `now`. Lowers `again` to the first clock in which one
    /// of the others could.
    #[inline]
    pub(crate) fn activates(&self, banks: u64, now: Clock, again: &mut Clock) -> u64 {
        // Usually the channel is what an activate waits for, and no bank is looked at.
        if banks != 0 && self.activate > now {
            *again = self.activate.min(*again);
            return 0;
        }
        let first =
            |bank: usize| self.banks[bank].activate.max(self.group_activates[bank >> self.group_shift]);
        possible(banks, now, again, first)
    }

    /// [`activates`](Self::activates) for precharges.
    #[inline]
    pub(crate) fn precharges(&self, banks: u64, now: Clock, again: &mut Clock) -> u64 {
        possible(banks, now, again, |bank| self.banks[bank].precharge)
    }

    /// Records a command.
    #[inline]
    pub fn issue(&mut self, command: Command, bank: usize, now: Clock) {
        debug_assert!(now >= self.earliest(command, bank), "{command:?} to bank {bank} at {now}");
        let Gaps { dram: d, same, read_to_write, write_data } = &self.gaps;
        let after = |clocks: u32| now + Clock::from(clocks);
        let later = |clock: &mut Clock, from: Clock| *clock = from.max(*clock);
        let group = bank >> self.group_shift;
        let of_bank = &mut self.banks[bank];
        match command {
            Command::Activate => {
                of_bank.column = after(d.t_rcd);
                of_bank.activate = after(d.t_rc);
                later(&mut of_bank.precharge, after(d.t_ras));
                self.group_activates[group] = after(d.t_rrd_l);
                self.windows[self.oldest_window] = after(d.t_faw);
                self.oldest_window = (self.oldest_window + 1) % ACTIVATE_WINDOW;
                self.activate = after(d.t_rrd_s).max(self.windows[self.oldest_window]);
                later(&mut self.precharge_all, after(d.t_ras));
                // A refresh activates rows of its own.
                later(&mut self.refresh, after(d.t_rc));
            }
            Command::Precharge => {
                later(&mut of_bank.activate, after(d.t_rp));
                later(&mut self.refresh, after(d.t_rp));
            }
            Command::PrechargeAll => {
                later(&mut self.activate, after(d.t_rp));
                later(&mut self.refresh, after(d.t_rp));
            }
            Command::Read => {
                self.columns[0] = now + same;
                later(&mut self.columns[1], now + read_to_write);
                self.group_columns[0][group] = after(d.t_ccd_l);
                later(&mut of_bank.precharge, after(d.t_rtp));
                later(&mut self.precharge_all, after(d.t_rtp));
            }
            Command::Write => {
                self.columns[1] = now + same;
                later(&mut self.columns[0], after(d.t_wtr_s) + write_data);
                self.group_columns[1][group] = after(d.t_ccd_l);
                later(&mut self.group_columns[0][group], after(d.t_wtr_l) + write_data);
                later(&mut of_bank.precharge, after(d.t_wr) + write_data);
                later(&mut self.precharge_all, after(d.t_wr) + write_data);
            }
            Command::Refresh => {
                later(&mut self.activate, after(d.t_rfc));
                self.refresh = after(d.t_rfc);
            }
        }
    }
}

/// Of the `banks` (bits), those whose `first` clock has come. Lowers `again` to the first clock of the others.
#[inline]
fn possible(banks: u64, now: Clock, again: &mut Clock, first: impl Fn(usize) -> Clock) -> u64 {
    let (mut rest, mut possible) = (banks, 0);
    while rest != 0 {
        let bank = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        let from = first(bank);
        if from > now {
            *again = from.min(*again);
        } else {
            possible |= 1 << bank;
        }
    }
    possible
}
