"""What a run gives to look at: its result, figures and their numbers."""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict, Field

from headscope.figures.meta import ComparisonMeta, FigureMeta
from headscope.messages.base import ARRAY, Schema, example
from headscope.web.schemas.models import ModelInfoOut


class ResultOut(Schema):
    """A run's result. The analysis' arrays stand beside these names as typed arrays: `g_plus`, ..."""

    model_config = example(
        analysis="chg",
        schema_version=1,
        params={"seeds": 1},
        model=ModelInfoOut.example(),
        task={"name": "induction"},
        seeds=[0],
        values={"n_train": 256, "n_test": 64},
        g_plus=ARRAY,
    ) | ConfigDict(extra="allow")

    analysis: str
    schema_version: int
    params: dict[str, Any]
    model: ModelInfoOut
    task: dict[str, Any] | None
    seeds: list[int]
    values: dict[str, Any]


class FigureLayout(Schema):
    """Plotly's layout, with what the figure says of itself in `meta`."""

    model_config = ConfigDict(extra="allow") | example(
        xaxis={"title": {"text": "Layer"}}, meta={"title": "Roles", "reading": "A cell is a head."}
    )

    meta: FigureMeta


class FigureOut(Schema):
    """A plotly figure without its template: GET /theme has both templates once."""

    model_config = example(data=[{"type": "heatmap", "z": ARRAY}], layout=FigureLayout.example())

    data: list[dict[str, Any]]
    layout: FigureLayout


class ComparisonLayout(Schema):
    """The same of several runs."""

    model_config = ConfigDict(extra="allow") | example(
        meta={
            "title": "Shares of heads by role",
            "reading": "A bar is a run.",
            "notes": [],
            "runs": [{"run": "3f9c2a7be104d6588c1e", "label": "Induction"}],
        }
    )

    meta: ComparisonMeta


class ComparisonFigureOut(Schema):
    """A plotly figure over several runs, without its template."""

    model_config = example(data=[{"type": "bar", "y": ARRAY}], layout=ComparisonLayout.example())

    data: list[dict[str, Any]]
    layout: ComparisonLayout


class TableColumn(Schema):
    model_config = example(name="layer", title="Layer", unit=None)

    name: str
    title: str
    unit: str | None


class TableOut(Schema):
    """A figure's numbers at full resolution; a number that isn't there is null."""

    model_config = example(columns=[TableColumn.example()], rows=[[0]])

    columns: list[TableColumn]
    rows: list[list[Any]]


class PaintOut(Schema):
    """How a page of one theme is painted."""

    model_config = example(template={"layout": {}}, palette={"ink": "#1d1f23"})

    template: dict[str, Any] = Field(description="A plotly template.")
    palette: dict[str, Any] = Field(description="Colours by name; some names have a list of them.")


class ThemeOut(Schema):
    """Plotly templates and palettes, light and dark."""

    model_config = example(light=PaintOut.example(), dark=PaintOut.example())

    light: PaintOut
    dark: PaintOut
