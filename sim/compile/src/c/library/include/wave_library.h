/* What the headers of the library have in common. */
#ifndef WAVE_LIBRARY_H
#define WAVE_LIBRARY_H
#ifdef __cplusplus
#define WAVE_BEGIN extern "C" {
#define WAVE_END }
#define WAVE_RESTRICT __restrict
#else
#define WAVE_BEGIN
#define WAVE_END
#define WAVE_RESTRICT restrict
#endif
#define WAVE_INLINE static inline __attribute__((always_inline, nodebug, unused))
#endif
