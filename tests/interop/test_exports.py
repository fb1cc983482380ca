"""Bundles in other tools' layouts: read back equal, the same bytes twice, nothing made up."""

from __future__ import annotations

import json
import subprocess
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.errors import BundleWriteError, CannotExport, OutputExists, UsageError
from replaykit.interop.bundle_export import (
    EXPORTERS,
    Choices,
    conversation,
    export_run,
    exporter,
    targets,
    write_file,
)
from replaykit.interop.registry import IMPORTERS
from replaykit.interop.run_import import import_run
from replaykit.replay.player import Replay
from replaykit.testing.builder import Builder, trajectory
from replaykit.trajectory.action import Answer, Unknown, Wait, tag_of
from replaykit.trajectory.exchange import Exchange, Message
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.step import Header, Step, Trajectory
from tests.interop.conftest import Importing
from tests.interop.samples import atif, chat, mind2web, mind2web_second, png, trace, turn, webvoyager, write

RECORDINGS = sorted((Path(__file__).parents[2] / "recordings" / "conformance").glob("*.zst"))


def built(path: Path) -> Path:
    run: Builder = trajectory({"id": "t1", "intent": "Buy tea.", "start_urls": ["http://shop.test/"]})
    run.goto("http://shop.test/", "<input id=name><button id=b>Buy</button>").screenshot()
    run.fill("#name", "Ann").see('<input id=name data-live=\'{"value": "Ann"}\'><p>Hi</p>').screenshot()
    run.click("#b", "<p>Bought</p>").screenshot()
    return run.answer("Bought.").write(path)


def again(format: str, bundle: str | Path, tmp_path: Path, imported: Importing) -> Bundle:
    target = tmp_path / "export" / ("x" + (exporter(format).ending or ""))
    export_run(format, bundle, target)
    return imported(format, target)


def actions(bundle: Bundle) -> list[tuple[str, Any]]:
    return [(tag_of(step.action), getattr(step.action, "value", None)) for step in bundle.trajectory.steps]


def shots(bundle: Bundle) -> list[bytes]:
    seen = [*(s.before for s in bundle.trajectory.steps if s.before), *bundle.trajectory.of_type(Observation)]
    return [bundle.blob(one.screenshot) for one in seen if isinstance(one.screenshot, str)]


def test_messages_keep_their_place_between_turns() -> None:
    def said(text: str, step: int | None = None) -> Message:
        return Message(role="agent", kind="say", text=text, step=step)

    def step(index: int, turn: int | None) -> Step:
        return Step(seq=index, index=index, page=0, action=Wait(ms=1), turn=turn)

    events = (
        said("first"), step(0, 1), said("within", 0), step(1, 1), said("after"), step(2, None), step(3, None),
        Message(role="agent", kind="answer", text="done"), said("belongs to the first turn", 1),
    )  # fmt: skip
    parts = list(conversation(Trajectory(header=Header(channels={}), events=events)))
    assert [part.text if isinstance(part, Message) else [one.index for one in part] for part in parts] == [
        "first", [0, 1], "within", "after", "belongs to the first turn", [2], [3],
    ]  # fmt: skip


@pytest.mark.parametrize("format", EXPORTERS)
def test_two_exports_are_equal_byte_for_byte(format: str, tmp_path: Path) -> None:
    bundle = built(tmp_path / "run.zst")
    if format == "webarena-verified":
        said = json.dumps({"task_type": "MUTATE", "status": "SUCCESS"})
        bundle = trajectory().answer(said).write(tmp_path / "b.zst")
    if format == "webvoyager":
        bundle = built_for_webvoyager(tmp_path / "c.zst")
    one, two = (export_run(format, bundle, tmp_path / name) for name in ("one", "two"))
    files = [
        sorted(p for p in place.rglob("*") if p.is_file()) if place.is_dir() else [place]
        for place in (one, two)
    ]
    assert [f.read_bytes() for f in files[0]] == [f.read_bytes() for f in files[1]]
    with pytest.raises(OutputExists, match="exists"):
        export_run(format, bundle, one)
    export_run(format, bundle, one, force=True)


def built_for_webvoyager(path: Path) -> Path:
    run = trajectory({"id": "t1", "intent": "Buy tea."})
    run.click("#b", "<p>Bought</p>", text="Buy", tag="button").screenshot()
    return run.answer("Bought.").write(path)


def test_a_webvoyager_run_comes_back(tmp_path: Path, imported: Importing) -> None:
    said = [
        turn("Click [3]"),
        "No labels here",
        turn("Scroll [WINDOW]; [up]"),
        turn("ANSWER; [a [b]]", "So:"),
    ]
    messages = chat(*said)
    messages[5]["content"] = "Format ERROR: Both labels are needed."
    path = webvoyager(tmp_path, messages, shots=4)
    (path / "screenshot3.png").unlink()
    write(path, "screenshot1_no_box.png", png(99))
    first = imported("webvoyager", path)
    second = again("webvoyager", first.name, tmp_path, imported)
    assert [(s.action, s.thought, s.raw, s.error) for s in second.trajectory.steps] == [
        (s.action, s.thought, s.raw, s.error) for s in first.trajectory.steps
    ]
    assert second.trajectory.answer == first.trajectory.answer and shots(second) == shots(first)
    task, earlier = second.header.task or {}, first.header.task or {}
    assert (task["intent"], task["start_urls"]) == (earlier["intent"], earlier["start_urls"])


@pytest.mark.parametrize(
    "name", ["taskApple--17", "taskBBC News--9", "taskBooking--1", "taskCambridge Dictionary--29"]
)
def test_public_webvoyager_runs_come_back(
    name: str, public: Callable[[str], Path], tmp_path: Path, imported: Importing
) -> None:
    path = public(f"webvoyager/runs/{name}")
    first = imported("webvoyager", path)
    second = again("webvoyager", first.name, tmp_path, imported)
    assert [(s.action, s.thought, s.raw) for s in second.trajectory.steps] == [
        (s.action, s.thought, s.raw) for s in first.trajectory.steps
    ]
    assert shots(second) == shots(first) and second.trajectory.answer == first.trajectory.answer
    exported = {p.name: p.read_bytes() for p in (tmp_path / "export/x").iterdir() if p.suffix == ".png"}
    assert exported == {p.name: p.read_bytes() for p in path.glob("*.png")}


def test_what_webvoyager_cannot_say_is_refused_with_its_steps(tmp_path: Path) -> None:
    bundle = (
        trajectory().press("#a", "Enter").goto("http://x.test/", "").answer("x").write(tmp_path / "run.zst")
    )
    with pytest.raises(CannotExport, match=r"step 0 \(press\) has no form there; step 1 \(goto\)"):
        export_run("webvoyager", bundle, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_thought_that_holds_a_label_is_refused(tmp_path: Path) -> None:
    run = trajectory()
    run.step(Wait(), thought="I will not write Action: here")
    with pytest.raises(CannotExport, match="the thought of step 0 holds a label"):
        export_run("webvoyager", run.answer("x").write(tmp_path / "run.zst"), tmp_path / "out")


@pytest.mark.parametrize("shots_", [0, 2, 3, 7])
def test_an_online_mind2web_run_comes_back(shots_: int, tmp_path: Path, imported: Importing) -> None:
    first = imported("online-mind2web", mind2web(tmp_path, shots=shots_))
    second = again("online-mind2web", first.name, tmp_path, imported)
    assert second.trajectory.steps == first.trajectory.steps
    assert shots(second) == shots(first) and second.trajectory.answer == first.trajectory.answer
    assert second.header.source and first.header.source
    assert second.header.source.alignment == first.header.source.alignment


def test_a_recorded_run_as_online_mind2web(tmp_path: Path, imported: Importing) -> None:
    run = again("online-mind2web", built(tmp_path / "run.zst"), tmp_path, imported).trajectory
    assert [tag_of(step.action) for step in run.steps] == ["goto", "fill", "click"]
    assert len(run.of_type(Observation)) == 3 and run.answer == "Bought."


SECOND = Choices(schema="v2")


def second(bundle: str | Path, folder: Path, imported: Importing) -> Bundle:
    return imported("online-mind2web", export_run("online-mind2web", bundle, folder, choices=SECOND))


def test_a_recorded_run_as_the_second_version(tmp_path: Path, imported: Importing) -> None:
    target = export_run("online-mind2web", built(tmp_path / "run.zst"), tmp_path / "t1", choices=SECOND)
    result = json.loads((target / "result.json").read_text())
    assert [entry["step"] for entry in result["action_history"]] == [0, 1, 2, 3]
    assert [entry["action_status"] for entry in result["action_history"]] == ["SUCCESS"] * 3 + [None]
    assert result["action_history"][-1]["action"] == "TASK_COMPLETE -> ANSWER: Bought."
    run = imported("online-mind2web", target).trajectory
    assert [tag_of(step.action) for step in run.steps] == ["goto", "fill", "click", "answer"]
    assert run.answer == "Bought." and run.channel("screenshots") == "recorded"


LINES = st.sampled_from([
    "<a> Mugs -> CLICK", "<input> Name -> TYPE: Ann", "page -> GOTO: http://x.test/", "hum", "<b> x -> CLICK | FAILED",
    "<b> x -> CLICK | SUCCESS", "Navigate to https://a.test/",
])  # fmt: skip
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
ENTRIES = st.lists(
    st.tuples(LINES, st.none() | WORDS.filter(bool), st.none() | st.just("http://x.test/")), max_size=4
)


@given(ENTRIES, WORDS, st.none() | st.integers(0, 99))
@settings(max_examples=settings().max_examples)
def test_any_run_of_the_second_version_comes_back(
    entries: list[tuple[str, str | None, str | None]], answer: str, length: int | None
) -> None:
    history = [
        {"step": at, "screenshot": f"{at % 2}.png", "url": url, "action": line, "action_status": None, "thought": thought}
        for at, (line, thought, url) in enumerate(entries)
    ]  # fmt: skip
    last = {"step": len(history), "screenshot": "1.png", "url": None, "action_status": None, "thought": None}
    history.append({**last, "action": f"TASK_COMPLETE -> ANSWER: {answer}"})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = mind2web_second(
            folder / "in", action_history=history, agent_final_answer=answer, reference_length=length
        )
        bundles = []
        for at in range(2):
            import_run("online-mind2web", path, folder / f"{at}.zst")
            path = export_run("online-mind2web", folder / f"{at}.zst", folder / f"out{at}", choices=SECOND)
            bundles.append(open_bundle(folder / f"{at}.zst"))
        first, again = bundles
        assert [(s.action, s.thought, s.error, s.url) for s in again.trajectory.steps] == [
            (s.action, s.thought, s.error, s.url) for s in first.trajectory.steps
        ]
        assert again.trajectory.answer == first.trajectory.answer and shots(again) == shots(first)
        assert again.header.task == first.header.task
        for one in bundles:
            one.close()


def without_shots(path: Path) -> Path:
    run = trajectory({"id": "t1", "intent": "Buy tea."}).click("#b", "<p>Bought</p>")
    return run.answer("Bought.").write(path)


def unanswered(path: Path) -> Path:
    run = trajectory({"id": "t1", "intent": "Buy."}).goto("http://x.test/", "<p>x</p>").screenshot()
    return run.end().write(path)


def named_oddly(path: Path) -> Path:
    run = trajectory({"id": "a b/c", "intent": "Buy."}).goto("http://x.test/", "<p>x</p>").screenshot()
    return run.answer("x | FAILED").write(path)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (without_shots, "step 0 has no screenshot; the final page has no screenshot"),
        (unanswered, "the run has no answer"),
        (named_oddly, "other characters than letters, digits, _ and -; the answer ends as the status"),
    ],
)
def test_what_the_second_version_cannot_hold_is_listed(
    make: Callable[[Path], Path], says: str, tmp_path: Path
) -> None:
    with pytest.raises(CannotExport, match=says) as found:
        export_run("online-mind2web", make(tmp_path / "run.zst"), tmp_path / "out", choices=SECOND)
    assert "--schema v1" in found.value.message and not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("format", "schema", "says"),
    [
        ("atif", "1.9", r"it writes 1\.6, 1\.8"),
        ("online-mind2web", "v3", "v1, v2"),
        ("har", "1.2", "one version only"),
    ],
)
def test_another_version_is_refused_before_anything_is_opened(
    format: str, schema: str, says: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=says):
        targets(format, ["a.zst", "b.zst"], tmp_path, Choices(schema=schema))
    with pytest.raises(UsageError, match=says):
        export_run(format, built(tmp_path / "run.zst"), tmp_path / "out", choices=Choices(schema=schema))


def test_an_atif_run_comes_back(tmp_path: Path, imported: Importing) -> None:
    first = imported("atif", atif(tmp_path / "in"))
    target = export_run("atif", first.name, tmp_path / "exported")
    second = imported("atif", target / "trajectory.json")
    assert [s.action for s in second.trajectory.steps if not isinstance(s.action, Unknown)] == [
        s.action for s in first.trajectory.steps if not isinstance(s.action, Unknown)
    ]
    assert [s.thought for s in second.trajectory.steps] == [s.thought for s in first.trajectory.steps]
    assert second.trajectory.answer == first.trajectory.answer and shots(second) == shots(first)
    assert (second.header.task or {})["intent"] == "Buy tea."


def test_a_recorded_run_as_atif(tmp_path: Path, imported: Importing) -> None:
    target = export_run("atif", built(tmp_path / "run.zst"), tmp_path / "out")
    second = imported("atif", target / "trajectory.json")
    assert actions(second) == [("goto", None), ("fill", "Ann"), ("click", None)]
    assert second.header.task == {"id": "t1", "intent": "Buy tea.", "start_urls": ["http://shop.test/"]}
    steps = json.loads((target / "trajectory.json").read_text())["steps"]
    assert [step["step_id"] for step in steps] == list(range(1, len(steps) + 1))


def test_a_trace_comes_back(tmp_path: Path, imported: Importing) -> None:
    first = imported("playwright-trace", trace(tmp_path))
    second = again("playwright-trace", first.name, tmp_path, imported)
    assert actions(second) == actions(first)
    assert second.trajectory.steps[0].url == first.trajectory.steps[0].url == "http://shop.test/"
    assert [one.url for one in second.trajectory.of_type(Exchange)] == [
        one.url for one in first.trajectory.of_type(Exchange)
    ]


def test_a_recorded_run_as_a_trace(tmp_path: Path, imported: Importing) -> None:
    bundle = again("playwright-trace", built(tmp_path / "run.zst"), tmp_path, imported)
    assert actions(bundle) == [("goto", None), ("fill", "Ann"), ("click", None)]
    assert bundle.trajectory.answer == "Bought."
    replay = Replay(bundle)
    after = replay[1].after
    assert after is not None and after.dom is not None
    name = after.dom.select("#name")
    assert name is not None and after.dom.snapshot.state[name.row].value == "Ann"
    assert after.dom.select("p") is not None
    assert (bundle.header.task or {})["intent"] == "Buy tea."


@pytest.mark.parametrize("path", RECORDINGS[:4], ids=lambda path: path.stem)
def test_shipped_recordings_as_traces(path: Path, tmp_path: Path, imported: Importing) -> None:
    second = again("playwright-trace", path, tmp_path, imported)
    with open_bundle(path) as first:
        said = [s for s in first.trajectory.steps if not isinstance(s.action, Answer)]
        assert [tag_of(s.action) for s in second.trajectory.steps] == [tag_of(s.action) for s in said]
        assert second.trajectory.answer == first.trajectory.answer
        old, new = Replay(first).final, Replay(second).final
        assert old is not None and new is not None and new.url == old.url
        assert old.dom is not None and new.dom is not None
        kinds = [{n.row for n in dom.select_all("a, input, button, td, h1")} for dom in (old.dom, new.dom)]
        assert len(kinds[0]) == len(kinds[1]) > 0


def test_playwright_s_own_tool_opens_the_trace(tmp_path: Path) -> None:
    driver = pytest.importorskip("playwright._impl._driver")
    target = export_run("playwright-trace", built(tmp_path / "run.zst"), tmp_path / "run.zip")
    command = [*driver.compute_driver_executable(), "trace"]

    def tool(*arguments: str) -> str:
        done = subprocess.run(
            [*command, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=120
        )
        return done.stdout

    assert "Actions:" in tool("open", str(target))
    listed = tool("actions")
    tool("close")
    for words in ("GOTO: http://shop.test/", "TYPE: Ann", "-> CLICK", "answer: Bought."):
        assert words in listed


def test_scripts_and_handlers_are_left_out_of_a_trace(tmp_path: Path) -> None:
    run = trajectory().goto("http://x.test/", "<script>evil()</script><p onclick='evil()' id=p>Hi</p>")
    target = export_run("playwright-trace", run.answer("x").write(tmp_path / "run.zst"), tmp_path / "t.zip")
    with zipfile.ZipFile(target) as archive:
        assert b"evil" not in archive.read("trace.trace")


def test_nothing_that_grades_a_task_is_exported(tmp_path: Path) -> None:
    task = {"id": "t1", "intent": "Buy.", "reference": "MARKER", "metadata": {"x": "MARKER"}}
    bundle = trajectory(task).click("#b", "<p>x</p>").screenshot().answer("Done").write(tmp_path / "run.zst")
    for format in EXPORTERS:
        if format != "webarena-verified":
            place = export_run(format, bundle, tmp_path / format)
            files = [p for p in place.rglob("*") if p.is_file()] if place.is_dir() else [place]
            for file in files:
                data = file.read_bytes()
                if data.startswith(b"PK"):
                    with zipfile.ZipFile(file) as archive:
                        data = b"".join(archive.read(name) for name in archive.namelist())
                assert b"MARKER" not in data


def test_every_importer_of_an_export_exists() -> None:
    assert set(EXPORTERS) - {"stwab-submission"} <= set(IMPORTERS)


@pytest.mark.parametrize("format", ["online-mind2web", "atif"])
def test_a_shorter_run_leaves_nothing_of_the_longer_one_it_replaces(format: str, tmp_path: Path) -> None:
    longer, shorter = built(tmp_path / "long.zst"), tmp_path / "short.zst"
    trajectory({"id": "t2", "intent": "Look."}).goto("http://shop.test/", "<p>Hi</p>").screenshot().click(
        "p", "<p>Bye</p>"
    ).screenshot().answer("Hi").write(shorter)
    export_run(format, longer, tmp_path / "out")
    (tmp_path / "out" / "notes.txt").write_text("mine")
    export_run(format, shorter, tmp_path / "out", force=True)
    export_run(format, shorter, tmp_path / "alone")
    names = {
        folder: {one.relative_to(tmp_path / folder).as_posix() for one in (tmp_path / folder).rglob("*.*")}
        for folder in ("out", "alone")
    }
    assert names["out"] == {*names["alone"], "notes.txt"}


def test_nothing_is_left_of_a_file_that_could_not_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Path, target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(BundleWriteError, match="No space left"):
        write_file(tmp_path / f"{'x' * 240}.har", b"{}", is_forced=True)
    assert not list(tmp_path.iterdir())


def test_a_folder_is_not_written_over_a_file(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(BundleWriteError, match="out: cannot write the export: it is not a folder"):
        export_run("webvoyager", RECORDINGS[0], tmp_path / "out", force=True)
    assert (tmp_path / "out").read_text() == "mine"


def test_where_many_bundles_go(tmp_path: Path) -> None:
    assert targets("har", ["a.zst"], tmp_path / "x.har") == {"a.zst": tmp_path / "x.har"}
    assert targets("har", ["a.zst", "b.zst"], tmp_path) == {
        "a.zst": tmp_path / "a.har",
        "b.zst": tmp_path / "b.har",
    }
    with pytest.raises(UsageError, match="one name"):
        targets("har", ["x/a.zst", "y/a.zst"], tmp_path)


EVICTED = Path(__file__).parents[2] / "recordings" / "conformance" / "order-total--good.zst"
"""Two of its steps have no screenshot: the agent acted without a pause."""


def test_a_gap_is_exported_as_one_and_comes_back_as_one(tmp_path: Path) -> None:
    with pytest.raises(CannotExport, match="step 1 has no screenshot") as refused:
        export_run("online-mind2web", EVICTED, tmp_path / "no", choices=SECOND)
    assert "--gaps writes a grey image" in refused.value.message
    gaps = Choices(schema="v2", fills_gaps=True)
    folder = export_run("online-mind2web", EVICTED, tmp_path / "run", choices=gaps)
    shots = sorted(path.name for path in (folder / "trajectory").iterdir())
    assert shots == ["0.png", "1_no_screenshot.png", "2_no_screenshot.png", "3.png", "4.png"]
    done = import_run("online-mind2web", folder, tmp_path / "again.zst")
    assert [line for line in done.warnings if "grey image" in line]
    with open_bundle(tmp_path / "again.zst") as again:
        run = again.trajectory
        seen = [after.screenshot for step in run.steps if (after := run.after(step)) is not None]
        assert [shot is None for shot in seen] == [False, True, True, False, False]
        assert run.channel("screenshots") == "partial"
