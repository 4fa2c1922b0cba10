"""Random compute shaders that are well typed, end, and have one result: the specification leaves nothing open in them.

Floating-point values pass through `clean` after every operation, which replaces what is no normal number and hides the bits
from an optimiser that would reassociate. Lanes write places of their own; atomic variables have one commutative operation each.
"""

import random
import re
from dataclasses import dataclass, field

from .tree import Expression

SCALARS = ("u32", "i32", "f32")
VECTORS = tuple(f"vec{n}<{s}>" for n in (2, 3, 4) for s in SCALARS)
VALUES = (*SCALARS, "bool", *VECTORS)
ARRAYS = ("array<u32, 5>", "array<vec2<i32>, 3>", "array<f32, 4>", "array<vec3<u32>, 2>")
OUTPUTS = 8
INPUT_WORDS = 64

CLEAN = """var<private> salt: u32;
fn clean(x: f32) -> f32 {
    let bits = bitcast<u32>(x) ^ salt;
    let exponent = (bits >> 23u) & 0xffu;
    if exponent == 0xffu { return select(1.5, -2.5, bits >> 31u == 1u); }
    if exponent == 0u { return 0.0; }
    return bitcast<f32>(bits);
}
fn clean2(x: vec2<f32>) -> vec2<f32> { return vec2<f32>(clean(x.x), clean(x.y)); }
fn clean3(x: vec3<f32>) -> vec3<f32> { return vec3<f32>(clean(x.x), clean(x.y), clean(x.z)); }
fn clean4(x: vec4<f32>) -> vec4<f32> { return vec4<f32>(clean2(x.xy), clean2(x.zw)); }
"""


def width(kind: str) -> int:
    return int(kind[3]) if kind.startswith("vec") else 1


def element(kind: str) -> str:
    return kind[5:-1] if kind.startswith("vec") else kind


def of_width(scalar: str, n: int) -> str:
    return scalar if n == 1 else f"vec{n}<{scalar}>"


def constant(e: Expression) -> bool:
    """Whether naga would evaluate it: no variable and no function of the shader is in it."""
    text = e.text()
    if "clean" in text or "salt" in text:
        return False
    # Names of variables and functions of a shader have a number at the end, or are these.
    names = re.findall(r"[A-Za-z_]\w*", text)
    return not any(re.fullmatch(r"[vcxkpg]\d+|memory|tint|settings|id|lane|group|records|at|words", n) for n in names)


def array_parts(kind: str) -> tuple[str, int]:
    inner, count = kind[6:-1].rsplit(",", 1)
    return inner, int(count)


@dataclass
class Variable:
    name: str
    kind: str
    assignable: bool


@dataclass
class Callee:
    name: str
    parameters: list[tuple[str, bool]]  # type, by pointer
    result: str
    pure: bool


@dataclass
class Scope:
    variables: list[Variable]
    # What a statement may be here.
    loops: int = 0
    in_loop: bool = False
    result: str | None = None
    pure: bool = False

    def inner(self, **changes: object) -> "Scope":
        fresh = Scope(self.variables.copy(), self.loops, self.in_loop, self.result, self.pure)
        for key, value in changes.items():
            setattr(fresh, key, value)
        return fresh


@dataclass
class Generator:
    seed: int
    rng: random.Random = field(init=False)
    names: int = 0
    structs: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    callees: list[Callee] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)

    def name(self, letter: str) -> str:
        self.names += 1
        return f"{letter}{self.names}"

    # Expressions.

    def literal(self, kind: str) -> Expression:
        rng = self.rng
        scalar = element(kind)
        if kind.startswith("vec"):
            if rng.random() < 0.5:
                return Expression(kind, [f"{kind}({self.literal(scalar).text()})"])
            return Expression(kind, [f"{kind}({', '.join(self.literal(scalar).text() for _ in range(width(kind)))})"])
        if scalar == "bool":
            return Expression(kind, [rng.choice(("true", "false"))])
        if scalar == "f32":
            return Expression(
                kind, [rng.choice(("0.0", "1.0", "-1.5", "0.25", "3.0", "1000.5", "-0.125", "16777216.0"))]
            )
        if scalar == "u32":
            value = rng.choice((0, 1, 2, 3, 7, 31, 255, 65536, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, rng.getrandbits(32)))
            return Expression(kind, [f"{value}u"])
        value = rng.choice((0, 1, -1, 2, -5, 100, 2147483647, -2147483647, rng.randint(-(2**31) + 1, 2**31 - 1)))
        return Expression(kind, [f"i32({value})"])

    def value(self, kind: str, scope: Scope, depth: int) -> Expression:
        """An expression without side effects."""
        rng = self.rng
        if kind in self.structs:
            return self.structure(kind, scope, depth)
        if kind.startswith("array"):
            return self.array(kind, scope, depth)
        if depth <= 0 or rng.random() < 0.12:
            return self.leaf(kind, scope)
        return self.cleaned(self.operation(kind, scope, depth - 1))

    def cleaned(self, e: Expression) -> Expression:
        if element(e.kind) != "f32" or e.parts[0] in ("clean(", "clean2(", "clean3(", "clean4("):
            return e
        suffix = "" if e.kind == "f32" else e.kind[3]
        return Expression(e.kind, [f"clean{suffix}(", e, ")"])

    def leaf(self, kind: str, scope: Scope) -> Expression:
        """A variable, a part of one, or a literal."""
        found = self.places(kind, scope)
        if found and self.rng.random() < 0.85:
            return Expression(kind, [self.rng.choice(found)])
        return self.literal(kind)

    def places(self, kind: str, scope: Scope, assignable: bool = False) -> list[str]:
        """Texts of variables, members, components and elements at constant places, of this type."""
        found = []
        for v in scope.variables:
            if assignable and not v.assignable:
                continue
            for text, inner in self.within(v.name, v.kind):
                if inner == kind:
                    found.append(text)
        return found

    def within(self, text: str, kind: str) -> list[tuple[str, str]]:
        found = [(text, kind)]
        if kind in self.structs:
            for member, inner in self.structs[kind]:
                found += self.within(f"{text}.{member}", inner)
        elif kind.startswith("array"):
            inner, count = array_parts(kind)
            for k in range(count):
                found += self.within(f"{text}[{k}]", inner)
        elif kind.startswith("vec"):
            found += [(f"{text}.{c}", element(kind)) for c in "xyzw"[: width(kind)]]
        return found

    def structure(self, kind: str, scope: Scope, depth: int) -> Expression:
        found = self.places(kind, scope)
        if found and self.rng.random() < 0.6:
            return Expression(kind, [self.rng.choice(found)])
        parts: list[str | Expression] = [f"{kind}("]
        for k, (_, inner) in enumerate(self.structs[kind]):
            parts += [", " if k else "", self.value(inner, scope, depth - 1)]
        return Expression(kind, [*parts, ")"])

    def array(self, kind: str, scope: Scope, depth: int) -> Expression:
        found = self.places(kind, scope)
        if found and self.rng.random() < 0.6:
            return Expression(kind, [self.rng.choice(found)])
        inner, count = array_parts(kind)
        parts: list[str | Expression] = [f"{kind}("]
        for k in range(count):
            parts += [", " if k else "", self.value(inner, scope, min(depth - 1, 1))]
        return Expression(kind, [*parts, ")"])

    def opaque(self, e: Expression) -> Expression:
        """A literal, or a vector with one in it, that a compiler does not see: of constants WGSL demands that nothing
        overflows."""
        if e.kind not in VALUES or (
            not constant(e) and ("vec" not in e.text() or element(e.kind) not in ("u32", "i32"))
        ):
            return e
        scalar, n = element(e.kind), width(e.kind)
        if scalar == "f32":
            return Expression(e.kind, [f"clean{n if n > 1 else ''}(", e, ")"])
        if scalar == "bool":
            return Expression(e.kind, ["(", e, " != (salt != 0u))"])
        return Expression(e.kind, ["(", e, f" ^ {of_width(scalar, n)}({'salt' if scalar == 'u32' else 'i32(salt)'}))"])

    def make(self, kind: str, template: str, *inner: Expression) -> Expression:
        """`$` stands for the next expression."""
        pieces = template.split("$")
        if inner and all(constant(e) for e in inner):
            inner = (self.opaque(inner[0]), *inner[1:])
        if any(sign in template for sign in (" / ", " % ", " << ", " >> ", "Bits($, ")):
            # Where a constant alone may be an error: a divisor of zero, an amount beyond the width.
            inner = (inner[0], *(self.opaque(e) for e in inner[1:]))
        parts: list[str | Expression] = [pieces[0]]
        for e, piece in zip(inner, pieces[1:]):
            parts += [e, piece]
        return Expression(kind, parts)

    def operation(self, kind: str, scope: Scope, depth: int) -> Expression:
        rng = self.rng
        scalar, n = element(kind), width(kind)

        def v(wanted: str) -> Expression:
            return self.value(wanted, scope, depth)

        roll = rng.random()
        if roll < 0.08:
            flag = of_width("bool", n) if rng.random() < 0.4 and n > 1 else "bool"
            if flag != "bool":
                flags = self.make(flag, "($ < $)", v(of_width("i32", n)), v(of_width("i32", n)))
                return self.make(kind, "select($, $, $)", v(kind), v(kind), flags)
            return self.make(kind, "select($, $, $)", v(kind), v(kind), v("bool"))
        if roll < 0.14:
            indexed = self.indexed(kind, scope, depth)
            if indexed:
                return indexed
        if roll < 0.2:
            calls = [c for c in self.callees if c.pure and c.result == kind]
            if calls:
                return self.call(rng.choice(calls), scope, depth)
        if n > 1 and roll < 0.32:
            return self.composed(kind, scope, depth)
        if n == 1 and roll < 0.27 and scalar != "bool":
            big = of_width(scalar, rng.choice((2, 3, 4)))
            return self.make(kind, "($)[$ % " + f"{width(big)}u]", v(big), v("u32"))
        return {"u32": self.integer, "i32": self.integer, "f32": self.real, "bool": self.boolean}[scalar](
            kind, scope, depth
        )

    def composed(self, kind: str, scope: Scope, depth: int) -> Expression:
        """A vector from parts or as a swizzle."""
        rng = self.rng
        scalar, n = element(kind), width(kind)
        if rng.random() < 0.5:
            source = of_width(scalar, rng.choice((2, 3, 4)))
            letters = "".join(rng.choice("xyzw"[: width(source)]) for _ in range(n))
            return self.make(kind, f"($).{letters}", self.value(source, scope, depth))
        widths: dict[int, list[tuple[int, ...]]] = {
            2: [(1, 1)],
            3: [(1, 1, 1), (2, 1), (1, 2)],
            4: [(1, 1, 1, 1), (2, 2), (1, 3), (3, 1), (1, 2, 1)],
        }
        chosen = rng.choice(widths[n])
        inner = [self.value(of_width(scalar, w), scope, depth) for w in chosen]
        return self.make(kind, f"{kind}({', '.join('$' * len(chosen))})", *inner)

    def indexed(self, kind: str, scope: Scope, depth: int) -> Expression | None:
        """An element of an array at run time."""
        places = []
        for array in ARRAYS:
            inner, count = array_parts(array)
            if inner == kind:
                places += [(text, count) for text in self.places(array, scope)]
        if not places:
            return None
        text, count = self.rng.choice(places)
        return self.make(kind, f"{text}[$ % {count}u]", self.value("u32", scope, depth))

    def call(self, callee: Callee, scope: Scope, depth: int) -> Expression:
        """Of a function without pointers."""
        inner = [self.value(kind, scope, depth - 1) for kind, _ in callee.parameters]
        return self.make(callee.result, f"{callee.name}({', '.join('$' * len(inner))})", *inner)

    def integer(self, kind: str, scope: Scope, depth: int) -> Expression:
        rng = self.rng
        scalar, n = element(kind), width(kind)

        def v(wanted: str = kind) -> Expression:
            return self.value(wanted, scope, depth)

        roll = rng.random()
        if roll < 0.4:
            operator = rng.choice(("+", "-", "*", "/", "%", "&", "|", "^", "+", "-", "*"))
            if n > 1 and rng.random() < 0.2 and operator in "+-*/%":
                pair = [v(), v(scalar)]
                rng.shuffle(pair)
                return self.make(kind, f"($ {operator} $)", *pair)
            return self.make(kind, f"($ {operator} $)", v(), v())
        if roll < 0.5:
            return self.make(kind, f"($ {rng.choice(('<<', '>>'))} $)", v(), v(of_width("u32", n)))
        if roll < 0.68:
            name = rng.choice(
                ("abs", "countLeadingZeros", "countTrailingZeros", "countOneBits", "reverseBits", "firstLeadingBit")
                + ("firstTrailingBit", "~", "-" if scalar == "i32" else "~", "sign" if scalar == "i32" else "abs")
            )
            return self.make(kind, f"{name}($)", v())
        if roll < 0.78:
            name = rng.choice(("min", "max", "clamp"))
            if name == "clamp":
                # With the bounds the other way round the result would be open.
                return self.make(kind, "min(max($, $), $)", v(), v(), v())
            return self.make(kind, f"{name}($, $)", v(), v())
        if roll < 0.86:
            if rng.random() < 0.5:
                return self.make(kind, "extractBits($, $, $ % 40u)", v(), v("u32"), v("u32"))
            return self.make(kind, "insertBits($, $, $, $ % 40u)", v(), v(), v("u32"), v("u32"))
        other = of_width("i32" if scalar == "u32" else "u32", n)
        if roll < 0.93:
            source = of_width(rng.choice(("f32", element(other), "bool" if n == 1 else "f32")), n)
            return self.make(kind, f"{kind}($)", v(source))
        if n > 1 or rng.random() < 0.3:
            source = rng.choice((other, of_width("f32", n)))
            return self.make(kind, f"bitcast<{kind}>($)", v(source))
        many = of_width(scalar, rng.choice((2, 3, 4)))
        if rng.random() < 0.4:
            return self.make(kind, "dot($, $)", v(many), v(many))
        return self.packed(kind, scope, depth)

    def packed(self, kind: str, scope: Scope, depth: int) -> Expression:
        rng = self.rng

        def v(wanted: str) -> Expression:
            return self.value(wanted, scope, depth)

        if kind == "u32":
            name, source = rng.choice(
                (("pack4xI8", "i32"), ("pack4xU8", "u32"), ("pack4xI8Clamp", "i32"), ("pack4xU8Clamp", "u32"))
            )
            if rng.random() < 0.3:
                return self.make(kind, "dot4U8Packed($, $)", v("u32"), v("u32"))
            return self.make(kind, f"{name}($)", v(f"vec4<{source}>"))
        if rng.random() < 0.5:
            return self.make(kind, "dot4I8Packed($, $)", v("u32"), v("u32"))
        return self.make(kind, "unpack4xI8($)[$ % 4u]", v("u32"), v("u32"))

    def real(self, kind: str, scope: Scope, depth: int) -> Expression:
        rng = self.rng
        n = width(kind)

        def v(wanted: str = kind) -> Expression:
            return self.value(wanted, scope, depth)

        roll = rng.random()
        if roll < 0.4:
            if n > 1 and rng.random() < 0.2:
                return self.make(kind, f"($ {rng.choice('+-*')} $)", v(), v("f32"))
            return self.make(kind, f"($ {rng.choice('+-*')} $)", v(), v())
        if roll < 0.65:
            name = rng.choice(("abs", "floor", "ceil", "trunc", "round", "sign", "saturate", "-"))
            return self.make(kind, f"{name}($)", v())
        if roll < 0.8:
            return self.make(kind, f"{rng.choice(('min', 'max', 'step'))}($, $)", v(), v())
        if roll < 0.93:
            source = rng.choice(("i32", "u32", "bool" if n == 1 else "i32"))
            return self.make(kind, f"{kind}($)", v(of_width(source, n)))
        return self.make(kind, f"bitcast<{kind}>($)", v(of_width(rng.choice(("i32", "u32")), n)))

    def boolean(self, kind: str, scope: Scope, depth: int) -> Expression:
        rng = self.rng
        roll = rng.random()
        if roll < 0.55:
            source = rng.choice(SCALARS)
            operator = rng.choice(("==", "!=", "<", "<=", ">", ">="))
            return self.make(
                kind, f"($ {operator} $)", self.value(source, scope, depth), self.value(source, scope, depth)
            )
        if roll < 0.8:
            operator = rng.choice(("&&", "||", "&", "|", "==", "!="))
            return self.make(
                kind, f"($ {operator} $)", self.value("bool", scope, depth), self.value("bool", scope, depth)
            )
        if roll < 0.88:
            return self.make(kind, "!$", self.value("bool", scope, depth))
        source = rng.choice([k for k in VECTORS])
        name, operator = rng.choice(("any", "all")), rng.choice(("==", "!=", "<", ">="))
        return self.make(
            kind, f"{name}($ {operator} $)", self.value(source, scope, depth), self.value(source, scope, depth)
        )
