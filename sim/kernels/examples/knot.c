/* A vertex of a shaded surface: what knot.v.pica does, in C, on the same buffers. */
#include <wave.h>

typedef struct {
    float x, y, z, w;
} vec4;

/* The uniforms c0 to c9 of the shader. */
typedef struct {
    vec4 projection[4], turn[3], light, diffuse, ambient;
} uniforms;

static float dot3(vec4 a, vec4 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static float row(vec4 a, vec4 b)
{
    return dot3(a, b) + a.w;
}

KERNEL void knot(unsigned count, const uniforms *c, const vec4 *position, const vec4 *normal, vec4 *place, vec4 *tint)
{
    unsigned i = global_id_x();
    if (i >= count)
        return;
    vec4 p = position[i];
    place[i] = (vec4){ row(c->projection[0], p), row(c->projection[1], p), row(c->projection[2], p),
                       row(c->projection[3], p) };
    vec4 n = normal[i];
    n = (vec4){ dot3(c->turn[0], n), dot3(c->turn[1], n), dot3(c->turn[2], n), 0 };
    float light = dot3(c->light, n) * rsqrtf(dot3(n, n));
    light = light > 0 ? light : 0;
    vec4 lit = { c->diffuse.x * light + c->ambient.x, c->diffuse.y * light + c->ambient.y,
                 c->diffuse.z * light + c->ambient.z, c->ambient.w };
    tint[i] = (vec4){ lit.x < 1 ? lit.x : 1, lit.y < 1 ? lit.y : 1, lit.z < 1 ? lit.z : 1, lit.w < 1 ? lit.w : 1 };
}
