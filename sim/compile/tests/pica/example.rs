//! The example: what it computes, and what it becomes.

use crate::generate::{PLAIN, case};
use crate::machine::{documented, interpreted, simulated};
use crate::text::contents;
use wave_compile::pica::{Float, PicaOptions, assemble, decode};
use wave_compile::{Options, compile};
use wave_machine::config;

const TEXT: &str = include_str!("../../../kernels/examples/knot.v.pica");

/// Rows of a matrix by a column.
fn product(rows: &[[f64; 4]], column: [f64; 4]) -> Vec<f64> {
    rows.iter().map(|row| row.iter().zip(column).map(|(a, b)| a * b).sum()).collect()
}

#[test]
fn the_example_transforms_and_lights() {
    let bytes = assemble(TEXT, "knot.v.pica").expect("it is right");
    let (code, descriptors, entries) = contents(&bytes);
    let matrix =
        [[1.5, 0.25, 0.0, 0.5], [0.0, 1.25, -0.5, 0.0], [0.125, 0.0, -1.0, 2.0], [0.0, 0.0, -1.0, 4.0]];
    let turn = [[0.6, 0.8, 0.0, 0.0], [-0.8, 0.6, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];
    let (light, diffuse, ambient) = ([0.0, 0.6, 0.8, 0.0], [0.75, 0.5, 0.25, 0.0], [0.25, 0.125, 0.5, 1.0]);
    let mut case = case(3, PLAIN);
    case.vertices.truncate(4);
    let uniforms = matrix.iter().chain(&turn).chain([&light, &diffuse, &ambient]);
    for (register, values) in case.uniforms.floats.iter_mut().zip(uniforms) {
        *register = values.map(|value: f64| (value as f32).to_bits());
    }
    // The constants of the file are seen by the interpreter of words as uniforms.
    case.uniforms.floats[95] = [0.0f32, 1.0, 0.0, 1.0].map(f32::to_bits);
    let numbers = |vertex: usize, first: usize| {
        [0, 1, 2].map(|place| ((vertex * 7 + place * 5 + first * 3) % 11) as f64 / 4.0 - 1.25)
    };
    for (vertex, inputs) in case.vertices.iter_mut().enumerate() {
        for (first, input) in inputs.iter_mut().take(2).enumerate() {
            let [x, y, z] = numbers(vertex, first);
            *input = [x, y, z, 0.0].map(|value| (value as f32).to_bits());
        }
    }
    (case.code, case.descriptors, case.entry) = (code, descriptors, entries[0]);
    let config = config::load("gpu").expect("a preset");
    for (float, error) in [(Float::F24, 2f64.powi(-13)), (Float::F32, 2f64.powi(-20))] {
        let decoded = decode(&bytes, &PicaOptions { float, early: false }).expect("it is right");
        assert_eq!(decoded.kernels[0].parameters, ["count", "uniforms", "v0", "v1", "o0", "o1"]);
        let found = documented(&case, float, false).expect("it ends");
        assert_eq!(interpreted(&decoded, &case).as_ref(), Some(&found));
        assert_eq!(simulated(&decoded, &case, &config).as_ref(), Some(&found));
        for (vertex, found) in found.iter().enumerate() {
            let [x, y, z] = numbers(vertex, 0);
            let place = product(&matrix, [x, y, z, 1.0]);
            let [x, y, z] = numbers(vertex, 1);
            let normal = product(&turn, [x, y, z, 0.0]);
            let length = normal.iter().map(|value| value * value).sum::<f64>().sqrt();
            let facing = normal.iter().zip(light).map(|(a, b)| a / length * b).sum::<f64>().max(0.0);
            let tint = [0, 1, 2, 3].map(|place| match place {
                3 => ambient[3],
                _ => (ambient[place] + diffuse[place] * facing).min(1.0),
            });
            for (expected, found) in place.into_iter().chain(tint).zip(found[..2].as_flattened()) {
                let found = f64::from(f32::from_bits(*found));
                assert!((expected - found).abs() < 8.0 * error, "{vertex}: {expected} and {found}");
            }
        }
        // Registers come and go as 16 bytes.
        let compiled =
            compile(&decoded.module, decoded.kernels[0].function, &Options::default()).expect("it is small");
        let text = wave_isa::program::disassemble(&compiled.program);
        let count = |name: &str| text.lines().filter(|line| line.trim_start().starts_with(name)).count();
        let (loads, stores) = (count("device_load"), count("device_store"));
        println!("{float:?}: {:?}, {loads} loads, {stores} stores", compiled.statistics);
        assert_eq!((loads, stores), (2 + 10, 2), "{text}");
    }
}
