//! Checkpoints: the state of a run as one file, from which another process goes on.
//!
//! A file has a head of little-endian fields of 8 bytes (magic and version, length of the body, hashes of what the run
//! belongs to, hash of all the rest), and the body, compressed with LZ4. Hashes are 64-bit FNV-1a, in which a changed
//! byte always shows. `docs/checkpoints.md` has the fields.

use fnv::FnvHasher;
use lz4_flex::frame::{FrameDecoder, FrameEncoder};
use std::hash::Hasher;
use std::io::{Read, Write};
use wave_capture::{Capture, Reader, Writer};
use wave_isa::program::{Launch, Program};
use wave_machine::config::{Config, config_hash};
use wave_machine::gpu::{KernelReport, Snapshot};
use wave_observe::trace::Recorder;

/// The first bytes of a file; the last of them is the version.
const MAGIC: [u8; 8] = *b"WAVECKP\x01";
/// Fields of the head.
const FIELDS: usize = 8;
/// Bytes of a field.
const FIELD: usize = 8;
/// Bytes of the head.
pub const HEAD_BYTES: u64 = (FIELDS * FIELD) as u64;

/// A run part-way.
#[derive(Debug, Clone, PartialEq, Capture)]
pub struct Checkpoint {
    /// Reports of the launches that have ended, in order.
    pub ended: Vec<KernelReport>,
    /// The machine.
    pub snapshot: Snapshot,
    /// States of the observers, with their names.
    pub observers: Vec<(String, Vec<u8>)>,
}

/// What a checkpoint belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    config: u64,
    program: u64,
    launches: u64,
    memory: u64,
}

impl Identity {
    /// The identity of launches of a program on a machine, with the device memory that they begin with.
    pub fn of(config: &Config, program: &Program, launches: &[Launch], memory: &[u8]) -> Identity {
        let mut code = Writer::default();
        program.code.save(&mut code);
        for kernel in &program.kernels {
            kernel.name.save(&mut code);
            (kernel.registers, kernel.local_memory_bytes).save(&mut code);
            kernel.code.save(&mut code);
        }
        let mut steps = Writer::default();
        launches.to_vec().save(&mut steps);
        Identity {
            config: hash(config_hash(config).as_bytes()),
            program: hash(code.bytes()),
            launches: hash(steps.bytes()),
            memory: hash(memory),
        }
    }

    /// The identity of these launches if the first of them begins part-way, at this nominal cycle.
    pub fn begun_at(self, nominal_cycle: u64) -> Identity {
        Identity { launches: self.launches ^ hash(&nominal_cycle.to_le_bytes()), ..self }
    }
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = FnvHasher::default();
    hasher.write(bytes);
    hasher.finish()
}

/// Why a file is no checkpoint of this run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum Refused {
    #[error("is no checkpoint of wave-sim")]
    Other,
    #[error("is a checkpoint of version {0}; this program reads version {ours}", ours = MAGIC[7])]
    Version(u8),
    #[error("is a checkpoint of another build of wave-sim, whose state has other fields")]
    Layout,
    #[error("is a checkpoint of another machine")]
    Config,
    #[error("is a checkpoint of another kernel")]
    Program,
    #[error("is a checkpoint of other launches of this kernel")]
    Launches,
    #[error("is a checkpoint of a run with other input data")]
    Memory,
    #[error("is cut short: it has {has} of {wants} bytes")]
    Short { has: u64, wants: u64 },
    #[error("is damaged: its check sum is not that of its contents")]
    Damaged,
}

impl Checkpoint {
    /// The bytes of the file.
    pub fn encode(&self, identity: Identity) -> Vec<u8> {
        let mut body = Writer::default();
        self.save(&mut body);
        let body = compressed(body.bytes());
        let Identity { config, program, launches, memory } = identity;
        let length = body.len() as u64;
        let head = [u64::from_le_bytes(MAGIC), length, layout(), config, program, launches, memory];
        let mut file: Vec<u8> = head.iter().flat_map(|field| field.to_le_bytes()).collect();
        let sum = sum(&file, &body);
        file.extend(sum.to_le_bytes());
        file.extend(body);
        file
    }

    /// True if these bytes are the first ones of a checkpoint, of whatever version.
    pub fn is_begun_by(head: &[u8]) -> bool {
        head.get(..7) == Some(&MAGIC[..7])
    }

    /// Length of the file that begins with these bytes; `None` if it is no checkpoint of a version that this program
    /// knows, or if they are not the whole head.
    pub fn length(head: &[u8]) -> Option<u64> {
        let (fields, _) = head.as_chunks::<FIELD>();
        let &[magic, length, ..] = fields.first_chunk::<FIELDS>()?;
        (magic == MAGIC).then(|| HEAD_BYTES.saturating_add(u64::from_le_bytes(length)))
    }

    /// True if as many launches have ended as are before the one that runs.
    pub fn is_of(&self, launches: &[Launch]) -> bool {
        let running = self.snapshot.launch();
        self.ended.len() <= launches.len()
            && running.is_none_or(|it| launches.get(self.ended.len()) == Some(it))
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// If it is not a complete checkpoint of this run.
    pub fn decode(file: &[u8], identity: Identity) -> Result<Checkpoint, Refused> {
        if !Checkpoint::is_begun_by(file) {
            return Err(Refused::Other);
        }
        let (fields, _) = file.as_chunks::<FIELD>();
        let (has, head) = (file.len() as u64, HEAD_BYTES);
        let Some(&[magic, length, state, config, program, launches, memory, wanted]) =
            fields.first_chunk::<FIELDS>()
        else {
            return Err(Refused::Short { has, wants: head });
        };
        if magic != MAGIC {
            return Err(Refused::Version(magic[7]));
        }
        let wants = head.saturating_add(u64::from_le_bytes(length));
        if has < wants {
            return Err(Refused::Short { has, wants });
        }
        let (head, body) = file.split_at(FIELDS * FIELD);
        if has > wants || sum(&head[..head.len() - FIELD], body) != u64::from_le_bytes(wanted) {
            return Err(Refused::Damaged);
        }
        let belongs = [
            (state, layout(), Refused::Layout),
            (config, identity.config, Refused::Config),
            (program, identity.program, Refused::Program),
            (launches, identity.launches, Refused::Launches),
            (memory, identity.memory, Refused::Memory),
        ];
        if let Some((.., refused)) =
            belongs.into_iter().find(|(field, ours, _)| u64::from_le_bytes(*field) != *ours)
        {
            return Err(refused);
        }
        let body = decompressed(body).ok_or(Refused::Damaged)?;
        let mut checkpoint = Checkpoint::blank().ok_or(Refused::Damaged)?;
        let mut from = Reader::new(&body);
        checkpoint.restore(&mut from).map_err(|_| Refused::Damaged)?;
        if from.is_empty() { Ok(checkpoint) } else { Err(Refused::Damaged) }
    }
}

/// Hash of what the state of this program has: its version, and the fields of the machine and of a retirement trace.
fn layout() -> u64 {
    let mut text = env!("CARGO_PKG_VERSION").to_owned();
    Checkpoint::describe(&mut text);
    text += &Snapshot::layout();
    text += &Recorder::layout();
    hash(text.as_bytes())
}

/// Hash of the head without its last field, and of the body.
fn sum(head: &[u8], body: &[u8]) -> u64 {
    let mut hasher = FnvHasher::default();
    hasher.write(head);
    hasher.write(body);
    hasher.finish()
}

/// In LZ4 frames, which have no limit of length.
fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut to = FrameEncoder::new(Vec::new());
    to.write_all(bytes).and_then(|()| to.finish().map_err(Into::into)).expect("memory takes every byte")
}

fn decompressed(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    FrameDecoder::new(bytes).read_to_end(&mut body).ok()?;
    Some(body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wave_isa::program::assemble;
    use wave_machine::gpu::{Machine, RunOptions};

    const KERNEL: &str = ".kernel k\n.registers 4\n.workgroup_size 32, 1, 1\nmov_imm r0, 7\nhalt\n.end\n";

    fn saved() -> (Checkpoint, Identity) {
        let config = Config::example();
        let (program, _) = assemble(KERNEL, "k.wave").unwrap();
        let launch = Launch::of(&program, 0, [1, 1, 1]);
        let memory = vec![1, 2, 3, 4];
        let identity = Identity::of(&config, &program, std::slice::from_ref(&launch), &memory);
        let mut machine = Machine::new(config, program, memory);
        let report = machine.run(&launch, &RunOptions::UNBOUNDED, None, &mut |_| {}).unwrap();
        machine.begin(&launch, &RunOptions::UNBOUNDED).unwrap();
        machine.advance(machine.now() + 20, None).unwrap();
        let observers = vec![("trace".to_owned(), vec![9; 9])];
        (Checkpoint { ended: vec![report], snapshot: machine.snapshot(), observers }, identity)
    }

    #[test]
    fn a_checkpoint_comes_back_as_it_was() {
        let (checkpoint, identity) = saved();
        assert_eq!(Checkpoint::decode(&checkpoint.encode(identity), identity), Ok(checkpoint));
    }

    #[test]
    fn a_state_of_another_launch_is_none_of_this_run() {
        let (checkpoint, _) = saved();
        let launch = checkpoint.snapshot.launch().unwrap().clone();
        let other = Launch { grid: [2, 1, 1], ..launch.clone() };
        assert!(checkpoint.is_of(&[launch.clone(), launch.clone()]));
        assert!(!checkpoint.is_of(&[launch.clone(), other]));
        assert!(!checkpoint.is_of(&[launch]));
        assert!(!checkpoint.is_of(&[]));
    }

    #[test]
    fn no_changed_bit_and_no_missing_byte_passes() {
        let (checkpoint, identity) = saved();
        let file = checkpoint.encode(identity);
        // All of the head, and samples of the body.
        let places = (0..file.len()).filter(|&at| at < FIELDS * FIELD + 64 || at % 97 == 0);
        for place in places {
            let mut wrong = file.clone();
            wrong[place] ^= 1 << (place % 8);
            assert!(Checkpoint::decode(&wrong, identity).is_err(), "byte {place}");
            assert!(Checkpoint::decode(&file[..place], identity).is_err(), "cut at {place}");
        }
        let mut long = file;
        long.push(0);
        assert_eq!(Checkpoint::decode(&long, identity), Err(Refused::Damaged));
    }

    #[test]
    fn a_checkpoint_of_something_else_is_refused_by_name() {
        let (checkpoint, identity) = saved();
        let mut file = checkpoint.encode(identity);
        let other = |identity| Checkpoint::decode(&checkpoint.encode(identity), saved().1).unwrap_err();
        assert_eq!(other(Identity { config: 1, ..identity }), Refused::Config);
        assert_eq!(other(Identity { program: 1, ..identity }), Refused::Program);
        assert_eq!(other(Identity { launches: 1, ..identity }), Refused::Launches);
        assert_eq!(other(Identity { memory: 1, ..identity }), Refused::Memory);
        let mut other_build = file.clone();
        other_build[16] ^= 1;
        let (head, body) = (FIELDS * FIELD, &file[FIELDS * FIELD..]);
        let right = sum(&other_build[..head - FIELD], body);
        other_build[head - FIELD..head].copy_from_slice(&right.to_le_bytes());
        assert_eq!(Checkpoint::decode(&other_build, identity), Err(Refused::Layout));
        file[7] = 2;
        assert_eq!(Checkpoint::decode(&file, identity), Err(Refused::Version(2)));
        assert_eq!(Checkpoint::decode(b"RIFF", identity), Err(Refused::Other));
        assert_eq!(Checkpoint::decode(b"", identity), Err(Refused::Other));
    }
}
