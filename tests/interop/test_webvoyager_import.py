"""WebVoyager's result folders: public runs, and every oddity of the layout once, in both modes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.errors import MalformedSource, UnknownLayout
from replaykit.interop.webvoyager.webvoyager_actions import action_line, peer_action, strict_action
from replaykit.trajectory.action import (
    Answer,
    Click,
    Element,
    Fill,
    GoBack,
    Goto,
    Scroll,
    Unknown,
    Wait,
    tag_of,
)
from replaykit.trajectory.exchange import Rest
from replaykit.trajectory.observation import Observation
from tests.interop.conftest import Importing
from tests.interop.samples import chat, png, turn, webvoyager, write


def test_it_reads_turns_thoughts_targets_and_screenshots(tmp_path: Path, imported: Importing) -> None:
    run = imported("webvoyager", webvoyager(tmp_path)).trajectory
    assert run.header.task == {
        "id": "Shop--3",
        "intent": "Which mug is cheapest?",
        "start_urls": ["https://shop.test/"],
        "judge": "webvoyager",
    }
    assert [tag_of(step.action) for step in run.steps] == ["click", "fill", "answer"]
    assert [step.raw for step in run.steps] == ["Click [3]", "Type [9]; tin", "ANSWER; The tin mug."]
    assert {step.thought for step in run.steps} == {"Thinking."}
    assert [step.turn for step in run.steps] == [1, 2, 3]
    target = run.steps[0].action.element
    assert target is not None and (target.ref, target.tag, target.text) == ("3", "button", "Sort")
    assert target.names is not None and target.names.aria_label == "Sort by price"
    assert all(step.before is not None and step.before.screenshot for step in run.steps)
    assert run.ending is not None and (run.ending.kind, run.answer) == ("answered", "The tin mug.")
    assert run.header.clock == "none" and all(event.t is None for event in run.events)


def test_what_the_layout_does_not_hold_is_absent(tmp_path: Path, imported: Importing) -> None:
    run = imported("webvoyager", webvoyager(tmp_path)).trajectory
    assert [run.channel(name) for name in ("actions", "thoughts", "screenshots")] == ["recorded"] * 3
    assert run.channel("targets") == "partial"
    absent = ("urls", "snapshots", "network", "console", "dialogs", "replies", "messages", "probes", "a11y")
    assert {run.channel(name) for name in absent} == {"absent"}


def test_screenshots_are_kept_byte_for_byte_and_numbered_by_name(tmp_path: Path, imported: Importing) -> None:
    reply = [turn(f"Click [{number}]") for number in range(1, 13)]
    path = webvoyager(tmp_path, chat(*reply), shots=12)
    write(path, "screenshot2_no_box.png", png(200))
    bundle = imported("webvoyager", path)
    steps = bundle.trajectory.steps
    for number, step in enumerate(steps, 1):
        assert step.before is not None and isinstance(step.before.screenshot, str)
        assert bundle.blob(step.before.screenshot) == (path / f"screenshot{number}.png").read_bytes()
    assert steps[1].before is not None and isinstance(steps[1].before.clean, str)


def test_a_gap_in_the_numbers_moves_no_screenshot(tmp_path: Path, imported: Importing) -> None:
    path = webvoyager(tmp_path)
    (path / "screenshot2.png").unlink()
    write(path, "screenshot9.png", png(9))
    run = imported("webvoyager", path).trajectory
    assert [step.before is not None for step in run.steps] == [True, False, True]
    assert [o.role for o in run.of_type(Observation)] == ["unaligned"]
    assert run.channel("screenshots") == "partial"


def test_an_error_in_the_next_observation_is_the_step_s(tmp_path: Path, imported: Importing) -> None:
    messages = chat(turn("Click [3]"), "I do not know.", turn("Wait"))
    messages[3]["content"] = "The action you have chosen cannot be exected. Please double-check."
    messages[5]["content"] = "Format ERROR: Both 'Thought' and 'Action' should be included in your reply."
    path = webvoyager(tmp_path, messages)
    (path / "screenshot2.png").unlink()
    (path / "screenshot3.png").unlink()
    run = imported("webvoyager", path).trajectory
    assert [step.error.name if step.error else None for step in run.steps] == ["ActionError", None]
    assert any("I do not know." in str(one.value) for one in run.of_type(Rest))
    assert run.channel("screenshots") == "recorded"  # no image is taken of an error


def test_a_system_message_alone_is_a_run_without_steps(tmp_path: Path, imported: Importing) -> None:
    path = webvoyager(tmp_path, chat(), shots=0)
    run = imported("webvoyager", path).trajectory
    assert run.steps == () and run.ending is not None and run.ending.kind == "unknown"


def test_the_task_may_run_over_lines_but_not_for_the_peer(tmp_path: Path, imported: Importing) -> None:
    path = webvoyager(tmp_path, chat(turn("Wait"), task="Find\nboth mugs"))
    run = imported("webvoyager", path).trajectory
    assert run.header.task is not None and run.header.task["intent"] == "Find\nboth mugs"
    with pytest.raises(MalformedSource, match="on one line"):
        imported("webvoyager", path, mode="compat")


def test_no_answer_is_no_guess(tmp_path: Path, imported: Importing) -> None:
    path = webvoyager(tmp_path, chat(turn("Wait"), turn("GoBack")))
    ending = imported("webvoyager", path).trajectory.ending
    assert ending is not None and (ending.kind, ending.answer) == ("unknown", None)
    ending = imported("webvoyager", path, max_iter=2).trajectory.ending
    assert ending is not None and ending.kind == "max_steps"


def test_answers_are_read_whole_and_as_the_peer_cuts_them(tmp_path: Path, imported: Importing) -> None:
    path = webvoyager(tmp_path, chat(turn("ANSWER; [see [1] of Click 3]")))
    strict = imported("webvoyager", path).trajectory
    peer = imported("webvoyager", path, mode="compat").trajectory
    assert strict.answer == "see [1] of Click 3"
    assert peer.ending is not None and peer.ending.answer == "see [1"
    assert isinstance(strict.steps[0].action, Answer)
    assert isinstance(peer.steps[0].action, Click)  # the first form found anywhere


def test_messages_may_be_text_or_parts(tmp_path: Path, imported: Importing) -> None:
    messages = chat(turn("Click [7]"))
    messages[1]["content"] = messages[1]["content"][0]["text"]
    run = imported("webvoyager", webvoyager(tmp_path, messages)).trajectory
    assert run.steps[0].action.element == Element(
        ref="7", text="Mugs", names=run.steps[0].action.element.names
    )  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "interact_messages.json is empty; expected JSON"),
        (b'[{"role"', "is not JSON"),
        (b"\xff\xfe", "is in UTF-16"),
        (b"\xff", "is not UTF-8"),
        (b"[" * 100_000, "nested deeper"),
        ({}, r"is object; expected array"),
        ([], "an empty list"),
        ([1], r"\[0\] is int; expected object"),
        ([{"role": "user", "content": "x"}], r"\[0\].role is 'user'; expected system"),
        ([{"role": "system", "content": "x"}, {"role": "user", "content": "hello"}], "without a task"),
    ],
)
def test_what_is_wrong_is_reported_with_place_found_and_expected(
    tmp_path: Path, imported: Importing, content: object, says: str
) -> None:
    path = webvoyager(tmp_path)
    write(path, "interact_messages.json", content)
    with pytest.raises(MalformedSource, match=says):
        imported("webvoyager", path)


def test_another_layout_is_named(tmp_path: Path, imported: Importing) -> None:
    write(tmp_path, "x/notes.txt", "hello")
    with pytest.raises(
        UnknownLayout, match=r"it is a folder of other files; expected task<id>/interact_messages\.json"
    ):
        imported("webvoyager", tmp_path / "x")
    with pytest.raises(UnknownLayout, match="it is missing"):
        imported("webvoyager", tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("text", "strict", "peer"),
    [
        ("Click [12]", Click(element=Element(ref="12")), Click(element=Element(ref="12"))),
        ("Click 12", Click(element=Element(ref="12")), Click(element=Element(ref="12"))),
        ("Click [12", Unknown(name="click", raw="Click [12"), Click(element=Element(ref="12"))),
        (
            "Type [3]; [a [b]]",
            Fill(element=Element(ref="3"), value="a [b]", submit=True),
            Fill(element=Element(ref="3"), value="a [b", submit=True),
        ),
        ("Scroll [WINDOW]; [up]", Scroll(dy=-1, amount="up"), Scroll(dy=-1, amount="up")),
        (
            "Scroll 4; down",
            Scroll(element=Element(ref="4"), dy=1, amount="down"),
            Scroll(element=Element(ref="4"), dy=1, amount="down"),
        ),
        ("Wait", Wait(), Wait()),
        ("GoBack", GoBack(), GoBack()),
        ("Google", Goto(url="https://www.google.com/"), Goto(url="https://www.google.com/")),
        ("ANSWER; 42", Answer(text="42"), Answer(text="42")),
        ("Dance", Unknown(name="dance", raw="Dance"), Unknown(name="dance", raw="Dance")),
    ],
)
def test_the_forms_of_actions(text: str, strict: object, peer: object) -> None:
    assert strict_action(text) == strict
    assert peer_action(text) == peer


@given(
    st.one_of(
        st.builds(Click, element=st.builds(Element, ref=st.from_regex(r"[0-9]{1,4}", fullmatch=True))),
        st.builds(
            Fill,
            element=st.builds(Element, ref=st.from_regex(r"[0-9]{1,4}", fullmatch=True)),
            value=st.text(min_size=1).filter(lambda text: text == text.strip() and text.count("[") == 0 == text.count("]")),
            submit=st.just(True),
        ),
        st.builds(Answer, text=st.text(alphabet="ab [3];Click\n", min_size=1).filter(lambda text: text == text.strip() and text.count("[") == 0 == text.count("]"))),
        st.sampled_from([Wait(), GoBack(), Goto(url="https://www.google.com/"), Scroll(dy=-1, amount="up")]),
    )
)  # fmt: skip
def test_what_is_written_is_read_back(action: Click) -> None:
    reply = action_line(action)
    assert reply is not None and strict_action(reply) == action


@given(st.text())
def test_any_text_is_some_action(text: str) -> None:
    assert tag_of(strict_action(text)) and tag_of(peer_action(text))


PUBLIC = {
    "taskApple--17": ["click", "fill", "click", "click", "fill", "answer"],
    "taskBBC News--9": ["click", "click", "answer"],
    "taskBooking--1": ["fill", "click", "click", "click", "scroll", "scroll", "click", "click", "answer"],
    "taskCambridge Dictionary--29": ["click", "click", *["click"] * 9, "answer"],
}


@pytest.mark.parametrize("name", PUBLIC)
def test_public_runs(name: str, public: Callable[[str], Path], imported: Importing) -> None:
    path = public(f"webvoyager/runs/{name}")
    bundle = imported("webvoyager", path)
    run = bundle.trajectory
    messages = json.loads((path / "interact_messages.json").read_text())
    assert len(run.steps) == (len(messages) - 1) // 2
    assert [tag_of(step.action) for step in run.steps] == PUBLIC[name]
    assert not any(isinstance(step.action, Unknown) for step in run.steps)
    assert run.answer is not None and messages[-1]["content"].endswith(run.answer)
    assert all(step.before is not None and step.before.screenshot for step in run.steps)
    image_count = {file.read_bytes() for file in path.glob("*.png")}
    assert {bundle.blob(id) for id in bundle.blob_ids} == image_count
    assert run.header.source is not None and set(run.header.source.files) == {p.name for p in path.iterdir()}
