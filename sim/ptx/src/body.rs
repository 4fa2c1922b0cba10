//! The text of a function: lines, and the registers that they use for themselves.

use std::fmt::{self, Write};

/// Writes a line of PTX: `line!(body, "add.u32 {d}, {a}, {b};")`.
macro_rules! line {
    ($body:expr, $($text:tt)*) => {
        $body.line(format_args!($($text)*))
    };
}
pub(crate) use line;

/// A class of registers: its name in front of the number, and its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// 16 bits.
    Half,
    /// 32 bits.
    Word,
    /// 64 bits.
    Wide,
    /// A predicate.
    Predicate,
}

impl Class {
    const ALL: [(Class, &'static str, &'static str); 4] = [
        (Class::Half, "%h", "b16"),
        (Class::Word, "%t", "b32"),
        (Class::Wide, "%d", "b64"),
        (Class::Predicate, "%q", "pred"),
    ];
}

/// Lines of a function under way.
#[derive(Debug, Default)]
pub(crate) struct Body {
    text: String,
    /// Per class, the temporary registers of the instruction under way, and the most of any.
    used: [(u32, u32); 4],
    labels: u32,
}

impl Body {
    /// Adds a line, indented.
    pub(crate) fn line(&mut self, text: fmt::Arguments<'_>) {
        _ = writeln!(self.text, "\t{text}");
    }

    /// Adds a label.
    pub(crate) fn label(&mut self, name: &str) {
        _ = writeln!(self.text, "{name}:");
    }

    /// A label that no other place has.
    pub(crate) fn fresh_label(&mut self) -> String {
        self.labels += 1;
        format!("$x{}", self.labels)
    }

    /// The next WAVE instruction begins: its temporary registers may be those of the one before.
    pub(crate) fn next_instruction(&mut self) {
        self.used.iter_mut().for_each(|(now, _)| *now = 0);
    }

    fn register(&mut self, class: Class) -> String {
        let (now, most) = &mut self.used[class as usize];
        *now += 1;
        *most = (*most).max(*now);
        format!("{}{}", Class::ALL[class as usize].1, *now - 1)
    }

    /// A temporary register of 16 bits.
    pub(crate) fn half(&mut self) -> String {
        self.register(Class::Half)
    }

    /// A temporary register of 32 bits.
    pub(crate) fn word(&mut self) -> String {
        self.register(Class::Word)
    }

    /// A temporary register of 64 bits.
    pub(crate) fn wide(&mut self) -> String {
        self.register(Class::Wide)
    }

    /// A temporary predicate.
    pub(crate) fn predicate(&mut self) -> String {
        self.register(Class::Predicate)
    }

    /// The declarations of the temporary registers, and the lines.
    pub(crate) fn finish(self) -> (String, String) {
        let mut declared = String::new();
        for ((_, name, ty), (_, most)) in Class::ALL.into_iter().zip(self.used) {
            if most > 0 {
                _ = writeln!(declared, "\t.reg .{ty} {name}<{most}>;");
            }
        }
        (declared, self.text)
    }
}
