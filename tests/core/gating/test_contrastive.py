from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch

from headscope.core.gating.batch_order import batches
from headscope.core.gating.contrastive import ContrastState, contrast, contrast_gradient
from headscope.core.gating.fit import Phase, initial_logits
from headscope.errors import Cancelled, Invalid
from micro.model import MicroExample, MicroModel, random_examples, random_model

SEEDS = (0, 3)
LAYERS, HEADS = 2, 3
RETAIN, FORGET = random_examples(20, seed=1), random_examples(20, seed=2)


def _phase(regularisation: float = 0.1, steps: int = 12) -> Phase:
    return Phase(steps, regularisation, 0.1, 0.01, batch_size=6, stream="contrast")


def _start(seeds: Sequence[int] = SEEDS) -> ContrastState:
    return ContrastState.fresh(initial_logits(seeds, LAYERS, HEADS, torch.float64))


def _plain_logp(model: MicroModel, examples: Sequence[MicroExample], gates: torch.Tensor) -> torch.Tensor:
    """Mean over examples of the mean over target tokens, one example at a time."""
    found = []
    for example in examples:
        with model.gated(gates):
            logp = model.logits(torch.tensor([example.tokens]))[0].log_softmax(dim=-1)
        found.append(torch.stack([logp[p - 1, example.tokens[p]] for p in example.targets]).mean())
    return torch.stack(found).mean()


def _plain_fit(model: MicroModel, seed: int, phase: Phase, floor: float) -> tuple[torch.Tensor, list[float]]:
    """The loss as the source writes it, by autograd, torch's own Adam and clipping."""
    logits = initial_logits([seed], LAYERS, HEADS, torch.float64)[0].requires_grad_()
    optimiser = torch.optim.Adam([logits], lr=1.0)
    draws = [batches(seed, f"contrast/{name}/0", 20, phase.batch_size) for name in ("retain", "forget")]
    differences = []
    for step in range(phase.steps):
        kept, lost = (
            _plain_logp(model, [examples[i] for i in next(draw)], logits.sigmoid())
            for examples, draw in zip((RETAIN, FORGET), draws, strict=True)
        )
        loss = -kept + torch.clamp(lost - kept.detach(), min=floor)
        loss = loss - phase.regularisation * logits.clamp(-4, 4).mean()
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_([logits], phase.clip)
        optimiser.param_groups[0]["lr"] = 0.1 + (0.01 - 0.1) * step / (phase.steps - 1)
        optimiser.step()
        differences.append(float((lost - kept).detach()))
    return logits.detach().sigmoid(), differences


@pytest.mark.parametrize("regularisation", [0.1, -0.1])
def test_seeds_in_one_batch_equal_a_plain_fit_of_each(regularisation: float) -> None:
    model, phase = random_model(), _phase(regularisation)
    together = contrast(model, [RETAIN], [FORGET], SEEDS, phase, _start())
    for index, seed in enumerate(SEEDS):
        gates, differences = _plain_fit(model, seed, phase, -5.0)
        torch.testing.assert_close(together.gates[index], gates, rtol=1e-7, atol=1e-9)
        ours = (together.forgotten - together.retained)[index].tolist()
        torch.testing.assert_close(ours, differences, rtol=1e-9, atol=1e-9)


def test_what_is_forgotten_enough_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A floor within reach: some updates lie below it, some above, and both are those of the plain fit."""
    model, phase, floor = random_model(), _phase(steps=20), -0.05
    monkeypatch.setattr("headscope.core.gating.contrastive.FLOOR", floor)
    ours = contrast(model, [RETAIN], [FORGET], [0], phase, _start([0]))
    gates, differences = _plain_fit(model, 0, phase, floor)
    assert min(differences) < floor < max(differences)
    torch.testing.assert_close(ours.gates[0], gates, rtol=1e-7, atol=1e-9)


def test_the_gradient_equals_autograd_above_and_below_the_floor() -> None:
    model = random_model()
    logits = initial_logits([0], LAYERS, HEADS, torch.float64)
    for floor in (-100.0, 100.0):
        leaf = logits[0].clone().requires_grad_()
        kept, lost = (_plain_logp(model, examples, leaf.sigmoid()) for examples in (RETAIN, FORGET))
        slopes = [torch.autograd.grad(-value, leaf, retain_graph=True)[0][None] for value in (kept, lost)]
        (expected,) = torch.autograd.grad(-kept + torch.clamp(lost - kept.detach(), min=floor), leaf)
        ours = contrast_gradient(-kept.detach()[None], slopes[0], -lost.detach()[None], slopes[1], floor)
        torch.testing.assert_close(ours[0], expected, rtol=1e-10, atol=1e-12)


def test_a_fit_in_pieces_equals_the_fit_at_once() -> None:
    model, phase = random_model(), _phase()
    sets = [RETAIN[:8], RETAIN[8:]], [FORGET]
    whole = contrast(model, *sets, SEEDS, phase, _start())
    half = contrast(model, *sets, SEEDS, phase, _start(), 5)
    rest = contrast(model, *sets, SEEDS, phase, half)
    assert torch.equal(whole.logits, rest.logits)
    assert torch.equal(whole.retained, torch.cat([half.retained, rest.retained], dim=1))
    assert torch.equal(whole.forgotten, torch.cat([half.forgotten, rest.forgotten], dim=1))


def test_each_task_of_a_set_gives_an_equal_share(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[int]] = []

    def spy(model: object, examples: object, rows: list[tuple[int, int]], logits: torch.Tensor, _: object):  # type: ignore[no-untyped-def]
        seen.append([index for _, index in rows])
        return torch.ones(1, dtype=torch.float64), torch.zeros_like(logits)

    monkeypatch.setattr("headscope.core.gating.contrastive.loss_and_gradient", spy)
    few, many = random_examples(7), random_examples(400)
    contrast(random_model(), [few, many], [FORGET], [0], _phase(0.0, steps=30), _start([0]))
    for retained in seen[::2]:
        assert len(retained) == 6
        assert sum(index < 7 for index in retained) == 3
    drawn = {index for retained in seen[::2] for index in retained}
    assert {index for index in drawn if index < 7} == set(range(7))


def test_a_seed_that_fails_is_given_up_and_the_others_go_on() -> None:
    start = initial_logits(SEEDS, LAYERS, HEADS, torch.float64)
    start[0, 0, 0] = torch.nan
    fit = contrast(random_model(), [RETAIN], [FORGET], SEEDS, _phase(), ContrastState.fresh(start))
    assert fit.gates[0].isnan().all() or fit.gates[0, 0, 0].isnan()
    assert fit.retained[0].isnan().all()
    assert fit.gates[1].isfinite().all()
    alone = contrast(random_model(), [RETAIN], [FORGET], SEEDS[1:], _phase(), _start(SEEDS[1:]))
    torch.testing.assert_close(fit.gates[1], alone.gates[0])


def test_cancelling_and_empty_sets_are_passed_on() -> None:
    def stop() -> None:
        raise Cancelled("Stopped.", "Restart it.")

    with pytest.raises(Cancelled):
        contrast(random_model(), [RETAIN], [FORGET], SEEDS, _phase(), _start(), checkpoint=stop)
    with pytest.raises(Invalid, match="no training examples"):
        contrast(random_model(), [RETAIN], [[]], SEEDS, _phase(), _start())
