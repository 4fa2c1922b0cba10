//! The page `docs/terms.md`.

use super::{CODE, MODELS, TERMS, Term};
use std::fmt::Write;

const HEAD: &str = "\
# Terms

<!-- Written by `UPDATE=1 cargo test -p wave-sim --test cli`; do not edit. -->

GPU models have different words for the same things. The first column of each table has the word that wave-sim, its
manuals and its messages use. `wave-sim config explain WORD` knows all words of the first table, such as
`wave-sim config explain warp`. An unknown flag or parameter with a name of another model gets a hint:

    wave-sim saxpy --set warp_size=16          # here: `core.wave_width`
    wave-sim kernel.wave --block-size 256      # here: `--workgroup`

`local memory` is a trap: OpenCL and wave-sim mean the memory of a workgroup, CUDA means that of a thread.
";

const OWN: &str = "\
## Parameters, flags and statistics

The [configuration](configuration.md), the [command line](command-line.md) and the [statistics](statistics.md) have
these for the words above.
";

const IN_CODE: &str = "\
## In a kernel

The first column is [C with `wave.h`](c.md). A kernel in [WGSL or SPIR-V](wgsl.md) runs as it is.
";

/// The page.
pub fn page() -> String {
    let mut text = HEAD.to_owned();
    text += "\n## Words\n\n";
    let models = MODELS.join(" | ");
    let rule = "---|".repeat(MODELS.len());
    _ = writeln!(text, "| here | {models} | what it is |\n|---|{rule}---|");
    for term in TERMS {
        let elsewhere = term.elsewhere.map(shown).join(" | ");
        _ = writeln!(text, "| **{}** | {elsewhere} | {} |", term.here, term.meaning);
    }
    _ = write!(text, "\n{OWN}\n| here | parameters | flags | statistics |\n|---|---|---|---|\n");
    for term in TERMS {
        let parts = [
            codes(term.keys.iter().map(|(key, _)| (*key).to_owned())),
            codes(term.flags.iter().map(|(flag, _)| format!("--{flag}"))),
            codes(term.statistics.iter().map(|&name| name.to_owned())),
        ];
        if has_any(term) {
            _ = writeln!(text, "| {} | {} |", term.here, parts.join(" | "));
        }
    }
    _ = writeln!(text, "\n{IN_CODE}\n| here | {models} |\n|---|{rule}");
    for code in CODE {
        _ = writeln!(text, "| {} | {} |", code.here, code.elsewhere.join(" | "));
    }
    text
}

fn has_any(term: &Term) -> bool {
    !(term.keys.is_empty() && term.flags.is_empty() && term.statistics.is_empty())
}

fn shown(names: &str) -> String {
    if names.is_empty() { "–".to_owned() } else { names.replace("__", "\\_\\_").replace('<', "\\<") }
}

fn codes(names: impl Iterator<Item = String>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
