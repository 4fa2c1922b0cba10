//! Tests of the parser and of what it refuses.
