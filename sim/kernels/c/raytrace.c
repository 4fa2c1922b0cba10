/* A picture of spheres over a chequered floor, with shadows and mirrors: one pixel a thread. The order of the operations
   is part of what the host compares with, to the last bit. */
#include <wave.h>

/* Centre, radius, colour and how much of it is a mirror. */
struct sphere {
    float x, y, z, radius;
    float red, green, blue, mirror;
};

struct vector {
    float x, y, z;
};

static struct vector add(struct vector a, struct vector b) { return (struct vector){a.x + b.x, a.y + b.y, a.z + b.z}; }
static struct vector minus(struct vector a, struct vector b) { return (struct vector){a.x - b.x, a.y - b.y, a.z - b.z}; }
static struct vector times(struct vector a, float b) { return (struct vector){a.x * b, a.y * b, a.z * b}; }
static float dot(struct vector a, struct vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static struct vector unit(struct vector a) { return times(a, 1.0f / sqrtf(dot(a, a))); }

#define FAR 1e9f
#define NEAR 1e-3f
#define BOUNCES 3

/* How far along the ray the sphere is; FAR if it is not there. */
static float distance_of(const struct sphere *sphere, struct vector from, struct vector along)
{
    struct vector centre = {sphere->x, sphere->y, sphere->z};
    struct vector to = minus(centre, from);
    float middle = dot(to, along);
    float square = middle * middle - dot(to, to) + sphere->radius * sphere->radius;
    if (square < 0.0f) return FAR;
    float half = sqrtf(square);
    if (middle - half > NEAR) return middle - half;
    return middle + half > NEAR ? middle + half : FAR;
}

static unsigned level(float light)
{
    return (unsigned)(fminf(fmaxf(light, 0.0f), 1.0f) * 255.0f);
}

KERNEL_WORKGROUP(raytrace, 16, 8, 1);

/* picture: red in the lowest byte, then green, blue, and 255. */
KERNEL void raytrace(unsigned *picture, const struct sphere *spheres, unsigned count, unsigned width, unsigned height)
{
    unsigned column = global_id_x(), row = global_id_y();
    if (column >= width || row >= height) return;
    struct vector from = {0.0f, 1.0f, -4.0f};
    struct vector along = unit((struct vector){((float)column - (float)width * 0.5f) / (float)height,
                                               ((float)height * 0.5f - (float)row) / (float)height, 1.0f});
    struct vector sun = unit((struct vector){-0.5f, 1.0f, -0.6f});
    struct vector light = {0.0f, 0.0f, 0.0f};
    float share = 1.0f;
#pragma unroll 1
    for (unsigned bounce = 0; bounce < BOUNCES; bounce++) {
        /* What the ray meets first. */
        float nearest = along.y < 0.0f ? -from.y / along.y : FAR;
        unsigned met = count;
        if (nearest < NEAR) nearest = FAR;
#pragma unroll 1
        for (unsigned i = 0; i < count; i++) {
            float distance = distance_of(&spheres[i], from, along);
            if (distance < nearest) {
                nearest = distance;
                met = i;
            }
        }
        if (nearest >= FAR) {
            float up = fmaxf(along.y, 0.0f);
            light = add(light, times((struct vector){1.0f - 0.5f * up, 1.0f - 0.3f * up, 1.0f}, share));
            break;
        }
        struct vector at = add(from, times(along, nearest)), out = {0.0f, 1.0f, 0.0f}, colour;
        float mirror = 0.2f;
        if (met < count) {
            const struct sphere *sphere = &spheres[met];
            out = times(minus(at, (struct vector){sphere->x, sphere->y, sphere->z}), 1.0f / sphere->radius);
            colour = (struct vector){sphere->red, sphere->green, sphere->blue};
            mirror = sphere->mirror;
        } else {
            float tile = ((int)floorf(at.x) + (int)floorf(at.z)) & 1 ? 0.9f : 0.3f;
            colour = (struct vector){tile, tile, tile};
        }
        /* Sunlight, if nothing is in between. */
        float bright = fmaxf(dot(out, sun), 0.0f);
#pragma unroll 1
        for (unsigned i = 0; i < count && bright > 0.0f; i++)
            if (distance_of(&spheres[i], at, sun) < FAR) bright = 0.0f;
        float strength = share * (1.0f - mirror) * (0.2f + 0.8f * bright);
        light = add(light, times(colour, strength));
        share = share * mirror;
        along = minus(along, times(out, 2.0f * dot(along, out)));
        from = at;
    }
    picture[row * width + column] = level(light.x) | level(light.y) << 8 | level(light.z) << 16 | 0xFF000000u;
}
