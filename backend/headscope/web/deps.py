"""What routes are handed: the app's services, one store session per request, and who asks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Query, Request
from sqlalchemy.orm import Session

from headscope.settings import Settings
from headscope.store import shares
from headscope.web.lru import LruCache
from headscope.web.security import Access, AccessState, sign_in_needed

if TYPE_CHECKING:
    from headscope.analyses.base import Result
    from headscope.jobs.client import JobClient
    from headscope.models.catalogue import Catalogue
    from headscope.store.session import Store
    from headscope.worker.client import WorkerClient

_RESULT_BYTES = 256 * 2**20
_FIGURE_BYTES = 32 * 2**20


class Services:
    """What the app is made of; each part opens at its first use."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.access = Access(settings)
        self.results: LruCache[Result] = LruCache(_RESULT_BYTES, result_bytes)
        self.figures: LruCache[bytes] = LruCache(_FIGURE_BYTES, len)

    @cached_property
    def store(self) -> Store:
        from headscope.store.session import open_store

        return open_store(self.settings)

    @cached_property
    def models(self) -> Catalogue:
        from headscope.models.catalogue import Catalogue

        return Catalogue(self.settings)

    @cached_property
    def jobs(self) -> JobClient:
        from headscope.jobs.client import JobClient

        return JobClient(self.settings, self.store)

    @cached_property
    def workers(self) -> WorkerClient:
        from headscope.worker.client import WorkerClient

        return WorkerClient(self.store)

    def close(self) -> None:
        """Give the connections back."""
        for name in ("workers", "jobs", "store"):
            if name in self.__dict__:
                self.__dict__[name].close()


def result_bytes(result: Result) -> int:
    """What a result's arrays hold in memory."""
    return sum(array.nbytes for array in result.arrays.values())


def services(request: Request) -> Services:
    """The app's services."""
    found: Services = request.app.state.services
    return found


def session(services: Annotated[Services, Depends(services)]) -> Iterator[Session]:
    """One transaction around the handler, committed before the answer is sent."""
    with services.store.session() as session:
        yield session


# "function": FastAPI's default commits after the answer, when a reader may already ask for what was stored.
StoreSession = Annotated[Session, Depends(session, scope="function")]
App = Annotated[Services, Depends(services)]


def access_state(request: Request, services: App) -> AccessState:
    """Who asks. Raises ``SignInNeeded`` for a wrong bearer token."""
    return services.access.of(request)


Who = Annotated[AccessState, Depends(access_state)]


def signed_in(who: Who) -> None:
    """Let only those through who may use the server. Raises ``SignInNeeded``."""
    if who == "sign-in-needed":
        raise sign_in_needed()


ShareToken = Annotated[
    str | None,
    Query(max_length=128, description="A share's token: opens the runs it points to without signing in."),
]


def shared_or_signed_in(run_id: str, who: Who, session: StoreSession, share: ShareToken = None) -> None:
    """Let those through who may use the server, and the holder of a live share of this very run."""
    check_reader(session, run_id, who, share)


def check_reader(session: Session, run_id: str, who: AccessState, share: str | None) -> None:
    """Raise ``SignInNeeded`` where someone may not read a run, ``NotFound`` for a share that is unknown,
    revoked or expired.
    """
    if who != "sign-in-needed":
        return
    if share is None:
        raise sign_in_needed()
    found = shares.get(session, share)
    if found.visibility == "private" or run_id not in found.run_ids:
        raise sign_in_needed()
