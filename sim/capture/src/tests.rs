use super::*;
use std::collections::VecDeque;

#[derive(Capture, Debug, Clone, PartialEq)]
enum Doing {
    Nothing,
    Waits(u64),
    Sends { to: u16, data: Vec<u8> },
}

/// A block with a specification.
#[derive(Capture, Debug, PartialEq)]
struct Port {
    #[spec]
    latency: u64,
    queue: VecDeque<(u64, Doing)>,
    now: Doing,
    last: Option<[u128; 2]>,
}

#[derive(Capture, Debug, PartialEq)]
struct Both<T> {
    of: T,
    ports: Vec<Port>,
}

fn port(latency: u64) -> Port {
    Port { latency, queue: VecDeque::new(), now: Doing::Nothing, last: None }
}

fn busy() -> Both<bool> {
    let sends = Doing::Sends { to: 3, data: vec![1, 2, 3] };
    let first = Port {
        queue: [(7, Doing::Waits(9)), (8, sends.clone())].into(),
        now: sends,
        last: Some([u128::MAX, 5]),
        ..port(1)
    };
    Both { of: true, ports: vec![first, port(2)] }
}

fn saved(both: &Both<bool>) -> Vec<u8> {
    let mut to = Writer::default();
    both.save(&mut to);
    to.into_bytes()
}

#[test]
fn what_was_saved_comes_back_and_the_specification_stays() {
    let bytes = saved(&busy());
    let mut other = Both { of: false, ports: vec![port(10), busy().ports.remove(0)] };
    other.ports[1].latency = 20;
    let mut from = Reader::new(&bytes);
    other.restore(&mut from).unwrap();
    assert!(from.is_empty());
    let mut expected = busy();
    (expected.ports[0].latency, expected.ports[1].latency) = (10, 20);
    assert_eq!(other, expected);
    assert_eq!(saved(&other), bytes);
}

#[test]
fn what_does_not_fit_is_refused_with_its_place() {
    let bytes = saved(&busy());
    for length in 0..bytes.len() {
        let mut other = Both { of: false, ports: vec![port(1), port(2)] };
        assert!(other.restore(&mut Reader::new(&bytes[..length])).is_err(), "cut at {length}");
    }
    let mut lacking = Both { of: false, ports: vec![port(1)] };
    let misfit = lacking.restore(&mut Reader::new(&bytes)).unwrap_err();
    assert_eq!(misfit.to_string(), "`ports` has another number of blocks than this machine");
    // The byte of `of`, and the tag of what the first port does now.
    let mut wrong = bytes.clone();
    wrong[0] = 2;
    let mut other = Both { of: false, ports: vec![port(1), port(2)] };
    let misfit = other.restore(&mut Reader::new(&wrong)).unwrap_err();
    assert_eq!(misfit.to_string(), "`of` is neither true nor false");
    let mut wrong = bytes;
    wrong[9 + 8 + 8] = 9;
    let misfit = other.restore(&mut Reader::new(&wrong)).unwrap_err();
    assert_eq!((misfit.path.as_str(), misfit.why), ("ports.0.queue", "is of no known kind"));
}

#[test]
fn a_generator_goes_on_where_it_was() {
    let mut generator = rand_pcg::Pcg32::new(5, 7);
    generator.advance(1000);
    let mut to = Writer::default();
    generator.save(&mut to);
    let mut other = rand_pcg::Pcg32::blank().unwrap();
    other.restore(&mut Reader::new(to.bytes())).unwrap();
    assert_eq!(other, generator);
}

/// A list of fixed length, and a bound on what is in it.
#[derive(Capture, Debug, PartialEq)]
#[sound]
struct Ring {
    #[fixed]
    places: Vec<u8>,
    first: usize,
}

impl Ring {
    fn sound(&self) -> Result<(), Misfit> {
        Misfit::in_range(self.first < self.places.len(), "first")
    }
}

#[derive(Capture, Debug, PartialEq)]
enum Kept {
    No,
    Yes(Ring),
}

#[test]
fn a_list_of_fixed_length_keeps_it_and_an_unsound_value_is_refused() {
    let bytes = |places: Vec<u8>, first| {
        let mut to = Writer::default();
        Ring { places, first }.save(&mut to);
        to.into_bytes()
    };
    let read = |bytes: &[u8]| {
        let mut ring = Ring { places: vec![0; 3], first: 0 };
        let read = ring.restore(&mut Reader::new(bytes));
        read.map(|()| ring).map_err(|misfit| misfit.to_string())
    };
    assert_eq!(read(&bytes(vec![1, 2, 3], 2)), Ok(Ring { places: vec![1, 2, 3], first: 2 }));
    let length = "`places` has another length than in this machine";
    assert_eq!(read(&bytes(vec![1, 2], 1)), Err(length.to_owned()));
    assert_eq!(read(&bytes(vec![1, 2, 3, 4], 1)), Err(length.to_owned()));
    assert_eq!(read(&bytes(vec![1, 2, 3], 3)), Err("`first` is out of range".to_owned()));
}

#[test]
fn a_block_with_a_specification_neither_appears_nor_vanishes() {
    let bytes = |present| {
        let mut to = Writer::default();
        Some(port(1)).filter(|_| present).save(&mut to);
        to.into_bytes()
    };
    let mut there = Some(port(1));
    assert!(there.restore(&mut Reader::new(&bytes(true))).is_ok());
    assert!(there.restore(&mut Reader::new(&bytes(false))).is_err());
    let mut absent: Option<Port> = None;
    assert!(absent.restore(&mut Reader::new(&bytes(false))).is_ok());
    assert!(absent.restore(&mut Reader::new(&bytes(true))).is_err());
    // A fixed length is specification too, so a variant with one is not made up.
    let mut to = Writer::default();
    Kept::Yes(Ring { places: vec![1], first: 0 }).save(&mut to);
    assert!(Kept::No.restore(&mut Reader::new(to.bytes())).is_err());
    assert_eq!(Ring::blank(), None);
}

#[test]
fn a_length_of_a_damaged_file_allocates_nothing() {
    let mut to = Writer::default();
    to.length(1 << 60);
    to.put(&[0; 64]);
    let mut list: Vec<[u8; 4096]> = Vec::new();
    let misfit = list.restore(&mut Reader::new(to.bytes())).unwrap_err();
    assert_eq!((misfit.why, list.capacity()), ("states a length that it does not have", 0));
}
