//! Binaries of programs.
//!
//! The binary of a program in OpenCL C is its source, after a line with its build options: it is built anew, so that it
//! runs with any version of the simulator. A binary may also be PTX, as text, in a fat binary or as ELF.

/// The beginning of a binary that is a source.
const HEAD: &str = "// wave-sim: a program in OpenCL C, built with: ";

/// The content of a binary.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Binary {
    Source { source: String, options: String },
    Ptx(Vec<u8>),
}

/// The binary of a source.
pub(super) fn of_source(source: &str, options: &str) -> Vec<u8> {
    let options = options.replace(['\n', '\r'], " ");
    format!("{HEAD}{options}\n{source}").into_bytes()
}

/// The content of a binary; `None` if this device has no use for it.
pub(super) fn read(bytes: &[u8]) -> Option<Binary> {
    const FAT_BINARY: [u8; 4] = 0xba55_ed50_u32.to_le_bytes();
    if bytes.starts_with(&FAT_BINARY) || bytes.starts_with(b"\x7fELF") {
        return Some(Binary::Ptx(bytes.to_vec()));
    }
    let text = std::str::from_utf8(bytes).ok()?;
    if let Some((options, source)) = text.strip_prefix(HEAD).and_then(|rest| rest.split_once('\n')) {
        return Some(Binary::Source { source: source.to_owned(), options: options.to_owned() });
    }
    let is_ptx = text.lines().any(|line| line.trim_start().starts_with(".version"));
    is_ptx.then(|| Binary::Ptx(bytes.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_binary_is_read_as_it_was_written() {
        let bytes = of_source("kernel void k() {}\n", "-D N=4");
        let expected =
            Binary::Source { source: "kernel void k() {}\n".to_owned(), options: "-D N=4".to_owned() };
        assert_eq!(read(&bytes), Some(expected));
        let ptx = b"// LLVM\n.version 6.3\n.target sm_75\n";
        assert_eq!(read(ptx), Some(Binary::Ptx(ptx.to_vec())));
        assert_eq!((read(b"kernel void k() {}"), read(b""), read(&[0xff; 9])), (None, None, None));
    }
}
