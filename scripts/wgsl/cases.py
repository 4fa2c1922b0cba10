"""Cases: a shader, its buffers, and what must lie in them afterwards. The file format is described in
sim/compile/tests/shader/cases/README.md."""

import json
import pathlib
from dataclasses import dataclass, field
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "sim" / "compile" / "tests" / "shader" / "cases"


@dataclass
class Buffer:
    """A buffer at a binding. `output` is what must lie in it, byte by byte; or every element of the type `element` must
    lie between `low` and `high` (where those are NaN, anything will do). None of them: the buffer is not looked at."""

    binding: int
    input: bytes
    group: int = 0
    output: bytes | None = None
    element: str = ""
    low: bytes | None = None
    high: bytes | None = None

    @property
    def compared(self) -> bool:
        return self.output is not None or self.low is not None

    def to_json(self) -> dict[str, Any]:
        row: dict[str, Any] = {"group": self.group, "binding": self.binding}
        if any(self.input):
            row["input_hex"] = self.input.hex()
        else:
            row["bytes"] = len(self.input)
        if self.output is not None:
            row["output_hex"] = self.output.hex()
        elif self.low is not None and self.high is not None:
            row |= {"element": self.element, "low_hex": self.low.hex(), "high_hex": self.high.hex()}
        return row

    @staticmethod
    def from_json(row: dict[str, Any]) -> "Buffer":
        def data(key: str) -> bytes | None:
            return bytes.fromhex(row[key]) if key in row else None

        given = data("input_hex")
        return Buffer(
            row["binding"],
            bytes(row["bytes"]) if given is None else given,
            row["group"],
            data("output_hex"),
            row.get("element", ""),
            data("low_hex"),
            data("high_hex"),
        )


@dataclass
class Case:
    """`builtin` and `types` say in the table what is covered; `rule` says in words how exact a result must be; `basis`
    is `wgsl` where the specification gives the result, `ieee` where it leaves it open and IEEE 754 gives it, and
    `driver` where the driver gave it and no computation on the host stands beside."""

    name: str
    builtin: str
    types: list[str]
    wgsl: str
    buffers: list[Buffer]
    entry: str = "main"
    grid: tuple[int, int, int] = (1, 1, 1)
    overrides: dict[str, float] = field(default_factory=dict)
    requires: list[str] = field(default_factory=list)
    wave_width: int | None = None
    rule: str = "exact"
    basis: str = "wgsl"

    def to_json(self) -> dict[str, Any]:
        row: dict[str, Any] = {"name": self.name, "builtin": self.builtin, "types": self.types, "basis": self.basis}
        row["compare"] = {
            "kind": "interval" if any(b.low is not None for b in self.buffers) else "exact",
            "rule": self.rule,
        }
        if self.requires:
            row["requires"] = self.requires
        if self.wave_width:
            row["wave_width"] = self.wave_width
        if self.overrides:
            row["overrides"] = self.overrides
        row |= {"entry": self.entry, "grid": list(self.grid), "wgsl": self.wgsl}
        row["bindings"] = [b.to_json() for b in self.buffers]
        return row

    @staticmethod
    def from_json(row: dict[str, Any]) -> "Case":
        return Case(
            row["name"],
            row["builtin"],
            row["types"],
            row["wgsl"],
            [Buffer.from_json(b) for b in row["bindings"]],
            row["entry"],
            tuple(row["grid"]),
            row.get("overrides", {}),
            row.get("requires", []),
            row.get("wave_width"),
            row["compare"]["rule"],
            row["basis"],
        )


def write(path: pathlib.Path, cases: list[Case]) -> None:
    lines = [json.dumps(c.to_json(), separators=(",", ":"), ensure_ascii=False) for c in cases]
    path.write_text("\n".join(lines) + "\n")


def read(path: pathlib.Path) -> list[Case]:
    return [Case.from_json(json.loads(line)) for line in path.read_text().splitlines() if line]


def read_all(folder: pathlib.Path = FOLDER) -> list[Case]:
    return [case for path in sorted(folder.glob("*.jsonl")) for case in read(path)]
