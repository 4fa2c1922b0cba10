//! Runs a test in all its variants: allowed outcomes and outcomes seen.

use super::candidates::allowed_outcomes;
use super::run::run;
use super::test::Test;
use super::variant::{Scenario, Variant, variants};
use fnv::FnvHasher;
use std::collections::{BTreeSet, HashMap};
use std::hash::Hasher;
use std::sync::atomic::AtomicBool;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::special::Scope;
use wave_machine::config::Config;

/// Parameters of a campaign.
#[derive(Debug, Clone, Copy)]
pub struct Campaign<'a> {
    /// The machine.
    pub config: &'a Config,
    /// Runs of each variant.
    pub runs: u32,
    /// Seed of everything random.
    pub seed: u64,
    /// Only variants with all of these words.
    pub only: &'a [String],
    /// Ends the campaign with an error once it is true.
    pub stop: Option<&'static AtomicBool>,
}

/// Least runs of variants in which the weak outcome has to be seen, unless nothing runs at all.
const RUNS_TO_SEE: u32 = 300;

/// Result of a test.
#[derive(Debug)]
pub struct TestReport {
    /// The test.
    pub test: Test,
    /// The variants for which the machine has room.
    pub variants: Vec<VariantReport>,
    /// Number of variants for which it has no room.
    pub left_out: usize,
}

/// Result of a variant.
#[derive(Debug)]
pub struct VariantReport {
    /// The variant.
    pub variant: Variant,
    /// Every outcome that the axioms allow.
    pub allowed: BTreeSet<Vec<u32>>,
    /// The outcomes seen, each with its count.
    pub seen: Vec<(Vec<u32>, u64)>,
}

impl VariantReport {
    /// How often the test's weak outcome was seen.
    pub(crate) fn weak_count(&self, test: &Test) -> u64 {
        self.seen.iter().filter(|(outcome, _)| test.is_weak(outcome)).map(|(_, count)| count).sum()
    }

    /// True if the axioms allow the test's weak outcome.
    pub fn allows_weak(&self, test: &Test) -> bool {
        self.allowed.iter().any(|outcome| test.is_weak(outcome))
    }

    /// Outcomes seen although they are forbidden, each with its count.
    pub fn forbidden(&self) -> impl Iterator<Item = &(Vec<u32>, u64)> {
        self.seen.iter().filter(|(outcome, _)| !self.allowed.contains(outcome))
    }
}

impl TestReport {
    /// Variants with a forbidden outcome.
    pub fn broken(&self) -> impl Iterator<Item = &VariantReport> {
        self.variants.iter().filter(|v| v.forbidden().next().is_some())
    }

    /// The required weak outcomes that were not seen, as the words of their variants. Variants for which the
    /// machine has no room are not required.
    pub fn unseen(&self) -> Vec<String> {
        let missing = self.test.seen.iter().filter(|words| {
            let mut wanted =
                self.variants.iter().filter(|v| words.iter().all(|word| v.variant.has(word))).peekable();
            wanted.peek().is_some()
                && !wanted.any(|v| v.allows_weak(&self.test) && v.weak_count(&self.test) > 0)
        });
        missing.map(|words| words.join(" ")).collect()
    }
}

impl Campaign<'_> {
    /// Runs a test. `progress` is called before each variant with its number and the number of variants.
    ///
    /// # Errors
    /// If a kernel does not end: the variant and the reason.
    pub fn run(
        &self,
        mut test: Test,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<TestReport, Box<Diagnostic>> {
        if self.config.core.l1.write_policy.writes_back() {
            // Without a release, a store may stay in such an L1 for ever, so no weak outcome is required.
            test.seen.clear();
        }
        let mut all = variants(&test);
        all.retain(|v| self.only.iter().all(|word| v.has(word)));
        let mut checker = Checker::default();
        let mut report = TestReport { variants: Vec::new(), left_out: 0, test };
        for (number, variant) in all.iter().enumerate() {
            progress(number, all.len());
            let scenario = Scenario::new(&report.test, variant);
            let seed = self.seed ^ fingerprint(&format!("{} {variant}", report.test.name));
            let to_see = report.test.seen.iter().any(|words| words.iter().all(|word| variant.has(word)));
            let runs = if to_see && self.runs > 0 { self.runs.max(RUNS_TO_SEE) } else { self.runs };
            match run(&scenario, self.config, runs, seed, self.stop) {
                None => report.left_out += 1,
                Some(Err(error)) => {
                    let message = format!("`{}`, {variant}: {}", report.test.name, error.message);
                    return Err(Box::new(Diagnostic { message, ..error }));
                }
                Some(Ok(counts)) => report.variants.push(VariantReport {
                    variant: variant.clone(),
                    allowed: checker.allowed(&scenario),
                    seen: counts.into_iter().collect(),
                }),
            }
        }
        Ok(report)
    }
}

/// FNV-1a, 64 bits: the same everywhere.
fn fingerprint(text: &str) -> u64 {
    let mut hasher = FnvHasher::default();
    hasher.write(text.as_bytes());
    hasher.finish()
}

/// The checker, with the results of scenarios that are equivalent under the axioms.
#[derive(Debug, Default)]
pub(crate) struct Checker {
    known: HashMap<String, BTreeSet<Vec<u32>>>,
}

impl Checker {
    /// The outcomes that the axioms allow.
    pub(crate) fn allowed(&mut self, scenario: &Scenario<'_>) -> BTreeSet<Vec<u32>> {
        let mut same = scenario.clone();
        // To the axioms all workgroups are alike, and no wave observes the host.
        let mut homes = Vec::new();
        for thread in &mut same.threads {
            let home = (thread.place.core, thread.place.workgroup);
            let known = homes.iter().position(|&h| h == home);
            thread.place.core = known.unwrap_or_else(|| {
                homes.push(home);
                homes.len() - 1
            });
            thread.place.workgroup = 0;
            thread.body.iter_mut().for_each(|s| s.action.lower_scope());
        }
        let key = format!("{:?}", same.threads);
        self.known.entry(key).or_insert_with(|| allowed_outcomes(&same)).clone()
    }
}

impl super::test::Action {
    /// Replaces system scope by device scope.
    fn lower_scope(&mut self) {
        if let super::test::Action::Fence { scope, .. } | super::test::Action::Atomic { scope, .. } = self
            && *scope == Some(Scope::System)
        {
            *scope = Some(Scope::Device);
        }
    }
}
