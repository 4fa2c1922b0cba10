/* Memory and strings. */
#ifndef WAVE_STRING_H
#define WAVE_STRING_H
#include <stddef.h>
#include <wave_library.h>
WAVE_BEGIN
void *memcpy(void *WAVE_RESTRICT, const void *WAVE_RESTRICT, size_t);
void *memmove(void *, const void *, size_t);
void *memset(void *, int, size_t);
int memcmp(const void *, const void *, size_t);
void *memchr(const void *, int, size_t);
size_t strlen(const char *);
size_t strnlen(const char *, size_t);
int strcmp(const char *, const char *);
int strncmp(const char *, const char *, size_t);
int strcoll(const char *, const char *);
char *strcpy(char *WAVE_RESTRICT, const char *WAVE_RESTRICT);
char *stpcpy(char *WAVE_RESTRICT, const char *WAVE_RESTRICT);
char *strncpy(char *WAVE_RESTRICT, const char *WAVE_RESTRICT, size_t);
char *strcat(char *WAVE_RESTRICT, const char *WAVE_RESTRICT);
char *strncat(char *WAVE_RESTRICT, const char *WAVE_RESTRICT, size_t);
char *strchr(const char *, int);
char *strrchr(const char *, int);
char *strstr(const char *, const char *);
size_t strspn(const char *, const char *);
size_t strcspn(const char *, const char *);
char *strpbrk(const char *, const char *);
char *strtok_r(char *WAVE_RESTRICT, const char *WAVE_RESTRICT, char **WAVE_RESTRICT);
char *strdup(const char *);
WAVE_END
#endif
