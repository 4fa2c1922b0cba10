//! Properties of every report, also of failed runs: it parses without an error, loads nothing from outside,
//! is accessible to screen readers, and is small.

use super::page::{Page, all, text};
use super::run::report;
use super::scratch::Scratch;
use roxmltree::Node;
use std::collections::BTreeSet;

/// Properties that hold for every report.
fn sound(bytes: &[u8], of: &str) -> Page {
    assert!(bytes.len() < 2_000_000, "{of}: {} bytes", bytes.len());
    let page = Page::of(bytes);
    let source = std::str::from_utf8(bytes).unwrap();
    for outside in ["http:", "https:", "//cdn", "@import", "src=", "<link", "<iframe", "<img", "fetch("] {
        assert!(!source.contains(outside), "{of}: {outside}");
    }
    let ids: Vec<&str> = page.all("[id]").iter().filter_map(|e| e.attribute("id")).collect();
    let unique: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), unique.len(), "{of}: two elements with one name");
    for link in page.some("a[href]") {
        let target = link.attribute("href").unwrap().strip_prefix('#').expect("links stay in the page");
        assert!(unique.contains(target), "{of}: link to {target}");
    }
    for element in page.some("[aria-labelledby]") {
        for id in element.attribute("aria-labelledby").unwrap().split(' ') {
            assert!(unique.contains(id), "{of}: named by {id}");
        }
    }
    for landmark in ["header", "nav[aria-label]", "main", "footer", "h1", "a.skip"] {
        page.one(landmark);
    }
    let mut level = 0;
    for heading in page.some("h1, h2, h3, h4") {
        let this: u32 = heading.tag_name().name()[1..].parse().unwrap();
        assert!(this <= level + 1, "{of}: h{this} behind h{level}");
        assert!(!text(heading).is_empty(), "{of}");
        level = this;
    }
    for section in page.some("main > section") {
        assert!(text(section).len() > 40, "{of}: {:?} has something to say", section.attribute("id"));
    }
    for picture in page.some("svg") {
        assert_eq!(picture.attribute("role"), Some("img"), "{of}");
        let title = picture.first_element_child().unwrap();
        assert!(title.has_tag_name("title") && !text(title).is_empty(), "{of}");
    }
    for table in page.some("table") {
        let has = |what: &str| !all(table, what).is_empty();
        assert!(has("caption") && has("thead th[scope=col]"), "{of}: {}", text(table));
        // Every row has as many cells as its heading, as far as grouped rows allow the comparison.
        let cells = |row: Node<'_, 'static>| all(row, "th, td").len();
        let wide = cells(all(table, "thead tr")[0]);
        let plain = |row: &Node<'_, 'static>| all(*row, "[colspan]").is_empty();
        if !has("[rowspan]") {
            assert!(
                all(table, "tbody tr").into_iter().filter(plain).all(|row| cells(row) == wide),
                "{of}: {}",
                text(table)
            );
        }
    }
    for region in page.some(".scroll") {
        assert_eq!(
            region.attribute("tabindex"),
            Some("0"),
            "{of}: what scrolls can be reached with the keyboard"
        );
        assert!(region.attribute("aria-label").is_some(), "{of}");
    }
    for control in page.some("button, input") {
        assert!(control.attribute("aria-label").is_some() || !text(control).is_empty(), "{of}");
    }
    page
}

#[test]
fn the_suite_has_small_sound_reports() {
    for name in wave_study::launch::suite() {
        let reported = report(&format!("{name} --size small --config gpu"));
        let page = sound(&reported.bytes, name);
        assert!(text(page.one("p.verdict")).contains("its results are right"), "{name}");
        assert!(!page.all("figure.pipeline rect").is_empty(), "{name}");
        assert!(!page.all("table.profile tbody tr").is_empty(), "{name}");
    }
}

#[test]
fn every_preset_and_topology_is_drawn() {
    for preset in ["tiny", "large", "t4", "v100", "a100", "h200", "mi300x", "m-series", "rtl"] {
        let reported = report(&format!("saxpy --size small --config {preset}"));
        let page = sound(&reported.bytes, preset);
        let config = text(page.all("#configuration > p")[1]);
        assert!(config.contains(&format!("The machine is that of the preset {preset}.ron")), "{config}");
        let tiles = page.all("svg.machine g.tile").len() as u64;
        let cores = reported.json["config"]["cores"].as_u64().unwrap();
        assert!(tiles > cores, "{preset}: {tiles} tiles, {cores} cores");
    }
    let own = "(base: \"tiny.ron\", cores: 3, core: (l1: (mshrs: 3)), interconnect: (topology: TOPOLOGY))";
    let edges = "edges, edges: [(from: \"core0\", to: \"hub\", latency_cycles: 2, bytes_per_cycle: 8, both_ways: true, dateline: false), (from: \"core1\", to: \"hub\", latency_cycles: 2, bytes_per_cycle: 8, both_ways: true, dateline: false), (from: \"core2\", to: \"hub\", latency_cycles: 2, bytes_per_cycle: 8, both_ways: true, dateline: false), (from: \"slice0\", to: \"hub\", latency_cycles: 2, bytes_per_cycle: 8, both_ways: true, dateline: false), (from: \"slice1\", to: \"hub\", latency_cycles: 2, bytes_per_cycle: 8, both_ways: true, dateline: false)]";
    for topology in ["ring", "mesh", edges] {
        let scratch = Scratch::with(&[("own.ron", &own.replace("TOPOLOGY", topology))]);
        let reported = super::run::report_in(scratch, "saxpy --size small --config own.ron");
        let page = sound(&reported.bytes, topology);
        assert!(!page.all("svg.machine path.wire").is_empty(), "{topology}");
        let rows = page.table("table.differences").rows;
        assert!(
            rows.contains(&["core.l1.mshrs", "4", "3"].map(str::to_owned).to_vec()),
            "{topology}: {rows:?}"
        );
        assert!(rows.iter().any(|row| row[0] == "cores" && row[2] == "3"), "{topology}: {rows:?}");
    }
}

const FAULTY: &str = ".kernel f\n.registers 8\n.workgroup_size 8, 1, 1\n    mov_imm r2, 0x7fffffff\n    mov_imm r3, 40\n    loop\n        isub r3, r3, r3\n        icmp_eq p1, r3, r3\n        break p1\n    endloop\n    device_load_u32 r4, r2\n    halt\n.end\n";
const ENDLESS: &str = ".kernel \"<e & 'f'>\"\n.registers 4\n.workgroup_size 8, 1, 1\n    loop\n    nop ; <script>alert(1)</script>\n    endloop\n.end\n";

#[test]
fn a_run_that_does_not_end_leaves_a_report_that_says_so() {
    let scratch = Scratch::with(&[("f.wave", FAULTY), ("e.wave", ENDLESS)]);
    let fault = scratch.run("f.wave --config tiny --report f.html");
    assert_eq!(fault.code, 3, "{}", fault.err);
    let page = sound(&scratch.read("f.html"), "fault");
    assert!(text(page.one("p.verdict")).contains("a fault"), "{}", text(page.one("p.verdict")));
    let bound = scratch.run("e.wave --config tiny --max-cycles 1000 --report e.html");
    assert_eq!(bound.code, 3, "{}", bound.err);
    let page = sound(&scratch.read("e.html"), "bound");
    assert!(
        text(page.one("header")).contains("has not ended after 1000 cycles"),
        "{}",
        text(page.one("header"))
    );
    let slots = page.table("figure#issue-slots table");
    assert_eq!(slots.numbers("to").last(), Some(&1000), "everything up to the bound is there");
    let charged: u64 = slots.heads[2..].iter().map(|use_name| slots.sum(use_name)).sum();
    let profile = page.table("table.counters");
    let blamed: u64 = slots.heads[2..].iter().map(|use_name| profile.sum(use_name)).sum();
    assert_eq!(charged, blamed);
    // User input appears as text.
    assert!(page.all("script").len() == 1 && text(page.one("#instructions h3")).contains("<e & 'f'>"));
}

#[test]
fn a_run_that_is_interrupted_leaves_a_report_that_says_so() {
    let scratch = Scratch::with(&[("e.wave", ENDLESS)]);
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_wave-sim"));
    command.args(["e.wave", "--config", "tiny", "--report", "i.html"]).current_dir(scratch.path(""));
    let child =
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(700));
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(3), "{}", String::from_utf8_lossy(&ended.stderr));
    let page = sound(&scratch.read("i.html"), "interrupted");
    assert!(text(page.one("header")).contains("was interrupted in cycle"), "{}", text(page.one("header")));
    assert!(page.table("figure#issue-slots table").sum("issued") > 0);
}

#[test]
fn wrong_use_is_said_before_anything_runs() {
    let scratch = Scratch::with(&[("e.wave", ENDLESS)]);
    for (arguments, says) in [
        ("saxpy reduction --report r.html", "--report: one file of this name, and 2 kernels are to run"),
        ("--report r.html", "--report: one file of this name"),
        ("e.wave --report no/r.html", "there is no folder `no`"),
        ("e.wave --report .", "it is a directory"),
        ("e.wave --report r.html --wvfi r.html", "--wvfi and --report both write to `r.html`"),
    ] {
        let ran = scratch.run(arguments);
        assert_eq!(ran.code, 2, "{arguments}: {}", ran.err);
        assert!(ran.err.contains(says), "{arguments}: {}", ran.err);
        assert!(!scratch.path("r.html").exists(), "{arguments}");
    }
    let late = scratch.run("saxpy --size small --config tiny --report r.html --from-cycle 99999999");
    assert_eq!(late.code, 2);
    assert!(late.err.contains("--from-cycle: 99999999 is past the run"), "{}", late.err);
    assert!(!scratch.path("r.html").exists());
}
