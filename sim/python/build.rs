//! Lets the linker leave the symbols of Python open, which the interpreter that loads the module has.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
