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

/// The cycles of all launches of a report's only program.
fn cycles_of(report: &serde_json::Value) -> u64 {
    report["runs"][0]["total"]["statistics"]["kernel.cycles"].as_u64().expect("cycles")
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
        let is_head = |line: &str| line.starts_with("launch") && line.contains(" kernel ");
        assert!(ran.err.lines().any(is_head), "{name}: {}", ran.err);
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

#[test]
fn a_program_is_what_a_sweep_runs() {
    if !clang() {
        return;
    }
    let scratch = Scratch::new();
    made(&scratch, "two", TWO_KERNELS);
    let sweep = "sweep --config tiny --set core.l1.bytes=4KiB,8KiB --out t -- ./two";
    let ran = scratch.run(sweep);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("two") && ran.err.contains("host: 2 of 2 runs ran"), "{}{}", ran.out, ran.err);
    // The cycles of a point are those of a run there.
    scratch.out("run --config tiny --set core.l1.bytes=8KiB --format json -o 8.json -- ./two");
    let document: serde_json::Value = serde_json::from_slice(&scratch.read("8.json")).unwrap();
    let cycles = cycles_of(&document);
    let table = String::from_utf8(scratch.read("t.csv")).unwrap();
    let row = table.lines().find(|line| line.contains("8192")).expect("a row");
    assert!(row.split(',').any(|cell| cell == cycles.to_string()), "{cycles}: {table}");
    // What is known does not run again, and another argument is another run.
    assert!(scratch.run(sweep).err.contains("host: 0 of 2 runs ran, 2 were in"));
    assert!(scratch.run(&format!("{sweep} 1")).err.contains("host: 2 of 2 runs ran, 0 were in"));
    // A program that fails is no result.
    made(&scratch, "wrong", &TWO_KERNELS.replace("== 255", "== 1"));
    let ran = scratch.run("sweep --config tiny --set core.l1.bytes=4KiB,8KiB --out w -- ./wrong");
    assert_eq!(ran.code, 3, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("`wrong` ended with exit status: 1"), "{}{}", ran.out, ran.err);
    for (words, message) in [
        ("--set cores=1,2 -- ./nothing", "there is no program `./nothing`"),
        ("--set cores=1,2 --grid 4 -- ./two", "--grid is for kernels, and `two` launches its own"),
        ("--set cores=1,2 --seeds 1..3 -- ./two", "--seeds is for kernels"),
        ("--set cores=1,2 --size small -- ./two", "--size is for kernels"),
    ] {
        let ran = scratch.run(&format!("sweep {words}"));
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{words}");
        assert!(ran.err.contains(message), "{words}: {}", ran.err);
    }
}

#[test]
fn a_timeline_has_every_launch_kernel_and_copy() {
    if !clang() {
        return;
    }
    let scratch = Scratch::new();
    made(&scratch, "two", TWO_KERNELS);
    let flags = "--launch-time 5 --copy-bandwidth 0.001 --timeline t.json --format json -o r.json";
    scratch.out(&format!("run --config gpu {flags} -- ./two"));
    let timeline: serde_json::Value = serde_json::from_slice(&scratch.read("t.json")).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&scratch.read("r.json")).unwrap();
    let events = timeline["traceEvents"].as_array().unwrap();
    let parts: Vec<_> = events.iter().filter(|event| event["ph"] == "X").collect();
    let names: Vec<&str> = parts.iter().map(|part| part["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["fill", "fill", "twice", "twice", "twice", "twice", "copy"]);
    let cycles: u64 = parts.iter().filter_map(|part| part["args"]["cycles"].as_u64()).sum();
    assert_eq!(cycles_of(&report), cycles);
    // Each part begins where the one before has ended.
    let mut now = 0.0;
    for part in parts {
        assert!((part["ts"].as_f64().unwrap() - now).abs() < 1e-6, "{part}");
        now += part["dur"].as_f64().unwrap();
    }
    let refused = scratch.run("run --timeline no/folder/t.json -- ./two");
    assert_eq!((refused.code, refused.out.as_str()), (2, ""), "{}", refused.err);
}

/// Ten thousand launches, each with its requests, and an account of the time of the host.
#[test]
fn the_host_tells_where_its_time_went() {
    if !clang() {
        return;
    }
    let scratch = Scratch::new();
    let source = programs("cuda", "cu", 10).into_iter().find(|file| stem(file) == "launches").unwrap();
    compiled(&scratch, &source);
    let ran = scratch.run("run --config tiny -- ./launches 300");
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let line = ran.err.lines().find(|line| line.starts_with("host: ")).expect("a line on the host");
    let of = |name: &str| {
        let (_, rest) = line.split_once(&format!("{name}=")).expect(name);
        rest.split(' ').next().unwrap().parse::<f64>().expect(name)
    };
    let requests: u64 = line["host: ".len()..].split(' ').next().unwrap().replace(',', "").parse().unwrap();
    assert!(requests >= 300, "{line}");
    assert!(of("simulated") > 0.0 && of("code") > 0.0, "{line}");
    assert!(of("simulated") + of("code") + of("others") <= of("seconds"), "{line}");
}
