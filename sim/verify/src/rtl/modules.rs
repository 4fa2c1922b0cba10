//! Which modules of the RTL make a step happen: where to look for the cause of a first difference.

/// Modules of `rtl-tests/rtl` whose work a stage shows, likely ones first, and the rules of docs/pipeline.md for them.
/// `stage` is that of a [`Disagreement::Differs`](super::Disagreement::Differs). `None` for others.
pub fn modules_of(stage: &str) -> Option<(&'static [&'static str], &'static str)> {
    Some(match stage {
        "fetch" => (&["fetch", "wave", "issue", "dispatcher", "workgroup"], "F1 to F6, R1, R2"),
        "decode" => (&["decode", "decoder", "fetch"], "D1, D2, F5, F6"),
        "issue" => (
            &["issue", "wave", "divergence", "workgroup", "releases", "special_registers"],
            "I1 to I6, B1 to B6",
        ),
        "operand read" => (&["collector", "register_file"], "I4, O1 to O3"),
        "execute" => (&["execute", "collector", "lsu"], "X1 to X4"),
        "access" => (&["lsu", "local_memory", "coalesce", "l1"], "L1 to L7"),
        "write-back" => (&["writeback", "execute", "lsu", "l1_responses", "local_memory"], "W1, W2, L3, L8"),
        "retire" => (
            &["units", "writeback", "register_file", "lsu", "l1", "local_memory", "coalesce"],
            "X2, W1, W2, L1 to L8",
        ),
        "packet" => {
            (&["memory_port", "l1", "l1_requests", "coalesce", "releases", "fetch"], "L4 to L8, B6, F4")
        }
        "end" => (&["divergence", "issue", "lsu", "workgroup", "dispatcher"], "B2 to B4, L1, R1, R3"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtl::{Step, directory};
    use std::collections::BTreeSet;
    use wave_machine::core::stage::Stage;

    #[test]
    fn every_step_has_modules_and_every_module_is_there_and_named() {
        let stages =
            [Stage::Fetch, Stage::Decode, Stage::Issue, Stage::Operands, Stage::Execute, Stage::Access];
        let stages = stages.into_iter().chain([Stage::WriteBack, Stage::Retire]).map(Step::Stage);
        let names = stages.chain([Step::Packet]).map(Step::name).chain(["end"]);
        let named: BTreeSet<&str> = names.flat_map(|name| modules_of(name).expect(name).0).copied().collect();
        for module in named {
            assert!(directory().join(format!("rtl/{module}.sv")).is_file(), "{module}");
        }
        assert_eq!(modules_of("nothing"), None);
    }
}
