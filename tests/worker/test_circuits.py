"""Circuit look-ups over HTTP against tables of the tests' own."""

from __future__ import annotations

import pytest
import torch
import transformers

from headscope.errors import HeadscopeError, Invalid, NotFound
from headscope.messages.circuits import CrossedIn, TablesIn, VirtualIn
from headscope.messages.questions import CROSSED, TABLES, VIRTUAL
from worker.conftest import Served


@pytest.fixture(scope="module")
def ov(worker: Served) -> torch.Tensor:
    """Head 1.2's raw OV table in float64, from the plain module."""
    folder = worker.handler.catalogue.folder("tiny")
    model = transformers.GPT2LMHeadModel.from_pretrained(folder, dtype=torch.float64)
    attention, W_E = model.transformer.h[1].attn, model.transformer.wte.weight
    W_V = attention.c_attn.weight[:, 64 + 16 : 64 + 24]
    W_O = attention.c_proj.weight[16:24]
    table: torch.Tensor = (W_E @ W_V @ W_O @ model.lm_head.weight.T).detach()
    return table


def test_the_strongest_cells_of_the_whole_table(worker: Served, ov: torch.Tensor) -> None:
    wanted = TablesIn(model="tiny", circuit="ov", layer=1, head=2, top=5, weight_processing="raw")
    answer = worker.client.ask(TABLES, wanted)
    n = answer.vocabulary
    cells = ov[:n, :n].reshape(-1)
    order = cells.argsort(descending=True)[:5]
    found = [(cell.row.id, cell.column.id) for cell in answer.cells]
    assert found == [divmod(int(index), n) for index in order]
    assert [cell.value for cell in answer.cells] == pytest.approx(cells[order].tolist(), rel=1e-4)
    assert answer.column == []
    assert any("MLPs" in limit for limit in answer.limits)


def test_one_tokens_row_and_column(worker: Served, ov: torch.Tensor) -> None:
    wanted = TablesIn(model="tiny", circuit="ov", layer=1, head=2, top=3, token=65, weight_processing="raw")
    answer = worker.client.ask(TABLES, wanted)
    n = answer.vocabulary
    assert answer.token is not None
    assert {cell.row.id for cell in answer.cells} == {65}
    assert [c.column.id for c in answer.cells] == ov[65, :n].argsort(descending=True)[:3].tolist()
    assert [c.row.id for c in answer.column] == ov[:n, 65].argsort(descending=True)[:3].tolist()


def test_folded_numbers_are_others(worker: Served) -> None:
    wanted = TablesIn(model="tiny", circuit="qk", layer=0, head=0, top=1)
    folded = worker.client.ask(TABLES, wanted)
    raw = worker.client.ask(TABLES, wanted.model_copy(update={"weight_processing": "raw"}))
    assert (folded.weight_processing, raw.weight_processing) == ("folded", "raw")
    assert folded.cells[0].value != raw.cells[0].value


def test_chosen_pairs_and_the_worst_ones(worker: Served) -> None:
    chosen = CrossedIn(model="tiny", layer=1, head=2, source=70, pairs=[(71, 72), (73, 74)])
    (found,) = worker.client.ask(CROSSED, chosen).found
    first, second = found.intended
    one, two = found.crossed
    assert (one.destination.id, one.output.id) == (71, 74)
    assert (one.q, one.o, two.q, two.o) == (first.q, second.o, second.q, first.o)
    assert one.score == pytest.approx(max(one.q, 0) * max(one.o, 0))
    worst = worker.client.ask(CROSSED, CrossedIn(model="tiny", layer=1, head=2, top=3, vocabulary=120))
    assert not worst.chosen
    strength = [min(p.crossed[0].score, p.crossed[1].score) * p.margin for p in worst.found]
    assert strength == sorted(strength, reverse=True)
    assert all(value > 0 for value in strength)


def test_a_virtual_weight_says_its_share_and_its_tokens(worker: Served) -> None:
    answer = worker.client.ask(VIRTUAL, VirtualIn(model="tiny", writer="0.1", reader="2.3 v", top=2))
    assert answer.share is not None
    assert 0 < answer.share < 1
    assert (answer.left, answer.right) == ("reads", "writes")
    assert len(answer.directions) == 2
    assert len(answer.directions[0].left_high) == 8
    neurons = worker.client.ask(VIRTUAL, VirtualIn(model="tiny", writer="0.1", reader="mlp 1"))
    assert neurons.directions[0].right_high == []


def answer(worker: Served, ask: TablesIn | CrossedIn | VirtualIn) -> object:
    if isinstance(ask, TablesIn):
        return worker.client.ask(TABLES, ask)
    if isinstance(ask, CrossedIn):
        return worker.client.ask(CROSSED, ask)
    return worker.client.ask(VIRTUAL, ask)


@pytest.mark.parametrize(
    ("ask", "code"),
    [
        (TablesIn(model="tiny", circuit="ov", layer=9), "no-layer"),
        (TablesIn(model="tiny", circuit="ov", head=9), "no-head"),
        (TablesIn(model="tiny", circuit="ov", token=99999), "unknown-token"),
        (CrossedIn(model="tiny", layer=0, head=0, source=5), "bad-pairs"),
        (CrossedIn(model="tiny", layer=0, head=0, pairs=[(1, 2), (3, 4)]), "bad-pairs"),
        (CrossedIn(model="tiny", layer=0, head=0, source=5, pairs=[(1, 2), (3, 99999)]), "unknown-token"),
        (VirtualIn(model="tiny", writer="1.0", reader="1.1 q"), "not-later"),
        (VirtualIn(model="tiny", writer="the first", reader="unembed"), "no-component"),
    ],
)
def test_what_isnt_there_is_refused(worker: Served, ask: TablesIn | CrossedIn | VirtualIn, code: str) -> None:
    with pytest.raises(Invalid) as refused:
        answer(worker, ask)
    assert refused.value.code == code
    assert refused.value.remedy


def test_an_unknown_model_is_refused(worker: Served) -> None:
    with pytest.raises(NotFound):
        worker.client.ask(TABLES, TablesIn(model="none", circuit="ov"))


def test_a_table_that_takes_too_long_is_refused(worker: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headscope.core.circuits.tables.MOST_FLOP", 1.0)
    with pytest.raises(HeadscopeError) as refused:
        worker.client.ask(TABLES, TablesIn(model="tiny", circuit="direct"))
    assert refused.value.code == "table-too-large"
