"""What the package offers: names, type hints, and the command line in the process of Python."""

import ast
import inspect
import os
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from common import ENDLESS, InFolder, wave_sim

import wave_sim as ws
from wave_sim import _wave_sim

FOLDER = Path(ws.__file__).parent


def public(names):
    """Names that are for others, in order."""
    return sorted(name for name in names if not name.startswith("_") or name in ("__version__", "__new__"))


def parameters(function):
    """Names of the parameters of a function of a stub."""
    return [parameter.arg for parameter in function.args.args if parameter.arg not in ("self", "cls")]


class Stubs(unittest.TestCase):
    def test_the_stub_has_what_the_module_has(self):
        stub = ast.parse((FOLDER / "_wave_sim.pyi").read_text())
        declared = {}
        for item in stub.body:
            if isinstance(item, (ast.ClassDef, ast.FunctionDef)):
                declared[item.name] = item
            elif isinstance(item, ast.AnnAssign):
                declared[item.target.id] = item
        self.assertEqual(public(declared), public(vars(_wave_sim)))
        members = 0
        for name, item in declared.items():
            real = getattr(_wave_sim, name)
            if isinstance(item, ast.FunctionDef):
                self.assertEqual(parameters(item), list(inspect.signature(real).parameters), name)
            if not isinstance(item, ast.ClassDef):
                continue
            functions = {each.name: each for each in item.body}
            self.assertEqual(public(functions), public(vars(real)), name)
            for member, function in functions.items():
                members += 1
                kept = vars(real)[member]
                is_property = any(isinstance(d, ast.Name) and d.id == "property" for d in function.decorator_list)
                self.assertEqual(is_property, inspect.isdatadescriptor(kept), f"{name}.{member}")
                if not is_property and member != "__new__":
                    given = [p for p in inspect.signature(getattr(real, member)).parameters if p != "self"]
                    self.assertEqual(parameters(function), given, f"{name}.{member}")
        self.assertGreater(members, 25)

    def test_every_public_name_has_types_and_a_description(self):
        self.assertEqual(sorted(ws.__all__), public(n for n, v in vars(ws).items() if not inspect.ismodule(v)))
        self.assertTrue((FOLDER / "py.typed").exists())
        checked = 0
        for module, name in [(module, name) for module in (ws, ws.cuda, ws.triton) for name in module.__all__]:
            item = getattr(module, name)
            if not callable(item):
                continue
            self.assertTrue(item.__doc__, name)
            functions = [(name, item)]
            if inspect.isclass(item):
                functions = [
                    (f"{name}.{key}", getattr(value, "__func__", getattr(value, "fget", value)))
                    for key, value in vars(item).items()
                    if not key.startswith("_") and (callable(value) or isinstance(value, (property, classmethod)))
                ]
            for full, function in functions:
                if not inspect.isfunction(function):
                    continue
                checked += 1
                self.assertTrue(function.__doc__, full)
                signature = inspect.signature(function)
                self.assertIsNot(signature.return_annotation, signature.empty, full)
                for parameter in list(signature.parameters.values()):
                    if parameter.name not in ("self", "cls"):
                        self.assertIsNot(parameter.annotation, parameter.empty, f"{full}({parameter.name})")
        self.assertGreater(checked, 40)


class CommandLine(InFolder):
    def run_module(self, *words):
        command = [sys.executable, "-m", "wave_sim", *map(str, words)]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, encoding="utf-8", stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout, done.stderr

    def test_it_is_the_program(self):
        for words in (
            ["--version"],
            ["config", "list"],
            ["config", "show", "t4"],
            ["--size", "small", "--config", "tiny", "saxpy", "--format", "json"],
            ["nothing"],
            [],
        ):
            with self.subTest(words=words):
                code, out, err = self.run_module(*words)
                ours = (code, out, [line for line in err.splitlines() if not line.startswith("host:")])
                code, out, err = wave_sim(*words, cwd=self.folder)
                theirs = (code, out, [line for line in err.splitlines() if not line.startswith("host:")])
                self.assertEqual(ours, theirs)

    def test_a_sweep_starts_its_processes(self):
        words = ["sweep", "--config", "tiny", "--size", "small", "--jobs", "2", "--set", "cores=1,2", "saxpy"]
        code, out, err = self.run_module(*words)
        self.assertEqual(code, 0, err)
        self.assertIn("wrote sweep.csv", out)

    @unittest.skipUnless(os.name == "posix", "signals of Unix")
    def test_a_signal_ends_it(self):
        file = self.write("endless.wave", ENDLESS)
        trace = self.folder / "trace.txt"
        command = [sys.executable, "-m", "wave_sim", file, "--config", "tiny", "--wvfi", trace]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
        # The trace has a temporary name as soon as the kernel runs.
        while process.poll() is None and len(list(self.folder.iterdir())) < 2:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 3, err)
        self.assertIn("was interrupted in cycle", err)


if __name__ == "__main__":
    unittest.main()
