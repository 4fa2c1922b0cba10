//! Values that are taken apart and put together, and operations with a corner.

use super::{of_eight, ran};

/// The components of a vector that was loaded are stored in another order, some of them twice.
#[test]
fn components_are_stored_twice() {
    let declarations = "@group(0) @binding(2) var<storage, read> s: array<vec4<u32>>;\n\
                        @group(0) @binding(0) var<storage, read_write> triples: array<vec3<u32>>;\n\
                        @group(0) @binding(0) var<storage, read_write> fours: array<vec4<u32>>;\n\
                        @group(0) @binding(0) var<storage, read_write> pairs: array<vec2<u32>>;";
    let of = |body: &str| {
        let given: Vec<u32> = (1..33).collect();
        ran(&of_eight(declarations, body), &[&[0; 32], &[0], &given])[..8].to_vec()
    };
    assert_eq!(of("triples[i] = s[i].xxy;"), [1, 1, 2, 0, 5, 5, 6, 0]);
    assert_eq!(of("fours[i] = s[i].xxyy;"), [1, 1, 2, 2, 5, 5, 6, 6]);
    assert_eq!(of("fours[i] = s[i].wzyx;"), [4, 3, 2, 1, 8, 7, 6, 5]);
    assert_eq!(of("fours[i] = s[i].yzwx;"), [2, 3, 4, 1, 6, 7, 8, 5]);
    assert_eq!(of("fours[i] = s[i].wwww;"), [4, 4, 4, 4, 8, 8, 8, 8]);
    assert_eq!(of("pairs[i] = s[i].yx;"), [2, 1, 6, 5, 10, 9, 14, 13]);
    assert_eq!(of("let v = s[i];\nfours[i] = vec4(v.zw, v.xy) + v.xxyy;"), [4, 5, 3, 4, 12, 13, 11, 12]);
    assert_eq!(
        of("let v = s[i];\nfours[i] = v.zzxx;\nfours[i] = fours[i] + v.xyzw;"),
        [4, 5, 4, 5, 12, 13, 12, 13]
    );
    let swapped = "let v = s[0];\nif i == 0u { fours[0] = v.yxwz; fours[1] = v.xywz; }";
    assert_eq!(of(swapped), [2, 1, 4, 3, 1, 2, 4, 3]);
}

#[test]
fn a_remainder_of_a_known_zero_is_zero() {
    // The divisors of the turns are known, and so are the dividends of the first sum.
    let body = "var sum = 0u;\nvar other = 0u;\nfor (var k = 0u; k < 4u; k++) { sum = sum * 10u + 7u % k; other = other * 10u + given[0] % k; }\n\
                found[0] = sum;\nfound[1] = other;\nsum = 0u;\n\
                for (var k = -1i; k < 2; k++) { sum = sum * 100u + u32(9 / k + 10); }\nfound[2] = sum;\n\
                found[3] = given[0] % given[1];\nfound[4] = given[0] / given[1];\n\
                found[5] = u32(i32(given[0]) % i32(given[1]));\nfound[6] = u32(-i32(given[0]) / i32(given[1]));";
    let found = ran(&of_eight("", body), &[&[0; 7], &[8, 0]]);
    // 7 % 0, 7 % 1, 7 % 2, 7 % 3; 9 / -1, 9 / 0, 9 / 1.
    assert_eq!(found, [11, 2, 11_919, 0, 8, 0, -8i32 as u32]);
}

/// Divisors that are no powers of 2, and dividends where a product with a reciprocal is closest to wrong.
#[test]
fn constants_divide() {
    let mut given = Vec::new();
    for divisor in [3u32, 7, 10, 641, 0x7FFF_FFFF, 0xFFFF_FFFF, 6, 1] {
        let last = u32::MAX / divisor * divisor;
        given.extend([divisor - 1, divisor, last - 1, last, u32::MAX]);
    }
    let rows = ["3u", "7u", "10u", "641u", "0x7fffffffu", "0xffffffffu", "6u", "1u"];
    let divided = |at: usize| {
        let row = rows[at];
        format!(
            "for (var k = {}u; k < {}u; k++) {{ found[k] = (given[k] / {row}) ^ (given[k] % {row}) * 5u; }}\n",
            5 * at,
            5 * at + 5
        )
    };
    let body: String = (0..8).map(divided).collect();
    let expected: Vec<u32> = given
        .iter()
        .zip((0..8).flat_map(|at| [at; 5]))
        .map(|(&number, at)| {
            let divisor = [3u32, 7, 10, 641, 0x7FFF_FFFF, 0xFFFF_FFFF, 6, 1][at];
            (number / divisor) ^ (number % divisor).wrapping_mul(5)
        })
        .collect();
    assert_eq!(ran(&of_eight("", &body), &[&[0; 40], &given]), expected);
}

#[test]
fn functions_have_corners() {
    let f = |number: f32| number.to_bits();
    let body = "let x = bitcast<f32>(given[0]);\n\
                found[0] = bitcast<u32>(faceForward(vec2(x, 2.0), vec2(1.0, 0.0), vec2(0.0, 1.0)).x);\n\
                found[1] = extractBits(given[1], 32u, 4u);\nfound[2] = extractBits(given[1], 28u, 32u);\n\
                found[3] = insertBits(given[1], 5u, 32u, 3u);\nfound[4] = u32(extractBits(i32(given[1]), 31u, 1u));\n\
                found[5] = pack4x8snorm(vec4(-x / 6.0, x / 6.0, -1.0, 0.0));\n\
                found[6] = reverseBits(given[1]);\nfound[7] = u32(i32(x * 1e9));";
    let found = ran(&of_eight("", body), &[&[0; 8], &[f(3.0), 0xA000_0001]]);
    // 127 / 2 is 63.5: floor(0.5 - 63.5) is -63, and floor(0.5 + 63.5) is 64.
    assert_eq!(found[..4], [f(-3.0), 0, 10, 0xA000_0001]);
    assert_eq!(found[4..], [u32::MAX, 0x0081_40C1, 0x8000_0005, 2_147_483_520]);
}
