"""The notebooks: run, they print what is in them. UPDATE=1 writes what they print."""

import importlib.metadata
import importlib.util
import os
import shutil
import unittest

import nbformat
from common import ROOT, InFolder
from nbclient import NotebookClient

FOLDER = ROOT / "sim/python/notebooks"
#: The version of Triton that is installed, without its last number.
TRITON = importlib.util.find_spec("triton") and importlib.metadata.version("triton").rpartition(".")[0]


def printed(notebook):
    """What each cell of code prints, and the types of its pictures. Numbers of blanks do not count: they depend on
    pandas. Where one output ends and the next begins does not either: it depends on time."""
    told = []
    for cell in notebook.cells:
        outputs = cell.get("outputs", [])
        text = " ".join(output.get("text", "") for output in outputs)
        kinds = [sorted(set(output["data"]) - {"text/plain"}) for output in outputs if "data" in output]
        told.append((cell["id"], " ".join(text.split()), kinds))
    return told


class Notebooks(InFolder):
    maxDiff = None

    def check(self, name, pictures):
        """Runs a notebook, and compares what it prints with what is in it. The answer at its top is what its last cell of
        code prints."""
        file = FOLDER / name
        kept = nbformat.read(file, as_version=4)
        # In a folder of its own, it has no results of another run.
        shutil.copy(file, self.folder)
        run = nbformat.read(self.folder / file.name, as_version=4)
        for cell in run.cells:
            if cell.cell_type == "code":
                cell.outputs = []
        resources = {"metadata": {"path": str(self.folder)}}
        NotebookClient(run, timeout=600, resources=resources, record_timing=False).execute()
        if "UPDATE" in os.environ:
            head, mark, rest = run.cells[0].source.partition("**Answer.** ")
            answer = [cell for cell in run.cells if cell.cell_type == "code"][-1].outputs[0]["text"].strip()
            run.cells[0].source = head + mark + answer + rest[rest.index("\n") :]
            nbformat.write(run, file)
            kept = run
        self.assertEqual(printed(run), printed(kept))
        self.assertEqual(sum(kinds == [["image/png"]] for *_, kinds in printed(run)), pictures)
        last = [cell for cell in run.cells if cell.cell_type == "code"][-1]
        answer = last.outputs[0]["text"].split()
        top = kept.cells[0]["source"].split()
        start = top.index("**Answer.**") + 1
        self.assertEqual(top[start : start + len(answer)], answer)
        self.assertGreater(len(answer), 30)

    def test_the_study_of_the_l1(self):
        self.check("l1-for-spmv.ipynb", pictures=3)

    @unittest.skipUnless(TRITON == "3.9", "its cycles are those of Triton 3.9: pip install triton==3.9.*")
    def test_kernels_of_triton(self):
        self.check("triton.ipynb", pictures=1)


if __name__ == "__main__":
    unittest.main()
