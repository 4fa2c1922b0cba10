"""Cases of control flow and calls. Every lane takes a way of its own."""

from collections.abc import Callable, Iterator

from ..cases import Case
from .written import shader, words

HEAD = """@group(0) @binding(0) var<storage> given: array<u32>;
@group(0) @binding(1) var<storage, read_write> found: array<u32>;
"""
MAIN = """@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { found[id.x] = way(given[id.x]); }"""
COUNT = 40
GIVEN = [(k * 2654435761 >> 7) % 97 for k in range(COUNT)]


def flow(name: str, builtin: str, text: str, function: Callable[[int], int] | None) -> Case:
    """`way` maps a number below 97; lanes beyond the buffers' end read and write what does no harm."""
    given = GIVEN + [0] * (48 - COUNT)
    expected = words([function(x) for x in given]) if function else None
    return shader(name, builtin, "u32", HEAD + text + "\n" + MAIN, [words(given)], 4 * 48, expected, grid=(3, 1, 1))


def collatz(x: int) -> int:
    steps = 0
    while x > 1:
        x = x // 2 if x % 2 == 0 else 3 * x + 1
        steps += 1
    return steps


def primes(x: int) -> int:
    return sum(1 for n in range(2, x) if all(n % d for d in range(2, n)))


def nested(x: int) -> int:
    total = 0
    for a in range(x % 11):
        if a == 7:
            continue
        for b in range(a):
            if b * a > x:
                break
            total += a * b + 1
        if total > 150:
            return total * 2
    return total


def switched(x: int) -> int:
    return {0: 5, 1: 6, 2: 6, 3: 8, 4: 9}.get(x % 7, 100 + x)


def loop_break_if(x: int) -> int:
    i, total = 0, 0
    while True:
        if i % 3 != 1:
            total += i
        # The part after `continuing` runs for every turn that does not break.
        i += 1
        if i >= x % 13 + 1:
            break
    return total * 100 + i


def switch_in_loop(x: int) -> int:
    state, steps = x % 4, 0
    for _ in range(20):
        if state == 0:
            state = 2
        elif state == 1:
            state = (x + steps) % 4
            steps += 1
            continue
        elif state == 2:
            state = 3 if x % 2 else 1
        else:
            return 1000 + steps
        steps += 1
    return steps * 4 + state


def gcd(a: int, b: int) -> int:
    while b:
        a, b = b, a % b
    return a


def short_circuit(x: int) -> int:
    count = 0

    def seen(result: bool) -> bool:
        nonlocal count
        count += 1
        return result

    a = seen(x % 2 == 0) and seen(x % 3 == 0)
    b = seen(x % 2 == 0) or seen(x % 5 == 0)
    c = (seen(x > 10) and seen(x > 20)) or seen(x % 7 == 0)
    return count * 8 + a + 2 * b + 4 * c


def cases() -> list[Case]:
    return list(all_cases())


def all_cases() -> Iterator[Case]:
    yield flow(
        "if else if else",
        "if",
        """fn way(x: u32) -> u32 {
    var r = 0u;
    if x < 10u { r = x * 2u; } else if x < 50u { if x % 2u == 0u { r = 7u; } else { r = x; } } else if x == 60u { } else { r = 1u; r += x; }
    return r;
}""",
        lambda x: x * 2 if x < 10 else (7 if x % 2 == 0 else x) if x < 50 else 0 if x == 60 else x + 1,
    )
    yield flow(
        "while",
        "while",
        """fn way(n: u32) -> u32 {
    var x = n; var steps = 0u;
    while x > 1u { if x % 2u == 0u { x /= 2u; } else { x = 3u * x + 1u; } steps++; }
    return steps;
}""",
        collatz,
    )
    yield flow(
        "for with break of an inner loop",
        "for",
        """fn way(x: u32) -> u32 {
    var count = 0u;
    for (var n = 2u; n < x; n++) {
        var prime = true;
        for (var d = 2u; d < n; d++) { if n % d == 0u { prime = false; break; } }
        if prime { count++; }
    }
    return count;
}""",
        primes,
    )
    yield flow(
        "continue, break and return in nested loops",
        "for",
        """fn way(x: u32) -> u32 {
    var total = 0u;
    for (var a = 0u; a < x % 11u; a++) {
        if a == 7u { continue; }
        for (var b = 0u; b < a; b++) {
            if b * a > x { break; }
            total += a * b + 1u;
        }
        if total > 150u { return total * 2u; }
    }
    return total;
}""",
        nested,
    )
    yield flow(
        "loop with continuing and break if",
        "loop",
        """fn way(x: u32) -> u32 {
    var i = 0u; var total = 0u;
    loop {
        if i % 3u == 1u { continue; }
        total += i;
        continuing {
            i++;
            break if i >= x % 13u + 1u;
        }
    }
    return total * 100u + i;
}""",
        loop_break_if,
    )
    yield flow(
        "loop with continuing that sees the body's variables",
        "loop",
        """fn way(x: u32) -> u32 {
    var i = 1u; var total = 0u;
    loop {
        let step = x % 3u + i;
        if total > 300u { break; }
        total += step * 2u;
        continuing { i += step; total++; }
    }
    return total + i * 1000u;
}""",
        None,
    )
    yield flow(
        "loop left only by return",
        "loop",
        """fn way(x: u32) -> u32 {
    var i = x;
    loop { i += 3u; if i % 7u == 0u { return i; } if i > 120u { return 1u; } }
    return 9u;
}""",
        lambda x: next(i if i % 7 == 0 else 1 for i in range(x + 3, 200, 3) if i % 7 == 0 or i > 120),
    )
    yield flow(
        "switch",
        "switch",
        """fn way(x: u32) -> u32 {
    switch x % 7u {
        case 0u { return 5u; }
        case 1u, 2u: { return 6u; }
        default { return 100u + x; }
        case 3u { var r = 0u; r = 8u; return r; }
        case 4u { return 9u; }
    }
}""",
        switched,
    )
    yield flow(
        "switch with default among cases and break",
        "switch",
        """fn way(x: u32) -> u32 {
    var r = 1u;
    switch i32(x % 9u) - 4 {
        case -4, -3 { r = 10u; if x > 50u { break; } r += 1u; }
        case 2, default, 3 { r = 20u; }
        case -1 { }
        case 0 { r += x; }
    }
    return r;
}""",
        lambda x: {0: 10 if x > 50 else 11, 1: 10 if x > 50 else 11, 3: 1, 4: 1 + x}.get(x % 9, 20),
    )
    yield flow(
        "switch in a loop, with continue and return",
        "switch",
        """fn way(x: u32) -> u32 {
    var state = x % 4u; var steps = 0u;
    for (var k = 0u; k < 20u; k++) {
        switch state {
            case 0u { state = 2u; }
            case 1u { state = (x + steps) % 4u; steps++; continue; }
            case 2u { state = select(1u, 3u, x % 2u == 1u); break; }
            default { return 1000u + steps; }
        }
        steps++;
    }
    return steps * 4u + state;
}""",
        switch_in_loop,
    )
    yield flow(
        "switch in a switch, loop in a switch",
        "switch",
        """fn way(x: u32) -> u32 {
    var r = 0u;
    switch x % 3u {
        case 0u { switch x % 2u { case 0u { r = 1u; } default { r = 2u; } } r += 10u; }
        case 1u { for (var k = 0u; k < x; k++) { if k == 5u { break; } r += k; } }
        default { loop { r += 3u; if r > x { break; } } }
    }
    return r;
}""",
        lambda x: 11 + x % 2 if x % 3 == 0 else sum(range(min(x, 5))) if x % 3 == 1 else x - x % 3 + 3,
    )
    yield flow(
        "early return of some lanes before a loop",
        "return",
        """fn inner(x: u32, y: u32) -> u32 {
    if x > y { return y; }
    if x == 0u { return 77u; }
    var n = x;
    for (var k = 0u; k < y; k++) { if k == x { return n; } n += k; }
    return n * 2u;
}
fn way(x: u32) -> u32 { return inner(x, 40u) + 100u * inner(x % 5u, 3u); }""",
        lambda x: early(x, 40) + 100 * early(x % 5, 3),
    )
    yield flow(
        "functions that call functions",
        "call",
        """fn divisor(a: u32, b: u32) -> u32 {
    var x = a; var y = b;
    while y != 0u { let t = x % y; x = y; y = t; }
    return x;
}
fn three(a: u32, b: u32, c: u32) -> u32 { return divisor(divisor(a, b), c) + divisor(a, c); }
fn nothing() { }
fn way(x: u32) -> u32 {
    nothing();
    _ = three(x, 1u, 2u);
    return three(x + 6u, 12u, 18u) * 10u + three(divisor(x, 6u), three(x, 2u, 3u), 4u);
}""",
        lambda x: gcds(x + 6, 12, 18) * 10 + gcds(gcd(x, 6), gcds(x, 2, 3), 4),
    )
    yield flow(
        "functions with structures and arrays",
        "call",
        """struct S { a: u32, v: vec2<u32>, few: array<u32, 3> }
fn make(x: u32) -> S { return S(x, vec2<u32>(x + 1u, x + 2u), array<u32, 3>(x, x * 2u, x * 3u)); }
fn change(s: S, k: u32) -> S { var t = s; t.few[k % 3u] += t.v.y; t.v = t.v.yx; return t; }
fn sums(few: array<u32, 3>) -> vec3<u32> { return vec3<u32>(few[0], few[0] + few[1], few[0] + few[1] + few[2]); }
fn way(x: u32) -> u32 {
    let s = change(change(make(x), x), x + 1u);
    return dot(sums(s.few), vec3<u32>(1u, 10u, 100u)) + s.v.x + make(x + 1u).few[2];
}""",
        None,
    )
    yield flow(
        "&& and || that skip calls",
        "&&, ||",
        """var<private> count: u32;
fn seen(result: bool) -> bool { count++; return result; }
fn way(x: u32) -> u32 {
    let a = seen(x % 2u == 0u) && seen(x % 3u == 0u);
    let b = seen(x % 2u == 0u) || seen(x % 5u == 0u);
    let c = (seen(x > 10u) && seen(x > 20u)) || seen(x % 7u == 0u);
    return count * 8u + u32(a) + 2u * u32(b) + 4u * u32(c);
}""",
        short_circuit,
    )
    yield flow(
        "order of calls in an expression",
        "call",
        """var<private> trail: u32;
fn step(x: u32) -> u32 { trail = trail * 10u + x; return x; }
fn way(x: u32) -> u32 {
    var few = array<u32, 4>(1u, 2u, 3u, 4u);
    few[step(1u)] = step(2u) + step(3u) * step(x % 4u);
    few[few[step(x % 2u)] % 4u] += few[2];
    return trail + few[0] * 7u + few[1] * 100000u + few[3];
}""",
        None,
    )
    yield flow(
        "shadowed names and phony assignments",
        "scope",
        """const x = 5u;
fn way(y: u32) -> u32 {
    let x = y + x;
    var r = x;
    { let x = 3u; r += x; { var x = r; x++; r = x; } }
    for (var x = 0u; x < 2u; x++) { r += x; }
    _ = r + 1u;
    return r * 1000u + x;
}""",
        lambda y: (y + 5 + 3 + 1 + 1) * 1000 + y + 5,
    )
    yield flow(
        "values after divergence",
        "if",
        """fn way(x: u32) -> u32 {
    var a = x; var b = 1u;
    for (var k = 0u; k < 6u; k++) {
        if ((x >> k) & 1u) == 1u { a += b; b = b * 2u + 1u; if a > 200u { b ^= 5u; } }
        else if k > 3u { a ^= b; }
        b += k;
    }
    return a * 256u + b;
}""",
        None,
    )
    barrier = """@group(0) @binding(0) var<storage> given: array<u32>;
@group(0) @binding(1) var<storage, read_write> found: array<u32>;
var<workgroup> held: array<u32, 32>;
@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) group: vec3<u32>) {
    var total = given[i];
    // Uniform in the workgroup: the count is that of the group.
    for (var k = 0u; k < group.x + 2u; k++) {
        held[i] = total;
        workgroupBarrier();
        if i % 2u == k % 2u { total += held[31u - i]; } else { total = total * 3u + held[(i + k) % 32u]; }
        switch group.x { case 0u { workgroupBarrier(); } default { workgroupBarrier(); total++; } }
    }
    found[group.x * 32u + i] = total;
}"""
    yield shader(
        "barriers in uniform loops and switches",
        "workgroupBarrier",
        "u32",
        barrier,
        [words(GIVEN[:32])],
        384,
        grid=(3, 1, 1),
    )


def early(x: int, y: int) -> int:
    if x > y:
        return y
    if x == 0:
        return 77
    n = x
    for k in range(y):
        if k == x:
            return n
        n += k
    return n * 2


def gcds(a: int, b: int, c: int) -> int:
    return gcd(gcd(a, b), c) + gcd(a, c)
