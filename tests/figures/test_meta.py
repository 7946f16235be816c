"""What figures say of themselves is what the API's document says they may: no key more, no other kind."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from figures.results import compared
from figures.samples import SAMPLES
from gallery import fingerprints
from headscope.analyses import comparisons, figures
from headscope.analyses.base import Result
from headscope.analyses.comparisons import COMPARISONS
from headscope.figures.meta import ComparisonMeta, FigureMeta

META = TypeAdapter(FigureMeta)
COMPARISON_META = TypeAdapter(ComparisonMeta)
SHIPPED = dict(fingerprints.all_shipped())
GRID = {"layers", "heads", "seeds", "cell_columns", "row_order", "heads_per_group", "head_y", "gap"}


def sent(figure: Mapping[str, Any]) -> dict[str, Any]:
    """Its meta as a reader gets it."""
    meta: dict[str, Any] = json.loads(json.dumps(figure["layout"]["meta"], allow_nan=False))
    return meta


def metas(shown: Result) -> Iterator[dict[str, Any]]:
    """Of each of its figures, looked at in two ways."""
    for name in figures.names(shown.analysis):
        yield sent(figures.build(shown, name))
        yield sent(figures.build(shown, name, 0.7, "always", "dark", head="1.0"))


def check(shown: Result) -> None:
    for meta in metas(shown):
        META.validate_python(meta)
        assert meta["title"]
        assert set(meta) >= GRID or not GRID & set(meta)


@pytest.mark.parametrize("name", SHIPPED)
def test_every_figure_of_every_shipped_run(name: str) -> None:
    check(SHIPPED[name].result)


@pytest.mark.parametrize("analysis", SAMPLES)
def test_every_figure_of_every_analysis(analysis: str) -> None:
    check(SAMPLES[analysis]())


@pytest.mark.parametrize("name", COMPARISONS)
def test_every_comparison(name: str) -> None:
    runs = compared(one_model=COMPARISONS[name].one_model)
    COMPARISON_META.validate_python(sent(comparisons.build(name, runs)))


def test_another_key_is_refused() -> None:
    with pytest.raises(ValidationError):
        META.validate_python({"title": "Roles", "reading": "A cell is a head.", "colour": "red"})


def test_no_key_is_one_that_no_figure_sets() -> None:
    shown = [run.result for run in SHIPPED.values()] + [sample() for sample in SAMPLES.values()]
    assert {key for one in shown for meta in metas(one) for key in meta} == set(FigureMeta.__annotations__)
