//! Waveform files: VCD as text, FST through a library.

use fst_writer::{
    FstBodyWriter, FstFileType, FstInfo, FstScopeType, FstSignalId, FstSignalType, FstVarDirection,
    FstVarType, FstWriteError, open_fst,
};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use wave_machine::clock::Cycle;
use wave_machine::memory::state::Signal;

/// A waveform file: signals, then their changes in the order of time.
pub trait Waveform {
    /// The cycle of the changes that follow.
    ///
    /// # Errors
    /// If the file cannot be written to.
    fn time(&mut self, cycle: Cycle) -> io::Result<()>;

    /// A signal has this value from now on.
    ///
    /// # Errors
    /// If the file cannot be written to.
    fn change(&mut self, signal: usize, value: u64) -> io::Result<()>;

    /// Completes the file.
    ///
    /// # Errors
    /// If the file cannot be written to.
    fn finish(&mut self) -> io::Result<()>;
}

/// From the scopes of one signal to those of the next: how many to leave, which to enter.
fn steps<'a>(before: &[String], path: &'a [String]) -> (usize, &'a [String]) {
    let scopes = &path[..path.len() - 1];
    let same = before.iter().zip(scopes).take_while(|(a, b)| a == b).count();
    (before.len() - same, &scopes[same..])
}

fn digits(value: u64, bits: u32) -> String {
    format!("{value:0width$b}", width = bits as usize)
}

/// A VCD file; a cycle is a nanosecond.
#[derive(Debug)]
pub struct Vcd<W> {
    out: W,
    bits: Vec<u32>,
}

impl<W: Write> Vcd<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// If the file cannot be written to.
    pub fn new(mut out: W, signals: &[Signal]) -> io::Result<Vcd<W>> {
        writeln!(out, "$version wave-sim $end\n$timescale 1 ns $end")?;
        let mut scopes: Vec<String> = Vec::new();
        for (n, signal) in signals.iter().enumerate() {
            let (leave, enter) = steps(&scopes, &signal.path);
            for _ in 0..leave {
                scopes.pop();
                writeln!(out, "$upscope $end")?;
            }
            for scope in enter {
                scopes.push(scope.clone());
                writeln!(out, "$scope module {scope} $end")?;
            }
            let name = signal.path.last().expect("a signal has a name");
            writeln!(out, "$var wire {} {} {name} $end", signal.bits, code(n))?;
        }
        for _ in scopes {
            writeln!(out, "$upscope $end")?;
        }
        writeln!(out, "$enddefinitions $end")?;
        Ok(Vcd { out, bits: signals.iter().map(|signal| signal.bits).collect() })
    }
}

/// Short name of a signal in the file.
fn code(mut n: usize) -> String {
    let mut text = String::new();
    loop {
        text.push(char::from(b'!' + (n % 94) as u8));
        n /= 94;
        if n == 0 {
            return text;
        }
        n -= 1;
    }
}

impl<W: Write> Waveform for Vcd<W> {
    fn time(&mut self, cycle: Cycle) -> io::Result<()> {
        writeln!(self.out, "#{cycle}")
    }

    fn change(&mut self, signal: usize, value: u64) -> io::Result<()> {
        match self.bits[signal] {
            1 => writeln!(self.out, "{}{}", value & 1, code(signal)),
            bits => writeln!(self.out, "b{} {}", digits(value, bits), code(signal)),
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Bytes of changes that are gathered before compression.
const FST_SECTION: usize = 16 << 20;

/// An FST file; a cycle is a nanosecond.
pub struct Fst {
    body: Option<FstBodyWriter<BufWriter<File>>>,
    signals: Vec<(FstSignalId, u32)>,
}

fn io_error(error: FstWriteError) -> io::Error {
    match error {
        FstWriteError::Io(error) => error,
        other => io::Error::other(other),
    }
}

impl Fst {
    /// Writes the header.
    ///
    /// # Errors
    /// If the file cannot be written to.
    pub fn new(path: &Path, signals: &[Signal]) -> io::Result<Fst> {
        let info = FstInfo {
            start_time: 0,
            timescale_exponent: -9,
            version: "wave-sim".to_owned(),
            date: String::new(),
            file_type: FstFileType::Verilog,
        };
        let mut header = open_fst(path, &info).map_err(io_error)?;
        let (mut scopes, mut ids): (Vec<String>, Vec<_>) = (Vec::new(), Vec::new());
        for signal in signals {
            let (leave, enter) = steps(&scopes, &signal.path);
            for _ in 0..leave {
                scopes.pop();
                header.up_scope().map_err(io_error)?;
            }
            for scope in enter {
                scopes.push(scope.clone());
                header.scope(scope, "", FstScopeType::Module).map_err(io_error)?;
            }
            let name = signal.path.last().expect("a signal has a name");
            let kind = FstSignalType::bit_vec(signal.bits);
            let id = header
                .var(name, kind, FstVarType::Wire, FstVarDirection::Implicit, None)
                .map_err(io_error)?;
            ids.push((id, signal.bits));
        }
        for _ in scopes {
            header.up_scope().map_err(io_error)?;
        }
        Ok(Fst { body: Some(header.finish().map_err(io_error)?), signals: ids })
    }
}

impl Waveform for Fst {
    fn time(&mut self, cycle: Cycle) -> io::Result<()> {
        let Some(body) = &mut self.body else { return Ok(()) };
        if body.size() > FST_SECTION {
            body.flush().map_err(io_error)?;
        }
        body.time_change(cycle).map_err(io_error)
    }

    fn change(&mut self, signal: usize, value: u64) -> io::Result<()> {
        let Some(body) = &mut self.body else { return Ok(()) };
        let (id, bits) = self.signals[signal];
        body.signal_change(id, digits(value, bits).as_bytes()).map_err(io_error)
    }

    fn finish(&mut self) -> io::Result<()> {
        match self.body.take() {
            Some(body) => body.finish().map_err(io_error)?.flush(),
            None => Ok(()),
        }
    }
}
