"""Cases of the subgroup operations, for subgroups of eight lanes, which llvmpipe has."""

from collections.abc import Callable, Iterator

from ..cases import Case
from .written import reals, shader, words

WIDTH = 8
LANES = 32
VALUES = [(k * 2654435761 >> 9) % 1000 for k in range(LANES)]
# Lanes that run the operation in the second half of each case.
ACTIVE = [k for k in range(LANES) if VALUES[k] % 3 != 0]


def group_of(k: int, active: bool) -> list[int]:
    first = k // WIDTH * WIDTH
    return [j for j in range(first, first + WIDTH) if not active or j in ACTIVE]


def folds(kind: str) -> dict[str, Callable[[list[int], int], int]]:
    """For the values of the running lanes in order, and how many of them come before this one."""

    def product(values: list[int]) -> int:
        total = 1
        for v in values:
            total *= v
        return total

    def fold(function: Callable[[int, int], int]) -> Callable[[list[int], int], int]:
        def apply(values: list[int], _: int) -> int:
            total = values[0]
            for v in values[1:]:
                total = function(total, v)
            return total

        return apply

    table: dict[str, Callable[[list[int], int], int]] = {
        "subgroupAdd": lambda v, _: sum(v),
        "subgroupMul": lambda v, _: product(v),
        "subgroupMin": lambda v, _: min(v),
        "subgroupMax": lambda v, _: max(v),
        "subgroupExclusiveAdd": lambda v, at: sum(v[:at]),
        "subgroupInclusiveAdd": lambda v, at: sum(v[: at + 1]),
        "subgroupExclusiveMul": lambda v, at: product(v[:at]),
        "subgroupInclusiveMul": lambda v, at: product(v[: at + 1]),
    }
    if kind != "f32":
        table |= {
            "subgroupAnd": fold(lambda a, b: a & b),
            "subgroupOr": fold(lambda a, b: a | b),
            "subgroupXor": fold(lambda a, b: a ^ b),
        }
    return table


def arithmetic() -> Iterator[Case]:
    for kind in ("u32", "i32", "f32"):
        for name, function in folds(kind).items():
            small = name.endswith("Mul")
            values = [v % 5 - 2 if kind == "i32" else v % 5 for v in VALUES] if small else VALUES
            values = [v if kind != "i32" or small else v - 500 for v in values]
            if name == "subgroupAnd":
                values = [v | 0x3C for v in values]
            expected = [
                function([values[j] for j in group_of(k, False)], k - group_of(k, False)[0]) for k in range(LANES)
            ]
            for k in range(LANES):
                group = group_of(k, True)
                expected.append(function([values[j] for j in group], group.index(k)) if k in ACTIVE else 0)
            if kind == "f32":
                given, found = reals([float(v) for v in values]), reals([float(v) for v in expected])
            else:
                given, found = words(values), words(expected)
            yield subgroup_shader(name, name, kind, f"{name}(x)", given, found)
    for width in (2, 3, 4):
        vectors = [[VALUES[(k * 3 + c) % LANES] for c in range(width)] for k in range(LANES)]
        room = {2: 2, 3: 4, 4: 4}[width]
        rows = [[sum(vectors[j][c] for j in group_of(k, False)) for c in range(width)] for k in range(LANES)]
        rows += [
            [sum(vectors[j][c] for j in group_of(k, True)) * (k in ACTIVE) for c in range(width)] for k in range(LANES)
        ]

        def pad(row: list[int], room: int = room) -> list[int]:
            return row + [0] * (room - len(row))

        yield subgroup_shader(
            f"subgroupAdd vec{width}",
            "subgroupAdd",
            f"vec{width}<u32>",
            "subgroupAdd(x)",
            words([v for row in vectors for v in pad(row)]),
            words([v for row in rows for v in pad(row)]),
        )


def subgroup_shader(name: str, builtin: str, kind: str, call: str, given: bytes, found: bytes) -> Case:
    text = f"""@group(0) @binding(0) var<storage> selector: array<u32>;
@group(0) @binding(1) var<storage> values: array<{kind}>;
@group(0) @binding(2) var<storage, read_write> found: array<{kind}>;
@compute @workgroup_size({LANES})
fn main(@builtin(local_invocation_index) i: u32, @builtin(subgroup_invocation_id) lane: u32) {{
    let x = values[i];
    found[i] = {call};
    if selector[i] % 3u != 0u {{ found[i + {LANES}u] = {call}; }}
}}"""
    title = name if " " in name else f"{name} {kind}"
    return shader(
        title, builtin, kind, text, [words(VALUES), given], len(found), found, requires=["subgroups"], wave_width=WIDTH
    )


def exchange() -> Iterator[Case]:
    tables: dict[str, tuple[str, Callable[[int, list[int]], int]]] = {
        # The lane that is read runs too: its number is a multiple of the width away, or all run.
        "subgroupBroadcast": ("subgroupBroadcast(x, 5u)", lambda k, v: v[k // WIDTH * WIDTH + 5]),
        "subgroupBroadcastFirst": ("subgroupBroadcastFirst(x)", lambda k, v: v[k // WIDTH * WIDTH]),
        "subgroupShuffle": (
            "subgroupShuffle(x, (lane * 3u + 1u) % 8u)",
            lambda k, v: v[k // WIDTH * WIDTH + (k * 3 + 1) % WIDTH],
        ),
        "subgroupShuffleXor": ("subgroupShuffleXor(x, 5u)", lambda k, v: v[k ^ 5]),
        "subgroupShuffleUp": (
            "select(KIND(), subgroupShuffleUp(x, 3u), lane >= 3u)",
            lambda k, v: v[k - 3] if k % WIDTH >= 3 else 0,
        ),
        "subgroupShuffleDown": (
            "select(KIND(), subgroupShuffleDown(x, 2u), lane < 6u)",
            lambda k, v: v[k + 2] if k % WIDTH < 6 else 0,
        ),
        "quadBroadcast": ("quadBroadcast(x, 2u)", lambda k, v: v[k // 4 * 4 + 2]),
        "quadSwapX": ("quadSwapX(x)", lambda k, v: v[k ^ 1]),
        "quadSwapY": ("quadSwapY(x)", lambda k, v: v[k ^ 2]),
        "quadSwapDiagonal": ("quadSwapDiagonal(x)", lambda k, v: v[k ^ 3]),
    }
    for name, (call, function) in tables.items():
        for kind in ("i32", "f32", "vec2<i32>"):
            values = [v - 300 for v in VALUES]
            expected = [function(k, values) for k in range(LANES)]
            body = call.replace("KIND", kind)
            if kind == "f32":
                given, found = reals([float(v) for v in values]), reals([float(v) for v in expected])
            elif kind == "i32":
                given, found = words(values), words(expected)
            else:
                given = words([w for v in values for w in (v, v * 7)])
                found = words([w for v in expected for w in (v, v * 7)])
            text = f"""@group(0) @binding(0) var<storage> values: array<{kind}>;
@group(0) @binding(1) var<storage, read_write> found: array<{kind}>;
@compute @workgroup_size({LANES})
fn main(@builtin(local_invocation_index) i: u32, @builtin(subgroup_invocation_id) lane: u32) {{
    let x = values[i];
    found[i] = {body};
}}"""
            yield shader(
                f"{name} {kind}", name, kind, text, [given], len(found), found, requires=["subgroups"], wave_width=WIDTH
            )


def votes() -> Iterator[Case]:
    rows = []
    for k in range(LANES):
        everyone, active = group_of(k, False), group_of(k, True)
        ballot = sum(1 << (j % WIDTH) for j in everyone if VALUES[j] % 2)
        flags = (
            int(all(VALUES[j] < 990 for j in everyone))
            + 2 * int(any(VALUES[j] > 900 for j in everyone))
            + 4 * int(k == everyone[0])
        )
        inner = -1
        if k in ACTIVE:
            inner = sum(1 << (j % WIDTH) for j in active if VALUES[j] % 2) + 256 * int(k == active[0])
            inner += 512 * int(all(VALUES[j] % 3 == 1 for j in active)) + 1024 * int(
                any(VALUES[j] > 800 for j in active)
            )
        rows.append([ballot, flags, inner, k % WIDTH + 100 * WIDTH + 10000 * (k // WIDTH) + 100000 * (LANES // WIDTH)])
    yield shader(
        "votes, ballots, and the built-in inputs of subgroups",
        "subgroupBallot, subgroupAll, subgroupAny, subgroup_size, subgroup_invocation_id, subgroup_id, num_subgroups",
        "bool vec4<u32> u32",
        f"""
@group(0) @binding(0) var<storage> values: array<u32>;
@group(0) @binding(1) var<storage, read_write> found: array<vec4<u32>>;
@compute @workgroup_size({LANES})
fn main(@builtin(local_invocation_index) i: u32, @builtin(subgroup_invocation_id) lane: u32,
        @builtin(subgroup_size) size: u32, @builtin(subgroup_id) own: u32, @builtin(num_subgroups) count: u32) {{
    let x = values[i];
    let ballot = subgroupBallot(x % 2u == 1u);
    var flags = u32(subgroupAll(x < 990u)) + 2u * u32(subgroupAny(x > 900u)) + 4u * u32(lane == subgroupBroadcastFirst(lane));
    var inner = 0xffffffffu;
    if x % 3u != 0u {{
        inner = subgroupBallot(x % 2u == 1u).x + 256u * u32(lane == subgroupBroadcastFirst(lane));
        inner += 512u * u32(subgroupAll(x % 3u == 1u)) + 1024u * u32(subgroupAny(x > 800u));
    }}
    let all = ballot.x + ballot.y + ballot.z + ballot.w;
    found[i] = vec4<u32>(all, flags, inner, lane + 100u * size + 10000u * own + 100000u * count);
}}""",
        [words(VALUES)],
        16 * LANES,
        words([w for row in rows for w in row]),
        requires=["subgroups"],
        wave_width=WIDTH,
    )
    # Whatever the width of a subgroup: sums of sums.
    yield shader(
        "sum of a workgroup by subgroups",
        "subgroupAdd",
        "u32",
        """
@group(0) @binding(0) var<storage> values: array<u32>;
@group(0) @binding(1) var<storage, read_write> found: array<u32>;
var<workgroup> total: atomic<u32>;
@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32, @builtin(subgroup_invocation_id) lane: u32) {
    if i == 0u { atomicStore(&total, 0u); }
    workgroupBarrier();
    let sum = subgroupAdd(values[i]);
    if lane == subgroupBroadcastFirst(lane) { atomicAdd(&total, sum); }
    subgroupBarrier();
    workgroupBarrier();
    found[i] = atomicLoad(&total) + i;
}""",
        [words(VALUES)],
        4 * LANES,
        words([sum(VALUES) + k for k in range(LANES)]),
        requires=["subgroups"],
    )


def cases() -> list[Case]:
    return [c for part in (arithmetic, exchange, votes) for c in part()]
