"""Shaders as trees that can be printed and made smaller: expressions, statements, blocks, functions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Expression:
    """Pieces of text and expressions inside it. The text around keeps it in parentheses where it needs them."""

    kind: str
    parts: list[str | Expression]

    def text(self) -> str:
        return "".join(p if isinstance(p, str) else p.text() for p in self.parts)

    def children(self) -> Iterator[Expression]:
        return (p for p in self.parts if isinstance(p, Expression))

    def size(self) -> int:
        return 1 + sum(c.size() for c in self.children())


@dataclass
class Statement:
    parts: list[str | Expression | Block]
    # Without it the shader would not end, or read what nobody wrote.
    kept: bool = False

    def text(self, indent: str) -> str:
        made = [
            p if isinstance(p, str) else p.text(indent + "    ") if isinstance(p, Block) else p.text()
            for p in self.parts
        ]
        return indent + "".join(made)

    def blocks(self) -> Iterator[Block]:
        return (p for p in self.parts if isinstance(p, Block))


@dataclass
class Block:
    statements: list[Statement] = field(default_factory=list)

    def text(self, indent: str) -> str:
        return "{\n" + "".join(s.text(indent) + "\n" for s in self.statements) + indent[4:] + "}"


@dataclass
class Function:
    head: str
    body: Block

    def text(self) -> str:
        return f"{self.head} {self.body.text('    ')}\n"


@dataclass
class Program:
    """`head` declares types and variables; the last function is the entry point."""

    seed: int
    head: str
    functions: list[Function]
    workgroup: int
    groups: int
    record_bytes: int

    def text(self) -> str:
        return self.head + "".join(f.text() for f in self.functions)

    def blocks(self) -> Iterator[Block]:
        """Every block, outer ones first."""
        waiting = [f.body for f in self.functions]
        while waiting:
            block = waiting.pop(0)
            yield block
            waiting += [b for s in block.statements for b in s.blocks()]

    def holders(self) -> Iterator[tuple[list[Any], int, Expression]]:
        """Every expression with the list and the place in it where it stands, outer ones first."""
        for block in self.blocks():
            for statement in block.statements:
                waiting: list[tuple[list[Any], int, Expression]] = [
                    (statement.parts, k, p) for k, p in enumerate(statement.parts) if isinstance(p, Expression)
                ]
                while waiting:
                    holder = waiting.pop(0)
                    yield holder
                    inner = holder[2].parts
                    waiting += [(inner, k, p) for k, p in enumerate(inner) if isinstance(p, Expression)]
