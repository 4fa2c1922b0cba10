/* Adds two vectors in OpenCL, checks the sum on the host, and prints the time of the kernel. */

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT 4096
#define GROUP 64

static const char *SOURCE =
    "__kernel void vadd(__global const float *a, __global const float *b, __global float *c, uint count) {\n"
    "    size_t i = get_global_id(0);\n"
    "    if (i < count)\n"
    "        c[i] = a[i] + b[i];\n"
    "}\n";

static void check(cl_int code, const char *what) {
    if (code != CL_SUCCESS) {
        printf("FAILED: %s returns %d\n", what, code);
        exit(1);
    }
}

int main(void) {
    cl_platform_id platform;
    cl_device_id device;
    cl_int code;
    check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL), "clGetDeviceIDs");
    char name[256];
    check(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL), "clGetDeviceInfo");

    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    check(code, "clCreateContext");
    cl_command_queue queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &code);
    check(code, "clCreateCommandQueue");

    static float a[COUNT], b[COUNT], c[COUNT];
    for (int i = 0; i < COUNT; i++) {
        a[i] = (float)i * 0.5f;
        b[i] = (float)(COUNT - i);
    }
    cl_mem a_buffer = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof a, a, &code);
    check(code, "clCreateBuffer");
    cl_mem b_buffer = clCreateBuffer(context, CL_MEM_READ_ONLY, sizeof b, NULL, &code);
    check(code, "clCreateBuffer");
    cl_mem c_buffer = clCreateBuffer(context, CL_MEM_WRITE_ONLY, sizeof c, NULL, &code);
    check(code, "clCreateBuffer");
    check(clEnqueueWriteBuffer(queue, b_buffer, CL_FALSE, 0, sizeof b, b, 0, NULL, NULL), "clEnqueueWriteBuffer");

    cl_program program = clCreateProgramWithSource(context, 1, &SOURCE, NULL, &code);
    check(code, "clCreateProgramWithSource");
    check(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
    cl_kernel kernel = clCreateKernel(program, "vadd", &code);
    check(code, "clCreateKernel");

    cl_uint count = COUNT;
    check(clSetKernelArg(kernel, 0, sizeof a_buffer, &a_buffer), "clSetKernelArg 0");
    check(clSetKernelArg(kernel, 1, sizeof b_buffer, &b_buffer), "clSetKernelArg 1");
    check(clSetKernelArg(kernel, 2, sizeof c_buffer, &c_buffer), "clSetKernelArg 2");
    check(clSetKernelArg(kernel, 3, sizeof count, &count), "clSetKernelArg 3");

    size_t global = COUNT, local = GROUP;
    cl_event event;
    check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, &event), "clEnqueueNDRangeKernel");
    check(clWaitForEvents(1, &event), "clWaitForEvents");
    cl_ulong start, end;
    check(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL), "the start");
    check(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL), "the end");

    check(clEnqueueReadBuffer(queue, c_buffer, CL_TRUE, 0, sizeof c, c, 0, NULL, NULL), "clEnqueueReadBuffer");
    int wrong = end <= start;
    for (int i = 0; i < COUNT; i++)
        wrong += c[i] != a[i] + b[i];

    clReleaseEvent(event);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseMemObject(a_buffer);
    clReleaseMemObject(b_buffer);
    clReleaseMemObject(c_buffer);
    clReleaseCommandQueue(queue);
    check(clReleaseContext(context), "clReleaseContext");
    printf("vadd of %d floats on %s: %llu ns\n", COUNT, name, (unsigned long long)(end - start));
    if (wrong)
        printf("FAILED: %d\n", wrong);
    else
        printf("PASSED\n");
    return wrong != 0;
}
