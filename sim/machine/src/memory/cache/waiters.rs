//! Accesses that wait for outstanding lines: one queue per line, in a shared pool.

use wave_capture::{Capture, Misfit};

const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy, Capture)]
struct Queue {
    first: u32,
    last: u32,
    length: u32,
}

/// Queues of accesses. The pool grows to the largest number that ever waited, at most queues × capacity.
#[derive(Debug, Clone, Capture)]
#[sound]
pub(super) struct Waiters<T> {
    #[fixed]
    queues: Vec<Queue>,
    #[spec]
    capacity: usize,
    /// Accesses, each with the index of the next in its queue.
    pool: Vec<(Option<T>, u32)>,
    free: u32,
}

impl<T> Waiters<T> {
    /// `queues` queues of at most `capacity` accesses.
    pub(super) fn new(queues: usize, capacity: usize) -> Waiters<T> {
        let empty = Queue { first: NONE, last: NONE, length: 0 };
        Waiters { queues: vec![empty; queues], capacity, pool: Vec::new(), free: NONE }
    }

    /// Each place of the pool is in one queue, or free.
    fn sound(&self) -> Result<(), Misfit> {
        let mut seen = vec![false; self.pool.len()];
        let mut take = |place: u32, is_taken: bool| {
            let entry = self.pool.get(place as usize).filter(|(access, _)| access.is_some() == is_taken);
            let is_new = entry.is_some() && !std::mem::replace(&mut seen[place as usize], true);
            entry.filter(|_| is_new).map(|&(_, next)| next)
        };
        for queue in &self.queues {
            Misfit::in_range(queue.length as usize <= self.capacity, "queues")?;
            let mut place = queue.first;
            for taken in 1..=queue.length {
                Misfit::agrees(taken < queue.length || place == queue.last, "queues")?;
                place = take(place, true).ok_or_else(|| Misfit::new("is no list").within("queues"))?;
            }
        }
        let mut place = self.free;
        while place != NONE {
            place = take(place, false).ok_or_else(|| Misfit::new("is no list").within("free"))?;
        }
        Misfit::agrees(seen.into_iter().all(|seen| seen), "pool")
    }

    /// The accesses of a queue, in order.
    pub(super) fn of(&self, queue: usize) -> impl Iterator<Item = &T> {
        let Queue { first, length, .. } = self.queues[queue];
        let places = std::iter::successors(Some(first), |&place| Some(self.pool[place as usize].1));
        places.take(length as usize).filter_map(|place| self.pool[place as usize].0.as_ref())
    }

    /// All accesses.
    pub(super) fn all(&self) -> impl Iterator<Item = &T> {
        self.pool.iter().filter_map(|(access, _)| access.as_ref())
    }

    /// Accesses in all queues.
    pub(super) fn len(&self) -> usize {
        self.queues.iter().map(|queue| queue.length as usize).sum()
    }

    /// True if an access can join a queue.
    #[inline]
    pub(super) fn has_room(&self, queue: usize) -> bool {
        (self.queues[queue].length as usize) < self.capacity
    }

    /// An access joins a queue.
    pub(super) fn push(&mut self, queue: usize, access: T) {
        debug_assert!(self.has_room(queue));
        let slot = if self.free == NONE {
            self.pool.push((Some(access), NONE));
            self.pool.len() as u32 - 1
        } else {
            let slot = self.free;
            let entry = &mut self.pool[slot as usize];
            self.free = entry.1;
            *entry = (Some(access), NONE);
            slot
        };
        let queue = &mut self.queues[queue];
        if queue.length == 0 {
            queue.first = slot;
        } else {
            self.pool[queue.last as usize].1 = slot;
        }
        queue.last = slot;
        queue.length += 1;
    }

    /// The first of a queue.
    #[inline]
    pub(super) fn first(&self, queue: usize) -> Option<&T> {
        let queue = self.queues[queue];
        if queue.length == 0 { None } else { self.pool[queue.first as usize].0.as_ref() }
    }

    /// Takes the first of a queue.
    pub(super) fn pop(&mut self, queue: usize) -> Option<T> {
        let queue = &mut self.queues[queue];
        if queue.length == 0 {
            return None;
        }
        let slot = queue.first;
        let entry = &mut self.pool[slot as usize];
        queue.first = entry.1;
        queue.length -= 1;
        entry.1 = self.free;
        self.free = slot;
        entry.0.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_keep_their_order_and_share_the_pool() {
        let mut waiters = Waiters::new(2, 3);
        for round in 0..3 {
            (0..3).for_each(|i| waiters.push(round % 2, i));
            assert!(!waiters.has_room(round % 2));
            let taken: Vec<_> = std::iter::from_fn(|| waiters.pop(round % 2)).collect();
            assert_eq!(taken, [0, 1, 2]);
        }
        assert_eq!(waiters.pool.len(), 3);
    }
}
