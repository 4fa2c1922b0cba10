//! Each parameter of the memory hierarchy changes what its documentation says and nothing else. None changes
//! the results of kernels without races.

mod any_memory;
mod machine;
mod sweep;
mod table;
mod work;
