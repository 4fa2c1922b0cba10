//! Errors in litmus files.

use crate::litmus::parse;
use std::fmt::Write;

/// Files with one error each. `messages.txt` has all messages.
const WRONG: [&str; 32] = [
    "",
    "thread A\n",
    "test T\n",
    "test T\ntest U\n",
    "test T\nabout nothing\n",
    "test T\nabout \"open\n",
    "test T\nlocation store\n",
    "test T\nlocation x\nlocation x\n",
    "test T\nlocation x = many\n",
    "test T\nlocation x flagg\n",
    "test T\nthread A\nlocation x\n",
    "test T\nlocaton x\n",
    "test T\nthread B\n",
    "test T\nlocation x\nthread A\n stoer x, 1\n",
    "test T\nlocation x\nthread A\n store y, 1\n",
    "test T\nlocation x\nthread A\n store x 1\n",
    "test T\nlocation x\nthread A\n store x, r0\n",
    "test T\nlocation x\nthread A\n store x, 1 + \n",
    "test T\nlocation x\nthread A\n r0 = store x, 1\n",
    "test T\nlocation x\nthread A\n load x\n",
    "test T\nlocation x\nthread A\n r0 = load x\n r0 = load x\n",
    "test T\nlocation x\nthread A\n r0 = load.device x\n",
    "test T\nlocation x local\nthread A\n r0 = load.uncached x\n",
    "test T\nthread A\n fence\n",
    "test T\nthread A\n fence.gpu release\n",
    "test T\nthread A\n fence relase\n",
    "test T\nlocation x\nthread A\n r0 = load x\n when r0 = 1\n barrier\n end\n",
    "test T\nlocation x\nthread A\n r0 = load x\n when r0 = 1\n store x, 1\nthread B\n",
    "test T\nthread A\n end\n",
    "test T\nthread A\n barrier\nthread B\n",
    "test T\nlocation x\nthread A\n r0 = load x\nweak A.r1 = 0\n",
    "test T\nlocation x\nthread A\n store x, 1\nweak x = 0\n",
];

#[test]
fn mistakes_are_located_and_explained() {
    let mut text = String::new();
    for file in WRONG {
        let wrong = parse(file, "t.litmus").expect_err(file);
        assert!(wrong.place.is_some(), "{file}");
        _ = write!(text, "{file:?}\n{}\n\n", wrong.render(false));
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/litmus/tests/messages.txt");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    assert_eq!(
        std::fs::read_to_string(path).unwrap_or_default(),
        text,
        "UPDATE=1 brings messages.txt up to date"
    );
}

#[test]
fn no_text_makes_the_reader_panic() {
    use rand::{Rng, SeedableRng};
    let mut generator = rand_pcg::Pcg32::seed_from_u64(7);
    let words: Vec<&str> =
        WRONG.iter().flat_map(|file| file.split_inclusive([' ', '\n'])).chain(["é", "\"", "="]).collect();
    for _ in 0..3000 {
        let mut text = String::from("test T\nlocation x\nthread A\n");
        for _ in 0..generator.next_u32() % 12 {
            text += words[generator.next_u32() as usize % words.len()];
        }
        _ = parse(&text, "t.litmus");
    }
}
