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

/// When each command may be issued next.
#[derive(Debug, Clone)]
pub struct Timing {
    /// Rows of the table by previous command, each with the history of its window if that is over 1.
    by_previous: [Vec<(Constraint, usize)>; COMMANDS],
    /// Of each bank.
    group_of: Vec<usize>,
    banks: Vec<[Clock; COMMANDS]>,
    groups: Vec<[Clock; COMMANDS]>,
    channel: [Clock; COMMANDS],
    /// Of each row with a window, for each place of its level: clocks of the last commands.
    histories: Vec<Vec<VecDeque<Clock>>>,
}

impl Timing {
    /// A channel that has seen no command.
    pub fn new(d: &Dram) -> Timing {
        let (banks, groups) = (d.banks as usize, d.bank_groups as usize);
        let mut by_previous: [Vec<(Constraint, usize)>; COMMANDS] = Default::default();
        let mut histories = Vec::new();
        for constraint in constraints(d) {
            if constraint.window > 1 {
                let places = match constraint.level {
                    Level::Bank => banks,
                    Level::Group => groups,
                    Level::Channel => 1,
                };
                histories.push(vec![VecDeque::with_capacity(constraint.window + 1); places]);
            }
            by_previous[constraint.previous as usize].push((constraint, histories.len().saturating_sub(1)));
        }
        Timing {
            by_previous,
            group_of: (0..banks).map(|bank| bank / (banks / groups)).collect(),
            banks: vec![[0; COMMANDS]; banks],
            groups: vec![[0; COMMANDS]; groups],
            channel: [0; COMMANDS],
            histories,
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
        self.channel[i].max(self.banks[bank][i]).max(self.groups[self.group_of[bank]][i])
    }

    /// The first clock in which a command to any bank breaks no constraint of the channel as a whole.
    #[inline]
    pub fn channel_earliest(&self, command: Command) -> Clock {
        self.channel[command as usize]
    }

    /// Records a command.
    pub fn issue(&mut self, command: Command, bank: usize, now: Clock) {
        debug_assert!(now >= self.earliest(command, bank), "{command:?} to bank {bank} at {now}");
        let group = self.group_of[bank];
        for &(constraint, history) in &self.by_previous[command as usize] {
            let place = match constraint.level {
                Level::Bank => bank,
                Level::Group => group,
                Level::Channel => 0,
            };
            let from = if constraint.window == 1 {
                now
            } else {
                let last = &mut self.histories[history][place];
                last.push_back(now);
                if last.len() < constraint.window {
                    continue;
                }
                if last.len() > constraint.window {
                    last.pop_front();
                }
                last[0]
            };
            let next = match constraint.level {
                Level::Bank => &mut self.banks[bank],
                Level::Group => &mut self.groups[group],
                Level::Channel => &mut self.channel,
            };
            let next = &mut next[constraint.next as usize];
            *next = (*next).max(from + Clock::from(constraint.clocks));
        }
    }
}
