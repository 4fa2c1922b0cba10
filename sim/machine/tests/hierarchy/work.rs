//! Kernels that each stress one part of the hierarchy. All end with a store of the values they have read.

use super::machine::Work;

/// Address of the results: the end of the 1 MiB of device memory.
const RESULTS: u32 = 0xF_0000;

/// Wraps `body` into a kernel. r1 is the thread number in the grid, r2 the lane, r3 the wave number in the
/// grid, r5 the value stored at the end, r8 is 1 and r9 is 0.
fn work(groups: u32, threads: u32, body: &str) -> Work {
    let body = format!(
        "mov_sr r10, sr_workgroup_id_x\nmov_sr r11, sr_workgroup_size_x\nmov_sr r1, sr_thread_id_x\n\
         imad r1, r10, r11, r1\nmov_sr r2, sr_lane_id\nisub r3, r1, r2\nmov_imm r10, 8\nidiv r3, r3, r10\n\
         mov_imm r5, 0\nmov_imm r8, 1\nmov_imm r9, 0\n{body}\
         mov_imm r10, 4\nimul r1, r1, r10\nmov_imm r10, {RESULTS}\niadd r1, r1, r10\ndevice_store_u32 r1, r5\n"
    );
    Work { body, groups, threads }
}

/// One lane loads from these addresses in a dependent chain, `laps` times.
pub(crate) fn chain(addresses: &[u32], laps: u32) -> Work {
    let loads: String = addresses
        .iter()
        .map(|address| format!("mov_imm r4, {address}\niadd r4, r4, r7\ndevice_load_u32 r6, r4\niadd r5, r5, r6\nand r7, r6, r9\n"))
        .collect();
    work(
        1,
        1,
        &format!(
            "mov_imm r7, 0\nmov_imm r12, {laps}\nloop\n{loads}isub r12, r12, r8\nucmp_eq p1, r12, r9\nbreak p1\nendloop\n"
        ),
    )
}

/// One wave loads `bytes` (4 or 16) per lane from up to eight addresses without waiting in between. Its lanes
/// are `apart` bytes apart.
pub(crate) fn at_once(addresses: &[u32], bytes: u32, apart: u32) -> Work {
    by_waves(1, addresses, bytes, apart, 0)
}

/// The same with several waves. Wave w adds w * `shift` to the addresses.
pub(crate) fn by_waves(waves: u32, addresses: &[u32], bytes: u32, apart: u32, shift: u32) -> Work {
    let start =
        format!("mov_imm r10, {apart}\nimul r4, r2, r10\nmov_imm r10, {shift}\nimad r4, r3, r10, r4\n");
    let load = |(i, address): (usize, &u32)| {
        let register = 16 + 4 * i;
        format!(
            "mov_imm r10, {address}\niadd r11, r4, r10\niadd r11, r11, r13\ndevice_load_u{} r{register}, r11\n",
            bytes * 8
        )
    };
    let loads: String = addresses.iter().enumerate().map(load).collect();
    let sums: String = (0..addresses.len()).map(|i| format!("iadd r5, r5, r{}\n", 16 + 4 * i)).collect();
    // A first round at other addresses brings the code into the instruction cache.
    let twice = format!(
        "mov_imm r13, {}\nloop\n{loads}{sums}ucmp_eq p1, r13, r9\nbreak p1\nmov r13, r9\nendloop\n",
        1 << 19
    );
    work(1, 8 * waves, &(start + &twice))
}

/// One wave in each of several workgroups loads repeatedly from addresses that differ by workgroup.
pub(crate) fn by_groups(groups: u32, loads: u32, stride: u32) -> Work {
    let load = |i: u32| {
        format!(
            "mov_imm r10, {}\niadd r11, r4, r10\ndevice_load_u128.uncached r{}, r11\n",
            i * stride,
            16 + 4 * (i % 8)
        )
    };
    let loads: String = (0..loads).map(load).collect();
    let start = "mov_imm r10, 16\nimul r4, r2, r10\nmov_imm r10, 128\nimad r4, r3, r10, r4\n";
    work(groups, 8, &format!("{start}{loads}mov r5, r16\n"))
}

/// One wave alternates between storing a word per lane to `stores` and loading from `loads`.
pub(crate) fn stores_and_loads(stores: &[u32], loads: &[u32]) -> Work {
    let mut body = "mov_imm r10, 4\nimul r4, r2, r10\n".to_owned();
    for i in 0..stores.len().max(loads.len()) {
        if let Some(address) = stores.get(i) {
            body += &format!("mov_imm r10, {address}\niadd r11, r4, r10\ndevice_store_u32 r11, r1\n");
        }
        if let Some(address) = loads.get(i) {
            body += &format!(
                "mov_imm r10, {address}\niadd r11, r4, r10\ndevice_load_u32 r6, r11\niadd r5, r5, r6\n"
            );
        }
    }
    work(1, 8, &body)
}

/// One wave loads the same words again and again, each time after the last, its lanes `apart` bytes apart.
pub(crate) fn spread(apart: u32, times: u32) -> Work {
    let start = format!("mov_imm r10, {apart}\nimul r4, r2, r10\n");
    let load = "device_load_u32 r6, r4\nand r7, r6, r9\niadd r4, r4, r7\niadd r5, r5, r6\n";
    work(1, 8, &(start + &load.repeat(times as usize)))
}

/// One wave makes dependent loads from local memory, its lanes `apart` bytes apart.
pub(crate) fn local(apart: u32, times: u32) -> Work {
    let start = format!("mov_imm r10, {apart}\nimul r4, r2, r10\nlocal_store_u32 r4, r1\n");
    let load = "local_load_u32 r6, r4\nand r7, r6, r9\niadd r4, r4, r7\niadd r5, r5, r6\n";
    work(1, 8, &(start + &load.repeat(times as usize)))
}

/// One wave makes loads from local memory that do not wait for one another.
pub(crate) fn local_at_once(times: u32) -> Work {
    let loads: String = (0..times).map(|i| format!("local_load_u32 r{}, r4\n", 16 + i)).collect();
    let sums: String = (0..times).map(|i| format!("iadd r5, r5, r{}\n", 16 + i)).collect();
    work(1, 8, &format!("mov_imm r10, 4\nimul r4, r2, r10\nlocal_store_u32 r4, r1\n{loads}{sums}"))
}
