//! Lists, options, tuples.

use super::{Capture, Misfit, Reader, Writer};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};
use std::ops::Range;

/// A value that is read where there is none.
fn read<T: Capture>(from: &mut Reader<'_>) -> Result<T, Misfit> {
    let mut value = T::blank().ok_or_else(|| Misfit::new("has blocks that this machine lacks"))?;
    value.restore(from)?;
    Ok(value)
}

impl<T: Capture> Capture for Vec<T> {
    fn save(&self, to: &mut Writer) {
        to.length(self.len());
        T::save_all(self, to);
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Misfit> {
        let length = from.length()?;
        if T::blank().is_none() && self.len() != length {
            return Err(Misfit::new("has another number of blocks than this machine"));
        }
        self.truncate(length);
        self.try_reserve_exact(length - self.len())
            .map_err(|_| Misfit::new("needs more memory than there is"))?;
        self.resize_with(length, || T::blank().expect("the number of blocks is that of this machine"));
        T::restore_all(self, from)
    }

    fn restore_fixed(&mut self, from: &mut Reader<'_>) -> Result<(), Misfit> {
        if from.length()? != self.len() {
            return Err(Misfit::new("has another length than in this machine"));
        }
        T::restore_all(self, from)
    }

    fn blank() -> Option<Self> {
        Some(Vec::new())
    }

    fn describe(to: &mut String) {
        to.push_str("list<");
        T::describe(to);
        to.push('>');
    }
}

impl<T: Capture> Capture for VecDeque<T> {
    fn save(&self, to: &mut Writer) {
        to.length(self.len());
        self.iter().for_each(|one| one.save(to));
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Misfit> {
        // A new storage would be as good, but the room is there already.
        self.clear();
        for _ in 0..from.length()? {
            self.push_back(read(from)?);
        }
        Ok(())
    }

    fn blank() -> Option<Self> {
        Some(VecDeque::new())
    }

    fn describe(to: &mut String) {
        to.push_str("list<");
        T::describe(to);
        to.push('>');
    }
}

impl<T: Capture, const N: usize> Capture for [T; N] {
    fn save(&self, to: &mut Writer) {
        T::save_all(self, to);
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Misfit> {
        T::restore_all(self, from)
    }

    fn restore_fixed(&mut self, from: &mut Reader<'_>) -> Result<(), Misfit> {
        let mut places = self.iter_mut().enumerate();
        places.try_for_each(|(place, one)| {
            one.restore_fixed(from).map_err(|misfit| misfit.within(&place.to_string()))
        })
    }

    fn blank() -> Option<Self> {
        let all: Option<Vec<T>> = (0..N).map(|_| T::blank()).collect();
        all?.try_into().ok()
    }

    fn describe(to: &mut String) {
        to.push_str(&format!("{N}*"));
        T::describe(to);
    }
}

impl<T: Capture> Capture for Option<T> {
    fn save(&self, to: &mut Writer) {
        self.is_some().save(to);
        self.iter().for_each(|value| value.save(to));
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Misfit> {
        let mut is_some = false;
        is_some.restore(from)?;
        match (is_some, &mut *self) {
            (false, Some(_)) if T::blank().is_none() => {
                return Err(Misfit::new("lacks a block that this machine has"));
            }
            (false, _) => *self = None,
            (true, Some(value)) => value.restore(from)?,
            (true, None) => *self = Some(read(from)?),
        }
        Ok(())
    }

    fn blank() -> Option<Self> {
        Some(None)
    }

    fn describe(to: &mut String) {
        to.push_str("option<");
        T::describe(to);
        to.push('>');
    }
}

impl<T: Capture> Capture for Box<T> {
    fn save(&self, to: &mut Writer) {
        T::save(self, to);
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Misfit> {
        T::restore(self, from)
    }

    fn restore_fixed(&mut self, from: &mut Reader<'_>) -> Result<(), Misfit> {
        T::restore_fixed(self, from)
    }

    fn blank() -> Option<Self> {
        T::blank().map(Box::new)
    }

    fn describe(to: &mut String) {
        T::describe(to);
    }
}

impl Capture for () {
    fn save(&self, _: &mut Writer) {}

    fn restore(&mut self, _: &mut Reader<'_>) -> Result<(), Misfit> {
        Ok(())
    }

    fn blank() -> Option<Self> {
        Some(())
    }

    fn describe(to: &mut String) {
        to.push_str("()");
    }
}

macro_rules! tuples {
    ($(($($type:ident $place:tt),*);)*) => {$(
        impl<$($type: Capture),*> Capture for ($($type,)*) {
            fn save(&self, to: &mut Writer) {
                $(self.$place.save(to);)*
            }

            fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Misfit> {
                $(self.$place.restore(from)?;)*
                Ok(())
            }

            fn blank() -> Option<Self> {
                Some(($($type::blank()?,)*))
            }

            fn describe(to: &mut String) {
                to.push('(');
                $($type::describe(to); to.push(',');)*
                to.push(')');
            }
        }
    )*};
}
tuples! { (A 0, B 1); (A 0, B 1, C 2); (A 0, B 1, C 2, D 3); }

impl Capture for String {
    fn save(&self, to: &mut Writer) {
        to.length(self.len());
        to.put(self.as_bytes());
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Misfit> {
        let length = from.length()?;
        let text = str::from_utf8(from.take(length)?).map_err(|_| Misfit::new("is no text"))?;
        text.clone_into(self);
        Ok(())
    }

    fn blank() -> Option<Self> {
        Some(String::new())
    }

    fn describe(to: &mut String) {
        to.push_str("text");
    }
}

impl<T: Capture> Capture for Range<T> {
    fn save(&self, to: &mut Writer) {
        self.start.save(to);
        self.end.save(to);
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Misfit> {
        self.start.restore(from)?;
        self.end.restore(from)
    }

    fn blank() -> Option<Self> {
        Some(T::blank()?..T::blank()?)
    }

    fn describe(to: &mut String) {
        to.push_str("range<");
        T::describe(to);
        to.push('>');
    }
}

impl<K: Capture + Ord, V: Capture> Capture for BTreeMap<K, V> {
    fn save(&self, to: &mut Writer) {
        to.length(self.len());
        for (key, value) in self {
            key.save(to);
            value.save(to);
        }
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Misfit> {
        self.clear();
        for _ in 0..from.length()? {
            let key = read(from)?;
            self.insert(key, read(from)?);
        }
        Ok(())
    }

    fn blank() -> Option<Self> {
        Some(BTreeMap::new())
    }

    fn describe(to: &mut String) {
        to.push_str("map<");
        K::describe(to);
        to.push(',');
        V::describe(to);
        to.push('>');
    }
}

impl<T: Capture + Ord> Capture for BTreeSet<T> {
    fn save(&self, to: &mut Writer) {
        to.length(self.len());
        self.iter().for_each(|one| one.save(to));
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Misfit> {
        self.clear();
        for _ in 0..from.length()? {
            self.insert(read(from)?);
        }
        Ok(())
    }

    fn blank() -> Option<Self> {
        Some(BTreeSet::new())
    }

    fn describe(to: &mut String) {
        to.push_str("set<");
        T::describe(to);
        to.push('>');
    }
}

impl<T: Capture> Capture for Reverse<T> {
    fn save(&self, to: &mut Writer) {
        self.0.save(to);
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Misfit> {
        self.0.restore(from)
    }

    fn blank() -> Option<Self> {
        T::blank().map(Reverse)
    }

    fn describe(to: &mut String) {
        T::describe(to);
    }
}

/// Saved in the order of its elements: how a heap lies in memory depends on its history.
impl<T: Capture + Ord + Clone> Capture for BinaryHeap<T> {
    fn save(&self, to: &mut Writer) {
        self.clone().into_sorted_vec().save(to);
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Misfit> {
        let mut all = Vec::new();
        all.restore(from)?;
        *self = all.into();
        Ok(())
    }

    fn blank() -> Option<Self> {
        Some(BinaryHeap::new())
    }

    fn describe(to: &mut String) {
        to.push_str("heap<");
        T::describe(to);
        to.push('>');
    }
}
