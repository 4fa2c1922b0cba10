//! The timing constraints of a memory channel, as one table, and the state that enforces it.

use crate::config::Dram;
use std::collections::VecDeque;
use wave_capture::Capture;

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

const COMMANDS: usize = 6;

/// Where a constraint between two commands applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// The same bank.
    Bank,
    /// The same bank group.
    Group,
    /// The same channel.
    Channel,
}

/// `next` may be issued at the earliest `clocks` after the `window`-th last `previous` of the same
/// `level`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constraint {
    /// Where the constraint applies.
    pub level: Level,
    /// The earlier command.
    pub previous: Command,
    /// The command that has to wait.
    pub next: Command,
    /// Least distance in memory clocks.
    pub clocks: u32,
    /// Which of the earlier commands it counts from; 1 for the last.
    pub window: usize,
}

/// Clocks for which the data bus rests between read data and write data (M26; JESD79-4, "read to write": one for
/// the postamble, one for the preamble).
pub(crate) const BUS_TURNAROUND_CLOCKS: u32 = 2;

/// Activates in a tFAW window, the window of four activates (M26).
pub(crate) const ACTIVATE_WINDOW: usize = 4;

/// Every constraint of a channel.
pub fn constraints(d: &Dram) -> Vec<Constraint> {
    use Command::*;
    use Level::*;
    let burst = d.burst_clocks();
    // From the write command to the end of its data.
    let write_data = d.t_cwl + burst;
    // Write data may start once read data is through and the bus has turned round.
    let read_to_write = (d.t_cl + burst + BUS_TURNAROUND_CLOCKS).saturating_sub(d.t_cwl).max(1);
    let row = |level, previous, next, clocks| Constraint { level, previous, next, clocks, window: 1 };
    vec![
        row(Bank, Activate, Read, d.t_rcd),
        row(Bank, Activate, Write, d.t_rcd),
        row(Bank, Activate, Precharge, d.t_ras),
        row(Bank, Activate, Activate, d.t_rc),
        row(Bank, Precharge, Activate, d.t_rp),
        row(Bank, Read, Precharge, d.t_rtp),
        row(Bank, Write, Precharge, write_data + d.t_wr),
        row(Group, Activate, Activate, d.t_rrd_l),
        row(Group, Read, Read, d.t_ccd_l),
        row(Group, Write, Write, d.t_ccd_l),
        row(Group, Write, Read, write_data + d.t_wtr_l),
        row(Channel, Activate, Activate, d.t_rrd_s),
        Constraint {
            level: Channel,
            previous: Activate,
            next: Activate,
            clocks: d.t_faw,
            window: ACTIVATE_WINDOW,
        },
        // Two bursts cannot share the data bus, whatever tCCD is.
        row(Channel, Read, Read, d.t_ccd_s.max(burst)),
        row(Channel, Write, Write, d.t_ccd_s.max(burst)),
        row(Channel, Read, Write, read_to_write),
        row(Channel, Write, Read, write_data + d.t_wtr_s),
        row(Channel, Activate, PrechargeAll, d.t_ras),
        row(Channel, Read, PrechargeAll, d.t_rtp),
        row(Channel, Write, PrechargeAll, write_data + d.t_wr),
        row(Channel, PrechargeAll, Activate, d.t_rp),
        row(Channel, PrechargeAll, Refresh, d.t_rp),
        row(Channel, Precharge, Refresh, d.t_rp),
        // A refresh activates rows of its own.
        row(Channel, Activate, Refresh, d.t_rc),
        row(Channel, Refresh, Activate, d.t_rfc),
        row(Channel, Refresh, Refresh, d.t_rfc),
    ]
}

/// A command has to wait for another one at a level.
#[derive(Debug, Clone, Copy)]
struct Wait {
    level: Level,
    /// First entry of the waiting command and the level in [`Timing::next`].
    first: u32,
    clocks: u32,
}

/// A constraint that counts from an earlier command than the last.
#[derive(Debug, Clone, Capture)]
struct Window {
    #[spec]
    wait: Wait,
    /// Which of the earlier commands it counts from.
    #[spec]
    window: usize,
    /// Per place of the level: clocks of the last commands.
    last: Vec<VecDeque<Clock>>,
}

/// The first clock in which each command may be issued.
#[derive(Debug, Clone, Capture)]
pub struct Timing {
    /// By earlier command: the commands that have to wait for it, and how long.
    #[spec]
    waits: [Vec<Wait>; COMMANDS],
    /// By earlier command: the constraints that count from an earlier one than the last.
    windows: [Vec<Window>; COMMANDS],
    #[spec]
    banks: usize,
    #[spec]
    groups: usize,
    #[spec]
    group_shift: u32,
    /// By command and place: the first clock for it. The places of a command are the channel, its groups and
    /// its banks; they are adjacent because a decision compares them.
    next: Vec<Clock>,
}

impl Timing {
    /// A channel to which no command was issued.
    pub fn new(d: &Dram) -> Timing {
        let (banks, groups) = (d.banks as usize, d.bank_groups as usize);
        let mut waits: [Vec<Wait>; COMMANDS] = Default::default();
        let mut windows: [Vec<Window>; COMMANDS] = Default::default();
        for constraint in constraints(d) {
            let Constraint { level, previous, next, clocks, window } = constraint;
            let (first, places) = match level {
                Level::Channel => (0, 1),
                Level::Group => (1, groups),
                Level::Bank => (1 + groups, banks),
            };
            let wait = Wait { level, first: (next as usize * (1 + groups + banks) + first) as u32, clocks };
            if window == 1 {
                waits[previous as usize].push(wait);
            } else {
                let last = vec![VecDeque::with_capacity(window + 1); places];
                windows[previous as usize].push(Window { wait, window, last });
            }
        }
        Timing {
            waits,
            windows,
            banks,
            groups,
            group_shift: (banks / groups).trailing_zeros(),
            next: vec![0; COMMANDS * (1 + groups + banks)],
        }
    }

    /// The first clocks of a command: for the channel, for its groups, for its banks.
    #[inline]
    fn clocks_of(&self, command: Command) -> (Clock, &[Clock], &[Clock]) {
        let places = 1 + self.groups + self.banks;
        let clocks = &self.next[command as usize * places..][..places];
        let (groups, banks) = clocks[1..].split_at(self.groups);
        (clocks[0], groups, banks)
    }

    /// First clock in which the constraints of the channel allow a command, whatever those of groups and
    /// banks.
    #[inline]
    pub(crate) fn of_channel(&self, command: Command) -> Clock {
        self.next[command as usize * (1 + self.groups + self.banks)]
    }

    /// First clock in which the constraints of the channel allow a command, and those of its groups.
    #[inline]
    pub(crate) fn of_groups(&self, command: Command) -> (Clock, &[Clock]) {
        let (channel, groups, _) = self.clocks_of(command);
        (channel, groups)
    }

    /// First clock in which the constraints of a bank alone allow a command.
    #[inline]
    pub fn of_bank(&self, command: Command, bank: usize) -> Clock {
        self.clocks_of(command).2[bank]
    }

    /// First clock in which a command to a bank breaks no constraint. Commands to all banks ignore `bank`.
    #[inline]
    pub fn earliest(&self, command: Command, bank: usize) -> Clock {
        let (channel, groups, banks) = self.clocks_of(command);
        if matches!(command, Command::PrechargeAll | Command::Refresh) {
            return channel;
        }
        channel.max(groups[bank >> self.group_shift]).max(banks[bank])
    }

    /// Calls `act` for each of the `banks` (bits) to which a command can go in clock `now`. Lowers `again` to
    /// the first clock in which the command could go to one of the others.
    #[inline]
    pub(crate) fn each_possible(
        &self,
        command: Command,
        banks: u64,
        now: Clock,
        again: &mut Clock,
        mut act: impl FnMut(usize),
    ) {
        let (channel, groups, of_banks) = self.clocks_of(command);
        // Usually the channel is what a command waits for, and no bank is looked at.
        if channel > now {
            *again = channel.min(*again);
            return;
        }
        let mut rest = banks;
        while rest != 0 {
            let bank = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let next = groups[bank >> self.group_shift].max(of_banks[bank]);
            if next > now {
                *again = next.min(*again);
            } else {
                act(bank);
            }
        }
    }

    /// Records a command.
    #[inline]
    pub fn issue(&mut self, command: Command, bank: usize, now: Clock) {
        debug_assert!(now >= self.earliest(command, bank), "{command:?} to bank {bank} at {now}");
        // Indexed by level.
        let place = [bank, bank >> self.group_shift, 0];
        for &Wait { level, first, clocks } in &self.waits[command as usize] {
            let next = &mut self.next[first as usize + place[level as usize]];
            *next = (*next).max(now + Clock::from(clocks));
        }
        for Window { wait: Wait { level, first, clocks }, window, last } in
            &mut self.windows[command as usize]
        {
            let place = place[*level as usize];
            let last = &mut last[place];
            last.push_back(now);
            if last.len() > *window {
                last.pop_front();
            }
            if last.len() == *window {
                let next = &mut self.next[*first as usize + place];
                *next = (*next).max(last[0] + Clock::from(*clocks));
            }
        }
    }
}
