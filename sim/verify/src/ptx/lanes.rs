//! What lanes of a warp do together, and barriers that reduce a predicate.

use super::code::{Code, Shuffle, Together, Value};
use super::run::{Run, State, WARP};

impl Run<'_, '_> {
    /// A thread stands at what it does together with others: if it is the last of them to come, they do it.
    pub(super) fn meet(&mut self, thread: usize) -> Result<(), String> {
        let first = thread / WARP * WARP;
        let at = |run: &Self, thread: usize| {
            let thread = &run.threads[thread];
            let frame = thread.frames.last().map(|frame| (thread.frames.len(), frame.function, frame.pc));
            (thread.state == State::Meets).then_some(frame).flatten()
        };
        let place = at(self, thread);
        let Code::Together(_, mask) = &self.inst(thread).code else { return Ok(()) };
        let mask = *mask;
        let members = self.value(thread, mask);
        let lane = thread - first;
        if members >> lane & 1 == 0 {
            return Err(format!("{}: lane {lane} is not in its mask {members:#x}", self.place(thread)));
        }
        let lanes = || (first..first + WARP).filter(|other| members >> (other - first) & 1 == 1);
        if lanes().all(|other| at(self, other) == place && self.value(other, mask) == members) {
            let lanes: Vec<usize> = lanes().collect();
            self.together(&lanes)?;
        }
        Ok(())
    }

    /// Executes the instruction that these threads stand at.
    fn together(&mut self, threads: &[usize]) -> Result<(), String> {
        let inst = self.inst(threads[0]);
        if inst.guard.is_some() {
            return Err(format!("line {}: a guard on what threads do together", inst.line));
        }
        let of =
            |value: Value| -> Vec<u64> { threads.iter().map(|&thread| self.value(thread, value)).collect() };
        let truths = |value: Value| -> Vec<bool> { of(value).iter().map(|truth| truth & 1 == 1).collect() };
        let alike = |value: u64| vec![value; threads.len()];
        let lane = |index: usize| threads[index] % WARP;
        let Code::Together(what, _) = &inst.code else { return Err("nothing is done together".to_owned()) };
        if let Together::Matrix(matrix) = what {
            let matrix = matrix.clone();
            let results = self.matrix(threads, &matrix)?;
            self.go_on(threads, results);
            return Ok(());
        }
        let mut results: Vec<(usize, Vec<u64>)> = Vec::new();
        match what {
            Together::Nothing | Together::Matrix(_) => {}
            Together::Any(d, p) => results.push((*d, alike(truths(*p).contains(&true).into()))),
            Together::All(d, p) => results.push((*d, alike((!truths(*p).contains(&false)).into()))),
            Together::Uniform(d, p) => {
                let truths = truths(*p);
                results.push((*d, alike(truths.iter().all(|truth| *truth == truths[0]).into())));
            }
            Together::Ballot(d, p) => {
                let bits = truths(*p)
                    .iter()
                    .enumerate()
                    .fold(0, |all, (i, &truth)| all | u64::from(truth) << lane(i));
                results.push((*d, alike(bits)));
            }
            Together::Reduce(f, d, a) => {
                let values = of(*a);
                results.push((*d, alike(values[1..].iter().fold(values[0], |all, &value| f(all, value)))));
            }
            Together::MatchAny(d, a) => {
                let values = of(*a);
                let like = |value: u64| {
                    values
                        .iter()
                        .enumerate()
                        .fold(0, |all, (i, &other)| all | u64::from(other == value) << lane(i))
                };
                results.push((*d, values.iter().map(|&value| like(value)).collect()));
            }
            Together::MatchAll(d, p, a) => {
                let values = of(*a);
                let is_one = values.iter().all(|value| *value == values[0]);
                let members = (0..threads.len()).fold(0u64, |all, index| all | 1 << lane(index));
                results.push((*d, alike(if is_one { members } else { 0 })));
                results.extend(p.map(|p| (p, alike(is_one.into()))));
            }
            Together::Shuffle { how, d, p, a, b, c } => {
                let (values, by, controls) = (of(*a), of(*b), of(*c));
                let mut taken = Vec::new();
                let mut inside = Vec::new();
                for index in 0..threads.len() {
                    let (own, by, control) = (lane(index) as i64, (by[index] & 31) as i64, controls[index]);
                    let segment = (control >> 8 & 31) as i64;
                    let most = own & segment | (control & 31) as i64 & !segment;
                    let least = own & segment;
                    let (source, is_inside) = match how {
                        Shuffle::Up => (own - by, own - by >= most),
                        Shuffle::Down => (own + by, own + by <= most),
                        Shuffle::Butterfly => (own ^ by, own ^ by <= most),
                        Shuffle::Index => (least | by & !segment, (least | by & !segment) <= most),
                    };
                    let source = if is_inside { source } else { own };
                    let place = (0..threads.len()).find(|&other| lane(other) as i64 == source);
                    // What a lane outside of the mask has is not said.
                    taken.push(place.map_or(0x5A5A_5A5A, |place| values[place]));
                    inside.push(u64::from(is_inside));
                }
                results.push((*d, taken));
                results.extend(p.map(|p| (p, inside)));
            }
        }
        self.go_on(threads, results);
        Ok(())
    }

    /// Gives threads their results, by registers, and lets them go on.
    fn go_on(&mut self, threads: &[usize], results: Vec<(usize, Vec<u64>)>) {
        for (register, values) in results {
            threads.iter().zip(values).for_each(|(&thread, value)| self.set(thread, register, value));
        }
        for &thread in threads {
            self.frame(thread).pc += 1;
            self.threads[thread].state = State::Ready;
        }
    }

    /// Gives the result of a reduction to the threads that wait at a barrier with one.
    pub(super) fn reduce_at_barrier(&mut self) {
        let waiting: Vec<usize> =
            (0..self.threads.len()).filter(|&thread| self.threads[thread].state == State::Waits).collect();
        let (mut count, mut threads) = (0, 0);
        for &thread in &waiting {
            if let Code::BarrierReduction(_, p, _) = self.inst(thread).code {
                count += self.value(thread, p) & 1;
                threads += 1;
            }
        }
        for thread in waiting {
            if let Code::BarrierReduction(d, _, f) = self.inst(thread).code {
                self.set(thread, d, f(count, threads));
            }
        }
    }
}
