//! The PTX of small kernels, as text.

use wave_ptx::{Options, translate};
use wave_testing::golden;

#[test]
fn small_kernels_become_these_texts() {
    let folder = "sim/ptx/tests/golden";
    let names = golden::cases(folder, &[]);
    assert!(names.len() >= 4, "{names:?}");
    for name in names {
        let file = format!("{folder}/{name}.wave");
        let text = std::fs::read_to_string(golden::root().join(&file)).expect("a file");
        let (program, _) =
            wave_isa::program::assemble(&text, &file).unwrap_or_else(|errors| panic!("{errors:?}"));
        let mut options = Options { aligned: true, ..Options::default() };
        options.check_bounds = text.contains("; --check-bounds");
        let ptx = translate(&program, &[0], &options).expect("it has an equivalent");
        golden::check(&format!("{folder}/{name}.txt"), &ptx);
    }
}
