"""Causal head gating: one gate per head, fitted against a frozen model [arXiv 2505.13737, section 3].

G[l,h] = sigmoid(logit[l,h]) in [0, 1] multiplies head h's mixed value z[l,h] before W_O, at every position.
Minimised, for each seed by itself:

    mean over examples( NLL of the target tokens, averaged over the example's target tokens )
    - lambda * mean over heads( clamp(logit, -4, 4) )

1. Gates start from U(0, 1), drawn by the seed; where asked for, open (``open_logits``).
2. Phase 0 (lambda = 0) gives G0; from these same gates G+ (lambda > 0) and G- (lambda < 0) are fitted, each
   with fresh Adam moments. G+ and G- of a seed see the same batches, so that they differ by the sign of the
   push alone.
3. An update draws a batch per seed, works it off in micro-batches of similar length with every row under its
   own seed's gates, clips the gradient's norm per seed, and lets Adam (no weight decay) move the logits.
   The learning rate falls linearly from the phase's first update to its last.

Seeds are a batch axis: they share forward passes and nothing else, so many fitted at once equal one by one. A
training set smaller than a batch is used whole at each update (no example counts twice). A seed whose loss or
gradient isn't finite is given up: its gates and later losses are NaN, the others go on.

Two ways to do with less work than the paper's, both off unless asked for: a fit ends when its heads no longer
change sides (``core.gating.settling``), and small batches are helped by a memory of earlier ones
(``core.gating.saga``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float

from headscope.core.gating.batch_order import batches, batches_of_sets, epochs, generator
from headscope.core.gating.replacements import Replacements, at_rows, cut
from headscope.core.gating.saga import SlopeMemory, pays
from headscope.core.gating.settling import Settling, SideHistory
from headscope.core.gating.targets import target_nll
from headscope.core.model.batches import Scored, check_examples
from headscope.core.model.head_model import HeadModel

_SMALLEST_GATE = 1e-6


@dataclass(frozen=True)
class Phase:
    """Settings of one phase. ``regularisation`` is lambda with its sign; ``stream`` names the series of
    batches; ``settling`` ends a seed's fit before the last update, where given; with ``remembers`` slopes are
    blended with remembered ones where that pays (``core.gating.saga``). With ``coldest`` gates are annealed:
    sigmoid(logit / t), t falling geometrically from 1 to ``coldest``, so that they end open or shut.
    ``clip_over``, ``shared`` and ``autocast`` are what the authors' code does: one clip over all seeds, one
    series of batches, passes in bfloat16 where the device is good at it.
    """

    steps: int
    regularisation: float
    lr_start: float
    lr_end: float
    batch_size: int
    clamp: float = 4.0
    clip: float = 1.0
    stream: str = "zero"
    settling: Settling | None = None
    remembers: bool = False
    coldest: float | None = None
    clip_over: Literal["seed", "all"] = "seed"
    shared: int | None = None
    """The seed of the batches that all seeds see, in epochs without replacement; None: each draws its own."""
    autocast: bool = False

    def lr(self, step: int) -> float:
        """Learning rate of update ``step`` in 0 .. steps - 1."""
        along = step / (self.steps - 1) if self.steps > 1 else 0.0
        return self.lr_start + (self.lr_end - self.lr_start) * along

    def temperature(self, step: int) -> float:
        """By which logits are divided in update ``step``."""
        if self.coldest is None:
            return 1.0
        return float(self.coldest ** (step / (self.steps - 1) if self.steps > 1 else 1.0))


@dataclass(frozen=True)
class FitState:
    """Where a phase stands after ``step`` updates; enough to go on from.

    ``logits`` and Adam's two moments are [seed, layer, head]; ``losses`` (nats, without the push) are those
    of the updates done since the state that it was advanced from, [seed, update]: NaN where a seed had
    settled or failed.
    """

    step: int
    logits: Float[torch.Tensor, "seed layer head"]
    first_moment: Float[torch.Tensor, "seed layer head"]
    second_moment: Float[torch.Tensor, "seed layer head"]
    losses: Float[torch.Tensor, "seed update"]
    watch: SideHistory
    memory: SlopeMemory | None = None

    @property
    def gates(self) -> Float[torch.Tensor, "seed layer head"]:
        """Gates in [0, 1], NaN in seeds that failed."""
        return torch.sigmoid(self.logits)

    @classmethod
    def fresh(cls, logits: Float[torch.Tensor, "seed layer head"]) -> FitState:
        """The start of a phase: the gates given, Adam's moments empty."""
        zeros = torch.zeros_like(logits)
        none = torch.zeros(len(logits), 0, dtype=torch.float64)
        return cls(0, logits, zeros, zeros, none, SideHistory.fresh(logits))


def initial_logits(
    seeds: Sequence[int], n_layers: int, n_heads: int, dtype: torch.dtype = torch.float32
) -> Float[torch.Tensor, "seed layer head"]:
    """Logits of gates drawn from U(0, 1), each seed by a generator of its own (in float64, whatever
    ``dtype``).
    """
    drawn = [
        torch.rand(n_layers, n_heads, dtype=torch.float64, generator=generator(seed, "gates"))
        for seed in seeds
    ]
    return torch.logit(torch.stack(drawn), eps=_SMALLEST_GATE).to(dtype)


def open_logits(
    seeds: Sequence[int], n_layers: int, n_heads: int, dtype: torch.dtype = torch.float32
) -> Float[torch.Tensor, "seed layer head"]:
    """Logits from U(2, 4), gates of 0.88 to 0.98, each seed by a generator of its own: the model nearly as it
    is.
    """
    drawn = [
        2 + 2 * torch.rand(n_layers, n_heads, dtype=torch.float64, generator=generator(seed, "gates"))
        for seed in seeds
    ]
    return torch.stack(drawn).to(dtype)


def advance(
    model: HeadModel,
    examples: Sequence[Scored],
    seeds: Sequence[int],
    phase: Phase,
    state: FitState,
    until: int | None = None,
    *,
    replacements: Replacements | None = None,
    sets: Sequence[int] | None = None,
    checkpoint: Callable[[], None] = lambda: None,
    report: Callable[[int, float], None] = lambda step, loss: None,
) -> FitState:
    """Take a phase from ``state`` to update ``until`` (its last, unless given).

    Where examples come in ``sets`` that begin alike, a batch is of one of them: what it shares is computed
    once (``core.model.packing``). ``replacements`` give what closed heads give; nothing, unless given. What
    they draw they draw anew for each seed and update, by names that don't depend on which seeds are fitted
    side by side.
    ``checkpoint`` is called between forward and backward passes, each of bounded work, with no gates on the
    model, so that others may use it; ``report`` gets the number of updates done and the mean loss over live
    seeds, in nats. Raises ``Invalid`` for examples that can't be scored, and whatever ``checkpoint`` raises.
    """
    check_examples(examples, model.info.n_ctx, "training")
    until = phase.steps if until is None else until
    logits, moments = state.logits.clone(), (state.first_moment.clone(), state.second_moment.clone())
    draws = [_drawing(seed, phase, len(examples), sets) for seed in seeds]
    for draw in draws:
        for _ in range(state.step):
            next(draw)
    watch, memory = state.watch, _memory(phase, state, len(examples))
    history = torch.full((len(seeds), until - state.step), torch.nan, dtype=torch.float64)
    for step in range(state.step, until):
        live = ~watch.settled & logits.isfinite().all(dim=2).all(dim=1).cpu()
        if not live.any():
            break
        drawn = {s: next(draws[s]) for s in live.nonzero()[:, 0].tolist()}
        rows = [(s, index) for s, indices in drawn.items() for index in indices]
        drawn_anew = None
        if replacements is not None:
            drawn_anew = replacements.drawn([f"{seed}/{phase.stream}/{step}" for seed in seeds])
        loss, gradient = loss_and_gradient(
            model,
            examples,
            rows,
            logits,
            checkpoint,
            memory,
            temperature=phase.temperature(step),
            replacements=drawn_anew,
            autocast=phase.autocast,
        )
        gradient = gradient + push_gradient(logits, phase.regularisation, phase.clamp)
        settled = logits[watch.settled].clone()
        clipped = clip_per_seed if phase.clip_over == "seed" else clip_together
        adam(logits, clipped(gradient, phase.clip), moments, phase.lr(step), step + 1)
        logits[live & ~loss.isfinite()] = torch.nan
        logits[watch.settled] = settled
        watch = watch.after(torch.sigmoid(logits), phase.settling)
        history[:, step - state.step] = loss
        report(step + 1, float(loss.nanmean()))
    return FitState(until, logits, *moments, history, watch, memory)


def _drawing(seed: int, phase: Phase, n_examples: int, sets: Sequence[int] | None) -> Iterator[list[int]]:
    if phase.shared is not None:
        return epochs(phase.shared, phase.stream, n_examples, phase.batch_size)
    if sets is None:
        return batches(seed, phase.stream, n_examples, phase.batch_size)
    return batches_of_sets(seed, phase.stream, sets, phase.batch_size)


def _memory(phase: Phase, state: FitState, n_examples: int) -> SlopeMemory | None:
    if not (phase.remembers and pays(n_examples, phase.batch_size, phase.steps)):
        return None
    return SlopeMemory.fresh(state.logits, n_examples) if state.memory is None else state.memory.clone()


def loss_and_gradient(
    model: HeadModel,
    examples: Sequence[Scored],
    rows: Sequence[tuple[int, int]],
    logits: Float[torch.Tensor, "seed layer head"],
    checkpoint: Callable[[], None] = lambda: None,
    memory: SlopeMemory | None = None,
    *,
    temperature: float = 1.0,
    replacements: Replacements | None = None,
    autocast: bool = False,
) -> tuple[Float[torch.Tensor, " seed"], Float[torch.Tensor, "seed layer head"]]:
    """Each seed's mean NLL over its rows (nats, float64) and the gradient with respect to its logits.

    Rows are (seed index, example index). A seed without rows, or whose loss or gradient isn't finite, has
    loss NaN. With a ``memory`` the gradient is blended with what it remembers, and it is brought up to date.
    """
    gates = torch.sigmoid(logits / temperature)
    owners = torch.tensor([seed for seed, _ in rows], dtype=torch.long)
    counts = torch.bincount(owners, minlength=len(logits))
    if memory is None:
        loss, slope = _sums(model, examples, rows, gates, checkpoint, replacements, autocast)
        slope = slope / counts.clamp(min=1).to(slope)[:, None, None]
    else:
        # Rows under gates of their own, though alike, so that each has a slope of its own.
        alone = [(row, example) for row, (_, example) in enumerate(rows)]
        each, slopes = _sums(
            model, examples, alone, gates[owners], checkpoint, _of_rows(replacements, rows), autocast
        )
        loss = torch.zeros(len(logits), dtype=torch.float64).index_add_(0, owners, each)
        slope = torch.zeros_like(logits)
        for seed in owners.unique().tolist():
            mine = owners == seed
            slope[seed] = memory.blend(seed, [i for s, i in rows if s == seed], slopes[mine])
    gradient = slope * gates * (1 - gates) / temperature
    loss = loss / counts
    loss[~torch.isfinite(gradient).all(dim=2).all(dim=1) | ~torch.isfinite(loss)] = torch.nan
    return loss, gradient


def _sums(
    model: HeadModel,
    examples: Sequence[Scored],
    rows: Sequence[tuple[int, int]],
    gates: Float[torch.Tensor, "set layer head"],
    checkpoint: Callable[[], None],
    replacements: Replacements | None,
    autocast: bool = False,
) -> tuple[Float[torch.Tensor, " set"], Float[torch.Tensor, "set layer head"]]:
    """Summed over the (set, example) rows of each set: NLL (nats, float64), and its slope by gate."""
    leaf = gates.detach().to(model.device).requires_grad_()
    loss = torch.zeros(len(gates), dtype=torch.float64)
    for batch in cut(model, rows, examples, replacements):
        checkpoint()
        replacement = at_rows(replacements, model, batch, examples)
        with torch.autocast(model.device.type, torch.bfloat16, enabled=autocast and autocasts(model.device)):
            nll = target_nll(model, batch, leaf, replacement)
        checkpoint()
        (nll * batch.weights.to(nll)).sum().backward()
        loss.index_add_(0, batch.owners[batch.where[:, 0]], nll.detach().cpu().double() * batch.weights)
    return loss, torch.zeros_like(gates) if leaf.grad is None else leaf.grad.to(gates)


def _of_rows(replacements: Replacements | None, rows: Sequence[tuple[int, int]]) -> Replacements | None:
    """The same draws where each row is an owner of its own."""
    return None if replacements is None else replacements.by_row([seed for seed, _ in rows])


def push_gradient(
    logits: Float[torch.Tensor, "seed layer head"], regularisation: float, clamp: float
) -> Float[torch.Tensor, "seed layer head"]:
    """Gradient of -lambda * mean over heads( clamp(logit, -c, c) ): constant inside, nothing beyond the
    clamp.
    """
    inside = (logits.abs() <= clamp).to(logits)
    return -regularisation * inside / logits[0].numel()


def clip_per_seed(
    gradient: Float[torch.Tensor, "seed layer head"], largest: float
) -> Float[torch.Tensor, "seed layer head"]:
    """Scale each seed's gradient down to at most this norm, as ``clip_grad_norm_`` does for one."""
    norm = gradient.flatten(1).norm(dim=1)[:, None, None]
    scaled: torch.Tensor = gradient * (largest / (norm + 1e-6)).clamp(max=1.0)
    return scaled


def clip_together(
    gradient: Float[torch.Tensor, "seed layer head"], largest: float
) -> Float[torch.Tensor, "seed layer head"]:
    """Scale the gradient of all seeds down to at most this norm together, as ``clip_grad_norm_`` does where
    they are one parameter; seeds that failed aside.
    """
    norm = gradient[gradient.isfinite().flatten(1).all(dim=1)].norm()
    scaled: torch.Tensor = gradient * (largest / (norm + 1e-6)).clamp(max=1.0)
    return scaled


def autocasts(device: torch.device) -> bool:
    """Whether passes there can be in bfloat16 with weights in float32, and gain by it."""
    return device.type == "cuda" and torch.cuda.is_bf16_supported()


def adam(
    logits: torch.Tensor,
    gradient: torch.Tensor,
    moments: tuple[torch.Tensor, torch.Tensor],
    lr: float,
    count: int,
) -> None:
    """Adam [Kingma and Ba 2015, algorithm 1] in place, with its usual betas 0.9, 0.999 and epsilon 1e-8."""
    first, second = moments
    first.lerp_(gradient, 1 - 0.9)
    second.mul_(0.999).addcmul_(gradient, gradient, value=1 - 0.999)
    unbiased = second.div(1 - 0.999**count).sqrt_().add_(1e-8)
    logits.addcdiv_(first / (1 - 0.9**count), unbiased, value=-lr)
