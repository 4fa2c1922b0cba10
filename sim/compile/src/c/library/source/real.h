/* Doubles, and sums of two of them: more than 100 bits. */
#ifndef WAVE_REAL_H
#define WAVE_REAL_H
#include "common.h"
#include <math.h>
#define WAVE_LIBRARY_SOURCE
#include <wave.h>
#include "instructions.h"

struct pair {
    double high, low;
};

OWN uint64_t bits_of(double x)
{
    union { double value; uint64_t bits; } both = {x};
    return both.bits;
}

OWN double of_bits(uint64_t bits)
{
    union { uint64_t bits; double value; } both = {bits};
    return both.value;
}

OWN double fused(double a, double b, double c) { return wave_fma_f64(a, b, c); }

/* A sum whose first number is not less than the second. */
OWN struct pair sum(double a, double b)
{
    double s = a + b;
    return (struct pair){s, a - s + b};
}

OWN struct pair product(double a, double b)
{
    double p = a * b;
    return (struct pair){p, fused(a, b, -p)};
}

OWN struct pair times(struct pair a, struct pair b)
{
    struct pair p = product(a.high, b.high);
    return sum(p.high, p.low + (a.high * b.low + a.low * b.high));
}

/* The polynomial with these coefficients, the constant first. */
#define POLYNOMIAL(x, ...)                                                                                        \
    polynomial(x, (const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double))
OWN __attribute__((always_inline)) double polynomial(double x, const double *c, int count)
{
    double p = c[count - 1];
    for (int i = count - 2; i >= 0; i--) p = fused(p, x, c[i]);
    return p;
}

SHARED struct pair wave_log(double);
SHARED double wave_exp_of(double, double);
#endif
