"""An error as a problem document (RFC 9457), which is how a failed run records it."""

from __future__ import annotations

from typing import Any

from headscope.errors import HeadscopeError, Refused


def problem_of(error: Exception) -> dict[str, Any]:
    """The problem of an expected error; memory that ran out is one; anything else is a fault of ours."""
    if isinstance(error, HeadscopeError):
        return error.problem()
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":  # torch's, by name
        return Refused(
            f"The device's memory ran out: {str(error).split('.')[0] or 'no more could be had'}.",
            "Use smaller batches, fewer seeds, bfloat16 or a smaller model, or a larger device.",
            code="out-of-memory",
        ).problem()
    return HeadscopeError(
        f"Internal error: {type(error).__name__}: {error}",
        "Restart it. If that fails too, report it with the worker's log of that time.",
        code="internal",
    ).problem()
