/* Classes of characters, of ASCII. */
#ifndef WAVE_CTYPE_H
#define WAVE_CTYPE_H
#include <wave_library.h>
WAVE_BEGIN
WAVE_INLINE int isdigit(int c) { return (unsigned)c - '0' < 10; }
WAVE_INLINE int islower(int c) { return (unsigned)c - 'a' < 26; }
WAVE_INLINE int isupper(int c) { return (unsigned)c - 'A' < 26; }
WAVE_INLINE int isalpha(int c) { return ((unsigned)c | 32) - 'a' < 26; }
WAVE_INLINE int isalnum(int c) { return isalpha(c) || isdigit(c); }
WAVE_INLINE int isxdigit(int c) { return isdigit(c) || ((unsigned)c | 32) - 'a' < 6; }
WAVE_INLINE int isspace(int c) { return c == ' ' || (unsigned)c - '\t' < 5; }
WAVE_INLINE int isblank(int c) { return c == ' ' || c == '\t'; }
WAVE_INLINE int isprint(int c) { return (unsigned)c - 32 < 95; }
WAVE_INLINE int isgraph(int c) { return (unsigned)c - 33 < 94; }
WAVE_INLINE int iscntrl(int c) { return (unsigned)c < 32 || c == 127; }
WAVE_INLINE int ispunct(int c) { return isgraph(c) && !isalnum(c); }
WAVE_INLINE int isascii(int c) { return (unsigned)c < 128; }
WAVE_INLINE int tolower(int c) { return isupper(c) ? c | 32 : c; }
WAVE_INLINE int toupper(int c) { return islower(c) ? c & ~32 : c; }
WAVE_END
#endif
