//! The device library: functions that the compilers of CUDA and OpenCL call and do not define.
//!
//! The C library has most of them; `scripts/build-device-library.sh` makes PTX of it. The functions that a module needs are
//! put after its text.

use super::table::Meaning;
use super::tree::{OperandKind, Tree};
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// The text of the library.
const TEXT: &str = include_str!("library/device.ptx");

/// The variable with what threads have printed.
pub(super) const OUTPUT: &str = "__wave_print_output";

/// The prefix that a function of the library has, and that a compiler may leave out.
const PREFIX: &str = "__nv_";

/// A function or a table of the library.
struct Piece {
    text: &'static str,
    /// Names in its text of other pieces.
    needs: Vec<&'static str>,
}

static PIECES: LazyLock<HashMap<&'static str, Piece>> = LazyLock::new(|| {
    let mut texts: HashMap<&'static str, &'static str> = HashMap::new();
    let mut start = 0;
    let mut rest = TEXT.split_inclusive('\n');
    while let Some(line) = rest.next() {
        let begin = start;
        start += line.len();
        if line.starts_with(".func") {
            for line in rest.by_ref() {
                start += line.len();
                if line.starts_with('}') {
                    break;
                }
            }
        } else if !line.starts_with(".global") {
            continue;
        }
        // A table's values follow its name. A function's name is the last of its line.
        let values =
            if line.starts_with(".func") { line.len() } else { line.find(['[', '=']).unwrap_or(line.len()) };
        let name = words(&line[..values]).next_back();
        texts.extend(name.map(|name| (name, &TEXT[begin..start])));
    }
    let pieces = texts.iter().map(|(&name, &text)| {
        let needs = words(text).filter(|word| *word != name && texts.contains_key(word)).collect();
        (name, Piece { text, needs })
    });
    pieces.collect()
});

/// The names in a text.
fn words(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| word.starts_with("__"))
}

/// The name in the library of a function that a module calls.
pub(super) fn named(name: &str) -> Option<&'static str> {
    let with_prefix = || PIECES.get_key_value(format!("{PREFIX}{name}").as_str());
    PIECES.get_key_value(name).or_else(with_prefix).map(|(&name, _)| name)
}

/// The text of the functions of the library that a module calls and does not define; empty if there is none.
pub(super) fn needed(tree: &Tree) -> String {
    let defined: HashSet<&str> =
        tree.functions.iter().filter(|one| one.body.is_some()).map(|one| one.name.as_str()).collect();
    let statements =
        tree.functions.iter().filter_map(|one| one.body.as_ref()).flat_map(|body| &body.statements);
    let calls = statements.filter(|statement| statement.row.meaning == Meaning::Call);
    let names = calls.flat_map(|call| &call.operands).filter_map(|operand| match &operand.kind {
        OperandKind::Name(name) if !defined.contains(name.as_str()) => named(name),
        _ => None,
    });
    let mut work: Vec<&str> = names.collect();
    let mut taken = HashSet::new();
    while let Some(name) = work.pop() {
        if !defined.contains(name) && taken.insert(name) {
            work.extend(&PIECES[name].needs);
        }
    }
    // Tables come before the functions that name them.
    let mut names: Vec<&str> = taken.into_iter().collect();
    names.sort_by_key(|name| (PIECES[name].text.starts_with(".func"), *name));
    names.into_iter().map(|name| PIECES[name].text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_read_whole_and_its_functions_need_one_another() {
        let functions = TEXT.lines().filter(|line| line.starts_with(".func")).count();
        let tables = TEXT.lines().filter(|line| line.starts_with(".global")).count();
        assert_eq!((PIECES.len(), functions > 100, tables > 0), (functions + tables, true, true));
        assert_eq!(named("expf"), Some("__nv_expf"));
        assert_eq!(named("__nv_pow"), Some("__nv_pow"));
        assert_eq!(named("vprintf"), Some("__nv_vprintf"));
        assert!(PIECES.contains_key(OUTPUT));
        assert_eq!(named("malloc"), None);
        let all = PIECES.values().flat_map(|piece| &piece.needs);
        assert!(all.clone().count() > 3 && all.clone().all(|name| PIECES.contains_key(name)));
    }

    #[test]
    fn every_function_is_parsed_and_calls_functions_that_are_there() {
        let tree = super::super::parse::parse(&TEXT[TEXT.find(".version").unwrap()..]).unwrap();
        assert!(tree.functions.iter().all(|one| one.wrong.is_none() && one.body.is_some()));
        assert_eq!(needed(&tree), "");
    }
}
