"""Analyses: what can be computed; their JSON schemas draw the form of a new run."""

from __future__ import annotations

from fastapi import APIRouter

from headscope.analyses import ANALYSES
from headscope.web.schemas import AnalysisOut

router = APIRouter(prefix="/analyses", tags=["analyses"])


@router.get("", summary="Analyses with the JSON schema of their parameters")
def list_analyses() -> list[AnalysisOut]:
    """The same for every reader; says nothing about this installation."""
    return [
        AnalysisOut(
            name=analysis.name,
            title=analysis.title,
            summary=analysis.summary,
            version=analysis.version,
            needs=list(analysis.needs),
            needs_task=analysis.needs_task,
            has_roles=analysis.has_roles,
            offers_gates=analysis.offers_gates,
            params_schema=analysis.params.model_json_schema(),
            presets={name: dict(values) for name, values in analysis.presets.items()},
            references={name: each.kind for name, each in analysis.references.items()},
            figures=[figure.name for figure in analysis.figures],
            head_figures=[figure.name for figure in analysis.figures if figure.about_one_head],
        )
        for analysis in ANALYSES.values()
    ]
