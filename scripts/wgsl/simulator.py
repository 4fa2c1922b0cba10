"""Runs compute shaders on `wave-sim`, with the same interface as the oracle."""

import os
import pathlib
import subprocess
import tempfile

from .cases import Buffer

TIMEOUT_S = 120


class Failed(Exception):
    """The simulator refused the shader or trapped; the message is what it printed."""


def run(
    program: pathlib.Path,
    wgsl: str,
    entry: str,
    grid: tuple[int, int, int],
    buffers: list[Buffer],
    overrides: dict[str, float] | None = None,
    wave_width: int | None = None,
    options: tuple[str, ...] = ("--functional",),
) -> list[bytes]:
    """The contents of every buffer after the run. Products and sums are not fused. Errors: `Failed`."""
    with tempfile.TemporaryDirectory(prefix="wgsl-") as name:
        folder = pathlib.Path(name)
        source = folder / "k.wgsl"
        source.write_text(wgsl)
        command = [
            str(program),
            str(source),
            "--grid",
            ",".join(map(str, grid)),
            "--kernel",
            entry,
            "--contract",
            "off",
        ]
        command += options
        if wave_width:
            command += ["--wave-width", str(wave_width)]
        for key, value in (overrides or {}).items():
            command += ["--override", f"{key}={value}"]
        for index, buffer in enumerate(buffers):
            place = f"{buffer.group}.{buffer.binding}"
            if any(buffer.input):
                path = folder / f"in{index}.bin"
                path.write_bytes(buffer.input)
                command += ["--bind", f"{place}={path}"]
            else:
                command += ["--bind", f"{place}=bytes:{len(buffer.input)}"]
            command += ["--save-binding", f"{place}:{folder}/out{index}.bin"]
        environment = {**os.environ, "NO_COLOR": "1"}
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, env=environment)
        except subprocess.TimeoutExpired as error:
            raise Failed(f"does not end within {TIMEOUT_S} s") from error
        if done.returncode != 0:
            raise Failed((done.stderr or done.stdout).strip().replace(name, "") or f"exit code {done.returncode}")
        return [(folder / f"out{i}.bin").read_bytes() for i in range(len(buffers))]
