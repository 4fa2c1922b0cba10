//! The report of a run that makes no progress or reached a bound: where each wave is, what it waits for, and
//! what holds that up.

mod graph;

use comfy_table::{Table, presets};
use wave_isa::program::dis::{Labels, disassemble_inst};
use wave_isa::program::{Kernel, Program};
use wave_isa::{Inst, WORD_BYTES};
use wave_machine::core::report::WaveReport;
use wave_machine::gpu::NoProgress;
use wave_observe::numbers::counted;

/// Most waves listed. The others are counted.
const LISTED: usize = 20;

/// Number of finished workgroups, a row per wave with its position and what it waits for, and the wait-for
/// graph.
pub fn waves(stuck: &NoProgress, program: &Program, kernel: &Kernel) -> String {
    let (done, total) = stuck.workgroups;
    let count = stuck.waves.len();
    let on_the_machine = counted(count as u64, "wave");
    let mut text =
        format!("{done} of {} done; on the machine: {on_the_machine}", counted(total, "workgroup"));
    if count == 0 {
        return text;
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["core", "workgroup", "wave", "active lanes", "pc", "at", "waits for"]);
    for wave in stuck.waves.iter().take(LISTED) {
        let [x, y, z] = wave.workgroup;
        table.add_row([
            wave.core.to_string(),
            format!("{x},{y},{z}"),
            wave.wave.to_string(),
            format!("0x{:x}", wave.active),
            format!("0x{:x}", wave.pc),
            place(wave, program, kernel),
            wave.waits_for.to_string(),
        ]);
    }
    for line in table.lines() {
        text.push('\n');
        text.push_str(line.trim_end());
    }
    if count > LISTED {
        text += &format!("\n … and {} more", count - LISTED);
    }
    text + &graph::text(stuck, program, kernel)
}

/// The instruction, with its source line if there is one.
fn place(wave: &WaveReport, program: &Program, kernel: &Kernel) -> String {
    let word = wave.pc / WORD_BYTES;
    if word >= kernel.code.end {
        return "end of the kernel".to_owned();
    }
    let code = program.code.get(word as usize..).unwrap_or_default();
    let text = match Inst::decode(code) {
        Ok(inst) => disassemble_inst(&inst, &Labels::new()),
        Err(_) => "no instruction".to_owned(),
    };
    match program.source.as_ref().and_then(|source| source.line_of_word(word)) {
        Some((line, _)) => format!("{text} (line {line})"),
        None => text,
    }
}
