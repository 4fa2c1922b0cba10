//! Functional coverage of the instructions of a campaign, counted from retirement records.
//!
//! A bin is opcode × participating lanes × hazard × stall × form. An instruction with several hazards or
//! stalls counts in several bins. Bins that no machine can reach are excluded, each by a rule with its reason
//! ([`reach`]).

pub(crate) mod reach;
mod table;

use std::collections::{BTreeMap, HashMap};
use std::io;
use wave_isa::{Inst, Op, WORD_BYTES, table::TABLE};
use wave_machine::clock::Cycle;
use wave_machine::config::Config;
use wave_machine::core::uop::RegisterSet;
use wave_machine::core::wait;
use wave_observe::trace::Sink;
use wave_observe::trace::record::{DestinationKind, How, Launched, Record, Stage};

/// Declares a dimension of the bins: its values, each with a letter for tables and a name.
macro_rules! dimension {
    ($(#[$meta:meta])* $name:ident { $($(#[doc = $doc:literal])+ $variant:ident = $letter:literal, $text:literal;)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name { $($(#[doc = $doc])+ $variant,)* }

        impl $name {
            /// Every value, in order.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// Its letter in tables.
            pub fn letter(self) -> char {
                match self { $($name::$variant => $letter,)* }
            }

            /// Its name.
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }
        }
    };
}

dimension! {
    /// How many lanes participate.
    Lanes {
        /// None: it is squashed.
        None = 'n', "no lane";
        /// Some.
        Partial = 'p', "some lanes";
        /// All of a wave.
        Full = 'f', "all lanes";
    }
}

dimension! {
    /// Hazards with earlier instructions of the wave.
    Hazard {
        /// Nothing.
        None = '-', "no hazard";
        /// It reads a register whose write is outstanding in the first cycle in which it could issue.
        Read = 'r', "read after write";
        /// It reads a predicate, as guard or operand, whose write is outstanding then.
        Predicate = 'p', "predicate after write";
        /// It writes a register or predicate whose write is outstanding then.
        Write = 'w', "write after write";
        /// It issues and will write a register that an earlier instruction has read, which still waits in its
        /// collector.
        Overtake = 'o', "write after read";
    }
}

dimension! {
    /// Whether and why it waited. The reasons are those of `traces/format.md`.
    Wait {
        /// It did not wait.
        None = '-', "no wait";
        /// At a barrier.
        Barrier = 'b', "barrier";
        /// In a shadow.
        Branch = 's', "branch";
        /// For its words.
        Fetch = 'f', "fetch";
        /// For the operand reads of an earlier instruction.
        Operand = 'o', "operand";
        /// For a load or atomic.
        Memory = 'm', "memory";
        /// For an execution unit's result.
        Scoreboard = 'r', "scoreboard";
        /// For accesses that it has to wait for.
        Fence = 'a', "fence";
        /// For a collector.
        Collector = 'c', "collector";
        /// For its scheduler's choice.
        Turn = 't', "turn";
        /// In its collector, for its unit.
        Unit = 'u', "unit";
        /// In its collector, for a write port.
        WritePort = 'w', "write_port";
        /// In its collector, for the load/store unit.
        Lsu = 'l', "lsu";
    }
}

dimension! {
    /// Words of the encoding.
    Form {
        /// None: the end of the code.
        End = 'e', "end of the code";
        /// One.
        One = '1', "one word";
        /// Two in one fetched group.
        Two = '2', "two words";
        /// Two in two groups.
        Straddling = 's', "two words in two groups";
    }
}

impl Wait {
    /// The dimension has one value more, which comes first.
    fn of(reason: wait::Wait) -> Wait {
        Wait::ALL[1 + reason.index()]
    }
}

/// A bin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bin {
    /// The operation; `None` is the end of the code.
    pub op: Option<Op>,
    /// Lanes that participated.
    pub lanes: Lanes,
    /// The hazard.
    pub hazard: Hazard,
    /// The reason for which it waited.
    pub wait: Wait,
    /// The form of its words.
    pub form: Form,
}

impl Bin {
    /// Its coordinates: opcode, lanes, hazard, wait, form.
    pub(crate) fn coordinates(&self) -> [usize; 5] {
        let op = self.op.map_or(TABLE.len(), |op| op as usize);
        [op, self.lanes as usize, self.hazard as usize, self.wait as usize, self.form as usize]
    }

    /// Every bin of a machine with these capabilities, excluded ones included.
    fn all(f64: bool, mma: bool) -> impl Iterator<Item = Bin> {
        let ops = TABLE
            .iter()
            .map(|info| info.op)
            .filter(move |op| (f64 || !op.needs_f64()) && (mma || !op.needs_mma()));
        let ops = ops.map(Some).chain([None]);
        let each = |op| {
            Lanes::ALL.iter().flat_map(move |&lanes| {
                Hazard::ALL.iter().flat_map(move |&hazard| {
                    Wait::ALL.iter().flat_map(move |&wait| {
                        Form::ALL.iter().map(move |&form| Bin { op, lanes, hazard, wait, form })
                    })
                })
            })
        };
        ops.flat_map(each)
    }
}

/// What a record contributes to its bins and to those of later instructions.
#[derive(Debug, Clone)]
struct Met {
    op: Option<Op>,
    lanes: Lanes,
    form: Form,
    waits: u16,
    decode: Cycle,
    issue: Cycle,
    execute: Cycle,
    retire: Cycle,
    reads: RegisterSet,
    writes: RegisterSet,
    predicates_read: u8,
    predicates_written: u8,
    /// It is not squashed: it writes its destinations.
    acts: bool,
}

/// One wave. Records come in the order of retirement; hazards follow the order of issue.
#[derive(Debug, Default)]
struct Wave {
    next: u64,
    early: BTreeMap<u64, Met>,
    issued: Cycle,
    recent: Vec<Met>,
}

/// Counts of all bins.
#[derive(Debug)]
pub struct Coverage {
    counts: BTreeMap<Bin, u64>,
    instructions: u64,
    width: u32,
    group_words: u32,
    f64: bool,
    mma: bool,
    waves: HashMap<([u32; 3], u32), Wave>,
}

impl Coverage {
    /// An empty count for a machine.
    pub fn new(config: &Config) -> Coverage {
        Coverage {
            counts: BTreeMap::new(),
            instructions: 0,
            width: config.core.wave_width,
            group_words: config.core.fetch.words,
            f64: config.capabilities.f64,
            mma: config.capabilities.mma,
            waves: HashMap::new(),
        }
    }

    /// Instructions counted.
    pub fn instructions(&self) -> u64 {
        self.instructions
    }

    /// How often a bin was hit.
    pub fn count(&self, bin: &Bin) -> u64 {
        self.counts.get(bin).copied().unwrap_or(0)
    }

    /// Adds the counts of another coverage of the same machine.
    pub fn add(&mut self, other: &Coverage) {
        self.instructions += other.instructions;
        for (bin, count) in &other.counts {
            *self.counts.entry(*bin).or_default() += count;
        }
    }

    /// The contribution of a record. `None` for words that are no instruction; they have no effect if they
    /// were recorded at all.
    fn met(&self, record: &Record) -> Option<Met> {
        let inst = match record.word_count {
            0 => None,
            words => Some(Inst::decode(&record.words[..usize::from(words)]).ok()?),
        };
        let lanes = match record.effective {
            0 => Lanes::None,
            mask if mask.count_ones() == self.width => Lanes::Full,
            _ => Lanes::Partial,
        };
        let straddles = record.pc / WORD_BYTES % self.group_words == self.group_words - 1;
        let form = match (record.word_count, straddles) {
            (0, _) => Form::End,
            (1, _) => Form::One,
            (_, false) => Form::Two,
            (_, true) => Form::Straddling,
        };
        let (mut reads, mut writes) = (RegisterSet::default(), RegisterSet::default());
        let (mut predicates_read, mut predicates_written) = (0, 0);
        if let Some(inst) = &inst {
            inst.sources().for_each(|(first, rows)| reads.insert_rows(first, rows));
            if let Some((first, rows)) = inst.destination(self.width as usize) {
                writes.insert_rows(first, rows);
            }
            if inst.guard.is_some() {
                predicates_read |= 1 << inst.guard.predicate;
            }
            if let Some((predicate, _)) = inst.predicate_source() {
                predicates_read |= 1 << predicate;
            }
            predicates_written = inst.predicate_destination().map_or(0, |p| 1 << p);
        }
        Some(Met {
            op: inst.map(|inst| inst.op),
            lanes,
            form,
            waits: record.stalls.iter().fold(0, |waits, stall| waits | 1 << Wait::of(stall.reason) as u16),
            decode: record.stage(Stage::Decode),
            issue: record.stage(Stage::Issue),
            execute: record.stage(Stage::Execute),
            retire: record.cycle,
            reads,
            writes,
            predicates_read,
            predicates_written,
            acts: record.destination != DestinationKind::None,
        })
    }

    /// Counts an instruction after all earlier ones of its wave.
    fn count_in_order(wave: &mut Wave, met: Met, counts: &mut BTreeMap<Bin, u64>) {
        // The first cycle in which it could issue.
        let first = met.decode.max(wave.issued) + 1;
        wave.recent.retain(|before| before.retire > first || before.execute > met.issue);
        let mut hazards = 0u8;
        for before in &wave.recent {
            let outstanding = before.acts && before.retire > first;
            let mut meets = |hazard: Hazard, here: bool| hazards |= u8::from(here) << hazard as u8;
            meets(Hazard::Read, outstanding && before.writes.intersects(&met.reads));
            meets(Hazard::Predicate, outstanding && before.predicates_written & met.predicates_read != 0);
            meets(
                Hazard::Write,
                outstanding
                    && (before.writes.intersects(&met.writes)
                        || before.predicates_written & met.predicates_written != 0),
            );
            meets(
                Hazard::Overtake,
                met.acts && before.execute > met.issue && before.reads.intersects(&met.writes),
            );
        }
        let (hazards, waits) =
            (hazards.max(u8::from(hazards == 0)), met.waits.max(u16::from(met.waits == 0)));
        for &hazard in Hazard::ALL.iter().filter(|&&hazard| hazards >> hazard as u8 & 1 != 0) {
            for &wait in Wait::ALL.iter().filter(|&&wait| waits >> wait as u16 & 1 != 0) {
                let bin = Bin { op: met.op, lanes: met.lanes, hazard, wait, form: met.form };
                *counts.entry(bin).or_default() += 1;
            }
        }
        wave.issued = met.issue;
        wave.recent.push(met);
    }
}

impl Sink for Coverage {
    fn launch(&mut self, _: &Launched) -> io::Result<()> {
        self.waves.clear();
        Ok(())
    }

    fn record(&mut self, record: &Record) -> io::Result<()> {
        if record.open {
            return Ok(());
        }
        let met = self.met(record);
        let wave = self.waves.entry((record.workgroup, record.wave)).or_default();
        match met {
            Some(met) => _ = wave.early.insert(record.sequence, met),
            // Only unreachable code can be such: it is skipped.
            None if record.sequence == wave.next => wave.next += 1,
            None => {}
        }
        while let Some(met) = wave.early.remove(&wave.next) {
            wave.next += 1;
            self.instructions += 1;
            Coverage::count_in_order(wave, met, &mut self.counts);
        }
        Ok(())
    }

    fn end(&mut self, _: How, _: Cycle, _: &str) -> io::Result<()> {
        // After a fault a wave's order has gaps. Instructions behind a gap are not counted, because the
        // earliest cycle in which they could have issued is unknown.
        self.waves.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::reach::excluded;
    use super::*;
    use wave_isa::program::assemble;
    use wave_machine::config::load;
    use wave_observe::trace::record::{PerStage, Stall};

    /// Records of one wave, one per line: instruction; cycles of decode, issue, execute and retirement;
    /// lanes; stall.
    fn met(lines: &[(&str, [Cycle; 4], u64, Option<wait::Wait>)]) -> Coverage {
        let mut coverage = Coverage::new(&load("rtl.ron").unwrap());
        let mut records = Vec::new();
        let mut pc = 0;
        for (sequence, (line, [decode, issue, execute, retire], lanes, stall)) in lines.iter().enumerate() {
            if line.is_empty() {
                // An instruction that has not retired.
                continue;
            }
            let (program, _) = assemble(&format!(".kernel k\n.registers 16\n{line}\n.end\n"), "k").unwrap();
            let mut record = Record { sequence: sequence as u64, pc, cycle: *retire, ..Record::default() };
            record.word_count = program.code.len() as u8;
            record.words[..program.code.len()].copy_from_slice(&program.code);
            (record.active, record.effective) = (0xFF, *lanes);
            record.stages = PerStage([0, *decode, *issue, 0, *execute, 0]);
            if *lanes != 0 {
                record.destination = DestinationKind::Registers;
            }
            record.stalls.extend(stall.map(|reason| Stall { reason, from: decode + 1, to: *issue }));
            pc += u32::from(record.word_count) * WORD_BYTES;
            records.push(record);
        }
        // They come in the order of retirement.
        records.sort_by_key(|record| record.cycle);
        records.iter().for_each(|record| coverage.record(record).unwrap());
        coverage
    }

    fn bin(op: Op, lanes: Lanes, hazard: Hazard, wait: Wait, form: Form) -> Bin {
        Bin { op: Some(op), lanes, hazard, wait, form }
    }

    #[test]
    fn every_reason_is_a_value_of_its_dimension() {
        for &reason in wait::Wait::ALL {
            assert_eq!(Wait::of(reason).name(), reason.name());
        }
        assert_eq!(Wait::ALL.len(), wait::Wait::ALL.len() + 1);
    }

    #[test]
    fn hazards_are_those_of_the_order_of_issue() {
        let waited = Some(wait::Wait::Scoreboard);
        let coverage = met(&[
            ("idiv r2, r0, r1", [1, 5, 7, 74], 0xFF, None),
            // Another unit's result arrives long before: no hazard.
            ("imul r3, r0, r1", [1, 6, 8, 10], 0xFF, None),
            ("iadd r4, r2, r1", [4, 74, 76, 78], 0x0F, waited),
            ("not r2, r4", [75, 78, 90, 92], 0xFF, waited),
            // Overtakes the previous one, which has read r4 and waits for its unit.
            ("mov r4, r1", [75, 79, 81, 83], 0xFF, None),
            ("iadd r2, r1, r1", [76, 92, 94, 96], 0, waited),
        ]);
        let full = |op, hazard, wait, form| coverage.count(&bin(op, Lanes::Full, hazard, wait, form));
        assert_eq!(full(Op::IDiv, Hazard::None, Wait::None, Form::Two), 1);
        assert_eq!(full(Op::IMul, Hazard::None, Wait::None, Form::Two), 1);
        let partial = bin(Op::IAdd, Lanes::Partial, Hazard::Read, Wait::Scoreboard, Form::Two);
        assert_eq!(coverage.count(&partial), 1);
        assert_eq!(full(Op::Not, Hazard::Read, Wait::Scoreboard, Form::One), 1);
        assert_eq!(full(Op::Mov, Hazard::Overtake, Wait::None, Form::One), 1);
        let squashed = bin(Op::IAdd, Lanes::None, Hazard::Write, Wait::Scoreboard, Form::Two);
        assert_eq!(coverage.count(&squashed), 1);
        assert_eq!(coverage.instructions(), 6);
        assert_eq!(coverage.contradictions(), []);
        let text = coverage.text();
        assert!(text.contains("opcode × hazard           6 of "), "{text}");
        assert!(text.contains("  isub, no lane\n"), "{text}");
    }

    #[test]
    fn what_is_behind_a_gap_is_not_counted() {
        // The second waits when a fault occurs. Without it, the third would seem to overtake the first.
        let mut coverage = met(&[
            ("idiv r2, r0, r1", [1, 5, 7, 74], 0xFF, None),
            ("", [0; 4], 0, None),
            ("mov r2, r1", [2, 80, 82, 84], 0xFF, None),
        ]);
        coverage.end(How::Fault, 90, "").unwrap();
        assert_eq!((coverage.instructions(), coverage.contradictions()), (1, vec![]));
    }

    #[test]
    fn what_a_rule_excludes_stays_out_and_shows_if_it_is_hit() {
        let excluded =
            |op, lanes, hazard, wait, form| excluded(&bin(op, lanes, hazard, wait, form)).is_some();
        assert!(!excluded(Op::IAdd, Lanes::Full, Hazard::Read, Wait::Unit, Form::Straddling));
        assert!(excluded(Op::IAdd, Lanes::Full, Hazard::None, Wait::None, Form::One));
        assert!(excluded(Op::IAdd, Lanes::None, Hazard::None, Wait::Unit, Form::Two));
        assert!(excluded(Op::Barrier, Lanes::Full, Hazard::Read, Wait::Fence, Form::One));
        assert!(excluded(Op::LocalLoadU32, Lanes::Full, Hazard::None, Wait::Unit, Form::One));
        assert!(excluded(Op::ICmpEq, Lanes::Full, Hazard::None, Wait::WritePort, Form::Two));
        assert!(excluded(Op::IAdd, Lanes::Full, Hazard::Read, Wait::None, Form::Two));
        // Such a machine would break the rules, and the report must say so.
        let coverage = met(&[("iadd r2, r1, r1", [1, 5, 7, 9], 0, Some(wait::Wait::Unit))]);
        assert_eq!(coverage.contradictions().len(), 1);
        assert!(coverage.text().contains("WRONG: "));
    }
}
