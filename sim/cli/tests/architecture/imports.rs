//! What the modules of a crate name of one another, read from the tokens of their sources.
//!
//! The files are found as the compiler finds them: from the root, by `mod name;`. What is under `#[cfg(test)]` is left out, wherever
//! it stands. Paths that begin with `crate`, `super` or `self` are followed, in `use` with braces too, in code and in macros.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// One path that a module names.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Import {
    /// Where: file and line.
    pub place: String,
    /// The module of the crate's root that names it.
    pub from: String,
    /// The item of the crate's root that it leads to; `*` for all of them.
    pub to: String,
}

/// What reading the sources found.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// Every path into another module of the crate's root, or into itself.
    pub imports: Vec<Import>,
    /// The files that were read, tests not among them.
    pub files: Vec<PathBuf>,
    /// Modules of the root.
    pub modules: BTreeSet<String>,
    /// What the root declares itself: constants.
    pub of_root: BTreeSet<String>,
    /// The modules of what the root re-exports.
    re_exports: BTreeMap<String, String>,
    /// The name of the root in its crate, if it is itself a module there.
    name: Option<String>,
}

impl Sources {
    /// Reads a crate from its root file on.
    pub(crate) fn of_crate(root: &Path) -> Sources {
        let mut sources = Sources::default();
        sources.root(&fs::read_to_string(root).unwrap_or_else(|error| panic!("{}: {error}", root.display())));
        let folder = root.parent().expect("a file has a folder").to_owned();
        sources.file(root, &folder, &[]);
        sources
    }

    /// Reads a module from its root file on, `folder/mod.rs`. Paths into it from the root of its crate count as its own; what
    /// else they lead to is no module of it.
    pub(crate) fn of_module(folder: &Path) -> Sources {
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
        let mut sources = Sources { name, ..Sources::default() };
        sources.file(&folder.join("mod.rs"), folder, &[]);
        sources
    }

    /// Reads what the root declares, line by line: `pub use a::{B, C};` and `pub const D`.
    fn root(&mut self, text: &str) {
        for line in text.lines() {
            if let Some((module, items)) =
                line.strip_prefix("pub use ").and_then(|rest| rest.split_once("::"))
            {
                let items = items.trim_matches(['{', '}', ';']).split(", ");
                self.re_exports.extend(items.map(|item| (item.to_owned(), module.to_owned())));
            } else if let Some((name, _)) =
                line.strip_prefix("pub const ").and_then(|rest| rest.split_once(':'))
            {
                self.of_root.insert(name.to_owned());
            }
        }
    }

    /// Reads a file, whose child modules are in `folder`.
    fn file(&mut self, file: &Path, folder: &Path, module: &[String]) {
        let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        self.files.push(file.to_owned());
        self.text(&text, file, folder, module);
    }

    /// Reads the text of a module.
    pub(crate) fn text(&mut self, text: &str, file: &Path, folder: &Path, module: &[String]) {
        let tokens: TokenStream = text.parse().unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        self.tokens(tokens, file, folder, module);
    }

    fn tokens(&mut self, tokens: TokenStream, file: &Path, folder: &Path, module: &[String]) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            let rest = &tokens[at..];
            if is_for_tests(rest) {
                at += item_length(rest);
                continue;
            }
            if let [TokenTree::Ident(word), TokenTree::Ident(name), end, ..] = rest
                && word == "mod"
            {
                let child: Vec<String> = module.iter().cloned().chain([name.to_string()]).collect();
                let inside = folder.join(name.to_string());
                if module.is_empty() {
                    self.modules.insert(name.to_string());
                }
                match end {
                    TokenTree::Group(body) => self.tokens(body.stream(), file, &inside, &child),
                    _ => {
                        let [flat, nested] = [inside.with_extension("rs"), inside.join("mod.rs")];
                        self.file(if flat.exists() { &flat } else { &nested }, &inside, &child);
                    }
                }
                at += 3;
                continue;
            }
            match &rest[0] {
                TokenTree::Group(group) => self.tokens(group.stream(), file, folder, module),
                TokenTree::Ident(word) if separator(&rest[1..]) && !separates(&tokens[..at]) => {
                    // Relative to the root of the crate.
                    let start = match word.to_string().as_str() {
                        "crate" => Some(Vec::new()),
                        "self" => Some(module.to_vec()),
                        "super" => Some(outer(module, file).to_vec()),
                        _ => None,
                    };
                    if let Some(start) = start {
                        let place = format!("{}:{}", file.display(), word.span().start().line);
                        at += 2 + self.path(&rest[3..], start, &place, module);
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// The tokens behind `::`: a name, a group in braces, or `*`, from the path `start` on. Gives how many were read.
    fn path(&mut self, tokens: &[TokenTree], start: Vec<String>, place: &str, module: &[String]) -> usize {
        match tokens {
            [TokenTree::Ident(word), rest @ ..] if word == "super" && separator(rest) => {
                let start = outer(&start, Path::new(place)).to_vec();
                return 3 + self.path(&rest[2..], start, place, module);
            }
            [TokenTree::Ident(word), rest @ ..]
                if start.is_empty() && separator(rest) && self.name.as_deref() == Some(&word.to_string()) =>
            {
                return 3 + self.path(&rest[2..], start, place, module);
            }
            // `{self}` names what is before the braces.
            [TokenTree::Ident(word), ..] if word == "self" => self.import(start.first(), place, module),
            [TokenTree::Ident(word), ..] => {
                self.import(start.first().or(Some(&word.to_string())), place, module);
            }
            [TokenTree::Group(group), ..] if group.delimiter() == Delimiter::Brace => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(p) if p.as_char() == ',');
                for part in inner.split(is_comma).filter(|part| !part.is_empty()) {
                    self.path(part, start.clone(), place, module);
                }
            }
            _ => self.import(start.first().or(Some(&"*".to_owned())), place, module),
        }
        1
    }

    fn import(&mut self, to: Option<&String>, place: &str, module: &[String]) {
        // What the root itself declares and re-exports has no place in the order.
        let (Some(from), Some(to)) = (module.first(), to) else { return };
        let to = self.re_exports.get(to).unwrap_or(to).clone();
        self.imports.push(Import { place: place.to_owned(), from: from.clone(), to });
    }
}

/// The module around another one.
fn outer<'m>(module: &'m [String], file: &Path) -> &'m [String] {
    module.split_last().unwrap_or_else(|| panic!("{}: `super` of the root", file.display())).1
}

/// True if tokens begin with `::`.
fn separator(tokens: &[TokenTree]) -> bool {
    matches!(tokens, [TokenTree::Punct(a), TokenTree::Punct(b), ..] if a.as_char() == ':' && b.as_char() == ':')
}

/// True if tokens end with `::`, as before the later words of a path.
fn separates(tokens: &[TokenTree]) -> bool {
    tokens.len() >= 2 && separator(&tokens[tokens.len() - 2..])
}

/// True if tokens begin with `#[cfg(test)]`.
fn is_for_tests(tokens: &[TokenTree]) -> bool {
    match tokens {
        [TokenTree::Punct(hash), TokenTree::Group(attribute), ..] if hash.as_char() == '#' => {
            attribute.stream().to_string().replace(' ', "") == "cfg(test)"
        }
        _ => false,
    }
}

/// The tokens of an item with its attributes: up to its first braces or semicolon. Of an item that has more, the rest is read: that
/// finds too much, never too little.
fn item_length(tokens: &[TokenTree]) -> usize {
    let ends = |token: &TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(punct) => [';', ','].contains(&punct.as_char()),
        _ => false,
    };
    tokens.iter().position(ends).map_or(tokens.len(), |last| last + 1)
}
