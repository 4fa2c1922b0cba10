//! Special registers and memory scopes: the two small name spaces of the instruction set.

use wave_capture::Capture;

/// Declares an enum whose discriminants are the encoding and whose names are the assembly text.
macro_rules! named_codes {
    ($(#[$meta:meta])* $name:ident { $(#[doc = $doc:literal] $variant:ident = $code:literal, $text:literal;)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Capture)]
        #[repr(u8)]
        pub enum $name { $(#[doc = $doc] $variant = $code,)* }

        impl $name {
            /// Every value, in encoding order.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// The value with this encoding, if one is assigned.
            pub const fn from_code(code: u8) -> Option<$name> {
                match code { $($code => Some($name::$variant),)* _ => None }
            }

            /// The name in assembly text.
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }

            /// What it is, for the manual; without a full stop.
            pub fn meaning(self) -> &'static str {
                match self { $($name::$variant => $doc.trim().trim_end_matches('.'),)* }
            }

            /// The value with this name in assembly text.
            pub fn from_name(name: &str) -> Option<$name> {
                match name { $($text => Some($name::$variant),)* _ => None }
            }
        }
    };
}

named_codes! {
    /// A special register, read with `mov_sr`.
    Special {
        /// Position in the workgroup, x.
        ThreadIdX = 0, "sr_thread_id_x";
        /// Position in the workgroup, y.
        ThreadIdY = 1, "sr_thread_id_y";
        /// Position in the workgroup, z.
        ThreadIdZ = 2, "sr_thread_id_z";
        /// Wave of the workgroup.
        WaveId = 3, "sr_wave_id";
        /// Lane of the wave.
        LaneId = 4, "sr_lane_id";
        /// Position of the workgroup in the grid, x.
        WorkgroupIdX = 5, "sr_workgroup_id_x";
        /// Position of the workgroup in the grid, y.
        WorkgroupIdY = 6, "sr_workgroup_id_y";
        /// Position of the workgroup in the grid, z.
        WorkgroupIdZ = 7, "sr_workgroup_id_z";
        /// Threads of a workgroup, x.
        WorkgroupSizeX = 8, "sr_workgroup_size_x";
        /// Threads of a workgroup, y.
        WorkgroupSizeY = 9, "sr_workgroup_size_y";
        /// Threads of a workgroup, z.
        WorkgroupSizeZ = 10, "sr_workgroup_size_z";
        /// Workgroups of the grid, x.
        GridSizeX = 11, "sr_grid_size_x";
        /// Workgroups of the grid, y.
        GridSizeY = 12, "sr_grid_size_y";
        /// Workgroups of the grid, z.
        GridSizeZ = 13, "sr_grid_size_z";
        /// Lanes of a wave.
        WaveWidth = 14, "sr_wave_width";
        /// Waves of this workgroup.
        NumWaves = 15, "sr_num_waves";
        /// 1 if the machine has the matrix instructions.
        MmaSupported = 16, "sr_mma_supported";
        /// Rows of an A and a C fragment.
        MmaM = 17, "sr_mma_m";
        /// Columns of a B and a C fragment.
        MmaN = 18, "sr_mma_n";
        /// Columns of an A fragment, rows of a B fragment.
        MmaK = 19, "sr_mma_k";
    }
}

named_codes! {
    /// How far a fence or an atomic reaches. A larger scope includes the smaller ones.
    Scope {
        /// The lanes of one wave.
        Wave = 0, "wave";
        /// The waves of one workgroup.
        Workgroup = 1, "workgroup";
        /// All cores of the device.
        Device = 2, "device";
        /// The device and its host.
        System = 3, "system";
    }
}
