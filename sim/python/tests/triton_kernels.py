"""Kernels of Triton for `test_triton.py`, in a file of their own: Triton reads the sources of functions."""

import triton
import triton.language as tl


@triton.jit
def saxpy(x, y, n, factor, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(y + at, factor * tl.load(x + at, inside) + tl.load(y + at, inside), inside)


@triton.jit
def row_sums(x, sums, columns, row_step, column_step, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = 0.0
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.sum(tl.load(x + row * row_step + at * column_step, at < columns, 0.0))
    tl.store(sums + row, total)


@triton.jit
def product(a, b, c, n, TILE: tl.constexpr):
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)
    columns = tl.program_id(1) * TILE + tl.arange(0, TILE)
    total = tl.zeros((TILE, TILE), tl.float32)
    for start in range(0, n, TILE):
        inner = start + tl.arange(0, TILE)
        left = tl.load(a + rows[:, None] * n + inner[None, :])
        right = tl.load(b + inner[:, None] * n + columns[None, :])
        total = tl.dot(left, right, total, input_precision="ieee")
    tl.store(c + rows[:, None] * n + columns[None, :], total)


@triton.jit
def all_scalars(out, one, tall, wide, real, truth):
    tl.store(out, one)
    tl.store(out + 1, tall)
    tl.store(out + 2, wide.to(tl.float64))
    tl.store(out + 3, real)
    tl.store(out + 4, truth)


@triton.jit
def pair_sum(pair, out):
    tl.store(out, tl.load(pair[0]) + pair[1])


@triton.jit
def through_a_table(table, out, COUNT: tl.constexpr):
    for number in tl.static_range(COUNT):
        array = tl.load(table + number).to(tl.pointer_type(tl.float32))
        tl.store(out + number, tl.load(array))


@triton.jit
def count(total, n, BLOCK: tl.constexpr):
    tl.atomic_add(total + tl.arange(0, BLOCK) % n, 1)


@triton.autotune([triton.Config({"BLOCK": size}, num_warps=warps) for size, warps in ((32, 1), (256, 2), (1024, 4))], key=["n"])
@triton.jit
def tuned(x, y, n, factor, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, factor * tl.load(x + at, at < n) + tl.load(y + at, at < n), at < n)


@triton.autotune([triton.Config({"BLOCK": size}) for size in (64, 128)], key=["n"], reset_to_zero=["total"])
@triton.jit
def tuned_count(total, n, BLOCK: tl.constexpr):
    tl.atomic_add(total + tl.arange(0, BLOCK) % n, 1)


tuned_product = triton.autotune(
    [triton.Config({"TILE": tile}, num_warps=warps) for tile, warps in ((64, 4), (16, 1))], key=["n"]
)(product)


@triton.heuristics({"BLOCK": lambda arguments: triton.next_power_of_2(arguments["n"])})
@triton.jit
def with_heuristics(x, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, at.to(tl.float32), at < n)


@triton.jit
def half_precision(x, y, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at) * 2)
