//! Numbers: little-endian, in the width of their type.

use super::{Capture, Misfit, Reader, Writer};

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl Capture for $number {
            #[inline]
            fn save(&self, to: &mut Writer) {
                to.put(&self.to_le_bytes());
            }

            #[inline]
            fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Misfit> {
                *self = <$number>::from_le_bytes(from.array()?);
                Ok(())
            }

            fn blank() -> Option<Self> {
                Some(0 as $number)
            }

            fn describe(to: &mut String) {
                to.push_str(stringify!($number));
            }

            // Registers, lines and tags are most of a machine: copied as a whole.
            fn save_all(all: &[Self], to: &mut Writer) {
                const WIDTH: usize = size_of::<$number>();
                let start = to.bytes.len();
                to.bytes.resize(start + all.len() * WIDTH, 0);
                let (places, _) = to.bytes[start..].as_chunks_mut::<WIDTH>();
                places.iter_mut().zip(all).for_each(|(place, number)| *place = number.to_le_bytes());
            }

            fn restore_all(all: &mut [Self], from: &mut Reader<'_>) -> Result<(), Misfit> {
                const WIDTH: usize = size_of::<$number>();
                let (numbers, _) = from.take(all.len() * WIDTH)?.as_chunks::<WIDTH>();
                for (number, bytes) in all.iter_mut().zip(numbers) {
                    *number = <$number>::from_le_bytes(*bytes);
                }
                Ok(())
            }
        }
    )*};
}
numbers! { u8 u16 u32 u64 u128 i32 i64 f32 f64 }

impl Capture for usize {
    #[inline]
    fn save(&self, to: &mut Writer) {
        (*self as u64).save(to);
    }

    #[inline]
    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Misfit> {
        let number = u64::from_le_bytes(from.array()?);
        *self = usize::try_from(number).map_err(|_| Misfit::new("is too large for this host"))?;
        Ok(())
    }

    fn blank() -> Option<Self> {
        Some(0)
    }

    fn describe(to: &mut String) {
        to.push_str("usize");
    }
}

impl Capture for bool {
    #[inline]
    fn save(&self, to: &mut Writer) {
        u8::from(*self).save(to);
    }

    #[inline]
    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Misfit> {
        *self = match from.array()? {
            [0] => false,
            [1] => true,
            _ => return Err(Misfit::new("is neither true nor false")),
        };
        Ok(())
    }

    fn blank() -> Option<Self> {
        Some(false)
    }

    fn describe(to: &mut String) {
        to.push_str("bool");
    }
}

/// Random number generators save themselves as their serde form has it.
impl Capture for rand_pcg::Pcg32 {
    fn save(&self, to: &mut Writer) {
        serde_json::to_string(self).unwrap_or_default().save(to);
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Misfit> {
        let mut text = String::new();
        text.restore(from)?;
        *self = serde_json::from_str(&text).map_err(|_| Misfit::new("is no generator"))?;
        Ok(())
    }

    fn blank() -> Option<Self> {
        Some(rand_pcg::Pcg32::new(0, 0))
    }

    fn describe(to: &mut String) {
        to.push_str("Pcg32");
    }
}
