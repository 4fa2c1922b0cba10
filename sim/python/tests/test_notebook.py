"""The notebooks: run, they print what is in them. UPDATE=1 writes what they print."""

import os
import shutil
import unittest

import nbformat
from common import ROOT, InFolder
from nbclient import NotebookClient

NOTEBOOK = ROOT / "sim/python/notebooks/l1-for-spmv.ipynb"


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

    def test_the_study_of_the_l1(self):
        kept = nbformat.read(NOTEBOOK, as_version=4)
        # In a folder of its own, it has no results of another run.
        shutil.copy(NOTEBOOK, self.folder)
        run = nbformat.read(self.folder / NOTEBOOK.name, as_version=4)
        for cell in run.cells:
            if cell.cell_type == "code":
                cell.outputs = []
        resources = {"metadata": {"path": str(self.folder)}}
        NotebookClient(run, timeout=600, resources=resources, record_timing=False).execute()
        if "UPDATE" in os.environ:
            head, mark, rest = run.cells[0].source.partition("**Answer.** ")
            answer = [cell for cell in run.cells if cell.cell_type == "code"][-1].outputs[0]["text"].strip()
            run.cells[0].source = head + mark + answer + rest[rest.index("\n") :]
            nbformat.write(run, NOTEBOOK)
            kept = run
        self.assertEqual(printed(run), printed(kept))
        self.assertEqual(sum(kinds == [["image/png"]] for *_, kinds in printed(run)), 3)
        # The answer at the top is what the last cell of code works out.
        last = [cell for cell in run.cells if cell.cell_type == "code"][-1]
        answer = last.outputs[0]["text"].split()
        top = kept.cells[0]["source"].split()
        start = top.index("**Answer.**") + 1
        self.assertEqual(top[start : start + len(answer)], answer)
        self.assertGreater(len(answer), 30)


if __name__ == "__main__":
    unittest.main()
