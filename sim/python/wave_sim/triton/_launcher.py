"""Launches as Triton asks for them."""

from __future__ import annotations

from typing import Any

from ..cuda import DeviceArray
from ..cuda._errors import wrong
from ._arguments import values_of
from ._device import active_device


class Launcher:
    """Launches of one compiled kernel. Triton makes it of the source and the metadata, and calls it."""

    def __init__(self, src: Any, metadata: Any):
        #: Types of the arguments, by the names of the parameters.
        self._signature: dict[Any, Any] = dict(src.signature)
        self._metadata = metadata
        if getattr(metadata, "num_ctas", 1) > 1:
            raise wrong(f"kernel `{metadata.name}` wants clusters of {metadata.num_ctas} workgroups", "num_ctas=1")
        if getattr(metadata, "launch_cooperative_grid", False):
            hint = "launch it without `launch_cooperative_grid`"
            raise wrong(f"kernel `{metadata.name}` wants a grid whose workgroups all run at once", hint)

    def __call__(
        self,
        grid_x: int,
        grid_y: int,
        grid_z: int,
        stream: Any,
        function: Any,
        packed_metadata: Any,
        launch_metadata: Any,
        enter_hook: Any,
        exit_hook: Any,
        *arguments: Any,
    ) -> None:
        """Launches the kernel. An empty grid runs nothing."""
        if grid_x * grid_y * grid_z <= 0:
            return
        metadata = self._metadata
        names = [str(name) for name in self._signature]
        values = values_of(list(self._signature.values()), arguments, names, metadata.name)
        scratch = []
        for kind in ("global", "profile"):
            size = getattr(metadata, f"{kind}_scratch_size", None)
            if size is not None:
                scratch.append(DeviceArray(grid_x * grid_y * grid_z * size, "uint8") if size else bytes(8))
        if enter_hook is not None:
            enter_hook(launch_metadata)
        threads = metadata.num_warps * metadata.warp_size
        grid = (grid_x, grid_y, grid_z)
        active_device()._launch(function, grid, threads, metadata.shared, [*values, *scratch])
        if exit_hook is not None:
            exit_hook(launch_metadata)
