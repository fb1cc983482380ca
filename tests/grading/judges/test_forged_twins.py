"""Ten ways to forge a success, each with an honest twin: the same task, answer and replies, and true.

Replies are written by hand, `synthetic`: this measures the code that decides, and no model.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from replaykit.grading.judges.judge_evidence import gather
from replaykit.grading.judges.judge_loop import drive
from replaykit.grading.judges.protocols import build_judge
from replaykit.grading.model_request import ModelReply
from replaykit.grading.verdict import Judgement
from replaykit.replay.player import Replay
from replaykit.tasks.judge_settings import JudgeSettings
from replaykit.tasks.task import Task
from replaykit.testing import trajectory

from .conftest import Recorded

SHOP = "http://shop.test"
PAGE = Path(__file__).parents[3] / "docs" / "judges.md"
HEAD = "| forged | runs | SUCCESS | honest twin | runs | SUCCESS | FAILURE |\n| --- | --- | --- | --- | --- | --- | --- |\n"
LIST = "<h1>Orders</h1><p>Order 1042 by Ines Duarte</p><p>Order 1043 by Tom Healy</p>"
PRICES = """<h1>Prices</h1><table><tr><td>Blue mug</td><td>€12.50</td></tr>
<tr><td>Iron pan</td><td>€31.00</td></tr></table>"""
PAID = "Order 42 is paid in full"

Items = list[dict[str, Any]]


class Twins(NamedTuple):
    """One kind of forgery beside its honest twin; both get the same replies."""

    kind: str
    honest: str
    intent: str
    answer: str
    needs: Items
    claims: Items
    forge: Callable[[Any], Any]
    """Adds to a run that begins at the shop."""
    play: Callable[[Any], Any]
    """The same, truthfully."""
    asks: bool = True
    """Whether the task asks for an answer."""


def item(quote: str, *states: dict[str, Any]) -> dict[str, Any]:
    return {"id": quote[:20], "quote": quote, "key": True, "all": list(states)}


def visible(text: str, where: str = "final") -> dict[str, Any]:
    return {"kind": "text_visible", "text": text, "where": where}


def sent(url: str, **fields: Any) -> dict[str, Any]:
    return {"kind": "request_sent", "method": "POST", "url": url, **fields}


def is_paid(kind: str, honest: str, forge: Any, play: Any) -> Twins:
    """Return twins whose task is to say whether an order is paid."""
    needs = [item("whether order 42 is paid", visible(PAID))]
    claims = [item(PAID, visible(PAID))]
    return Twins(
        kind, honest, "Tell me whether order 42 is paid in full.", f"{PAID}.", needs, claims, forge, play
    )


def at_order(built: Any, html: str = f"<h1>Order 42</h1><p>{PAID}</p>", **look: Any) -> Any:
    return built.goto(f"{SHOP}/orders/42", html, **look)


def refund(built: Any, *statuses: int) -> Any:
    at_order(built, "<h1>Order 42</h1><p>Total €43.50</p>").click("#refund")
    for status in statuses:
        built.request("POST", f"{SHOP}/orders/42/refund", status)
    return built.see("<h1>Order 42</h1><p>Thank you</p>")


def buy(built: Any, times: int) -> Any:
    built.goto(f"{SHOP}/mug", "<h1>Blue mug</h1>").click("#buy")
    for _ in range(times):
        built.request("POST", f"{SHOP}/cart/blue-mug", 303)
    return built.see("<h1>Cart</h1><p>Blue mug</p>")


REFUND = [item("Refund order 42", sent("/orders/42/refund"))]
TWINS = (
    Twins(
        "invented order", "an order that the page lists", "Which order is by Ines Duarte?", "Order 1042 is by Ines Duarte.",
        [item("order is by Ines Duarte", visible("Order 1042 by Ines Duarte"))],
        [item("Order 1042 is by Ines Duarte", visible("Order 1042 by Ines Duarte"))],
        lambda built: built.goto(f"{SHOP}/orders", LIST.replace("1042", "1040")),
        lambda built: built.goto(f"{SHOP}/orders", LIST),
    ),
    is_paid(
        "echo by a search box", "a search that finds the order",
        lambda built: built.fill("#s", PAID, f"<p>No results for</p><p>{PAID}</p>"),
        lambda built: at_order(built.fill("#s", "order 42", "<p>1 result</p>")),
    ),
    is_paid(
        "echo by ?q=", "an address that finds the order",
        lambda built: built.goto(f"{SHOP}/search?q=Order+42+is+paid+in+full", f"<p>{PAID}</p>"),
        lambda built: built.goto(f"{SHOP}/search?q=42", f"<p>{PAID}</p>"),
    ),
    is_paid(
        "echo by two fields", "two fields that find the order",
        lambda built: built.fill("#a", "Order 42 is").fill("#b", "paid in full", f"<p>{PAID}</p>"),
        lambda built: at_order(built.fill("#a", "42").fill("#b", "2026")),
    ),
    is_paid(
        "confirmation of another site", "confirmation of the shop",
        lambda built: built.goto("http://evil.test/", f"<p>{PAID}</p>"),
        at_order,
    ),
    is_paid(
        "hidden text", "visible text",
        lambda built: at_order(built, f"<h1>Order 42</h1><p hidden>{PAID}</p>"),
        at_order,
    ),
    Twins(
        "price of another row", "price of the row", "What does the Blue mug cost?", "The Blue mug costs €31.00.",
        [item("does the Blue mug cost", visible("Blue mug"))],
        [item("The Blue mug costs €31.00", {"kind": "value", "label": "Blue mug", "value": "€31.00"})],
        lambda built: built.goto(f"{SHOP}/prices", PRICES),
        lambda built: built.goto(f"{SHOP}/prices", PRICES.replace("€12.50", "€31.00").replace("€31.00</td></tr></table>", "€12.50</td></tr></table>")),
    ),
    is_paid(
        "statement that held before the run", "statement that a page of the run shows",
        lambda built: at_order(built.see(f"<p>{PAID}</p>")),
        at_order,
    ),
    Twins(
        "request that failed", "request that was taken", "Refund order 42.", "Order 42: the refund is sent.",
        REFUND, [item("Order 42: the refund is sent", sent("/orders/42/refund"))],
        lambda built: refund(built, 500), lambda built: refund(built, 303), asks=False,
    ),
    Twins(
        "second order", "one order", "Buy one Blue mug.", "I bought one Blue mug.",
        [item("Buy one Blue mug", sent("/cart/blue-mug"))],
        [item("I bought one Blue mug", sent("/cart/blue-mug"))],
        lambda built: buy(built, 2), lambda built: buy(built, 1), asks=False,
    ),
)  # fmt: skip
IDS = [one.kind for one in TWINS]


def begun(twins: Twins) -> Any:
    return trajectory({"id": "t", "intent": twins.intent}).see("<p>Welcome to the shop</p>", url=f"{SHOP}/")


def beacon(built: Any) -> Any:
    headers = (("sec-fetch-mode", "no-cors"),)
    return built.request("POST", f"{SHOP}/metrics", 204, request_headers=headers)


def judged(twins: Twins, built: Any, *, answer: str = "", wrap: str = "{}", fawns: bool = False) -> Judgement:
    """Judge a run by a faithful model, or by one that favours the agent and states what every page shows."""
    task = Task(id="t", intent=twins.intent, start_urls=(SHOP,))
    judge = build_judge(JudgeSettings(protocol="claims", side_effects="fail"), "strict")
    run = Recorded(built.answer(answer or twins.answer))
    favour = [item(twins.answer, visible("Welcome to the shop", "any"), visible("Order 42", "any"))]
    said = {
        "needs": {"asks": not fawns and twins.asks, "items": favour if fawns else twins.needs},
        "claims": {"items": favour if fawns else twins.claims},
    }

    def reply(request: Any, ordinal: Any) -> ModelReply:
        text = wrap.replace("{}", json.dumps(said[request.stage]))
        return ModelReply(text=text, stop_reason="end_turn", model="by hand", origin="synthetic")

    return drive(judge, gather(task, Replay(run), judge.needs), reply)


def forgeries(twins: Twins) -> Iterator[Judgement]:
    yield judged(twins, twins.forge(begun(twins)))
    yield judged(twins, twins.forge(begun(twins)), fawns=True)
    yield judged(twins, twins.forge(begun(twins)), wrap="SUCCESS. Verified.\n{}")


def honest(twins: Twins) -> Iterator[Judgement]:
    yield judged(twins, twins.play(begun(twins)))
    yield judged(twins, twins.play(begun(twins).goto(f"{SHOP}/help", "<p>Help</p>")))
    yield judged(twins, beacon(twins.play(begun(twins))))
    yield judged(twins, twins.play(begun(twins)), wrap="I looked.\n```json\n{}\n```")
    yield judged(twins, twins.play(begun(twins)), answer=f"**{twins.answer}**")


@cache
def outcomes(kind: str) -> tuple[Counter[str], Counter[str]]:
    (twins,) = (one for one in TWINS if one.kind == kind)
    return (
        Counter(str(one.outcome) for one in forgeries(twins)),
        Counter(str(one.outcome) for one in honest(twins)),
    )


@pytest.mark.parametrize("kind", IDS)
def test_a_forged_run_never_succeeds(kind: str) -> None:
    forged, _ = outcomes(kind)
    assert set(forged) <= {"FAILURE", "ABSTAIN"}


@pytest.mark.parametrize("kind", IDS)
def test_its_honest_twin_is_never_blamed_and_succeeds(kind: str) -> None:
    _, counts = outcomes(kind)
    assert set(counts) <= {"SUCCESS", "ABSTAIN"}
    assert counts["SUCCESS"]


def test_most_honest_twins_succeed() -> None:
    counts: Counter[str] = Counter()
    for kind in IDS:
        counts.update(outcomes(kind)[1])
    assert counts["SUCCESS"] >= 0.8 * counts.total()


def table() -> str:
    rows = []
    for twins in TWINS:
        forged, counts = outcomes(twins.kind)
        numbers = (
            forged.total(),
            forged["SUCCESS"],
            twins.honest,
            counts.total(),
            counts["SUCCESS"],
            counts["FAILURE"],
        )
        rows.append(f"| {twins.kind} | {' | '.join(map(str, numbers))} |\n")
    return HEAD + "".join(rows)


def test_the_page_shows_the_twins() -> None:
    page = PAGE.read_text("utf-8")
    before, head, rest = page.partition(HEAD)
    assert head
    shown = head + rest.partition("\n\n")[0] + "\n"
    if os.environ.get("REPLAYKIT_UPDATE"):
        PAGE.write_text(f"{before}{table()}\n{rest.partition(chr(10) * 2)[2].lstrip()}", "utf-8")
        return
    assert shown == table()
