"""Sweeps: the frame is the table of the program."""

import unittest

import pandas
from common import DOUBLE, ENDLESS, InFolder, wave_sim

import wave_sim as ws

AXES = {"core.l1.bytes": ["4KiB", "6KiB", "8KiB"], "cores": "1..2"}


class Sweeps(InFolder):
    def sweep(self, *arguments, **options):
        return ws.sweep(*arguments, size="small", jobs=1, store=self.folder / "store", **options)

    def test_the_table_of_the_program(self):
        frame = self.sweep(["saxpy", "spmv"], "tiny", AXES, out=self.folder / "ours")
        words = ["--config", "tiny", "--size", "small", "--jobs", "1", "--store", self.folder / "other"]
        words += ["--set", "core.l1.bytes=4KiB,6KiB,8KiB", "--set", "cores=1..2", "--out", self.folder / "theirs"]
        code, _, err = wave_sim("sweep", *words, "saxpy", "spmv")
        self.assertEqual(code, 0, err)
        for table in ("csv", "parquet"):
            ours, theirs = (self.folder / f"{name}.{table}" for name in ("ours", "theirs"))
            self.assertEqual(ours.read_bytes(), theirs.read_bytes())
        text = {name: str for name in ("config", "result", "message")}
        pandas.testing.assert_frame_equal(frame, pandas.read_csv(self.folder / "theirs.csv", dtype=text))
        self.assertEqual(len(frame), 12)
        self.assertEqual(sorted(frame["outcome"].unique()), ["invalid", "verified"])
        # And each row is the run.
        row = frame[(frame["kernel"] == "spmv") & (frame["core.l1.bytes"] == 8192) & (frame["cores"] == 2)].iloc[0]
        config = ws.Config.load("tiny").set({"core.l1.bytes": 8192, "cores": 2})
        result = ws.run("spmv", config, size="small")
        self.assertEqual((row["cycles"], row["config"]), (result.cycles, config.hash))
        # The table has energies in twelve digits.
        self.assertAlmostEqual(row["energy_joules"] / result.energy["joules"], 1, places=10)

    def test_kernels_from_strings_on_machines_from_strings(self):
        kernel = ws.Kernel.from_source(DOUBLE, name="double")
        config = ws.Config.from_text('(base: "tiny", name: "mine")')
        options = dict(jobs=1, store=self.folder / "store", grid=2, set_reg={0: 0, 1: 4096})
        frame = ws.sweep(kernel, config, {"cores": [1, 2]}, **options)
        self.assertEqual(list(frame["kernel"]), ["double", "double"])
        cycles = [
            ws.run(kernel, config.set(cores=cores), grid=2, set_reg={0: 0, 1: 4096}).cycles for cores in (1, 2)
        ]
        self.assertEqual(list(frame["cycles"]), cycles)

    def test_settings_and_constraints(self):
        config = ws.Config.load("tiny").set(cores=1)
        axes = {"core.l1.bytes": "4096..16384*2"}
        frame = self.sweep("saxpy", config, axes, where="core.l1.bytes > 4096")
        self.assertEqual(list(frame["core.l1.bytes"]), [8192, 16384])
        self.assertEqual(frame["config"][0], config.set({"core.l1.bytes": 8192}).hash)

    def test_wrong_input(self):
        with self.assertRaises(ws.Error) as caught:
            self.sweep("spmw", "tiny", AXES)
        self.assertIn("`spmw` is no file, no kernel of the suite and no command", str(caught.exception))
        with self.assertRaises(ws.Error) as caught:
            self.sweep("spmv", "tiny", {"core.l1.bites": [1]})
        self.assertIn("there is no parameter `core.l1.bites`", str(caught.exception))


class Commands(InFolder):
    def test_other_commands(self):
        words = ["compare", "spmv", "--config", "tiny", "--size", "small", "--with", "cores=1", "--format", "json"]
        self.assertEqual(ws.command(*words), wave_sim(*words)[1])
        with self.assertRaises(ws.Error) as caught:
            ws.command("compare", "spmw")
        self.assertIn("`spmw` is no file", str(caught.exception))
        with self.assertRaises(ws.Stopped) as caught:
            ws.command(self.write("endless.wave", ENDLESS), "--config", "tiny", "--max-cycles", "100")
        self.assertIn("has not ended after 100 cycles", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
