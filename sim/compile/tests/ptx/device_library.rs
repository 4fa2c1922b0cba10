//! The device library: its functions, called as compilers call them, against those of the host.

use crate::machine::{BUFFERS, Run, run};

/// Threads, each with a number.
const THREADS: u32 = 64;

/// A kernel that calls a function of one or two numbers: those of the thread, whose first one the result replaces.
fn kernel(name: &str, ty: &str, is_binary: bool) -> String {
    let (bits, register) = if ty == "f64" { (64, "%fd") } else { (32, "%f") };
    let bytes = bits / 8;
    let (second, argument, store, load) = if is_binary {
        (
            format!(", .param .b{bits} b"),
            ", param1",
            format!(".param .b{bits} param1;\nst.param.{ty} [param1+0], {register}1;"),
            format!("ld.global.{ty} {register}1, [%rd1+{bytes}];"),
        )
    } else {
        (String::new(), "", String::new(), String::new())
    };
    format!(
        ".version 6.3\n.target sm_75\n.address_size 64\n.extern .func (.param .b{bits} r) {name} (.param .b{bits} a{second});\n\
         .visible .entry k(.param .u64 p)\n{{\n.reg .{ty} {register}<3>;\n.reg .b64 %rd<3>;\n.reg .b32 %r<2>;\n\
         ld.param.u64 %rd0, [p];\ncvta.to.global.u64 %rd0, %rd0;\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %rd1, %r0, {};\n\
         add.s64 %rd1, %rd1, %rd0;\nld.global.{ty} {register}0, [%rd1];\n{load}\n{{\n.param .b{bits} param0;\n\
         st.param.{ty} [param0+0], {register}0;\n{store}\n.param .b{bits} retval0;\n\
         call.uni (retval0),\nLtmp1:\n{name},\n(\nparam0{argument}\n);\nld.param.{ty} {register}2, [retval0+0];\n}}\n\
         st.global.{ty} [%rd1], {register}2;\nret;\n}}\n",
        2 * bytes
    )
}

/// Results of a function for pairs of numbers.
fn results(name: &str, ty: &str, is_binary: bool, inputs: &[[f64; 2]]) -> Vec<f64> {
    let bytes = |value: f64| match ty {
        "f64" => value.to_le_bytes().to_vec(),
        _ => (value as f32).to_le_bytes().to_vec(),
    };
    let contents: Vec<u8> = inputs.iter().flatten().flat_map(|&value| bytes(value)).collect();
    let what = Run { kernel: "k", grid: 1, threads: THREADS, dynamic: 0, arguments: vec![BUFFERS, 0] };
    let memory =
        run(&kernel(name, ty, is_binary), &what, &contents).unwrap_or_else(|error| panic!("{name}: {error}"));
    let size = if ty == "f64" { 8 } else { 4 };
    let number = |bytes: &[u8]| match ty {
        "f64" => f64::from_le_bytes(bytes.try_into().unwrap()),
        _ => f64::from(f32::from_le_bytes(bytes.try_into().unwrap())),
    };
    memory.chunks(2 * size).map(|pair| number(&pair[..size])).collect()
}

/// The distance in units in the last place of the right result.
fn units(got: f64, right: f64, ty: &str) -> f64 {
    if got == right || got.is_nan() && right.is_nan() {
        return 0.0;
    }
    let ulp = match ty {
        "f64" => f64::from_bits(right.abs().to_bits() + 1) - right.abs(),
        _ => {
            let near = (right.abs() as f32).max(f32::MIN_POSITIVE);
            f64::from(f32::from_bits(near.to_bits() + 1)) - f64::from(near)
        }
    };
    (got - right).abs() / ulp
}

/// A function of the host of one number, the range of arguments, and the most units of a float and of a double.
type Unary = (&'static str, fn(f64) -> f64, [f64; 2], [f64; 2]);

#[test]
fn functions_are_as_accurate_as_stated() {
    let unary: [Unary; 22] = [
        ("sin", f64::sin, [-20.0, 20.0], [2.0, 2.0]),
        ("cos", f64::cos, [-20.0, 20.0], [2.0, 2.0]),
        ("tan", f64::tan, [-1.5, 1.5], [4.0, 2.0]),
        ("asin", f64::asin, [-1.0, 1.0], [2.0, 2.0]),
        ("acos", f64::acos, [-1.0, 1.0], [2.0, 2.0]),
        ("atan", f64::atan, [-9.0, 9.0], [2.0, 2.0]),
        ("sinh", f64::sinh, [-9.0, 9.0], [3.0, 2.0]),
        ("cosh", f64::cosh, [-9.0, 9.0], [2.0, 2.0]),
        ("tanh", f64::tanh, [-4.0, 4.0], [2.0, 2.0]),
        ("exp", f64::exp, [-80.0, 80.0], [2.0, 1.0]),
        ("exp2", f64::exp2, [-120.0, 120.0], [2.0, 1.0]),
        ("expm1", f64::exp_m1, [-5.0, 5.0], [2.0, 1.0]),
        ("log", f64::ln, [0.001, 50.0], [2.0, 1.0]),
        ("log2", f64::log2, [0.001, 50.0], [2.0, 1.0]),
        ("log10", f64::log10, [0.001, 50.0], [3.0, 2.0]),
        ("log1p", f64::ln_1p, [-0.9, 9.0], [2.0, 1.0]),
        ("cbrt", f64::cbrt, [-9.0, 9.0], [1.0, 1.0]),
        ("sqrt", f64::sqrt, [0.0, 9.0], [0.5, 0.0]),
        ("floor", f64::floor, [-9.0, 9.0], [0.0, 0.0]),
        ("round", f64::round, [-9.0, 9.0], [0.0, 0.0]),
        ("fabs", f64::abs, [-9.0, 9.0], [0.0, 0.0]),
        ("rsqrt", |x| 1.0 / x.sqrt(), [0.01, 9.0], [2.0, 1.0]),
    ];
    for (name, right, [least, most], bounds) in unary {
        for (ty, suffix, bound) in [("f32", "f", bounds[0]), ("f64", "", bounds[1])] {
            let input = |i: u32| least + (most - least) * f64::from(i) / f64::from(THREADS - 1);
            let rounded = |x: f64| if ty == "f32" { f64::from(x as f32) } else { x };
            let inputs: Vec<[f64; 2]> = (0..THREADS).map(|i| [rounded(input(i)), 0.0]).collect();
            let got = results(&format!("__nv_{name}{suffix}"), ty, false, &inputs);
            for (input, got) in inputs.iter().zip(got) {
                let error = units(got, right(input[0]), ty);
                assert!(error <= bound, "{name}{suffix}({}) = {got}: {error} units", input[0]);
            }
        }
    }
    type Binary = fn(f64, f64) -> f64;
    let binary: [(&str, Binary, f64); 6] = [
        ("pow", f64::powf, 2.0),
        ("atan2", f64::atan2, 2.0),
        ("hypot", f64::hypot, 1.0),
        ("fmod", |x, y| x % y, 0.0),
        ("fmin", f64::min, 0.0),
        ("copysign", f64::copysign, 0.0),
    ];
    for (name, right, bound) in binary {
        for (ty, suffix) in [("f32", "f"), ("f64", "")] {
            let rounded = |x: f64| if ty == "f32" { f64::from(x as f32) } else { x };
            let pair = |i: u32| [rounded(0.3 + 0.17 * f64::from(i)), rounded(f64::from(i % 13) * 0.9 - 5.0)];
            let inputs: Vec<[f64; 2]> = (0..THREADS).map(pair).collect();
            // The name of C does as well.
            let got = results(&format!("{name}{suffix}"), ty, true, &inputs);
            for (&[x, y], got) in inputs.iter().zip(got) {
                let error = units(got, right(x, y), ty);
                assert!(error <= bound, "{name}{suffix}({x}, {y}) = {got}: {error} units");
            }
        }
    }
}

#[test]
fn error_functions_have_known_values() {
    // Of the function and of its complement, to 17 digits.
    let known = [
        (0.1, 0.112_462_916_018_284_9, 0.887_537_083_981_715),
        (0.5, 0.520_499_877_813_046_5, 0.479_500_122_186_953_5),
        (1.0, 0.842_700_792_949_714_9, 0.157_299_207_050_285_13),
        (2.0, 0.995_322_265_018_952_7, 0.004_677_734_981_047_266),
        (3.0, 0.999_977_909_503_001_4, 2.209_049_699_858_544e-5),
        (5.0, 0.999_999_999_998_462_5, 1.537_459_794_428_035e-12),
    ];
    let mut inputs: Vec<[f64; 2]> = known.iter().map(|(x, ..)| [*x, 0.0]).collect();
    inputs.resize(THREADS as usize, [0.0, 0.0]);
    for (name, is_complement) in [("__nv_erf", false), ("__nv_erfc", true)] {
        let got = results(name, "f64", false, &inputs);
        for ((x, erf, erfc), got) in known.iter().zip(got) {
            let right = if is_complement { *erfc } else { *erf };
            assert!(units(got, right, "f64") <= 4.0, "{name}({x}) = {got:e}, {right:e}");
        }
    }
}

#[test]
fn a_function_that_the_library_lacks_is_refused_by_name() {
    let text = kernel("__nv_tgammaf", "f32", false);
    let errors = crate::machine::program(&text).expect_err("the library lacks it");
    assert!(errors[0].message.contains("`__nv_tgammaf`"), "{errors:?}");
    assert!(errors[0].hint.as_deref().is_some_and(|hint| hint.contains("device library")), "{errors:?}");
}
