//! Unmodified programs: `wave-sim nvcc` compiles them as NVIDIA's compiler would, and `wave-sim run` runs them.

use super::scratch::{Ran, Scratch};
use assert_cmd::Command;
use std::path::{Path, PathBuf};
use wave_testing::clang::clang;

/// The programs of the suite in a language.
fn programs(folder: &str, extension: &str, least: usize) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels/programs").join(folder);
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        files.filter(|file| file.extension().is_some_and(|e| e == extension)).collect();
    files.sort();
    assert!(files.len() >= least, "{files:?}");
    files
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

/// A program of the suite, compiled.
fn compiled(scratch: &Scratch, source: &Path) -> String {
    let name = stem(source);
    let ran = scratch.run(&format!("nvcc -O2 -arch=sm_70 {} -o {name}", source.display()));
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    name
}

/// A program with this text, compiled.
fn made(scratch: &Scratch, name: &str, text: &str) {
    scratch.write(&format!("{name}.cu"), text.as_bytes());
    compiled(scratch, &scratch.path(&format!("{name}.cu")));
}

/// Compiles a program in C against the OpenCL that `wave-sim run` brings.
fn compiled_for_opencl(scratch: &Scratch, source: &Path) {
    let name = stem(source);
    let words = format!("cc -O1 -o {name} {} -L${{LD_LIBRARY_PATH%%:*}} -lOpenCL -lm", source.display());
    let ran = shell(scratch, &words);
    assert_eq!(ran.code, 0, "{}", ran.err);
}

/// Runs a shell under `wave-sim run`.
fn shell(scratch: &Scratch, words: &str) -> Ran {
    scratch.write("run.sh", words.as_bytes());
    scratch.run("run --config tiny -- sh run.sh")
}

/// A kernel with a part that each thread does, and a host that launches it twice and a second kernel once.
const TWO_KERNELS: &str = "\
#include <cstdio>
__global__ void fill(int *p) { p[threadIdx.x] = threadIdx.x; }
__global__ void twice(int *p)
{
    p[threadIdx.x] = 2 * p[threadIdx.x] + 1; // the hot line
}
int main()
{
    int *d, h[64];
    cudaMalloc(&d, sizeof h);
    fill<<<1, 64>>>(d);
    cudaDeviceSynchronize();
    twice<<<1, 64>>>(d);
    twice<<<1, 64>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf(\"%d\\n\", h[63]);
    return h[63] == 255 ? 0 : 1;
}
";

#[test]
fn the_suite_of_cuda_programs_runs_to_its_own_verdict() {
    if !clang() {
        return;
    }
    let scratch = Scratch::new();
    for source in programs("cuda", "cu", 10) {
        let name = compiled(&scratch, &source);
        let ran = scratch.run(&format!("run --config gpu -- ./{name}"));
        // The last thing that the program of errors does is to lose the device.
        let expected = if name == "errors" { 3 } else { 0 };
        assert_eq!(ran.code, expected, "{name}: {}{}", ran.out, ran.err);
        assert!(ran.out.contains("PASSED") && !ran.out.contains("FAILED"), "{name}: {}{}", ran.out, ran.err);
        assert!(
            ran.err.contains("launch  kernel") || ran.err.contains("launches  kernel"),
            "{name}: {}",
            ran.err
        );
    }
}

#[test]
fn the_suite_of_opencl_programs_runs_to_its_own_verdict() {
    if !clang() {
        return;
    }
    assert!(Path::new("/usr/include/CL/cl.h").exists(), "sudo apt-get install -y opencl-headers");
    let scratch = Scratch::new();
    for source in programs("opencl", "c", 3) {
        compiled_for_opencl(&scratch, &source);
        let name = stem(&source);
        let ran = scratch.run(&format!("run --config gpu -- ./{name}"));
        assert_eq!(ran.code, 0, "{name}: {}{}", ran.out, ran.err);
        assert!(ran.out.contains("PASSED"), "{name}: {}{}", ran.out, ran.err);
    }
}

#[test]
fn results_are_the_same_bytes_whatever_the_threads_and_are_those_of_a_run() {
    if !clang() {
        return;
    }
    let scratch = Scratch::new();
    made(&scratch, "two", TWO_KERNELS);
    for threads in [1, 4] {
        let words = format!("run --config gpu --threads {threads} --format json -o {threads}.json -- ./two");
        assert_eq!(scratch.out(&words), "255\n");
    }
    let one = scratch.read("1.json");
    assert_eq!(one, scratch.read("4.json"));
    let document: serde_json::Value = serde_json::from_slice(&one).unwrap();
    let launches = document["runs"][0]["launches"].as_array().unwrap();
    let kernels: Vec<&str> = launches.iter().map(|launch| launch["kernel"].as_str().unwrap()).collect();
    assert_eq!(kernels, ["fill", "twice", "twice"]);
    // The document is one that other commands read.
    scratch.out("run --config tiny --format json -o tiny.json -- ./two");
    let compared = scratch.out("compare 1.json tiny.json");
    assert!(compared.contains("two") && compared.contains("cycles"), "{compared}");
    // Without timing the results are the same, and events have no cycles.
    let ran = scratch.run("run --functional -- ./two");
    assert_eq!((ran.code, ran.out.as_str()), (0, "255\n"), "{}", ran.err);
    assert!(ran.err.contains("without timing") && !ran.err.contains("cycles"), "{}", ran.err);
}

#[test]
fn a_report_shows_the_lines_of_all_kernels_and_traces_their_instructions() {
    if !clang() {
        return;
    }
    let scratch = Scratch::new();
    made(&scratch, "two", TWO_KERNELS);
    scratch.out("run --config tiny --report r.html --wvfi t.txt -o r.txt --energy --stats -- ./two");
    let page = String::from_utf8(scratch.read("r.html")).unwrap();
    assert!(page.contains("the hot line") && page.contains("__global__ void fill"), "no lines of the source");
    let trace = String::from_utf8(scratch.read("t.txt")).unwrap();
    assert!(trace.lines().count() > 100, "{trace}");
    let text = String::from_utf8(scratch.read("r.txt")).unwrap();
    for part in ["launch  kernel  grid", "kernel.cycles", "energy"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn the_host_takes_time_if_flags_say_so() {
    if !clang() {
        return;
    }
    let scratch = Scratch::new();
    made(&scratch, "two", TWO_KERNELS);
    let ran = scratch.run("run --config gpu --launch-time 5 --copy-bandwidth 0.001 -- ./two");
    // 256 bytes at 1 MB/s are 256 us, three launches 15 us, and the kernels a part of one.
    let line = ran.err.lines().find(|line| line.starts_with("  time")).expect("a line on time");
    assert!(
        line.contains("271 µs: ") && line.contains("launches 5.5 %") && line.contains("copies 94.3 %"),
        "{line}"
    );
    assert!(!scratch.run("run --config gpu -- ./two").err.contains("  time"));
}

#[test]
fn a_fault_has_its_line_and_the_program_its_error_code() {
    if !clang() {
        return;
    }
    let scratch = Scratch::new();
    let program = "\
#include <cstdio>
__global__ void k(int *p)
{
    p[1 << 29] = 1;
}
int main()
{
    int *d;
    cudaMalloc(&d, 64);
    k<<<1, 32>>>(d);
    printf(\"%s\\n\", cudaGetErrorName(cudaDeviceSynchronize()));
}
";
    made(&scratch, "k", program);
    let ran = scratch.run("run --config gpu -- ./k");
    assert_eq!((ran.code, ran.out.as_str()), (3, "cudaErrorIllegalAddress\n"));
    assert!(ran.err.contains("k.cu:4") && ran.err.contains("is outside its memory"), "{}", ran.err);
    // A pointer of the host is an error too.
    let of_host =
        program.replace("p[1 << 29]", "p[threadIdx.x]").replace("k<<<1, 32>>>(d)", "k<<<1, 32>>>((int *)&d)");
    made(&scratch, "h", &of_host);
    let ran = scratch.run("run --config gpu -- ./h");
    assert_eq!((ran.code, ran.out.as_str()), (3, "cudaErrorIllegalAddress\n"));
    assert!(ran.err.contains("an address of the host"), "{}", ran.err);
}

#[test]
fn what_is_not_there_is_named_once_and_the_program_goes_on() {
    if !clang() {
        return;
    }
    let scratch = Scratch::new();
    let program = "\
#include <cstdio>
extern \"C\" int cudaGraphCreate(void *, unsigned);
int main()
{
    void *graph;
    printf(\"%d %d\\n\", cudaGraphCreate(&graph, 0), cudaGraphCreate(&graph, 0));
}
";
    made(&scratch, "g", program);
    let ran = scratch.run("run -- ./g");
    assert_eq!((ran.code, ran.out.as_str()), (0, "801 801\n"), "{}", ran.err);
    assert_eq!(ran.err.matches("cudaGraphCreate is not available").count(), 1, "{}", ran.err);
    // Without `wave-sim run` the program has no libcudart, or has a real one.
    assert!(!std::process::Command::new(scratch.path("g")).output().unwrap().status.success());
}

#[test]
fn programs_beside_one_another_have_devices_of_their_own() {
    if !clang() {
        return;
    }
    let scratch = Scratch::new();
    made(&scratch, "two", TWO_KERNELS);
    scratch.write("both.sh", b"./two & ./two; wait\n");
    let out = scratch.out("run --config gpu --format json -o both.json -- sh both.sh");
    assert_eq!(out, "255\n255\n");
    let document: serde_json::Value = serde_json::from_slice(&scratch.read("both.json")).unwrap();
    let runs = document["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[0]["launches"], runs[1]["launches"]);
}

#[test]
fn exit_codes_are_those_of_the_program_and_nothing_stays_behind() {
    let scratch = Scratch::new();
    let temporary = scratch.path("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let run = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wave-sim"));
        let output = command.env("TMPDIR", &temporary).arg("run").arg("--").args(words).output().unwrap();
        let left: Vec<_> =
            std::fs::read_dir(&temporary).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(left.is_empty(), "{left:?}");
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, err) = run(&["sh", "-c", "exit 42"]);
    assert_eq!(code, Some(42));
    assert!(err.contains("no kernel was launched"), "{err}");
    assert_eq!(run(&["sh", "-c", "kill -9 $$"]).0, Some(137));
    let (code, err) = run(&["./nothing"]);
    assert_eq!(code, Some(127));
    assert!(err.contains("`./nothing` cannot be started"), "{err}");
}

#[test]
fn flags_that_make_no_sense_are_refused_before_the_program_starts() {
    let scratch = Scratch::new();
    let refused = |words: &str, message: &str| {
        let ran = scratch.run(&format!("run {words} -- touch started"));
        assert_eq!(ran.code, 2, "{words}: {}", ran.err);
        assert!(ran.err.contains(message), "{words}: {}", ran.err);
        assert!(!scratch.path("started").exists(), "{words}");
    };
    refused("--functional --report r.html", "--functional leaves out timing, and --report shows it");
    refused("--sample --wvfi t", "--sample leaves out timing, and --wvfi shows it");
    refused("--report r.html --trigger fault", "a program runs once");
    refused("--config nothing", "nothing");
    refused("--output no/folder/r.txt", "no/folder");
    refused("--launch-time=-1", "it is a number that is not negative");
    refused("--copy-bandwidth fast", "it is a number that is not negative");
    assert_eq!(scratch.run("run").code, 2);
    let ran = scratch.run("nvcc nothing.cu -o x");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("nothing.cu"), "{}", ran.err);
}

#[test]
fn a_makefile_that_calls_nvcc_builds_objects_and_links_them() {
    if !clang() {
        return;
    }
    let scratch = Scratch::new();
    scratch.write(
        "a.cu",
        b"#include \"b.h\"\n__global__ void k(int *p) { *p = 7; }\nvoid run(int *p) { k<<<1, 1>>>(p); }\n",
    );
    scratch.write("b.h", b"void run(int *p);\n");
    let main = "#include <cuda_runtime.h>\n#include \"b.h\"\n__constant__ int unused[4];\n__global__ void other() {}\n\
                int main() { int *d, h = 0; cudaMalloc(&d, 4); run(d); other<<<1, 1>>>();\n\
                cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost); return h; }\n";
    scratch.write("main.cu", main.as_bytes());
    scratch.out("nvcc -c a.cu -Xcompiler -Wall --ptxas-options=-v");
    scratch.out("nvcc -c main.cu -o main.o -gencode arch=compute_60,code=sm_60");
    scratch.out("nvcc a.o main.o -o app -lcudart -lm");
    let ran = scratch.run("run --config tiny -- ./app");
    assert_eq!(ran.code, 7, "{}", ran.err);
    scratch.out("nvcc -ptx a.cu");
    assert!(String::from_utf8(scratch.read("a.ptx")).unwrap().contains(".entry _Z1kPi"));
}

#[test]
fn what_kernels_print_stands_where_the_program_prints() {
    if !clang() {
        return;
    }
    let scratch = Scratch::new();
    let program = "\
#include <cassert>
#include <cstdio>
__global__ void k(const char *unused, int n)
{
    printf(\"thread %d of %s: %.1f\\n\", threadIdx.x, \"k\", threadIdx.x / 2.0f);
    assert(n > 0);
}
int main()
{
    printf(\"before\\n\");
    k<<<1, 3>>>(0, 1);
    cudaDeviceSynchronize();
    printf(\"between\\n\");
    k<<<1, 1>>>(0, 0);
    printf(\"%s\\n\", cudaGetErrorName(cudaDeviceSynchronize()));
}
";
    made(&scratch, "p", program);
    let ran = scratch.run("run --config gpu -- ./p");
    let expected = "before\nthread 0 of k: 0.0\nthread 1 of k: 0.5\nthread 2 of k: 1.0\nbetween\n\
                    cudaErrorAssert\n";
    assert_eq!((ran.code, ran.out.as_str()), (3, expected), "{}", ran.err);
    assert!(
        ran.err.contains("printed: thread 0 of k: 0.0") && ran.err.contains("Assertion `n > 0` failed"),
        "{}",
        ran.err
    );
}
