"""Cases of atomics, workgroup memory, barriers, and the built-in inputs."""

import struct
from collections.abc import Callable, Iterator

from ..cases import Case
from .written import shader, words

LANES = 64
GROUPS = 3


def atomics() -> Iterator[Case]:
    for kind in ("u32", "i32"):
        for space in ("storage", "workgroup"):
            yield from _atomics(kind, space)


def _atomics(kind: str, space: str) -> Iterator[Case]:
    """The final value does not depend on the order; what the operations gave back is counted or summed."""
    values = [((k + 1) * 2654435761) & 0xFFFFFFFF for k in range(LANES)]
    signed = [v - (1 << 32) if kind == "i32" and v >> 31 else v for v in values]
    folds: dict[str, tuple[int, Callable[[int, int], int]]] = {
        "atomicAdd": (5, lambda a, b: a + b),
        "atomicSub": (5, lambda a, b: a - b),
        "atomicMin": (77, min),
        "atomicMax": (77, max),
        "atomicAnd": (-1, lambda a, b: a & (b | 0xFFFF0)),
        "atomicOr": (1, lambda a, b: a | (b & 0x11111111)),
        "atomicXor": (0x1234, lambda a, b: a ^ b),
    }
    arguments = {"atomicAnd": f"bitcast<{kind}>(v | 0xffff0u)", "atomicOr": f"bitcast<{kind}>(v & 0x11111111u)"}
    for name, (start, fold) in folds.items():
        total = start
        for v in signed:
            total = fold(total, v)
        argument = arguments.get(name, f"bitcast<{kind}>(v)")
        begin = f"{kind}({start})" if start >= 0 or kind == "i32" else "0xffffffffu"
        yield on_place(f"{name} {space} {kind}", name, kind, space, begin, f"{name}(&place, {argument});", [total], "")
    # The old values of additions of one are 0, 1, 2, ... in some order.
    yield on_place(
        f"atomicAdd {space} {kind} old values",
        "atomicAdd",
        kind,
        space,
        f"{kind}(0)",
        f"let old = u32(atomicAdd(&place, {kind}(1))); atomicAdd(&more[0], {kind}(old)); atomicXor(&more[1], {kind}(old * old));",
        [LANES, LANES * (LANES - 1) // 2, fold_xor(LANES)],
        "",
    )
    yield on_place(
        f"atomicExchange {space} {kind}",
        "atomicExchange",
        kind,
        space,
        f"{kind}(1000)",
        # Every value comes back once; the sum of what came back and of what stayed is known.
        f"let old = atomicExchange(&place, {kind}(i)); atomicAdd(&more[0], old);",
        None,
        f"atomicAdd(&more[0], atomicExchange(&place, {kind}(7)));",
        [7, 1000 + LANES * (LANES - 1) // 2],
    )
    yield on_place(
        f"atomicCompareExchangeWeak {space} {kind}",
        "atomicCompareExchangeWeak",
        kind,
        space,
        f"{kind}(3)",
        # An addition by hand, which every lane repeats until it was the one.
        f"""var seen = atomicLoad(&place);
    loop {{
        let r = atomicCompareExchangeWeak(&place, seen, seen + {kind}(i));
        if r.exchanged {{ break; }}
        seen = r.old_value;
    }}
    let other = atomicCompareExchangeWeak(&more[1], {kind}(9), {kind}(5));
    if other.exchanged {{ atomicAdd(&more[2], {kind}(1)); }} else {{ atomicAdd(&more[0], other.old_value); }}""",
        [3 + LANES * (LANES - 1) // 2, 0, 0, 0],
        "",
    )
    yield on_place(
        f"atomicLoad atomicStore {space} {kind}",
        "atomicLoad, atomicStore",
        kind,
        space,
        f"{kind}(3)",
        f"atomicStore(&more[i % 8u], atomicLoad(&place) + {kind}(i % 8u));",
        [3, *(3 + k for k in range(8))],
        "",
    )


def float_atomics() -> Iterator[Case]:
    """naga's extension. The sums of small integers are exact in any order."""
    yield shader(
        "atomicAdd storage f32",
        "atomicAdd",
        "atomic<f32>",
        """
@group(0) @binding(0) var<storage, read_write> sums: array<atomic<f32>, 4>;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
    atomicAdd(&sums[i % 4u], f32(i) * 0.5);
    atomicSub(&sums[3], 1.0);
}""",
        [],
        struct.pack("<4f", 0.0, 1.0, 2.0, -3.0),
        struct.pack("<4f", *(k - (k == 3) * (6 + 64) + sum(i / 2 for i in range(k, 64, 4)) for k in range(4))),
        requires=["float32-atomic"],
    )


def fold_xor(count: int) -> int:
    result = 0
    for k in range(count):
        result ^= k * k
    return result


def on_place(
    name: str,
    builtin: str,
    kind: str,
    space: str,
    start: str,
    body: str,
    expected: list[int] | None,
    at_end: str,
    then: list[int] | None = None,
) -> Case:
    """One atomic variable `place` and eight in `more`, in either address space; results are the nine values."""
    found = expected if expected is not None else then
    assert found is not None
    found = found + [0] * (9 - len(found))
    if space == "workgroup":
        text = f"var<workgroup> place: atomic<{kind}>;\nvar<workgroup> more: array<atomic<{kind}>, 8>;\n"
        text += f"@group(0) @binding(1) var<storage, read_write> results: array<{kind}>;\n"
    else:
        text = f"struct Both {{ place: atomic<{kind}>, more: array<atomic<{kind}>, 8> }}\n"
        text += "@group(0) @binding(1) var<storage, read_write> both: Both;\n"
        body, at_end = (t.replace("&place", "&both.place").replace("&more", "&both.more") for t in (body, at_end))
    text += f"@group(0) @binding(0) var<storage> values: array<u32, {LANES}>;\n"
    text += f"@compute @workgroup_size({LANES})\nfn main(@builtin(local_invocation_index) i: u32) {{\n    let v = values[i];\n"
    variable = "place" if space == "workgroup" else "both.place"
    text += f"    if i == 0u {{ atomicStore(&{variable}, {start}); }}\n"
    if space == "workgroup":
        # The driver leaves in it what was there; a case of its own asks for the zeros.
        text += f"    if i < 8u {{ atomicStore(&more[i], {kind}()); }}\n"
    text += f"    barrier();\n    {body}\n    barrier();\n"
    if at_end:
        text += f"    if i == 0u {{ {at_end} }}\n    barrier();\n"
    if space == "workgroup":
        text += "    if i == 0u { results[0] = atomicLoad(&place); }\n"
        text += "    if i < 8u { results[i + 1u] = atomicLoad(&more[i]); }\n"
    text += "}\n"
    text = text.replace("barrier();", f"{space}Barrier();")
    given = words([((k + 1) * 2654435761) & 0xFFFFFFFF for k in range(LANES)])
    return shader(name, builtin, f"atomic<{kind}>", text, [given], 36, words(found))


def workgroup_memory() -> Iterator[Case]:
    values = [(k * k * 7 + 3) % 1000 for k in range(LANES * GROUPS)]
    sums = [sum(values[g * LANES : (g + 1) * LANES]) for g in range(GROUPS)]
    yield shader(
        "reduction in workgroup memory",
        "workgroupBarrier",
        "u32",
        """
@group(0) @binding(0) var<storage> values: array<u32>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;
var<workgroup> partial: array<u32, 64>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) i: u32,
        @builtin(workgroup_id) group: vec3<u32>) {
    partial[i] = values[id.x];
    workgroupBarrier();
    for (var half = 32u; half > 0u; half >>= 1u) {
        if i < half { partial[i] += partial[i + half]; }
        workgroupBarrier();
    }
    if i == 0u { sums[group.x] = partial[0]; }
}""",
        [words(values)],
        4 * GROUPS,
        words(sums),
        grid=(GROUPS, 1, 1),
    )
    running = [sum(values[g * LANES : k + 1]) for g in range(GROUPS) for k in range(g * LANES, (g + 1) * LANES)]
    yield shader(
        "prefix sums in workgroup memory",
        "workgroupBarrier",
        "u32",
        """
@group(0) @binding(0) var<storage> values: array<u32>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;
var<workgroup> buffers: array<array<u32, 64>, 2>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) i: u32) {
    var side = 0u;
    buffers[0][i] = values[id.x];
    workgroupBarrier();
    for (var step = 1u; step < 64u; step *= 2u) {
        var sum = buffers[side][i];
        if i >= step { sum += buffers[side][i - step]; }
        buffers[1u - side][i] = sum;
        side = 1u - side;
        workgroupBarrier();
    }
    sums[id.x] = buffers[side][i];
}""",
        [words(values)],
        4 * LANES * GROUPS,
        words(running),
        grid=(GROUPS, 1, 1),
    )
    yield shader(
        "workgroup memory begins with zeros",
        "workgroup variable",
        "array struct mat2x2<f32> vec3<f32> bool atomic<u32>",
        """
struct Inner { a: u32, m: mat2x2<f32>, v: vec3<f32>, b: bool }
@group(0) @binding(0) var<storage, read_write> found: array<u32>;
var<workgroup> place: array<Inner, 20>;
var<workgroup> count: atomic<u32>;
var<workgroup> wide: array<vec4<i32>, 100>;
@compute @workgroup_size(40)
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) group: vec3<u32>) {
    var bad = 0u;
    for (var k = 0u; k < 20u; k++) {
        if place[k].a != 0u || any(place[k].m[1] != vec2<f32>()) || any(place[k].v != vec3<f32>()) || place[k].b { bad++; }
    }
    for (var k = 0u; k < 100u; k++) { if any(wide[k] != vec4<i32>()) { bad++; } }
    bad += atomicLoad(&count);
    workgroupBarrier();
    // Whatever runs here next must not see this.
    place[i % 20u] = Inner(1u, mat2x2<f32>(1.0, 2.0, 3.0, 4.0), vec3<f32>(1.0), true);
    wide[i] = vec4<i32>(-1);
    atomicAdd(&count, 1u);
    found[group.x * 40u + i] = bad + 1u;
}""",
        [],
        4 * 40 * 5,
        words([1] * 200),
        grid=(5, 1, 1),
    )
    yield shader(
        "workgroupUniformLoad",
        "workgroupUniformLoad",
        "u32 vec2<f32> struct atomic<i32>",
        """
struct Pair { a: u32, b: vec2<f32> }
@group(0) @binding(0) var<storage, read_write> found: array<vec4<u32>>;
var<workgroup> limit: u32;
var<workgroup> pair: Pair;
var<workgroup> sum: atomic<i32>;
var<workgroup> rows: array<u32, 4>;
@compute @workgroup_size(48)
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) group: vec3<u32>) {
    if i == 3u { atomicStore(&sum, 0); }
    workgroupBarrier();
    if i == 17u { limit = group.x + 5u; pair = Pair(group.x * 2u, vec2<f32>(1.5, f32(group.x))); }
    atomicAdd(&sum, 2);
    if i < 4u { rows[i] = i * 10u + group.x; }
    let n = workgroupUniformLoad(&limit);
    let p = workgroupUniformLoad(&pair);
    let s = workgroupUniformLoad(&sum);
    var total = 0u;
    for (var k = 0u; k < n; k++) {
        total += workgroupUniformLoad(&rows[k % 4u]) + k;
        workgroupBarrier();
    }
    found[group.x * 48u + i] = vec4<u32>(n, p.a + u32(p.b.x * 2.0), bitcast<u32>(s) + u32(p.b.y), total + i);
}""",
        [],
        16 * 48 * 3,
        words(
            [
                w
                for g in range(3)
                for i in range(48)
                for w in (g + 5, 2 * g + 3, 96 + g, sum((k % 4) * 10 + g + k for k in range(g + 5)) + i)
            ]
        ),
        grid=(3, 1, 1),
    )
    yield shader(
        "storageBarrier between lanes",
        "storageBarrier",
        "u32",
        """
@group(0) @binding(0) var<storage, read_write> found: array<u32>;
@compute @workgroup_size(100)
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let base = group.x * 100u;
    found[base + i] = i * 3u;
    storageBarrier();
    let other = found[base + (i + 37u) % 100u];
    storageBarrier();
    found[base + i] = other + 1u;
}""",
        [],
        4 * 200,
        words([((i + 37) % 100) * 3 + 1 for _ in range(2) for i in range(100)]),
        grid=(2, 1, 1),
    )


def built_in_inputs() -> Iterator[Case]:
    size, grid = (3, 4, 2), (2, 3, 2)
    rows = []
    for wz in range(grid[2]):
        for wy in range(grid[1]):
            for wx in range(grid[0]):
                for lz in range(size[2]):
                    for ly in range(size[1]):
                        for lx in range(size[0]):
                            place = (wx * size[0] + lx, wy * size[1] + ly, wz * size[2] + lz)
                            index = lx + size[0] * (ly + size[1] * lz)
                            packed = sum(v << (8 * k) for k, v in enumerate(place))
                            local = lx | ly << 8 | lz << 16 | index << 24
                            group = wx | wy << 8 | wz << 16
                            count = grid[0] | grid[1] << 8 | grid[2] << 16
                            at = place[0] + 6 * (place[1] + 12 * place[2])
                            rows.append((at, [packed, local, group, count]))
    expected = words([w for _, row in sorted(rows) for w in row])
    body = """
    let at = id.x + 6u * (id.y + 12u * id.z);
    found[at] = vec4<u32>(id.x | id.y << 8u | id.z << 16u,
        local.x | local.y << 8u | local.z << 16u | index << 24u,
        group.x | group.y << 8u | group.z << 16u, groups.x | groups.y << 8u | groups.z << 16u);
}"""
    yield shader(
        "built-in inputs as parameters",
        "global_invocation_id, local_invocation_id, local_invocation_index, workgroup_id, num_workgroups",
        "vec3<u32> u32",
        """
@group(0) @binding(0) var<storage, read_write> found: array<vec4<u32>>;
@compute @workgroup_size(3, 4, 2)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>,
        @builtin(local_invocation_index) index: u32, @builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>) {"""
        + body,
        [],
        len(expected),
        expected,
        grid=grid,
    )
    yield shader(
        "built-in inputs as members",
        "global_invocation_id, local_invocation_id, local_invocation_index, workgroup_id, num_workgroups",
        "struct",
        """
struct Inputs {
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) index: u32,
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(workgroup_id) group: vec3<u32>,
}
@group(0) @binding(0) var<storage, read_write> found: array<vec4<u32>>;
@compute @workgroup_size(3, 4, 2)
fn main(inputs: Inputs, @builtin(local_invocation_id) local: vec3<u32>) {
    let id = inputs.id;
    let index = inputs.index;
    let group = inputs.group;
    let groups = inputs.groups;"""
        + body,
        [],
        len(expected),
        expected,
        grid=grid,
    )


def cases() -> list[Case]:
    return [c for part in (atomics, float_atomics, workgroup_memory, built_in_inputs) for c in part()]
