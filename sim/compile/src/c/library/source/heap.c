/* The heap of a thread: blocks side by side, each after a head with its size. It lies below the thread's stack. */
#include "common.h"
#include <stdlib.h>
#include <string.h>

/* Set when a thread begins: where its heap begins, and its bytes. */
THREAD_VARIABLE(__wave_heap_start)
THREAD_VARIABLE(__wave_heap_bytes)
/* 1 once the thread has made its first block. */
THREAD_VARIABLE(__wave_heap_made)

/* Calls that found no room, in all threads; the host says how many there were. */
__attribute__((visibility("default"), used)) unsigned __wave_heap_full;

#define UNIT 16

struct block {
    /* Bytes with this head. Bit 0 says that it is in use. */
    unsigned size;
    unsigned unused[3];
};

OWN struct block *after(struct block *block)
{
    return (struct block *)((char *)block + (block->size & ~1u));
}

OWN struct block *end(void)
{
    return (struct block *)(uintptr_t)(get___wave_heap_start() + (get___wave_heap_bytes() & ~(UNIT - 1u)));
}

OWN struct block *first(void)
{
    struct block *block = (struct block *)(uintptr_t)get___wave_heap_start();
    if (!get___wave_heap_made() && get___wave_heap_bytes() >= UNIT) {
        set___wave_heap_made(1);
        block->size = get___wave_heap_bytes() & ~(UNIT - 1u);
    }
    return block;
}

/* Uses the first bytes of a block, and makes another block of those that are left. */
OWN void *use(struct block *block, unsigned size)
{
    unsigned left = (block->size & ~1u) - size;
    if (left >= UNIT) {
        block->size = size;
        after(block)->size = left;
    }
    block->size |= 1;
    return block + 1;
}

/* Takes the free blocks behind a block into it. */
OWN void join(struct block *block, struct block *last)
{
    struct block *next;
    while ((next = after(block)) < last && !(next->size & 1)) block->size += next->size;
}

OWN void *full(void)
{
    __atomic_fetch_add(&__wave_heap_full, 1, __ATOMIC_RELAXED);
    return NULL;
}

LIBRARY void *malloc(size_t bytes)
{
    struct block *last = end();
    if (bytes > get___wave_heap_bytes()) return full();
    unsigned size = (bytes + 2 * UNIT - 1) & ~(UNIT - 1u);
    for (struct block *block = first(); block < last; block = after(block)) {
        if (block->size & 1) continue;
        join(block, last);
        if (block->size >= size) return use(block, size);
    }
    return full();
}

LIBRARY void free(void *memory)
{
    if (memory) ((struct block *)memory - 1)->size &= ~1u;
}

LIBRARY void *calloc(size_t count, size_t bytes)
{
    size_t all;
    if (__builtin_mul_overflow(count, bytes, &all)) return full();
    void *memory = malloc(all);
    if (memory) memset(memory, 0, all);
    return memory;
}

LIBRARY void *realloc(void *memory, size_t bytes)
{
    if (!memory) return malloc(bytes);
    struct block *block = (struct block *)memory - 1;
    if (bytes > get___wave_heap_bytes()) return full();
    unsigned size = (bytes + 2 * UNIT - 1) & ~(UNIT - 1u), had = block->size & ~1u;
    block->size = had;
    join(block, end());
    if (block->size >= size) return use(block, size);
    use(block, had);
    void *moved = malloc(bytes);
    if (!moved) return NULL;
    memcpy(moved, memory, had - UNIT);
    free(memory);
    return moved;
}

LIBRARY int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    if (alignment <= UNIT) return (*memory = malloc(bytes)) ? 0 : 12;
    /* A block that is large enough, cut in front of the first aligned address that leaves room for a head. */
    if (alignment + bytes < bytes || !(*memory = malloc(bytes + alignment + UNIT))) return 12;
    struct block *block = (struct block *)*memory - 1;
    uintptr_t aligned = ((uintptr_t)*memory + alignment - 1) & ~(uintptr_t)(alignment - 1);
    if (aligned != (uintptr_t)*memory) {
        struct block *second = (struct block *)aligned - 1;
        unsigned before = (char *)second - (char *)block;
        second->size = ((block->size & ~1u) - before) | 1;
        block->size = before;
        *memory = (void *)aligned;
    }
    return 0;
}

LIBRARY void *aligned_alloc(size_t alignment, size_t bytes)
{
    void *memory;
    return posix_memalign(&memory, alignment, bytes) ? NULL : memory;
}

/* new and delete of C++. */
LIBRARY void *operator_new(size_t bytes) __asm__("_Znwm");
LIBRARY void *operator_new(size_t bytes) { return malloc(bytes); }
LIBRARY void *operator_new_array(size_t bytes) __asm__("_Znam");
LIBRARY void *operator_new_array(size_t bytes) { return malloc(bytes); }
LIBRARY void operator_delete(void *memory) __asm__("_ZdlPv");
LIBRARY void operator_delete(void *memory) { free(memory); }
LIBRARY void operator_delete_array(void *memory) __asm__("_ZdaPv");
LIBRARY void operator_delete_array(void *memory) { free(memory); }
LIBRARY void operator_delete_sized(void *memory, size_t bytes) __asm__("_ZdlPvm");
LIBRARY void operator_delete_sized(void *memory, size_t bytes) { (void)bytes; free(memory); }
LIBRARY void operator_delete_array_sized(void *memory, size_t bytes) __asm__("_ZdaPvm");
LIBRARY void operator_delete_array_sized(void *memory, size_t bytes) { (void)bytes; free(memory); }
