from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
import torch

from headscope.core.gating.batch_order import batches, batches_of_sets, generator
from headscope.core.gating.fit import (
    FitState,
    Phase,
    advance,
    clip_per_seed,
    initial_logits,
    loss_and_gradient,
    push_gradient,
)
from headscope.core.model.cost import Budget
from headscope.errors import Cancelled, Invalid
from micro.model import MicroExample, MicroModel, random_examples, random_model

SEEDS = (0, 3, 7)
LAYERS, HEADS = 2, 3


def _phase(regularisation: float = 0.1, steps: int = 20) -> Phase:
    return Phase(steps, regularisation, 0.5, 0.1, batch_size=6, stream="push")


def _start(seeds: Sequence[int] = SEEDS) -> FitState:
    return FitState.fresh(initial_logits(seeds, LAYERS, HEADS, torch.float64))


def _plain_nll(model: MicroModel, example: MicroExample, gates: torch.Tensor) -> torch.Tensor:
    """NLL averaged over the example's target tokens: the whole sequence, one example, no masking."""
    with model.gated(gates):
        log_probability = model.logits(torch.tensor([example.tokens]))[0].log_softmax(dim=-1)
    picked = [log_probability[position - 1, example.tokens[position]] for position in example.targets]
    return -torch.stack(picked).mean()


def _plain_fit(
    model: MicroModel, examples: list[MicroExample], seed: int, phase: Phase
) -> tuple[torch.Tensor, list[float]]:
    """The same fit by torch's own Adam and clipping, one seed, one example at a time."""
    logits = initial_logits([seed], LAYERS, HEADS, torch.float64)[0].requires_grad_()
    optimiser = torch.optim.Adam([logits], lr=1.0)
    draw = batches(seed, phase.stream, len(examples), phase.batch_size)
    losses = []
    for step in range(phase.steps):
        nll = torch.stack([_plain_nll(model, examples[i], logits.sigmoid()) for i in next(draw)]).mean()
        loss = nll - phase.regularisation * logits.clamp(-4, 4).mean()
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_([logits], phase.clip)
        optimiser.param_groups[0]["lr"] = 0.5 + (0.1 - 0.5) * step / (phase.steps - 1)
        optimiser.step()
        losses.append(float(nll.detach()))
    return logits.detach().sigmoid(), losses


@pytest.mark.parametrize("regularisation", [0.1, -0.1])
def test_seeds_in_one_batch_equal_a_plain_fit_of_each(regularisation: float) -> None:
    model, examples, phase = random_model(), random_examples(30), _phase(regularisation)
    together = advance(model, examples, SEEDS, phase, _start())
    for index, seed in enumerate(SEEDS):
        gates, losses = _plain_fit(model, examples, seed, phase)
        torch.testing.assert_close(together.gates[index], gates, rtol=1e-7, atol=1e-9)
        torch.testing.assert_close(together.losses[index].tolist(), losses, rtol=1e-9, atol=1e-9)


def test_seeds_in_one_batch_equal_one_by_one() -> None:
    model, examples, phase = random_model(), random_examples(30), _phase()
    together = advance(model, examples, SEEDS, phase, _start())
    alone = [advance(model, examples, [seed], phase, _start([seed])) for seed in SEEDS]
    torch.testing.assert_close(together.gates, torch.cat([fit.gates for fit in alone]), rtol=1e-9, atol=1e-10)


def test_a_phase_in_pieces_equals_the_phase_at_once() -> None:
    model, examples, phase = random_model(), random_examples(30), _phase()
    whole = advance(model, examples, SEEDS, phase, _start())
    half = advance(model, examples, SEEDS, phase, _start(), 8)
    rest = advance(model, examples, SEEDS, phase, half)
    assert torch.equal(whole.logits, rest.logits)
    assert torch.equal(whole.losses, torch.cat([half.losses, rest.losses], dim=1))


def test_loss_and_gradient_equal_autograd_in_plain_torch() -> None:
    model, examples = random_model(), random_examples(9)
    rows = [(0, 0), (0, 1), (0, 2), (1, 3), (1, 4), (1, 0)]
    logits = initial_logits([0, 1], LAYERS, HEADS, torch.float64)
    loss, gradient = loss_and_gradient(model, examples, rows, logits)
    plain = logits.clone().requires_grad_()
    for seed in range(2):
        mine = [_plain_nll(model, examples[i], plain[seed].sigmoid()) for s, i in rows if s == seed]
        mean = torch.stack(mine).mean()
        mean.backward()
        assert loss[seed].item() == pytest.approx(mean.item(), rel=1e-12)
    assert plain.grad is not None
    torch.testing.assert_close(gradient, plain.grad, rtol=1e-10, atol=1e-12)


def test_batched_equals_unbatched(monkeypatch: pytest.MonkeyPatch) -> None:
    model, examples = random_model(), random_examples(9)
    rows = [(s, i) for s in range(2) for i in range(9)]
    logits = initial_logits([0, 1], LAYERS, HEADS, torch.float64)
    at_once = loss_and_gradient(model, examples, rows, logits)
    assert len(model.seen) == 1
    monkeypatch.setattr("headscope.core.gating.replacements.budget_for", lambda _: Budget(1.0, 1.0))
    model.seen.clear()
    one_by_one = loss_and_gradient(model, examples, rows, logits)
    assert len(model.seen) == len(rows)
    for ours, theirs in zip(at_once, one_by_one, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-12)


def test_the_learning_rate_falls_linearly_from_first_to_last_update() -> None:
    phase = Phase(500, 0.0, 0.1, 0.01, batch_size=1)
    assert phase.lr(0) == pytest.approx(0.1)
    assert phase.lr(499) == pytest.approx(0.01)
    assert phase.lr(100) == pytest.approx(0.1 - 0.09 * 100 / 499)
    assert Phase(1, 0.0, 0.1, 0.01, batch_size=1).lr(0) == 0.1


def test_the_push_is_a_mean_over_heads_and_ends_at_the_clamp() -> None:
    logits = torch.tensor([[[-5.0, -3.9, 0.0], [3.9, 4.0, 4.1]]], dtype=torch.float64)
    expected = torch.tensor([[[0.0, 1, 1], [1, 1, 0]]], dtype=torch.float64) * -0.1 / 6
    torch.testing.assert_close(push_gradient(logits, 0.1, 4.0), expected)
    leaf = logits.clone().requires_grad_()
    (-0.1 * leaf.clamp(-4, 4).mean(dim=(1, 2))).sum().backward()
    torch.testing.assert_close(push_gradient(logits, 0.1, 4.0), leaf.grad)


def test_gradients_are_clipped_seed_by_seed() -> None:
    gradient = torch.tensor([[[3.0, 4.0]], [[0.3, 0.4]]])
    clipped = clip_per_seed(gradient, 1.0)
    torch.testing.assert_close(clipped[0], torch.tensor([[0.6, 0.8]]), rtol=1e-5, atol=0)
    assert torch.equal(clipped[1], gradient[1])


def test_a_seed_fixes_gates_and_batches_and_seeds_differ() -> None:
    first, second = initial_logits([4, 5], 2, 3, torch.float64)
    assert torch.equal(first, initial_logits([4], 2, 3, torch.float64)[0])
    assert not torch.equal(first, second)
    gates = initial_logits(range(200), 2, 3, torch.float64).sigmoid()
    assert gates.mean().item() == pytest.approx(0.5, abs=0.03)
    assert gates.var().item() == pytest.approx(1 / 12, abs=0.01)
    draws = [
        next(batches(seed, stream, 50, 8))
        for seed, stream in ((4, "zero"), (4, "zero"), (4, "push"), (5, "zero"))
    ]
    assert draws[0] == draws[1]
    assert len({tuple(draw) for draw in draws}) == 3
    assert generator(4, "gates").initial_seed() != generator(4, "zero").initial_seed()


def test_a_batch_holds_no_example_twice_and_a_small_training_set_is_used_whole() -> None:
    draw = batches(0, "zero", 20, 16)
    assert all(len(set(next(draw))) == 16 for _ in range(5))
    assert sorted(next(batches(0, "zero", 5, 16))) == [0, 1, 2, 3, 4]


def test_a_seed_whose_loss_is_not_finite_is_given_up_and_the_others_go_on() -> None:
    model, examples, phase = random_model(), random_examples(30), _phase(steps=5)
    start = _start()
    start.logits[1, 0, 0] = torch.nan
    fit = advance(model, examples, SEEDS, phase, start)
    assert fit.gates[1].isnan().all()
    assert fit.losses[1].isnan().all()
    alone = advance(model, examples, [SEEDS[2]], phase, _start([SEEDS[2]]))
    torch.testing.assert_close(fit.gates[2], alone.gates[0], rtol=1e-9, atol=1e-10)


def test_an_infinite_loss_fails_only_the_seed_that_met_it() -> None:
    model, examples = random_model(), random_examples(6, vocab=10)
    model.W_E[10] = torch.inf
    broken = MicroExample((10, 1, 2), (2,))
    loss, _ = loss_and_gradient(
        model, [*examples, broken], [(0, 0), (1, 6)], initial_logits([0, 1], LAYERS, HEADS, torch.float64)
    )
    assert math.isfinite(loss[0])
    assert loss[1].isnan()


def test_a_checkpoint_stops_the_fit_with_no_gates_left_on_the_model() -> None:
    model, examples = random_model(), random_examples(6)
    calls = []

    def checkpoint() -> None:
        assert model.gates is None
        calls.append(1)
        if len(calls) == 3:
            raise Cancelled("Stopped.", "")

    with pytest.raises(Cancelled):
        advance(model, examples, SEEDS, _phase(), _start(), checkpoint=checkpoint)
    assert model.gates is None


def test_progress_is_reported_after_each_update() -> None:
    seen: list[tuple[int, float]] = []
    fit = advance(
        random_model(),
        random_examples(6),
        SEEDS,
        _phase(steps=3),
        _start(),
        report=lambda step, loss: seen.append((step, loss)),
    )
    assert [step for step, _ in seen] == [1, 2, 3]
    assert seen[2][1] == pytest.approx(fit.losses[:, 2].mean().item())


@pytest.mark.parametrize(
    ("example", "code"),
    [
        (MicroExample(tuple(range(9)) * 2, (17,)), "too-long"),
        (MicroExample((1, 2, 3), ()), "no-target"),
        (MicroExample((1, 2, 3), (0,)), "no-target"),
        (MicroExample((1, 2, 3), (3,)), "no-target"),
    ],
)
def test_an_example_that_cannot_be_scored_is_refused(example: MicroExample, code: str) -> None:
    with pytest.raises(Invalid) as error:
        advance(random_model(), [example], [0], _phase(), _start([0]))
    assert error.value.code == code


def test_no_examples_are_refused() -> None:
    with pytest.raises(Invalid, match="no training examples"):
        advance(random_model(), [], [0], _phase(), _start([0]))


def test_a_batch_is_of_one_set_and_all_sets_have_their_turn() -> None:
    sets = [0, 2, 2, 0, 5, 2, 2]
    drawn = [next(draw) for draw in [batches_of_sets(4, "push", sets, 3)] for _ in range(30)]
    assert all(len({sets[i] for i in batch}) == 1 and len(set(batch)) == len(batch) for batch in drawn)
    assert {len(batch) for batch in drawn} == {1, 2, 3}
    for start in range(0, 30, 3):
        assert {sets[batch[0]] for batch in drawn[start : start + 3]} == {0, 2, 5}
    again = batches_of_sets(4, "push", sets, 3)
    assert [next(again) for _ in range(30)] == drawn
    other = batches_of_sets(5, "push", sets, 3)
    assert [next(other) for _ in range(30)] != drawn


def test_a_fit_by_sets_is_the_fit_of_their_batches_and_goes_on_where_it_stopped() -> None:
    model, examples = random_model(), random_examples(9)
    sets = [0, 1, 2] * 3
    phase = _phase(steps=7)
    whole = advance(model, examples, SEEDS, phase, _start(), sets=sets)
    half = advance(model, examples, SEEDS, phase, _start(), 4, sets=sets)
    rest = advance(model, examples, SEEDS, phase, half, sets=sets)
    assert torch.equal(whole.logits, rest.logits)
    draw = batches_of_sets(SEEDS[0], phase.stream, sets, phase.batch_size)
    first = next(draw)
    loss, _ = loss_and_gradient(model, examples, [(0, i) for i in first], _start([SEEDS[0]]).logits)
    torch.testing.assert_close(whole.losses[0, 0], loss[0])
