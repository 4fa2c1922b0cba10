//! What a module in a format other than WAVE holds.

use super::programs::entry;
use std::path::Path;
use wave_compile::ir::Module;
use wave_observe::numbers::counted;

/// The contents of a module, one line each.
pub(crate) fn summary(name: &Path, module: &Module) -> String {
    let count = |n: usize, what: &str| counted(n as u64, what);
    let blocks = module.functions.values().map(|function| function.blocks.len()).sum();
    let instructions = module
        .functions
        .values()
        .flat_map(|function| function.blocks.values())
        .map(|block| block.instructions.len() + 1)
        .sum();
    // Those without pages are as large as what a launch binds.
    let pages = module.memories.values().filter(|memory| memory.pages > 0);
    let pages: Vec<String> = pages.map(|memory| count(memory.pages as usize, "page")).collect();
    let exports: Vec<&str> = module.exports.iter().map(|(name, _)| name.as_str()).collect();
    let list = |items: String| if items.is_empty() { "none".to_owned() } else { items };
    let rows = [
        (
            "code",
            [
                count(module.functions.len(), "function"),
                count(blocks, "block"),
                count(instructions, "instruction"),
            ]
            .join(", "),
        ),
        ("memories", list(pages.join(", "))),
        ("globals", module.globals.len().to_string()),
        ("exports", list(exports.join(", "))),
    ];
    entry(&format!("module {}: nothing to remark", name.display()), rows)
}
