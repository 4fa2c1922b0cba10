//! A trace in Perfetto's protobuf form: tracks, and events on them.
//!
//! Field numbers follow `protos/perfetto/trace/` of <https://github.com/google/perfetto>. All packets belong
//! to one sequence. Each name is written once and then referred to by number. Timestamps are cycles on a
//! clock that the first packet declares, with a microsecond per cycle. A slice is a single event of phase `X`
//! with a duration, so slices may be written in any order. Packets are compressed in chunks.

use super::message::Message;
use miniz_oxide::deflate::compress_to_vec_zlib;
use std::collections::HashMap;
use std::io::{self, Write};
use wave_machine::clock::Cycle;

/// Field numbers, by message.
mod field {
    /// `Trace`
    pub(crate) const PACKET: u32 = 1;
    /// `TracePacket`
    pub(super) mod packet {
        pub(crate) const CLOCK_SNAPSHOT: u32 = 6;
        pub(crate) const TIMESTAMP: u32 = 8;
        pub(crate) const SEQUENCE_ID: u32 = 10;
        pub(crate) const TRACK_EVENT: u32 = 11;
        pub(crate) const INTERNED_DATA: u32 = 12;
        pub(crate) const SEQUENCE_FLAGS: u32 = 13;
        pub(crate) const COMPRESSED_PACKETS: u32 = 50;
        pub(crate) const DEFAULTS: u32 = 59;
        pub(crate) const TRACK_DESCRIPTOR: u32 = 60;
    }
    /// `ClockSnapshot`
    pub(super) mod snapshot {
        pub(crate) const CLOCKS: u32 = 1;
        pub(crate) const PRIMARY: u32 = 2;
    }
    /// `ClockSnapshot.Clock`
    pub(super) mod clock {
        pub(crate) const ID: u32 = 1;
        pub(crate) const TIMESTAMP: u32 = 2;
        pub(crate) const UNIT_NANOSECONDS: u32 = 4;
    }
    /// `TracePacketDefaults`
    pub(crate) const DEFAULT_CLOCK: u32 = 58;
    /// `InternedData`
    pub(super) mod interned {
        pub(crate) const CATEGORIES: u32 = 1;
        pub(crate) const EVENT_NAMES: u32 = 2;
        pub(crate) const ARGUMENT_NAMES: u32 = 3;
        /// Fields of each entry.
        pub(crate) const ID: u32 = 1;
        pub(crate) const NAME: u32 = 2;
    }
    /// `TrackDescriptor`
    pub(super) mod track {
        pub(crate) const UUID: u32 = 1;
        pub(crate) const NAME: u32 = 2;
        pub(crate) const PROCESS: u32 = 3;
        pub(crate) const THREAD: u32 = 4;
        pub(crate) const PARENT: u32 = 5;
        pub(crate) const COUNTER: u32 = 8;
    }
    /// `ProcessDescriptor`
    pub(super) mod process {
        pub(crate) const PID: u32 = 1;
        pub(crate) const NAME: u32 = 6;
    }
    /// `ThreadDescriptor`
    pub(super) mod thread {
        pub(crate) const PID: u32 = 1;
        pub(crate) const TID: u32 = 2;
        pub(crate) const NAME: u32 = 5;
    }
    /// `TrackEvent`
    pub(super) mod event {
        pub(crate) const CATEGORY: u32 = 3;
        pub(crate) const ARGUMENTS: u32 = 4;
        pub(crate) const LEGACY: u32 = 6;
        pub(crate) const TYPE: u32 = 9;
        pub(crate) const NAME: u32 = 10;
        pub(crate) const TRACK: u32 = 11;
        pub(crate) const DOUBLE_VALUE: u32 = 44;
        pub(crate) const FLOWS: u32 = 47;
        pub(crate) const LAST_OF_FLOWS: u32 = 48;
    }
    /// `TrackEvent.LegacyEvent`
    pub(super) mod legacy {
        pub(crate) const PHASE: u32 = 2;
        pub(crate) const MICROSECONDS: u32 = 3;
    }
    /// `DebugAnnotation`
    pub(super) mod argument {
        pub(crate) const NAME: u32 = 1;
        pub(crate) const UINT: u32 = 3;
        pub(crate) const STRING: u32 = 6;
        pub(crate) const POINTER: u32 = 7;
    }
}

/// The sequence of all packets.
const SEQUENCE: u32 = 1;
/// Flags of a packet: it is independent of earlier packets; it depends on them.
const STATE_CLEARED: u32 = 1;
const NEEDS_STATE: u32 = 2;
/// The clock of the sequence, and Perfetto's own clock.
const CYCLES: u32 = 64;
const BOOTTIME: u32 = 6;
/// `TrackEvent.Type`
const INSTANT: u32 = 3;
const COUNTER: u32 = 4;

/// Bytes of packets compressed together: enough to find matches, and little to hold in memory.
const CHUNK: usize = 1 << 18;
/// zlib's compression level. Level 6 takes five times as long and saves a seventh.
const LEVEL: u8 = 2;

/// A track of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Track(u32);

/// The name of an event, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Name(u32);

/// A flow: arrows from the first event with this flow to the next in time, and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Flow(u64);

/// Category of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Category {
    Issue = 1,
    Stall,
    Memory,
    Request,
}

const CATEGORIES: [(Category, &str); 4] = [
    (Category::Issue, "issue"),
    (Category::Stall, "stall"),
    (Category::Memory, "memory"),
    (Category::Request, "request"),
];

/// A value of an event.
#[derive(Debug, Clone, Copy)]
pub(super) enum Value<'a> {
    Number(u64),
    /// Shown in hexadecimal.
    Hexadecimal(u64),
    Text(&'a str),
}

/// Names of values. Each is referred to by its position, from 1 on.
const ARGUMENTS: [&str; 11] =
    ["pc", "workgroup", "wave", "sequence", "lanes", "bytes", "slot", "core", "line", "outcome", "slice"];

/// An event with a duration, or an instant.
#[derive(Debug, Clone, Copy)]
pub(super) struct Event<'a> {
    pub track: Track,
    pub name: Name,
    pub category: Category,
    /// First cycle and number of cycles.
    pub at: Cycle,
    pub cycles: Option<Cycle>,
    pub arguments: &'a [(&'static str, Value<'a>)],
    /// Flows through it, and flows that end at it.
    pub flows: &'a [Flow],
    pub last_of: &'a [Flow],
}

/// Writes one trace.
#[derive(Debug)]
pub(crate) struct TraceFile<W> {
    out: W,
    /// Packets not written yet.
    chunk: Message,
    names: HashMap<String, Name>,
    /// Names that no packet has defined yet.
    interned: Message,
    tracks: u32,
    flows: u64,
}

impl<W: Write> TraceFile<W> {
    pub(super) fn new(out: W) -> TraceFile<W> {
        let (chunk, interned) = (Message::default(), Message::default());
        let mut file = TraceFile { out, chunk, names: HashMap::new(), interned, tracks: 0, flows: 0 };
        for (category, name) in CATEGORIES {
            file.intern(field::interned::CATEGORIES, category as u32, name);
        }
        for (number, name) in (1..).zip(ARGUMENTS) {
            file.intern(field::interned::ARGUMENT_NAMES, number, name);
        }
        file.chunk.message(field::PACKET, |packet| {
            packet.number(field::packet::SEQUENCE_ID, SEQUENCE);
            packet.number(field::packet::SEQUENCE_FLAGS, STATE_CLEARED);
            packet.message(field::packet::CLOCK_SNAPSHOT, |snapshot| {
                for (id, unit) in [(CYCLES, Some(1000_u32)), (BOOTTIME, None)] {
                    snapshot.message(field::snapshot::CLOCKS, |clock| {
                        clock.number(field::clock::ID, id);
                        clock.number(field::clock::TIMESTAMP, 0_u32);
                        if let Some(unit) = unit {
                            clock.number(field::clock::UNIT_NANOSECONDS, unit);
                        }
                    });
                }
                snapshot.number(field::snapshot::PRIMARY, BOOTTIME);
            });
            packet.message(field::packet::DEFAULTS, |defaults| defaults.number(field::DEFAULT_CLOCK, CYCLES));
        });
        file
    }

    fn intern(&mut self, kind: u32, number: u32, name: &str) {
        self.interned.message(kind, |entry| {
            entry.number(field::interned::ID, number);
            entry.data(field::interned::NAME, name.as_bytes());
        });
    }

    /// The number of a name.
    pub(super) fn name(&mut self, name: &str) -> Name {
        if let Some(&known) = self.names.get(name) {
            return known;
        }
        let new = Name(self.names.len() as u32 + 1);
        self.names.insert(name.to_owned(), new);
        self.intern(field::interned::EVENT_NAMES, new.0, name);
        new
    }

    /// A new flow.
    pub(super) fn flow(&mut self) -> Flow {
        self.flows += 1;
        Flow(self.flows)
    }

    fn packet(&mut self, fill: impl FnOnce(&mut Message)) -> io::Result<()> {
        let interned = &self.interned;
        self.chunk.message(field::PACKET, |packet| {
            packet.number(field::packet::SEQUENCE_ID, SEQUENCE);
            packet.number(field::packet::SEQUENCE_FLAGS, NEEDS_STATE);
            if !interned.is_empty() {
                packet.data(field::packet::INTERNED_DATA, interned.bytes());
            }
            fill(packet);
        });
        self.interned.clear();
        if self.chunk.bytes().len() < CHUNK {
            return Ok(());
        }
        self.write()
    }

    /// Compresses and writes the collected packets.
    fn write(&mut self) -> io::Result<()> {
        let mut packet = Message::default();
        packet.message(field::PACKET, |packet| {
            let compressed = compress_to_vec_zlib(self.chunk.bytes(), LEVEL);
            packet.data(field::packet::COMPRESSED_PACKETS, &compressed);
        });
        self.chunk.clear();
        self.out.write_all(packet.bytes())
    }

    fn track(&mut self, fill: impl FnOnce(&mut Message)) -> io::Result<Track> {
        self.tracks += 1;
        let track = Track(self.tracks);
        self.packet(|packet| {
            packet.message(field::packet::TRACK_DESCRIPTOR, |descriptor| {
                descriptor.number(field::track::UUID, track.0);
                fill(descriptor);
            });
        })?;
        Ok(track)
    }

    /// Adds the track of a process.
    pub(super) fn process(&mut self, pid: u32, name: &str) -> io::Result<Track> {
        self.track(|track| {
            track.message(field::track::PROCESS, |process| {
                process.number(field::process::PID, pid);
                process.data(field::process::NAME, name.as_bytes());
            });
        })
    }

    /// Adds the track of a thread.
    pub(super) fn thread(&mut self, pid: u32, tid: u32, name: &str) -> io::Result<Track> {
        self.track(|track| {
            track.message(field::track::THREAD, |thread| {
                thread.number(field::thread::PID, pid);
                thread.number(field::thread::TID, tid);
                thread.data(field::thread::NAME, name.as_bytes());
            });
        })
    }

    /// Adds a counter of a process.
    pub(super) fn counter(&mut self, process: Track, name: &str) -> io::Result<Track> {
        self.track(|track| {
            track.number(field::track::PARENT, process.0);
            track.data(field::track::NAME, name.as_bytes());
            track.message(field::track::COUNTER, |_| {});
        })
    }

    /// Adds a track of the trace itself.
    pub(super) fn root(&mut self, name: &str) -> io::Result<Track> {
        self.track(|track| track.data(field::track::NAME, name.as_bytes()))
    }

    /// Sets the value of a counter from a cycle on.
    pub(super) fn value(&mut self, counter: Track, at: Cycle, value: f64) -> io::Result<()> {
        self.packet(|packet| {
            packet.number(field::packet::TIMESTAMP, at);
            packet.message(field::packet::TRACK_EVENT, |event| {
                event.number(field::event::TYPE, COUNTER);
                event.number(field::event::TRACK, counter.0);
                event.double(field::event::DOUBLE_VALUE, value);
            });
        })
    }

    /// Writes an event without a category.
    pub(super) fn instant(&mut self, track: Track, at: Cycle, name: &str) -> io::Result<()> {
        let name = self.name(name);
        self.packet(|packet| {
            packet.number(field::packet::TIMESTAMP, at);
            packet.message(field::packet::TRACK_EVENT, |event| {
                event.number(field::event::TYPE, INSTANT);
                event.number(field::event::TRACK, track.0);
                event.number(field::event::NAME, name.0);
            });
        })
    }

    /// Writes an event.
    pub(super) fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        let Event { track, name, category, at, cycles, arguments, flows, last_of } = *event;
        self.packet(|packet| {
            packet.number(field::packet::TIMESTAMP, at);
            packet.message(field::packet::TRACK_EVENT, |event| {
                event.number(field::event::CATEGORY, category as u32);
                match cycles {
                    Some(cycles) => event.message(field::event::LEGACY, |legacy| {
                        legacy.number(field::legacy::PHASE, b'X');
                        legacy.number(field::legacy::MICROSECONDS, cycles);
                    }),
                    None => event.number(field::event::TYPE, INSTANT),
                }
                event.number(field::event::NAME, name.0);
                event.number(field::event::TRACK, track.0);
                for (name, value) in arguments {
                    event.message(field::event::ARGUMENTS, |argument| {
                        let place = ARGUMENTS.iter().position(|known| known == name).expect("a known name");
                        argument.number(field::argument::NAME, place as u64 + 1);
                        match value {
                            Value::Number(number) => argument.number(field::argument::UINT, *number),
                            Value::Hexadecimal(number) => argument.number(field::argument::POINTER, *number),
                            Value::Text(text) => argument.data(field::argument::STRING, text.as_bytes()),
                        }
                    });
                }
                flows.iter().for_each(|flow| event.fixed(field::event::FLOWS, flow.0));
                last_of.iter().for_each(|flow| event.fixed(field::event::LAST_OF_FLOWS, flow.0));
            });
        })
    }

    /// Completes the file.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.write()?;
        self.out.flush()
    }
}
