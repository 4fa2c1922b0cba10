// y = a * x + y, one element an invocation. saxpy.spv is made of it: glslangValidator -V -g saxpy.comp -o saxpy.spv
#version 450

layout(local_size_x = 64) in;

layout(set = 0, binding = 0, std430) readonly buffer X { float x[]; };
layout(set = 0, binding = 1, std430) buffer Y { float y[]; };

layout(constant_id = 0) const float a = 2.0;

void main()
{
    uint i = gl_GlobalInvocationID.x;
    if (i < y.length()) {
        y[i] = a * x[i] + y[i];
    }
}
