"""Cases of variables in every address space, pointers, run-time indices, constants, and indices out of range."""

from collections.abc import Iterator

from ..cases import Buffer, Case
from .written import shader, words


def variables() -> Iterator[Case]:
    yield shader(
        "private variables",
        "private variable",
        "u32 array struct vec3<i32>",
        """
struct Pair { a: u32, v: vec3<i32> }
var<private> counter: u32 = 5u;
var<private> table: array<u32, 6> = array<u32, 6>(1u, 2u, 3u, 4u, 5u, 6u);
var<private> pair: Pair = Pair(9u, vec3<i32>(-1, -2, -3));
var<private> blank: array<vec2<u32>, 3>;
@group(0) @binding(0) var<storage, read_write> found: array<vec4<u32>>;
fn bump(by: u32) -> u32 { counter += by; table[counter % 6u] *= 10u; return counter; }
@compute @workgroup_size(20)
fn main(@builtin(local_invocation_index) i: u32) {
    for (var k = 0u; k <= i % 4u; k++) { blank[k % 3u].y += bump(i); }
    pair.v[i % 3u] += i32(i);
    var sum = 0u;
    for (var k = 0u; k < 6u; k++) { sum = sum * 31u + table[k]; }
    found[i] = vec4<u32>(counter, sum, u32(pair.v.x * 10000 + pair.v.y * 100 + pair.v.z), blank[0].y + blank[2].y * 1000u + blank[1].x);
}""",
        [],
        320,
    )
    yield shader(
        "function variables begin anew",
        "function variable",
        "u32 array",
        """
@group(0) @binding(0) var<storage, read_write> found: array<u32>;
fn grow(n: u32) -> u32 {
    var kept: array<u32, 4>;
    var sum = 0u;
    for (var k = 0u; k < n; k++) {
        var inner: u32;
        inner += k;
        kept[k % 4u] += inner;
        sum += kept[k % 4u];
    }
    return sum;
}
@compute @workgroup_size(16)
fn main(@builtin(local_invocation_index) i: u32) { found[i] = grow(i) * 1000u + grow(i / 2u); }""",
        [],
        64,
        words([grown(i) * 1000 + grown(i // 2) for i in range(16)]),
    )
    yield shader(
        "pointers as parameters",
        "pointer",
        "ptr<function> ptr<private>",
        """
struct S { a: u32, v: vec3<u32>, few: array<u32, 4> }
var<private> hidden: array<u32, 4>;
@group(0) @binding(0) var<storage, read_write> found: array<u32>;
fn swap(a: ptr<function, u32>, b: ptr<function, u32>) { let t = *a; *a = *b; *b = t; }
fn fill(p: ptr<function, array<u32, 4>>, from_: u32) { for (var k = 0u; k < 4u; k++) { (*p)[k] = from_ + k; } }
fn bend(p: ptr<function, S>, n: u32) -> u32 { (*p).a = n; p.v.y += n; p.few[n % 4u] = 77u; return p.few[(n + 1u) % 4u]; }
fn keep(p: ptr<private, array<u32, 4>>, n: u32) { (*p)[n % 4u] += n; }
fn twice(p: ptr<function, u32>) { swap_self(p); *p *= 2u; }
fn swap_self(p: ptr<function, u32>) { let q = p; *q = *p + 1u; }
@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) i: u32) {
    var a = i; var b = 100u + i;
    swap(&a, &b);
    var few: array<u32, 4>;
    fill(&few, i * 10u);
    var s = S(1u, vec3<u32>(1u, 2u, 3u), few);
    let r = bend(&s, i);
    keep(&hidden, i + 1u);
    keep(&hidden, i + 5u);
    twice(&b);
    let base = i * 8u;
    found[base] = a; found[base + 1u] = b; found[base + 2u] = r; found[base + 3u] = s.a + s.v.y * 100u;
    found[base + 4u] = s.few[i % 4u]; found[base + 5u] = few[i % 4u]; found[base + 6u] = hidden[(i + 1u) % 4u]; found[base + 7u] = hidden[i % 4u];
}""",
        [],
        256,
        words(
            [
                w
                for i in range(8)
                for w in (
                    100 + i,
                    (i + 1) * 2,
                    i * 10 + (i + 1) % 4,
                    i + (2 + i) * 100,
                    77,
                    i * 10 + i % 4,
                    2 * i + 6,
                    0,
                )
            ]
        ),
    )
    yield shader(
        "references with let",
        "pointer",
        "ptr<storage> ptr<workgroup>",
        """
@group(0) @binding(0) var<storage, read_write> found: array<vec4<u32>, 8>;
var<workgroup> shared_rows: array<vec4<u32>, 8>;
@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) i: u32) {
    let row = &shared_rows[i];
    *row = vec4<u32>(i, i * 2u, i * 3u, i * 4u);
    (*row).z += 50u;
    row[3] -= i;
    workgroupBarrier();
    let out = &found[7u - i];
    *out = shared_rows[(i + 1u) % 8u].wzyx;
    (*out)[i % 4u] = 1000u + out[i % 4u];
}""",
        [],
        128,
        words([w for row in reversed([rotated(i) for i in range(8)]) for w in row]),
    )
    yield shader(
        "indices at run time",
        "dynamic index",
        "vec4<f32> mat4x3<f32> array<vec2<i32>> array<array<u32>>",
        """
@group(0) @binding(0) var<storage> at: array<u32, 16>;
@group(0) @binding(1) var<storage, read_write> found: array<vec4<f32>, 16>;
@compute @workgroup_size(16)
fn main(@builtin(local_invocation_index) i: u32) {
    let k = at[i];
    var v = vec4<f32>(1.0, 2.0, 3.0, 4.0);
    v[k % 4u] = 10.0 * v[(k + 1u) % 4u];
    var m = mat4x3<f32>(vec3<f32>(1.0), vec3<f32>(2.0), vec3<f32>(3.0), vec3<f32>(4.0, 5.0, 6.0));
    m[k % 4u][k % 3u] += 0.5;
    m[(k + 1u) % 4u] = m[k % 4u].zyx;
    var pairs = array<vec2<i32>, 3>(vec2<i32>(1, 2), vec2<i32>(3, 4), vec2<i32>(5, 6));
    pairs[k % 3u][k % 2u] = -1;
    var grid: array<array<u32, 3>, 4>;
    grid[k % 4u][k % 3u] = k;
    var sum = 0u;
    for (var a = 0; a < 4; a++) { for (var b = 0; b < 3; b++) { sum = sum * 2u + grid[a][b]; } }
    let p = pairs[(k + i) % 3u];
    let frozen = array<f32, 5>(0.5, 1.5, 2.5, 3.5, 4.5);
    found[i] = vec4<f32>(dot(v, vec4<f32>(1.0, 100.0, 1000.0, 10000.0)), m[(k + 1u) % 4u][i % 3u] + frozen[k % 5u], f32(p.x * 10 + p.y), f32(sum));
}""",
        [words([(k * 7 + 3) % 23 for k in range(16)])],
        256,
    )
    # A back end that stores several words at once puts them side by side in registers where others may still live.
    for swizzle in ("xxy", "yxx", "yxxx", "wzwz", "zzww"):
        n = len(swizzle)
        forth, back = ([5 + "xyzw".index(c) for c in s] + [0] * (4 - n) for s in (swizzle, swizzle[::-1]))
        yield shader(
            f"stores of a loaded vector's {swizzle}",
            "load and store",
            f"vec{n}<u32>",
            f"""
@group(0) @binding(0) var<storage> given: vec4<u32>;
@group(0) @binding(1) var<storage, read_write> found: array<vec{n}<u32>, 2>;
@compute @workgroup_size(1)
fn main(@builtin(local_invocation_index) at: u32) {{
    let v = given;
    found[at] = v.{swizzle};
    found[1u - at] = v.{swizzle[::-1]};
}}""",
            [words([5, 6, 7, 8])],
            32,
            words(forth + back),
        )
    yield shader(
        "compound assignments",
        "+=, -=, *=, /=, %=, &=, |=, ^=, <<=, >>=, ++, --",
        "u32 i32 f32 vec3<i32>",
        """
@group(0) @binding(0) var<storage> given: array<i32, 16>;
@group(0) @binding(1) var<storage, read_write> found: array<vec4<i32>, 16>;
@compute @workgroup_size(16)
fn main(@builtin(local_invocation_index) i: u32) {
    var a = given[i];
    var u = u32(a);
    var f = f32(a);
    var v = vec3<i32>(a, a + 1, a + 2);
    a += 7; a -= 3; a *= 5; a /= 3; a %= 1000; a++; a &= 0xffff; a |= 0x10; a ^= 0x55; a <<= 2u; a >>= 1u; a--;
    u %= 77u; u <<= i; u >>= 3u; u ^= 0xff00ff00u; u /= 3u;
    f *= 2.0; f += 1.0; f -= 0.5; f /= 2.0;
    v *= 3; v += vec3<i32>(1, 2, 3); v.y -= 5; v[2]++; v /= vec3<i32>(2);
    found[i] = vec4<i32>(a, i32(u), i32(f * 4.0), v.x + v.y * 3 + v.z * 5);
    found[i].w += 1;
    found[i][i % 4u] ^= 1;
}""",
        [words([(k * 2654435) % 30000 - 15000 for k in range(16)])],
        256,
    )
    yield shader(
        "pipeline constants",
        "override",
        "u32 i32 f32 bool",
        """
override rows: u32 = 3u;
@id(7) override scale: f32 = 1.5;
override offset: i32;
override flag: bool = false;
override derived: u32 = rows * 2u + 1u;
@group(0) @binding(0) var<storage, read_write> found: array<u32>;
var<workgroup> held: array<u32, rows>;
@compute @workgroup_size(rows, 2)
fn main(@builtin(local_invocation_index) i: u32) {
    if i < rows { held[i] = i + 10u; }
    workgroupBarrier();
    found[i] = held[i % rows] * 100u + derived + u32(scale * 4.0) + u32(offset + 50) + select(0u, 1000000u, flag);
}""",
        [],
        40,
        words([(i % 5 + 10) * 100 + 11 + 9 + 30 + 1000000 for i in range(10)]),
        overrides={"rows": 5, "7": 2.25, "offset": -20, "flag": 1},
    )
    yield shader(
        "constants",
        "const",
        "abstract i32 f32 array",
        """
const base = 1 << 4;
const ratio = 1.0 / 3.0;
const table = array(2, 4, 8, 16);
const total: i32 = table[0] + table[3] * base - 7 % 4;
const corner = vec3(1, 2, 3) * 2;
const_assert total == 255;
@group(0) @binding(0) var<storage, read_write> found: array<i32>;
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    const local_ = total / 2;
    found[i] = table[i] * 1000 + local_ + corner.z + i32(ratio * 300.0) + i32(max(2.5, 1) * 2) + countOneBits(255i);
}""",
        [],
        16,
        words([t * 1000 + 127 + 6 + 100 + 5 + 8 for t in (2, 4, 8, 16)]),
    )


def grown(n: int) -> int:
    kept, total = [0] * 4, 0
    for k in range(n):
        kept[k % 4] += k
        total += kept[k % 4]
    return total


def rotated(i: int) -> list[int]:
    k = (i + 1) % 8
    row = [3 * k, 3 * k + 50, 2 * k, k]
    row[i % 4] += 1000
    return row


def out_of_range() -> Iterator[Case]:
    """A read gives some element or zero, a write changes some element of the same variable or nothing; what lies beside
    stays. The shaders say whether that held, so that one machine may clamp where another drops."""
    indices = [
        3,
        4,
        5,
        7,
        8,
        100,
        0x7FFFFFFF,
        0x80000000,
        0xFFFFFFFF,
        0xFFFFFFFE,
        0x40000000,
        0x3FFFFFFF,
        0x10000001,
        6,
        1,
        0,
    ]
    given = words(indices)
    for title, declaration, access in (
        ("storage array of known size", "array<u32, 4>", "held[k]"),
        ("storage array of unknown size", "array<u32>", "held[k]"),
        ("storage array of vec3", "array<vec3<u32>>", "held[k].y"),
        ("array in a structure", "Struct", "held.few[k]"),
        ("vector in storage", "vec4<u32>", "held[k]"),
    ):
        yield shader(
            f"reads beyond: {title}",
            "robust access",
            "array",
            f"""
struct Struct {{ few: array<u32, 4> }}
@group(0) @binding(0) var<storage> at: array<u32, 16>;
@group(0) @binding(1) var<storage> held: {declaration};
@group(0) @binding(2) var<storage, read_write> found: array<u32, 16>;
@compute @workgroup_size(16)
fn main(@builtin(local_invocation_index) i: u32) {{
    let k = at[i];
    let value = {access};
    let signed = i32(k);
    let again = {access.replace("[k]", "[signed]")};
    let fine = value == 0u || (value >= 5000u && value < 5004u);
    let also = again == 0u || (again >= 5000u && again < 5004u);
    found[i] = u32(fine) + 2u * u32(also);
}}""",
            [given, words([5000, 5001, 5002, 5003])],
            64,
            words([3] * 16),
        )
    for space in ("function", "private", "workgroup"):
        body = "        var held: array<u32, 4>;\n" if space == "function" else ""
        outside = f"var<{space}> before: array<u32, 4>;\nvar<{space}> held: array<u32, 4>;\nvar<{space}> after: array<u32, 4>;\n"
        yield shader(
            f"beyond: {space} array",
            "robust access",
            f"array {space}",
            f"""
{outside if space != "function" else ""}@group(0) @binding(0) var<storage> at: array<u32, 16>;
@group(0) @binding(1) var<storage, read_write> found: array<u32, 16>;
@compute @workgroup_size(1)
fn main() {{
    for (var i = 0u; i < 16u; i++) {{
        let k = at[i];
{"        var before: array<u32, 4>; var after: array<u32, 4>;" if space == "function" else ""}
{body}        for (var n = 0u; n < 4u; n++) {{ before[n] = 1u; held[n] = 2u; after[n] = 3u; }}
        let read = held[k];
        held[k] = 9u;
        held[i32(k)] += 1u;
        var bad = u32(read != 2u && read != 0u);
        for (var n = 0u; n < 4u; n++) {{
            bad += u32(before[n] != 1u) + u32(after[n] != 3u);
            if held[n] != 2u && held[n] != 9u && held[n] != 10u && held[n] != 1u && held[n] != 3u {{ bad += 100u; }}
        }}
        found[i] = bad;
    }}
}}""",
            [given],
            b"\xff" * 64,
            bytes(64),
        )
    yield Case(
        "writes beyond: storage array",
        "robust access",
        ["array"],
        """@group(0) @binding(0) var<storage> at: array<u32, 16>;
@group(0) @binding(1) var<storage, read_write> before: array<u32, 8>;
@group(0) @binding(2) var<storage, read_write> held: array<u32>;
@group(0) @binding(3) var<storage, read_write> after: array<u32, 8>;
@compute @workgroup_size(16)
fn main(@builtin(local_invocation_index) i: u32) {
    held[at[i]] = 9u;
    held[i32(at[i])] = 9u;
    if i == 0u { before[7] += 1u; after[0] += 1u; }
}
""",
        [
            Buffer(0, given),
            Buffer(1, words([1] * 8), output=words([1] * 7 + [2])),
            Buffer(2, words([5] * 6)),
            Buffer(3, words([3] * 8), output=words([4] + [3] * 7)),
        ],
    )
    yield shader(
        "vector and matrix indices beyond",
        "robust access",
        "vec4<u32> mat2x2<f32>",
        """
@group(0) @binding(0) var<storage> at: array<u32, 16>;
@group(0) @binding(1) var<storage, read_write> found: array<u32, 16>;
@compute @workgroup_size(16)
fn main(@builtin(local_invocation_index) i: u32) {
    let k = at[i];
    var v = vec4<u32>(5u, 6u, 7u, 8u);
    let read = v[k];
    v[k] = 9u;
    var m = mat2x2<f32>(1.0, 2.0, 3.0, 4.0);
    let f = m[k][k];
    let good = read == 0u || (read >= 5u && read <= 8u);
    var changed = 0u;
    for (var n = 0u; n < 4u; n++) { changed += u32(v[n] != 5u + n); }
    found[i] = u32(good) + 2u * u32(changed <= 1u) + 4u * u32(f >= 0.0 && f <= 4.0);
}""",
        [given],
        64,
        words([7] * 16),
    )


def cases() -> list[Case]:
    return [c for part in (variables, out_of_range) for c in part()]
