//! Formats of `printf`: the arguments that a thread has left, put into the format of the call.

/// A conversion, such as `%-8.3f`.
#[derive(Debug, Default, Clone, Copy)]
struct Conversion {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zeros: bool,
    width: usize,
    precision: Option<usize>,
}

/// Values in the order of their conversions. Each lies at a multiple of its size.
struct Arguments<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Arguments<'_> {
    /// The next value of so many bytes; 0 if there is none.
    fn take(&mut self, size: usize) -> u64 {
        self.at = self.at.next_multiple_of(size);
        let mut value = [0; 8];
        if let Some(bytes) = self.bytes.get(self.at..self.at + size) {
            value[..size].copy_from_slice(bytes);
        }
        self.at += size;
        u64::from_le_bytes(value)
    }
}

/// Most bytes of a width, a precision and a string: more are of a call that has gone wrong.
const MOST: usize = 1 << 16;

/// The bytes of a text in memory, up to its zero.
fn string(memory: &[u8], address: u64) -> &[u8] {
    let rest = usize::try_from(address).ok().and_then(|at| memory.get(at..)).unwrap_or_default();
    let end = rest.iter().take(MOST).position(|&byte| byte == 0);
    &rest[..end.unwrap_or(rest.len().min(MOST))]
}

/// The text of a call whose format lies at an address of memory.
pub(super) fn formatted(memory: &[u8], format: u64, arguments: &[u8]) -> Vec<u8> {
    let mut arguments = Arguments { bytes: arguments, at: 0 };
    let mut text = Vec::new();
    let mut rest = string(memory, format);
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte == b'%' {
            rest = converted(memory, rest, &mut arguments, &mut text);
        } else {
            text.push(byte);
        }
    }
    text
}

/// Takes a number of digits from the front.
fn number<'a>(mut rest: &'a [u8], arguments: &mut Arguments<'_>, value: &mut i64) -> &'a [u8] {
    if let Some(after) = rest.strip_prefix(b"*") {
        *value = i64::from(arguments.take(4) as u32 as i32);
        return after;
    }
    *value = 0;
    while let Some((digit @ b'0'..=b'9', after)) = rest.split_first() {
        *value = (*value * 10 + i64::from(digit - b'0')).min(MOST as i64);
        rest = after;
    }
    rest
}

/// Does one conversion; gives what follows it.
fn converted<'a>(
    memory: &[u8],
    mut rest: &'a [u8],
    arguments: &mut Arguments<'_>,
    text: &mut Vec<u8>,
) -> &'a [u8] {
    let mut how = Conversion::default();
    while let Some((flag, after)) = rest.split_first() {
        match flag {
            b'-' => how.left = true,
            b'+' => how.plus = true,
            b' ' => how.space = true,
            b'#' => how.alternate = true,
            b'0' => how.zeros = true,
            _ => break,
        }
        rest = after;
    }
    let mut value = 0;
    rest = number(rest, arguments, &mut value);
    how.left |= value < 0;
    how.width = value.unsigned_abs().min(MOST as u64) as usize;
    if let Some(after) = rest.strip_prefix(b".") {
        rest = number(after, arguments, &mut value);
        how.precision = usize::try_from(value).ok().map(|value| value.min(MOST));
    }
    let (mut bytes, mut halves) = (4, 0);
    while let Some((length, after)) = rest.split_first() {
        match length {
            b'l' | b'j' | b'z' | b't' | b'L' => bytes = 8,
            b'h' => halves += 1,
            _ => break,
        }
        rest = after;
    }
    let Some((&kind, after)) = rest.split_first() else { return rest };
    let narrow = |value: u64, signed: bool| match (halves, bytes, signed) {
        (1, _, true) => value as i16 as i64 as u64,
        (1, ..) => value & 0xFFFF,
        (2.., _, true) => value as i8 as i64 as u64,
        (2.., ..) => value & 0xFF,
        (_, 4, true) => value as u32 as i32 as i64 as u64,
        _ => value,
    };
    match kind {
        b'd' | b'i' => {
            let value = narrow(arguments.take(bytes), true) as i64;
            integer(text, how, value.unsigned_abs().to_string(), sign(how, value < 0), "");
        }
        b'u' => integer(text, how, narrow(arguments.take(bytes), false).to_string(), "", ""),
        b'o' => {
            let digits = format!("{:o}", narrow(arguments.take(bytes), false));
            let is_short = how.alternate && !digits.starts_with('0');
            integer(text, how, if is_short { format!("0{digits}") } else { digits }, "", "");
        }
        b'x' | b'X' => {
            let value = narrow(arguments.take(bytes), false);
            let prefix = if how.alternate && value != 0 { "0x" } else { "" };
            let (digits, prefix) = match kind {
                b'x' => (format!("{value:x}"), prefix.to_owned()),
                _ => (format!("{value:X}"), prefix.to_uppercase()),
            };
            integer(text, how, digits, "", &prefix);
        }
        b'c' => {
            let byte = arguments.take(4) as u8;
            padded(text, how, &[byte]);
        }
        b's' => {
            let address = arguments.take(8);
            let found: &[u8] = if address == 0 { b"(null)" } else { string(memory, address) };
            let shown = how.precision.map_or(found.len(), |most| most.min(found.len()));
            padded(text, how, &found[..shown]);
        }
        b'p' => {
            let shown = match arguments.take(8) {
                0 => "(nil)".to_owned(),
                address => format!("0x{address:x}"),
            };
            padded(text, how, shown.as_bytes());
        }
        b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
            let value = f64::from_bits(arguments.take(8));
            let mut digits = float(how, kind.to_ascii_lowercase(), value.abs());
            if kind.is_ascii_uppercase() {
                digits = digits.to_uppercase();
            }
            let minus = value.is_sign_negative() && !value.is_nan();
            let of_number = Conversion { precision: None, zeros: how.zeros && value.is_finite(), ..how };
            let prefix =
                if kind.eq_ignore_ascii_case(&b'a') && value.is_finite() { &digits[..2] } else { "" };
            let prefix = prefix.to_owned();
            integer(text, of_number, digits[prefix.len()..].to_owned(), sign(how, minus), &prefix);
        }
        b'%' => text.push(b'%'),
        // What is no conversion is shown as it stands.
        other => text.extend([b'%', other]),
    }
    after
}

/// The character before a number with a sign.
fn sign(how: Conversion, is_negative: bool) -> &'static str {
    match how {
        _ if is_negative => "-",
        Conversion { plus: true, .. } => "+",
        Conversion { space: true, .. } => " ",
        _ => "",
    }
}

/// A number: its sign, its prefix, zeros up to precision or width, its digits.
fn integer(text: &mut Vec<u8>, how: Conversion, digits: String, sign: &str, prefix: &str) {
    let digits = if how.precision == Some(0) && digits == "0" { String::new() } else { digits };
    let before = sign.len() + prefix.len();
    let least = match how.precision {
        Some(precision) => precision,
        None if how.zeros && !how.left => how.width.saturating_sub(before),
        None => 0,
    };
    let zeros = "0".repeat(least.saturating_sub(digits.len()));
    padded(text, how, format!("{sign}{prefix}{zeros}{digits}").as_bytes());
}

/// A text in its width.
fn padded(text: &mut Vec<u8>, how: Conversion, shown: &[u8]) {
    let blanks = how.width.saturating_sub(shown.len());
    let (before, after) = if how.left { (0, blanks) } else { (blanks, 0) };
    text.extend(std::iter::repeat_n(b' ', before));
    text.extend(shown);
    text.extend(std::iter::repeat_n(b' ', after));
}

/// The digits of a number that is not negative, in lower case.
fn float(how: Conversion, kind: u8, value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return "inf".to_owned();
    }
    let precision = how.precision.unwrap_or(6);
    match kind {
        b'f' => with_point(how, format!("{value:.precision$}")),
        b'e' => scientific(how, value, precision),
        b'g' => general(how, value, precision.max(1)),
        _ => hexadecimal(how, value),
    }
}

/// With `#` a number has a point in any case.
fn with_point(how: Conversion, digits: String) -> String {
    if how.alternate && !digits.contains('.') { format!("{digits}.") } else { digits }
}

/// Digits and exponent of a number.
fn parts(value: f64, precision: usize) -> (String, i32) {
    let shown = format!("{value:.precision$e}");
    let (digits, exponent) = shown.split_once('e').unwrap_or((&shown, "0"));
    (digits.to_owned(), exponent.parse().unwrap_or(0))
}

fn scientific(how: Conversion, value: f64, precision: usize) -> String {
    let (digits, exponent) = parts(value, precision);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", with_point(how, digits), exponent.unsigned_abs())
}

fn general(how: Conversion, value: f64, precision: usize) -> String {
    let (digits, exponent) = parts(value, precision - 1);
    let trimmed = |digits: &str| {
        if how.alternate || !digits.contains('.') {
            return with_point(how, digits.to_owned());
        }
        digits.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    if exponent < -4 || exponent >= precision as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trimmed(&digits), exponent.unsigned_abs());
    }
    let places = (precision as i32 - 1 - exponent) as usize;
    trimmed(&format!("{value:.places$}"))
}

/// `0x1.8p+1`.
fn hexadecimal(how: Conversion, value: f64) -> String {
    const FRACTION_BITS: u32 = 52;
    let bits = value.to_bits();
    let (mut fraction, field) = (bits & ((1 << FRACTION_BITS) - 1), (bits >> FRACTION_BITS) as i32);
    let mut first = u64::from(field != 0);
    let exponent = match (field, fraction) {
        (0, 0) => 0,
        (0, _) => -1022,
        _ => field - 1023,
    };
    let digits = match how.precision {
        Some(precision) if precision < 13 => {
            // Ties go to the even digit.
            let cut = FRACTION_BITS - 4 * precision as u32;
            let whole = (first << FRACTION_BITS) | fraction;
            let (kept, lost, half) = (whole >> cut, whole & ((1 << cut) - 1), 1 << (cut - 1));
            let rounded = (kept + u64::from(lost > half || lost == half && kept & 1 == 1)) << cut;
            (first, fraction) = (rounded >> FRACTION_BITS, rounded & ((1 << FRACTION_BITS) - 1));
            format!("{fraction:013x}")[..precision].to_owned()
        }
        Some(precision) => format!("{fraction:013x}{}", "0".repeat(precision - 13)),
        None => format!("{fraction:013x}").trim_end_matches('0').to_owned(),
    };
    let point = if digits.is_empty() && !how.alternate { "" } else { "." };
    format!("0x{first}{point}{digits}p{exponent:+}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A memory with a text at byte 16, and a call with arguments of 4 and 8 bytes.
    fn call(format: &str, arguments: &[u64], sizes: &[usize]) -> String {
        let mut memory = vec![0; 16];
        memory.extend(b"a string\0");
        let at = memory.len() as u64;
        memory.extend(format.as_bytes());
        memory.push(0);
        let mut bytes: Vec<u8> = Vec::new();
        for (value, &size) in arguments.iter().zip(sizes) {
            bytes.resize(bytes.len().next_multiple_of(size), 0);
            bytes.extend(&value.to_le_bytes()[..size]);
        }
        String::from_utf8(formatted(&memory, at, &bytes)).expect("text")
    }

    fn with_float(format: &str, value: f64) -> String {
        call(format, &[value.to_bits()], &[8])
    }

    /// The program `printf` of the host is the oracle.
    fn of_host(format: &str, argument: &str) -> String {
        let output = std::process::Command::new("/usr/bin/printf").args([format, argument]).output();
        String::from_utf8(output.expect("coreutils").stdout).expect("text")
    }

    #[test]
    fn numbers_are_shown_as_the_host_shows_them() {
        let integers: [i32; 7] = [0, 1, -1, 42, -1000, i32::MAX, i32::MIN];
        for format in ["%d", "%5d", "%-5d|", "%05d", "%+d", "% d", "%.3d", "%8.3d", "%-+8d|", "%i"] {
            for value in integers {
                let got = call(format, &[u64::from(value as u32)], &[4]);
                assert_eq!(got, of_host(format, &value.to_string()), "{format} {value}");
            }
        }
        for format in ["%u", "%x", "%X", "%#x", "%o", "%#o", "%08x", "%#10x", "%-#10X|", "%.0x"] {
            for value in [0_u32, 1, 0xdead_beef, u32::MAX] {
                let got = call(format, &[value.into()], &[4]);
                assert_eq!(got, of_host(format, &value.to_string()), "{format} {value}");
            }
        }
        let floats: [f64; 12] =
            [0.0, 1.0, -1.5, 0.1, 123456.789, 1e-5, 9.9999995, 1e20, 2.5, 1e100, -0.0, 5e-324];
        // coreutils prints long doubles, whose %a differs.
        for format in [
            "%f", "%.2f", "%10.3f", "%-10.1f|", "%010.2f", "%e", "%.0e", "%#.0f", "%g", "%.3g", "%#g", "%G",
            "%+.1E",
        ] {
            for value in floats {
                // Its exact value: coreutils read numbers as long doubles.
                let sign = if value.is_sign_negative() { "-" } else { "" };
                let exact = format!("{sign}{}", hexadecimal(Conversion::default(), value.abs()));
                assert_eq!(with_float(format, value), of_host(format, &exact), "{format} {value}");
            }
        }
    }

    #[test]
    fn the_rest_of_the_conversions() {
        assert_eq!(call("%d%% of %s, %c", &[7, 16, u64::from(b'x')], &[4, 8, 4]), "7% of a string, x");
        assert_eq!(call("%10s|%-10s|%.3s|%s", &[16, 16, 16, 0], &[8; 4]), "  a string|a string  |a s|(null)");
        assert_eq!(
            call("%*d|%-*d|%.*f", &[4, 7, 4, 7, 1, 2.25f64.to_bits()], &[4, 4, 4, 4, 4, 8]),
            "   7|7   |2.2"
        );
        assert_eq!(
            call("%lld %lu %hd %hhu", &[u64::MAX, 1 << 40, 0x1_8000, 0x1ff], &[8, 8, 4, 4]),
            "-1 1099511627776 -32768 255"
        );
        assert_eq!(call("%p %p", &[0x1234, 0], &[8, 8]), "0x1234 (nil)");
        assert_eq!(
            call(
                "%f %F %5f|%05f",
                &[f64::NAN, f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY].map(f64::to_bits),
                &[8; 4]
            ),
            "nan INF   inf| -inf"
        );
        for (value, format, expected) in [
            (3.0, "%a", "0x1.8p+1"),
            (0.0, "%a", "0x0p+0"),
            (1.0, "%.2a", "0x1.00p+0"),
            (1.999, "%.1a", "0x2.0p+0"),
            (-0.5, "%12a|", "     -0x1p-1|"),
            (1.5, "%012a", "0x00001.8p+0"),
        ] {
            assert_eq!(with_float(format, value), expected, "{format}");
        }
    }

    #[test]
    fn formats_that_are_wrong_do_no_harm() {
        for format in ["%", "%5", "%.", "%l", "%y", "%99999999999d", "%s", "%-", "%*", "%n", "\u{e9}%d"] {
            _ = call(format, &[], &[]);
            _ = call(format, &[u64::MAX, u64::MAX], &[8, 8]);
        }
        assert_eq!(call("%d %d", &[1], &[4]), "1 0");
        assert_eq!(formatted(&[b'%'; 3], 1 << 40, &[]), b"");
    }
}
