"""Items and predicates of a reply: read strictly, whatever the reply is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.judges.claims.predicates import (
    ITEMS_MAX,
    ClaimItems,
    RequestSent,
    TextVisible,
    ValueShown,
    read_items,
)

VISIBLE = {"kind": "text_visible", "text": "Order 42"}


def item(**fields):
    return {"id": "a", "quote": "order 42", "all": [VISIBLE], **fields}


def only(**fields):
    found = read_items({"items": [item(**fields)]})
    assert isinstance(found, ClaimItems)
    (one,) = found.items
    return one


def test_an_item():
    one = only(key=False, quote="42")
    assert (one.id, one.quote, one.is_key, one.how) == ("a", "42", False, "all")
    assert one.predicates == (TextVisible(text="Order 42"),)


def test_words_are_read_in_any_case():
    (one,) = only(
        all=[{"kind": " VALUE ", "label": "Total", "value": "€7", "as": "Currency", "op": "EQUALS"}]
    ).predicates
    assert one == ValueShown(label="Total", value="€7", kind_of="currency")


@pytest.mark.parametrize(
    "fields",
    [
        {"all": []},
        {"all": [VISIBLE] * 6},
        {"all": "text_visible"},
        {"any": [VISIBLE]},
        {"quote": ""},
        {"quote": 5},
        {"id": None},
        {"key": "true"},
        {"all": [{"kind": "selector", "css": "#x"}]},
        {"all": [{"kind": "text_visible"}]},
        {"all": [{"kind": "text_visible", "text": "x" * 301}]},
        {"all": [{"kind": "text_visible", "text": "Order 42", "where": "everywhere"}]},
        {"all": [{"kind": "request_sent", "n": 0}]},
        {"all": [{"kind": "request_sent", "status": "200"}]},
        {"all": [{"kind": "request_sent", "fields": {"a": 1}}]},
        {"all": [{"kind": "count", "of": "acts", "match": "x", "n": True}]},
        {"all": [VISIBLE, None]},
    ],
)
def test_what_is_wrong_leaves_a_key_item_unread(fields):
    one = only(**{"key": False, **fields} if "key" not in fields else fields)
    assert one.predicates == ()
    assert one.is_key


def test_an_id_with_two_contents_is_unread_and_a_copy_counts_once():
    found = read_items({"items": [item(), item(quote="another")]})
    assert [one.predicates for one in found.items] == [(), ()]
    assert len(read_items({"items": [item(), item()]}).items) == 1


def test_more_items_than_are_read_leave_one_that_is_unread():
    found = read_items({"items": [item(id=str(n)) for n in range(ITEMS_MAX + 30)]})
    assert len(found.items) == ITEMS_MAX + 1
    assert found.n_unread == 1


def test_keys_that_mean_nothing_are_counted():
    request = {"kind": "request_sent", "url": "/a", "selector": "#x"}
    found = read_items({"items": [item(all=[request], verdict="SUCCESS")], "verdict": "SUCCESS"})
    assert found.n_ignored == 3
    assert found.items[0].predicates == (RequestSent(url="/a"),)


@pytest.mark.parametrize("reply", [{}, {"items": {}}, {"items": "x"}, {"items": None}])
def test_no_items(reply):
    assert read_items(reply) == "no_object"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["id", "quote", "key", "all", "any", "kind", "text", "label", "n", "fields"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.lists(JSON, max_size=4))
def test_any_json_is_read(rows):
    found = read_items({"items": rows})
    assert isinstance(found, ClaimItems)
    assert all(one.is_key for one in found.items if not one.predicates)
