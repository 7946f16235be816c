"""Validation: how well methods find planted roles; the results that ship, for every reader."""

from __future__ import annotations

from fastapi import APIRouter

from headscope.figures.theme import ThemeName, palette
from headscope.validation import replicated, shipped
from headscope.web.schemas import (
    FigureOut,
    ReplicationOut,
    RoleAgainOut,
    ValidationCellOut,
    ValidationMeasureOut,
    ValidationOut,
)

router = APIRouter(prefix="/validation", tags=["validation"])


@router.get("", summary="How well planted roles are found: means over draws with intervals")
def list_validations() -> list[ValidationOut]:
    """The same for every reader; says nothing about this installation."""
    return [_out(one) for one in shipped.VALIDATIONS.values()]


@router.get("/roles", summary="Whether roles that replicate came again in other fits")
def list_replications() -> list[ReplicationOut]:
    """Pairs of sets of fits with disjoint seeds, as they ship."""
    return [_replication(pair) for pair in replicated.shipped()]


@router.get("/roles/figure", response_model=FigureOut, summary="Rates predicted against rates seen")
def get_replication_figure(theme: ThemeName = "light") -> dict[str, object]:
    """Plotly JSON without template, of all pairs."""
    return replicated.figure(replicated.shipped(), palette(theme))


@router.get("/{name}/figure", response_model=FigureOut, summary="AUROC by cell, as a figure")
def get_validation_figure(name: str, theme: ThemeName = "light") -> dict[str, object]:
    """Plotly JSON without template. 404 (unknown-validation) for another name."""
    return shipped.figure(shipped.find(name), palette(theme))


def _out(one: shipped.Validation) -> ValidationOut:
    content = one.content
    return ValidationOut(
        name=one.name,
        title=one.title,
        summary=one.summary,
        command=one.command,
        passed=content["passed"],
        models_planned=content["models_planned"],
        measures=[
            ValidationMeasureOut(name=name, title=title, goal=shipped.GOALS.get(name))
            for name, title in shipped.MEASURES.items()
        ],
        cells=[ValidationCellOut.model_validate(cell) for cell in content["cells"]],
    )


def _replication(pair: replicated.Pair) -> ReplicationOut:
    roles = [
        RoleAgainOut(
            role=role,
            title=title,
            **{name: pair.roles[role][name] for name in ("called", "again", "kept", "halves", "across")},
        )
        for role, title in replicated.ROLES.items()
    ]
    return ReplicationOut(
        model=pair.model,
        task=pair.task,
        fits=pair.fits,
        steering=pair.steering,
        passed=pair.passed,
        command=pair.command,
        roles=roles,
    )
