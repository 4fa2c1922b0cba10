/* Numbers, sorting, random numbers, memory of a thread. */
#ifndef WAVE_STDLIB_H
#define WAVE_STDLIB_H
#include <stddef.h>
#include <wave_library.h>
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 0x7fffffff
typedef struct { int quot, rem; } div_t;
typedef struct { long quot, rem; } ldiv_t;
typedef struct { long long quot, rem; } lldiv_t;
WAVE_BEGIN
WAVE_INLINE int abs(int x) { return x < 0 ? -x : x; }
WAVE_INLINE long labs(long x) { return x < 0 ? -x : x; }
WAVE_INLINE long long llabs(long long x) { return x < 0 ? -x : x; }
div_t div(int, int);
ldiv_t ldiv(long, long);
lldiv_t lldiv(long long, long long);
int atoi(const char *);
long atol(const char *);
long long atoll(const char *);
double atof(const char *);
long strtol(const char *WAVE_RESTRICT, char **WAVE_RESTRICT, int);
unsigned long strtoul(const char *WAVE_RESTRICT, char **WAVE_RESTRICT, int);
long long strtoll(const char *WAVE_RESTRICT, char **WAVE_RESTRICT, int);
unsigned long long strtoull(const char *WAVE_RESTRICT, char **WAVE_RESTRICT, int);
float strtof(const char *WAVE_RESTRICT, char **WAVE_RESTRICT);
double strtod(const char *WAVE_RESTRICT, char **WAVE_RESTRICT);
void qsort(void *, size_t, size_t, int (*)(const void *, const void *));
void *bsearch(const void *, const void *, size_t, size_t, int (*)(const void *, const void *));
/* Each thread has numbers of its own, the same in all threads until srand() says otherwise. */
int rand(void);
void srand(unsigned);
int rand_r(unsigned *);
/* The heap of a thread: NULL where --heap-bytes leaves no room. */
__attribute__((malloc)) void *malloc(size_t);
__attribute__((malloc)) void *calloc(size_t, size_t);
void *realloc(void *, size_t);
__attribute__((malloc)) void *aligned_alloc(size_t, size_t);
int posix_memalign(void **, size_t, size_t);
void free(void *);
/* The thread traps. */
__attribute__((noreturn)) void abort(void);
__attribute__((noreturn)) void exit(int);
WAVE_END
#endif
