// What a kernel in AssemblyScript imports from the module `wave`: the part that the example needs. `wave-sim header`
// lists all functions, with the names that stand in the import.

@external("wave", "thread_id_x") export declare function threadId(): u32;
@external("wave", "workgroup_id_x") export declare function workgroupId(): u32;
@external("wave", "workgroup_size_x") export declare function workgroupSize(): u32;
@external("wave", "atomic_add_device") export declare function atomicAdd(address: usize, value: u32): u32;

// The thread in the grid.
export function globalId(): u32 {
  return workgroupId() * workgroupSize() + threadId();
}
