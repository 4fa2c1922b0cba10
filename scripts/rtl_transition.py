"""Transition systems of RTL modules, and questions about them to the SMT solver bitwuzla.

yosys-slang reads a module, and yosys writes it as SMT-LIB functions of a state. `System` reads these functions and
writes them anew for each cycle, with a constant for each net and cycle, so that the solver needs no sort of states.
"""

import functools
import re
import subprocess
import sys
import time

from rtl_sources import PACKAGES, RTL, UNITS, pyosys, source

# Wave slots of the core that is proven.
WAVES = 4


def extract(top, rtl, harness, parameters, file):
    """Writes the transition system of a module. `rtl` is the folder of the sources, which may be a mutant's."""
    yosys = pyosys()
    design = yosys.Design()
    packages = [rtl / package.relative_to(RTL) for package in PACKAGES]
    units = rtl / UNITS.relative_to(RTL)
    values = [f"-G {name}={value}" for name, value in parameters]
    read = ["read_slang", f"-DWAVE_MAX_WAVES={WAVES}", *values, "-I", rtl, "-I", units, "-y", rtl, "-y", units,
            "-Y", ".sv", "--top", top, *packages, harness or rtl / source(top).relative_to(RTL)]
    for command in [
        " ".join(map(str, read)),
        f"hierarchy -check -top {top}",
        "proc", "flatten", "delete t:$print",
        # All is clocked by one clock, so an assertion is looked at in each cycle.
        "setparam -set TRG_ENABLE 1'0 -set TRG_WIDTH 0 t:$check", "chformal -lower",
        "opt_clean", "memory -nomap", "memory_map", "opt -fast", "async2sync", "dffunmap",
        # What is undefined may be anything, in each cycle anew.
        "setundef -undriven -anyseq", "opt_clean",
        f"write_smt2 {file}",
    ]:
        yosys.run_pass(command, design)


class System:
    """A transition system as yosys writes it."""

    def __init__(self, file, top):
        self.top = top
        self.declared = {}              # nets that nothing computes: inputs and registers, with their sorts
        self.defined = []               # (net, sort, body), each after those it needs
        self.next = {}                  # of a register: its net a cycle later
        self.inputs, self.outputs, self.registers = {}, {}, {}
        self.checks = {"assert": {}, "assume": {}, "cover": {}}
        text = file.read_text()
        for name, sort in re.findall(r"^\(declare-fun \|([^|]+)\| \(\|[^|]+\|\) (.+?)\)(?: ;.*)?$", text, re.M):
            if name != f"{top}_is":
                self.declared[name] = sort
        function = r"^\(define-fun \|([^|]+)\| \(\(state \|[^|]+\|\)\) (Bool|\(_ BitVec \d+\)) ([^;]+?)\)(?: ;.*)?$"
        for name, sort, body in re.findall(function, text, re.M):
            if name not in {f"{top}_{letter}" for letter in "auih"}:
                self.defined.append((name, sort, body))
        end = text[text.index(f"(define-fun |{top}_t|"):]
        for body, register in re.findall(r"^  \(= (.+) \(\|([^|]+)\| next_state\)\)", end, re.M):
            self.next[register] = body
        for kind, number, place in re.findall(r"^; yosys-smt2-(assert|assume|cover) (\d+) (.*)$", text, re.M):
            self.checks[kind][f"{top}_{kind[0] if kind != 'assume' else 'u'} {number}"] = place
        for kind, name, width in re.findall(r"^; yosys-smt2-(input|output|register) (\S+) (\d+)$", text, re.M):
            getattr(self, f"{kind}s")[name] = int(width)

    def at(self, body, cycle):
        return re.sub(r"\(\|([^|]+)\| state\)", lambda m: f"|{m[1]}@{cycle}|", body)

    def port(self, name, cycle):
        return f"|{self.top}_n {name}@{cycle}|"

    def cycle(self, number, fixed=None):
        """The definitions of a cycle. In cycle 0 the registers are free. `fixed` gives nets a constant value."""
        lines = []
        for name, sort in self.declared.items():
            if number > 0 and name in self.next:
                lines.append(f"(define-fun |{name}@{number}| () {sort} {self.at(self.next[name], number - 1)})")
            elif fixed and name in fixed:
                lines.append(f"(define-fun |{name}@{number}| () {sort} {fixed[name]})")
            else:
                lines.append(f"(declare-const |{name}@{number}| {sort})")
        for name, sort, body in self.defined:
            lines.append(f"(define-fun |{name}@{number}| () {sort} {self.at(body, number)})")
        return "\n".join(lines)

    def net_of_input(self, name):
        """The declared net of an input port."""
        body = next(body for net, _, body in self.defined if net == f"{self.top}_n {name}")
        return re.match(r"\(\|([^|]+)\| state\)$", body)[1]


class Solver:
    """One conversation with bitwuzla."""

    def __init__(self, limit_s, options=()):
        import bitwuzla
        self.bitwuzla = bitwuzla
        self.limit_s = limit_s
        self.terms = bitwuzla.TermManager()
        chosen = bitwuzla.Options()
        chosen.set(bitwuzla.Option.PRODUCE_MODELS, True)
        chosen.set(bitwuzla.Option.TIME_LIMIT_PER, int(limit_s * 1000))
        for option, value in options:
            chosen.set(getattr(bitwuzla.Option, option), value)
        self.parser = bitwuzla.Parser(self.terms, chosen)
        self.define("(set-logic QF_BVFP)")
        self.solver = self.parser.bitwuzla()

    def define(self, text):
        self.parser.parse(text, True, False)

    def term(self, text):
        return self.parser.parse_term(text)

    def require(self, text):
        self.solver.assert_formula(self.term(text))

    def ask(self, text):
        """sat, unsat or unknown: can this be true besides what is required?"""
        result = self.solver.check_sat(self.term(text))
        return str(result).lower().rsplit(".", 1)[-1]

    def value(self, text):
        """Of a Boolean or bit vector in the model: a number."""
        value = str(self.solver.get_value(self.term(text)))
        return {"true": 1, "false": 0}.get(value) if value[0] != "#" else int(value[2:], 2 if value[1] == "b" else 16)


def conjunction(terms):
    return f"(and true {' '.join(terms)})"


def place_of(place):
    """An assertion's file, line and message."""
    match = re.search(r"(\S+\.sv):(\d+)", place)
    if not match:
        return place
    try:
        lines = open(match[1]).read().split("\n")[int(match[2]) - 1:int(match[2]) + 1]
    except OSError:
        lines = []
    said = re.search(r'\$error\("([^"]+)"', " ".join(lines))
    return f"{match[1].rsplit('/', 1)[-1]}:{match[2]}" + (f" ({said[1]})" if said else "")


class Outcome:
    """What became of a proof. `result` is proven, failed or open; `example` is a counterexample to print."""

    def __init__(self, result, words, example=""):
        self.result, self.words, self.example = result, words, example


class Run:
    """A module from its reset on, or from any state, cycle by cycle."""

    def __init__(self, system, limit_s, from_reset):
        self.system, self.from_reset, self.cycles = system, from_reset, 0
        self.solver = Solver(limit_s)

    def step(self):
        system, t = self.system, self.cycles
        self.solver.define(system.cycle(t))
        resets = self.from_reset and t == 0
        if "rst_n" in system.inputs:
            reset = system.port("rst_n", t)
            self.solver.require(f"(not {reset})" if resets else reset)
        for name in system.checks["assume"]:
            self.solver.require(f"|{name}@{t}|")
        self.cycles += 1
        return t

    def assertions(self, t):
        return conjunction(f"|{name}@{t}|" for name in self.system.checks["assert"])

    def example(self, t):
        """The cycles up to t of the solver's model, and the assertions that do not hold in t."""
        names = [name for name in self.system.inputs if name not in ("clk", "rst_n")]
        lines = ["", "cycle " + " ".join(names)]
        for c in range(t + 1):
            values = [f"{self.solver.value(self.system.port(n, c)):x}".rjust(len(n)) for n in names]
            lines.append(f"{c:5} " + " ".join(values))
        if not self.from_reset:
            lines.append("begins with " + ", ".join(
                f"{n} = {self.solver.value(self.system.port(n, 0)):x}" for n in self.system.registers))
        for name, place in self.system.checks["assert"].items():
            if not self.solver.value(f"|{name}@{t}|"):
                lines.append(f"fails in cycle {t}: {place_of(place)}")
        return "\n".join(lines)


def bounded(system, depth, checked, limit_s):
    """No assertion fails in the first `checked` cycles behind the reset. Each `cover` can be reached within `depth`."""
    run = Run(system, limit_s, True)
    run.step()
    for _ in range(depth):
        run.step()
    # One after another, and the later ones together.
    one_by_one = min(checked, 12)
    for cycles in [*([t] for t in range(1, one_by_one + 1)), list(range(one_by_one + 1, checked + 1))]:
        answer = run.solver.ask(f"(not {conjunction(map(run.assertions, cycles))})") if cycles else "unsat"
        if answer == "sat":
            t = next(t for t in cycles if not run.solver.value(run.assertions(t)))
            return Outcome("failed", f"fails in cycle {t}", run.example(t))
        if answer != "unsat":
            return Outcome("open", f"no answer for cycle {cycles[0]} in {limit_s} s")
    for name, place in system.checks["cover"].items():
        reached = " ".join(f"|{name}@{t}|" for t in range(1, depth + 1))
        answer = run.solver.ask(f"(or false {reached})")
        if answer != "sat":
            return Outcome("failed", f"vacuous: {answer} in {depth} cycles: {place_of(place)}")
    return Outcome("proven", "")


def induction(system, k, limit_s, separately=False):
    """If the assertions held for k cycles from any state, they hold in the next one. `separately` asks for each."""
    run = Run(system, limit_s, False)
    for _ in range(k):
        run.solver.require(run.assertions(run.step()))
    t = run.step()
    asked = [f"|{name}@{t}|" for name in system.checks["assert"]] if separately else [run.assertions(t)]
    for term in asked:
        answer = run.solver.ask(f"(not {term})")
        if answer == "sat":
            return Outcome("failed", f"no induction over {k} cycles", run.example(t))
        if answer != "unsat":
            name = term[1:-1].split("@")[0]
            where = f": {place_of(system.checks['assert'][name])}" if separately else ""
            return Outcome("open", f"no answer in {limit_s} s{where}")
    return Outcome("proven", "")


def defined(name, width, term):
    return f"(define-fun {name} () {f'(_ BitVec {width})' if width > 1 else 'Bool'} {term})"


def equivalence(system, spec, fixed, clocks, assumption, claim, limit_s, options=()):
    """A pipeline's outputs follow from its inputs as `claim` says, `clocks` cycles later. Inputs of others are free."""
    solver = Solver(limit_s, options)
    nets = {system.net_of_input(name): value for name, value in fixed.items()}
    for t in range(clocks + 1):
        solver.define(system.cycle(t, nets if t == 0 else None))
    names = {name: 0 for name in system.inputs if name != "clk"} | {name: clocks for name in system.outputs}
    for name, cycle in names.items():
        solver.define(defined(name, (system.inputs | system.outputs)[name], system.port(name, cycle)))
    # Registers before and after.
    for name, width in system.registers.items():
        if name.isidentifier():
            solver.define(defined(f"old_{name}", width, system.port(name, 0)))
            solver.define(defined(f"new_{name}", width, system.port(name, clocks)))
    solver.define(spec)
    solver.require(assumption)
    answer = solver.ask(f"(not {claim})")
    if answer == "sat":
        values = [f"{name} = {solver.value(system.port(name, t)):x}" for name, t in names.items() if name not in fixed]
        return Outcome("failed", "differs", "\n" + ", ".join(values))
    if answer != "unsat":
        return Outcome("open", f"no answer in {limit_s} s")
    if solver.ask("true") != "sat":
        return Outcome("failed", "vacuous: the assumption cannot hold")
    return Outcome("proven", "")


def timed(action):
    start = time.monotonic()
    outcome = action()
    return outcome, time.monotonic() - start


@functools.cache
def extracted(script, top, rtl, harness, parameters, file):
    """The transition system of a module. yosys has a process of its own, which it ends if something is wrong."""
    file.parent.mkdir(parents=True, exist_ok=True)
    values = [f"{name}={value}" for name, value in parameters]
    command = [sys.executable, script, "--extract", top, str(rtl), str(harness or ""), str(file), *values]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        said = [line for line in (run.stdout + run.stderr).split("\n") if re.search("error", line, re.I)]
        sys.exit(f"{top}: " + "\n".join(said or [run.stdout[-2000:], run.stderr[-2000:]]))
    return System(file, top)
