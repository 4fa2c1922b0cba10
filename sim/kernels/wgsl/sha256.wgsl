// SHA-256 (FIPS 180-4) of messages of equal length, one message an invocation. The schedule of a block is a ring of 16 words.

struct Sizes {
    words: u32, // of a message
    messages: u32,
}

@group(0) @binding(0) var<storage, read> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> digests: array<array<u32, 8>>; // the first word first
@group(0) @binding(2) var<uniform> sizes: Sizes;

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
const ROUND = array(
    0x428A2F98u, 0x71374491, 0xB5C0FBCF, 0xE9B5DBA5, 0x3956C25B, 0x59F111F1, 0x923F82A4, 0xAB1C5ED5,
    0xD807AA98, 0x12835B01, 0x243185BE, 0x550C7DC3, 0x72BE5D74, 0x80DEB1FE, 0x9BDC06A7, 0xC19BF174,
    0xE49B69C1, 0xEFBE4786, 0x0FC19DC6, 0x240CA1CC, 0x2DE92C6F, 0x4A7484AA, 0x5CB0A9DC, 0x76F988DA,
    0x983E5152, 0xA831C66D, 0xB00327C8, 0xBF597FC7, 0xC6E00BF3, 0xD5A79147, 0x06CA6351, 0x14292967,
    0x27B70A85, 0x2E1B2138, 0x4D2C6DFC, 0x53380D13, 0x650A7354, 0x766A0ABB, 0x81C2C92E, 0x92722C85,
    0xA2BFE8A1, 0xA81A664B, 0xC24B8B70, 0xC76C51A3, 0xD192E819, 0xD6990624, 0xF40E3585, 0x106AA070,
    0x19A4C116, 0x1E376C08, 0x2748774C, 0x34B0BCB5, 0x391C0CB3, 0x4ED8AA4A, 0x5B9CCA4F, 0x682E6FF3,
    0x748F82EE, 0x78A5636F, 0x84C87814, 0x8CC70208, 0x90BEFFFA, 0xA4506CEB, 0xBEF9A3F7, 0xC67178F2,
);

fn rotate(x: u32, bits: u32) -> u32 {
    return (x >> bits) | (x << (32 - bits));
}

// The words of a message are big-endian.
fn word(message: u32, i: u32) -> u32 {
    if i < sizes.words {
        return pack4xU8(unpack4xU8(data[message * sizes.words + i]).wzyx);
    }
    return select(0u, 0x80000000, i == sizes.words);
}

@compute @workgroup_size(64)
fn sha256(@builtin(global_invocation_id) id: vec3<u32>) {
    let message = id.x;
    if message >= sizes.messages {
        return;
    }
    // The message, a bit, and its length in 64 bits.
    let blocks = (sizes.words + 2) / 16 + 1;
    // The first 32 bits of the fractional parts of the square roots of the first 8 primes.
    var hash = array(
        0x6A09E667u, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19,
    );
    for (var block = 0u; block < blocks; block++) {
        var ring: array<u32, 16>;
        for (var i = 0u; i < 16; i++) {
            ring[i] = word(message, block * 16 + i);
        }
        if block == blocks - 1 {
            ring[15] = sizes.words * 32;
        }
        var v = hash;
        for (var start = 0u; start < 64; start += 16) {
            for (var i = 0u; i < 16; i++) {
                if start > 0 {
                    let far = ring[(i + 1) % 16];
                    let near = ring[(i + 14) % 16];
                    ring[i] += (rotate(far, 7) ^ rotate(far, 18) ^ (far >> 3)) + ring[(i + 9) % 16]
                        + (rotate(near, 17) ^ rotate(near, 19) ^ (near >> 10));
                }
                let e = v[4];
                let a = v[0];
                let one = v[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + (v[6] ^ (e & (v[5] ^ v[6])))
                    + ROUND[start + i] + ring[i];
                let two = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & v[1]) | (v[2] & (a | v[1])));
                v = array(one + two, a, v[1], v[2], v[3] + one, e, v[5], v[6]);
            }
        }
        for (var i = 0u; i < 8; i++) {
            hash[i] += v[i];
        }
    }
    digests[message] = hash;
}
