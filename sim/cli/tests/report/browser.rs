//! The report in a browser: scripts run, controls work with the keyboard, colours are distinguishable.

use super::chromium::Browser;
use super::run::report;
use serde_json::json;
use std::path::{Path, PathBuf};

const WIDE: (u32, u32) = (1280, 900);
const NARROW: (u32, u32) = (390, 844);

/// Texts and drawing colours with too little contrast to their background, by the formula of WCAG 2.1.
const FAINT: &str = r#"(() => {
    const channel = (v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
    const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
    const parse = (text) => (text.match(/[\d.]+/g) || []).map(Number);
    const behind = (element) => {
        for (let e = element; e; e = e.parentElement) {
            const c = parse(getComputedStyle(e).backgroundColor);
            if (c.length === 3 || c[3] === 1) return c;
        }
        return [255, 255, 255];
    };
    const contrast = (a, b) => {
        const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
        return (x + 0.05) / (y + 0.05);
    };
    const faint = [];
    let seen = 0;
    const look = (element, colour, least, what) => {
        seen += 1;
        const c = contrast(parse(colour), behind(element));
        if (!(c >= least)) faint.push(`${what} ${element.tagName}.${element.getAttribute("class")}: ${c.toFixed(2)}`);
    };
    for (const e of document.querySelectorAll("body *")) {
        const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim() !== "");
        if (!own || e.closest("script, style, title, desc")) continue;
        const style = getComputedStyle(e);
        look(e, e.closest("svg") ? style.fill : style.color, 4.5, "text");
    }
    for (const e of document.querySelectorAll(".swatch")) look(e.parentElement, getComputedStyle(e).backgroundColor, 3, "colour");
    for (const e of document.querySelectorAll("path.area, .stack rect, .time rect")) look(e.parentElement, getComputedStyle(e).fill, 3, "picture");
    for (const e of document.querySelectorAll("path.line")) look(e.parentElement, getComputedStyle(e).stroke, 3, "line");
    return { faint: [...new Set(faint)], seen };
})()"#;

/// Elements drawn with no size, and whether the page is wider than its window.
const EMPTY: &str = r#"(() => {
    const flat = [...document.querySelectorAll("main > section, svg, figure, .names button")].filter((e) => {
        const box = e.getBoundingClientRect();
        return !e.closest("details:not([open])") && (box.width < 4 || box.height < 4);
    });
    return { flat: flat.map((e) => e.outerHTML.slice(0, 80)), wide: document.documentElement.scrollWidth - innerWidth };
})()"#;

/// What does not fit: text outside of its box, labels over one another, what scrolls sideways, pictures without anything.
const UNFIT: &str = r#"(() => {
    const box = (e) => e.getBoundingClientRect();
    const seen = (e) => !e.closest("details:not([open])") && box(e).width > 0;
    const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 2 && b.top < a.bottom - 2;
    const unfit = [], count = { boxes: 0, labels: 0, views: 0 };
    // Text in a box of a drawing, and on a page: no wider than what it is in.
    for (const text of document.querySelectorAll(".tile text, .block text")) {
        const [a, b] = [box(text), box(text.parentElement.querySelector("rect"))];
        count.boxes += 1;
        if (a.left < b.left || a.right > b.right || a.top < b.top || a.bottom > b.bottom) unfit.push(`${text.textContent} leaves its box`);
    }
    for (const e of document.querySelectorAll("header, header *, nav *, .findings *, .signs *, .plot .x, .legend *")) {
        if (seen(e) && getComputedStyle(e).display !== "inline" && e.scrollWidth > e.clientWidth + 1) unfit.push(`${e.outerHTML.slice(0, 60)} is too narrow`);
    }
    const labels = [...document.querySelectorAll(".roofline text")];
    labels.forEach((a, i) => labels.slice(0, i).forEach((b) => {
        count.labels += 1;
        if (meet(box(a), box(b))) unfit.push(`${a.textContent} over ${b.textContent}`);
    }));
    for (const label of labels) {
        for (const mark of document.querySelectorAll(".roofline circle, .roofline rect")) {
            if (meet(box(label), box(mark))) unfit.push(`${label.textContent} over a mark`);
        }
        const [a, b] = [box(label), box(label.ownerSVGElement)];
        if (a.left < b.left || a.right > b.right) unfit.push(`${label.textContent} leaves the roofline`);
    }
    for (const e of document.querySelectorAll(".scroll")) {
        if (seen(e) && !e.closest("details") && e.scrollWidth > e.clientWidth + 1) unfit.push(`${e.getAttribute("aria-label")} scrolls sideways: ${e.scrollWidth} in ${e.clientWidth}`);
    }
    // Most bars of the pipeline are in view.
    for (const view of document.querySelectorAll("figure.pipeline .scroll:has(.time)")) {
        const [a, bars] = [box(view), [...view.querySelectorAll("rect")]];
        const there = bars.filter((bar) => box(bar).left >= a.left - 1 && box(bar).right <= a.right + 1 && getComputedStyle(bar).strokeWidth !== "0px");
        count.views += 1;
        if (there.length < 20 || there.length < bars.length) unfit.push(`${there.length} of ${bars.length} bars of the pipeline are in view`);
    }
    const main = box(document.querySelector("main"));
    if (main.width < Math.min(innerWidth, 1900)) unfit.push(`the page uses ${main.width} of ${innerWidth}`);
    if (document.documentElement.scrollWidth > innerWidth) unfit.push(`the page is ${document.documentElement.scrollWidth} wide in ${innerWidth}`);
    return { unfit, count };
})()"#;

/// Where pictures go, if somebody wants them: seen from the root of the repository.
fn pictures_folder() -> Option<PathBuf> {
    let folder = std::env::var("WAVE_SIM_SCREENSHOTS").ok()?;
    Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder))
}

/// Saves a screenshot of a part of the page, starting at an element.
fn save(browser: &mut Browser, file: &Path, from: &str, height: f64) {
    let top =
        browser.value(&format!("document.querySelector('{from}').getBoundingClientRect().top + scrollY"));
    let width = browser.value("innerWidth");
    let clip = json!({"x": 0, "y": top, "width": width, "height": height, "scale": 0.75});
    let shot = browser.call("Page.captureScreenshot", json!({"captureBeyondViewport": true, "clip": clip}));
    std::fs::write(file, base64(shot["data"].as_str().unwrap())).unwrap();
}

/// Decodes base64 (RFC 4648).
fn base64(text: &str) -> Vec<u8> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u8> = text.bytes().filter(|&c| c != b'=').map(value).collect();
    let group = |four: &[u8]| {
        let bits = four.iter().fold(0u32, |bits, &d| bits << 6 | u32::from(d)) << (6 * (4 - four.len()));
        bits.to_be_bytes()[1..four.len()].to_vec()
    };
    digits.chunks(4).flat_map(group).collect()
}

/// The screenshots of docs/report.md.
#[test]
fn pictures() {
    let Some(folder) = pictures_folder() else { return };
    let Some(mut browser) = Browser::start() else { return };
    let reported = report("transpose_naive --config gpu");
    browser.open(&reported.scratch.path("r.html"), (1280, 900), "light");
    save(&mut browser, &folder.join("report-light.png"), "body", 1500.0);
    browser.open(&reported.scratch.path("r.html"), (1280, 900), "dark");
    save(&mut browser, &folder.join("report-dark.png"), "#instructions", 1200.0);
}

#[test]
fn it_is_whole_in_light_and_dark_wide_and_narrow() {
    let Some(mut browser) = Browser::start() else { return };
    let reported = report("sgemm --size small --config gpu");
    for (size, scheme) in [(WIDE, "light"), (WIDE, "dark"), (NARROW, "light"), (NARROW, "dark")] {
        browser.open(&reported.scratch.path("r.html"), size, scheme);
        let of = format!("{size:?} {scheme}");
        assert_eq!(browser.complaints(), Vec::<String>::new(), "{of}");
        let empty = browser.value(EMPTY);
        assert_eq!(empty["flat"], json!([]), "{of}");
        assert!(empty["wide"].as_i64().unwrap() <= 0, "{of}: wider than the window: {empty}");
        browser.value("document.querySelectorAll('details').forEach((d) => { d.open = true; })");
        let contrast = browser.value(FAINT);
        assert_eq!(contrast["faint"], json!([]), "{of}");
        assert!(contrast["seen"].as_u64().unwrap() > 1000, "{of}: {}", contrast["seen"]);
    }
    let light = browser.value("getComputedStyle(document.body).backgroundColor");
    browser.open(&reported.scratch.path("r.html"), WIDE, "light");
    assert_ne!(browser.value("getComputedStyle(document.body).backgroundColor"), light);
}

/// At the widths of telephones on their side, small and large screens. Accesses of spmv and bfs take thousands of cycles.
#[test]
fn everything_fits_at_every_width() {
    let Some(mut browser) = Browser::start() else { return };
    for run in [
        "spmv --config gpu",
        "bfs --config gpu",
        "sgemm --size small --config mi300x",
        "histogram --size small --config tiny",
        "saxpy --size small --config t4",
    ] {
        let reported = report(run);
        for width in [800, 1100, 1440, 1920] {
            browser.open(&reported.scratch.path("r.html"), (width, 900), "light");
            let found = browser.value(UNFIT);
            assert_eq!(found["unfit"], json!([]), "{run} at {width}");
            for (what, least) in [("boxes", 30), ("labels", 50), ("views", 1)] {
                assert!(found["count"][what].as_u64() >= Some(least), "{run} at {width}: {found}");
            }
        }
    }
}

#[test]
fn the_keyboard_reaches_and_moves_everything() {
    let Some(mut browser) = Browser::start() else { return };
    let reported = report("reduction --size small --config tiny");
    browser.open(&reported.scratch.path("r.html"), WIDE, "light");
    // The first tab stop skips the navigation.
    browser.press("Tab");
    assert_eq!(browser.value("document.activeElement.className"), "skip");
    browser.press("Enter");
    assert_eq!(browser.value("document.activeElement.id"), "main");
    // Tab alone reaches every control, in page order.
    let mut stops = std::collections::BTreeSet::new();
    let controls = browser.value(
        "document.querySelectorAll('main button[type=button]:not(.name), main input, summary').length",
    );
    browser.value("window.stops = new Set()");
    for _ in 0..400 {
        browser.press("Tab");
        let stop = browser.value(
            "(() => { const e = document.activeElement; window.stops.add(e); \
             return e.matches('main button[type=button]:not(.name), main input, summary') ? [...document.querySelectorAll('*')].indexOf(e) : -1; })()",
        );
        if let Some(stop) = stop.as_i64().filter(|&stop| stop >= 0)
            && !stops.insert(stop)
        {
            break;
        }
    }
    assert_eq!(stops.len() as i64, controls.as_i64().unwrap(), "every control has been reached");
    // A slider moves the cursor of all charts and shows the values at that point.
    browser.value("document.querySelector('#issue-slots input').focus()");
    browser.press("Home");
    let first = browser.value("document.querySelector('#issue-slots output').textContent");
    assert!(first.as_str().unwrap().starts_with("Cycles 0 to "), "{first}");
    browser.press("ArrowRight");
    let second = browser.value("document.querySelector('#issue-slots output').textContent");
    assert!(first != second && second.as_str().unwrap().contains(" %"), "{second}");
    assert_eq!(browser.value("document.querySelector('#bandwidth input').value"), "1");
    assert_eq!(
        browser.value("document.querySelector('#issue-slots input').getAttribute('aria-valuetext')"),
        second
    );
    // A heading of the profile sorts it.
    browser.value("document.querySelectorAll('table.profile thead button')[2].focus()");
    browser.press("Enter");
    let order = browser.value(
        "[...document.querySelectorAll('table.profile tbody tr')].map((row) => Number(row.cells[3].dataset.value))",
    );
    let order: Vec<u64> = order.as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
    assert!(order.len() > 10 && order.is_sorted_by(|a, b| a >= b) && order[0] > 0, "{order:?}");
    assert_eq!(
        browser.value("document.querySelectorAll('table.profile th')[3].getAttribute('aria-sort')"),
        "descending"
    );
    // In the pipeline view, arrow keys move between instructions.
    browser.value("document.querySelector('button.name').focus()");
    let about = |browser: &mut Browser| browser.value("document.querySelector('output.about').textContent");
    let first = about(&mut browser);
    browser.press("ArrowDown");
    let second = about(&mut browser);
    assert!(first != second && second.as_str().unwrap().contains("issued"), "{first} {second}");
    browser.press("End");
    assert_eq!(browser.value("document.activeElement === [...document.querySelector('figure.pipeline').querySelectorAll('button.name')].at(-1)"), true);
    // Zoom.
    let width = "document.querySelector('figure.pipeline .time').scrollWidth";
    let before = browser.value(width).as_f64().unwrap();
    browser.value("document.querySelector('[data-zoom=\"2\"]').focus()");
    browser.press("Enter");
    let after = browser.value(width).as_f64().unwrap();
    assert!(after > 1.5 * before, "{before} {after}");
    // Zooming and choosing keep an instruction in view.
    browser.value(
        "[...document.querySelector('figure.pipeline').querySelectorAll('button.name')].at(-1).focus()",
    );
    let in_view = browser.value(
        "(() => { const view = document.querySelector('figure.pipeline .scroll'), name = document.activeElement; \
         const scale = view.scrollWidth / Number(view.parentElement.style.getPropertyValue('--span')); \
         const [from, to] = [name.dataset.from * scale - view.scrollLeft, name.dataset.to * scale - view.scrollLeft]; \
         return from >= -1 && to <= view.clientWidth + 1; })()",
    );
    assert_eq!(in_view, true);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn a_screen_reader_finds_pictures_with_names_and_no_nameless_control() {
    let Some(mut browser) = Browser::start() else { return };
    let reported = report("saxpy --size small --config tiny");
    browser.open(&reported.scratch.path("r.html"), WIDE, "light");
    let tree = browser.call("Accessibility.getFullAXTree", json!({}));
    let nodes = tree["nodes"].as_array().unwrap();
    let mut roles = std::collections::BTreeMap::new();
    for node in nodes.iter().filter(|node| node["ignored"] == false) {
        let role = node["role"]["value"].as_str().unwrap_or("");
        *roles.entry(role).or_insert(0) += 1;
        let wants_name = ["image", "button", "slider", "link", "table", "heading", "region", "navigation"];
        let name = node["name"]["value"].as_str().unwrap_or("");
        assert!(!wants_name.contains(&role) || !name.trim().is_empty(), "{node}");
    }
    for role in
        ["banner", "navigation", "main", "contentinfo", "image", "slider", "button", "table", "heading"]
    {
        assert!(roles.get(role).is_some_and(|&n| n > 0), "{role} in {roles:?}");
    }
}

/// The policy of a page names its own script and style sheet, so what a name out of a file brings into the page by any
/// means does nothing there.
#[test]
fn a_script_that_is_not_the_programs_does_not_run() {
    let Some(mut browser) = Browser::start() else { return };
    let reported = report("saxpy --size small --config tiny");
    let scratch = &reported.scratch;
    scratch.out("sweep --config tiny --size small --set cores=1,2 saxpy");
    const FOREIGN: &str = "<script>window.taken = 1</script><img src=x onerror='window.taken = 2'>\
        <style>body { visibility: hidden }</style><form action='file:///x'><button>send</button></form>\
        <a id=foreign href='javascript:window.taken = 3'>go</a>";
    for (name, foreign) in [("r.html", "foreign-r.html"), ("sweep.html", "foreign-sweep.html")] {
        browser.events.clear();
        browser.open(&scratch.path(name), WIDE, "light");
        assert_eq!(
            browser.complaints(),
            Vec::<String>::new(),
            "{name}: its own script and style are allowed"
        );
        let page = String::from_utf8(scratch.read(name)).unwrap();
        assert_eq!(page.matches("unsafe-inline").count(), 1, "{name}: style attributes alone");
        scratch.write(foreign, page.replacen("<main", &format!("{FOREIGN}<main"), 1).as_bytes());
        browser.open(&scratch.path(foreign), WIDE, "light");
        browser.value("document.getElementById('foreign').click()");
        assert_eq!(browser.value("window.taken === undefined"), true, "{foreign}");
        let style = browser.value("getComputedStyle(document.body).visibility");
        assert_eq!(style, "visible", "{foreign}");
        let refused =
            browser.complaints().iter().filter(|text| text.contains("Content Security Policy")).count();
        assert!(refused >= 3, "{foreign}: {:?}", browser.complaints());
    }
    // The script of the page runs, foreign words or not.
    browser.events.clear();
    browser.open(&scratch.path("foreign-r.html"), WIDE, "light");
    browser.value("document.querySelector('#issue-slots input').focus()");
    browser.press("Home");
    let first = browser.value("document.querySelector('#issue-slots output').textContent");
    assert!(first.as_str().unwrap().starts_with("Cycles 0 to "), "{first}");
}
