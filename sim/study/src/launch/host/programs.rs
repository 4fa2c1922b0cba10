//! Reference results of the programs in C.

/// The first 32 bits of the fractional part of a root of a prime: the constants of SHA-256 by their definition.
fn fraction_of_root(prime: u64, cube: bool) -> u32 {
    // The greatest x with x^2 <= prime * 2^64, or x^3 <= prime * 2^96; its low 32 bits are the fraction.
    let at_most = |x: u128| match cube {
        true => x * x * x <= u128::from(prime) << 96,
        false => x * x <= u128::from(prime) << 64,
    };
    let mut root = 0u128;
    for bit in (0..40).rev() {
        if at_most(root | 1 << bit) {
            root |= 1 << bit;
        }
    }
    root as u32
}

/// The first primes.
fn primes(count: usize) -> Vec<u64> {
    let is_prime = |n: &u64| (2..*n).take_while(|d| d * d <= *n).all(|d| !n.is_multiple_of(d));
    (2..).filter(is_prime).take(count).collect()
}

/// SHA-256 (FIPS 180-4) of a message, as eight words.
pub(super) fn sha256(message: &[u8]) -> [u32; 8] {
    let primes = primes(64);
    let constants: Vec<u32> = primes.iter().map(|&prime| fraction_of_root(prime, true)).collect();
    let mut hash = [0; 8];
    for (word, &prime) in hash.iter_mut().zip(&primes) {
        *word = fraction_of_root(prime, false);
    }
    let mut padded = message.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend((message.len() as u64 * 8).to_be_bytes());
    for block in padded.chunks_exact(64) {
        let mut schedule: Vec<u32> = block
            .chunks_exact(4)
            .map(|word| u32::from_be_bytes([word[0], word[1], word[2], word[3]]))
            .collect();
        for t in 16..64 {
            let (near, far) = (schedule[t - 2], schedule[t - 15]);
            let near = near.rotate_right(17) ^ near.rotate_right(19) ^ near >> 10;
            let far = far.rotate_right(7) ^ far.rotate_right(18) ^ far >> 3;
            let sum = near.wrapping_add(schedule[t - 7]).wrapping_add(far).wrapping_add(schedule[t - 16]);
            schedule.push(sum);
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = hash;
        for (word, constant) in schedule.iter().zip(&constants) {
            let chosen = (e & f) ^ (!e & g);
            let turned = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let first = [turned, chosen, *constant, *word].iter().fold(h, |sum, &x| sum.wrapping_add(x));
            let majority = (a & b) ^ (a & c) ^ (b & c);
            let second = (a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22)).wrapping_add(majority);
            (h, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(first), c, b, a, first.wrapping_add(second));
        }
        for (word, more) in hash.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *word = word.wrapping_add(more);
        }
    }
    hash
}

/// The discrete Fourier transform of each row of `points` complex numbers, by its definition.
pub(super) fn fourier(rows: &[f64], points: usize) -> Vec<f64> {
    let turn = |k: usize| (-2.0 * std::f64::consts::PI * k as f64 / points as f64).sin_cos();
    let turns: Vec<(f64, f64)> = (0..points).map(turn).collect();
    let mut result = Vec::with_capacity(rows.len());
    for row in rows.chunks_exact(2 * points) {
        for frequency in 0..points {
            let (mut real, mut imaginary) = (0.0, 0.0);
            for (place, number) in row.chunks_exact(2).enumerate() {
                let (sin, cos) = turns[frequency * place % points];
                real += number[0] * cos - number[1] * sin;
                imaginary += number[0] * sin + number[1] * cos;
            }
            result.extend([real, imaginary]);
        }
    }
    result
}

/// The edit distance, by the whole table of distances between beginnings.
pub(super) fn edit_distance(a: &[u8], b: &[u8]) -> usize {
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i][j] = match (i, j) {
                (0, n) | (n, 0) => n,
                _ if a[i - 1] == b[j - 1] => table[i - 1][j - 1],
                _ => 1 + table[i - 1][j - 1].min(table[i - 1][j]).min(table[i][j - 1]),
            };
        }
    }
    table[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digests_of_the_standard() {
        let hex = |message: &[u8]| sha256(message).map(|word| format!("{word:08x}")).concat();
        assert_eq!(hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(hex(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }

    #[test]
    fn transforms_by_hand() {
        assert_eq!(fourier(&[1.0, 0.0, 0.0, 0.0], 2), [1.0, 0.0, 1.0, 0.0]);
        let found = fourier(&[0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0], 4);
        let expected = [1.0, 0.0, 0.0, -1.0, -1.0, 0.0, 0.0, 1.0];
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
    }

    #[test]
    fn distances_by_hand() {
        assert_eq!(edit_distance(b"kitten", b"sitting"), 3);
        assert_eq!(edit_distance(b"", b"abc"), 3);
        assert_eq!(edit_distance(b"same", b"same"), 0);
    }
}
