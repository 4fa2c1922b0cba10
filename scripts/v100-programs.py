#!/usr/bin/env python3
"""Runs the CUDA programs whose kernels were profiled on a Tesla V100, for `wave-sim validate`.

    scripts/v100-programs.py --apps CHECKOUT --work DIR
    wave-sim validate --config v100 --topic program-cycles --topic program-counters --runs DIR/runs

CHECKOUT is a work tree of accel-sim/gpu-app-collection (branch release-accelwattch, commit 9072f14). The programs are
those of configs/measured/v100.csv, from Rodinia, Parboil and NVIDIA's CUDA samples. Each is edited in a copy, compiled
with `wave-sim nvcc`, run on the preset v100 with empty caches before each launch, and checked. A program that passes
its check leaves the document DIR/runs/PROGRAM.json. --list shows arguments, inputs, and edits with their reasons.

The profiler ran programs of nvcc on the inputs of the suites. The runs here differ in these points:

- Inputs have the size and the form of the original ones, and random values. Those of b+tree and dct8x8, and those that
  a program makes itself, are the original ones.
- Textures are loads (kmeans, sad, dct8x8): simulated machines have no textures.
- Loops around kernels are cut. The program srad_v1 has 2 of 100 iterations, mergeSort 2 of 12 stages, and
  fastWalshTransform one of 3 transforms. The other loops have one iteration. The profiler's figures are means over all
  launches.
- A pragma unrolls the loops of sgemm. The shared arrays of sgemm and histogram have an alignment.
- The kernel of sad reads its 4x4 block once, before the loop. The program takes long, and runs only with --only sad.

Exit code: 0 if each program was built and passed its check; 1 otherwise; 2 for wrong arguments.
"""

import argparse
import array
import dataclasses
import math
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import time

from suites import (
    CRandom, Mismatch, Output, compare, edit, first_error, hotspot_factors, last_line, numbers, own_exit_code,
    own_message, single, stop,
)

FILE = "scripts/v100-programs.py"
# Clang may lack the header, of which the programs use at most the clock.
OMP_HEADER = """#include <time.h>
static inline double omp_get_wtime(void) { return (double)clock() / CLOCKS_PER_SEC; }
"""
PARBOIL = "parboil/common"
SAMPLES = "NVIDIA_CUDA-11.0_Samples"
# Flags of each suite. helper_cuda.h declares its functions only if the guards of the runtime's headers are defined.
FLAGS = {
    "rodinia": ["-I{headers}", "-DcudaThreadSynchronize=cudaDeviceSynchronize"],
    "parboil": ["-I{cuda}/" + PARBOIL + "/include", "-DcudaThreadSynchronize=cudaDeviceSynchronize"],
    "samples": ["-I{cuda}/" + SAMPLES + "/common/inc", "-std=c++14", "-D__DRIVER_TYPES_H__",
                "-D__CUDA_RUNTIME_H__"],
}


@dataclasses.dataclass
class Edit:
    """A pattern that is replaced in a file, exactly `count` times, and the reason."""

    file: str
    old: str
    new: str
    why: str
    count: int = 1


@dataclasses.dataclass
class Program:
    """A program: sources, arguments, inputs and edits, and the check of its output."""

    name: str
    suite: str
    folder: str
    sources: list
    # What the input is, and the function that makes each file: it takes the path.
    input: str = "the program makes its data itself"
    inputs: dict = dataclasses.field(default_factory=dict)
    arguments: list = dataclasses.field(default_factory=list)
    flags: list = dataclasses.field(default_factory=list)
    edits: list = dataclasses.field(default_factory=list)
    check: object = own_exit_code
    # False: it takes long, and runs only if --only names it.
    default: bool = True


def rodinia(name, sources, folder=None, **rest):
    return Program(name, "rodinia", f"rodinia/3.1/cuda/{folder or name}", sources.split(), **rest)


def parboil(name, sources, edits=(), **rest):
    return Program(name, "parboil", f"parboil/benchmarks/{name}/src/cuda", [*sources.split(), "parboil.c"],
                   edits=list(edits), **rest)


def sample(name, sources, folder=None, **rest):
    return Program(name, "samples", f"{SAMPLES}/{folder or name}", sources.split(), **rest)


# Inputs. Each function writes a file. Random values are the same in each run.


def uniform_words(choose, low, high, count):
    return (f"{low + (high - low) * choose.random():.6f}" for _ in range(count))


def make_keys(path):
    path.write_text("1000000\n" + "".join(f"{key}\n" for key in range(1000000)))


def make_commands(path):
    path.write_text("j 6000 3000\nk 10000\n\n\n")


def make_field(low, high):
    def make(path):
        path.write_text("\n".join(uniform_words(random.Random(7), low, high, HOTSPOT_ROWS ** 2)) + "\n")

    return make


def make_points(path):
    choose = random.Random(7)
    with open(path, "w") as file:
        for point in range(819200):
            file.write(f"{point} {' '.join(map(str, choose.randbytes(34)))} \n")


def make_picture(path):
    # No pixel is 0, because the program divides by pixels.
    pixels = [str(byte or 1) for byte in random.Random(7).randbytes(SRAD_ROWS * SRAD_COLUMNS)]
    path.write_text(f"P2\n{SRAD_COLUMNS} {SRAD_ROWS}\n255\n" + "\n".join(
        " ".join(pixels[start:start + 16]) for start in range(0, len(pixels), 16)) + "\n")


def make_frame(shift):
    def make(path):
        choose = random.Random(shift)
        image = array.array("H")
        for y in range(SAD_HEIGHT):
            noise = choose.randbytes(SAD_WIDTH)
            base = 128 + 50 * math.cos(y / 23)
            image.extend(int(base + 60 * math.sin((x - shift) / 37)) + (noise[x] & 7) for x in range(SAD_WIDTH))
        path.write_bytes(struct.pack("<HH", SAD_WIDTH, SAD_HEIGHT) + image.tobytes())

    return make


def make_matrix(rows, columns):
    def make(path):
        values = " ".join(uniform_words(random.Random(rows), 0, 1, rows * columns))
        path.write_text(f"{rows} {columns} {values}\n")

    return make


def make_samples(path):
    choose, side = random.Random(7), MRI_SIDE
    voxels = [[voxel // step % side / side - 0.5 for voxel in range(side ** 3)] for step in (1, side, side * side)]
    trajectory = [[choose.uniform(-32, 32) for _ in range(MRI_SAMPLES)] for _ in range(3)]
    phi = [[choose.gauss(0, 1) for _ in range(MRI_SAMPLES)] for _ in range(2)]
    path.write_bytes(struct.pack("<ii", MRI_SAMPLES, side ** 3)
                     + b"".join(array.array("f", part).tobytes() for part in [*trajectory, *voxels, *phi]))


# Checks. Each takes an Output and raises Mismatch.

HOTSPOT_ROWS, HOTSPOT_STEPS = 1024, 2
SRAD_ROWS, SRAD_COLUMNS, SRAD_STEPS = 502, 458, 2
SAD_WIDTH, SAD_HEIGHT, SAD_RANGE = 1920, 1072, 16
MRI_SIDE, MRI_SAMPLES, MRI_USED = 64, 2048, 1024


def check_btree(output):
    """Keys and ranges are those that the C library draws. The program takes the number of ranges for their length."""
    draw, keys, text = CRandom(1), 1000000, output.file("output.txt")

    def key():
        return int(single(single(draw() / 2147483648.0) * keys))

    found = [(int(start), int(length)) for start, length in re.findall(r"^\d+ +(\d+) +(\d+)$", text, re.MULTILINE)]
    expected = []
    for _ in range(6000):
        start = key()
        end = start + 6000
        if end >= keys:
            start, end = start - (end - keys), keys - 1
        expected.append((start, end - start + 1))
    if found != expected:
        raise Mismatch(f"{sum(got != want for got, want in zip(found, expected))} of {len(found)} ranges differ")
    found = re.findall(r"^\d+ +(-?\d+)$", text, re.MULTILINE)
    compare("answer", [int(value) for value in found], [key() for _ in range(10000)])


def check_hotspot(output):
    """Compares every 31st value with a computation in double precision."""
    rows = HOTSPOT_ROWS
    heat, power = numbers(output.file("temp_1024")), numbers(output.file("power_1024"))
    along, across, step = hotspot_factors(rows)

    def value(time, y, x):
        y, x = min(max(y, 0), rows - 1), min(max(x, 0), rows - 1)
        if time == 0:
            return heat[y * rows + x]
        here = value(time - 1, y, x)
        around = sum(value(time - 1, *place) for place in ((y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)))
        flow = power[y * rows + x] + (around - 4 * here) * along + (80.0 - here) * across
        return here + step * flow

    found = [float(line.split("\t")[1]) for line in output.file("output.txt").splitlines()]
    if len(found) != rows * rows:
        raise Mismatch(f"{len(found)} temperatures instead of {rows * rows}")
    compare("temperature", found[::31], [value(HOTSPOT_STEPS, *divmod(place, rows))
                                         for place in range(0, rows * rows, 31)], relative=2e-5)


def check_srad(output):
    """Computes the picture in double precision. The columns are contiguous, as in the program."""
    rows, columns = SRAD_ROWS, SRAD_COLUMNS
    count, blocks = rows * columns, -(-rows * columns // 512)
    pixels = numbers(output.file("image.pgm").split("\n", 3)[3])
    image = [math.exp(pixels[row * columns + column] / 255) for column in range(columns) for row in range(rows)]
    for _ in range(SRAD_STEPS):
        # Of the sums of blocks the second reduction of the program takes values of single pixels from number 256 on.
        summed = image[:256 * 512] + image[256:blocks]
        mean = sum(summed) / count
        limit = (sum(value * value for value in summed) / count - mean * mean) / (mean * mean)
        slopes, factors = [], []
        for column in range(columns):
            west, east = max(column - 1, 0) * rows, min(column + 1, columns - 1) * rows
            for row in range(rows):
                here = image[column * rows + row]
                slope = (image[column * rows + max(row - 1, 0)] - here,
                         image[column * rows + min(row + 1, rows - 1)] - here,
                         image[west + row] - here, image[east + row] - here)
                total = sum(slope) / here
                size = 0.5 * sum(part * part for part in slope) / (here * here) - total * total / 16
                ratio = (size / (1 + 0.25 * total) ** 2 - limit) / (limit * (1 + limit))
                slopes.append(slope)
                factors.append(min(max(1 / (1 + ratio), 0.0), 1.0))
        for place, (north, south, west, east) in enumerate(slopes):
            column, row = divmod(place, rows)
            below, right = column * rows + min(row + 1, rows - 1), min(column + 1, columns - 1) * rows + row
            image[place] += 0.25 * 0.5 * (factors[place] * (north + west) + factors[below] * south
                                          + factors[right] * east)
    found = numbers(output.file("image_out.pgm").split("\n", 3)[3])
    expected = [math.floor(math.log(image[column * rows + row]) * 255) for row in range(rows)
                for column in range(columns)]
    compare("pixel", found, expected, absolute=1)


def check_sad(output):
    """Computes the sums of 48 blocks out of the six rows of macroblocks that the program writes."""
    across, down = SAD_WIDTH // 16, SAD_HEIGHT // 16
    rows = [0, 1, down // 2 - 1, down // 2, down - 2, down - 1]
    reference, frame = (array.array("H", (output.folder / name).read_bytes()[4:])
                        for name in ("reference.bin", "frame.bin"))
    sums, span = array.array("H", (output.folder / "sad.out").read_bytes()[8:]), 2 * SAD_RANGE + 1
    choose = random.Random(7)
    for number in range(48):
        row, column, part = number % 6, choose.randrange(across), choose.randrange(16)
        # The 25 blocks of the larger types precede the 16 blocks of 4 by 4 pixels.
        start = ((row * across + column) * 41 + 25 + part) * span * span
        left, top = column * 16 + part % 4 * 4, rows[row] * 16 + part // 4 * 4
        expected = []
        for y in range(top - SAD_RANGE, top + SAD_RANGE + 1):
            for x in range(left - SAD_RANGE, left + SAD_RANGE + 1):
                expected.append(sum(
                    abs(reference[min(max(y + i, 0), SAD_HEIGHT - 1) * SAD_WIDTH + min(max(x + j, 0), SAD_WIDTH - 1)]
                        - frame[(top + i) * SAD_WIDTH + left + j]) for i in range(4) for j in range(4)))
        compare("sum of differences", sums[start:start + span * span], expected)


def check_sgemm(output):
    """Computes 400 of the values. Matrices are in column-major order, and the second one is transposed."""
    a, b, c = (numbers(output.file(name)) for name in ("matrix1.txt", "matrix2t.txt", "matrix3.txt"))
    rows, inner, columns = int(a[0]), int(a[1]), int(b[0])
    if c[:2] != [rows, columns] or len(c) != 2 + rows * columns:
        raise Mismatch("the size of the product is wrong")
    choose = random.Random(7)
    places = [(choose.randrange(rows), choose.randrange(columns)) for _ in range(400)]
    compare("product", [c[2 + j * rows + i] for i, j in places],
            [sum(a[2 + k * rows + i] * b[2 + k * columns + j] for k in range(inner)) for i, j in places], relative=1e-4)


def check_mri(output):
    """Computes every 1009th voxel."""
    count = MRI_SIDE ** 3
    data = array.array("f", (output.folder / "64_64_64_dataset.bin").read_bytes()[8:])
    result = array.array("f", (output.folder / "mriq.out").read_bytes()[4:])
    if len(result) != 2 * count:
        raise Mismatch(f"{len(result)} values instead of {2 * count}")
    axes = [(data[axis * MRI_SAMPLES:], data[3 * MRI_SAMPLES + axis * count:]) for axis in range(3)]
    phi = data[3 * MRI_SAMPLES + 3 * count:]
    weights = [phi[sample] ** 2 + phi[MRI_SAMPLES + sample] ** 2 for sample in range(MRI_USED)]
    scale = sum(weights)
    for voxel in range(0, count, 1009):
        real = imaginary = 0.0
        for sample, weight in enumerate(weights):
            angle = 2 * math.pi * sum(path[sample] * place[voxel] for path, place in axes)
            real += weight * math.cos(angle)
            imaginary += weight * math.sin(angle)
        compare("Q", [result[voxel], result[count + voxel]], [real, imaginary], absolute=1e-4 * scale)


# Code that edits put into sources.

# The hidden sums of the CPU, and the new weights. The program does not print them.
SUMS_OF_BACKPROP = """int wrong = 0;
  for (int j = 1; j <= hid; j++) {
    double want = 0, got = 0;
    for (int k = 1; k <= in; k++) want += (double)net->input_units[k] * net->input_weights[k][j];
    for (int k = 0; k < num_blocks; k++) got += partial_sum[k * hid + j - 1];
    wrong += !(fabs(got / want - 1) < 1e-4);
  }
  """
WEIGHTS_OF_BACKPROP = r"""for (int k = 0; k <= in; k++)
    for (int j = 1; j <= hid; j++) {
      double want = net->input_weights[k][j] + ETA * net->hidden_delta[j] * (k ? net->input_units[k] : 1)
        + MOMENTUM * net->input_prev_weights[k][j];
      wrong += !(fabs(input_weights_one_dim[k * (hid + 1) + j] - want) < 1e-5);
    }
  printf("check: %d values are wrong\\n", wrong);
  """
# A point may belong to each of two clusters that are equally near.
CHECK_OF_KMEANS = r"""
	int wrong = 0;
	for (i = 0; i < npoints; i++) {
		double best = 1e300, own = 1e300;
		for (int c = 0; c < nclusters; c++) {
			double sum = 0;
			for (j = 0; j < nfeatures; j++) sum += pow((double)feature[i][j] - clusters[c][j], 2);
			best = fmin(best, sum);
			if (c == membership_new[i]) own = sum;
		}
		wrong += own > best * (1 + 1e-5);
	}
	printf("check: %d values are wrong\\n", wrong);
"""
# Textures repeat the pixels at the edges. The copy has a border of 32 of them, so that the kernel clamps nothing.
REFERENCE_OF_SAD = """void set_ref(const short *pixels, int width, int height)
{
  int pitch = width + 64;
  size_t bytes = sizeof(short) * pitch * (height + 64);
  unsigned short *copy = (unsigned short *)malloc(bytes), *device;
  for (int y = 0; y < height + 64; y++)
    for (int x = 0; x < pitch; x++) {
      int row = y < 32 ? 0 : y < height + 32 ? y - 32 : height - 1;
      int column = x < 32 ? 0 : x < width + 32 ? x - 32 : width - 1;
      copy[y * pitch + x] = pixels[row * width + column];
    }
  cudaMalloc((void **)&device, bytes);
  cudaMemcpy(device, copy, bytes, cudaMemcpyHostToDevice);
  device += 32 * pitch + 32;
  cudaMemcpyToSymbol(ref_image, &device, sizeof device);
  cudaMemcpyToSymbol(ref_pitch, &pitch, sizeof pitch);
  free(copy);
}
"""

CHECKED = own_message(r"check: 0 values are wrong", r"check: (?!0 ).*")
PASSED = own_message("Test passed", "Test failed")
TEXTURE = "loads in place of a texture"
ONE_LAUNCH = "one launch, because the loop begins with -1"
ALIGNED = "clang aligns the shared array to its elements, and nvcc more"


def rows_of_rodinia():
    unchecked = "a check, because the program looks at no result"
    return [
        rodinia("b+tree", "main.c kernel/kernel_gpu_cuda_wrapper.cu kernel/kernel_gpu_cuda_wrapper_2.cu "
                "util/timer/timer.c util/num/num.c util/cuda/cuda.cu", check=check_btree,
                input="Rodinia's own files: keys 0 to 999999 in order; 6000 ranges and 10000 keys to find",
                inputs={"mil.txt": make_keys, "command.txt": make_commands},
                arguments="file mil.txt command command.txt".split()),
        rodinia("backprop", "backprop.c facetrain.c imagenet.c backprop_cuda.cu", arguments=["65536"], check=CHECKED,
                edits=[
                    Edit("backprop_cuda.cu", r"(?=for \(int j = 1; j <= hid; j\+\+\))", SUMS_OF_BACKPROP, unchecked),
                    Edit("backprop_cuda.cu", r"(?=cudaFree\(input_cuda\))", WEIGHTS_OF_BACKPROP, unchecked)]),
        rodinia("hotspot", "hotspot.cu", check=check_hotspot,
                input="1024 x 1024 random temperatures 323 to 341, and powers 0 to 0.01",
                inputs={"temp_1024": make_field(323, 341), "power_1024": make_field(0, 0.01)},
                arguments=f"{HOTSPOT_ROWS} 2 {HOTSPOT_STEPS} temp_1024 power_1024 output.txt".split()),
        # The threshold ends the loop after one iteration.
        rodinia("kmeans", "cluster.c getopt.c kmeans.c kmeans_clustering.c kmeans_cuda.cu rmse.c", check=CHECKED,
                input="819200 points of 34 random integers 0 to 255, as Rodinia's generator writes them",
                inputs={"819200.txt": make_points}, arguments="-o -t 1e9 -i 819200.txt".split(), edits=[
                    Edit("kmeans_cuda_kernel.cu", r"texture<.*", "", TEXTURE, 3),
                    Edit("kmeans_cuda_kernel.cu", r"tex1Dfetch\(t_features,addr\)", "features[addr]", TEXTURE),
                    Edit("kmeans_cuda.cu", r"(?s)/\* set up texture.*(?=/\* copy clusters to constant)", "", TEXTURE),
                    Edit("kmeans_cuda.cu", '"c_clusters"', "c_clusters", "CUDA no longer takes names of symbols"),
                    Edit("kmeans_cuda.cu", r"(?=\n\tdelta = 0;)", CHECK_OF_KMEANS, unchecked)]),
        rodinia("srad_v1", "main.cu", "srad/srad_v1", flags=["-I."], check=check_srad,
                input="a picture of 502 x 458 random pixels 1 to 255", inputs={"image.pgm": make_picture},
                arguments=f"{SRAD_STEPS} 0.5 {SRAD_ROWS} {SRAD_COLUMNS}".split(),
                edits=[Edit("main.cu", r'"[./]*data/srad/', '"', "the path of the input")]),
    ]


def rows_of_parboil():
    block = "the 4x4 block is read once, as in nvcc's code"
    unroll = "nvcc unrolls these loops; clang would keep the sums in memory"
    return [
        parboil("sad", "file.c image.c sad4.cu largerBlocks.cu main.cu", check=check_sad, default=False,
                input="two frames of 1920 x 1072 pixels of 16 bits, smooth with noise",
                inputs={"reference.bin": make_frame(0), "frame.bin": make_frame(3)},
                arguments="-i reference.bin,frame.bin -o sad.out".split(), edits=[
                    Edit("sad4.h", r"texture<.*", "void set_ref(const short *pixels, int width, int height);", TEXTURE),
                    Edit("sad4.cu", r"texture<.* ref;",
                         "__constant__ const unsigned short *ref_image;\n__constant__ int ref_pitch;", TEXTURE),
                    Edit("sad4.cu", r"(?s)texture<[^>]*> &get_ref.*", REFERENCE_OF_SAD, TEXTURE),
                    Edit("sad4.cu", r"\bint t;", r"\g<0> const unsigned short *row = ref_image + (search_off_y + y) * "
                         "ref_pitch;", TEXTURE),
                    Edit("sad4.cu", r"tex2D\(ref, (.*), search_off_y \+ y\)", r"row[\1]", TEXTURE, 6),
                    Edit("main.cu", r"(?s)struct cudaArray.*?;|"
                         r"cuda(MallocArray|Memcpy2DToArray|UnbindTexture|FreeArray)\(.*?\);", "", TEXTURE, 5),
                    Edit("main.cu", r"cudaBindTextureToArray\(.*\);",
                         "set_ref(ref_image->data, ref_image->width, ref_image->height);", TEXTURE),
                    Edit("sad4.cu", r"FRAME_GET\(cur_o, (\d), y\)", r"own[y * 4 + \1]", block, 12),
                    Edit("sad4.cu", r"\bint search_pos;", r"\g<0> unsigned short own[16]; _Pragma(" '"unroll")'
                         " for (int i = 0; i < 16; i++) own[i] = FRAME_GET(cur_o, i & 3, i >> 2);", block),
                    Edit("sad4.cu", r"for\(int y=0; y<4; y\+\+\)", r'_Pragma("unroll") \g<0>', block),
                    Edit("main.cu", r"(?s)larger_sad_calc_\d+<<<.*?;", "", "no measurements of these kernels", 2)]),
        parboil("sgemm", "main.cu io.cc", check=check_sgemm,
                input="random matrices of 1024 x 992 and 992 x 1056, the second one transposed",
                inputs={"matrix1.txt": make_matrix(1024, 992), "matrix2t.txt": make_matrix(1056, 992)},
                arguments="-i matrix1.txt,matrix2t.txt,matrix2t.txt -o matrix3.txt".split(), edits=[
                    Edit("sgemm_kernel.cu", r"for \(int \w+ ?= ?0; \w+ < TILE_", r'_Pragma("unroll") \g<0>', unroll, 4),
                    Edit("sgemm_kernel.cu", r"__shared__", r"__shared__ __align__(16)", ALIGNED),
                    Edit("io.cc", r"v\.pop_back\(\);.*", r"\g<0>\n  return true;", "the function returns no value")]),
        parboil("mri-q", "main.cu file.cc", flags=["--use_fast_math"], check=check_mri,
                input="64 x 64 x 64 voxels in a grid, and 2048 random samples",
                inputs={"64_64_64_dataset.bin": make_samples},
                arguments=f"-i 64_64_64_dataset.bin -o mriq.out -- {MRI_USED}".split()),
    ]


def rows_of_samples():
    one_stage = "2 of 12 stages; the result is then sorted in parts of 4096"
    return [
        sample("dct8x8", "dct8x8.cu BmpUtil.cpp DCT8x8_Gold.cpp", check=PASSED,
               input="the picture of the sample, 512 x 512", inputs={"barbara.bmp": None}, edits=[
                   Edit("dct8x8.cu", r"(BENCHMARK_SIZE +)10", r"\g<1>1", "one launch"),
                   Edit("dct8x8.cu", r"numIterations = 100", "numIterations = 0", ONE_LAUNCH),
                   Edit("dct8x8.cu", r"texture<.*|cudaChannelFormatDesc.*|.*BindTexture.*|.*UnbindTexture.*", "",
                        TEXTURE, 6),
                   Edit("dct8x8.cu", r"cudaArray \*Src", "float *Src", TEXTURE),
                   Edit("dct8x8.cu", r"cudaMallocArray\(&Src, &floattex, Size\.width",
                        "cudaMallocPitch((void **)&Src, &DstStride, Size.width * sizeof(float)", TEXTURE),
                   Edit("dct8x8.cu", r"cudaMemcpy2DToArray\(Src, 0, 0", "cudaMemcpy2D(Src, DstStride * sizeof(float)",
                        TEXTURE, 2),
                   Edit("dct8x8.cu", "cudaFreeArray", "cudaFree", TEXTURE),
                   Edit("dct8x8.cu", r"(DstStride, 0, 0)\)", r"\1, Src)", TEXTURE, 2),
                   Edit("dct8x8_kernel1.cuh", r"(int OffsetYBlocks)\)", r"\1, const float *TexSrc)", TEXTURE, 2),
                   Edit("dct8x8_kernel1.cuh", r"float (tex_. = )\(float\)(.*) \+ 0\.5f", r"int \1\2", TEXTURE, 4),
                   Edit("dct8x8_kernel1.cuh", r"tex2D\(TexSrc, tex_x, tex_y\)", "TexSrc[tex_y * ImgWidth + tex_x]",
                        TEXTURE, 2)]),
        sample("binomialOptions", "binomialOptions.cpp binomialOptions_gold.cpp binomialOptions_kernel.cu",
               check=PASSED),
        sample("fastWalshTransform", "fastWalshTransform.cu fastWalshTransform_gold.cpp", check=PASSED, edits=[
            Edit("fastWalshTransform.cu", r"(?s)fwtBatchGPU\(d_Kernel.*?(?=checkCuda)", "", "one of three transforms"),
            Edit("fastWalshTransform.cu", r"dyadicConvolutionCPU\(h_ResultCPU.*\)",
                 "fwtCPU(h_ResultCPU, h_Data, log2Data)", "the sample's CPU code for one transform")]),
        sample("histogram", "main.cpp histogram_gold.cpp histogram64.cu histogram256.cu", check=PASSED, edits=[
            Edit("main.cpp", "numRuns = 16", "numRuns = 0", ONE_LAUNCH),
            Edit("main.cpp", r'(?=\{\s*printf\("Initializing 256)', "if (false) ", "no measurements of its kernels"),
            Edit("histogram64.cu", "__shared__ uchar", "__shared__ __align__(16) uchar", ALIGNED)]),
        sample("mergeSort", "main.cpp mergeSort.cu mergeSort_host.cpp mergeSort_validate.cpp bitonic.cu",
               edits=[
                   Edit("mergeSort.cu", "umin", "min", "a function that clang's headers lack", 5),
                   Edit("bitonic.cu", "umin", "min", "a function that clang's headers lack"),
                   Edit("mergeSort.cu", r"(stride = SHARED_SIZE_LIMIT; stride <) N", r"\1 4096", one_stage, 2),
                   Edit("main.cpp", r"1,(\s*)N\b", r"N / 4096,\g<1>4096", one_stage, 2)]),
        sample("quasirandomGenerator", "quasirandomGenerator.cpp quasirandomGenerator_gold.cpp "
               "quasirandomGenerator_kernel.cu", edits=[
                   Edit("quasirandomGenerator.cpp", "numIterations = 20", "numIterations = 0", ONE_LAUNCH)]),
        sample("sobolQRNG", "sobol.cpp sobol_gold.cpp sobol_gpu.cu sobol_primitives.cpp", "SobolQRNG"),
    ]


class Failure(Exception):
    """A program cannot be built; the message says why."""


def build(program, options):
    """Compiles an edited copy of a program: the executable."""
    cuda = options.apps / "src" / "cuda"
    source, folder, headers = cuda / program.folder, options.work / "build" / program.name, options.work / "include"
    if not source.is_dir():
        stop(f"{FILE}: --apps {options.apps}: the checkout has no src/cuda/{program.folder}")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("doc"))
    if program.suite == "parboil":
        shutil.copy(cuda / PARBOIL / "src" / "parboil.c", folder)
    for change in program.edits:
        path = folder / change.file
        count = edit(path, change.old, change.new) if path.is_file() else 0
        if count != change.count:
            stop(f"{FILE}: {program.name}: {change.file} has {count} matches of {change.old!r} instead of "
                 f"{change.count}; is the checkout at commit 9072f14?")
    # Some host sources use the runtime without its header, which CUDA sources do not need.
    for path in folder.glob("*.cpp"):
        path.rename(path.with_suffix(".cu"))
    sources = [re.sub(r"\.cpp$", ".cu", name) for name in program.sources]
    headers.mkdir(exist_ok=True)
    (headers / "omp.h").write_text(OMP_HEADER)
    executable = folder / "program"
    flags = [flag.format(cuda=cuda, headers=headers) for flag in FLAGS[program.suite]]
    command = [options.wave_sim, "nvcc", "-O2", "-w", *flags, *program.flags, "-o", executable, *sources, "-lm"]
    process = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace")
    messages = process.stderr + process.stdout
    if process.returncode:
        errors = re.findall(r".*(?:: error:|: undefined).*", messages)
        raise Failure((errors or messages.splitlines() or ["the compiler failed"])[0].strip())
    return executable


def prepare(program, options):
    """Makes an empty working folder with the inputs. The folder inputs keeps generated files for other runs."""
    folder, made = (options.work / part / program.name for part in ("work", "inputs"))
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, make in program.inputs.items():
        path = made / name
        if program.name == "b+tree" and options.rodinia_data:
            path = options.rodinia_data / "b+tree" / name
        elif make is None:
            path = options.apps / "src" / "cuda" / program.folder / "data" / name
        elif not path.is_file():
            made.mkdir(parents=True, exist_ok=True)
            # An interrupted script leaves no half of a file under the name.
            part = made / f"{name}.part"
            make(part)
            part.replace(path)
        (folder / name).symlink_to(path)
    return folder


def run(program, executable, folder, options):
    """Runs a program: its exit code."""
    command = [options.wave_sim, "run", "--config", "v100", "--cache-control", "all", "--format", "json", "--output",
               folder / "report.json", *["--functional"] * options.functional, *options.flags, "--", executable,
               *program.arguments]
    with open(folder / "stdout", "w") as out, open(folder / "stderr", "w") as errors:
        return subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=errors).returncode


def check(program, folder, code):
    """Checks the output of a program that ended."""
    text, errors = ((folder / name).read_text(errors="replace") for name in ("stdout", "stderr"))
    if code:
        raise Mismatch(f"exit code {code}: {first_error(errors) or last_line(text) or last_line(errors)}")
    try:
        program.check(Output(text, folder, None))
    except (ArithmeticError, LookupError, ValueError, TypeError, OSError) as error:
        raise Mismatch(f"the output cannot be read: {error!r}") from None


def one(program, options):
    """Builds, runs and checks a program: built, result of the check, seconds of the run, reason, each as text."""
    document = options.work / ("functional" if options.functional else "runs") / f"{program.name}.json"
    print(f"{program.name}: builds", file=sys.stderr, flush=True)
    try:
        executable = build(program, options)
    except Failure as why:
        return "no", "", "", str(why)
    if options.build_only:
        return "yes", "", "", ""
    document.parent.mkdir(exist_ok=True)
    document.unlink(missing_ok=True)
    folder = prepare(program, options)
    print(f"{program.name}: runs", file=sys.stderr, flush=True)
    start = time.monotonic()
    code = run(program, executable, folder, options)
    seconds = f"{time.monotonic() - start:.1f}"
    try:
        check(program, folder, code)
    except Mismatch as why:
        return "yes", "failed", seconds, str(why)
    (folder / "report.json").replace(document)
    return "yes", "passed", seconds, ""


def print_list(programs):
    for program in programs:
        print(" ".join([program.name, *program.arguments]))
        if not program.default:
            print("    runs only if --only names it")
        print(f"    input: {program.input}")
        why = ""
        for change in program.edits:
            if change.why != why:
                why = change.why
                print(f"    {why}:")
            new = change.new.strip("\n").replace("\n", "\\n")
            times = f", {change.count} times" * (change.count > 1)
            print(f"        {change.file}: s/{change.old}/{new}/{times}")


def arguments(words):
    """Options; what follows `--` are flags of wave-sim run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--apps", metavar="CHECKOUT", type=pathlib.Path, help="checkout of gpu-app-collection")
    parser.add_argument("--work", metavar="DIR", type=pathlib.Path, help="folder for copies, inputs and results")
    parser.add_argument("--wave-sim", metavar="PATH", default="target/release/wave-sim",
                        help="the wave-sim to run [%(default)s]")
    parser.add_argument("--rodinia-data", metavar="DIR", type=pathlib.Path,
                        help="Rodinia's folder data, for the files of b+tree [default: they are made]")
    parser.add_argument("--only", metavar="NAME", nargs="+", action="extend", default=[],
                        help="runs these programs only")
    parser.add_argument("--list", action="store_true",
                        help="prints the programs with their arguments, inputs and edits")
    parser.add_argument("--build-only", action="store_true", help="compiles and runs nothing")
    parser.add_argument("--functional", action="store_true",
                        help="runs without timing, to check the programs; documents go to DIR/functional")
    parser.usage = parser.format_usage().removeprefix("usage: ").rstrip() + " [-- FLAGS of wave-sim run]"
    end = words.index("--") if "--" in words else len(words)
    options = parser.parse_args(words[:end])
    options.flags = words[end + 1:]
    return options


def resolve(options):
    """Makes paths absolute; stops if one is wrong."""
    for name in ("apps", "work"):
        if getattr(options, name) is None:
            stop(f"{FILE}: --{name} is missing")
    if not (options.apps / "src" / "cuda" / PARBOIL).is_dir():
        stop(f"{FILE}: --apps {options.apps}: no checkout of gpu-app-collection")
    if options.rodinia_data:
        for name in ("mil.txt", "command.txt"):
            if not (options.rodinia_data / "b+tree" / name).is_file():
                stop(f"{FILE}: --rodinia-data {options.rodinia_data}: no file b+tree/{name}")
        options.rodinia_data = options.rodinia_data.resolve()
    found = shutil.which(options.wave_sim)
    if not found:
        stop(f"{FILE}: --wave-sim {options.wave_sim}: no program; cargo build --release makes it")
    options.wave_sim = os.path.abspath(found)
    try:
        options.work.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        stop(f"{FILE}: --work {options.work}: {error.strerror}")
    options.apps, options.work = options.apps.resolve(), options.work.resolve()


def main(words):
    options = arguments(words)
    programs = [*rows_of_rodinia(), *rows_of_parboil(), *rows_of_samples()]
    for name in options.only:
        if name not in {program.name for program in programs}:
            stop(f"{FILE}: --only {name}: no such program; --list shows them")
    if options.only:
        programs = [program for program in programs if program.name in options.only]
    if options.list:
        print_list(programs)
        return 0
    resolve(options)
    if not options.only:
        programs = [program for program in programs if program.default]
    rows = [(program.name, *one(program, options)) for program in programs]
    print(f"{'program':20}  built  check   seconds  reason")
    for name, built, result, seconds, reason in rows:
        print(f"{name:20}  {built:5}  {result:6}  {seconds:>7}  {reason}".rstrip())
    return int(any(built == "no" or result == "failed" for _, built, result, _, _ in rows))


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
