//! The index of the book leads to every page.

use super::golden;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const INDEX: &str = "docs/README.md";

/// Pages below a folder, relative to it.
fn pages(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = PathBuf::from(path.file_name().unwrap());
        if path.is_dir() {
            found.extend(pages(&path).into_iter().map(|page| name.join(page)));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.insert(name);
        }
    }
    found
}

#[test]
fn every_page_is_in_the_index() {
    let index = std::fs::read_to_string(golden::root().join(INDEX)).unwrap();
    let linked: Vec<&str> =
        index.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()).collect();
    let all = pages(&golden::root().join("docs"));
    assert!(all.len() > 35, "{} pages", all.len());
    let lost: Vec<&PathBuf> = all
        .iter()
        .filter(|page| *page != Path::new("README.md") && !linked.contains(&page.to_str().unwrap()))
        .collect();
    assert!(lost.is_empty(), "{INDEX} does not link {lost:?}");
    // The README and the map lead to it.
    for page in ["README.md", "ARCHITECTURE.md"] {
        let text = std::fs::read_to_string(golden::root().join(page)).unwrap();
        assert!(text.contains("(docs/README.md)"), "{page} does not link {INDEX}");
    }
}
