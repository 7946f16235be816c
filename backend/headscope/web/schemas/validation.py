"""Results of validation, in the API's words."""

from __future__ import annotations

from pydantic import Field

from headscope.messages.base import Schema, example


class IntervalOut(Schema):
    """A mean over draws and its 95 % interval, in [0, 1]; null without any draw."""

    model_config = example(mean=0.99, low=0.97, high=1.0, n=20)

    mean: float | None
    low: float | None
    high: float | None
    n: int = Field(description="Draws that have a value.")


class ValidationFoundOut(Schema):
    """How well one role was found in a cell."""

    model_config = example(
        auroc=IntervalOut.example(), precision=IntervalOut.example(), recall=IntervalOut.example()
    )

    auroc: IntervalOut = Field(description="Over the heads of each draw.")
    precision: IntervalOut = Field(description="Strictly: of the heads found, those planted.")
    recall: IntervalOut = Field(description="Strictly: of the heads planted, those found.")


class ValidationCellOut(Schema):
    """Draws of one kind of model; the last cell holds all of them."""

    model_config = example(
        name="small, with MLP, noise 0.1",
        draws=20,
        counted=20,
        missed=[],
        found={"needed": ValidationFoundOut.example()},
    )

    name: str
    draws: int
    counted: int = Field(description="Draws that are what they were planted as; only these are fitted.")
    missed: list[str] = Field(description="Measures below their goal.")
    found: dict[str, ValidationFoundOut]


class ValidationMeasureOut(Schema):
    """A role, or a way to find it."""

    model_config = example(name="needed", title="needed", goal=0.95)

    name: str
    title: str
    goal: float | None = Field(description="The least mean AUROC in every cell; null where none is set.")


class ValidationOut(Schema):
    """A table of validation that ships."""

    model_config = example(
        name="planted",
        title="Planted by hand",
        summary="Every weight was set by hand.",
        command="headscope validate chg",
        passed=True,
        models_planned=120,
        measures=[ValidationMeasureOut.example()],
        cells=[ValidationCellOut.example()],
    )

    name: str
    title: str
    summary: str
    command: str = Field(description="What makes it.")
    passed: bool
    models_planned: int
    measures: list[ValidationMeasureOut]
    cells: list[ValidationCellOut]
