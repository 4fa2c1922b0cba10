//! Functions that the code calls: accesses at any address, and special functions.

use crate::special;
use std::collections::BTreeSet;
use std::fmt::Write;
use wave_isa::Op;
use wave_isa::table::Space;

/// A function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Helper {
    /// Loads so many bytes, 2 or 4, from any address.
    Load(Space, u8),
    /// Stores so many bytes, 2 or 4, at any address.
    Store(Space, u8),
    /// A special function by the fixed-point algorithm.
    Special(Op),
}

impl Helper {
    /// Its name in PTX.
    pub(crate) fn name(self) -> String {
        match self {
            Helper::Load(space, bytes) => format!("wave_load_{}_u{}", place(space), 8 * bytes),
            Helper::Store(space, bytes) => format!("wave_store_{}_u{}", place(space), 8 * bytes),
            Helper::Special(op) => format!("wave_{}", op.info().mnemonic),
        }
    }
}

impl Ord for Helper {
    fn cmp(&self, other: &Helper) -> std::cmp::Ordering {
        self.name().cmp(&other.name())
    }
}

impl PartialOrd for Helper {
    fn partial_cmp(&self, other: &Helper) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The text of functions, with the tables that they read.
pub(crate) fn definitions(helpers: &BTreeSet<Helper>) -> String {
    let specials: Vec<Op> = helpers
        .iter()
        .filter_map(|helper| match helper {
            Helper::Special(op) => Some(*op),
            _ => None,
        })
        .collect();
    let mut text = special::definitions(&specials);
    for helper in helpers {
        text += &match *helper {
            Helper::Load(space, bytes) => load(&helper.name(), space, bytes),
            Helper::Store(space, bytes) => store(&helper.name(), space, bytes),
            Helper::Special(_) => continue,
        };
    }
    text
}

fn place(space: Space) -> &'static str {
    match space {
        Space::Local => "shared",
        Space::Device => "global",
    }
}

fn address_type(space: Space) -> &'static str {
    match space {
        Space::Local => "b32",
        Space::Device => "b64",
    }
}

/// A word at a multiple of its size in one access, and any other value byte by byte.
fn load(name: &str, space: Space, bytes: u8) -> String {
    let (place, ty) = (place(space), address_type(space));
    let mut text = format!(".func (.reg .b32 %value) {name}(.reg .{ty} %address)\n{{\n");
    text += "\t.reg .b32 %byte, %low;\n\t.reg .pred %even;\n";
    if bytes == 4 {
        text += &aligned(space);
        _ = writeln!(text, "\t@%even ld.{place}.b32 %value, [%address];\n\t@%even ret;");
    }
    _ = writeln!(text, "\tld.{place}.u8 %value, [%address];");
    for byte in 1..bytes {
        _ = writeln!(text, "\tld.{place}.u8 %byte, [%address+{byte}];");
        _ = writeln!(text, "\tshl.b32 %byte, %byte, {};", 8 * byte);
        _ = writeln!(text, "\tor.b32 %value, %value, %byte;");
    }
    text + "\tret;\n}\n\n"
}

fn store(name: &str, space: Space, bytes: u8) -> String {
    let (place, ty) = (place(space), address_type(space));
    let mut text = format!(".func {name}(.reg .{ty} %address, .reg .b32 %value)\n{{\n");
    text += "\t.reg .b32 %byte, %low;\n\t.reg .pred %even;\n";
    if bytes == 4 {
        text += &aligned(space);
        _ = writeln!(text, "\t@%even st.{place}.b32 [%address], %value;\n\t@%even ret;");
    }
    _ = writeln!(text, "\tst.{place}.u8 [%address], %value;");
    for byte in 1..bytes {
        _ = writeln!(text, "\tshr.u32 %byte, %value, {};", 8 * byte);
        _ = writeln!(text, "\tst.{place}.u8 [%address+{byte}], %byte;");
    }
    text + "\tret;\n}\n\n"
}

/// Sets `%even` where the address is a multiple of 4.
fn aligned(space: Space) -> String {
    let low = match space {
        Space::Local => "mov.b32 %low, %address;",
        Space::Device => "cvt.u32.u64 %low, %address;",
    };
    format!("\t{low}\n\tand.b32 %low, %low, 3;\n\tsetp.eq.u32 %even, %low, 0;\n")
}
