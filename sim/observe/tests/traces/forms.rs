//! Both forms of a trace, for arbitrary records and for damaged files.

use proptest::prelude::*;
use wave_observe::trace::record::{
    DestinationKind, MemoryKind, PerStage, Reports, Stage, Stall, Wait, kernel_hash,
};
use wave_observe::trace::{Form, Header, How, Item, Launched, Reader, Record, TraceError, Writer};

pub(crate) fn header(wave_width: u32) -> Header {
    Header {
        wave_width,
        config: "a \"quoted\\ name".to_owned(),
        config_hash: 0xFEDC_BA98_7654_3210,
        producer: "test".to_owned(),
        reports: Reports::ALL,
    }
}

pub(crate) fn launched() -> Launched {
    let code = vec![0x3F00_00F0, 0x3F00_0090];
    Launched {
        kernel: "k;[ =".to_owned(),
        kernel_hash: kernel_hash(&code),
        grid: [3, 2, 1],
        workgroup: [64, 1, 1],
        registers: 9,
        local_memory: 4,
        start: 7,
        base: 16,
        arguments: vec![(0, 5), (3, u32::MAX)],
        code,
    }
}

/// A file with these records.
pub(crate) fn file(form: Form, header: &Header, records: &[Record]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, form, header).unwrap();
    writer.launch(&launched()).unwrap();
    for record in records {
        writer.record(record).unwrap();
    }
    writer.end(How::Fault, 99, "a fault\nin two lines").unwrap();
    bytes
}

fn all_of(bytes: &[u8]) -> Result<(Header, Vec<Item>, Vec<Record>), TraceError> {
    let mut reader = Reader::new(bytes, "t".to_owned())?;
    let (mut items, mut records, mut record) = (Vec::new(), Vec::new(), Record::default());
    while let Some(item) = reader.next(&mut record)? {
        if item == Item::Record {
            records.push(record.clone());
        }
        items.push(item);
    }
    Ok((reader.header().clone(), items, records))
}

/// Rows for the lanes of a mask, regular in some cases.
fn rows(width: usize, count: usize, mask: u64, seed: u32) -> Vec<u32> {
    let word = |n: u32| match seed % 4 {
        0 => seed,
        1 => seed.wrapping_add((n % width as u32).wrapping_mul(seed / 7)),
        _ => (n + seed).wrapping_mul(0x9E37_79B9),
    };
    let lane = |n: usize| mask >> (n % width) & 1 == 1;
    (0..width * count).map(|n| if lane(n) { word(n as u32) } else { 0 }).collect()
}

prop_compose! {
    fn record(width: u32)(
        times in (1u64..1_000_000, proptest::array::uniform6(0u64..5000)),
        place in (0u32..300, 0u32..64, proptest::array::uniform3(any::<u32>()), 0u32..32, any::<u64>()),
        code in (any::<u32>(), any::<[u32; 2]>(), 0u8..3, any::<u32>()),
        masks in any::<(u64, u64)>(),
        flags in any::<(bool, bool, bool)>(),
        kinds in (0usize..6, any::<u8>(), 0usize..6, 1u8..17, any::<u32>()),
        stalls in proptest::collection::vec((0usize..12, 0u64..900, 0u64..90), 0..4),
    ) -> Record {
        let lanes = width as usize;
        let all = u64::MAX >> (64 - width);
        let (cycle, ages) = times;
        let active = masks.0 & all;
        let effective = active & masks.1;
        let seed = kinds.4;
        let destination = DestinationKind::ALL[kinds.0];
        let memory = MemoryKind::ALL[kinds.2];
        let values = if destination == DestinationKind::None { 0 } else { seed as usize % 17 };
        let access = usize::from(memory != MemoryKind::None);
        let tile = usize::from(matches!(memory, MemoryKind::TileLoad | MemoryKind::TileStore));
        let ends = flags.0;
        let mut words = code.1;
        words[usize::from(code.2)..].fill(0);
        Record {
            cycle: cycle + 5000,
            core: place.0,
            slot: place.1,
            workgroup: place.2,
            wave: place.3,
            sequence: place.4,
            pc: code.0 & !3 & 0xFFFF_FFF0,
            words,
            word_count: code.2,
            active,
            effective,
            next_pc: if ends { 0 } else { code.3 },
            ends,
            open: flags.1,
            stages: PerStage(ages.map(|age| if age % 3 == 0 { 0 } else { cycle + 5000 - age })),
            destination,
            index: if destination == DestinationKind::None { 0 } else { kinds.1 },
            values: rows(lanes, values, effective, seed),
            memory,
            device: access == 1 && flags.2,
            bytes: if access == 1 { kinds.3 } else { 0 },
            addresses: rows(lanes, access, effective, seed ^ 5),
            strides: rows(lanes, tile, effective, seed ^ 3),
            sent: rows(lanes, access * (seed as usize % 17), effective, seed ^ 9),
            stalls: stalls.into_iter().map(|(reason, from, length)| Stall {
                reason: Wait::ALL[reason],
                from,
                to: from + length,
            }).collect(),
        }
    }
}

fn records() -> impl Strategy<Value = (u32, Vec<Record>)> {
    let widths = prop_oneof![Just(1), Just(8), Just(32), Just(64)];
    widths.prop_flat_map(|width| (Just(width), proptest::collection::vec(record(width), 1..6)))
}

fn in_order(mut records: Vec<Record>) -> Vec<Record> {
    records.sort_by_key(Record::order);
    records.dedup_by_key(|record| record.order());
    records
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_record_survives_both_forms((width, records) in records()) {
        let (header, records) = (header(width), in_order(records));
        for form in [Form::Binary, Form::Text] {
            let (same, items, read) = all_of(&file(form, &header, &records)).unwrap();
            prop_assert_eq!(&same, &header);
            prop_assert_eq!(&items[0], &Item::Launch(Box::new(launched())));
            prop_assert_eq!(&read, &records);
            let Some(Item::End(end)) = items.last() else { panic!("no end") };
            prop_assert_eq!((end.how, end.cycle, end.message.as_str()), (How::Fault, 99, "a fault\nin two lines"));
        }
    }

    #[test]
    fn a_damaged_file_is_an_error_or_another_file_but_never_a_panic(
        (width, records) in records(), at in any::<prop::sample::Index>(), bits in 1u8..,
    ) {
        for form in [Form::Binary, Form::Text] {
            let mut bytes = file(form, &header(width), &in_order(records.clone()));
            let place = at.index(bytes.len());
            bytes[place] ^= bits;
            // If it is still a trace, it converts to the other form.
            let mut whole = Reader::new(bytes.as_slice(), "t".to_owned());
            let Ok(reader) = &mut whole else { continue };
            let header = reader.header().clone();
            if let Ok((_, _, records)) = all_of(&bytes) {
                for form in [Form::Binary, Form::Text] {
                    prop_assert_eq!(&all_of(&file(form, &header, &records)).unwrap().2, &records);
                }
            }
        }
    }
}

fn one() -> Record {
    let mut stages = PerStage::default();
    stages[Stage::Issue] = 30;
    let words = [0x3F00_00F0, 0];
    Record {
        cycle: 30,
        active: 255,
        effective: 255,
        stages,
        words,
        word_count: 1,
        next_pc: 4,
        ..Record::default()
    }
}

#[test]
fn a_file_that_was_cut_anywhere_is_truncated() {
    for form in [Form::Binary, Form::Text] {
        let bytes = file(form, &header(8), &[one()]);
        assert!(all_of(&bytes).is_ok());
        for length in 4..bytes.len() {
            let error = all_of(&bytes[..length]).expect_err("cut").to_string();
            assert!(error.contains("truncated"), "{form:?} {length}: {error}");
        }
    }
}

#[test]
fn what_is_no_trace_is_told_in_one_sentence() {
    let with = |form, place: usize, byte| {
        let mut bytes = file(form, &header(8), &[one()]);
        bytes[place] = byte;
        all_of(&bytes).unwrap_err().to_string()
    };
    let of = |bytes: &[u8]| all_of(bytes).unwrap_err().to_string();
    assert_eq!(of(b""), "`t`: is empty");
    assert_eq!(of(b"GIF89a"), "`t`: is no WVFI trace");
    assert_eq!(of(b"WV"), "`t`: is no WVFI trace");
    assert!(with(Form::Binary, 4, 2).contains("version 2, and this program reads version 1"));
    assert!(with(Form::Text, 5, b'9').contains("version 9"));
    let text = |from: &str, to: &str| {
        let text = String::from_utf8(file(Form::Text, &header(8), &[one()])).unwrap();
        assert!(text.contains(from), "{from}");
        of(text.replacen(from, to, 1).as_bytes())
    };
    assert_eq!(text("seq=0", "sequence=0"), "`t`, line 3: there is no field `sequence` here");
    assert_eq!(text("active=ff", "active=1ff"), "`t`, line 3: a mask has lanes past the 8 of a wave");
    assert_eq!(text("records=1", "records=2"), "`t`, line 4: the file has 1 records, and its end says 2");
    assert_eq!(
        text("launch ", "lunch "),
        "`t`, line 2: a line begins with `lunch`, not with launch, end or @CYCLE"
    );
    assert!(text("end fault", "end badly").contains("line 4: a run cannot end in way `badly`"));
    let mut long = file(Form::Binary, &header(8), &[one()]);
    long.push(0);
    assert!(of(&long).contains("something comes behind the end"));
    let twice = file(Form::Binary, &header(8), &[one(), one()]);
    assert!(of(&twice).contains("a record is not behind the one before it"));
}

#[test]
fn frames_of_unknown_kinds_are_passed_over() {
    let bytes = file(Form::Binary, &header(8), &[one()]);
    let launch_at = 8 + 4 + (u32::from_le_bytes(bytes[8..12].try_into().unwrap()) >> 8) as usize;
    let more = [&bytes[..launch_at], &[200, 2, 0, 0, 1, 2], &bytes[launch_at..]].concat();
    assert_eq!(all_of(&more), all_of(&bytes));
}
