"""Cases in which every element of an array is mapped: one shader for a function and a type, with the results from the
host."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ..accuracy import FORMATS, Accepted, Rules
from ..cases import Buffer, Case
from ..layout import SCALARS, U32, Number, Scalar, type_name, vectors

WORKGROUP = 16
Row = Sequence[Number]


@dataclass
class Argument:
    """An array of vectors of a scalar type ("bool" too) with its rows."""

    scalar: str
    width: int
    rows: list[Row]

    @property
    def stored(self) -> Scalar:
        return U32 if self.scalar == "bool" else SCALARS[self.scalar]

    def load(self, name: str) -> str:
        text = f"{name}s[i]"
        if self.scalar == "bool":
            zero = "0u" if self.width == 1 else f"vec{self.width}<u32>()"
            return f"{text} != {zero}"
        return text


@dataclass
class Map:
    """`expression` over x, y, z, w gives a vector of `result` and `width`. `exact` gives the numbers, or `accepted` the
    intervals, of one row."""

    name: str
    builtin: str
    types: list[str]
    arguments: list[Argument]
    expression: str
    result: str
    width: int
    exact: Callable[..., Sequence[Number]] | None = None
    accepted: Callable[..., Sequence[Accepted]] | None = None
    rule: str = "exact"
    basis: str = "wgsl"
    declarations: str = ""
    before: str = ""
    overrides: dict[str, float] = field(default_factory=dict)

    def case(self) -> Case:
        count = len(self.arguments[0].rows)
        used = {a.scalar for a in self.arguments} | {self.result}
        text = "enable f16;\n" if "f16" in used or "f16" in self.expression + self.declarations else ""
        names = "xyzw"
        loads = ""
        for place, (name, argument) in enumerate(zip(names, self.arguments)):
            element = type_name(argument.stored.name, argument.width)
            text += f"@group(0) @binding({place}) var<storage> {name}s: array<{element}>;\n"
            loads += f"    let {name} = {argument.load(name)};\n"
        stored = U32 if self.result == "bool" else SCALARS[self.result]
        output = type_name(stored.name, self.width)
        value = f"{output}({self.expression})" if self.result == "bool" else self.expression
        text += f"@group(0) @binding({len(self.arguments)}) var<storage, read_write> results: array<{output}>;\n"
        text += self.declarations
        text += f"@compute @workgroup_size({WORKGROUP})\nfn main(@builtin(global_invocation_id) id: vec3<u32>) {{\n"
        text += f"    let i = id.x;\n    if i >= {count}u {{ return; }}\n{loads}{self.before}    results[i] = {value};\n}}\n"
        buffers = [Buffer(k, vectors(a.stored, a.rows)) for k, a in enumerate(self.arguments)]
        buffers.append(self._result(len(self.arguments), stored))
        requires = [n for n, used_by in REQUIRES.items() if used & used_by or (n == "f16" and "enable" in text)]
        groups = -(-count // WORKGROUP)
        return Case(
            self.name,
            self.builtin,
            self.types,
            text,
            buffers,
            grid=(groups, 1, 1),
            overrides=self.overrides,
            requires=requires,
            rule=self.rule,
            basis=self.basis,
        )

    def _result(self, binding: int, stored: Scalar) -> Buffer:
        rows = list(zip(*(a.rows for a in self.arguments)))
        packed = [[self._value(a, v) for a, v in zip(self.arguments, row)] for row in rows]
        if self.exact:
            results = [list(self.exact(*row)) for row in packed]
            data = vectors(stored, results)
            return Buffer(binding, bytes(len(data)), output=data)
        assert self.accepted
        rules = Rules(FORMATS[self.result])
        intervals = [list(self.accepted(rules, *row)) for row in packed]
        low = vectors(stored, [[edge(a, 0) for a in row] for row in intervals])
        high = vectors(stored, [[edge(a, 1) for a in row] for row in intervals])
        return Buffer(binding, bytes(len(low)), element=stored.name, low=low, high=high)

    @staticmethod
    def _value(argument: Argument, row: Row) -> Row:
        # What the shader reads: rounded to the type.
        scalar = argument.stored
        return [scalar.round(v) if scalar.is_float else scalar.wrap(int(v)) for v in row]


REQUIRES = {"f16": {"f16"}, "f64": {"f64"}, "int64": {"i64", "u64"}}


def edge(accepted: Accepted, side: int) -> float:
    if accepted is None:
        return math.nan
    return float(accepted.high if side else accepted.low)


def in_rows(values: list[Number], width: int) -> list[Row]:
    """Values in rows of a vector; the last ones begin again with the first."""
    rows = -(-len(values) // width)
    values = values + values[: rows * width - len(values)]
    return [values[k * width : (k + 1) * width] for k in range(rows)]


def componentwise(function: Callable[..., Number]) -> Callable[..., list[Number]]:
    return lambda *rows: [function(*row) for row in zip(*rows)]


def componentwise_intervals(function: Callable[..., Accepted]) -> Callable[..., list[Accepted]]:
    def apply(r: Rules, *rows: Row) -> list[Accepted]:
        return [function(r, *(r.point(v) for v in row)) for row in zip(*rows)]

    return apply
