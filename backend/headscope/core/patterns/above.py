"""What a head gives its targets above what their columns get anyway.

A head that looks at one frequent token whatever the query gives much to every repeat whose copy stood before
that token: a bright column, and no induction. A [head, query, key] is a pattern. Of a query i the targets are

    induction   every key j + 1 < i, where token j is token i and j < i
    duplicate   every key j < i, where token j is token i
    previous    the key i - 1

1. The level of a key is its mean weight over the queries at or after it of which it is no target. The first
   query has no choice and is never counted; of duplicate neither is the key's own, which is the same token.
2. A query's excess is the sum over its targets of A[i, k] less the level of k.
3. The score is the mean excess over the queries that have a target: 0 for a head that looks at one column
   whatever the query, 1 for one that looks at its targets and from nowhere else at them.

A key that no other query sees has no level, and is no target. **Choice**: 1's exceptions.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float32, Int

from headscope.core.patterns.repetition import Repetition

Excess = Float32[torch.Tensor, "head query"]


@dataclass(frozen=True, eq=False)
class Targets:
    """Pairs of a query and one of its targets in a prompt of ``length`` tokens.

    ``place`` is each pair's query among the ``n_queries`` that have a target, ``others`` how many queries a
    key's level is the mean of; ``own`` whether the key's own is among them.
    """

    query: Int[torch.Tensor, " pair"]
    key: Int[torch.Tensor, " pair"]
    place: Int[torch.Tensor, " pair"]
    n_queries: int
    others: Float32[torch.Tensor, " key"]
    own: bool

    @classmethod
    def of(
        cls,
        query: Int[torch.Tensor, " pair"],
        key: Int[torch.Tensor, " pair"],
        length: int,
        *,
        own: bool = True,
    ) -> Targets:
        """Of all pairs, those whose key has a level."""
        keys = torch.arange(length, device=key.device)
        others = length - keys.clamp(min=1) - key.bincount(minlength=length)
        if not own:
            others = others - (keys > 0).long()
        known = others[key] > 0
        queries, place = query[known].unique(return_inverse=True)
        return cls(query[known], key[known], place, len(queries), others.float(), own)

    def excess(self, pattern: Float32[torch.Tensor, "head pos pos"]) -> Excess:
        """By how much each query with a target looks more at its targets than others do."""
        heads, length = pattern.shape[:2]
        weight = pattern[:, self.query, self.key]
        column = pattern[:, 1:].sum(1)
        if not self.own:
            column[:, 1:] -= pattern.diagonal(dim1=1, dim2=2)[:, 1:]
        taken = pattern.new_zeros(heads, length).index_add(1, self.key, weight)
        level = (column - taken) / self.others
        found = pattern.new_zeros(heads, self.n_queries)
        return found.index_add(1, self.place, weight - level[:, self.key])


def targets(where: Repetition) -> tuple[Targets, Targets, Targets]:
    """A prompt's targets, in the order of ``core.patterns.scores.ABOVE``."""
    length = len(where.following)
    induction, duplicate = (marks.nonzero().unbind(1) for marks in (where.following, where.earlier))
    late = torch.arange(1, length, device=where.following.device)
    return (
        Targets.of(induction[0], induction[1], length),
        Targets.of(duplicate[0], duplicate[1], length, own=False),
        Targets.of(late, late - 1, length),
    )
