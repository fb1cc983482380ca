"""The content digest: what it leaves out, what changes it, and section 1.6 of docs/bundle-format.md."""

from __future__ import annotations

import hashlib
import inspect
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace

from replaykit.bundle.content_digest import Roots, content_digest, content_manifest
from replaykit.bundle.opening import open_container
from replaykit.bundle.reader import open_bundle
from replaykit.bundle.reduced_story import SHOT_FIELDS, Counted, reduced_lines, volatile_fields
from replaykit.bundle.verification import verify
from replaykit.bundle.writer import Journal, seal
from replaykit.errors import BundleError, DigestMismatch
from replaykit.trajectory import action, exchange, observation, step
from replaykit.trajectory.action import Click, Element, Fill, NodeRef, Unknown
from replaykit.trajectory.exchange import (
    Console,
    Dialog,
    Exchange,
    Gap,
    Message,
    Navigation,
    TabChange,
)
from replaykit.trajectory.observation import Frame, Observation, Read, Stale, TabView
from replaykit.trajectory.scalars import Omitted
from replaykit.trajectory.step import AgentInfo, Derivation, Ending, Environment, Header, Probe, Source, Step

DOC = Path(__file__).parents[2] / "docs" / "bundle-format.md"
DOM = "application/x-replaykit-dom"
PIXMAP = "image/x-portable-pixmap"
ROOT = "http://127.0.0.1:8000"

Event = Any


def id_of(payload: bytes) -> str:
    return hashlib.sha256(payload).hexdigest()


def page(title: str, root: str = ROOT) -> bytes:
    return msgspec.json.encode({"snapshot": 1, "url": f"{root}/", "title": title, "elements": 0})


READY = (b'"ready":"loading",', b'"ready":"interactive",', b'"ready":"complete",', b"")


@dataclass
class Run:
    """A run that can be changed in one place and written."""

    header: Header
    events: list[Event]
    blobs: dict[str, tuple[str, bytes]] = field(default_factory=dict)

    def write(self, path: Path, *, sealed: bool = True) -> Path:
        path.unlink(missing_ok=True)
        with Journal.create(path) as journal:
            rows = [(id, media_type, payload) for id, (media_type, payload) in self.blobs.items()]
            journal.commit([self.header], [])
            journal.commit(self.events, rows)
        if sealed:
            seal(path)
        return path

    def digest(self, folder: Path) -> str:
        with open_bundle(self.write(folder / "run.zst", sealed=False)) as bundle:
            return bundle.content_digest


def run(root: str = ROOT, t: int = 0, scale: int = 1) -> Run:
    """Two steps, a dialog, messages, interim looks and a final one; `t` and `scale` move every time."""

    def at(ms: int) -> int:
        return t + scale * ms

    blobs: dict[str, tuple[str, bytes]] = {}

    def put(payload: bytes, media_type: str = DOM) -> str:
        blobs[id_of(payload)] = (media_type, payload)
        return id_of(payload)

    shot = put(b"P6\n1 1\n255\nabc", PIXMAP)
    first, second, last = (put(page(title, root)) for title in ("first", "second", "last"))
    tabs = (TabView(page=0, url=f"{root}/", active=True),)
    look = Observation(t=at(100), page=0, seq=4, role="before", url=f"{root}/", tabs=tabs, snapshot=first)
    button = Element(tag="button", name="Buy", node=NodeRef(snapshot=first, number=3))
    events = [
        Observation(t=at(50), page=0, role="start", url=f"{root}/", snapshot=first, screenshot=shot),
        Step(t=at(100), page=0, seq=5, index=0, action=Click(element=button, point=(1, 2)), before=look,
             end=at(110), url=f"{root}/", tabs=tabs, thought="Buy it."),
        Exchange(t=at(105), id=7, method="GET", url=f"{root}/cart", step=0, sent=at(106)),
        Message(t=at(120), role="agent", kind="ask", text="May I?", step=0),
        Dialog(t=at(130), page=0, kind="confirm", message="Sure?", accepted=True, closed=at(140), step=0),
        Navigation(t=at(150), page=0, url=f"{root}/cart", kind="link", cause="step", exchange=7, step=0),
        Observation(t=at(160), page=0, role="after", of=0, snapshot=second, settled=False),
        Step(t=at(200), page=0, seq=2, index=1, action=Fill(value="7", element=Element(tag="input")),
             before=replace(look, t=at(200), seq=1, snapshot=second, stale=Stale(ms=3)), url=f"{root}/cart"),
        Observation(t=at(300), page=0, role="after", of=1, snapshot=last, screenshot=shot, settled=True),
        Observation(t=at(310), page=0, role="final", url=f"{root}/cart", snapshot=last, screenshot=shot,
                    shot_t=at(320), settled=True, reads=(Read(locator="#qty", kind="string", value="7"),)),
        Ending(t=at(330), kind="answered", answer="7"),
    ]  # fmt: skip
    header = Header(
        created="2026-01-01T00:00:00Z", task={"id": "t", "start_urls": ["__SHOP__/"]},
        sites={"shop": (root,)}, agent=AgentInfo(name="demo", version="1"),
        environment=Environment(replaykit="0.1.0", browser="chromium", browser_version="1", os="linux"),
        channels={"actions": "recorded"},
    )  # fmt: skip
    return Run(header, events, blobs)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One file that is written again and again."""
    return tmp_path_factory.mktemp("content")


@pytest.fixture(scope="module")
def expected(folder: Path) -> str:
    return run().digest(folder)


def index(events: Sequence[Event], kind: type, role: str = "") -> int:
    return next(
        n for n, e in enumerate(events) if isinstance(e, kind) and getattr(e, "role", "") in (role, "agent")
    )


# No change


@given(t=st.integers(0, 2**40), scale=st.integers(1, 1000))
def test_times_do_not_change_it(t: int, scale: int, folder: Path, expected: str) -> None:
    assert run(t=t, scale=scale).digest(folder) == expected


@given(port=st.integers(1, 65535), name=st.sampled_from(["127.0.0.1", "localhost", "shop.test"]))
def test_the_address_of_a_declared_site_does_not_change_it(
    port: int, name: str, folder: Path, expected: str
) -> None:
    assert run(root=f"http://{name}:{port}").digest(folder) == expected


def test_the_address_of_an_undeclared_site_changes_it(folder: Path) -> None:
    digests = set()
    for root in (ROOT, "http://127.0.0.1:8001"):
        made = run(root=root)
        made.header = replace(made.header, sites={})
        digests.add(made.digest(folder))
    assert len(digests) == 2


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)


@given(
    created=TEXT, label=TEXT, version=TEXT,
    chain=st.lists(st.builds(Derivation, digest=st.just("0" * 64), by=st.just("pack")), max_size=2),
)  # fmt: skip
def test_run_labels_and_versions_do_not_change_it(
    created: str, label: str, version: str, chain: list[Derivation], folder: Path, expected: str
) -> None:
    made = run()
    where = replace(
        made.header.environment, replaykit=version, browser_version=version, user_agent=version,
        driver_version=version,
    )  # fmt: skip
    made.header = replace(
        made.header, created=created, run=label, environment=where, derived_from=tuple(chain)
    )
    assert made.digest(folder) == expected


INTERIM: list[Event] = [
    Observation(role="after", of=0, page=0, url="http://x.test/", settled=False),
    Observation(role="after", of=1, page=0, screenshot=Omitted(why="evicted"), settled=True),
    Observation(role="unaligned", page=1),
    Exchange(id=90, method="GET", url="/favicon.ico", actor="probe"),
    Console(level="log", text="loaded in 12 ms"),
    Gap(channel="snapshots", why="timeout"),
    TabChange(state="opened", page=1),
    Probe(id="p0", phase="post"),
    Unknown(name="weather", raw='{"type":"weather","sun":true}'),
]


@given(added=st.lists(st.tuples(st.sampled_from(INTERIM), st.integers(0, 11)), max_size=4))
def test_interim_looks_and_what_else_is_left_out_do_not_change_it(
    added: list[tuple[Event, int]], folder: Path, expected: str
) -> None:
    made = run()
    for event, at in added:
        made.events.insert(at, event)
    assert made.digest(folder) == expected


@given(order=st.permutations(range(11)))
def test_the_order_of_lines_does_not_change_it(order: list[int], folder: Path, expected: str) -> None:
    made = run()
    made.events = [made.events[n] for n in order]
    assert made.digest(folder) == expected


def test_journal_and_seal_agree(folder: Path, expected: str) -> None:
    path = run().write(folder / "both.zst")
    with open_bundle(path) as bundle:
        assert (bundle.layout, bundle.content_digest) == ("sealed", expected)
    assert verify(path).content_digest == expected


def test_what_differs_has_another_trajectory_digest(tmp_path: Path) -> None:
    paths = [run(t=t).write(tmp_path / f"{t}.zst") for t in (0, 5)]
    first, second = (verify(path) for path in paths)
    assert first.digest != second.digest
    assert first.content_digest == second.content_digest


def test_blobs_that_nothing_counted_refers_to_do_not_change_it(folder: Path, expected: str) -> None:
    made = run()
    made.blobs[id_of(b"{}")] = ("application/json", b"{}")
    assert made.digest(folder) == expected


@pytest.mark.parametrize("why", ["mutations", "time", "no message of the page"])
def test_a_look_from_before_the_action_does_not_count(why: str, folder: Path, expected: str) -> None:
    digests = set()
    for title in ("first", "second", "last"):
        made = run()
        at = index(made.events, Step)
        action, snapshot = made.events[at], id_of(page(title))
        element = replace(action.action.element, node=NodeRef(snapshot=snapshot, number=len(title)))
        stale = Stale(ms=9, mutations=1) if why == "mutations" else None
        seen = replace(action.before, snapshot=snapshot, stale=stale, t=action.t - (why == "time"))
        action = replace(action, before=seen, action=replace(action.action, element=element))
        made.events[at] = replace(action, seq=0) if why == "no message of the page" else action
        digests.add(made.digest(folder))
    made.events[at] = replace(
        action, before=None, action=replace(action.action, element=Element(tag="button", name="Buy"))
    )
    assert digests == {made.digest(folder)} != {expected}


@given(ms=st.integers(0, 10**6))
def test_an_older_look_that_is_known_to_be_unchanged_counts(ms: int, folder: Path, expected: str) -> None:
    made = run()
    at = index(made.events, Step)
    made.events[at] = replace(made.events[at], before=replace(made.events[at].before, stale=Stale(ms=ms)))
    assert made.digest(folder) == expected


def showing(payload: bytes, sites: dict[str, tuple[str, ...]]) -> Run:
    """A run with another last page, the first blob that the final look names."""
    made = run()
    made.header = replace(made.header, sites=sites)
    made.blobs[id_of(payload)] = (DOM, payload)
    return changed(made, index(made.events, Observation, "final"), snapshot=id_of(payload))


@pytest.mark.parametrize("sites", [{}, {"shop": (ROOT,)}])
def test_how_far_a_page_had_loaded_does_not_count(sites: dict[str, tuple[str, ...]], folder: Path) -> None:
    pages = [b'{"snapshot":1,"title":"x",%s"elements":0}' % ready for ready in READY]
    inner = [b'{"snapshot":1,"elements":0}\n["@",{"url":"",%s"title":"y"}]' % ready for ready in READY]
    for same in (pages, inner):
        assert len({showing(payload, sites).digest(folder) for payload in same}) == 1


def test_a_text_that_looks_like_it_counts(folder: Path) -> None:
    titles = ('"ready":"complete"', '"ready":"interactive"', '\\"ready":"loading"')
    pages = [page(title) for title in titles] + [b'{"title":"x","ready":"never","elements":0}', page("")]
    assert len({showing(payload, {}).digest(folder) for payload in pages}) == len(pages)


@pytest.mark.parametrize("said", [None, 0, 1])
def test_a_message_belongs_to_the_step_done_before_it_not_to_the_one_written(
    said: int | None, folder: Path, expected: str
) -> None:
    assert changed(run(), index(run().events, Message), step=said).digest(folder) == expected


# Changes


def changed(made: Run, at: int, **fields: Any) -> Run:
    made.events[at] = replace(made.events[at], **fields)
    return made


def swapped(made: Run, at: int, title: str) -> Run:
    """Let an observation show another page."""
    payload = page(title)
    made.blobs[id_of(payload)] = (DOM, payload)
    return changed(made, at, snapshot=id_of(payload))


def changes() -> dict[str, Run]:
    final = index(run().events, Observation, "final")
    action = index(run().events, Step)
    made = run()
    seen = replace(made.events[action].before, url=f"{ROOT}/elsewhere")
    fewer = run()
    del fewer.events[index(fewer.events, Message)]
    other_type = run()
    snapshot = id_of(page("last"))
    other_type.blobs[snapshot] = ("text/html", other_type.blobs[snapshot][1])
    missing = run()
    del missing.blobs[snapshot]
    task, site = run(), run()
    task.header = replace(task.header, task={"id": "t2", "start_urls": ["__SHOP__/"]})
    site.header = replace(site.header, sites={"store": (ROOT,)})
    return {
        "answer": changed(run(), -1, answer="8"),
        "ending": changed(run(), -1, kind="stopped"),
        "message": changed(run(), index(run().events, Message), text="May I not?"),
        "a message before the step": changed(run(), index(run().events, Message), t=99),
        "a message after the dialog": changed(run(), index(run().events, Message), t=131),
        "a message after the next step": changed(run(), index(run().events, Message), t=200),
        "dialog": changed(run(), index(run().events, Dialog), accepted=False),
        "address": changed(run(), index(run().events, Navigation), url=f"{ROOT}/other"),
        "read": changed(run(), final, reads=(Read(locator="#qty", kind="string", value="8"),)),
        "final page": swapped(run(), final, "another"),
        "value": changed(run(), index(run().events, Step) + 6, action=Fill(value="8")),
        "thought": changed(run(), action, thought="Leave it."),
        "page acted on": changed(made, action, before=seen),
        "one message fewer": fewer,
        "type of a blob": other_type,
        "a blob that is not there": missing,
        "task": task,
        "name of a site": site,
    }


@pytest.mark.parametrize("what", changes())
def test_content_changes_it(what: str, folder: Path, expected: str) -> None:
    assert changes()[what].digest(folder) != expected


def test_every_change_is_another_content(folder: Path, expected: str) -> None:
    digests = [expected, *(made.digest(folder) for made in changes().values())]
    assert len(set(digests)) == len(digests)


@given(answer=st.text(st.characters(codec="utf-8"), max_size=20))
def test_another_answer_is_another_digest(answer: str, folder: Path, expected: str) -> None:
    assert (changed(run(), -1, answer=answer).digest(folder) == expected) == (answer == "7")


def test_a_screenshot_counts_where_there_is_no_snapshot(folder: Path) -> None:
    final = index(run().events, Observation, "final")
    with_both, without, other = run(), run(), run()
    changed(without, final, snapshot=None)
    changed(other, final, snapshot=None, screenshot=id_of(page("last")))
    same = changed(run(), final, screenshot=id_of(page("last")), shot_scale=0.5)
    assert same.digest(folder) == with_both.digest(folder)
    assert len({with_both.digest(folder), without.digest(folder), other.digest(folder)}) == 3


@pytest.mark.parametrize("kind", ["imported", "interrupted"])
def test_the_last_look_after_a_step_counts_where_no_recorder_took_a_final_one(
    kind: str, folder: Path
) -> None:
    def made() -> Run:
        bare = run()
        if kind == "imported":
            bare.header = replace(bare.header, source=Source(format="webvoyager"))
        else:
            bare.events = bare.events[:-2]
        return bare

    before = made().digest(folder)
    last = index(made().events, Observation, "after")
    earlier = made()
    earlier.events.insert(last, Observation(t=155, role="after", of=0, page=0, url=f"{ROOT}/passing"))
    assert earlier.digest(folder) == before
    assert swapped(made(), last, "another").digest(folder) != before


@pytest.mark.parametrize("t", [None, 7])
def test_every_look_of_an_import_counts(t: int | None, folder: Path) -> None:
    def made(shots: Sequence[str]) -> Run:
        looks = [Observation(role="before", t=t, screenshot=id_of(shot.encode())) for shot in shots]
        steps: list[Event] = [
            Step(index=n, t=t and t + n, action=Click(), before=look) for n, look in enumerate(looks)
        ]
        blobs = {id_of(shot.encode()): ("image/png", shot.encode()) for shot in shots}
        header = Header(channels={}, clock="none", source=Source(format="webvoyager"))
        return Run(header, steps, blobs)

    assert len({made(shots).digest(folder) for shots in ("ab", "ac", "aa", "ba")}) == 4


def test_a_message_without_a_time_stands_where_it_says(folder: Path) -> None:
    digests = {
        changed(run(), index(run().events, Message), t=None, step=step).digest(folder)
        for step in (None, 0, 1)
    }
    assert len(digests) == 3


# Text


def test_defaults_that_are_written_do_not_change_it(tmp_path: Path, hands: Any) -> None:
    lines = [
        [b'{"type":"header","channels":{}}', b'{"type":"observation","role":"final"}'],
        [b'{"channels":{},"type":"header","clock":"page","environment":{"replaykit":"9"},"new":1}',
         b'{"type":"observation","shot_scale":1.0,"tabs":[],"role":"final","frames":[],"a11y":null}'],
    ]  # fmt: skip
    digests = set()
    for number, story in enumerate(lines):
        path = tmp_path / f"{number}.zst"
        path.write_bytes(hands.journal_bytes(hands.story_raw(story)))
        digests.add(verify(path).content_digest)
    assert len(digests) == 1
    assert len(digests.pop()) == 64


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("http://shop.test:80/a", "__SHOP__/a"),
        ("http://shop.test:80", "__SHOP__"),
        ("see http://shop.test:80.", "see __SHOP__."),
        ("http://shop.test:8080/", "http://shop.test:8080/"),
        ("http://shop.test:80.evil.test/", "http://shop.test:80.evil.test/"),
        ("http://shop.test:80@evil.test/", "http://shop.test:80@evil.test/"),
        ("http://shop.test:80/help/x", "__HELP_1__/x"),
        ("http://shop.test:80/helper", "__SHOP__/helper"),
        ("http%3A%2F%2Fshop.test:80", "http%3A%2F%2Fshop.test:80"),
        ("http://short.test/a", "http://short.test/a"),
    ],
)
def test_site_roots_are_read_as_their_names(text: str, named: str) -> None:
    sites = {"shop": ("http://shop.test:80/",), "help_1": ("http://shop.test:80/help",)}
    odd = {"": ("http://short.test",), "x y": ("http://short.test",), "ftp": ("", "/", "ftp://a", "http:")}
    roots = Roots(Header(channels={}, sites={**sites, **odd}))
    assert roots.named(text.encode()).decode() == named


def test_many_roots_cost_a_bounded_number_of_passes() -> None:
    many = Header(channels={}, sites={"a": tuple(f"http://{n}.test" for n in range(5000))})
    named = Roots(many).named(b"http://1099.test http://1100.test http://0.test")
    assert named == b"__A__ http://1100.test http://0.test"  # longer ones go first, then by their text


def test_a_deeply_nested_value_is_an_error_of_ours(tmp_path: Path) -> None:
    def nested(depth: int) -> Any:
        value: Any = []
        for _ in range(depth):
            value = [value]
        return value

    look = Observation(role="final", reads=(Read(locator="x", kind="array", value=nested(3)),))
    header = Header(channels={})
    assert reduced_lines(header, [look])[1].count(b"[") == 5
    hostile = Observation(role="final", reads=(Read(locator="x", kind="array", value=nested(10**5)),))
    with pytest.raises(RecursionError):
        reduced_lines(header, [hostile])


def test_an_event_that_cannot_be_read_leaves_no_content_digest(tmp_path: Path, hands: Any) -> None:
    path = tmp_path / "run.zst"
    path.write_bytes(
        hands.journal_bytes(hands.story_raw([b'{"type":"header","channels":{}}', b'{"type":"ending"}']))
    )
    assert verify(path).content_digest == ""
    with open_bundle(path) as bundle, pytest.raises(BundleError):
        _ = bundle.content_digest


def test_a_damaged_blob_is_found(tmp_path: Path, hands: Any) -> None:
    lines = [
        msgspec.json.encode(Header(channels={}, sites={"shop": (ROOT,)})),
        msgspec.json.encode(Observation(role="final", snapshot=id_of(b"a page"))),
    ]
    raw = hands.blob_raw(b"a page").replace(b"a page", b"a lie!")
    path = tmp_path / "run.zst"
    path.write_bytes(hands.journal_bytes(raw, hands.story_raw(lines)))
    with open_bundle(path) as bundle, pytest.raises(DigestMismatch):
        _ = bundle.content_digest


def test_frames_and_sheets_count(folder: Path) -> None:
    final = index(run().events, Observation, "final")
    frame = changed(run(), final, frames=(Frame(snapshot=id_of(page("first")), url=f"{ROOT}/f"),))
    sheet = changed(run(), final, sheets=(None, id_of(page("second"))))
    assert len({made.digest(folder) for made in (run(), frame, sheet)}) == 3
    container = open_container(frame.write(folder / "run.zst"))
    renamed = id_of(page("first").replace(ROOT.encode(), b"__SHOP__"))
    assert content_manifest(container).count(renamed.encode()) == 1
    assert len(content_digest(container)) == 64
    container.close()


# The document


def section() -> str:
    text = DOC.read_text("utf-8")
    return text[text.index("**Content digest.**") : text.index("### 1.7")]


def structs() -> list[type[Struct]]:
    found = []
    for module in (step, observation, exchange, action):
        for _, kind in inspect.getmembers(module, inspect.isclass):
            if issubclass(kind, Struct) and kind.__module__ == module.__name__:
                found.append(kind)
    return found


def declared() -> dict[str, tuple[str, ...]]:
    """Volatile fields by the struct that declares them, as the document's table has them."""
    table = {}
    for kind in structs():
        own = {name for name in kind.__annotations__ if name in volatile_fields(kind)}
        if own:
            table[kind.__name__] = tuple(name for name in kind.__struct_fields__ if name in own)
    return table


def test_the_table_of_fields_is_the_code_s() -> None:
    labels = {"every event": "Moment", "every action": "ActionBase"}
    rows = re.findall(r"^\| ([a-z ]+) \| ((?:`\w+` ?)+)\|$", section(), flags=re.M)
    written = {labels.get(name, name.title()): tuple(re.findall(r"\w+", fields)) for name, fields in rows}
    counted = {kind.__name__ for kind in Counted.__args__} | {"Header", "Environment", "Moment", "ActionBase"}
    assert written == {name: fields for name, fields in declared().items() if name in counted}


def test_the_table_of_events_names_them_all() -> None:
    named = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`.*?) \|", section(), flags=re.M))))
    tags = {str(kind.__struct_config__.tag) for kind in step.Event.__args__}
    roles = {"before", "after", "final", "start", "unaligned"}
    assert named == tags | roles
    text = section()
    for name in SHOT_FIELDS:
        assert f"`{name}`" in text


def test_the_example_of_the_document(tmp_path: Path, hands: Any) -> None:
    text = section()
    story, reduced, manifest = (
        block.encode() for block in re.findall(r"^```\n(.*?)^```", text, flags=re.M | re.S)
    )
    found = re.search(r"The blob `(.*?)` of type `(.*?)`", text)
    assert found is not None
    blob = hands.blob_raw(found[1].encode(), media_type=found[2])
    path = tmp_path / "example.zst"
    lines = story.splitlines()
    path.write_bytes(hands.journal_bytes(blob, hands.story_raw(lines)))
    assert verify(path).gradable
    container = open_container(path)
    assert content_manifest(container) == manifest
    container.close()
    events = reduced.count(b"\n") - 1
    assert f"story {events} {id_of(reduced)}".encode() in manifest
    assert f"the content digest `{id_of(manifest)}`" in text
    assert verify(path).content_digest == id_of(manifest)
