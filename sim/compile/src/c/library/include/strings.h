/* Memory and strings, in their older names, and without regard to case. */
#ifndef WAVE_STRINGS_H
#define WAVE_STRINGS_H
#include <string.h>
WAVE_BEGIN
int bcmp(const void *, const void *, size_t);
int strcasecmp(const char *, const char *);
int strncasecmp(const char *, const char *, size_t);
WAVE_END
#define bzero(to, bytes) ((void)memset(to, 0, bytes))
#define bcopy(from, to, bytes) ((void)memmove(to, from, bytes))
#endif
