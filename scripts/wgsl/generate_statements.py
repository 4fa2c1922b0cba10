"""The statements, functions and buffers of random shaders; `generate` has their expressions."""

import random
import struct

from .cases import Buffer
from .generate import (
    ARRAYS,
    CLEAN,
    INPUT_WORDS,
    OUTPUTS,
    SCALARS,
    VALUES,
    VECTORS,
    Callee,
    Generator,
    Scope,
    Variable,
    array_parts,
    constant,
    element,
    width,
)
from .tree import Block, Expression, Function, Program, Statement

# Atomic variables, one operation each, and what they begin with.
ATOMICS = (
    ("atomicAdd", 0),
    ("atomicXor", 0),
    ("atomicMax", 0),
    ("atomicMin", 0xFFFFFFFF),
    ("atomicOr", 0),
    ("atomicAnd", 0xFFFFFFFF),
)
RECORDS = 4


class Shaders(Generator):
    def program(self, small: bool) -> Program:
        rng = self.rng
        workgroup, groups = rng.choice((1, 7, 8, 16, 32, 33, 64)), rng.choice((1, 2, 3))
        if small:
            workgroup, groups = rng.choice((3, 4, 8)), 1
        self.declare_structs()
        head = "".join(
            f"struct {name} {{ {', '.join(f'{m}: {k}' for m, k in members)} }}\n"
            for name, members in self.structs.items()
        )
        head += "@group(0) @binding(0) var<storage> words: array<u32>;\n"
        head += "@group(0) @binding(1) var<uniform> settings: Settings;\n"
        head += "@group(0) @binding(2) var<storage, read_write> results: array<u32>;\n"
        head += "@group(0) @binding(3) var<storage, read_write> counts: array<atomic<u32>, 6>;\n"
        head += "@group(1) @binding(0) var<storage, read_write> records: array<Outer>;\n"
        head += f"var<workgroup> tallies: array<atomic<u32>, 6>;\nvar<workgroup> held: array<u32, {workgroup}>;\n"
        head += f"var<workgroup> pairs: array<vec3<i32>, {workgroup}>;\n"
        head += (
            "var<private> memory: array<u32, 5>;\nvar<private> tint: vec3<f32> = vec3<f32>(1.0, 2.5, -3.0);\n" + CLEAN
        )
        functions = [self.function() for _ in range(rng.randint(1, 3))]
        functions.append(self.entry(workgroup))
        return Program(self.seed, head, functions, workgroup, groups, self.layout("Outer")[1])

    def declare_structs(self) -> None:
        rng = self.rng
        self.structs["Settings"] = [("a", "vec4<u32>"), ("b", "vec3<f32>"), ("c", "i32"), ("d", "vec2<u32>")]
        inner = [(f"m{k}", rng.choice([*SCALARS, *VECTORS])) for k in range(rng.randint(2, 4))]
        self.structs["Inner"] = inner
        members = [(f"p{k}", rng.choice([*SCALARS, *VECTORS, *ARRAYS])) for k in range(rng.randint(2, 4))]
        self.structs["Outer"] = [*members, ("q", "Inner"), ("r", "u32")]

    def layout(self, kind: str) -> tuple[int, int]:
        """Alignment and size in a storage buffer, in bytes; for records, where that is the distance of two of them."""
        if kind.startswith("array"):
            inner, count = array_parts(kind)
            alignment, size = self.layout(inner)
            return alignment, count * (-(-size // alignment) * alignment)
        if kind not in self.structs:
            n = width(kind)
            return 4 * (4 if n == 3 else n), 4 * n
        at, largest = 0, 1
        for _, inner in self.structs[kind]:
            alignment, size = self.layout(inner)
            at = -(-at // alignment) * alignment + size
            largest = max(largest, alignment)
        return largest, -(-at // largest) * largest

    # Functions.

    def function(self) -> Function:
        rng = self.rng
        pure = rng.random() < 0.5
        result = rng.choice([*VALUES, "Inner"] if not pure else VALUES)
        parameters = []
        for _ in range(rng.randint(1, 4)):
            kind = rng.choice([*VALUES, *ARRAYS, "Inner", "Outer"])
            parameters.append((kind, not pure and rng.random() < 0.5))
        name = self.name("g")
        scope = Scope([], result=result, pure=pure)
        texts = []
        for kind, by_pointer in parameters:
            own = self.name("p")
            texts.append(f"{own}: ptr<function, {kind}>" if by_pointer else f"{own}: {kind}")
            scope.variables.append(Variable(f"(*{own})" if by_pointer else own, kind, by_pointer))
        self.add_private(scope, assignable=not pure)
        body = Block(self.statements(scope, rng.randint(1, 4), 2))
        body.statements.append(Statement(["return ", self.value(result, scope, 2), ";"]))
        self.callees.append(Callee(name, parameters, result, pure))
        return Function(f"fn {name}({', '.join(texts)}) -> {result}", body)

    def add_private(self, scope: Scope, assignable: bool) -> None:
        scope.variables += [
            Variable("memory", "array<u32, 5>", assignable),
            Variable("tint", "vec3<f32>", assignable),
            Variable("settings", "Settings", False),
        ]

    def entry(self, workgroup: int) -> Function:
        rng = self.rng
        head = f"@compute @workgroup_size({workgroup})\nfn main(@builtin(global_invocation_id) id: vec3<u32>,"
        head += " @builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>)"
        scope = Scope(
            [Variable(n, k, False) for n, k in (("id", "vec3<u32>"), ("lane", "u32"), ("group", "vec3<u32>"))]
        )
        self.add_private(scope, assignable=True)
        fixed = ["let at = id.x;", f"salt = words[{INPUT_WORDS - 1}];"]
        start = [f"atomicStore(&tallies[{k}], {v}u);" for k, (_, v) in enumerate(ATOMICS)]
        fixed += [
            f"if lane == 0u {{ {' '.join(start)} }}",
            "held[lane] = lane;",
            "_ = settings.c; _ = records[at].r;",
            "pairs[lane] = vec3<i32>();",
            "workgroupBarrier();",
        ]
        body = Block([Statement([text], kept=True) for text in fixed])
        scope.variables.append(Variable("records[at]", "Outer", True))
        for k in range(3):
            name = self.name("v")
            kind = ("u32", "i32", "f32")[k]
            load = {"u32": "$", "i32": "bitcast<i32>($)", "f32": "clean(bitcast<f32>($))"}[kind]
            load = load.replace("$", f"words[(at * 3u + {k}u) % {INPUT_WORDS - 1}u]")
            body.statements.append(Statement([f"var {name} = {load};"]))
            scope.variables.append(Variable(name, kind, True))
        for _ in range(rng.randint(1, 2)):
            body.statements += self.statements(scope, rng.randint(1, 4), 3)
            if rng.random() < 0.7:
                body.statements.append(self.exchange(scope, workgroup))
        body.statements += self.outputs(scope)
        flush = " ".join(f"{name}(&counts[{k}], atomicLoad(&tallies[{k}]));" for k, (name, _) in enumerate(ATOMICS))
        body.statements.append(Statement([f"workgroupBarrier(); if lane == 0u {{ {flush} }}"]))
        return Function(head, body)

    def exchange(self, scope: Scope, workgroup: int) -> Statement:
        """Values go from lane to lane; all lanes of the workgroup come here."""
        rng = self.rng
        array, kind = rng.choice((("held", "u32"), ("pairs", "vec3<i32>")))
        target = self.name("x")
        shift = rng.randint(1, 50)
        value = self.value(kind, scope, 2)
        turns = rng.choice((1, 1, 2, 3))
        loop: list[str | Expression | Block] = [
            f"var {target} = {kind}(); for (var turn = 0u; turn < {turns}u; turn++) {{ {array}[lane] = ",
            value,
            f" + {target}; workgroupBarrier(); {target} = {array}[(lane + {shift}u + turn) % {workgroup}u]; workgroupBarrier(); }}",
        ]
        scope.variables.append(Variable(target, kind, True))
        return Statement(loop)

    def outputs(self, scope: Scope) -> list[Statement]:
        """Values of the variables, and of expressions over them."""
        found = []
        kinds = [self.rng.choice([k for k in VALUES]) for _ in range(OUTPUTS)]
        for k, kind in enumerate(kinds):
            e = self.value(kind, scope, 2)
            found.append(Statement([f"results[at * {OUTPUTS}u + {k}u] = ", self.as_word(e), ";"]))
        return found

    def as_word(self, e: Expression) -> Expression:
        kind = e.kind
        scalar, n = element(kind), width(kind)
        if scalar == "bool":
            return self.make("u32", "u32($)", e)
        word = e if scalar == "u32" else self.make("", f"bitcast<{kind.replace(scalar, 'u32')}>($)", e)
        if n == 1:
            return word
        factors = ", ".join(f"{f}u" for f in (1, 31, 977, 31013)[:n])
        return self.make("u32", f"dot($, vec{n}<u32>({factors}))", word)

    # Statements.

    def statements(self, scope: Scope, count: int, depth: int) -> list[Statement]:
        return [s for _ in range(count) for s in self.statement(scope, depth)]

    def statement(self, scope: Scope, depth: int) -> list[Statement]:
        rng = self.rng
        roll = rng.random()
        if depth > 0 and roll < 0.38:
            return self.control(scope, depth)
        if roll < 0.56:
            return [self.declaration(scope)]
        if roll < 0.66:
            return self.call_statement(scope)
        if roll < 0.72 and not scope.pure:
            k = rng.randrange(len(ATOMICS))
            target = "tallies" if rng.random() < 0.5 else "counts"
            return [Statement([f"{ATOMICS[k][0]}(&{target}[{k}], ", self.value("u32", scope, 2), ");"])]
        if roll < 0.76 and scope.in_loop:
            way = rng.choice(("break", "continue"))
            return [Statement(["if ", self.value("bool", scope, 2), f" {{ {way}; }}"])]
        if roll < 0.79 and scope.result:
            value = self.value(scope.result, scope, 2)
            return [Statement(["if ", self.value("bool", scope, 2), " { return ", value, "; }"])]
        return self.assignment(scope)

    def declaration(self, scope: Scope) -> Statement:
        rng = self.rng
        kind = rng.choice([*VALUES, *SCALARS, *ARRAYS, "Inner", "Outer"])
        value = self.value(kind, scope, 3)
        # naga evaluates what depends on a `let` of a constant, and refuses divisions by zero among it.
        mutable = rng.random() < 0.7 or constant(value)
        name = self.name("v" if mutable else "c")
        scope.variables.append(Variable(name, kind, mutable))
        word = "var" if mutable else "let"
        return Statement([f"{word} {name}: {kind} = ", value, ";"])

    def call_statement(self, scope: Scope) -> list[Statement]:
        rng = self.rng
        if not self.callees:
            return []
        callee = rng.choice(self.callees)
        if scope.pure and not callee.pure:
            return []
        parts: list[str | Expression | Block] = []
        taken: set[str] = set()
        before = []
        for k, (kind, by_pointer) in enumerate(callee.parameters):
            parts.append(", " if k else "")
            if not by_pointer:
                parts.append(self.value(kind, scope, 2))
                continue
            # A variable of this function, and each once, so that pointers do not alias.
            own = [
                v
                for v in scope.variables
                if v.assignable and v.name[0] == "v" and v.kind == kind and v.name not in taken
            ]
            if own and rng.random() < 0.7:
                name = rng.choice(own).name
            else:
                name = self.name("v")
                before.append(Statement([f"var {name}: {kind} = ", self.value(kind, scope, 1), ";"]))
                scope.variables.append(Variable(name, kind, True))
            taken.add(name)
            parts.append(f"&{name}")
        target = self.name("c")
        scope.variables.append(Variable(target, callee.result, False))
        return [*before, Statement([f"let {target} = {callee.name}(", *parts, ");"])]

    def assignment(self, scope: Scope) -> list[Statement]:
        rng = self.rng
        kind = rng.choice([*VALUES, *SCALARS, *SCALARS, *ARRAYS, "Inner"])
        places = self.places(kind, scope, assignable=True)
        arrays = [
            (text, array_parts(a)[1])
            for a in ARRAYS
            if array_parts(a)[0] == kind
            for text in self.places(a, scope, assignable=True)
        ]
        if arrays and rng.random() < 0.4:
            text, count = rng.choice(arrays)
            return [
                Statement(
                    [f"{text}[", self.value("u32", scope, 1), f" % {count}u] = ", self.value(kind, scope, 3), ";"]
                )
            ]
        if not places:
            return []
        place = rng.choice(places)
        if element(kind) in ("u32", "i32") and rng.random() < 0.35:
            if width(kind) == 1 and rng.random() < 0.3:
                return [Statement([f"{place}{rng.choice(('++', '--'))};"])]
            sign = rng.choice(("+", "-", "*", "/", "%", "&", "|", "^"))
            if sign in "/%":
                # Only a divisor that is no constant may be zero.
                return [Statement([f"{place} {sign}= ({place} ^ ", self.value(kind, scope, 2), ");"])]
            return [Statement([f"{place} {sign}= ", self.value(kind, scope, 2), ";"])]
        if element(kind) in SCALARS and width(kind) > 1 and rng.random() < 0.25:
            component = self.make("", "[$ % " + f"{width(kind)}u]", self.value("u32", scope, 1))
            return [Statement([place, component, " = ", self.value(element(kind), scope, 2), ";"])]
        return [Statement([f"{place} = ", self.value(kind, scope, 3), ";"])]

    def control(self, scope: Scope, depth: int) -> list[Statement]:
        rng = self.rng
        roll = rng.random()

        def block(**changes: object) -> Block:
            return Block(self.statements(scope.inner(**changes), rng.randint(1, 3), depth - 1))

        if roll < 0.4 or scope.loops >= 2:
            if roll < 0.12:
                return [self.switch(scope, depth)]
            parts: list[str | Expression | Block] = ["if ", self.value("bool", scope, 2), " ", block()]
            if rng.random() < 0.3:
                parts += [" else if ", self.value("bool", scope, 2), " ", block()]
            if rng.random() < 0.5:
                parts += [" else ", block()]
            return [Statement(parts)]
        if roll < 0.5:
            return [self.switch(scope, depth)]
        inner = {"in_loop": True, "loops": scope.loops + 1}
        # A name that no assignment finds.
        counter = self.name("k")
        # The limit is text: it stays when the expression is made smaller.
        turns: list[str | Expression | Block] = (
            ["min(", self.value("u32", scope, 1), ", 4u)"] if rng.random() < 0.5 else ["3u"]
        )
        known = scope.inner(**inner)
        known.variables.append(Variable(counter, "u32", False))
        body = Block(self.statements(known, rng.randint(1, 4), depth - 1))
        if roll < 0.72:
            return [Statement([f"for (var {counter} = 0u; {counter} < ", *turns, f"; {counter}++) ", body])]
        if roll < 0.84:
            body.statements.insert(0, Statement([f"{counter}++;"], kept=True))
            return [Statement([f"var {counter} = 0u; while {counter} < ", *turns, " ", body])]
        end = Statement([f"continuing {{ {counter}++; break if {counter} >= 3u; }}"], kept=True)
        # What is declared in the body is not known behind a `continue`.
        body.statements.append(end)
        return [Statement([f"var {counter} = 0u; loop ", body])]

    def switch(self, scope: Scope, depth: int) -> Statement:
        rng = self.rng
        kind = rng.choice(("u32", "i32"))
        labels = list(range(rng.randint(2, 6)))
        rng.shuffle(labels)
        selector = self.make(kind, "($ % " + ("5u)" if kind == "u32" else "5i)"), self.value(kind, scope, 2))
        parts: list[str | Expression | Block] = ["switch ", selector, " { "]
        default = rng.randrange(len(labels) + 1)

        def case(label: str) -> None:
            body = Block(self.statements(scope.inner(in_loop=False), rng.randint(1, 3), depth - 1))
            if rng.random() < 0.2:
                body.statements.insert(0, Statement(["if ", self.value("bool", scope, 1), " { break; }"]))
            parts.extend([f"{label} ", body, " "])

        while labels:
            if default == len(labels):
                case("default")
                default = -1
            taken = [labels.pop() for _ in range(min(len(labels), rng.choice((1, 1, 2))))]
            signed = [v - 2 if kind == "i32" else v for v in taken]
            case(f"case {', '.join(f'{v}{kind[0]}' for v in signed)}")
        if default >= 0:
            case("default")
        return Statement([*parts, "}"])


def generate(seed: int, small: bool = False) -> Program:
    """`small`: with few lanes, so that the results can be stored."""
    return Shaders(seed).program(small)


def buffers(program: Program) -> list[Buffer]:
    """Contents drawn from the seed; a record for every lane."""
    rng = random.Random(program.seed ^ 0x5EED)
    lanes = program.workgroup * program.groups
    special = [0, 1, 2, 31, 0xFFFFFFFF, 0x80000000, 0x7FFFFFFF, 0x3F800000, 0xC0490FDB, 0x4B800000, 77]
    words = [rng.choice(special) if rng.random() < 0.3 else rng.getrandbits(32) for _ in range(INPUT_WORDS - 1)] + [0]
    # A vec4 of words, three numbers, an integer, two words, padding.
    settings = struct.pack(
        "<4I3fi2I8x", *(rng.getrandbits(32) for _ in range(4)), 0.5, -7.25, 1e5, -9, 3, rng.getrandbits(32)
    )
    counts = [value for _, value in ATOMICS]
    return [
        Buffer(0, struct.pack(f"<{INPUT_WORDS}I", *words)),
        Buffer(1, settings),
        Buffer(2, bytes(4 * OUTPUTS * lanes)),
        Buffer(3, struct.pack("<6I", *counts)),
        # Zeros are clean numbers.
        Buffer(0, bytes(program.record_bytes * lanes), group=1),
    ]


__all__ = ["ATOMICS", "CLEAN", "buffers", "generate"]
