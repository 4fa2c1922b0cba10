//! Placeholder until launch files are merged.
#![allow(missing_docs)]
use crate::config::Capabilities;
use crate::diagnostic::Diagnostic;
use crate::program::{Launch, Program};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size { Full, Small }

#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Mismatch { pub buffer: Option<String>, pub index: u64, pub expected: f64, pub got: f64 }

#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub enum Verification { Nothing, Passed { compared: u64 }, Failed { compared: u64, wrong: u64, first: Vec<Mismatch> } }
impl std::fmt::Display for Verification {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.write_str("nothing to verify") }
}
#[derive(Debug)]
pub struct Job { pub name: String, pub program: Program, pub memory: Vec<u8>, pub steps: Vec<Launch>, pub warnings: Vec<Diagnostic> }
impl Job {
    pub fn verify(&self, _: &[u8]) -> Verification { Verification::Nothing }
    pub fn missing(&self, _: &Capabilities) -> Vec<&'static str> { vec![] }
}
pub fn load_with_seed(_: &str, _: Size, _: Option<u64>) -> Result<Job, Vec<Diagnostic>> { Err(vec![Diagnostic::error("no launch files yet")]) }
pub fn load(n: &str, s: Size) -> Result<Job, Vec<Diagnostic>> { load_with_seed(n, s, None) }
pub fn suite() -> impl Iterator<Item = &'static str> { ["sgemm", "saxpy"].into_iter() }
