//! Reads a command stream and says which rule it breaks first. Written from the meaning of the parameters,
//! command by command over the whole history; it shares nothing with the model's table.

use crate::config::Dram;
use crate::memory::dram::Issued;
use crate::memory::dram::timing::Command;

struct Bank {
    open: bool,
    activated: Option<i64>,
    precharged: Option<i64>,
    read: Option<i64>,
    write_data_end: Option<i64>,
}

/// The first violation, as text.
pub(super) fn first_violation(d: &Dram, stream: &[Issued]) -> Option<String> {
    let t = |parameter: u32| i64::from(parameter);
    let per_group = (d.banks / d.bank_groups) as usize;
    let mut banks: Vec<Bank> = (0..d.banks)
        .map(|_| Bank { open: false, activated: None, precharged: None, read: None, write_data_end: None })
        .collect();
    let mut activates: Vec<(i64, usize)> = Vec::new();
    let mut reads: Vec<(i64, usize)> = Vec::new();
    let mut writes: Vec<(i64, usize)> = Vec::new();
    // Clocks in which data is on the bus, and in which direction.
    let mut bus: Vec<(i64, i64, bool)> = Vec::new();
    let mut refreshed: Option<i64> = None;
    let mut refreshes = 0;
    let mut last_clock = -1;
    for (i, issued) in stream.iter().enumerate() {
        let now = issued.clock as i64;
        let b = usize::from(issued.bank);
        let group = b / per_group;
        let fail = |rule: &str| Some(format!("command {i}, {issued:?}: {rule}"));
        let too_soon = |since: Option<i64>, clocks: i64| since.is_some_and(|at| now - at < clocks);
        if now <= last_clock {
            return fail("two commands in a clock");
        }
        last_clock = now;
        match issued.command {
            Command::Activate => {
                if banks[b].open {
                    return fail("activate of an open bank");
                }
                if too_soon(banks[b].precharged, t(d.t_rp)) {
                    return fail("tRP");
                }
                if too_soon(refreshed, t(d.t_rfc)) {
                    return fail("tRFC");
                }
                if too_soon(banks[b].activated, t(d.t_rc)) {
                    return fail("tRC");
                }
                for &(at, other) in activates.iter().rev().take(8) {
                    if now - at < t(d.t_rrd_s) {
                        return fail("tRRD_S");
                    }
                    if other / per_group == group && now - at < t(d.t_rrd_l) {
                        return fail("tRRD_L");
                    }
                }
                if activates.iter().filter(|&&(at, _)| now - at < t(d.t_faw)).count() >= 4 {
                    return fail("tFAW");
                }
                activates.push((now, b));
                banks[b].open = true;
                banks[b].activated = Some(now);
            }
            Command::Precharge | Command::PrechargeAll => {
                let all = issued.command == Command::PrechargeAll;
                for (j, bank) in banks.iter_mut().enumerate().filter(|(j, _)| all || *j == b) {
                    if !bank.open {
                        if !all {
                            return fail("precharge of a closed bank");
                        }
                        continue;
                    }
                    if too_soon(bank.activated, t(d.t_ras)) {
                        return fail(&format!("tRAS of bank {j}"));
                    }
                    if too_soon(bank.read, t(d.t_rtp)) {
                        return fail(&format!("tRTP of bank {j}"));
                    }
                    if too_soon(bank.write_data_end, t(d.t_wr)) {
                        return fail(&format!("tWR of bank {j}"));
                    }
                    bank.open = false;
                    bank.precharged = Some(now);
                }
            }
            Command::Read | Command::Write => {
                let is_read = issued.command == Command::Read;
                if !banks[b].open {
                    return fail("column command to a closed bank");
                }
                if too_soon(banks[b].activated, t(d.t_rcd)) {
                    return fail("tRCD");
                }
                let same = if is_read { &reads } else { &writes };
                for &(at, other) in same.iter().rev().take(8) {
                    if now - at < t(d.t_ccd_s) {
                        return fail("tCCD_S");
                    }
                    if other / per_group == group && now - at < t(d.t_ccd_l) {
                        return fail("tCCD_L");
                    }
                }
                if is_read {
                    for &(at, other) in writes.iter().rev().take(8) {
                        let since_data = now - (at + t(d.t_cwl) + t(d.burst_clocks()));
                        if since_data < t(d.t_wtr_s) {
                            return fail("tWTR_S");
                        }
                        if other / per_group == group && since_data < t(d.t_wtr_l) {
                            return fail("tWTR_L");
                        }
                    }
                }
                let start = now + if is_read { t(d.t_cl) } else { t(d.t_cwl) };
                let end = start + t(d.burst_clocks());
                for &(other_start, other_end, other_read) in bus.iter().rev().take(16) {
                    if start < other_end && other_start < end {
                        return fail("two bursts on the data bus");
                    }
                    if other_read && !is_read && start >= other_end && start - other_end < 2 {
                        return fail("bus turnaround");
                    }
                    if !other_read && is_read && start < other_end {
                        return fail("data out of order");
                    }
                }
                bus.push((start, end, is_read));
                if is_read {
                    reads.push((now, b));
                    banks[b].read = Some(now);
                } else {
                    writes.push((now, b));
                    banks[b].write_data_end = Some(end);
                }
            }
            Command::Refresh => {
                if banks.iter().any(|bank| bank.open) {
                    return fail("refresh with an open bank");
                }
                if banks.iter().any(|bank| too_soon(bank.precharged, t(d.t_rp))) {
                    return fail("tRP before a refresh");
                }
                if too_soon(refreshed, t(d.t_rfc)) {
                    return fail("tRFC");
                }
                refreshes += 1;
                let due = refreshes * t(d.t_refi);
                // At the latest when every row that was open could be closed.
                let close = t(d.t_ras).max(t(d.t_cwl) + t(d.burst_clocks()) + t(d.t_wr)) + t(d.t_rp) + 1;
                if now < due || now > due + close {
                    return fail("tREFI");
                }
                refreshed = Some(now);
            }
        }
    }
    let expected = last_clock / t(d.t_refi);
    (refreshes < expected - 1).then(|| format!("{refreshes} refreshes in {last_clock} clocks"))
}
