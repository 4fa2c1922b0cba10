//! Loads, stores, atomics and matrix tiles. All lanes' accesses are checked before any takes effect.

use super::decode::Decoded;
use super::float::f32_result;
use super::wave::Lane;
use wave_isa::program::FaultKind;
use wave_isa::table::Space;

/// Reads `bytes` (1 to 16) bytes, little-endian.
fn read(memory: &[u8], address: u32, bytes: u32) -> u128 {
    (0..bytes).map(|n| u128::from(memory[address as usize + n as usize]) << (8 * n)).sum()
}

fn write(memory: &mut [u8], address: u32, bytes: u32, value: u128) {
    for n in 0..bytes {
        memory[address as usize + n as usize] = (value >> (8 * n)) as u8;
    }
}

fn inside(memory: &[u8], address: u32, bytes: u32) -> bool {
    u64::from(address) + u64::from(bytes) <= memory.len() as u64
}

/// A fault: the mask of the faulting lanes, and the fault of the lowest.
pub(crate) type LaneFault = (u64, FaultKind);

/// Runs `problem` over the lanes and collects those that have one.
fn gather(taking_part: &[usize], problem: impl Fn(usize) -> Option<FaultKind>) -> Result<(), LaneFault> {
    let mut faulty = 0;
    let mut first = None;
    for &lane in taking_part {
        if let Some(kind) = problem(lane) {
            faulty |= 1 << lane;
            first = first.or(Some(kind));
        }
    }
    first.map_or(Ok(()), |kind| Err((faulty, kind)))
}

/// local_load, local_store, device_load, device_store (opcodes 30, 31, 38, 39).
pub(crate) fn load_or_store(
    i: &Decoded,
    lanes: &mut [Lane],
    taking_part: &[usize],
    space: Space,
    memory: &mut [u8],
) -> Result<(), LaneFault> {
    // The modifier is width + 5 × cache hint, and the hint never changes a value.
    let bytes = 1 << (i.modifier % 5);
    let rows = if bytes < 4 { 1 } else { bytes as usize / 4 };
    let size = memory.len() as u64;
    gather(taking_part, |lane| {
        let address = lanes[lane].registers[usize::from(i.rs1)];
        (!inside(memory, address, bytes)).then_some(FaultKind::OutOfBounds { space, address, bytes, size })
    })?;
    let store = matches!(i.opcode, 0x31 | 0x39);
    for &lane in taking_part {
        let registers = &mut lanes[lane].registers;
        let address = registers[usize::from(i.rs1)];
        if store {
            let first = usize::from(i.rs2);
            let value = (0..rows).map(|n| u128::from(registers[first + n]) << (32 * n)).sum();
            write(memory, address, bytes, value);
        } else {
            let value = read(memory, address, bytes);
            for n in 0..rows {
                registers[usize::from(i.rd) + n] = (value >> (32 * n)) as u32;
            }
        }
    }
    Ok(())
}

/// local_atomic and atomic (opcodes 3C, 3D): lanes act in lane order.
pub(super) fn atomic(
    i: &Decoded,
    lanes: &mut [Lane],
    taking_part: &[usize],
    space: Space,
    memory: &mut [u8],
) -> Result<(), LaneFault> {
    let size = memory.len() as u64;
    gather(taking_part, |lane| {
        let address = lanes[lane].registers[usize::from(i.rs1)];
        if !address.is_multiple_of(4) {
            Some(FaultKind::MisalignedAtomic { space, address })
        } else if !inside(memory, address, 4) {
            Some(FaultKind::OutOfBounds { space, address, bytes: 4, size })
        } else {
            None
        }
    })?;
    for &lane in taking_part {
        let registers = &mut lanes[lane].registers;
        let address = registers[usize::from(i.rs1)];
        let operand = registers[usize::from(i.rs2)];
        let old = read(memory, address, 4) as u32;
        let new = match i.modifier {
            0 => old.wrapping_add(operand),
            1 => old.wrapping_sub(operand),
            2 => old.min(operand),
            3 => old.max(operand),
            4 => old & operand,
            5 => old | operand,
            6 => old ^ operand,
            7 => operand,
            _ if old == operand => registers[usize::from(i.rs3)],
            _ => old,
        };
        write(memory, address, 4, u128::from(new));
        if i.rd != 0 {
            registers[usize::from(i.rd)] = old;
        }
    }
    Ok(())
}

/// The matrix instructions (opcode 40).
pub(super) fn matrix(
    i: &Decoded,
    lanes: &mut [Lane],
    taking_part: &[usize],
    local: &mut [u8],
) -> Result<(), LaneFault> {
    if i.modifier == 3 {
        taking_part.iter().for_each(|&lane| multiply(i, &mut lanes[lane]));
        return Ok(());
    }
    let size = local.len() as u64;
    // Loads take the tile's address from rs1 and the stride from rs2, the store from rd and rs1.
    let (base, stride) = if i.modifier == 2 { (i.rd, i.rs1) } else { (i.rs1, i.rs2) };
    let row_address = |lane: &Lane, row: usize| {
        let offset = lane.registers[usize::from(stride)].wrapping_mul(row as u32);
        lane.registers[usize::from(base)].wrapping_add(offset)
    };
    gather(taking_part, |lane| {
        let outside = (0..4).map(|row| row_address(&lanes[lane], row)).find(|&a| !inside(local, a, 16));
        outside.map(|address| FaultKind::OutOfBounds { space: Space::Local, address, bytes: 16, size })
    })?;
    for &lane in taking_part {
        let lane = &mut lanes[lane];
        for row in 0..4 {
            for column in 0..4 {
                let address = row_address(lane, row) + 4 * column as u32;
                match i.modifier {
                    0 => lane.a[usize::from(i.rd)][row][column] = read(local, address, 4) as u32,
                    1 => lane.b[usize::from(i.rd)][row][column] = read(local, address, 4) as u32,
                    _ => write(local, address, 4, u128::from(lane.c[usize::from(i.rs2)][row][column])),
                }
            }
        }
    }
    Ok(())
}

/// C\[fc\] += A\[fa\] × B\[fb\], over k in order.
fn multiply(i: &Decoded, lane: &mut Lane) {
    let f = f32::from_bits;
    let (a, b) = (lane.a[usize::from(i.rd)], lane.b[usize::from(i.rs1)]);
    for (row, elements) in lane.c[usize::from(i.rs2)].iter_mut().enumerate() {
        for (column, element) in elements.iter_mut().enumerate() {
            for k in 0..4 {
                let product = f32_result(f(a[row][k]) * f(b[k][column]));
                *element = f32_result(f(*element) + f(product));
            }
        }
    }
}
