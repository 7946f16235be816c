"""What heads do on rows of n random tokens that repeat, and what the repeat costs without one of them.

Queries i are those of the second copy; A is a head's pattern [Elhage et al. 2021; Olsson et al. 2022]:

    induction = mean A[i, i-n+1]      duplicate = mean A[i, i-n]      previous = mean A[i, i-1]
    current = mean A[i, i]            sink = mean A[i, 0]             entropy = mean -sum A log A, nats
    prefix = mean over all later copies of the sum over every earlier copy c of A[i, i-cn+1]

Of induction, duplicate and previous there is also what a head gives above its targets' columns
(``core.patterns.above``): induction and duplicate over all later copies, with every earlier copy a target.

A head is gated off twice: free, the patterns of later heads respond; and with all patterns held as they were
without the gate, so that only what the head itself moved is missing (pattern-preserving ablation).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int

from headscope.core.model.batches import budget_for
from headscope.core.model.head_model import HeadModel
from headscope.core.patterns.above import Targets, targets
from headscope.core.patterns.repetition import Repetition
from headscope.core.patterns.scores import ABOVE, SCORES

Gates = Float[torch.Tensor, "layer head"]


@dataclass(frozen=True)
class Rows:
    """Sequences of ``copies`` x ``n`` tokens after ``start`` others (a BOS token, or nothing)."""

    tokens: Int[torch.Tensor, "row pos"]
    n: int
    copies: int

    @property
    def start(self) -> int:
        """Where the first copy begins."""
        return int(self.tokens.shape[1]) - self.n * self.copies

    def first(self) -> slice:
        """The first copy's positions that something predicts."""
        return slice(max(1, self.start), self.start + self.n)

    def second(self) -> slice:
        """The second copy from its second token on: nothing before says that its first token comes."""
        return slice(self.start + self.n + 1, self.start + 2 * self.n)

    def targets(self, device: torch.device) -> tuple[Targets, ...]:
        """In the order of ``ABOVE``; previous is asked of the second copy alone, as the plain score is."""
        length = int(self.tokens.shape[1])
        before = [list(range((at - self.start) % self.n + self.start, at, self.n)) for at in range(length)]
        induction, duplicate, _ = targets(Repetition.of(before, device))
        second = torch.arange(self.start + self.n, self.start + 2 * self.n, device=device)
        return induction, duplicate, Targets.of(second, second - 1, length)

    def passes(self, model: HeadModel) -> Iterator[slice]:
        """Rows that go through the model at once, by the device's budget."""
        length = int(self.tokens.shape[1])
        most = max(1, int(1 / budget_for(model.device).share(model.info, length, length)))
        for first in range(0, len(self.tokens), most):
            yield slice(first, first + most)


@dataclass(frozen=True, eq=False)
class Measured:
    """``scores`` in the order of ``SCORES``, ``above`` in that of ``ABOVE``; every token's loss in nats, NaN
    for the first.
    """

    scores: Float[torch.Tensor, "score row layer head"]
    above: Float[torch.Tensor, "named row layer head"]
    loss: Float[torch.Tensor, "row pos"]


@torch.no_grad()
def measure(model: HeadModel, rows: Rows, gates: Gates | None, checkpoint: Callable[[], None]) -> Measured:
    """All heads on all rows, as the model is or under gates."""
    info = model.info
    shape = (len(rows.tokens), info.n_layers, info.n_heads)
    scores = torch.full((len(SCORES), *shape), torch.nan, dtype=torch.float32)
    above = torch.full((len(ABOVE), *shape), torch.nan, dtype=torch.float32)
    aims, losses = rows.targets(model.device), []
    for part in rows.passes(model):
        checkpoint()

        def read(layer: int, pattern: torch.Tensor, _: torch.Tensor | None, part: slice = part) -> None:
            scores[:, part, layer] = repeat_scores(pattern, rows.n, rows.copies).float().cpu()
            above[:, part, layer] = above_scores(pattern, aims).cpu()

        with _under(model, gates), model.reading(read):
            losses.append(model.losses(rows.tokens[part]).cpu())
    return Measured(scores, above, torch.cat(losses))


@torch.no_grad()
def ablate(
    model: HeadModel,
    rows: Rows,
    heads: Sequence[tuple[int, int]],
    gates: Gates | None,
    checkpoint: Callable[[], None],
    report: Callable[[float], None] = lambda _: None,
) -> Float[torch.Tensor, "way row ablated"]:
    """The rise of the second copy's mean loss with each head's gate at 0: patterns held, and free; nats."""
    info = model.info
    before = torch.ones(info.n_layers, info.n_heads) if gates is None else gates
    rise = torch.full((2, len(rows.tokens), len(heads)), torch.nan, dtype=torch.float32)
    parts = list(rows.passes(model))
    for number, part in enumerate(parts):
        checkpoint()
        tokens, patterns = rows.tokens[part], dict[int, torch.Tensor]()

        def keep(
            layer: int,
            pattern: torch.Tensor,
            _: torch.Tensor | None,
            into: dict[int, torch.Tensor] = patterns,
        ) -> None:
            into[layer] = pattern.clone()

        with _under(model, gates), model.reading(keep):
            base = model.losses(tokens).cpu()[:, rows.second()].mean(1)
        for column, (layer, head) in enumerate(heads):
            closed = before.clone()
            closed[layer, head] = 0
            held: tuple[AbstractContextManager[None], ...] = (model.frozen(patterns), nullcontext())
            for way, holding in enumerate(held):
                checkpoint()
                with model.gated(closed.to(model.device)), holding:
                    after = model.losses(tokens).cpu()[:, rows.second()].mean(1)
                rise[way, part, column] = after - base
            report((number + (column + 1) / len(heads)) / len(parts))
    return rise


def repeat_scores(
    pattern: Float[torch.Tensor, "row head query key"], n: int, copies: int
) -> Float[torch.Tensor, "score row head"]:
    """One layer's scores by the module's formulas."""
    start = pattern.shape[-1] - n * copies
    later = torch.arange(start + n, start + n * copies, device=pattern.device)
    query = later[:n]
    prefix = torch.zeros((), device=pattern.device)
    for back in range(1, copies):
        queries = later[(back - 1) * n :]
        prefix = prefix + pattern[..., queries, queries - back * n + 1].sum(-1) / len(later)
    return torch.stack(
        [
            pattern[..., query, query - n + 1].mean(-1),
            prefix,
            pattern[..., query, query - n].mean(-1),
            pattern[..., query, query - 1].mean(-1),
            pattern[..., query, query].mean(-1),
            pattern[..., query, 0].mean(-1),
            torch.special.entr(pattern[..., query, :]).sum(-1).mean(-1),
        ]
    )


def above_scores(
    pattern: Float[torch.Tensor, "row head query key"], aims: Sequence[Targets]
) -> Float[torch.Tensor, "named row head"]:
    """One layer's means over queries, each above its targets' columns."""
    flat = pattern.flatten(0, 1).float()
    means = [each.excess(flat).mean(-1) for each in aims]
    return torch.stack(means).reshape(len(means), *pattern.shape[:2])


def _under(model: HeadModel, gates: Gates | None) -> AbstractContextManager[None]:
    return nullcontext() if gates is None else model.gated(gates.to(model.device))
