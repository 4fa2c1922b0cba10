//! The machine without timing, held against the reference interpreter, the expected results of the suite, and the
//! machine with timing; and runs that begin without timing and go on with it.

mod handover;
mod suite;
