//! What a translation can be asked for.

/// A target of the translation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arch {
    /// Its name in PTX.
    pub name: &'static str,
    /// The least version of PTX that has everything which the translation uses on this target.
    pub(crate) version: &'static str,
    /// Most shared memory of a CTA, bytes.
    pub(crate) shared_bytes: u32,
}

impl Arch {
    /// Every target, from old to new. Older ones have no `redux.sync` and no conversion to bf16.
    pub const ALL: [Arch; 7] = [
        Arch { name: "sm_80", version: "7.8", shared_bytes: 163 << 10 },
        Arch { name: "sm_86", version: "7.8", shared_bytes: 99 << 10 },
        Arch { name: "sm_87", version: "7.8", shared_bytes: 163 << 10 },
        Arch { name: "sm_89", version: "7.8", shared_bytes: 99 << 10 },
        Arch { name: "sm_90", version: "7.8", shared_bytes: 227 << 10 },
        Arch { name: "sm_100", version: "8.6", shared_bytes: 227 << 10 },
        Arch { name: "sm_120", version: "8.7", shared_bytes: 99 << 10 },
    ];

    /// The target with this name.
    pub fn from_name(name: &str) -> Option<Arch> {
        Arch::ALL.into_iter().find(|arch| arch.name == name)
    }
}

/// How `fsin`, `fcos`, `fexp2` and `flog2` are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpecialFunctions {
    /// By the fixed-point algorithm of WAVE: the same bits.
    Exact,
    /// By the approximations of the hardware.
    Hardware,
}

/// What the PTX should be like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// The target.
    pub arch: Arch,
    /// Special functions.
    pub special: SpecialFunctions,
    /// Faults that WAVE finds at run time stop the kernel and leave a record. Otherwise a kernel that would fault has
    /// no defined behaviour; but for illegal instructions, which always stop it.
    pub check_bounds: bool,
    /// Every load and store is at a multiple of its size, says the user. Otherwise others work too, slower.
    pub aligned: bool,
    /// The lanes of a store and of an atomic go one after another, lowest first, as WAVE says. Otherwise the hardware
    /// decides which lane's store stays where some overlap, and in which order atomics on one word take place.
    pub lane_order: bool,
    /// Plain loads and stores of device memory are relaxed accesses at the scope of the device, which may race.
    pub relaxed: bool,
    /// Threads of a workgroup at most; by default those that the kernel states.
    pub threads: Option<u32>,
    /// Every workgroup leaves the times of its beginning and end: see [`times`](crate::times).
    pub times: bool,
}

impl Default for Options {
    /// For sm_90; exact special functions, no checks, any alignment.
    fn default() -> Options {
        Options {
            arch: Arch::ALL[4],
            special: SpecialFunctions::Exact,
            check_bounds: false,
            aligned: false,
            lane_order: false,
            relaxed: false,
            threads: None,
            times: false,
        }
    }
}
