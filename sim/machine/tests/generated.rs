//! Generated documents in the repository are current. `UPDATE=1 cargo test --test generated`
//! writes them.

use wave_testing::golden;

/// A generated file and the function that makes its text.
struct Generated {
    /// Path from the root of the repository.
    path: &'static str,
    text: fn() -> String,
}

const GENERATED: &[Generated] = &[
    Generated { path: "docs/isa.md", text: wave_isa::manual::markdown },
    Generated { path: "rtl-tests/rtl/wave_isa_pkg.sv", text: wave_isa::package::system_verilog },
    Generated { path: "rtl-tests/rtl/units/sfu_rom_pkg.sv", text: wave_machine::alu::sfu::system_verilog },
];

#[test]
fn generated_files_are_current() {
    for file in GENERATED {
        golden::check(file.path, &(file.text)());
    }
}
