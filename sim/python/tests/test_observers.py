"""Observers: the events of runs as arrays."""

import threading
import traceback
import unittest

import numpy as np
from common import DOUBLE, ENDLESS, FAULT, InFolder

import wave_sim as ws


class Everything(ws.Observer):
    """Keeps all batches."""

    def __init__(self, rows=16_384):
        self.batch_rows = rows
        self.launches = []
        self.batches = []

    def on_launch(self, launch):
        self.launches.append(launch)

    def keep(self, batch):
        self.batches.append(batch)

    on_issue = on_retire = on_memory = on_line = on_l2 = keep

    def rows(self, kind):
        """All rows of a kind: arrays by name."""
        of_kind = [batch.columns() for batch in self.batches if type(batch) is kind]
        return {name: np.concatenate([columns[name] for columns in of_kind]) for name in of_kind[0]}


KINDS = (ws.Issues, ws.Retirements, ws.MemoryAccesses, ws.LineAccesses, ws.L2Accesses)


def observed(kernel, config="tiny", rows=16_384, **options):
    observer = Everything(rows)
    return ws.run(kernel, config, observers=[observer], **options), observer


class Events(unittest.TestCase):
    def same(self, one, other, why):
        self.assertEqual(len(one.batches), len(other.batches), why)
        for a, b in zip(one.batches, other.batches):
            self.assertEqual((type(a), a.launch), (type(b), b.launch), why)
            for name, values in a.columns().items():
                np.testing.assert_array_equal(values, b.columns()[name], f"{why}: {name}")

    def test_events_add_up_to_the_statistics(self):
        for name in ("saxpy", "bfs", "histogram", "spmv", "reduction"):
            with self.subTest(kernel=name):
                result, observer = observed(name, size="small")
                statistics = result.statistics
                issues, retired = observer.rows(ws.Issues), observer.rows(ws.Retirements)
                memory, lines = observer.rows(ws.MemoryAccesses), observer.rows(ws.LineAccesses)
                counted = self.counted(issues, memory, lines, observer.rows(ws.L2Accesses))
                count = {key: int(value.sum()) for key, value in counted.items()}
                self.assertEqual(count, {key: statistics[key] for key in count})
                self.assertTrue((issues["cycle"] < result.cycles).all())
                self.assertEqual(len(retired["cycle"]), len(issues["cycle"]))

    def counted(self, issues, memory, lines, l2):
        """Rows that statistics count, by their names."""
        _, first = np.unique(memory["instruction"], return_index=True)
        local, writes, atomic = (memory[name][first] for name in ("local", "writes", "atomic"))
        return {
            "issue.issued": ~issues["squashed"],
            "issue.squashed": issues["squashed"],
            "core.device_loads": ~local & ~writes,
            "core.device_stores": ~local & writes & ~atomic,
            "core.device_atomics": ~local & atomic,
            "core.local_accesses": local,
            "core.line_accesses": lines["line"] >= 0,
            "l1.hits": lines["outcome"] == ws.CacheOutcome.HIT,
            "l1.mshr_hits": lines["outcome"] == ws.CacheOutcome.MSHR_HIT,
            "l1.sector_misses": lines["outcome"] == ws.CacheOutcome.SECTOR_MISS,
            "l1.misses": lines["outcome"] == ws.CacheOutcome.MISS,
            "l1.stores": lines["writes"] & ~lines["atomic"],
            "l2.hits": l2["outcome"] == ws.CacheOutcome.HIT,
            "l2.mshr_hits": l2["outcome"] == ws.CacheOutcome.MSHR_HIT,
            "l2.sector_misses": l2["outcome"] == ws.CacheOutcome.SECTOR_MISS,
            "l2.misses": l2["outcome"] == ws.CacheOutcome.MISS,
        }

    def test_addresses_are_those_that_the_kernel_must_access(self):
        x = np.arange(256, dtype=np.float32)
        observer = Everything()
        kernel = ws.Kernel.from_source(DOUBLE)
        ws.run(kernel, "tiny", grid=8, set_reg={0: 0, 1: 4096}, buffers={0: x}, observers=[observer])
        memory = observer.rows(ws.MemoryAccesses)
        width = ws.Config.load("tiny").get("core.wave_width")
        thread = memory["workgroup"].astype(int) * 32 + memory["wave"].astype(int) * width + memory["lane"]
        np.testing.assert_array_equal(memory["address"], 4 * thread + np.where(memory["writes"], 4096, 0))
        for writes in (False, True):
            of_kind = memory["writes"] == writes
            self.assertEqual(sorted(thread[of_kind]), list(range(256)))
        self.assertTrue((memory["bytes"] == 4).all())
        self.assertFalse(memory["local"].any() or memory["atomic"].any())
        (launch,) = observer.launches
        self.assertEqual((launch.kernel, launch.grid, launch.workgroup), ("double", (8, 1, 1), (32, 1, 1)))
        texts = {launch.instructions[pc].split()[0] for pc in np.unique(memory["pc"])}
        self.assertEqual(texts, {"device_load_u32", "device_store_u32"})
        lines = {DOUBLE.splitlines()[launch.lines[pc] - 1].split()[0] for pc in np.unique(memory["pc"])}
        self.assertEqual(lines, texts)

    def test_instructions_of_a_wave_issue_and_retire_in_their_cycles(self):
        _, observer = observed("saxpy", size="small")
        key = ("core", "slot", "workgroup", "wave", "sequence")
        issues, retired = observer.rows(ws.Issues), observer.rows(ws.Retirements)
        issued = {row[:-1]: row[-1] for row in zip(*(issues[name].tolist() for name in (*key, "cycle")))}
        seen = 0
        for *row, cycle in zip(*(retired[name].tolist() for name in (*key, "cycle"))):
            self.assertLessEqual(issued[tuple(row)], cycle)
            seen += 1
        self.assertEqual(seen, len(issued))

    def test_order_and_batches_are_those_of_one_thread(self):
        config = ws.Config.load("gpu").set(cores=4, device_memory_bytes=1 << 24)
        for name in ("bfs", "transpose_naive"):
            result, one = observed(name, config, 700, size="small", threads=1)
            other, two = observed(name, config, 700, size="small", threads=2)
            self.same(one, two, f"{name}: two threads")
            self.assertEqual(result.document, other.document)
            self.assertGreater(len(one.batches), 10)
            for kind in KINDS:
                rows = one.rows(kind)
                place = "slice" if kind is ws.L2Accesses else "core"
                order = list(zip(rows["cycle"].tolist(), rows[place].tolist()))
                self.assertEqual(order, sorted(order), (name, kind))

    def test_observers_change_nothing(self):
        plain = ws.run("bfs", "tiny", size="small")
        result, _ = observed("bfs", size="small")
        self.assertEqual(result.document, plain.document)
        np.testing.assert_array_equal(result.memory, plain.memory)

    def test_two_observers_get_what_each_wants(self):
        class Loads(ws.Observer):
            def __init__(self):
                self.rows = 0

            def on_memory(self, batch):
                self.rows += len(batch)

        all_of_it, loads = Everything(100), Loads()
        ws.run("saxpy", "tiny", size="small", observers=[loads, all_of_it])
        self.assertEqual(loads.rows, len(all_of_it.rows(ws.MemoryAccesses)["cycle"]))

    def test_batches_have_rows_as_asked(self):
        _, observer = observed("bfs", rows=64, size="small")
        self.assertEqual([launch.number for launch in observer.launches], list(range(1, len(observer.launches) + 1)))
        issues = [batch for batch in observer.batches if type(batch) is ws.Issues]
        for batch, after in zip(issues, issues[1:]):
            self.assertTrue(len(batch) == 64 or len(batch) < 64 and after.launch == batch.launch + 1)
        for batch in observer.batches:
            self.assertGreaterEqual(int(batch.cycle[0]), observer.launches[batch.launch - 1].cycle)
        self.assertEqual(repr(issues[0]), f"<Issues: 64 rows, cycles {issues[0].cycle[0]} to {issues[0].cycle[-1]}>")
        self.assertEqual(len(issues[0].frame()), 64)

    def test_a_fault_ends_with_the_rows_before_it(self):
        config = ws.Config.load("gpu").set(cores=4, device_memory_bytes=1 << 24)
        rows = []
        for threads in (1, 2):
            observer = Everything()
            with self.assertRaises(ws.Fault) as caught:
                ws.run(ws.Kernel.from_source(FAULT), config, grid=16, threads=threads, observers=[observer])
            issues = observer.rows(ws.Issues)
            self.assertLessEqual(int(issues["cycle"][-1]), caught.exception.cycle)
            # It faults in the load/store unit, and has issued.
            self.assertIn(caught.exception.pc, issues["pc"])
            rows.append(observer)
        self.same(*rows, "threads")


class Ends(unittest.TestCase):
    def test_an_exception_ends_the_run_with_its_traceback(self):
        class Raises(ws.Observer):
            batch_rows = 10
            calls = 0

            def on_issue(self, batch):
                self.calls += 1
                if self.calls == 3:
                    self.fails_here(batch)

            def fails_here(self, batch):
                raise LookupError(f"cycle {batch.cycle[0]}")

        for kernel, options in [("saxpy", dict(size="small")), (ws.Kernel.from_source(ENDLESS), {})]:
            for threads in (1, 2):
                observer, names = Raises(), []
                try:
                    ws.run(kernel, "tiny", observers=[observer], threads=threads, **options)
                except LookupError as error:
                    self.assertRegex(str(error), "^cycle [0-9]+$")
                    names = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
                self.assertEqual(observer.calls, 3)
                self.assertIn("fails_here", names)
                self.assertIn("on_issue", names)
        for error in (KeyboardInterrupt, SystemExit):

            class Interrupts(ws.Observer):
                def on_launch(self, launch):
                    raise error

            with self.assertRaises(error):
                ws.run("saxpy", "tiny", size="small", observers=[Interrupts()])

    def test_a_method_may_wait_for_another_thread(self):
        begun, seen = threading.Event(), threading.Event()

        class Waits(ws.Observer):
            batch_rows = 1

            def on_issue(self, batch):
                begun.set()
                self.ended = seen.wait(60)

        observer = Waits()
        thread = threading.Thread(target=lambda: begun.wait(60) and seen.set())
        thread.start()
        ws.run("saxpy", "tiny", size="small", observers=[observer])
        thread.join()
        self.assertTrue(observer.ended)


class Stepped(InFolder):
    def test_a_stop_gives_all_rows_so_far(self):
        whole = Everything()
        ws.run("bfs", "tiny", size="small", observers=[whole])
        observer = Everything()
        machine = ws.Machine("bfs", "tiny", size="small", observers=[observer])
        while machine.step(1777):
            cycles = observer.rows(ws.Issues)["cycle"]
            expected = whole.rows(ws.Issues)["cycle"]
            np.testing.assert_array_equal(cycles, expected[expected < machine.now])
        for kind in KINDS:
            for name, values in whole.rows(kind).items():
                np.testing.assert_array_equal(values, observer.rows(kind)[name])
        self.assertEqual(machine.result().document, ws.run("bfs", "tiny", size="small").document)

    def test_after_an_exception_the_machine_goes_on(self):
        class Once(ws.Observer):
            batch_rows = 1
            raised = False

            def on_issue(self, batch):
                if not self.raised:
                    self.raised = True
                    raise LookupError("once")

        machine = ws.Machine("saxpy", "tiny", size="small", observers=[Once()])
        with self.assertRaises(LookupError):
            machine.run()
        self.assertFalse(machine.done)
        self.assertEqual(machine.run().document, ws.run("saxpy", "tiny", size="small").document)

    def test_a_method_cannot_use_its_machine(self):
        class Uses(ws.Observer):
            def on_launch(self, launch):
                self.machine.now

        observer = Uses()
        observer.machine = ws.Machine("saxpy", "tiny", size="small", observers=[observer])
        with self.assertRaisesRegex(RuntimeError, "cannot use it before its method returns"):
            observer.machine.run()

    def test_after_a_restore_it_knows_the_waves(self):
        whole = Everything()
        result = ws.run("transpose_naive", "tiny", size="small", observers=[whole])
        file = self.folder / "t.ckpt"
        machine = ws.Machine("transpose_naive", "tiny", size="small")
        machine.run_to(result.cycles // 2)
        machine.save(file)
        observer = Everything()
        other = ws.Machine.restore(file, "transpose_naive", "tiny", size="small", observers=[observer])
        self.assertEqual(other.run().document, result.document)
        for kind in KINDS:
            rows, later = whole.rows(kind), observer.rows(kind)
            rest = rows["cycle"] >= machine.now
            self.assertTrue(rest.any() and not rest.all())
            for name in set(rows) - {"instruction"}:
                np.testing.assert_array_equal(later[name], rows[name][rest], f"{kind}: {name}")


class Refused(InFolder):
    def refused(self, observers, *parts, **options):
        with self.assertRaises(ws.Error) as caught:
            ws.run("saxpy", "tiny", size="small", observers=observers, **options)
        for part in parts:
            self.assertIn(part, str(caught.exception))

    def test_wrong_observers(self):
        class Typo(ws.Observer):
            def on_memroy(self, batch):
                pass

        class Other(ws.Observer):
            def on_something_else(self, batch):
                pass

        class Nothing(ws.Observer):
            pass

        class NoMethod(ws.Observer):
            on_issue = 3

        self.refused([Typo()], "`Typo.on_memroy` is the method of no event", "did you mean `on_memory`?")
        self.refused([Other()], "`Other.on_something_else`", "on_launch, on_issue, on_retire, on_memory, on_line, on_l2")
        self.refused([Nothing()], "`Nothing` has no method for an event")
        self.refused([NoMethod()], "`NoMethod.on_issue` is no method")
        self.refused([3], "observers: 3 is no wave_sim.Observer")
        self.refused([Everything], "it is the class: Everything() makes one")
        self.refused(Everything(), "give a list")
        for rows in (0, -1, 2.5, "many"):
            self.refused([Everything(rows)], f"`Everything.batch_rows` is {rows!r}")
        with self.assertRaises(ws.Error):
            ws.Machine("saxpy", "tiny", size="small", observers=[Typo()])

    def test_runs_that_are_not_watched_as_a_whole(self):
        for options in (
            dict(functional=True),
            dict(flags=["--sample"]),
            dict(flags=["--checkpoint", self.folder / "a.ckpt", "--checkpoint-every", "100"]),
        ):
            self.refused([Everything()], "observers watch all of it", **options)


if __name__ == "__main__":
    unittest.main()
