//! The output of threads and the reports of the C library: their places in device memory, and how they are read.
//!
//! A thread of a C program leaves text. One of a CUDA program leaves the format of its call and the arguments.

use super::Module;
use super::format::formatted;

/// Where a program leaves what its threads print and report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Output {
    /// The buffer of printed text: words with the bytes asked for, the calls that found no room, and the bytes that there
    /// are, another word, and the records.
    pub printed: Option<u32>,
    /// A word with the number of allocations that found the heap of their thread full.
    pub heap_full: Option<u32>,
}

/// What threads have printed, and what the library reports.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Printed {
    /// The text: launch by launch, in the order of workgroups and threads.
    pub text: String,
    /// Calls whose text is missing because the buffer was full.
    pub lost: u32,
    /// Bytes of that buffer.
    pub buffer_bytes: u32,
    /// Allocations that found the heap of their thread full.
    pub heap_full: u32,
}

/// Bytes of the buffer in front of its records.
const HEAD_BYTES: usize = 16;
/// Bytes of a record in front of its text: a mark, the workgroup, the thread, the bytes of text.
const RECORD_BYTES: usize = 16;
/// The mark of a record that is complete, with text.
const MARK: u32 = 0xfef8_c1aa;
/// The mark of a record with the address of a format, 8 bytes, and arguments.
const CALL_MARK: u32 = 0xfef8_c1ab;

impl Output {
    /// Bytes of the buffer that launches have asked for so far: where the records of the next launch begin.
    pub fn mark(&self, memory: &[u8]) -> u32 {
        self.printed.and_then(|at| word(memory, at as usize)).unwrap_or(0)
    }

    /// What was printed and reported. `launches` are the [marks](Output::mark) at the end of each launch but the last. `None`
    /// if the program has neither a buffer nor a heap.
    pub fn read(&self, memory: &[u8], launches: &[u32]) -> Option<Printed> {
        if *self == Output::default() {
            return None;
        }
        let mut printed = Printed {
            heap_full: self.heap_full.and_then(|at| word(memory, at as usize)).unwrap_or(0),
            ..Printed::default()
        };
        if let Some(at) = self.printed.map(|at| at as usize) {
            let [used, lost, bytes] = [0, 4, 8].map(|field| word(memory, at + field).unwrap_or(0));
            (printed.lost, printed.buffer_bytes) = (lost, bytes);
            let records = memory.get(at + HEAD_BYTES..).unwrap_or_default();
            let records = &records[..records.len().min(used.min(bytes) as usize)];
            let mut text = Vec::new();
            for record in in_order(records, memory, launches) {
                text.extend(record);
            }
            printed.text = shown(&text);
        }
        Some(printed)
    }
}

fn word(memory: &[u8], at: usize) -> Option<u32> {
    let bytes = memory.get(at..)?.first_chunk()?;
    Some(u32::from_le_bytes(*bytes))
}

/// The texts of records by launch, workgroup and thread, and else as they are.
fn in_order(records: &[u8], memory: &[u8], launches: &[u32]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at + RECORD_BYTES <= records.len() {
        let field = |number: usize| word(records, at + 4 * number).expect("the record is inside");
        let [mark, workgroup, thread, bytes] = [0, 1, 2, 3].map(field);
        let rest = &records[at + RECORD_BYTES..];
        let (text, size) = match (mark, rest.split_first_chunk()) {
            (MARK, _) => {
                (rest.get(..bytes as usize).map(<[u8]>::to_vec), (bytes as usize).next_multiple_of(4))
            }
            (CALL_MARK, Some((format, arguments))) => {
                let arguments = arguments.get(..bytes as usize);
                let text = arguments.map(|values| formatted(memory, u64::from_le_bytes(*format), values));
                (text, (8 + bytes as usize).next_multiple_of(8))
            }
            // A run that ended on its way leaves records without a mark.
            _ => (None, 0),
        };
        let Some(text) = text else {
            at += 4;
            continue;
        };
        let launch = launches.partition_point(|&end| end as usize <= at);
        found.push(((launch, workgroup, thread), text));
        at += RECORD_BYTES + size;
    }
    found.sort_by_key(|(key, _)| *key);
    found.into_iter().map(|(_, text)| text).collect()
}

/// Text for a terminal: what controls one is shown by its number.
fn shown(text: &[u8]) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in String::from_utf8_lossy(text).chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            c if c.is_control() => shown.extend(c.escape_default()),
            c => shown.push(c),
        }
    }
    shown
}

impl Module {
    /// What threads have printed in a run that ended with this memory, as [`Output::read`].
    pub fn printed(&self, memory: &[u8], launches: &[u32]) -> Option<Printed> {
        self.output.read(memory, launches)
    }
}

#[cfg(test)]
mod tests {
    use super::{MARK, Output};

    fn memory(records: &[(u32, u32, &str)], lost: u32, bytes: u32) -> Vec<u8> {
        let mut body: Vec<u8> = Vec::new();
        for (workgroup, thread, text) in records {
            for word in [MARK, *workgroup, *thread, text.len() as u32] {
                body.extend(word.to_le_bytes());
            }
            body.extend(text.as_bytes());
            body.resize(body.len().next_multiple_of(4), 0);
        }
        let mut memory = vec![0; 4];
        for word in [body.len() as u32, lost, bytes, 0] {
            memory.extend(word.to_le_bytes());
        }
        memory.extend(body);
        memory
    }

    const OUTPUT: Output = Output { printed: Some(4), heap_full: None };

    #[test]
    fn records_come_by_launch_workgroup_and_thread() {
        let records =
            [(1, 0, "c"), (0, 5, "b"), (0, 2, "a1 "), (0, 2, "a2 "), (0, 0, "second launch\n"), (7, 7, "!")];
        let memory = memory(&records, 3, 4096);
        let after = 2 * (16 + 4) + 2 * (16 + 4);
        let printed = OUTPUT.read(&memory, &[after]).expect("there is a buffer");
        assert_eq!((printed.text.as_str(), printed.lost), ("a1 a2 bcsecond launch\n!", 3));
        assert_eq!(OUTPUT.mark(&memory) as usize, memory.len() - 20);
    }

    #[test]
    fn calls_with_arguments_become_text() {
        let mut memory = memory(&[(0, 1, "text ")], 0, 4096);
        let format = 4096_u64;
        let mut call = Vec::new();
        for word in [super::CALL_MARK, 0, 0, 12] {
            call.extend(u32::to_le_bytes(word));
        }
        call.extend(format.to_le_bytes());
        call.extend(7_u32.to_le_bytes());
        // Arguments of 8 bytes lie at multiples of 8.
        call[12..16].copy_from_slice(&16_u32.to_le_bytes());
        call.extend([0; 4]);
        call.extend(2.5_f64.to_le_bytes());
        let used = u32::from_le_bytes(memory[4..8].try_into().expect("a word")) + call.len() as u32;
        memory[4..8].copy_from_slice(&used.to_le_bytes());
        memory.extend(call);
        memory.resize(format as usize, 0);
        memory.extend(b"%d and %g\n\0");
        let printed = OUTPUT.read(&memory, &[]).expect("there is a buffer");
        assert_eq!(printed.text, "7 and 2.5\ntext ");
    }

    #[test]
    fn what_is_not_complete_is_left_out_and_what_controls_a_terminal_is_shown() {
        let mut memory = memory(&[(0, 0, "gone"), (0, 1, "\u{1b}[2Jx\ty\r")], 0, 4096);
        memory[20] = 0;
        let printed = OUTPUT.read(&memory, &[]).expect("there is a buffer");
        assert_eq!(printed.text, "\\u{1b}[2Jx\ty\\r");
        // A size that is no size, and a memory that is cut short.
        memory[20 + 20 + 12..20 + 20 + 16].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(OUTPUT.read(&memory, &[]).expect("there is a buffer").text, "");
        assert_eq!(OUTPUT.read(&memory[..6], &[]).expect("there is a buffer").text, "");
        assert_eq!(Output::default().read(&memory, &[]), None);
    }
}
