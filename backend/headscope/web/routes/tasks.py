from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Query, UploadFile

from headscope.tasks.task import Split
from headscope.web.schemas import TaskAccuracyOut, TaskExamplesOut, TaskOut

router = APIRouter(prefix="/tasks", tags=["tasks"])


@router.get("", summary="Tasks, built in and uploaded")
def list_tasks() -> list[TaskOut]:
    raise NotImplementedError


@router.post("", status_code=201, summary="Upload a task as JSONL or CSV")
def upload_task(
    file: UploadFile,
    name: Annotated[str, Form(max_length=64)],
    title: Annotated[str, Form(max_length=200)] = "",
    description: Annotated[str, Form(max_length=2000)] = "",
    template: Annotated[str | None, Form(max_length=4000)] = None,
    shots: Annotated[int | None, Form(ge=0, le=64)] = None,
) -> TaskOut:
    raise NotImplementedError


@router.get("/{name}", summary="One task")
def get_task(name: str) -> TaskOut:
    raise NotImplementedError


@router.delete("/{name}", status_code=204, summary="Delete an uploaded task")
def delete_task(name: str) -> None:
    raise NotImplementedError


@router.get("/{name}/examples", summary="Rendered examples as tokens, targets marked")
def task_examples(
    name: str, model: str, split: Split = "train", limit: Annotated[int, Query(ge=1, le=100)] = 5
) -> TaskExamplesOut:
    raise NotImplementedError


@router.get("/{name}/accuracy", summary="How the model does on the task without gates")
def task_accuracy(name: str, model: str) -> TaskAccuracyOut:
    raise NotImplementedError
