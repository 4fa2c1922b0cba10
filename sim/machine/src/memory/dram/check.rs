//! Checks the command stream of a memory channel and names the rule that it breaks.
//!
//! The checker is written from the meaning of each parameter. Every command is compared with the history of
//! the whole channel, without any of the model's own bookkeeping. So it finds a constraint that the model
//! misses or counts from the wrong command.

use crate::config::Dram;
use crate::memory::dram::IssuedCommand;
use crate::memory::dram::timing::{BUS_TURNAROUND_CLOCKS, Command};

/// Most recent event of each kind in a bank, in memory clocks.
#[derive(Default, Clone)]
struct Bank {
    open_row: Option<u32>,
    activated: Option<i64>,
    precharged: Option<i64>,
    read: Option<i64>,
    write_data_end: Option<i64>,
}

/// A data transfer on the bus, from its first clock to the one after its last.
struct Transfer {
    bank: usize,
    command: i64,
    start: i64,
    end: i64,
    is_read: bool,
}

/// The state of a channel after the commands read so far.
struct Channel<'a> {
    d: &'a Dram,
    banks: Vec<Bank>,
    /// Clock and bank of recent activates.
    activates: Vec<(i64, usize)>,
    transfers: Vec<Transfer>,
    refreshes: Vec<i64>,
    last: i64,
}

/// The first rule that a channel's commands break, as text: the command and the parameter. The stream has to
/// begin at clock 0.
pub fn first_violation(dram: &Dram, stream: &[IssuedCommand]) -> Option<String> {
    let mut channel = Channel {
        d: dram,
        banks: vec![Bank::default(); dram.banks as usize],
        activates: Vec::new(),
        transfers: Vec::new(),
        refreshes: Vec::new(),
        last: -1,
    };
    let violation = stream.iter().enumerate().find_map(|(i, issued)| {
        channel.read(issued).err().map(|rule| format!("command {i}, {issued:?}, breaks {rule}"))
    });
    violation.or_else(|| channel.too_few_refreshes())
}

/// Name of a broken rule.
type Broken = &'static str;

fn keep(kept: bool, rule: Broken) -> Result<(), Broken> {
    if kept { Ok(()) } else { Err(rule) }
}

impl Channel<'_> {
    /// Clocks of a burst: its bits divided by the bits that the pins move per clock.
    fn burst(&self) -> i64 {
        let bits_per_clock = i64::from(self.d.bus_bits) * i64::from(self.d.transfers_per_clock);
        i64::from(self.d.burst_bytes) * 8 / bits_per_clock
    }

    fn same_group(&self, a: usize, b: usize) -> bool {
        let banks_of_group = (self.d.banks / self.d.bank_groups) as usize;
        a / banks_of_group == b / banks_of_group
    }

    fn read(&mut self, issued: &IssuedCommand) -> Result<(), Broken> {
        let (now, bank) = (issued.clock as i64, usize::from(issued.bank));
        keep(now > self.last, "one command a clock")?;
        self.last = now;
        match issued.command {
            Command::Activate => self.activate(now, bank, issued.row),
            Command::Precharge => {
                keep(self.banks[bank].open_row.is_some(), "precharge of a closed bank")?;
                self.close(now, bank)
            }
            Command::PrechargeAll => {
                let open = (0..self.banks.len()).filter(|&b| self.banks[b].open_row.is_some());
                open.collect::<Vec<_>>().into_iter().try_for_each(|b| self.close(now, b))
            }
            Command::Read => self.column(now, bank, true),
            Command::Write => self.column(now, bank, false),
            Command::Refresh => self.refresh(now),
        }
    }

    fn activate(&mut self, now: i64, bank: usize, row: u32) -> Result<(), Broken> {
        let since = |event: Option<i64>| event.map_or(i64::MAX, |at| now - at);
        let mine = &self.banks[bank];
        keep(mine.open_row.is_none(), "activate of an open bank")?;
        keep(since(mine.precharged) >= i64::from(self.d.t_rp), "t_rp")?;
        keep(since(mine.activated) >= i64::from(self.d.t_rc), "t_rc")?;
        keep(since(self.refreshes.last().copied()) >= i64::from(self.d.t_rfc), "t_rfc")?;
        for &(at, other) in &self.activates {
            keep(now - at >= i64::from(self.d.t_rrd_s), "t_rrd_s")?;
            keep(!self.same_group(bank, other) || now - at >= i64::from(self.d.t_rrd_l), "t_rrd_l")?;
        }
        // Any window of t_faw contains at most four activates, this one included.
        let in_window = self.activates.iter().filter(|&&(at, _)| now - at < i64::from(self.d.t_faw)).count();
        keep(in_window < 4, "t_faw")?;
        self.activates.push((now, bank));
        self.banks[bank].open_row = Some(row);
        self.banks[bank].activated = Some(now);
        // Activates older than every window no longer matter.
        let longest = i64::from(self.d.t_faw.max(self.d.t_rrd_l).max(self.d.t_rrd_s));
        self.activates.retain(|&(at, _)| now - at < longest);
        Ok(())
    }

    fn close(&mut self, now: i64, bank: usize) -> Result<(), Broken> {
        let since = |event: Option<i64>| event.map_or(i64::MAX, |at| now - at);
        let mine = &mut self.banks[bank];
        keep(since(mine.activated) >= i64::from(self.d.t_ras), "t_ras")?;
        keep(since(mine.read) >= i64::from(self.d.t_rtp), "t_rtp")?;
        keep(since(mine.write_data_end) >= i64::from(self.d.t_wr), "t_wr")?;
        mine.open_row = None;
        mine.precharged = Some(now);
        Ok(())
    }

    fn column(&mut self, now: i64, bank: usize, is_read: bool) -> Result<(), Broken> {
        let d = self.d;
        let mine = &self.banks[bank];
        keep(mine.open_row.is_some(), "column command to a closed bank")?;
        keep(mine.activated.is_some_and(|at| now - at >= i64::from(d.t_rcd)), "t_rcd")?;
        let start = now + i64::from(if is_read { d.t_cl } else { d.t_cwl });
        let end = start + self.burst();
        for other in &self.transfers {
            let same_group = self.same_group(bank, other.bank);
            if other.is_read == is_read {
                keep(now - other.command >= i64::from(d.t_ccd_s), "t_ccd_s")?;
                keep(!same_group || now - other.command >= i64::from(d.t_ccd_l), "t_ccd_l")?;
            }
            if is_read && !other.is_read {
                keep(now - other.end >= i64::from(d.t_wtr_s), "t_wtr_s")?;
                keep(!same_group || now - other.end >= i64::from(d.t_wtr_l), "t_wtr_l")?;
            }
            keep(start >= other.end, "one burst on the data bus at a time, in the order of commands")?;
            if !is_read && other.is_read {
                keep(
                    start - other.end >= i64::from(BUS_TURNAROUND_CLOCKS),
                    "the turnaround of the data bus",
                )?;
            }
        }
        self.transfers.push(Transfer { bank, command: now, start, end, is_read });
        let longest = i64::from(d.t_ccd_l.max(d.t_ccd_s)).max(i64::from(d.t_wtr_l.max(d.t_wtr_s)));
        let slack =
            longest + i64::from(BUS_TURNAROUND_CLOCKS) + i64::from(d.t_cl.max(d.t_cwl)) + self.burst();
        self.transfers.retain(|other| other.start + slack > now);
        let mine = &mut self.banks[bank];
        if is_read {
            mine.read = Some(now);
        } else {
            mine.write_data_end = Some(end);
        }
        Ok(())
    }

    fn refresh(&mut self, now: i64) -> Result<(), Broken> {
        let d = self.d;
        keep(d.t_refi > 0, "refreshes are off")?;
        for bank in &self.banks {
            keep(bank.open_row.is_none(), "refresh with an open bank")?;
            keep(bank.precharged.is_none_or(|at| now - at >= i64::from(d.t_rp)), "t_rp")?;
            keep(bank.activated.is_none_or(|at| now - at >= i64::from(d.t_rc)), "t_rc")?;
        }
        keep(self.refreshes.last().is_none_or(|at| now - at >= i64::from(d.t_rfc)), "t_rfc")?;
        self.refreshes.push(now);
        let due = self.refreshes.len() as i64 * i64::from(d.t_refi);
        keep(now >= due && now <= due + self.delay(), "t_refi")
    }

    /// Most clocks by which a refresh may be late: the time until every open row can be closed.
    fn delay(&self) -> i64 {
        let d = self.d;
        let after_write = i64::from(d.t_cwl) + self.burst() + i64::from(d.t_wr);
        let closing = i64::from(d.t_ras.max(d.t_rtp)).max(after_write) + i64::from(d.t_rp);
        closing.max(i64::from(d.t_rc)) + 1
    }

    /// A refresh that should have come before the last command of the stream.
    fn too_few_refreshes(&self) -> Option<String> {
        let due = (self.last - self.delay()).max(0).checked_div(i64::from(self.d.t_refi))?;
        let seen = self.refreshes.len() as i64;
        (seen < due).then(|| format!("{seen} refreshes in {} clocks break t_refi", self.last))
    }
}
