"""Runs compute shaders through wgpu on a Vulkan driver in software (llvmpipe): another front end's back end, another
compiler and another machine than those under test."""

import os
import pathlib
import tempfile
from dataclasses import dataclass
from typing import Any

from .cases import Buffer

# The Vulkan loader complains without one.
os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.gettempdir())
FEATURES = ("shader-f16", "shader-f64", "shader-int64", "subgroup", "subgroup-barrier", "shader-float32-atomic")


class Refused(Exception):
    """The shader is not accepted; the message is the one of wgpu."""


@dataclass
class Machine:
    device: Any
    name: str
    missing: tuple[str, ...]


_machine: Machine | None = None


def machine() -> Machine:
    """The device, opened once for each process."""
    global _machine
    if _machine is None:
        import wgpu

        adapters = [a for a in wgpu.gpu.enumerate_adapters_sync() if a.info["adapter_type"] == "CPU"]
        if not adapters:
            raise SystemExit("no Vulkan driver in software is here: apt-get install mesa-vulkan-drivers")
        adapter = adapters[0]
        present = [f for f in FEATURES if f in adapter.features]
        device = adapter.request_device_sync(required_features=present)
        missing = tuple(f for f in FEATURES if f not in present)
        _machine = Machine(device, f"{adapter.info['device']}, {adapter.info['description']}", missing)
    return _machine


def run(
    wgsl: str,
    entry: str,
    grid: tuple[int, int, int],
    buffers: list[Buffer],
    overrides: dict[str, float] | None = None,
) -> list[bytes]:
    """The contents of every buffer after the shader has run. Errors: `Refused`."""
    import wgpu

    device = machine().device
    usage = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.UNIFORM | wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST
    try:
        module = device.create_shader_module(code=wgsl)
        stage = {"module": module, "entry_point": entry, "constants": overrides or {}}
        pipeline = device.create_compute_pipeline(layout="auto", compute=stage)
        held = [device.create_buffer_with_data(data=b.input, usage=usage) for b in buffers]
        encoder = device.create_command_encoder()
        work = encoder.begin_compute_pass()
        work.set_pipeline(pipeline)
        for group in sorted({b.group for b in buffers}):
            entries = [
                {"binding": b.binding, "resource": {"buffer": h, "offset": 0, "size": len(b.input)}}
                for b, h in zip(buffers, held)
                if b.group == group
            ]
            layout = pipeline.get_bind_group_layout(group)
            work.set_bind_group(group, device.create_bind_group(layout=layout, entries=entries))
        work.dispatch_workgroups(*grid)
        work.end()
        device.queue.submit([encoder.finish()])
        results = [bytes(device.queue.read_buffer(h)) for h in held]
    except wgpu.GPUError as error:
        raise Refused(str(error)) from error
    for buffer in held:
        buffer.destroy()
    return results


def version_note(path: pathlib.Path | None = None) -> str:
    import wgpu

    return f"wgpu {wgpu.__version__}, {machine().name}"
