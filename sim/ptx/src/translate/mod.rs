//! A program, kernel by kernel and instruction by instruction.

mod arithmetic;
mod control;
mod entry;
mod memory;
mod wave;

use crate::MOST_THREADS;
use crate::body::{Body, line};
use crate::floats;
use crate::helpers::{self, Helper};
use crate::options::{Options, SpecialFunctions};
use crate::plan::Plan;
pub use entry::{FAULT_RECORD_BYTES, FaultKind, Memory, entry_name, parameters};
use std::collections::BTreeSet;
use std::fmt::Write;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::{Kernel, Program};
use wave_isa::table::Space;
use wave_isa::{ExecClass, Inst, MAX_REGISTERS, Op};

/// A kernel under way.
pub(crate) struct Translation<'a> {
    pub plan: Plan<'a>,
    pub options: &'a Options,
    pub body: Body,
    /// Functions that the code calls.
    pub helpers: BTreeSet<Helper>,
    /// Codes of the special registers that the code reads.
    pub specials: BTreeSet<u8>,
    /// Matrix fragments that the code names, as the first letter of their registers and their number.
    pub fragments: BTreeSet<(char, u8)>,
    /// True if local memory is used.
    pub uses_local: bool,
    /// True if something jumps to the fault at the end.
    pub faults: bool,
    /// Per register, true if its NaN may be that of PTX.
    pub floats: [bool; MAX_REGISTERS],
    /// Accesses since the lanes last met, local and device.
    pub pending: [Pending; 2],
    /// The accesses that the kernel has at all.
    whole: [Pending; 2],
    /// The instruction under way.
    pub slot: usize,
}

/// Accesses to a memory, of any lane, behind which the lanes have not met.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Pending {
    pub loads: bool,
    pub stores: bool,
}

/// Translates kernels of a program, given by their indices.
///
/// # Errors
/// What has no equivalent in PTX, with its place.
pub fn translate(program: &Program, kernels: &[usize], options: &Options) -> Result<String, Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let mut done = Vec::new();
    for &kernel in kernels {
        if let Some(error) = does_not_fit(program, &program.kernels[kernel], options) {
            errors.push(error);
            continue;
        }
        match Plan::of(program, &program.kernels[kernel]) {
            Ok(plan) => done.push(Translation::of(plan, options)),
            Err(found) => errors.extend(found),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut text = String::from("// Made by `wave-sim ptx`.\n");
    _ = writeln!(
        text,
        ".version {}\n.target {}\n.address_size 64\n",
        options.arch.version, options.arch.name
    );
    if let Some(source) = &program.source {
        let name: String = source
            .file
            .chars()
            .map(|c| if c == '"' || c == '\\' || c.is_control() { '_' } else { c })
            .collect();
        _ = writeln!(text, "\t.file 1 \"{name}\"\n");
    }
    if done.iter().any(|translation| translation.uses_local) {
        text += ".extern .shared .align 16 .b8 wave_local[];\n\n";
    }
    let called: BTreeSet<Helper> =
        done.iter().flat_map(|translation| translation.helpers.iter().copied()).collect();
    text += &helpers::definitions(&called);
    let mut names = BTreeSet::new();
    for translation in done {
        let mut name = entry::entry_name(&translation.plan.kernel.name);
        while !names.insert(name.clone()) {
            name.push('_');
        }
        text += &entry::entry(translation, &name);
    }
    Ok(text)
}

/// What a kernel states and no CTA has.
fn does_not_fit(program: &Program, kernel: &Kernel, options: &Options) -> Option<Diagnostic> {
    let threads = kernel.workgroup_size.iter().fold(1, |threads: u32, &size| threads.saturating_mul(size));
    let (name, local, arch) = (&kernel.name, program.local_memory_needed(kernel), options.arch);
    if threads > MOST_THREADS {
        let message = format!(
            "kernel `{name}` has workgroups of {threads} threads, and a CTA has at most {MOST_THREADS}"
        );
        return Some(Diagnostic::error(message).hint("give it smaller workgroups"));
    }
    (local > arch.shared_bytes).then(|| {
        let message = format!(
            "kernel `{name}` has {local} bytes of local memory, and a CTA of {} has at most {} bytes of shared memory",
            arch.name, arch.shared_bytes
        );
        Diagnostic::error(message).hint("give its workgroups less")
    })
}

impl<'a> Translation<'a> {
    fn of(plan: Plan<'a>, options: &'a Options) -> Translation<'a> {
        let mut whole = [Pending::default(); 2];
        for (slot, inst) in plan.insts.iter().enumerate() {
            let Some(access) = inst.filter(|_| plan.reached[slot]).and_then(|inst| inst.op.memory()) else {
                continue;
            };
            let pending = &mut whole[usize::from(access.space == Space::Device)];
            pending.loads |= memory::reads(access.kind);
            pending.stores |= memory::writes(access.kind);
        }
        let mut translation = Translation {
            floats: floats::float_registers(&plan),
            plan,
            options,
            body: Body::default(),
            helpers: BTreeSet::new(),
            specials: BTreeSet::new(),
            fragments: BTreeSet::new(),
            uses_local: false,
            faults: false,
            pending: [Pending::default(); 2],
            whole,
            slot: 0,
        };
        for slot in 0..translation.plan.insts.len() {
            if translation.plan.reached[slot] {
                translation.slot(slot);
            }
        }
        translation
    }

    /// What the lanes may have pending where several ways meet.
    pub(crate) fn join(&mut self) {
        self.pending = self.whole;
    }

    fn slot(&mut self, slot: usize) {
        self.slot = slot;
        self.body.next_instruction();
        if self.plan.targets.contains(&slot) {
            self.body.label(&label(slot));
            self.join();
        }
        if let Some(source_line) = self.plan.line(slot) {
            line!(self.body, ".loc 1 {source_line} 0");
        }
        let text = self.plan.text(slot);
        line!(self.body, "// {text}");
        match self.plan.insts[slot] {
            Some(inst) => self.instruction(&inst),
            None => {
                let (lanes, any) = (self.body.word(), self.body.predicate());
                line!(self.body, "vote.sync.ballot.b32 {lanes}, %on, 0xffffffff;");
                line!(self.body, "setp.ne.b32 {any}, {lanes}, 0;");
                self.fault(&any, &lanes, FaultKind::IllegalInstruction, "0");
            }
        }
    }

    /// Jumps to the fault if `any` holds, which it does in all threads or in none.
    pub(crate) fn fault(&mut self, any: &str, lanes: &str, kind: FaultKind, address: &str) {
        self.faults = true;
        let pc = self.plan.pc(self.slot);
        line!(self.body, "@{any} mov.b32 %fault_pc, {pc};");
        line!(self.body, "@{any} mov.b32 %fault_kind, {};", kind as u32);
        line!(self.body, "@{any} mov.b32 %fault_lanes, {lanes};");
        line!(self.body, "@{any} mov.b32 %fault_address, {address};");
        line!(self.body, "@{any} bra.uni $fault;");
    }

    /// The predicate of the lanes that take part.
    fn guard(&mut self, inst: &Inst) -> String {
        let guard = inst.guard;
        if !guard.is_some() {
            return "%on".to_owned();
        }
        let (takes_part, p) = (self.body.predicate(), guard.predicate);
        match guard.negated {
            true => {
                line!(self.body, "not.pred {takes_part}, %p{p};");
                line!(self.body, "and.pred {takes_part}, {takes_part}, %on;");
            }
            false => line!(self.body, "and.pred {takes_part}, %p{p}, %on;"),
        }
        takes_part
    }

    fn instruction(&mut self, inst: &Inst) {
        self.show_bits(inst);
        let guard = self.guard(inst);
        match inst.op.info().class {
            ExecClass::Sfu => self.special_function(inst, &guard),
            ExecClass::Wave => self.wave_operation(inst, &guard),
            ExecClass::Mma => self.matrix_product(inst, &guard),
            ExecClass::LocalMemory | ExecClass::DeviceMemory => self.access(inst, &guard),
            ExecClass::Control => self.control(inst, &guard),
            ExecClass::Sync => self.synchronise(inst, &guard),
            _ => self.compute(inst, &guard),
        }
    }

    /// Gives registers whose bits the instruction reads the NaN of WAVE. Lanes that take no part may get it too: what
    /// they hold there is an f32 as well, or nothing that is read.
    fn show_bits(&mut self, inst: &Inst) {
        let is_float = |register: u8| self.floats[usize::from(register)];
        if floats::reads_f32(inst.op) || (floats::copies(inst.op) && is_float(inst.rd)) {
            return;
        }
        let rows = inst.sources().flat_map(|(first, rows)| (0..rows).map(move |row| first + row));
        let registers: BTreeSet<u8> = rows.filter(|&register| is_float(register)).collect();
        for register in registers {
            self.canonical(&format!("%r{register}"));
        }
    }

    fn special_function(&mut self, inst: &Inst, guard: &str) {
        let (t, a) = (self.body.word(), inst.rs1);
        match self.options.special {
            SpecialFunctions::Exact => {
                let helper = Helper::Special(inst.op);
                self.helpers.insert(helper);
                line!(self.body, "call.uni ({t}), {}, (%r{a});", helper.name());
            }
            SpecialFunctions::Hardware => {
                let function = match inst.op {
                    Op::FSin => "sin",
                    Op::FCos => "cos",
                    Op::FExp2 => "ex2",
                    _ => "lg2",
                };
                line!(self.body, "{function}.approx.f32 {t}, %r{a};");
                self.canonical(&t);
            }
        }
        line!(self.body, "@{guard} mov.b32 %r{}, {t};", inst.rd);
    }
}

/// The label of a slot.
pub(crate) fn label(slot: usize) -> String {
    format!("$i{slot}")
}
