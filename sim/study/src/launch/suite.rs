//! The built-in kernel suite.

/// A launch file of the suite with the source of its kernels.
#[derive(Debug)]
pub(crate) struct Builtin {
    /// Name.
    pub name: &'static str,
    /// The launch file.
    pub launch: &'static str,
    /// Name of the source.
    pub source_file: &'static str,
    /// The source.
    pub source: &'static str,
}

macro_rules! builtins {
    ($($name:literal)*) => {
        &[$(Builtin {
            name: $name,
            launch: include_str!(concat!("../../../kernels/", $name, ".ron")),
            source_file: concat!($name, ".wave"),
            source: include_str!(concat!("../../../kernels/", $name, ".wave")),
        },)*]
    };
}

/// From simple to involved.
pub(super) static SUITE: &[Builtin] = builtins! {
    "vector_add"
    "saxpy"
    "alu_loop"
    "transpose_naive"
    "transpose_padded"
    "reduction"
    "scan"
    "compact"
    "histogram"
    "sgemm"
    "hgemm"
    "mma_gemm"
    "mlp_layer"
    "softmax"
    "stencil2d"
    "nbody"
    "mandelbrot"
    "monte_carlo_pi"
    "dot_f64"
    "spmv"
    "bfs"
    "bitonic_sort"
    "crc32"
    "lcm"
    "pointer_chase"
};

/// The launch file of this name.
pub(super) fn builtin(name: &str) -> Option<&'static Builtin> {
    SUITE.iter().find(|b| b.name == name)
}
