//! Sinks: where records go. Windows: which records are kept.

use super::record::{How, Launched, Record};
use std::io;
use std::ops::Range;
use wave_capture::{Misfit, Reader, Writer};
use wave_machine::clock::Cycle;
use wave_machine::core::probe::Hop;

/// A receiver of records, such as a file in one of several forms. It may be written by a thread of its own.
pub trait Sink: Send {
    /// Begins a launch.
    ///
    /// # Errors
    /// If the file cannot be written to.
    fn launch(&mut self, launch: &Launched) -> io::Result<()>;

    /// The next record, in order.
    ///
    /// # Errors
    /// If the file cannot be written to.
    fn record(&mut self, record: &Record) -> io::Result<()>;

    /// True if it prefers [`Sink::encoded`] to [`Sink::record`] when it is the only sink.
    fn wants_encoded(&self) -> bool {
        false
    }

    /// The next record, in order, which retires in `cycle`, encoded by
    /// [`put_fields`](super::binary::put_fields).
    ///
    /// # Errors
    /// If the file cannot be written to.
    fn encoded(&mut self, _cycle: Cycle, _fields: &[u8]) -> io::Result<()> {
        Ok(())
    }

    /// True if it wants [`Sink::hop`].
    fn wants_hops(&self) -> bool {
        false
    }

    /// An event of a request in the L2. Events come in the order of time, and before records that retire in
    /// the same cycle. The record of the instruction behind it comes later; that of a store may have come
    /// before.
    ///
    /// # Errors
    /// If the file cannot be written to.
    fn hop(&mut self, _: &Hop) -> io::Result<()> {
        Ok(())
    }

    /// True if it wants [`Sink::state`].
    fn wants_state(&self) -> bool {
        false
    }

    /// From a cycle on, the signal with this index in
    /// [`Event::State`](wave_machine::core::probe::Event::State) has this value; initially all are 0. Changes
    /// come in the order of time, and before [`Sink::advanced`] passes their cycle.
    ///
    /// # Errors
    /// If the file cannot be written to.
    fn state(&mut self, _: Cycle, _signal: usize, _value: u64) -> io::Result<()> {
        Ok(())
    }

    /// True if it writes in the order of time and so needs [`Sink::advanced`].
    fn is_in_order_of_time(&self) -> bool {
        false
    }

    /// No later record has a stage or stall before this cycle.
    ///
    /// # Errors
    /// If the file cannot be written to.
    fn advanced(&mut self, _oldest: Cycle) -> io::Result<()> {
        Ok(())
    }

    /// Writes out what it holds back and saves what it needs to go on with the file in another process.
    ///
    /// # Errors
    /// If the file cannot be written to, or not be continued.
    fn save(&mut self, _: &mut Writer) -> io::Result<()> {
        Err(io::Error::other("a file of this form cannot be continued"))
    }

    /// Puts back what [`save`](Sink::save) saved; the file holds what it held then.
    ///
    /// # Errors
    /// If that does not fit.
    fn restore(&mut self, _: &mut Reader<'_>) -> Result<(), Misfit> {
        Err(Misfit::new("is of a form that cannot be continued"))
    }

    /// The run has ended: completes the file.
    ///
    /// # Errors
    /// If the file cannot be written to.
    fn end(&mut self, how: How, cycle: Cycle, message: &str) -> io::Result<()>;
}

impl<S: Sink + ?Sized> Sink for &mut S {
    fn launch(&mut self, launch: &Launched) -> io::Result<()> {
        (**self).launch(launch)
    }

    fn record(&mut self, record: &Record) -> io::Result<()> {
        (**self).record(record)
    }

    fn wants_encoded(&self) -> bool {
        (**self).wants_encoded()
    }

    fn encoded(&mut self, cycle: Cycle, fields: &[u8]) -> io::Result<()> {
        (**self).encoded(cycle, fields)
    }

    fn is_in_order_of_time(&self) -> bool {
        (**self).is_in_order_of_time()
    }

    fn advanced(&mut self, oldest: Cycle) -> io::Result<()> {
        (**self).advanced(oldest)
    }

    fn wants_hops(&self) -> bool {
        (**self).wants_hops()
    }

    fn hop(&mut self, hop: &Hop) -> io::Result<()> {
        (**self).hop(hop)
    }

    fn wants_state(&self) -> bool {
        (**self).wants_state()
    }

    fn state(&mut self, cycle: Cycle, signal: usize, value: u64) -> io::Result<()> {
        (**self).state(cycle, signal, value)
    }

    fn save(&mut self, to: &mut Writer) -> io::Result<()> {
        (**self).save(to)
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Misfit> {
        (**self).restore(from)
    }

    fn end(&mut self, how: How, cycle: Cycle, message: &str) -> io::Result<()> {
        (**self).end(how, cycle, message)
    }
}

/// Which records are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// Records that retire in these cycles.
    pub cycles: Range<Cycle>,
    /// Records of these workgroups (linear index in the grid) and of these waves in them; of all if empty.
    pub waves: Vec<(Range<u64>, Range<u64>)>,
}

impl Window {
    /// All records.
    pub const ALL: Window = Window { cycles: 0..Cycle::MAX, waves: Vec::new() };

    /// True if the window contains a record of a launch with this grid.
    pub fn has(&self, grid: [u32; 3], record: &Record) -> bool {
        self.cycles.contains(&record.cycle) && self.has_wave(grid, record.workgroup, record.wave)
    }

    /// True if the window contains this wave of a launch with this grid.
    pub(crate) fn has_wave(&self, grid: [u32; 3], workgroup: [u32; 3], wave: u32) -> bool {
        if self.waves.is_empty() {
            return true;
        }
        let ([x, y, z], [columns, rows, _]) = (workgroup.map(u64::from), grid.map(u64::from));
        let workgroup = x + columns * (y + rows * z);
        let chosen =
            |(w, v): &(Range<u64>, Range<u64>)| w.contains(&workgroup) && v.contains(&u64::from(wave));
        self.waves.iter().any(chosen)
    }
}

/// Calls `act` with each sink. Keeps the first error, and writes nothing after it.
pub(crate) fn write<'s>(
    sinks: &mut [(String, Box<dyn Sink + 's>)],
    failed: &mut Option<(String, io::Error)>,
    mut act: impl FnMut(&mut (dyn Sink + 's)) -> io::Result<()>,
) {
    for (name, sink) in sinks {
        if failed.is_none()
            && let Err(error) = act(sink.as_mut())
        {
            *failed = Some((name.clone(), error));
        }
    }
}
