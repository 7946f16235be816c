"""The newcomer's example over HTTP, on SmolLM2: three heads copy a name, and without them it is gone."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from headscope.core.arrays import decode, encode
from models.test_smollm2 import folder  # noqa: F401
from services.server import Server

MODEL = "smollm2-135m"
TEXT = (
    "The old wizard Zorblax met a dragon by the river. Years later, nobody remembered the dragon, but the "
    "wizard Zor"
)


@pytest.fixture(scope="module")
def server(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:  # noqa: F811
    data = tmp_path_factory.mktemp("zorblax")
    (data / "models").mkdir()
    (data / "models" / MODEL).symlink_to(folder)
    running = Server(data)
    yield running
    running.stop()


def ask(server: Server, path: str, **body: Any) -> dict[str, Any]:
    while True:
        answer = httpx.post(
            f"{server.url}/api/v1/lab/{path}",
            json={"model": MODEL, "text": TEXT, "bos": False, **body},
            timeout=120,
            trust_env=False,
        )
        if answer.status_code != 503 or answer.json()["code"] not in ("no-worker", "model-loading"):
            assert answer.status_code == 200, answer.text
            return dict(answer.json())
        time.sleep(0.5)


def test_three_muted_heads_destroy_the_copy(server: Server) -> None:
    gates = np.ones((30, 9), "f4")
    for layer, head in ((17, 4), (18, 6), (17, 3)):
        gates[layer, head] = 0
    answer = ask(server, "gates", gates=encode(gates))
    (row,) = [row for row in answer["next"] if row["token"]["text"] == "bl"]
    assert row["before"] == pytest.approx(0.983, abs=0.002)
    assert row["after"] == pytest.approx(0.055, abs=0.002)


def test_those_heads_have_the_strongest_stripes(server: Server) -> None:
    seen = ask(server, "look")
    induction = decode(seen["above"]["values"])[seen["above"]["names"].index("induction")]
    strongest = {divmod(int(i), 9) for i in np.argsort(induction, axis=None)[::-1][:3]}
    assert strongest == {(17, 4), (18, 6), (17, 3)}
    assert seen["above"]["tells"][0]
    assert seen["bos"] == "none"
    assert seen["loss_repeat"] < seen["loss_first"]


def test_two_repeats_name_nobody_and_random_ones_rank(server: Server) -> None:
    seen = ask(server, "look", text="When Mary and John went to the store, John gave a drink to")["above"]
    assert seen["queries"][0] == 2
    assert {seen["claim_words"][code] for code in np.unique(decode(seen["claims"])[0])} == {"too few"}
    strongest = {divmod(int(i), 9) for i in np.argsort(-decode(seen["repeats"])[0], axis=None)[:3]}
    assert strongest == {(17, 4), (18, 6), (17, 3)}
