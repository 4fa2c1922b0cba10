"""The command line `wave-sim`, in this process: `python -m wave_sim ARGS`."""

from __future__ import annotations

import signal
import sys

from . import _wave_sim


def main() -> int:
    """Runs the command line of the process. Gives the exit code."""
    # The simulator has handlers of its own for signals.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _wave_sim.main([sys.executable, "-m", "wave_sim"], sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
