"""Heads of known effect beside the real heads of the reader's own model: does a run with these settings find
them?

The model gets one more layer whose heads act on the logits of the target tokens. With gates g, strength s
(nats) and the answer's token a:

    needed    logit[a] -= s (1 - g)              without it the answer loses s
    harmful   logit[a] -= s g                    with it the answer loses s
    pair      logit[a] -= s (1 - g1) (1 - g2)    only without both the answer loses s
    nothing   no effect

Its real heads, weights, examples and the whole fit are what they are in any run. So the answer is about
power: whether these settings tell an effect of this size from nothing among so many heads and so much noise.
It says nothing about how heads that work through one another are found (the planted models do), nor about
whether the real heads' roles are right. The planted heads know the answers, as no head does; they don't
attend.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import torch
from jaxtyping import Float

from headscope.analyses.base import Progress, Spec
from headscope.analyses.chg import CHG
from headscope.analyses.chg.schema import ChgParams
from headscope.analyses.in_place import compute
from headscope.analyses.shots import AUTO
from headscope.core.gating.evaluation import evaluate
from headscope.core.gating.pairs import PairLosses, pair_losses
from headscope.core.gating.roles import finished, scores
from headscope.core.model.head_model import HeadModel
from headscope.core.model.info import ModelInfo
from headscope.core.model.packing import Packing
from headscope.core.model.replacement import Replacement
from headscope.errors import Invalid
from headscope.tasks.task import Example, Examples, Split, Task
from headscope.validation.planted import Head, Role

STRENGTH: Final = 3.0
KINDS: Final[tuple[Role, ...]] = ("needed", "harmful", "redundant", "redundant")
LEAST: Final = 0.5
"""The share of a pair's loss that must be its interaction for it to be found."""


@dataclass(frozen=True)
class PlantedHead:
    """One planted head: nats a target token lost by closing it alone with all other heads open; the share of
    fits that give it its role (needed for one of the pair, by ``scores``); and how many real heads have a
    higher mean score of that role.
    """

    head: Head
    role: Role
    cost: float
    share: float
    above: int


@dataclass(frozen=True)
class Into:
    """What a run found of the planted heads; ``pair`` is the direct test, of the pair and the real heads that
    are needed in some fits and not in all.
    """

    heads: tuple[PlantedHead, ...]
    pair: PairLosses
    n_real: int
    fits: int

    @property
    def found(self) -> dict[Role, bool]:
        """Needed, harmful and useless where at least 80 % of fits say so; the pair by its interaction."""
        first, second = (one.head for one in self.heads if one.role == "redundant")
        i, j = self.pair.heads.index(first), self.pair.heads.index(second)
        together = self.pair.together[i, j]
        return {
            **{
                role: all(one.share >= 0.8 for one in self.heads if one.role == role)
                for role in ("needed", "harmful", "useless")
            },
            "redundant": bool(together > 0 and self.pair.interaction[i, j] >= LEAST * together),
        }


class WithPlanted:
    """A model with one more layer of heads that act on the logits at targets; a ``HeadModel`` as far as fits
    and scores go. ``answers`` gives the token that should follow a prefix.
    """

    def __init__(
        self, model: HeadModel, answers: Mapping[tuple[int, ...], int], strength: float = STRENGTH
    ) -> None:
        if model.info.n_heads < len(KINDS):
            raise Invalid(
                f"{model.info.name} has {model.info.n_heads} heads a layer; {len(KINDS)} are planted.",
                "Use a model with more.",
                code="too-few-heads",
            )
        self._model, self._answers, self._strength = model, answers, strength
        self.info: ModelInfo = replace(model.info, n_layers=model.info.n_layers + 1)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def target_logits(
        self,
        packing: Packing,
        gates: Float[torch.Tensor, "set layer head"] | None,
        replacement: Replacement | None = None,
    ) -> Float[torch.Tensor, "target vocab"]:
        """The model's own logits, with what the planted heads do to the answers'. Raises ``Invalid`` where
        closed heads are to be replaced: planted ones have nothing to be replaced by.
        """
        if replacement is not None:
            raise Invalid(
                "Heads are planted with zero ablation only.", "Leave ablation at zero.", code="zero-only"
            )
        logits = self._model.target_logits(packing, None if gates is None else gates[:, :-1])
        planted = logits.new_ones(1, self.info.n_heads) if gates is None else gates[:, -1].to(logits)
        owners = 0 if gates is None else packing.owners[packing.targets]
        needed, harmful, first, second = planted[owners][..., : len(KINDS)].unbind(-1)
        lost = self._strength * ((1 - needed) + harmful + (1 - first) * (1 - second))
        answers = torch.tensor([self._answers[prefix] for prefix in prefixes(packing)], device=logits.device)
        at_answer = torch.nn.functional.one_hot(answers, logits.shape[-1]).to(logits)
        changed: torch.Tensor = logits - at_answer * lost.reshape(-1, 1)
        return changed


def prefixes(packing: Packing) -> list[tuple[int, ...]]:
    """The tokens up to each target, in the order of ``packing.targets``."""
    tokens, rows = packing.tokens.tolist(), packing.rows.tolist()
    positions = packing.positions.tolist()
    row_of: dict[int, int] = {}
    for row, nodes in enumerate(rows):
        for place, node in enumerate(nodes):
            if positions[node] - positions[nodes[0]] == place:
                row_of.setdefault(node, row)
    found = []
    for node in packing.targets.tolist():
        nodes = rows[row_of[node]]
        found.append(tuple(tokens[each] for each in nodes[: nodes.index(node) + 1]))
    return found


def answers_of(examples: Sequence[Example]) -> dict[tuple[int, ...], int]:
    """The token that should follow each prefix. Raises ``Invalid`` where two examples disagree."""
    answers: dict[tuple[int, ...], int] = {}
    for example in examples:
        for position in example.targets:
            prefix = tuple(example.tokens[:position])
            if answers.setdefault(prefix, example.tokens[position]) != example.tokens[position]:
                raise Invalid(
                    "Two examples of the task begin alike and are answered differently.",
                    "Use another task, or fewer examples.",
                    code="ambiguous",
                )
    return answers


def plant_into(
    model: HeadModel,
    task: Task,
    params: ChgParams,
    strength: float = STRENGTH,
    candidates: int = 6,
    report: Callable[[Progress], None] = lambda _: None,
) -> Into:
    """Plant, fit as any run does, and look for what was planted; at most ``candidates`` real heads are tested
    for a pair with the planted ones.
    """
    train, test = _asked(model, task, params, "train"), _asked(model, task, params, "test")
    planted = WithPlanted(model, answers_of([*train, *test]), strength)
    result = compute(CHG, Spec(params, planted.info, task), planted, report=report)
    plus, minus = result.g_plus, result.g_minus
    ran = finished(plus, minus)
    each = {name: score[ran] for name, score in scores(plus, minus).items()}
    costs = _costs(planted, test)
    heads = tuple(
        _described(planted.info.n_layers - 1, number, role, each, costs[number])
        for number, role in enumerate(_roles(planted.info.n_heads))
    )
    base = torch.tensor((plus[ran] > 0.5).mean(axis=0) > 0.5).float()
    tested = [one.head for one in heads if one.role == "redundant"] + _unsure(each, candidates)
    pair = pair_losses(planted, test, base, tested)
    return Into(heads, pair, model.info.n_layers * model.info.n_heads, int(ran.sum()))


_SCORE: Final[Mapping[Role, str]] = {
    "needed": "facilitation",
    "harmful": "interference",
    "redundant": "facilitation",
    "useless": "irrelevance",
}


def _described(
    layer: int, number: int, role: Role, each: Mapping[str, Float[np.ndarray, "seed layer head"]], cost: float
) -> PlantedHead:
    score = each[_SCORE[role]]
    mean = score.mean(axis=0)
    share = float((score[:, layer, number] >= 0.5).mean())
    return PlantedHead((layer, number), role, cost, share, int((mean[:layer] > mean[layer, number]).sum()))


def _costs(model: WithPlanted, examples: Sequence[Example]) -> list[float]:
    """Nats a target token lost by closing each planted head, all others open."""
    gates = torch.ones(1 + model.info.n_heads, model.info.n_layers, model.info.n_heads)
    for number in range(model.info.n_heads):
        gates[1 + number, -1, number] = 0
    scored = evaluate(model, examples, gates).log_probability
    return (scored[0] - scored[1:]).tolist()


def _unsure(each: Mapping[str, Float[np.ndarray, "seed layer head"]], most: int) -> list[Head]:
    """Real heads that are needed in some fits and not in all, those nearest to half of them first."""
    share = (each["facilitation"][:, :-1] >= 0.5).mean(axis=0)
    some = [(abs(share[head] - 0.5), head) for head in np.ndindex(share.shape) if 0 < share[head] < 1]
    return [(int(layer), int(head)) for _, (layer, head) in sorted(some)[:most]]


def _asked(model: HeadModel, task: Task, params: ChgParams, split: Split) -> Examples:
    """A split of the fit, whose answers the planted heads know. Raises ``Invalid`` where a fit chooses its
    examples itself.
    """
    if params.shots == AUTO:
        raise Invalid(
            "Heads are planted for questions with a known number of in-context examples.",
            "Name the number: --param shots=5, or what `headscope run ability` finds.",
            code="shots",
        )
    if params.pool is not None or params.examples != "all":
        raise Invalid(
            "The planted heads must know the examples before the fit.",
            "Leave demonstrations=own and examples=all.",
            code="examples-not-fixed",
        )
    return task.examples(
        model.tokenizer,
        split,
        limit=params.n_train if split == "train" else params.n_test,
        seed=params.split_seed,
        shots=params.shots,
        n_ctx=model.info.n_ctx,
    )


def _roles(n_heads: int) -> list[Role]:
    """Of the planted layer's heads: those of ``KINDS``, and useless ones."""
    useless: list[Role] = ["useless"] * (n_heads - len(KINDS))
    return [*KINDS, *useless]
