//! The machine without timing, held against the reference interpreter, the expected results of the suite, and the
//! machine with timing.

mod suite;
