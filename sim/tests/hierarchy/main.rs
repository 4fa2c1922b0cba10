//! The parameters of the memory hierarchy: each changes what its documentation says and nothing else, and none the
//! results of kernels without races.

mod any_memory;
mod machine;
mod sweep;
mod table;
mod work;
