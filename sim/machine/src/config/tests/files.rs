//! Files: search order, rejected files, and bases.

use super::*;
use std::fs;
use std::path::Path;

fn path(dir: &tempfile::TempDir, name: &str) -> String {
    dir.path().join(name).display().to_string()
}

fn refused(path: &str) -> String {
    errors(load_with_warnings(path))
        .join("\n")
        .replace(Path::new(path).parent().unwrap().to_str().unwrap(), "DIR")
}

#[test]
fn a_file_goes_before_a_preset_and_takes_its_name_from_the_file() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(path(&dir, "tiny.ron"), "(cores: 3)").unwrap();
    let config = load(&path(&dir, "tiny.ron")).unwrap();
    assert_eq!((config.cores, config.core.wave_width), (3, 32));
    assert_eq!((config.name.as_str(), config.description.as_str()), ("tiny", ""));
}

#[test]
fn a_base_is_a_file_beside_or_a_preset_but_never_the_file_itself() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(path(&dir, "lab.ron"), "(base: \"tiny.ron\", cores: 3, core: (call_depth: 9))").unwrap();
    fs::write(path(&dir, "mine.ron"), "(base: \"lab.ron\", cores: 5)").unwrap();
    let config = load(&path(&dir, "mine.ron")).unwrap();
    assert_eq!((config.cores, config.core.call_depth, config.core.wave_width), (5, 9, 8));
    assert_eq!(config.core.units, load("tiny").unwrap().core.units);

    fs::write(path(&dir, "gpu.ron"), "(base: \"gpu.ron\", cores: 7)").unwrap();
    assert_eq!(load(&path(&dir, "gpu.ron")).unwrap().cores, 7);
}

#[test]
fn bases_in_a_circle_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(path(&dir, "a.ron"), "(base: \"b.ron\")").unwrap();
    fs::write(path(&dir, "b.ron"), "(\n    base: \"a.ron\",\n)").unwrap();
    let message = refused(&path(&dir, "a.ron"));
    assert!(message.contains("the bases go in a circle: `a.ron` → `b.ron` → `a.ron`"), "{message}");
    assert!(message.contains("DIR/b.ron:2:11"), "{message}");
    // What leads into a circle is not in it, and neither are the parts on the way.
    fs::write(path(&dir, "c.ron"), "(base: \"a.ron\", dram: (part: \"hbm2e.ron\"))").unwrap();
    let message = refused(&path(&dir, "c.ron"));
    assert!(message.contains("circle: `a.ron` → `b.ron` → `a.ron`\n"), "{message}");
}

#[test]
fn a_base_that_names_itself_is_told_so() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(path(&dir, "mine.ron"), "(\n    base: \"mine.ron\",\n)").unwrap();
    let message = refused(&path(&dir, "mine.ron"));
    assert!(
        message.starts_with("error: `DIR/mine.ron` names itself as its base\n --> DIR/mine.ron:2:11"),
        "{message}"
    );
    assert!(
        message.ends_with("help: name another file or a preset; without `base` it is gpu.ron"),
        "{message}"
    );
    assert!(!message.contains("there is"), "{message}");
}

#[test]
fn what_is_wrong_in_a_base_is_shown_there() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(path(&dir, "lab.ron"), "(\n    core: (wave_width: 24),\n    cors: 1)").unwrap();
    fs::write(path(&dir, "mine.ron"), "(base: \"lab.ron\", cores: 5)").unwrap();
    let message = refused(&path(&dir, "mine.ron"));
    assert!(message.contains("DIR/lab.ron:2:24") && message.contains("DIR/lab.ron:3:5"), "{message}");
}

#[test]
fn what_is_no_text_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(path(&dir, "binary.ron"), [0x57, 0x41, 0x56, 0x45, 0xff, 0xfe, 0, 1]).unwrap();
    assert_eq!(
        refused(&path(&dir, "binary.ron")),
        "error: cannot read the configuration `DIR/binary.ron`: it is not UTF-8 text (byte 4)"
    );
    fs::write(path(&dir, "zeros.ron"), [0; 64]).unwrap();
    assert_eq!(
        refused(&path(&dir, "zeros.ron")),
        "error: cannot read the configuration `DIR/zeros.ron`: it is not text (byte 0 is 0)"
    );
    fs::write(path(&dir, "long.ron"), vec![b' '; (1 << 20) + 1]).unwrap();
    assert_eq!(
        refused(&path(&dir, "long.ron")),
        "error: cannot read the configuration `DIR/long.ron`: it is longer than 1 MiB"
    );
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_do_no_harm() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(path(&dir, "windows.ron"), "\u{feff}(\r\n    cores: 3,\r\n)\r\n").unwrap();
    assert_eq!(load(&path(&dir, "windows.ron")).unwrap().cores, 3);
    fs::write(path(&dir, "wrong.ron"), "(\r\n    cores: 0,\r\n)\r\n").unwrap();
    assert!(refused(&path(&dir, "wrong.ron")).contains("2 |     cores: 0,\n"));
}

#[test]
fn deep_nesting_ends_in_a_message() {
    for text in ["(core: ", "[", "(", "Some(", "((core: (units: [", "/*", "{", "(core: (l1: Some("] {
        let found = errors(from_text("deep.ron", &text.repeat(100_000)));
        assert_eq!(found.len(), 1, "{text}");
    }
}
