//! What a kernel in Rust imports from the module `wave`: the part that the example needs. `wave-sim header` lists all
//! functions, with the names that stand in the import.

#[link(wasm_import_module = "wave")]
unsafe extern "C" {
    #[link_name = "thread_id_x"]
    safe fn wave_thread_id_x() -> u32;
    #[link_name = "workgroup_id_x"]
    safe fn wave_workgroup_id_x() -> u32;
    #[link_name = "workgroup_size_x"]
    safe fn wave_workgroup_size_x() -> u32;
    #[link_name = "barrier"]
    safe fn wave_barrier();
    #[link_name = "local_load_f32"]
    safe fn wave_local_load_f32(address: u32) -> f32;
    #[link_name = "local_store_f32"]
    safe fn wave_local_store_f32(address: u32, value: f32);
}

/// The thread in its workgroup.
pub fn thread_id() -> u32 {
    wave_thread_id_x()
}

/// Threads of a workgroup.
pub fn workgroup_size() -> u32 {
    wave_workgroup_size_x()
}

/// The workgroup in the grid.
pub fn workgroup_id() -> u32 {
    wave_workgroup_id_x()
}

/// The thread in the grid.
pub fn global_id() -> u32 {
    workgroup_id() * workgroup_size() + thread_id()
}

/// Waits for all threads of the workgroup, and orders their accesses.
pub fn barrier() {
    wave_barrier();
}

/// Numbers in local memory, from a byte on. A place past the end of local memory is a fault of the machine.
#[derive(Clone, Copy)]
pub struct LocalFloats(pub u32);

impl LocalFloats {
    /// The number at a place.
    pub fn load(self, place: u32) -> f32 {
        wave_local_load_f32(self.0 + 4 * place)
    }

    /// Replaces the number at a place.
    pub fn store(self, place: u32, value: f32) {
        wave_local_store_f32(self.0 + 4 * place, value);
    }
}

/// Says how much local memory a kernel needs, and how many threads a workgroup has: functions that `wave-sim` finds by
/// their names.
#[macro_export]
macro_rules! kernel_needs {
    ($kernel:ident: $bytes:expr, $threads:expr) => {
        const _: () = {
            #[unsafe(export_name = concat!("wave_local_memory_", stringify!($kernel)))]
            extern "C" fn local_memory() -> u32 {
                $bytes
            }
            #[unsafe(export_name = concat!("wave_workgroup_x_", stringify!($kernel)))]
            extern "C" fn threads() -> u32 {
                $threads
            }
        };
    };
}
