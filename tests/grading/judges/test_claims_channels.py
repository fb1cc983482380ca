"""Each statement of `claims` over complete, partial and absent channels: what is not recorded proves nothing."""

from __future__ import annotations

from typing import Any, NamedTuple, get_args

import pytest

from replaykit.decoders import convert
from replaykit.grading.judges.claims.predicate_decisions import Subject, decide
from replaykit.grading.judges.claims.predicates import AnyPredicate
from replaykit.grading.judges.claims.run_facts import RunFacts
from replaykit.replay.player import Replay
from replaykit.tasks.task import Task
from replaykit.testing import Builder, trajectory
from replaykit.trajectory.exchange import Download
from replaykit.trajectory.step import CHANNELS

from .conftest import Recorded

SHOP = "http://shop.test"
TASK = Task(id="t", intent="Open /help, Gift wrap Order 42 and tell me its Total.", start_urls=(SHOP,))
PAGE = """<h1>Order 42</h1><table><tr><td>Total</td><td>€43.50</td></tr></table>
<label>Gift wrap <input type="checkbox" name="gift" data-live='{"checked": true}'></label>"""


class Row(NamedTuple):
    """One statement: whether it is true of the run, the channel that it rests on, what a complete one says."""

    kind: str
    fields: dict[str, Any]
    channel: str
    complete: str


TRUE, FALSE = "SUPPORTED", "CONTRADICTED"
ROWS = (
    Row("text_visible", {"text": "Order 42"}, "snapshots", TRUE),
    Row("value", {"label": "Total", "value": "€43.50"}, "snapshots", TRUE),
    Row("value", {"label": "Total", "value": "€99.00"}, "snapshots", FALSE),
    Row("absent", {"text": "Draft of Order 42"}, "snapshots", TRUE),
    Row("absent", {"text": "Order 42"}, "snapshots", FALSE),
    Row("state", {"label": "Gift wrap", "state": "checked"}, "snapshots", TRUE),
    Row("state", {"label": "Gift wrap", "state": "unchecked"}, "snapshots", FALSE),
    Row("url_visited", {"url": "/orders/42"}, "urls", TRUE),
    Row("url_visited", {"url": "/help"}, "urls", FALSE),
    Row("ended_on", {"url": "/orders/42"}, "urls", TRUE),
    Row("ended_on", {"url": "/help"}, "urls", FALSE),
    Row("request_sent", {"method": "POST", "url": "/orders/42/pay", "fields": {"total": "43.50"}}, "network", TRUE),
    Row("request_sent", {"method": "POST", "url": "/orders/42/pay", "fields": {"total": "99.00"}}, "network", FALSE),
    Row("no_request", {"method": "DELETE"}, "network", TRUE),
    Row("no_request", {"method": "POST"}, "network", FALSE),
    Row("user_agreed", {}, "replies", TRUE),
    Row("entered", {"label": "Quantity", "value": "4"}, "actions", TRUE),
    Row("entered", {"label": "Quantity", "value": "9"}, "actions", FALSE),
    Row("count", {"of": "requests", "match": "/orders/*/pay", "n": 1}, "network", TRUE),
    Row("count", {"of": "requests", "match": "/orders/*/pay", "n": 0}, "network", FALSE),
    Row("downloaded", {"name": "r.csv"}, "network", TRUE),
    Row("cannot_check", {"why": "taste"}, "network", "NOT_SHOWN"),
)  # fmt: skip
IDS = [f"{row.kind} {row.complete}" for row in ROWS]

RESTS_ON_WHAT_DID_NOT_HAPPEN = {("no_request", TRUE), ("url_visited", FALSE)}
"""Results that need the whole channel: something is not in it."""


def run(**channels: str) -> Builder:
    """A run that did all of it, of whose channels some are incomplete or absent; what is absent holds nothing."""
    states = {**dict.fromkeys(CHANNELS, "recorded"), **channels}
    built = trajectory(channels={name: state for name, state in states.items() if state != "absent"})
    has_pages, has_network = states["snapshots"] != "absent", states["network"] != "absent"
    built.see("<p>Welcome</p>", url=f"{SHOP}/") if has_pages else built.goto(f"{SHOP}/")
    built.goto(f"{SHOP}/orders/42", f"{PAGE}<p>Draft of Order 42</p>" if has_pages else None)
    if states["actions"] != "absent":
        built.fill("#q", "4", name="Quantity")
    if states["replies"] != "absent":
        built.reply("yes", True)
    built.click("#pay")
    if has_network:
        post = built.keep("application/x-www-form-urlencoded", "total=43.50")
        built.request("POST", f"{SHOP}/orders/42/pay", 303, post=post)
        built.add(Download(url=f"{SHOP}/r.csv", suggested="r.csv", state="completed", t=1))
    for name, state in states.items():
        if state == "partial":
            built.gap(name)
    return built.see(PAGE) if has_pages else built


def said(row: Row, built: Builder) -> str:
    facts = RunFacts(Replay(Recorded(built.answer("x"))), TASK)
    predicate = convert({"kind": row.kind, **row.fields}, AnyPredicate)
    return str(
        decide(predicate, Subject(facts=facts, texts=(TASK.intent, "", "Draft of Order 42 Quantity"))).finding
    )


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_complete_channels_decide(row: Row) -> None:
    assert said(row, run()) == row.complete


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_a_partial_channel_contradicts_by_what_it_holds_alone(row: Row) -> None:
    found = said(row, run(**{row.channel: "partial"}))
    assert found in (row.complete, "NOT_SHOWN")
    if (row.kind, row.complete) in RESTS_ON_WHAT_DID_NOT_HAPPEN:
        assert found == "NOT_SHOWN"


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_an_absent_channel_shows_nothing(row: Row) -> None:
    found = said(row, run(**{row.channel: "absent"}))
    # Steps and pages name addresses of their own, so that a visit can be seen without the channel.
    assert found in (("NOT_SHOWN", row.complete) if row.channel == "urls" else ("NOT_SHOWN",))
    if (row.kind, row.complete) in RESTS_ON_WHAT_DID_NOT_HAPPEN:
        assert found == "NOT_SHOWN"


def test_every_statement_is_here() -> None:
    kinds = {one.__struct_config__.tag for one in get_args(AnyPredicate)}
    assert {row.kind for row in ROWS} == kinds
