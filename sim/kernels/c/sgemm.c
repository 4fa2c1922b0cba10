/* C = A B in f32, row-major: A is M x K, B is K x N, C is M x N; M and N multiples of 32, K of 16.

   A workgroup of 64 threads computes a tile of 32 x 32, each thread 4 x 4 of it. It walks along K in steps of 16: it
   fetches a 32 x 16 piece of A and a 16 x 32 piece of B, puts them into local memory, and multiplies them. */
#include <wave.h>

#define TILE 32
#define DEPTH 16

/* Both pieces by k. A row takes 34 words: with 32, threads that store different k would meet in one bank. */
struct pieces {
    float a[DEPTH][TILE + 2];
    float b[DEPTH][TILE + 2];
};
KERNEL_LOCAL_MEMORY(sgemm, sizeof(struct pieces));
KERNEL_WORKGROUP(sgemm, 64, 1, 1);

/* Grid: x = N / 32, y = M / 32. */
KERNEL void sgemm(const float *a, const float *b, float *c, unsigned n, unsigned k)
{
    LOCAL struct pieces *piece = LOCAL_MEMORY(struct pieces);
    unsigned t = thread_id_x();
    unsigned column = workgroup_id_x() * TILE, row = workgroup_id_y() * TILE;

    /* What the thread fetches: four values of a row of A, and of the row 16 below; the same of B, 8 rows apart. */
    unsigned a_row = t / 4, a_depth = t % 4 * 4;
    unsigned b_depth = t / 8, b_column = t % 8 * 4;
    a += (row + a_row) * k + a_depth;
    b += b_depth * n + column + b_column;

    /* What it computes. */
    unsigned my_row = t / 8 * 4, my_column = t % 8 * 4;
    float sum[4][4] = {{0}};
    for (unsigned start = 0; start < k; start += DEPTH) {
        float4 a_high = *(const float4 *)a, a_low = *(const float4 *)(a + 16 * k);
        float4 b_high = *(const float4 *)b, b_low = *(const float4 *)(b + 8 * n);
        a += DEPTH;
        b += DEPTH * n;

        barrier(); /* nobody reads the pieces of the last step any more */
        local_store(&piece->a[a_depth][a_row], a_high.x);
        local_store(&piece->a[a_depth + 1][a_row], a_high.y);
        local_store(&piece->a[a_depth + 2][a_row], a_high.z);
        local_store(&piece->a[a_depth + 3][a_row], a_high.w);
        local_store(&piece->a[a_depth][a_row + 16], a_low.x);
        local_store(&piece->a[a_depth + 1][a_row + 16], a_low.y);
        local_store(&piece->a[a_depth + 2][a_row + 16], a_low.z);
        local_store(&piece->a[a_depth + 3][a_row + 16], a_low.w);
        local_store((LOCAL float4 *)&piece->b[b_depth][b_column], b_high);
        local_store((LOCAL float4 *)&piece->b[b_depth + 8][b_column], b_low);
        barrier(); /* the pieces are complete */

#pragma unroll 2
        for (unsigned d = 0; d < DEPTH; d++) {
            float4 x = local_load((LOCAL float4 *)&piece->a[d][my_row]);
            float4 y = local_load((LOCAL float4 *)&piece->b[d][my_column]);
            float left[4] = {x.x, x.y, x.z, x.w}, right[4] = {y.x, y.y, y.z, y.w};
            for (unsigned i = 0; i < 4; i++)
                for (unsigned j = 0; j < 4; j++) sum[i][j] = fmaf(left[i], right[j], sum[i][j]);
        }
    }
    c += (row + my_row) * n + column + my_column;
    for (unsigned i = 0; i < 4; i++, c += n)
        *(float4 *)c = (float4){sum[i][0], sum[i][1], sum[i][2], sum[i][3]};
}
