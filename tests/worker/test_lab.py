"""What the lab's endpoints say, against computations of the tests' own, over HTTP on a small random model."""

from __future__ import annotations

import json
import math
from typing import get_args

import numpy as np
import pytest
import torch
import transformers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headscope.core.arrays import decode, encode
from headscope.core.gating.ablation import ABLATIONS
from headscope.core.gating.text_replacements import of_text
from headscope.core.patterns.reading import NO_KEY
from headscope.errors import HeadscopeError, Invalid, Refused
from headscope.messages import (
    AttributionIn,
    ContinueIn,
    GatesIn,
    HeadAblationIn,
    LensIn,
    LookIn,
    PatternsIn,
    TypedArray,
)
from headscope.messages.lab import Ablation
from headscope.messages.questions import ABLATION, ATTRIBUTION, CONTINUE, GATES, LENS, LOOK, PATTERNS
from headscope.tasks.catalogue import TaskCatalogue
from headscope.worker.lab import patterns as lab_patterns
from headscope.worker.lab.plan import Plan, admit
from headscope.worker.lab.references import ROWS
from worker.conftest import Served

TEXT = "the cat sat on the mat, the cat sat"
OPEN = [[1.0] * 4] * 3
UNKNOWN = encode(np.full((3, 4), np.nan, "f4"))
ODD = ("<|bos|>", "\x00", "a\x00b", "👩\u200d🚀", "<b>&amp;", "\u202eabc", "e\u0301", "\ufeff", " \n\t ")


def muted(*heads: tuple[int, int]) -> list[list[float]]:
    gates = np.ones((3, 4))
    for layer, head in heads:
        gates[layer, head] = 0
    return gates.tolist()


def array(value: TypedArray | None) -> np.ndarray:
    assert value is not None
    return decode(value)


def numbers(losses: list[float | None]) -> np.ndarray:
    """Losses with NaN for none, as arrays have it."""
    return np.array(losses, dtype=np.float64)


@pytest.fixture(scope="module")
def precise(worker: Served) -> transformers.GPT2LMHeadModel:
    """The same weights in float64, without anything of ours around them."""
    folder = worker.handler.catalogue.folder("tiny")
    return transformers.GPT2LMHeadModel.from_pretrained(
        folder, dtype=torch.float64, attn_implementation="eager"
    ).eval()


def log_probabilities(
    model: transformers.GPT2LMHeadModel, ids: list[int], gates: list[list[float]]
) -> torch.Tensor:
    """[pos, vocab], float64, with each head's slice of the input of c_proj scaled by its gate."""
    hooks = []
    for block, row in zip(model.transformer.h, gates, strict=True):
        scale = torch.tensor(row, dtype=torch.float64).repeat_interleave(8)
        hooks.append(
            block.attn.c_proj.register_forward_pre_hook(lambda _, args, scale=scale: (args[0] * scale,))
        )
    with torch.no_grad():
        out: torch.Tensor = model(input_ids=torch.tensor([ids])).logits[0].log_softmax(-1)
    for hook in hooks:
        hook.remove()
    return out


def test_gates_say_what_the_weights_say(worker: Served, precise: transformers.GPT2LMHeadModel) -> None:
    gates = [[1.0, 0.0, 0.3, 1.0], [0.5, 1.0, 1.0, 0.0], [0.0, 1.0, 0.8, 1.0]]
    answer = worker.client.ask(
        GATES, GatesIn(model="tiny", text=TEXT, gates=gates, at=4, answers=[7, 11], top=5)
    )
    ids = [token.id for token in answer.tokens]
    before, after = log_probabilities(precise, ids, OPEN), log_probabilities(precise, ids, gates)
    assert answer.at == 4
    assert answer.kl == pytest.approx(
        float((before[4].exp() * (before[4] - after[4])).sum()), rel=1e-4, abs=1e-7
    )
    for followed, index in zip(answer.answers, (7, 11), strict=True):
        assert (followed.before, followed.after) == pytest.approx(
            (float(before[4, index]), float(after[4, index])), abs=1e-5
        )
        assert followed.rank_after == int((after[4] > after[4, index]).sum())
        assert followed.rank_before == int((before[4] > before[4, index]).sum())
    assert answer.logit_difference is not None
    assert answer.logit_difference.after == pytest.approx(float(after[4, 7] - after[4, 11]), abs=1e-5)
    for said, logp in ((answer.loss_before, before), (answer.loss_after, after)):
        assert said[0] is None
        mine = [-float(logp[i, ids[i + 1]]) for i in range(len(ids) - 1)]
        assert said[1:] == pytest.approx(mine, abs=1e-5)
    most = torch.maximum(before[4], after[4]).topk(5).indices.tolist()
    assert [row.token.id for row in answer.next] == most
    assert answer.next[0].after == pytest.approx(float(after[4, most[0]].exp()), abs=1e-6)


def test_a_move_of_the_gates_costs_one_pass(worker: Served) -> None:
    with worker.handler.models.model("tiny", dtype="float32", attention="sdpa") as model:
        passes: list[int] = []
        hook = model.module.register_forward_pre_hook(lambda *_: passes.append(1))  # type: ignore[attr-defined]
        try:
            text = "a cat that nobody asked about"
            counts = []
            for gates in (muted((0, 1)), muted((0, 2)), OPEN, muted((1, 1), (2, 2))):
                passes.clear()
                worker.client.ask(GATES, GatesIn(model="tiny", text=text, gates=gates))
                counts.append(len(passes))
        finally:
            hook.remove()
    assert counts == [2, 1, 0, 1]


def test_what_is_kept_is_what_would_be_computed(worker: Served) -> None:
    def ask(at: int | None, gates: list[list[float]] = OPEN, bos: bool | None = None) -> str:
        answer = worker.client.ask(GATES, GatesIn(model="tiny", text=TEXT, gates=gates, at=at, bos=bos))
        return json.dumps([answer.loss_before, [(t.token.id, t.before) for t in answer.next]])

    first = [ask(2), ask(3), ask(3, bos=False), ask(None)]
    assert len(set(first)) == 4, "another position and another BOS are other readings"
    worker.handler.readings._readings.clear()
    assert [ask(2), ask(3), ask(3, bos=False), ask(None)] == first


def test_a_look_agrees_with_the_patterns(worker: Served) -> None:
    seen = worker.client.ask(LOOK, LookIn(model="tiny", text=TEXT))
    patterns = array(worker.client.ask(PATTERNS, PatternsIn(model="tiny", text=TEXT)).patterns).astype("f8")
    values = dict(zip((score.name for score in seen.scores), array(seen.values), strict=True))
    n = len(seen.tokens)
    late = np.arange(1, n)
    np.testing.assert_allclose(values["previous"], patterns[:, :, late, late - 1].mean(-1), atol=1e-5)
    np.testing.assert_allclose(values["sink"], patterns[:, :, 1:, 0].mean(-1), atol=1e-5)
    pairs = [(i, c[-1] + 1) for i, c in enumerate(seen.copies) if c and c[-1] + 1 < i]
    stripe = np.mean([patterns[:, :, i, p] for i, p in pairs], axis=0)
    np.testing.assert_allclose(values["induction"], stripe, atol=1e-5)
    assert seen.sink == pytest.approx(patterns[:, :, 1:, 0].mean(), abs=1e-5)
    assert (seen.bos, seen.n_ctx, seen.n_kv_heads) == ("added", 64, 4)
    assert seen.copies[0] == [], "BOS is no text"
    thumbs = array(seen.thumbs.values)
    assert (seen.thumbs.size, seen.thumbs.block) == (n, 1)
    rows, columns = np.tril_indices(n)
    np.testing.assert_allclose((thumbs / 255.0) ** 2, patterns[:, :, rows, columns], atol=4e-3)


def test_a_look_says_what_heads_give_above_their_columns_and_what_may_be_claimed(worker: Served) -> None:
    seen = worker.client.ask(LOOK, LookIn(model="tiny", text=TEXT))
    patterns = array(worker.client.ask(PATTERNS, PatternsIn(model="tiny", text=TEXT)).patterns).astype("f8")
    above = seen.above
    assert above is not None
    assert above.names == ["induction", "duplicate", "previous"]
    n = len(seen.tokens)
    aims = [{p + 1 for p in seen.copies[i] if p + 1 < i} for i in range(n)]
    others = {k: [q for q in range(k, n) if k not in aims[q]] for k in range(1, n)}
    level = {k: patterns[:, :, rows, k].mean(-1) for k, rows in others.items()}
    excess = [sum(patterns[:, :, i, k] - level[k] for k in aims[i]) for i in range(n) if aims[i]]
    np.testing.assert_allclose(array(above.values)[0], np.mean(excess, axis=0), atol=1e-5)
    low, high = array(above.low)[0], array(above.high)[0]
    assert (low <= array(above.values)[0] + 1e-6).all()
    assert (high >= array(above.values)[0] - 1e-6).all()
    assert above.queries == [len(excess), sum(map(bool, seen.copies)), n - 1]
    assert above.tells == [count >= 8 for count in above.queries] == [False, False, True]
    words = np.array(above.claim_words)[array(above.claims)]
    assert set(words[0].reshape(-1)) == {"too few"}
    assert "too few" not in words[2]


def test_random_repeats_rank_where_a_prompt_repeats_too_little_and_are_measured_once(worker: Served) -> None:
    gates = muted((1, 2))
    few = worker.client.ask(LOOK, LookIn(model="tiny", text=TEXT)).above
    gated = worker.client.ask(LOOK, LookIn(model="tiny", text=TEXT, gates=gates)).above
    enough = worker.client.ask(LOOK, LookIn(model="tiny", text="cat dog " * 6)).above
    assert few is not None
    assert gated is not None
    assert enough is not None
    assert array(few.repeats).shape == (3, 3, 4)
    assert few.repeats == gated.repeats, "of the ungated model, kept"
    assert enough.tells == [True] * 3
    assert enough.repeats is None


def test_losses_of_a_look_are_those_of_the_gates(worker: Served) -> None:
    gates = muted((1, 2))
    answer = worker.client.ask(GATES, GatesIn(model="tiny", text=TEXT, gates=gates))
    for seen, losses in (
        (worker.client.ask(LOOK, LookIn(model="tiny", text=TEXT)), answer.loss_before),
        (worker.client.ask(LOOK, LookIn(model="tiny", text=TEXT, gates=gates)), answer.loss_after),
    ):
        np.testing.assert_allclose(array(seen.loss), numbers(losses), atol=1e-5)
        repeats = [numbers(losses)[i] for i in range(1, len(losses)) if seen.copies[i] and seen.copies[i - 1]]
        first = [numbers(losses)[i] for i in range(1, len(losses)) if not seen.copies[i]]
        assert seen.loss_repeat == pytest.approx(np.mean(repeats), abs=1e-5)
        assert seen.loss_first == pytest.approx(np.mean(first), abs=1e-5)


def test_a_prompt_of_one_token_gives_no_numbers_and_no_error(worker: Served) -> None:
    seen = worker.client.ask(LOOK, LookIn(model="tiny", text="", bos=True))
    assert len(seen.tokens) == 1
    assert seen.tokens[0].special
    assert np.isnan(array(seen.values)).all()
    assert (seen.loss_first, seen.loss_repeat) == (None, None)
    answer = worker.client.ask(GATES, GatesIn(model="tiny", text="", bos=True, gates=muted((0, 0))))
    assert answer.loss_after == [None]
    assert len(answer.next) == 10


def test_compact_patterns_are_the_same_patterns(worker: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = array(worker.client.ask(PATTERNS, PatternsIn(model="tiny", text=TEXT)).patterns)
    n = exact.shape[-1]
    answer = worker.client.ask(PATTERNS, PatternsIn(model="tiny", text=TEXT, compact=True, layers=[1]))
    assert (answer.patterns, answer.top) == (None, None)
    rows, columns = np.tril_indices(n)
    weights = (array(answer.triangle) / 255.0) ** 2
    np.testing.assert_allclose(weights, exact[[1]][:, :, rows, columns], atol=4e-3)

    monkeypatch.setattr(lab_patterns, "MOST_TRIANGLE_BYTES", 10)
    monkeypatch.setattr(lab_patterns, "TOP_KEYS", 4)
    answer = worker.client.ask(PATTERNS, PatternsIn(model="tiny", text=TEXT, compact=True, layers=[1]))
    assert answer.triangle is None
    assert answer.top is not None
    keys, top, rest = (array(part) for part in (answer.top.keys, answer.top.weights, answer.top.rest))
    assert keys.shape == top.shape == (1, 4, n, 4)
    for query in range(n):
        there = keys[0, 2, query] != NO_KEY
        assert there.sum() == min(4, query + 1)
        largest = np.sort(exact[1, 2, query, : query + 1])[::-1][:4]
        np.testing.assert_allclose((top[0, 2, query][there] / 255.0) ** 2, largest, atol=4e-3)
        assert rest[0, 2, query] == pytest.approx(1 - largest.sum(), abs=1e-5)


def test_weighted_patterns_weigh_keys_by_their_values(worker: Served) -> None:
    plain = array(worker.client.ask(PATTERNS, PatternsIn(model="tiny", text=TEXT, layers=[0])).patterns)
    weighted = array(
        worker.client.ask(PATTERNS, PatternsIn(model="tiny", text=TEXT, layers=[0], weighted=True)).patterns
    )
    np.testing.assert_allclose(weighted.sum(-1), 1, atol=1e-5)
    ratio = weighted[0, 1, -1] / plain[0, 1, -1]
    again = weighted[0, 1, -2, :-1] / plain[0, 1, -2, :-1]
    np.testing.assert_allclose(ratio[:-1] / ratio[0], again / again[0], rtol=1e-3)  # a key's, whoever looks
    assert np.ptp(ratio) > 1e-3


def test_an_ablated_head_is_a_shut_gate_where_patterns_are_free(worker: Served) -> None:
    answer = worker.client.ask(ABLATION, HeadAblationIn(model="tiny", text=TEXT, layer=0, head=3))
    as_is, frozen, free = array(answer.loss)
    gated = worker.client.ask(GATES, GatesIn(model="tiny", text=TEXT, gates=muted((0, 3))))
    np.testing.assert_allclose(as_is, numbers(gated.loss_before), atol=1e-5)
    np.testing.assert_allclose(free, numbers(gated.loss_after), atol=1e-5)
    assert np.abs(frozen - free)[1:].max() > 1e-4, "later heads look elsewhere"
    last = worker.client.ask(ABLATION, HeadAblationIn(model="tiny", text=TEXT, layer=2, head=3))
    _, frozen, free = array(last.loss)
    np.testing.assert_allclose(frozen[1:], free[1:], atol=1e-5)  # no head comes after it
    assert all(value is not None and math.isfinite(value) for value in last.loss_repeat)
    with pytest.raises(Invalid, match=r"no head 3\.0") as error:
        worker.client.ask(ABLATION, HeadAblationIn(model="tiny", text=TEXT, layer=3, head=0))
    assert "heads 0-3" in error.value.remedy


def test_a_continuation_is_what_the_gates_predict(worker: Served) -> None:
    gates = muted((0, 0), (2, 1))
    answer = worker.client.ask(CONTINUE, ContinueIn(model="tiny", text=TEXT, gates=gates, n_tokens=3))
    text, n = TEXT, len(worker.client.ask(GATES, GatesIn(model="tiny", text=TEXT, gates=gates)).tokens)
    predicted = worker.client.ask(GATES, GatesIn(model="tiny", text=text, gates=gates, top=100))
    assert answer.after[0].id == max(predicted.next, key=lambda row: row.after).token.id
    assert answer.before[0].id == max(predicted.next, key=lambda row: row.before).token.id
    assert (len(answer.before), len(answer.after), answer.note) == (3, 3, "")
    same = worker.client.ask(CONTINUE, ContinueIn(model="tiny", text=TEXT, gates=OPEN, n_tokens=3))
    assert same.before == same.after == answer.before
    long = worker.client.ask(CONTINUE, ContinueIn(model="tiny", text=TEXT, gates=OPEN, n_tokens=100))
    assert len(long.before) <= 64 - n
    assert "context of 64 tokens" in long.note or "ends its text" in long.note


def test_draws_are_those_of_the_seed(worker: Served) -> None:
    def draw(seed: int) -> list[int]:
        wanted = ContinueIn(model="tiny", text=TEXT, gates=OPEN, n_tokens=8, temperature=2.0, seed=seed)
        answer = worker.client.ask(CONTINUE, wanted)
        assert answer.before == answer.after
        return [token.id for token in answer.after]

    assert draw(1) == draw(1)
    assert draw(1) != draw(2)


def test_the_parts_of_a_logit_add_up_to_it(worker: Served, precise: transformers.GPT2LMHeadModel) -> None:
    gates = [[1.0, 0.0, 0.3, 1.0], [0.5, 1.0, 1.0, 0.0], [0.0, 1.0, 0.8, 1.0]]
    wanted = AttributionIn(model="tiny", text=TEXT, at=5, token=7, against=11, gates=gates)
    answer = worker.client.ask(ATTRIBUTION, wanted)
    heads = array(answer.heads)
    assert heads.shape == (3, 4)
    total = heads.sum() + sum(part.value for part in answer.parts)
    assert total == pytest.approx(answer.total, abs=1e-4)
    logp = log_probabilities(precise, [token.id for token in answer.tokens], gates)
    assert answer.total == pytest.approx(float(logp[5, 7] - logp[5, 11]), abs=1e-4)
    assert answer.logit == pytest.approx(answer.total, abs=1e-4)
    assert heads[0, 1] == heads[1, 3] == heads[2, 0] == 0, "a gate at 0 writes nothing"
    names = [part.name for part in answer.parts]
    assert names == ["embedding", "mlp.0", "mlp.1", "mlp.2", "biases"]
    assert answer.parts[1].title == "MLP of layer 0"
    assert (answer.token.id, answer.against and answer.against.id, answer.at) == (7, 11, 5)


def test_the_lens_ends_with_what_the_model_says(worker: Served) -> None:
    gates = muted((1, 1))
    seen = worker.client.ask(LENS, LensIn(model="tiny", text=TEXT, at=3, gates=gates))
    said = worker.client.ask(
        GATES, GatesIn(model="tiny", text=TEXT, at=3, gates=gates, answers=[seen.token.id], top=100)
    )
    assert [layer.layers for layer in seen.layers] == [0, 1, 2, 3]
    last = seen.layers[-1]
    assert (last.rank, last.top[0].id) == (0, seen.token.id)
    assert last.log_probability == pytest.approx(said.answers[0].after, abs=1e-4)
    assert last.top_probability == pytest.approx(
        sorted((row.after for row in said.next), reverse=True)[:5], abs=1e-5
    )
    followed = worker.client.ask(LENS, LensIn(model="tiny", text=TEXT, at=3, gates=gates, token=9))
    assert followed.layers[-1].rank > 0
    assert [layer.top for layer in followed.layers] == [layer.top for layer in seen.layers]


@pytest.mark.parametrize(
    ("wanted", "code", "says"),
    [
        (GatesIn(model="tiny", text=TEXT, gates=OPEN, at=500), "unknown-position", "no position 500"),
        (GatesIn(model="tiny", text=TEXT, gates=OPEN, answers=[300]), "unknown-token", "Ids run 0-299"),
        (
            GatesIn(model="tiny", text=TEXT, gates=encode(np.full((3, 4), np.nan, "f4"))),
            "bad-gates",
            "Gates lie between",
        ),
        (GatesIn(model="tiny", text="", bos=False, gates=OPEN), "empty-text", "at least one character"),
        (GatesIn(model="tiny", text="cat " * 70, gates=OPEN), "too-long", "reads 64"),
        (GatesIn(model="tiny", text="x" * 400_000, gates=OPEN), "too-long", "400001 tokens"),
        (GatesIn(model="tiny", prompt="abc", gates=OPEN), "no-text", "Send the text"),
    ],
)
def test_what_cannot_be_answered_says_why(worker: Served, wanted: GatesIn, code: str, says: str) -> None:
    with pytest.raises(Invalid) as error:
        worker.client.ask(GATES, wanted)
    assert error.value.code == code
    assert says in str(error.value)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.one_of(st.text(max_size=40), st.sampled_from(ODD)))
def test_any_text_is_answered_or_refused_in_words(worker: Served, text: str) -> None:
    if len(worker.handler.catalogue.tokenizer("tiny").encode(text)) > 64:
        with pytest.raises(Invalid, match="reads 64"):
            worker.client.ask(LOOK, LookIn(model="tiny", text=text))
        return
    seen = worker.client.ask(LOOK, LookIn(model="tiny", text=text))
    spelled = "".join(token.hex for token in seen.tokens if not token.special)
    assert bytes.fromhex(spelled) == text.encode()
    assert seen.tokens[0].special, "BOS first"
    assert not any(token.special for token in seen.tokens[1:]), "the name of a special token is text"


def test_what_does_not_fit_is_refused_with_numbers() -> None:
    square = Plan(lambda n: 1000 * n * n, lambda: None)
    admit(square, 1000, 10**9)
    with pytest.raises(Refused, match=r"2000 tokens would take about 4 GB of memory; 1 GB are free") as error:
        admit(square, 2000, 10**9)
    assert error.value.code == "no-room"
    assert "1000 tokens" in error.value.remedy
    with pytest.raises(Refused, match="smaller model"):
        admit(Plan(lambda n: 10**10, lambda: None), 5, 10**9)


@pytest.mark.parametrize("ablation", ["mean", "resample"])
def test_closed_heads_give_what_a_tasks_rows_say(worker: Served, ablation: str) -> None:
    """By the core's own function; the other panels and the continuation are under the same gates."""
    wanted = {"model": "tiny", "text": TEXT, "gates": muted((0, 1), (2, 2)), "bos": False}
    closing = {"ablation": ablation, "reference": "singular-plural"}
    answer = worker.client.ask(GATES, GatesIn(**wanted, **closing, at=4))
    by_zero = worker.client.ask(GATES, GatesIn(**wanted, at=4))
    assert answer.loss_before == by_zero.loss_before
    assert answer.loss_after != by_zero.loss_after
    with worker.handler.models.model("tiny", dtype="float32", attention="sdpa") as model:
        rows = (
            TaskCatalogue()
            .get("singular-plural")
            .examples(model.tokenizer, "train", limit=ROWS, n_ctx=model.info.n_ctx)
        )
        inside = of_text(model, ablation, [row.tokens[: max(row.targets)] for row in rows])  # type: ignore[arg-type]
        ids = torch.tensor([[token.id for token in answer.tokens]])
        with model.gated(torch.tensor(muted((0, 1), (2, 2))), inside):
            losses = model.losses(ids)[0]
    assert answer.loss_after[1:] == pytest.approx(losses[1:].tolist(), abs=1e-5)
    seen = worker.client.ask(LOOK, LookIn(**wanted, **closing))
    assert array(seen.loss)[1:] == pytest.approx(losses[1:].numpy(), abs=1e-5)
    lens = worker.client.ask(LENS, LensIn(**wanted, **closing, at=4))
    parts = worker.client.ask(ATTRIBUTION, AttributionIn(**wanted, **closing, at=4))
    assert parts.total == pytest.approx(parts.logit, abs=1e-4)
    assert lens.layers[-1].top[0].id == max(answer.next, key=lambda row: row.after).token.id
    written = worker.client.ask(CONTINUE, ContinueIn(**wanted, **closing, n_tokens=3))
    assert len(written.after) == 3


@pytest.mark.parametrize(
    ("closing", "code"),
    [
        ({"ablation": "mean"}, "no-reference"),
        ({"ablation": "resample", "reference": "no such task"}, "unknown-task"),
    ],
)
def test_closed_heads_need_rows_that_are_there(worker: Served, closing: dict[str, str], code: str) -> None:
    with pytest.raises(HeadscopeError) as caught:
        worker.client.ask(GATES, GatesIn(model="tiny", text=TEXT, gates=muted((0, 1)), **closing))
    assert caught.value.code == code


def test_messages_name_the_same_ablations() -> None:
    assert get_args(Ablation) == tuple(ABLATIONS)
