"""Cases of matrices. Their elements are small integers, whose products and sums are exact in any order."""

import random
from collections.abc import Iterator

from ..cases import Buffer, Case
from ..layout import F16, F32, Scalar

COPIES = 2
# A matrix is a list of columns.
Matrix = list[list[float]]


def product(a: Matrix, b: Matrix) -> Matrix:
    rows, inner = range(len(a[0])), range(len(a))
    return [[sum(a[k][r] * column[k] for k in inner) for r in rows] for column in b]


def transposed(a: Matrix) -> Matrix:
    return [list(row) for row in zip(*a)]


def determinant(a: Matrix) -> float:
    if len(a) == 1:
        return a[0][0]
    rest = [[column[1:] for k, column in enumerate(a) if k != c] for c in range(len(a))]
    return sum((-1.0 if c % 2 else 1.0) * a[c][0] * determinant(rest[c]) for c in range(len(a)))


def name_of(a: Matrix, scalar: Scalar) -> str:
    """The type in WGSL: one column of one row is a scalar, one column a vector."""
    rows = len(a[0])
    if len(a) > 1:
        return f"mat{len(a)}x{rows}<{scalar.name}>"
    return scalar.name if rows == 1 else f"vec{rows}<{scalar.name}>"


def packed(values: list[Matrix], scalar: Scalar) -> bytes:
    """The members of a structure as they lie in memory, one copy of it."""
    data = bytearray()
    largest = 1
    for value in values:
        rows = len(value[0])
        alignment = scalar.size_bytes * {1: 1, 2: 2, 3: 4, 4: 4}[rows]
        largest = max(largest, alignment)
        for column in value:
            data += bytes(-len(data) % alignment)
            data += b"".join(scalar.pack(x) for x in column)
        if len(value) > 1:
            # A matrix is as large as its columns with their padding.
            data += bytes(-len(data) % alignment)
    return bytes(data + bytes(-len(data) % largest))


def drawn(rng: random.Random, columns: int, rows: int) -> Matrix:
    # No zeros, whose products are zeros of a sign that is open.
    return [[float(rng.choice((-1, 1)) * rng.randint(1, 6)) for _ in range(rows)] for _ in range(columns)]


def case(
    name: str, builtin: str, scalar: Scalar, inputs: list[list[Matrix]], outputs: list[tuple[str, list[Matrix]]]
) -> Case:
    """`inputs` are the members a, b, ... and `outputs` expressions over them, with one value for each copy."""
    names = "abcdef"
    given = "".join(f"    {names[k]}: {name_of(copies[0], scalar)},\n" for k, copies in enumerate(inputs))
    found = "".join(f"    r{k}: {name_of(copies[0], scalar)},\n" for k, (_, copies) in enumerate(outputs))
    enable = "enable f16;\n" if scalar is F16 else ""
    text = f"{enable}struct Given {{\n{given}}}\nstruct Found {{\n{found}}}\n"
    text += "@group(0) @binding(0) var<storage> given: array<Given>;\n"
    text += "@group(0) @binding(1) var<storage, read_write> found: array<Found>;\n"
    text += f"@compute @workgroup_size({COPIES})\nfn main(@builtin(local_invocation_index) i: u32) {{\n"
    text += "".join(f"    let {names[k]} = given[i].{names[k]};\n" for k in range(len(inputs)))
    text += "".join(f"    found[i].r{k} = {expression};\n" for k, (expression, _) in enumerate(outputs)) + "}\n"
    before = b"".join(packed([copies[i] for copies in inputs], scalar) for i in range(COPIES))
    after = b"".join(packed([copies[i] for _, copies in outputs], scalar) for i in range(COPIES))
    before, after = (data + bytes(-len(data) % 4) for data in (before, after))
    types = sorted({name_of(copies[0], scalar) for copies in inputs})
    requires = ["f16"] if scalar is F16 else []
    return Case(
        name, builtin, types, text, [Buffer(0, before), Buffer(1, bytes(len(after)), output=after)], requires=requires
    )


def of_shape(scalar: Scalar, columns: int, rows: int) -> Iterator[Case]:
    rng = random.Random(f"{scalar.name}{columns}{rows}")
    a, b = ([drawn(rng, columns, rows) for _ in range(COPIES)] for _ in range(2))
    kind = name_of(a[0], scalar)
    s = [drawn(rng, 1, 1) for _ in range(COPIES)]
    added = [[[x + y for x, y in zip(p, q)] for p, q in zip(m, n)] for m, n in zip(a, b)]
    less = [[[x - y for x, y in zip(p, q)] for p, q in zip(m, n)] for m, n in zip(a, b)]
    scaled = [[[x * t[0][0] for x in p] for p in m] for m, t in zip(a, s)]
    yield case(f"{kind} + {kind}", "matrix +", scalar, [a, b], [("a + b", added)])
    yield case(f"{kind} - {kind}", "matrix -", scalar, [a, b], [("a - b", less)])
    yield case(f"{kind} * {scalar.name}", "matrix * scalar", scalar, [a, s], [("a * b", scaled), ("b * a", scaled)])
    v, w = [drawn(rng, 1, columns) for _ in range(COPIES)], [drawn(rng, 1, rows) for _ in range(COPIES)]
    right = [product(m, x) for m, x in zip(a, v)]
    left = [product(transposed(m), x) for m, x in zip(a, w)]
    yield case(f"{kind} * vector", "matrix * vector", scalar, [a, v], [("a * b", right)])
    yield case(f"vector * {kind}", "vector * matrix", scalar, [a, w], [("b * a", left)])
    yield case(f"transpose {kind}", "transpose", scalar, [a], [("transpose(a)", [transposed(m) for m in a])])
    others = [[drawn(rng, k, columns) for _ in range(COPIES)] for k in (2, 3, 4)]
    products = [(f"a * {'bcd'[k]}", [product(m, n) for m, n in zip(a, other)]) for k, other in enumerate(others)]
    yield case(f"{kind} * matrix", "matrix * matrix", scalar, [a, *others], products)
    parts = [", ".join(f"a[{c}]" for c in range(columns))]
    parts.append(", ".join(f"a[{c}][{r}]" for c in range(columns) for r in range(rows)))
    swapped = [[m[-1], *m[1:-1], m[0]] for m in a]
    yield case(
        f"{kind} parts",
        "matrix constructors and columns",
        scalar,
        [a],
        [
            (f"{kind}({parts[0]})", a),
            (f"{kind}({parts[1]})", a),
            (f"{kind}()", [[[0.0] * rows] * columns] * COPIES),
            (f"{kind}(a[{columns - 1}], {''.join(f'a[{c}], ' for c in range(1, columns - 1))}a[0])", swapped),
            ("a[1u + u32(a[0][0] > 100)]", [[m[1]] for m in a]),
            (f"{kind}({parts[0]})[0].yx", [[m[0][1::-1]] for m in a]),
        ],
    )
    if scalar is F32:
        yield conversion(rng, columns, rows)
    if columns == rows:
        # Small ones: no order of the products leaves the exact integers of f16.
        small = [[[max(-3.0, min(3.0, x)) for x in column] for column in m] for m in a]
        found = [[[determinant(m)]] for m in small]
        yield case(f"determinant {kind}", "determinant", scalar, [small], [("determinant(a)", found)])


def conversion(rng: random.Random, columns: int, rows: int) -> Case:
    """To f16 and back."""
    a = [drawn(rng, columns, rows) for _ in range(COPIES)]
    kind = name_of(a[0], F32)
    half = name_of(a[0], F16)
    found = case(
        f"{half}({kind})",
        "matrix conversion",
        F32,
        [a],
        [(f"{kind}({half}(a) + {half}(a))", [[[2 * x for x in c] for c in m] for m in a])],
    )
    found.wgsl = "enable f16;\n" + found.wgsl
    found.requires = ["f16"]
    found.types = [kind, half]
    return found


def cases() -> list[Case]:
    shapes = [(c, r) for c in (2, 3, 4) for r in (2, 3, 4)]
    return [c for scalar in (F32, F16) for columns, rows in shapes for c in of_shape(scalar, columns, rows)]
