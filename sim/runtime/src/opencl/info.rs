//! Answers of the functions that programs ask for information.

use super::error::ClError;
use super::{Done, check};
use crate::ffi::{Address, Out};

/// A value of a query, as its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer(Vec<u8>);

impl From<u32> for Answer {
    fn from(value: u32) -> Self {
        Answer(value.to_ne_bytes().to_vec())
    }
}

impl From<i32> for Answer {
    fn from(value: i32) -> Self {
        Answer(value.to_ne_bytes().to_vec())
    }
}

impl From<u64> for Answer {
    fn from(value: u64) -> Self {
        Answer(value.to_ne_bytes().to_vec())
    }
}

impl From<usize> for Answer {
    fn from(value: usize) -> Self {
        Answer(value.to_ne_bytes().to_vec())
    }
}

/// `cl_bool`.
impl From<bool> for Answer {
    fn from(value: bool) -> Self {
        u32::from(value).into()
    }
}

impl From<Address> for Answer {
    fn from(value: Address) -> Self {
        value.0.into()
    }
}

/// A text with its zero.
impl From<&str> for Answer {
    fn from(value: &str) -> Self {
        Answer(value.bytes().filter(|&byte| byte != 0).chain([0]).collect())
    }
}

impl From<&[usize]> for Answer {
    fn from(values: &[usize]) -> Self {
        Answer(values.iter().flat_map(|value| value.to_ne_bytes()).collect())
    }
}

impl Answer {
    /// Gives the value, and its size, as far as the program asks for them.
    pub(super) fn give(&self, room: usize, to: Address, bytes: Out<usize>) -> Done {
        let Answer(value) = self;
        if to.0 != 0 {
            check(room >= value.len(), ClError::InvalidValue)?;
            to.bytes_mut(value.len()).copy_from_slice(value);
        }
        bytes.set(value.len());
        Ok(())
    }

    /// Bytes of the value.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_needs_its_room() {
        let mut place = [7u8; 5];
        let to = Address(place.as_mut_ptr() as usize);
        let answer = Answer::from("abc");
        let mut size = 0;
        let bytes = Out::to(&mut size);
        assert_eq!(answer.give(3, to, bytes), Err(ClError::InvalidValue));
        assert_eq!(answer.give(0, Address(0), bytes), Ok(()));
        assert_eq!((answer.give(4, to, bytes), size), (Ok(()), 4));
        assert_eq!(&place, b"abc\0\x07");
    }
}
