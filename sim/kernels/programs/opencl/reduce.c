/* Sums a vector in OpenCL: local memory as an argument, a part of a buffer, mapped memory. Builds a wrong program before,
   and prints what the compiler says. */

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUP 64
#define GROUPS 16
#define COUNT (GROUP * GROUPS)

static const char *WRONG = "__kernel void sum(__global int *out) {\n    out[0] = missing;\n}\n";

static const char *SOURCE =
    "__kernel void sum(__global const int *in, __local int *parts, __global int *out) {\n"
    "    size_t l = get_local_id(0);\n"
    "    parts[l] = in[get_global_id(0)] * SCALE;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    for (size_t width = get_local_size(0) / 2; width > 0; width /= 2) {\n"
    "        if (l < width)\n"
    "            parts[l] += parts[l + width];\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    }\n"
    "    if (l == 0)\n"
    "        out[get_group_id(0)] = parts[0];\n"
    "}\n";

static void check(cl_int code, const char *what) {
    if (code != CL_SUCCESS) {
        printf("FAILED: %s returns %d\n", what, code);
        exit(1);
    }
}

static void expect(cl_int code, cl_int expected, const char *what) {
    if (code != expected) {
        printf("FAILED: %s returns %d, not %d\n", what, code, expected);
        exit(1);
    }
}

/* Builds a program that is wrong. */
static void build_wrong(cl_context context, cl_device_id device) {
    cl_int code;
    cl_program program = clCreateProgramWithSource(context, 1, &WRONG, NULL, &code);
    check(code, "clCreateProgramWithSource");
    expect(clBuildProgram(program, 1, &device, NULL, NULL, NULL), CL_BUILD_PROGRAM_FAILURE, "a wrong program");
    size_t bytes;
    check(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes), "the size of the log");
    char *log = malloc(bytes);
    check(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, bytes, log, NULL), "the log");
    printf("the compiler says:\n%s\n", log);
    if (!strstr(log, "missing"))
        expect(1, 0, "a log without the name that is wrong");
    free(log);
    clCreateKernel(program, "sum", &code);
    expect(code, CL_INVALID_PROGRAM_EXECUTABLE, "a kernel of a wrong program");
    check(clReleaseProgram(program), "clReleaseProgram");
}

int main(void) {
    cl_platform_id platform;
    cl_device_id device;
    cl_int code;
    check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_DEFAULT, 1, &device, NULL), "clGetDeviceIDs");
    cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform, 0};
    cl_context context = clCreateContextFromType(properties, CL_DEVICE_TYPE_GPU, NULL, NULL, &code);
    check(code, "clCreateContextFromType");
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
    check(code, "clCreateCommandQueue");
    build_wrong(context, device);

    cl_program program = clCreateProgramWithSource(context, 1, &SOURCE, NULL, &code);
    check(code, "clCreateProgramWithSource");
    check(clBuildProgram(program, 1, &device, "-D SCALE=3 -cl-mad-enable", NULL, NULL), "clBuildProgram");
    cl_kernel kernel = clCreateKernel(program, "sum", &code);
    check(code, "clCreateKernel");

    /* The second half of a buffer is what the kernel reads. */
    cl_mem whole =
        clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, 2 * COUNT * sizeof(cl_int), NULL, &code);
    check(code, "clCreateBuffer");
    cl_buffer_region region = {COUNT * sizeof(cl_int), COUNT * sizeof(cl_int)};
    cl_mem half = clCreateSubBuffer(whole, CL_MEM_READ_ONLY, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    check(code, "clCreateSubBuffer");
    cl_mem out = clCreateBuffer(context, CL_MEM_WRITE_ONLY, GROUPS * sizeof(cl_int), NULL, &code);
    check(code, "clCreateBuffer");

    cl_int *values = clEnqueueMapBuffer(
        queue, whole, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0, 2 * COUNT * sizeof(cl_int), 0, NULL, NULL, &code);
    check(code, "clEnqueueMapBuffer");
    cl_int expected = 0;
    for (int i = 0; i < 2 * COUNT; i++) {
        values[i] = i < COUNT ? 1000000 : i % 17;
        if (i >= COUNT)
            expected += 3 * values[i];
    }
    check(clEnqueueUnmapMemObject(queue, whole, values, 0, NULL, NULL), "clEnqueueUnmapMemObject");

    size_t global = COUNT, local = GROUP;
    check(clSetKernelArg(kernel, 0, sizeof half, &half), "clSetKernelArg 0");
    expect(clSetKernelArg(kernel, 1, sizeof half, &half), CL_INVALID_ARG_VALUE, "a buffer as local memory");
    expect(
        clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL), CL_INVALID_KERNEL_ARGS,
        "a launch without arguments");
    check(clSetKernelArg(kernel, 1, GROUP * sizeof(cl_int), NULL), "clSetKernelArg 1");
    check(clSetKernelArg(kernel, 2, sizeof out, &out), "clSetKernelArg 2");
    cl_ulong local_bytes;
    check(
        clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local_bytes, &local_bytes, NULL),
        "CL_KERNEL_LOCAL_MEM_SIZE");
    check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL), "clEnqueueNDRangeKernel");

    cl_int *sums =
        clEnqueueMapBuffer(queue, out, CL_TRUE, CL_MAP_READ, 0, GROUPS * sizeof(cl_int), 0, NULL, NULL, &code);
    check(code, "clEnqueueMapBuffer");
    cl_int found = 0;
    for (int i = 0; i < GROUPS; i++)
        found += sums[i];
    check(clEnqueueUnmapMemObject(queue, out, sums, 0, NULL, NULL), "clEnqueueUnmapMemObject");
    check(clFinish(queue), "clFinish");

    clReleaseMemObject(whole);
    clReleaseMemObject(half);
    clReleaseMemObject(out);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    check(clReleaseContext(context), "clReleaseContext");
    printf("sum of %d numbers with %llu bytes of local memory: %d\n", COUNT, (unsigned long long)local_bytes, found);
    if (found != expected || local_bytes < GROUP * sizeof(cl_int)) {
        printf("FAILED: not %d\n", expected);
        return 1;
    }
    printf("PASSED\n");
    return 0;
}
