/* What the sources of the library have in common. LIBRARY stands before functions of the headers, which are weak:
   those of the user win. SHARED stands before functions that another source calls. wave-sim finds both at the
   beginning of a line, to know which sources a kernel needs. */
#ifndef WAVE_COMMON_H
#define WAVE_COMMON_H
#include <stddef.h>
#include <stdint.h>
#include <wave_library.h>
#define LIBRARY __attribute__((weak))
#define SHARED __attribute__((visibility("hidden")))
#define OWN static inline __attribute__((unused))

/* A variable of each thread, 0 when the thread begins: a global variable of WebAssembly. */
#define THREAD_VARIABLE(name)                                                                                     \
    __asm__(".globaltype " #name ", i32\n.globl " #name "\n" #name ":\n");                                        \
    THREAD_ACCESS(name)
#define THREAD_ACCESS(name)                                                                                       \
    OWN unsigned get_##name(void)                                                                                 \
    {                                                                                                             \
        unsigned value;                                                                                           \
        __asm__ volatile("global.get " #name "\n\tlocal.set %0" : "=r"(value));                                   \
        return value;                                                                                             \
    }                                                                                                             \
    OWN void set_##name(unsigned value)                                                                           \
    {                                                                                                             \
        __asm__ volatile("local.get %0\n\tglobal.set " #name : : "r"(value));                                     \
    }
#endif
