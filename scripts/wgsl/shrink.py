"""Makes a program smaller while something still holds of it."""

from collections.abc import Callable

from .tree import Block, Expression, Program

Holds = Callable[[Program], bool]
# A list whose pieces are tried, the place in it, and what may stand there instead.
ZEROS = {"u32": "1u", "i32": "1i", "f32": "1.5", "bool": "true"}


def shrink(program: Program, holds: Holds, most_tries: int = 600) -> Program:
    """Statements go first, in halves and then one by one; then blocks take the place of what holds them; then expressions
    become what is inside them, or a literal. The program itself is changed."""
    tries = most_tries

    def still() -> bool:
        nonlocal tries
        tries -= 1
        return tries >= 0 and holds(program)

    before = -1
    while before != (size := len(program.text())) and tries > 0:
        before = size
        for block in list(program.blocks()):
            remove_statements(block, still)
        unwrap_blocks(program, still)
        drop_functions(program, still)
        simplify_expressions(program, still)
    return program


def remove_statements(block: Block, still: Callable[[], bool]) -> None:
    chunk = max(1, len(block.statements))
    while chunk >= 1:
        # From the end: what is declared early is used later.
        at = len(block.statements) - chunk
        while at >= 0:
            removed = block.statements[at : at + chunk]
            if not any(s.kept for s in removed):
                del block.statements[at : at + chunk]
                if not still():
                    block.statements[at:at] = removed
            at -= chunk
        chunk //= 2


def unwrap_blocks(program: Program, still: Callable[[], bool]) -> None:
    for block in list(program.blocks()):
        at = 0
        while at < len(block.statements):
            statement = block.statements[at]
            for inner in list(statement.blocks()):
                block.statements[at : at + 1] = inner.statements
                if still():
                    break
                block.statements[at : at + len(inner.statements)] = [statement]
            at += 1


def drop_functions(program: Program, still: Callable[[], bool]) -> None:
    for function in program.functions[:-1]:
        at = program.functions.index(function)
        program.functions.remove(function)
        if not still():
            program.functions.insert(at, function)


def simplify_expressions(program: Program, still: Callable[[], bool]) -> None:
    done: set[int] = set()
    while True:
        waiting = [h for h in program.holders() if id(h[2]) not in done]
        if not waiting:
            return
        holder, at, expression = waiting[0]
        done.add(id(expression))
        for other in replacements(expression):
            holder[at] = other
            if still():
                break
            holder[at] = expression


def replacements(expression: Expression) -> list[Expression]:
    if expression.size() == 1 and len(expression.text()) < 14:
        return []
    kind = expression.kind
    scalar = kind[5:-1] if kind.startswith("vec") else kind
    found = []
    if scalar in ZEROS:
        literal = ZEROS[scalar] if scalar == kind else f"{kind}({ZEROS[scalar]})"
        found.append(Expression(kind, [literal]))
    waiting = list(expression.children())
    if str(expression.parts[0]).startswith("clean"):
        # The operation inside does not go without: its result may be one that the specification leaves open.
        waiting = [c for inner in waiting for c in inner.children()]
    while waiting:
        inner = waiting.pop(0)
        if inner.kind == kind:
            found.append(inner)
        else:
            waiting += inner.children()
    return found
