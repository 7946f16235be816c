"""What was used last stays, within its bytes."""

from __future__ import annotations

from functools import partial

from headscope.web.lru import LruCache


def test_the_longest_unused_goes_first() -> None:
    made: list[str] = []

    def value(key: str) -> bytes:
        made.append(key)
        return b"x" * 40

    cache: LruCache[bytes] = LruCache(100, len)
    for key in ("a", "b", "a", "c", "a", "b"):
        cache.get(key, partial(value, key))
    assert made == ["a", "b", "c", "b"]
    assert len(cache) == 2


def test_one_entry_beyond_the_limit_is_still_answered() -> None:
    cache: LruCache[bytes] = LruCache(10, len)
    assert cache.get("a", lambda: b"x" * 50) == b"x" * 50
    assert len(cache) == 1
