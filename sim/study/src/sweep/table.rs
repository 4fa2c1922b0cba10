//! The rows of a sweep, and its table as CSV and Parquet: one row a point, kernel and seed.

use crate::results::{AREA, ENERGY, Measured, POWER};
use crate::summary::statistics;
use indexmap::IndexMap;
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::Result as ParquetResult;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use std::sync::Arc;

/// A run of a kernel at a point, or why there is none.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Number of the point, from 1.
    pub point: u64,
    /// The value of each axis.
    pub values: Vec<String>,
    /// Name of the kernel.
    pub kernel: String,
    /// Seed of its random data; `None` for its own.
    pub seed: Option<u64>,
    /// Hash of the configuration; `None` if there is no such machine.
    pub config: Option<String>,
    /// Clock of the cores in MHz.
    pub core_clock_mhz: Option<u32>,
    /// Name of the result in the store.
    pub result: Option<String>,
    /// What became of it.
    pub state: State,
}

/// What became of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum State {
    /// It ran, to an end or not.
    Measured(Box<Measured>),
    /// There is no such machine, with the reason.
    Invalid(String),
    /// The kernel cannot run there, with the reason.
    Refused(String),
    /// The process that ran it died, with the reason.
    Lost(String),
    /// It has not run yet.
    Missing,
}

impl Row {
    /// One word, as [`Measured::outcome`], or `invalid`, `refused`, `lost` or `missing`.
    pub fn outcome(&self) -> &str {
        match &self.state {
            State::Measured(measured) => &measured.outcome,
            State::Invalid(_) => "invalid",
            State::Refused(_) => "refused",
            State::Lost(_) => "lost",
            State::Missing => "missing",
        }
    }

    /// Why it has no figures.
    pub fn message(&self) -> Option<&str> {
        match &self.state {
            State::Measured(measured) => measured.message.as_deref(),
            State::Invalid(why) | State::Refused(why) | State::Lost(why) => Some(why),
            State::Missing => None,
        }
    }

    /// What it measured.
    pub fn measured(&self) -> Option<&Measured> {
        if let State::Measured(measured) = &self.state { Some(measured) } else { None }
    }

    /// Cycles, if it ended.
    pub fn cycles(&self) -> Option<u64> {
        self.measured().and_then(Measured::cycles)
    }

    /// Time in microseconds, if it ended.
    pub fn microseconds(&self) -> Option<f64> {
        Some(self.cycles()? as f64 / f64::from(self.core_clock_mhz?))
    }

    /// A figure or statistic by its name, if it ended.
    pub fn figure(&self, name: &str) -> Option<f64> {
        let measured = self.measured().filter(|measured| measured.cycles().is_some())?;
        let figure = measured.figures.get(name).copied();
        figure.or_else(|| measured.statistics.get(name).map(|&value| value as f64))
    }
}

/// An axis, for headings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// Complete path of the parameter.
    pub key: String,
    /// Its unit; empty if it has none.
    pub unit: &'static str,
}

/// All rows of a sweep, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Its axes.
    pub axes: Vec<Heading>,
    /// Its rows.
    pub rows: Vec<Row>,
}

/// A column. Every row has a value in it, or none.
#[derive(Debug, Clone, PartialEq)]
enum Column {
    Integers(Vec<Option<i64>>),
    Numbers(Vec<Option<f64>>),
    Texts(Vec<Option<String>>),
}

impl Table {
    /// Columns in order, by name.
    fn columns(&self) -> IndexMap<String, Column> {
        let mut columns = IndexMap::new();
        let rows = &self.rows;
        let integer = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        let text = |of: &dyn Fn(&Row) -> Option<String>| Column::Texts(rows.iter().map(of).collect());
        columns.insert(
            "point".to_owned(),
            Column::Integers(rows.iter().map(|r| Some(integer(r.point))).collect()),
        );
        for (i, axis) in self.axes.iter().enumerate() {
            columns.insert(axis.key.clone(), values(rows.iter().map(|row| row.values[i].as_str())));
        }
        columns.insert("kernel".to_owned(), text(&|row| Some(row.kernel.clone())));
        if rows.iter().any(|row| row.seed.is_some()) {
            columns.insert(
                "seed".to_owned(),
                Column::Integers(rows.iter().map(|r| r.seed.map(integer)).collect()),
            );
        }
        columns.insert("outcome".to_owned(), text(&|row| Some(row.outcome().to_owned())));
        columns.insert("message".to_owned(), text(&|row| row.message().map(str::to_owned)));
        columns.insert("config".to_owned(), text(&|row| row.config.clone()));
        columns.insert("result".to_owned(), text(&|row| row.result.clone()));
        columns.insert(
            "cycles".to_owned(),
            Column::Integers(rows.iter().map(|r| r.cycles().map(integer)).collect()),
        );
        columns
            .insert("microseconds".to_owned(), Column::Numbers(rows.iter().map(Row::microseconds).collect()));
        for (name, figure) in [("energy_joules", ENERGY), ("power_watts", POWER), ("area_mm2", AREA)] {
            let values: Vec<Option<f64>> = rows.iter().map(|row| row.figure(figure)).collect();
            if values.iter().any(Option::is_some) {
                columns.insert(name.to_owned(), Column::Numbers(values));
            }
        }
        for declared in statistics::declared() {
            let name = declared.name;
            let of = |row: &Row| row.measured().and_then(|measured| measured.figures.get(name).copied());
            if rows.iter().any(|row| of(row).is_some()) {
                columns.insert(name.to_owned(), Column::Numbers(rows.iter().map(of).collect()));
                continue;
            }
            let of = |row: &Row| row.measured().and_then(|m| m.statistics.get(name).copied()).map(integer);
            columns.insert(name.to_owned(), Column::Integers(rows.iter().map(of).collect()));
        }
        columns
    }

    /// The table as CSV, with names in its first line. A value that is not there is empty.
    pub fn csv(&self) -> String {
        let columns = self.columns();
        let mut writer = csv::Writer::from_writer(Vec::new());
        // Writing to memory does not fail.
        _ = writer.write_record(columns.keys());
        for row in 0..self.rows.len() {
            _ = writer.write_record(columns.values().map(|column| column.text(row)));
        }
        writer.into_inner().ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
    }

    /// The table as a Parquet file: integers of 64 bits, doubles and UTF-8, all of them optional; one row group.
    ///
    /// # Errors
    /// The library refuses it.
    pub fn parquet(&self) -> Result<Vec<u8>, String> {
        parquet(&self.columns()).map_err(|error| error.to_string())
    }
}

/// Values of a parameter: integers if all are.
fn values<'a>(texts: impl Iterator<Item = &'a str> + Clone) -> Column {
    let integers: Option<Vec<i64>> = texts.clone().map(|text| text.parse().ok()).collect();
    match integers {
        Some(integers) => Column::Integers(integers.into_iter().map(Some).collect()),
        None => Column::Texts(texts.map(|text| Some(text.to_owned())).collect()),
    }
}

impl Column {
    /// The value in a row as text.
    fn text(&self, row: usize) -> String {
        let text = match self {
            Column::Integers(values) => values[row].map(|value| value.to_string()),
            Column::Numbers(values) => values[row].map(|value| value.to_string()),
            Column::Texts(values) => values[row].clone(),
        };
        text.unwrap_or_default()
    }

    fn field(&self, name: &str) -> ParquetResult<Type> {
        let (physical, logical) = match self {
            Column::Integers(_) => (Physical::INT64, None),
            Column::Numbers(_) => (Physical::DOUBLE, None),
            Column::Texts(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical)
            .build()
    }

    fn write(&self, group: &mut SerializedRowGroupWriter<'_, Vec<u8>>) -> ParquetResult<()> {
        let Some(mut writer) = group.next_column()? else { return Ok(()) };
        match self {
            Column::Integers(values) => {
                let (values, there) = present(values);
                writer.typed::<Int64Type>().write_batch(&values, Some(&there), None)?;
            }
            Column::Numbers(values) => {
                let (values, there) = present(values);
                writer.typed::<DoubleType>().write_batch(&values, Some(&there), None)?;
            }
            Column::Texts(values) => {
                let (values, there) = present(values);
                let values: Vec<ByteArray> = values.iter().map(|text| text.as_str().into()).collect();
                writer.typed::<ByteArrayType>().write_batch(&values, Some(&there), None)?;
            }
        }
        writer.close()
    }
}

/// The values that are there, and for each row 1 if it has one.
fn present<T: Clone>(values: &[Option<T>]) -> (Vec<T>, Vec<i16>) {
    let there = values.iter().map(|value| i16::from(value.is_some())).collect();
    (values.iter().flatten().cloned().collect(), there)
}

fn parquet(columns: &IndexMap<String, Column>) -> ParquetResult<Vec<u8>> {
    let fields = columns.iter().map(|(name, column)| column.field(name).map(Arc::new));
    let fields = fields.collect::<ParquetResult<Vec<_>>>()?;
    let schema = Arc::new(Type::group_type_builder("sweep").with_fields(fields).build()?);
    let properties = WriterProperties::builder().set_created_by("wave-sim".to_owned()).build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for column in columns.values() {
        column.write(&mut group)?;
    }
    group.close()?;
    writer.into_inner()
}

#[cfg(test)]
#[path = "table_tests.rs"]
pub(super) mod tests;
