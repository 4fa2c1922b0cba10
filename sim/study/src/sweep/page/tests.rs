use super::super::table::Heading;
use super::super::table::tests::row;
use super::*;

fn table() -> Table {
    let heading = |key: &str, unit| Heading { key: key.to_owned(), unit };
    let mut rows = Vec::new();
    let mut point = 0;
    for bytes in ["16384", "32768", "100"] {
        for policy in ["gto", "lrr"] {
            point += 1;
            for (kernel, cycles) in [("<a>", 1000), ("b", 5000)] {
                let mut row = row(point, &[bytes, policy], kernel, cycles + 10 * point);
                if bytes == "100" {
                    row.state = State::Invalid("no \"power\" <of> two".to_owned());
                }
                rows.push(row);
            }
        }
    }
    Table { axes: vec![heading("core.l1.bytes", "bytes"), heading("core.issue.policy", "")], rows }
}

#[test]
fn the_page_shows_every_run_everywhere() {
    let table = table();
    let page = page(&table, &Config::example());
    for number in 0..8 {
        let mark = format!("data-row=\"{number}\"");
        // A line, a point against the parameter that is a number, and a row of the table.
        assert_eq!(page.matches(&mark).count(), 3, "{number}");
    }
    assert!(!page.contains("data-row=\"8\""));
    assert_eq!(page.matches("no &quot;power&quot; &lt;of&gt; two").count(), 4);
    assert!(page.contains("&lt;a&gt;, b on variants of gpu"), "the title");
    assert!(page.contains("16 KiB") && !page.contains("<a>"));
    for section in ["parallel", "front", "effects", "runs", "left-out"] {
        assert!(page.contains(&format!("id=\"{section}\"")), "{section}");
    }
    // It asks for nothing from outside.
    assert!(!page.contains("http://") && !page.contains("https://") && !page.contains("src="));
}

#[test]
fn a_sweep_without_runs_or_axes_has_a_page_too() {
    let empty = Table { axes: Vec::new(), rows: Vec::new() };
    assert!(page(&empty, &Config::example()).contains("No run ended."));
    let one = Table { axes: Vec::new(), rows: vec![row(1, &[], "a", 10)] };
    assert!(page(&one, &Config::example()).contains("Everything ran to its end."));
    let same = Table {
        axes: vec![Heading { key: "cores".to_owned(), unit: "" }],
        rows: vec![row(1, &["1"], "a", 0), row(2, &["2"], "a", 0)],
    };
    let page = page(&same, &Config::example());
    assert!(!page.contains("NaN") && !page.contains("inf\""), "a number");
}

#[test]
fn labels_are_short() {
    assert_eq!(
        [1.5, 12.0, 9999.0, 12_345.0, 2e6, 3.5e9].map(tick).join(" "),
        "1.50 12 9999 12.3 k 2 M 3.5 G"
    );
    assert_eq!(
        [value("65536", "bytes"), value("3000000", "bytes"), value("8", "ways")],
        ["64 KiB", "3,000,000 B", "8"]
    );
}
