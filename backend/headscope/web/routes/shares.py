from __future__ import annotations

from fastapi import APIRouter

from headscope.web.schemas import SharedOut, ShareIn, ShareOut

router = APIRouter(prefix="/shares", tags=["shares"])


@router.post("", status_code=201, summary="Make a short link to runs and a view of them")
def create_share(body: ShareIn) -> ShareOut:
    raise NotImplementedError


@router.get("", summary="Shares, newest first; a reader who isn't signed in sees the public ones")
def list_shares() -> list[ShareOut]:
    raise NotImplementedError


@router.get("/{token}", summary="What a share opens")
def get_share(token: str) -> SharedOut:
    raise NotImplementedError


@router.delete("/{token}", status_code=204, summary="Revoke a share")
def revoke_share(token: str) -> None:
    raise NotImplementedError
