"""What routes are handed: the app's services and one store session per request."""

from __future__ import annotations

from typing import Any

from fastapi import Request

Services = Any


def services(request: Request) -> Any:
    return request.app.state.services
