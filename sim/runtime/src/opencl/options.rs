//! Options of builds: which there are, and the compiler's flags for them.

use std::path::Path;

/// Options that clang takes as they are.
const PASSED: [&str; 14] = [
    "-cl-single-precision-constant",
    "-cl-denorms-are-zero",
    "-cl-fp32-correctly-rounded-divide-sqrt",
    "-cl-opt-disable",
    "-cl-mad-enable",
    "-cl-no-signed-zeros",
    "-cl-unsafe-math-optimizations",
    "-cl-finite-math-only",
    "-cl-fast-relaxed-math",
    "-cl-kernel-arg-info",
    "-cl-std=CL1.0",
    "-cl-std=CL1.1",
    "-cl-std=CL1.2",
    "-Werror",
];

/// Options that change nothing here: lines of the source are always known.
const IGNORED: [&str; 1] = ["-g"];

/// Options of a link that change nothing in a program which is complete already.
const LINKED: [&str; 6] = [
    "-cl-denorms-are-zero",
    "-cl-no-signed-zeros",
    "-cl-unsafe-math-optimizations",
    "-cl-finite-math-only",
    "-cl-fast-relaxed-math",
    "-enable-link-options",
];

/// The option of a link that makes a library.
const LIBRARY: &str = "-create-library";

/// The words of a text: quotes and backslashes as in a shell.
fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if quote != Some('\'') => word.get_or_insert_default().extend(letters.next()),
            '"' | '\'' if quote.is_none() => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            _ if quote == Some(letter) => quote = None,
            _ if quote.is_none() && letter.is_whitespace() => found.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    found.extend(word);
    found
}

/// The compiler's flags for options, with folders as they are from anywhere; `None` if one is not known.
pub(super) fn flags(options: &str, folder: &Path) -> Option<Vec<String>> {
    let mut flags = Vec::new();
    let mut words = words(options).into_iter();
    while let Some(word) = words.next() {
        if PASSED.contains(&word.as_str()) || word == "-w" {
            flags.push(word);
        } else if let Some(rest) = word.strip_prefix("-D").or_else(|| word.strip_prefix("-U")) {
            let definition = if rest.is_empty() { words.next()? } else { rest.to_owned() };
            flags.push(format!("{}{definition}", &word[..2]));
        } else if let Some(rest) = word.strip_prefix("-I") {
            let path = if rest.is_empty() { words.next()? } else { rest.to_owned() };
            flags.push(format!("-I{}", folder.join(path).display()));
        } else if !IGNORED.contains(&word.as_str()) {
            return None;
        }
    }
    Some(flags)
}

/// Whether options of a link make a library; `None` if one is not known.
pub(super) fn makes_library(options: &str) -> Option<bool> {
    let words = words(options);
    let is_known = |word: &String| word == LIBRARY || LINKED.contains(&word.as_str());
    words.iter().all(is_known).then(|| words.iter().any(|word| word == LIBRARY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_become_flags() {
        let flags = |options| flags(options, Path::new("/here"));
        let expected =
            ["-DN=4", "-DM", "-I/here/inc", "-I/abs", "-cl-mad-enable", "-DS=a b"].map(str::to_owned);
        let options = " -D N=4 -DM\t-I inc -I/abs -g -cl-mad-enable '-DS=a b' ";
        assert_eq!(flags(options), Some(expected.to_vec()));
        assert_eq!(flags(r#"-DT=\"x\" -D"U=1 2""#), Some(vec!["-DT=\"x\"".to_owned(), "-DU=1 2".to_owned()]));
        assert_eq!(
            (flags(""), flags("-D"), flags("-cl-unknown"), flags("x.cl")),
            (Some(vec![]), None, None, None)
        );
        // Nothing but options of OpenCL reaches the compiler.
        assert_eq!((flags("-o /x"), flags("-Xclang -load"), flags("-cl-std=CL3.0")), (None, None, None));
    }

    #[test]
    fn a_link_has_its_own_options() {
        assert_eq!(makes_library(""), Some(false));
        assert_eq!(makes_library("-create-library -enable-link-options"), Some(true));
        assert_eq!(makes_library("-D N"), None);
    }
}
