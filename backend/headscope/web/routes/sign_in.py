"""Signing in, where the server asks for a token: the token for a cookie that only this site's pages send."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from headscope.web.deps import App
from headscope.web.schemas import AccessOut, SignInIn
from headscope.web.security import COOKIE, SESSION_SECONDS, client

router = APIRouter(tags=["access"])


@router.post("/sign-in", summary="Exchange the access token for a cookie")
def sign_in(body: SignInIn, request: Request, response: Response, app: App) -> AccessOut:
    """401 for a wrong token; 429 after ten wrong ones in a minute. Where no token is asked for: `open`."""
    if not app.access.needs_token:
        return AccessOut(access="open")
    app.access.check(body.token, client(request))
    response.set_cookie(
        COOKIE,
        app.access.session(),
        max_age=SESSION_SECONDS,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return AccessOut(access="signed-in")


@router.post("/sign-out", summary="Forget the cookie")
def sign_out(response: Response, app: App) -> AccessOut:
    """Takes the cookie away from this browser."""
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return AccessOut(access="sign-in-needed" if app.access.needs_token else "open")
