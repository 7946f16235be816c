"""Memory is admitted before it is taken: a run that would be killed for it is refused instead."""

from __future__ import annotations

from headscope.analyses.base import Estimate
from headscope.core.model.info import ModelInfo
from headscope.core.model.memory import run_bytes
from headscope.errors import Refused


def admit_weights(name: str, n_bytes: int, free: int) -> None:
    """Raise ``Refused`` (no-memory) where a model to be loaded takes more than is free."""
    if n_bytes > free:
        raise Refused(
            f"{name} takes {_gib(n_bytes)}; {_gib(free)} of memory are free.",
            "Close other programs, or use bfloat16, a smaller model or a larger machine.",
            code="no-memory",
        )


def admit_work(estimate: Estimate, model: ModelInfo, dtype: str, free: int) -> None:
    """Raise ``Refused`` (no-memory) where a run's work takes more than is free beside its loaded model."""
    work = estimate.peak_bytes - run_bytes(model, dtype=dtype)
    if work > free:
        raise Refused(
            f"Beside the model this needs about {_gib(work)}; {_gib(free)} of memory are free "
            f"({estimate.basis}).",
            "Close other programs, use shorter examples, fewer in-context examples or bfloat16, or a larger "
            "machine.",
            code="no-memory",
        )


def _gib(count: float) -> str:
    return f"{count / 2**30:.2f} GiB"
