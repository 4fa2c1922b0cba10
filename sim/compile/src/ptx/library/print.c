/* printf of a kernel: a record with the arguments, which the host puts into the format. */
#include "common.h"

#define OUTPUT_BYTES (256 * 1024)
/* Records of text have another mark. */
#define RECORD 0xfef8c1abu

struct record {
    unsigned mark, workgroup, thread, bytes;
    unsigned long format;
    unsigned char arguments[];
};

/* The host reads it: bytes that were asked for, calls that found no room, bytes that there are, the records. */
static struct {
    unsigned next, lost, bytes, unused;
    unsigned char records[OUTPUT_BYTES];
} output;

/* Bytes of the arguments of a format. Each lies at a multiple of its size. */
OWN unsigned bytes_of(const char *format)
{
    unsigned bytes = 0;
    for (char c; (c = *format) != 0; format++) {
        if (c != '%') continue;
        unsigned size = 4;
        for (;;) {
            c = *++format;
            if (c == '*')
                bytes += 4;
            else if (c == 'l' || c == 'j' || c == 'z' || c == 't' || c == 'L')
                size = 8;
            else if (c != 'h' && c != '.' && c != '-' && c != '+' && c != ' ' && c != '#' && (c < '0' || c > '9'))
                break;
        }
        if (c == '%') continue;
        if (c == 0) break;
        if ((c | 32) >= 'e' && (c | 32) <= 'g' || (c | 32) == 'a' || c == 's' || c == 'p') size = 8;
        bytes = (bytes + size - 1) / size * size + size;
    }
    return bytes;
}

#define SPECIAL(name) __nvvm_read_ptx_sreg_##name()

LIBRARY int vprintf(const char *format, const unsigned *arguments)
{
    unsigned bytes = bytes_of(format), size = (sizeof(struct record) + bytes + 7) / 8 * 8, at = OUTPUT_BYTES;
    __nvvm_atom_max_gen_ui(&output.bytes, OUTPUT_BYTES);
    /* What is full stays so, and its count does not wrap. */
    if (*(volatile unsigned *)&output.next < OUTPUT_BYTES) at = __nvvm_atom_add_gen_i((int *)&output.next, size);
    if (at > OUTPUT_BYTES - size || size > OUTPUT_BYTES) {
        __nvvm_atom_add_gen_i((int *)&output.lost, 1);
        return -1;
    }
    struct record *record = (struct record *)(output.records + at);
    unsigned x = SPECIAL(ntid_x), y = SPECIAL(ntid_y);
    record->workgroup = SPECIAL(ctaid_x) + SPECIAL(nctaid_x) * (SPECIAL(ctaid_y) + SPECIAL(nctaid_y) * SPECIAL(ctaid_z));
    record->thread = SPECIAL(tid_x) + x * (SPECIAL(tid_y) + y * SPECIAL(tid_z));
    record->bytes = bytes;
    record->format = (unsigned long)format;
    /* One after the other: more would only be more code. */
#pragma clang loop unroll(disable)
    for (unsigned word = 0; word < bytes / 4; word++) ((unsigned *)record->arguments)[word] = arguments[word];
    record->mark = RECORD;
    return 0;
}

static const char failed[] = "%s:%u: %s: Assertion `%s` failed.\n";

/* An assertion that fails: its message, and a fault. */
LIBRARY void __assertfail(const char *message, const char *file, unsigned line, const char *function, unsigned long size)
{
    unsigned long arguments[] = {(unsigned long)file, line, (unsigned long)function, (unsigned long)message};
    (void)size;
    vprintf(failed, (unsigned *)arguments);
    __builtin_trap();
}
