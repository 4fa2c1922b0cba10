//! Damaged and random input gives a program or messages, never a panic. Accepted programs are consistent.
//! `PROPTEST_CASES=100000` sets the number of cases per property.

use crate::instructions::program;
use crate::roundtrip::check_text;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use wave_isa::diagnostic::{Diagnostic, Severity};
use wave_isa::program::{assemble, from_bytes, wbin};
use wave_isa::table::TABLE;

/// A change to a list: replace, insert, remove, cut or double a part of it.
#[derive(Debug, Clone)]
enum Change<T> {
    Replace(Index, T),
    Insert(Index, T),
    Remove(Index),
    Cut(Index),
    Repeat(Index, Index),
}

fn change<T: Clone + std::fmt::Debug + 'static>(
    item: impl Strategy<Value = T> + Clone + 'static,
) -> impl Strategy<Value = Change<T>> {
    let at = any::<Index>;
    prop_oneof![
        6 => (at(), item.clone()).prop_map(|(at, item)| Change::Replace(at, item)),
        2 => (at(), item).prop_map(|(at, item)| Change::Insert(at, item)),
        2 => at().prop_map(Change::Remove),
        1 => at().prop_map(Change::Cut),
        1 => (at(), at()).prop_map(|(a, b)| Change::Repeat(a, b)),
    ]
}

fn apply<T: Clone>(list: &mut Vec<T>, changes: Vec<Change<T>>) {
    for change in changes {
        let length = list.len();
        match change {
            Change::Replace(at, item) if length > 0 => list[at.index(length)] = item,
            Change::Insert(at, item) => list.insert(at.index(length + 1), item),
            Change::Remove(at) if length > 0 => {
                list.remove(at.index(length));
            }
            Change::Cut(at) => list.truncate(at.index(length + 1)),
            Change::Repeat(a, b) if length > 0 && length < 10_000 => {
                let (a, b) = (a.index(length), b.index(length));
                list.extend_from_within(a.min(b)..=a.max(b));
            }
            _ => {}
        }
    }
}

/// Properties of every outcome of the assembler and the container reader.
fn check_outcome(bytes: &[u8], file: &str) {
    match from_bytes(bytes, file) {
        Ok((program, warnings)) => {
            assert!(warnings.iter().all(|w| w.severity == Severity::Warning));
            check_messages(&warnings, bytes);
            check_text(&program);
            let stored = wbin::write(&program);
            let loaded = wbin::read(&stored, file).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!((loaded.code, loaded.kernels), (program.code, program.kernels));
        }
        Err(errors) => {
            assert!(errors.iter().any(|e| e.severity == Severity::Error));
            check_messages(&errors, bytes);
        }
    }
}

fn check_messages(messages: &[Diagnostic], bytes: &[u8]) {
    let lines = bytes.iter().filter(|&&b| b == b'\n').count() + 1;
    for message in messages {
        assert!(!message.message.is_empty() && !message.message.ends_with('.'), "{message:?}");
        if let Some(place) = &message.place {
            assert!(place.line as usize <= lines && place.column >= 1, "{message:?}");
            assert!((place.column as usize) <= place.text.chars().count() + 1, "{message:?}");
        }
    }
    // Rendering is slow, so only the first messages are rendered.
    messages.iter().take(3).for_each(|m| assert!(!m.render(true).is_empty() && !m.render(false).is_empty()));
}

/// A byte, with a preference for values that matter in offsets and sizes.
fn byte() -> impl Strategy<Value = u8> + Clone {
    prop_oneof![any::<u8>(), select(vec![0, 1, 3, 4, 28, 32, 36, 0x7F, 0x80, 0xFF])]
}

/// A text that assembles and uses every form of the syntax.
const VALID: &str = include_str!("valid.wave");

fn word() -> impl Strategy<Value = String> + Clone {
    let mnemonics: Vec<String> = TABLE.iter().map(|i| i.mnemonic.to_owned()).collect();
    let others = ".kernel .end .registers .local_memory .workgroup_size .word .device .wave .lo .hi .cached \
                  .uncached device system sr_lane_id sr_ p0 p1 p9 !p1 @p1 @!p0 @p0 @ ! , , , : ; # \" \\ \n \n \
                  \r\n \t x x: y: k \"a b\" \"\\u{e9}\" 0 1 -1 4 256 257 0x 0xFFFFFFFF 99999999999 1.5 1e40 -inf nan \
                  f0 f7 f8 \u{feff} \u{a0} é 中 \u{301} \0 - . .. .5 5. r r0 r1 r3.lo r255 r256 r99999999999";
    let others: Vec<String> = others.split(' ').map(str::to_owned).collect();
    prop_oneof![2 => select(mnemonics), 5 => select(others), 1 => "r[0-9]{1,3}", 1 => any::<String>()]
}

proptest! {
    #[test]
    fn random_bytes_as_a_container(mut bytes in prop::collection::vec(byte(), 0..300), magic: bool) {
        if magic {
            bytes.splice(..8.min(bytes.len()), *b"WAVE\x01\0\0\0");
        }
        check_outcome(&bytes, "a.wbin");
    }

    #[test]
    fn damaged_containers(program in program(), changes in prop::collection::vec(change(byte()), 0..6)) {
        let mut bytes = wbin::write(&program);
        apply(&mut bytes, changes);
        check_outcome(&bytes, "a.wbin");
    }

    #[test]
    fn containers_with_a_wrong_word(
        program in program(), at in any::<Index>(), near in -40i32..40, plain: bool, value: u32,
    ) {
        let mut bytes = wbin::write(&program);
        let at = at.index(bytes.len() / 4) * 4;
        let old = u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes"));
        let new = if plain { value } else { old.wrapping_add_signed(near) };
        bytes[at..at + 4].copy_from_slice(&new.to_le_bytes());
        check_outcome(&bytes, "a.wbin");
    }

    #[test]
    fn random_bytes_as_text(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        check_outcome(&bytes, "a.wave");
    }

    #[test]
    fn random_words_as_text(words in prop::collection::vec(word(), 0..60), glue in select(vec!["", " "])) {
        check_outcome(words.join(glue).as_bytes(), "a.wave");
    }

    #[test]
    fn random_lines_in_a_kernel(words in prop::collection::vec(word(), 0..40)) {
        let text = format!(".kernel k\n.registers 256\n{}\n.end\n", words.join(" "));
        check_outcome(text.as_bytes(), "a.wave");
    }

    #[test]
    fn damaged_text(changes in prop::collection::vec(change(prop_oneof![any::<char>(), prop::char::range(' ', '~')]), 1..8)) {
        let mut text: Vec<char> = VALID.chars().collect();
        apply(&mut text, changes);
        check_outcome(text.into_iter().collect::<String>().as_bytes(), "a.wave");
    }

    #[test]
    fn damaged_words_of_text(changes in prop::collection::vec(change(word()), 1..8)) {
        let mut words: Vec<String> = VALID.split_inclusive([' ', '\n', ',']).map(str::to_owned).collect();
        apply(&mut words, changes);
        check_outcome(words.concat().as_bytes(), "a.wave");
    }
}

#[test]
fn the_undamaged_text_is_valid() {
    assert_eq!(assemble(VALID, "valid.wave").map(|(_, warnings)| warnings), Ok(Vec::new()));
}
