//! The timing constraints of a memory channel, as one table, and the state that enforces it.

use crate::config::Dram;
use std::collections::VecDeque;

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

/// Where the two commands of a constraint have to meet for it to apply.
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
    /// Where they meet.
    pub level: Level,
    /// Command that was issued.
    pub previous: Command,
    /// Command that has to wait.
    pub next: Command,
    /// How long.
    pub clocks: u32,
    /// Counted from which of the previous ones, 1 for the last.
    pub window: usize,
}

/// Clocks that the data bus rests between read data and write data (JESD79-4, "read to write": one for
/// the postamble, one for the preamble).
pub const BUS_TURNAROUND_CLOCKS: u32 = 2;

/// Activates of the tFAW window.
pub const ACTIVATE_WINDOW: usize = 4;

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
        // Two bursts cannot share the data bus, whatever tCCD says.
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

/// A command has to wait for another one at their level.
#[derive(Debug, Clone, Copy)]
struct Wait {
    level: Level,
    /// Of the command, the first place of the level in [`Timing::next`].
    first: u32,
    clocks: u32,
}

/// A constraint that counts several previous commands.
#[derive(Debug, Clone)]
struct Window {
    wait: Wait,
    /// Counted from which of the previous commands.
    window: usize,
    /// Of each place of its level: clocks of the last commands.
    last: Vec<VecDeque<Clock>>,
}

/// When each command may be issued next.
#[derive(Debug, Clone)]
pub struct Timing {
    /// The table by previous command: which commands have to wait, and how long.
    waits: [Vec<Wait>; COMMANDS],
    /// By previous command: what of the table counts more than the last one.
    windows: [Vec<Window>; COMMANDS],
    banks: usize,
    groups: usize,
    group_shift: u32,
    /// By command, of each place: the first clock for it. A command's places are the channel, its groups and its banks, so
    /// that what one decision compares lies together.
    next: Vec<Clock>,
}

impl Timing {
    /// A channel that has seen no command.
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

    /// The clocks of a command: of the channel, of its groups, of its banks.
    #[inline]
    fn clocks_of(&self, command: Command) -> (Clock, &[Clock], &[Clock]) {
        let places = 1 + self.groups + self.banks;
        let clocks = &self.next[command as usize * places..][..places];
        let (groups, banks) = clocks[1..].split_at(self.groups);
        (clocks[0], groups, banks)
    }

    /// The first clock in which the channel as a whole allows a command, whatever groups and banks do.
    #[inline]
    pub fn of_channel(&self, command: Command) -> Clock {
        self.next[command as usize * (1 + self.groups + self.banks)]
    }

    /// The first clock in which the channel as a whole allows a command, and those in which its groups do.
    #[inline]
    pub fn of_groups(&self, command: Command) -> (Clock, &[Clock]) {
        let (channel, groups, _) = self.clocks_of(command);
        (channel, groups)
    }

    /// The first clock in which a bank by itself allows a command.
    #[inline]
    pub fn of_bank(&self, command: Command, bank: usize) -> Clock {
        self.clocks_of(command).2[bank]
    }

    /// The first clock in which a command to a bank breaks no constraint. `bank` does not matter for
    /// commands to all banks.
    #[inline]
    pub fn earliest(&self, command: Command, bank: usize) -> Clock {
        let (channel, groups, banks) = self.clocks_of(command);
        if matches!(command, Command::PrechargeAll | Command::Refresh) {
            return channel;
        }
        channel.max(groups[bank >> self.group_shift]).max(banks[bank])
    }

    /// Does something for those of some banks, as bits, to which a command can go in clock `now`. `again` becomes at most
    /// the first clock in which it could go to one of the others.
    #[inline]
    pub fn each_possible(
        &self,
        command: Command,
        banks: u64,
        now: Clock,
        again: &mut Clock,
        mut act: impl FnMut(usize),
    ) {
        let (channel, groups, of_banks) = self.clocks_of(command);
        // Most often it is the channel that a command waits for, and no bank has to be looked at.
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
        // In the order of the levels.
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
