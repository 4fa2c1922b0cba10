//! Programs that are made of several.

use super::Program;
use crate::{Inst, Op, WORD_BYTES};

/// Moves the targets of calls by so many bytes.
///
/// # Panics
/// If the words are no code that a compiler has made.
pub fn relocate(code: &mut [u32], bytes: u32) {
    let mut word = 0;
    while let Some(rest) = code.get(word..).filter(|rest| !rest.is_empty()) {
        let inst = Inst::decode(rest).expect("compilers make valid instructions");
        if inst.op == Op::Call {
            code[word + 1] += bytes;
        }
        word += inst.words() as usize;
    }
}

impl Program {
    /// Adds the code and the kernels of another program that a compiler has made, and returns the number of the first of
    /// them. What the other's module says of its data and its source stays with the other.
    pub fn append(&mut self, other: &Program) -> usize {
        let (first, first_kernel) = (self.code.len() as u32, self.kernels.len());
        let mut code = other.code.clone();
        relocate(&mut code, first * WORD_BYTES);
        self.code.extend(code);
        self.kernels.extend(other.kernels.iter().cloned().map(|mut kernel| {
            kernel.code = kernel.code.start + first..kernel.code.end + first;
            kernel
        }));
        let (module, added) = (self.module.get_or_insert_default(), other.module.as_ref());
        let widths = added.into_iter().flat_map(|module| &module.wave_widths);
        module.wave_widths.extend(widths.map(|&(kernel, lanes)| (kernel + first_kernel, lanes)));
        let traps = added.into_iter().flat_map(|module| &module.traps);
        module.traps.extend(traps.map(|(word, trap)| (word + first, trap.clone())));
        let functions = added.into_iter().flat_map(|module| &module.functions);
        module.functions.extend(functions.map(|(word, name)| (word + first, name.clone())));
        module.offsets.resize(first as usize, 0);
        module.offsets.extend(added.into_iter().flat_map(|module| &module.offsets));
        self.append_source(other);
        first_kernel
    }

    /// Adds the lines of the other's source. Of several files, the texts follow one another.
    fn append_source(&mut self, other: &Program) {
        let words = self.code.len();
        let Some(added) = &other.source else {
            if let Some(source) = &mut self.source {
                source.lines.resize(words, 0);
            }
            return;
        };
        let source = self.source.get_or_insert_default();
        source.lines.resize(words - other.code.len(), 0);
        let known =
            source.file.split(", ").any(|file| file == added.file) && source.text.contains(&added.text);
        if source.file.is_empty() {
            (source.file, source.text) = (added.file.clone(), added.text.clone());
        } else if !known {
            source.file = format!("{}, {}", source.file, added.file);
            if !source.text.ends_with('\n') {
                source.text.push('\n');
            }
            source.text += &added.text;
        }
        let before = source.text.find(&added.text).unwrap_or(0);
        let before = source.text[..before].matches('\n').count() as u32;
        source.lines.extend(added.lines.iter().map(|&line| if line == 0 { 0 } else { line + before }));
        source.lines.resize(words, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Module, SourceMap};

    /// A program that calls its second instruction, with a line of source for each word.
    fn program(name: &str, file: &str, text: &str) -> Program {
        let source = format!(
            ".kernel {name}\n.registers 4\n.workgroup_size 32, 1, 1\ncall f\nhalt\nf:\nreturn\n.end\n"
        );
        let (mut program, _) = crate::program::assemble(&source, file).expect("a program");
        let words = program.code.len();
        program.source =
            Some(SourceMap { file: file.to_owned(), text: text.to_owned(), lines: vec![1; words] });
        program.module = Some(Module { traps: vec![(1, "trap".to_owned())], ..Module::default() });
        program
    }

    #[test]
    fn calls_lines_and_traps_move_with_the_code() {
        let (first, second) = (program("a", "a.c", "of a"), program("b", "b.c", "of b\n"));
        let mut linked = first.clone();
        assert_eq!(linked.append(&second), 1);
        let start = first.code.len() as u32;
        assert_eq!(linked.kernels[1].code, start..2 * start);
        let target = |program: &Program, word: u32| program.code[word as usize + 1];
        assert_eq!(target(&linked, start), target(&second, 0) + start * WORD_BYTES);
        assert_eq!(linked.module.as_ref().expect("a module").trap_of_word(start + 1), Some("trap"));
        let source = linked.source.as_ref().expect("lines");
        assert_eq!(source.line_of_word(0), Some((1, "of a")));
        assert_eq!(source.line_of_word(start), Some((2, "of b")));
        // A file that is there already is not there twice.
        linked.append(&second);
        let source = linked.source.as_ref().expect("lines");
        assert_eq!((source.file.as_str(), source.line_of_word(2 * start)), ("a.c, b.c", Some((2, "of b"))));
    }
}
