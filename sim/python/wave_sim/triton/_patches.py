"""The parts of Triton that are replaced while a device is active: driver, compiler, binder, autotuner, stopwatch."""

from __future__ import annotations

from typing import Any, Callable

from ..cuda._errors import wrong
from ._arguments import specialised

#: Versions of Triton that this package knows, without their last number.
OLDEST, NEWEST = (3, 6), (3, 9)

#: Functions that put the parts of Triton back, the last one first.
_UNDO: list[Callable[[], None]] = []


def _version() -> tuple[int, ...]:
    """The version of Triton."""
    try:
        import triton
    except ImportError as error:
        raise wrong("Triton is not installed", f"pip install triton=={NEWEST[0]}.{NEWEST[1]}.*") from error
    return tuple(int(part) for part in triton.__version__.split(".")[:2])


def _check_version() -> None:
    version = _version()
    if not OLDEST <= version <= NEWEST:
        import triton

        known = f"{OLDEST[0]}.{OLDEST[1]} to {NEWEST[0]}.{NEWEST[1]}"
        raise wrong(f"Triton {triton.__version__} is not supported", f"the versions {known} are")


def _set(owner: Any, name: str, value: Any) -> None:
    """Sets an attribute until `remove`."""
    before = getattr(owner, name)
    setattr(owner, name, value)
    _UNDO.append(lambda: setattr(owner, name, before))


def install() -> None:
    """Makes Triton compile for the active device and launch on it."""
    if _UNDO:
        return
    _check_version()
    try:
        _replace()
    except BaseException:
        remove()
        raise


def _replace() -> None:
    """Replaces the parts of Triton."""
    import triton
    from triton.backends import Backend, backends
    from triton.runtime import autotuner, driver, jit

    from ._device import active_device, benchmark
    from ._driver import Compiler, Driver
    from ._launcher import Launcher

    nvidia = backends["nvidia"]
    backends["nvidia"] = Backend(compiler=Compiler, driver=nvidia.driver)
    _UNDO.append(lambda: backends.__setitem__("nvidia", nvidia))
    _set(driver, "_active", Driver(active_device, Launcher))

    # The binder of a kernel is made once for each device, with the function that is here then.
    native = jit.native_specialize_impl

    def specialize(backend: Any, argument: Any, *others: Any) -> Any:
        return native(backend, specialised(argument), *others)

    _set(jit, "native_specialize_impl", specialize)

    tune = autotuner.Autotuner.run

    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        # The best configuration on one machine is not that of another.
        caches = self.__dict__.setdefault("_wave_sim_caches", {})
        before, self.cache = self.cache, caches.setdefault(active_device()._key, {})
        try:
            return tune(self, *args, **kwargs)
        finally:
            self.cache = before

    _set(autotuner.Autotuner, "run", run)
    for name in ("do_bench", "do_bench_cudagraph"):
        _set(triton.testing, name, benchmark)


def remove() -> None:
    """Puts the parts of Triton back."""
    while _UNDO:
        _UNDO.pop()()
