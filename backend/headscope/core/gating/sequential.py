"""Sequential ablation [Causal Head Gating, arXiv 2505.13737]: heads closed, and opened, one after another.

1. Every example runs twice side by side, as a row of each form. Under a base mask of gates one pass keeps the
   stream that goes into each layer which some order changes first.
2. For each order and each number k of heads a pass has the first k at 0 in one form, at 1 in the other. It
   begins at the first layer that holds a head which joined since the k before: below it all is as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from jaxtyping import Float, Int

from headscope.core.gating.removal import first_changed, forms
from headscope.core.gating.replacements import Replacements, at_rows, cut
from headscope.core.gating.targets import target_logits
from headscope.core.model.batches import MicroBatch, Scored, check_examples
from headscope.core.model.head_model import HeadModel
from headscope.core.model.replacement import Replacement

CLOSED, OPENED = range(2)


def removed(
    model: HeadModel,
    examples: Sequence[Scored],
    base: Float[np.ndarray, "layer head"],
    orders: Int[np.ndarray, "order rank"],
    tried: Sequence[int],
    *,
    replacements: Replacements | None = None,
    checkpoint: Callable[[], None] = lambda: None,
    report: Callable[[int, int], None] = lambda done, of: None,
) -> Float[np.ndarray, "order count 2 example"]:
    """Log-probability of each example's target tokens, their mean in nats, with the first k heads of each
    order closed and opened; the other gates are the base mask's. Closed heads give what ``replacements`` say,
    in both forms and at all counts the same; nothing without them.

    ``tried`` are the numbers k, rising from 0. ``report`` is told how many orders of how many are done, over
    all micro-batches. Raises ``Invalid`` for examples that can't be scored.
    """
    check_examples(examples, model.info.n_ctx, "held-out")
    rows = [(form, index) for form in (CLOSED, OPENED) for index in range(len(examples))]
    batches = cut(model, rows, examples, replacements)
    found = np.zeros((len(orders), len(tried), 2, len(examples)))
    for number, batch in enumerate(batches):
        checkpoint()
        walk = _Walk(model, batch, at_rows(replacements, model, batch, examples), base, orders, tried)
        for index in range(len(orders)):
            walk.go(index, found[index], checkpoint)
            report(number * len(orders) + index + 1, len(batches) * len(orders))
    found[:, 0, OPENED] = found[:, 0, CLOSED]  # no heads are taken: it is one mask, however it was summed
    return found


class _Walk:
    """One micro-batch, with the streams of the base mask."""

    def __init__(
        self,
        model: HeadModel,
        batch: MicroBatch,
        replacement: Replacement | None,
        base: np.ndarray,
        orders: np.ndarray,
        tried: Sequence[int],
    ) -> None:
        self._model, self._batch, self._base, self._replacement = model, batch, base, replacement
        self._orders, self._tried = orders, tried
        self._starts = [first_changed(order, tried, model.info.n_heads) for order in orders]
        layers = sorted({start for starts in self._starts for start in starts})
        with model.streams(layers) as self._streams:
            self._unchanged = self._pass(forms(base, orders[0], [0])[0])

    def go(self, index: int, found: np.ndarray, checkpoint: Callable[[], None]) -> None:
        """Fill in [count, form, example] of one order."""
        masks = forms(self._base, self._orders[index], self._tried)
        starts = self._starts[index]
        place = (self._batch.owners.numpy(), self._batch.examples.numpy())
        found[0][place] = self._unchanged
        held = dict(self._streams)
        for step, start in enumerate(starts, start=1):
            checkpoint()
            later = sorted({layer for layer in starts[step:] if layer > start})
            with self._model.resumed(start, held[start]), self._model.streams(later) as streams:
                found[step][place] = self._pass(masks[step])
            held.update(streams)

    @torch.no_grad()
    def _pass(self, masks: np.ndarray) -> np.ndarray:
        """[row]: the mean log-probability of the row's target tokens; each row is under its form's mask."""
        gates = torch.from_numpy(masks).to(self._model.device)
        predicted = target_logits(self._model, self._batch, gates, self._replacement).cpu()
        chosen = predicted.log_softmax(dim=1).gather(1, self._batch.answers[:, None])[:, 0].double()
        rows = torch.zeros(len(self._batch.owners), dtype=torch.float64)
        return rows.index_add_(0, self._batch.where[:, 0], chosen * self._batch.weights).numpy()
