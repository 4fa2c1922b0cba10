//! `--by-buffer`: tables and JSON of the accesses of each buffer.

use super::scratch::{ADD, Scratch};
use serde_json::Value;

fn json(scratch: &Scratch, arguments: &str) -> Value {
    serde_json::from_str(&scratch.out(&format!("{arguments} --by-buffer --format json"))).unwrap()
}

/// The object of a buffer in a list.
fn buffer<'v>(list: &'v Value, name: &str) -> &'v Value {
    let found = list.as_array().unwrap().iter().find(|row| row["buffer"] == name);
    found.unwrap_or_else(|| panic!("{name} in {list}"))
}

#[test]
fn buffers_of_a_launch_file_have_their_names() {
    let scratch = Scratch::new();
    let text = scratch.out("vector_add --size small --config tiny --by-buffer");
    assert!(text.contains("\nby buffer\n") && text.contains("\nmisses by buffer\n"), "{text}");
    let run = &json(&scratch, "vector_add --size small --config tiny")["runs"][0];
    let total = &run["total"]["statistics"];
    let rows = run["by_buffer"].as_array().unwrap();
    assert!(rows.len() >= 4, "{rows:?}");
    for (part, counter, statistic) in [
        ("l1", "loads", "l1.loads"),
        ("l1", "stores", "l1.stores"),
        ("l1", "misses", "l1.misses"),
        ("l2", "hits", "l2.hits"),
        ("l2", "misses", "l2.misses"),
        ("dram", "read_bytes", "dram.read_bytes"),
        ("dram", "written_bytes", "dram.written_bytes"),
    ] {
        let sum: u64 = rows.iter().map(|row| row[part][counter].as_u64().unwrap()).sum();
        assert_eq!(total[statistic], sum, "{statistic}");
    }
    assert_eq!(run["launches"][0]["by_buffer"], run["by_buffer"], "there is one launch");
    assert!(rows.iter().all(|row| text.contains(row["buffer"].as_str().unwrap())), "{text}");
}

#[test]
fn launches_have_tables_of_their_own() {
    let scratch = Scratch::new();
    let run = &json(&scratch, "bfs --size small --config tiny")["runs"][0];
    let launches = run["launches"].as_array().unwrap();
    assert!(launches.len() > 1);
    for row in run["by_buffer"].as_array().unwrap() {
        let of = |launch: &Value| {
            let rows = launch["by_buffer"].as_array().unwrap().iter();
            rows.filter(|other| other["buffer"] == row["buffer"])
                .map(|row| row["l1"]["loads"].as_u64().unwrap())
                .sum::<u64>()
        };
        assert_eq!(row["l1"]["loads"], launches.iter().map(of).sum::<u64>(), "{row}");
    }
    let text = scratch.out("bfs --size small --config tiny --by-buffer");
    assert!(text.contains("\nmisses by launch\n"), "{text}");
}

#[test]
fn memory_without_a_name_is_other() {
    let scratch = Scratch::with(&[("add.wave", ADD)]);
    let run = &json(&scratch, "add.wave --config tiny --set-reg 1:4096")["runs"][0];
    let other = buffer(&run["by_buffer"], "(other)");
    assert_eq!((&other["loads"], &other["stores"], &other["address"]), (&2.into(), &2.into(), &Value::Null));
    assert_eq!(buffer(&run["by_buffer"], "(code)")["loads"], 0);
    assert!(json(&scratch, "add.wave --config tiny").to_string().contains("by_buffer"));
    assert!(!scratch.out("add.wave --config tiny --format json").contains("by_buffer"));
}

#[test]
fn it_changes_nothing_else_and_threads_change_nothing() {
    let scratch = Scratch::new();
    let run = "histogram --size small --config gpu";
    let (alone, with) = (scratch.out(run), scratch.out(&format!("{run} --by-buffer --threads 1")));
    let body = alone.split("PERF:").next().unwrap();
    assert!(with.starts_with(body), "{with}");
    assert_eq!(with, scratch.out(&format!("{run} --by-buffer --threads 4")));
    let all = scratch.out(&format!("{run} --by-buffer --check-races"));
    let tables = &with[with.find("\nby buffer\n").unwrap()..];
    assert!(all.ends_with(tables), "{all}");
}

#[test]
fn it_needs_timing_and_no_checkpoint() {
    let scratch = Scratch::new();
    for flags in ["--functional", "--checkpoint c.bin --checkpoint-every 100"] {
        let ran = scratch.run(&format!("vector_add --size small --config tiny --by-buffer {flags}"));
        assert_eq!(ran.code, 2, "{flags}");
        assert!(ran.err.contains("--by-buffer"), "{}", ran.err);
    }
}
