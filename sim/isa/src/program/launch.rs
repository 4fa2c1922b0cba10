//! What a host passes to the machine to start a kernel.

use super::Program;
use wave_capture::Capture;

/// One kernel launch.
#[derive(Debug, Clone, PartialEq, Eq, Capture)]
pub struct Launch {
    /// Index into [`super::Program::kernels`].
    pub kernel: usize,
    /// Workgroups, x, y, z; each at least 1.
    pub grid: [u32; 3],
    /// Threads of a workgroup, x, y, z; each at least 1.
    pub workgroup: [u32; 3],
    /// General registers of a lane, 1 to 256.
    pub registers: u32,
    /// Local memory of a workgroup, bytes.
    pub local_memory_bytes: u32,
    /// Initial register values of every lane, as (register, value). Argument i is (i, value).
    pub initial_registers: Vec<(u8, u32)>,
}

impl Launch {
    /// A launch of this many workgroups of a kernel, as the kernel's directives have it, without arguments.
    pub fn of(program: &Program, kernel: usize, grid: [u32; 3]) -> Launch {
        let stated = &program.kernels[kernel];
        Launch {
            kernel,
            grid,
            workgroup: stated.workgroup_size,
            registers: stated.registers,
            local_memory_bytes: program.local_memory_needed(stated),
            initial_registers: Vec::new(),
        }
    }

    /// Threads of a workgroup; `u64::MAX` if there are more.
    pub fn threads(&self) -> u64 {
        volume(self.workgroup)
    }

    /// Workgroups of the grid; `u64::MAX` if there are more.
    pub fn workgroups(&self) -> u64 {
        volume(self.grid)
    }

    /// Waves of a workgroup on a machine of this wave width.
    pub fn waves_per_workgroup(&self, wave_width: u32) -> u64 {
        self.threads().div_ceil(u64::from(wave_width))
    }
}

fn volume(sizes: [u32; 3]) -> u64 {
    sizes.iter().fold(1, |product: u64, &n| product.saturating_mul(u64::from(n)))
}
