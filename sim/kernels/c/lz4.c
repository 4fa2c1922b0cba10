/* Decompression of blocks in the LZ4 block format, one block a thread. A block is a row of sequences: a token with two
   lengths, literals, and a copy of what came before. */
#include <wave.h>

KERNEL_WORKGROUP(lz4, 64, 1, 1);

/* A length of 15 goes on in bytes, up to the first that is not 255. */
static unsigned length_of(unsigned first, const unsigned char **from)
{
    if (first < 15) return first;
    unsigned length = first, more;
    do {
        more = *(*from)++;
        length += more;
    } while (more == 255);
    return length;
}

/* Each block is in a slot: its size in four bytes, then its bytes. */
KERNEL void lz4(const unsigned char *packed, unsigned char *unpacked, unsigned slot_bytes, unsigned block_bytes,
                unsigned blocks)
{
    unsigned block = global_id_x();
    if (block >= blocks) return;
    const unsigned char *from = packed + block * slot_bytes;
    const unsigned char *end = from + 4 + *(const unsigned *)from;
    unsigned char *to = unpacked + block * block_bytes;
    from += 4;
    while (from < end) {
        unsigned token = *from++;
        for (unsigned left = length_of(token >> 4, &from); left > 0; left--) *to++ = *from++;
        if (from >= end) break; /* the last sequence has literals only */
        unsigned distance = from[0] | (unsigned)from[1] << 8;
        from += 2;
        /* Byte by byte: a copy may reach into what it writes. */
        for (unsigned left = length_of(token & 15, &from) + 4; left > 0; left--, to++) *to = *(to - distance);
    }
}
