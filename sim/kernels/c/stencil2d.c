/* One step of Jacobi's method: out = mean of the four neighbours in `in`; the border stays as it is. A workgroup of 32 x 4
   threads puts its cells and those around them (the halo) into local memory, so that a cell is read from device memory
   about once, not four times. */
#include <wave.h>

#define WIDTH 32
#define HEIGHT 4

/* Cell (x, y) of the workgroup is at [y + 1][x + 1]. The corners of the halo are not used. */
struct cells {
    float at[HEIGHT + 2][WIDTH + 2];
};
KERNEL_LOCAL_MEMORY(stencil2d, sizeof(struct cells));
KERNEL_WORKGROUP(stencil2d, WIDTH, HEIGHT, 1);

/* width is a multiple of 32, height of 4. */
KERNEL void stencil2d(const float *in, float *out, unsigned width, unsigned height)
{
    LOCAL struct cells *cells = LOCAL_MEMORY(struct cells);
    unsigned tx = thread_id_x(), ty = thread_id_y();
    unsigned x = workgroup_id_x() * WIDTH + tx, y = workgroup_id_y() * HEIGHT + ty;
    LOCAL float *cell = &cells->at[ty + 1][tx + 1];
    in += y * width + x;
    out += y * width + x;
    float value = *in;
    local_store(cell, value);

    /* The halo, by the threads at the edges. Past the border of the grid a cell stands for its neighbour. */
    if (tx == 0) local_store(cell - 1, in[-imin((int)x, 1)]);
    if (tx == WIDTH - 1) local_store(cell + 1, in[imin((int)(width - 1 - x), 1)]);
    if (ty == 0) local_store(cell - (WIDTH + 2), *(in - umin(y, 1) * width));
    if (ty == HEIGHT - 1) local_store(cell + (WIDTH + 2), *(in + umin(height - 1 - y, 1) * width));
    barrier();

    /* One unsigned comparison does both ends. */
    if (x - 1 < width - 2 && y - 1 < height - 2) {
        float above = local_load(cell - (WIDTH + 2)), left = local_load(cell - 1);
        float right = local_load(cell + 1), below = local_load(cell + (WIDTH + 2));
        value = ((above + left) + (right + below)) * 0.25f;
    }
    *out = value;
}
