/* For each pixel the number of steps of z = z^2 + c until |z| > 2, at most `limit`. Threads of a wave leave the loop at
   different steps: the wave goes on until its last one has left. */
#include <wave.h>

KERNEL_WORKGROUP(mandelbrot, 16, 8, 1);

KERNEL void mandelbrot(unsigned *picture, unsigned width, unsigned height, float left, float top, float step_x,
                       float step_y, unsigned limit)
{
    unsigned x = global_id_x(), y = global_id_y();
    if (x >= width || y >= height) return;
    float c_real = (float)x * step_x + left, c_imaginary = (float)y * step_y + top;
    float real = 0, imaginary = 0;
    unsigned steps = 0;
    while (steps < limit) {
        float real_square = real * real, imaginary_square = imaginary * imaginary;
        if (real_square + imaginary_square > 4.0f) break;
        float product = real * imaginary;
        imaginary = product + product + c_imaginary;
        real = real_square - imaginary_square + c_real;
        steps++;
    }
    picture[y * width + x] = steps;
}
