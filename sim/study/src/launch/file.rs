//! A launch file as written (RON), before anything is computed.

use super::element::ElementType;
use super::expression::{Expression, ExpressionVisitor};
use super::given::Given;
use super::host::Reference;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// A launch file.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    /// One sentence that describes the kernel.
    #[serde(default)]
    pub description: String,
    /// File of the kernels, relative to the launch file: assembly, WBIN, or a module in another format.
    pub source: String,
    /// Kernel of the steps that name none. Not needed if the source has only one.
    #[serde(default)]
    pub entry: Option<String>,
    /// Bytes of the stack of a thread, for kernels in C and the like that keep data there.
    #[serde(default)]
    pub stack_bytes: Option<u32>,
    /// Bytes of the heap of a thread, for kernels in C that allocate memory.
    #[serde(default)]
    pub heap_bytes: Option<u32>,
    /// Flags of clang for a source in C, CUDA or OpenCL. Folders and files that they name are relative to the launch file.
    #[serde(default)]
    pub clang: Vec<String>,
    /// Format of the numbers of a PICA200 shader.
    #[serde(default)]
    pub pica_float: PicaFloat,
    /// Values of the pipeline constants of a shader, by name or number.
    #[serde(default)]
    pub overrides: Keyed<Expression>,
    /// What becomes of an index of a shader that is outside its array. Default: it is clamped.
    #[serde(default)]
    pub bounds: Option<Bounds>,
    /// Whether a product of a shader and the sum that takes it are rounded once. Default: they are.
    #[serde(default)]
    pub contract: Option<bool>,
    /// Optional instructions that the kernels need.
    #[serde(default)]
    pub requires: Vec<Requirement>,
    /// Seed of all random contents.
    #[serde(default = "one")]
    pub seed: u64,
    /// Named numbers; a later one may use the ones before it.
    #[serde(default)]
    pub parameters: Named<Parameter>,
    /// Random inputs that take several buffers.
    #[serde(default)]
    pub structures: Named<Structure>,
    /// Device memory, in address order unless a buffer states its address.
    #[serde(default)]
    pub buffers: Named<Buffer>,
    /// What runs, in order.
    pub steps: Vec<Step>,
    /// What buffers hold at the end.
    #[serde(default)]
    pub expect: Named<Expect>,
}

fn one() -> u64 {
    1
}

/// An optional instruction set feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Requirement {
    /// CAP_F64.
    F64,
    /// CAP_MMA.
    Mma,
}

/// A format of numbers of PICA200 shaders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum PicaFloat {
    /// 24 bits, as the hardware has them.
    #[default]
    F24,
    /// binary32.
    F32,
}

/// What becomes of an index of a shader that is outside its array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Bounds {
    /// It means the last element.
    Clamp,
    /// The thread traps.
    Trap,
}

/// A number that may differ between the sizes.
#[derive(Debug, PartialEq)]
pub(super) struct Parameter {
    /// Its value in the full size.
    pub full: Expression,
    /// Its value in the small size.
    pub small: Expression,
}

/// A random input that spans several buffers.
#[derive(Debug, serde::Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Structure {
    /// A graph or sparse matrix in compressed rows: each entry is in a random row and a random column.
    Csr {
        /// Rows, or vertices.
        rows: Expression,
        /// Columns; by default as many as rows.
        #[serde(default)]
        columns: Option<Expression>,
        /// Total number of entries, or edges.
        entries: Expression,
    },
}

/// A buffer of device memory.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Buffer {
    /// Type of the elements.
    #[serde(rename = "type")]
    pub element: ElementType,
    /// Number of elements. Not needed if the contents have a length of their own.
    #[serde(default)]
    pub length: Option<Expression>,
    /// Initial contents.
    #[serde(default)]
    pub contents: Contents,
    /// Address of its first byte, if the kernel relies on one.
    #[serde(default)]
    pub address: Option<Expression>,
}

/// Initial contents of a buffer.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Contents {
    /// All 0.
    #[default]
    Zero,
    /// 0, 1, 2, …
    Iota,
    /// Random values from the first number to the second: floats exclude the second, integers include it.
    Uniform(Expression, Expression),
    /// Random integers, even in a float buffer; both ends are included.
    Integers(Expression, Expression),
    /// An expression of the element index `i`.
    Each(Expression),
    /// A list of values.
    Values(Vec<Given>),
    /// The bytes of a file, relative to the launch file.
    File(String),
    /// A random permutation of 0, 1, 2, … that is one cycle: following it visits every element.
    Cycle,
    /// First entry of each row of a structure, and the number of entries: one element more than it has rows.
    Offsets(String),
    /// Column of each entry of a structure.
    Columns(String),
    /// The bytes of an earlier buffer, compressed in blocks (LZ4 block format). Each block is in a slot: its compressed
    /// size as a u32, its compressed bytes, zeros. The slots share the buffer.
    Lz4 {
        /// The earlier buffer.
        of: String,
        /// Uncompressed bytes of a block; the last one may have fewer.
        block_bytes: Expression,
    },
}

/// A step of the run.
#[derive(Debug, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Step {
    /// A launch.
    Run(Run),
    /// The same steps for each value of a variable.
    Repeat(Repeat),
}

/// One launch of a kernel.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Run {
    /// Name of the kernel. Default: `entry`.
    #[serde(default)]
    pub kernel: Option<String>,
    /// Workgroups, x, y, z.
    pub grid: Dimensions,
    /// Threads of a workgroup, x, y, z. Default: the kernel's.
    #[serde(default)]
    pub workgroup: Option<Dimensions>,
    /// Bytes of local memory of a workgroup beside those that the kernel states: the dynamic shared memory of CUDA.
    #[serde(default)]
    pub dynamic_local: Option<Expression>,
    /// Argument i goes into register ri of every lane.
    #[serde(default)]
    pub arguments: Vec<Given>,
    /// The buffers of a shader, by group and number: `GROUP.BINDING`.
    #[serde(default)]
    pub bindings: Keyed<Expression>,
}

/// Steps repeated for each value of a variable.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Repeat {
    /// Name of the variable.
    pub variable: String,
    /// Its first value.
    pub from: Expression,
    /// Its last value.
    pub to: Expression,
    /// Step of the variable: 1 by default, negative to count down.
    #[serde(default)]
    pub by: Option<Expression>,
    /// The steps to run for each value.
    pub steps: Vec<Step>,
}

/// Expected contents of a buffer.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expect {
    /// The values.
    pub equals: Reference,
    /// Allowed deviation.
    #[serde(default)]
    pub tolerance: Tolerance,
    /// True if the values may be in any order.
    #[serde(default)]
    pub any_order: bool,
}

/// Allowed deviation from the expected value.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Tolerance {
    /// Equal to the value rounded to the element type.
    #[default]
    Exact,
    /// At most this difference.
    Absolute(Expression),
    /// At most this fraction of the expected value.
    Relative(Expression),
    /// At most the sum of both.
    Close {
        /// In the unit of the values.
        absolute: Expression,
        /// A fraction of the expected value.
        relative: Expression,
    },
    /// At most this many units in the last place.
    Ulp(Expression),
}

/// Named entries in the order of the file: `(first: …, second: …)`.
#[derive(Debug)]
pub(super) struct Named<T>(pub Vec<(String, T)>);

impl<T> Default for Named<T> {
    fn default() -> Self {
        Named(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Entries::new("(name: …, name: …)")).map(Named)
    }
}

/// Entries under texts in the order of the file: `{"first": …, "second": …}`.
#[derive(Debug)]
pub(super) struct Keyed<T>(pub Vec<(String, T)>);

impl<T> Default for Keyed<T> {
    fn default() -> Self {
        Keyed(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Keyed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Entries::new("{\"key\": …, \"key\": …}")).map(Keyed)
    }
}

/// Reads entries that have names or keys.
struct Entries<T> {
    expecting: &'static str,
    of: PhantomData<T>,
}

impl<T> Entries<T> {
    fn new(expecting: &'static str) -> Entries<T> {
        Entries { expecting, of: PhantomData }
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
    type Value = Vec<(String, T)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expecting)
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }

    /// ron parses `( )` as an empty tuple.
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        match seq.next_element::<de::IgnoredAny>()? {
            None => Ok(Vec::new()),
            Some(_) => Err(de::Error::invalid_type(de::Unexpected::Seq, &self)),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            entries.push((name, map.next_value()?));
        }
        Ok(entries)
    }
}

/// The fields of a parameter with two sizes.
#[derive(serde::Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum SizeField {
    Full,
    Small,
}

impl<'de> Deserialize<'de> for Parameter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ParameterVisitor;

        fn same<E>(value: Result<Expression, E>) -> Result<Parameter, E> {
            value.map(|full| Parameter { small: full.clone(), full })
        }

        impl<'de> Visitor<'de> for ParameterVisitor {
            type Value = Parameter;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, an expression in quotes, or (full: …, small: …)")
            }

            fn visit_i64<E: de::Error>(self, v: i64) -> Result<Parameter, E> {
                same(ExpressionVisitor.visit_i64(v))
            }

            fn visit_u64<E: de::Error>(self, v: u64) -> Result<Parameter, E> {
                same(ExpressionVisitor.visit_u64(v))
            }

            fn visit_f64<E: de::Error>(self, v: f64) -> Result<Parameter, E> {
                same(ExpressionVisitor.visit_f64(v))
            }

            fn visit_str<E: de::Error>(self, v: &str) -> Result<Parameter, E> {
                same(ExpressionVisitor.visit_str(v))
            }

            fn visit_unit<E: de::Error>(self) -> Result<Parameter, E> {
                same(ExpressionVisitor.visit_unit())
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Parameter, A::Error> {
                let (mut full, mut small) = (None, None);
                while let Some(field) = map.next_key()? {
                    let (slot, name) = match field {
                        SizeField::Full => (&mut full, "full"),
                        SizeField::Small => (&mut small, "small"),
                    };
                    if slot.replace(map.next_value()?).is_some() {
                        return Err(de::Error::duplicate_field(name));
                    }
                }
                Ok(Parameter {
                    full: full.ok_or_else(|| de::Error::missing_field("full"))?,
                    small: small.ok_or_else(|| de::Error::missing_field("small"))?,
                })
            }
        }

        deserializer.deserialize_any(ParameterVisitor)
    }
}

/// One to three sizes: x, y, z. Missing ones are 1.
#[derive(Debug, PartialEq)]
pub(super) struct Dimensions(pub Vec<Expression>);

impl<'de> Deserialize<'de> for Dimensions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct DimensionsVisitor;

        fn one<E>(value: Result<Expression, E>) -> Result<Dimensions, E> {
            value.map(|x| Dimensions(vec![x]))
        }

        impl<'de> Visitor<'de> for DimensionsVisitor {
            type Value = Dimensions;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, an expression in quotes, or up to three of them: (x, y, z)")
            }

            fn visit_i64<E: de::Error>(self, v: i64) -> Result<Dimensions, E> {
                one(ExpressionVisitor.visit_i64(v))
            }

            fn visit_u64<E: de::Error>(self, v: u64) -> Result<Dimensions, E> {
                one(ExpressionVisitor.visit_u64(v))
            }

            fn visit_str<E: de::Error>(self, v: &str) -> Result<Dimensions, E> {
                one(ExpressionVisitor.visit_str(v))
            }

            fn visit_unit<E: de::Error>(self) -> Result<Dimensions, E> {
                one(ExpressionVisitor.visit_unit())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Dimensions, A::Error> {
                let mut sizes = Vec::new();
                while let Some(size) = seq.next_element()? {
                    sizes.push(size);
                }
                match sizes.len() {
                    1..=3 => Ok(Dimensions(sizes)),
                    n => Err(de::Error::invalid_length(n, &self)),
                }
            }
        }

        deserializer.deserialize_any(DimensionsVisitor)
    }
}
