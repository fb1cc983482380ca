"""Predicates decided on built runs: each result with the evidence that carries it, and each guard."""

from __future__ import annotations

from typing import Any

import pytest

from replaykit.decoders import convert
from replaykit.grading.judges.claims.predicate_decisions import Subject, decide
from replaykit.grading.judges.claims.predicates import AnyPredicate, TextVisible
from replaykit.grading.judges.claims.run_facts import RunFacts
from replaykit.replay.player import Replay
from replaykit.tasks.task import Task
from replaykit.testing import trajectory
from replaykit.trajectory.exchange import Download, Exchange

SHOP = "http://shop.test"
ORDER = """<h1>Order 42</h1><table><tr><th>Item</th><th>Price</th></tr>
<tr><td>Blue mug</td><td>€12.50</td></tr><tr><td>Iron pan</td><td>€31.00</td></tr>
<tr><td>Total</td><td>€43.50</td></tr></table><dl><dt>Placed by</dt><dd>Ines Duarte</dd></dl>
<p>Status: shipped on Monday</p><p hidden>Order 42 is paid</p>
<label>Gift wrap <input type="checkbox" name="gift" data-live='{"checked": true}'></label>
<label for="q">Quantity</label><input id="q" data-live='{"value": "3"}'>"""
TASK = Task(id="t", intent="What is the total of order 42, its price, and who placed it?", start_urls=(SHOP,))


def at_shop(**header: Any):
    return (
        trajectory(**header)
        .see("<p>Welcome to the shop</p>", url=f"{SHOP}/")
        .goto(f"{SHOP}/orders/42", ORDER)
    )


def asked(as_bundle, built, kind, task=TASK, answer="", **fields):
    facts = RunFacts(Replay(as_bundle(built)), task)
    predicate = convert({"kind": kind, **fields}, AnyPredicate)
    quote = "" if kind == "value" else fields.get("text") or fields.get("label") or ""
    found = decide(predicate, Subject(facts=facts, texts=(task.intent, answer, quote)))
    return " ".join(filter(None, (str(found.finding), found.reason)))


@pytest.fixture
def of_shop(as_bundle):
    def run(kind, built=None, **fields):
        return asked(as_bundle, built or at_shop().answer("€43.50"), kind, **fields)

    return run


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("placed by", "NOT_SHOWN not_visible"),  # two lines
        ("Iron pan", "SUPPORTED"),
        ("iron  PAN", "SUPPORTED"),
        ("Order 42 is paid", "NOT_SHOWN not_visible"),
        ("Order 4", "NOT_SHOWN not_visible"),
        ("€12.50 Iron pan", "NOT_SHOWN not_visible"),
        ("€43.50", "NOT_SHOWN vacuous"),
        ("shipped", "NOT_SHOWN vacuous"),
        ("42", "NOT_SHOWN vacuous"),
        ("", "NOT_SHOWN vacuous"),
    ],
)
def test_text_visible(of_shop, text, found):
    wanted = "SUPPORTED" if text == "placed by" else found
    if text == "placed by":
        assert of_shop("text_visible", text="Placed by") == wanted
        text = "Placed by Ines"
    assert of_shop("text_visible", text=text) == found


def test_a_text_that_has_nothing_to_do_with_the_task_shows_nothing(as_bundle):
    facts = RunFacts(Replay(as_bundle(at_shop().answer("x"))), TASK)
    found = decide(TextVisible(text="Blue mug"), Subject(facts=facts, texts=(TASK.intent, "It is done.")))
    assert (str(found.finding), found.reason) == ("NOT_SHOWN", "unrelated")


def test_text_of_any_page(of_shop):
    built = (
        at_shop().goto(f"{SHOP}/help", "<p>Goods go back within 30 days</p>").goto(f"{SHOP}/", "").answer("x")
    )
    assert of_shop("text_visible", built, text="within 30 days") == "NOT_SHOWN not_visible"
    assert of_shop("text_visible", built, text="within 30 days", where="any") == "SUPPORTED"
    assert of_shop("text_visible", built, text="within 30 days", where="any", url="/help") == "SUPPORTED"
    assert (
        of_shop("text_visible", built, text="within 30 days", where="any", url="/orders/*")
        == "NOT_SHOWN not_visible"
    )
    assert of_shop("text_visible", built, text="Welcome to the shop", where="any") == "NOT_SHOWN vacuous"


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"label": "Total", "value": "43.5", "as": "currency"}, "SUPPORTED"),
        ({"label": "total:", "value": "€43.50"}, "SUPPORTED"),
        ({"label": "Total", "value": "€31.00"}, "CONTRADICTED other_value"),
        ({"label": "Total", "value": "€31.00", "where": "any"}, "NOT_SHOWN other_value"),
        ({"label": "Price", "value": "€31.00"}, "NOT_SHOWN not_visible"),
        ({"label": "Placed by", "value": "Ines Duarte"}, "SUPPORTED"),
        ({"label": "Placed by", "value": "Tom Healy"}, "CONTRADICTED other_value"),
        ({"label": "Total", "value": "€40", "op": "at_least"}, "SUPPORTED"),
        ({"label": "Total", "value": "€40", "op": "at_most"}, "CONTRADICTED other_value"),
        ({"label": "Total", "value": "soon", "as": "date"}, "NOT_SHOWN not_visible"),
        ({"label": "Iron pan", "value": "€31.00"}, "NOT_SHOWN unrelated"),
        ({"label": "7", "value": "€31.00"}, "NOT_SHOWN vacuous"),
    ],
)
def test_value(of_shop, fields, found):
    assert of_shop("value", **fields) == found


def test_a_value_in_a_field(of_shop):
    task = Task(id="t", intent="Set the quantity to 3.")
    assert of_shop("value", task=task, label="Quantity", value="3") == "SUPPORTED"
    assert of_shop("value", task=task, label="Quantity", value="4") == "CONTRADICTED other_value"
    typed = at_shop().fill("#q", "3", ORDER, name="Quantity").answer("x")
    assert of_shop("value", typed, task=task, label="Quantity", value="3") == "NOT_SHOWN echo"
    typed = at_shop().fill("#q", "30.00", ORDER.replace('"3"', '"30.00"'), name="Quantity").answer("x")
    assert of_shop("value", typed, task=task, label="Quantity", value="30.00") == "NOT_SHOWN echo"


def test_two_labels_that_differ_say_nothing(of_shop):
    built = at_shop().see(ORDER + "<p>Total: €9.00</p>").answer("x")
    for value in ("€43.50", "€9.00", "€1.00"):
        assert of_shop("value", built, label="Total", value=value).startswith("NOT_SHOWN")


def test_absent(of_shop):
    board = "<ul><li>LAN-4 Old kiosk</li><li>LAN-5 Ferry</li></ul>"
    gone = (
        trajectory().see(board, url=f"{SHOP}/board").click("#x", "<ul><li>LAN-5 Ferry</li></ul>").answer("x")
    )
    assert of_shop("absent", gone, text="LAN-4 Old kiosk") == "SUPPORTED"
    assert of_shop("absent", gone, text="LAN-5 Ferry") == "CONTRADICTED visible"
    assert of_shop("absent", gone, text="LAN-9 Other") == "NOT_SHOWN never_there"
    away = (
        trajectory().see(board, url=f"{SHOP}/board").goto(f"{SHOP}/settings", "<p>Settings</p>").answer("x")
    )
    assert of_shop("absent", away, text="LAN-4 Old kiosk") == "NOT_SHOWN never_there"
    drawn = trajectory().see(board, url=f"{SHOP}/board").click("#x", "<canvas></canvas>").answer("x")
    assert of_shop("absent", drawn, text="LAN-4 Old kiosk") == "NOT_SHOWN pictures"


def test_state(of_shop):
    assert of_shop("state", label="Gift wrap", state="checked") == "SUPPORTED"
    assert of_shop("state", label="Gift wrap", state="unchecked") == "CONTRADICTED other_state"
    assert of_shop("state", label="Gift wrap", state="enabled") == "SUPPORTED"
    assert of_shop("state", label="Gift", state="checked") == "SUPPORTED"  # its `name`
    assert of_shop("state", label="Wrapping", state="checked") == "NOT_SHOWN not_visible"
    ticked = at_shop().check("#gift", ORDER, name="Gift wrap").answer("x")
    assert of_shop("state", ticked, label="Gift wrap", state="checked") == "NOT_SHOWN echo"


def test_addresses(of_shop):
    naming = Task(id="t", intent="Open /help and order 42.", start_urls=(SHOP,))
    assert of_shop("url_visited", url="/orders/42") == "SUPPORTED"
    assert of_shop("url_visited", url="/orders/*") == "SUPPORTED"
    assert of_shop("url_visited", url="/help") == "NOT_SHOWN not_visited"
    assert of_shop("url_visited", task=naming, url="/help") == "CONTRADICTED not_visited"
    assert of_shop("url_visited", url="/") == "NOT_SHOWN vacuous"
    assert of_shop("ended_on", url="http://shop.test/orders/42") == "SUPPORTED"
    assert of_shop("ended_on", task=naming, url="/help") == "CONTRADICTED elsewhere"
    assert of_shop("ended_on", url="/orders/42", query={"tab": "notes"}) == "NOT_SHOWN elsewhere"
    lost = at_shop().gap("urls").answer("x")
    assert of_shop("url_visited", lost, task=naming, url="/help") == "NOT_SHOWN not_visited"


def sent(status=200, body="price=69.90&stock=4", times=1, built=None, **exchange):
    built = built or at_shop()
    post = built.keep("application/x-www-form-urlencoded", body)
    for _ in range(times):
        built.request("POST", f"{SHOP}/products/BLANKET", status, post=post, **exchange)
    return built.answer("x")


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"url": "/products/*"}, "SUPPORTED"),
        ({"method": "post", "url": "**/BLANKET"}, "SUPPORTED"),
        ({"url": "http://shop.test/products/BLANKET"}, "SUPPORTED"),
        ({"fields": {"*": "69.9"}}, "SUPPORTED"),
        ({"url": "/products/*", "fields": {"Price": "69.90"}}, "SUPPORTED"),
        ({"url": "/products/*", "fields": {"price": "79.90"}}, "CONTRADICTED other_values"),
        ({"url": "/products/*", "fields": {"cost": "69.90"}}, "NOT_SHOWN no_such_request"),
        ({"url": "/products/*", "n": 2}, "NOT_SHOWN fewer"),
        ({"url": "/products/*", "status": 303}, "NOT_SHOWN no_such_request"),
        ({"method": "DELETE", "url": "/products/*"}, "NOT_SHOWN no_such_request"),
        ({"method": "POST", "url": "/orders/*"}, "NOT_SHOWN no_such_request"),
        ({"method": "POST"}, "NOT_SHOWN vacuous"),
        ({"url": "/*"}, "NOT_SHOWN vacuous"),
        ({"url": "http://other.test/products/BLANKET"}, "NOT_SHOWN no_such_request"),
    ],
)
def test_request_sent(of_shop, fields, found):
    assert of_shop("request_sent", sent(), **fields) == found


def test_requests_that_no_server_took(of_shop):
    wanted = {"kind": "request_sent", "url": "/products/*"}
    assert of_shop(**wanted, built=sent(500)) == "CONTRADICTED no_change"
    assert of_shop(**wanted, built=sent(None)) == "NOT_SHOWN no_such_request"
    assert of_shop(**wanted, built=sent(times=2)) == "NOT_SHOWN repeated"
    assert of_shop(**wanted, built=at_shop().answer("x")) == "CONTRADICTED no_change"
    assert of_shop(**wanted, built=at_shop().reply("leave it", False).answer("x")) == "NOT_SHOWN user_spoke"
    assert of_shop(**wanted, built=at_shop().gap("network").answer("x")) == "NOT_SHOWN no_such_request"
    absent = at_shop(channels={"actions": "recorded", "snapshots": "recorded"})
    assert of_shop(**wanted, built=absent.answer("x")) == "NOT_SHOWN not_recorded"
    own = sent(source="agent")
    assert of_shop(**wanted, built=own) == "CONTRADICTED no_change"


def test_no_request(of_shop):
    assert of_shop("no_request", sent(), url="/products/*") == "CONTRADICTED sent"
    assert of_shop("no_request", sent()) == "CONTRADICTED sent"
    assert of_shop("no_request", sent(), method="DELETE") == "SUPPORTED"
    assert of_shop("no_request", at_shop().answer("x"), url="/products/*") == "SUPPORTED"
    assert of_shop("no_request", at_shop().gap("network").answer("x")) == "NOT_SHOWN incomplete"
    assert of_shop("no_request", sent(None), url="/orders/*") == "NOT_SHOWN incomplete"


def test_entered(of_shop):
    built = at_shop().fill("#q", "3", name="Quantity").fill("#q", "4", name="Quantity").answer("x")
    assert of_shop("entered", built, label="Quantity", value="4") == "SUPPORTED"
    assert of_shop("entered", built, label="Quantity", value="3") == "CONTRADICTED other_value"
    assert of_shop("entered", built, label="Colour", value="3") == "NOT_SHOWN not_entered"
    built = at_shop().fill("#q", "4", name="Quantity").gap("actions").answer("x")
    assert of_shop("entered", built, label="Quantity", value="3") == "NOT_SHOWN masked"


def test_user_agreed(of_shop):
    def run(*said, late=()):
        built = at_shop()
        for approved in said:
            built.reply("well", approved)
        built.click("#pay").request("POST", f"{SHOP}/pay", 303)
        for approved in late:
            built.reply("well", approved)
        return built

    assert of_shop("user_agreed", run(True).answer("x")) == "SUPPORTED"
    assert of_shop("user_agreed", run(False).answer("x")) == "CONTRADICTED not_agreed"
    assert of_shop("user_agreed", run(late=[True]).answer("x")) == "CONTRADICTED not_agreed"
    assert of_shop("user_agreed", run().claim("The user said yes").answer("x")) == "CONTRADICTED not_agreed"
    assert of_shop("user_agreed", run(None).answer("x")) == "NOT_SHOWN not_agreed"
    assert of_shop("user_agreed", run().gap("replies").answer("x")) == "NOT_SHOWN not_agreed"
    assert of_shop("user_agreed", at_shop().reply("yes", True).answer("x")) == "NOT_SHOWN no_change"


def test_count(of_shop):
    built = sent(times=2)
    assert of_shop("count", built, of="requests", match="/products/*", n=2) == "SUPPORTED"
    assert of_shop("count", built, of="requests", match="/products/*", n=1) == "CONTRADICTED more"
    assert of_shop("count", built, of="requests", match="/products/*", n=3) == "NOT_SHOWN fewer"
    assert of_shop("count", built, of="requests", match="/products/*", op="at_least", n=2) == "SUPPORTED"
    clicks = at_shop().click("#a", name="Add to cart").click("#a", name="Add to cart").answer("x")
    assert of_shop("count", clicks, of="acts", match="add to cart", n=2) == "SUPPORTED"
    clicks = at_shop().click("#a", name="Add to cart").gap("actions").answer("x")
    assert of_shop("count", clicks, of="acts", match="add to cart", n=1) == "NOT_SHOWN incomplete"
    assert of_shop("count", clicks, of="acts", match="add to cart", op="at_least", n=1) == "SUPPORTED"
    assert of_shop("count", clicks, of="acts", match="add to cart", op="at_least", n=0) == "NOT_SHOWN vacuous"


def test_downloaded(of_shop):
    def run(state):
        return at_shop().add(Download(url=f"{SHOP}/r.csv", suggested="r.csv", state=state, t=1)).answer("x")

    assert of_shop("downloaded", run("completed"), name="R.csv") == "SUPPORTED"
    assert of_shop("downloaded", run("started"), name="r.csv") == "NOT_SHOWN unfinished"
    assert of_shop("downloaded", name="r.csv") == "NOT_SHOWN not_downloaded"
    assert of_shop("cannot_check", why="taste") == "NOT_SHOWN cannot_check"


PAID = "Order 42 is paid in full"


@pytest.mark.parametrize(
    "built",
    [
        at_shop().fill("#s", PAID, f"<p>No results for {PAID}</p>"),
        at_shop().goto(f"{SHOP}/search?q=Order+42+is+paid+in+full", f"<p>No results for {PAID}</p>"),
        at_shop().goto(f"{SHOP}/search/Order%2042%20is%20paid%20in%20full", f"<p>{PAID}</p>"),
        at_shop().fill("#a", "Order 42 is").fill("#b", "paid in full", f"<p>Hello {PAID}</p>"),
        at_shop().select("#a", PAID, html=f"<p>{PAID}</p>"),
    ],
    ids=["search box", "query", "path", "two fields", "choice"],
)
def test_an_echo_shows_nothing(of_shop, built):
    assert of_shop("text_visible", built.answer(PAID), text=PAID) == "NOT_SHOWN echo"


def test_what_stood_there_before_it_was_entered_is_no_echo(of_shop):
    shown = at_shop().see(f"<p>{PAID}</p>").fill("#s", PAID, f"<p>No results for {PAID}</p>").answer("x")
    assert of_shop("text_visible", shown, text=PAID) == "NOT_SHOWN echo"
    assert of_shop("text_visible", shown, text=PAID, where="any") == "SUPPORTED"


@pytest.mark.parametrize(
    ("built", "why"),
    [
        (at_shop().goto("http://evil.test/", f"<p>{PAID}</p>"), "foreign"),
        (at_shop().goto("data:text/html,x", f"<p>{PAID}</p>"), "foreign"),
        (at_shop().goto("blob:http://shop.test/1", f"<p>{PAID}</p>"), "foreign"),
        (at_shop().see(f"<p>{PAID}</p>", source="agent").final(f"<p>{PAID}</p>", source="agent"), "forged"),
    ],
)
def test_pages_that_are_not_the_sites_show_nothing(of_shop, built, why):
    assert of_shop("text_visible", built.answer("x"), text=PAID) == f"NOT_SHOWN {why}"
    assert of_shop("text_visible", built, text=PAID, where="any") == "NOT_SHOWN not_visible"
    assert of_shop("absent", built, text=PAID) == f"NOT_SHOWN {why}"


def test_a_document_that_the_agent_answered_shows_nothing(of_shop):
    url = f"{SHOP}/done"
    built = at_shop()
    built.add(
        Exchange(id=9, method="GET", url=url, status=200, source="agent", resource="document", page=0, t=1)
    )
    built.goto(url, f"<p>{PAID}</p>").answer("x")
    assert of_shop("text_visible", built, text=PAID) == "NOT_SHOWN forged"


def test_pages_that_cannot_be_read_show_nothing(of_shop):
    built = trajectory().goto(f"{SHOP}/", "<p>Hello you</p>").end("stopped")
    assert of_shop("text_visible", built, text="Hello you") == "NOT_SHOWN not_recorded"


def test_pages_beyond_the_limit_show_nothing_but_the_last_one(of_shop, monkeypatch):
    monkeypatch.setattr("replaykit.grading.judges.claims.run_facts.TEXTS_MAX", 60)
    built = trajectory().goto(f"{SHOP}/a", "<p>" + "word " * 20 + "</p>")
    built.goto(f"{SHOP}/b", "<p>Goods go back within 30 days</p>").goto(f"{SHOP}/c", "<p>Day 7 is over</p>")
    assert (
        of_shop("text_visible", built.answer("x"), text="within 30 days", where="any")
        == "NOT_SHOWN not_visible"
    )
    assert of_shop("text_visible", built, text="Day 7 is over") == "SUPPORTED"


def test_long_entries_take_bounded_time(of_shop):
    built = at_shop()
    for _ in range(50):
        built.fill("#s", "abc " * 4000)
    built.see("<p>" + "abc " * 70 + "</p>").answer("x")
    assert of_shop("text_visible", built, text=("abc " * 70).strip()) == "NOT_SHOWN echo"
