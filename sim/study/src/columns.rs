//! Text in columns.

/// Lines of rows in columns, two blanks apart. Cells of `right` columns end at the right, others begin at the left.
pub(crate) fn aligned(rows: &[Vec<String>], right: impl Fn(usize) -> bool) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let long = |row: &Vec<String>, column: usize| row.get(column).map_or(0, |cell| cell.chars().count());
    let widths: Vec<usize> =
        (0..columns).map(|column| rows.iter().map(|row| long(row, column)).max().unwrap_or(0)).collect();
    let cell = |(column, cell): (usize, &String)| match right(column) {
        true => format!("{cell:>width$}", width = widths[column]),
        false => format!("{cell:width$}", width = widths[column]),
    };
    rows.iter()
        .map(|row| row.iter().enumerate().map(cell).collect::<Vec<_>>().join("  ").trim_end().to_owned())
        .collect()
}
