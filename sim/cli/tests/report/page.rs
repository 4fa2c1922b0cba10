//! A report, read by a strict XML parser. A report is well-formed XML except for void elements, which HTML
//! does not close, and for the contents of script and style.

use roxmltree::{Document, Node, ParsingOptions};

/// A parsed report.
pub(crate) struct Page(Document<'static>);

/// All text of an element, with white space collapsed.
pub(crate) fn text(element: Node<'_, '_>) -> String {
    let texts = element.descendants().filter(Node::is_text).filter_map(|node| node.text());
    texts.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Removes the text between two marks, but not the marks.
fn without(text: &str, from: &str, to: &str) -> String {
    let start = text.find(from).unwrap() + from.len();
    let end = start + text[start..].find(to).unwrap();
    text[..start].to_owned() + &text[end..]
}

/// Closes the void elements of this name.
fn closed(text: &str, name: &str) -> String {
    let opening = format!("<{name} ");
    let mut parts = text.split(&opening);
    let mut closed = parts.next().unwrap().to_owned();
    for part in parts {
        closed = closed + &opening + &part.replacen('>', "/>", 1);
    }
    closed
}

impl Page {
    pub(crate) fn of(bytes: &[u8]) -> Page {
        let mut text = std::str::from_utf8(bytes).expect("UTF-8").to_owned();
        for (from, to) in [("<style>", "</style>"), ("<script>", "</script>")] {
            text = without(&text, from, to);
        }
        for name in ["meta", "input"] {
            text = closed(&text, name);
        }
        let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
        // The leak does not matter: a test is short.
        match Document::parse_with_options(Box::leak(text.into_boxed_str()), options) {
            Ok(document) => Page(document),
            Err(error) => panic!("the report is not well-formed: {error}"),
        }
    }

    /// Elements matched by a CSS selector with names, `#id`, `.class`, `[attribute]`, blanks, `>` and commas.
    pub(crate) fn all(&self, selector: &str) -> Vec<Node<'_, 'static>> {
        all(self.0.root(), selector)
    }

    /// As `all`, but panics if nothing matches.
    pub(crate) fn some(&self, selector: &str) -> Vec<Node<'_, 'static>> {
        let found = self.all(selector);
        assert!(!found.is_empty(), "there is no {selector}");
        found
    }

    pub(crate) fn one(&self, selector: &str) -> Node<'_, 'static> {
        let found = self.all(selector);
        assert_eq!(found.len(), 1, "{selector}");
        found[0]
    }

    /// A table: headings and the texts of its rows.
    pub(crate) fn table(&self, selector: &str) -> Table {
        table(self.one(selector))
    }

    /// Value of a statistic in the report.
    pub(crate) fn statistic(&self, name: &str) -> String {
        let table = self.table("table.statistics");
        let row = table.rows.iter().find(|row| row[0] == name).unwrap_or_else(|| panic!("{name}"));
        row[1].clone()
    }
}

/// Elements within another that match a selector.
pub(crate) fn all<'p>(within: Node<'p, 'static>, selector: &str) -> Vec<Node<'p, 'static>> {
    let chosen = |node: &Node<'_, '_>| {
        selector.split(", ").any(|one| {
            let words: Vec<&str> = one.split_whitespace().collect();
            is_chosen(*node, &words)
        })
    };
    within.descendants().filter(|node| node.is_element() && *node != within).filter(chosen).collect()
}

fn is_chosen(node: Node<'_, '_>, words: &[&str]) -> bool {
    let Some((last, before)) = words.split_last() else { return true };
    let parent = node.parent_element();
    matches(node, last)
        && match before {
            [] => true,
            [outer @ .., ">"] => parent.is_some_and(|parent| is_chosen(parent, outer)),
            outer => {
                node.ancestors().skip(1).any(|ancestor| ancestor.is_element() && is_chosen(ancestor, outer))
            }
        }
}

/// True if an element matches one word of a selector, such as `p.verdict` or `th[scope=col]`.
fn matches(node: Node<'_, '_>, word: &str) -> bool {
    let start = |c: char| ['#', '.', '['].contains(&c);
    let (name, mut rest) = word.split_at(word.find(start).unwrap_or(word.len()));
    let mut fits = name.is_empty() || name == "*" || node.has_tag_name(name);
    while let Some(kind) = rest.chars().next() {
        let length = rest[1..].find(start).map_or(rest.len(), |n| n + 1);
        let (part, after) = rest.split_at(length);
        let part = part[1..].trim_end_matches(']');
        let (key, value) = part.split_once('=').map_or((part, None), |(key, value)| (key, Some(value)));
        fits &= match kind {
            '#' => node.attribute("id") == Some(part),
            '.' => node.attribute("class").is_some_and(|all| all.split(' ').any(|class| class == part)),
            _ => node.attribute(key).is_some_and(|is| value.is_none_or(|value| is == value)),
        };
        rest = after;
    }
    fits
}

pub(crate) struct Table {
    pub heads: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

pub(crate) fn table(element: Node<'_, 'static>) -> Table {
    let cells = |row: Node<'_, 'static>| all(row, "th, td").into_iter().map(text).collect();
    let heads = all(element, "thead th").into_iter().map(text).collect();
    Table { heads, rows: all(element, "tbody tr").into_iter().map(cells).collect() }
}

impl Table {
    fn place(&self, head: &str) -> usize {
        self.heads.iter().position(|h| h == head).unwrap_or_else(|| panic!("{head} in {:?}", self.heads))
    }

    /// Numbers of a column. Cells without a digit are skipped.
    pub(crate) fn numbers(&self, head: &str) -> Vec<u64> {
        let place = self.place(head);
        let cells = self.rows.iter().filter_map(|row| row.get(place));
        let cells = cells.filter(|cell| cell.contains(|c: char| c.is_ascii_digit()));
        let number = |cell: &String| cell.replace(',', "").parse();
        cells.map(|cell| number(cell).unwrap_or_else(|_| panic!("{head}: `{cell}` is no number"))).collect()
    }

    /// Sum of a column.
    pub(crate) fn sum(&self, head: &str) -> u64 {
        self.numbers(head).iter().sum()
    }

    /// Cell of a row under a heading.
    pub(crate) fn of<'r>(&self, row: &'r [String], head: &str) -> &'r str {
        &row[self.place(head)]
    }

    /// Cell of the row that begins with `first`.
    pub(crate) fn cell(&self, first: &str, head: &str) -> &str {
        let row = self.rows.iter().find(|row| row[0] == first).unwrap_or_else(|| panic!("{first}"));
        &row[self.place(head)]
    }
}
