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
const LEVELS: usize = 3;

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

/// A constraint that counts several previous commands.
#[derive(Debug, Clone)]
struct Window {
    constraint: Constraint,
    /// Of each place of its level: clocks of the last commands.
    last: Vec<VecDeque<Clock>>,
}

/// When each command may be issued next.
#[derive(Debug, Clone)]
pub struct Timing {
    /// The table by previous command and level: which commands have to wait, and how long.
    waits: [[Vec<(Command, Clock)>; LEVELS]; COMMANDS],
    /// What of the table counts more than the last command.
    windows: Vec<Window>,
    group_shift: u32,
    banks: Vec<[Clock; COMMANDS]>,
    groups: Vec<[Clock; COMMANDS]>,
    channel: [Clock; COMMANDS],
}

/// None of these commands before its waiting time from `now` is over.
#[inline]
fn delay(next: &mut [Clock; COMMANDS], waits: &[(Command, Clock)], now: Clock) {
    for &(command, clocks) in waits {
        let next = &mut next[command as usize];
        *next = (*next).max(now + clocks);
    }
}

impl Timing {
    /// A channel that has seen no command.
    pub fn new(d: &Dram) -> Timing {
        let (banks, groups) = (d.banks as usize, d.bank_groups as usize);
        let mut waits: [[Vec<(Command, Clock)>; LEVELS]; COMMANDS] = Default::default();
        let mut windows = Vec::new();
        for constraint in constraints(d) {
            let Constraint { level, previous, next, clocks, window } = constraint;
            if window == 1 {
                waits[previous as usize][level as usize].push((next, Clock::from(clocks)));
                continue;
            }
            let places = match level {
                Level::Bank => banks,
                Level::Group => groups,
                Level::Channel => 1,
            };
            windows.push(Window { constraint, last: vec![VecDeque::with_capacity(window + 1); places] });
        }
        Timing {
            waits,
            windows,
            group_shift: (banks / groups).trailing_zeros(),
            banks: vec![[0; COMMANDS]; banks],
            groups: vec![[0; COMMANDS]; groups],
            channel: [0; COMMANDS],
        }
    }

    /// The first clock in which a command to a bank breaks no constraint. `bank` does not matter for
    /// commands to all banks.
    #[inline]
    pub fn earliest(&self, command: Command, bank: usize) -> Clock {
        let i = command as usize;
        if matches!(command, Command::PrechargeAll | Command::Refresh) {
            return self.channel[i];
        }
        self.channel[i].max(self.banks[bank][i]).max(self.groups[bank >> self.group_shift][i])
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
        let i = command as usize;
        // Most often it is the channel, or the group, that a command waits for, and no bank has to be looked at.
        if self.channel[i] > now {
            *again = self.channel[i].min(*again);
            return;
        }
        let members = (2u64 << ((1 << self.group_shift) - 1)).wrapping_sub(1);
        let mut rest = banks;
        while rest != 0 {
            let group = rest.trailing_zeros() >> self.group_shift;
            let first = group << self.group_shift;
            let mut here = rest & members << first;
            rest &= !here;
            let group_next = self.groups[group as usize][i];
            if group_next > now {
                *again = group_next.min(*again);
                continue;
            }
            while here != 0 {
                let bank = here.trailing_zeros() as usize;
                here &= here - 1;
                let next = self.banks[bank][i];
                if next > now {
                    *again = next.min(*again);
                } else {
                    act(bank);
                }
            }
        }
    }

    /// Records a command.
    pub fn issue(&mut self, command: Command, bank: usize, now: Clock) {
        debug_assert!(now >= self.earliest(command, bank), "{command:?} to bank {bank} at {now}");
        let group = bank >> self.group_shift;
        let [of_bank, of_group, of_channel] = &self.waits[command as usize];
        delay(&mut self.banks[bank], of_bank, now);
        delay(&mut self.groups[group], of_group, now);
        delay(&mut self.channel, of_channel, now);
        for Window { constraint, last } in &mut self.windows {
            if constraint.previous != command {
                continue;
            }
            let (last, next) = match constraint.level {
                Level::Bank => (&mut last[bank], &mut self.banks[bank]),
                Level::Group => (&mut last[group], &mut self.groups[group]),
                Level::Channel => (&mut last[0], &mut self.channel),
            };
            last.push_back(now);
            if last.len() > constraint.window {
                last.pop_front();
            }
            if last.len() == constraint.window {
                let next = &mut next[constraint.next as usize];
                *next = (*next).max(last[0] + Clock::from(constraint.clocks));
            }
        }
    }
}
