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


class RoleAgainOut(Schema):
    """One role in two sets of fits with disjoint seeds, each judging the other."""

    model_config = example(
        role="needed", title="needed", called=30, again=29, kept=0.97, halves=[0.85, 0.86], across=0.86
    )

    role: str
    title: str
    called: int = Field(description="Heads whose role replicates by one set, of both sets together.")
    again: int = Field(description="Of those, heads with the role in at least 8 of 10 of the other's fits.")
    kept: float | None = Field(description="Their share; null where none replicates.")
    halves: list[float | None] = Field(description="Split-half correlation of each set, at full length.")
    across: float | None = Field(description="Correlation of the two sets' shares.")


class ReplicationOut(Schema):
    """Whether roles that replicate came again, for one model and task."""

    model_config = example(
        model="SmolLM2-135M-Instruct, 4-bit",
        task="Present to past",
        fits=10,
        steering=False,
        passed=True,
        command="headscope validate roles --model smollm2-135m --task present-past",
        roles=[RoleAgainOut.example()],
    )

    model: str
    task: str
    fits: int = Field(description="Of either set.")
    steering: bool = Field(description="Whether the model can't do the task: what came again are no roles.")
    passed: bool = Field(description="At least nine in ten came again, of every role.")
    command: str = Field(description="What makes it.")
    roles: list[RoleAgainOut]
