// CRC-32 (IEEE 802.3, reflected, polynomial 0xEDB88320) of records of equal length, one record an invocation. The workgroup first
// builds the table of 256 words in workgroup memory, then every byte is a shift, an exclusive or and a look-up at an address that
// only the data decides.

struct Sizes {
    words: u32, // of a record, at least 1
    records: u32,
}

@group(0) @binding(0) var<storage, read> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> checksums: array<u32>;
@group(0) @binding(2) var<uniform> sizes: Sizes;

var<workgroup> table: array<u32, 256>;

@compute @workgroup_size(256)
fn crc32(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    // t shifted out bit by bit, each 1 that falls out brings in the polynomial.
    var entry = t;
    for (var bit = 0; bit < 8; bit++) {
        entry = (entry >> 1) ^ (0xEDB88320 & (0 - (entry & 1)));
    }
    table[t] = entry;
    workgroupBarrier();

    if id.x >= sizes.records {
        return;
    }
    var crc = 0xFFFFFFFFu;
    let first = id.x * sizes.words;
    for (var i = first; i < first + sizes.words; i++) {
        crc ^= data[i]; // four bytes at once, looked up one after the other
        for (var byte = 0; byte < 4; byte++) {
            crc = (crc >> 8) ^ table[crc & 255];
        }
    }
    checksums[id.x] = ~crc;
}
