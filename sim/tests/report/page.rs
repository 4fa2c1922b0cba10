//! A report as a parser that is not the browser's and not ours reads it.

use scraper::{ElementRef, Html, Selector};

/// A parsed report.
pub struct Page(pub Html);

pub fn selector(text: &str) -> Selector {
    Selector::parse(text).unwrap()
}

pub fn text(element: ElementRef<'_>) -> String {
    element.text().collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Page {
    pub fn of(bytes: &[u8]) -> Page {
        Page(Html::parse_document(std::str::from_utf8(bytes).expect("UTF-8")))
    }

    pub fn all(&self, selector_text: &str) -> Vec<ElementRef<'_>> {
        self.0.select(&selector(selector_text)).collect()
    }

    pub fn one(&self, selector_text: &str) -> ElementRef<'_> {
        let found = self.all(selector_text);
        assert_eq!(found.len(), 1, "{selector_text}");
        found[0]
    }

    /// A table: its headings, and the texts of its rows.
    pub fn table(&self, selector_text: &str) -> Table {
        table(self.one(selector_text))
    }

    /// The value of a statistic in the report's list.
    pub fn statistic(&self, name: &str) -> String {
        let table = self.table("table.statistics");
        let row = table.rows.iter().find(|row| row[0] == name).unwrap_or_else(|| panic!("{name}"));
        row[1].clone()
    }
}

pub struct Table {
    pub heads: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

pub fn table(element: ElementRef<'_>) -> Table {
    let cells = |row: ElementRef<'_>| row.select(&selector("th, td")).map(text).collect();
    let heads = element.select(&selector("thead th")).map(text).collect();
    Table { heads, rows: element.select(&selector("tbody tr")).map(cells).collect() }
}

impl Table {
    fn place(&self, head: &str) -> usize {
        self.heads.iter().position(|h| h == head).unwrap_or_else(|| panic!("{head} in {:?}", self.heads))
    }

    /// The numbers of a column; cells without one are left out.
    pub fn numbers(&self, head: &str) -> Vec<u64> {
        let place = self.place(head);
        self.rows.iter().filter_map(|row| row.get(place)?.replace(',', "").parse().ok()).collect()
    }

    /// The sum of a column.
    pub fn sum(&self, head: &str) -> u64 {
        self.numbers(head).iter().sum()
    }

    /// The cell of a row that begins with `first`.
    pub fn cell(&self, first: &str, head: &str) -> &str {
        let row = self.rows.iter().find(|row| row[0] == first).unwrap_or_else(|| panic!("{first}"));
        &row[self.place(head)]
    }
}
