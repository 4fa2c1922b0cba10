//! Packets that a core sends into its memory port, as the fields of a record. Tags are private to each side, so they are
//! not among them.

use std::fmt::Write;
use wave_isa::table::{AtomicOp, CacheHint};
use wave_machine::memory::{CODE_SPACE, Request, RequestKind};

/// Bytes of a line in a record.
pub(super) const LINE_BYTES: usize = 32;
/// Words of a line.
const WORDS: usize = LINE_BYTES / 4;
/// Fields of a packet in front of its data, and all of them.
const HEAD: usize = 7;
pub(super) const FIELDS: usize = HEAD + WORDS;

const READ: u32 = 0;
const WRITE: u32 = 1;
const ATOMIC: u32 = 2;
const RELEASE: u32 = 3;

/// Names of the atomic operations, in the order of their numbers.
const OPERATIONS: [&str; 9] =
    ["add", "sub", "min", "max", "and", "or", "xor", "exchange", "compare-and-swap"];

/// Places of the fields.
const KIND: usize = 0;
const CODE: usize = 1;
const LINE: usize = 2;
const MASK: usize = 3;
const OPERATION: usize = 4;
const SWAP: usize = 5;
const HINT: usize = 6;

/// The fields of a packet of the simulator.
pub(super) fn of_request(request: &Request) -> Vec<u32> {
    let mut fields = vec![0; FIELDS];
    (fields[KIND], fields[OPERATION]) = match request.kind {
        RequestKind::Read => (READ, 0),
        RequestKind::Write => (WRITE, 0),
        RequestKind::Atomic(op) => (ATOMIC, number_of(op)),
        RequestKind::Release => (RELEASE, 0),
    };
    fields[CODE] = u32::from(request.line & CODE_SPACE != 0);
    fields[LINE] = request.line as u32;
    fields[HINT] = match request.hint {
        CacheHint::Cached => 0,
        CacheHint::Uncached => 1,
        CacheHint::Streaming => 2,
    };
    if let Some(values) = &request.values {
        fields[MASK] = values.byte_mask as u32;
        fields[SWAP] = values.swap;
        let (words, _) = values.data[..LINE_BYTES].as_chunks();
        for (field, word) in fields[HEAD..].iter_mut().zip(words) {
            *field = u32::from_le_bytes(*word);
        }
    }
    meaningful(fields)
}

fn number_of(op: AtomicOp) -> u32 {
    AtomicOp::ALL.iter().position(|other| *other == op).unwrap_or_default() as u32
}

/// True if a core may send a packet with these fields.
pub(super) fn makes_sense(fields: &[u32]) -> bool {
    fields.len() == FIELDS
        && fields[KIND] <= RELEASE
        && (fields[LINE] as usize).is_multiple_of(LINE_BYTES)
        && (fields[KIND] != ATOMIC || (fields[OPERATION] as usize) < AtomicOp::ALL.len())
}

/// The fields with 0 in what means nothing in a packet of this kind, such as data outside of the byte mask.
pub(super) fn meaningful(mut fields: Vec<u32>) -> Vec<u32> {
    let kind = fields[KIND];
    if !matches!(kind, WRITE | ATOMIC) {
        fields[MASK] = 0;
    }
    if kind != ATOMIC {
        fields[OPERATION] = 0;
    }
    if kind != ATOMIC || fields[OPERATION] != number_of(AtomicOp::Cas) {
        fields[SWAP] = 0;
    }
    if kind == RELEASE {
        fields[HINT] = 0;
    }
    let mask = fields[MASK];
    for (word, field) in fields[HEAD..].iter_mut().enumerate() {
        *field &= bits(mask, word);
    }
    fields
}

/// The bits of a word whose bytes are in the mask of a line.
fn bits(mask: u32, word: usize) -> u32 {
    (0..4).filter(|byte| mask >> (4 * word + byte) & 1 != 0).map(|byte| 0xFF << (8 * byte)).sum()
}

fn kind_name(kind: u32) -> &'static str {
    match kind {
        READ => "read",
        WRITE => "write",
        ATOMIC => "atomic",
        _ => "release",
    }
}

fn operation_name(operation: u32) -> &'static str {
    OPERATIONS.get(operation as usize).copied().unwrap_or("(no operation)")
}

fn hint_name(hint: u32) -> &'static str {
    ["cached", "uncached", "streaming"].get(hint as usize).copied().unwrap_or("(no hint)")
}

/// A word in hexadecimal, with `--` for bytes outside of the mask.
fn word_text(fields: &[u32], word: usize) -> String {
    let inside = bits(fields[MASK], word);
    (0..4).rev().fold(String::new(), |mut text, byte| {
        _ = match inside >> (8 * byte) & 0xFF {
            0 => write!(text, "--"),
            _ => write!(text, "{:02x}", fields[HEAD + word] >> (8 * byte) & 0xFF),
        };
        text
    })
}

/// A packet in words: `write of line 0x00000120, cached, bytes 0000000f: +0 00000007`.
pub(super) fn describe(fields: &[u32]) -> String {
    if fields.len() != FIELDS || fields[KIND] >= RELEASE {
        return "release".to_owned();
    }
    let mut text = kind_name(fields[KIND]).to_owned();
    if fields[KIND] == ATOMIC {
        _ = write!(text, " {}", operation_name(fields[OPERATION]));
    }
    let space = if fields[CODE] != 0 { "code line" } else { "line" };
    _ = write!(text, " of {space} 0x{:08x}, {}", fields[LINE], hint_name(fields[HINT]));
    if fields[KIND] != READ {
        _ = write!(text, ", bytes {:08x}:", fields[MASK]);
        for word in (0..WORDS).filter(|&word| bits(fields[MASK], word) != 0) {
            _ = write!(text, " +{} {}", 4 * word, word_text(fields, word));
        }
        if fields[OPERATION] == number_of(AtomicOp::Cas) {
            _ = write!(text, ", swap {:08x}", fields[SWAP]);
        }
    }
    text
}

/// Each field in which two packets differ: its name, and its value in both.
pub(super) fn differences(ours: &[u32], theirs: &[u32]) -> Vec<(String, String, String)> {
    let mut all = Vec::new();
    if ours.len() != FIELDS || theirs.len() != FIELDS {
        return all;
    }
    let mut add = |name: &str, show: &dyn Fn(&[u32]) -> String| {
        let (mine, its) = (show(ours), show(theirs));
        if mine != its {
            all.push((name.to_owned(), mine, its));
        }
    };
    add("kind", &|f| kind_name(f[KIND]).to_owned());
    add("space", &|f| if f[CODE] != 0 { "code" } else { "device memory" }.to_owned());
    add("line", &|f| format!("0x{:08x}", f[LINE]));
    add("byte mask", &|f| format!("{:08x}", f[MASK]));
    add("operation", &|f| if f[KIND] == ATOMIC { operation_name(f[OPERATION]) } else { "none" }.to_owned());
    add("swap value", &|f| format!("{:08x}", f[SWAP]));
    add("cache hint", &|f| hint_name(f[HINT]).to_owned());
    for word in 0..WORDS {
        add(&format!("word at +{}", 4 * word), &|f| word_text(f, word));
    }
    all
}

/// True if two packets ask the same of the same line.
pub(super) fn same_line(one: &[u32], other: &[u32]) -> bool {
    one.get(..MASK) == other.get(..MASK)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(kind: u32, mask: u32, operation: u32, swap: u32, data: u32) -> Vec<u32> {
        let mut fields = vec![kind, 0, 0x120, mask, operation, swap, 0];
        fields.extend([data; WORDS]);
        meaningful(fields)
    }

    #[test]
    fn what_means_nothing_is_not_compared() {
        assert_eq!(packet(READ, 0xF, 3, 4, 5), packet(READ, 0, 0, 0, 0));
        assert_eq!(packet(WRITE, 0x3, 8, 4, 0x1234_5678), packet(WRITE, 0x3, 0, 0, 0xFFFF_5678));
        assert_eq!(packet(ATOMIC, 0xF, 0, 4, 5), packet(ATOMIC, 0xF, 0, 9, 5));
        assert_ne!(packet(ATOMIC, 0xF, 8, 4, 5), packet(ATOMIC, 0xF, 8, 9, 5));
        assert_ne!(packet(WRITE, 0x3, 0, 0, 5), packet(WRITE, 0x7, 0, 0, 5));
    }

    #[test]
    fn a_packet_and_its_differences_are_told_in_words() {
        let (one, other) = (packet(WRITE, 0x30F, 0, 0, 0xAB), packet(WRITE, 0x70F, 0, 0, 0xAB));
        assert_eq!(
            describe(&one),
            "write of line 0x00000120, cached, bytes 0000030f: +0 000000ab +8 ----00ab"
        );
        let text: Vec<_> =
            differences(&one, &other).iter().map(|(a, b, c)| format!("{a}: {b}, {c}")).collect();
        assert_eq!(text, ["byte mask: 0000030f, 0000070f", "word at +8: ----00ab, --0000ab"]);
        let swapped = packet(ATOMIC, 0xF, 8, 7, 1);
        assert!(
            describe(&swapped).ends_with("bytes 0000000f: +0 00000001, swap 00000007"),
            "{}",
            describe(&swapped)
        );
        let names: Vec<_> = differences(&one, &swapped).into_iter().map(|(name, ..)| name).collect();
        assert_eq!(names[..4], ["kind", "byte mask", "operation", "swap value"]);
        assert_eq!(describe(&packet(RELEASE, 0, 0, 0, 0)), "release");
    }
}
