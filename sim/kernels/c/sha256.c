/* SHA-256 (FIPS 180-4) of messages of equal length, one message a thread. The schedule of a block is a ring of 16 words
   that stays in registers. */
#include <wave.h>

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const unsigned ROUND[64] = {
    0x428A2F98, 0x71374491, 0xB5C0FBCF, 0xE9B5DBA5, 0x3956C25B, 0x59F111F1, 0x923F82A4, 0xAB1C5ED5,
    0xD807AA98, 0x12835B01, 0x243185BE, 0x550C7DC3, 0x72BE5D74, 0x80DEB1FE, 0x9BDC06A7, 0xC19BF174,
    0xE49B69C1, 0xEFBE4786, 0x0FC19DC6, 0x240CA1CC, 0x2DE92C6F, 0x4A7484AA, 0x5CB0A9DC, 0x76F988DA,
    0x983E5152, 0xA831C66D, 0xB00327C8, 0xBF597FC7, 0xC6E00BF3, 0xD5A79147, 0x06CA6351, 0x14292967,
    0x27B70A85, 0x2E1B2138, 0x4D2C6DFC, 0x53380D13, 0x650A7354, 0x766A0ABB, 0x81C2C92E, 0x92722C85,
    0xA2BFE8A1, 0xA81A664B, 0xC24B8B70, 0xC76C51A3, 0xD192E819, 0xD6990624, 0xF40E3585, 0x106AA070,
    0x19A4C116, 0x1E376C08, 0x2748774C, 0x34B0BCB5, 0x391C0CB3, 0x4ED8AA4A, 0x5B9CCA4F, 0x682E6FF3,
    0x748F82EE, 0x78A5636F, 0x84C87814, 0x8CC70208, 0x90BEFFFA, 0xA4506CEB, 0xBEF9A3F7, 0xC67178F2,
};

static unsigned rotate(unsigned x, unsigned bits) { return x >> bits | x << (32 - bits); }

KERNEL_WORKGROUP(sha256, 64, 1, 1);

/* message_bytes is a multiple of 4. A digest is 8 words, the first one first. */
KERNEL void sha256(const unsigned *messages, unsigned *digests, unsigned message_bytes, unsigned count)
{
    unsigned message = global_id_x();
    if (message >= count) return;
    unsigned words = message_bytes / 4, blocks = (words + 2) / 16 + 1;
    const unsigned *word = messages + message * words;
    unsigned hash[8] = {0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19};
#pragma unroll 1
    for (unsigned block = 0; block < blocks; block++) {
        unsigned ring[16];
#pragma unroll
        for (unsigned i = 0; i < 16; i++) {
            unsigned at = block * 16 + i;
            ring[i] = at < words ? __builtin_bswap32(word[at]) : at == words ? 0x80000000u : 0;
        }
        if (block == blocks - 1) ring[15] = message_bytes * 8;
        unsigned v[8];
        for (unsigned i = 0; i < 8; i++) v[i] = hash[i];
#pragma unroll 1
        for (unsigned round = 0; round < 64; round += 16) {
#pragma unroll
            for (unsigned i = 0; i < 16; i++) {
                if (round > 0) {
                    unsigned old = ring[(i + 1) & 15], new = ring[(i + 14) & 15];
                    ring[i] += (rotate(old, 7) ^ rotate(old, 18) ^ old >> 3) + ring[(i + 9) & 15] +
                               (rotate(new, 17) ^ rotate(new, 19) ^ new >> 10);
                }
                unsigned e = v[4], a = v[0];
                unsigned one = v[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + (v[6] ^ (e & (v[5] ^ v[6]))) +
                               ROUND[round + i] + ring[i];
                unsigned two = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & v[1]) | (v[2] & (a | v[1])));
                v[7] = v[6], v[6] = v[5], v[5] = e, v[4] = v[3] + one;
                v[3] = v[2], v[2] = v[1], v[1] = a, v[0] = one + two;
            }
        }
        for (unsigned i = 0; i < 8; i++) hash[i] += v[i];
    }
    for (unsigned i = 0; i < 8; i++) digests[message * 8 + i] = hash[i];
}
