"""The cache never holds more than its bytes, and counts."""

from hypothesis import given
from hypothesis import strategies as st

from edged.text.cache import LruBytes


def make(capacity: int) -> LruBytes[str, bytes]:
    return LruBytes(capacity, lambda key, value: len(key) + len(value))


def test_counts_hits_and_misses() -> None:
    cache = make(100)
    assert cache.get("a") is None
    cache.put("a", b"12345")
    assert cache.get("a") == b"12345"
    assert (cache.hits, cache.misses, cache.bytes, len(cache)) == (1, 1, 6, 1)


def test_longest_unused_goes_first() -> None:
    cache = make(12)
    cache.put("a", b"123")
    cache.put("b", b"123")
    cache.put("c", b"123")
    cache.get("a")
    cache.put("d", b"123")
    assert [cache.get(k) is not None for k in "abcd"] == [True, False, True, True]


def test_capacity_is_a_limit_to_the_byte() -> None:
    for capacity, kept in ((11, 2), (12, 3)):
        cache = make(capacity)
        for key in "abc":
            cache.put(key, b"123")
        assert len(cache) == kept


def test_replacing_counts_once_and_too_large_is_not_kept() -> None:
    cache = make(10)
    cache.put("a", b"123")
    cache.put("a", b"12345")
    assert cache.bytes == 6
    cache.put("a", b"x" * 10)
    assert (cache.bytes, len(cache)) == (0, 0)
    make(0).put("a", b"")


def test_clear() -> None:
    cache = make(10)
    cache.put("a", b"1")
    cache.clear()
    assert (cache.get("a"), cache.bytes, len(cache)) == (None, 0, 0)


@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.binary(max_size=20), st.booleans())))
def test_bytes_are_those_of_the_entries(steps: list[tuple[str, bytes, bool]]) -> None:
    cache = make(50)
    for key, value, read in steps:
        if read:
            cache.get(key)
        else:
            cache.put(key, value)
        assert cache.bytes <= 50
    kept = {k: v for k in "abcdefgh" if (v := cache.get(k)) is not None}
    assert cache.bytes == sum(len(k) + len(v) for k, v in kept.items())
