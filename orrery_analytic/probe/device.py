"""The probes of a GPU, by CuPy: copies, launches, a kernel that is bound by memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from orrery_analytic.errors import FileMissingError
from orrery_analytic.probe.timing import Run

__all__ = ["COPIES", "Gpu", "copy", "kernel", "launch", "load"]

COPIES = tuple((way, memory) for way in ("d2h", "h2d") for memory in ("pageable", "pinned"))
_EMPTY = 'extern "C" __global__ void empty() {}'


@dataclass(frozen=True)
class Gpu:
    """CuPy, and the name of the device that it uses."""

    cupy: Any
    name: str

    @property
    def accelerator(self) -> str:
        """What OSU's titles call it."""
        return "ROCM" if self.cupy.cuda.runtime.is_hip else "CUDA"

    def wait(self) -> None:
        """Return when the device has done everything."""
        self.cupy.cuda.runtime.deviceSynchronize()

    def buffer(self, size: int) -> Any:
        """Return bytes in the memory of the device, which are there when it returns."""
        made = self.cupy.zeros(size, dtype=np.uint8)
        self.wait()
        return made


def load(local_rank: int = 0) -> Gpu:
    """Return the GPU of a rank: where a node has several, each rank of the node takes another.

    Raises
    ------
    FileMissingError
        Without CuPy, or without a GPU that it can use.
    """
    try:
        cupy: Any = import_module("cupy")
    except ImportError as error:
        raise FileMissingError(
            f"copies, launches and device buffers take CuPy, which cannot be loaded ({error}). "
            "Install it for your GPU: pip install cupy-cuda12x (CUDA 12), see https://docs.cupy.dev."
        ) from None
    try:
        number = cupy.cuda.runtime.getDeviceCount()
        cupy.cuda.Device(local_rank % number).use()
        name = cupy.cuda.runtime.getDeviceProperties(local_rank % number)["name"]
    except (cupy.cuda.runtime.CUDARuntimeError, ZeroDivisionError) as error:
        raise FileMissingError(f"CuPy is there, but no GPU that it can use ({error}).") from None
    return Gpu(cupy, name.decode() if isinstance(name, bytes) else str(name))


def copy(gpu: Gpu, way: str, memory: str, size: int) -> Run:
    """Return what copies `size` bytes by cudaMemcpy; `way` and `memory` as in `COPIES`."""
    device = gpu.buffer(size).data
    move = device.copy_to_host if way == "d2h" else device.copy_from_host
    pageable = memory == "pageable"
    host: Any = np.zeros(size, dtype=np.uint8) if pageable else gpu.cupy.cuda.alloc_pinned_memory(size)

    def run(iterations: int) -> None:
        address = host.ctypes.data if pageable else host.ptr
        for _ in range(iterations):
            move(address, size)
        gpu.wait()

    return run


def launch(gpu: Gpu, sync: bool) -> Run:
    """Return what launches an empty kernel; with `sync` it waits for each."""
    empty: Callable[..., None] = gpu.cupy.RawKernel(_EMPTY, "empty")

    def run(iterations: int) -> None:
        for _ in range(iterations):
            empty((1,), (1,), ())
            if sync:
                gpu.wait()

    return run


def kernel(gpu: Gpu, size: int) -> Run:
    """Return what launches a kernel that reads and writes floats, `size` bytes in all, and waits for each."""
    values = gpu.buffer(size // 2).view(np.float32)
    add = gpu.cupy.add

    def run(iterations: int) -> None:
        for _ in range(iterations):
            add(values, np.float32(1), out=values)
            gpu.wait()

    return run
