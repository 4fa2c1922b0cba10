use super::*;
#[test]
fn presets_load() {
    for p in PRESETS {
        load(p.file).unwrap_or_else(|e| {
            panic!("{}: {}", p.file, e.iter().map(|d| d.to_string()).collect::<Vec<_>>().join("\n"))
        });
    }
}
