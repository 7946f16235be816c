from __future__ import annotations

from fastapi import APIRouter, Response

from headscope.web.schemas import AccessOut, SignInIn

router = APIRouter(tags=["access"])


@router.post("/sign-in", summary="Exchange the access token for a cookie")
def sign_in(body: SignInIn, response: Response) -> AccessOut:
    raise NotImplementedError


@router.post("/sign-out", summary="Forget the cookie")
def sign_out(response: Response) -> AccessOut:
    raise NotImplementedError
