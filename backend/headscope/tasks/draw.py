"""Drawing by hash: the same key gives the same numbers on every machine and with every library version.

Runs are named by what decides their examples. NumPy may change its streams between versions, a hash can't.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256, shake_256
from itertools import islice

_NUMBER_BYTES = 8
_BLOCK = 64


def ordered(key: str, items: Sequence[str]) -> list[int]:
    """Indices of items in a random order for the key; one item more leaves the others in order."""
    digests = [sha256(f"{key}\0{item}".encode()).digest() for item in items]
    return sorted(range(len(items)), key=lambda index: digests[index])


def numbers(key: str, below: int) -> Iterator[int]:
    """Endless uniform integers in [0, below)."""
    block = 0
    while True:
        digest = shake_256(f"{key}\0{block}".encode()).digest(_NUMBER_BYTES * _BLOCK)
        for start in range(0, len(digest), _NUMBER_BYTES):
            yield int.from_bytes(digest[start : start + _NUMBER_BYTES], "big") % below
        block += 1


def distinct(key: str, below: int, count: int) -> list[int]:
    """``count`` different integers in [0, below) in random order; a longer draw begins with the shorter."""
    if count > below:
        raise ValueError(f"can't draw {count} different numbers below {below}")
    return list(islice(_first_seen(numbers(key, below)), count)) if count else []


def _first_seen(stream: Iterator[int]) -> Iterator[int]:
    seen: set[int] = set()
    for number in stream:
        if number not in seen:
            seen.add(number)
            yield number
