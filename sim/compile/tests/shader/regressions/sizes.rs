//! Shaders that would become too large are errors, and soon.

use super::of_eight;
use std::time::{Duration, Instant};
use wave_compile::shader::{ShaderOptions, decode_wgsl};

/// The message about a shader, which comes before long; `None` if it is taken.
fn refused(wgsl: &str) -> Option<String> {
    let start = Instant::now();
    let error = decode_wgsl(wgsl, "a.wgsl", &ShaderOptions::default()).err().map(|error| error.message);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}\n{wgsl}", start.elapsed());
    error
}

/// Functions of which each calls the one before twice.
fn doubling(first: &str, count: u32) -> String {
    let mut functions = format!("fn f0(x: u32) -> u32 {{ {first} }}\n");
    for number in 1..=count {
        let before = number - 1;
        functions += &format!("fn f{number}(x: u32) -> u32 {{ return f{before}(f{before}(x)); }}\n");
    }
    functions
}

#[test]
fn calls_that_double_are_refused() {
    let many = refused(&of_eight(&doubling("return x * 3u;", 40), "found[i] = f40(i);"));
    assert!(many.as_deref().is_some_and(|message| message.contains("calls are inlined")), "{many:?}");
    let in_loop = "for (var k = 0u; k < 4u; k++) { found[i] += f40(i); }";
    assert!(refused(&of_eight(&doubling("return x;", 40), in_loop)).is_some());
    assert_eq!(refused(&of_eight(&doubling("return x * 3u;", 6), "found[i] = f6(i);")), None);
    // Nothing is left of these.
    let empty = "fn f0() { }\n".to_owned()
        + &(1..=40).map(|n| format!("fn f{n}() {{ f{}(); f{}(); }}\n", n - 1, n - 1)).collect::<String>();
    assert!(refused(&of_eight(&empty, "loop { f40(); if given[0] > 1u { break; } }")).is_some());
}

#[test]
fn loops_in_loops_stay_loops() {
    let head = |n: u32| format!("for (var k{n} = 0u; k{n} < 4000u; k{n}++) {{ ");
    let nested: String = (0..8).map(head).collect();
    let body = format!("{nested} found[i] += k7; {}", "}".repeat(8));
    assert_eq!(refused(&of_eight("", &body)), None);
    // The turns of each are known only when those around it are.
    let head = |n: u32| format!("for (var k{n} = 0u; k{n} < 40u - k{}; k{n}++) {{ ", n - 1);
    let nested: String = (1..6).map(head).collect();
    let body = format!("for (var k0 = 0u; k0 < 40u; k0++) {{ {nested} found[i] += k5; {}", "}".repeat(6));
    refused(&of_eight("", &body));
}

#[test]
fn large_variables_are_refused() {
    let large = [
        ("var<private> a: array<u32, 200000000>;", "found[i] = a[i];"),
        ("", "var a: array<array<u32, 10000>, 10000>;\nfound[i] = a[i][i];"),
        (
            "@group(0) @binding(2) var<storage, read_write> a: array<u32, 200000000>;",
            "a = array<u32, 200000000>();",
        ),
        ("const A = array<u32, 200000000>();", "found[i] = A[given[i]];"),
        (
            "struct S { @size(500000000) a: u32, b: u32 }",
            "var a: array<S, 2>;\nlet b = a;\nfound[i] = b[given[i]].b;",
        ),
        (
            "var<workgroup> a: array<u32, 250000000>;\nvar<workgroup> b: array<u32, 250000000>;\nvar<workgroup> c: array<u32, 250000000>;\n\
          var<workgroup> d: array<u32, 250000000>;\nvar<workgroup> e: array<u32, 250000000>;",
            "found[i] = a[i] + b[i] + c[i] + d[i] + e[i];",
        ),
        (
            "struct S { @size(3000000) a: u32 }\nfn at(p: ptr<function, array<S, 300>>, k: u32) -> u32 { (*p)[k].a += 1u; return (*p)[k].a; }",
            "var a: array<S, 300>;\nvar b: array<S, 300>;\nvar c: array<S, 300>;\nvar d: array<S, 300>;\nvar e: array<S, 300>;\n\
           found[i] = at(&a, given[0]) + at(&b, given[0]) + at(&c, given[0]) + at(&d, given[0]) + at(&e, given[0]);",
        ),
    ];
    for (declarations, body) in large {
        let message = refused(&of_eight(declarations, body));
        assert!(message.is_some() || declarations.starts_with("struct S { @size(5"), "{body}");
    }
    for size in ["1024, 1024, 64", "16384, 16384, 16384", "65536, 65536, 1", "4294967295"] {
        let wgsl =
            of_eight("", "found[i] = i;").replace("workgroup_size(8)", &format!("workgroup_size({size})"));
        let message = refused(&wgsl);
        assert!(message.is_some(), "{size}");
    }
}
