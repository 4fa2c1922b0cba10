//! Sizes with a unit, in files and on the command line.

use super::super::declare::Kind;
use super::super::keys::declared;
use super::*;

#[test]
fn every_number_of_bytes_may_have_a_unit_and_no_other_number() {
    let default = Config::example();
    let (mut sizes, mut others) = (0, 0);
    for row in
        declared().iter().filter(|row| matches!(row.field.kind, Kind::Integer) && !row.key.contains("[]"))
    {
        let value: u64 =
            leaves(&default).iter().find(|leaf| leaf.key == row.key).unwrap().value.parse().unwrap();
        let bytes = row.field.limits.unwrap().unit == "bytes";
        // A K is 1024 bytes; what is less is out of range, which shows that the unit was read.
        let kibibytes = value / 1024;
        let in_file = from_text("x.ron", &stating(&[(&row.key, &format!("\"{kibibytes}KiB\""))]));
        let set = load_with_settings("gpu.ron", &[format!("{}={kibibytes}K", row.key)]);
        for result in [in_file, set] {
            match result {
                Ok((config, _)) => {
                    assert!(bytes && value.is_multiple_of(1024), "{}", row.key);
                    assert_eq!(
                        Config {
                            set: Vec::new(),
                            name: default.name.clone(),
                            description: default.description.clone(),
                            ..config
                        },
                        default
                    );
                }
                Err(found) if bytes => assert!(value < 1024, "{}: {}", row.key, found[0]),
                Err(found) => {
                    let text = found[0].to_string();
                    assert!(
                        text.contains("it has no unit") || text.contains("the value has no unit"),
                        "{text}"
                    );
                }
            }
        }
        if bytes { sizes += 1 } else { others += 1 }
    }
    assert!(sizes > 10 && others > 40, "{sizes} {others}");
}

#[test]
fn sizes_that_are_wrong_say_why() {
    let refused = |text: &str| errors(from_text("x.ron", &format!("(core: (l1: ({text})))"))).join("\n");
    for (text, what) in [
        ("bytes: 64KiB", "a size with a unit is in quotes: \"64KiB\""),
        ("bytes: \"64KB\"", "`KB` may be powers of 1000 or of 1024: write `KiB`"),
        ("bytes: \"64XiB\"", "`XiB` is no unit of a size"),
        ("bytes: \"65536\"", "without quotes: 65536"),
        ("bytes: \"much\"", "`core.l1.bytes` is \"much\": it must be an integer from 256"),
        (
            "bytes: \"1GiB\"",
            "`core.l1.bytes` is \"1GiB\": it must be an integer from 256 to 67108864 (bytes)",
        ),
        ("bytes: \"99999999999G\"", "`99999999999G` does not fit 64 bits"),
        ("mshrs: \"1K\"", "the value counts lines, so it has no unit: `K`"),
        ("line_bytes: \"0K\"", "it must be a power of two from 32 to 128"),
    ] {
        let message = refused(text);
        assert!(message.contains(what), "{text}: {message}");
        assert!(message.contains("x.ron:1:"), "{text}: {message}");
    }
    let set = |word: &str| errors(load_with_settings("gpu.ron", &[word.to_owned()])).join("\n");
    assert!(set("l1.bytes=64KB").contains("write `KiB`"));
    assert!(set("cores=2K").contains("the value counts cores, so it has no unit: `K`"));
    assert!(set("l1.bytes=\"64KiB\"").is_empty() && set("l1.bytes=64KiB").is_empty());
}
