"""The lock of the interpreter (GIL) is released while a simulation runs, and Ctrl-C ends it."""

import unittest

from common import ENDLESS, python

# With such a switch interval, the main thread lets another one run only where it releases the lock by itself. Between
# `ready.set()` and the end of the simulation nothing does, except the simulation. It ends by the signal that the other
# thread sends. So with the lock held this would never end.
ANOTHER_THREAD_RUNS = """
import os, signal, sys, threading, wave_sim
kernel = wave_sim.Kernel.from_source(sys.argv[1])
simulate = {simulate}
ready = threading.Event()
sent = []

def other():
    ready.wait()
    sent.append(True)
    os.kill(os.getpid(), signal.SIGINT)

thread = threading.Thread(target=other)
thread.start()
sys.setswitchinterval(1e6)
ready.set()
before = list(sent)
try:
    simulate()
except KeyboardInterrupt:
    print("interrupted", before, sent)
thread.join()
# The next simulation is not interrupted.
print(wave_sim.run("saxpy", "tiny", size="small").outcome)
"""


class Signals(unittest.TestCase):
    def check(self, simulate):
        out = python(ANOTHER_THREAD_RUNS.format(simulate=simulate), ENDLESS)
        self.assertEqual(out, "interrupted [] [True]\nverified\n")

    def test_a_run(self):
        self.check('lambda: wave_sim.run(kernel, "tiny")')

    def test_a_run_without_timing(self):
        self.check('lambda: wave_sim.run(kernel, "tiny", functional=True)')

    def test_a_machine(self):
        self.check('wave_sim.Machine(kernel, "tiny").run')


if __name__ == "__main__":
    unittest.main()
