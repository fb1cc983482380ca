"""Actions in frames that their page cannot read: names, selectors and containers hold there as well."""

from __future__ import annotations

import msgspec
import pytest

from replaykit.replay.dom import Dom
from replaykit.snapshot.snapshot_format import MEDIA_TYPE
from replaykit.testing.pages import snapshot
from replaykit.trajectory import action as actions
from replaykit.trajectory.observation import Frame

FRAME = "f" * 64
INNER = snapshot("<form id=card><button id=pay aria-label='Pay all'>Pay</button></form><p id=other>Other</p>")


def with_frame(run, *, known: bool | None = True, before=""):
    """A page with a frame in a box, and an action on the button inside of it."""
    built = run().on(
        "http://shop.test/", f"{before}<div id=box><iframe id=f></iframe></div><div id=side></div>"
    )
    outer = built.blobs[built.now.snapshot]
    flat = msgspec.json.decode(outer.split(b"\n")[1])
    flat.insert(flat.index("<iframe") + 2, {"frame": 0})
    built.blobs[built.now.snapshot] = outer.replace(outer.split(b"\n")[1], msgspec.json.encode(flat))
    built.blobs[FRAME] = INNER
    assert built.blob_type(FRAME) == MEDIA_TYPE
    frame = (
        Frame(snapshot=FRAME, url="http://pay.test/")
        if known
        else Frame(why="unseen" if known is None else "unarmed")
    )
    built.now = msgspec.structs.replace(built.now, frames=(frame,))
    built.events[-1] = built.now
    number = Dom(INNER).select("#pay").number
    node = actions.NodeRef(snapshot=FRAME, number=number) if known else None
    element = actions.Element(tag="button", css="#pay", frame=(0,), node=node)
    return built.do(actions.Click(element=element)).ended("done")


def never(**match):
    return {"type": "never", "match": match}


@pytest.mark.parametrize(
    ("css", "outcome"),
    [
        ("#pay", "VIOLATED"),
        ("#card", "VIOLATED"),
        ("#box", "VIOLATED"),  # the frame is inside of it
        ("#side", "DORMANT"),
        ("#other", "DORMANT"),
    ],
)
def test_selector_on_the_frame_acted_in(run, grade, css, outcome):
    assert grade(with_frame(run), never(action="click", selector=css)).outcome == outcome


def test_names_of_an_element_in_a_frame(run, grade):
    # The element's own record has no names: the frame's snapshot has.
    assert grade(with_frame(run), never(action="click", text="Pay all")).outcome == "VIOLATED"
    assert grade(with_frame(run), never(action="click", text="Nothing")).outcome == "DORMANT"


def test_selector_in_an_unseen_frame(run, grade):
    result = grade(with_frame(run, known=False), never(action="click", selector="#card"))
    assert result.missing == ("target@0",)


@pytest.mark.parametrize(
    ("known", "text", "outcome"),
    [
        (True, "Other", "VIOLATED"),
        (True, "Nothing", "OK"),
        (False, "Other", "UNDECIDED"),
    ],
)
def test_a_page_shows_what_its_frames_show(run, grade, known, text, outcome):
    result = grade(with_frame(run, known=known), never(kind="page", text=text))
    assert result.outcome == outcome
    assert outcome != "UNDECIDED" or result.missing[0].startswith("frame.unread")


def test_a_frame_that_has_shown_nothing_yet_hides_nothing(run, grade):
    built = with_frame(run, known=None)
    assert grade(built, never(kind="page", text="Other")).outcome == "OK"


@pytest.mark.parametrize(("style", "outcome"), [("", "VIOLATED"), (" style='display: none'", "OK")])
def test_a_page_shows_what_its_readable_frames_show(run, grade, style, outcome):
    built = run().on("http://shop.test/", f"<p>Shop</p><iframe{style} id=f></iframe>")
    outer = built.blobs[built.now.snapshot]
    built.blobs[built.now.snapshot] = with_document(outer, snapshot("<p>Other</p>"))
    built.click("Shop").ended("done")
    assert grade(built, never(kind="page", text="Other")).outcome == outcome


LONG = "<p>" + "Nothing happened here. " * 30 + "</p>"
ALERT = snapshot("<div role=alert>Payment failed</div>")


@pytest.mark.parametrize(("style", "outcome"), [("", "VIOLATED"), (" style='display: none'", "DORMANT")])
def test_an_alert_in_a_readable_frame_is_one(run, grade, style, outcome):
    built = run().on("http://shop.test/", f"{LONG}<iframe{style} id=f></iframe>")
    built.blobs[built.now.snapshot] = with_document(built.blobs[built.now.snapshot], ALERT)
    assert grade(built.click("Shop").ended("All is done."), {"type": "reports_error"}).outcome == outcome


@pytest.mark.parametrize(
    ("known", "inner", "outcome"),
    [(True, ALERT, "VIOLATED"), (True, INNER, "DORMANT"), (False, INNER, "UNDECIDED")],
)
def test_an_alert_in_a_frame_of_another_site_is_one(run, grade, known, inner, outcome):
    built = with_frame(run, known=known, before=LONG)
    built.blobs[FRAME] = inner
    assert grade(built, {"type": "reports_error"}).outcome == outcome


def with_document(outer: bytes, inner: bytes) -> bytes:
    """Put a page into the only frame of another, as a page of its own site is recorded."""
    head, tokens, styles, boxes = map(msgspec.json.decode, outer.splitlines())
    own, inside, own_styles, _ = map(msgspec.json.decode, inner.splitlines())
    at = tokens.index("<iframe") + 2
    facts = {name: own[name] for name in ("url", "base", "title", "compat", "ready", "doctype")}
    # The document ends with its elements: one level more.
    inside[-1] += 1
    tokens[at:at] = ["@", facts, *inside]
    number = sum(isinstance(one, str) and one.startswith("<") for one in tokens[:at])
    shift = len(head["styles"])
    styles[number:number] = [one + shift if one >= 0 else one for one in own_styles]
    head["styles"] += own["styles"]
    head["elements"] += own["elements"]
    head["nodes"] += own["nodes"]
    return b"".join(msgspec.json.encode(line) + b"\n" for line in (head, tokens, styles, boxes))
