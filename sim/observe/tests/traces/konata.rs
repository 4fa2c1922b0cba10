//! Konata logs, parsed by the rules of their format.

use super::viewers::seen;
use std::collections::{BTreeMap, HashMap, HashSet};
use wave_isa::Inst;
use wave_observe::trace::Record;
use wave_observe::trace::record::{DestinationKind, STAGES, Stage};

/// An instruction of a Konata log: lane, stage and cycle of each start, the producers that it needs, and
/// cycle and kind of its end.
#[derive(Default)]
pub(crate) struct Row {
    pub label: String,
    pub hover: String,
    pub starts: Vec<(u32, String, u64)>,
    needs: Vec<u64>,
    pub end: Option<(u64, u32)>,
    /// End of each stall, by reason and start.
    pub stall_ends: HashMap<(String, u64), u64>,
}

/// Reads a log, using only the rules of the format.
pub(crate) fn kanata(text: &str) -> BTreeMap<u64, Row> {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("Kanata\t0004"));
    let (mut cycle, mut rows, mut open) = (None, BTreeMap::<u64, Row>::new(), HashMap::new());
    let mut retired = 0;
    for line in lines {
        let words: Vec<&str> = line.split('\t').collect();
        let number = |n: usize| words[n].parse::<u64>().unwrap_or_else(|_| panic!("{line}"));
        match words[0] {
            "C=" => assert_eq!(cycle.replace(number(1)), None),
            "C" => {
                assert!(number(1) > 0, "{line}");
                cycle = Some(cycle.unwrap() + number(1));
            }
            "I" => {
                assert_eq!(number(1), rows.len() as u64, "ids are in order");
                rows.insert(number(1), Row::default());
            }
            "L" => {
                let row = rows.get_mut(&number(1)).unwrap();
                let text = words[3].to_owned();
                if words[2] == "0" { row.label = text } else { row.hover = text }
            }
            "S" => {
                let row = rows.get_mut(&number(1)).unwrap();
                assert!(row.end.is_none(), "{line} behind the end");
                let lane = number(2) as u32;
                row.starts.push((lane, words[3].to_owned(), cycle.unwrap()));
                open.insert((number(1), lane), words[3]);
            }
            "E" => {
                assert_eq!(open.remove(&(number(1), number(2) as u32)), Some(words[3]), "{line}");
                let row = rows.get_mut(&number(1)).unwrap();
                let (_, name, from) = row.starts.iter().rfind(|(lane, ..)| *lane == 1).unwrap().clone();
                row.stall_ends.insert((name, from), cycle.unwrap());
            }
            "W" => {
                assert!(rows.contains_key(&number(2)) && number(2) != number(1), "{line}");
                let row = rows.get_mut(&number(1)).unwrap();
                assert!(row.starts.iter().any(|(_, stage, _)| stage.contains('X')), "{line}");
                row.needs.push(number(2));
            }
            "R" => {
                assert_eq!(number(2), retired, "{line}");
                retired += 1;
                rows.get_mut(&number(1)).unwrap().end = Some((cycle.unwrap(), number(3) as u32));
            }
            other => panic!("command {other}"),
        }
    }
    rows
}

/// Index of the instruction in its wave, from the text of a row.
fn sequence(hover: &str) -> u64 {
    hover.split(" instruction ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap()
}

/// The earlier instructions of the same wave that produced the inputs of an instruction, according to its
/// assembly text: registers, and the predicate of a guard, `break` or `if`.
fn sources(record: &Record, all: &[Record]) -> Vec<u64> {
    let of_wave = |r: &&Record| (r.workgroup, r.wave) == (record.workgroup, record.wave);
    let before: Vec<&Record> = all.iter().filter(of_wave).filter(|r| r.sequence < record.sequence).collect();
    let inst = Inst::decode(&record.words[..usize::from(record.word_count)]).unwrap();
    let read: Vec<(DestinationKind, u8)> = inst
        .sources()
        .flat_map(|(first, rows)| (first..first + rows).map(|r| (DestinationKind::Registers, r)))
        .chain(inst.guard.is_some().then_some((DestinationKind::Predicate, inst.guard.predicate)))
        .chain(inst.predicate_source().map(|(p, _)| (DestinationKind::Predicate, p)))
        .collect();
    let mut found: Vec<u64> = Vec::new();
    for (kind, index) in read {
        let writes = |r: &&&Record| {
            // A record lists the destination rows, even if the instruction was squashed.
            let rows = Inst::decode(&r.words[..usize::from(r.word_count)]).unwrap().destination(64);
            let rows = if kind == DestinationKind::Registers { rows.map_or(0, |(_, rows)| rows) } else { 1 };
            r.destination == kind && (r.index..r.index + rows).contains(&index)
        };
        let last = before.iter().filter(writes).map(|r| r.sequence).max();
        found.extend(last.filter(|last| !found.contains(last)));
    }
    found
}

#[test]
fn a_kanata_log_reads_back_to_the_stages_and_stalls_of_the_records() {
    let mut reused = false;
    for kernel in ["reduction", "vector_add"] {
        reused |= reads_back(kernel);
    }
    assert!(reused, "a wave follows another in a slot: what that one wrote is not what this one reads");
}

/// Checks the log of one kernel. Returns true if some slots had several waves.
fn reads_back(kernel: &str) -> bool {
    let seen = seen(kernel);
    let rows = kanata(&std::fs::read_to_string(seen.folder.path().join("k")).unwrap());
    assert_eq!(rows.len(), seen.records.len());
    let by_hover: HashMap<String, (u64, &Row)> =
        rows.iter().map(|(id, row)| (row.hover.clone(), (*id, row))).collect();
    assert_eq!(by_hover.len(), rows.len(), "each row says which instruction it is");
    let hover = |r: &Record| {
        let [x, y, z] = r.workgroup;
        format!(
            "workgroup {x},{y},{z} wave {} instruction {} core {} slot {} lanes {:x}",
            r.wave, r.sequence, r.core, r.slot, r.effective
        )
    };
    let mut arrows = 0;
    for record in &seen.records {
        let (_, row) = by_hover[&hover(record)];
        assert!(row.label.starts_with(&format!("{:04x}: ", record.pc)), "{}", row.label);
        let expected: Vec<(u32, String, u64)> = STAGES
            .iter()
            .zip(["F", "D", "I", "O", "X", "W"])
            .filter(|(stage, _)| record.stage(**stage) != 0)
            .map(|(stage, name)| (0, name.to_owned(), record.stage(*stage)))
            .collect();
        let found: Vec<_> = row.starts.iter().filter(|(lane, ..)| *lane == 0).cloned().collect();
        assert_eq!(found, expected);
        let begin = expected[0].2;
        let stalls =
            record.stalls.iter().filter(|s| s.to > begin).map(|s| (s.reason.name(), s.from.max(begin)));
        let found = row.starts.iter().filter(|(lane, ..)| *lane == 1);
        assert_eq!(
            found.map(|(_, name, at)| (name.as_str(), *at)).collect::<Vec<_>>(),
            stalls.collect::<Vec<_>>()
        );
        assert_eq!(row.end, Some((record.cycle + 1, 0)));
        // Arrows come from the wave's last instruction that wrote each register, and lead to the execution of
        // the consumer. An instruction that takes effect at issue has none.
        let executes = record.stage(Stage::Execute) != 0;
        let mut expected = if executes { sources(record, &seen.records) } else { Vec::new() };
        let mut needs: Vec<u64> = row.needs.iter().map(|producer| sequence(&rows[producer].hover)).collect();
        expected.sort_unstable();
        needs.sort_unstable();
        assert_eq!(needs, expected, "{}", row.label);
        for producer in &row.needs {
            // Every producer had retired when the instruction issued.
            let producer = rows[producer].end.unwrap().0 - 1;
            assert!(producer <= record.stage(Stage::Issue), "{}", row.label);
            arrows += 1;
        }
    }
    assert!(arrows * 2 > seen.records.len(), "{arrows} arrows");
    let places = |of: &dyn Fn(&Record) -> [u32; 6]| seen.records.iter().map(of).collect::<HashSet<_>>().len();
    let waves = places(&|r| [r.core, r.slot, r.wave, r.workgroup[0], r.workgroup[1], r.workgroup[2]]);
    waves > places(&|r| [r.core, r.slot, 0, 0, 0, 0])
}
