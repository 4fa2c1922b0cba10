/* Three kernels of a pipeline in OpenCL, in an in-order queue: each waits for the event of the one before. The times of
   the commands are in order, and every kernel takes time. */

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

#define WIDTH 96
#define HEIGHT 24
#define COUNT (WIDTH * HEIGHT)
#define GROUP 32
#define STAGES 3
/* The write before the stages and the read after them. */
#define COMMANDS (STAGES + 2)

static const char *SOURCES[] = {
    "typedef struct { int low, high; } Range;\n"
    "int mirrored(int at, int end) { return at < 0 ? -at : at >= end ? 2 * end - 2 - at : at; }\n",
    "__kernel void blur(__global const uchar *in, __global ushort *out) {\n"
    "    int x = get_global_id(0), y = get_global_id(1), width = get_global_size(0);\n"
    "    ushort sum = 0;\n"
    "    for (int by = -2; by <= 2; by++)\n"
    "        sum += in[y * width + mirrored(x + by, width)];\n"
    "    out[y * width + x] = sum;\n"
    "}\n",
    "__kernel void classify(__global const ushort *in, __constant int *bounds, int count, __global int *out) {\n"
    "    size_t i = get_global_id(0);\n"
    "    int found = 0;\n"
    "    for (int at = 0; at < count; at++)\n"
    "        found += in[i] >= bounds[at];\n"
    "    out[i] = found;\n"
    "}\n"
    "__kernel void collect(__global const int *in, __global int *counts, Range range) {\n"
    "    __local int own[8];\n"
    "    size_t l = get_local_id(0);\n"
    "    if (l < 8)\n"
    "        own[l] = 0;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    int found = in[get_global_id(0)];\n"
    "    if (found >= range.low && found < range.high)\n"
    "        atomic_inc(&own[found]);\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (l < 8)\n"
    "        atomic_add(&counts[l], own[l]);\n"
    "}\n",
};

static const cl_int BOUNDS[] = {200, 400, 500, 640, 760, 900, 1100};
#define BOUND_COUNT ((cl_int)(sizeof BOUNDS / sizeof *BOUNDS))

struct range {
    cl_int low, high;
};

static void check(cl_int code, const char *what) {
    if (code != CL_SUCCESS) {
        printf("FAILED: %s returns %d\n", what, code);
        exit(1);
    }
}

static cl_mem buffer(cl_context context, cl_mem_flags flags, size_t bytes, const void *from) {
    cl_int code;
    cl_mem made = clCreateBuffer(context, flags, bytes, (void *)from, &code);
    check(code, "clCreateBuffer");
    return made;
}

static cl_kernel kernel(cl_program program, const char *name, cl_uint arguments) {
    cl_int code;
    cl_uint found;
    cl_kernel made = clCreateKernel(program, name, &code);
    check(code, name);
    check(clGetKernelInfo(made, CL_KERNEL_NUM_ARGS, sizeof found, &found, NULL), "CL_KERNEL_NUM_ARGS");
    if (found != arguments) {
        printf("FAILED: %s has %u arguments\n", name, found);
        exit(1);
    }
    return made;
}

/* Times of a command: queued, submitted, started, ended. Returns how many are wrong. */
static int times(cl_event event, cl_command_type expected, const char *name, cl_ulong *start, cl_ulong *end) {
    cl_ulong queued, submitted;
    cl_command_type type;
    cl_int status;
    check(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL), "CL_EVENT_COMMAND_TYPE");
    check(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL), "the status");
    check(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_QUEUED, sizeof queued, &queued, NULL), "the queueing");
    check(
        clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_SUBMIT, sizeof submitted, &submitted, NULL),
        "the submission");
    check(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof *start, start, NULL), "the start");
    check(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof *end, end, NULL), "the end");
    printf("%-8s %llu ns, from %llu\n", name, (unsigned long long)(*end - *start), (unsigned long long)*start);
    return (type != expected) + (status != CL_COMPLETE) + (queued > submitted) + (submitted > *start) + (*start > *end);
}

static int mirrored(int at, int end) {
    return at < 0 ? -at : at >= end ? 2 * end - 2 - at : at;
}

int main(void) {
    cl_platform_id platform;
    cl_device_id device;
    cl_int code;
    check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    check(code, "clCreateContext");
    cl_command_queue queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &code);
    check(code, "clCreateCommandQueue");
    cl_program program = clCreateProgramWithSource(context, 3, SOURCES, NULL, &code);
    check(code, "clCreateProgramWithSource");
    check(clBuildProgram(program, 0, NULL, NULL, NULL, NULL), "clBuildProgram");
    cl_kernel blur = kernel(program, "blur", 2), classify = kernel(program, "classify", 4),
              collect = kernel(program, "collect", 3);

    static cl_uchar image[COUNT];
    for (int i = 0; i < COUNT; i++)
        image[i] = (cl_uchar)(i * 7919 % 253);
    static const cl_int none[8];
    cl_int found[8], expected[8] = {0};
    cl_mem in = buffer(context, CL_MEM_READ_ONLY, sizeof image, NULL);
    cl_mem sums = buffer(context, CL_MEM_READ_WRITE, COUNT * sizeof(cl_ushort), NULL);
    cl_mem bounds = buffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof BOUNDS, BOUNDS);
    cl_mem classes = buffer(context, CL_MEM_READ_WRITE, COUNT * sizeof(cl_int), NULL);
    cl_mem counts = buffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof none, none);
    struct range range = {1, 7};
    check(clSetKernelArg(blur, 0, sizeof in, &in), "clSetKernelArg");
    check(clSetKernelArg(blur, 1, sizeof sums, &sums), "clSetKernelArg");
    check(clSetKernelArg(classify, 0, sizeof sums, &sums), "clSetKernelArg");
    check(clSetKernelArg(classify, 1, sizeof bounds, &bounds), "clSetKernelArg");
    cl_int bound_count = BOUND_COUNT;
    check(clSetKernelArg(classify, 2, sizeof bound_count, &bound_count), "clSetKernelArg");
    check(clSetKernelArg(classify, 3, sizeof classes, &classes), "clSetKernelArg");
    check(clSetKernelArg(collect, 0, sizeof classes, &classes), "clSetKernelArg");
    check(clSetKernelArg(collect, 1, sizeof counts, &counts), "clSetKernelArg");
    check(clSetKernelArg(collect, 2, sizeof range, &range), "clSetKernelArg");

    cl_event events[COMMANDS];
    size_t plane[] = {WIDTH, HEIGHT}, all = COUNT, group = GROUP;
    check(clEnqueueWriteBuffer(queue, in, CL_FALSE, 0, sizeof image, image, 0, NULL, &events[0]), "the write");
    check(clEnqueueNDRangeKernel(queue, blur, 2, NULL, plane, NULL, 1, &events[0], &events[1]), "blur");
    check(clEnqueueNDRangeKernel(queue, classify, 1, NULL, &all, &group, 1, &events[1], &events[2]), "classify");
    check(clEnqueueNDRangeKernel(queue, collect, 1, NULL, &all, &group, 2, &events[1], &events[3]), "collect");
    check(
        clEnqueueReadBuffer(queue, counts, CL_FALSE, 0, sizeof found, found, 1, &events[3], &events[4]),
        "clEnqueueReadBuffer");
    check(clFlush(queue), "clFlush");
    check(clWaitForEvents(1, &events[COMMANDS - 1]), "clWaitForEvents");
    check(clFinish(queue), "clFinish");

    static const char *const names[COMMANDS] = {"write", "blur", "classify", "collect", "read"};
    cl_ulong start, end, last = 0;
    int wrong = 0;
    for (int i = 0; i < COMMANDS; i++) {
        int is_kernel = i > 0 && i < COMMANDS - 1;
        cl_command_type type = is_kernel ? CL_COMMAND_NDRANGE_KERNEL : i == 0 ? CL_COMMAND_WRITE_BUFFER
                                                                              : CL_COMMAND_READ_BUFFER;
        wrong += times(events[i], type, names[i], &start, &end);
        /* In order, and a kernel takes time. */
        wrong += start < last || (is_kernel && end == start);
        last = end;
        check(clReleaseEvent(events[i]), "clReleaseEvent");
    }
    if (wrong)
        printf("FAILED: %d times are wrong\n", wrong);

    for (int i = 0; i < COUNT; i++) {
        int sum = 0, class = 0;
        for (int by = -2; by <= 2; by++)
            sum += image[i / WIDTH * WIDTH + mirrored(i % WIDTH + by, WIDTH)];
        for (int at = 0; at < BOUND_COUNT; at++)
            class += sum >= BOUNDS[at];
        if (class >= range.low && class < range.high)
            expected[class]++;
    }
    for (int i = 0; i < 8; i++) {
        if (found[i] != expected[i]) {
            printf("FAILED: %d of class %d, not %d\n", found[i], i, expected[i]);
            wrong++;
        }
    }
    clReleaseMemObject(in);
    clReleaseMemObject(sums);
    clReleaseMemObject(bounds);
    clReleaseMemObject(classes);
    clReleaseMemObject(counts);
    clReleaseKernel(blur);
    clReleaseKernel(classify);
    clReleaseKernel(collect);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    check(clReleaseContext(context), "clReleaseContext");
    if (!wrong)
        printf("PASSED\n");
    return wrong != 0;
}
