//! Random instructions and programs.

use proptest::prelude::*;
use wave_isa::program::{Kernel, Program};
use wave_isa::table::TABLE;
use wave_isa::{Guard, Inst, MAX_REGISTERS, Role, Scope, Special};

/// Any legal instruction of a kernel with 256 registers; unused fields are 0.
pub(crate) fn instruction() -> impl Strategy<Value = Inst> {
    let fields = any::<([u8; 5], u32, u8, u8)>();
    (0..TABLE.len(), fields).prop_map(|(row, (values, imm, scope, guard))| {
        let info = &TABLE[row];
        let mut inst = Inst::new(info.op);
        if !info.op.rejects_guard() {
            inst.guard = Guard { predicate: guard & 3, negated: guard & 4 != 0 };
        }
        for (operand, value) in info.operands.iter().zip(values) {
            let value = match operand.role {
                Role::Dst(_) | Role::Src(_) | Role::DstOptional | Role::DstBallot => {
                    value.min((MAX_REGISTERS - usize::from(operand.rows())) as u8)
                }
                Role::PredDst | Role::PredSrc => value & 3,
                Role::PredSrcNeg | Role::FragA | Role::FragB | Role::FragC => value & 7,
                Role::Special => value % Special::ALL.len() as u8,
                Role::Imm | Role::Label => {
                    inst.imm = imm;
                    continue;
                }
                Role::Scope => {
                    inst.scope = Scope::ALL[usize::from(scope & 3)];
                    continue;
                }
            };
            inst.set_field(operand.field, value);
        }
        inst
    })
}

/// One or two words of a kernel: an instruction, an instruction with random bits in fields that may be
/// unused, a call to a near target, or random words.
fn words() -> impl Strategy<Value = Vec<u32>> {
    let encoded = |inst: Inst| inst.encode()[..inst.words() as usize].to_vec();
    prop_oneof![
        6 => instruction().prop_map(encoded),
        1 => (instruction(), any::<u32>(), any::<u32>()).prop_map(move |(inst, noise0, noise1)| {
            let mut words = encoded(inst);
            words[0] ^= noise0 & 0x00FF_FF00;
            if let Some(word) = words.get_mut(1) {
                *word ^= noise1;
            }
            words
        }),
        1 => (0u32..400).prop_map(|target| vec![0x3F00_0070, target]),
        1 => any::<u32>().prop_map(|word| vec![word]),
    ]
}

fn name() -> impl Strategy<Value = String> {
    let anything = any::<String>().prop_map(|name| name.replace('\0', ""));
    prop_oneof!["[a-z_][a-z0-9_]{0,12}", anything, Just(String::new()), Just("sr_lane_id".to_owned())]
}

/// Any program: kernels of arbitrary words, and words between them.
pub(crate) fn program() -> impl Strategy<Value = Program> {
    let gap = prop_oneof![4 => Just(Vec::new()), 1 => prop::collection::vec(any::<u32>(), 0..3)];
    let code = prop::collection::vec(words(), 0..12).prop_map(|words| words.concat());
    let registers = prop_oneof![Just(256u32), 1u32..=256];
    let metadata = (name(), registers, any::<u32>(), any::<[u32; 3]>());
    let kernels = prop::collection::vec((gap.clone(), metadata, code), 1..4);
    (kernels, gap).prop_map(|(kernels, tail)| {
        let mut program = Program::default();
        for (gap, (name, registers, local_memory_bytes, workgroup_size), words) in kernels {
            program.code.extend(gap);
            let start = program.code.len() as u32;
            program.code.extend(words);
            let code = start..program.code.len() as u32;
            program.kernels.push(Kernel {
                name,
                registers,
                local_memory_bytes,
                workgroup_size,
                code,
                parameters: None,
                private: None,
                bindings: Vec::new(),
            });
        }
        program.code.extend(tail);
        program
    })
}
