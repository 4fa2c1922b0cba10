use super::*;
use crate::results::Machine;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

/// A row that ended after so many cycles.
pub(crate) fn row(point: u64, values: &[&str], kernel: &str, cycles: u64) -> Row {
    let machine = Machine {
        name: "m".to_owned(),
        hash: "h".to_owned(),
        cores: 1,
        wave_width: 32,
        core_clock_mhz: 1000,
        set: Vec::new(),
    };
    let measured = Measured {
        kernel: kernel.to_owned(),
        machine,
        outcome: "ended".to_owned(),
        message: None,
        data: None,
        figures: IndexMap::from([("figure.ipc".to_owned(), 0.1 + 0.2)]),
        statistics: IndexMap::from([("kernel.cycles".to_owned(), cycles)]),
    };
    Row {
        point,
        values: values.iter().map(|&value| value.to_owned()).collect(),
        kernel: kernel.to_owned(),
        seed: None,
        config: Some("h".to_owned()),
        core_clock_mhz: Some(1000),
        result: Some("r".to_owned()),
        state: State::Measured(Box::new(measured)),
    }
}

fn table() -> Table {
    let invalid = Row {
        config: None,
        result: None,
        core_clock_mhz: None,
        state: State::Invalid("no, \"it\" is not".to_owned()),
        ..row(2, &["16", "lrr"], "a", 0)
    };
    let heading = |key: &str| Heading { key: key.to_owned(), unit: "" };
    Table {
        axes: vec![heading("cores"), heading("policy")],
        rows: vec![row(1, &["8", "gto"], "a", 20), invalid],
    }
}

#[test]
fn csv_has_a_line_for_each_row() {
    let csv = table().csv();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(
        lines[0].starts_with("point,cores,policy,kernel,outcome,message,config,result,cycles,microseconds,")
    );
    assert!(lines[1].starts_with("1,8,gto,a,ended,,h,r,20,0.02,"), "{}", lines[1]);
    assert!(lines[1].contains("0.30000000000000004"), "{}", lines[1]);
    assert!(lines[2].starts_with("2,16,lrr,a,invalid,\"no, \"\"it\"\" is not\",,,,,"), "{}", lines[2]);
}

/// Another reader of the format finds the same values in the same places.
#[test]
fn parquet_has_what_csv_has() {
    let table = table();
    let bytes = table.parquet().unwrap();
    assert_eq!(bytes, table.parquet().unwrap());
    let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
    let csv = table.csv();
    let mut lines = csv::Reader::from_reader(csv.as_bytes());
    let names: Vec<String> = lines.headers().unwrap().iter().map(str::to_owned).collect();
    let mut rows = 0;
    for (row, record) in reader.get_row_iter(None).unwrap().zip(lines.records()) {
        let (row, record) = (row.unwrap(), record.unwrap());
        for ((name, field), (expected, text)) in row.get_column_iter().zip(names.iter().zip(record.iter())) {
            let found = match field {
                Field::Null => String::new(),
                Field::Str(text) => text.clone(),
                Field::Long(value) => value.to_string(),
                Field::Double(value) => value.to_string(),
                other => panic!("{name}: {other}"),
            };
            assert_eq!((name, found.as_str()), (expected, text));
        }
        rows += 1;
    }
    assert_eq!((rows, names.len()), (2, table.columns().len()));
}
