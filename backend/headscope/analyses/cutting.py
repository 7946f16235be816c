"""How work is cut into pieces, each seconds to a minute on two cores.

Cuts depend on the request alone, never on a clock or a machine, so that a run goes on with the same pieces
elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator

PIECE_FLOP = 4e12
"""A piece of work: 40 s at 100 GFLOP/s."""


def fitting(wanted: int, flop_each: float, most: int) -> int:
    """How many of ``wanted`` fit into a piece, in equal shares; at least one, at most ``most``."""
    fit = max(1, min(most, wanted, int(PIECE_FLOP // flop_each)))
    return -(-wanted // -(-wanted // fit))


def blocks(whole: range, size: int) -> Iterator[range]:
    """A range in consecutive ranges of ``size``, the last one possibly shorter."""
    for start in range(whole.start, whole.stop, size):
        yield range(start, min(start + size, whole.stop))


def span(block: range) -> str:
    """A range as keys of pieces name it: its first and last."""
    return f"{block.start}-{block.stop - 1}"
