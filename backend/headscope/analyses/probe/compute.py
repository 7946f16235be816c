"""The probe as pieces of durable work: some layers' heads in each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from headscope.analyses.base import (
    Arrays,
    Estimate,
    Progress,
    Result,
)
from headscope.analyses.cutting import blocks
from headscope.analyses.held_out import of_task, scoring, sizes
from headscope.analyses.legacy import Context, Piece, Reference
from headscope.analyses.probe.labels import Probing, probing
from headscope.analyses.probe.schema import PRESETS, ProbeParams
from headscope.analyses.result import identity
from headscope.core.model.info import ModelInfo
from headscope.core.model.tokens import Tokenizer
from headscope.tasks.task import Task

HEADS_A_PIECE: Final = 512
SIGNIFICANT: Final = 0.01
"""p, after multiplying by the number of heads."""
_SECONDS_A_FIT: Final = 2e-5
"""Of a row and label, 64 features, measured."""


class Probe:
    """Whether a label can be read off what each head mixed, better than a shuffled one."""

    name: ClassVar[str] = "probe"
    title: ClassVar[str] = "Probe"
    summary: ClassVar[str] = (
        "Whether a task's label can be read off what each head mixed, better than a shuffled label."
    )
    version: ClassVar[int] = 1
    needs_task: ClassVar[bool] = True
    attention: ClassVar[str] = "sdpa"
    references: ClassVar[Mapping[str, Reference]] = {}
    params: type[ProbeParams] = ProbeParams
    presets: Mapping[str, Mapping[str, Any]] = PRESETS

    def seeds(self, params: ProbeParams) -> Sequence[int]:
        """A seed for each control."""
        return range(params.first_seed, params.first_seed + params.controls)

    def estimate(
        self,
        params: ProbeParams,
        model: ModelInfo,
        task: Task | None,
        *,
        tokenizer: Tokenizer | None = None,
        throughput: float | None = None,
    ) -> Estimate:
        """Wall seconds and peak bytes. With a tokenizer: raises what ``labels.probing`` does."""
        labels = params.most_labels
        if task is not None and tokenizer is not None:
            labels = len(probing(task, tokenizer, params, model.n_ctx).names)
        drawing = {"split_seed": params.split_seed, "shots": params.shots}
        rows = sizes(task, tokenizer, drawing, params.n_train + params.n_test, model)
        passes = len(_plan(model))
        heads = model.n_layers * model.n_heads
        measured = scoring(
            model,
            params.dtype,
            rows,
            layers=model.n_layers * passes,
            readings=passes,
            throughput=throughput,
            basis=f"{heads * (1 + params.controls)} probes of {labels} labels, {passes} passes",
        )
        fits = heads * (1 + params.controls) * params.n_train * labels * _SECONDS_A_FIT
        return Estimate(measured.seconds + fits, measured.peak_bytes, measured.basis)

    def plan(self, params: ProbeParams, model: ModelInfo) -> Sequence[Piece]:
        """A piece for each block of layers."""
        return [piece for piece, _ in _plan(model)]

    def compute(self, piece: Piece, params: ProbeParams, context: Context) -> Arrays:
        """Accuracy and controls of some layers' heads."""
        from headscope.core.attribution.probing import probe, z_before_answers

        model = context.model
        layers = next(block for each, block in _plan(model.info) if each.key == piece.key)
        rows = probing(of_task(context.task), model.tokenizer, params, model.info.n_ctx)
        train, test = (
            z_before_answers(model, part.examples, layers, context.checkpoint)
            for part in (rows.train, rows.test)
        )
        shape = (len(layers), model.info.n_heads)
        accuracy, control = np.zeros(shape), np.zeros((params.controls, *shape))
        unsettled = 0
        for place, head in np.ndindex(shape):
            context.checkpoint()
            sources = [np.random.default_rng([seed, layers[place], head]) for seed in self.seeds(params)]
            found = probe(
                train[:, place, head], rows.train.labels, test[:, place, head], rows.test.labels, sources
            )
            accuracy[place, head], control[:, place, head] = found.accuracy, found.control
            unsettled += not found.settled
            done = place * shape[1] + head + 1
            context.report(Progress(piece.label, "", done, accuracy.size, None, done / accuracy.size))
        return {"accuracy": accuracy, "control": control, "unsettled": np.array([unsettled]), **_facts(rows)}

    def assemble(
        self, params: ProbeParams, model: ModelInfo, task: Task | None, pieces: Mapping[str, Arrays]
    ) -> Result:
        """``accuracy``, ``selectivity`` and ``significant`` [layer, head], ``control`` [seed, layer, head],
        corrected ``p``.
        """
        from headscope.core.attribution.probing import beyond_chance

        parts = [pieces[piece.key] for piece, _ in _plan(model)]
        accuracy = np.concatenate([part["accuracy"] for part in parts])
        control = np.concatenate([part["control"] for part in parts], axis=1)
        train_counts, test_counts = parts[0]["train_counts"], parts[0]["test_counts"]
        n, chance = int(test_counts.sum()), float(test_counts.max() / test_counts.sum())
        p = np.minimum(1, accuracy.size * beyond_chance(accuracy, control.mean(axis=0), chance, n))
        names = bytes(parts[0]["names"]).decode().split("\n")
        values = {
            "labels": names,
            "train_rows": train_counts.tolist(),
            "test_rows": test_counts.tolist(),
            "chance": chance,
            "n_train": int(train_counts.sum()),
            "n_test": n,
        }
        unsettled = sum(int(part["unsettled"][0]) for part in parts)
        return Result(
            analysis=self.name,
            schema_version=self.version,
            params=params.model_dump(mode="json"),
            model=model,
            task=identity(task),
            seeds=tuple(self.seeds(params)),
            other_arrays={
                "accuracy": accuracy.astype(np.float32),
                "control": control.astype(np.float32),
                "selectivity": (accuracy - control.mean(axis=0)).astype(np.float32),
                "p": p.astype(np.float32),
                "significant": (p < SIGNIFICANT).astype(np.uint8),
            },
            other_values={**values, "notes": _notes(values, unsettled, int(parts[0]["left_out"][0]), p)},
        )

    def headline(self, result: Result) -> dict[str, Any]:
        """The head off which the label is read best, how well, and what guessing gets."""
        accuracy = result.arrays["accuracy"]
        layer, head = np.unravel_index(int(accuracy.argmax()), accuracy.shape)
        return {
            "best_head": f"{layer}.{head}",
            "accuracy": float(accuracy.max()),
            "selectivity": float(result.arrays["selectivity"][layer, head]),
            "chance": result.values["chance"],
            "significant_heads": int(result.arrays["significant"].sum()),
        }


def _plan(model: ModelInfo) -> list[tuple[Piece, range]]:
    at_once = max(1, HEADS_A_PIECE // model.n_heads)
    return [
        (
            Piece(
                f"layers/{block.start}-{block.stop - 1}",
                f"Probes, layers {block.start}–{block.stop - 1}",
                weight=len(block),
            ),
            block,
        )
        for block in blocks(range(model.n_layers), at_once)
    ]


def _facts(rows: Probing) -> dict[str, np.ndarray]:
    """What every piece says of the rows: names as bytes, a line each; rows of each label."""
    count = len(rows.names)
    return {
        "names": np.frombuffer("\n".join(" ".join(name.split()) for name in rows.names).encode(), np.uint8),
        "train_counts": np.bincount(rows.train.labels, minlength=count),
        "test_counts": np.bincount(rows.test.labels, minlength=count),
        "left_out": np.array([rows.n_left_out]),
    }


def _notes(values: Mapping[str, Any], unsettled: int, left_out: int, p: np.ndarray) -> list[str]:
    notes = []
    if values["n_test"] < 100:
        notes.append(f"{values['n_test']} held-out rows: accuracies are known roughly.")
    if left_out:
        notes.append(
            f"{left_out} rows have other answers than the {len(values['labels'])} labels and were left out."
        )
    if unsettled:
        notes.append(f"The fits of {unsettled} heads were stopped before they had settled.")
    if not (p < SIGNIFICANT).any():
        notes.append("From no head can the label be read significantly better than by guessing.")
    return notes
