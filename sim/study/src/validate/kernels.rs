//! WAVE assembly of the microbenchmarks. Each kernel has the loops, the addresses and the arithmetic of the published
//! benchmark; registers r0, r1 and so on start with the arguments that its comment names.

use super::quantity::{ElementType, StreamKernel};

/// A kernel without its frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KernelBody {
    /// The instructions.
    pub text: String,
    /// Registers of a lane.
    pub registers: u32,
}

/// Loads of a chase between two tests of its counter.
pub(crate) const CHASE_UNROLLED: u32 = 32;

/// Instructions that count `counter` down and leave the loop at zero, with r30 = 1 and r31 = 0.
fn until_zero(counter: &str) -> String {
    format!("isub {counter}, {counter}, r30\nucmp_eq p1, {counter}, r31\nbreak p1\nendloop\n")
}

/// Constants of [`until_zero`].
const ONE_AND_ZERO: &str = "mov_imm r30, 1\nmov_imm r31, 0\n";

/// The number of the thread in the grid, in `register`; r28 and r29 are overwritten.
fn thread_number(register: &str) -> String {
    format!(
        "mov_sr r28, sr_workgroup_id_x\nmov_sr r29, sr_workgroup_size_x\nmov_sr {register}, sr_thread_id_x\n\
         imad {register}, r28, r29, {register}\n"
    )
}

/// A chase of one lane. r0: address of the first pointer; r1: rounds of [`CHASE_UNROLLED`] loads; r2: where the last
/// pointer is stored, so that a compiler keeps the loads.
pub(crate) fn chase(load: &str) -> KernelBody {
    let loads = format!("{load} r0, r0\n").repeat(CHASE_UNROLLED as usize);
    KernelBody {
        text: format!("{ONE_AND_ZERO}loop\n{loads}{}device_store_u32 r2, r0\n", until_zero("r1")),
        registers: 32,
    }
}

/// Many chases at a time, which fill the L2. r0: address of the first pointers, 4 bytes a lane; r1: loads of a lane;
/// r2: lanes.
pub(crate) fn warm_chases() -> KernelBody {
    let text = format!(
        "{}ucmp_lt p2, r4, r2\nmov_imm r5, 2\nshl r4, r4, r5\niadd r4, r4, r0\n{ONE_AND_ZERO}\
         @p2 device_load_u32.uncached r6, r4\nloop\n@p2 device_load_u32.uncached r6, r6\n{}",
        thread_number("r4"),
        until_zero("r1")
    );
    KernelBody { text, registers: 32 }
}

/// The lines that [`fill`] leaves dirty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DirtyLines {
    /// None.
    None,
    /// One of so many, a power of two, spread by a hash.
    OneOf(u32),
}

/// Every lane moves 16 bytes of each round, past the L1: fills the L2 with lines that are clean (`device_load_u128`) or
/// dirty (`device_store_u128`). r0: start; r1: rounds; r2: bytes of a round.
pub(crate) fn fill(dirty: DirtyLines) -> KernelBody {
    let (store, load) = ("device_store_u128.uncached r4, r8\n", "device_load_u128.uncached r8, r4\n");
    let moves = match dirty {
        DirtyLines::None => load.to_owned(),
        DirtyLines::OneOf(1) => store.to_owned(),
        // The upper bits of the Fibonacci hash of the number of a block of 128 bytes.
        DirtyLines::OneOf(lines) => format!(
            "mov_imm r5, 7\nshr r6, r4, r5\nmov_imm r5, 0x9E3779B9\nimul r6, r6, r5\nmov_imm r5, {}\nshr r6, r6, r5\n\
             mov_imm r5, 0\nucmp_eq p2, r6, r5\nucmp_ne p3, r6, r5\n@p2 {store}@p3 {load}",
            32 - lines.ilog2()
        ),
    };
    let text = format!(
        "{}mov_imm r5, 4\nshl r4, r4, r5\niadd r4, r4, r0\n{ONE_AND_ZERO}loop\n{moves}iadd r4, r4, r2\n{}",
        thread_number("r4"),
        until_zero("r1")
    );
    KernelBody { text, registers: 32 }
}

/// The lines that a long stream leaves dirty in the caches, of those that it has touched.
pub(crate) fn dirty_lines(kernel: StreamKernel) -> DirtyLines {
    match kernel {
        StreamKernel::Read => DirtyLines::None,
        StreamKernel::Init => DirtyLines::OneOf(1),
        StreamKernel::Scale | StreamKernel::ThreePoint | StreamKernel::FivePoint => DirtyLines::OneOf(2),
        StreamKernel::Triad => DirtyLines::OneOf(4),
    }
}

/// Pairs of loads of [`l1_read`] between two tests of its counter, at most. Wide loads take four times the registers.
const fn l1_pairs(lane_bytes: u32) -> u32 {
    if lane_bytes == 16 { 4 } else { 8 }
}

/// One workgroup reads two arrays over and over: the sum of the products of their elements. `steps` is the number of
/// elements of a lane in each array. r0: address of the second array; r1: laps; r2: bytes of a step.
pub(crate) fn l1_read(lane_bytes: u32, steps: u32) -> KernelBody {
    let wide = lane_bytes == 16;
    let (load, words) = if wide { ("device_load_u128", 4) } else { ("device_load_u32", 1) };
    let most = l1_pairs(lane_bytes);
    // A short lap is unrolled as a whole, several times; a long one in parts.
    let pairs = (1..=most.min(steps)).rev().find(|pairs| steps.is_multiple_of(*pairs)).unwrap_or(1);
    let laps_unrolled = l1_laps_unrolled(lane_bytes, steps);
    let first = 34;
    let (mut loads, mut sums) = (String::new(), String::new());
    let mut at: u32 = first;
    for lap in 0..laps_unrolled {
        if lap > 0 {
            loads += "mov r6, r4\nmov r7, r5\n";
        }
        for _ in 0..pairs {
            let (left, right) = (at, at + words);
            at += 2 * words;
            loads += &format!("{load} r{left}, r6\n{load} r{right}, r7\niadd r6, r6, r2\niadd r7, r7, r2\n");
            for word in 0..words {
                sums += &format!("fma r{}, r{}, r{}, r{0}\n", 8 + word, left + word, right + word);
            }
        }
    }
    let reset = "mov r6, r4\nmov r7, r5\n";
    let chunks = steps / pairs;
    let lap = if chunks > 1 {
        format!("{reset}mov_imm r12, {chunks}\nloop\n{loads}{sums}{}", until_zero("r12"))
    } else {
        format!("{reset}{loads}{sums}")
    };
    let shift = lane_bytes.ilog2();
    let text = format!(
        "{ONE_AND_ZERO}mov_sr r4, sr_thread_id_x\nmov_imm r5, {shift}\nshl r4, r4, r5\niadd r5, r4, r0\n\
         loop\n{lap}{}",
        until_zero("r1")
    );
    KernelBody { text, registers: at.next_multiple_of(8) }
}

/// Laps of [`l1_read`] in a round of its outer loop.
pub(crate) fn l1_laps_unrolled(lane_bytes: u32, steps: u32) -> u32 {
    (l1_pairs(lane_bytes) / steps).max(1)
}

/// Elements that a lane of [`l2_read`] reads.
pub(crate) const L2_ELEMENTS: u32 = 64;
/// Threads of a workgroup of [`l2_read`].
pub(crate) const L2_THREADS: u32 = 1024;
/// Pairs of loads of [`l2_read`] between two tests of its counter. Two workgroups have to fit in the registers of a
/// core.
const L2_PAIRS: u32 = 4;

/// Workgroups read pieces of a footprint: the sum of the products of elements of type double. r0: pieces; r1: rounds;
/// r2: bytes from a pair of pieces to the next that the workgroup reads.
pub(crate) fn l2_read() -> KernelBody {
    let (mut loads, mut sums) = (String::new(), String::new());
    for pair in 0..L2_PAIRS {
        let (left, right) = (12 + 4 * pair, 14 + 4 * pair);
        loads += &format!(
            "device_load_u64 r{left}, r4\ndevice_load_u64 r{right}, r5\niadd r4, r4, r2\niadd r5, r5, r2\n"
        );
        sums += &format!("dma r8, r{left}, r{right}, r8\n");
    }
    let text = format!(
        "mov_sr r4, sr_workgroup_id_x\nimod r4, r4, r0\nmov_imm r5, {}\nimul r4, r4, r5\n\
         mov_sr r5, sr_thread_id_x\nmov_imm r6, 3\nshl r5, r5, r6\niadd r4, r4, r5\nmov_imm r6, {}\n\
         iadd r5, r4, r6\n{ONE_AND_ZERO}loop\n{loads}{sums}{}",
        2 * 8 * L2_THREADS,
        8 * L2_THREADS,
        until_zero("r1")
    );
    KernelBody { text, registers: 32 }
}

/// Rounds of [`l2_read`].
pub(crate) const L2_ROUNDS: u32 = L2_ELEMENTS / (2 * L2_PAIRS);

/// Loads of a round of [`strided`].
pub(crate) const STRIDED_LOADS: u32 = 8;

/// Offsets of the loads of [`strided`], in elements: four products of two.
const STRIDED_OFFSETS: [u32; 8] = [0, 4, 8, 12, 20, 16, 24, 28];

/// How the lanes of [`strided`] lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lanes {
    /// So many elements from thread to thread, in groups of 64 threads.
    Stride(u32),
    /// Rows of so many threads, a power of two; up to 32 rows, 4098 elements apart.
    Rows(u32),
}

/// One workgroup loads from the same addresses over and over. r1: rounds; r2: zero, which no compiler knows.
pub(crate) fn strided(element: ElementType, lanes: Lanes) -> KernelBody {
    let bytes = element.bytes();
    let place = match lanes {
        Lanes::Stride(stride) => {
            format!("mov_imm r5, 63\nand r4, r4, r5\nmov_imm r5, {stride}\nimul r4, r4, r5\n")
        }
        Lanes::Rows(width) => format!(
            "mov_imm r5, {}\nshr r6, r4, r5\nmov_imm r5, {}\nand r4, r4, r5\nmov_imm r5, 31\nand r6, r6, r5\n\
             mov_imm r5, 4098\nimad r4, r6, r5, r4\niadd r4, r4, r5\n",
            width.ilog2(),
            width - 1
        ),
    };
    let mut text = format!(
        "{ONE_AND_ZERO}mov_sr r4, sr_thread_id_x\n{place}mov_imm r5, {}\nshl r4, r4, r5\n",
        bytes.ilog2()
    );
    for (at, offset) in STRIDED_OFFSETS.iter().enumerate() {
        text += &format!("mov_imm r5, {}\niadd r{}, r4, r5\n", offset * bytes, 8 + at);
    }
    let (load, multiply_add, words) = match element {
        ElementType::Float => ("device_load_u32", "fma", 1),
        ElementType::Double => ("device_load_u64", "dma", 2),
    };
    text += "loop\niadd r8, r8, r2\n";
    for at in 0..STRIDED_LOADS {
        text += &format!("{load} r{}, r{}\n", 34 + words * at, 8 + at);
    }
    for pair in 0..STRIDED_LOADS / 2 {
        let left = 34 + 2 * words * pair;
        text += &format!("{multiply_add} r6, r{left}, r{}, r6\n", left + words);
    }
    KernelBody { text: text + &until_zero("r1"), registers: 56 }
}

/// Bytes before the first element of an array of a stream: a stencil reads two elements before it.
pub(crate) const STREAM_MARGIN: u32 = 128;

/// A stream with an element of type double a thread. r0: elements; r1, r2 and r3: addresses of b, c and d; r4: address
/// of a.
pub(crate) fn stream(kernel: StreamKernel) -> KernelBody {
    let index = format!(
        "{}ucmp_lt p1, r5, r0\nmov_imm r6, 3\nshl r5, r5, r6\niadd r6, r5, r1\niadd r7, r5, r4\n",
        thread_number("r5")
    );
    // Upper words of constants; their values do not matter.
    let constants = "mov_imm r20, 0\nmov_imm r21, 0x3FE00000\n";
    let store = "@p1 device_store_u64 r7, r8\n";
    let stencil = |points: u32| {
        let (mut loads, mut sum) = (String::new(), String::new());
        let before = points / 2;
        loads += &format!("mov_imm r22, {}\nisub r6, r6, r22\nmov_imm r22, 8\n", 8 * before);
        for point in 0..points {
            loads += &format!("@p1 device_load_u64 r{}, r6\niadd r6, r6, r22\n", 10 + 2 * point);
            sum += &match point {
                0 => "dmul r8, r10, r20\n".to_owned(),
                point => format!("dma r8, r{}, r20, r8\n", 10 + 2 * point),
            };
        }
        format!("{loads}{sum}{store}")
    };
    let body = match kernel {
        StreamKernel::Init => "mov r8, r20\nmov r9, r21\n".to_owned() + store,
        // The value is compared, and the store never happens.
        StreamKernel::Read => {
            "@p1 device_load_u64 r8, r6\nucmp_eq p2, r9, r21\n@p2 device_store_u64 r7, r8\n".to_owned()
        }
        StreamKernel::Scale => format!("@p1 device_load_u64 r10, r6\ndmul r8, r10, r20\n{store}"),
        StreamKernel::Triad => format!(
            "iadd r22, r5, r2\niadd r23, r5, r3\n@p1 device_load_u64 r10, r6\n@p1 device_load_u64 r12, r23\n\
             @p1 device_load_u64 r14, r22\ndma r8, r10, r12, r14\n{store}"
        ),
        StreamKernel::ThreePoint => stencil(3),
        StreamKernel::FivePoint => stencil(5),
    };
    KernelBody { text: format!("{index}{constants}{body}"), registers: 32 }
}

/// Arrays that the published bandwidth of a stream counts.
pub(crate) fn arrays_counted(kernel: StreamKernel) -> u32 {
    match kernel {
        StreamKernel::Init | StreamKernel::Read => 1,
        StreamKernel::Scale | StreamKernel::ThreePoint | StreamKernel::FivePoint => 2,
        StreamKernel::Triad => 4,
    }
}
