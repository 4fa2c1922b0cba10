//! Fat binaries: what NVIDIA's compilers put into an executable for the GPU.
//!
//! A fat binary has a head of 16 bytes, and entries: PTX, or code for one GPU. The layout is not documented; this is what
//! those of CUDA 11 to 13 have.

/// The magic number of a fat binary.
const MAGIC: u32 = 0xba55_ed50;

/// Kinds of entries.
const PTX: u16 = 1;

/// Flags of an entry: how it is compressed.
const LZ4: u64 = 0x2000;
const ZSTD: u64 = 0x8000;

/// Most bytes of the PTX of an entry.
const MOST_BYTES: u64 = 1 << 28;

/// The parts of a module that can run here.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Image {
    /// PTX, with the compute capability that it is for, times 10. One for each part that was linked.
    pub(super) ptx: Vec<(u32, String)>,
    /// GPUs for which there is code that is not PTX.
    pub(super) architectures: Vec<u32>,
}

/// Numbers at places of bytes.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn u16(&self, at: usize) -> Option<u16> {
        Some(u16::from_le_bytes(self.0.get(at..at + 2)?.try_into().ok()?))
    }

    fn u32(&self, at: usize) -> Option<u32> {
        Some(u32::from_le_bytes(self.0.get(at..at + 4)?.try_into().ok()?))
    }

    fn u64(&self, at: usize) -> Option<u64> {
        Some(u64::from_le_bytes(self.0.get(at..at + 8)?.try_into().ok()?))
    }
}

impl Image {
    /// Reads the bytes of a module: one fat binary after the other, or PTX as text.
    ///
    /// # Errors
    /// The bytes are damaged, or of another kind.
    pub(super) fn read(bytes: &[u8], capability: u32) -> Result<Image, String> {
        let mut image = Image::default();
        let mut rest = bytes;
        while Bytes(rest).u32(0) == Some(MAGIC) {
            let damaged = || "the fat binary is damaged".to_owned();
            let head = usize::from(Bytes(rest).u16(6).ok_or_else(damaged)?);
            let length =
                Bytes(rest).u64(8).and_then(|length| usize::try_from(length).ok()).ok_or_else(damaged)?;
            let end = head.checked_add(length).filter(|&end| end <= rest.len()).ok_or_else(damaged)?;
            image.entries(&rest[head..end], capability)?;
            rest = &rest[end..];
        }
        if rest.is_empty() {
            return Ok(image);
        }
        if rest.starts_with(b"\x7fELF") {
            image.architectures.push(0);
            return Ok(image);
        }
        let text = std::str::from_utf8(rest).map(|text| text.trim_end_matches('\0'));
        match text {
            Ok(text) if text.contains(".target") => image.ptx.push((capability, text.to_owned())),
            _ => return Err("the module is neither a fat binary nor PTX".to_owned()),
        }
        Ok(image)
    }

    /// Takes the PTX of one fat binary that suits best: the newest that is not newer than the device, or the oldest.
    fn entries(&mut self, mut rest: &[u8], capability: u32) -> Result<(), String> {
        let damaged = || "an entry of the fat binary is damaged".to_owned();
        let mut found: Vec<(u32, &[u8], u64, u64)> = Vec::new();
        while !rest.is_empty() {
            let bytes = Bytes(rest);
            let head = bytes.u32(4).ok_or_else(damaged)? as usize;
            let length = bytes.u64(8).and_then(|length| usize::try_from(length).ok()).ok_or_else(damaged)?;
            let end =
                head.checked_add(length).filter(|&end| end <= rest.len() && end > 0).ok_or_else(damaged)?;
            let (kind, compressed) =
                (bytes.u16(0).ok_or_else(damaged)?, bytes.u32(0x10).ok_or_else(damaged)?);
            let architecture = bytes.u32(0x1c).ok_or_else(damaged)?;
            let (flags, whole) = (bytes.u64(0x28).ok_or_else(damaged)?, bytes.u64(0x38).ok_or_else(damaged)?);
            if kind == PTX {
                let packed = compressed as usize;
                let payload = rest.get(head..end).ok_or_else(damaged)?;
                let payload = if packed > 0 { payload.get(..packed).ok_or_else(damaged)? } else { payload };
                found.push((architecture, payload, flags, whole));
            } else {
                self.architectures.push(architecture);
            }
            rest = &rest[end..];
        }
        let fits = |architecture: u32| architecture <= capability;
        let best = found.iter().filter(|one| fits(one.0)).max_by_key(|one| one.0);
        let best = best.or_else(|| found.iter().min_by_key(|one| one.0));
        let Some(&(architecture, payload, flags, whole)) = best else { return Ok(()) };
        let text = unpacked(payload, flags, whole).ok_or_else(damaged)?;
        let text = String::from_utf8(text).map_err(|_| damaged())?;
        self.ptx.push((architecture, text.trim_end_matches('\0').to_owned()));
        Ok(())
    }
}

/// The bytes of an entry; `None` if they are damaged.
fn unpacked(payload: &[u8], flags: u64, whole: u64) -> Option<Vec<u8>> {
    use std::io::Read;
    if whole > MOST_BYTES {
        return None;
    }
    let bytes = match (flags & LZ4 != 0, flags & ZSTD != 0) {
        (true, _) => lz4_flex::block::decompress(payload, whole as usize).ok()?,
        (_, true) => {
            let mut bytes = Vec::new();
            let frame = ruzstd::decoding::StreamingDecoder::new(payload).ok()?;
            frame.take(whole).read_to_end(&mut bytes).ok()?;
            bytes
        }
        _ => payload.to_vec(),
    };
    (whole == 0 || bytes.len() as u64 == whole).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = ".version 7.5\n.target sm_75\n";

    fn entry(kind: u16, architecture: u32, payload: &[u8], (flags, whole): (u64, u64)) -> Vec<u8> {
        let mut bytes = vec![0; 0x40];
        let packed = if whole > 0 { payload.len() as u32 } else { 0 };
        bytes[..2].copy_from_slice(&kind.to_le_bytes());
        bytes[4..8].copy_from_slice(&0x40_u32.to_le_bytes());
        let padded = payload.len().next_multiple_of(8);
        bytes[8..16].copy_from_slice(&(padded as u64).to_le_bytes());
        bytes[0x10..0x14].copy_from_slice(&packed.to_le_bytes());
        bytes[0x1c..0x20].copy_from_slice(&architecture.to_le_bytes());
        bytes[0x28..0x30].copy_from_slice(&flags.to_le_bytes());
        bytes[0x38..0x40].copy_from_slice(&whole.to_le_bytes());
        bytes.extend(payload);
        bytes.resize(0x40 + padded, 0);
        bytes
    }

    fn binary(entries: &[Vec<u8>]) -> Vec<u8> {
        let rest = entries.concat();
        let mut bytes = MAGIC.to_le_bytes().to_vec();
        bytes.extend([1, 0, 16, 0]);
        bytes.extend((rest.len() as u64).to_le_bytes());
        bytes.extend(rest);
        bytes
    }

    #[test]
    fn the_ptx_that_suits_best_is_found() {
        let of = |architecture: u32| {
            entry(PTX, architecture, format!("{TEXT}// {architecture}").as_bytes(), (0, 0))
        };
        let sass = entry(2, 80, b"\x7fELF", (0, 0));
        let image = |entries: &[Vec<u8>]| Image::read(&binary(entries), 75).expect("an image");
        assert_eq!(image(&[of(60), of(70), of(80), sass.clone()]).ptx, [(70, format!("{TEXT}// 70"))]);
        assert_eq!(image(&[of(90), of(80)]).ptx[0].0, 80);
        assert_eq!(image(&[sass]), Image { ptx: vec![], architectures: vec![80] });
        let linked = [binary(&[of(70)]), binary(&[]), binary(&[of(60)])].concat();
        assert_eq!(Image::read(&linked, 75).expect("an image").ptx.len(), 2);
        assert_eq!(
            Image::read(format!("{TEXT}\0").as_bytes(), 75).expect("text").ptx,
            [(75, TEXT.to_owned())]
        );
    }

    #[test]
    fn compressed_entries_are_unpacked() {
        let text = TEXT.repeat(100);
        let whole = text.len() as u64;
        let lz4 = lz4_flex::block::compress(text.as_bytes());
        let zstd =
            ruzstd::encoding::compress_to_vec(text.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest);
        for (payload, flag) in [(lz4, LZ4), (zstd, ZSTD)] {
            let bytes = binary(&[entry(PTX, 75, &payload, (flag | 0x11, whole))]);
            assert_eq!(Image::read(&bytes, 75).expect("an image").ptx, [(75, text.clone())]);
            // Damage anywhere is an error or another text, and no panic.
            for at in 0..bytes.len() {
                let mut other = bytes.clone();
                other[at] ^= 0x55;
                _ = Image::read(&other, 75);
                _ = Image::read(&bytes[..at], 75);
            }
        }
        assert!(Image::read(b"neither", 75).is_err());
    }
}
