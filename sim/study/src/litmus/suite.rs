//! The built-in litmus tests.

/// A litmus file.
#[derive(Debug)]
pub struct Builtin {
    /// Name of the test.
    pub name: &'static str,
    /// The file.
    pub text: &'static str,
}

macro_rules! builtins {
    ($($name:literal)*) => {
        &[$(Builtin { name: $name, text: include_str!(concat!("../../../litmus/", $name, ".litmus")) },)*]
    };
}

/// In order: coherence of one location; two, three and four threads; locks and barriers.
pub static SUITE: &[Builtin] = builtins! {
    "CoRR"
    "CoWR"
    "CoRW1"
    "CoRW2"
    "CoWW"
    "CoRR-hints"
    "MP"
    "MP-chain"
    "MP-local"
    "MP-barrier"
    "SB"
    "SB-rmw"
    "LB"
    "LB-data"
    "R"
    "S"
    "2+2W"
    "WRC"
    "WWC"
    "RWC"
    "ISA2"
    "Z6"
    "IRIW"
    "ADD"
    "CAS"
    "CAS-fails"
    "LOCK"
    "BARRIER"
    "BARRIER-release"
};

/// The test with this name; case does not matter.
pub fn builtin(name: &str) -> Option<&'static Builtin> {
    SUITE.iter().find(|b| b.name.eq_ignore_ascii_case(name))
}
