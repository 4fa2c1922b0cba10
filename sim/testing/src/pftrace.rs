//! Reads traces for Perfetto, by the encoding of protocol buffers and the numbers of Perfetto's `protos/perfetto/trace/`. It
//! knows nothing of how they are written; `scripts/perfetto_check.py` holds them against Perfetto's own reader.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// A field as it is encoded.
#[derive(Debug, Clone, Copy)]
enum Field<'a> {
    Number(u64),
    Fixed(u64),
    Bytes(&'a [u8]),
}

impl<'a> Field<'a> {
    fn number(self) -> u64 {
        let Field::Number(number) = self else { panic!("{self:?}") };
        number
    }

    fn fixed(self) -> u64 {
        let Field::Fixed(number) = self else { panic!("{self:?}") };
        number
    }

    fn bytes(self) -> &'a [u8] {
        let Field::Bytes(bytes) = self else { panic!("{self:?}") };
        bytes
    }

    fn text(self) -> String {
        String::from_utf8(self.bytes().to_vec()).unwrap()
    }
}

/// The fields of a message, in order.
struct Message<'a>(Vec<(u64, Field<'a>)>);

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first().expect("a whole number");
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return value;
        }
    }
    panic!("a number of more than 64 bits");
}

impl<'a> Message<'a> {
    fn of(mut bytes: &'a [u8]) -> Message<'a> {
        let mut fields = Vec::new();
        while !bytes.is_empty() {
            let key = varint(&mut bytes);
            let field = match key & 7 {
                0 => Field::Number(varint(&mut bytes)),
                1 => {
                    let (fixed, rest) = bytes.split_at(8);
                    bytes = rest;
                    Field::Fixed(u64::from_le_bytes(fixed.try_into().unwrap()))
                }
                2 => {
                    let length = varint(&mut bytes) as usize;
                    let (data, rest) = bytes.split_at(length);
                    bytes = rest;
                    Field::Bytes(data)
                }
                other => panic!("wire type {other}"),
            };
            fields.push((key >> 3, field));
        }
        Message(fields)
    }

    fn all(&self, number: u64) -> impl Iterator<Item = Field<'a>> + '_ {
        self.0.iter().filter(move |(n, _)| *n == number).map(|(_, field)| *field)
    }

    fn get(&self, number: u64) -> Option<Field<'a>> {
        let mut all = self.all(number);
        let first = all.next();
        assert!(all.next().is_none(), "field {number} twice");
        first
    }

    fn message(&self, number: u64) -> Option<Message<'a>> {
        self.get(number).map(|field| Message::of(field.bytes()))
    }
}

/// Something on a thread: a slice, or an instant.
#[derive(Debug, Clone)]
pub struct Event {
    /// Process number.
    pub pid: u64,
    /// Thread number.
    pub tid: u64,
    /// Name of the process.
    pub process: String,
    /// Name of the thread.
    pub thread: String,
    /// Category.
    pub category: String,
    /// Name.
    pub name: String,
    /// Time stamp.
    pub at: u64,
    /// None of an instant.
    pub cycles: Option<u64>,
    /// Arguments by name.
    pub arguments: BTreeMap<String, String>,
    /// Flows that pass through it.
    pub flows: Vec<u64>,
    /// Flows that end with it.
    pub last_of: Vec<u64>,
}

/// A value of a counter from a time on.
#[derive(Debug, Clone)]
pub struct Value {
    /// Name of the process.
    pub process: String,
    /// Name of the counter.
    pub counter: String,
    /// Time stamp.
    pub at: u64,
    /// Value.
    pub value: f64,
}

/// What a trace has.
#[derive(Debug, Default)]
pub struct Trace {
    /// Slices and instants, in the order of the file.
    pub events: Vec<Event>,
    /// Values of counters, in the order of the file.
    pub values: Vec<Value>,
    /// Names of the instants of the whole trace, and when they are.
    pub launches: Vec<(String, u64)>,
}

#[derive(Debug, Clone)]
enum Track {
    Process,
    Thread { pid: u64, tid: u64, name: String },
    Counter { process: String, name: String },
    Root(String),
}

#[derive(Default)]
struct Reader {
    trace: Trace,
    tracks: HashMap<u64, Track>,
    processes: HashMap<u64, (u64, String)>,
    /// Interned: categories, names of events, names of arguments.
    interned: HashMap<(u64, u64), String>,
    /// Nanoseconds of a unit of the clock of the packets.
    unit: Option<u64>,
    compressed: usize,
}

impl Reader {
    fn packets(&mut self, bytes: &[u8]) {
        for (number, field) in Message::of(bytes).0 {
            assert_eq!(number, 1, "a trace has packets and nothing else");
            let packet = Message::of(field.bytes());
            if let Some(compressed) = packet.get(50) {
                let inner = miniz_oxide::inflate::decompress_to_vec_zlib(compressed.bytes()).unwrap();
                self.compressed += 1;
                self.packets(&inner);
            } else {
                self.packet(&packet);
            }
        }
    }

    fn packet(&mut self, packet: &Message<'_>) {
        assert_eq!(packet.get(10).unwrap().number(), 1, "one sequence");
        let is_first = self.unit.is_none();
        assert_eq!(packet.get(13).unwrap().number(), if is_first { 1 } else { 2 }, "flags");
        if let Some(snapshot) = packet.message(6) {
            let clocks: Vec<Vec<u64>> = snapshot
                .all(1)
                .map(|clock| {
                    let clock = Message::of(clock.bytes());
                    [1, 2, 4].map(|n| clock.get(n).map_or(0, Field::number)).to_vec()
                })
                .collect();
            assert_eq!(clocks, [[64, 0, 1000], [6, 0, 0]], "the cycle and Perfetto's time begin together");
            self.unit = Some(1000);
            assert_eq!(packet.message(59).unwrap().get(58).unwrap().number(), 64);
        }
        if let Some(data) = packet.message(12) {
            for kind in 1..=3 {
                for entry in data.all(kind) {
                    let entry = Message::of(entry.bytes());
                    let key = (kind, entry.get(1).unwrap().number());
                    assert_eq!(
                        self.interned.insert(key, entry.get(2).unwrap().text()),
                        None,
                        "{key:?} twice"
                    );
                }
            }
        }
        if let Some(track) = packet.message(60) {
            self.track(&track);
        }
        if let Some(event) = packet.message(11) {
            self.event(packet.get(8).unwrap().number(), &event);
        }
    }

    fn track(&mut self, track: &Message<'_>) {
        let uuid = track.get(1).unwrap().number();
        let name = || track.get(2).unwrap().text();
        let new = if let Some(process) = track.message(3) {
            let (pid, name) = (process.get(1).unwrap().number(), process.get(6).unwrap().text());
            assert!(!self.processes.values().any(|other| other.0 == pid || other.1 == name), "{name} twice");
            self.processes.insert(uuid, (pid, name));
            Track::Process
        } else if let Some(thread) = track.message(4) {
            let [pid, tid] = [1, 2].map(|n| thread.get(n).unwrap().number());
            // Perfetto knows a thread by its number alone, takes a process for its first thread, and 0 for something else.
            let taken = |tid: u64| {
                self.tracks.values().any(|t| matches!(t, Track::Thread { tid: other, .. } if *other == tid))
            };
            assert!(pid > 0 && tid > 0 && !taken(tid), "thread {tid}");
            assert!(self.processes.values().all(|(pid, _)| *pid != tid), "thread {tid}");
            Track::Thread { pid, tid, name: thread.get(5).unwrap().text() }
        } else if track.get(8).is_some() {
            let parent = track.get(5).unwrap().number();
            Track::Counter { process: self.processes[&parent].1.clone(), name: name() }
        } else {
            Track::Root(name())
        };
        assert!(self.tracks.insert(uuid, new).is_none() && uuid > 0, "track {uuid} twice");
    }

    fn event(&mut self, at: u64, event: &Message<'_>) {
        let interned = |kind: u64, number: u64| self.interned[&(kind, number)].clone();
        let kind = event.get(9).map(Field::number);
        let name = event.get(10).map(|name| interned(2, name.number()));
        match self.tracks[&event.get(11).unwrap().number()].clone() {
            Track::Counter { process, name: counter } => {
                assert_eq!(kind, Some(4), "a value of a counter");
                let value = f64::from_bits(event.get(44).unwrap().fixed());
                self.trace.values.push(Value { process, counter, at, value });
            }
            Track::Root(root) => {
                assert_eq!((root.as_str(), kind), ("launches", Some(3)));
                self.trace.launches.push((name.unwrap(), at));
            }
            Track::Process => panic!("an event on a process"),
            Track::Thread { pid, tid, name: thread } => {
                let cycles = event.message(6).map(|legacy| {
                    assert_eq!(legacy.get(2).unwrap().number(), u64::from(b'X'));
                    legacy.get(3).unwrap().number()
                });
                assert!(cycles.is_some() != (kind == Some(3)), "a slice or an instant");
                let arguments = event.all(4).map(|argument| {
                    let argument = Message::of(argument.bytes());
                    let value = match (argument.get(3), argument.get(7), argument.get(6)) {
                        (Some(number), None, None) => number.number().to_string(),
                        (None, Some(pointer), None) => format!("0x{:x}", pointer.number()),
                        (None, None, Some(text)) => text.text(),
                        other => panic!("{other:?}"),
                    };
                    (interned(3, argument.get(1).unwrap().number()), value)
                });
                let process = self.processes.values().find(|(of, _)| *of == pid).unwrap().1.clone();
                let category = interned(1, event.get(3).unwrap().number());
                let (arguments, name) = (arguments.collect(), name.unwrap());
                let [flows, last_of] = [47, 48].map(|n| event.all(n).map(Field::fixed).collect());
                let new = Event {
                    pid,
                    tid,
                    process,
                    thread,
                    category,
                    name,
                    at,
                    cycles,
                    arguments,
                    flows,
                    last_of,
                };
                self.trace.events.push(new);
            }
        }
    }
}

impl Trace {
    /// Reads a file.
    pub fn read(path: &Path) -> Trace {
        let mut reader = Reader::default();
        reader.packets(&std::fs::read(path).unwrap());
        assert!(reader.compressed > 0, "packets are compressed");
        reader.trace
    }

    /// Slices, without instants.
    pub fn slices(&self) -> impl Iterator<Item = &Event> {
        self.events.iter().filter(|event| event.cycles.is_some())
    }

    /// Slices of a category.
    pub fn of(&self, category: &str) -> impl Iterator<Item = &Event> {
        self.slices().filter(move |event| event.category == category)
    }

    /// The events of each flow, in the order of time.
    pub fn flows(&self) -> BTreeMap<u64, Vec<&Event>> {
        let mut flows = BTreeMap::<u64, Vec<&Event>>::new();
        for event in &self.events {
            for flow in event.flows.iter().chain(&event.last_of) {
                flows.entry(*flow).or_default().push(event);
            }
        }
        // Those of one time stay in the order of the file, as they do in Perfetto.
        flows.values_mut().for_each(|events| events.sort_by_key(|event| event.at));
        flows
    }
}

impl Event {
    /// The cycle after its last.
    pub fn end(&self) -> u64 {
        self.at + self.cycles.unwrap_or(0)
    }
}
