//! Whole kernels on which both sides agree.

use super::{Bench, word};

#[test]
fn loops_with_a_break_at_their_level_and_nested_ifs() {
    Bench::per_lane(
        "mov_imm r5, 3
         loop
           icmp_ge p2, r10, r1
           break p2
           iadd r10, r10, r2
           if p1
             iadd r10, r10, r2
             icmp_gt p3, r10, r5
             if p3
               iadd r10, r10, r5
             else
               xor r10, r10, r2
             endif
           endif
         endloop",
    )
    .agree();
}

#[test]
fn calls() {
    Bench::per_lane("call f\ncall f\nif p1\ncall f\nendif\nmov r11, r10")
        .agree_after("f: iadd r10, r10, r1\ncall g\nreturn\ng: iadd r10, r10, r2\nreturn");
}

#[test]
fn a_reduction_in_local_memory_with_barriers() {
    let mut bench = Bench::new(
        "mov_sr r1, sr_thread_id_x
         mov_imm r2, 2
         shl r3, r1, r2
         imul r4, r1, r1
         local_store_u32 r3, r4
         mov_imm r5, 16
         mov_imm r6, 1
         loop
           barrier
           mov_imm r7, 0
           icmp_eq p1, r5, r7
           break p1
           icmp_lt p2, r1, r5
           if p2
             iadd r8, r1, r5
             shl r8, r8, r2
             local_load_u32 r9, r8
             local_load_u32 r10, r3
             iadd r9, r9, r10
             local_store_u32 r3, r9
           endif
           shr r5, r5, r6
         endloop
         mov_sr r11, sr_workgroup_id_x
         shl r11, r11, r2
         local_load_u32 r12, r7
         device_store_u32 r11, r12
         halt",
    );
    (bench.threads, bench.groups) = (32, 3);
    bench.agree();
    let squares: u32 = (0..32).map(|n| n * n).sum();
    assert_eq!(word(&bench.ours().1, 8), squares);
}

#[test]
fn atomics_of_both_memories_and_their_old_values() {
    for operation in ["add", "sub", "min", "max", "and", "or", "xor", "exchange"] {
        let mut bench = Bench::per_lane(&format!(
            "mov_imm r4, 200
             mov_imm r5, 0x0FF0
             local_store_u32 r4, r5
             barrier
             local_atomic_{operation} r6, r4, r1
             atomic_{operation} r7, r4, r1, .device
             @p1 local_atomic_{operation} r4, r1
             @p1 atomic_{operation} r4, r1, .workgroup
             barrier
             local_load_u32 r8, r4
             imul r10, r6, r3
             imad r10, r10, r3, r7
             imad r10, r10, r3, r8"
        ));
        bench.memory[200..204].copy_from_slice(&0x1234_5678u32.to_le_bytes());
        bench.groups = 3;
        bench.agree();
    }
}

#[test]
fn every_width_and_cache_hint_at_odd_addresses() {
    let mut bench = Bench::new(
        "mov_sr r1, sr_lane_id
         mov_imm r2, 24
         imul r3, r1, r2
         mov_imm r4, 1
         iadd r3, r3, r4
         device_load_u128 r8, r3
         device_load_u64.streaming r12, r3
         device_load_u32.uncached r14, r3
         device_load_u16.cached r15, r3
         device_load_u8 r16, r3
         local_store_u64 r3, r12
         local_store_u32 r3, r14
         local_store_u16 r3, r15
         local_store_u8 r3, r10
         local_load_u64 r18, r3
         local_load_u32 r20, r3
         local_load_u16 r21, r3
         local_load_u8 r22, r3
         xor r8, r8, r18
         xor r9, r9, r20
         xor r10, r10, r21
         xor r11, r11, r22
         device_store_u128 r3, r8
         mov_imm r4, 15
         iadd r3, r3, r4
         device_store_u16 r3, r16
         halt",
    );
    bench.memory = (0..256u32).map(|n| (n * 37 + 11) as u8).collect();
    bench.agree();
}

#[test]
fn wave_operations_under_a_guard() {
    for text in [
        "wave_shuffle r10, r5, r4",
        "wave_shuffle_up r10, r5, r2",
        "wave_shuffle_down r10, r5, r3",
        "wave_shuffle_xor r10, r5, r4",
        "wave_broadcast r10, r5, r4",
        "wave_ballot r10, p2",
        "wave_any p3, p2",
        "wave_all p3, p2",
        "wave_prefix_sum r10, r5",
        "wave_reduce_add r10, r5",
        "wave_reduce_min r10, r5",
        "wave_reduce_max r10, r5",
    ] {
        for guard in ["", "@p1 ", "@!p1 ", "@!p2 "] {
            Bench::per_lane(&format!(
                "mov_imm r4, 5
                 xor r4, r4, r1
                 mov_imm r5, 0x9E3779B1
                 imul r5, r5, r4
                 mov_imm r6, 2
                 and r6, r6, r1
                 icmp_ge p2, r6, r2
                 {guard}{text}
                 select r7, p3, r2, r3
                 iadd r10, r10, r7"
            ))
            .agree();
        }
    }
}

#[test]
fn special_registers() {
    for name in [
        "thread_id_x",
        "thread_id_y",
        "wave_id",
        "lane_id",
        "workgroup_id_x",
        "workgroup_id_z",
        "workgroup_size_x",
        "workgroup_size_z",
        "grid_size_x",
        "grid_size_y",
        "wave_width",
        "num_waves",
    ] {
        let mut bench =
            Bench::per_lane(&format!("mov_sr r10, sr_{name}\nmov r4, sr_{name}\niadd r10, r10, r4"));
        (bench.threads, bench.groups) = (20, 3);
        bench.agree();
    }
}

impl Bench {
    /// Appends subroutines after the kernel's end, then [`Bench::agree`].
    fn agree_after(mut self, subroutines: &str) {
        self.text = self.text.replace(".end\n", &format!("{subroutines}\n.end\n"));
        self.agree();
    }
}
