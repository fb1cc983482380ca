"""Streams of rrweb: pages rebuilt from their changes, what was done on them, all the forms of a file."""

from __future__ import annotations

import gzip
import json
import random
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.interop.rrweb.rrweb_dom import BrokenTree, RrwebTree
from replaykit.interop.run_import import import_run, import_runs
from replaykit.replay.player import Replay
from replaykit.snapshot.codec import decode
from replaykit.snapshot.snapshot_format import TEXT, Snapshot
from replaykit.trajectory.action import Check, Click, DblClick, Fill, Scroll, SelectOption, tag_of
from replaykit.trajectory.exchange import Console, Navigation, Rest
from replaykit.trajectory.observation import Observation
from tests.interop.conftest import Importing
from tests.interop.samples import element, increment, rr_events, rr_page, rrweb, words, write

URL = "http://shop.test/"


def stream(folder: Path, *more: dict[str, Any]) -> Path:
    return write(folder, "stream.json", [*rr_page(), *more])


def run_of(imported: Importing, folder: Path, *more: dict[str, Any]) -> Bundle:
    return imported("rrweb", stream(folder, *more))


def final_of(bundle: Bundle) -> Snapshot:
    (final,) = [one for one in bundle.trajectory.of_type(Observation) if one.role == "final"]
    return decode(bundle.blob(str(final.snapshot)))


def texts(page: Snapshot) -> list[str]:
    return [page.name[row] for row, kind in enumerate(page.kind) if kind == TEXT]


def test_what_was_done_are_steps(tmp_path: Path, imported: Importing) -> None:
    bundle = imported("rrweb", rrweb(tmp_path))
    run = bundle.trajectory
    click, name, password, news, size, scroll = (step.action for step in run.steps)
    assert isinstance(click, Click) and click.point == (3, 4) and click.element is not None
    assert click.element.names is not None and click.element.names.label == "Name"
    assert isinstance(name, Fill) and name.value == "Ann"
    assert isinstance(password, Fill) and password.value == "⟦masked⟧"
    assert isinstance(news, Check) and isinstance(size, SelectOption) and size.labels == ("Two",)
    assert scroll == Scroll(dy=250, by="unknown")
    assert [step.t for step in run.steps] == [10, 20, 40, 50, 60, 70]
    assert [one.url for one in run.of_type(Navigation)] == [URL]
    assert [(one.level, one.text) for one in run.of_type(Console)] == [("warning", "careful 3")]
    for name_, state in (
        ("actions", "partial"),
        ("urls", "partial"),
        ("snapshots", "recorded"),
        ("network", "absent"),
    ):
        assert run.channel(name_) == state, name_


def test_pages_are_those_before_and_after_each_step(tmp_path: Path, imported: Importing) -> None:
    bundle = imported("rrweb", rrweb(tmp_path))
    replay = Replay(bundle)
    final = replay.final
    assert final is not None and final.dom is not None and final.url == URL
    fields = {css: final.dom.select(css) for css in ("#name", "#news", "#size", "#pw")}
    states = final.dom.snapshot.state
    assert all(fields.values())
    found = {css: states[one.row] for css, one in fields.items() if one is not None}
    assert found["#name"].value == "Ann" and found["#news"].checked and found["#size"].selected == [1]
    assert found["#pw"].masked and found["#pw"].value == "⟦masked⟧"
    assert final.dom.select("li") is not None
    before = bundle.trajectory.steps[1].before
    assert before is not None and b'"Ann"' not in bundle.blob(str(before.snapshot))
    assert {"deep", "in the frame"} <= set(texts(final.dom.snapshot))


def test_stars_never_stand_for_what_was_typed(tmp_path: Path, imported: Importing) -> None:
    typed = [increment(20, 5, id=8, text="*****", isChecked=False)]
    bundle = run_of(imported, tmp_path, *typed)
    (step,) = bundle.trajectory.steps
    assert (
        isinstance(step.action, Fill) and step.action.value == "⟦masked⟧" and step.action.element is not None
    )
    assert step.action.element.masked
    assert b"*****" not in b"".join(map(bundle.blob, bundle.blob_ids))


def test_a_password_that_the_page_shows_is_masked_by_its_name(tmp_path: Path, imported: Importing) -> None:
    shown = [
        increment(
            10, 0, adds=[{"parentId": 7, "nextId": None, "node": element(90, "input", name="user_password")}]
        ),
        increment(20, 5, id=90, text="hunter22secret", isChecked=False),
    ]
    path = stream(tmp_path, *shown)
    bundle = imported("rrweb", path)
    assert b"hunter22secret" not in b"".join(bundle.lines) + b"".join(map(bundle.blob, bundle.blob_ids))
    kept = imported("rrweb", path, keeps_secrets=True)
    assert b"hunter22secret" in b"".join(map(kept.blob, kept.blob_ids))


def test_two_clicks_and_a_double_click_are_one(tmp_path: Path, imported: Importing) -> None:
    mouse = [increment(at, 2, type=kind, id=8, x=1, y=2) for at, kind in ((10, 2), (90, 2), (91, 4))]
    (step,) = run_of(imported, tmp_path, *mouse).trajectory.steps
    assert isinstance(step.action, DblClick) and step.t == 10
    apart = [
        increment(at, 2, type=kind, id=8, x=1, y=2) for at, kind in ((10, 2), (5000, 2), (5100, 2), (5101, 4))
    ]
    assert [tag_of(one.action) for one in run_of(imported, tmp_path / "b", *apart).trajectory.steps] == [
        "click", "dblclick",
    ]  # fmt: skip


def test_two_clicks_of_one_millisecond_are_two(tmp_path: Path, imported: Importing) -> None:
    mouse = [increment(10, 2, type=kind, id=8, x=1, y=2) for kind in (1, 0, 2, 1, 0, 2)]
    assert len(run_of(imported, tmp_path, *mouse).trajectory.steps) == 2


def test_scrolls_far_apart_are_two(tmp_path: Path, imported: Importing) -> None:
    moves = [increment(at, 3, id=1, x=0, y=y) for at, y in ((10, 100), (60, 300), (2000, 0))]
    steps = run_of(imported, tmp_path, *moves).trajectory.steps
    assert [step.action for step in steps] == [Scroll(dy=300, by="unknown"), Scroll(dy=-300, by="unknown")]


def test_a_right_click_and_a_radio(tmp_path: Path, imported: Importing) -> None:
    radios = [
        element(80, "input", type="radio", name="r"),
        element(81, "input", type="radio", name="r", checked=True),
    ]
    more = [
        increment(5, 0, adds=[{"parentId": 7, "nextId": None, "node": one} for one in radios]),
        increment(10, 2, type=3, id=8, x=1, y=2),
        increment(20, 2, type=2, id=80, x=1, y=2), increment(21, 5, id=80, text="a", isChecked=True),
        increment(21, 5, id=81, text="b", isChecked=False),
    ]  # fmt: skip
    run = run_of(imported, tmp_path, *more).trajectory
    right, chosen = (step.action for step in run.steps)
    assert isinstance(right, Click) and right.button == "right" and isinstance(chosen, Check)


def test_a_visit_is_a_page_of_its_own(tmp_path: Path, imported: Importing) -> None:
    second = [{**one, "timestamp": one["timestamp"] + 500} for one in rr_page()]
    second[0]["data"] = {**second[0]["data"], "href": URL + "two"}
    more = [
        increment(10, 2, type=2, id=8, x=1, y=2),
        *second,
        increment(600, 5, id=8, text="x", isChecked=False),
    ]
    run = run_of(imported, tmp_path, *more).trajectory
    assert [one.url for one in run.of_type(Navigation)] == [URL, URL + "two"]
    assert [step.url for step in run.steps] == [URL + "two", URL + "two"]
    again = [{**one, "timestamp": one["timestamp"] + 500} for one in rr_page()]
    assert len(run_of(imported, tmp_path / "b", *again).trajectory.of_type(Navigation)) == 1


def test_tabs_of_one_stream_are_distinguished(tmp_path: Path, imported: Importing) -> None:
    tabs = [{**one, "windowId": window} for window in ("a", "b") for one in rr_page()]
    actions = [
        {**increment(20, 5, id=8, text="one", isChecked=False), "windowId": "a"},
        {**increment(30, 5, id=8, text="two", isChecked=False), "windowId": "b"},
    ]
    run = imported("rrweb", write(tmp_path, "s.json", {"data": {"snapshots": [*tabs, *actions]}})).trajectory
    assert [(step.page, getattr(step.action, "value", None)) for step in run.steps] == [
        (0, "one"),
        (1, "two"),
    ]


def packed(events: list[Any]) -> bytes:
    return json.dumps(
        [zlib.compress(json.dumps({**one, "v": "v1"}).encode()).decode("latin-1") for one in events]
    ).encode()


FORMS: dict[str, tuple[str, Callable[[list[Any]], bytes]]] = {
    "lines": ("s.jsonl", lambda events: b"\n".join(json.dumps(one).encode() for one in events)),
    "lines of batches": ("s.json", lambda events: b"\n".join(json.dumps([one]).encode() for one in events)),
    "lines, other ends": ("s.ndjson", lambda events: b"\xef\xbb\xbf" + b"\r\n".join(json.dumps(one).encode() for one in events)),
    "metadata": ("s.json", lambda events: json.dumps({"id": "s1", "events": events}).encode()),
    "segments": ("s.json", lambda events: json.dumps([events[:3], events[3:]]).encode()),
    "packed": ("s.json", packed),
    "gzip": ("s.json.gz", lambda events: gzip.compress(json.dumps(events).encode(), mtime=0)),
    "shuffled": ("s.json", lambda events: json.dumps(random.Random(3).sample(events, len(events))).encode()),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_a_file_give_the_same_run(form: str, tmp_path: Path, imported: Importing) -> None:
    name, make = FORMS[form]
    plain = imported("rrweb", rrweb(tmp_path / "plain"))
    other = imported("rrweb", write(tmp_path / "other", name, make(rr_events())))
    found = [
        [bytes(line) for line in one.lines[1:] if b'"type":"rest"' not in bytes(line)]
        for one in (plain, other)
    ]
    assert found[0] == found[1]


def test_an_event_that_came_twice_is_read_once(tmp_path: Path) -> None:
    events = [*rr_events(), *rr_events()[5:], *rr_events()]
    done = import_run("rrweb", write(tmp_path, "s.json", events), tmp_path / "run.zst")
    (line,) = [one for one in done.warnings if "twice" in one]
    assert line.startswith(f"{2 * len(rr_events()) - 5} times, first")
    with open_bundle(tmp_path / "run.zst") as bundle:
        assert len(bundle.trajectory.steps) == 6


@pytest.mark.parametrize(
    "change",
    [
        {"removes": [{"parentId": 7, "id": 999}]},
        {"adds": [{"parentId": 999, "nextId": None, "node": words(99, "x")}]},
        {"adds": [{"parentId": 7, "nextId": 999, "node": words(99, "x")}]},
        {"texts": [{"id": 999, "value": "x"}]},
        {"attributes": [{"id": 999, "attributes": {"a": "b"}}]},
        {"adds": [{"parentId": 8, "nextId": None, "node": {**element(7, "body"), "childNodes": []}}]},
    ],
)
def test_a_change_of_what_is_not_there_leaves_the_pages_partial(
    change: dict[str, Any], tmp_path: Path
) -> None:
    path = stream(tmp_path, increment(10, 0, **change), increment(20, 5, id=8, text="x", isChecked=False))
    done = import_run("rrweb", path, tmp_path / "run.zst")
    assert len([one for one in done.warnings if "not there" in one]) == 1
    with open_bundle(tmp_path / "run.zst") as bundle:
        assert bundle.trajectory.channel("snapshots") == "partial"
        assert len(bundle.trajectory.steps) == 1


def test_a_blocked_part_and_a_host_without_its_root_leave_the_pages_partial(
    tmp_path: Path, imported: Importing
) -> None:
    for number, one in enumerate(
        (element(90, "div", rr_width="10px", rr_height="2px"), element(90, "x-menu"))
    ):
        added = increment(10, 0, adds=[{"parentId": 7, "nextId": None, "node": one}])
        assert run_of(imported, tmp_path / str(number), added).trajectory.channel("snapshots") == "partial"


def test_what_is_custom_is_kept(tmp_path: Path, imported: Importing) -> None:
    custom = {
        "type": 5,
        "timestamp": 1_772_442_000_010,
        "data": {"tag": "note", "payload": {"deep": [1, "LEAF"]}},
    }
    assert any(
        "LEAF" in str(one.value) for one in run_of(imported, tmp_path, custom).trajectory.of_type(Rest)
    )


def test_a_full_snapshot_with_an_id_twice_is_no_page() -> None:
    with pytest.raises(BrokenTree, match="node 2 twice"):
        RrwebTree({"type": 0, "id": 1, "childNodes": [element(2, "a"), element(2, "b")]})


def test_files_of_other_tools_are_none_of_it(tmp_path: Path) -> None:
    write(tmp_path, "a.json", [{"type": 3, "timestamp": 1, "data": {}}])  # neither a page nor its address
    write(tmp_path, "b.jsonl", '{"type": "user", "timestamp": 1, "data": {}}\n')
    (done,) = import_runs("rrweb", [tmp_path], tmp_path / "out")
    assert "expected *.json, *.jsonl" in str(done.error)


Model = list[tuple[int, str]]


@given(data=st.data())
def test_a_list_that_changes_is_rebuilt(data: st.DataObject) -> None:
    """A list of texts, changed at random as a mutation observer reports it: texts, removes, adds before others."""
    model: Model = []
    events, free = [], 100
    for at in range(data.draw(st.integers(1, 8))):
        removed = [one for one in model if data.draw(st.booleans(), "removed")]
        model = [one for one in model if one not in removed]
        added = []
        for _ in range(data.draw(st.integers(0, 3))):
            one = (free, f"text {free}")
            free += 1
            model.insert(data.draw(st.integers(0, len(model))), one)
            added.append(one)
        order = data.draw(st.permutations(added))
        follow = {
            one[0]: model[place + 1][0] if place + 1 < len(model) else None for place, one in enumerate(model)
        }
        adds = [{"parentId": 7, "nextId": follow[id], "node": words(id, text)} for id, text in order]
        events.append(
            increment(10 + at, 0, removes=[{"parentId": 7, "id": id} for id, _ in removed], adds=adds)
        )
    base = rr_page(body=[])
    with tempfile.TemporaryDirectory() as name:
        path = write(Path(name), "s.json", [*base, *events])
        import_run("rrweb", path, Path(name) / "run.zst")
        with open_bundle(Path(name) / "run.zst") as bundle:
            assert texts(final_of(bundle))[1:] == [text for _, text in model]
            assert bundle.trajectory.channel("snapshots") == "recorded"


def custom(at: int, payload: Any, tag: str = "route") -> dict[str, Any]:
    return {"type": 5, "timestamp": 1_772_442_000_000 + at, "data": {"tag": tag, "payload": payload}}


@pytest.mark.parametrize(
    "payload", [URL + "cart", "/cart", {"href": URL + "cart"}, {"to": "cart", "from": "x"}]
)
def test_custom_events_carry_addresses_if_their_name_is_given(
    payload: Any, tmp_path: Path, imported: Importing
) -> None:
    actions = [
        custom(5, "/nowhere", "other"), custom(10, payload), custom(11, payload), custom(12, 7), custom(13, "http://[x"),
        increment(20, 5, id=8, text="x", isChecked=False),
    ]  # fmt: skip
    path = stream(tmp_path, *actions)
    run = imported("rrweb", path, url_event="route").trajectory
    assert [(one.url, one.kind) for one in run.of_type(Navigation)] == [
        (URL, "unknown"),
        (URL + "cart", "push"),
    ]
    assert [step.url for step in run.steps] == [URL + "cart"]
    assert run.channel("urls") == "partial" and len(run.of_type(Rest)) >= 5
    plain = imported("rrweb", path).trajectory
    assert [step.url for step in plain.steps] == [URL]


def zip_of(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def test_streams_in_a_zip_are_runs_of_their_own(tmp_path: Path, imported: Importing) -> None:
    lines = "\n".join(map(json.dumps, rr_events())).encode()
    path = zip_of(
        tmp_path / "session.zip",
        **{
            "a/one.json": json.dumps(rr_events()).encode(), "two.NDJSON.gz": gzip.compress(lines, mtime=0),
            "__MACOSX/a/._one.json": b"x", "notes.json": b"{}", "cut.json": b"[{", "read.me": b"x",
        },
    )  # fmt: skip
    done = import_runs("auto", [path], tmp_path / "out")
    assert [one.state for one in done] == ["imported", "imported"]
    assert [Path(one.path).stem for one in done] == ["session-one", "session-two"]
    plain = imported("rrweb", rrweb(tmp_path / "plain"))
    for one in done:
        with open_bundle(Path(one.path)) as bundle:
            assert bundle.trajectory.steps == plain.trajectory.steps


def test_a_zip_of_zeros_is_no_stream_and_takes_no_memory(tmp_path: Path) -> None:
    path = zip_of(tmp_path / "bomb.zip", **{f"{n}.json": b"\0" * 2**20 for n in range(3)})
    (done,) = import_runs("rrweb", [path], tmp_path / "out")
    assert done.state == "failed" and "it is an archive with a folder of other files; expected" in str(
        done.error
    )


def test_an_unread_key_of_a_node_is_counted(tmp_path: Path) -> None:
    strange = {**element(90, "p"), "zzz": 1}
    path = stream(tmp_path, increment(10, 0, adds=[{"parentId": 7, "nextId": None, "node": strange}]))
    done = import_run("rrweb", path, tmp_path / "run.zst")
    assert any("node.zzz (1)" in line for line in done.warnings)
