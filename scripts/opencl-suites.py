#!/usr/bin/env python3
"""Runs public OpenCL programs on simulated machines with `wave-sim run`.

    scripts/opencl-suites.py --polybench DIR --rodinia DIR [--built DIR]
    scripts/opencl-suites.py --built DIR

Each DIR is a checkout: PolyBench-GPU (sgrauerg/polybenchGpu) and Rodinia (yuhc/gpu-rodinia). Programs that --built
lacks are compiled with cc and c++, or CC and CXX of the environment; the system needs OpenCL's headers and loader.
The programs know nothing of wave-sim, and their kernels are compiled while they run. Sizes are small, so that a
cycle-level simulation ends in seconds: where a program has no argument for its size, the constant is edited in a copy.
--list shows arguments and edits.
"""

import os
import random
import shutil

from suites import (
    Builder, GRAPH_TEXT, HOTSPOT, HOTSPOT_HEAT, HOTSPOT_POWER, Program, RECORDS, SYSTEM_TEXT, Script, check_btree,
    check_gaussian, check_hotspot, check_hotspot3d, check_lavamd, check_nn, check_nw, check_pathfinder,
    field_text, make_domain, make_field, make_picture, own_count, own_message, start,
)

SUITES = {"polybench": "PolyBench-GPU", "rodinia": "Rodinia"}
# Files that programs open, or that their kernels include.
KERNEL_FILES = ("*.cl", "*.h")


def polybench(name, folder, source, sizes, edits=()):
    # Some kernels have sizes of their own.
    edits = [*edits, *(("*.[ch]*", rf"(# *define {size}) \d+", rf"\1 {value}") for size, value in sizes.items())]
    return Program("polybench", name, f"OpenCL/{folder}", [source], edits=edits, check=own_count)


def rodinia(name, folder, sources, **rest):
    # Programs that call their sources C++ call all of them so.
    compiler = "c++" if ".cpp" in sources else "cc"
    return Program("rodinia", name, f"opencl/{folder}", sources.split(), **{"compiler": compiler, **rest})


def rows_of_polybench():
    # Some programs do not run their check, and gramschm has columns that depend on one another: values are NaN, which
    # its check accepts.
    independent = ("gramschmidt.c", r"A\[i\]\[j\] = \(\(DATA_TYPE\) \(i\+1\).*;",
                   "A[i][j] = (DATA_TYPE) (i * j % 7 + 1 + (i == j) * 16) / 8;")
    checked = [("*.c", "// *#?define RUN_ON_CPU", "#define RUN_ON_CPU")]
    return [
        polybench("2dconv", "2DCONV", "2DConvolution.c", {"NI": 256, "NJ": 256}),
        polybench("2mm", "2MM", "2mm.c", {size: 64 for size in ("NI", "NJ", "NK", "NL")}),
        polybench("3dconv", "3DCONV", "3DConvolution.c", {"NI": 32, "NJ": 32, "NK": 32}),
        polybench("3mm", "3MM", "3mm.c", {size: 64 for size in ("NI", "NJ", "NK", "NL", "NM")}),
        polybench("adi", "ADI", "adi.c", {"N": 64}, checked),
        polybench("atax", "ATAX", "atax.c", {"NX": 256, "NY": 256}),
        polybench("bicg", "BICG", "bicg.c", {"NX": 256, "NY": 256}),
        polybench("corr", "CORR", "correlation.c", {"M": 64, "N": 64}),
        polybench("covar", "COVAR", "covariance.c", {"M": 64, "N": 64}),
        polybench("fdtd2d", "FDTD-2D", "fdtd2d.c", {"TMAX": 5, "NX": 64, "NY": 64}),
        polybench("gemm", "GEMM", "gemm.c", {"NI": 96, "NJ": 96, "NK": 96}),
        polybench("gemver", "GEMVER", "gemver.c", {"N": 256}, checked),
        polybench("gesummv", "GESUMMV", "gesummv.c", {"N": 256}),
        polybench("gramschm", "GRAMSCHM", "gramschmidt.c", {"M": 32, "N": 32}, [*checked, independent]),
        polybench("jacobi1d", "JACOBI1D", "jacobi1D.c", {"N": 1024, "TSTEPS": 10}),
        polybench("jacobi2d", "JACOBI2D", "jacobi2D.c", {"N": 64, "TSTEPS": 5}),
        polybench("lu", "LU", "lu.c", {"N": 64}),
        polybench("mvt", "MVT", "mvt.c", {"N": 256}),
        polybench("syr2k", "SYR2K", "syr2k.c", {"NI": 64, "NJ": 64}),
        polybench("syrk", "SYRK", "syrk.c", {"NI": 64, "NJ": 64}),
    ]


def rows_of_rodinia():
    choose = random.Random(1)
    device = ["-p", "0", "-d", "0"]
    field3 = {"power.txt": field_text(make_field(64, 8, 0.0, 0.01)), "temp.txt": field_text(make_field(64, 8, 323, 341))}
    particles = ["-x", "32", "-y", "32", "-z", "3", "-np", "256"]
    utilities = "util/timer/timer.c util/opencl/opencl.c"
    points = "".join(f"{number} " + " ".join(f"{choose.uniform(0, 9):.3f}" for _ in range(8)) + "\n"
                     for number in range(1024))
    return [
        rodinia("backprop", "backprop", "backprop_ocl.cpp ../util/timing.c backprop.c facetrain.c imagenet.c",
                arguments=["-n", "1024", *device]),
        rodinia("bfs", "bfs", "bfs.cpp timer.cc ../util/timing.c", check=own_message("passed:-", "failed:-.*"),
                arguments=["graph.txt", *device], inputs={"graph.txt": GRAPH_TEXT}),
        rodinia("b+tree", "b+tree", "main.c kernel/kernel_gpu_opencl_wrapper.c kernel/kernel_gpu_opencl_wrapper_2.c "
                f"util/num/num.c ../util/timing.c {utilities}",
                arguments=["file", "keys.txt", "command", "command.txt", *device], check=check_btree(4000, 32),
                inputs={"keys.txt": "4000\n" + "".join(f"{key}\n" for key in range(4000)), "command.txt": "k 32\n"}),
        rodinia("euler3d", "cfd", "euler3d.cpp ../util/timing.c",
                flags=["-std=gnu++98"],
                edits=[("euler3d.cpp", "#define iterations 2000", "#define iterations 2")],
                arguments=["domain.txt", *device], inputs={"domain.txt": make_domain(384)}),
        rodinia("dwt2d", "dwt2d", "main.cpp ../util/timing.c",
                arguments="-D 64x64 -c 3 -f -5 -l 3 -p 0 -d 0 -i . image.rgb".split(),
                inputs={"image.rgb": bytes(choose.randrange(256) for _ in range(3 * 64 * 64))}),
        rodinia("gaussian", "gaussian", "gaussianElim.cpp clutils.cpp utils.cpp ../util/timing.c",
                arguments=["-f", "system.txt", "-v", *device], inputs={"system.txt": SYSTEM_TEXT}, check=check_gaussian),
        rodinia("heartwall", "heartwall", "", lacks="needs a video, which its repository lacks"),
        rodinia("hotspot", "hotspot", "hotspot.c OpenCL_helper_library.c ../util/timing.c",
                arguments=[*f"{HOTSPOT['rows']} 2 {HOTSPOT['steps']} temp.txt power.txt output.out".split(), *device],
                inputs={"temp.txt": field_text(HOTSPOT_HEAT), "power.txt": field_text(HOTSPOT_POWER)},
                check=check_hotspot),
        rodinia("hotspot3D", "hotspot3D", "3D.c CL_helper.c ../util/timing.c",
                arguments=[*"-n 64 -l 8 -i 2 -f power.txt temp.txt output.out".split(), *device],
                inputs=field3, check=check_hotspot3d),
        rodinia("hybridsort", "hybridsort", "hybridsort.c bucketsort.c mergesort.c ../util/timing.c",
                flags=["-DVERIFY", "-DOUTPUT"], arguments=["r", *device], check=own_message("PASSED", "FAILED.*"),
                edits=[("hybridsort.c", r"#define SIZE \(1000000\)", "#define SIZE (16384)")]),
        rodinia("kmeans", "kmeans",
                "kmeans.cpp ../util/timing.c cluster.c getopt.c read_input.c kmeans_clustering.c rmse.c",
                arguments=["-o", "-i", "points.txt", "-n", "5", "-m", "5", *device], inputs={"points.txt": points}),
        rodinia("lavaMD", "lavaMD", "main.c kernel/kernel_gpu_opencl_wrapper.c util/num/num.c ../util/timing.c "
                f"{utilities}", flags=["-DOUTPUT"], arguments=["-boxes1d", "1", *device], check=check_lavamd,
                edits=[("main.c", r"srand\(time\(NULL\)\)", "srand(7)")]),
        rodinia("leukocyte", "leukocyte", "", lacks="needs a video, which its repository lacks"),
        rodinia("lud", "lud", "ocl/lud.cpp common/common.c ../util/timing.c", flags=["-Icommon"],
                arguments=["-s", "64", "-v", *device], check=own_message(">>>Verify<<<<", "dismatch.*")),
        rodinia("myocyte", "myocyte", "main.c kernel/kernel_gpu_opencl_wrapper.c util/file/file.c util/num/num.c "
                f"../util/timing.c {utilities}", arguments=["-time", "1", "-r", "data", *device], inputs={
                    "data/y.txt": "0.1\n" * 91, "data/params.txt": "0.1\n" * 18}),
        rodinia("nn", "nn", "nearestNeighbor.cpp clutils.cpp utils.cpp ../util/timing.c",
                arguments=[*"files.txt -r 5 -lat 30 -lng 90 -f .".split(), *device], check=check_nn,
                inputs={"files.txt": "records.txt\n", "records.txt": "".join(f"{record}\n" for record in RECORDS)}),
        rodinia("nw", "nw", "nw.c ../util/timing.c", compiler="c++", flags=["-DTRACEBACK"],
                arguments=["64", "10", "./nw.cl", *device], check=check_nw(64, 10, "nw.c")),
        rodinia("particlefilter_naive", "particlefilter", "ex_particle_OCL_naive_seq.cpp", arguments=particles),
        *(rodinia(f"particlefilter_{kind}", "particlefilter", f"ex_particle_OCL_{kind}_seq.cpp ../util/timing.c",
                  arguments=[*particles, *device]) for kind in ("single", "double")),
        rodinia("pathfinder", "pathfinder", "main.cpp OpenCL.cpp ../util/timing.c", flags=["-DBENCH_PRINT"],
                arguments=["-c", "1000", "-r", "20", "-h", "5", *device], check=check_pathfinder(1000, 20)),
        rodinia("srad", "srad", "main.c kernel/kernel_gpu_opencl_wrapper.c util/graphics/graphics.c "
                f"util/graphics/resize.c ../util/timing.c {utilities}",
                arguments=["-n", "1", "-l", "0.5", "-s", "64", "64", *device],
                inputs={"../../data/srad/image.pgm": make_picture(502, 458)}),
        rodinia("streamcluster", "streamcluster", "streamcluster.cpp ../util/timing.c",
                arguments=[*"2 4 8 64 64 10 none output.txt 1 -t gpu".split(), *device]),
    ]


class CcBuilder(Builder):
    """Compiles hosts with the compilers of the system. A program has a folder for its executable and its kernels."""

    beside = "util"

    @staticmethod
    def resolve(script, options):
        if not any(getattr(options, suite) for suite in SUITES) and not options.built.is_dir():
            script.stop(f"--built {options.built}: no folder; --polybench and --rodinia name the sources")
        for variable, usual in (("CC", "cc"), ("CXX", "c++")):
            compiler = os.environ.get(variable, usual)
            if not shutil.which(compiler):
                script.stop(f"{variable}: no compiler {compiler}")

    def executable(self, program):
        return self.built / program.suite / program.name / program.name

    def compile(self, program, folder, target):
        names = {"c++": os.environ.get("CXX", "c++")}
        # Some functions of backprop end without a result, which optimised C++ does not allow.
        if program.compiler == "c++":
            flags = ["-O0", "-std=gnu++11", "-fpermissive"]
        else:
            flags = ["-O2", "-std=gnu11", "-fcommon"]
        source = self.source(program)
        command = [names.get(program.compiler, os.environ.get("CC", "cc")), *flags, "-w", "-DTIMING", "-fopenmp",
                   f"-iquote{source}", f"-I{source.parent / 'util'}", *program.flags, "-o", target, *program.sources]
        code, messages = self.call([*command, "-lOpenCL", "-lm"], folder)
        if code == 0:
            for pattern in KERNEL_FILES:
                for path in folder.rglob(pattern):
                    copy = target.parent / path.relative_to(folder)
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(path, copy)
        return code, messages

    def prepare(self, program, executable, folder):
        # Some programs take the second letter of their own path for an option.
        shutil.copytree(executable.parent, folder, dirs_exist_ok=True)
        return f"./{executable.name}"


if __name__ == "__main__":
    start(Script(
        file="scripts/opencl-suites.py", description=__doc__, suites=SUITES, builder=CcBuilder,
        folders={"polybench": "OpenCL", "rodinia": "opencl"}, programs=[*rows_of_polybench(), *rows_of_rodinia()]))
