//! Each parameter of the memory hierarchy changes what its documentation says and nothing else. None changes
//! the results of kernels without races.

mod any_memory;
#[allow(dead_code, reason = "another test draws the core too")]
use wave_testing::drawn;
mod machine;
mod release;
mod sweep;
mod table;
mod work;
