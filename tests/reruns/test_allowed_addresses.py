"""Which recorded addresses may be opened, and as what."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.errors import UsageError
from replaykit.reruns.allowed_addresses import Addresses, addresses, normal, parse_url_map

SITES = {"shop": ("http://shop.test", "http://shop.test:8080/"), "crm": ("http://crm.test/app",)}
PLACES = addresses(SITES, sites={"shop": ("http://127.0.0.1:9000",), "crm": ("http://127.0.0.1:9001/new/",)})


@pytest.mark.parametrize(
    ("recorded", "live"),
    [
        ("http://shop.test", "http://127.0.0.1:9000/"),
        ("http://shop.test/orders?q=1#top", "http://127.0.0.1:9000/orders?q=1#top"),
        ("HTTP://SHOP.test:80/orders", "http://127.0.0.1:9000/orders"),
        ("http://shop.test:8080/x", "http://127.0.0.1:9000/x"),
        ("http://crm.test/app/deals", "http://127.0.0.1:9001/new/deals"),
        ("http://crm.test/app", "http://127.0.0.1:9001/new"),
        ("http://crm.test/app/../admin", None),
        ("http://crm.test/application", None),
        ("http://shop.test.evil.test/", None),
        ("http://shop.test@evil.test/", None),
        ("http://clerk:pw@shop.test/", None),
        ("https://shop.test/", None),
        ("http://shop.test:81/", None),
        ("javascript:alert(1)", None),
        ("file:///etc/passwd", None),
        ("data:text/html,x", None),
        ("//shop.test/", None),
        ("http://[", None),
        ("", None),
    ],
)
def test_a_recorded_url_has_a_live_one_only_under_a_root(recorded: str, live: str | None) -> None:
    assert PLACES.live(recorded) == live


@given(st.text(max_size=60), st.sampled_from(["http://shop.test", "http://crm.test/app", "http://", ""]))
def test_whatever_is_recorded_leads_to_a_live_root_or_nowhere(text: str, head: str) -> None:
    live = PLACES.live(head + text)
    assert live is None or PLACES.allows(live)
    assert live is None or live.startswith(("http://127.0.0.1:9000", "http://127.0.0.1:9001/new"))


def test_the_longest_root_counts_and_texts_are_rewritten() -> None:
    pairs = [("http://a.test", "http://n.test"), ("http://a.test/x", "http://m.test")]
    places = addresses({}, url_map=pairs, allow=["http://b.test"])
    assert places.live("http://a.test/x/y") == "http://m.test/y"
    assert places.live("http://a.test/y") == "http://n.test/y"
    assert places.live("http://b.test/") == "http://b.test/"
    assert places.text("see http://a.test/x and http://a.test/") == "see http://m.test and http://n.test/"
    assert Addresses(pairs=()).live("http://a.test") is None


def test_unknown_sites_and_roots_that_are_none_are_refused() -> None:
    with pytest.raises(UsageError, match=r"no site 'mall'; it has crm, shop"):
        addresses(SITES, sites={"mall": ("http://x.test",)})
    for root in ("ftp://x.test", "x.test", "http://x.test/?a=1", "http://a:b@x.test"):
        with pytest.raises(UsageError, match="expected an http"):
            addresses({}, allow=[root])


def test_url_maps_are_pairs_of_roots() -> None:
    assert parse_url_map(["https://a.test=http://b.test/c"]) == [("https://a.test", "http://b.test/c")]
    for text in ("a=b", "http://a.test", "http://a.test=b", "=http://b.test"):
        with pytest.raises(UsageError, match="OLD=NEW"):
            parse_url_map([text])


@given(st.text(max_size=40))
def test_normal_forms_stay_as_they_are(text: str) -> None:
    said = normal("http://h.test/" + text)
    assert said is None or normal(said) == said
