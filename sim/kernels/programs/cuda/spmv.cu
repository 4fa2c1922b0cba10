// The greatest eigenvalue of a sparse symmetric matrix by repeated products, in doubles: a warp for each row.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t code = (call);                                                                                     \
        if (code != cudaSuccess) {                                                                                     \
            printf("FAILED: %s: %s\n", #call, cudaGetErrorString(code));                                               \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

constexpr int ROWS = 300, THREADS = 128, ROUNDS = 6;

// Compressed rows.
template <typename T> struct Matrix {
    int rows;
    const int *first, *columns;
    const T *values;
};

template <typename T> __device__ T sum_of_warp(T value) {
    for (int by = 16; by > 0; by /= 2)
        value += __shfl_down_sync(0xffffffffu, value, by);
    return value;
}

template <typename T> __global__ void multiply(const Matrix<T> matrix, const T *x, T *y) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= matrix.rows)
        return;
    T sum = 0;
    for (int at = matrix.first[row] + lane; at < matrix.first[row + 1]; at += 32)
        sum += matrix.values[at] * __ldg(&x[matrix.columns[at]]);
    sum = sum_of_warp(sum);
    if (lane == 0)
        y[row] = sum;
}

// Scalar products of y with itself and with x, by one block.
__global__ void products(const double *x, const double *y, double2 *result, int count) {
    __shared__ double2 sums[THREADS / 32];
    double2 own = make_double2(0.0, 0.0);
    for (int i = threadIdx.x; i < count; i += THREADS) {
        own.x = fma(y[i], y[i], own.x);
        own.y = fma(x[i], y[i], own.y);
    }
    own = make_double2(sum_of_warp(own.x), sum_of_warp(own.y));
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = own;
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    for (int warp = 1; warp < THREADS / 32; warp++)
        own = make_double2(own.x + sums[warp].x, own.y + sums[warp].y);
    *result = own;
}

__global__ void scale(double *x, const double *y, const double2 *result, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        x[i] = y[i] * rsqrt(result->x);
}

template <typename T> static T *copied(const std::vector<T> &from) {
    T *to;
    CHECK(cudaMalloc(&to, from.size() * sizeof(T)));
    CHECK(cudaMemcpy(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
    return to;
}

int main() {
    std::vector<int> first = {0}, columns;
    std::vector<double> values, x(ROWS), y(ROWS);
    for (int row = 0; row < ROWS; row++) {
        for (int column = 0; column < ROWS; column++) {
            int low = row < column ? row : column, far = abs(row - column);
            if (far == 0 || far == 7 || (low % 9 == 0 && far % 5 == 1) || low == 4) {
                columns.push_back(column);
                values.push_back(far == 0 ? 4.0 + row * 0.01 : 1.0 / (1 + far));
            }
        }
        first.push_back((int)columns.size());
        x[row] = 1.0 / sqrt((double)ROWS);
    }
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, products));
    if (attributes.sharedSizeBytes < THREADS / 32 * sizeof(double2) || attributes.maxThreadsPerBlock < THREADS ||
        attributes.numRegs <= 0) {
        printf("FAILED: attributes of a kernel: %zu bytes, %d threads, %d registers\n", attributes.sharedSizeBytes,
               attributes.maxThreadsPerBlock, attributes.numRegs);
        return 1;
    }
    Matrix<double> matrix = {ROWS, copied(first), copied(columns), copied(values)};
    double *x_device = copied(x), *y_device = copied(y);
    double2 *result;
    CHECK(cudaMalloc(&result, sizeof *result));
    cudaPointerAttributes of_x, of_host;
    CHECK(cudaPointerGetAttributes(&of_x, x_device));
    CHECK(cudaPointerGetAttributes(&of_host, x.data()));
    if (of_x.type != cudaMemoryTypeDevice || of_x.device != 0 || of_x.devicePointer != x_device ||
        of_host.type != cudaMemoryTypeUnregistered) {
        printf("FAILED: attributes of pointers: %d and %d\n", of_x.type, of_host.type);
        return 1;
    }

    double eigenvalue = 0.0, expected = 0.0;
    for (int round = 0; round < ROUNDS; round++) {
        multiply<<<(ROWS * 32 + THREADS - 1) / THREADS, THREADS>>>(matrix, x_device, y_device);
        products<<<1, THREADS>>>(x_device, y_device, result, ROWS);
        scale<<<(ROWS + THREADS - 1) / THREADS, THREADS>>>(x_device, y_device, result, ROWS);
        CHECK(cudaGetLastError());
    }
    double2 of_last;
    std::vector<double> found(ROWS);
    CHECK(cudaMemcpy(&of_last, result, sizeof of_last, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(found.data(), x_device, ROWS * sizeof(double), cudaMemcpyDeviceToHost));
    eigenvalue = of_last.y;
    for (const void *memory : {(const void *)matrix.first, (const void *)matrix.columns, (const void *)matrix.values,
                               (const void *)x_device, (const void *)y_device, (const void *)result})
        CHECK(cudaFree(const_cast<void *>(memory)));

    for (int round = 0; round < ROUNDS; round++) {
        double square = 0.0;
        expected = 0.0;
        for (int row = 0; row < ROWS; row++) {
            y[row] = 0.0;
            for (int at = first[row]; at < first[row + 1]; at++)
                y[row] += values[at] * x[columns[at]];
            square += y[row] * y[row];
            expected += x[row] * y[row];
        }
        for (int row = 0; row < ROWS; row++)
            x[row] = y[row] / sqrt(square);
    }
    int wrong = 0;
    for (int row = 0; row < ROWS; row++)
        wrong += !(fabs(found[row] - x[row]) <= 1e-12);
    printf("%d rows, %zu values: eigenvalue %.12f\n", ROWS, values.size(), eigenvalue);
    if (wrong || !(fabs(eigenvalue - expected) <= 1e-11)) {
        printf("FAILED: %d components differ; eigenvalue %.12f\n", wrong, expected);
        return 1;
    }
    printf("PASSED\n");
    return 0;
}
