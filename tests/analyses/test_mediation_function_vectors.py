"""Function vectors: a planted mediator is found, effects are the core's, what doesn't fit is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from analyses.specs import SMALL, asked, cut_small, span
from headscope.analyses import figures
from headscope.analyses.base import Context, Kept, Progress, Spec
from headscope.analyses.in_place import compute
from headscope.analyses.mediation_function_vectors import FUNCTION_VECTORS
from headscope.analyses.mediation_function_vectors.result import FunctionVectorsResult, headline
from headscope.analyses.mediation_function_vectors.schema import FunctionVectorParams
from headscope.core.arrays import decode
from headscope.core.attribution.mediation import effects, mean_z
from headscope.core.model.head_model import HeadModel
from headscope.core.model.load import load_model
from headscope.errors import Invalid
from headscope.models.catalogue import Catalogue
from headscope.settings import Settings
from headscope.tasks.builtin import builtin_tasks
from headscope.tasks.shuffled import label_prompts
from headscope.tasks.task import Row, Task
from headscope.tasks.text import TextTask
from micro.mediator import MEDIATOR, mediator_model, mediator_task

PARAMS = FunctionVectorParams(shots=3, clean=6, prompts=4)


def spec(
    model: HeadModel, task: Task | None, params: FunctionVectorParams = PARAMS, others: tuple[Task, ...] = ()
) -> Spec[FunctionVectorParams]:
    return Spec(params, model.info, task, {"tasks": others} if others else {})


def run(
    model: HeadModel, task: Task, params: FunctionVectorParams = PARAMS, others: tuple[Task, ...] = ()
) -> FunctionVectorsResult:
    return compute(FUNCTION_VECTORS, spec(model, task, params, others), model)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> HeadModel:
    folder = Catalogue(Settings(data_dir=tmp_path_factory.mktemp("data"))).folder("headscope-2l")
    return load_model(Path(folder), name="headscope-2l", device="cpu")


@pytest.fixture(scope="module")
def planted() -> FunctionVectorsResult:
    return run(mediator_model(), mediator_task())


def test_the_planted_mediator_and_no_other_head_is_found(planted: FunctionVectorsResult) -> None:
    found = np.argwhere(planted.over_tasks_significant > 0).tolist()
    assert found == [list(MEDIATOR)]
    others = planted.effect[0].copy()
    assert others[MEDIATOR] > 0.05
    others[MEDIATOR] = 0
    assert others.max() < 1e-3
    assert planted.p_clean[0] > planted.p_shuffled[0] + 0.1
    assert planted.notes == []
    headline = FUNCTION_VECTORS.headline(planted)
    assert headline["strongest_head"] == f"{MEDIATOR[0]}.{MEDIATOR[1]}"
    assert headline["heads_that_stand_out"] == 1
    assert set(headline) == set(FUNCTION_VECTORS.quantities)


def test_no_head_that_stands_out_is_said(planted: FunctionVectorsResult) -> None:
    model = mediator_model(strength=0.0)
    result = run(model, mediator_task())
    assert not result.significant.any()
    assert "no head stands out" in result.notes[0]
    for name in ("effect", "heads"):
        assert "No head stands out" in figures.build(result, name)["layout"]["meta"]["reading"]
    outlined = [
        shape for shape in figures.build(planted, "effect")["layout"]["shapes"] if shape["name"] == "outlined"
    ]
    assert len(outlined) == 1
    reading = figures.build(planted, "effect")["layout"]["meta"]["reading"]
    assert "stands out and is framed" in reading
    assert not [s for s in figures.build(result, "effect")["layout"]["shapes"] if s.get("name") == "outlined"]


def test_bars_of_one_picture_differ_in_colour_and_are_percent(planted: FunctionVectorsResult) -> None:
    figure = figures.build(planted, "answers")
    assert len({trace["marker"]["color"] for trace in figure["data"]}) == 3
    clean = decode(figure["data"][0]["y"])
    np.testing.assert_allclose(clean, 100 * planted.p_clean, rtol=1e-6)


def test_effects_are_the_core_s_over_tasks(small: HeadModel) -> None:
    tasks = [builtin_tasks()[name] for name in ("capitalize", "antonym")]
    params = PARAMS.model_copy(update={"tasks": ("antonym", "capitalize"), "prompts": 3})
    result = run(small, tasks[0], params, (tasks[1], tasks[0]))
    assert result.tasks == ["capitalize", "antonym"]  # its own once, and first
    assert result.titles == [tasks[0].title, "antonym"]
    for number, task in enumerate(tasks):
        prompts = label_prompts(
            task, small.tokenizer, clean=6, shuffled=3, shots=3, seed=0, n_ctx=small.info.n_ctx
        )
        z = mean_z(small, prompts.clean).z.float()
        rises = [effects(small, example, z).rise for example in prompts.shuffled]
        np.testing.assert_allclose(result.rise[number], torch.stack(rises), atol=1e-6)
        np.testing.assert_allclose(result.effect[number], torch.stack(rises).mean(0), atol=1e-6)
    np.testing.assert_allclose(result.over_tasks, result.effect.mean(0), atol=1e-7)
    for name in figures.names("mediation-function-vectors"):
        figures.build(result, name)
        assert len(figures.table(result, name)["rows"]) in (2, small.info.n_layers * small.info.n_heads)


def test_pieces_cut_smaller_give_the_same_result(
    planted: FunctionVectorsResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headscope.analyses.cutting.PIECE_FLOP", 1.0)
    asked = spec(mediator_model(), mediator_task())
    assert [piece.key for piece in FUNCTION_VECTORS.plan(asked)] == [
        *(f"clean/0/{n}-{n}" for n in range(6)),
        *(f"effects/0/{n}-{n}" for n in range(4)),
    ]
    cut = run(mediator_model(), mediator_task())
    for name, array in planted.arrays.items():
        np.testing.assert_allclose(cut.arrays[name], array, rtol=1e-5, atol=1e-7)


def test_a_task_with_fewer_prompts_says_so() -> None:
    task = mediator_task(rows=12)
    result = run(mediator_model(), task, PARAMS.model_copy(update={"prompts": 9, "clean": 90}))
    assert result.n_prompts.tolist() == [4]
    assert result.n_clean.tolist() == [8]
    assert "4 shuffled prompts, where 9 were asked for" in " ".join(result.notes)


def test_it_estimates_reports_and_can_be_stopped() -> None:
    model, task = mediator_model(), mediator_task()
    asked = spec(model, task)
    estimate = FUNCTION_VECTORS.estimate(asked, tokenizer=model.tokenizer)
    assert estimate.seconds > 0
    assert "6 clean and 4 shuffled prompts" in estimate.basis
    clean, patched = FUNCTION_VECTORS.plan(asked)
    assert patched.needs == (clean.key,)
    seen: list[Progress] = []
    checks = 0

    def checkpoint() -> None:
        nonlocal checks
        checks += 1

    kept = {clean.key: clean.compute(Context(model))}
    patched.compute(Context(model, kept, checkpoint, seen.append))
    assert checks >= 4
    assert [progress.fraction for progress in seen] == [0.25, 0.5, 0.75, 1.0]


def test_what_cannot_be_asked_is_refused(small: HeadModel) -> None:
    two = TextTask("two", "Two", tuple(Row(f"w{i}", "yes" if i % 2 else "no") for i in range(30)))
    wrong: dict[str, Task] = {
        "no-labels": builtin_tasks()["induction"],
        "few-labels": two,
        "unlike-prompts": replace(mediator_task(), template="{prompt} {target}"),
    }
    for code, task in wrong.items():
        model = mediator_model() if code == "unlike-prompts" else small
        for ask in (
            lambda task=task, model=model: run(model, task),
            lambda task=task, model=model: FUNCTION_VECTORS.estimate(
                spec(model, task), tokenizer=model.tokenizer
            ),
        ):
            with pytest.raises(Invalid) as caught:
                ask()
            assert caught.value.code == code


def test_without_a_task_there_is_nothing_to_plan() -> None:
    with pytest.raises(Invalid) as caught:
        FUNCTION_VECTORS.plan(spec(mediator_model(), None))
    assert caught.value.code == "task-missing"


# -- joined from pieces drawn at random -------------------------------------------------------------


def drawn(
    rows: tuple[int, int] = (8, 8), passed: tuple[int, int] = (0, 0), **params: Any
) -> tuple[FunctionVectorsResult, dict[str, np.ndarray]]:
    """What is made of two tasks with so many shuffled prompts, on three layers of four heads."""
    wanted = asked("mediation-function-vectors", SMALL, clean=5, prompts=8, **params)
    source = np.random.default_rng(7)
    truth = {"rise": source.normal(0, 0.01, (2, 8, 3, 4)), "clean": source.uniform(0.6, 1, (2, 5)),
             "shuffled": source.uniform(0, 0.3, (2, 8))}  # fmt: skip
    truth["rise"][:, :, 1, 2] += 0.4
    done: dict[str, Kept] = {}
    for piece in FUNCTION_VECTORS.plan(wanted):
        kind, task, words = piece.key.split("/")
        t, some = int(task), span(words)
        if kind == "clean":
            p = truth["clean"][t, some]
            done[piece.key] = {"z_sum": np.zeros((3, 4, 8)), "probability": p, "right": p > 0.7}
        else:
            inside = slice(some.start, min(some.stop, rows[t]))
            p = truth["shuffled"][t, inside]
            done[piece.key] = {
                "rise": truth["rise"][t, inside], "probability": p, "right": p > 0.2,
                "passed": np.array(passed),
            }  # fmt: skip
    return FUNCTION_VECTORS.assemble(wanted, done), truth


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("rows", [(8, 8), (8, 5)])
def test_effects_are_means_over_the_prompts_that_each_task_has(
    rows: tuple[int, int], cut: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if cut:
        cut_small(monkeypatch)
    found, truth = drawn(rows)
    of = [truth["rise"][t, :n] for t, n in enumerate(rows)]
    effect = np.array([rise.mean(axis=0) for rise in of])
    np.testing.assert_allclose(found.effect, effect, rtol=1e-4, atol=1e-7)
    error = [rise.std(axis=0, ddof=1) / np.sqrt(len(rise)) for rise in of]
    np.testing.assert_allclose(found.error, error, rtol=1e-4)
    np.testing.assert_allclose(found.over_tasks, effect.mean(axis=0), rtol=1e-4, atol=1e-7)
    assert found.n_prompts.tolist() == list(rows)
    assert np.isnan(found.rise[1, rows[1] :]).all()
    np.testing.assert_allclose(found.p_clean, truth["clean"].mean(axis=1), rtol=1e-6)
    np.testing.assert_allclose(found.right_clean, (truth["clean"] > 0.7).mean(axis=1), rtol=1e-6)
    shuffled = [truth["shuffled"][t, :n] for t, n in enumerate(rows)]
    np.testing.assert_allclose(found.p_shuffled, [p.mean() for p in shuffled], rtol=1e-6)


def test_a_head_stands_out_beyond_so_many_standard_deviations_over_heads() -> None:
    found, truth = drawn()
    effect = truth["rise"].mean(axis=1).reshape(2, -1)
    limits = effect.mean(axis=1) + 3 * effect.std(axis=1)
    np.testing.assert_allclose(found.limits, limits, rtol=1e-6)
    np.testing.assert_array_equal(found.significant.reshape(2, -1), effect > limits[:, None])
    assert found.significant[:, 1, 2].tolist() == [1, 1]
    assert found.significant.sum() == 2
    none, _ = drawn(sds=4.0)
    assert none.significant.sum() == 0
    numbers = headline(found)
    assert (numbers["strongest_head"], numbers["heads_that_stand_out"], numbers["of_heads"]) == ("1.2", 1, 12)
    assert numbers["its_effect"] == pytest.approx(effect.mean(axis=0).max(), rel=1e-5)


def test_each_caveat_of_function_vectors_is_told_when_it_is_due() -> None:
    assert drawn()[0].notes == []
    (own, other) = drawn(sds=4.0)[0].notes
    assert own.startswith("planted: no head stands out. The largest effect is +0.")
    assert other.startswith("other: no head stands out.")
    (fewer,) = drawn((8, 5), passed=(2, 1))[0].notes
    assert fewer == (
        "other: 5 shuffled prompts, where 8 were asked for (2 too long for the context and 1 whose labels "
        "can't be shuffled were skipped)."
    )
    (plain,) = drawn((6, 8))[0].notes
    assert plain == "planted: 6 shuffled prompts, where 8 were asked for."


def test_the_answers_table_adds_the_strongest_heads_effect() -> None:
    found, _ = drawn()
    table = figures.table(found, "answers")
    names = [column["name"] for column in table["columns"]]
    for t, row in enumerate(dict(zip(names, row, strict=True)) for row in table["rows"]):
        assert row["strongest"] == "1.2"
        assert row["p_patched"] == pytest.approx(found.p_shuffled[t] + found.effect[t].max(), rel=1e-5)
        assert row["significant"] == 1
