use super::*;
use std::path::Path;
use wave_isa::ron_text::Source;

fn draft(text: &str) -> Result<Draft, Vec<Diagnostic>> {
    let source = Source { file: "p.ron".to_owned(), text: text.to_owned(), path: None };
    Draft::of(source, Path::new("nowhere"))
}

fn plan(text: &str) -> Result<Plan, Vec<Diagnostic>> {
    Plan::new(&draft(text)?, &Config::example())
}

/// The only error of a plan: its message, its line and column, and the marked text.
fn error(text: &str) -> (String, (u32, u32), String) {
    let errors = plan(text).expect_err(text);
    assert_eq!(errors.len(), 1, "{text}: {errors:?}");
    let place = errors[0].place.clone().unwrap_or_else(|| panic!("{text}: no place: {errors:?}"));
    let marked = place.text.chars().skip(place.column as usize - 1).take(place.length as usize).collect();
    (errors[0].message.clone(), (place.line, place.column), marked)
}

const WHOLE: &str = r#"(
    description: "caches and cores",
    set: ["core.l1.mshrs=16"],
    axes: {
        "l1.bytes": ["16KiB", 32768, "64KiB"],
        "machine.cores": "8..64*2",
        "core.issue.policy": ["gto", "lrr"],
    },
    constraints: ["cores * core.l1.bytes <= 1048576", "core.l1.ways == 8"],
    kernels: ["sgemm", "spmv"],
    seeds: 3,
    size: small,
)"#;

#[test]
fn a_plan_has_its_points() {
    let plan = plan(WHOLE).unwrap();
    let keys: Vec<&str> = plan.axes.iter().map(|axis| axis.key.as_str()).collect();
    assert_eq!(keys, ["core.l1.bytes", "cores", "core.issue.policy"]);
    assert_eq!((plan.axes[0].unit, plan.seeds.as_slice()), ("bytes", [Some(1), Some(2), Some(3)].as_slice()));
    assert_eq!(plan.runs(), 3 * 4 * 2 * 2 * 3);
    let points = plan.points().unwrap();
    // 16 KiB with up to 64 cores, 32 KiB with up to 32, 64 KiB with up to 16.
    assert_eq!(points.len(), (4 + 3 + 2) * 2);
    assert_eq!(plan.settings(&points[1]), ["core.l1.bytes=16384", "cores=8", "core.issue.policy=lrr"]);
}

#[test]
fn flags_go_over_the_plan() {
    let mut draft = draft(WHOLE).unwrap();
    draft.set("cores=4,8");
    draft.set("core.issue.policy=gto");
    draft.set("machine.l2.slices=4");
    draft.constrain("cores > 4");
    draft.seeds("5..6");
    assert_eq!(draft.set_by_flags, ["core.issue.policy=gto", "l2.slices=4"]);
    let plan = Plan::new(&draft, &Config::example()).unwrap();
    let keys: Vec<&str> = plan.axes.iter().map(|axis| axis.key.as_str()).collect();
    assert_eq!(keys, ["core.l1.bytes", "cores"]);
    assert_eq!((plan.points().unwrap().len(), plan.seeds), (3, vec![Some(5), Some(6)]));
}

#[test]
fn samples_have_their_size() {
    let axes = r#"axes: {"cores": "1..64", "core.l1.ways": [2, 4, 8]}, kernels: ["sgemm"]"#;
    for (sampling, points) in
        [("grid", 192), ("random(samples: 40)", 40), ("latin_hypercube(samples: 32, seed: 4)", 32)]
    {
        let plan = plan(&format!("({axes}, sampling: {sampling})")).unwrap();
        assert_eq!(plan.points().unwrap().len(), points, "{sampling}");
    }
}

#[test]
fn errors_have_their_place() {
    let kernels = r#"kernels: ["sgemm"]"#;
    for (text, message, marked) in [
        (
            format!(r#"(axes: {{"core.l1.byts": [1]}}, {kernels})"#),
            "there is no parameter `core.l1.byts`",
            "\"core.l1.byts\"",
        ),
        (format!(r#"(axes: {{"core.l1": [1]}}, {kernels})"#), "`core.l1` is a section", "\"core.l1\""),
        (format!(r#"(axes: {{"cores": "64..8*2"}}, {kernels})"#), "is empty: 64 is above 8", "\"64..8*2\""),
        (format!(r#"(axes: {{"cores": []}}, {kernels})"#), "the list is empty", ""),
        (format!(r#"(axes: {{"cores": [1, "x"]}}, {kernels})"#), "`x` is no integer", "\"x\""),
        (
            format!(r#"(axes: {{"core.issue.policy": ["gto", "gtoo"]}}, {kernels})"#),
            "`core.issue.policy` is gtoo",
            "\"gtoo\"",
        ),
        (
            format!(r#"(axes: {{"cores": [1], "machine.cores": [2]}}, {kernels})"#),
            "`cores` is stated twice",
            "\"machine.cores\"",
        ),
        (format!(r#"(constraints: ["cores <"], {kernels})"#), "an operand is missing", "\"cores <\""),
        (format!(r#"(constraints: ["corse < 2"], {kernels})"#), "`corse` is not known here", "\"corse < 2\""),
        (format!(r#"(sampling: latin(samples: 1), {kernels})"#), "there is no choice `latin`", "latin"),
        (format!(r#"(seeds: 0, {kernels})"#), "0 seeds", "0"),
        (format!(r#"(axis: {{}}, {kernels})"#), "there is no key `axis`", "axis"),
    ] {
        let (found, _, place) = error(&text);
        assert!(found.contains(message), "{text}: {found}");
        assert!(place.contains(marked.trim_matches('"')), "{text}: {place}");
    }
    let lines = WHOLE.replace("8..64*2", "8..x");
    assert_eq!(error(&lines).1, (6, 26));
}

#[test]
fn errors_of_flags_have_their_place() {
    let mut draft = draft(r#"(kernels: ["sgemm"])"#).unwrap();
    draft.set("core.l1.byts=1,2");
    draft.set("cores=4,x");
    let errors = Plan::new(&draft, &Config::example()).unwrap_err();
    let place = |n: usize| errors[n].place.as_ref().map(|p| (p.file.as_str(), p.column, p.length)).unwrap();
    assert_eq!((place(0), place(1)), (("--set", 1, 12), ("--set", 9, 1)));
    let nothing = Plan::new(&Draft::default(), &Config::example()).unwrap_err();
    assert!(nothing[0].message.contains("no kernel"), "{nothing:?}");
}

#[test]
fn too_many_points_are_refused_and_a_constraint_without_value_says_where() {
    let huge =
        plan(r#"(axes: {"cores": "1..100000", "l2.slices": "1..100000"}, kernels: ["sgemm"])"#).unwrap();
    assert_eq!(huge.runs(), 10_000_000_000);
    assert!(huge.points().unwrap_err().message.contains("means 10000000000 points"));
    let zero = plan(r#"(axes: {"cores": [1, 2]}, constraints: ["1 / (cores - 2)"], kernels: ["sgemm"])"#);
    let error = zero.unwrap().points().unwrap_err();
    assert!(error.message.contains("at cores=2: division by zero"), "{}", error.message);
}
