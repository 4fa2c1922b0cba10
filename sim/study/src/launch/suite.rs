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
    /// The module that was compiled of it, if it is in C.
    pub module: Option<&'static [u8]>,
}

macro_rules! builtins {
    ($folder:literal, $extension:literal: $($name:literal)*) => {
        &[$(Builtin {
            name: concat!($folder, $name),
            launch: include_str!(concat!("../../../kernels/", $folder, $name, ".ron")),
            source_file: concat!($name, $extension),
            source: include_str!(concat!("../../../kernels/", $folder, $name, $extension)),
            module: None,
        },)*]
    };
}

macro_rules! builtins_in_c {
    ($($name:literal)*) => {
        &[$(Builtin {
            name: concat!("c/", $name),
            launch: include_str!(concat!("../../../kernels/c/", $name, ".ron")),
            source_file: concat!($name, ".c"),
            source: include_str!(concat!("../../../kernels/c/", $name, ".c")),
            module: Some(include_bytes!(concat!("../../../kernels/c/", $name, ".wasm"))),
        },)*]
    };
}

/// From simple to involved.
pub(super) static SUITE: &[Builtin] = builtins! {
    "", ".wave":
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

/// Programs in C, with the modules that `scripts/build-c-suite.sh` makes of them. The first nine are in [`SUITE`] too, in
/// assembly, with the same data.
pub(super) static C_SUITE: &[Builtin] = builtins_in_c! {
    "saxpy"
    "histogram"
    "sgemm"
    "softmax"
    "stencil2d"
    "nbody"
    "mandelbrot"
    "spmv"
    "crc32"
    "bfs"
    "fft"
    "sha256"
    "quicksort"
    "edit_distance"
    "raytrace"
    "lz4"
    "mlp"
};

/// Compute shaders. The first seventeen are in [`SUITE`] too, in assembly, with the same data.
pub(super) static WGSL_SUITE: &[Builtin] = builtins! {
    "wgsl/", ".wgsl":
    "saxpy"
    "transpose_padded"
    "reduction"
    "scan"
    "compact"
    "histogram"
    "sgemm"
    "hgemm"
    "softmax"
    "stencil2d"
    "nbody"
    "mandelbrot"
    "monte_carlo_pi"
    "spmv"
    "bfs"
    "bitonic_sort"
    "crc32"
    "fft"
    "sha256"
    "raytrace"
    "mlp"
    "attention"
    "convolution"
    "particles"
    "lookback_scan"
    "radix_sort"
};

/// Kernels in CUDA C++, with the PTX that `scripts/build-cuda-suite.sh` makes of them. Many are in [`SUITE`] too, in assembly,
/// with the same data.
pub(super) static CUDA_SUITE: &[Builtin] = builtins! {
    "cuda/", ".ptx":
    "saxpy"
    "reduction"
    "transpose"
    "histogram"
    "stencil2d"
    "softmax"
    "sgemm"
    "dgemm"
    "nbody"
    "scan"
    "bfs"
    "dot_f64"
    "spmv"
    "filter"
    "hotspot"
    "pathfinder"
    "nw"
    "btree"
    "mri_q"
    "lavamd"
};

/// The launch file of this name, in any suite.
pub(super) fn builtin(name: &str) -> Option<&'static Builtin> {
    SUITE.iter().chain(C_SUITE).chain(WGSL_SUITE).chain(CUDA_SUITE).find(|b| b.name == name)
}
