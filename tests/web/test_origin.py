"""A page of another site neither reads the server nor acts on it."""

from __future__ import annotations

import pytest
from starlette.datastructures import Headers

from headscope.settings import Settings
from headscope.web.origin import HostAndOrigin, is_loopback, split_host


async def nothing(*_: object) -> None:
    """Stands where the app would."""


def refusal(settings: Settings, method: str = "GET", **headers: str) -> str | None:
    raw = Headers({name.replace("_", "-"): value for name, value in headers.items()}).raw
    error = HostAndOrigin(nothing, settings).refusal({"type": "http", "method": method, "headers": raw})
    return error.code if error else None


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8000", "localhost:8000", "LOCALHOST", "[::1]:8000", "localhost."]
)
def test_loopback_names_are_known(bare: Settings, host: str) -> None:
    assert refusal(bare, host=host) is None


@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost@evil.example",
        "evil.example:8000",
        "10.0.0.7",
        "[::1",
        "a/b",
    ],
)
def test_other_names_are_refused(bare: Settings, host: str) -> None:
    assert refusal(bare, host=host) == "host-not-allowed"


def test_named_hosts_are_known(bare: Settings) -> None:
    lab = bare.model_copy(update={"allowed_hosts": ("heads.lab.example",)})
    assert refusal(lab, host="heads.lab.example") is None
    assert refusal(lab, host="other.lab.example") == "host-not-allowed"


def test_a_server_on_all_interfaces_takes_addresses_but_no_names(bare: Settings) -> None:
    everywhere = bare.model_copy(update={"host": "0.0.0.0"})  # noqa: S104 - compared, not bound
    assert refusal(everywhere, host="192.168.1.5:8000") is None
    assert refusal(everywhere, host="[fe80::1]:8000") is None
    assert refusal(everywhere, host="rebound.evil.example:8000") == "host-not-allowed"


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "http://evil.example",
        "http://localhost:3000",
        "http://localhost",
        "https://127.0.0.1:8000.evil.example",
        "x",
        "http://[bad",
    ],
)
def test_foreign_origins_are_refused(bare: Settings, method: str, origin: str) -> None:
    assert refusal(bare, method, host="localhost:8000", origin=origin) == "origin-not-allowed"


def test_own_origin_passes(bare: Settings) -> None:
    assert refusal(bare, "POST", host="localhost:8000", origin="http://localhost:8000") is None
    assert refusal(bare, "POST", host="[::1]:8000", origin="http://[::1]:8000") is None


def test_behind_a_proxy_that_drops_the_port_or_renames_the_host(bare: Settings) -> None:
    lab = bare.model_copy(update={"allowed_hosts": ("lab.example",)})
    assert refusal(lab, "POST", host="lab.example", origin="https://lab.example") is None
    assert refusal(lab, "POST", host="127.0.0.1:8000", origin="https://lab.example") is None


def test_without_an_origin_the_browser_says_where_it_comes_from(bare: Settings) -> None:
    assert refusal(bare, "POST", host="localhost", sec_fetch_site="cross-site") == "origin-not-allowed"
    assert refusal(bare, "POST", host="localhost", sec_fetch_site="same-site") == "origin-not-allowed"
    assert refusal(bare, "POST", host="localhost", sec_fetch_site="same-origin") is None
    assert refusal(bare, "POST", host="localhost") is None, "programs send neither"
    assert refusal(bare, "GET", host="localhost", sec_fetch_site="cross-site") is None, (
        "a link elsewhere may lead here"
    )


def test_what_is_loopback() -> None:
    assert all(map(is_loopback, ["localhost", "127.0.0.1", "127.9.9.9", "::1"]))
    assert not any(map(is_loopback, ["0.0.0.0", "::", "10.0.0.1", ""]))  # noqa: S104 - compared


def test_host_headers_are_taken_apart() -> None:
    assert split_host("[::1]:80") == ("::1", 80)
    assert split_host("A.b") == ("a.b", None)
    assert split_host("a:notaport") == ("", None)
