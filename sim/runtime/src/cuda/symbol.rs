//! Variables in device memory.

use super::{CudaError, Done, Entity, State, check, given, runtime};
use crate::ffi::{Address, Out};

impl State {
    /// Address and size of the variable of a shadow in the host's code.
    fn symbol(&mut self, shadow: Address) -> Done<(u64, u64)> {
        self.usable()?;
        let variable: Entity = self.variables.get(&shadow).cloned().ok_or(CudaError::InvalidSymbol)?;
        self.variable(&variable).map_err(|error| match error {
            CudaError::NotFound => CudaError::InvalidSymbol,
            other => other,
        })
    }

    /// The address of a part of a variable.
    fn part(&mut self, shadow: Address, bytes: usize, offset: usize) -> Done<Address> {
        let (address, size) = self.symbol(shadow)?;
        let end = offset.checked_add(bytes).ok_or(CudaError::InvalidValue)?;
        check(end as u64 <= size, CudaError::InvalidValue)?;
        Ok(Address(address as usize).plus(offset))
    }
}

#[unsafe(export_name = "wave_cudaMemcpyToSymbol")]
extern "C" fn memcpy_to_symbol(
    symbol: Address,
    from: Address,
    bytes: usize,
    offset: usize,
    direction: i32,
) -> i32 {
    runtime(|state| {
        let to = state.part(symbol, bytes, offset)?;
        state.copy(to, from, bytes, direction)
    })
}

#[unsafe(export_name = "wave_cudaMemcpyToSymbolAsync")]
extern "C" fn memcpy_to_symbol_in_order(
    symbol: Address,
    from: Address,
    bytes: usize,
    offset: usize,
    direction: i32,
    _stream: Address,
) -> i32 {
    memcpy_to_symbol(symbol, from, bytes, offset, direction)
}

#[unsafe(export_name = "wave_cudaMemcpyFromSymbol")]
extern "C" fn memcpy_from_symbol(
    to: Address,
    symbol: Address,
    bytes: usize,
    offset: usize,
    direction: i32,
) -> i32 {
    runtime(|state| {
        let from = state.part(symbol, bytes, offset)?;
        state.copy(to, from, bytes, direction)
    })
}

#[unsafe(export_name = "wave_cudaMemcpyFromSymbolAsync")]
extern "C" fn memcpy_from_symbol_in_order(
    to: Address,
    symbol: Address,
    bytes: usize,
    offset: usize,
    direction: i32,
    _stream: Address,
) -> i32 {
    memcpy_from_symbol(to, symbol, bytes, offset, direction)
}

#[unsafe(export_name = "wave_cudaGetSymbolAddress")]
extern "C" fn symbol_address(address: Out<u64>, symbol: Address) -> i32 {
    runtime(|state| {
        let (found, _) = state.symbol(symbol)?;
        given(address.set(found))
    })
}

#[unsafe(export_name = "wave_cudaGetSymbolSize")]
extern "C" fn symbol_size(bytes: Out<usize>, symbol: Address) -> i32 {
    runtime(|state| {
        let (_, size) = state.symbol(symbol)?;
        given(bytes.set(size as usize))
    })
}
