"""Open on loopback; beyond it nothing answers without the operator's token but what is named here."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi.routing import APIRoute
from pydantic import SecretStr
from starlette.requests import HTTPConnection
from starlette.testclient import TestClient

from headscope.errors import Refused, SignInNeeded, TooManyAttempts
from headscope.settings import Settings
from headscope.web.app import create_app
from headscope.web.security import COOKIE, SESSION_SECONDS, Access, check_exposure
from web.conftest import TOKEN, browser

OPEN_TO_ALL = {
    ("GET", "/api/v1/health"),
    ("GET", "/api/v1/theme"),
    ("GET", "/api/v1/analyses"),
    ("GET", "/api/v1/comparisons"),
    ("GET", "/api/v1/shares"),
    ("GET", "/api/v1/shares/{token}"),
    ("POST", "/api/v1/sign-in"),
    ("POST", "/api/v1/sign-out"),
}


class Clock:
    """Unix seconds, turned by hand."""

    now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def guarded(bare: Settings) -> Settings:
    """No database is asked before the door."""
    return bare.model_copy(update={"host": "192.0.2.7", "token": SecretStr(TOKEN)})


@pytest.fixture
def client(guarded: Settings) -> Iterator[TestClient]:
    with browser(guarded) as client:
        yield client


def asking(client: TestClient, **headers: str) -> int:
    """The status of a closed route that needs no database: 422 once past the door."""
    return client.post("/api/v1/prompts/tokenize", json={}, headers=headers).status_code


def connection(authorization: str = "", cookie: str = "", address: str = "10.0.0.9") -> HTTPConnection:
    headers = [(b"authorization", authorization.encode()), (b"cookie", f"{COOKIE}={cookie}".encode())]
    return HTTPConnection({"type": "http", "headers": headers, "client": (address, 1)})


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.4", "heads.example"])  # noqa: S104
@pytest.mark.parametrize("token", [None, SecretStr(""), SecretStr("  ")])
def test_beyond_loopback_it_starts_only_with_a_token(
    bare: Settings, host: str, token: SecretStr | None
) -> None:
    exposed = bare.model_copy(update={"host": host, "token": token})
    with pytest.raises(Refused, match="HEADSCOPE_TOKEN") as refused:
        create_app(exposed)
    assert refused.value.code == "token-required"
    check_exposure(exposed.model_copy(update={"token": SecretStr(TOKEN)}))


def test_a_proxied_name_needs_a_token_too(bare: Settings) -> None:
    with pytest.raises(Refused):
        check_exposure(bare.model_copy(update={"allowed_hosts": ("heads.example",)}))
    check_exposure(bare.model_copy(update={"allowed_hosts": ("localhost",)}))


def test_loopback_is_open(bare: Settings) -> None:
    with browser(bare) as client:
        assert asking(client) == 422
        assert client.post("/api/v1/sign-in", json={"token": "any"}).json() == {"access": "open"}


def test_every_other_route_asks_for_the_token(client: TestClient) -> None:
    routes = [
        (method, path)
        for path, operations in client.get("/api/v1/openapi.json").json()["paths"].items()
        for method in map(str.upper, operations)
    ]
    assert len(routes) > 20
    for method, path in routes:
        if (method, path) in OPEN_TO_ALL:
            continue
        filled = path.replace("{run_id}", "abc").replace("{name}", "x").replace("{token}", "x")
        answer = client.request(method, filled, params={"format": "csv", "model": "m"}, json={})
        assert (method, path, answer.status_code) == (method, path, 401)
        assert answer.headers["www-authenticate"] == "Bearer"
        assert answer.json()["code"] == "sign-in-needed"


def test_no_route_is_missing_from_the_document(guarded: Settings) -> None:
    hidden = [
        r.path for r in create_app(guarded).routes if isinstance(r, APIRoute) and not r.include_in_schema
    ]
    assert hidden == []


def test_bearer_token(client: TestClient) -> None:
    assert asking(client, Authorization=f"Bearer {TOKEN}") == 422
    assert asking(client, Authorization=f"bearer {TOKEN}") == 422
    wrong = client.get("/api/v1/models", headers={"Authorization": "Bearer wrong"})
    assert (wrong.status_code, wrong.json()["code"]) == (401, "wrong-token")
    assert asking(client, Authorization=f"Basic {TOKEN}") == 401


def test_sign_in_gives_a_cookie_that_scripts_cannot_read(client: TestClient) -> None:
    assert asking(client) == 401
    answer = client.post("/api/v1/sign-in", json={"token": TOKEN})
    assert answer.json() == {"access": "signed-in"}
    said = answer.headers["set-cookie"].lower()
    assert "httponly" in said
    assert "samesite=strict" in said
    assert TOKEN not in said
    assert asking(client) == 422
    assert client.post("/api/v1/sign-out").json() == {"access": "sign-in-needed"}
    assert asking(client) == 401


def test_the_cookie_is_secure_over_https(guarded: Settings) -> None:
    with browser(guarded, base_url="https://127.0.0.1") as client:
        assert "secure" in client.post("/api/v1/sign-in", json={"token": TOKEN}).headers["set-cookie"].lower()


def test_ten_wrong_tokens_make_an_address_wait(client: TestClient) -> None:
    for _ in range(10):
        assert client.post("/api/v1/sign-in", json={"token": "guess"}).status_code == 401
    late = client.post("/api/v1/sign-in", json={"token": TOKEN})
    assert (late.status_code, late.json()["code"]) == (429, "too-many-attempts")


def test_the_wait_ends_and_is_the_address_own(guarded: Settings) -> None:
    clock = Clock()
    access = Access(guarded, clock)
    for _ in range(10):
        with pytest.raises(SignInNeeded):
            access.of(connection("Bearer wrong"))
    with pytest.raises(TooManyAttempts):
        access.of(connection(f"Bearer {TOKEN}"))
    assert access.of(connection(f"Bearer {TOKEN}", address="10.0.0.10")) == "signed-in"
    clock.now += 61
    assert access.of(connection(f"Bearer {TOKEN}")) == "signed-in"


def test_a_session_ends_by_time_by_forgery_and_with_the_token(guarded: Settings) -> None:
    clock = Clock()
    access = Access(guarded, clock)
    cookie = access.session()
    expires, _, signature = cookie.partition(".")
    assert access.of(connection(cookie=cookie)) == "signed-in"
    for forged in (
        f"{int(expires) + 1}.{signature}",
        expires,
        f"{expires}.",
        f".{signature}",
        "\u00e9.\u00e9",
        "",
    ):
        assert not access.session_is_valid(forged)
    renewed = Access(guarded.model_copy(update={"token": SecretStr("another long token")}), clock)
    assert not renewed.session_is_valid(cookie)
    clock.now += SESSION_SECONDS
    assert access.of(connection(cookie=cookie)) == "sign-in-needed"


def test_foreign_pages_cannot_act_even_with_the_cookie(client: TestClient) -> None:
    client.post("/api/v1/sign-in", json={"token": TOKEN})
    assert asking(client, Origin="https://evil.example") == 403
    assert asking(client, Host="evil.example") == 403
    assert asking(client, Origin="http://127.0.0.1:8000") == 422


def test_everything_carries_the_security_headers(client: TestClient) -> None:
    for path in ("/", "/runs/abc", "/api/v1/models", "/api/v1/nothing", "/assets/none.js"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "script-src 'self';" in policy
        assert "frame-ancestors 'none'" in policy
        assert "http" not in policy, "everything is bundled"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
