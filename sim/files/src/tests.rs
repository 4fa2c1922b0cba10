//! Tests of the crate. What processes do to each other's files is tested with the whole program.

use super::*;
use crate::output::{Target, target, write, write_durably};
use crate::read::{self, Unreadable};
use crate::temporary::{TemporaryFile, TemporaryFolder, is_temporary};
use std::fs;
use std::io::Write;
use tempfile::TempDir;

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_file_is_replaced_as_a_whole_and_nothing_else_stays() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("a");
    for (bytes, durably) in [(&b"one"[..], false), (b"two and more", true), (b"", false)] {
        if durably { write_durably(&file, bytes) } else { write(&file, bytes) }.unwrap();
        assert_eq!(fs::read(&file).unwrap(), bytes);
        assert_eq!(names(folder.path()), ["a"]);
    }
    let new = TemporaryFile::in_folder(folder.path()).unwrap();
    assert_eq!(new.persist_new(&file).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(names(folder.path()), ["a"]);
    assert_eq!(write(folder.path(), b"x").unwrap_err().to_string(), "it is a directory");
    assert!(write(&folder.path().join("no/b"), b"x").is_err());
}

#[test]
fn a_folder_is_replaced_as_a_whole() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("f");
    for name in ["one", "two"] {
        let new = TemporaryFolder::in_folder(folder.path()).unwrap();
        fs::write(new.path().join(name), name).unwrap();
        new.persist(&path).unwrap();
        assert_eq!(names(&path), [name]);
        assert_eq!(names(folder.path()), ["f"]);
    }
    drop(TemporaryFolder::in_folder(folder.path()).unwrap());
    assert_eq!(names(folder.path()), ["f"]);
}

#[test]
fn names_of_others_are_not_temporary() {
    let folder = TempDir::new().unwrap();
    let file = TemporaryFile::in_folder(folder.path()).unwrap();
    assert!(is_temporary(&file.path().file_name().unwrap().to_string_lossy()));
    for name in [
        ".wave-sim-.partial",
        ".wave-sim-notes.partial",
        "a.partial",
        ".tmpabcdef",
        "wave-sim-abcdefghijkl.partial",
    ] {
        assert!(!is_temporary(name), "{name}");
    }
}

#[test]
fn a_file_that_is_too_long_is_refused() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("a");
    fs::write(&file, "12345").unwrap();
    assert_eq!(read::bytes(&file, 5).unwrap(), b"12345");
    assert_eq!(read::bytes(&file, 4).unwrap_err().to_string(), "it is longer than 4 bytes");
    assert_eq!(read::regular(&file, 4).unwrap_err().to_string(), "it is longer than 4 bytes");
    fs::write(&file, [b'a', 0xFF]).unwrap();
    assert!(matches!(read::text(&file, 5), Err(Unreadable::NotText(1))));
    assert!(read::bytes(&folder.path().join("b"), 5).unwrap_err().is_missing());
    assert!(read::bytes(folder.path(), 5).is_err());
    // Its length is known before it is read.
    fs::File::create(&file).unwrap().set_len(1 << 40).unwrap();
    assert_eq!(read::bytes(&file, 1 << 20).unwrap_err().to_string(), "it is longer than 1 MiB");
}

#[test]
fn a_file_that_says_its_length_is_read_up_to_it() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("a");
    fs::write(&file, "5 abc and more").unwrap();
    let sized = |most, length: Option<u64>| {
        read::sized(&file, most, 2, |head| {
            assert_eq!(head, b"5 ");
            length
        })
    };
    assert_eq!(sized(100, Some(5)).unwrap(), b"5 abc ");
    assert_eq!(sized(100, Some(50)).unwrap(), b"5 abc and more");
    assert_eq!(sized(100, None).unwrap(), b"5 ");
    assert!(matches!(sized(4, Some(5)), Err(Unreadable::Long(4))));
}

#[test]
fn lines_have_a_limit() {
    let text = format!("one\r\n\ntwo {}\nrest", "x".repeat(100));
    let lines: Vec<String> = read::lines(text.as_bytes()).collect::<Result<_, _>>().unwrap();
    assert_eq!(lines, text.lines().collect::<Vec<_>>());
    let mut endless = read::lines(io::BufReader::new(io::repeat(b'x')));
    assert!(endless.next().unwrap().is_err());
    assert!(endless.next().is_none());
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::process::Command;

    #[test]
    fn an_output_goes_through_links() {
        let folder = TempDir::new().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("deep")).unwrap();
        symlink("deep/b", at("a")).unwrap();
        symlink("../c", at("deep/b")).unwrap();
        for bytes in [b"new", b"old"] {
            write(&at("a"), bytes).unwrap();
            assert_eq!(fs::read(at("c")).unwrap(), bytes);
            assert!(at("a").is_symlink() && at("deep/b").is_symlink());
        }
        assert_eq!(
            (names(folder.path()), names(&at("deep"))),
            (vec!["a".into(), "c".into(), "deep".into()], vec!["b".into()])
        );
        symlink("loop", at("loop")).unwrap();
        assert!(write(&at("loop"), b"x").is_err());
        symlink("no/x", at("nowhere")).unwrap();
        assert!(write(&at("nowhere"), b"x").is_err());
    }

    #[test]
    fn standard_output_and_devices_are_written_directly() {
        for path in ["/dev/stdout", "/dev/fd/1", "/dev/null"] {
            assert_eq!(target(Path::new(path)).unwrap(), Target::Open(path.into()));
        }
        write(Path::new("/dev/null"), b"x").unwrap();
        assert!(write_durably(Path::new("/dev/null"), b"x").is_err());
    }

    /// Locks are those of open files, so a second handle is as good as another process.
    #[test]
    fn leftovers_are_collected_and_nothing_else() {
        let folder = TempDir::new().unwrap();
        let at = |name: &str| folder.path().join(name);
        let [left, kept, pipe, link] =
            ["left", "kept", "pipe", "link"].map(|name| format!(".wave-sim-{name}00000000.partial"));
        fs::write(at("victim"), "v").unwrap();
        fs::write(at(&left), "x").unwrap();
        fs::create_dir(at(&left.replace("left", "dirs"))).unwrap();
        fs::write(at(&left.replace("left", "dirs")).join("in"), "x").unwrap();
        fs::write(at(&kept), "x").unwrap();
        let held = fs::File::open(at(&kept)).unwrap();
        held.try_lock().unwrap();
        assert!(Command::new("mkfifo").arg(at(&pipe)).status().unwrap().success());
        symlink("victim", at(&link)).unwrap();
        fs::write(at(".wave-sim-mine.partial"), "x").unwrap();
        let new = TemporaryFile::in_folder(folder.path()).unwrap();
        let own = new.path().file_name().unwrap().to_string_lossy().into_owned();
        let mut expected = vec![kept, pipe, link, own, ".wave-sim-mine.partial".into(), "victim".into()];
        expected.sort();
        assert_eq!(names(folder.path()), expected);
    }

    #[test]
    fn devices_without_an_end_are_refused_and_others_are_read() {
        for path in ["/dev/zero", "/dev/urandom"] {
            // Also where a file could be no longer than a device.
            for most in [u64::MAX, 1 << 20, 9] {
                let why = read::bytes(Path::new(path), most).unwrap_err();
                assert_eq!(why.to_string(), "it is a device, not a file");
            }
        }
        assert_eq!(read::bytes(Path::new("/dev/null"), 9).unwrap(), b"");
        assert!(matches!(read::regular(Path::new("/dev/null"), 9), Err(Unreadable::Irregular)));
    }

    #[test]
    fn every_reader_of_a_pipe_sees_all_of_it() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        let writer = {
            let path = path.clone();
            std::thread::spawn(move || {
                fs::OpenOptions::new().write(true).open(path).unwrap().write_all(b"12345")
            })
        };
        assert!(matches!(read::bytes(&path, 3), Err(Unreadable::Long(3))));
        assert_eq!(read::bytes(&path, 5).unwrap(), b"12345");
        assert_eq!(read::text(&path, 9).unwrap(), "12345");
        writer.join().unwrap().unwrap();
    }
}
