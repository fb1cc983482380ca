"""Logs of Inspect: one that the real package wrote, and changes of it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.bundle.reader import open_bundle
from replaykit.errors import MalformedSource, SourceLimitExceeded, UnsupportedVersion
from replaykit.interop.imported_run import Options
from replaykit.interop.inspect.inspect_turns import named_by_tree
from replaykit.interop.run_import import import_run, import_runs
from replaykit.interop.source_files import SourceLimits
from replaykit.trajectory.action import Click, Element, Fill, Goto, MouseClick, ToolCall, Type, Unknown
from replaykit.trajectory.exchange import Imported, Message, Rest
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.step import Ending
from tests.interop.conftest import Importing
from tests.interop.samples import INSPECT_LOG, inspect_log, packed, png, unpacked

SAMPLE = "samples/mug/1_epoch_1.json"


def test_a_log_of_the_real_package(imported: Importing) -> None:
    run = imported("inspect", INSPECT_LOG).trajectory
    assert run.header.task == {"id": "mug/1", "intent": "Which mug is cheapest?"}
    go, typed, click, look, again = run.steps
    assert go.action == Goto(url="http://shop.test/") and go.thought == "Start at the shop."
    assert go.returned == '[1] RootWebArea "Shop" [url: http://shop.test/]'
    assert isinstance(typed.action, Type | Fill) and typed.error is not None
    assert typed.error.message == "no such element 99"
    assert isinstance(click.action, Click | MouseClick) and click.action.point == (12, 34)
    assert isinstance(look.action, ToolCall) and isinstance(again.action, Type | Fill)
    assert [one.index for one in run.steps if one.turn == typed.turn] == [1, 2]
    times = [step.t for step in run.steps]
    assert None not in times and times == sorted(times) and times[-1] > 0
    assert [one.of for one in run.of_type(Observation)] == [2, 3]
    assert [(one.role, one.text) for one in run.of_type(Message)] == [("agent", "I open the shop.")]
    (ending,) = run.of_type(Ending)
    assert (ending.kind, ending.answer, ending.thought) == ("answered", "The tin mug.", "That is it.")
    (score,) = run.of_type(Imported)
    assert (score.kind, score.name, score.value["value"]) == ("label", "includes", "C")


def test_screenshots_come_from_attachments(imported: Importing) -> None:
    bundle = imported("inspect", INSPECT_LOG)
    shots = {one.screenshot for one in bundle.trajectory.of_type(Observation)}
    assert [bundle.blob(str(shot)) for shot in shots] == [png(7)]
    assert bundle.trajectory.channel("screenshots") == "partial"
    assert bundle.trajectory.channel("urls") == "absent"


def test_the_target_is_kept_where_no_judge_reads_it(imported: Importing) -> None:
    rests = [one.value for one in imported("inspect", INSPECT_LOG).trajectory.of_type(Rest)]
    assert any(one.get("target") == "tin" for one in rests)


def test_every_sample_and_epoch_is_a_run(tmp_path: Path) -> None:
    members = {name: json.loads(data) for name, data in unpacked(INSPECT_LOG).items()}
    members["samples/mug/1_epoch_2.json"] = {**members[SAMPLE], "epoch": 2}
    (tmp_path / "two.eval").write_bytes(packed(members))
    done = import_runs("auto", [tmp_path], tmp_path / "out")
    assert [Path(one.path).name for one in done] == ["mug-1_epoch_1.zst", "mug-1_epoch_2.zst"]
    assert [one.error for one in done] == [None, None]


def json_log(folder: Path, change: Callable[[dict[str, Any]], None] = lambda _: None) -> Path:
    """The same log as `inspect log convert --to json` writes it."""
    members = {name: json.loads(data) for name, data in unpacked(INSPECT_LOG).items()}
    plain = {**members["header.json"], "samples": [members[SAMPLE]], "reductions": []}
    change(plain)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "mugs.json").write_text(json.dumps(plain))
    return folder / "mugs.json"


def test_a_json_log_gives_the_same_run(tmp_path: Path, imported: Importing) -> None:
    same, packed_ = (
        imported(format, path).trajectory for format, path in
        (("auto", json_log(tmp_path / "in")), ("inspect", INSPECT_LOG))
    )  # fmt: skip
    assert same.header.task == packed_.header.task and same.header.channels == packed_.header.channels
    assert same.steps == packed_.steps
    for kind in (Observation, Message, Ending):
        assert same.of_type(kind) == packed_.of_type(kind)
    assert [one.value for one in same.of_type(Imported)] == [one.value for one in packed_.of_type(Imported)]
    assert same.header.source is not None and list(same.header.source.files) == ["mugs.json"]


def test_json_logs_are_found_beside_archives_a_run_a_sample(tmp_path: Path) -> None:
    def change(plain: dict[str, Any]) -> None:
        plain["samples"].append({**plain["samples"][0], "epoch": 2})

    json_log(tmp_path / "in", change)
    shutil.copy(INSPECT_LOG, tmp_path / "in" / "b.eval")
    json_log(tmp_path / "in" / "empty", lambda plain: plain.update(samples=None))
    (tmp_path / "in" / "other.json").write_text('{"status": "success", "eval": "x"}')
    done = import_runs("auto", [tmp_path / "in"], tmp_path / "out")
    assert [(Path(one.path).name, one.state) for one in done] == [
        ("mug-1_epoch_1.zst", "imported"),
        ("mugs.zst", "failed"),
        ("mug-1_epoch_1-2.zst", "imported"),
        ("mug-1_epoch_2.zst", "imported"),
    ]
    assert "samples is empty" in str(done[1].error)


@pytest.mark.parametrize(("version", "advice"), [(1, "inspect log convert"), (3, "newer replaykit")])
def test_what_to_do_about_another_version(version: int, advice: str, tmp_path: Path) -> None:
    log = json_log(tmp_path / "in", lambda plain: plain.update(version=version))
    with pytest.raises(UnsupportedVersion) as error:
        import_run("inspect", log, tmp_path / "run.zst")
    assert advice in error.value.fields["advice"]


def test_a_result_without_its_call_means_that_a_call_is_missing(tmp_path: Path, imported: Importing) -> None:
    def change(sample: dict[str, Any]) -> None:
        sample["events"] = []
        gone = next(one for one in sample["messages"] if one.get("tool_calls"))
        sample["messages"].remove(gone)

    run = imported("inspect", inspect_log(tmp_path / "in", change)).trajectory
    assert run.channel("actions") == "partial"


def changed(tmp_path: Path, imported: Importing, **fields: Any) -> Any:
    return imported("inspect", inspect_log(tmp_path / "in", lambda sample: sample.update(fields))).trajectory


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"limit": {"type": "message", "limit": 10}}, "max_steps"),
        ({"limit": {"type": "time", "limit": 60.0}}, "timeout"),
        ({"limit": {"type": "custom", "limit": 1}}, "stopped"),
        ({"error": {"message": "gone", "traceback": "T", "traceback_ansi": "T"}}, "crashed"),
    ],
)
def test_why_a_sample_ended(fields: dict[str, Any], kind: str, tmp_path: Path, imported: Importing) -> None:
    (ending,) = changed(tmp_path, imported, **fields).of_type(Ending)
    assert ending.kind == kind


def test_a_run_that_still_acted_has_no_answer(tmp_path: Path, imported: Importing) -> None:
    messages = json.loads(unpacked(INSPECT_LOG)[SAMPLE])["messages"][:-1]
    output = {"completion": "I will type."}
    (ending,) = changed(tmp_path, imported, messages=messages, output=output).of_type(Ending)
    assert (ending.kind, ending.answer) == ("stopped", None)


def event_of(sample: dict[str, Any], id: str) -> dict[str, Any]:
    found: dict[str, Any] = next(one for one in sample["events"] if one.get("id") == id)
    return found


def test_a_call_is_what_its_approver_made_of_it(tmp_path: Path, imported: Importing) -> None:
    def change(sample: dict[str, Any]) -> None:
        event_of(sample, "c3")["arguments"] = {"action": "left_click", "coordinate": [5, 6]}

    run = imported("inspect", inspect_log(tmp_path, change)).trajectory
    click = run.steps[2]
    assert isinstance(click.action, Click | MouseClick) and click.action.point == (5, 6)
    assert run.channel("actions") == "recorded"
    asked = [one.value["tool_calls"] for one in run.of_type(Rest) if "tool_calls" in one.value]
    assert asked == [{"function": "computer", "arguments": {"action": "left_click", "coordinate": [12, 34]}}]


def without_result(sample: dict[str, Any], id: str) -> None:
    sample["messages"] = [one for one in sample["messages"] if one.get("tool_call_id") != id]


def test_a_call_that_its_approver_stopped_failed(tmp_path: Path, imported: Importing) -> None:
    def change(sample: dict[str, Any]) -> None:
        without_result(sample, "c3")
        event_of(sample, "c3")["failed"] = True

    click = imported("inspect", inspect_log(tmp_path, change)).trajectory.steps[2]
    assert isinstance(click.action, Click | MouseClick) and click.error is not None


@pytest.mark.parametrize("has_events", [True, False])
def test_a_call_without_an_event_and_a_result_is_unknown(
    has_events: bool, tmp_path: Path, imported: Importing
) -> None:
    # A limit ended the sample before the call was made. Some writers leave all events out.
    def change(sample: dict[str, Any]) -> None:
        without_result(sample, "c3")
        sample["events"] = [one for one in sample["events"] if has_events and one.get("id") != "c3"]

    action = imported("inspect", inspect_log(tmp_path, change)).trajectory.steps[2].action
    assert isinstance(action, Unknown) is has_events


def test_a_submission_that_no_message_holds_leaves_actions_whole(tmp_path: Path, imported: Importing) -> None:
    def change(sample: dict[str, Any]) -> None:
        submit = {**event_of(sample, "c5"), "id": "c6", "function": "submit", "arguments": {"answer": "tin"}}
        sample["events"].append(submit)

    assert imported("inspect", inspect_log(tmp_path, change)).trajectory.channel("actions") == "recorded"


def test_a_call_that_no_message_holds_leaves_actions_partial(tmp_path: Path, imported: Importing) -> None:
    messages = json.loads(unpacked(INSPECT_LOG)[SAMPLE])["messages"]
    run = changed(tmp_path, imported, messages=[messages[0], *messages[3:]])
    assert run.channel("actions") == "partial" and len(run.steps) == 4


def test_flaws_cost_no_run_and_are_reported_once(tmp_path: Path) -> None:
    def change(sample: dict[str, Any]) -> None:
        sample["attachments"] = {}
        sample["messages"][2]["tool_call_id"] = "nowhere"
        sample["messages"][1]["tool_calls"].append({"id": "x", "arguments": {}})

    done = import_run("inspect", inspect_log(tmp_path / "in", change), tmp_path / "run.zst")
    said = "\n".join(done.warnings)
    assert said.count("an attachment that is not in the file") == 1
    assert "a result of a call that is nowhere" in said and "a call without a function" in said


def test_an_unfamiliar_tool_is_unknown_by_its_name(tmp_path: Path, imported: Importing) -> None:
    def change(sample: dict[str, Any]) -> None:
        call = {"id": "c9", "function": "bash", "arguments": {"cmd": "ls"}, "type": "function"}
        sample["messages"][1]["tool_calls"] = [call]

    path = inspect_log(tmp_path / "in", change)
    assert imported("inspect", path).trajectory.steps[0].action == Unknown(name="bash", raw='{"cmd":"ls"}')


def test_a_typed_password_is_masked(tmp_path: Path) -> None:
    def change(sample: dict[str, Any]) -> None:
        arguments = {"element": "Password", "text": "hunter22secret"}
        call = {"id": "c1", "function": "browser_type", "arguments": arguments, "type": "function"}
        sample["messages"][1]["tool_calls"] = [call]
        sample["messages"][2]["content"] = "typed hunter22secret"

    import_run("inspect", inspect_log(tmp_path / "in", change), tmp_path / "run.zst")
    with open_bundle(tmp_path / "run.zst") as bundle:
        assert b"hunter22secret" not in b"".join(bundle.lines)


def test_other_versions_and_logs_without_samples_are_refused(tmp_path: Path) -> None:
    members = {name: json.loads(data) for name, data in unpacked(INSPECT_LOG).items()}
    old = {**members, "header.json": {**members["header.json"], "version": 1}}
    (tmp_path / "old.eval").write_bytes(packed(old))
    with pytest.raises(UnsupportedVersion, match=r"header\.json version"):
        import_run("inspect", tmp_path / "old.eval", tmp_path / "run.zst")
    (tmp_path / "none.eval").write_bytes(packed({"header.json": members["header.json"]}))
    with pytest.raises(MalformedSource, match="no sample"):
        import_run("inspect", tmp_path / "none.eval", tmp_path / "run.zst")


def test_a_log_that_was_broken_off_has_its_journal(tmp_path: Path, imported: Importing) -> None:
    members = {name: json.loads(data) for name, data in unpacked(INSPECT_LOG).items()}
    del members["header.json"], members["summaries.json"]
    (tmp_path / "cut.eval").write_bytes(packed(members))
    assert len(imported("inspect", tmp_path / "cut.eval").trajectory.steps) == 5


def test_a_member_of_more_bytes_than_it_says_is_refused(tmp_path: Path) -> None:
    members = {name: json.loads(data) for name, data in unpacked(INSPECT_LOG).items()}
    limits = SourceLimits(member=100_000)
    bomb = tmp_path / "bomb.eval"
    bomb.write_bytes(packed({**members, SAMPLE: b" " * 10_000_000}))
    with pytest.raises(SourceLimitExceeded, match="100000"):
        import_run("inspect", bomb, tmp_path / "run.zst", options=Options(limits=limits))
    lying = bomb.read_bytes().replace((10_000_000).to_bytes(4, "little"), (9).to_bytes(4, "little"))
    bomb.write_bytes(lying)
    with pytest.raises((SourceLimitExceeded, MalformedSource)):
        import_run("inspect", bomb, tmp_path / "run.zst", options=Options(limits=limits))


def test_a_log_is_read_as_found_beside_others(tmp_path: Path) -> None:
    shutil.copy(INSPECT_LOG, tmp_path / "a.eval")
    (tmp_path / "b.eval").write_bytes(b"PK")
    done = import_runs("inspect", [tmp_path], tmp_path / "out")
    assert [one.state for one in done] == ["imported", "failed"]
    assert "no zip archive" in str(done[1].error)


def test_ids_that_a_model_uses_again_keep_their_own_results(tmp_path: Path, imported: Importing) -> None:
    def change(sample: dict[str, Any]) -> None:
        for one in (*sample["messages"], *sample["events"]):
            for call in one.get("tool_calls") or ():
                call["id"] = "call_0"
            if one.get("role") == "tool":
                one["tool_call_id"] = "call_0"
            if one.get("event") == "tool":
                one["id"] = "call_0"

    again = imported("inspect", inspect_log(tmp_path / "in", change)).trajectory
    real = imported("inspect", INSPECT_LOG).trajectory
    assert [step.returned for step in again.steps] == [step.returned for step in real.steps]
    assert [step.t for step in again.steps] == [step.t for step in real.steps]
    assert again.channel("actions") == "recorded"


TREE = """[1] RootWebArea "Shop"  [focused: true, url: http://shop.test/]
  [12] button "Say "yes""
  [13] link "Pay" [url: http://shop.test/pay?a[]=1]
  [14] textbox "Password"  [editable: plaintext, required]
  [15] listitem
  [16] StaticText "a
[16] button "Delete" """


@pytest.mark.parametrize(
    ("ref", "role", "name"),
    [
        ("12", "button", 'Say "yes"'),
        ("13", "link", "Pay"),
        ("15", "listitem", None),
        ("16", None, None),
        ("17", None, None),
        ("x", None, None),
    ],
)
def test_the_tree_says_what_a_number_means(ref: str, role: str | None, name: str | None) -> None:
    element = named_by_tree(TREE, Click(element=Element(ref=ref))).element
    assert element == Element(ref=ref, role=role, name=name)
    twice = TREE + f'\n[{ref}] button "Forged"\n[{ref}] button "Forged"'
    assert named_by_tree(twice, Click(element=Element(ref=ref))).element == Element(ref=ref)


@pytest.mark.parametrize(
    "shown",
    [
        TREE,
        f'main content:\n[13] link "Forged"\n\naccessibility tree:\n{TREE}',
        [
            {"type": "text", "text": 'main content:\n[13] link "Forged"\n\n'},
            {"type": "text", "text": f"accessibility tree:\n{TREE}"},
        ],
    ],
)
def test_a_click_names_what_the_page_before_it_showed(
    shown: Any, tmp_path: Path, imported: Importing
) -> None:
    def change(sample: dict[str, Any]) -> None:
        calls = [("web_browser_go", {"url": "http://shop.test/"}), ("web_browser_click", {"element_id": 13})]
        sample["messages"] = [{"role": "user", "content": "Pay."}]
        for number, (name, arguments) in enumerate(calls):
            call = {"id": f"c{number}", "function": name, "arguments": arguments}
            result = {"role": "tool", "tool_call_id": call["id"], "function": name, "content": shown}
            sample["messages"] += [{"role": "assistant", "content": "", "tool_calls": [call]}, result]
        sample["events"] = []

    click = imported("inspect", inspect_log(tmp_path / "in", change)).trajectory.steps[1].action
    assert isinstance(click, Click) and click.element == Element(ref="13", role="link", name="Pay")


@given(st.text('[]12 "linkabc:\n', max_size=60), st.sampled_from(["1", "12"]))
def test_any_tree_leaves_an_action(tree: str, ref: str) -> None:
    assert isinstance(named_by_tree(tree, Click(element=Element(ref=ref))), Click)
