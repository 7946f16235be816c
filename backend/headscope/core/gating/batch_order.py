"""In which order a fit sees its examples: endless batches of indices, drawn by a seed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

import torch


def generator(seed: int, stream: str) -> torch.Generator:
    """An independent random stream of a seed: its gates, its batches in phase 0, its batches in G+ and G-."""
    digest = hashlib.sha256(f"{seed}/{stream}".encode("ascii")).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:8], "big") >> 1)


def batches(seed: int, stream: str, n_examples: int, batch_size: int) -> Iterator[list[int]]:
    """Endless batches of example indices: without repeats within a batch; all examples where there are too
    few.
    """
    source = generator(seed, stream)
    while True:
        yield torch.randperm(n_examples, generator=source)[:batch_size].tolist()


def epochs(seed: int, stream: str, n_examples: int, batch_size: int) -> Iterator[list[int]]:
    """Endless batches without replacement: every example once before any comes again. An epoch's last batch
    may be smaller.
    """
    source = generator(seed, stream)
    while True:
        order = torch.randperm(n_examples, generator=source).tolist()
        yield from (order[at : at + batch_size] for at in range(0, n_examples, batch_size))


def batches_of_sets(seed: int, stream: str, sets: Sequence[int], batch_size: int) -> Iterator[list[int]]:
    """Endless batches, each of examples of one set; ``sets`` says which set each example belongs to.

    Sets come in turn, in an order drawn anew for each round. A set smaller than a batch is used whole.
    """
    source = generator(seed, stream)
    members = [[i for i, each in enumerate(sets) if each == mine] for mine in sorted(set(sets))]
    while True:
        for turn in torch.randperm(len(members), generator=source).tolist():
            mine = members[turn]
            yield [mine[i] for i in torch.randperm(len(mine), generator=source)[:batch_size].tolist()]
