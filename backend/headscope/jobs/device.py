"""What a process computes on: its name, its memory, the queue of its class."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil

from headscope.errors import Invalid
from headscope.jobs.threads import threads_words

_GPU_CLASSES = (4, 6, 8, 10, 11, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 141, 180, 192, 288)
"""Nominal GiB; a device reports a little less than its label says."""


@dataclass(frozen=True)
class Device:
    """``name`` as torch spells it, ``title`` for people, ``memory_bytes`` in all, ``queue`` of its class."""

    name: str
    title: str
    memory_bytes: int
    queue: str

    @property
    def machine(self) -> str:
        """A sentence for results: what computed them, with no name of a host."""
        threads = threads_words() if self.name == "cpu" and _torch_version() != "missing" else ""
        return f"{self.title}, {platform.system()} {platform.machine()}, torch {_torch_version()}{threads}"


def find_device(wanted: str) -> Device:
    """``auto``: the first CUDA device, else the CPU. ``Invalid`` (unknown-device) for one not there."""
    if wanted == "cpu":
        return _cpu()
    import torch

    if wanted == "auto":
        return _cuda(0) if torch.cuda.is_available() else _cpu()
    if wanted.split(":")[0] != "cuda":
        raise Invalid(
            f"There is no device {wanted!r}.", "Use auto, cpu, cuda or cuda:1.", code="unknown-device"
        )
    number = wanted.partition(":")[2] or "0"
    count = torch.cuda.device_count()
    if not number.isdigit() or int(number) >= count:
        raise Invalid(
            f"There is no device {wanted!r}: torch sees {count} CUDA device{'s' if count != 1 else ''}.",
            "Use auto or cpu, or check the driver and which torch is installed.",
            code="unknown-device",
        )
    return _cuda(int(number))


def free_bytes(device: str) -> int:
    """Memory that may be had now: a CUDA device's, or what the machine and its container leave."""
    if device.startswith("cuda"):
        import torch

        free, _ = torch.cuda.mem_get_info(device)
        return int(free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device))
    return min([int(psutil.virtual_memory().available), *_container_left()])


def _cpu() -> Device:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return Device("cpu", f"{cores} CPU cores", _memory(), "cpu")


def _cuda(number: int) -> Device:
    import torch

    memory = int(torch.cuda.get_device_properties(number).total_memory)
    size = next((size for size in _GPU_CLASSES if memory <= size * 2**30), round(memory / 2**30))
    return Device(f"cuda:{number}", torch.cuda.get_device_name(number), memory, f"gpu-{size}")


def _memory() -> int:
    return min([int(psutil.virtual_memory().total), *_container_limits()])


def _container_limits() -> list[int]:
    files = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
    limits = []
    for file in files:
        try:
            limits.append(int(Path(file).read_text()))
        except (OSError, ValueError):  # no such group, or "max"
            continue
    return limits


def _container_left() -> list[int]:
    """The container's limit less what it holds; file pages that it would give back don't count."""
    try:
        limit = int(Path("/sys/fs/cgroup/memory.max").read_text())
        held = int(Path("/sys/fs/cgroup/memory.current").read_text())
        lines = Path("/sys/fs/cgroup/memory.stat").read_text().splitlines()
    except (OSError, ValueError):  # no such group, or "max"
        return []
    files = sum(int(line.split()[1]) for line in lines if line.split()[0] in ("inactive_file", "active_file"))
    return [max(0, limit - held + files)]


def _torch_version() -> str:
    try:
        return version("torch")
    except PackageNotFoundError:
        return "missing"
