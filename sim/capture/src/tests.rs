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
    assert_eq!(misfit.to_string(), "`ports` has blocks that this machine lacks");
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
