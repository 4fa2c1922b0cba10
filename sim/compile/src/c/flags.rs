//! Flags of clang and of the linker.

use std::path::Path;

/// A language that clang compiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    C,
    Cpp,
}

/// Extensions of files.
pub(super) const EXTENSIONS: [(&str, Language); 4] =
    [("c", Language::C), ("cpp", Language::Cpp), ("cc", Language::Cpp), ("cxx", Language::Cpp)];

/// The language of a file, by its extension.
pub(super) fn language(path: &Path) -> Option<Language> {
    let extension = path.extension()?.to_str()?;
    EXTENSIONS.iter().find(|(known, _)| *known == extension).map(|&(_, language)| language)
}

/// For the compiler and for the linker: the machine. Conversions of floats that saturate are what WAVE has; everything
/// else that newer versions of clang switch on by themselves is off.
pub(super) const TARGET: [&str; 6] =
    ["--target=wasm32", "-mcpu=mvp", "-mmutable-globals", "-msign-ext", "-mnontrapping-fptoint", "-matomics"];

/// For the compiler. Address 0 of device memory is as good as any other. Errors of mathematical functions set no
/// variable, so that `sqrtf` is an instruction.
pub(super) const COMPILE: [&str; 8] = [
    "-c",
    "-O2",
    "-g",
    "-nostdlibinc",
    "-fno-math-errno",
    "-fno-delete-null-pointer-checks",
    "-fvisibility=hidden",
    "-Werror=noderef",
];

/// For the compiler: code stays where it is written, with its lines.
pub(super) const KEEP_LINES: [&str; 2] = ["-mllvm", "-disable-machine-sink"];

/// Functions that `wave.h` defines with instructions of the machine: clang must not know better.
pub(super) const OURS: [&str; 12] =
    ["fmaf", "fma", "fminf", "fmaxf", "sinf", "cosf", "tanf", "exp2f", "log2f", "expf", "logf", "powf"];

/// For CUDA C++: code for the device alone, with our headers in place of NVIDIA's. Programs of the field are older than
/// the rules on `register` and on texts without `const`.
pub(super) const CUDA: [&str; 10] = [
    "-x",
    "cuda",
    "-std=c++17",
    "-nocudainc",
    "-nocudalib",
    "--cuda-device-only",
    "-Wno-register",
    "-Wno-writable-strings",
    "-Wno-unknown-cuda-version",
    "-Wno-unused-result",
];

/// For the host's half of CUDA C++: launches are those of CUDA since version 9.2.
pub(super) const HOST: [&str; 3] = ["-O2", "-Xclang", "-target-sdk-version=11.0"];

/// The target of CUDA C++, unless the user names one.
pub(super) const CUDA_TARGET: &str = "--cuda-gpu-arch=sm_75";

/// Flags of clang that name a target for CUDA.
pub(super) const CUDA_TARGETS: [&str; 2] = ["--cuda-gpu-arch", "--offload-arch"];

/// For OpenCL C: our header in place of clang's declarations. The pointers of kernels are those of CUDA's launches. With
/// later versions of DWARF, clang 14 crashes where a function is called: its PTX has no way to describe calls.
pub(super) const OPENCL: [&str; 10] = [
    "-gdwarf-2",
    "-x",
    "cl",
    "-cl-std=CL1.2",
    "-target",
    "nvptx64-nvidia-nvcl",
    "-Xclang",
    "-target-cpu",
    "-Xclang",
    "sm_75",
];

/// For both: PTX with the lines of the source.
pub(super) const PTX: [&str; 3] = ["-S", "-O2", "-gline-tables-only"];

/// For NVIDIA's compiler: the same.
pub(super) const NVCC: [&str; 3] = ["-ptx", "-lineinfo", "-Wno-deprecated-gpu-targets"];

/// The target of NVIDIA's compiler, unless the user names one.
pub(super) const NVCC_TARGET: &str = "-arch=sm_75";

/// For C++: what needs a library that is not there.
pub(super) const CPP: [&str; 4] = ["-std=c++17", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics"];

/// For the linker. The stack has no bytes: each thread gets its own elsewhere.
pub(super) const LINK: [&str; 8] = [
    "-nostdlib",
    "-Wl,--no-entry",
    "-Wl,--export-dynamic",
    "-Wl,--export=__heap_base",
    "-Wl,--export=__stack_pointer",
    "-Wl,--export-if-defined=__wave_heap_start",
    "-Wl,--export-if-defined=__wave_heap_bytes",
    "-Wl,-z,stack-size=0",
];
