/* An assertion that fails prints itself, and the thread traps. */
#include <wave_library.h>
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) ((condition) ? (void)0 : wave_assertion(#condition, __FILE__, __LINE__, __func__))
#endif
#ifndef WAVE_ASSERT_H
#define WAVE_ASSERT_H
WAVE_BEGIN
__attribute__((noreturn)) void wave_assertion(const char *, const char *, int, const char *);
WAVE_END
#ifndef __cplusplus
#define static_assert _Static_assert
#endif
#endif
