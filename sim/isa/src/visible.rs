//! Text for a terminal: characters that a terminal obeys, or does not show, as escapes.

use std::borrow::Cow;
use std::fmt::Write;

/// True for a character that a terminal obeys instead of showing it, or that reorders or hides what stands beside it:
/// controls of C0 and C1, controls of the writing direction, separators of lines, and characters without width that no
/// script needs. A newline and a tab are none of these.
pub fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' => true,
        '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => true,
        c => c.is_control(),
    }
}

/// `text` with an escape in place of each hidden character. The escape is that of JSON, `\u001b`: a JSON document has
/// such characters within strings only, so its values stay as they are.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_hidden(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_escaped() {
        let text = "a\u{1b}[2J\u{9b}31m\u{7f}\r\u{202e}\u{2028}\u{e0041}\u{feff}";
        assert_eq!(visible(text), "a\\u001b[2J\\u009b31m\\u007f\\u000d\\u202e\\u2028\\udb40\\udc41\\ufeff");
    }

    #[test]
    fn other_text_stays_as_it_is() {
        let text = "1\n\tä 漢字 → 👩\u{200d}🚀 \u{a0}µ";
        assert!(matches!(visible(text), Cow::Borrowed(same) if same == text));
    }
}
