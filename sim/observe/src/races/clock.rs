//! Vector clocks of waves. A launch may have many thousand waves, but a wave mostly synchronises with its own
//! workgroup. So a clock lists only the waves that it knows, and copies share the list until one changes.

use std::sync::Arc;

/// A wave of a launch: workgroup number × waves of a workgroup + number in it.
pub(crate) type WaveId = u32;

/// The past of a wave: for each listed wave, its accesses in epochs up to the listed one. Epochs count from
/// 1; a wave that is not listed has epoch 0, which contains no access.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Clock(Arc<Vec<(WaveId, u32)>>);

impl Clock {
    /// The last epoch of a wave that is in the past.
    pub(crate) fn of(&self, wave: WaveId) -> u32 {
        self.0.binary_search_by_key(&wave, |&(w, _)| w).map_or(0, |i| self.0[i].1)
    }

    /// Adds a wave's epochs up to `epoch` to the past.
    pub(crate) fn advance(&mut self, wave: WaveId, epoch: u32) {
        let list = Arc::make_mut(&mut self.0);
        match list.binary_search_by_key(&wave, |&(w, _)| w) {
            Ok(i) => list[i].1 = list[i].1.max(epoch),
            Err(i) => list.insert(i, (wave, epoch)),
        }
    }

    /// Adds the past of `other` to the past.
    pub(crate) fn join(&mut self, other: &Clock) {
        if Arc::ptr_eq(&self.0, &other.0) || other.0.is_empty() {
            return;
        }
        if self.0.is_empty() {
            *self = other.clone();
            return;
        }
        let (mut mine, mut theirs) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut all = Vec::with_capacity(self.0.len().max(other.0.len()));
        loop {
            match (mine.peek(), theirs.peek()) {
                (Some(&&(a, epoch)), Some(&&(b, other))) if a == b => {
                    all.push((a, epoch.max(other)));
                    mine.next();
                    theirs.next();
                }
                (Some(&&(a, epoch)), b) if b.is_none_or(|&&(b, _)| a < b) => {
                    all.push((a, epoch));
                    mine.next();
                }
                (_, Some(&&b)) => {
                    all.push(b);
                    theirs.next();
                }
                _ => break,
            }
        }
        self.0 = Arc::new(all);
    }

    /// Number of listed waves.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The listed waves.
    pub(crate) fn waves(&self) -> impl Iterator<Item = WaveId> {
        self.0.iter().map(|&(wave, _)| wave)
    }

    /// True if the past is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
