"""One flaw is one warning, secrets are masked where the file names them, and plain words are actions."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.errors import ReplaykitError, UsageError
from replaykit.interop.extra_fields import holds_data, rest
from replaykit.interop.password_masking import masked, takes_password
from replaykit.interop.registry import IMPORTERS, importer
from replaykit.interop.run_import import import_run, import_runs
from replaykit.interop.text_actions import Wordings, _Wording, check_wordings, words_action
from replaykit.interop.tool_actions import computer_action
from replaykit.trajectory.action import Answer, Element, Fill, Goto, KeyboardType, MouseClick, Unknown, tag_of
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.redaction_marks import MASKED
from tests.interop.conftest import Importing
from tests.interop.samples import (
    SAMPLES,
    agentrewardbench,
    atif,
    browser_use,
    chat,
    entry,
    har,
    harbor,
    inspect_log,
    mind2web,
    png,
    trace,
    trace_events,
    turn,
    wabe,
    webvoyager,
    write,
)

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"4d7a" * 16 + b"\nsize 12345\n"


def everything(bundle: Bundle) -> bytes:
    return b"\n".join([*map(bytes, bundle.lines), *map(bundle.blob, bundle.blob_ids)])


WORDS = [
    ("Navigate to https://evil.test/", "goto", {"url": "https://evil.test/"}),
    ("Go to www.shop.test/cart", "goto", {"url": "www.shop.test/cart"}),
    ("opened https://a.test/x.", "goto", {"url": "https://a.test/x"}),
    ("Click at (600, 475)", "mouse_click", {"point": (600, 475)}),
    ("left_click (10, 20)", "mouse_click", {"point": (10, 20)}),
    ("Right click at [3, 4]", "mouse_click", {"button": "right"}),
    ("Double-click at (3,4)", "mouse_dblclick", {"point": (3, 4)}),
    ("Click the 'Add to cart' button", "click", {}),
    ('Type "hello"', "keyboard_type", {"value": "hello"}),
    ("type tin mug into the search box and press Enter", "type", {"value": "tin mug", "submit": True}),
    ("Press ENTER", "press", {"key": "Enter"}),
    ("press ctrl + a", "press", {"key": "Control+a"}),
    ("Scroll (delta_x=0, delta_y=400)", "scroll", {"dy": 400}),
    ("Scroll up by 300 pixels", "scroll", {"dy": -300}),
    ("scroll down", "scroll", {"dy": 1, "amount": "down"}),
    ("Navigate back", "go_back", {}),
    ("Wait for 3 seconds", "wait", {"ms": 3000}),
    ("drag from (1, 2) to (3, 4)", "drag_and_drop", {"point": (1, 2), "to_point": (3, 4)}),
    ("Final answer: 42", "answer", {"text": "42"}),
    ("pyautogui.click(x=600, y=475)", "mouse_click", {"point": (600, 475)}),
    ("click('a51')", "click", {}),
    ('{"action": "left_click", "coordinate": [600, 475]}', "mouse_click", {"point": (600, 475)}),
]


@pytest.mark.parametrize(("line", "tag", "fields"), WORDS)
def test_plain_words_are_actions(line: str, tag: str, fields: dict[str, Any]) -> None:
    action = words_action(line)
    assert action is not None and tag_of(action) == tag
    assert {name: getattr(action, name) for name in fields} == fields


@pytest.mark.parametrize(
    "line", ["Dance wildly", "", "type", "I would like to click", "__import__('os').system('x')"]
)
def test_other_lines_are_no_action(line: str) -> None:
    assert words_action(line) is None


@given(st.text(max_size=80))
def test_any_line_is_read_or_not(line: str) -> None:
    words_action(line)
    words_action(f"click({line})")


def test_a_harness_has_wordings_of_its_own(tmp_path: Path, imported: Importing) -> None:
    own = {
        "NAV {url}": {"type": "goto", "url": "{url}"},
        "TAP {x} {y}": {"type": "mouse_click", "point": ["{x}", "{y}"]},
    }
    path = mind2web(tmp_path, action_history=["NAV http://a.test/", "TAP 3 4", "HUM"], thoughts=[])
    run = imported("online-mind2web", path, actions=own).trajectory
    assert [step.action for step in run.steps] == [
        Goto(url="http://a.test/"), MouseClick(point=(3, 4)), Unknown(name="hum", raw="HUM"),
    ]  # fmt: skip


OWN = {"NAV {url}": {"type": "goto", "url": "{url}"}, "END {text}": {"type": "answer", "text": "{text}"}}
VISIT = Goto(url="http://a.test/")


def talk_of(*words: str) -> list[dict[str, Any]]:
    return [{"step_id": at, "source": "agent", "message": text} for at, text in enumerate(words, 1)]


def log_of(*lines: dict[str, Any]) -> str:
    return "".join(json.dumps({"ts": at, **line}) + "\n" for at, line in enumerate(lines))


def call_of(name: str, arguments: Any) -> dict[str, Any]:
    call = {"tool_call_id": "a", "function_name": name, "arguments": arguments}
    return {"step_id": 1, "source": "agent", "message": "", "tool_calls": [call]}


WORDED: dict[str, Callable[[Path], Path]] = {
    "webvoyager": lambda at: webvoyager(at, chat(turn("NAV http://a.test/"), turn("END 42"))),
    "atif": lambda at: atif(at, steps=talk_of("Thought: hm\nAction: NAV http://a.test/", "END 42")),
    "run-jsonl": lambda at: write(
        at, "run.jsonl", log_of({"t": "user", "text": "x"}, {"t": "assistant", "text": "NAV http://a.test/"},
                                {"t": "assistant", "text": "END 42"}),
    ),
    "harbor": lambda at: harbor_of(at, talk_of("NAV http://a.test/", "END 42")),
    "inspect": lambda at: inspect_log(at, lambda sample: sample.update(
        events=[], error=None, limit=None, output={"completion": "END 42"},
        messages=[{"role": "assistant", "content": text} for text in ("NAV http://a.test/", "END 42")],
    )),
    "browser-use": lambda at: browser_use(at, history=[
        {"model_output": {"action": [one]}, "result": [{}], "state": {"url": "http://x.test/", "interacted_element": [None]}}
        for one in ({"NAV": {"where": "http://a.test/"}}, {"END": {"text": "42"}})
    ]),
    "browsergym": lambda at: gym(at / "task_1", "NAV http://a.test/", "END 42", None),
    "agentrewardbench": lambda at: agentrewardbench(at, steps=[
        {"num": 0, "action": "NAV http://a.test/"}, {"num": 1, "action": "END 42"}, {"num": 2, "action": None}]),
    "online-mind2web": lambda at: mind2web(at, action_history=["NAV http://a.test/", "END 42"], thoughts=[]),
    "wabe": lambda at: wabe(at, action_history=["NAV http://a.test/", "END 42"], thoughts=[]),
}  # fmt: skip
"""Runs whose actions are in a wording that only their harness knows, by format."""


def harbor_of(folder: Path, steps: list[Any]) -> Path:
    trial = harbor(folder)
    (trial / "agent/answer.txt").unlink()
    atif(trial / "agent", steps=steps).rename(trial / "agent/trajectory.json")
    return trial


def test_every_format_of_words_or_calls_takes_wordings() -> None:
    assert {name for name in IMPORTERS if "actions" in importer(name).options} >= set(WORDED)


@pytest.mark.parametrize("format", WORDED)
def test_wordings_of_a_harness_are_read_in_every_format(
    format: str, tmp_path: Path, imported: Importing
) -> None:
    path = WORDED[format](tmp_path)
    run = imported(format, path, actions=OWN).trajectory
    assert [step.action for step in run.steps][:2] == [VISIT, Answer(text="42")]
    other = imported(format, path).trajectory
    assert VISIT not in [step.action for step in other.steps]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("surf", {"line": "NAV http://a.test/", "wait": 3}),
        ("NAV", {"to": "http://a.test/"}),
        ("x", "NAV http://a.test/"),
    ],
)
def test_the_one_text_of_a_call_is_read_by_wordings(
    name: str, arguments: Any, tmp_path: Path, imported: Importing
) -> None:
    run = imported("atif", atif(tmp_path, steps=[call_of(name, arguments)]), actions=OWN).trajectory
    assert run.steps[0].action == VISIT


@pytest.mark.parametrize(
    ("name", "arguments", "tag"),
    [
        ("browser_action", {"action": "Navigate to https://evil.test/"}, "goto"),
        ("take_action", "Click at (600, 475)", "mouse_click"),
        ("think", {"thought": "Navigate to https://evil.test/"}, "think"),
        ("note", "Click at (600, 475)", "note"),
        ("act", {"instruction": "Click at (600, 475)"}, "act"),
    ],
)
def test_words_are_actions_where_the_tool_executes_them(
    name: str, arguments: Any, tag: str, tmp_path: Path, imported: Importing
) -> None:
    run = imported("atif", atif(tmp_path, steps=[call_of(name, arguments)])).trajectory
    assert tag_of(run.steps[0].action) == tag


def test_plain_words_are_actions_of_webvoyager_too(tmp_path: Path, imported: Importing) -> None:
    path = webvoyager(tmp_path, chat(turn("Navigate to https://evil.test/"), turn("ANSWER; none")))
    assert imported("webvoyager", path).trajectory.steps[0].action == Goto(url="https://evil.test/")
    with pytest.raises(UsageError, match="compat"):
        imported("webvoyager", path, mode="compat", actions=OWN)


@pytest.mark.parametrize("template", [{"type": "sing"}, "goto", {"type": "goto"}])
def test_a_wording_that_is_no_action_is_refused(template: Any) -> None:
    with pytest.raises(UsageError, match="which is no action"):
        check_wordings({"X {url}": template})
    assert Wordings({}).action("X 1") is None


def test_the_page_before_the_answer_is_the_final_page(tmp_path: Path, imported: Importing) -> None:
    run = imported("browser-use", browser_use(tmp_path)).trajectory
    (final,) = [one for one in run.of_type(Observation) if one.role == "final"]
    assert final.url == "http://x.test/3"


def typed(field: dict[str, Any], text: str) -> list[dict[str, Any]]:
    state = {"url": "http://x.test/", "title": f"Hello {text}", "tabs": [], "interacted_element": [field]}
    output = {"action": [{"input": {"index": 3, "text": text}}], "memory": f"I typed {text}"}
    return [
        {"model_output": output, "result": [{"extracted_content": f"Typed {text} into 3"}], "state": state}
    ]


@pytest.mark.parametrize(
    "attributes", [{"type": "password"}, {"autocomplete": "current-password"}, {"name": "password"}]
)
@pytest.mark.parametrize("text", ["Field-Pass-77", "letmein"])
def test_a_typed_password_is_masked(
    attributes: dict[str, str], text: str, tmp_path: Path, imported: Importing
) -> None:
    path = browser_use(tmp_path, history=typed({"node_name": "INPUT", "attributes": attributes}, text))
    bundle = imported("browser-use", path)
    step = bundle.trajectory.steps[0]
    assert isinstance(step.action, Fill) and step.action.value == MASKED
    assert (
        text not in json.dumps(step.returned) and text not in str(step.raw) and text not in str(step.thought)
    )
    # A plain word may stand anywhere by chance.
    assert text.isalpha() or text.encode() not in everything(bundle)


def test_what_is_typed_into_other_fields_stays(tmp_path: Path, imported: Importing) -> None:
    path = browser_use(
        tmp_path, history=typed({"node_name": "INPUT", "attributes": {"name": "q"}}, "Field-Pass-77")
    )
    assert b"Typed Field-Pass-77 into 3" in everything(imported("browser-use", path))


@pytest.mark.parametrize(
    "arguments",
    [
        {"element": "Password field", "ref": "e3", "text": "Field-Pass-77"},
        {"selector": "#login input[type=password]", "value": "Field-Pass-77"},
        {
            "fields": [
                {"name": "Passwd", "value": "x"},
                {"name": "Password", "type": "textbox", "value": "Field-Pass-77"},
            ]
        },
        {"username": "ann", "password": "Field-Pass-77"},
        {"sensitive_data": {"https://x.test": {"x_user": "ann", "x_login": "Field-Pass-77"}}},
        {"headers": {"Authorization": "Basic Field-Pass-77"}},
        {"headers": [{"name": "Authorization", "value": "Field-Pass-77"}]},
    ],
)
def test_secrets_in_arguments_are_masked(arguments: Any, tmp_path: Path, imported: Importing) -> None:
    call = {"tool_call_id": "a", "function_name": "browser_type", "arguments": arguments}
    steps = [{"step_id": 1, "source": "agent", "message": "", "tool_calls": [call]}]
    text = everything(imported("atif", atif(tmp_path, steps=steps)))
    assert b"Field-Pass-77" not in text and b"browser_type" in text
    kept = everything(imported("atif", atif(tmp_path, steps=steps), keeps_secrets=True))
    assert b"Field-Pass-77" in kept


def test_counts_of_tokens_and_placeholders_are_no_secrets() -> None:
    said = {
        "total_tokens": 12,
        "completion_token": 3,
        "password": "<secret>login</secret>",
        "text": "hello",
        "name": "q",
    }
    found: list[str] = []
    assert masked(said, found.append) == said and found == []
    assert not takes_password(Element(name="Compass"))


def test_a_result_of_another_step_stays_with_its_call(tmp_path: Path, imported: Importing) -> None:
    call = {"tool_call_id": "c1", "function_name": "goto", "arguments": {"url": "http://x.test/"}}
    late = {
        "results": [{"source_call_id": "c1", "content": "LATE"}, {"source_call_id": "zz", "content": "LOST"}]
    }
    steps = [
        {"step_id": 1, "source": "agent", "message": "", "tool_calls": [call]},
        {"step_id": 2, "source": "agent", "message": "", "observation": late},
        {"step_id": 3, "source": "agent", "message": "Done 42"},
    ]
    path = atif(tmp_path, steps=steps)
    bundle = imported("atif", path)
    assert bundle.trajectory.steps[0].returned == "LATE" and b"LOST" in everything(bundle)
    warnings = import_run("atif", path, tmp_path / "again.zst").warnings
    assert [line for line in warnings if "a call" in line] == [
        "tea.json step 2 is a result of a call of another step: it is kept with that call",
        "tea.json step 2 is a result of a call that is nowhere: it is kept with the step before it",
    ]


@pytest.mark.parametrize("arguments", [["http://x.test/"], 5, "http://x.test/"])
def test_arguments_of_another_shape_cost_no_run(arguments: Any, tmp_path: Path, imported: Importing) -> None:
    call = {"tool_call_id": "c1", "function_name": "goto", "arguments": arguments}
    steps = [{"step_id": 1, "source": "agent", "message": "", "tool_calls": [call, call]}]
    run = imported("atif", atif(tmp_path, steps=steps)).trajectory
    assert [tag_of(step.action) for step in run.steps] == ["goto", "goto"]
    assert isinstance(run.steps[0].action, Unknown)
    steps[0]["tool_calls"] = [{**call, "arguments": '{"url": "http://x.test/"}'}]
    assert imported("atif", atif(tmp_path, steps=steps)).trajectory.steps[0].action == Goto(
        url="http://x.test/"
    )


def test_a_chat_of_another_prompt_is_a_run_without_a_start(tmp_path: Path, imported: Importing) -> None:
    messages = chat(turn("ANSWER; 42"))
    messages[1]["content"] = "Now given a task: Find the total of order 7. Observation: A screenshot."
    bundle = imported("webvoyager", webvoyager(tmp_path, messages[1:]))
    assert bundle.header.task is not None
    assert (
        bundle.header.task["intent"] == "Find the total of order 7."
        and "start_urls" not in bundle.header.task
    )
    assert bundle.trajectory.answer == "42"


def test_pointers_of_git_lfs_are_named_once(tmp_path: Path) -> None:
    path = webvoyager(tmp_path / "in", shots=0)
    for number in range(1, 4):
        write(path, f"screenshot{number}.png", POINTER)
    lines = [line for line in import_run("webvoyager", path, tmp_path / "run.zst").warnings if "LFS" in line]
    assert (
        len(lines) == 1
        and lines[0].startswith("3 times, first screenshot1.png")
        and "git lfs pull" in lines[0]
    )


@pytest.mark.parametrize(
    ("format", "name"),
    [("har", "run.har"), ("playwright-trace", "trace.zip"), ("atif", "x.json"), ("run-jsonl", "r.jsonl")],
)
def test_a_pointer_in_the_place_of_a_run_is_called_that(format: str, name: str, tmp_path: Path) -> None:
    file = write(tmp_path / "in", name, POINTER)
    for path in (file, file.parent):
        (done,) = import_runs(format, [path], tmp_path / "out")
        assert "Git LFS" in str(done.error) and "git lfs pull" in str(done.error)


UNREAD = (".mp4", "core.log", "trial.log", "reward.txt")
"""Ends of files in samples that no importer reads: they are left out, whatever they hold."""


@pytest.mark.parametrize("format", sorted(SAMPLES))
def test_a_pointer_in_the_place_of_any_file_is_named_once(format: str, tmp_path: Path) -> None:
    path = SAMPLES[format](tmp_path / "whole")
    folder = path if path.is_dir() else path.parent
    names = [file.relative_to(folder) for file in sorted(folder.rglob("*")) if file.is_file()]
    for number, name in enumerate(names):
        path = SAMPLES[format](tmp_path / f"in{number}")
        write(path if path.is_dir() else path.parent, str(name), POINTER)
        for one in import_runs(format, [path], tmp_path / f"out{number}"):
            said = [line for line in (*one.warnings, str(one.error or "")) if "git lfs pull" in line]
            assert len(said) == (0 if name.name.endswith(UNREAD) else 1), (name, one)
            if one.error is None:
                with open_bundle(one.path) as bundle:
                    assert b"git-lfs.github.com" not in b"".join(bundle.lines), name


@pytest.mark.parametrize("format", sorted(SAMPLES))
def test_what_systems_leave_in_folders_changes_nothing(format: str, tmp_path: Path) -> None:
    path = SAMPLES[format](tmp_path / "in")
    folder = path if path.is_dir() else path.parent
    clean = import_run(format, path, tmp_path / "clean.zst").digest
    for name in ("._" + path.name, "__MACOSX/._x.json", "__MACOSX/x/result.json", ".DS_Store", "._a.png"):
        write(folder, name, b"\0\x05\x16\x07")
    done = import_runs(format, [folder], tmp_path / "out")
    assert [(one.state, one.digest) for one in done] == [("imported", clean)]


def test_an_archive_packed_again_by_hand_is_the_same_trace(tmp_path: Path, imported: Importing) -> None:
    clean = imported("playwright-trace", trace(tmp_path / "a"))
    with zipfile.ZipFile(tmp_path / "a/shop.zip") as old, zipfile.ZipFile(tmp_path / "again.zip", "w") as new:
        for name in old.namelist():
            new.writestr(f"shop/{name}", old.read(name))
        new.writestr("__MACOSX/shop/._trace.trace", b"\0\x05\x16\x07")
    again = imported("playwright-trace", tmp_path / "again.zip")
    assert again.trajectory.steps == clean.trajectory.steps
    assert again.trajectory.events == clean.trajectory.events


def test_sessions_beside_each_other_are_runs_in_order_of_time(tmp_path: Path) -> None:
    for number, wall in ((1, 1_772_442_900_000), (2, 1_772_442_000_000)):
        events = trace_events()
        events[0]["wallTime"] = wall
        write(tmp_path / "traces", f"trace-{number}.trace", "\n".join(map(json.dumps, events)))
        write(tmp_path / "traces", f"trace-{number}.network", b"")
    write(tmp_path / "traces", "screencast/a.png", png(3))
    done = import_runs("playwright-trace", [tmp_path], tmp_path / "out")
    assert [Path(one.path).stem for one in done] == ["trace-2", "trace-1"]
    assert [one.state for one in done] == ["imported", "imported"]


def test_an_experiment_without_steps_is_a_failed_run(tmp_path: Path, imported: Importing) -> None:
    run = tmp_path / "2026-03-02_09-00-00_agent_on_miniwob.click_3"
    write(run, "exp_args.pkl", b"")
    write(run, "summary_info.json", {"n_steps": 0, "err_msg": "browser died", "stack_trace": "at LINE-9"})
    bundle = imported("browsergym", run)
    ending = bundle.trajectory.ending
    assert ending is not None and (ending.kind, ending.validity, ending.answer) == ("crashed", "valid", None)
    assert b"LINE-9" in everything(bundle)


def gym(folder: Path, *actions: str | None) -> Path:
    for number, action in enumerate(actions):
        obs = {
            "goal": "q", "chat_messages": [], "open_pages_urls": ["http://a.test/", f"http://x.test/{number}"],
            "open_pages_titles": ["a", "t"], "active_page_index": [1], "axtree_txt": "RootWebArea", "last_action_error": "",
            "pruned_html": "<h1>PRUNED</h1>",
        }  # fmt: skip
        write(
            folder, f"steps_info_{number}.json", {"step": number, "obs": obs, "action": action, "reward": 0.0}
        )
    write(folder, "summary_info.json", {"n_steps": len(actions) - 1, "cum_reward": 1.0, "err_msg": None})
    return folder


def test_steps_of_browsergym_as_json(tmp_path: Path, imported: Importing) -> None:
    said = "<think>The first one.</think>\n```\nclick('a1')\n```"
    bundle = imported("browsergym", gym(tmp_path / "task_910", said, "send_msg_to_user('42')", None))
    run = bundle.trajectory
    assert [tag_of(step.action) for step in run.steps] == ["click", "send_msg_to_user"]
    assert (run.steps[0].thought, run.steps[0].raw) == ("The first one.", said)
    assert run.steps[0].before is not None and run.steps[0].before.url == "http://x.test/0"
    assert run.answer == "42" and run.channel("snapshots") == "absent" and b"PRUNED" in everything(bundle)


@given(data=st.binary(max_size=60), at=st.integers(0, 400))
def test_damaged_steps_of_browsergym_give_only_errors_of_ours(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, at: int
) -> None:
    folder = tmp_path_factory.mktemp("gym")
    path = gym(folder / "task_1", "click('a1')", "send_msg_to_user('42')", None)
    file = path / "steps_info_1.json"
    whole = file.read_bytes()
    file.write_bytes(whole[:at] + data + whole[at + len(data) :])
    try:
        import_run("browsergym", path, folder / "run.zst")
    except ReplaykitError as error:
        assert error.exit_code == 3


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    )
)
def test_what_a_type_does_not_read_is_all_the_rest(value: Any) -> None:
    found = dict(rest({"tag": "a", "zz": value}, Element))
    assert found == ({"zz": value} if holds_data(value) else {})


@pytest.mark.parametrize("said", [{}, {"url": 5}, {"coordinate": [1]}, {"x": "a", "y": None}, {"text": None}])
@pytest.mark.parametrize(
    "name", ["click", "type", "goto", "scroll", "drag", "press", "computer", "select_option", "tabs"]
)
def test_calls_with_arguments_that_say_nothing_are_none(name: str, said: dict[str, Any]) -> None:
    action = computer_action(name, said)
    assert action is None or not isinstance(action, Goto | KeyboardType | MouseClick)


def test_two_jobs_write_what_one_writes(tmp_path: Path) -> None:
    for name in "abcd":
        SAMPLES["webvoyager"](tmp_path / "in" / name)
    write(tmp_path / "in/c/taskShop--3", "interact_messages.json", b"{")
    total: list[int] = []
    one = import_runs("webvoyager", [tmp_path / "in"], tmp_path / "one", on_found=total.append)
    two = import_runs("webvoyager", [tmp_path / "in"], tmp_path / "two", jobs=2)
    assert [(r.state, r.digest, str(r.error)) for r in one] == [
        (r.state, r.digest, str(r.error)) for r in two
    ]
    assert total == [4] and [r.state for r in two].count("failed") == 1
    again = import_runs("webvoyager", [tmp_path / "in"], tmp_path / "two", jobs=2)
    assert [r.state for r in again] == ["kept", "kept", "failed", "kept"]


def test_a_file_with_other_parts_beside_is_named(tmp_path: Path) -> None:
    done = import_run(
        "har", har(tmp_path, {**entry(), "_initiator": {"type": "other"}}), tmp_path / "run.zst"
    )
    assert done.warnings == ("left out: log.entries[]._initiator (1)",)


def test_passwords_in_addresses_are_masked(tmp_path: Path, imported: Importing) -> None:
    text = everything(
        imported("har", har(tmp_path, entry("http://ann:Field-Pass-77@shop.test/a?api_key=Field-Key-88")))
    )
    assert b"Field-Pass-77" not in text and b"Field-Key-88" not in text and b"shop.test/a" in text


def changed(path: Path, change: Callable[[Any], None]) -> Path:
    plain = json.loads(path.read_text())
    change(plain)
    write(path.parent, path.name, plain)
    return path


WRONG: dict[str, tuple[str, Callable[[Path], Path]]] = {
    "a role that is unknown": ("webvoyager", lambda at: webvoyager(at, [
        *chat(turn("Click [3]")), {"role": "tool", "content": "LEAF-7"}, *chat(turn("ANSWER; tin"))[1:]])),
    "a message that is a text": ("webvoyager", lambda at: webvoyager(at, [*chat(turn("Click [3]")), "LEAF-7"])),
    "content that is a number": ("webvoyager", lambda at: webvoyager(at, [
        *chat(turn("Click [3]")), {"role": "user", "content": {"at": "LEAF-7"}}])),
    "a thought that is an object": ("online-mind2web", lambda at: mind2web(at, thoughts=["First.", {"at": "LEAF-7"}])),
    "an action that is an object": ("online-mind2web", lambda at: mind2web(
        at, action_history=["<a> x -> CLICK", {"at": "LEAF-7"}], thoughts=[])),
    "a level that is an object": ("wabe", lambda at: wabe(at, level={"at": "LEAF-7"})),
    "a result of browser-use with a wrong field": ("browser-use", lambda at: changed(
        browser_use(at), lambda plain: plain["history"][0]["result"][0].update(error={"code": "LEAF-7"}))),
    "an item of browser-use without a page": ("browser-use", lambda at: changed(
        browser_use(at), lambda plain: plain["history"].insert(1, {"model_output": "LEAF-7"}))),
    "a step of AgentRewardBench without a number": ("agentrewardbench", lambda at: changed(
        agentrewardbench(at), lambda plain: plain["steps"].insert(1, {"action": "LEAF-7"}))),
    "a message of Inspect without a role": ("inspect", lambda at: inspect_log(
        at, lambda sample: sample["messages"].insert(1, {"content": "LEAF-7"}))),
}  # fmt: skip
"""Runs with one value that does not fit, which holds LEAF-7."""


@pytest.mark.parametrize("flaw", WRONG)
def test_one_value_that_does_not_fit_costs_no_run(flaw: str, tmp_path: Path) -> None:
    format, make = WRONG[flaw]
    done = import_run(format, make(tmp_path / "in"), tmp_path / "run.zst")
    reported = [line for line in done.warnings if "kept beside" in line]
    assert len(reported) == 1, done.warnings
    with open_bundle(tmp_path / "run.zst") as bundle:
        assert b"LEAF-7" in everything(bundle)
        assert bundle.trajectory.steps and bundle.trajectory.channel("actions") == "partial"


_WORDS = st.lists(st.sampled_from(["", "a", "ab", "B", "a b", "."]), min_size=1, max_size=5)


@given(_WORDS, st.text("abAB.\n", max_size=12))
@example(["a", "", "b"], "ab")
def test_a_wording_fits_where_its_texts_stand_apart(words: list[str], line: str) -> None:
    said = words[0] + "".join(f"{{p{'abcd'[at]}}}{word}" for at, word in enumerate(words[1:]))
    form = re.escape(words[0]) + "".join(
        f"(?P<p{'abcd'[at]}>.+?){re.escape(word)}" for at, word in enumerate(words[1:])
    )
    found = re.compile(form, re.IGNORECASE | re.DOTALL).fullmatch(line)
    assert _Wording(said).places(line) == (None if found is None else found.groupdict())


def test_a_long_line_takes_a_wording_of_many_places_no_time() -> None:
    own = Wordings({"a {b} c {d} c {e} c {f} c {g} !": {"t": "noop"}})
    assert own.own("a " + "x c " * 4_900) is None


def test_a_wording_names_a_place_once() -> None:
    with pytest.raises(UsageError, match=r"\{ref\} twice"):
        Wordings({"click {ref} or {ref}": {"t": "noop"}})
