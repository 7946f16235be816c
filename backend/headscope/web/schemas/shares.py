"""Short links to runs or a lab view."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import Field, model_validator

from headscope.messages.base import Schema, example
from headscope.messages.shares import LabShareIn, SharedLab
from headscope.web.schemas.runs import RUN_ID, RunOut

ViewName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
ViewValue = Annotated[str, Field(max_length=512, pattern=r"^[^\p{Cc}]*$")]
RunId = Annotated[str, Field(min_length=1, max_length=64)]

SHARE_TOKEN: Final = "kZ3vQ0x1T9mS4uYw"  # noqa: S105 - opens nothing


class ShareIn(Schema):
    """Runs, or a lab view."""

    model_config = example(
        run_ids=[RUN_ID],
        view={"threshold": "0.4", "mode": "always"},
        path="/runs/3f9c2a7be104d6588c1e",
        visibility="unlisted",
        expires_in_days=None,
    )

    run_ids: list[RunId] = Field(default_factory=list, max_length=24)
    lab: LabShareIn | None = Field(
        default=None, description="A view of the prompt lab, of which the share keeps a copy."
    )
    view: dict[ViewName, ViewValue] = Field(
        default_factory=dict,
        max_length=32,
        description="The page's URL parameters: threshold, mode, head, tab.",
    )
    path: str = Field(
        default="",
        max_length=512,
        pattern=r"^$|^/([^/\\\p{Cc}]|$)[^\\\p{Cc}]*$",
        description="The page of this server that the link opens, e.g. /runs/abc.",
    )
    visibility: Literal["private", "unlisted", "public"] = Field(
        default="unlisted",
        description="private: for readers signed in; unlisted: for whoever has the link; public: listed.",
    )
    expires_in_days: int | None = Field(default=None, ge=1, le=3650)

    @model_validator(mode="after")
    def _one_thing(self) -> ShareIn:
        if bool(self.run_ids) == (self.lab is not None):
            raise ValueError("name runs to share, or a lab view")
        return self


class ShareOut(Schema):
    model_config = example(
        token=SHARE_TOKEN,
        url="http://127.0.0.1:8000/s/kZ3vQ0x1T9mS4uYw",
        run_ids=[RUN_ID],
        view={"threshold": "0.4", "mode": "always"},
        path="/runs/3f9c2a7be104d6588c1e",
        visibility="unlisted",
        created_at="2026-01-05T10:05:00Z",
        expires_at=None,
        revoked_at=None,
    )

    token: str
    url: str
    run_ids: list[str]
    view: dict[str, str]
    path: str
    visibility: Literal["private", "unlisted", "public"]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None


class SharedOut(ShareOut):
    """A share with what it opens: all that its page needs to begin."""

    model_config = example(**ShareOut.example(), runs=[RunOut.example()], lab=None)

    runs: list[RunOut]
    lab: SharedLab | None = Field(description="The lab view as it was when it was shared.")
