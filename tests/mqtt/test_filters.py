from __future__ import annotations

from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from edged.mqtt.filters import covers, disjoint, join, overlap, problem

LEVELS = ("a", "b", "")
topics = st.lists(st.sampled_from((*LEVELS, "$x")), min_size=1, max_size=4).map("/".join).filter(bool)


@st.composite
def topic_filters(draw: st.DrawFn) -> str:
    levels = draw(st.lists(st.sampled_from((*LEVELS, "$x", "+")), min_size=0, max_size=3))
    if draw(st.booleans()):
        levels.append("#")
    return "/".join(levels) or "#"


ALL_TOPICS = [
    "/".join(levels)
    for length in range(1, 5)
    for levels in product(("a", "b", "", "$x", "other"), repeat=length)
    if levels != ("",)
]


def taken(topic_filter: str) -> set[str]:
    """The topics a filter takes, by the words of the standard: level by level, without `covers`."""
    return {topic for topic in ALL_TOPICS if by_the_standard(topic_filter.split("/"), topic.split("/"))}


def by_the_standard(pattern: list[str], topic: list[str]) -> bool:
    if topic[0].startswith("$") and pattern[0] in ("+", "#"):
        return False
    while pattern and pattern[0] != "#":
        if not topic or pattern[0] not in ("+", topic[0]):
            return False
        pattern, topic = pattern[1:], topic[1:]
    return bool(pattern) or not topic


@pytest.mark.parametrize(
    ("topic_filter", "topic", "expected"),
    [
        ("home/#", "home", True),
        ("home/#", "home/kitchen/say", True),
        ("home/+", "home", False),
        ("home/+", "home/", True),
        ("+", "/x", False),
        ("+/+", "/x", True),
        ("#", "$SYS/broker", False),
        ("+/broker", "$SYS/broker", False),
        ("$SYS/#", "$SYS/broker", True),
        ("home/Say", "home/say", False),
    ],
)
def test_matching_as_the_standard_has_it(topic_filter: str, topic: str, expected: bool) -> None:
    assert covers(topic_filter, topic) is expected


@given(topic_filters(), topics)
def test_a_filter_takes_what_the_standard_says(topic_filter: str, topic: str) -> None:
    assert covers(topic_filter, topic) == by_the_standard(topic_filter.split("/"), topic.split("/"))


@example("/#", "+")
@given(topic_filters(), topic_filters())
def test_cover_and_overlap_are_those_of_the_sets_of_topics(one: str, two: str) -> None:
    if covers(one, two):
        assert taken(one) >= taken(two)
    assert overlap(one, two) == bool(taken(one) & taken(two))
    assert overlap(one, two) == overlap(two, one)


@given(topic_filters(), topic_filters())
def test_a_join_takes_all_that_either_takes(one: str, two: str) -> None:
    if overlap(one, two):
        joined = join(one, two)
        assert problem(joined) is None
        assert taken(joined) >= taken(one) | taken(two)
        assert joined == one or not covers(one, two)


@given(st.lists(topic_filters(), max_size=5))
def test_disjoint_filters_take_all_and_nothing_twice(given_filters: list[str]) -> None:
    chosen = disjoint(given_filters)
    for topic in set().union(*map(taken, given_filters)):
        assert sum(covers(each, topic) for each in chosen) == 1


@pytest.mark.parametrize(
    ("given_filters", "expected"),
    [
        (["home/+/say/#", "home/#"], ("home/#",)),
        (["home/+/say", "home/kitchen/+"], ("home/+/+",)),
        (["a/b", "a/b"], ("a/b",)),
        (["a/say", "a/say/+", "b/#"], ("a/say", "a/say/+", "b/#")),
    ],
)
def test_examples_of_disjoint_filters(given_filters: list[str], expected: tuple[str, ...]) -> None:
    assert disjoint(given_filters) == expected


@pytest.mark.parametrize(
    ("topic_filter", "fault"),
    [
        ("", "is empty"),
        ("a/#/b", '"#" elsewhere'),
        ("a/b#", '"#" elsewhere'),
        ("a/b+/c", '"+" beside'),
        ("a/\0", "NUL"),
        ("x" * 65536, "longer than 65535 bytes"),
        ("$share/group/a", "shared subscription"),
    ],
)
def test_faults_of_a_filter_are_named(topic_filter: str, fault: str) -> None:
    assert fault in (problem(topic_filter) or "")


@pytest.mark.parametrize("topic_filter", ["#", "+", "/", "a//b", "+/+/#", "küche/#"])
def test_good_filters_have_no_fault(topic_filter: str) -> None:
    assert problem(topic_filter) is None
