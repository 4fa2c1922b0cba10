/* CRC-32 (IEEE 802.3, reflected) of records of equal length, one record a thread. The workgroup first builds the table of
   256 words in local memory; then every byte is a shift, an exclusive or and a look-up. */
#include <wave.h>

struct table {
    unsigned of[256];
};
KERNEL_LOCAL_MEMORY(crc32, sizeof(struct table));
KERNEL_WORKGROUP(crc32, 256, 1, 1);

/* record_bytes is a multiple of 4. */
KERNEL void crc32(const unsigned *data, unsigned *checksums, unsigned record_bytes, unsigned records)
{
    LOCAL struct table *table = LOCAL_MEMORY(struct table);
    for (unsigned byte = thread_id_x(); byte < 256; byte += workgroup_size_x()) {
        unsigned value = byte;
        for (unsigned bit = 0; bit < 8; bit++) value = value >> 1 ^ (-(value & 1) & 0xEDB88320u);
        local_store(&table->of[byte], value);
    }
    barrier();

    unsigned record = global_id_x();
    if (record >= records) return;
    const unsigned *word = data + record * (record_bytes / 4), *end = word + record_bytes / 4;
    unsigned crc = 0xFFFFFFFFu;
#pragma unroll 1
    for (; word < end; word++) {
        crc ^= *word; /* four bytes at once, looked up one after the other */
        for (unsigned byte = 0; byte < 4; byte++) crc = crc >> 8 ^ local_load(&table->of[crc & 255]);
    }
    checksums[record] = ~crc;
}
