from __future__ import annotations

import pytest
import torch

from headscope.core.gating.evaluation import evaluate, example_scores
from headscope.errors import Invalid
from micro.model import MicroExample, MicroModel, random_examples, random_model


def _bigram_model() -> MicroModel:
    """Token t predicts t + 1 with probability 1/2 and each of the other three with 1/6; its one head does
    nothing.
    """
    table = torch.log(torch.full((4, 4), 1 / 6, dtype=torch.float64))
    for token in range(4):
        table[token, (token + 1) % 4] = torch.log(torch.tensor(0.5))
    none = torch.zeros(1, 1, 4, 2, dtype=torch.float64)
    return MicroModel(
        torch.eye(4, dtype=torch.float64),
        torch.zeros(8, 4, dtype=torch.float64),
        none,
        none,
        none,
        none.transpose(2, 3),
        table,
    )


def test_scores_worked_by_hand() -> None:
    examples = [MicroExample((0, 1, 2), (1, 2)), MicroExample((0, 1, 3), (1, 2)), MicroExample((3, 0), (1,))]
    score = evaluate(_bigram_model(), examples)
    log = torch.log(torch.tensor([0.5, 1 / 6], dtype=torch.float64))
    assert score.correct.tolist() == [[1.0, 0.0, 1.0]]
    assert score.accuracy.item() == pytest.approx(2 / 3)
    assert score.log_probability.item() == pytest.approx((log[0] + (log[0] + log[1]) / 2 + log[0]).item() / 3)


def test_judged_by_each_token_an_answer_may_be_right_in_part() -> None:
    examples = [MicroExample((0, 1, 3), (1, 2)), MicroExample((3, *range(4), 0, 1), tuple(range(1, 7)))]
    whole, each = (evaluate(_bigram_model(), examples, judged=judged) for judged in ("top", "each"))
    assert whole.correct.tolist() == [[0.0, 1.0]]
    assert each.correct[0].tolist() == pytest.approx([0.5, 1.0])
    assert each.accuracy.item() == pytest.approx(0.75)


def test_a_pair_is_judged_by_the_likelier_answer_even_where_neither_is_on_top() -> None:
    examples = [
        MicroExample((0, 1), (1,), counterfactual=(2,)),
        MicroExample((0, 2), (1,), counterfactual=(1,)),
        MicroExample((0, 2), (1,), counterfactual=(3, 3)),
    ]
    score = evaluate(_bigram_model(), examples, judged="pair")
    assert score.correct.tolist() == [[1.0, 0.0, 1.0]]


def test_a_pair_needs_its_counterfactual() -> None:
    with pytest.raises(Invalid, match="counterfactual"):
        evaluate(_bigram_model(), [MicroExample((0, 1), (1,))], judged="pair")


def test_each_set_of_gates_is_scored_by_itself_and_open_gates_are_no_gates() -> None:
    model, examples = random_model(), random_examples(7)
    gates = torch.rand(3, 2, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    gates[2] = 1.0
    score = evaluate(model, examples, gates)
    for index in range(3):
        alone = evaluate(model, examples, gates[index : index + 1])
        torch.testing.assert_close(
            score.log_probability[index], alone.log_probability[0], rtol=1e-10, atol=1e-12
        )
    torch.testing.assert_close(score.log_probability[2], evaluate(model, examples).log_probability[0])


def test_failed_gates_score_nothing() -> None:
    gates = torch.ones(2, 2, 3, dtype=torch.float64)
    gates[0] = torch.nan
    score = evaluate(random_model(), random_examples(5), gates)
    assert score.log_probability.isnan().tolist() == [True, False]
    assert score.accuracy.isnan().tolist() == [True, False]
    assert not score.correct[0].any()


def test_metrics_of_each_example() -> None:
    """Of single tokens, the difference of log-probabilities is that of logits."""
    model = random_model()
    gates = torch.tensor([0.0, 1.0], dtype=torch.float64)[:, None, None].expand(2, 2, 3)
    examples = [
        MicroExample((3, 1, 2), (2,), counterfactual=(5,)),
        MicroExample((4, 0), (1,), counterfactual=(7,)),
    ]
    logp = example_scores(model, examples, gates)
    torch.testing.assert_close(logp.mean(dim=1), evaluate(model, examples, gates).log_probability)
    difference = example_scores(model, examples, gates, metric="logit_difference")
    swapped = [MicroExample((*e.tokens[:-1], *(e.counterfactual or ())), e.targets) for e in examples]
    torch.testing.assert_close(difference, logp - example_scores(model, swapped, gates))
    with pytest.raises(Invalid) as refused:
        example_scores(model, [MicroExample((0, 1), (1,))], gates, metric="logit_difference")
    assert refused.value.code == "no-counterfactual"
