"""The examples of docs/python.md and of the package print what they say. UPDATE=1 writes what they print."""

import doctest
import os
import re
import unittest
import warnings

from common import ROOT, InFolder

PAGE = ROOT / "docs/python.md"


class Runner(doctest.DocTestRunner):
    """Runs examples, and keeps those that print something else: their first line in the page, how many lines they
    should print, and what they print."""

    def __init__(self):
        super().__init__()
        self.others = []

    def report_failure(self, out, test, example, got):
        super().report_failure(out, test, example, got)
        first = test.lineno + example.lineno + example.source.count("\n")
        self.others.append((first, example.want.count("\n"), got.splitlines(keepends=True)))


class Documented(InFolder):
    maxDiff = None

    def test_the_page(self):
        here = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, here)
        blocks = list(re.finditer(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL))
        self.assertGreaterEqual(len(blocks), 8)
        names = {}
        told, others = [], []
        for block in blocks:
            line = PAGE.read_text()[: block.start(1)].count("\n")
            test = doctest.DocTestParser().get_doctest(block[1], names, "python.md", str(PAGE), line)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                runner = Runner()
                runner.run(test, out=told.append, clear_globs=False)
            names = test.globs
            others += runner.others
        if "UPDATE" in os.environ:
            lines = PAGE.read_text().splitlines(keepends=True)
            for first, count, got in reversed(others):
                lines[first : first + count] = got
            PAGE.write_text("".join(lines))
            return
        self.assertEqual("".join(told), "")


if __name__ == "__main__":
    unittest.main()
