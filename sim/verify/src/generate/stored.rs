//! Forms of instructions and special registers in stored trees: words of their encoding, and their number.

/// An instruction as the two words of its encoding.
pub(super) mod words {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use wave_isa::Inst;

    pub(in super::super) fn serialize<S: Serializer>(inst: &Inst, to: S) -> Result<S::Ok, S::Error> {
        inst.encode().serialize(to)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Inst, D::Error> {
        let [first, second] = <[u32; 2]>::deserialize(from)?;
        Inst::decode(&[first, second])
            .map_err(|error| D::Error::custom(format!("{first:#010x} is no instruction: {error}")))
    }
}

/// A special register as its number.
pub(super) mod special {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use wave_isa::Special;

    pub(in super::super) fn serialize<S: Serializer>(special: &Special, to: S) -> Result<S::Ok, S::Error> {
        (*special as u8).serialize(to)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Special, D::Error> {
        let code = u8::deserialize(from)?;
        Special::from_code(code).ok_or_else(|| D::Error::custom(format!("{code} is no special register")))
    }
}
