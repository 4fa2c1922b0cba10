//! Values in messages, as bytes.

/// A value in a message.
pub(super) trait Wire: Sized {
    fn put(&self, to: &mut Vec<u8>);
    /// `None` if the bytes end before the value, or are no such value.
    fn take(from: &mut &[u8]) -> Option<Self>;
}

macro_rules! numbers {
    ($($ty:ty),*) => { $(
        impl Wire for $ty {
            fn put(&self, to: &mut Vec<u8>) {
                to.extend(self.to_le_bytes());
            }

            fn take(from: &mut &[u8]) -> Option<Self> {
                let (bytes, rest) = from.split_first_chunk()?;
                *from = rest;
                Some(<$ty>::from_le_bytes(*bytes))
            }
        }
    )* };
}
numbers!(u32, u64);

impl Wire for bool {
    fn put(&self, to: &mut Vec<u8>) {
        u32::from(*self).put(to);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        u32::take(from).map(|value| value != 0)
    }
}

impl Wire for String {
    fn put(&self, to: &mut Vec<u8>) {
        (self.len() as u32).put(to);
        to.extend(self.as_bytes());
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let length = u32::take(from)? as usize;
        let (text, rest) = from.split_at_checked(length)?;
        *from = rest;
        String::from_utf8(text.to_vec()).ok()
    }
}

impl Wire for [u32; 3] {
    fn put(&self, to: &mut Vec<u8>) {
        self.iter().for_each(|value| value.put(to));
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        Some([u32::take(from)?, u32::take(from)?, u32::take(from)?])
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn put(&self, to: &mut Vec<u8>) {
        (self.len() as u32).put(to);
        self.iter().for_each(|value| value.put(to));
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let length = u32::take(from)?;
        (0..length).map(|_| T::take(from)).collect()
    }
}
