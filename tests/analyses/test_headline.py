"""Headlines: every number that a run tells has its words and its unit, and is what its unit says."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import pytest

from figures.samples import SAMPLES
from headscope.analyses import ANALYSES
from headscope.analyses.base import Result
from headscope.analyses.headline import HeadlineValue, current, told
from headscope.gallery import shipped

TYPED = [name for name in ANALYSES if ANALYSES[name].result is not Result]
"""Those whose quantities are written out, not worded by the name."""


def headlines() -> list[tuple[str, dict[str, Any]]]:
    """(analysis, headline) of every shipped run, and of a small made-up one of each analysis."""
    runs = [shipped.read(path) for path in shipped.files()]
    shown = [(run.request.analysis, dict(current(run.request.analysis, run.headline) or {})) for run in runs]
    return shown + [(name, dict(ANALYSES[name].headline(SAMPLES[name]()))) for name in ANALYSES]


HEADLINES = headlines()


def test_a_shipped_headline_is_what_its_result_says_today() -> None:
    for path in shipped.files():
        run = shipped.read(path)
        again = dict(ANALYSES[run.request.analysis].headline(run.result))
        known = current(run.request.analysis, run.headline)
        assert known is not None
        # A later version may tell more of it.
        assert [name for name in again if name in known] == list(known), path.name
        for name, value in known.items():
            if isinstance(value, float):
                assert again[name] == pytest.approx(value, rel=1e-6), (path.name, name)
            else:
                assert again[name] == value, (path.name, name)


@pytest.mark.parametrize(("analysis", "headline"), HEADLINES)
def test_every_number_has_words_and_a_unit(analysis: str, headline: dict[str, Any]) -> None:
    if analysis in TYPED:
        assert set(headline) <= set(ANALYSES[analysis].quantities)
    values = told(analysis, headline)
    ends = {f"{end}_{name}" for end in ("low", "high") for name in headline}
    assert [each.name for each in values] == [name for name in headline if name not in ends]
    assert all(each.value == headline[each.name] for each in values)
    told_ends = {f"low_{each.name}": each.low for each in values if each.low is not None}
    told_ends |= {f"high_{each.name}": each.high for each in values if each.high is not None}
    assert told_ends == {name: value for name, value in headline.items() if name in ends}
    assert len({each.label for each in values}) == len(values), "no two numbers have the same words"
    for each in values:
        assert each.label
        assert each.label[0].isupper()
        assert each.label != each.name


@pytest.mark.parametrize(("analysis", "headline"), HEADLINES)
def test_a_value_is_what_its_unit_says(analysis: str, headline: dict[str, Any]) -> None:
    json.dumps(headline, allow_nan=False)
    for each in told(analysis, headline):
        if each.value is not None:
            assert _fits(each), each


def _fits(each: HeadlineValue) -> bool:
    match each.unit:
        case "head":
            return re.fullmatch(r"\d+\.\d+", each.value) is not None
        case "pair":
            return re.fullmatch(r"\d+\.\d+ → \d+\.\d+", each.value) is not None
        case "path":
            return isinstance(each.value, str) and " → " in each.value
        case "count":
            return isinstance(each.value, int) and not isinstance(each.value, bool) and each.value >= 0
        case "share":
            # What a task keeps of its accuracy may be more than all of it.
            return isinstance(each.value, int | float) and -1 <= each.value < 2
        case "nats" | "logits":
            return isinstance(each.value, float) and math.isfinite(each.value)
        case "":
            return isinstance(each.value, str | int | float)


@pytest.mark.parametrize("analysis", TYPED)
def test_the_threshold_moves_shares_of_roles_and_nothing_else(analysis: str) -> None:
    result = SAMPLES[analysis]()
    low, high = (dict(ANALYSES[analysis].headline(result, at)) for at in (0.05, 0.95))
    moved = {name for name in low if low[name] != high[name]}
    assert moved == (
        {
            f"{end}{part}_{role}"
            for end in ("", "low_", "high_")
            for part in ("always", "any")
            for role in ("needed", "harmful")
        }
        | {"replicating_needed"}  # in three fits; no harmful head does, and there are no halves
        if analysis == "chg"
        else set()
    )


def test_a_name_that_the_analysis_does_not_know_says_itself() -> None:
    (one, two) = told("probe", {"best_head": "0.1", "of_a_later_version": 3})
    assert (one.label, one.unit) == ("Best head", "head")
    assert two == HeadlineValue("of_a_later_version", "Of a later version", 3, "")
    assert told("no-such-analysis", {"a_b": None}) == (HeadlineValue("a_b", "A b", None, ""),)


def test_a_run_without_a_headline_has_nothing_to_tell() -> None:
    assert told("probe", None) == told("probe", {}) == ()
