//! The rows of the opcode table: one per legal (opcode, modifier) key, in encoding-page order.
//!
//! `Variant "mnemonic" opcode.modifier [operands in text order] ExecClass "meaning";` with the operand
//! abbreviations of [`super::operand::abbrev`].

/// Passes every row to the macro `$then`.
macro_rules! opcode_rows {
    ($then:ident) => {
        $then! {
            // Integer
            IAdd "iadd" 0x00 0 [D, A, B] Int "a + b, wrapping";
            ISub "isub" 0x01 0 [D, A, B] Int "a - b, wrapping";
            IMul "imul" 0x02 0 [D, A, B] IntMul "low 32 bits of a * b";
            IMulHi "imul_hi" 0x03 0 [D, A, B] IntMul "high 32 bits of the unsigned product a * b";
            IMad "imad" 0x04 0 [D, A, B, C] IntMul "a * b + c, wrapping";
            IDiv "idiv" 0x05 0 [D, A, B] IntDiv "signed quotient, truncated; 0 when b is 0; INT_MIN / -1 = INT_MIN";
            IMod "imod" 0x06 0 [D, A, B] IntDiv "signed remainder with the sign of a; 0 when b is 0; INT_MIN % -1 = 0";
            INeg "ineg" 0x07 0 [D, A] Int "-a, wrapping";
            IAbs "iabs" 0x08 0 [D, A] Int "absolute value; of INT_MIN it is 0x80000000";
            IMin "imin" 0x09 0 [D, A, B] Int "signed minimum";
            IMax "imax" 0x0A 0 [D, A, B] Int "signed maximum";
            IClamp "iclamp" 0x0B 0 [D, A, B, C] Int "min(max(a, b), c), signed";
            UMin "umin" 0x0C 0 [D, A, B] Int "unsigned minimum";
            UMax "umax" 0x0D 0 [D, A, B] Int "unsigned maximum";
            // Floating point, f32
            FAdd "fadd" 0x10 0 [D, A, B] Fp32 "a + b";
            FSub "fsub" 0x11 0 [D, A, B] Fp32 "a - b";
            FMul "fmul" 0x12 0 [D, A, B] Fp32 "a * b";
            Fma "fma" 0x13 0 [D, A, B, C] Fp32 "a * b + c, rounded once";
            FDiv "fdiv" 0x14 0 [D, A, B] Fp32Div "a / b";
            FNeg "fneg" 0x15 0 [D, A] Fp32 "a with its sign bit flipped, also of a NaN";
            FAbs "fabs" 0x16 0 [D, A] Fp32 "a with its sign bit cleared, also of a NaN";
            FMin "fmin" 0x17 0 [D, A, B] Fp32 "IEEE 754-2019 minimumNumber, -0 < +0";
            FMax "fmax" 0x18 0 [D, A, B] Fp32 "IEEE 754-2019 maximumNumber, -0 < +0";
            FClamp "fclamp" 0x19 0 [D, A, B, C] Fp32 "fmin(fmax(a, b), c)";
            FSqrt "fsqrt" 0x1A 0 [D, A] Fp32Div "square root";
            FRsqrt "frsqrt" 0x1B 0 [D, A] Fp32Div "fdiv(1, fsqrt(a)): rounded twice";
            FRcp "frcp" 0x1B 1 [D, A] Fp32Div "fdiv(1, a)";
            FFloor "ffloor" 0x1B 2 [D, A] Fp32 "round towards minus infinity";
            FCeil "fceil" 0x1B 3 [D, A] Fp32 "round towards plus infinity";
            FRound "fround" 0x1B 4 [D, A] Fp32 "round to nearest, ties to even";
            FTrunc "ftrunc" 0x1B 5 [D, A] Fp32 "round towards zero";
            FFract "ffract" 0x1B 6 [D, A] Fp32 "min(a - floor(a), 0x1.fffffep-1)";
            FSat "fsat" 0x1B 7 [D, A] Fp32 "clamp to [0, 1]; a NaN gives 0";
            FSin "fsin" 0x1B 8 [D, A] Sfu "sine of a in radians, by the fixed-point algorithm";
            FCos "fcos" 0x1B 9 [D, A] Sfu "cosine of a in radians, by the fixed-point algorithm";
            FExp2 "fexp2" 0x1B 10 [D, A] Sfu "2 to the power a, by the fixed-point algorithm";
            FLog2 "flog2" 0x1B 11 [D, A] Sfu "logarithm of a to base 2, by the fixed-point algorithm";
            // Floating point, f16
            HAdd "hadd" 0x1C 0 [D, A, B] Fp16 "f16 in the low half: a + b, computed in f32, rounded to f16; high half 0";
            HSub "hsub" 0x1C 1 [D, A, B] Fp16 "f16 in the low half: a - b, computed in f32, rounded to f16; high half 0";
            HMul "hmul" 0x1C 2 [D, A, B] Fp16 "f16 in the low half: a * b, computed in f32, rounded to f16; high half 0";
            HMa "hma" 0x1C 3 [D, A, B, C] Fp16 "f16 in the low half: a * b + c by an f32 fma, computed in f32, rounded to f16; high half 0";
            HAdd2 "hadd2" 0x1D 0 [D, A, B] Fp16 "f16 in both halves: a + b";
            HMul2 "hmul2" 0x1D 1 [D, A, B] Fp16 "f16 in both halves: a * b";
            HMa2 "hma2" 0x1D 2 [D, A, B, C] Fp16 "f16 in both halves: a * b + c";
            // Floating point, f64 on register pairs (CAP_F64)
            DAdd "dadd" 0x1E 0 [D2, A2, B2] Fp64 "f64: a + b";
            DSub "dsub" 0x1E 1 [D2, A2, B2] Fp64 "f64: a - b";
            DMul "dmul" 0x1E 2 [D2, A2, B2] Fp64 "f64: a * b";
            DMa "dma" 0x1E 3 [D2, A2, B2, C2] Fp64 "f64: a * b + c, rounded once";
            DDiv "ddiv" 0x1F 0 [D2, A2, B2] Fp64Div "f64: a / b";
            DSqrt "dsqrt" 0x1F 1 [D2, A2] Fp64Div "f64: square root";
            // Bits
            And "and" 0x20 0 [D, A, B] Int "bitwise and";
            Or "or" 0x21 0 [D, A, B] Int "bitwise or";
            Xor "xor" 0x22 0 [D, A, B] Int "bitwise exclusive or";
            Not "not" 0x23 0 [D, A] Int "bitwise complement";
            Shl "shl" 0x24 0 [D, A, B] Int "a << (b & 31)";
            Shr "shr" 0x25 0 [D, A, B] Int "a >> (b & 31), logical";
            Sar "sar" 0x26 0 [D, A, B] Int "a >> (b & 31), arithmetic";
            BitCount "bitcount" 0x27 0 [D, A] Int "population count";
            BitFind "bitfind" 0x27 1 [D, A] Int "count of leading zeros; 0xFFFFFFFF for 0";
            BitRev "bitrev" 0x27 2 [D, A] Int "bit reversal";
            Bfe "bfe" 0x27 3 [D, A, B, C] Int "(a >> (b & 31)) & ((1 << (c & 31)) - 1); width 0 gives 0";
            Bfi "bfi" 0x27 4 [D, A, B, C, E] Int "insert the low (e & 31) bits of b into a at bit c & 31; width 0 gives a; bits past 31 are dropped";
            // Compare, select, convert
            ICmpEq "icmp_eq" 0x28 0 [PD, A, B] Int "a == b, signed";
            ICmpNe "icmp_ne" 0x28 1 [PD, A, B] Int "a != b, signed";
            ICmpLt "icmp_lt" 0x28 2 [PD, A, B] Int "a < b, signed";
            ICmpLe "icmp_le" 0x28 3 [PD, A, B] Int "a <= b, signed";
            ICmpGt "icmp_gt" 0x28 4 [PD, A, B] Int "a > b, signed";
            ICmpGe "icmp_ge" 0x28 5 [PD, A, B] Int "a >= b, signed";
            UCmpEq "ucmp_eq" 0x29 0 [PD, A, B] Int "a == b, unsigned";
            UCmpNe "ucmp_ne" 0x29 1 [PD, A, B] Int "a != b, unsigned";
            UCmpLt "ucmp_lt" 0x29 2 [PD, A, B] Int "a < b, unsigned";
            UCmpLe "ucmp_le" 0x29 3 [PD, A, B] Int "a <= b, unsigned";
            UCmpGt "ucmp_gt" 0x29 4 [PD, A, B] Int "a > b, unsigned";
            UCmpGe "ucmp_ge" 0x29 5 [PD, A, B] Int "a >= b, unsigned";
            FCmpEq "fcmp_eq" 0x2A 0 [PD, A, B] Fp32 "f32, quiet: a == b; false on a NaN";
            FCmpNe "fcmp_ne" 0x2A 1 [PD, A, B] Fp32 "f32, quiet: a != b; true on a NaN";
            FCmpLt "fcmp_lt" 0x2A 2 [PD, A, B] Fp32 "f32, quiet: a < b; false on a NaN";
            FCmpLe "fcmp_le" 0x2A 3 [PD, A, B] Fp32 "f32, quiet: a <= b; false on a NaN";
            FCmpGt "fcmp_gt" 0x2A 4 [PD, A, B] Fp32 "f32, quiet: a > b; false on a NaN";
            FCmpGe "fcmp_ge" 0x2A 5 [PD, A, B] Fp32 "f32, quiet: a >= b; false on a NaN";
            FCmpOrd "fcmp_ord" 0x2A 6 [PD, A, B] Fp32 "f32, quiet: neither is a NaN";
            FCmpUnord "fcmp_unord" 0x2A 7 [PD, A, B] Fp32 "f32, quiet: either is a NaN";
            Select "select" 0x2B 0 [D, PS, B, C] Int "p[ps] ? b : c";
            CvtF32I32 "cvt_f32_i32" 0x2C 0 [D, A] Convert "signed integer to f32, to nearest even";
            CvtF32U32 "cvt_f32_u32" 0x2C 1 [D, A] Convert "unsigned integer to f32, to nearest even";
            CvtI32F32 "cvt_i32_f32" 0x2C 2 [D, A] Convert "f32 to signed integer, truncated, saturating; a NaN gives 0";
            CvtU32F32 "cvt_u32_f32" 0x2C 3 [D, A] Convert "f32 to unsigned integer, truncated, saturating; a NaN gives 0";
            CvtF32F16 "cvt_f32_f16" 0x2C 4 [D, A] Convert "low half f16 to f32";
            CvtF16F32 "cvt_f16_f32" 0x2C 5 [D, A] Convert "f32 to f16 in the low half, to nearest even; high half 0";
            CvtF32F64 "cvt_f32_f64" 0x2C 6 [D, A2] Fp64 "f64 to f32, to nearest even";
            CvtF64F32 "cvt_f64_f32" 0x2C 7 [D2, A] Fp64 "f32 to f64";
            CvtF32Bf16 "cvt_f32_bf16" 0x2C 8 [D, A] Convert "low half bf16 to f32";
            CvtBf16F32 "cvt_bf16_f32" 0x2C 9 [D, A] Convert "f32 to bf16 in the low half, to nearest even; high half 0";
            // Floating point, bf16
            BAdd "badd" 0x2D 0 [D, A, B] Fp16 "bf16 in the low half: a + b, computed in f32, rounded to nearest even; high half 0";
            BSub "bsub" 0x2D 1 [D, A, B] Fp16 "bf16 in the low half: a - b, computed in f32, rounded to nearest even; high half 0";
            BMul "bmul" 0x2D 2 [D, A, B] Fp16 "bf16 in the low half: a * b, computed in f32, rounded to nearest even; high half 0";
            BMa "bma" 0x2D 3 [D, A, B, C] Fp16 "bf16 in the low half: a * b + c by an f32 fma, computed in f32, rounded to nearest even; high half 0";
            BAdd2 "badd2" 0x2E 0 [D, A, B] Fp16 "bf16 in both halves: a + b";
            BMul2 "bmul2" 0x2E 1 [D, A, B] Fp16 "bf16 in both halves: a * b";
            BMa2 "bma2" 0x2E 2 [D, A, B, C] Fp16 "bf16 in both halves: a * b + c";
            // Memory
            LocalLoadU8 "local_load_u8" 0x30 0 [D, A] LocalMemory "load u8 from local memory at address a";
            LocalLoadU16 "local_load_u16" 0x30 1 [D, A] LocalMemory "load u16 from local memory at address a";
            LocalLoadU32 "local_load_u32" 0x30 2 [D, A] LocalMemory "load u32 from local memory at address a";
            LocalLoadU64 "local_load_u64" 0x30 3 [D2, A] LocalMemory "load u64 from local memory at address a";
            LocalStoreU8 "local_store_u8" 0x31 0 [A, B] LocalMemory "store u8 b to local memory at address a";
            LocalStoreU16 "local_store_u16" 0x31 1 [A, B] LocalMemory "store u16 b to local memory at address a";
            LocalStoreU32 "local_store_u32" 0x31 2 [A, B] LocalMemory "store u32 b to local memory at address a";
            LocalStoreU64 "local_store_u64" 0x31 3 [A, B2] LocalMemory "store u64 b to local memory at address a";
            DeviceLoadU8 "device_load_u8" 0x38 0 [D, A] DeviceMemory "load u8 from device memory at address a";
            DeviceLoadU16 "device_load_u16" 0x38 1 [D, A] DeviceMemory "load u16 from device memory at address a";
            DeviceLoadU32 "device_load_u32" 0x38 2 [D, A] DeviceMemory "load u32 from device memory at address a";
            DeviceLoadU64 "device_load_u64" 0x38 3 [D2, A] DeviceMemory "load u64 from device memory at address a";
            DeviceLoadU128 "device_load_u128" 0x38 4 [D4, A] DeviceMemory "load u128 from device memory at address a";
            DeviceLoadU8Uncached "device_load_u8.uncached" 0x38 5 [D, A] DeviceMemory "load u8 from device memory at address a, uncached";
            DeviceLoadU16Uncached "device_load_u16.uncached" 0x38 6 [D, A] DeviceMemory "load u16 from device memory at address a, uncached";
            DeviceLoadU32Uncached "device_load_u32.uncached" 0x38 7 [D, A] DeviceMemory "load u32 from device memory at address a, uncached";
            DeviceLoadU64Uncached "device_load_u64.uncached" 0x38 8 [D2, A] DeviceMemory "load u64 from device memory at address a, uncached";
            DeviceLoadU128Uncached "device_load_u128.uncached" 0x38 9 [D4, A] DeviceMemory "load u128 from device memory at address a, uncached";
            DeviceLoadU8Streaming "device_load_u8.streaming" 0x38 10 [D, A] DeviceMemory "load u8 from device memory at address a, streaming";
            DeviceLoadU16Streaming "device_load_u16.streaming" 0x38 11 [D, A] DeviceMemory "load u16 from device memory at address a, streaming";
            DeviceLoadU32Streaming "device_load_u32.streaming" 0x38 12 [D, A] DeviceMemory "load u32 from device memory at address a, streaming";
            DeviceLoadU64Streaming "device_load_u64.streaming" 0x38 13 [D2, A] DeviceMemory "load u64 from device memory at address a, streaming";
            DeviceLoadU128Streaming "device_load_u128.streaming" 0x38 14 [D4, A] DeviceMemory "load u128 from device memory at address a, streaming";
            DeviceStoreU8 "device_store_u8" 0x39 0 [A, B] DeviceMemory "store u8 b to device memory at address a";
            DeviceStoreU16 "device_store_u16" 0x39 1 [A, B] DeviceMemory "store u16 b to device memory at address a";
            DeviceStoreU32 "device_store_u32" 0x39 2 [A, B] DeviceMemory "store u32 b to device memory at address a";
            DeviceStoreU64 "device_store_u64" 0x39 3 [A, B2] DeviceMemory "store u64 b to device memory at address a";
            DeviceStoreU128 "device_store_u128" 0x39 4 [A, B4] DeviceMemory "store u128 b to device memory at address a";
            DeviceStoreU8Uncached "device_store_u8.uncached" 0x39 5 [A, B] DeviceMemory "store u8 b to device memory at address a, uncached";
            DeviceStoreU16Uncached "device_store_u16.uncached" 0x39 6 [A, B] DeviceMemory "store u16 b to device memory at address a, uncached";
            DeviceStoreU32Uncached "device_store_u32.uncached" 0x39 7 [A, B] DeviceMemory "store u32 b to device memory at address a, uncached";
            DeviceStoreU64Uncached "device_store_u64.uncached" 0x39 8 [A, B2] DeviceMemory "store u64 b to device memory at address a, uncached";
            DeviceStoreU128Uncached "device_store_u128.uncached" 0x39 9 [A, B4] DeviceMemory "store u128 b to device memory at address a, uncached";
            DeviceStoreU8Streaming "device_store_u8.streaming" 0x39 10 [A, B] DeviceMemory "store u8 b to device memory at address a, streaming";
            DeviceStoreU16Streaming "device_store_u16.streaming" 0x39 11 [A, B] DeviceMemory "store u16 b to device memory at address a, streaming";
            DeviceStoreU32Streaming "device_store_u32.streaming" 0x39 12 [A, B] DeviceMemory "store u32 b to device memory at address a, streaming";
            DeviceStoreU64Streaming "device_store_u64.streaming" 0x39 13 [A, B2] DeviceMemory "store u64 b to device memory at address a, streaming";
            DeviceStoreU128Streaming "device_store_u128.streaming" 0x39 14 [A, B4] DeviceMemory "store u128 b to device memory at address a, streaming";
            LocalAtomicAdd "local_atomic_add" 0x3C 0 [DX, A, B] LocalMemory "mem = mem + b at address a; the old value is returned unless rd is 0";
            LocalAtomicSub "local_atomic_sub" 0x3C 1 [DX, A, B] LocalMemory "mem = mem - b at address a; the old value is returned unless rd is 0";
            LocalAtomicMin "local_atomic_min" 0x3C 2 [DX, A, B] LocalMemory "mem = unsigned minimum of mem and b at address a; the old value is returned unless rd is 0";
            LocalAtomicMax "local_atomic_max" 0x3C 3 [DX, A, B] LocalMemory "mem = unsigned maximum of mem and b at address a; the old value is returned unless rd is 0";
            LocalAtomicAnd "local_atomic_and" 0x3C 4 [DX, A, B] LocalMemory "mem = mem & b at address a; the old value is returned unless rd is 0";
            LocalAtomicOr "local_atomic_or" 0x3C 5 [DX, A, B] LocalMemory "mem = mem | b at address a; the old value is returned unless rd is 0";
            LocalAtomicXor "local_atomic_xor" 0x3C 6 [DX, A, B] LocalMemory "mem = mem ^ b at address a; the old value is returned unless rd is 0";
            LocalAtomicExchange "local_atomic_exchange" 0x3C 7 [DX, A, B] LocalMemory "mem = b at address a; the old value is returned unless rd is 0";
            LocalAtomicCas "local_atomic_cas" 0x3C 8 [DX, A, B, C] LocalMemory "if mem == b then mem = c, at address a; the old value is returned unless rd is 0";
            AtomicAdd "atomic_add" 0x3D 0 [DX, A, B, SC] DeviceMemory "mem = mem + b at address a; the old value is returned unless rd is 0";
            AtomicSub "atomic_sub" 0x3D 1 [DX, A, B, SC] DeviceMemory "mem = mem - b at address a; the old value is returned unless rd is 0";
            AtomicMin "atomic_min" 0x3D 2 [DX, A, B, SC] DeviceMemory "mem = unsigned minimum of mem and b at address a; the old value is returned unless rd is 0";
            AtomicMax "atomic_max" 0x3D 3 [DX, A, B, SC] DeviceMemory "mem = unsigned maximum of mem and b at address a; the old value is returned unless rd is 0";
            AtomicAnd "atomic_and" 0x3D 4 [DX, A, B, SC] DeviceMemory "mem = mem & b at address a; the old value is returned unless rd is 0";
            AtomicOr "atomic_or" 0x3D 5 [DX, A, B, SC] DeviceMemory "mem = mem | b at address a; the old value is returned unless rd is 0";
            AtomicXor "atomic_xor" 0x3D 6 [DX, A, B, SC] DeviceMemory "mem = mem ^ b at address a; the old value is returned unless rd is 0";
            AtomicExchange "atomic_exchange" 0x3D 7 [DX, A, B, SC] DeviceMemory "mem = b at address a; the old value is returned unless rd is 0";
            AtomicCas "atomic_cas" 0x3D 8 [DX, A, B, C, SC] DeviceMemory "if mem == b then mem = c, at address a; the old value is returned unless rd is 0";
            // Wave operations, over the lanes that take part
            WaveShuffle "wave_shuffle" 0x3E 0 [D, A, B] Wave "r[a] of lane r[b]";
            WaveShuffleUp "wave_shuffle_up" 0x3E 1 [D, A, B] Wave "r[a] of lane lane_id - r[b]";
            WaveShuffleDown "wave_shuffle_down" 0x3E 2 [D, A, B] Wave "r[a] of lane lane_id + r[b]";
            WaveShuffleXor "wave_shuffle_xor" 0x3E 3 [D, A, B] Wave "r[a] of lane lane_id ^ r[b]";
            WaveBroadcast "wave_broadcast" 0x3E 4 [D, A, B] Wave "r[a] of lane r[b], r[b] as the lowest participating lane has it";
            WaveBallot "wave_ballot" 0x3E 5 [DW, PS] Wave "bit i is p[ps] of participating lane i; with 64 lanes the high word goes to r(d+1)";
            WaveAny "wave_any" 0x3E 6 [PD, PS] Wave "p[ps] of any participating lane";
            WaveAll "wave_all" 0x3E 7 [PD, PS] Wave "p[ps] of all participating lanes";
            WavePrefixSum "wave_prefix_sum" 0x3E 8 [D, A] Wave "exclusive prefix sum, u32, in lane order";
            WaveReduceAdd "wave_reduce_add" 0x3E 9 [D, A] Wave "sum, u32, wrapping";
            WaveReduceMin "wave_reduce_min" 0x3E 10 [D, A] Wave "unsigned minimum";
            WaveReduceMax "wave_reduce_max" 0x3E 11 [D, A] Wave "unsigned maximum";
            WaveReduceAnd "wave_reduce_and" 0x3E 12 [D, A] Wave "bitwise and";
            WaveReduceOr "wave_reduce_or" 0x3E 13 [D, A] Wave "bitwise or";
            WaveReduceXor "wave_reduce_xor" 0x3E 14 [D, A] Wave "bitwise exclusive or";
            // Control and synchronisation
            If "if" 0x3F 0 [PN] Control "lanes with p stay active; the others wait for else or endif";
            Else "else" 0x3F 1 [] Control "swap to the lanes that the if left out";
            EndIf "endif" 0x3F 2 [] Control "join the lanes of both sides";
            Loop "loop" 0x3F 3 [] Control "open a loop; the next instruction is its head";
            Break "break" 0x3F 4 [PN] Control "lanes with p leave the innermost loop";
            Continue "continue" 0x3F 5 [PN] Control "lanes with p wait for the end of this iteration";
            EndLoop "endloop" 0x3F 6 [] Control "back to the head while any lane is left, else on with the lanes that broke";
            Call "call" 0x3F 7 [LAB] Control "push the next pc and jump";
            Return "return" 0x3F 8 [] Control "jump to the pushed pc; at call depth 0 a halt";
            Halt "halt" 0x3F 9 [] Control "lanes that take part end";
            Barrier "barrier" 0x3F 10 [] Sync "wait for the workgroup's live waves";
            FenceAcquire "fence_acquire" 0x3F 11 [SC] Sync "later loads see what was visible at the scope";
            FenceRelease "fence_release" 0x3F 12 [SC] Sync "earlier stores are visible at the scope before any later one";
            FenceAcqRel "fence_acq_rel" 0x3F 13 [SC] Sync "acquire and release";
            Wait "wait" 0x3F 14 [] Sync "until none of the wave's loads is outstanding";
            Nop "nop" 0x3F 15 [] Int "nothing";
            // Matrix (CAP_MMA)
            MmaLoadA "mma_load_a" 0x40 0 [FDA, A, B] LocalMemory "A fragment f = 4x4 f32 tile in local memory at address a, row stride b bytes";
            MmaLoadB "mma_load_b" 0x40 1 [FDB, A, B] LocalMemory "B fragment f = 4x4 f32 tile in local memory at address a, row stride b bytes";
            MmaStoreC "mma_store_c" 0x40 2 [DA, A, FC] LocalMemory "C fragment f to local memory at address r[d], row stride a bytes";
            MmaCompute "mma_compute" 0x40 3 [FDA, FB, FC] Mma "C[fc] += A[fa] x B[fb], over k in order, each step one f32 multiply and one f32 add";
            // Moves
            Mov "mov" 0x41 0 [D, A] Int "copy of a";
            MovImm "mov_imm" 0x41 1 [D, IMM] Int "32-bit literal, integer or float";
            MovSr "mov_sr" 0x41 2 [D, SR] Int "special register";
        }
    };
}
pub(crate) use opcode_rows;
