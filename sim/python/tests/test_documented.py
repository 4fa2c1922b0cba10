"""The examples of docs/python.md and of the package print what they say."""

import doctest
import os
import re
import unittest
import warnings

from common import ROOT, InFolder

PAGE = ROOT / "docs/python.md"


class Documented(InFolder):
    maxDiff = None

    def test_the_page(self):
        here = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, here)
        blocks = list(re.finditer(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL))
        self.assertGreaterEqual(len(blocks), 8)
        names = {}
        told = []
        for block in blocks:
            line = PAGE.read_text()[: block.start(1)].count("\n")
            test = doctest.DocTestParser().get_doctest(block[1], names, "python.md", str(PAGE), line)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                doctest.DocTestRunner().run(test, out=told.append, clear_globs=False)
            names = test.globs
        self.assertEqual("".join(told), "")


if __name__ == "__main__":
    unittest.main()
