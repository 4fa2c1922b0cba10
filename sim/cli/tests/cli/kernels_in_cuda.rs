//! Kernels in CUDA C++ and OpenCL C on the command line: through clang, with lines of the source, functions of the device
//! library, flags, and NVIDIA's compiler where one is named.

use super::scratch::Scratch;
use wave_testing::clang::clang;

/// A program with the host's half, a header, a structure and a function of the device library.
const CU: &str = "\
#include <cstdio>
#include <cuda_runtime.h>
#include \"number.h\"
struct Range { int first, end; float factor; };
__device__ float twice(float x)
{
    return x + x;
}
__global__ void k(float *out, const float *in, Range range)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= range.first && i < range.end)
        out[i] = twice(in[i]) * range.factor
            + powf(in[i], NUMBER);
}
int main()
{
    float *d;
    cudaMalloc(&d, 128);
    k<<<1, 32>>>(d, d, Range{0, 32, 1.0f});
    printf(\"%s\\n\", cudaGetErrorString(cudaDeviceSynchronize()));
    return cudaFree(d);
}
";

const CL: &str = "\
__kernel void reverse(__global float *out, __global const float *in, __local float *tile, float factor)
{
    int i = get_local_id(0), n = get_local_size(0);
    tile[i] = exp2(in[get_global_id(0)]);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = factor * tile[n - 1 - i];
}
";

fn scratch() -> Scratch {
    let scratch = Scratch::with(&[("k.cu", CU), ("r.cl", CL)]);
    std::fs::create_dir(scratch.path("include")).unwrap();
    scratch.write("include/number.h", b"#define NUMBER 3.0f\n");
    scratch
}

/// first = 1, end = 3, factor = 2.0: the bytes of the structure.
const RUN: &str = "k.cu --config gpu --workgroup 32 --param 4096 --param 0 --param hex:010000000300000000000040 \
                   --fill-iota 0:f32:32:1";

#[test]
fn a_program_runs_unchanged_and_every_command_takes_it() {
    if !clang() {
        return;
    }
    let scratch = scratch();
    let after = "-- -Iinclude";
    // 2i * 2 + i^3: in lanes 1 and 2 alone.
    let out = scratch.out(&format!("{RUN} --functional --dump-f32 4096:4 {after}"));
    assert_eq!(out.split_whitespace().collect::<Vec<_>>(), ["0.0", "5.0", "16.0", "0.0"]);
    for command in [
        "check k.cu",
        "asm k.cu -o x.wbin",
        "dis k.cu",
        "dis --ir k.cu",
        "explain k.cu --no-check --config tiny --workgroup 32 --param 4096 --param 0 --param hex:010000000300000000000040",
        "debug k.cu --config tiny --workgroup 32 --param 4096 --param 0 --param hex:010000000300000000000040 -x continue",
    ] {
        scratch.out(&format!("{command} {after}"));
    }
    let dis = scratch.out(&format!("dis k.cu {after}"));
    assert!(dis.contains("out[i] = twice(in[i]) * range.factor") && dis.contains("return x + x;"), "{dis}");
    assert!(!dis.contains("ld.param"), "{dis}");
    // A launch file names buffers, and folders of its own.
    scratch.write(
        "k.ron",
        br#"(source: "k.cu", clang: ["-Iinclude"],
            buffers: (input: (type: f32, contents: each("i"), length: 32), out: (type: f32, length: 32)),
            steps: [run(grid: 1, workgroup: 32, arguments: ["out", "input", "hex:00000000200000000000803f"])],
            expect: (out: (equals: each("2 * i + i * i * i"), tolerance: relative(1e-6))))"#,
    );
    let ran = scratch.run("k.ron --config tiny");
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
}

#[test]
fn errors_of_the_compiler_have_their_place_and_those_of_the_translation_the_line_of_the_source() {
    if !clang() {
        return;
    }
    let scratch = scratch();
    let ran = scratch.run("check k.cu");
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.contains("clang rejects `k.cu`") && ran.err.contains("k.cu:3:10: fatal error"),
        "{}",
        ran.err
    );
    scratch.write("p.cu", b"__global__ void k(void **out, int n)\n{\n    *out = malloc(n);\n}\n");
    let ran = scratch.run("check p.cu");
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.contains("p.cu:3: `malloc`") && ran.err.contains("give the kernel a buffer"),
        "{}",
        ran.err
    );
    let ran =
        scratch.run(&RUN.replace("hex:010000000300000000000040", "hex:01000000030000000000004000000000"));
    assert_eq!(ran.code, 2, "{}", ran.err);
    let ran = scratch.run(&format!("{} -- -Iinclude", RUN.replace("--param 4096", "--param 0x1_0000_1000")));
    assert!(ran.code == 2 && ran.err.contains("device memory ends at 4 GiB"), "{}", ran.err);
}

#[test]
fn opencl_runs_with_its_built_in_functions() {
    if !clang() {
        return;
    }
    let scratch = scratch();
    let run = "r.cl --config gpu --workgroup 8 --grid 2 --dynamic-local 32 --param 4096 --param 0 --param 0 --param 0.5 \
               --fill-iota 0:f32:16:1 --functional --dump-f32 4096:16";
    let out = scratch.out(run);
    assert!(out.split_whitespace().take(4).eq(["64.0", "32.0", "16.0", "8.0"]), "{out}");
    assert!(scratch.out("dis r.cl").contains("barrier(CLK_LOCAL_MEM_FENCE);"));
    let ran = scratch.run("check r.cl --cuda-compiler nvcc");
    assert!(ran.code == 2 && ran.err.contains("compiles CUDA C++, and `r.cl` is OpenCL C"), "{}", ran.err);
}

/// No NVIDIA compiler is here: a script with its flags calls clang.
#[cfg(unix)]
#[test]
fn the_compiler_of_nvidia_is_called_where_it_is_named() {
    use std::os::unix::fs::PermissionsExt;
    if !clang() {
        return;
    }
    let scratch = scratch();
    let script = "#!/bin/sh\necho \"$@\" >flags\nout=\nwhile [ $# -gt 1 ]; do [ \"$1\" = -o ] && out=$2; shift; done\n\
                  printf '.version 7.8\\n.target sm_75\\n.address_size 64\\n.visible .entry k()\\n{\\nret;\\n}\\n' >$out\n";
    scratch.write("nvcc", script.as_bytes());
    std::fs::set_permissions(scratch.path("nvcc"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let out = scratch.out("check k.cu --cuda-compiler ./nvcc -- -DN=4");
    assert!(out.contains("kernel k"), "{out}");
    let flags = std::fs::read_to_string(scratch.path("flags")).unwrap();
    assert!(flags.starts_with("-ptx -lineinfo") && flags.contains("-arch=sm_75 -DN=4"), "{flags}");
    let ran = scratch.run("check k.cu --cuda-compiler ./no-such-nvcc");
    assert!(ran.code == 2 && ran.err.contains("`./no-such-nvcc` does not run"), "{}", ran.err);
}

#[test]
fn what_kernels_print_comes_by_workgroup_and_thread_and_an_assertion_says_what_failed() {
    if !clang() {
        return;
    }
    let scratch = Scratch::new();
    let source = "#include <cstdio>\n#include <cassert>\n__global__ void k(int n)\n{\n    \
                  printf(\"%d: %5.2f %s %lld\\n\", threadIdx.x + blockDim.x * blockIdx.x, 0.25 * threadIdx.x, \"text\", 1ll << 40);\n    \
                  if (threadIdx.x == 1) printf(\"no argument\\n\");\n    assert(threadIdx.x < n);\n}\n";
    scratch.write("p.cu", source.as_bytes());
    let ran = scratch.run("p.cu --config gpu --grid 2 --workgroup 2 --param 2");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let expected = "0:  0.00 text 1099511627776\n1:  0.25 text 1099511627776\nno argument\n\
                    2:  0.00 text 1099511627776\n3:  0.25 text 1099511627776\nno argument\n";
    assert!(ran.out.starts_with(expected), "{}", ran.out);
    assert_eq!(
        scratch.run("p.cu --functional --grid 2 --workgroup 2 --param 2").out[..expected.len()],
        *expected
    );
    let ran = scratch.run("p.cu --config gpu --workgroup 2 --param 1");
    assert_eq!(ran.code, 3);
    assert!(
        ran.out.contains("Assertion `threadIdx.x < n` failed.") || ran.err.contains("Assertion"),
        "{}{}",
        ran.out,
        ran.err
    );
}

/// A product with `nvcuda::wmma`: small integers, whose sums are exact. One remark says whose cycles they are.
#[test]
fn matrices_of_a_warp_have_their_header() {
    if !clang() {
        return;
    }
    let source = "\
#include <mma.h>
using namespace nvcuda;
__global__ void hgemm(const half *a, const half *b, float *c, int n)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> y;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    int row = blockIdx.y * 16, column = (blockIdx.x * blockDim.y + threadIdx.y) * 16;
    for (int k = 0; k < n; k += 16) {
        wmma::load_matrix_sync(x, a + row * n + k, n);
        wmma::load_matrix_sync(y, b + k * n + column, n);
        wmma::mma_sync(sum, x, y, sum);
    }
    wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}
";
    let launch = r#"(
        source: "m.cu",
        buffers: (
            a: (type: f16, length: 4096, contents: integers(-4, 4)),
            b: (type: f16, length: 4096, contents: integers(-4, 4)),
            c: (type: f32, length: 4096),
        ),
        steps: [run(grid: (2, 4), workgroup: (32, 2), arguments: ["a", "b", "c", 64])],
        expect: (c: (equals: matmul(a: "a", b: "b", inner: 64))),
    )"#;
    let scratch = Scratch::with(&[("m.cu", source), ("m.ron", launch)]);
    let ran = scratch.run("m.ron --config gpu");
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert_eq!(ran.err.matches("not those of a tensor unit").count(), 1, "{}", ran.err);
}
