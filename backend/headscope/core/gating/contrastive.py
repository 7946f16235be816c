"""Contrastive gates: heads that one set of tasks needs and another doesn't [arXiv 2505.13737, section 5].

One gate per head, one fit, on a set to retain (R) and a set to forget (F). Minimised, for each seed by
itself:

    -logp_R + max(logp_F - stopgrad(logp_R), -5) - lambda * mean over heads( clamp(logit, -4, 4) )

logp_R and logp_F are means over the update's examples of the mean over an example's target tokens, in nats.
While what is to be forgotten lies more than 5 nats below what is retained, it is left alone. The
stop-gradient keeps logp_R from counting twice before that.

1. Gates start from U(0, 1), drawn by the seed, as in ``core.gating.fit``; one phase, one Adam.
2. An update draws a batch from either set; where a set has several tasks, each gives an equal share.
3. Clipping and Adam are those of ``core.gating.fit``; a seed whose loss or gradient isn't finite is given up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float

from headscope.core.gating.batch_order import batches
from headscope.core.gating.fit import Phase, adam, clip_per_seed, loss_and_gradient, push_gradient
from headscope.core.model.batches import Scored, check_examples
from headscope.core.model.head_model import HeadModel

FLOOR = -5.0
"""Nats below which more forgetting gains nothing."""

Sets = Sequence[Sequence[Scored]]
"""The training examples of each task of a set."""


@dataclass(frozen=True)
class ContrastState:
    """Where a fit stands after ``step`` updates; enough to go on from.

    ``logits`` and Adam's moments are [seed, layer, head]; ``retained`` and ``forgotten`` are the batches'
    mean log-probabilities (nats) in the updates since the state that this was advanced from.
    """

    step: int
    logits: Float[torch.Tensor, "seed layer head"]
    first_moment: Float[torch.Tensor, "seed layer head"]
    second_moment: Float[torch.Tensor, "seed layer head"]
    retained: Float[torch.Tensor, "seed update"]
    forgotten: Float[torch.Tensor, "seed update"]

    @property
    def gates(self) -> Float[torch.Tensor, "seed layer head"]:
        """Gates in [0, 1], NaN in seeds that failed."""
        return torch.sigmoid(self.logits)

    @classmethod
    def fresh(cls, logits: Float[torch.Tensor, "seed layer head"]) -> ContrastState:
        """The start of a fit: the gates given, Adam's moments empty."""
        zeros, none = torch.zeros_like(logits), torch.zeros(len(logits), 0, dtype=torch.float64)
        return cls(0, logits, zeros, zeros, none, none)


def contrast(
    model: HeadModel,
    retain: Sets,
    forget: Sets,
    seeds: Sequence[int],
    phase: Phase,
    state: ContrastState,
    until: int | None = None,
    *,
    checkpoint: Callable[[], None] = lambda: None,
    report: Callable[[int, float], None] = lambda step, loss: None,
) -> ContrastState:
    """Take a fit from ``state`` to update ``until`` (its last, unless given); see
    ``core.gating.fit.advance``.

    ``report`` gets the number of updates done and the mean over live seeds of -logp_R, in nats.
    """
    for examples in (*retain, *forget):
        check_examples(examples, model.info.n_ctx, "training")
    until = phase.steps if until is None else until
    logits, moments = state.logits.clone(), (state.first_moment.clone(), state.second_moment.clone())
    pools = [[example for task in one for example in task] for one in (retain, forget)]
    draws = [_draws(seed, phase, retain, forget, state.step) for seed in seeds]
    history: list[tuple[torch.Tensor, torch.Tensor]] = []
    for step in range(state.step, until):
        drawn = {s: next(draw) for s, draw in enumerate(draws) if bool(torch.isfinite(logits[s]).all())}
        rows = [[(s, index) for s, both in drawn.items() for index in both[which]] for which in (0, 1)]
        kept, kept_slope = loss_and_gradient(model, pools[0], rows[0], logits, checkpoint)
        lost, lost_slope = loss_and_gradient(model, pools[1], rows[1], logits, checkpoint)
        gradient = contrast_gradient(kept, kept_slope, lost, lost_slope, FLOOR)
        gradient = gradient + push_gradient(logits, phase.regularisation, phase.clamp)
        adam(logits, clip_per_seed(gradient, phase.clip), moments, phase.lr(step), step + 1)
        logits[~torch.isfinite(kept + lost)] = torch.nan
        history.append((-kept, -lost))
        report(step + 1, float(kept.nanmean()))
    retained, forgotten = (
        torch.stack(curves, dim=1) if curves else state.retained[:, :0]
        for curves in ([pair[which] for pair in history] for which in (0, 1))
    )
    return ContrastState(until, logits, *moments, retained, forgotten)


def contrast_gradient(
    kept: Float[torch.Tensor, " seed"],
    kept_slope: Float[torch.Tensor, "seed layer head"],
    lost: Float[torch.Tensor, " seed"],
    lost_slope: Float[torch.Tensor, "seed layer head"],
    floor: float,
) -> Float[torch.Tensor, "seed layer head"]:
    """Of -logp_R + max(logp_F - stopgrad(logp_R), floor), from both NLLs (nats) and their gradients."""
    alive = (kept - lost > floor).to(lost_slope)  # logp_F - logp_R, as NLLs
    return kept_slope - alive[:, None, None] * lost_slope


def _draws(
    seed: int, phase: Phase, retain: Sets, forget: Sets, done: int
) -> Iterator[tuple[list[int], list[int]]]:
    """A seed's batches from either set, as indices into its tasks joined; the first ``done`` skipped."""
    both = zip(
        *(_shared(seed, f"{phase.stream}/{name}", one, phase.batch_size)
          for name, one in (("retain", retain), ("forget", forget))),
        strict=True,
    )  # fmt: skip
    for _ in range(done):
        next(both)
    return both


def _shared(seed: int, stream: str, tasks: Sets, batch_size: int) -> Iterator[list[int]]:
    """Endless batches of a set to which each task gives an equal share, at least one example."""
    starts = [sum(len(task) for task in tasks[:k]) for k in range(len(tasks))]
    shares = [max(1, (batch_size + k) // len(tasks)) for k in range(len(tasks))]
    draws = [
        batches(seed, f"{stream}/{k}", len(task), share)
        for k, (task, share) in enumerate(zip(tasks, shares, strict=True))
    ]
    while True:
        yield [start + index for start, draw in zip(starts, draws, strict=True) for index in next(draw)]
