/* What threads print: it is shown at the end of the run. There are no files. */
#ifndef WAVE_STDIO_H
#define WAVE_STDIO_H
#include <stdarg.h>
#include <stddef.h>
#include <wave_library.h>
#define EOF (-1)
#define BUFSIZ 1024
typedef struct wave_file FILE;
/* Both go to the same output. */
#define stdout ((FILE *)1)
#define stderr ((FILE *)2)
WAVE_BEGIN
int printf(const char *WAVE_RESTRICT, ...) __attribute__((format(printf, 1, 2)));
int fprintf(FILE *WAVE_RESTRICT, const char *WAVE_RESTRICT, ...) __attribute__((format(printf, 2, 3)));
int sprintf(char *WAVE_RESTRICT, const char *WAVE_RESTRICT, ...) __attribute__((format(printf, 2, 3)));
int snprintf(char *WAVE_RESTRICT, size_t, const char *WAVE_RESTRICT, ...) __attribute__((format(printf, 3, 4)));
int vprintf(const char *WAVE_RESTRICT, va_list);
int vfprintf(FILE *WAVE_RESTRICT, const char *WAVE_RESTRICT, va_list);
int vsprintf(char *WAVE_RESTRICT, const char *WAVE_RESTRICT, va_list);
int vsnprintf(char *WAVE_RESTRICT, size_t, const char *WAVE_RESTRICT, va_list);
int putchar(int);
int putc(int, FILE *);
int fputc(int, FILE *);
int puts(const char *);
int fputs(const char *WAVE_RESTRICT, FILE *WAVE_RESTRICT);
size_t fwrite(const void *WAVE_RESTRICT, size_t, size_t, FILE *WAVE_RESTRICT);
int fflush(FILE *);
void perror(const char *);
WAVE_END
#endif
