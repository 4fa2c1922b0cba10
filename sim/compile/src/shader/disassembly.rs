//! A module of SPIR-V as text, an instruction on each line: what users read where there is no source.

use crate::encoding::Listing;
use crate::ir::Place;
use rspirv::binary::{Consumer, Disassemble, ParseAction, parse_bytes};
use rspirv::dr::{self, Instruction, ModuleHeader};
use rspirv::grammar::ext_inst_table;
use rspirv::spirv::Op;
use wave_isa::guard::guarded;

/// The instructions of a module that begin at these bytes. `None` if one is not known.
pub(super) fn disassembly(bytes: &[u8], starts: &[usize]) -> Option<Listing> {
    // The crate has panics for some modules that are wrong.
    let lines = guarded(|| lines(bytes)).ok()??;
    let mut listing = Listing::default();
    listing.note("; SPIR-V, disassembled");
    for (line, &start) in lines.iter().zip(starts) {
        listing.instruction(Place(start as u32 + 1), line);
    }
    Some(listing).filter(|_| lines.len() == starts.len())
}

fn lines(bytes: &[u8]) -> Option<Vec<String>> {
    let mut instructions = Instructions::default();
    parse_bytes(bytes, &mut instructions).ok()?;
    // A text of the whole module has its numbers by their types, and names of extended instructions. It leaves out or moves
    // what is not where a valid module has it, and texts in it may have several lines.
    let mut loader = dr::Loader::new();
    if knows_sets(&instructions.0) && parse_bytes(bytes, &mut loader).is_ok() {
        let text = loader.module().disassemble();
        let lines: Vec<String> =
            text.lines().filter(|line| !line.starts_with(';')).map(str::to_owned).collect();
        let opcode =
            |line: &str| line.split_whitespace().find(|word| word.starts_with("Op")).map(str::to_owned);
        let same = |(line, one): (&String, &Instruction)| {
            opcode(line).is_some_and(|name| name[2..] == *one.class.opname)
        };
        if lines.len() == instructions.0.len() && lines.iter().zip(&instructions.0).all(same) {
            return Some(lines);
        }
    }
    let line = |one: &Instruction| one.disassemble().replace('\n', "\\n");
    Some(instructions.0.iter().map(line).collect())
}

/// True if the crate knows the sets of extended instructions; of others it writes an error to the terminal.
fn knows_sets(instructions: &[Instruction]) -> bool {
    instructions.iter().filter(|one| one.class.opcode == Op::ExtInstImport).all(
        |one| matches!(&one.operands[..], [dr::Operand::LiteralString(name)] if ext_inst_table(name).is_some()),
    )
}

/// The instructions of a module as they come.
#[derive(Default)]
struct Instructions(Vec<Instruction>);

impl Consumer for Instructions {
    fn initialize(&mut self) -> ParseAction {
        ParseAction::Continue
    }

    fn finalize(&mut self) -> ParseAction {
        ParseAction::Continue
    }

    fn consume_header(&mut self, _: ModuleHeader) -> ParseAction {
        ParseAction::Continue
    }

    fn consume_instruction(&mut self, instruction: Instruction) -> ParseAction {
        self.0.push(instruction);
        ParseAction::Continue
    }
}
