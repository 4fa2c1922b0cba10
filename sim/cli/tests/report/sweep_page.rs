//! The page of a sweep in a browser: runs are chosen with the mouse, and its table sorts.

use super::chromium::Browser;
use super::scratch::Scratch;
use serde_json::Value;

/// The place of a value on an axis, in the window: the middle of the axis, and its height, from what is drawn.
const AXES: &str = r#"(() => [...document.querySelectorAll("svg.parallel .axis")].map((axis) => {
    const box = axis.querySelector(".grip").getBoundingClientRect();
    return [box.left + box.width / 2, box.top, box.bottom];
}))()"#;

/// Rows of the table that are shown: the values of their cells.
const ROWS: &str = r#"(() => [...document.querySelectorAll("table.runs tbody tr")].filter((row) => !row.hidden)
    .map((row) => [...row.cells].map((cell) => cell.dataset.value)))()"#;

fn rows(browser: &mut Browser) -> Vec<Vec<String>> {
    serde_json::from_value(browser.value(ROWS)).unwrap()
}

/// The column with this heading.
fn column(browser: &mut Browser, head: &str) -> usize {
    let heads: Vec<String> = serde_json::from_value(browser.value(
        r#"[...document.querySelectorAll("table.runs thead th")].map((head) => head.textContent.trim())"#,
    ))
    .unwrap();
    heads.iter().position(|other| other == head).unwrap_or_else(|| panic!("{head} in {heads:?}"))
}

#[test]
fn runs_are_chosen_along_axes_and_the_table_sorts() {
    let Some(mut browser) = Browser::start() else { return };
    let scratch = Scratch::new();
    scratch.out(
        "sweep --config tiny --size small --set cores=1..4 --set core.l1.mshrs=1,2,4 --set core.issue.policy=lrr,gto scan",
    );
    let file = scratch.path("sweep.html");
    for size in [(1280, 900), (390, 844)] {
        browser.open(&file, size, "light");
        let all = rows(&mut browser);
        assert_eq!(all.len(), 24);
        browser.value(r#"document.querySelector("svg.parallel").scrollIntoView({ block: "center", behavior: "instant" })"#);
        let axes: Vec<[f64; 3]> = serde_json::from_value(browser.value(AXES)).unwrap();
        assert!(axes.len() > 4, "{axes:?}");
        // The upper half of the first axis: the greater numbers of cores. A narrow window shows it too.
        let [x, top, bottom] = axes[0];
        browser.drag(&[(x, top + 1.0), (x, (top + bottom) / 2.0 - 10.0), (x, (top + bottom) / 2.0)]);
        let cores = column(&mut browser, "cores");
        let upper = rows(&mut browser);
        assert!(!upper.is_empty() && upper.len() < 24);
        let wanted: Vec<_> =
            all.iter().filter(|row| row[cores].parse::<u64>().unwrap() >= 3).cloned().collect();
        assert_eq!(upper, wanted, "{size:?}");
        let said = browser.value(r#"document.querySelector(".count").textContent"#);
        assert_eq!(said, format!("{} of 24 runs are chosen.", upper.len()));
        // A range on a second axis as well: both count. A click ends a range.
        let [x2, top2, bottom2] = axes[1];
        browser.drag(&[(x2, bottom2 - 1.0), (x2, bottom2 - 30.0)]);
        let mshrs = column(&mut browser, "core.l1.mshrs");
        let both = rows(&mut browser);
        assert!(both.len() == upper.len() / 3 && both.iter().all(|row| row[mshrs] == "1"), "{both:?}");
        for (x, y) in [(x, top + 30.0), (x2, top2 + 30.0)] {
            browser.drag(&[(x, y)]);
        }
        assert_eq!(rows(&mut browser), all);
        // Sorted by a column of numbers, then the other way round, with the keyboard.
        let cycles = column(&mut browser, "cycles");
        browser.value(&format!(
            r#"document.querySelectorAll("table.runs thead th")[{cycles}].querySelector("button").focus()"#
        ));
        let values = |rows: &[Vec<String>]| -> Vec<u64> {
            rows.iter().map(|row| row[cycles].parse().unwrap()).collect()
        };
        let mut ascending = values(&all);
        ascending.sort_unstable();
        browser.press("Enter");
        assert_eq!(values(&rows(&mut browser)), ascending);
        browser.press("Enter");
        ascending.reverse();
        assert_eq!(values(&rows(&mut browser)), ascending);
        let wide = browser.value("document.documentElement.scrollWidth - innerWidth");
        assert!(wide.as_i64().unwrap() <= 0, "the page is {wide} wider than {size:?}");
    }
    assert_eq!(browser.complaints(), Vec::<String>::new());
    assert_ne!(browser.value("document.title"), Value::Null);
}
