//! The simulator's side of a comparison: its events as records.

use super::packet;
use super::step::{Record, SEQUENCES, Stage, Step, masked, sent_rows};
use std::collections::HashMap;
use std::ops::ControlFlow;
use wave_isa::program::Program;
use wave_machine::clock::Cycle;
use wave_machine::core::probe::{
    Event, EventKind, Going, Issued, MemoryEvent, Observer, Packet, Results, StageEvent, Wants,
};
use wave_machine::core::uop::{Kind, MicroOp};

/// Turns events into records, and hands on those of each complete cycle.
pub(crate) struct RecordStream<'a, F> {
    program: &'a Program,
    base: u32,
    width: usize,
    /// It makes records of packets.
    packets: bool,
    records: Vec<Record>,
    issuing: Option<Record>,
    /// Per slot and sequence number, instructions in flight: their lanes, and whether they write registers or
    /// a predicate.
    in_flight: HashMap<(usize, u64), InFlight>,
    /// By slot, the wave whose instruction issued there last: workgroup, wave.
    waves: Vec<([u32; 3], u32)>,
    /// Receives the sorted records of a cycle. May stop the run.
    sink: F,
}

#[derive(Clone, Copy)]
struct InFlight {
    lanes: u64,
    registers: bool,
    predicate: bool,
}

impl<'a, F: FnMut(Vec<Record>) -> ControlFlow<()>> RecordStream<'a, F> {
    /// An observer of the kernel with first word `base`, on waves of `width` lanes. `packets`: it makes records of
    /// packets, too.
    pub(super) fn new(
        program: &'a Program,
        base: u32,
        width: usize,
        packets: bool,
        sink: F,
    ) -> RecordStream<'a, F> {
        let (records, in_flight, waves) = (Vec::new(), HashMap::new(), Vec::new());
        RecordStream { program, base, width, packets, records, issuing: None, in_flight, waves, sink }
    }

    /// The records that have not been handed on.
    pub(super) fn left(&self) -> &[Record] {
        &self.records
    }

    /// The slot in which a wave issued last.
    pub(super) fn slot_of(&self, workgroup: [u32; 3], wave: u32) -> Option<u32> {
        self.waves.iter().position(|&held| held == (workgroup, wave)).map(|slot| slot as u32)
    }

    fn push(&mut self, event: StageEvent, stage: Stage, fields: Vec<u32>) {
        self.records.push(record(event, stage, fields));
    }

    /// Hands on the records of all cycles before `before`.
    pub(super) fn complete(&mut self, before: Cycle) -> ControlFlow<()> {
        while let Some(first) = self.records.first() {
            let cycle = first.cycle;
            if cycle >= before {
                break;
            }
            let end = self.records.iter().position(|r| r.cycle != cycle).unwrap_or(self.records.len());
            let mut batch: Vec<Record> = self.records.drain(..end).collect();
            batch.sort_unstable();
            (self.sink)(batch)?;
        }
        ControlFlow::Continue(())
    }
}

fn record(event: StageEvent, stage: Stage, fields: Vec<u32>) -> Record {
    let sequence = (event.sequence % SEQUENCES) as u32;
    let step = Step::Stage(stage);
    Record { cycle: event.cycle, step, slot: event.slot as u32, sequence, word: event.word, fields }
}

/// The words of an instruction as the core fetches them.
fn words_of(op: &MicroOp, code: &[u32]) -> [u32; 3] {
    match op.kind {
        Kind::End => [0; 3],
        _ => [op.words, code[0], if op.words == 2 { code[1] } else { 0 }],
    }
}

impl<F: FnMut(Vec<Record>) -> ControlFlow<()>> Observer for RecordStream<'_, F> {
    fn wants(&self) -> Wants {
        let steps = Wants::of(&[
            EventKind::Stage,
            EventKind::Issued,
            EventKind::Going,
            EventKind::Results,
            EventKind::Access,
        ]);
        if self.packets { steps.and(Wants::of(&[EventKind::Packet])) } else { steps }
    }

    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Stage(event) => self.reaches(*event),
            Event::Issued(issued) => self.issued(issued),
            Event::Going(going) => self.goes_on(going),
            Event::Results(results) => self.results(results),
            Event::Access(access) => self.accesses(access),
            Event::Packet(packet) => self.sends(packet),
            _ => {}
        }
    }

    fn advanced(&mut self, cycle: Cycle) -> ControlFlow<()> {
        self.complete(cycle)
    }
}

impl<F: FnMut(Vec<Record>) -> ControlFlow<()>> RecordStream<'_, F> {
    fn reaches(&mut self, event: StageEvent) {
        let stage = match event.stage {
            Stage::Fetch | Stage::Decode | Stage::Operands | Stage::Execute => event.stage,
            Stage::WriteBack => {
                if self.in_flight.get(&(event.slot, event.sequence)).is_some_and(|i| i.registers) {
                    self.push(event, Stage::WriteBack, Vec::new());
                }
                return;
            }
            // They come with their effects: `goes_on`, `results`.
            Stage::Issue | Stage::Access | Stage::Retire => return,
        };
        self.push(event, stage, Vec::new());
    }

    fn issued(&mut self, issued: &Issued<'_>) {
        let Issued { event, workgroup, wave, op, active, mask } = *issued;
        let code = self.program.code.get((self.base + event.word) as usize..).unwrap_or_default();
        let mut fields = vec![0];
        fields.extend(words_of(op, code));
        fields.extend([active as u32, mask as u32, wave]);
        fields.extend(workgroup);
        self.issuing = Some(record(event, Stage::Issue, fields));
        if self.waves.len() <= event.slot {
            self.waves.resize(event.slot + 1, ([u32::MAX; 3], u32::MAX));
        }
        self.waves[event.slot] = (workgroup, wave);
        if op.needs_collector() && mask != 0 {
            let predicate = op.predicate_write != 0;
            let place = InFlight { lanes: mask, registers: op.rows.destination_rows > 0, predicate };
            self.in_flight.insert((event.slot, event.sequence), place);
        }
    }

    fn goes_on(&mut self, going: &Going) {
        if let Some(mut record) = self.issuing.take() {
            record.fields[0] = u32::from(going.done);
            record.fields.extend([going.next.unwrap_or(0), u32::from(going.next.is_none())]);
            self.records.push(record);
        }
    }

    fn results(&mut self, results: &Results<'_>) {
        let event = results.event;
        let Some(of) = self.in_flight.remove(&(event.slot, event.sequence)) else { return };
        let mut fields: Vec<u32> = masked(results.registers, self.width, of.lanes).collect();
        if of.predicate {
            fields.push((results.predicate & of.lanes) as u32);
        }
        self.push(event, Stage::Retire, fields);
    }

    fn accesses(&mut self, access: &MemoryEvent<'_>) {
        let MemoryEvent { cycle, core, slot, sequence, word, mask, addresses, sent, .. } = *access;
        let op = self.program.code.get((self.base + word) as usize..).map(wave_isa::Inst::decode);
        let rows = op.and_then(Result::ok).map_or(0, |inst| sent_rows(inst.op));
        let mut fields: Vec<u32> = masked(&addresses[..self.width], self.width, mask).collect();
        fields.extend(masked(&sent[..rows * self.width], self.width, mask));
        let event = StageEvent { cycle, core, slot, sequence, word, stage: Stage::Execute };
        self.push(event, Stage::Access, fields);
    }

    fn sends(&mut self, packet: &Packet<'_>) {
        let fields = packet::of_request(packet.request);
        let (cycle, step) = (packet.cycle, Step::Packet);
        self.records.push(Record { cycle, step, slot: 0, sequence: 0, word: 0, fields });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtl::{Beginning, Cosim, Mode, Side};
    use std::time::Duration;
    use wave_isa::program::{Launch, assemble};
    use wave_machine::config::load;

    const KERNEL: &str = ".kernel k\n.registers 16\nmov_imm r2, 64\ndevice_load_u32 r3, r2\ndevice_store_u32 r2, r3\n\
                          atomic_add r4, r2, r3, .device\nfence_release .system\nhalt\n.end";

    /// Kinds of the packets that have records, and whether they are for code.
    fn packets(wanted: bool) -> Vec<(u32, u32)> {
        let config = load("rtl.ron").unwrap();
        let (program, _) = assemble(KERNEL, "k.wave").unwrap();
        let launch = Launch {
            kernel: 0,
            grid: [1, 1, 1],
            workgroup: [8, 1, 1],
            registers: 16,
            local_memory_bytes: 0,
            initial_registers: Vec::new(),
        };
        let (memory, script) = (vec![0; 256], Side::in_order(1, (2, 12)).script(0));
        let cosim = Cosim {
            config: &config,
            program: &program,
            launch: &launch,
            memory: &memory,
            script: &script,
            beginning: &Beginning::default(),
            mode: Mode::Cycle,
            max_cycles: 10_000,
            patience: Duration::ZERO,
            arguments: &[],
            stop: None,
        };
        let mut met = Vec::new();
        let mut observer = RecordStream::new(&program, 0, 8, wanted, |batch| {
            let packets = batch.into_iter().filter(|record| record.step == Step::Packet);
            met.extend(packets.map(|record| (record.fields[0], record.fields[1])));
            ControlFlow::Continue(())
        });
        cosim.simulate(Some(&mut observer)).unwrap();
        met
    }

    #[test]
    fn packets_of_code_of_the_l1_and_of_releases_have_records_if_they_are_wanted() {
        let met = packets(true);
        // A read, a write, atomics of each lane and a release, in this order, beside reads of code.
        let mut data: Vec<u32> = met.iter().filter(|(_, code)| *code == 0).map(|(kind, _)| *kind).collect();
        data.dedup();
        assert_eq!(data, [0, 1, 2, 3], "{met:?}");
        assert!(met.contains(&(0, 1)), "{met:?}");
        assert_eq!(packets(false), []);
    }
}
