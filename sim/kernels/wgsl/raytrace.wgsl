// A picture of spheres over a chequered floor, with shadows and mirrors: one pixel an invocation. The order of the operations is
// part of what the host compares with, to the last bit: so no product may be fused with a sum.

struct Sphere {
    centre: vec3<f32>,
    radius: f32,
    colour: vec3<f32>,
    mirror: f32, // how much of it is a mirror
}

struct Ray {
    origin: vec3<f32>,
    along: vec3<f32>,
}

@group(0) @binding(0) var<storage, read_write> picture: array<u32>;
@group(0) @binding(1) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(2) var<uniform> size: vec2<u32>;

const FAR = 1e9;
const NEAR = 1e-3;
const BOUNCES = 3;

fn unit(a: vec3<f32>) -> vec3<f32> {
    return a * (1.0 / sqrt(dot(a, a)));
}

// How far along the ray the sphere is; FAR if it is not there.
fn distance_of(i: u32, ray: Ray) -> f32 {
    let towards = spheres[i].centre - ray.origin;
    let middle = dot(towards, ray.along);
    let square = middle * middle - dot(towards, towards) + spheres[i].radius * spheres[i].radius;
    if square < 0.0 {
        return FAR;
    }
    let half = sqrt(square);
    if middle - half > NEAR {
        return middle - half;
    }
    return select(FAR, middle + half, middle + half > NEAR);
}

fn in_shadow(ray: Ray) -> bool {
    for (var i = 0u; i < arrayLength(&spheres); i++) {
        if distance_of(i, ray) < FAR {
            return true;
        }
    }
    return false;
}

@compute @workgroup_size(16, 8)
fn raytrace(@builtin(global_invocation_id) at: vec3<u32>) {
    if any(at.xy >= size) {
        return;
    }
    let pixel = vec2<f32>(at.xy);
    let extent = vec2<f32>(size);
    var ray = Ray(
        vec3(0.0, 1.0, -4.0),
        unit(vec3((pixel.x - extent.x * 0.5) / extent.y, (extent.y * 0.5 - pixel.y) / extent.y, 1.0)),
    );
    let sun = unit(vec3(-0.5, 1.0, -0.6));
    var light = vec3<f32>();
    var share = 1.0;
    for (var bounce = 0; bounce < BOUNCES; bounce++) {
        // What the ray meets first.
        var nearest = f32(FAR);
        if ray.along.y < 0.0 {
            nearest = -ray.origin.y / ray.along.y;
        }
        if nearest < NEAR {
            nearest = FAR;
        }
        var met = -1;
        for (var i = 0u; i < arrayLength(&spheres); i++) {
            let distance = distance_of(i, ray);
            if distance < nearest {
                nearest = distance;
                met = i32(i);
            }
        }
        if nearest >= FAR {
            let up = max(ray.along.y, 0.0);
            light += vec3(1.0 - 0.5 * up, 1.0 - 0.3 * up, 1.0) * share;
            break;
        }
        let place = ray.origin + ray.along * nearest;
        var outwards = vec3(0.0, 1.0, 0.0);
        var colour: vec3<f32>;
        var mirror = 0.2;
        if met >= 0 {
            let sphere = spheres[met];
            outwards = (place - sphere.centre) * (1.0 / sphere.radius);
            colour = sphere.colour;
            mirror = sphere.mirror;
        } else {
            let odd = (i32(floor(place.x)) + i32(floor(place.z))) & 1;
            colour = vec3(select(0.3, 0.9, odd == 1));
        }
        // Sunlight, if nothing is in between.
        var bright = max(dot(outwards, sun), 0.0);
        if bright > 0.0 && in_shadow(Ray(place, sun)) {
            bright = 0.0;
        }
        light += colour * (share * (1.0 - mirror) * (0.2 + 0.8 * bright));
        share *= mirror;
        ray = Ray(place, ray.along - outwards * (2.0 * dot(ray.along, outwards)));
    }
    let levels = vec3<u32>(clamp(light, vec3(0.0), vec3(1.0)) * 255.0);
    // Red in the lowest byte.
    picture[at.y * size.x + at.x] = levels.r | (levels.g << 8) | (levels.b << 16) | 0xFF000000;
}
