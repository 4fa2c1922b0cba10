//! The manual of the instruction set: the prose of `manual.md`, with tables derived from the opcode table.

use super::operand::{Operand, Role};
use super::table::{OpInfo, TABLE};
use super::{ExecClass, MAX_REGISTERS, MAX_WAVE_WIDTH, MMA_DIM, MMA_FRAGMENTS, PREDICATES, Scope, Special};
use std::fmt::Write;

const PROSE: &str = include_str!("manual.md");

/// The whole manual as Markdown: what `docs/isa.md` contains.
///
/// # Panics
/// If the prose names a placeholder that does not exist, which is a mistake in this crate.
pub fn markdown() -> String {
    let mut text = String::new();
    let mut rest = PROSE;
    while let Some((before, after)) = rest.split_once("{{") {
        text.push_str(before);
        let (name, after) = after.split_once("}}").expect("a placeholder ends on its line");
        text.push_str(&placeholder(name));
        rest = after;
    }
    text.push_str(rest);
    text
}

fn placeholder(name: &str) -> String {
    match name {
        "max_wave_width" => MAX_WAVE_WIDTH.to_string(),
        "max_registers" => MAX_REGISTERS.to_string(),
        "predicates" => PREDICATES.to_string(),
        "last_predicate" => (PREDICATES - 1).to_string(),
        "mma_fragments" => MMA_FRAGMENTS.to_string(),
        "mma_dim" => MMA_DIM.to_string(),
        "special_registers" => names(Special::ALL.iter().map(|s| (*s as u8, s.name(), s.meaning()))),
        "scopes" => names(Scope::ALL.iter().map(|s| (*s as u8, s.name(), s.meaning()))),
        "unguarded" => mnemonics(|i| i.op.rejects_guard()),
        "f64" => mnemonics(|i| i.op.needs_f64()),
        "mma" => mnemonics(|i| i.op.needs_mma()),
        "classes" => classes(),
        _ => match name.split(' ').collect::<Vec<_>>().as_slice() {
            ["table", first, last] => {
                let opcode = |text| u8::from_str_radix(text, 16).expect("an opcode in hexadecimal");
                table(opcode(first), opcode(last))
            }
            _ => panic!("the manual has no placeholder `{name}`"),
        },
    }
}

/// The rows of opcodes `first` to `last`.
fn table(first: u8, last: u8) -> String {
    let mut text = "| op.m | assembly | fields | W | class | meaning |\n|---|---|---|---|---|---|".to_owned();
    for info in TABLE.iter().filter(|i| (first..=last).contains(&i.opcode)) {
        let fields: Vec<String> = info.operands.iter().map(field).collect();
        _ = write!(
            text,
            "\n| {:02X}.{} | `{}` | {} | {} | {:?} | {} |",
            info.opcode,
            info.modifier,
            info.syntax(),
            fields.join(" "),
            info.words(),
            info.class,
            info.meaning.replace('|', "\\|"),
        );
    }
    text
}

/// Where an operand is encoded.
fn field(operand: &Operand) -> String {
    let field = format!("{:?}", operand.field).to_lowercase();
    match operand.role {
        Role::DstBallot => format!("{field} (×2 if W = 64)"),
        _ if operand.rows() > 1 => format!("{field}×{}", operand.rows()),
        _ => field,
    }
}

fn names(names: impl Iterator<Item = (u8, &'static str, &'static str)>) -> String {
    let rows = names.map(|(code, name, meaning)| format!("\n| {code} | `{name}` | {meaning} |"));
    format!("| number | name | meaning |\n|---|---|---|{}", rows.collect::<String>())
}

/// Mnemonics of the rows that satisfy `which`, without those that differ only in their cache hint.
fn mnemonics(which: impl Fn(&OpInfo) -> bool) -> String {
    let rows = TABLE.iter().filter(|i| which(i) && !i.mnemonic.contains('.'));
    rows.map(|i| format!("`{}`", i.mnemonic)).collect::<Vec<_>>().join(", ")
}

fn classes() -> String {
    let rows = ExecClass::ALL.iter().map(|c| format!("\n| {c:?} | {} |", mnemonics(|i| i.class == *c)));
    format!("| class | instructions |\n|---|---|{}", rows.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_opcode_table_is_listed_once() {
        let text = markdown();
        for info in TABLE {
            let row = format!("| {:02X}.{} | `{}` |", info.opcode, info.modifier, info.syntax());
            assert_eq!(text.matches(&row).count(), 1, "{row}");
        }
    }
}
