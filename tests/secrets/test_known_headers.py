"""Hidden headers say whether their values were sent before, or set by the site."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.secrets import known_headers
from replaykit.secrets.known_headers import KnownHeaders
from replaykit.trajectory.redaction_marks import KNOWN_HEADER

NAMES = st.sampled_from(["Cookie", "cookie", "Authorization", "x-api-key", "accept"])
PAIRS = st.tuples(st.sampled_from("abc"), st.text("xyz=", max_size=3)).map("=".join)
VALUES = st.lists(PAIRS, min_size=1, max_size=3).map("; ".join)
HEADERS = st.lists(st.tuples(NAMES, VALUES), max_size=4).map(tuple)


def test_a_cookie_that_a_response_set_is_known() -> None:
    known = KnownHeaders()
    known.set_by((("Set-Cookie", "sid=1; Path=/; HttpOnly"), ("set-cookie", "lang=en")))
    assert known.sent((("Cookie", "lang=en; sid=1"),)) == (("Cookie", KNOWN_HEADER),)


@pytest.mark.parametrize("new", ["sid=2", "sid=1; x=QX-7781", "x=1", "", "sid"])
def test_a_cookie_with_a_part_that_was_never_seen_is_new_once(new: str) -> None:
    known = KnownHeaders()
    known.set_by((("set-cookie", "sid=1"),))
    sent = (("Cookie", new),)
    assert known.sent(sent) == sent
    assert known.sent(sent) == (("Cookie", KNOWN_HEADER),)


def test_a_value_is_known_for_its_own_header_only() -> None:
    known = KnownHeaders()
    known.sent((("Authorization", "Bearer 1"),))
    assert known.sent((("X-Api-Key", "Bearer 1"),)) == (("X-Api-Key", "Bearer 1"),)
    assert known.sent((("authorization", "Bearer 1"),)) == (("authorization", KNOWN_HEADER),)


@given(requests=st.lists(HEADERS, max_size=5))
def test_only_what_was_sent_before_is_marked(requests: list[tuple[tuple[str, str], ...]]) -> None:
    known, before = KnownHeaders(), set()
    for headers in requests:
        marked = known.sent(headers)
        assert [name for name, _ in marked] == [name for name, _ in headers]
        for (name, value), (_, shown) in zip(headers, marked, strict=True):
            parts = {(name.lower(), part.strip()) for part in value.split(";")}
            whole = parts if name.lower() == "cookie" else {(name.lower(), value)}
            is_marked = name != "accept" and whole <= before
            assert shown == (KNOWN_HEADER if is_marked else value)
            before |= whole


def test_what_comes_after_the_bound_stays_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_headers, "PARTS_MAX", 1)
    known = KnownHeaders()
    for _ in range(2):
        assert known.sent((("Cookie", "a=1; b=2"),)) == (("Cookie", "a=1; b=2"),)
