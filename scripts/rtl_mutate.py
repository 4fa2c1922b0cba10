"""Mutants of the RTL's source: what could be changed where, and sources that hold the drawn ones.

slang reads the small core. Each expression and each statement offers changes, such as `a < b` for `a <= b`. A place is
rewritten so that it has both forms, and `` `MUTANT(n) `` chooses: (`MUTANT(n) ? (a <= b) : (a < b)). What is known when
the core is built stays as it is: parameters, packages that are generated, loop bounds, types. So do assertions,
planted bugs, and what the core tells the trace.
"""

import hashlib
import re

from rtl_sources import PACKAGES, RTL, UNITS

# Tables and numbers that are generated, and parameters.
LEFT_OUT = {"wave_isa_pkg", "sfu_rom_pkg", "parameters"}
# Functions that are called while the core is built, which cannot read a variable.
AT_BUILD = {"latency_of", "interval_of", "interval_of_class", "result_of", "later"}
OPERATORS = {
    "<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"], "==": ["!="], "!=": ["=="],
    "&": ["|", "^"], "|": ["&", "^"], "^": ["|", "&"], "+": ["-"], "-": ["+"], "*": ["+"],
    "&&": ["||"], "||": ["&&"], "<<": [">>"], ">>": ["<<"], ">>>": [">>"],
}
LITERAL = re.compile(r"(\d+)'(s?)([bdh])([\da-fA-F_]+)$|\d+$")
HEADER = """// Which mutant runs: +mutant=n, 0 or nothing for none.
`ifndef MUTANTS_SVH
`define MUTANTS_SVH
package wave_mutants_pkg;
  function automatic int chosen();
    int number;
    if (!$value$plusargs("mutant=%d", number)) number = 0;
    return number;
  endfunction
  int selected = chosen();
endpackage
`define MUTANT(n) (wave_mutants_pkg::selected == (n))
`endif
"""


def files():
    return [*PACKAGES, *sorted(f for d in (RTL, UNITS) for f in d.glob("*.sv") if f not in PACKAGES)]


def hashed(*words):
    return int.from_bytes(hashlib.sha256("\t".join(map(str, words)).encode()).digest()[:8])


def brief(text, most=48):
    """An expression in one line without comments; the middle of a long one is left out."""
    text = " ".join(re.sub(r"//[^\n]*", "", text).split())
    return text if len(text) <= most else f"{text[:most // 2].rstrip()} … {text[-most // 2:].lstrip()}"


class Mutant:
    """A change: what stands before and behind the text from `start` to `end`. `{0}` is the number in `before`."""

    def __init__(self, module, start, end, kind, before, behind, change):
        self.module, self.start, self.end, self.kind = module, start, end, kind
        self.before, self.behind, self.change = before, behind, change
        self.number = self.line = self.text = None


class Walk:
    """Collects the mutants of all modules."""

    def __init__(self):
        import pyslang
        from pyslang import ast, parsing, syntax
        self.ast, self.operators, self.manager = ast, ast.BinaryOperator, pyslang.SourceManager()
        self.found, self.loops, self.comb = {}, [], False
        # slang counts bytes, so that a character here is a byte.
        self.texts = {f.stem: f.read_text("latin-1") for f in files()}
        bag = pyslang.Bag()
        preprocessor, options = parsing.PreprocessorOptions(), ast.CompilationOptions()
        preprocessor.predefines, options.topModules = ["WAVE_MAX_WAVES=4"], {"wave_top"}
        bag.preprocessorOptions, bag.compilationOptions = preprocessor, options
        compilation = ast.Compilation(bag)
        for name, text in self.texts.items():
            # A planted bug is a constant 0 of the same length, so that all else stays at its place. Events are nothing.
            for header, macro in (("bugs.svh", ""), ("events.svh", "`define EVENT(n, c)")):
                line = f'`include "{header}"'
                text = text.replace(line, macro.ljust(len(line)))
            text = text.encode("latin-1").decode()
            text = re.sub(r"`BUG\(\d+\)", lambda m: "1'b".ljust(len(m[0]), "0"), text)
            compilation.addSyntaxTree(syntax.SyntaxTree.fromText(text, self.manager, name, name, bag))
        errors = [d for d in compilation.getAllDiagnostics() if d.isError()]
        assert not errors, f"slang does not accept the sources: {errors[0].code}"
        compilation.getRoot().visit(self.node)

    # Texts and places.

    def place(self, node):
        area = node.sourceRange
        return self.manager.getFileName(area.start), area.start.offset, area.end.offset

    def text(self, node):
        name, start, end = self.place(node)
        return self.texts[name][start:end]

    def add(self, node, kind, before, behind, change):
        name, start, end = self.place(node)
        if name not in LEFT_OUT:
            mutant = Mutant(name, start, end, kind, before, behind, change)
            self.found.setdefault((name, start, end, kind, change), mutant)

    def expression(self, node, kind, text, shown=None, was=None):
        """`node` may have the value of another expression."""
        change = f"{was or brief(self.text(node))} → {shown or brief(text)}"
        self.add(node, kind, f"(`MUTANT({{0}}) ? ({text}) : (", "))", change)

    def replaced(self, node, inner, text):
        """The text of `node` with another one for its part `inner`."""
        _, start, _ = self.place(node)
        _, first, last = self.place(inner)
        whole = self.text(node)
        return whole[:first - start] + text + whole[last - start:]

    # What is known of expressions.

    @staticmethod
    def kind(node):
        return type(node).__name__

    def plain(self, node):
        """Without conversions that nobody wrote."""
        while self.kind(node) == "ConversionExpression" and node.isImplicit:
            node = node.operand
        return node

    def bug(self, node):
        """The value that an expression has because no bug is planted, or None."""
        node = self.plain(node)
        kind = self.kind(node)
        if kind == "IntegerLiteral":
            return 0 if self.text(node).startswith("`") else None
        if kind == "ConversionExpression":
            return self.bug(node.operand)
        if kind == "UnaryExpression":
            value = self.bug(node.operand)
            return None if value is None else 1 - value
        if kind == "BinaryExpression" and node.op in (self.operators.LogicalAnd, self.operators.LogicalOr):
            decides = int(node.op == self.operators.LogicalOr)
            values = [self.bug(node.left), self.bug(node.right)]
            return decides if decides in values else None if None in values else 1 - decides
        return None

    def is_static(self, node):
        """Known when the core is built: numbers, parameters, variables of loops."""
        answer = True

        def look(part):
            nonlocal answer
            if self.kind(part) == "NamedValueExpression":
                kinds = self.ast.SymbolKind
                answer &= part.symbol.kind in (kinds.Parameter, kinds.EnumValue) or part.symbol.name in self.loops
            return self.ast.VisitAction.Advance
        node.visit(look)
        return answer

    @staticmethod
    def is_vector(kind):
        kind = kind.canonicalType
        return kind.isIntegral and not kind.isEnum and not kind.isStruct and not kind.isPackedUnion

    # The walk.

    def node(self, node):
        handle = getattr(self, f"on_{self.kind(node)}", None)
        if handle is None:
            return self.ast.VisitAction.Advance
        handle(node)
        return self.ast.VisitAction.Skip

    def visit(self, *nodes):
        for node in nodes:
            if node is not None:
                node.visit(self.node)

    def skip(self, node):
        pass

    on_ParameterSymbol = on_GenvarSymbol = on_ElabSystemTaskSymbol = on_ImmediateAssertionStatement = skip
    on_VariableSymbol = on_NetSymbol = on_FormalArgumentSymbol = on_TypeAliasType = on_VariableDeclStatement = skip

    def on_ProceduralBlockSymbol(self, node):
        if node.syntax is not None and not re.search(r"\bassert\b", self.text(node.syntax)):
            self.visit(node.body)

    def on_SubroutineSymbol(self, node):
        if node.name not in AT_BUILD:
            self.visit(node.body)

    def on_ForLoopStatement(self, node):
        self.loops.append(node.loopVars[0].name)
        self.visit(node.body)
        self.loops.pop()

    def on_ConditionalStatement(self, node):
        test = self.plain(node.conditions[0].expr)
        known = self.bug(test)
        if known is None:
            if not self.is_static(test) and self.text(test).strip("!") != "rst_n":
                self.condition(test, "if")
            self.visit(test)
        self.visit(*{None: [node.ifTrue, node.ifFalse], 0: [node.ifFalse], 1: [node.ifTrue]}[known])

    def negates(self, node):
        """An expression with an operator whose own mutant is the negation."""
        kind = self.kind(node)
        return kind == "UnaryExpression" and self.text(node)[0] == "!" or kind == "BinaryExpression" and node.op in (
            self.operators.Equality, self.operators.Inequality)

    def condition(self, test, kind):
        text = self.text(test)
        for shown in ["0", "1"] if self.negates(test) else ["!", "0", "1"]:
            change = f"!({brief(text)})" if shown == "!" else shown
            self.expression(test, kind, f"!({text})" if shown == "!" else f"1'b{shown}", f"{kind} ({change})",
                            f"{kind} ({brief(text)})")

    def on_CaseStatement(self, node):
        self.visit(node.expr, *(item.stmt for item in node.items), node.defaultCase)
        other = self.text(node.defaultCase) if node.defaultCase is not None else None
        for item in node.items:
            label = ", ".join(self.text(e) for e in item.expressions)
            before = f"begin if (`MUTANT({{0}})) begin {other} end else " if other else "begin if (!`MUTANT({0})) "
            if self.kind(item.stmt) != "EmptyStatement" and self.text(item.stmt) != other:
                self.add(item.stmt, "case", before, " end", f"{brief(label)}: → (no such case)")

    def on_ExpressionStatement(self, node):
        assignment = node.expr
        if self.kind(assignment) != "AssignmentExpression":
            return self.visit(assignment)
        if self.text(assignment.left).startswith("trace"):
            return None
        if assignment.isNonBlocking:
            shown = f"{brief(self.text(assignment))} → (left out)"
            self.add(node, "register", "begin if (!`MUTANT({0})) ", " end", shown)
        for select in self.chain(assignment.left):
            if self.kind(select) == "ElementSelectExpression" and not self.is_static(select.selector):
                self.visit(select.selector)
                if index := self.next_index(select):
                    other = self.replaced(node, select.selector, index[0])
                    shown = f"{brief(self.text(assignment.left))} → [{index[1]}]"
                    self.add(node, "address", f"begin if (`MUTANT({{0}})) {other} else ", " end", shown)
        return self.visit(assignment)

    def on_AssignmentExpression(self, node):
        if self.kind(node.right) == "EmptyArgumentExpression":
            return
        if not node.isCompound:
            self.value(node.right, node.left.type)
            self.visit(node.right)
        else:
            # The right side has the operation in it.
            self.visit(node.right.right)

    def on_ReturnStatement(self, node):
        if node.expr is not None:
            self.value(node.expr, node.expr.type)
            self.visit(node.expr)

    def value(self, node, kind):
        """What is assigned: inverted, in one bit if it has several, or constant."""
        node = self.plain(node)
        if self.bug(node) is not None or self.is_static(node):
            return
        if not (self.is_vector(kind) and self.is_vector(node.type)):
            return
        text, width = self.text(node), kind.bitWidth
        if width == 1:
            for other, shown in [(f"!({text})", f"!({brief(text)})"), ("1'b0", "0"), ("1'b1", "1")]:
                if shown[0] != "!" or not self.negates(node):
                    self.expression(node, "value", other, shown)
            return
        sign = "s" if node.type.isSigned else ""
        bits, inner = min(width, node.type.bitWidth), node
        while self.kind(inner) == "ConversionExpression":
            inner = inner.operand
            bits = min(bits, inner.type.bitWidth)
        bit = hashed(self.place(node)[0], text) % bits
        self.expression(node, "value", f"({text}) ^ {width}'{sign}h{1 << bit:x}", f"bit {bit} of it inverted")
        self.expression(node, "value", f"{width}'{sign}h0", "0")

    def on_ConversionExpression(self, node):
        self.visit(node.operand)

    def on_BinaryExpression(self, node):
        if self.bug(node) is not None or self.is_static(node):
            return
        sides = [node.left, node.right]
        known = [self.bug(side) is not None for side in sides]
        left, operator, right = self.operands(node)
        was = f"{brief(left, 32)} {operator} {brief(right, 32)}"
        for other in [] if any(known) else OPERATORS.get(operator, []):
            shown = f"{brief(left, 32)} {other} {brief(right, 32)}"
            self.expression(node, "operator", f"({left}) {other} ({right})", shown, was)
        if not any(known) and operator in ("<<", ">>", ">>>"):
            text = f"{left} {operator} (({right}) + 1'b1)"
            self.expression(node, "amount", text, f"{brief(left, 32)} {operator} ({brief(right, 32)} + 1)", was)
        if not any(known) and operator in ("&&", "||"):
            self.expression(node, "operand", left, brief(left, 32), was)
            self.expression(node, "operand", right, brief(right, 32), was)
        self.visit(*(side for side, is_known in zip(sides, known) if not is_known))

    def operands(self, node):
        """Left side, operator, right side, each with its brackets."""
        name, start, end = self.place(node)
        first, last = self.place(self.plain(node.left))[2], self.place(self.plain(node.right))[1]
        between = re.sub(r"//[^\n]*", lambda m: " " * len(m[0]), self.texts[name][first:last])
        operator = re.search(r"[^\s()]+", between)
        text = self.texts[name]
        return (text[start:first + operator.start()].strip(), operator[0], text[first + operator.end():end].strip())

    def on_UnaryExpression(self, node):
        if self.bug(node) is None and not self.is_static(node):
            text = self.text(node)
            if text[0] in "!~-":
                self.expression(node, "unary", text[1:])
            elif text[0] in "&|":
                self.expression(node, "unary", {"&": "|", "|": "&"}[text[0]] + text[1:])
            self.visit(node.operand)

    def on_ConditionalExpression(self, node):
        test = self.plain(node.conditions[0].expr)
        known = self.bug(test)
        if known is not None or self.is_static(test):
            return self.visit(*{None: [node.left, node.right], 0: [node.right], 1: [node.left]}[known])
        if node.type.isIntegral:
            c, a, b = self.text(test), self.text(self.plain(node.left)), self.text(self.plain(node.right))
            was = f"{brief(c, 32)} ? {brief(a, 24)} : {brief(b, 24)}"
            for text, shown in [(f"({c}) ? ({b}) : ({a})", f"{brief(c, 32)} ? {brief(b, 24)} : {brief(a, 24)}"),
                                (a, brief(a, 32)), (b, brief(b, 32))]:
                # Both arms have a say in width and sign.
                whole = text if text[0] == "(" else f"{1 if text is a else 0} ? ({a}) : ({b})"
                self.expression(node, "choice", whole, shown, was)
        return self.visit(test, node.left, node.right)

    def on_InsideExpression(self, node):
        self.visit(node.left)
        members = [self.text(m) for m in node.rangeList]
        for n, member in enumerate(members if len(members) > 1 else []):
            others = ", ".join(members[:n] + members[n + 1:])
            text = f"{self.text(node.left)} inside {{{others}}}"
            was = f"inside {{{brief(', '.join(members))}}}"
            self.expression(node, "member", text, f"inside {{{brief(others)}}}", was)

    def on_IntegerLiteral(self, node):
        text = self.text(node)
        match = LITERAL.match(text)
        if not match:
            return
        if match[1] is None:
            others = {str(int(text) + 1), str(abs(int(text) - 1))}
        else:
            width, sign, base, digits = match.groups()
            value = int(digits.replace("_", ""), {"b": 2, "d": 10, "h": 16}[base])
            most = (1 << int(width)) - 1
            others = {f"{width}'{sign}{base}{v & most:{base.replace('h', 'x')}}" for v in (value + 1, abs(value - 1))}
        for other in sorted(others):
            self.expression(node, "constant", other)

    def on_UnbasedUnsizedIntegerLiteral(self, node):
        if node.type.isIntegral and not node.type.isEnum:
            self.expression(node, "constant", {"'0": "'1", "'1": "'0"}[self.text(node)])

    def on_ReplicationExpression(self, node):
        self.visit(node.concat)

    def on_CallExpression(self, node):
        if node.subroutineName not in ("$bits", "$clog2", *AT_BUILD):
            self.visit(*node.arguments)

    # Selections: x.a[i].b[3:0] is one expression, of which a copy has another index.

    def chain(self, node):
        """The selections of which an expression consists, the outermost first; then what they select from."""
        node = self.plain(node)
        while self.kind(node) in ("ElementSelectExpression", "RangeSelectExpression", "MemberAccessExpression"):
            yield node
            node = self.plain(node.value)
        yield node

    def next_index(self, select):
        """The index behind that of an element, and how it is shown. The first one follows the last one."""
        area, text = select.value.type.fixedRange, self.text(select.selector)
        low, high = min(area.left, area.right), max(area.left, area.right)
        if low == high:
            return None
        if text.isdigit():
            return (str(low if int(text) == high else int(text) + 1),) * 2
        return f"(({text}) == {high} ? {low} : ({text}) + 1)", f"{brief(text)} + 1"

    def on_selection(self, node):
        *selects, base = self.chain(node)
        for select in selects:
            kind = self.kind(select)
            if kind == "ElementSelectExpression":
                index = self.next_index(select)
                if index and node.type.isIntegral:
                    shown = self.replaced(node, select.selector, index[1])
                    self.expression(node, "index", self.replaced(node, select.selector, index[0]), shown)
                if not self.is_static(select.selector):
                    self.visit(select.selector)
            elif kind == "RangeSelectExpression" and select.selectionKind == self.ast.RangeSelectionKind.Simple:
                area, bounds = select.value.type.fixedRange, select.type.fixedRange
                low, high = min(area.left, area.right), max(area.left, area.right)
                first, last = int(str(select.right.constant)), int(str(select.left.constant))
                step = -1 if first > low else 1 if last < high else 0
                if step and node.type.isIntegral and bounds:
                    text = self.replaced_right(node, select, str(last + step), str(first + step))
                    self.expression(node, "slice", text)
            elif kind == "RangeSelectExpression" and not self.is_static(select.left):
                self.visit(select.left)
        if self.kind(base) not in ("NamedValueExpression",):
            self.visit(base)

    on_ElementSelectExpression = on_RangeSelectExpression = on_MemberAccessExpression = on_selection

    def replaced_right(self, node, select, left, right):
        _, start, _ = self.place(node)
        (_, l0, l1), (_, r0, r1) = self.place(select.left), self.place(select.right)
        whole = self.text(node)
        return whole[:l0 - start] + left + whole[l1 - start:r0 - start] + right + whole[r1 - start:]


def drawn(count, seed):
    """About `count` mutants, of each file about in proportion to its lines that have some: at a place, one of each
    kind. Those stay that have the least hash of their name, so that an edit of a file changes little."""
    walk = Walk()
    by_module = {}
    for mutant in walk.found.values():
        by_module.setdefault(mutant.module, []).append(mutant)
    for module, mutants in by_module.items():
        text, lines = walk.texts[module], walk.texts[module].split("\n")
        met = {}
        for mutant in sorted(mutants, key=lambda m: (m.start, m.end, m.kind, m.change)):
            mutant.line = text.count("\n", 0, mutant.start) + 1
            mutant.text = " ".join(lines[mutant.line - 1].split())
            # The same change may be in the file several times.
            nth = met[mutant.text, mutant.change] = met.get((mutant.text, mutant.change), 0) + 1
            mutant.change += f" (place {nth})" if nth > 1 else ""
            mutant.hash = hashed(seed, mutant.module, mutant.text, mutant.change)
    size = {module: len({m.line for m in mutants}) for module, mutants in by_module.items()}
    chosen = []
    for module, mutants in sorted(by_module.items()):
        places = {}
        for mutant in sorted(mutants, key=lambda m: m.hash):
            places.setdefault((mutant.start, mutant.end, mutant.kind), mutant)
        share = round(count * size[module] / sum(size.values()))
        chosen += sorted(list(places.values())[:share], key=lambda m: (m.line, m.start, m.end, m.kind))
    for number, mutant in enumerate(chosen, 1):
        mutant.number = number
    return walk, chosen


def rewritten(text, mutants):
    """The text of a file with its mutants."""
    places = []
    for mutant in mutants:
        before = mutant.before.replace("{0}", str(mutant.number))
        # Of two at one place the first one is outside. What ends at a place comes before what begins there.
        places.append(((mutant.start, 1, -mutant.end, mutant.number), before))
        places.append(((mutant.end, 0, -mutant.start, -mutant.number), mutant.behind))
    parts, at = ['`include "mutants.svh" '], 0
    for (offset, *_), inserted in sorted(places):
        parts += [text[at:offset], inserted]
        at = offset
    return "".join([*parts, text[at:]])
