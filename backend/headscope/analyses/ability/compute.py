"""Ability as pieces of durable work: the model as it is, a piece for each number of in-context examples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from headscope.analyses import shots as in_context
from headscope.analyses.ability.result import AbilityResult, LeftOut
from headscope.analyses.ability.schema import AbilityParams
from headscope.analyses.base import Estimate, Kept, Piece, Pieces, Spec
from headscope.analyses.costing import NOMINAL_TOKENS
from headscope.analyses.held_out import Sizes, of_task, scoring
from headscope.core.gating.ability import Ability
from headscope.core.model.tokens import Tokenizer
from headscope.core.statistics.intervals import mean_interval
from headscope.errors import Invalid


def estimate(
    spec: Spec[AbilityParams], *, tokenizer: Tokenizer | None = None, throughput: float | None = None
) -> Estimate:
    """Wall seconds and peak bytes; each number's first row is measured with a tokenizer."""
    params, model, task = spec.params, spec.model, of_task(spec.task)
    rows = min(params.n_test, task.sizes(seed=params.split_seed)[1])
    sizes = [_size(spec, shots, tokenizer) for shots in params.shots]
    tokens, targets = np.mean([size for size in sizes if size is not None] or [(NOMINAL_TOKENS, 1.0)], axis=0)
    return scoring(
        model,
        params.dtype,
        Sizes(rows * len(params.shots), float(tokens), float(targets)),
        layers=model.n_layers,
        readings=1,
        throughput=throughput,
        basis=f"{len(params.shots)} numbers of in-context examples",
    )


def plan(spec: Spec[AbilityParams]) -> Sequence[Piece]:
    """A piece for each number of in-context examples; ``Invalid`` (task-missing) without a task."""
    params = spec.params
    return in_context.ability_pieces(
        of_task(spec.task), spec.model, params.shots, params.n_test, params.split_seed
    )


def assemble(spec: Spec[AbilityParams], pieces: Pieces) -> AbilityResult:
    """What each number gives; raises ``Refused`` (nothing-fits) where each was left out."""
    found = {shots: pieces[in_context.key(shots)] for shots in spec.params.shots}
    auto = in_context.choose(found)
    known = {shots: each for shots, each in found.items() if "correct" in each}
    left_out: list[LeftOut] = [
        {"shots": shots, "why": each["why"]} for shots, each in found.items() if shots not in known
    ]
    values = {
        "auto": auto,
        "uniform": -float(np.log(spec.model.d_vocab)),
        "judged": of_task(spec.task).judged,
        "left_out": left_out,
        "notes": list(_notes(known, left_out, auto)),
    }
    return AbilityResult.of_parts(AbilityResult.header(spec, task=spec.task), _scores(known), values)


def _scores(known: Mapping[int, Kept]) -> dict[str, np.ndarray]:
    abilities = [_ability(each) for each in known.values()]
    log_probability = [np.asarray(each["log_probability"]) for each in known.values()]
    return {
        "shots": np.array(list(known), np.uint16),
        "accuracy": np.array([each.accuracy for each in abilities], np.float32),
        "accuracy_interval": np.array([each.interval for each in abilities], np.float32),
        "log_probability": np.array([values.mean() for values in log_probability], np.float32),
        "log_probability_interval": np.array(list(map(mean_interval, log_probability)), np.float32),
        "chance": np.array([each.chance for each in abilities], np.float32),
        "n_test": np.array([each.n for each in abilities], np.uint32),
        "n_left_out": np.array([each["n_left_out"] for each in known.values()], np.uint32),
    }


def _ability(kept: Kept) -> Ability:
    correct = np.asarray(kept["correct"])
    return Ability(float(correct.mean()), len(correct), float(kept["chance"]))


def _notes(known: Mapping[int, Kept], left_out: Sequence[LeftOut], auto: int) -> Iterator[str]:
    ability = _ability(known[auto])
    able = "can do the task" if ability.can_do else "can’t do the task"
    if ability.caution:
        yield f"With {in_context.words(auto)} the model {ability.words}. {ability.caution}"
    else:
        yield f"The model {able}: with {in_context.words(auto)} it {ability.words}."
    if ability.told and not ability.can_do:
        yield (
            "Gates that raise such a score show what could be made of the heads, not what they do: causal "
            "head gating draws a steering map here."
        )
    for missing in left_out:
        yield f"{in_context.words(missing['shots']).capitalize()}: left out. {missing['why']}"
    for shots, each in known.items():
        if each["n_left_out"]:
            rows = f"{each['n_left_out']} rows are longer than the context"
            yield f"{in_context.words(shots).capitalize()}: {rows}."


def _size(spec: Spec[AbilityParams], shots: int, tokenizer: Tokenizer | None) -> tuple[float, float] | None:
    """Tokens and targets of a row; None where the task has no such row that fits."""
    if tokenizer is None:
        return NOMINAL_TOKENS, 1.0
    try:
        examples = of_task(spec.task).examples(
            tokenizer, "test", limit=8, seed=spec.params.split_seed, shots=shots, n_ctx=spec.model.n_ctx
        )
    except Invalid as error:
        if error.code not in in_context.HAS_NO_SUCH:
            raise
        return None
    lengths = np.array([(len(example.tokens), len(example.targets)) for example in examples])
    tokens, targets = lengths.mean(axis=0)
    return float(tokens), float(targets)
