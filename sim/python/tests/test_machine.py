"""Machines that are stepped, and checkpoints."""

import random
import shutil
import unittest

import numpy as np
from common import DOUBLE, ENDLESS, FAULT, InFolder, python, wave_sim

import wave_sim as ws

RESTORE = """
import sys, wave_sim
machine = wave_sim.Machine.restore(sys.argv[1], sys.argv[2], "tiny", size="small")
assert machine.now == int(sys.argv[3]), machine
sys.stdout.write(machine.run().document)
"""


class Stepped(unittest.TestCase):
    def test_stops_leave_no_trace(self):
        whole = ws.run("bfs", "tiny", size="small")
        choice = random.Random(1)
        for steps in (lambda: 1, lambda: 997, lambda: choice.randrange(5000)):
            machine = ws.Machine("bfs", "tiny", size="small")
            launches = []
            # The first thousand steps as they come; then the rest, in longer ones.
            for _ in range(1000):
                before = machine.now
                if not machine.step(steps()):
                    break
                self.assertGreaterEqual(machine.now, before)
                launches.append(machine.launch)
            result = machine.run()
            self.assertEqual(launches, sorted(launches))
            self.assertEqual(result.document, whole.document)
            np.testing.assert_array_equal(result.memory, whole.memory)
            self.assertEqual((machine.now, machine.done, machine.launch), (whole.cycles, True, None))

    def test_a_step_is_a_cycle(self):
        machine = ws.Machine("saxpy", "tiny", size="small")
        for cycle in range(1, 50):
            self.assertTrue(machine.step())
            self.assertEqual(machine.now, cycle)
        machine.run_to(1234)
        self.assertEqual(machine.now, 1234)
        # It does not go back.
        machine.run_to(10)
        self.assertEqual(machine.now, 1234)

    def test_counters_grow(self):
        machine = ws.Machine("saxpy", "tiny", size="small")
        whole = ws.run("saxpy", "tiny", size="small").statistics
        seen = [0]
        while machine.step(500):
            seen.append(machine.counters()["core.wave_instructions"])
        self.assertEqual(seen, sorted(seen))
        self.assertLess(0, seen[-1])
        self.assertLessEqual(seen[-1], whole["core.wave_instructions"])
        self.assertEqual(machine.counters(), {})

    def test_memory_can_be_read_on_the_way(self):
        x = np.arange(64, dtype=np.float32)
        kernel = ws.Kernel.from_source(DOUBLE)
        machine = ws.Machine(kernel, "tiny", grid=2, set_reg={0: 0, 1: 4096}, buffers={0: x})
        np.testing.assert_array_equal(machine.read(0, 64, "<f4"), x)
        np.testing.assert_array_equal(machine.read(4096, 64, "<f4"), 0)
        machine.run()
        np.testing.assert_array_equal(machine.read(4096, 64, "<f4"), 2 * x)
        of_suite = ws.Machine("spmv", "tiny", size="small")
        np.testing.assert_array_equal(of_suite.buffer("y"), 0)
        np.testing.assert_array_equal(of_suite.run().buffer("y"), of_suite.buffer("y"))

    def test_faults_and_bounds(self):
        machine = ws.Machine(ws.Kernel.from_source(FAULT, name="wild"), "tiny")
        for _ in range(2):
            with self.assertRaises(ws.Fault) as caught:
                machine.run()
            self.assertEqual(caught.exception.line, 11)
        machine = ws.Machine(ws.Kernel.from_source(ENDLESS), "tiny", max_cycles=300)
        with self.assertRaises(ws.Stopped):
            machine.run()


class Checkpoints(InFolder):
    def setUp(self):
        super().setUp()
        self.whole = ws.run("bfs", "tiny", size="small")
        self.file = self.folder / "bfs.ckpt"

    def test_another_process_goes_on(self):
        machine = ws.Machine("bfs", "tiny", size="small")
        # In the first launch, between, in the last, and at the end.
        for cycle in (1, 777, self.whole.cycles // 2, self.whole.cycles - 3, self.whole.cycles):
            machine.run_to(cycle)
            machine.save(self.file)
            self.assertEqual(python(RESTORE, self.file, "bfs", machine.now), self.whole.document)

    def test_the_program_goes_on(self):
        machine = ws.Machine("bfs", "tiny", size="small")
        machine.run_to(self.whole.cycles // 2)
        machine.save(self.file)
        words = ["bfs", "--config", "tiny", "--size", "small", "--energy", "--format", "json"]
        code, out, err = wave_sim(*words, "--resume", self.file)
        self.assertEqual((code, out), (0, self.whole.document), err)

    def test_a_checkpoint_of_the_program(self):
        every = self.whole.cycles // 3
        words = ["bfs", "--config", "tiny", "--size", "small"]
        code, _, err = wave_sim(*words, "--checkpoint", self.file, "--checkpoint-every", every)
        self.assertEqual(code, 0, err)
        machine = ws.Machine.restore(self.file, "bfs", "tiny", size="small")
        # No checkpoint is written in the cycle after the last one.
        self.assertEqual(machine.now, (self.whole.cycles - 1) // every * every)
        self.assertEqual(machine.run().document, self.whole.document)

    def test_what_is_refused(self):
        machine = ws.Machine("bfs", "tiny", size="small")
        machine.run_to(500)
        machine.save(self.file)
        damaged = self.folder / "damaged.ckpt"
        shutil.copy(self.file, damaged)
        with damaged.open("r+b") as file:
            file.seek(200)
            file.write(b"?!")
        small = dict(size="small")
        for file, kernel, config, options, why in [
            (self.file, "bfs", ws.Config.load("tiny").set(cores=1), small, "is a checkpoint of another machine"),
            (self.file, "saxpy", "tiny", small, "is a checkpoint of another kernel"),
            (self.file, "bfs", "tiny", dict(size="small", seed=5), "is a checkpoint of a run with other input data"),
            (damaged, "bfs", "tiny", small, "is damaged"),
            (self.folder / "none.ckpt", "bfs", "tiny", small, "cannot read"),
        ]:
            with self.subTest(why=why), self.assertRaises(ws.Error) as caught:
                ws.Machine.restore(file, kernel, config, **options)
            self.assertIn(why, caught.exception.message)


if __name__ == "__main__":
    unittest.main()
