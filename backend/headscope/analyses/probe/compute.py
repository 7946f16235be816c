"""The probe as pieces of durable work: some layers' heads in each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import numpy as np

from headscope.analyses import shots as in_context
from headscope.analyses.base import Context, Estimate, Kept, Piece, Pieces, Progress, Spec
from headscope.analyses.costing import NOMINAL_TOKENS
from headscope.analyses.cutting import blocks, span
from headscope.analyses.held_out import of_task, scoring, sizes
from headscope.analyses.probe.labels import Probing, probing
from headscope.analyses.probe.result import ProbeResult
from headscope.analyses.probe.schema import ProbeParams
from headscope.core.model.cost import forward_flop
from headscope.core.model.info import ModelInfo
from headscope.core.model.tokens import Tokenizer
from headscope.core.statistics.enough import enough, too_few

HEADS_A_PIECE: Final = 512
SIGNIFICANT: Final = 0.01
"""p, after multiplying by the number of heads."""
_SECONDS_A_FIT: Final = 2e-5
"""Of a row and label, 64 features, measured."""


def seeds(params: ProbeParams) -> Sequence[int]:
    """A seed for each control."""
    return range(params.first_seed, params.first_seed + params.controls)


def estimate(
    spec: Spec[ProbeParams], *, tokenizer: Tokenizer | None = None, throughput: float | None = None
) -> Estimate:
    """Wall seconds and peak bytes. With a tokenizer: raises what ``labels.probing`` does."""
    model = spec.model
    shots = in_context.largest(spec.params, spec.task, model, tokenizer)
    params = spec.params
    labels = params.most_labels
    if spec.task is not None and tokenizer is not None:
        labels = len(probing(spec.task, tokenizer, params, model.n_ctx, shots).names)
    drawing = {"split_seed": params.split_seed, "shots": shots}
    rows = sizes(spec.task, tokenizer, drawing, params.n_train + params.n_test, model)
    passes = len(_layers(model))
    probes = model.n_layers * model.n_heads * (1 + params.controls)
    measured = scoring(
        model,
        params.dtype,
        rows,
        layers=model.n_layers * passes,
        readings=passes,
        throughput=throughput,
        basis=f"{probes} probes of {labels} labels, {passes} passes",
    )
    fits = probes * params.n_train * labels * _SECONDS_A_FIT
    return Estimate(measured.seconds + fits, measured.peak_bytes, measured.basis)


def plan(spec: Spec[ProbeParams]) -> Sequence[Piece]:
    """A piece for each block of layers."""
    chosen = in_context.keys(spec.params)
    return [
        *in_context.pieces(spec.params, spec.task, spec.model),
        *(
            Piece(_key(layers), _label(layers), partial(_probe, spec, layers), chosen, _flop(spec, layers))
            for layers in _layers(spec.model)
        ),
    ]


def assemble(spec: Spec[ProbeParams], pieces: Pieces) -> ProbeResult:
    """All layers together; significance takes the number of all heads."""
    from headscope.core.attribution.probing import beyond_chance

    parts = [pieces[_key(layers)] for layers in _layers(spec.model)]
    accuracy = np.concatenate([part["accuracy"] for part in parts])
    control = np.concatenate([part["control"] for part in parts], axis=1)
    names, train_rows, test_rows = (parts[0][name] for name in ("names", "train_counts", "test_counts"))
    n, chance = int(test_rows.sum()), float(test_rows.max() / test_rows.sum())
    p = np.minimum(1, accuracy.size * beyond_chance(accuracy, control.mean(axis=0), chance, n))
    unsettled = sum(int(part["unsettled"][0]) for part in parts)
    return ProbeResult(
        **ProbeResult.header(spec, seeds=seeds(spec.params), task=spec.task),
        accuracy=accuracy.astype(np.float32),
        control=control.astype(np.float32),
        selectivity=(accuracy - control.mean(axis=0)).astype(np.float32),
        p=p.astype(np.float32),
        significant=(p < SIGNIFICANT).astype(np.uint8),
        labels=names,
        train_rows=train_rows.tolist(),
        test_rows=test_rows.tolist(),
        chance=chance,
        n_train=int(train_rows.sum()),
        n_test=n,
        shots=in_context.taken(spec.params, pieces),
        notes=[
            *in_context.notes(spec.params, pieces),
            *_notes(n, len(names), int(parts[0]["left_out"][0]), unsettled, bool((p < SIGNIFICANT).any())),
        ],
    )


def _layers(model: ModelInfo) -> list[range]:
    return list(blocks(range(model.n_layers), max(1, HEADS_A_PIECE // model.n_heads)))


def _key(layers: range) -> str:
    return f"layers/{span(layers)}"


def _flop(spec: Spec[ProbeParams], layers: range) -> float:
    """Of a pass over all rows; the fits to the block's heads take as long again."""
    rows = spec.params.n_train + spec.params.n_test
    return rows * forward_flop(spec.model, NOMINAL_TOKENS, 1) * (1 + len(layers) / spec.model.n_layers)


def _label(layers: range) -> str:
    return f"Probes, layers {layers.start}–{layers.stop - 1}"


def _probe(spec: Spec[ProbeParams], layers: range, context: Context) -> Kept:
    """Accuracy and controls of some layers' heads, and what all pieces say of the rows."""
    from headscope.core.attribution.probing import probe, z_before_answers

    model = context.model
    params, shots = spec.params, in_context.taken(spec.params, context.pieces)
    rows = probing(of_task(spec.task), model.tokenizer, params, model.info.n_ctx, shots)
    train, test = (
        z_before_answers(model, part.examples, layers, context.checkpoint) for part in (rows.train, rows.test)
    )
    shape = (len(layers), model.info.n_heads)
    accuracy, control = np.zeros(shape), np.zeros((params.controls, *shape))
    unsettled = 0
    for done, (place, head) in enumerate(np.ndindex(shape), 1):
        context.checkpoint()
        sources = [np.random.default_rng([seed, layers[place], head]) for seed in seeds(params)]
        found = probe(
            train[:, place, head], rows.train.labels, test[:, place, head], rows.test.labels, sources
        )
        accuracy[place, head], control[:, place, head] = found.accuracy, found.control
        unsettled += not found.settled
        fraction = done / accuracy.size
        context.report(Progress(_label(layers), "", done, accuracy.size, None, fraction))
    return {"accuracy": accuracy, "control": control, "unsettled": np.array([unsettled]), **_facts(rows)}


def _facts(rows: Probing) -> Kept:
    """The labels' names, a line each, how many rows each has, and how many rows have none."""
    count = len(rows.names)
    return {
        "names": [" ".join(name.split()) for name in rows.names],
        "train_counts": np.bincount(rows.train.labels, minlength=count),
        "test_counts": np.bincount(rows.test.labels, minlength=count),
        "left_out": np.array([rows.n_left_out]),
    }


def _notes(n_test: int, labels: int, left_out: int, unsettled: int, significant: bool) -> list[str]:
    notes = []
    if not enough(n_test):
        notes.append(too_few(n_test, "whether a label can be read from a head"))
    elif n_test < 100:
        notes.append(f"{n_test} held-out rows: accuracies are known roughly.")
    if left_out:
        notes.append(f"{left_out} rows have other answers than the {labels} labels and were left out.")
    if unsettled:
        notes.append(f"The fits of {unsettled} heads were stopped before they had settled.")
    if enough(n_test) and not significant:
        notes.append("From no head can the label be read significantly better than by guessing.")
    return notes
