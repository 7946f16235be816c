"""The built front end is served whole, compressed and cacheable, and nothing beside it."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from headscope.settings import Settings
from headscope.web.static import FrontEnd
from web.conftest import browser

SCRIPT = "export const heads = 9;\n" * 200


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "secret.txt").write_text("not served")
    built = tmp_path / "static"
    (built / "assets").mkdir(parents=True)
    (built / "index.html").write_text("<!doctype html><div id=root></div>")
    (built / "assets" / "index-3f2a.js").write_text(SCRIPT)
    (built / "icon.svg").write_text("<svg/>")
    (built / ".hidden").write_text("no")
    return built


@pytest.fixture
def client(folder: Path) -> TestClient:
    app = Starlette()
    app.router.default = FrontEnd(folder)
    return TestClient(app)


def test_every_page_address_gives_the_page(client: TestClient) -> None:
    for path in ("/", "/runs/abc", "/models/org/name.v1", "/s/token"):
        answer = client.get(path)
        assert answer.status_code == 200
        assert "id=root" in answer.text
        assert answer.headers["cache-control"] == "no-cache"


def test_hashed_assets_are_kept_for_ever_and_compressed(client: TestClient) -> None:
    answer = client.get("/assets/index-3f2a.js")
    assert answer.text == SCRIPT
    assert answer.headers["content-encoding"] == "gzip"
    assert "immutable" in answer.headers["cache-control"]
    assert answer.headers["content-type"].startswith("text/javascript")
    plain = client.get("/assets/index-3f2a.js", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers


def test_an_unchanged_file_is_not_sent_again(client: TestClient, folder: Path) -> None:
    etag = client.get("/icon.svg").headers["etag"]
    assert client.get("/icon.svg", headers={"If-None-Match": etag}).status_code == 304
    (folder / "icon.svg").write_text("<svg><g/></svg>")
    assert client.get("/icon.svg", headers={"If-None-Match": etag}).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/assets/gone.js",
        "/.hidden",
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/assets/..%2f..%2fsecret.txt",
        "/a%00.js",
    ],
)
def test_nothing_else_is_served(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert "not served" not in answer.text
    assert answer.status_code == 404 or "id=root" in answer.text


def test_only_reading(client: TestClient) -> None:
    assert client.post("/").status_code == 405
    assert client.head("/").status_code == 200


def test_an_unbuilt_front_end_says_so(tmp_path: Path) -> None:
    app = Starlette()
    app.router.default = FrontEnd(tmp_path / "none")
    answer = TestClient(app).get("/")
    assert answer.status_code == 503
    assert "isn't built" in answer.text


def test_the_api_never_answers_with_the_page(bare: Settings) -> None:
    with browser(bare) as client:
        missing = client.get("/api/v1/nothing")
        assert (missing.status_code, missing.json()["code"]) == (404, "no-such-path")
        assert missing.headers["content-type"] == "application/problem+json"
        wrong = client.get("/api/v1/lab/patterns")
        assert (wrong.status_code, wrong.json()["code"]) == (405, "method-not-allowed")
        assert "POST" in wrong.json()["remedy"]
