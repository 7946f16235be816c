"""Skill or format: tasks in several surface forms, what is kept in others, and what is claimed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from figures.results import model
from headscope.analyses.base import Spec
from headscope.analyses.cchg import CCHG
from headscope.analyses.cchg.elsewhere import BOUND, claims, holds_for, in_other_forms, interval
from headscope.analyses.cchg.result import Outcome, TaskScored
from headscope.analyses.cchg.schema import PRESETS, CchgParams
from headscope.analyses.cchg.tasks import named
from headscope.tasks.builtin import builtin_tasks
from headscope.tasks.task import Row
from headscope.tasks.template import Template
from headscope.tasks.text import TextTask
from headscope.tasks.wordings import LAYOUTS, MOST, OTHER_FORMS, VariedTask, varied, wordings

PAIRS = ("singular-plural", "present-past", "capitalize", "country-capital", "antonym", "english-french")


def text(name: str) -> TextTask:
    task = builtin_tasks()[name]
    assert isinstance(task, TextTask)
    return task


@pytest.mark.parametrize("name", [*PAIRS, *(f"{pair}-instruction" for pair in PAIRS)])
def test_every_word_pair_has_two_forms_more_than_a_fit_sees(name: str) -> None:
    known = wordings(text(name))
    assert len(set(known)) == len(known) >= MOST + 2
    assert known[0] == (text(name).template, text(name).separator)
    for template, separator in known:
        Template.parse(template, separator)


@pytest.mark.parametrize("name", ["singular-plural", "singular-plural-instruction"])
def test_rows_are_spread_over_the_forms_and_no_fitted_form_is_scored_as_held_out(name: str) -> None:
    own = text(name)
    fitted, other = varied(own, MOST)
    assert isinstance(fitted, VariedTask)
    assert isinstance(other, VariedTask)
    assert not set(fitted.templates) & set(other.templates)
    assert fitted.split(0) == other.split(0) == own.split(0)
    counts = [0] * MOST
    for row in own.distinct_rows:
        used = fitted.template_of(row)
        counts[[template for template, _ in fitted.templates].index(used.text)] += 1
    assert min(counts) > 0.5 * own.n_rows / MOST
    assert len({own.content_hash, fitted.content_hash, other.content_hash}) == 3


def test_a_question_and_its_examples_stand_in_one_form() -> None:
    task = VariedTask("t", "T", (Row("wallet", "wallets"),), templates=LAYOUTS[1:2])
    template = task.template_of(task.rows[0])
    assert template.context([Row("cat", "cats")], "wallet") == "cat -> cats\nwallet -> "


def test_a_task_of_one_form_is_asked_as_it_is() -> None:
    sums = builtin_tasks()["induction"]
    assert varied(sums, MOST) == (sums, None)
    own = text("singular-plural")
    assert varied(own, 1) == (own, None)


def spec(forms: int) -> Spec[CchgParams]:
    names: dict[str, tuple[str, ...]] = {
        "retain": ("singular-plural-instruction",),
        "forget": ("singular-plural",),
        "held_out_forget": ("present-past",),
    }
    given: dict[str, Any] = {place: tuple(text(name) for name in found) for place, found in names.items()}
    return Spec(CchgParams(**names, forms=forms, seeds=2, steps=2), model(2, 4, 2), None, given)


def test_each_task_is_scored_in_both_kinds_of_forms_and_old_runs_keep_their_pieces() -> None:
    one, four = (list(named(spec(forms))) for forms in (1, MOST))
    assert one == ["singular-plural-instruction", "singular-plural", "present-past"]
    assert four == [*one, *(name + OTHER_FORMS for name in one)]
    keys = [[piece.key for piece in CCHG.plan(spec(forms))] for forms in (1, MOST)]
    assert set(keys[0]) < set(keys[1])
    assert "scored/named_open/5/0-1" in keys[1]
    plain = spec(1).params.model_dump(mode="json")
    assert "forms" not in CchgParams.identifying(plain)
    assert all(preset["forms"] == MOST for preset in PRESETS.values())


def task(name: str, **more: Any) -> TaskScored:
    about: Any = {"name": name, "set": "retain", "held_out": False, **more}
    found: TaskScored = about
    return found


TASKS = [
    task("a"),
    task("b"),
    task(f"a{OTHER_FORMS}", other_forms=True),
    task(f"b{OTHER_FORMS}", other_forms=True),
]
UNGATED = np.array([0.5, 0.4, 0.5, 0.4], np.float32)


def outcome(under: Any) -> Outcome:
    accuracy = np.asarray(under, np.float32) * UNGATED
    found = in_other_forms(["a"], ["b"], TASKS, accuracy, UNGATED)
    assert found is not None
    return {
        "key": "named_open", "way": "named", "push": "open", "regularisation": 0.1, "retain": ["a"],
        "forget": ["b"], "kept": 0.9, "left": 0.1, "seeds_apart": 1, "of_seeds": 3, "elsewhere": found,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("kept", "left", "claim"),
    [
        ([0.9, 0.8, 0.85], [0.1, 0.0, 0.1], "the skill"),
        ([0.03, 0.10, 0.10], [0.0, 0.0, 0.1], "the format"),
        ([0.9, 0.8, 0.85], [0.9, 0.8, 1.0], "the format"),
        ([0.9, 0.4, 0.6], [0.1, 0.0, 0.1], "can't tell"),
    ],
)
def test_the_claim_follows_from_the_intervals_in_forms_never_fitted(
    kept: list[float], left: list[float], claim: str
) -> None:
    rows = [[1.0, 0.0, one, other] for one, other in zip(kept, left, strict=True)]
    fit = outcome(rows)
    found = fit["elsewhere"]
    assert found["holds_for"] == claim
    assert found["kept"] == pytest.approx(np.mean(kept), rel=1e-5)
    (said,) = claims([fit])
    starts = {
        "the skill": "What is set apart is the skill, not the format",
        "the format": "What is set apart is the format, not the skill",
        "can't tell": "Whether the skill or the format is set apart can't be told",
    }
    assert said.startswith(starts[claim])
    assert "in the forms fitted 90% and 10%" in said


def test_the_interval_is_students_and_a_single_fit_claims_nothing() -> None:
    low, high = interval(np.array([0.6, 0.7, 0.8])) or (0.0, 0.0)
    assert (low + high) / 2 == pytest.approx(0.7)
    assert (high - low) / 2 == pytest.approx(4.302653 * 0.1 / np.sqrt(3))
    assert interval(np.array([0.6, np.nan])) is None
    assert holds_for(None, (0.0, 0.1)) == "can't tell"
    assert holds_for((BOUND, 1.0), (0.0, BOUND)) == "can't tell"


def test_without_other_forms_of_every_fitted_task_nothing_is_claimed() -> None:
    under = np.ones((2, 3), np.float32)
    assert in_other_forms(["a"], ["b"], TASKS[:3], under, UNGATED[:3]) is None
