"""Cases of the layouts of types in buffers, and of several entry points."""

import struct
from collections.abc import Iterator

from ..cases import Buffer, Case
from .written import reals, shader, words

COUNTING = words([0x01000000 * (k % 7) + k * 0x101 + 1 for k in range(64)])


def halves(values: list[float]) -> bytes:
    return struct.pack(f"<{len(values)}e", *values)


def layouts() -> Iterator[Case]:
    # The members are read from places that the host knows, as words; each copy adds one to see which is which.
    yield shader(
        "padding of vec3 and after it",
        "struct layout",
        "vec3<u32> u32 vec2<u32> struct",
        """
struct S { a: u32, v: vec3<u32>, b: u32, w: vec2<u32>, c: u32, x: vec3<u32> }
@group(0) @binding(0) var<storage> given: array<S, 2>;
@group(0) @binding(1) var<storage, read_write> found: array<S, 2>;
@compute @workgroup_size(2)
fn main(@builtin(local_invocation_index) i: u32) {
    let s = given[i];
    found[1u - i] = S(s.a + 1u, s.v + vec3<u32>(2u), s.b + 3u, s.w + vec2<u32>(4u), s.c + 5u, s.x + vec3<u32>(6u));
}""",
        [COUNTING[:160]],
        b"\xee" * 160,
        padded_structs(COUNTING[:160]),
    )
    yield shader(
        "array of vec3",
        "array layout",
        "array<vec3<f32>>",
        """
@group(0) @binding(0) var<storage> given: array<vec3<f32>>;
@group(0) @binding(1) var<storage, read_write> found: array<f32>;
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    found[3u * i] = given[i].z;
    found[3u * i + 1u] = given[i].x;
    found[3u * i + 2u] = given[i][1];
}""",
        [reals([float(k) for k in range(16)])],
        48,
        reals([float(4 * i + k) for i in range(4) for k in (2, 0, 1)]),
    )
    yield shader(
        "writing components of vec3 leaves padding",
        "array layout",
        "array<vec3<u32>>",
        """
@group(0) @binding(0) var<storage, read_write> found: array<vec3<u32>>;
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    if i < 2u { found[i] = vec3<u32>(i, 2u, 3u); } else { found[i].y = 9u; found[i][i - 2u] = 8u; }
}""",
        [],
        b"\xee" * 64,
        words(
            [0, 2, 3, 0xEEEEEEEE, 1, 2, 3, 0xEEEEEEEE]
            + [8, 9, 0xEEEEEEEE, 0xEEEEEEEE, 0xEEEEEEEE, 8, 0xEEEEEEEE, 0xEEEEEEEE]
        ),
    )
    yield shader(
        "attributes align and size",
        "struct layout",
        "struct u32 vec2<f32> f32",
        """
struct Inner { @size(12) p: u32, q: vec2<f32> }
struct S { @align(16) a: u32, @size(20) b: f32, @align(32) inner: Inner, @align(64) @size(64) last: u32 }
@group(0) @binding(0) var<storage> given: array<S, 2>;
@group(0) @binding(1) var<storage, read_write> found: array<u32>;
@compute @workgroup_size(2)
fn main(@builtin(local_invocation_index) i: u32) {
    let s = &given[i];
    found[6u * i] = (*s).a;
    found[6u * i + 1u] = bitcast<u32>((*s).b);
    found[6u * i + 2u] = (*s).inner.p;
    found[6u * i + 3u] = bitcast<u32>(s.inner.q.x);
    found[6u * i + 4u] = bitcast<u32>(s.inner.q.y);
    found[6u * i + 5u] = (*s).last;
}""",
        [words([0x3F800000 + k for k in range(64)])],
        48,
        words([0x3F800000 + 32 * i + k for i in range(2) for k in (0, 1, 8, 12, 13, 16)]),
    )
    yield shader(
        "nested structures and arrays",
        "struct layout",
        "struct array mat2x3<f32> vec4<i32>",
        """
struct Inner { f: f32, m: mat2x3<f32>, few: array<u32, 3> }
struct S { inner: array<Inner, 2>, v: vec4<i32>, tail: array<vec2<u32>, 2> }
@group(0) @binding(0) var<storage> given: array<S, 2>;
@group(0) @binding(1) var<storage, read_write> found: array<S, 2>;
@compute @workgroup_size(2)
fn main(@builtin(local_invocation_index) i: u32) {
    var s = given[i];
    let kept = s.inner[0];
    s.inner[0] = s.inner[1];
    s.inner[1] = kept;
    s.inner[i].few[2] += 100u;
    s.inner[1].m[1] = s.inner[0].m[0];
    s.v = s.v.wzyx;
    let t = s.tail;
    s.tail[0] = t[1].yx;
    s.tail[1] = t[0];
    found[1u - i] = s;
}""",
        [words([0x40000000 + k for k in range(96)])],
        384,
    )
    yield Case(
        "uniform buffer",
        "uniform",
        ["struct", "array<vec4<f32>>", "mat3x3<f32>", "vec3<f32>"],
        """struct Inner { a: vec3<f32>, b: f32 }
struct S { m: mat3x3<f32>, rows: array<vec4<f32>, 3>, inner: Inner, n: u32 }
@group(1) @binding(2) var<uniform> given: S;
@group(0) @binding(1) var<storage, read_write> found: array<f32>;
@compute @workgroup_size(3)
fn main(@builtin(local_invocation_index) i: u32) {
    found[4u * i] = given.m[i].y;
    found[4u * i + 1u] = given.rows[(i + 1u) % 3u].w;
    found[4u * i + 2u] = given.inner.a[i] + given.inner.b;
    found[4u * i + 3u] = f32(given.n);
}
""",
        [
            Buffer(2, reals([float(k) for k in range(28)]) + words([77, 0, 0, 0]), group=1),
            Buffer(
                1,
                bytes(48),
                output=reals([x for i in range(3) for x in (4 * i + 1, 12 + 4 * ((i + 1) % 3) + 3, 24 + i + 27, 77)]),
            ),
        ],
    )
    yield shader(
        "layout of f16",
        "struct layout",
        "f16 vec3<f16> mat3x2<f16> array<f16> struct",
        """
enable f16;
struct S { a: f16, v: vec3<f16>, few: array<f16, 3>, m: mat3x2<f16>, b: f16 }
@group(0) @binding(0) var<storage> given: array<S, 2>;
@group(0) @binding(1) var<storage, read_write> found: array<S, 2>;
@compute @workgroup_size(2)
fn main(@builtin(local_invocation_index) i: u32) {
    let s = given[i];
    found[i] = S(s.b, s.v.zxy, array<f16, 3>(s.few[2], s.few[0], s.few[1]), mat3x2<f16>(s.m[2], s.m[0], s.m[1].yx), s.a);
}""",
        [halves([float(k) for k in range(40)])],
        80,
        halves(
            [
                0 if x < 0 else 20 * i + x
                for i in range(2)
                for x in (16, -1, -1, -1, 6, 4, 5, 9, 7, 8, 14, 15, 10, 11, 13, 12, 0, -1, -1, -1)
            ]
        ),
        requires=["f16"],
    )
    for title, declared, offset in (("whole buffer", "array<vec2<u32>>", 0), ("after members", "Tail", 16)):
        member = ".rest" if offset else ""
        yield shader(
            f"arrayLength, {title}",
            "arrayLength",
            "array",
            f"""
struct Tail {{ n: u32, v: vec2<f32>, rest: array<vec2<u32>> }}
@group(0) @binding(0) var<storage> given: {declared};
@group(0) @binding(1) var<storage, read_write> found: array<u32>;
@compute @workgroup_size(1)
fn main() {{
    found[0] = arrayLength(&given{member});
    let p = &given{member};
    found[1] = (*p)[arrayLength(p) - 1u].y;
    found[2] = arrayLength(&found);
}}""",
            [words(list(range(30)))],
            20,
            words([(120 - offset) // 8, 29, 5, 0, 0]),
        )


def padded_structs(given: bytes) -> bytes:
    numbers = struct.unpack("<40I", given)
    found = [0xEEEEEEEE] * 40
    places = [(0, 1), (4, 2), (5, 2), (6, 2), (7, 3), (8, 4), (9, 4), (10, 5), (12, 6), (13, 6), (14, 6)]
    for i in range(2):
        for word, more in places:
            # 64 bytes for each copy, of which the host wrote counting words.
            found[(1 - i) * 16 + word] = numbers[i * 16 + word] + more
    return words(found)


def more() -> Iterator[Case]:
    odd = [0x00000001, 0x807FFFFF, 0x7FC00001, 0x7F800001, 0xFFFFFFFF, 0x80000000, 0x7F800000, 0x3F800000]
    yield Case(
        "copies of f32 keep every bit",
        "load and store",
        ["f32", "vec4<f32>", "struct"],
        """struct S { a: f32, b: f32 }
@group(0) @binding(0) var<storage> given: array<f32, 8>;
@group(0) @binding(1) var<storage, read_write> found: array<f32, 24>;
@group(0) @binding(2) var<storage, read_write> rows: array<vec4<f32>, 2>;
var<workgroup> held: array<f32, 8>;
var<private> own: S;
@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) i: u32) {
    found[i] = given[i];
    held[i] = given[i];
    own = S(given[i], given[7u - i]);
    workgroupBarrier();
    found[8u + i] = held[7u - i];
    found[16u + i] = own.b;
    rows[i / 4u][i % 4u] = given[i];
}
""",
        [
            Buffer(0, words(odd)),
            Buffer(1, bytes(96), output=words(odd + odd[::-1] + odd[::-1])),
            Buffer(2, bytes(32), output=words(odd)),
        ],
        basis="ieee",
    )
    text = """struct Item { n: u32, few: array<vec2<f32>, 2>, v: vec3<i32> }
struct Store { count: u32, items: array<Item> }
@group(0) @binding(0) var<storage> given: Store;
@group(0) @binding(1) var<storage, read_write> found: array<vec4<i32>>;
@group(0) @binding(2) var<storage, read_write> other: array<u32>;
@compute @workgroup_size(4)
fn first(@builtin(local_invocation_index) i: u32) {
    let item = given.items[i % given.count];
    let sum = item.few[0] + item.few[1].yx;
    found[i] = vec4<i32>(i32(item.n), item.v.yz, i32(sum.x * 10.0 + sum.y) + i32(arrayLength(&given.items)));
}
@compute @workgroup_size(2, 2)
fn second(@builtin(local_invocation_id) id: vec3<u32>) { other[id.x * 2u + id.y] = id.x + 10u * id.y; }
"""
    store = struct.pack("<I12x", 2)
    for k in range(3):
        store += struct.pack("<I4x4f8x3i4x", 100 + k, 1.0 + k, 2.0, 3.0, 4.0 + k, -k, k * 5, k * 7)
    rows = []
    for i in range(4):
        k = i % 2
        rows += [100 + k, k * 5, k * 7, (1 + k + 4 + k) * 10 + 5 + 3]
    yield Case(
        "array of structures behind members",
        "struct layout",
        ["struct", "array<struct>"],
        text,
        [Buffer(0, store), Buffer(1, bytes(64), output=words(rows))],
        entry="first",
    )
    yield Case(
        "second entry point",
        "entry points",
        ["u32"],
        text,
        [Buffer(2, bytes(16), output=words([0, 10, 1, 11]))],
        entry="second",
    )


def cases() -> list[Case]:
    return [c for part in (layouts, more) for c in part()]
