"""Runs suites of public programs on simulated machines with `wave-sim run`, for cuda-suites.py and opencl-suites.py.

A script has a list of programs, a builder that compiles them, and checks of their output. Inputs and checks of Rodinia
are here, because both scripts have them.
"""

import argparse
import collections
import dataclasses
import json
import math
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

VERIFIED, RAN, WRONG, FAILED, TIME, NOT_BUILT = "verified", "ran", "wrong", "failed", "time", "not built"
RESULTS = (VERIFIED, RAN, WRONG, FAILED, TIME, NOT_BUILT)
# The end of the description of a script.
RESULT_TEXT = """
A row has one of these results:

    verified   the program's own check passed, or its output matches a computation on the CPU by this script
    ran        the program ended, but neither the program nor this script checks its output
    wrong      a check failed
    failed     the program, or wave-sim, ended with an error
    time       the time limit ran out
    not built  the executable is missing; the reason is the compiler's, or what the program needs

Exit code: 0 if no row is wrong, failed or time; 1 otherwise; 2 for wrong input.
"""
# Some programs open files such as ../../../data/srad/image.pgm. So each runs this many folders below a folder of its own.
DEPTH = 3


@dataclasses.dataclass
class Program:
    """A program of a suite: how it is compiled, its arguments and input files, and the check of its output."""

    suite: str
    name: str
    folder: str
    sources: list
    flags: list = dataclasses.field(default_factory=list)
    arguments: list = dataclasses.field(default_factory=list)
    inputs: dict = dataclasses.field(default_factory=dict)
    # Patterns that are replaced in copies of sources: pattern of file names, regular expression, replacement.
    edits: list = dataclasses.field(default_factory=list)
    check: object = None
    lacks: str = ""
    # Exit code 1 tells that the program's own check failed.
    is_exit_code_check: bool = False
    # For builders that have several.
    compiler: str = ""


@dataclasses.dataclass
class Output:
    """Output of a program that ended: its standard output, its working folder and the folder of its source, if known."""

    text: str
    folder: pathlib.Path
    source: pathlib.Path

    def file(self, name):
        path = self.folder / name
        if not path.is_file():
            raise Mismatch(f"the program wrote no {name}")
        return path.read_text(errors="replace")


class Mismatch(Exception):
    """The output differs from the expected one; the message says where."""


class Unchecked(Exception):
    """The output cannot be checked; the message says why."""


class CRandom:
    """`srand` and `rand` of the GNU C library, so that the inputs of a program can be computed again."""

    def __init__(self, seed):
        state = [seed]
        for _ in range(30):
            state.append(16807 * state[-1] % 0x7FFFFFFF)
        for _ in range(3):
            state.append(state[len(state) - 31])
        self.state = collections.deque(state[3:], maxlen=31)
        for _ in range(310):
            self.advance()

    def advance(self):
        value = (self.state[0] + self.state[28]) & 0xFFFFFFFF
        self.state.append(value)
        return value

    def __call__(self):
        return self.advance() >> 1


def single(value):
    """The nearest number with 32 bits."""
    return struct.unpack("f", struct.pack("f", value))[0]


def numbers(text):
    try:
        return [float(word) for word in text.split()]
    except ValueError:
        raise Mismatch("the output has words where numbers belong") from None


def compare(name, found, expected, relative=0.0, absolute=0.0):
    """Compares two lists of numbers; NaN is equal to nothing."""
    if len(found) != len(expected):
        raise Mismatch(f"{len(found)} values of {name} instead of {len(expected)}")
    for index, (got, want) in enumerate(zip(found, expected)):
        if not abs(got - want) <= absolute + relative * abs(want):
            raise Mismatch(f"{name}[{index}] is {got:g} instead of {want:g}")


# Checks. Each takes an Output and returns a note, or raises Mismatch or Unchecked.


def own_count(output):
    """PolyBench counts values that differ from those of its own computation on the CPU."""
    count = re.search(r"(?:Error Threshold of .*?|Number of misses): (\d+)", output.text)
    if not count:
        raise Mismatch("the program printed no result of its check")
    if int(count[1]):
        raise Mismatch(f"{count[1]} values differ from those of the program's CPU code")


def own_message(good, bad=None):
    """The program prints a message that matches `good` if its check passed, and one that matches `bad` if it failed."""

    def check(output):
        if bad and (found := re.search(bad, output.text)):
            raise Mismatch(f"the program printed {found[0].strip()!r}")
        if not re.search(good, output.text):
            raise Mismatch("the program did not print that its check passed")

    return check


def own_exit_code(output):
    """The exit code, which is 0 here, tells the result of the program's check."""


def check_hotspot3d(output):
    found = re.search(r"Accuracy: (\S+)", output.text)
    if not found:
        raise Mismatch("the program printed no accuracy")
    if not float(found[1]) < 1e-3:
        raise Mismatch(f"the mean deviation from the program's CPU code is {found[1]}")


def make_graph(nodes, degree):
    choose = random.Random(1)
    edges = [[choose.randrange(nodes) for _ in range(degree)] for _ in range(nodes)]
    lines = [str(nodes)]
    lines += [f"{node * degree} {degree}" for node in range(nodes)]
    lines += ["", "0", "", str(nodes * degree)]
    lines += [f"{target} 1" for targets in edges for target in targets]
    return edges, "\n".join(lines) + "\n"


GRAPH, GRAPH_TEXT = make_graph(2048, 4)


def check_bfs(output):
    cost = {0: 0}
    queue = collections.deque(cost)
    while queue:
        node = queue.popleft()
        for target in GRAPH[node]:
            if target not in cost:
                cost[target] = cost[node] + 1
                queue.append(target)
    found = [int(value) for value in re.findall(r"cost:(-?\d+)", output.file("result.txt"))]
    compare("cost", found, [cost.get(node, -1) for node in range(len(GRAPH))])


def check_btree(keys, queries):
    def check(output):
        draw = CRandom(1)
        expected = [int(single(single(draw() / 2147483648.0) * keys)) for _ in range(queries)]
        found = re.findall(r"^(\d+)    (-?\d+)$", output.file("output.txt"), re.MULTILINE)
        compare("answer", [int(value) for _, value in found], expected)

    return check


def make_field(rows, layers, low, high):
    choose = random.Random(rows + layers)
    return [single(round(choose.uniform(low, high), 4)) for _ in range(rows * rows * layers)]


def field_text(values):
    return "".join(f"{value:.4f}\n" for value in values)


HOTSPOT = {"rows": 64, "steps": 4}
HOTSPOT_HEAT = make_field(HOTSPOT["rows"], 1, 323.0, 341.0)
HOTSPOT_POWER = make_field(HOTSPOT["rows"], 1, 0.0, 0.01)


def hotspot_factors(rows):
    """Conductances along the chip and across it, and the change of temperature by a unit of power in a step."""
    width = 0.016 / rows
    capacity = 0.5 * 1.75e6 * 0.0005 * width * width
    return 2.0 * 100 * 0.0005, 100 * width * width / 0.0005, 0.001 / (3.0e6 / (0.5 * 0.0005 * 1.75e6)) / capacity


def check_hotspot(output):
    rows, heat = HOTSPOT["rows"], HOTSPOT_HEAT
    along, across, step = hotspot_factors(rows)
    for _ in range(HOTSPOT["steps"]):
        new = []
        for y in range(rows):
            for x in range(rows):
                here = heat[y * rows + x]
                vertical = heat[max(y - 1, 0) * rows + x] + heat[min(y + 1, rows - 1) * rows + x] - 2 * here
                horizontal = heat[y * rows + max(x - 1, 0)] + heat[y * rows + min(x + 1, rows - 1)] - 2 * here
                flow = HOTSPOT_POWER[y * rows + x] + (vertical + horizontal) * along + (80.0 - here) * across
                new.append(here + step * flow)
        heat = new
    found = [float(line.split("\t")[1]) for line in output.file("output.out").splitlines()]
    compare("temperature", found, heat, relative=2e-5)


def make_system(size):
    choose = random.Random(size)
    matrix = [[round(choose.uniform(-1, 1), 3) + (size if row == column else 0) for column in range(size)]
              for row in range(size)]
    solution = [round(choose.uniform(-9, 9), 2) for _ in range(size)]
    right = [sum(a * x for a, x in zip(row, solution)) for row in matrix]
    text = "\n".join([str(size), "", *("\t".join(f"{a:.3f}" for a in row) for row in matrix), "",
                      "\t".join(f"{b:.6f}" for b in right)]) + "\n"
    return solution, text


SOLUTION, SYSTEM_TEXT = make_system(48)


def check_gaussian(output):
    found = re.search(r"The final solution is: \n(.*)", output.text)
    if not found:
        raise Mismatch("the program printed no solution")
    compare("solution", numbers(found[1]), SOLUTION, absolute=0.02)


def check_lavamd(output):
    draw = CRandom(7)
    particles = [[(draw() % 10 + 1) / 10.0 for _ in range(4)] for _ in range(100)]
    charges = [(draw() % 10 + 1) / 10.0 for _ in range(100)]
    expected = []
    for v, x, y, z in particles:
        force = [0.0] * 4
        for (w, a, b, c), charge in zip(particles, charges):
            potential = math.exp(-0.5 * (v + w - (x * a + y * b + z * c)))
            force[0] += charge * potential
            for axis, distance in enumerate((x - a, y - b, z - c)):
                force[axis + 1] += charge * 2 * potential * distance
        expected += force
    compare("force", numbers(output.file("result.txt").replace(",", " ")), expected, relative=1e-5, absolute=2e-6)


def make_records(count):
    choose = random.Random(count)
    return [f"{1950 + number % 55:4d} {1 + number % 12:2d} {1 + number % 28:2d} {6 * (number % 4):2d} {number % 29:2d} "
            f"{'BERYL':9s} {choose.uniform(7, 69):5.1f} {choose.uniform(0, 357):5.1f} {choose.randrange(10, 165):4d} "
            f"{choose.randrange(900):4d}" for number in range(count)]


RECORDS = make_records(2048)


def check_nn(output):
    # The program reads the latitude one column late; so does this.
    places = [(float(record[28:33].split()[0]), float(record[33:38])) for record in RECORDS]
    nearest = sorted(math.hypot(30 - latitude, 90 - longitude) for latitude, longitude in places)[:5]
    found = [float(value) for value in re.findall(r"--> Distance=(\S+)", output.text)]
    compare("distance", found, nearest, absolute=1e-3)


def check_nw(size, penalty, file):
    def check(output):
        source = output.source and output.source / file
        if not source or not source.is_file():
            raise Unchecked("the table of scores is in the source: --rodinia")
        table = re.search(r"blosum62\[24\]\[24\] = \{(.*?)\};", source.read_text(errors="replace"), re.DOTALL)
        scores = [[int(word) for word in re.findall(r"-?\d+", row)] for row in re.findall(r"\{(.*?)\}", table[1])]
        draw = CRandom(7)
        down = [0] + [draw() % 10 + 1 for _ in range(size)]
        right = [0] + [draw() % 10 + 1 for _ in range(size)]
        best = [[0] * (size + 1) for _ in range(size + 1)]
        for i in range(1, size + 1):
            best[i][0] = best[0][i] = -i * penalty
        for i in range(1, size + 1):
            for j in range(1, size + 1):
                best[i][j] = max(best[i - 1][j - 1] + scores[down[i]][right[j]],
                                 best[i][j - 1] - penalty, best[i - 1][j] - penalty)
        # The walk of the program: the values on the way from the last field but one back to the first.
        i = j = size - 1
        way = [best[i][j]]
        while (i, j) != (0, 0):
            corner, left, above = -999, -999, -999
            if i > 0 and j > 0:
                corner = best[i - 1][j - 1]
            if j > 0:
                left = best[i][j - 1]
            if i > 0:
                above = best[i - 1][j]
            score = scores[down[i]][right[j]] if i > 0 and j > 0 else 0
            steps = (corner + score, left - penalty, above - penalty)
            value = max(steps)
            for step, origin in zip(steps, (corner, left, above)):
                if value == step:
                    value = origin
            way.append(value)
            if value == corner:
                i, j = i - 1, j - 1
            elif value == left:
                j -= 1
            else:
                i -= 1
            if i < 0 or j < 0:
                break
        compare("alignment", numbers(output.file("result.txt").split(":", 1)[-1]), way)

    return check


def check_pathfinder(columns, rows):
    def check(output):
        lines = [line for line in output.text.splitlines() if re.fullmatch(r"(\d+ )+", line)]
        if len(lines) != rows + 2:
            raise Mismatch("the program printed no result")
        wall = [[int(word) for word in line.split()] for line in lines[:rows]]
        best = wall[0]
        for row in wall[1:]:
            best = [cost + min(best[max(x - 1, 0):x + 2]) for x, cost in enumerate(row)]
        compare("cost", [int(word) for word in lines[-1].split()], best)

    return check


def check_srad(rows, region, rate):
    def check(output):
        draw = CRandom(7)
        image = [math.exp(draw() / 2147483647.0) for _ in range(rows * rows)]
        part = [image[y * rows + x] for y in range(region) for x in range(region)]
        mean = sum(part) / len(part)
        noise = (sum(value * value for value in part) / len(part) - mean * mean) / (mean * mean)
        steps, weight = [], []
        for y in range(rows):
            for x in range(rows):
                here = image[y * rows + x]
                near = [image[max(y - 1, 0) * rows + x], image[min(y + 1, rows - 1) * rows + x],
                        image[y * rows + max(x - 1, 0)], image[y * rows + min(x + 1, rows - 1)]]
                step = [value - here for value in near]
                change = sum(step) / here
                square = 0.5 * sum(value * value for value in step) / (here * here) - change * change / 16
                quotient = square / (1 + 0.25 * change) ** 2
                steps.append(step)
                weight.append(min(max(1 / (1 + (quotient - noise) / (noise * (1 + noise))), 0), 1))
        expected = []
        for y in range(rows):
            for x in range(rows):
                here = y * rows + x
                up, down, left, right = steps[here]
                flow = (weight[here] * (up + left) + weight[min(y + 1, rows - 1) * rows + x] * down
                        + weight[y * rows + min(x + 1, rows - 1)] * right)
                expected.append(image[here] + 0.25 * rate * flow)
        found = re.search(r"Printing Output:(.*?)Computation Done", output.text, re.DOTALL)
        if not found:
            raise Mismatch("the program printed no image")
        compare("pixel", numbers(found[1]), expected, relative=1e-4)

    return check


def make_domain(elements):
    """A ring of cells in the format of CFD: area, then four neighbours with their normals; -1 is the far field."""
    lines = [str(elements)]
    for cell in range(elements):
        neighbours = [(cell - 1) % elements + 1, (cell + 1) % elements + 1, -1, -1]
        normals = [(-1, 0, 0), (1, 0, 0), (0, -1, 0), (0, 1, 0)]
        words = [f"{1.0 + cell % 7 * 0.1:.3f}"]
        for neighbour, normal in zip(neighbours, normals):
            words += [str(neighbour), *(f"{part:.3f}" for part in normal)]
        lines.append(" ".join(words))
    return "\n".join(lines) + "\n"


def make_picture(rows, columns):
    choose = random.Random(rows)
    return f"P2\n{columns} {rows}\n255\n" + "\n".join(
        " ".join(str(choose.randrange(1, 255)) for _ in range(columns)) for _ in range(rows)) + "\n"


def edit(path, old, new):
    """Replaces a pattern in a file: how often."""
    text, count = re.subn(old, new, path.read_text(errors="surrogateescape"))
    path.write_text(text, errors="surrogateescape")
    return count


@dataclasses.dataclass
class Script:
    """A script: its file and description, its suites with the folders that a checkout must have, programs and builder."""

    file: str
    description: str
    suites: dict
    folders: dict
    programs: list
    builder: type

    def stop(self, message):
        stop(f"{self.file}: {message}")


class Builder:
    """Compiles the programs that are missing, from a copy of their folder where constants are edited."""

    # Programs also need this folder beside their own.
    beside = ""

    def __init__(self, script, options, checkouts):
        self.script, self.options, self.checkouts, self.built = script, options, checkouts, options.built

    @staticmethod
    def add_arguments(parser):
        """Adds arguments of the compiler."""

    @staticmethod
    def resolve(script, options):
        """Finds the compiler; stops if it is not there."""

    def unable(self):
        """The reason why nothing can be compiled; empty if something can be."""
        return ""

    def compile(self, program, folder, target):
        """Compiles a program in its folder, or in a copy of that: exit code and messages."""
        raise NotImplementedError

    def prepare(self, program, executable, folder):
        """Puts files of the program into its working folder: the executable to run."""
        return executable

    def source(self, program):
        checkout = self.checkouts.get(program.suite)
        return checkout / program.folder if checkout else None

    def executable(self, program):
        return self.built / program.suite / program.name

    def build(self, program):
        """The executable, or None and the reason."""
        target, folder = self.executable(program), self.source(program)
        if target.is_file():
            return target, ""
        if program.lacks:
            return None, program.lacks
        if reason := self.unable():
            return None, reason
        if not folder:
            return None, f"not in --built, and no --{program.suite}"
        if not folder.is_dir():
            return None, f"the checkout has no {program.folder}"
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="suites-") as copies:
            if program.edits:
                copy = pathlib.Path(copies) / program.name
                shutil.copytree(folder, copy)
                if self.beside and (folder.parent / self.beside).is_dir():
                    shutil.copytree(folder.parent / self.beside, copy.parent / self.beside)
                for name, old, new in program.edits:
                    if not sum(edit(path, old, new) for path in copy.glob(name)):
                        return None, f"{name} has no {old!r} to edit"
                folder = copy
            code, messages = self.compile(program, folder, target.resolve())
        if code == 0 and target.is_file():
            return target, ""
        errors = [line for line in messages.splitlines() if re.search(r"error|undefined|cannot|No such", line)]
        return None, (errors or messages.splitlines() or [f"the compiler ended with exit code {code}"])[0].strip()

    def call(self, command, folder):
        """Runs a compiler: exit code and messages."""
        try:
            run = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace")
        except OSError as error:
            self.script.stop(f"{command[0]} cannot be started: {error.strerror}")
        return run.returncode, run.stdout + run.stderr


def run(program, executable, builder, options, work):
    """Runs a program once: result, reason, cycles and launches (None where unknown) and host seconds."""
    top = work / program.suite / program.name
    folder = top.joinpath(*"123"[:DEPTH])
    folder.mkdir(parents=True)
    for name, content in program.inputs.items():
        path = pathlib.Path(os.path.normpath(folder / name))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    executable = builder.prepare(program, executable, folder)
    report = top / "report.json"
    command = [options.program, "run"]
    if options.config:
        command += ["--config", options.config]
    command += ["--output", report, "--format", "json", "--", executable, *program.arguments]
    start = time.monotonic()
    with open(top / "stdout", "wb") as out, open(top / "stderr", "wb") as err:
        try:
            process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                       start_new_session=True)
        except OSError as error:
            builder.script.stop(f"{options.program} cannot be started: {error.strerror}")
        try:
            code = process.wait(options.time)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            # The program is a child of wave-sim, so the whole session is killed.
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    seconds = time.monotonic() - start
    text, errors = ((top / name).read_text(errors="replace") for name in ("stdout", "stderr"))
    cycles, launches, broken = read_report(report)

    def result(verdict, reason=""):
        return {"result": verdict, "reason": reason, "cycles": cycles, "launches": launches, "seconds": round(seconds, 2)}

    message = first_error(errors)
    if code is None:
        return result(TIME, f"no end after {options.time:g} s")
    if code == 1 and program.is_exit_code_check and program.check and launches and not message:
        return result(WRONG, f"the program ended with exit code 1: {last_line(text) or last_line(errors)}")
    if code:
        name = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        return result(FAILED, message or last_line(errors) or last_line(text) or name)
    if broken:
        return result(FAILED, message or broken)
    if not launches:
        return result(FAILED, message or "no kernel was launched")
    try:
        if program.check is None:
            raise Unchecked("no check of the output")
        note = program.check(Output(text, folder, builder.source(program)))
    except Unchecked as why:
        return result(RAN, str(why))
    except Mismatch as difference:
        return result(WRONG, message or str(difference))
    except (ArithmeticError, LookupError, ValueError, TypeError, OSError) as error:
        return result(WRONG, message or f"the output cannot be read: {error!r}")
    return result(VERIFIED, note or "")


def read_report(path):
    """Cycles, number of launches, and what is wrong with the report of wave-sim."""
    try:
        runs = json.loads(path.read_text())["runs"]
        launches = [launch for run in runs for launch in run["launches"]]
        return sum(launch["statistics"]["kernel.cycles"] for launch in launches), len(launches), ""
    except FileNotFoundError:
        return None, None, "wave-sim wrote no report"
    except (OSError, ValueError, KeyError, TypeError) as error:
        return None, None, f"the report of wave-sim cannot be read: {error!r}"


def first_error(text):
    found = re.search(r"^(?:wave-sim: )?error:? .*|^wave-sim: .*(?:not supported|refused|missing).*", text, re.MULTILINE)
    return found[0].strip() if found else ""


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def totals(rows):
    count = collections.Counter(row["result"] for row in rows)
    return {"programs": len(rows), **{result: count[result] for result in RESULTS},
            "cycles": sum(row["cycles"] or 0 for row in rows),
            "seconds": round(sum(row["seconds"] or 0 for row in rows), 2)}


def print_row(row):
    cycles = f"{row['cycles']:,}" if row["cycles"] is not None else ""
    launches = row["launches"] if row["launches"] is not None else ""
    seconds = f"{row['seconds']:.1f}" if row["seconds"] is not None else ""
    print(f"{row['suite']:9}  {row['program']:24}  {row['result']:9}  {launches!s:>8}  {cycles:>13}  {seconds:>7}  "
          f"{row['reason']}".rstrip(), flush=True)


def print_totals(rows, suites):
    for suite in [*suites, None]:
        part = [row for row in rows if suite in (None, row["suite"])]
        if part:
            total = totals(part)
            words = ", ".join(f"{total[result]} {result}" for result in RESULTS if total[result])
            print(f"{suites.get(suite, 'All')}: {len(part)} program{'s' * (len(part) > 1)}: {words}; "
                  f"{total['cycles']:,} cycles in {total['seconds']:.1f} s")


def stop(message):
    print(message, file=sys.stderr)
    sys.exit(2)


def arguments(script):
    parser = argparse.ArgumentParser(description=script.description + RESULT_TEXT,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/release/wave-sim", help="the wave-sim to run [%(default)s]")
    parser.add_argument("--config", help="the machine, as for wave-sim run")
    script.builder.add_arguments(parser)
    folder = pathlib.Path("target", pathlib.Path(script.file).stem)
    parser.add_argument("--built", metavar="DIR", type=pathlib.Path, default=folder,
                        help="folder of executables, SUITE/NAME each [%(default)s]")
    for suite, title in script.suites.items():
        parser.add_argument(f"--{suite}", metavar="DIR", type=pathlib.Path, help=f"checkout of {title}")
    parser.add_argument("--only", metavar="NAME", action="append", default=[],
                        help="runs this program or suite only; may be repeated")
    parser.add_argument("--time", metavar="SECONDS", type=float, default=300, help="limit for each program [%(default)s]")
    parser.add_argument("--keep", metavar="DIR", type=pathlib.Path, help="keeps inputs, outputs and reports in DIR")
    parser.add_argument("--format", choices=["text", "json"], default="text")
    parser.add_argument("--build-only", action="store_true", help="compiles and runs nothing")
    parser.add_argument("--list", action="store_true", help="prints the programs with their arguments and edits")
    return parser.parse_args()


def resolve(script, options):
    """The checkouts by suite; stops if a path is wrong."""
    checkouts = {}
    for suite, title in script.suites.items():
        path = getattr(options, suite)
        if path is None:
            continue
        if not (path / script.folders[suite]).is_dir():
            script.stop(f"--{suite} {path}: no checkout of {title}")
        checkouts[suite] = path.resolve()
    script.builder.resolve(script, options)
    if not options.build_only:
        found = shutil.which(options.program)
        if not found:
            script.stop(f"--program {options.program}: no program; cargo build --release makes it")
        options.program = os.path.abspath(found)
    if options.config and os.path.exists(options.config):
        options.config = os.path.abspath(options.config)
    if not options.time > 0:
        script.stop("--time: the limit must be above 0")
    if options.keep and options.keep.exists() and (not options.keep.is_dir() or any(options.keep.iterdir())):
        script.stop(f"--keep {options.keep}: not an empty folder")
    options.built = options.built.resolve()
    return checkouts


def main(script):
    """Runs a script: the exit code."""
    options = arguments(script)
    programs = script.programs
    known = {program.name for program in programs} | set(script.suites)
    for name in options.only:
        if name not in known:
            script.stop(f"--only {name}: no such program or suite; --list shows them")
    if options.only:
        programs = [program for program in programs if {program.name, program.suite} & set(options.only)]
    if options.list:
        for program in programs:
            line = [f"{program.suite}/{program.name}", *program.arguments]
            line += [flag for flag in program.flags if flag.startswith("-D")]
            line += [f"[{name}: s/{old}/{new}/]" for name, old, new in program.edits]
            print(" ".join(line + [f"({program.lacks})"] * bool(program.lacks)))
        return 0
    checkouts = resolve(script, options)
    if not options.only:
        # A suite takes part if it has a checkout or executables.
        programs = [program for program in programs
                    if program.suite in checkouts or (options.built / program.suite).is_dir()]
    if not programs:
        script.stop(f"no suite: {', '.join(f'--{suite}' for suite in script.suites)}, or executables in --built")
    builder = script.builder(script, options, checkouts)
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    rows = []
    if options.format == "text":
        print(f"{'suite':9}  {'program':24}  {'result':9}  {'launches':>8}  {'cycles':>13}  {'seconds':>7}  reason")
    with tempfile.TemporaryDirectory(prefix="suites-") as scratch:
        work = options.keep.resolve() if options.keep else pathlib.Path(scratch)
        for program in programs:
            row = {"suite": program.suite, "program": program.name, "result": NOT_BUILT, "reason": "", "cycles": None,
                   "launches": None, "seconds": None, "edited": bool(program.edits)}
            executable, row["reason"] = builder.build(program)
            if executable and options.build_only:
                row.update(result="built")
            elif executable:
                row.update(run(program, executable, builder, options, work))
            rows.append(row)
            if options.format == "text":
                print_row(row)
    if options.format == "json":
        print(json.dumps({"programs": rows, "totals": totals(rows)}, indent=2))
    elif not options.build_only:
        print_totals(rows, script.suites)
    return int(any(row["result"] in (WRONG, FAILED, TIME) for row in rows))


def start(script):
    """Runs a script as a process."""
    try:
        sys.exit(main(script))
    except KeyboardInterrupt:
        sys.exit(130)
