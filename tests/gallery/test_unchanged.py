"""What ships shows what it showed: figures, tables, exports and headline of every shipped run."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from gallery import fingerprints
from gallery.fingerprints import GOLDEN, alike, fingerprint
from headscope.gallery import shipped

RUNS = dict(fingerprints.all_shipped())
KNOWN = json.loads(GOLDEN.read_text())


def test_every_shipped_run_is_held() -> None:
    assert set(KNOWN) == set(RUNS) != set()


@pytest.mark.parametrize("name", RUNS)
def test_a_shipped_run_shows_what_it_showed(name: str) -> None:
    found = fingerprints.of(RUNS[name])
    assert set(found) == set(KNOWN[name])
    changed = {
        what: (KNOWN[name][what], now) for what, now in found.items() if not alike(now, KNOWN[name][what])
    }
    assert not changed


def test_a_fingerprint_sees_a_word_a_number_and_a_place() -> None:
    known = fingerprint({"x": [1.0, 2.0, float("nan")], "y": "needed"})
    assert alike(known, fingerprint({"y": "needed", "x": [1.0 + 1e-7, 2.0, float("nan")]}))
    for other in (
        {"x": [1.0, 2.0, float("nan")], "y": "harmful"},
        {"x": [2.0, 1.0, float("nan")], "y": "needed"},
        {"x": [1.0, 2.0, 0.0], "y": "needed"},
        {"x": [1.0, 2.01, float("nan")], "y": "needed"},
    ):
        assert not alike(known, fingerprint(other))


def test_a_shipped_file_holds_the_same_when_written_again(tmp_path: Path) -> None:
    for path in shipped.files():
        written = shipped.write(shipped.read(path), tmp_path)
        # Decompressed: the compressed bytes are the zlib version's choice.
        assert gzip.decompress(written.read_bytes()) == gzip.decompress(path.read_bytes())
