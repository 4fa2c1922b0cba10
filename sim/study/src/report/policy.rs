//! The content security policy of a page: it loads nothing, and the browser applies no script and no style sheet but
//! those that this program has written, which the policy names by their hashes.

/// The policy of a page with this style sheet and this script, each the whole text of its element. Style attributes are
/// free: they give bars their lengths.
pub(crate) fn policy(style: &str, script: &str) -> String {
    format!(
        "default-src 'none'; style-src-elem 'sha256-{}'; style-src-attr 'unsafe-inline'; script-src 'sha256-{}'; \
         base-uri 'none'; form-action 'none'",
        base64(&hmac_sha256::Hash::hash(style.as_bytes())),
        base64(&hmac_sha256::Hash::hash(script.as_bytes())),
    )
}

/// Bytes in base64 (RFC 4648), padded.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits, i| bits << 8 | u32::from(group.get(i).copied().unwrap_or(0)));
        for digit in 0..4 {
            let is_padding = digit > group.len();
            let at = (bits >> (18 - 6 * digit)) as usize % 64;
            text.push(if is_padding { '=' } else { DIGITS[at].into() });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hash of an example in the specification of content security policies, and test vectors of RFC 4648.
    #[test]
    fn hashes_are_those_of_the_specification() {
        let policy = policy("", "alert('Hello, world.');");
        let script = "script-src 'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='";
        assert!(policy.contains(script), "{policy}");
        for (text, encoded) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(base64(text.as_bytes()), encoded);
        }
    }
}
