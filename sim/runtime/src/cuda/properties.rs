//! Properties of the device, as its configuration has them.

use super::{CudaError, check, given, runtime};
use crate::connection::device;
use crate::ffi::Out;
use crate::protocol::DeviceFacts;

/// The version of CUDA whose functions are here: 13.0.
pub(super) const VERSION: i32 = 13_000;

/// The compute capability. Programs choose code by it: Turing's has no instructions that are refused.
pub(super) const COMPUTE: (i32, i32) = (7, 5);

/// The last attribute that CUDA may have.
pub(super) const MOST_ATTRIBUTE: i32 = 160;

/// Most workgroups in each direction, as NVIDIA's GPUs have it.
pub(super) const MOST_WORKGROUPS: [u32; 3] = [i32::MAX as u32, 65_535, 65_535];

/// Bytes of constant memory, which is device memory here.
const CONSTANT_BYTES: u32 = 65_536;

/// Most threads of a workgroup in each direction.
pub(super) fn most_threads(facts: &DeviceFacts) -> [u32; 3] {
    let all = facts.threads_per_workgroup;
    [all, all, all.min(64)]
}

/// A field of `cudaDeviceProp` that is not 0: its offset in CUDA 11 and 12, and in 13, if it is there; its value.
struct Field {
    before_13: Option<usize>,
    of_13: Option<usize>,
    value: Value,
}

enum Value {
    Number(u32),
    Bytes(u64),
    Three([u32; 3]),
}

fn fields(facts: &DeviceFacts) -> Vec<Field> {
    use Value::{Bytes, Number, Three};
    let field = |before_13: usize, of_13: usize, value| Field {
        before_13: (before_13 > 0).then_some(before_13),
        of_13: (of_13 > 0).then_some(of_13),
        value,
    };
    let threads_per_core = facts.waves_per_core * facts.wave_width;
    // 1 to 32: how much faster single precision is.
    let precision_ratio = if facts.f64 { 2 } else { 32 };
    vec![
        field(288, 288, Bytes(facts.memory_bytes)),
        field(296, 296, Bytes(facts.local_per_workgroup.into())),
        field(304, 304, Number(facts.registers_per_core)),
        field(308, 308, Number(facts.wave_width)),
        field(312, 312, Bytes(i32::MAX as u64)),
        field(320, 320, Number(facts.threads_per_workgroup)),
        field(324, 324, Three(most_threads(facts))),
        field(336, 336, Three(MOST_WORKGROUPS)),
        field(348, 0, Number(facts.clock_khz)),
        field(352, 352, Bytes(CONSTANT_BYTES.into())),
        field(360, 360, Number(COMPUTE.0 as u32)),
        field(364, 364, Number(COMPUTE.1 as u32)),
        field(368, 368, Bytes(512)),
        field(376, 376, Bytes(32)),
        // Copies may go beside kernels, canMapHostMemory, asyncEngineCount.
        field(384, 0, Number(1)),
        field(388, 384, Number(facts.cores)),
        field(400, 392, Number(1)),
        field(600, 584, Number(1)),
        field(604, 588, Number(1)),
        field(608, 0, Number(facts.memory_clock_khz)),
        field(612, 592, Number(facts.memory_bus_bits)),
        field(616, 596, Number(u32::try_from(facts.l2_bytes).unwrap_or(i32::MAX as u32))),
        field(624, 604, Number(threads_per_core)),
        field(632, 612, Number(1)),
        field(636, 616, Number(1)),
        field(640, 624, Bytes(facts.local_per_core.into())),
        field(648, 632, Number(facts.registers_per_core)),
        // managedMemory
        field(652, 636, Number(1)),
        field(668, 0, Number(precision_ratio)),
        // cooperativeLaunch
        field(688, 668, Number(1)),
        field(696, 672, Bytes(facts.local_per_workgroup.into())),
        field(712, 688, Number(facts.workgroups_per_core)),
        // memoryPoolsSupported, which the structure of CUDA 11 does not have.
        field(744, 720, Number(1)),
    ]
}

/// The structure, of so many bytes, with the offsets of the version.
fn structure(facts: &DeviceFacts, bytes: usize, is_of_13: bool) -> Vec<u8> {
    let mut made = vec![0; bytes];
    let name = &facts.name.as_bytes()[..facts.name.len().min(255)];
    made[..name.len()].copy_from_slice(name);
    for Field { before_13, of_13, value } in fields(facts) {
        let offset = if is_of_13 { of_13 } else { before_13 };
        let Some(at) = offset.filter(|&at| at < bytes) else { continue };
        match value {
            Value::Number(number) => made[at..at + 4].copy_from_slice(&number.to_le_bytes()),
            Value::Bytes(number) => made[at..at + 8].copy_from_slice(&number.to_le_bytes()),
            Value::Three(numbers) => {
                for (number, place) in numbers.into_iter().zip(made[at..at + 12].chunks_mut(4)) {
                    place.copy_from_slice(&number.to_le_bytes());
                }
            }
        }
    }
    made
}

fn properties(to: Out<u8>, number: i32, bytes: usize, is_of_13: bool) -> i32 {
    runtime(|_| {
        check(number == 0, CudaError::InvalidDevice)?;
        given(to.set_all(structure(&device()?, bytes, is_of_13)))
    })
}

/// The structure of CUDA 11, for programs of 12 that ask for it, too.
#[unsafe(export_name = "wave_cudaGetDeviceProperties")]
extern "C" fn properties_before_12(to: Out<u8>, number: i32) -> i32 {
    properties(to, number, 728, false)
}

#[unsafe(export_name = "wave_cudaGetDeviceProperties_v2")]
extern "C" fn properties_of_12(to: Out<u8>, number: i32) -> i32 {
    properties(to, number, 1032, false)
}

#[unsafe(export_name = "wave13_cudaGetDeviceProperties")]
extern "C" fn properties_of_13(to: Out<u8>, number: i32) -> i32 {
    properties(to, number, 1008, true)
}

/// An attribute of the device, by the number that both APIs give it.
pub(super) struct Attribute(pub(super) i32);

impl Attribute {
    /// Its value; 0 for what the simulated device does not have.
    pub(super) fn value(&self, facts: &DeviceFacts) -> i32 {
        let value = match self.0 {
            1 => facts.threads_per_workgroup,
            2..=4 => most_threads(facts)[self.0 as usize - 2],
            5..=7 => MOST_WORKGROUPS[self.0 as usize - 5],
            8 | 97 => facts.local_per_workgroup,
            9 => CONSTANT_BYTES,
            10 => facts.wave_width,
            11 => i32::MAX as u32,
            12 | 82 => facts.registers_per_core,
            13 => facts.clock_khz,
            14 => 512,
            16 => facts.cores,
            // Copies may go beside kernels; memory of the host can be mapped; engines that copy; one address space; both L1
            // kinds; managed memory; cooperative launches; memory pools.
            15 | 19 | 40 | 41 | 79 | 80 | 83 | 95 | 115 => 1,
            36 => facts.memory_clock_khz,
            37 => facts.memory_bus_bits,
            38 => u32::try_from(facts.l2_bytes).unwrap_or(i32::MAX as u32),
            39 => facts.waves_per_core * facts.wave_width,
            75 => COMPUTE.0 as u32,
            76 => COMPUTE.1 as u32,
            81 => facts.local_per_core,
            106 => facts.workgroups_per_core,
            _ => 0,
        };
        i32::try_from(value).unwrap_or(i32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_structure_has_its_fields_where_the_version_has_them() {
        let facts = DeviceFacts { name: "gpu".to_owned(), cores: 7, wave_width: 32, ..Default::default() };
        let at = |made: &[u8], at: usize| u32::from_le_bytes(made[at..at + 4].try_into().expect("4 bytes"));
        let (old, new) = (structure(&facts, 1032, false), structure(&facts, 1008, true));
        assert_eq!((&old[..4], at(&old, 388), at(&old, 308)), (b"gpu\0".as_slice(), 7, 32));
        assert_eq!((at(&new, 384), at(&new, 308), at(&new, 348)), (7, 32, 0));
        assert_eq!((Attribute(16).value(&facts), Attribute(9999).value(&facts)), (7, 0));
        // The structure of CUDA 11 ends where that of 12 goes on.
        assert_eq!(structure(&facts, 728, false), old[..728]);
    }
}
