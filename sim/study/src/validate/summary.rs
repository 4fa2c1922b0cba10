//! Simulated values beside published ones: errors by topic, and the bounds on them.

use super::published::{ErrorBound, ErrorStatistic, PointUse, Published, PublishedPoint};
use super::quantity::PublishedTopic;
use super::statistics::{mean, median, rank_correlation};
use wave_machine::config::Config;

/// A published point with the simulated value.
#[derive(Debug, Clone, PartialEq)]
pub struct Held {
    /// The point.
    pub point: PublishedPoint,
    /// The simulated value, or the reason why the machine cannot run the kernel.
    pub simulated: Result<f64, String>,
}

impl Held {
    /// Simulated over published.
    pub fn ratio(&self) -> Option<f64> {
        self.simulated.as_ref().ok().map(|simulated| simulated / self.point.value)
    }

    /// The relative error: |simulated - published| / published.
    pub fn error(&self) -> Option<f64> {
        self.ratio().map(|ratio| (ratio - 1.0).abs())
    }

    /// True if the error is within the tolerance of the point.
    pub fn is_within(&self) -> bool {
        self.error().is_some_and(|error| error <= self.point.tolerance)
    }

    /// Distance of the ratio from 1, the same for half and twice.
    fn distance(&self) -> f64 {
        self.ratio().map_or(f64::INFINITY, |ratio| ratio.ln().abs())
    }
}

/// Errors of some points.
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorFigures {
    /// Number of points with a simulated value.
    pub points: usize,
    /// Number of those within their tolerance.
    pub within: usize,
    /// Median of the relative errors.
    pub median: f64,
    /// Mean of the relative errors.
    pub mean: f64,
    /// The largest relative error.
    pub worst: f64,
    /// Ratio of the point whose ratio is farthest from 1.
    pub farthest: f64,
    /// Spearman's rank correlation; `None` for fewer than three points.
    pub rank: Option<f64>,
}

impl ErrorFigures {
    /// Of these points; `None` without a simulated value.
    pub fn of(held: &[&Held]) -> Option<ErrorFigures> {
        let errors: Vec<f64> = held.iter().filter_map(|held| held.error()).collect();
        let of = |value: fn(&Held) -> Option<f64>| held.iter().filter_map(|held| value(held)).collect();
        let simulated: Vec<f64> = of(|held| held.simulated.as_ref().ok().copied());
        let published: Vec<f64> = of(|held| held.simulated.as_ref().ok().map(|_| held.point.value));
        let run = held.iter().filter(|held| held.simulated.is_ok());
        let farthest = run.max_by(|a, b| a.distance().total_cmp(&b.distance()))?;
        Some(ErrorFigures {
            points: errors.len(),
            within: held.iter().filter(|held| held.is_within()).count(),
            median: median(&errors)?,
            mean: mean(&errors)?,
            worst: errors.iter().copied().fold(0.0, f64::max),
            farthest: farthest.ratio()?,
            rank: rank_correlation(&published, &simulated),
        })
    }

    /// A statistic, if there is one.
    pub fn statistic(&self, statistic: ErrorStatistic) -> Option<f64> {
        match statistic {
            ErrorStatistic::Median => Some(self.median),
            ErrorStatistic::Mean => Some(self.mean),
            ErrorStatistic::Worst => Some(self.worst),
            ErrorStatistic::Rank => self.rank,
        }
    }
}

/// A bound beside the statistic that it bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundVerdict {
    /// The bound.
    pub bound: ErrorBound,
    /// The statistic; `None` if too few points have a value.
    pub found: Option<f64>,
}

impl BoundVerdict {
    /// True if the statistic is there and within the bound.
    pub fn holds(&self) -> bool {
        self.found.is_some_and(|found| match self.bound.statistic {
            ErrorStatistic::Rank => found >= self.bound.value,
            _ => found <= self.bound.value,
        })
    }
}

/// The points of a topic with one purpose.
#[derive(Debug, Clone, PartialEq)]
pub struct ValidationSection<'a> {
    /// The topic.
    pub topic: PublishedTopic,
    /// The purpose.
    pub purpose: PointUse,
    /// The points with their simulated values.
    pub held: Vec<&'a Held>,
}

/// A machine beside the published measurements of its GPU.
#[derive(Debug, Clone, PartialEq)]
pub struct Validation {
    /// The machine.
    pub config: Config,
    /// The measurements, with the points that were not run too.
    pub published: Published,
    /// The points that were run, in the order of the report.
    pub held: Vec<Held>,
    /// True for the quick subset.
    pub quick: bool,
}

impl Validation {
    /// Puts simulated values beside their points. `simulated` has one for each of the points, in their order.
    pub fn new(
        config: Config,
        published: Published,
        points: Vec<PublishedPoint>,
        simulated: Vec<Result<f64, String>>,
        quick: bool,
    ) -> Validation {
        let held = points.into_iter().zip(simulated).map(|(point, simulated)| Held { point, simulated });
        let mut held: Vec<Held> = held.collect();
        held.sort_by_key(|held| (held.point.quantity.topic(), held.point.purpose));
        Validation { config, published, held, quick }
    }

    /// The points of a topic with this purpose.
    pub fn of(&self, topic: PublishedTopic, purpose: PointUse) -> Vec<&Held> {
        let of = |held: &&Held| held.point.quantity.topic() == topic && held.point.purpose == purpose;
        self.held.iter().filter(of).collect()
    }

    /// All topics and purposes that have points, in the order of a report.
    pub fn sections(&self) -> Vec<ValidationSection<'_>> {
        let mut sections = Vec::new();
        for topic in PublishedTopic::ALL {
            for purpose in [PointUse::Fit, PointUse::Judge] {
                let held = self.of(topic, purpose);
                if !held.is_empty() {
                    sections.push(ValidationSection { topic, purpose, held });
                }
            }
        }
        sections
    }

    /// Errors of all points with this purpose. Topics have different units, so the rank correlation is the mean of
    /// those of the topics, each as often as it has points.
    pub fn in_all(&self, purpose: PointUse) -> Option<ErrorFigures> {
        let held: Vec<&Held> = self.held.iter().filter(|held| held.point.purpose == purpose).collect();
        let all = ErrorFigures::of(&held)?;
        let (mut sum, mut points) = (0.0, 0);
        for section in self.sections().iter().filter(|section| section.purpose == purpose) {
            let Some(figures) = ErrorFigures::of(&section.held) else { continue };
            if let Some(rank) = figures.rank {
                sum += rank * figures.points as f64;
                points += figures.points;
            }
        }
        Some(ErrorFigures { rank: (points > 0).then(|| sum / points as f64), ..all })
    }

    /// The bounds on what was run: on topics of which some points were.
    pub fn verdicts(&self) -> Vec<BoundVerdict> {
        let bounds = self.published.bounds.iter().filter(|bound| bound.quick == self.quick);
        let verdict = |&bound: &ErrorBound| {
            let held = self.of(bound.topic, bound.purpose);
            let found = ErrorFigures::of(&held).and_then(|figures| figures.statistic(bound.statistic));
            (!held.is_empty()).then_some(BoundVerdict { bound, found })
        };
        bounds.filter_map(verdict).collect()
    }

    /// Points that the machine cannot run.
    pub fn left_out(&self) -> impl Iterator<Item = (&Held, &str)> {
        self.held.iter().filter_map(|held| Some((held, held.simulated.as_ref().err()?.as_str())))
    }

    /// True if every bound holds and every point has run.
    pub fn holds(&self) -> bool {
        self.left_out().next().is_none() && self.verdicts().iter().all(BoundVerdict::holds)
    }
}
