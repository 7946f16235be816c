"""Gate vectors that someone keeps, and those that a finished run gives."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, cast

from fastapi import APIRouter, Depends, Form, Query, Response, UploadFile

from headscope.analyses.chg.gates import OPEN_FROM
from headscope.core.arrays import encode
from headscope.core.gating.gate_file import (
    FORMATS,
    Format,
    filename,
    write_gates,
)
from headscope.core.gating.gate_vector import gate_vector
from headscope.messages import GatePreset, GateVectorIn, GateVectorOut
from headscope.store import gates, run_gates, runs
from headscope.store.gate_source import from_file
from headscope.store.gates import SavedGates
from headscope.web.deps import App, StoreSession, shared_or_signed_in
from headscope.web.limits import read_upload
from headscope.web.present import gate_vector_out
from headscope.web.resolve import known_model
from headscope.web.routes.results import Threshold, result_of

router = APIRouter(prefix="/gates", tags=["gates"])
Seed = Annotated[
    str, Query(pattern=r"^(mean|\d{1,10})$", description="A seed of the run, or the mean over seeds.")
]
of_runs = APIRouter(
    prefix="/runs/{run_id}/gates", tags=["gates"], dependencies=[Depends(shared_or_signed_in)]
)


@router.get("", summary="Saved gate vectors, newest first")
def list_gates(session: StoreSession, model: str | None = None) -> list[GateVectorOut]:
    """All, or one model's."""
    return [gate_vector_out(row) for row in gates.everything(session, model)]


@router.post("", status_code=201, summary="Save a gate vector", responses={200: {"model": GateVectorOut}})
def keep_gates(body: GateVectorIn, app: App, session: StoreSession, response: Response) -> GateVectorOut:
    """The id is the hash of model, weights and gates; 200 where they are saved already, under the new name.

    422 for gates of another shape or outside [0, 1], telling which; 404 for an unknown model.
    """
    model = known_model(app, body.model)
    vector = gate_vector(body.name, model, body.gates, body.origin, body.ablation)
    return _kept(gates.add(session, vector), response)


@router.post(
    "/upload",
    status_code=201,
    summary="Save gates from a file: JSON, CSV or safetensors",
    responses={200: {"model": GateVectorOut}},
)
def upload_gates(
    app: App,
    session: StoreSession,
    response: Response,
    file: Annotated[
        UploadFile,
        "As the export writes them. .json: `gates`, a list of numbers per layer. .csv, .tsv: columns layer, "
        "head, gate. .safetensors: a tensor `gates` of float64, 32, 16 or bfloat16.",
    ],
    name: Annotated[str, Form(max_length=200, description="The file's own, or its name, where unset.")] = "",
    model: Annotated[
        str, Form(max_length=200, description="Whose they are, for a file that doesn't say; CSV never does.")
    ] = "",
) -> GateVectorOut:
    """200 where the same gates are saved already. 413 for too large a file, 422 for one that holds no gates
    of the model, naming the line and the column or the head.
    """
    content = read_upload(file, app.settings.max_upload_bytes)
    filename = file.filename or "upload"
    info_of = partial(known_model, app)
    vector = from_file(filename, content, info_of, name=name.strip(), model=model, insist=False)
    return _kept(gates.add(session, vector), response)


@router.post(
    "/of-run/{run_id}",
    status_code=201,
    summary="Save gates that a finished run gives",
    responses={200: {"model": GateVectorOut}},
)
def keep_gates_of_run(
    run_id: str,
    app: App,
    session: StoreSession,
    response: Response,
    preset: Annotated[
        str | None,
        Query(max_length=64, description="Which of its gates; may be unset where it gives one alone."),
    ] = None,
    seed: Seed = "mean",
    threshold: Threshold = 0.5,
) -> GateVectorOut:
    """One of those that `GET /runs/{run_id}/gates` lists, under its own id; 200 where it is saved already.

    404 for gates or a seed that the run doesn't give, 409 for a run without a result or without gates.
    """
    run = runs.get(session, run_id)
    chosen = None if seed == "mean" else int(seed)
    vector = run_gates.take(session, run, known_model(app, run.model), preset, chosen, threshold)
    return _kept(gates.add(session, vector), response)


@router.get("/{gates_id}", summary="One gate vector")
def get_gates(gates_id: str, session: StoreSession) -> GateVectorOut:
    """404 for an unknown or deleted one."""
    return gate_vector_out(gates.get(session, gates_id))


@router.delete("/{gates_id}", status_code=204, summary="Delete a saved gate vector")
def delete_gates(gates_id: str, session: StoreSession) -> None:
    """Runs that used it keep their results."""
    gates.remove(session, gates_id)


@router.get(
    "/{gates_id}/export",
    response_class=Response,
    summary="Download a gate vector: JSON, CSV or safetensors",
    responses={
        200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
    },
)
def export_gates(
    gates_id: str,
    session: StoreSession,
    format: Format = "json",  # noqa: A002 - the query's name in the API
) -> Response:
    """CSV has one row per head and the numbers only; the others also say for which weights they are."""
    vector = gates.load(session, gates_id)
    return Response(
        write_gates(vector, format),
        media_type=FORMATS[format],
        headers={"Content-Disposition": f'attachment; filename="{filename(vector, format)}"'},
    )


def _kept(kept: SavedGates, response: Response) -> GateVectorOut:
    if not kept.new:
        response.status_code = 200
    response.headers["Location"] = f"/api/v1/gates/{kept.row.id}"
    return gate_vector_out(kept.row)


@of_runs.get("", summary="Gates that a finished run gives, to try on a prompt")
def list_presets(
    run_id: str,
    app: App,
    session: StoreSession,
    seed: Seed = "mean",
    threshold: Threshold = 0.5,
) -> list[GatePreset]:
    """Of causal head gating: G+, G−, only the needed heads, without the harmful ones, always needed, those
    that suffice where a sufficiency run of it has found some, random. Of sufficiency: the sufficient heads.
    Of contrastive gating: each fit's gates, as they are and rounded.

    409 for a run without a result and for one of another analysis; 404 for a seed that it doesn't have.
    """
    run = runs.get(session, run_id)
    result = result_of(app, session, run)
    chosen = None if seed == "mean" else int(seed)
    found = run_gates.of_run(session, run, result, chosen, threshold)
    return [
        GatePreset(
            name=preset.name,
            title=preset.title,
            reading=preset.reading,
            gates=cast("Any", encode(preset.gates)),
            open=int((preset.gates >= OPEN_FROM).sum()),
        )
        for preset in found
    ]
