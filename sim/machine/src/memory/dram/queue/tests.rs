//! The queue of a channel against a list of requests in order of arrival.

use super::*;
use rand::{RngExt, SeedableRng};

const BANKS: usize = 8;
const GROUPS: usize = 4;
const CAPACITY: usize = 24;
const LINES: u32 = 48;
const ROWS: u32 = 3;

/// A request as the list has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Request {
    age: u64,
    line: u32,
    is_write: bool,
}

impl Request {
    fn bank(self) -> usize {
        self.line as usize % BANKS
    }

    fn row(self) -> u32 {
        self.line / BANKS as u32 % ROWS
    }

    fn entry(self) -> Entry {
        Entry {
            line: LineNumber(self.line),
            row: self.row(),
            bank: self.bank() as u16,
            slice: 0,
            bursts: 1,
            sectors: 1,
            classified: false,
            fetch: (!self.is_write).then(MshrId::for_test),
            epoch: 0,
        }
    }
}

/// What waits, oldest first, and the open rows.
#[derive(Debug, Default)]
struct List {
    waiting: Vec<Request>,
    open: [Option<u32>; BANKS],
}

impl List {
    /// The oldest request of a group that a column command of this direction may serve now: its row is open, and no older
    /// request for its line waits.
    fn may_be_served(&self, group: usize, is_write: bool) -> Option<u64> {
        let in_order = |(at, request): &(usize, &Request)| {
            self.waiting[..*at].iter().all(|older| older.line != request.line)
        };
        let may = |(_, request): &(usize, &Request)| {
            request.bank() * GROUPS / BANKS == group
                && request.is_write == is_write
                && self.open[request.bank()] == Some(request.row())
        };
        let mut waiting = self.waiting.iter().enumerate();
        waiting.find(|one| may(one) && in_order(one)).map(|(_, request)| request.age)
    }
}

fn age(key: Key) -> Option<u64> {
    (key != Key::NONE).then_some(key.0 >> Key::BITS)
}

/// Requests come, rows open and close, and what the queue offers is served. The queue offers what the list does after each
/// step, so the requests for a line are served in the order of their arrival, whatever came between.
#[test]
fn the_requests_for_a_line_are_served_in_the_order_of_their_arrival() {
    let (mut served_behind, mut held_back) = (0, 0);
    for seed in 0..200 {
        let mut random = rand_pcg::Pcg32::seed_from_u64(seed);
        let mut queue = Queue::new(CAPACITY, BANKS, GROUPS);
        let mut list = List::default();
        let mut next_age = 0;
        // The last request for each line that was served.
        let mut last = [None; LINES as usize];
        for _ in 0..400 {
            match random.random_range(0..10) {
                0..5 if queue.has_room() => {
                    // Few lines, so that requests for the same one meet.
                    let line = random.random_range(0..LINES) & random.random_range(0..LINES);
                    let request = Request { age: next_age, line, is_write: random.random() };
                    next_age += 1;
                    held_back += u32::from(list.waiting.iter().any(|older| older.line == line));
                    queue.push(request.entry());
                    list.waiting.push(request);
                }
                5..7 => {
                    let (bank, row) = (random.random_range(0..BANKS), random.random_range(0..ROWS));
                    queue.open(bank, row, 0);
                    queue.finish_opening(0);
                    list.open[bank] = Some(row);
                }
                7 => {
                    let bank = random.random_range(0..BANKS);
                    queue.close(bank);
                    list.open[bank] = None;
                }
                _ => {
                    let direction = random.random_range(0..2);
                    let group = random.random_range(0..GROUPS);
                    let key = queue.of_groups(direction)[group];
                    if let Some(oldest) = age(key) {
                        let (place, _) = queue.find(key).expect("what is offered waits");
                        queue.remove(key.bank(), place);
                        let at = list.waiting.iter().position(|request| request.age == oldest).unwrap();
                        let request = list.waiting.remove(at);
                        let before = last[request.line as usize].replace(request.age);
                        assert!(
                            before < Some(request.age),
                            "seed {seed}: {request:?} came before {before:?}"
                        );
                        served_behind += u32::from(before.is_some());
                    }
                }
            }
            for group in 0..GROUPS {
                for direction in [0, 1] {
                    let expected = list.may_be_served(group, direction == 1);
                    assert_eq!(age(queue.of_groups(direction)[group]), expected, "seed {seed}: {list:?}");
                }
            }
            let entries = queue.entries().map(|entry| entry.line.0).collect::<Vec<_>>();
            assert_eq!(entries, list.waiting.iter().map(|request| request.line).collect::<Vec<_>>());
        }
    }
    assert!(served_behind > 1_000 && held_back > 1_000, "{served_behind} {held_back}");
}
