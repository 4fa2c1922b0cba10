//! The quantities that published measurements are of, with their parameters.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;
use wave_isa::suggest::did_you_mean;

/// The topic of a published measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PublishedTopic {
    /// Load-to-use latency against footprint, and of each level.
    Latency,
    /// Capacity of the L1.
    Sizes,
    /// Read bandwidth of the L1 against footprint.
    L1Bandwidth,
    /// Read bandwidth of the L2 against footprint.
    L2Bandwidth,
    /// Cycles of a load in the L1 against the stride between lanes.
    Strides,
    /// Streams through memory against occupancy.
    Streams,
    /// Time of small kernels, launch included.
    SmallKernels,
    /// Cycles of the kernels of whole programs.
    ProgramCycles,
    /// What a profiler counts in them.
    ProgramCounters,
}

impl PublishedTopic {
    /// Every topic, in the order of a report.
    pub const ALL: [PublishedTopic; 9] = [
        PublishedTopic::Latency,
        PublishedTopic::Sizes,
        PublishedTopic::L1Bandwidth,
        PublishedTopic::L2Bandwidth,
        PublishedTopic::Strides,
        PublishedTopic::Streams,
        PublishedTopic::SmallKernels,
        PublishedTopic::ProgramCycles,
        PublishedTopic::ProgramCounters,
    ];

    /// Its name in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            PublishedTopic::Latency => "latency",
            PublishedTopic::Sizes => "sizes",
            PublishedTopic::L1Bandwidth => "l1-bandwidth",
            PublishedTopic::L2Bandwidth => "l2-bandwidth",
            PublishedTopic::Strides => "strides",
            PublishedTopic::Streams => "streams",
            PublishedTopic::SmallKernels => "small-kernels",
            PublishedTopic::ProgramCycles => "program-cycles",
            PublishedTopic::ProgramCounters => "program-counters",
        }
    }
}

impl FromStr for PublishedTopic {
    type Err = Misnamed;

    fn from_str(name: &str) -> Result<PublishedTopic, Misnamed> {
        let found = PublishedTopic::ALL.into_iter().find(|topic| topic.name() == name);
        found.ok_or_else(|| Misnamed::new("topic", name, &PublishedTopic::ALL.map(PublishedTopic::name)))
    }
}

/// An unknown name, with a hint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misnamed {
    /// The message.
    pub message: String,
    /// The near name, or all names.
    pub hint: String,
}

impl Misnamed {
    pub(crate) fn new(what: &str, name: &str, all: &[&str]) -> Misnamed {
        let near = did_you_mean(name, all.iter().copied());
        let hint = near.unwrap_or_else(|| format!("there are {}", all.join(", ")));
        Misnamed { message: format!("there is no {what} `{name}`"), hint }
    }
}

/// Names of a fieldless enum in files.
macro_rules! named {
    ($(#[$doc:meta])* $type:ident, $what:literal:
     $($(#[$variant_doc:meta])* $variant:ident = $name:literal),+ $(,)?) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $type {
            $($(#[$variant_doc])* $variant),+
        }

        impl $type {
            /// Its name in files.
            pub const fn name(self) -> &'static str {
                match self { $($type::$variant => $name),+ }
            }

            fn of(name: &str) -> Result<$type, Misnamed> {
                match name {
                    $($name => Ok($type::$variant),)+
                    _ => Err(Misnamed::new($what, name, &[$($name),+])),
                }
            }
        }
    };
}

named! {
    /// A level of the memory hierarchy that serves a load.
    ServedBy, "level":
    /// Local memory of the core.
    Local = "local",
    /// The L1.
    L1 = "l1",
    /// The L2.
    L2 = "l2",
    /// The memory devices.
    Memory = "memory",
}

named! {
    /// Type of an array's elements.
    ElementType, "type":
    /// 4 bytes.
    Float = "float",
    /// 8 bytes.
    Double = "double",
}

impl ElementType {
    /// Bytes of an element.
    pub(crate) const fn bytes(self) -> u32 {
        match self {
            ElementType::Float => 4,
            ElementType::Double => 8,
        }
    }
}

named! {
    /// The kernel of a stream: one element of type double a thread.
    StreamKernel, "kernel":
    /// `a[i] = 0.23`
    Init = "init",
    /// Reads `b[i]`.
    Read = "read",
    /// `a[i] = 1.2 * b[i]`
    Scale = "scale",
    /// `a[i] = b[i] * d[i] + c[i]`
    Triad = "triad",
    /// A stencil of three points in one dimension.
    ThreePoint = "3pt",
    /// A stencil of five points in one dimension.
    FivePoint = "5pt",
}

named! {
    /// What a profiler counts in a launch.
    KernelCounter, "counter":
    /// Cycles from the first workgroup to the end.
    Cycles = "cycles",
    /// Accesses of local memory, one for each wave instruction.
    LocalAccesses = "local",
    /// Sectors of 32 bytes that the L1 requests for loads.
    L1Misses = "l1_misses",
    /// Sectors of 32 bytes read from DRAM.
    DramReads = "dram_reads",
    /// Sectors of 32 bytes written to DRAM.
    DramWrites = "dram_writes",
}

/// A measured quantity with its parameters.
#[derive(Debug, Clone, PartialEq)]
pub enum PublishedQuantity {
    /// Cycles of a dependent load in a random cyclic order of lines of 128 bytes.
    LoadLatency {
        /// Bytes of all lines.
        footprint: u64,
    },
    /// Cycles of a dependent load that one level serves.
    LevelLatency {
        /// The level.
        level: ServedBy,
    },
    /// The largest footprint in bytes whose loads all hit in the L1.
    L1Size,
    /// GB/s of all cores, each reading the same footprint over and over with one workgroup.
    L1Bandwidth {
        /// Bytes of the footprint.
        footprint: u64,
        /// Bytes of a lane in a load.
        lane_bytes: u32,
    },
    /// GB/s of all cores, whose workgroups read pieces of one footprint.
    L2Bandwidth {
        /// Bytes of the footprint.
        footprint: u64,
    },
    /// Cycles of a load of 32 lanes in the L1, with lanes some elements apart.
    StrideCycles {
        /// Type of the elements.
        element: ElementType,
        /// Elements from lane to lane.
        stride: u32,
    },
    /// Cycles of a load of 32 lanes in the L1, with lanes in rows of a block; the rows are 4098 elements apart.
    BlockCycles {
        /// Type of the elements.
        element: ElementType,
        /// Elements of a row.
        width: u32,
    },
    /// GB/s of a stream with an element a thread and a bounded number of workgroups a core.
    Stream {
        /// The kernel.
        kernel: StreamKernel,
        /// Threads of a workgroup.
        threads: u32,
        /// Workgroups of a core.
        groups: u32,
    },
    /// Microseconds from one small kernel to the next.
    SmallKernel {
        /// Elements of type double.
        elements: u32,
        /// Threads of a workgroup.
        threads: u32,
    },
    /// The mean of a counter over the launches of a kernel of a program.
    Kernel {
        /// Name of the program, which is that of its document too.
        program: String,
        /// Name of the kernel.
        kernel: String,
        /// What is counted.
        counter: KernelCounter,
    },
}

/// Names of all quantities in files.
const NAMES: [&str; 11] = [
    "load_latency",
    "level_latency",
    "l1_size",
    "l1_bandwidth",
    "l2_bandwidth",
    "stride_cycles",
    "block_cycles",
    "stream",
    "small_kernel",
    "kernel_cycles",
    "kernel_counter",
];

impl PublishedQuantity {
    /// The quantity with this name and these parameters, `key=value` with blanks between them.
    ///
    /// # Errors
    /// An unknown name or key, a missing key, or a value that is not one.
    pub fn of(name: &str, parameters: &str) -> Result<PublishedQuantity, Misnamed> {
        let mut given = Parameters::of(parameters)?;
        let quantity = match name {
            "load_latency" => PublishedQuantity::LoadLatency { footprint: given.kib(MOST_KIB)? },
            "level_latency" => PublishedQuantity::LevelLatency { level: ServedBy::of(given.take("level")?)? },
            "l1_size" => PublishedQuantity::L1Size,
            "l1_bandwidth" => {
                let lane_bytes = given.number("lane_bytes", 4, 16)?;
                let footprint = given.kib(4096.0)?;
                if lane_bytes != 4 && lane_bytes != 16 {
                    return Err(wrong("`lane_bytes` is 4 or 16".to_owned()));
                }
                if !footprint.is_multiple_of(2 * 128 * u64::from(lane_bytes)) {
                    return Err(wrong(format!("{footprint} bytes are no two arrays of 128 lanes")));
                }
                PublishedQuantity::L1Bandwidth { footprint, lane_bytes }
            }
            "l2_bandwidth" => {
                let footprint = given.kib(MOST_KIB)?;
                if !footprint.is_multiple_of(512 << 10) {
                    return Err(wrong("`footprint_kib` is a multiple of 512".to_owned()));
                }
                PublishedQuantity::L2Bandwidth { footprint }
            }
            "stride_cycles" => PublishedQuantity::StrideCycles {
                element: ElementType::of(given.take("type")?)?,
                stride: given.number("stride", 0, 1024)?,
            },
            "block_cycles" => {
                let width = given.number("width", 1, 64)?;
                if !width.is_power_of_two() {
                    return Err(wrong("`width` is a power of two".to_owned()));
                }
                PublishedQuantity::BlockCycles { element: ElementType::of(given.take("type")?)?, width }
            }
            "stream" => PublishedQuantity::Stream {
                kernel: StreamKernel::of(given.take("kernel")?)?,
                threads: given.number("threads", 1, 1024)?,
                groups: given.number("blocks", 1, 32)?,
            },
            "small_kernel" => PublishedQuantity::SmallKernel {
                elements: given.number("elements", 1, 1 << 24)?,
                threads: given.number("threads", 1, 1024)?,
            },
            "kernel_cycles" => given.kernel(KernelCounter::Cycles)?,
            "kernel_counter" => {
                let counter = KernelCounter::of(given.take("counter")?)?;
                if counter == KernelCounter::Cycles {
                    return Err(wrong("cycles are a quantity of their own: `kernel_cycles`".to_owned()));
                }
                given.kernel(counter)?
            }
            _ => return Err(Misnamed::new("quantity", name, &NAMES)),
        };
        given.end()?;
        Ok(quantity)
    }

    /// Its name in files.
    pub fn name(&self) -> &'static str {
        match self {
            PublishedQuantity::LoadLatency { .. } => NAMES[0],
            PublishedQuantity::LevelLatency { .. } => NAMES[1],
            PublishedQuantity::L1Size => NAMES[2],
            PublishedQuantity::L1Bandwidth { .. } => NAMES[3],
            PublishedQuantity::L2Bandwidth { .. } => NAMES[4],
            PublishedQuantity::StrideCycles { .. } => NAMES[5],
            PublishedQuantity::BlockCycles { .. } => NAMES[6],
            PublishedQuantity::Stream { .. } => NAMES[7],
            PublishedQuantity::SmallKernel { .. } => NAMES[8],
            PublishedQuantity::Kernel { counter: KernelCounter::Cycles, .. } => NAMES[9],
            PublishedQuantity::Kernel { .. } => NAMES[10],
        }
    }

    /// Its topic.
    pub fn topic(&self) -> PublishedTopic {
        match self {
            PublishedQuantity::LoadLatency { .. } | PublishedQuantity::LevelLatency { .. } => {
                PublishedTopic::Latency
            }
            PublishedQuantity::L1Size => PublishedTopic::Sizes,
            PublishedQuantity::L1Bandwidth { .. } => PublishedTopic::L1Bandwidth,
            PublishedQuantity::L2Bandwidth { .. } => PublishedTopic::L2Bandwidth,
            PublishedQuantity::StrideCycles { .. } | PublishedQuantity::BlockCycles { .. } => {
                PublishedTopic::Strides
            }
            PublishedQuantity::Stream { .. } => PublishedTopic::Streams,
            PublishedQuantity::SmallKernel { .. } => PublishedTopic::SmallKernels,
            PublishedQuantity::Kernel { counter: KernelCounter::Cycles, .. } => PublishedTopic::ProgramCycles,
            PublishedQuantity::Kernel { .. } => PublishedTopic::ProgramCounters,
        }
    }

    /// The program whose run has the value; `None` for what a kernel here measures.
    pub fn program(&self) -> Option<&str> {
        if let PublishedQuantity::Kernel { program, .. } = self { Some(program) } else { None }
    }

    /// The unit of its values.
    pub fn unit(&self) -> &'static str {
        match self {
            PublishedQuantity::L1Size => "bytes",
            PublishedQuantity::L1Bandwidth { .. }
            | PublishedQuantity::L2Bandwidth { .. }
            | PublishedQuantity::Stream { .. } => "GB/s",
            PublishedQuantity::SmallKernel { .. } => "us",
            PublishedQuantity::Kernel { counter: KernelCounter::LocalAccesses, .. } => "accesses",
            PublishedQuantity::Kernel { counter, .. } if *counter != KernelCounter::Cycles => "sectors",
            _ => "cycles",
        }
    }
}

/// Footprints end at 1 GiB.
const MOST_KIB: f64 = (1 << 20) as f64;

fn wrong(message: String) -> Misnamed {
    Misnamed { message, hint: "docs/validate.md lists every quantity with its parameters".to_owned() }
}

/// Parameters of a point that nobody has taken yet.
struct Parameters<'a> {
    given: Vec<(&'a str, &'a str)>,
}

impl<'a> Parameters<'a> {
    fn of(text: &'a str) -> Result<Parameters<'a>, Misnamed> {
        let pair = |word: &'a str| {
            word.split_once('=').ok_or_else(|| wrong(format!("`{word}` is no parameter `key=value`")))
        };
        Ok(Parameters { given: text.split_whitespace().map(pair).collect::<Result<_, _>>()? })
    }

    fn take(&mut self, key: &str) -> Result<&'a str, Misnamed> {
        match self.given.iter().position(|(given, _)| *given == key) {
            Some(at) => Ok(self.given.remove(at).1),
            None => Err(wrong(format!("the parameter `{key}` is missing"))),
        }
    }

    fn kernel(&mut self, counter: KernelCounter) -> Result<PublishedQuantity, Misnamed> {
        let [program, kernel] = [self.take("program")?, self.take("kernel")?].map(str::to_owned);
        Ok(PublishedQuantity::Kernel { program, kernel, counter })
    }

    fn number(&mut self, key: &str, least: u32, most: u32) -> Result<u32, Misnamed> {
        let text = self.take(key)?;
        let number = text.parse().ok().filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| wrong(format!("`{key}={text}`: the value is no integer from {least} to {most}")))
    }

    /// Bytes of `footprint_kib`, in whole lines of 128 bytes.
    fn kib(&mut self, most: f64) -> Result<u64, Misnamed> {
        let text = self.take("footprint_kib")?;
        let number = text.parse::<f64>().ok().filter(|number| *number >= 1.0 && *number <= most);
        let kib = number.ok_or_else(|| {
            wrong(format!("`footprint_kib={text}`: the value is no number from 1 to {most}"))
        })?;
        Ok((kib * 8.0).round() as u64 * 128)
    }

    fn end(&self) -> Result<(), Misnamed> {
        match self.given.first() {
            None => Ok(()),
            Some((key, _)) => Err(wrong(format!("the quantity has no parameter `{key}`"))),
        }
    }
}

impl Display for PublishedQuantity {
    /// The point for readers, without the name of the quantity.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            PublishedQuantity::LoadLatency { footprint } | PublishedQuantity::L2Bandwidth { footprint } => {
                f.write_str(&footprint_text(*footprint))
            }
            PublishedQuantity::LevelLatency { level } => f.write_str(level.name()),
            PublishedQuantity::L1Size => f.write_str("l1"),
            PublishedQuantity::L1Bandwidth { footprint, lane_bytes } => {
                write!(f, "{}, {lane_bytes} bytes a lane", footprint_text(*footprint))
            }
            PublishedQuantity::StrideCycles { element, stride } => {
                write!(f, "{} stride {stride}", element.name())
            }
            PublishedQuantity::BlockCycles { element, width } => {
                write!(f, "{} block {width}", element.name())
            }
            PublishedQuantity::Stream { kernel, threads, groups } => {
                write!(f, "{}, {threads} threads x {groups}", kernel.name())
            }
            PublishedQuantity::SmallKernel { elements, threads } => {
                write!(f, "{elements} elements, {threads} threads")
            }
            PublishedQuantity::Kernel { program, kernel, counter: KernelCounter::Cycles } => {
                write!(f, "{program} {kernel}")
            }
            PublishedQuantity::Kernel { program, kernel, counter } => {
                write!(f, "{program} {kernel} {}", counter.name())
            }
        }
    }
}

/// Bytes with one digit after the point at most.
fn footprint_text(bytes: u64) -> String {
    let kib = bytes as f64 / 1024.0;
    let (value, unit) = if kib >= 1024.0 { (kib / 1024.0, "MiB") } else { (kib, "KiB") };
    let text = format!("{value:.1}");
    format!("{} {unit}", text.strip_suffix(".0").unwrap_or(&text))
}
