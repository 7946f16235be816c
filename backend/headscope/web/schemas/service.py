"""Who is there and whether all is well, in the API's words."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from headscope.messages.base import Schema, example


class WorkerOut(Schema):
    model_config = example(
        id="lab-7f3a",
        host="lab",
        device="cpu",
        queue="cpu",
        models=["headscope-2l"],
        alive=True,
        seconds_since_heartbeat=0.8,
    )

    id: str
    host: str
    device: str
    queue: str
    models: list[str]
    alive: bool
    seconds_since_heartbeat: float


class HealthOut(Schema):
    model_config = example(
        status="ok",
        version="0.1.0",
        database="sqlite",
        workers=[WorkerOut.example()],
        detail="One live worker.",
        access="open",
    )

    status: Literal["ok", "degraded"]
    version: str
    database: Literal["sqlite", "postgresql"]
    workers: list[WorkerOut] = Field(
        description="Empty for a reader who isn't signed in where a token is needed."
    )
    detail: str
    access: Literal["open", "signed-in", "sign-in-needed"]


class SignInIn(Schema):
    model_config = example(token="the operator's token")  # noqa: S106 - opens nothing

    token: str = Field(min_length=1, max_length=1024)


class AccessOut(Schema):
    model_config = example(access="signed-in")

    access: Literal["open", "signed-in", "sign-in-needed"]
