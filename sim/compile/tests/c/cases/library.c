/* What the library does, as text: library.txt is what glibc prints for it. */
#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int sign(int x)
{
    return (x > 0) - (x < 0);
}

static int by_value(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void strings(void)
{
    char text[64] = "one, two;three", copy[64], *rest, *word;
    printf("%d %d %d\n", (int)strlen(text), (int)strnlen(text, 5), (int)strlen(""));
    printf("%d %d %d %d\n", sign(strcmp("a", "b")), sign(strcmp("b", "a")), sign(strcmp("a", "a")), sign(strcmp("\x80", "a")));
    printf("%d %d %d\n", sign(strncmp("abc", "abd", 2)), sign(strncmp("abc", "abd", 3)), sign(strcasecmp("HeLLo", "hEllO")));
    printf("%d %d\n", sign(strncasecmp("ABX", "aby", 2)), sign(memcmp("a\0c", "a\0b", 3)));
    printf("[%s] [%s] [%s]\n", strchr(text, 't'), strrchr(text, 't'), strstr(text, "two"));
    printf("%d %d %d\n", strchr(text, 'x') == NULL, *strchr(text, 0), strstr(text, "four") == NULL);
    printf("%d %d [%s]\n", (int)strspn(text, "eno"), (int)strcspn(text, ",;"), strpbrk(text, ";,"));
    for (word = strtok_r(text, ", ;", &rest); word; word = strtok_r(NULL, ", ;", &rest)) printf("<%s>", word);
    printf("\n");
    memset(copy, 'x', sizeof copy);
    strncpy(copy, "abc", 6);
    printf("%s %d %d %c\n", copy, copy[4], copy[5], copy[6]);
    strcpy(copy, "begin");
    strcat(copy, " middle");
    strncat(copy, " endless", 4);
    printf("%s %s\n", copy, (char *)memchr(copy, 'm', 20));
    memmove(copy + 2, copy, 6);
    printf("%s\n", copy);
    memmove(copy, copy + 3, 9);
    printf("%s %d\n", copy, (int)(stpcpy(copy, "four") - copy));
    word = strdup("kept");
    printf("%s\n", word);
    free(word);
    for (int c = 0; c < 128; c += 7)
        printf("%d%d%d%d%d%d%c", !!isalpha(c), !!isdigit(c), !!isspace(c), !!ispunct(c), !!isxdigit(c), !!isupper(c), isprint(c) ? toupper(c) : '.');
    printf("\n");
}

static void numbers(void)
{
    const char *texts[] = {"12", " -34x", "+0x1F", "077", "2147483648", "-9999999999", "zz", "", "0x", "99999999999999999999"};
    for (int i = 0; i < 10; i++) {
        char *end, *end2;
        long long wide = strtoll(texts[i], &end, 0);
        unsigned long long natural = strtoull(texts[i], &end2, 16);
        printf("%lld+%d %llx+%d %d; ", wide, (int)(end - texts[i]), natural, (int)(end2 - texts[i]), atoi(i == 4 || i == 5 || i == 9 ? "5" : texts[i]));
    }
    printf("\n");
    const char *reals[] = {"1.5", "-2e3x", ".5e-2", "1e400", "infinity", "0x1.8p3", "3.", "e", "0x.p", "123456789012345678901234567890", "1e-310", "4.9e-324"};
    for (int i = 0; i < 12; i++) {
        char *end;
        double value = strtod(reals[i], &end);
        printf("%g+%d ", value, (int)(end - reals[i]));
    }
    printf("\n");
    int values[] = {5, -3, 9, 0, 2, 2, -8, 7, 1}, key = 7, none = 6;
    qsort(values, 9, sizeof *values, by_value);
    for (int i = 0; i < 9; i++) printf("%d ", values[i]);
    int *found = bsearch(&key, values, 9, sizeof *values, by_value);
    printf("at %d, %d\n", (int)(found - values), bsearch(&none, values, 9, sizeof *values, by_value) == NULL);
    char names[5][7] = {"pear", "apple", "fig", "melon", "date"};
    qsort(names, 5, sizeof *names, by_name);
    for (int i = 0; i < 5; i++) printf("%s ", names[i]);
    printf("%d %d %d\n", abs(-4), div(-17, 5).quot, div(-17, 5).rem);
    printf("%g %g %g %g %g\n", round(2.5), round(-0.49999999999999994), fmod(-7.5, 2), remainder(7.5, 2), ldexp(0.75, -1074));
    int power;
    double part = frexp(-40, &power), whole, left = modf(-3.75, &whole);
    printf("%g %d %g %g %d %g\n", part, power, left, whole, ilogb(0.1), nextafter(1, 2) - 1);
}

static void formats(void)
{
    printf("%d %5d|%-5d|%05d|%+d|% d|%.3d|%8.3d|%x|%#x|%X|%o|%#o|%u|%c|%%\n", 1, 2, 3, -4, 5, 6, 7, -8, 255, 255, 255, 8, 8, 4294967295u, 'c');
    printf("%hhd %hd %lld %llu %" PRIx64 " %zu %jd\n", 300, 70000, LLONG_MIN, ULLONG_MAX, (uint64_t)1 << 60, sizeof(int), (intmax_t)-1);
    printf("[%s] [%10s] [%-10s] [%.2s] [%*.*s]\n", "text", "right", "left", "cut", 6, 3, "stars");
    printf("%f %.0f %.1f %.10f %e %.2E %g %G\n", 3.14159265358979, 2.5, 0.05, 1e-7, 12345.678, 0.000123, 1e-5, 1e20);
    printf("%g %g %g %g %#g %g\n", 100000.0, 1000000.0, 0.0001, 0.00001, 1.0, 123456789.0);
    printf("%.3g %.17g %.20e %a %.2a\n", 99.95, 0.1, 5e-324, 1.0, 1.999);
    printf("%f %5.1f|%-8.2f|%08.3f|%+.1e|%f %F %g\n", -0.0, 9.96, 1.005, -3.14159, 1e300, INFINITY, -INFINITY, NAN < 0 ? 1.0 : 0.0);
    printf("%.15f\n%.30f\n%f\n", 1e15, 0.1, 1.7976931348623157e308);
    char small[8];
    int length = snprintf(small, sizeof small, "%s and more", "long text");
    printf("%d [%s] %d\n", length, small, snprintf(NULL, 0, "%d", 12345));
    puts("a line");
    putchar('!');
    fputs("\n", stdout);
}

static void memory(void)
{
    unsigned *blocks[8];
    int wrong = 0;
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 8; i++) {
            int count = 1 + (i * 7 + round * 3) % 11;
            blocks[i] = i % 2 ? malloc(count * sizeof **blocks) : calloc(count, sizeof **blocks);
            for (int k = 0; k < count; k++) {
                if (i % 2 == 0) wrong += blocks[i][k] != 0;
                blocks[i][k] = i * 100 + k;
            }
        }
        for (int i = 0; i < 8; i += 3) blocks[i] = realloc(blocks[i], 80);
        for (int i = 0; i < 8; i++) {
            int count = 1 + (i * 7 + round * 3) % 11;
            for (int k = 0; k < count; k++) wrong += blocks[i][k] != (unsigned)(i * 100 + k);
            wrong += (uintptr_t)blocks[i] % 16 != 0;
        }
        for (int i = 0; i < 8; i++) free(blocks[(i * 3) % 8]);
    }
    void *aligned = aligned_alloc(128, 256);
    wrong += (uintptr_t)aligned % 128 != 0;
    free(aligned);
    free(NULL);
    printf("%d wrong\n", wrong);
}

static void wide(void)
{
    unsigned __int128 product = (unsigned __int128)0xfedcba9876543210ull * 0x0123456789abcdefull;
    int by = 37;
    printf("%llx %llx\n", (unsigned long long)(product >> 64), (unsigned long long)product);
    printf("%llx %llx\n", (unsigned long long)(product >> by), (unsigned long long)(product / 1000000007 % 1000003));
}

static void all(void)
{
    strings();
    numbers();
    formats();
    memory();
    wide();
}

#ifdef __wasm__
#include <wave.h>
KERNEL void library(void)
{
    all();
}
#else
int main(void)
{
    all();
    return 0;
}
#endif
