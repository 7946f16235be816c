"""How well a model does on examples, as it is or under gates: log-probability and accuracy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import torch
from jaxtyping import Float

from headscope.core.gating.replacements import Replacements, at_rows, cut
from headscope.core.gating.targets import target_logits
from headscope.core.model.batches import Scored, check_examples
from headscope.core.model.head_model import HeadModel
from headscope.errors import Invalid

Judged = Literal["top", "each", "pair"]
Metric = Literal["log_probability", "logit_difference"]


@runtime_checkable
class Contrasted(Scored, Protocol):
    """An example that may have a wrong answer: the tokens that would stand there from the first target on."""

    @property
    def counterfactual(self) -> Sequence[int] | None: ...  # noqa: D102


@dataclass(frozen=True)
class Score:
    """What ``evaluate`` found, a set of gates a row; NaN (and never correct) under NaN gates.

    ``log_probability`` is the mean over examples of ``each``, the mean over their target tokens, nats;
    ``accuracy`` the mean over examples of ``correct``: 1 where answered right, or the share of an answer's
    tokens that are.
    """

    log_probability: Float[torch.Tensor, " gates"]
    accuracy: Float[torch.Tensor, " gates"]
    correct: Float[torch.Tensor, "gates example"]
    each: Float[torch.Tensor, "gates example"]


@dataclass(frozen=True)
class _Swapped:
    tokens: tuple[int, ...]
    targets: tuple[int, ...]
    paired: tuple[int, ...] | None = None


def evaluate(
    model: HeadModel,
    examples: Sequence[Contrasted],
    gates: Float[torch.Tensor, "gates layer head"] | None = None,
    *,
    judged: Judged = "top",
    replacements: Replacements | None = None,
    checkpoint: Callable[[], None] = lambda: None,
) -> Score:
    """Score examples under each set of gates, or ungated where there are none (one row then).

    Judged by ``top``, an answer is right where each target token is the most likely one, given those before
    (teacher forcing); by ``each``, it is as right as the share of its target tokens that are: for long
    answers, which are hardly ever right from end to end. By ``pair``, it is right where the target's summed
    log-probability exceeds the counterfactual's. Closed heads give what ``replacements`` say, the same for
    every set of gates; nothing without them.
    Raises ``Invalid`` for examples that can't be scored.
    """
    check_examples(examples, model.info.n_ctx, "held-out")
    mean, total, hit = _score(model, examples, gates, replacements, checkpoint)
    correct = hit if judged == "each" else (hit > 1 - 1e-9).double()
    if judged == "pair":
        swapped = [_swapped(example) for example in examples]
        _, wrong, _ = _score(model, swapped, gates, replacements, checkpoint)
        correct = (total > wrong).double()
    dead = total.isnan().any(dim=1)
    accuracy = correct.mean(dim=1)
    accuracy[dead] = torch.nan
    return Score(mean.mean(dim=1), accuracy, correct, mean)


def example_scores(
    model: HeadModel,
    examples: Sequence[Contrasted],
    gates: Float[torch.Tensor, "gates layer head"],
    *,
    metric: Metric = "log_probability",
    replacements: Replacements | None = None,
    checkpoint: Callable[[], None] = lambda: None,
) -> Float[torch.Tensor, "gates example"]:
    """A metric of each example under each set of gates, higher is better.

    ``log_probability``: the mean over its target tokens, nats. ``logit_difference``: how far the target is
    above the counterfactual; of answers of several tokens, in summed log-probability (of single tokens the
    two are one number: both have the same normaliser). Closed heads give what ``replacements`` say.
    Raises ``Invalid`` for examples that can't be scored; no-counterfactual where one has no wrong answer.
    """
    check_examples(examples, model.info.n_ctx, "held-out")
    mean, total, _ = _score(model, examples, gates, replacements, checkpoint)
    if metric == "log_probability":
        return mean
    swapped = [_swapped(example) for example in examples]
    _, wrong, _ = _score(model, swapped, gates, replacements, checkpoint)
    return total - wrong


def _score(
    model: HeadModel,
    examples: Sequence[Scored],
    gates: torch.Tensor | None,
    replacements: Replacements | None,
    checkpoint: Callable[[], None],
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Mean and summed log-probability of each example's target tokens, and the share of them on top: [gates,
    example].
    """
    n_sets = 1 if gates is None else len(gates)
    dead = (
        torch.zeros(n_sets, dtype=torch.bool)
        if gates is None
        else ~gates.isfinite().all(dim=2).all(dim=1).cpu()
    )
    rows = [(g, i) for g in range(n_sets) if not dead[g] for i in range(len(examples))]
    mean, total, hit = torch.zeros(3, n_sets, len(examples), dtype=torch.float64)
    placed = None if gates is None else gates.to(model.device)
    replacements = None if gates is None else replacements
    for batch in cut(model, rows, examples, replacements):
        checkpoint()
        with torch.no_grad():
            replacement = at_rows(replacements, model, batch, examples)
            predicted = target_logits(model, batch, placed, replacement).cpu()
        chosen = predicted.log_softmax(dim=1).gather(1, batch.answers[:, None])[:, 0].double()
        place = (batch.owners[batch.where[:, 0]], batch.examples[batch.where[:, 0]])
        total.index_put_(place, chosen, accumulate=True)
        mean.index_put_(place, chosen * batch.weights, accumulate=True)
        hit.index_put_(place, (predicted.argmax(dim=1) == batch.answers) * batch.weights, accumulate=True)
    mean[dead] = total[dead] = hit[dead] = torch.nan
    return mean, total, hit


def _swapped(example: Contrasted) -> _Swapped:
    """The example with its wrong answer; ``check_examples`` has seen that it has targets."""
    if not example.counterfactual:
        raise Invalid(
            "An example has no counterfactual to compare its target with.",
            "Judge this task by the most likely token, or give each row a counterfactual.",
            code="no-counterfactual",
        )
    start = min(example.targets)
    tokens = (*example.tokens[:start], *example.counterfactual)
    pair: Sequence[int] | None = getattr(example, "paired", None)
    paired = None if pair is None else (*pair[:start], *example.counterfactual)
    return _Swapped(tokens, tuple(range(start, len(tokens))), paired)
