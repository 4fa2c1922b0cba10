//! The part of the protobuf wire format that traces need: <https://protobuf.dev/programming-guides/encoding>.

use crate::trace::binary;

/// Encoding of a field. The upper bits of the key hold the field number.
mod wire {
    pub(crate) const VARINT: u32 = 0;
    pub(crate) const FIXED64: u32 = 1;
    pub(super) const BYTES: u32 = 2;
}

/// A message as encoded fields.
#[derive(Debug, Default)]
pub(super) struct Message {
    bytes: Vec<u8>,
}

impl Message {
    /// Removes all fields.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
    }

    /// True if it has no field.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The encoded fields.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn key(&mut self, field: u32, wire: u32) {
        binary::put(&mut self.bytes, field << 3 | wire);
    }

    /// Adds a field of type `uint32`, `uint64`, `bool` or `enum`, or one of type `int32` or `int64` that is not negative.
    pub(super) fn number(&mut self, field: u32, value: impl Into<u64>) {
        self.key(field, wire::VARINT);
        binary::put(&mut self.bytes, value);
    }

    /// Adds a field of type `fixed64`.
    pub(super) fn fixed(&mut self, field: u32, value: u64) {
        self.key(field, wire::FIXED64);
        self.bytes.extend(value.to_le_bytes());
    }

    /// Adds a field of type `double`.
    pub(super) fn double(&mut self, field: u32, value: f64) {
        self.fixed(field, value.to_bits());
    }

    /// Adds a field of type `string` or `bytes`, or one that is an encoded message.
    pub(super) fn data(&mut self, field: u32, data: &[u8]) {
        self.key(field, wire::BYTES);
        binary::put(&mut self.bytes, data.len() as u64);
        self.bytes.extend_from_slice(data);
    }

    /// Adds a field that is a message.
    pub(super) fn message(&mut self, field: u32, fill: impl FnOnce(&mut Message)) {
        self.key(field, wire::BYTES);
        let at = self.bytes.len();
        // Nearly all are shorter than 128 bytes, so their length takes one byte.
        self.bytes.push(0);
        fill(self);
        let length = self.bytes.len() - at - 1;
        if length < 0x80 {
            self.bytes[at] = length as u8;
        } else {
            let mut prefix = Vec::new();
            binary::put(&mut prefix, length as u64);
            self.bytes.splice(at..=at, prefix);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_encoded_as_the_guide_says() {
        let mut message = Message::default();
        message.number(1, 150_u32);
        message.data(2, b"testing");
        message.message(3, |inner| inner.number(1, 150_u32));
        let guide =
            [0x08, 0x96, 0x01, 0x12, 0x07, b't', b'e', b's', b't', b'i', b'n', b'g', 0x1a, 3, 0x08, 0x96, 1];
        assert_eq!(message.bytes(), guide);
        message.clear();
        assert!(message.is_empty());
        message.fixed(47, 1);
        assert_eq!(message.bytes(), [0xf9, 0x02, 1, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn a_long_message_has_a_long_length() {
        let mut message = Message::default();
        message.message(1, |inner| inner.data(1, &[7; 200]));
        assert_eq!(message.bytes()[..6], [0x0a, 0xcb, 0x01, 0x0a, 0xc8, 0x01]);
        assert_eq!(message.bytes().len(), 206);
    }
}
