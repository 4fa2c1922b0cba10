//! The core with altered output. Other kinds of broken cores are in `sim/cli/tests/cli/cosim.rs`.

use crate::bench::{Case, core};
use crate::directed::kernel;
use std::os::unix::fs::PermissionsExt;
use wave_verify::rtl::{Disagreement, Mode};

const KERNEL: &str = "mov_sr r2, sr_lane_id\nlocal_store_u32 r2, r2\nlocal_load_u32 r3, r2\niadd r4, r3, r3\n\
                      device_store_u32 r2, r4";

/// Runs the core through a shell filter, in which `$CORE` is the core.
fn through(filter: &str, mode: Mode) -> Option<Result<(), Disagreement>> {
    let core = core()?;
    let directory = tempfile::tempdir().expect("a folder");
    let script = directory.path().join("core.sh");
    std::fs::write(&script, format!("#!/bin/sh\nCORE='{}'\n{filter}\n", core.display())).expect("a file");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    let case = Case::of(&kernel(KERNEL), 8);
    Some(case.run_on(&script, mode).map(drop))
}

#[test]
fn output_that_is_tampered_with_is_reported() {
    for mode in [Mode::Cycle, Mode::Architectural] {
        let Some(plain) = through("\"$CORE\" \"$@\"", mode) else { return };
        assert_eq!(plain, Ok(()));
        for (filter, message) in [
            // The output is cut within the records, then within the final memory.
            ("\"$CORE\" \"$@\" | head -c 501", "a record is cut off"),
            ("\"$CORE\" \"$@\" | head -c -10", "its memory is cut off"),
            ("\"$CORE\" \"$@\" | head -c 0", "ended without an end of its trace"),
            ("\"$CORE\" \"$@\"; echo and another thing", "it goes on behind its end"),
            ("\"$CORE\" \"$@\"; \"$CORE\" \"$@\"", "it goes on behind its end"),
        ] {
            match through(filter, mode) {
                Some(Err(Disagreement::Broken(report))) => {
                    assert!(report.contains(message), "{filter}: {report}");
                    let first = report.lines().nth(1).unwrap_or_default();
                    assert!(first.contains("last records") || first.contains("nothing agreed"), "{report}");
                }
                other => panic!("{filter}, {mode:?}: {other:?}"),
            }
        }
    }
}

/// A stream with a missing or repeated record differs at that record.
#[test]
fn a_record_too_few_or_too_many_differs() {
    for filter in [
        // The record of the first packet, which asks for code, has 17 words.
        "\"$CORE\" \"$@\" | tail -c +69",
        "\"$CORE\" \"$@\" >out; head -c 68 out; cat out",
    ] {
        let filter = format!("cd \"$(mktemp -d)\"; {filter}");
        match through(&filter, Mode::Cycle) {
            None => return,
            Some(Err(Disagreement::Differs { stage: "packet", .. })) => {}
            Some(other) => panic!("{filter}: {other:?}"),
        }
    }
}
