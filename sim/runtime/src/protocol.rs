//! Messages between a program and the simulator that runs its kernels.
//!
//! A program sends a [`Request`] over a Unix socket and waits for the [`Reply`]. Either may carry bytes beside it: the
//! contents of memory, the image of a module, the arguments of a launch. Both ends are of one version of wave-sim, so
//! the layout may change with any version.

mod wire;

use std::io::{self, Read, Write};
use wire::Wire;

/// The environment variable with the path of the socket.
pub const SOCKET: &str = "WAVE_SIM_SOCKET";

/// Most bytes of a message without what it carries.
const MOST_HEAD_BYTES: u32 = 1 << 26;
/// Most bytes that a message carries: addresses of device memory have 32 bits.
const MOST_DATA_BYTES: u64 = 1 << 32;

/// Declares a structure of a message.
macro_rules! structure {
    ($(#[$doc:meta])* $name:ident { $($(#[$of:meta])* $field:ident: $ty:ty,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub struct $name { $($(#[$of])* pub $field: $ty,)* }

        impl Wire for $name {
            fn put(&self, to: &mut Vec<u8>) {
                $(self.$field.put(to);)*
            }

            fn take(from: &mut &[u8]) -> Option<Self> {
                Some($name { $($field: Wire::take(from)?,)* })
            }
        }
    };
}

/// Declares the messages of one direction. A variant is sent as its number.
macro_rules! messages {
    ($(#[$doc:meta])* $name:ident {
        $($(#[$of:meta])* $variant:ident { $($(#[$about:meta])* $field:ident: $ty:ty),* } = $number:literal,)*
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum $name {
            $($(#[$of])* $variant { $($(#[$about])* $field: $ty),* },)*
        }

        impl Wire for $name {
            fn put(&self, to: &mut Vec<u8>) {
                match self {
                    $($name::$variant { $($field),* } => {
                        u32::put(&$number, to);
                        $($field.put(to);)*
                    })*
                }
            }

            fn take(from: &mut &[u8]) -> Option<Self> {
                Some(match u32::take(from)? {
                    $($number => $name::$variant { $($field: Wire::take(from)?),* },)*
                    _ => return None,
                })
            }
        }
    };
}

/// The memory that a parameter of a kernel points to. PTX of OpenCL C declares it: `.ptr .global`, `.ptr .const`, `.ptr
/// .shared`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PointsTo {
    /// The parameter is a value, or the code does not say.
    #[default]
    Nothing,
    /// Device memory.
    Device,
    /// Device memory that the kernel only reads, as constants.
    Constants,
    /// Memory of the workgroup.
    Local,
}

impl Wire for PointsTo {
    fn put(&self, to: &mut Vec<u8>) {
        (*self as u32).put(to);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        const ALL: [PointsTo; 4] =
            [PointsTo::Nothing, PointsTo::Device, PointsTo::Constants, PointsTo::Local];
        ALL.get(u32::take(from)? as usize).copied()
    }
}

structure! {
    /// A parameter of a kernel.
    ParameterFacts {
        /// Bytes of its value.
        bytes: u32,
        /// The value's alignment, where arguments lie in one buffer.
        alignment: u32,
        /// The memory that it points to, as far as the code says.
        points_to: PointsTo,
        /// The alignment of the memory that it points to; 0 if the code does not say.
        points_to_alignment: u32,
    }
}

structure! {
    /// A kernel of a module.
    KernelFacts {
        /// Its parameters, in order.
        parameters: Vec<ParameterFacts>,
        /// Registers of a thread, of 32 bits.
        registers: u32,
        /// Local memory of a workgroup that the kernel declares, bytes.
        local_bytes: u32,
        /// Memory of a thread for its stack and spilled registers, bytes.
        private_bytes: u32,
        /// Most threads of a workgroup on this machine.
        most_threads: u32,
        /// Threads of a workgroup that the kernel requires; 0 if it requires none.
        required_threads: [u32; 3],
    }
}

structure! {
    /// The machine.
    DeviceFacts {
        /// Its name.
        name: String,
        /// Bytes of device memory.
        memory_bytes: u64,
        /// Cores.
        cores: u32,
        /// Lanes of a wave.
        wave_width: u32,
        /// Most waves of a core.
        waves_per_core: u32,
        /// Most workgroups of a core.
        workgroups_per_core: u32,
        /// Most threads of a workgroup.
        threads_per_workgroup: u32,
        /// Registers of a core, of 32 bits.
        registers_per_core: u32,
        /// Local memory of a core, bytes.
        local_per_core: u32,
        /// Most local memory of a workgroup, bytes.
        local_per_workgroup: u32,
        /// Bytes of the L2.
        l2_bytes: u64,
        /// Bytes of a cache line.
        line_bytes: u32,
        /// Clock of the cores, kHz.
        clock_khz: u32,
        /// Clock of the memory, kHz.
        memory_clock_khz: u32,
        /// Width of all memory channels, bits.
        memory_bus_bits: u32,
        /// The machine has instructions for numbers of 64 bits.
        f64: bool,
    }
}

messages! {
    /// From a program.
    Request {
        /// The first message of a connection.
        Hello {
            /// Name of the program.
            program: String,
            /// Number of its process.
            process: u32
        } = 0,
        /// Facts of the machine.
        Device {} = 1,
        /// Bytes of device memory that are free.
        Free {} = 2,
        /// Simulated time.
        Time {} = 3,
        /// Loads a module: the image of a fat binary or PTX comes beside the message.
        Load {
            /// Its name, for messages.
            name: String
        } = 4,
        /// Compiles a module; the source comes beside the message.
        Compile {
            /// The extension of a file in the source's language, such as `cl`.
            language: String,
            /// Flags for the compiler.
            flags: Vec<String>
        } = 5,
        /// Facts of a kernel.
        Kernel {
            /// The number of its module.
            module: u32,
            /// Its name.
            name: String
        } = 6,
        /// Address and size of a variable.
        Variable {
            /// The number of its module.
            module: u32,
            /// Its name.
            name: String
        } = 7,
        /// Allocates device memory.
        Allocate {
            /// How much.
            bytes: u64
        } = 8,
        /// Gives an allocation back.
        Release {
            /// Where it begins.
            address: u64
        } = 9,
        /// Writes the bytes beside the message.
        Write {
            /// The first address.
            address: u64
        } = 10,
        /// Reads.
        Read {
            /// The first address.
            address: u64,
            /// How much.
            bytes: u64
        } = 11,
        /// Copies inside device memory; the ranges may overlap.
        Copy {
            /// The first address that is written.
            to: u64,
            /// The first address that is read.
            from: u64,
            /// How much.
            bytes: u64
        } = 12,
        /// Fills memory with the bytes beside the message, again and again.
        Fill {
            /// The first address.
            address: u64,
            /// How much.
            bytes: u64
        } = 13,
        /// Runs a kernel to its end. Its arguments come beside the message, one after the other without gaps.
        Launch {
            /// The number of its module.
            module: u32,
            /// Its name.
            name: String,
            /// Workgroups.
            grid: [u32; 3],
            /// Threads of a workgroup.
            workgroup: [u32; 3],
            /// Local memory beside what the kernel declares, bytes.
            dynamic_local: u32
        } = 14,
        /// Something that the user should know; each text is shown once.
        Note {
            /// The text.
            text: String
        } = 15,
    }
}

messages! {
    /// To a program.
    Reply {
        /// The request is done.
        Done {} = 0,
        /// The request is not done.
        Failed {
            /// Why, as a [`Failure`].
            failure: u32,
            /// The message that the user has seen.
            message: String
        } = 1,
        /// An address, a time in ns, or bytes.
        Value {
            /// The number.
            value: u64
        } = 2,
        /// Facts of the machine.
        Device {
            /// They.
            facts: DeviceFacts
        } = 3,
        /// A module is there.
        Module {
            /// Its number.
            module: u32,
            /// Names of its kernels.
            kernels: Vec<String>,
            /// The messages of the compiler.
            log: String
        } = 4,
        /// Facts of a kernel.
        Kernel {
            /// They.
            facts: KernelFacts
        } = 5,
        /// A variable.
        Variable {
            /// Its address.
            address: u64,
            /// Its size.
            bytes: u64
        } = 6,
        /// A kernel has run.
        Launched {
            /// When it began, in ns of simulated time.
            start: u64,
            /// When it ended.
            end: u64,
            /// The text that its threads have printed.
            printed: String
        } = 7,
        /// A source is wrong.
        NotCompiled {
            /// The messages of the compiler.
            log: String
        } = 8,
    }
}

/// Why a request fails. Each API has an error code for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The simulator is not there, or does not understand.
    NoSimulator,
    /// Device memory is full.
    OutOfMemory,
    /// An argument makes no sense.
    InvalidValue,
    /// There is no kernel or variable of this name.
    NotFound,
    /// The module has no code that runs here.
    NoCode,
    /// The code of the module is wrong, or has something that is not supported.
    InvalidCode,
    /// A workgroup does not fit the machine.
    InvalidConfiguration,
    /// A workgroup needs more registers or local memory than a core has.
    OutOfResources,
    /// A kernel has accessed memory that is not there, or an address of the host.
    IllegalAddress,
    /// A kernel has executed an instruction that faults for another reason.
    IllegalInstruction,
    /// A kernel has trapped.
    Trap,
    /// An assertion of a kernel has failed.
    Assertion,
    /// A kernel does not end.
    Timeout,
    /// An earlier kernel has failed, and the device is not usable since.
    Lost,
}

impl Failure {
    const ALL: [Failure; 14] = [
        Failure::NoSimulator,
        Failure::OutOfMemory,
        Failure::InvalidValue,
        Failure::NotFound,
        Failure::NoCode,
        Failure::InvalidCode,
        Failure::InvalidConfiguration,
        Failure::OutOfResources,
        Failure::IllegalAddress,
        Failure::IllegalInstruction,
        Failure::Trap,
        Failure::Assertion,
        Failure::Timeout,
        Failure::Lost,
    ];

    /// True if a program may go on after it.
    pub fn is_harmless(self) -> bool {
        use Failure::{InvalidConfiguration, InvalidValue, NotFound, OutOfMemory, OutOfResources};
        matches!(self, InvalidConfiguration | InvalidValue | NotFound | OutOfMemory | OutOfResources)
    }

    /// Its number in a message.
    pub fn number(self) -> u32 {
        self as u32
    }

    /// The failure with a number.
    pub fn of(number: u32) -> Failure {
        Failure::ALL.get(number as usize).copied().unwrap_or(Failure::NoSimulator)
    }
}

/// Sends a message with what it carries.
fn send(stream: &mut impl Write, message: &impl Wire, data: &[u8]) -> io::Result<()> {
    let mut head = vec![0; 12];
    message.put(&mut head);
    let length = (head.len() - 12) as u32;
    head[..4].copy_from_slice(&length.to_le_bytes());
    head[4..12].copy_from_slice(&(data.len() as u64).to_le_bytes());
    if data.len() < 4096 {
        head.extend(data);
        return stream.write_all(&head);
    }
    stream.write_all(&head)?;
    stream.write_all(data)
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Receives a message, and says how many bytes follow.
fn receive<M: Wire>(stream: &mut impl Read) -> io::Result<(M, u64)> {
    let mut sizes = [0; 12];
    stream.read_exact(&mut sizes)?;
    let mut rest = sizes.as_slice();
    let (head, data) = (u32::take(&mut rest), u64::take(&mut rest));
    let (head, data) = head.zip(data).ok_or_else(|| wrong("no sizes"))?;
    if head > MOST_HEAD_BYTES || data > MOST_DATA_BYTES {
        return Err(wrong("a message is too large"));
    }
    let mut bytes = vec![0; head as usize];
    stream.read_exact(&mut bytes)?;
    let mut rest = bytes.as_slice();
    let message = M::take(&mut rest).filter(|_| rest.is_empty());
    Ok((message.ok_or_else(|| wrong("no message of this version"))?, data))
}

fn carried(stream: &mut impl Read, bytes: u64) -> io::Result<Vec<u8>> {
    let mut data = Vec::new();
    // What is announced and does not come is not allocated.
    if stream.take(bytes).read_to_end(&mut data)? as u64 != bytes {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(data)
}

/// Sends a request, with the bytes that it carries.
///
/// # Errors
/// The other side is gone.
pub fn send_request(stream: &mut impl Write, request: &Request, data: &[u8]) -> io::Result<()> {
    send(stream, request, data)
}

/// Receives a request, with the bytes that it carries.
///
/// # Errors
/// The other side is gone, or sends something else.
pub fn receive_request(stream: &mut impl Read) -> io::Result<(Request, Vec<u8>)> {
    let (request, bytes) = receive(stream)?;
    Ok((request, carried(stream, bytes)?))
}

/// Sends a reply, with the bytes that it carries.
///
/// # Errors
/// The other side is gone.
pub fn send_reply(stream: &mut impl Write, reply: &Reply, data: &[u8]) -> io::Result<()> {
    send(stream, reply, data)
}

/// Receives a reply. The bytes that it carries go into `data`, which has to be as long as they are; a failure carries
/// none.
///
/// # Errors
/// The other side is gone, or sends something else.
pub fn receive_reply(stream: &mut impl Read, data: &mut [u8]) -> io::Result<Reply> {
    let (reply, bytes) = receive(stream)?;
    match bytes {
        0 => {}
        _ if bytes == data.len() as u64 => stream.read_exact(data)?,
        _ => return Err(wrong("a reply carries another number of bytes")),
    }
    Ok(reply)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_arrive_as_they_were_sent() {
        let launch = Request::Launch {
            module: 3,
            name: "kernel é".to_owned(),
            grid: [1, 2, u32::MAX],
            workgroup: [4, 5, 6],
            dynamic_local: 7,
        };
        for data in [vec![], vec![1, 2, 3], vec![9; 10_000]] {
            let mut bytes = Vec::new();
            send_request(&mut bytes, &launch, &data).unwrap();
            let mut rest = bytes.as_slice();
            assert_eq!(receive_request(&mut rest).unwrap(), (launch.clone(), data));
            assert!(rest.is_empty());
        }
        let facts = KernelFacts {
            parameters: vec![ParameterFacts {
                bytes: 8,
                alignment: 4,
                points_to: PointsTo::Local,
                points_to_alignment: 16,
            }],
            ..Default::default()
        };
        let reply = Reply::Kernel { facts };
        let mut bytes = Vec::new();
        send_reply(&mut bytes, &reply, &[5; 3]).unwrap();
        let mut data = [0; 3];
        assert_eq!(receive_reply(&mut bytes.as_slice(), &mut data).unwrap(), reply);
        assert_eq!(data, [5; 3]);
        assert!(receive_reply(&mut bytes.as_slice(), &mut [0; 2]).is_err());
    }

    #[test]
    fn damaged_messages_are_errors() {
        let mut bytes = Vec::new();
        send_request(&mut bytes, &Request::Load { name: "a module".to_owned() }, &[1; 50]).unwrap();
        for end in 0..bytes.len() {
            assert!(receive_request(&mut &bytes[..end]).is_err(), "{end}");
        }
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut other = bytes.clone();
                other[at] ^= 1 << bit;
                // Whatever comes of it: no panic, and no allocation of what is only announced.
                _ = receive_request(&mut other.as_slice());
            }
        }
        for failure in Failure::ALL {
            assert_eq!(Failure::of(failure.number()), failure);
        }
        assert_eq!(Failure::of(99), Failure::NoSimulator);
    }
}
