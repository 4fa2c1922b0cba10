//! Files for viewers, made from the records of a run: Konata, Perfetto and waveforms.

pub mod kanata;
pub mod perfetto;
pub mod signals;
pub(crate) mod timeline;
pub mod waves;
