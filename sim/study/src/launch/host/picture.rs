//! The picture of the ray tracer. Its operations and their order are part of the definition, since edges amplify every
//! rounding: f32, left to right, nothing fused.

/// Centre, radius, colour, reflection.
struct Sphere {
    centre: [f32; 3],
    radius: f32,
    colour: [f32; 3],
    mirror: f32,
}

const FAR: f32 = 1e9;
const NEAR: f32 = 1e-3;

fn map2(a: [f32; 3], b: [f32; 3], f: impl Fn(f32, f32) -> f32) -> [f32; 3] {
    [f(a[0], b[0]), f(a[1], b[1]), f(a[2], b[2])]
}

fn scaled(a: [f32; 3], by: f32) -> [f32; 3] {
    a.map(|x| x * by)
}

fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn unit(a: [f32; 3]) -> [f32; 3] {
    scaled(a, 1.0 / dot(a, a).sqrt())
}

impl Sphere {
    /// How far along a ray the sphere is; `FAR` if it is not there.
    fn distance(&self, from: [f32; 3], along: [f32; 3]) -> f32 {
        let to = map2(self.centre, from, |a, b| a - b);
        let middle = dot(to, along);
        let square = middle * middle - dot(to, to) + self.radius * self.radius;
        if square < 0.0 {
            return FAR;
        }
        let half = square.sqrt();
        let crossings = [middle - half, middle + half];
        crossings.into_iter().find(|&distance| distance > NEAR).unwrap_or(FAR)
    }
}

/// Pixels, row by row: red in the lowest byte, then green, blue, and 255. A sphere is eight numbers.
pub(super) fn raytrace(spheres: &[f64], width: usize, height: usize) -> Vec<f64> {
    let spheres: Vec<Sphere> = spheres
        .chunks_exact(8)
        .map(|numbers| {
            let n = |i: usize| numbers[i] as f32;
            Sphere { centre: [n(0), n(1), n(2)], radius: n(3), colour: [n(4), n(5), n(6)], mirror: n(7) }
        })
        .collect();
    let (w, h) = (width as f32, height as f32);
    let pixel = |row: usize, column: usize| {
        let along = [(column as f32 - w * 0.5) / h, (h * 0.5 - row as f32) / h, 1.0];
        let light = light(&spheres, [0.0, 1.0, -4.0], unit(along));
        let [red, green, blue] = light.map(|light| (light.clamp(0.0, 1.0) * 255.0) as u32);
        f64::from(red | green << 8 | blue << 16 | 0xFF00_0000)
    };
    (0..height)
        .flat_map(|row| (0..width).map(move |column| (row, column)))
        .map(|(row, column)| pixel(row, column))
        .collect()
}

/// The light that comes along a ray, with two reflections.
fn light(spheres: &[Sphere], mut from: [f32; 3], mut along: [f32; 3]) -> [f32; 3] {
    let sun = unit([-0.5, 1.0, -0.6]);
    let mut light = [0.0; 3];
    let mut share = 1.0f32;
    for _ in 0..3 {
        let floor = if along[1] < 0.0 { -from[1] / along[1] } else { FAR };
        let mut nearest = if floor < NEAR { FAR } else { floor };
        let mut met = None;
        for sphere in spheres {
            let distance = sphere.distance(from, along);
            if distance < nearest {
                (nearest, met) = (distance, Some(sphere));
            }
        }
        if nearest >= FAR {
            let up = along[1].max(0.0);
            let sky = [1.0 - 0.5 * up, 1.0 - 0.3 * up, 1.0];
            return map2(light, scaled(sky, share), |a, b| a + b);
        }
        let at = map2(from, scaled(along, nearest), |a, b| a + b);
        let (out, colour, mirror) = match met {
            Some(sphere) => {
                let out = scaled(map2(at, sphere.centre, |a, b| a - b), 1.0 / sphere.radius);
                (out, sphere.colour, sphere.mirror)
            }
            None => {
                let odd = (at[0].floor() as i32).wrapping_add(at[2].floor() as i32) & 1 == 1;
                ([0.0, 1.0, 0.0], [if odd { 0.9 } else { 0.3 }; 3], 0.2)
            }
        };
        let mut bright = dot(out, sun).max(0.0);
        if spheres.iter().any(|sphere| sphere.distance(at, sun) < FAR) {
            bright = 0.0;
        }
        let strength = share * (1.0 - mirror) * (0.2 + 0.8 * bright);
        light = map2(light, scaled(colour, strength), |a, b| a + b);
        share *= mirror;
        let twice = 2.0 * dot(along, out);
        along = map2(along, scaled(out, twice), |a, b| a - b);
        from = at;
    }
    light
}

#[cfg(test)]
mod tests {
    use super::raytrace;

    #[test]
    fn the_sky_is_above_and_a_sphere_in_the_middle() {
        let red = [0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0];
        let picture: Vec<u32> = raytrace(&red, 9, 9).into_iter().map(|pixel| pixel as u32).collect();
        let channels = |row: usize, column: usize| picture[row * 9 + column].to_le_bytes();
        assert_eq!(channels(0, 0)[2..], [255, 255]);
        let [red, green, blue, _] = channels(4, 4);
        assert!(red > 60 && green == 0 && blue == 0, "{red} {green} {blue}");
    }
}
