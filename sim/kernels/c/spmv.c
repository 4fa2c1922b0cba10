/* y = A x for a sparse f32 matrix in compressed rows: row i has values[offsets[i]..offsets[i + 1]], in the columns of the
   same positions. One thread a row: rows of different length diverge, and reads of x go wherever the columns lead. */
#include <wave.h>

KERNEL_WORKGROUP(spmv, 128, 1, 1);

KERNEL void spmv(const unsigned *offsets, const unsigned *columns, const float *values, const float *x, float *y,
                 unsigned rows)
{
    unsigned row = global_id_x();
    if (row >= rows) return;
    float sum = 0;
    unsigned end = offsets[row + 1];
#pragma unroll 1
    for (unsigned entry = offsets[row]; entry < end; entry++) sum = fmaf(values[entry], x[columns[entry]], sum);
    y[row] = sum;
}
