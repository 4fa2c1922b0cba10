#!/usr/bin/env python3
"""Runs public CUDA programs on simulated machines with `wave-sim run`.

    scripts/cuda-suites.py --nvcc PATH --polybench DIR --rodinia DIR [--samples DIR] [--built DIR]
    scripts/cuda-suites.py --built DIR

Each DIR is a checkout: PolyBench-GPU (sgrauerg/polybenchGpu), Rodinia (yuhc/gpu-rodinia) and NVIDIA's CUDA samples
(NVIDIA/cuda-samples). With --nvcc, programs that --built lacks are compiled for compute_75 with a shared CUDA runtime.
The programs know nothing of wave-sim. Sizes are small, so that a cycle-level simulation ends in seconds: where a program
has no argument for its size, the constant is edited in a copy. --list shows arguments and edits.
"""

import os
import random
import shutil

from suites import (
    Builder, GRAPH_TEXT, HOTSPOT, HOTSPOT_HEAT, HOTSPOT_POWER, Program, RECORDS, SYSTEM_TEXT, Script, check_bfs,
    check_btree, check_gaussian, check_hotspot, check_hotspot3d, check_lavamd, check_nn, check_nw, check_pathfinder,
    check_srad, field_text, make_domain, make_field, make_picture, own_count, own_exit_code, own_message, start,
)

SUITES = {"polybench": "PolyBench-GPU", "rodinia": "Rodinia", "samples": "CUDA samples"}
# Names that CUDA 13 removed, and the names of the same calls.
OLD_NAMES = {"cudaThreadSynchronize": "cudaDeviceSynchronize", "cudaThreadExit": "cudaDeviceReset"}


def polybench(name, folder, source, sizes, edits=()):
    # The headers leave their sizes alone if N is defined, but so is no parameter of cuda.h: sizes are edited.
    edits = [*edits, *(("*.cu*", rf"(# *define {size}) \d+", rf"\1 {value}") for size, value in sizes.items())]
    return Program("polybench", name, f"CUDA/{folder}", [source], edits=edits, check=own_count)


def rodinia(name, folder, sources, **rest):
    return Program("rodinia", name, f"cuda/{folder}", sources.split(), **rest)


def sample(name, group, sources, check=own_exit_code, **rest):
    return Program("samples", name, f"Samples/{group}/{name}", sources.split(), check=check, is_exit_code_check=True,
                   **rest)


def rows_of_polybench():
    cubes = {"NI": 64, "NJ": 64, "NK": 64, "NL": 64, "NM": 64}
    # Some programs of the suite cannot be checked as they are:
    # - 3mm calls its functions with arrays in the wrong order, so that all values are 0;
    # - gramschm divides by the norm of a column of zeros, so that all values are NaN, which its check accepts;
    # - atax and mvt launch blocks of 32 by 8 threads, of which 8 at a time add to the same sum;
    # - corr, covar and gemver launch no block if a matrix is smaller than a block;
    # - doitgen calls a clock that the suite does not have, and launches too few blocks if NR is below NQ.
    call = r"(mm3Cuda|mm3_cpu)\((ni, nj, nk, nl, nm), "
    order = [call + r",\s*".join(rf"POLYBENCH_ARRAY\({name}\)" for name in "ABCDEFG"),
             r"\1(\2, " + ", ".join(f"POLYBENCH_ARRAY({name})" for name in "EABFCDG")]
    line = [("*.cuh", r"(DIM_THREAD_BLOCK_X) 32", r"\1 256"), ("*.cuh", r"(DIM_THREAD_BLOCK_Y) 8", r"\1 1")]
    small = [("*.cuh", r"(DIM_THREAD_BLOCK_KERNEL_\d_X) 256", r"\1 32")]
    clock = "static double rtclock() { return 0; }"
    return [
        polybench("2dconv", "2DCONV", "2DConvolution.cu", {"NI": 256, "NJ": 256}),
        polybench("2mm", "2MM", "2mm.cu", {size: cubes[size] for size in ("NI", "NJ", "NK", "NL")}),
        polybench("3dconv", "3DCONV", "3DConvolution.cu", {"NI": 32, "NJ": 32, "NK": 32}),
        polybench("3mm", "3MM", "3mm.cu", cubes, [("3mm.cu", *order)]),
        polybench("adi", "ADI", "adi.cu", {"N": 64, "TSTEPS": 1}),
        polybench("atax", "ATAX", "atax.cu", {"NX": 256, "NY": 256}, line),
        polybench("bicg", "BICG", "bicg.cu", {"NX": 256, "NY": 256}),
        polybench("corr", "CORR", "correlation.cu", {"M": 64, "N": 64}, small),
        polybench("covar", "COVAR", "covariance.cu", {"M": 64, "N": 64}, small),
        polybench("doitgen", "DOITGEN", "doitgen.cu", {}, edits=[
            ("doitgen.cu", "(#define N[RQP]) 128", r"\1 32"),
            ("doitgen.cu", "#define GPU_DEVICE 0", r"\g<0>\n" + clock)]),
        polybench("fdtd2d", "FDTD-2D", "fdtd2d.cu", {"TMAX": 5, "NX": 64, "NY": 64}),
        polybench("gemm", "GEMM", "gemm.cu", {"NI": 96, "NJ": 96, "NK": 96}),
        polybench("gemver", "GEMVER", "gemver.cu", {"N": 256}),
        polybench("gesummv", "GESUMMV", "gesummv.cu", {"N": 256}),
        polybench("gramschm", "GRAMSCHM", "gramschmidt.cu", {"NI": 32, "NJ": 32}, [
            ("gramschmidt.cu", r"A\[i\]\[j\] = \(\(DATA_TYPE\) i\*j\) / ni;",
             "A[i][j] = (DATA_TYPE) (i * j % 7 + 1 + (i == j) * 16) / 8;")]),
        polybench("jacobi1d", "JACOBI1D", "jacobi1D.cu", {"N": 1024, "TSTEPS": 10}),
        polybench("jacobi2d", "JACOBI2D", "jacobi2D.cu", {"N": 64, "TSTEPS": 5}),
        polybench("lu", "LU", "lu.cu", {"N": 64}),
        polybench("mvt", "MVT", "mvt.cu", {"N": 256}, line),
        polybench("syr2k", "SYR2K", "syr2k.cu", {"NI": 64, "NJ": 64}),
        polybench("syrk", "SYRK", "syrk.cu", {"NI": 64, "NJ": 64}),
    ]


def rows_of_rodinia():
    choose = random.Random(1)
    field3 = {"power.txt": field_text(make_field(64, 8, 0.0, 0.01)), "temp.txt": field_text(make_field(64, 8, 323, 341))}
    cfd = {"arguments": ["domain.txt"], "inputs": {"domain.txt": make_domain(384)}, "flags": ["-I{samples}/Common"]}
    particles = ["-x", "32", "-y", "32", "-z", "3", "-np", "256"]
    return [
        rodinia("backprop", "backprop", "backprop.c facetrain.c imagenet.c backprop_cuda.cu", arguments=["1024"]),
        rodinia("bfs", "bfs", "bfs.cu", arguments=["graph.txt"], inputs={"graph.txt": GRAPH_TEXT}, check=check_bfs),
        rodinia("b+tree", "b+tree", "main.c kernel/kernel_gpu_cuda_wrapper.cu kernel/kernel_gpu_cuda_wrapper_2.cu "
                "util/timer/timer.c util/num/num.c util/cuda/cuda.cu",
                arguments=["file", "keys.txt", "command", "command.txt"], check=check_btree(4000, 32),
                inputs={"keys.txt": "4000\n" + "".join(f"{key}\n" for key in range(4000)), "command.txt": "k 32\n"}),
        *(rodinia(name, "cfd", f"{name}.cu", edits=[(f"{name}.cu", "#define iterations 2000", "#define iterations 2")],
                  **cfd) for name in ("euler3d", "euler3d_double", "pre_euler3d", "pre_euler3d_double")),
        rodinia("dwt2d", "dwt2d", "main.cu dwt.cu components.cu dwt_cuda/fdwt53.cu dwt_cuda/fdwt97.cu dwt_cuda/common.cu "
                "dwt_cuda/rdwt97.cu dwt_cuda/rdwt53.cu", flags=["-I."],
                arguments="-d 64x64 -c 1 -f -5 -l 3 image.gray".split(),
                inputs={"../../data/dwt2d/image.gray": bytes(choose.randrange(256) for _ in range(64 * 64))}),
        rodinia("gaussian", "gaussian", "gaussian.cu", arguments=["-f", "system.txt"], inputs={"system.txt": SYSTEM_TEXT},
                edits=[("gaussian.cu", "int verbose = 0;", "int verbose = 1;")], check=check_gaussian),
        rodinia("heartwall", "heartwall", "main.cu AVI/avilib.c AVI/avimod.c", flags=["-I./AVI"],
                lacks="needs a video, which its repository lacks"),
        rodinia("hotspot", "hotspot", "hotspot.cu",
                arguments=f"{HOTSPOT['rows']} 2 {HOTSPOT['steps']} temp.txt power.txt output.out".split(),
                inputs={"temp.txt": field_text(HOTSPOT_HEAT), "power.txt": field_text(HOTSPOT_POWER)},
                check=check_hotspot),
        rodinia("hotspot3D", "hotspot3D", "3D.cu", arguments="64 8 2 power.txt temp.txt output.out".split(),
                inputs=field3, check=check_hotspot3d),
        rodinia("huffman", "huffman", "main_test_cu.cu stats_logger.cpp vlc_kernel_sm64huff.cu scan.cu pack_kernels.cu "
                "cpuencode.cpp", arguments=["symbols.bin"], check=own_message("PASS! vectors", "FAIL! vectors.*|^Diff.*"),
                inputs={"symbols.bin": bytes(choose.choice(b"eeeeeettttaaoinshr") for _ in range(32768))}),
        rodinia("hybridsort", "hybridsort", "bucketsort.cu mergesort.cu main.cu",
                lacks="needs OpenGL and texture references"),
        rodinia("kmeans", "kmeans", "cluster.c getopt.c kmeans.c kmeans_clustering.c kmeans_cuda.cu rmse.c",
                lacks="needs texture references, which CUDA 12 removed"),
        rodinia("lavaMD", "lavaMD", "main.c kernel/kernel_gpu_cuda_wrapper.cu util/num/num.c util/timer/timer.c "
                "util/device/device.cu", flags=["-DOUTPUT"], arguments=["-boxes1d", "1"], check=check_lavamd,
                edits=[("main.c", r"srand\(time\(NULL\)\)", "srand(7)")]),
        rodinia("leukocyte", "leukocyte/CUDA", "", lacks="needs a video, and texture references"),
        rodinia("lud", "lud/cuda", "lud.cu lud_kernel.cu ../common/common.c", flags=["-I../common"],
                arguments=["-s", "64", "-v"], check=own_message(">>>Verify<<<<", "dismatch.*")),
        rodinia("mummergpu", "mummergpu/src", "", lacks="needs texture references, which CUDA 12 removed"),
        rodinia("myocyte", "myocyte", "main.cu", arguments=["1", "1", "0"], inputs={
            "../../data/myocyte/y.txt": "0.1\n" * 91, "../../data/myocyte/params.txt": "0.1\n" * 18}),
        rodinia("nn", "nn", "nn_cuda.cu", arguments="files.txt -r 5 -lat 30 -lng 90".split(), check=check_nn,
                inputs={"files.txt": "records.txt\n", "records.txt": "".join(f"{record}\n" for record in RECORDS)}),
        rodinia("nw", "nw", "needle.cu", flags=["-DTRACEBACK"], arguments=["64", "10"],
                check=check_nw(64, 10, "needle.cu")),
        rodinia("particlefilter_naive", "particlefilter", "ex_particle_CUDA_naive_seq.cu", arguments=particles),
        rodinia("particlefilter_float", "particlefilter", "ex_particle_CUDA_float_seq.cu", arguments=particles),
        rodinia("pathfinder", "pathfinder", "pathfinder.cu", flags=["-DBENCH_PRINT"], arguments=["1000", "20", "5"],
                check=check_pathfinder(1000, 20)),
        rodinia("srad_v1", "srad/srad_v1", "main.cu", arguments=["1", "0.5", "64", "64"],
                inputs={"../../../data/srad/image.pgm": make_picture(502, 458)}),
        rodinia("srad_v2", "srad/srad_v2", "srad.cu", flags=["-DOUTPUT"], check=check_srad(64, 32, 0.5),
                arguments="64 64 0 31 0 31 0.5 1".split()),
        rodinia("streamcluster", "streamcluster", "streamcluster_cuda_cpu.cpp streamcluster_cuda.cu "
                "streamcluster_header.cu", arguments="2 4 8 64 64 10 none output.txt 1".split()),
    ]


def rows_of_samples():
    introduction, concepts = "0_Introduction", "2_Concepts_and_Techniques"
    return [
        sample("vectorAdd", introduction, "vectorAdd.cu", own_message("Test PASSED")),
        sample("matrixMul", introduction, "matrixMul.cu", own_message("Result = PASS"),
               arguments=["-wA=64", "-hA=64", "-wB=64", "-hB=64"],
               edits=[("matrixMul.cu", "int nIter = 300;", "int nIter = 1;")]),
        sample("template", introduction, "template.cu template_cpu.cpp"),
        sample("simpleTemplates", introduction, "simpleTemplates.cu"),
        sample("simpleVoteIntrinsics", introduction, "simpleVoteIntrinsics.cu"),
        sample("simpleAtomicIntrinsics", introduction, "simpleAtomicIntrinsics.cu simpleAtomicIntrinsics_cpu.cpp"),
        sample("simpleCooperativeGroups", introduction, "simpleCooperativeGroups.cu", None),
        sample("simpleOccupancy", introduction, "simpleOccupancy.cu", own_message("Test PASSED"),
               edits=[("simpleOccupancy.cu", "count = 1000000", "count = 16384")]),
        sample("simpleZeroCopy", introduction, "simpleZeroCopy.cu",
               edits=[("simpleZeroCopy.cu", "nelem *= 1048576", "nelem = 16384")]),
        # Its check compares the results of two kernels, which are alike if neither runs.
        sample("fp16ScalarProduct", introduction, "fp16ScalarProduct.cu", None),
        sample("inlinePTX", concepts, "inlinePTX.cu", own_message("Test Successful")),
        sample("scalarProd", concepts, "scalarProd.cu scalarProd_cpu.cpp", own_message("Test passed")),
        sample("reduction", concepts, "reduction.cpp reduction_kernel.cu", own_message("Test passed", "Test failed"),
               arguments=["--n=16384"], edits=[("reduction.cpp", "testIterations = 100;", "testIterations = 1;")]),
        sample("threadFenceReduction", concepts, "threadFenceReduction.cu", arguments=["--n=16384"],
               edits=[("threadFenceReduction.cu", "testIterations = 100;", "testIterations = 1;")]),
        sample("reductionMultiBlockCG", concepts, "reductionMultiBlockCG.cu", arguments=["--n=16384"]),
        sample("streamOrderedAllocation", concepts, "streamOrderedAllocation.cu",
               edits=[("streamOrderedAllocation.cu", "nelem *= 1048576", "nelem = 16384")]),
        sample("SobolQRNG", "5_Domain_Specific", "sobol.cpp sobol_gold.cpp sobol_gpu.cu sobol_primitives.cpp",
               arguments=["--vectors=1024", "--dimensions=4"]),
        sample("transpose", "6_Performance", "transpose.cu", own_message("Test passed", "Test failed"),
               arguments=["-dimX=64", "-dimY=64"],
               edits=[("transpose.cu", "#define NUM_REPS 100", "#define NUM_REPS 1")]),
    ]


class NvccBuilder(Builder):
    """Compiles with nvcc."""

    @staticmethod
    def add_arguments(parser):
        parser.add_argument("--nvcc", metavar="PATH", help="compiles what --built lacks")

    @staticmethod
    def resolve(script, options):
        if options.nvcc:
            found = shutil.which(options.nvcc)
            if not found:
                script.stop(f"--nvcc {options.nvcc}: no program; PyPI's nvidia-cuda-nvcc, nvidia-nvvm, nvidia-cuda-crt, "
                            "nvidia-cuda-runtime and nvidia-cuda-cccl have it")
            options.nvcc = os.path.abspath(found)
        elif not options.built.is_dir():
            script.stop(f"--built {options.built}: no folder; --nvcc compiles the programs")

    def unable(self):
        return "" if self.options.nvcc else "not in --built, and no --nvcc"

    def compile(self, program, folder, target):
        source = self.source(program)
        include = [f"-I{source}", f"-I{source.parent / 'util'}"]
        if program.suite == "samples":
            include += ["-std=c++17", f"-I{self.checkouts['samples'] / 'Common'}"]
        flags = []
        for flag in program.flags:
            if "{samples}" in flag and "samples" not in self.checkouts:
                return 1, "includes a header of the CUDA samples: --samples"
            flags.append(flag.format(samples=self.checkouts.get("samples")))
        command = [self.options.nvcc, "-O2", "-arch=compute_75", "-cudart", "shared", "-w", *include, *flags]
        command += ["-o", target, *program.sources]
        code, messages = self.call(command, folder)
        if code and any(f'"{name}" is undefined' in messages for name in OLD_NAMES):
            command[1:1] = [f"-D{old}={new}" for old, new in OLD_NAMES.items()]
            code, messages = self.call(command, folder)
        return code, messages


if __name__ == "__main__":
    start(Script(
        file="scripts/cuda-suites.py", description=__doc__, suites=SUITES, builder=NvccBuilder,
        folders={"polybench": "CUDA", "rodinia": "cuda", "samples": "Samples"},
        programs=[*rows_of_polybench(), *rows_of_rodinia(), *rows_of_samples()]))
