//! A session: a run, its breakpoints, the chosen wave, and what commands do to them.

use super::commands::{self, Verb};
use super::format::Format;
use super::points::{Names, Points, breakpoint, number, watchpoint};
use super::{look, memory, stops, why};
use crate::execute::outcome;
use crate::place;
use crate::work::Work;
use std::sync::Arc;
use wave_isa::WORD_BYTES;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::Program;
use wave_machine::clock::{Cycle, NEVER};
use wave_machine::config::Config;
use wave_machine::core::view::WaveView;
use wave_machine::functional::Execution;
use wave_machine::gpu::{RunError, RunOptions};
use wave_study::launch::Job;
use wave_study::summary::Outcome;
use wave_study::timeline::{Condition, Ending, Stopped, Timeline, WaveSlot};

/// A session of the debugger.
pub(super) struct Session {
    pub(super) timeline: Timeline,
    pub(super) program: Arc<Program>,
    pub(super) points: Points,
    /// The chosen wave.
    pub(super) wave: Option<WaveSlot>,
    /// The address in device memory that was last looked at.
    pub(super) address: Option<u64>,
    /// Bytes of device memory.
    pub(super) device_bytes: u64,
    options: RunOptions,
    job: Option<Job>,
}

/// What a command says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reply {
    /// Text, with a newline at the end of each line.
    Text(String),
    /// The session is over.
    Quit,
}

/// Asked now and then in a long command, with the cycle, whether to go on.
pub(super) type GoOn<'g> = &'g mut dyn FnMut(Cycle) -> bool;

/// What was done to points.
fn said(numbers: &[u32], what: &str) -> String {
    match numbers {
        [] => "no breakpoints\n".to_owned(),
        all => format!("{what}: {}\n", all.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")),
    }
}

impl Session {
    /// A session at the beginning of a run, or where its first launch stands without timing, if it is given.
    ///
    /// # Errors
    /// If the first kernel cannot run on the machine.
    pub(super) fn new(
        work: Work,
        under_way: Option<&Execution>,
        config: &Config,
        options: &RunOptions,
        history: usize,
    ) -> Result<Session, Vec<Diagnostic>> {
        let program = Arc::new(work.program);
        let first = work.steps[0].clone();
        let device_bytes = work.memory.len() as u64;
        let timeline = Timeline::begun(
            config.clone(),
            Arc::clone(&program),
            work.memory,
            (work.steps, under_way),
            options,
            history,
        )
        .map_err(|error| match outcome(&error, &first, &program, options) {
            Outcome::Refused(wrong) => wrong,
            Outcome::Fault(why) | Outcome::Stopped(why) => vec![why],
            Outcome::Ended(_) | Outcome::Skipped(_) => Vec::new(),
        })?;
        Ok(Session {
            timeline,
            program,
            points: Points::default(),
            wave: None,
            address: None,
            device_bytes,
            options: *options,
            job: work.expected,
        })
    }

    /// Does what a line says.
    ///
    /// # Errors
    /// What is wrong with it. The session goes on as if it had not been given.
    pub(super) fn execute(&mut self, line: &str, go_on: GoOn<'_>) -> Result<Reply, Diagnostic> {
        let mut words = line.split_whitespace();
        let Some(first) = words.next() else { return Ok(Reply::Text(String::new())) };
        let words: Vec<&str> = words.collect();
        // As in gdb, x and print have their format behind a slash.
        let (word, options) = first.split_once('/').unwrap_or((first, ""));
        let verb = commands::verb(word)?;
        let has_format = matches!(verb, Verb::Examine | Verb::Print);
        let (options, words) = match words.split_first() {
            Some((more, rest)) if has_format && options.is_empty() && more.starts_with('/') => {
                (&more[1..], rest.to_vec())
            }
            _ => (options, words),
        };
        if !options.is_empty() && !has_format {
            return Err(Diagnostic::error(format!("`{word}` has no format")).hint(commands::usage(verb)));
        }
        let text = match verb {
            Verb::Quit => return Ok(Reply::Quit),
            Verb::Help => commands::help(words.first().map(|word| commands::verb(word)).transpose()?),
            Verb::Break => {
                let (text, conditions) = breakpoint(&words, &self.names())?;
                format!("breakpoint {}", self.points.add(text, conditions))
            }
            Verb::Watch | Verb::RWatch | Verb::AWatch => {
                let (text, conditions) = watchpoint(verb, &words, &self.names())?;
                format!("watchpoint {}", self.points.add(text, conditions))
            }
            Verb::Delete => {
                let numbers = self.points.named(&words)?;
                self.points.all.retain(|point| !numbers.contains(&point.number));
                said(&numbers, "deleted")
            }
            Verb::Disable | Verb::Enable => {
                let numbers = self.points.named(&words)?;
                for &number in &numbers {
                    self.points.get(number).into_iter().for_each(|it| it.is_enabled = verb == Verb::Enable);
                }
                said(&numbers, if verb == Verb::Enable { "enabled" } else { "disabled" })
            }
            Verb::Wave => self.choose(&words)?,
            Verb::Info => look::info(self, &words)?,
            Verb::Print => self.print(options, &words)?,
            Verb::Stack => format!("{}{}", self.here(), look::stack(self)?),
            Verb::Examine => memory::examine(self, options, &words)?,
            Verb::List => look::list(self, &words)?,
            Verb::Why => why::why(self)?,
            _ => self.go(verb, &words, go_on)?,
        };
        Ok(Reply::Text(text))
    }

    /// A command that changes the position.
    fn go(&mut self, verb: Verb, words: &[&str], go_on: GoOn<'_>) -> Result<String, Diagnostic> {
        let count = match (verb, words) {
            (Verb::Goto, [_]) | (_, []) => 1,
            (Verb::Continue | Verb::ReverseContinue | Verb::Run | Verb::Goto, _) => {
                return Err(Diagnostic::error("too many words, or too few").hint(commands::usage(verb)));
            }
            (_, [count]) => number(count)?,
            _ => return Err(Diagnostic::error("too many words").hint(commands::usage(verb))),
        };
        let now = self.timeline.now();
        Ok(match verb {
            Verb::Step => self.forward(None, now.saturating_add(count), 1, go_on),
            Verb::Stepi => {
                let wave = self.slot()?;
                self.forward(Some(Condition::HasIssued(wave)), NEVER, count, go_on)
            }
            Verb::Launch => self.forward(Some(Condition::Launch(None)), NEVER, count, go_on),
            Verb::Run => {
                self.timeline.seek(0, go_on);
                self.forward(None, NEVER, 1, go_on)
            }
            Verb::ReverseContinue => self.backward(None, 0, 1, go_on),
            Verb::ReverseStep => self.backward(None, now.saturating_sub(count), 1, go_on),
            Verb::ReverseStepi => {
                let wave = self.slot()?;
                self.backward(Some(Condition::Issues(wave)), 0, count, go_on)
            }
            Verb::ReverseLaunch => self.backward(Some(Condition::Launch(None)), 0, count, go_on),
            Verb::Goto => {
                let to = self.position(words[0])?;
                let goes_on = self.timeline.seek(to, go_on);
                self.arrived(if goes_on { &Stopped::There } else { &Stopped::Interrupted }, &[])
            }
            _ => self.forward(None, NEVER, 1, go_on),
        })
    }

    /// The cycle that `goto` names.
    fn position(&self, word: &str) -> Result<Cycle, Diagnostic> {
        let now = self.timeline.now();
        match (word, word.strip_prefix('+'), word.strip_prefix('-')) {
            ("start", ..) => Ok(0),
            ("end", ..) => Ok(NEVER - 1),
            (_, Some(ahead), _) => Ok(now.saturating_add(number(ahead)?).min(NEVER - 1)),
            (_, _, Some(back)) => Ok(now.saturating_sub(number(back)?)),
            _ => Ok(number(word)?.min(NEVER - 1)),
        }
    }

    /// Goes forwards, stopping at breakpoints; so many times to `aim` if there is one.
    fn forward(&mut self, aim: Option<Condition>, limit: Cycle, times: u64, go_on: GoOn<'_>) -> String {
        self.travel(Timeline::forward, aim, limit, times, go_on)
    }

    /// As [`forward`](Self::forward), backwards.
    fn backward(&mut self, aim: Option<Condition>, limit: Cycle, times: u64, go_on: GoOn<'_>) -> String {
        self.travel(Timeline::backward, aim, limit, times, go_on)
    }

    fn travel(
        &mut self,
        step: fn(&mut Timeline, &[Condition], Cycle, GoOn<'_>) -> Stopped,
        aim: Option<Condition>,
        limit: Cycle,
        times: u64,
        go_on: GoOn<'_>,
    ) -> String {
        let (mut conditions, numbers) = self.points.conditions();
        conditions.extend(aim);
        let mut stopped = Stopped::There;
        for _ in 0..times {
            stopped = step(&mut self.timeline, &conditions, limit, go_on);
            if !stops::is_only_aim(&stopped, numbers.len()) {
                break;
            }
        }
        self.arrived(&stopped, &numbers)
    }

    /// Says where the run is now and why it stopped. `numbers`: the point of each condition.
    fn arrived(&mut self, stopped: &Stopped, numbers: &[u32]) -> String {
        let mut text = String::new();
        if let Stopped::Hit(hits) = stopped {
            for hit in hits {
                if let Some(number) = numbers.get(hit.condition)
                    && let Some(point) = self.points.get(*number)
                {
                    point.hits += 1;
                    text += &stops::hit(hit, *number, &self.program);
                }
            }
            if let Some(wave) = hits.iter().find_map(|hit| hit.cause.wave()) {
                self.wave = Some(wave);
            }
        }
        match stopped {
            Stopped::Beginning => text += "the beginning of the run\n",
            Stopped::Interrupted => text += "interrupted\n",
            _ => {}
        }
        if self.timeline.ending().is_some()
            && let Some(printed) = self.timeline.printed().filter(|printed| !printed.text.is_empty())
        {
            text += printed.text.trim_end_matches('\n');
            text += "\n";
        }
        text += &self.ending();
        text + &self.here()
    }

    /// How the run ends, if it ends here.
    fn ending(&mut self) -> String {
        match self.timeline.ending() {
            None => String::new(),
            Some(Ending::Done) => {
                let verdict = self.verdict().map_or(String::new(), |verdict| format!("; {verdict}"));
                format!("all launches have ended{verdict}\n")
            }
            Some(Ending::Error(error)) => {
                if let RunError::Fault(fault) = error {
                    let slot = (fault.workgroup, fault.wave);
                    let views = self.timeline.machine().waves();
                    let its = views.iter().find(|view| (view.report.workgroup, view.report.wave) == slot);
                    self.wave = its.map(|view| (view.report.core, view.report.slot)).or(self.wave);
                }
                self.error().map_or(String::new(), |error| format!("{}\n", error.render(false)))
            }
        }
    }

    /// The error that ends the run here.
    pub(super) fn error(&self) -> Option<Diagnostic> {
        let Some(Ending::Error(error)) = self.timeline.ending() else { return None };
        let launch = &self.timeline.launches()[self.timeline.launch()?];
        match outcome(error, launch, &self.program, &self.options) {
            Outcome::Fault(why) | Outcome::Stopped(why) => Some(why),
            Outcome::Refused(wrong) => wrong.into_iter().next(),
            Outcome::Ended(_) | Outcome::Skipped(_) => None,
        }
    }

    /// What the launch file says about the results, at the end.
    fn verdict(&mut self) -> Option<String> {
        let memory = memory::device(self, 0, self.device_bytes).ok()?;
        self.job.as_ref().map(|job| job.verify(&memory).to_string())
    }

    /// The position: the cycle and the chosen wave.
    pub(super) fn here(&mut self) -> String {
        let now = self.timeline.now();
        let launches = self.timeline.launches().len();
        let launch = match self.timeline.launch() {
            Some(launch) if launches > 1 => format!(", launch {} of {launches}", launch + 1),
            _ => String::new(),
        };
        let head = format!("cycle {now}{launch}");
        match self.chosen() {
            Ok(view) => format!(
                "{head}, {} at\n  {}\n",
                place::wave(&view.report),
                place::at(&self.program, view.report.pc)
            ),
            Err(_) => format!("{head}\n"),
        }
    }

    /// `wave`.
    fn choose(&mut self, words: &[&str]) -> Result<String, Diagnostic> {
        let Some(word) = words.first() else { return self.chosen().map(|_| self.here()) };
        let hint = "a wave is CORE:SLOT, as in `wave 0:3`; `info waves` lists them";
        let wrong = || Diagnostic::error(format!("there is no wave `{word}`")).hint(hint);
        let (core, slot) = word.split_once(':').ok_or_else(wrong)?;
        let wave = (core.parse().map_err(|_| wrong())?, slot.parse().map_err(|_| wrong())?);
        if !self.timeline.machine().waves().iter().any(|view| (view.report.core, view.report.slot) == wave) {
            return Err(Diagnostic::error(format!("there is no wave in {word} now")).hint(hint));
        }
        self.wave = Some(wave);
        Ok(self.here())
    }

    fn print(&mut self, options: &str, words: &[&str]) -> Result<String, Diagnostic> {
        let format = if options.is_empty() { None } else { Some(Format::of(options)?) };
        let name = match words {
            [name] => name.strip_prefix('$').unwrap_or(name),
            [] => return Err(Diagnostic::error("print what?").hint(commands::usage(Verb::Print))),
            _ => {
                let error = Diagnostic::error(format!("`{}` is no register", words.join(" ")));
                return Err(
                    error.hint("expressions are not evaluated; a register as r3 or r3[7], a predicate as p0")
                );
            }
        };
        let view = self.chosen()?;
        if name == "pc" {
            return Ok(format!("{}\n", place::at(&self.program, view.report.pc)));
        }
        look::register(self, (view.report.core, view.report.slot), name, format)
    }

    /// The chosen wave. If none has been chosen, or its slot is empty now, the first on the machine.
    ///
    /// # Errors
    /// If there is no wave on the machine, or the chosen slot is empty.
    pub(super) fn chosen(&mut self) -> Result<WaveView, Diagnostic> {
        let views = self.timeline.machine().waves();
        let none = || {
            let hint = "`step` and `continue` go on, `reverse-step` back; waves start some cycles after their launch";
            Diagnostic::error("no wave is on the machine now").hint(hint)
        };
        let Some(wave) = self.wave else {
            let first = views.into_iter().next().ok_or_else(none)?;
            self.wave = Some((first.report.core, first.report.slot));
            return Ok(first);
        };
        if views.is_empty() {
            return Err(none());
        }
        let its = views.into_iter().find(|view| (view.report.core, view.report.slot) == wave);
        its.ok_or_else(|| {
            let message = format!("there is no wave in {} now", place::slot(wave));
            Diagnostic::error(message).hint("`info waves` lists them, `wave CORE:SLOT` chooses one")
        })
    }

    /// The slot of the chosen wave, also if it is empty now.
    fn slot(&mut self) -> Result<WaveSlot, Diagnostic> {
        match self.wave {
            Some(wave) => Ok(wave),
            // Before the first wave starts: that one will most likely be the first.
            None => Ok(self.chosen().map(|view| (view.report.core, view.report.slot)).unwrap_or((0, 0))),
        }
    }

    /// What addresses and lines refer to.
    pub(super) fn names(&mut self) -> Names<'_> {
        let width = self.timeline.machine().config().core.wave_width;
        let report = self.chosen().ok().map(|view| view.report);
        let local = report.map(|report| {
            let bytes = self.timeline.machine().local_memory(report.core, report.slot).len();
            (report.workgroup, bytes as u64)
        });
        Names {
            program: &self.program,
            buffers: self.job.as_ref().map_or(&[], |job| &job.buffers),
            device_bytes: self.device_bytes,
            width,
            launches: self.timeline.launches().len(),
            local,
        }
    }

    /// Lanes of a wave.
    pub(super) fn width(&mut self) -> usize {
        self.timeline.machine().config().core.wave_width as usize
    }

    /// First word of the kernel that runs.
    pub(super) fn kernel_base(&self) -> u32 {
        let launch = self.timeline.launch().map(|launch| &self.timeline.launches()[launch]);
        launch.map_or(0, |launch| self.program.kernels[launch.kernel].code.start)
    }

    /// Byte offset in the code section of a word of the kernel.
    pub(super) fn pc(&self, word: u32) -> u32 {
        (self.kernel_base() + word) * WORD_BYTES
    }
}
