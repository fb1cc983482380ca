"""The run that freezes format 1: every event, every action, every field of the data model, every blob class.

Fixed by hand down to the last byte, so that nothing but the format can change the files made from it.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, TypeAlias

from replaykit.bundle.blobs import blob_id
from replaykit.trajectory import action
from replaykit.trajectory.action import Element, FileInfo, Names, NodeRef, Via
from replaykit.trajectory.exchange import (
    Console,
    Dialog,
    Download,
    Exchange,
    Gap,
    Imported,
    Message,
    Navigation,
    Script,
    TabChange,
)
from replaykit.trajectory.observation import Frame, Hit, Observation, Prep, Read, Stale, TabView
from replaykit.trajectory.scalars import Omitted, Threw
from replaykit.trajectory.step import (
    CHANNELS,
    AgentInfo,
    Derivation,
    Ending,
    Environment,
    Header,
    Probe,
    Source,
    Step,
)

NewBlob: TypeAlias = tuple[str, str, bytes]
"""Id, media type, payload."""

Commit: TypeAlias = tuple[list[Any], list[NewBlob]]
"""Events, and the blobs they are the first to refer to."""

SHOP = "http://shop.test/"


def new_blob(payload: bytes, media_type: str) -> NewBlob:
    """Return a blob as a journal takes it."""
    return blob_id(payload), media_type, payload


def snapshot(quantity: str, message: str) -> bytes:
    """Return a recorded DOM of one form; it differs in what was typed and what is said."""
    head = {
        "snapshot": 1, "url": SHOP, "base": SHOP, "title": "Shop", "content_type": "text/html",
        "charset": "UTF-8", "compat": "CSS1Compat", "ready": "complete", "doctype": ["html", "", ""],
        "elements": 7, "nodes": 11, "styles": ["block|visible|collapse|none|", "none"], "sheets": [],
        "flags": ["no_box"],
    }  # fmt: skip
    tokens = [
        "<html", "<head", 1, "<body", "<h1", "=Blue Mug", 1, "<p", ["id", "say"], "=" + message, 1,
        "<input", ["id", "qty"], {"value": quantity}, 1, "<button", ["id", "order"], "=Order", 3,
    ]  # fmt: skip
    lines: tuple[Any, ...] = (head, tokens, [0, 1, 0, 0, 0, 0, 0], [])
    return b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)


def pixmap(width: int, height: int, shade: int) -> bytes:
    """Return a screenshot with a gradient."""
    pixels = bytes((shade + 3 * at) % 256 for at in range(3 * width * height))
    return b"P6\n%d %d\n255\n" % (width, height) + pixels


def noise(seed: bytes, length: int) -> bytes:
    """Return bytes that do not compress."""
    parts = [hashlib.sha256(seed + bytes([n])).digest() for n in range(length // 32 + 1)]
    return b"".join(parts)[:length]


FORM = new_blob(snapshot("", "Welcome"), "application/x-replaykit-dom")
TYPED = new_blob(snapshot("1", "Welcome"), "application/x-replaykit-dom")
ORDERED = new_blob(snapshot("1", "Order 1042 placed"), "application/x-replaykit-dom")
PAYMENT = new_blob(b"<!doctype html><title>Pay</title><p>Card", "text/html")
SHEET = new_blob(b"#say { color: teal }", "text/css")
TREE = new_blob(b'- heading "Blue Mug"\n- textbox "Quantity"\n- button "Order"\n', "text/yaml")
SHOT = new_blob(pixmap(16, 9, 1), "image/x-portable-pixmap")
CLEAN = new_blob(b"\xff\xd8\xff\xe0" + noise(b"photograph", 400), "image/jpeg")
POSTED = new_blob(b'{"qty":1}', "application/json")
REPLY = new_blob(b'{"order":1042,"note":"Z\xc3\xbcrich \xf0\x9f\x98\x80"}', "application/json")
TAPE = new_blob(b'{"tape":1}\n', "application/x-ndjson")
BLOBS = (FORM, TYPED, ORDERED, PAYMENT, SHEET, TREE, SHOT, CLEAN, POSTED, REPLY, TAPE)

TABS = (
    TabView(page=0, url=SHOP, title="Shop", active=True),
    TabView(page=1, url=f"{SHOP}terms"),
)

NAMES = Names(
    text="Order", value="Order", aria_label="Order now", labelledby="Checkout", label="Order", alt="cart",
    title="Place the order", placeholder="none",
)  # fmt: skip

BUTTON = Element(
    ref="#order", tag="button", type="submit", role="button", name="Order now", text="Order", value="",
    names=NAMES, attributes={"id": "order"}, css="#order", frame=(0, 1), frame_url=f"{SHOP}pay",
    box=(10, -20, 80, 24), point=(50, -8), node=NodeRef(snapshot=TYPED[0], number=6),
    via=Via(tag="span", css="#order > span"), disabled=False, visible=True, closed_shadow=True, cut=True,
    masked=True,
)  # fmt: skip
FIELD = Element(ref="a12", tag="input", css="#qty", node=NodeRef(snapshot=FORM[0], number=5))

ACTIONS: tuple[action.Action, ...] = (
    action.Goto(url=SHOP),
    action.Click(element=BUTTON, point=(50, -8), button="left", t=210, end=214, modifiers=("Shift",)),
    action.DblClick(element=BUTTON, point=(50, 8), button="middle"),
    action.Tap(element=BUTTON, point=(50, 8), button="none"),
    action.MouseClick(point=(5, 6), button="right", count=2),
    action.MouseDblClick(point=(5, 6)),
    action.MouseMove(point=(-1, 9_007_199_254_740_992)),
    action.MouseDown(point=(5, 6)),
    action.MouseUp(point=(5, 6)),
    action.Fill(element=FIELD, value="Zürich 😀", value_after="Zürich", submit=True),
    action.Type(element=FIELD, value="", value_after="", submit=True),
    action.KeyboardType(value="one"),
    action.KeyboardInsertText(value="\ufefftwo\u2028"),
    action.Press(element=FIELD, key="Control+a"),
    action.KeyboardDown(key="Shift"),
    action.KeyboardUp(key="Shift"),
    action.Clear(element=FIELD),
    action.Hover(element=BUTTON),
    action.Focus(element=FIELD),
    action.SelectOption(values=("l", "xl"), labels=("Large", "Extra large")),
    action.Check(trusted=False),
    action.Uncheck(completed=False),
    action.UploadFile(
        files=(FileInfo(name="receipt.pdf", size=0, mime="application/pdf"), FileInfo(name="x"))
    ),
    action.DragAndDrop(to=FIELD, point=(1, 2), to_point=(3, 4)),
    action.Scroll(dx=-5, dy=400, amount="page", by="wheel"),
    action.NewTab(url=f"{SHOP}terms"),
    action.GoBack(),
    action.GoForward(),
    action.Reload(),
    action.CloseTab(),
    action.FocusTab(to_page=1, tab=0),
    action.HandleDialog(accept=False, text="no"),
    action.Wait(ms=500),
    action.Noop(ms=0),
    action.SendMsgToUser(text="Which size?", ask=True),
    action.ToolCall(name="search", arguments={"query": "mug", "deep": [1, 2.5, None, True, {"a": "b"}]}),
    action.ReportInfeasible(text="It is sold out."),
    action.Unknown(name="levitate", raw='{"type":"levitate"}'),
    action.Answer(text="1042"),
)
"""Every action of format 1."""

READS = (
    Read(locator="#qty", kind="string", value="1"),
    Read(locator="#total", kind="number", special="nan", prep=(Prep(source="sum()"),)),
    Read(
        locator="total()",
        kind="exception",
        threw=Threw(name="TypeError", message="total is not a function"),
        prep=(Prep(source="throw 1", threw=Threw(name="1")),),
    ),
    Read(locator="cart()", kind="object", value={"a": [1, 0.5, None]}),
    Read(locator="css:input", kind="hits", hits=(Hit(number=5, attributes={"id": "qty"}), Hit(number=6))),
)

HEADER = Header(
    created="2026-03-02T09:00:00.000Z",
    run="attempt 1",
    task={"id": "mug-1", "intent": "Order one Blue Mug and tell me the order number.", "start_urls": [SHOP]},
    sites={"shop": ("http://shop.test", "https://shop.test")},
    agent=AgentInfo(name="demo", version="1", model="none", harness="none", extra={"seed": "7"}),
    environment=Environment(
        replaykit="0.1.0", driver="playwright", driver_version="1", browser="chromium", browser_version="1",
        browser_channel="none", os="linux", locale="de-CH", timezone="Europe/Zurich", user_agent="demo",
        headless=True, viewport=(1280, 720), dpr=1.5,
    ),
    options={"screenshots": True, "caps": {"body": 1024}},
    channels={**dict.fromkeys(CHANNELS, "recorded"), "replies": "auto_approve", "a11y": "partial"},
    secrets=("card",),
    clock="source",
    source=Source(
        format="demo", version="1", tool="freeze_format", files={"run.json": "0" * 64}, options={"a": 1},
        extra={"b": [None]}, alignment="exact",
    ),
    derived_from=(Derivation(digest="1" * 64, by="import"), Derivation(digest="2" * 64, by="redact")),
    replies=TAPE[0],
    lost=1,
)  # fmt: skip


def _step(index: int, **fields: Any) -> Step:
    fields = {"t": 1000 + 100 * index, "page": 0, "seq": index, "action": ACTIONS[index], **fields}
    return Step(index=index, origin="both", **fields)


FIRST = Observation(
    role="start", t=10, page=0, url=SHOP, title="Shop", tabs=TABS, viewport=(1280, 720), pointer=(-1, 0),
    snapshot=FORM[0], frames=(Frame(snapshot=PAYMENT[0], url=f"{SHOP}pay"), Frame(why="closed")),
    sheets=(SHEET[0], None), screenshot=SHOT[0], clean=CLEAN[0], shot_t=12, shot_scale=0.5, shot_exact=False,
    status=200, settled=True, stale=Stale(ms=3, mutations=2), a11y=TREE[0], reads=READS, repaired=2,
)  # fmt: skip

DECLARED = action.Click(element=Element(ref="#buy"))
ORDER = _step(
    1, t=210, declared=DECLARED, observed=(ACTIONS[1], action.Press(key="Enter", t=215, by="key")),
    seen=False, before=Observation(role="before", t=199, page=0, snapshot=TYPED[0]), end=214,
    url=f"{SHOP}orders/1042", tabs=TABS, thought="Order it.", raw="click('#buy')",
    error=Threw(name="Timeout", message="5 s"), turn=1,
    log=("clicked", "waited"),
)  # fmt: skip

HAPPENED = [
    TabChange(t=220, page=1, state="opened", opener=0, cause="page", url=f"{SHOP}terms", armed_after_ms=4),
    Navigation(
        t=221, page=0, seq=12, url=f"{SHOP}orders/1042", kind="form", cause="step", committed=False,
        error="net::ERR_ABORTED", same_document=True, ambiguous=True, frame=(1,), exchange=0, status=303,
        step=1,
    ),
    Exchange(
        t=222, page=0, id=0, method="POST", url=f"{SHOP}orders", step=1, frame=(1,), actor="agent",
        initiator="script", resource="fetch", http_version="h2", remote="192.0.2.1:80",
        request_headers=(("Host", "shop.test"), ("X-A", "1"), ("x-a", "2")), response_headers=(("A", ""),),
        post=POSTED[0], body=REPLY[0], status=303, status_text="See Other", mime="application/json",
        encoded_size=40, decoded_size=48, from_cache=True, from_worker=True, redirect_to=1, sent=222,
        waited=223, received=224, ended=225, messages=2, sent_frames=1,
    ),
    Exchange(
        t=226, id=1, actor="probe", method="GET", url=f"{SHOP}orders/1042", redirect_from=0,
        error="net::ERR_FAILED",
        body=Omitted(why="cap", n=99_000_000, sha256="3" * 64),
    ),
    Dialog(
        t=230, page=0, kind="prompt", message="Sure?", default="no", input="yes", accepted=True, closed=240,
        step=1,
    ),
    Console(t=241, page=0, level="pageerror", text="⟦secret:card⟧ refused", source=f"{SHOP}app.js:7", step=1),
    Script(t=242, page=0, name="score", read=READS[0], step=1),
    Download(t=243, page=0, url=f"{SHOP}bill.pdf", suggested="bill.pdf", state="completed", size=9, step=1),
    Gap(t=244, page=0, channel="a11y", why="timeout", start=240, end=244, step=1, count=3),
    Message(t=245, role="agent", kind="ask", text="Order it?", step=1),
    Message(t=246, role="user", kind="reply", text="", approved=False, step=1),
    Imported(t=247, kind="label", value={"success": None}, name="annotator", file="labels.json"),
]  # fmt: skip

AFTER = Observation(role="after", of=1, t=250, page=0, url=SHOP, snapshot=ORDERED[0], settled=False)
FINAL = Observation(role="final", t=9000, page=0, url=SHOP, snapshot=ORDERED[0], from_last=True)

PROBES = [
    Probe(
        t=9100, id="p0", phase="post", requested=SHOP, url=SHOP, in_place=True, status=200, redirects=(SHOP,),
        settled=True, snapshot=ORDERED[0], frames=(Frame(snapshot=Omitted(why="timeout")),),
        sheets=(SHEET[0],), reads=READS[:1],
    ),
    Probe(
        t=9200, id="p1", phase="post", error="refused", name="orders", method="GET", path="/api/orders",
        mime="application/json", body=REPLY[0],
    ),
]  # fmt: skip

ENDING = Ending(
    t=9300, kind="crashed", cause="harness", answer="", exit_code=-9, error=Threw(name="KeyError"),
    thought="Done?", validity="blocked", synthetic=True,
)  # fmt: skip


def whole_run() -> list[Commit]:
    """Return the commits of the run, header first."""
    others: list[Any] = [_step(index) for index in range(2, len(ACTIONS))]
    return [
        ([HEADER], [TAPE]),
        ([FIRST, _step(0, t=20)], [FORM, PAYMENT, SHEET, SHOT, CLEAN, TREE]),
        ([ORDER, *HAPPENED], [TYPED, POSTED, REPLY]),
        ([AFTER], [ORDERED]),
        (others, []),
        ([FINAL, *PROBES, ENDING], []),
    ]


def pixmap_run() -> list[Commit]:
    """Return the commits of a run with two screenshots that differ in one row."""
    first = pixmap(40, 12, 7)
    second = first[:-120] + bytes(120)
    shots = [new_blob(shot, "image/x-portable-pixmap") for shot in (first, second)]
    looks = [
        Observation(role="after", of=n, t=100 * n + 50, page=0, screenshot=shot[0])
        for n, shot in enumerate(shots)
    ]
    steps = [Step(index=n, t=100 * n, page=0, action=action.Scroll(dy=400)) for n in range(2)]
    return [
        ([Header(channels={"actions": "recorded", "screenshots": "recorded"})], []),
        ([steps[0], looks[0]], shots[:1]),
        ([steps[1], looks[1], Ending(t=300, kind="stopped")], shots[1:]),
    ]
