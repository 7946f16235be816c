"""From the store's rows and the catalogues' entries to what travels."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, cast

from sqlalchemy.orm import Session

from headscope.analyses import ANALYSES
from headscope.analyses.headline import current, told
from headscope.analyses.request import spoken
from headscope.core.arrays import encode
from headscope.jobs.client import notice
from headscope.jobs.threads import threads_of
from headscope.messages import GateVectorOut, PromptOut, ProofOut
from headscope.models.catalogue import Catalogue, ModelEntry
from headscope.store import workers
from headscope.store.gates import vector_of
from headscope.store.tables import Attempt, GateVectorRow, Prompt, Run, Share
from headscope.store.workers import WorkerView
from headscope.tasks.forms import form_of
from headscope.tasks.task import Task
from headscope.web.schemas import (
    AttemptOut,
    HeadlineValueOut,
    ModelOut,
    Problem,
    ProgressOut,
    RunOut,
    RunStatus,
    ShareOut,
    TaskOut,
    TermsOut,
    WorkerOut,
)


def run_out(session: Session, run: Run, entries: Mapping[str, ModelEntry]) -> RunOut:
    """A run with its attempts, and what is wrong with where it waits; ``entries`` are the models'."""
    known_model = entries.get(run.model)
    return RunOut(
        id=run.id,
        analysis=run.analysis,
        title=known.title if (known := ANALYSES.get(run.analysis)) else run.title,
        has_roles=_has_roles(run),
        model=run.model,
        model_title=known_model.title if known_model else run.model,
        model_note=known_model.note if known_model else "",
        model_info=run.model_info,
        task=run.task,
        task_title=run.task_title,
        preset=run.preset,
        params=_completed(run),
        seeds=run.seeds,
        status=cast("RunStatus", run.status),
        origin=cast("Any", run.origin),
        progress=ProgressOut.model_validate(run.progress) if run.progress else None,
        error=Problem.model_validate(run.error) if run.error else None,
        notice=_notice(session, run),
        created_at=run.created_at,
        started_at=run.started_at,
        finished_at=run.finished_at,
        wall_seconds=run.wall_seconds,
        code_version=run.code_version,
        machine=run.machine,
        headline=current(run.analysis, run.headline),
        headline_values=[HeadlineValueOut(**asdict(each)) for each in told(run.analysis, run.headline)],
        result=run.result_id,
        partial=run.partial,
        attempts=[attempt_out(attempt) for attempt in run.attempts],
        reproduce=reproduce_command(run),
    )


def _has_roles(run: Run) -> bool:
    analysis = ANALYSES.get(run.analysis)
    return analysis is not None and analysis.has_roles


def attempt_out(attempt: Attempt) -> AttemptOut:
    """One go at a run."""
    return AttemptOut(
        number=attempt.number,
        status=cast("RunStatus", attempt.status),
        worker=attempt.owner,
        started_at=attempt.started_at,
        finished_at=attempt.finished_at,
        wall_seconds=attempt.wall_seconds,
        code_version=attempt.code_version,
        drift=attempt.drift,
    )


def _notice(session: Session, run: Run) -> str | None:
    if not run.active:
        return None
    last = run.last
    if last.cancel_requested_at is not None:
        return "It was asked to stop and will at its next checkpoint."
    if last.status == "running" and not workers.is_alive(session, last.owner):
        waiting = notice(session, run)
        return "The worker that computed this run no longer answers. " + (
            waiting or "Another one resumes from the last finished piece in a few seconds."
        )
    return notice(session, run)


def _completed(run: Run) -> dict[str, Any]:
    """The run's parameters, those that it was asked before included; as stored for an unknown analysis."""
    known = ANALYSES.get(run.analysis)
    return known.params.completed(run.params) if known else dict(run.params)


def reproduce_command(run: Run) -> str:
    """The command line that asks for the same run: its preset, and every parameter that differs from it."""
    words = ["headscope", "run", run.analysis, "--model", run.model]
    if run.task is not None:
        words += ["--task", run.task]
    known = ANALYSES.get(run.analysis)
    preset = run.preset if known and run.preset in known.presets else None
    if preset is not None:
        words += ["--preset", preset]
    tasks = {name for name, each in (known.references if known else {}).items() if each.kind == "tasks"}
    for name, value in (spoken(run.analysis, preset, run.params) if known else run.params).items():
        words += ["--param", f"{name}={_typed(value, is_tasks=name in tasks)}"]
    threads = threads_of(run.machine)
    return (f"HEADSCOPE_THREADS={threads} " if threads else "") + shlex.join(words)


def _typed(value: Any, *, is_tasks: bool) -> str:
    """A parameter's value as a person would type it, where that is read back as the same; JSON elsewhere."""
    if is_tasks and value:
        return ",".join(value)
    return value if isinstance(value, str) and _is_plain(value) else json.dumps(value)


def _is_plain(text: str) -> bool:
    """Whether the command line reads the text as itself: it reads what is JSON as JSON."""
    try:
        json.loads(text)
    except ValueError:
        return True
    return False


def worker_out(worker: WorkerView) -> WorkerOut:
    """A worker as readers may see it: neither its address nor its secret."""
    return WorkerOut(
        id=worker.id,
        host=worker.host,
        device=worker.device,
        queue=worker.queue,
        models=list(worker.models),
        alive=worker.alive,
        seconds_since_heartbeat=worker.seconds_since_heartbeat,
    )


def share_out(share: Share, base_url: str) -> ShareOut:
    """A link under the address that the reader uses."""
    return ShareOut(
        token=share.token,
        url=f"{base_url.rstrip('/')}/s/{share.token}",
        run_ids=share.run_ids,
        view=share.view,
        path=share.path,
        visibility=cast("Any", share.visibility),
        created_at=share.created_at,
        expires_at=share.expires_at,
        revoked_at=share.revoked_at,
    )


def model_out(models: Catalogue, entry: ModelEntry, resident_on: list[str], *, card: bool) -> ModelOut:
    """A catalogue's entry; what its weights would tell is null while they aren't here."""
    info = models.info(entry.name) if entry.ready else None
    proof = models.proofs.get(info) if info else None
    return ModelOut(
        name=entry.name,
        title=entry.title,
        source=entry.source,
        ready=entry.ready,
        remedy=entry.remedy,
        summary=entry.summary,
        note=entry.note,
        licence=entry.licence,
        terms=TermsOut(**asdict(entry.terms)) if entry.terms else None,
        bytes_to_download=entry.bytes_to_download,
        bytes_needed=entry.bytes_needed,
        revision=info and info.revision,
        architecture=info and info.architecture,
        n_layers=info and info.n_layers,
        n_heads=info and info.n_heads,
        n_kv_heads=info and info.n_kv_heads,
        d_model=info and info.d_model,
        d_vocab=info and info.d_vocab,
        n_ctx=info and info.n_ctx,
        n_params=info and info.n_params,
        bytes_on_disk=entry.bytes_on_disk,
        card=entry.card if card else None,
        resident_on=resident_on,
        proof=ProofOut.of(proof) if proof else None,
    )


def task_out(task: Task) -> TaskOut:
    """A task without its rows."""
    return TaskOut(
        name=task.name,
        title=task.title,
        description=task.description,
        kind=task.kind,
        origin=task.origin,
        source=task.source,
        licence=task.licence,
        n_rows=task.n_rows,
        unused=str(getattr(task, "unused", "")),
        content_hash=task.content_hash,
        template=task.template,
        shots=task.shots,
        targets=task.targets,
        judged=task.judged,
        instruction=str(getattr(task, "instruction", "")),
        form_of=form_of(task),
    )


def prompt_out(row: Prompt) -> PromptOut:
    """A kept prompt without its texts."""
    return PromptOut(
        id=row.id,
        name=row.name,
        kind=cast("Any", row.kind),
        n=row.n,
        characters=row.characters,
        beginning=row.beginning,
        created_at=row.created_at,
    )


def gate_vector_out(row: GateVectorRow) -> GateVectorOut:
    """Kept gates."""
    vector = vector_of(row)
    gates = vector.gates
    return GateVectorOut(
        id=row.id,
        name=row.name,
        model=row.model,
        revision=row.revision,
        n_layers=row.n_layers,
        n_heads=row.n_heads,
        gates=cast("Any", encode(gates)),
        closed=int((gates < 0.5).sum()),
        origin=row.origin,
        ablation=vector.ablation,
        created_at=row.created_at,
    )


def resident(live: list[WorkerView]) -> Mapping[str, list[str]]:
    """Which live workers hold which model."""
    held: dict[str, list[str]] = {}
    for worker in live:
        for model in worker.models:
            held.setdefault(model, []).append(worker.id)
    return held
