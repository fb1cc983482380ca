"""ATIF beside the package of its maintainers: exports are valid there, what it writes is read here."""

from __future__ import annotations

import tempfile
from base64 import b64encode
from pathlib import Path
from typing import Any

import atif
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.errors import CannotExport
from replaykit.interop.bundle_export import Choices, export_run, image_bytes
from replaykit.interop.run_import import import_run
from replaykit.testing import trajectory
from replaykit.trajectory.action import Answer, Unknown
from replaykit.trajectory.exchange import Message
from tests.interop.conftest import Importing
from tests.interop.samples import SAMPLES, png
from tests.interop.samples import atif as atif_file
from tests.thorough import one_in

RECORDINGS = sorted((Path(__file__).parents[2] / "recordings" / "conformance").glob("*.zst"))


def exported(bundle: str | Path, folder: Path, schema: str | None = None) -> tuple[Path, atif.Trajectory]:
    """Export, and parse with the models; fields that they do not know are refused."""
    file = export_run("atif", bundle, folder, choices=Choices(schema=schema)) / "trajectory.json"
    return file, atif.Trajectory.model_validate_json(file.read_bytes(), strict=True)


def exported_run(bundle: Bundle) -> dict[str, Any]:
    """Return all facts of an export about a run."""
    run = bundle.trajectory
    steps = [step for step in run.steps if not isinstance(step.action, Answer)]
    return {
        "acts": [_bare(step.action) for step in steps],
        "steps": [(step.url, step.error) for step in steps],
        "said": [(m.role, m.kind, m.text, m.approved) for m in run.of_type(Message) if m.kind != "answer"],
        "seen": [(seen.url, seen.title) for step in steps if (seen := run.after(step)) is not None],
        "answer": run.answer,
    }


def _bare(action: Any) -> Any:
    plain = msgspec.to_builtins(action)
    for place in ("element", "to"):
        if isinstance(plain.get(place), dict):
            plain[place].pop("node", None)
    return plain


def shots(bundle: Bundle) -> list[bytes]:
    run = bundle.trajectory
    seen = [one.screenshot for step in run.steps if (one := run.after(step)) is not None]
    return [data for one in seen if (data := image_bytes(bundle, one)) is not None]


@pytest.mark.parametrize("schema", [None, "1.6", "1.8"])
@pytest.mark.parametrize("path", one_in(4, RECORDINGS), ids=lambda path: path.stem)
def test_a_recording_is_valid_and_comes_back(
    path: Path, schema: str | None, tmp_path: Path, imported: Importing
) -> None:
    file, model = exported(path, tmp_path / "out", schema)
    assert model.schema_version == f"ATIF-v{schema or '1.6'}"
    assert (model.trajectory_id is not None) is (schema == "1.8")
    assert model.has_multimodal_content()
    again = imported("atif", file)
    with open_bundle(path) as first:
        assert exported_run(again) == exported_run(first)
        assert shots(again) == shots(first) != []


@pytest.mark.parametrize("format", SAMPLES)
def test_an_imported_run_is_valid(format: str, tmp_path: Path, imported: Importing) -> None:
    first = imported(format, SAMPLES[format](tmp_path / "in"))
    if not first.trajectory.steps and first.trajectory.answer is None:
        with pytest.raises(CannotExport, match="neither steps nor an answer"):
            exported(first.name, tmp_path / "exported")
        return
    file, _ = exported(first.name, tmp_path / "exported")
    again = imported("atif", file)
    assert exported_run(again) == exported_run(first)


def test_a_conversation_keeps_its_place(tmp_path: Path, imported: Importing) -> None:
    run = trajectory({"id": "t1", "intent": "Refund it."}).click("#a", "<p>x</p>")
    run.say("May I?", "ask").reply("No.", approved=False).click("#b", "<p>y</p>")
    file, model = exported(run.answer("Not done.").write(tmp_path / "run.zst"), tmp_path / "out")
    assert [(step.source, step.message) for step in model.steps] == [
        ("user", "Refund it."),
        ("agent", ""),
        ("agent", "May I?"),
        ("user", "No."),
        ("agent", ""),
        ("agent", "Not done."),
    ]
    assert [m.step for m in imported("atif", file).trajectory.of_type(Message)][:2] == [0, 0]


def test_an_unanswered_question_is_no_answer(tmp_path: Path, imported: Importing) -> None:
    run = trajectory({"id": "t1", "intent": "Refund it."}).click("#a", "<p>x</p>").say("May I?", "ask").end()
    file, _ = exported(run.write(tmp_path / "run.zst"), tmp_path / "out")
    again = imported("atif", file).trajectory
    assert again.answer is None and [m.kind for m in again.of_type(Message)] == ["ask"]


# Texts of models

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
images = st.builds(
    atif.ContentPart,
    type=st.just("image"),
    source=st.builds(atif.ImageSource, media_type=st.sampled_from(["image/png", "image/webp"]), path=words),
)
texts = st.builds(atif.ContentPart, type=st.just("text"), text=words)
sounds = st.builds(
    atif.ContentPart,
    type=st.just("audio"),
    source=st.builds(atif.AudioSource, media_type=st.just("audio/wav"), path=words),
)
contents = words | st.lists(texts | images | sounds, max_size=3)
arguments = st.one_of(
    st.just({}),
    st.just({"url": "http://x.test/"}),
    st.dictionaries(words, st.none() | st.booleans() | st.integers(-(2**53), 2**53) | words, max_size=3),
)
names = st.sampled_from(["click", "goto", "scroll", "send_msg_to_user", "web_click", "raw", ""])
whens = st.none() | st.datetimes().map(lambda at: at.isoformat() + "Z")


@st.composite
def agent_steps(draw: st.DrawFn) -> dict[str, Any]:
    called = draw(st.lists(st.tuples(names, arguments), max_size=3))
    calls = [
        atif.ToolCall(tool_call_id=f"c{at}", function_name=name, arguments=given)
        for at, (name, given) in enumerate(called)
    ]
    of = st.sampled_from([None, *(call.tool_call_id for call in calls)])
    result = st.builds(atif.ObservationResult, source_call_id=of, content=st.none() | contents)
    results = draw(st.none() | st.lists(result, max_size=3))
    return {
        "source": "agent",
        "reasoning_content": draw(st.none() | words),
        "tool_calls": draw(st.sampled_from([calls, calls or None])),
        "observation": None if results is None else atif.Observation(results=results),
        "is_copied_context": draw(st.none() | st.booleans()),
    }


others = st.fixed_dictionaries({"source": st.sampled_from(["system", "user"])})


@st.composite
def trajectories(draw: st.DrawFn) -> atif.Trajectory:
    steps = [
        atif.Step(step_id=number, message=draw(contents), timestamp=draw(whens), **fields)
        for number, fields in enumerate(draw(st.lists(agent_steps() | others, min_size=1, max_size=5)), 1)
    ]
    minor, agent = draw(st.integers(6, 8)), atif.Agent(name=draw(words), version=draw(words))
    return atif.Trajectory(schema_version=f"ATIF-v1.{minor}", agent=agent, steps=steps)


@given(trajectories(), st.booleans(), st.sampled_from(["1.6", "1.8"]))
@settings(max_examples=60)
def test_what_the_models_write_is_read_and_written_again(
    model: atif.Trajectory, has_nulls: bool, schema: str
) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "in.json").write_text(model.model_dump_json(exclude_none=not has_nulls), "utf-8")
        import_run("atif", folder / "in.json", folder / "first.zst")
        calls = [
            call
            for step in model.steps
            if step.source == "agent" and not step.is_copied_context
            for call in step.tool_calls or ()
        ]
        with open_bundle(folder / "first.zst") as first:
            run = first.trajectory
            names = [s.action.name if isinstance(s.action, Unknown) else None for s in run.steps]
            assert len(names) == len(calls)
            assert all(
                name in (None, call.function_name, "call") for name, call in zip(names, calls, strict=True)
            )
            if not calls and run.answer is None:
                return
            file, _ = exported(folder / "first.zst", folder / "out", schema)
            import_run("atif", file, folder / "second.zst")
            with open_bundle(folder / "second.zst") as second:
                assert exported_run(second) == exported_run(first)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("https://cdn.test/1.png", "is a screenshot at an address: not fetched"),
        ("C:\\shots\\none.png", "is a screenshot that is named and not there"),
        ("shots/none.png", "is a screenshot that is named and not there"),
        ("data:image/png;base64," + b64encode(png(3)).decode(), None),
    ],
)
def test_a_screenshot_is_kept_or_reported(path: str, words: str | None, tmp_path: Path) -> None:
    image = {"type": "image", "source": {"media_type": "image/png", "path": path}}
    call = {"tool_call_id": "a", "function_name": "go_back", "arguments": {}}
    step = {"step_id": 1, "source": "agent", "message": "", "tool_calls": [call],
            "observation": {"results": [{"source_call_id": "a", "content": [image]}]}}  # fmt: skip
    done = import_run("atif", atif_file(tmp_path / "in", steps=[step]), tmp_path / "run.zst")
    exported_run = [line for line in done.warnings if "screenshot" in line]
    assert exported_run == ([f"{path} {words}"] if words else [])
    with open_bundle(tmp_path / "run.zst") as bundle:
        assert (bundle.trajectory.channel("screenshots") == "absent") is (words is not None)
