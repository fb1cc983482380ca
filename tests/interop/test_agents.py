"""Runs of agents' own harnesses: AgentRewardBench, browser-use, Harbor, run.jsonl, ATIF, BrowserGym."""

from __future__ import annotations

import builtins
import functools
import gzip
import json
import os
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.bundle.reader import open_bundle
from replaykit.errors import MalformedSource, SourceLimitExceeded, UnsafeSource, UnsupportedVersion
from replaykit.interop.browsergym.pickles import Forbidden, Undecodable, read_pickle
from replaykit.interop.harbor.harbor_jobs import cause_of
from replaykit.interop.run_import import import_run, import_runs
from replaykit.interop.source_files import SourceLimits
from replaykit.trajectory.action import (
    Answer,
    Click,
    Element,
    Fill,
    Goto,
    MouseClick,
    SendMsgToUser,
    Type,
    Unknown,
    tag_of,
)
from replaykit.trajectory.exchange import Imported, Message
from replaykit.trajectory.observation import Observation
from tests.interop.conftest import Importing
from tests.interop.samples import (
    agentrewardbench,
    atif,
    browser_use,
    browsergym,
    harbor,
    png,
    run_jsonl,
    write,
)


def test_agentrewardbench(tmp_path: Path, imported: Importing) -> None:
    bundle = imported("agentrewardbench", agentrewardbench(tmp_path))
    run = bundle.trajectory
    assert [tag_of(step.action) for step in run.steps] == ["click", "fill", "send_msg_to_user"]
    assert [step.turn for step in run.steps] == [0, 1, 1]
    assert run.steps[0].error is not None and run.steps[0].error.message == "no a51"
    assert run.steps[0].before is not None and run.steps[0].before.url == "http://x.test/"
    assert run.answer == "42" and run.header.task is not None and run.header.task["id"] == "wa.12"
    assert run.channel("screenshots") == "recorded" and run.channel("a11y") == "recorded"
    assert [seen.role for seen in run.of_type(Observation)] == ["final"]
    (reward,) = run.of_type(Imported)
    assert (reward.kind, reward.value) == ("reward", 1.0)
    assert run.ending is not None and run.ending.validity == "valid"


def test_agentrewardbench_leaves_invalid_runs_out_of_rates(tmp_path: Path, imported: Importing) -> None:
    path = agentrewardbench(tmp_path, valid=False)
    (tmp_path / "wa.12.json").rename(tmp_path / "wa.12.resized.json")
    run = imported("agentrewardbench", path.with_name("wa.12.resized.json")).trajectory
    assert run.ending is not None and run.ending.validity == "other"
    assert run.header.task is not None and run.header.task["id"] == "wa.12"


def judgement(reply: str | None, finish: str = "stop", **changes: Any) -> dict[str, Any]:
    choice = {"message": {"content": reply, "role": "assistant"}, "finish_reason": finish}
    fields = {"benchmark": "wa", "agent": "a", "judge": "j", "judge_model_name": "m", "goal": "Find it."}
    return {**fields, "response": {"choices": [choice]}, **changes}


@pytest.mark.parametrize(
    ("reply", "finish", "outcome", "compat"),
    [
        ("<success>Successful</success><side>No</side>", "stop", "SUCCESS", "SUCCESS"),
        ("<success>unsuccessful</success>", "stop", "FAILURE", "FAILURE"),
        ("<success>Successful</success>", "length", "ABSTAIN", "SUCCESS"),
        ("<success>perhaps</success>", "stop", "ABSTAIN", "ERROR"),
        (None, "stop", "ERROR", None),
    ],
)
def test_judgements_of_agentrewardbench_are_read_again(
    reply: str | None, finish: str, outcome: str, compat: str | None, tmp_path: Path, imported: Importing
) -> None:
    path, folder = agentrewardbench(tmp_path / "in"), tmp_path / "judgements"
    write(folder, "wa/a/j/wa.12.json", judgement(reply, finish))
    write(folder, "wa/a/j/wa.1.json", judgement("<success>Successful</success>"))
    write(folder, "wa/b/j/wa.12.json", judgement("<success>Successful</success>"))
    run = imported("agentrewardbench", path, judgements=folder).trajectory
    (one,) = [said for said in run.of_type(Imported) if said.kind == "judgement"]
    assert one.name == "j" and one.file == "judgements/wa/a/j/wa.12.json"
    assert isinstance(one.value, dict)
    assert (one.value["outcome"], one.value.get("compat"), one.value.get("reply")) == (outcome, compat, reply)
    assert run.header.source is not None and one.file in run.header.source.files


def test_a_judge_that_failed_is_an_error_and_another_goal_is_left_out(
    tmp_path: Path, imported: Importing
) -> None:
    path, folder = agentrewardbench(tmp_path / "in"), tmp_path / "judgements"
    write(
        folder, "wa/a/j/wa.12_error.json", {"error": "too long", "chat_messages": {}, "trajectory_info": {}}
    )
    write(folder, "wa/a/k/wa.12.json", judgement("<success>Successful</success>", goal="Other."))
    write(folder, "wa/a/functional/wa.12.json", {"benchmark": "wa", "agent": "a", "goal": "Find it."})
    run = imported("agentrewardbench", path, judgements=folder).trajectory
    (one,) = [said for said in run.of_type(Imported) if said.kind == "judgement"]
    assert one.value == {"outcome": "ERROR", "error": "too long"}


def test_a_judgement_of_another_shape_is_refused(tmp_path: Path, imported: Importing) -> None:
    path, folder = agentrewardbench(tmp_path / "in"), tmp_path / "judgements"
    write(folder, "wa/a/j/wa.12.json", {"response": "yes"})
    with pytest.raises(MalformedSource, match=r"wa/a/j/wa\.12\.json"):
        imported("agentrewardbench", path, judgements=folder)


def test_screenshots_may_lie_in_a_folder_of_their_own(tmp_path: Path, imported: Importing) -> None:
    path = agentrewardbench(tmp_path / "in")
    (tmp_path / "in" / "shots").rename(tmp_path / "elsewhere")
    assert imported("agentrewardbench", path).trajectory.channel("screenshots") == "absent"
    run = imported("agentrewardbench", path, shots=tmp_path / "elsewhere").trajectory
    assert run.channel("screenshots") == "recorded"
    assert run.header.source is not None and "shots/s_0.png" in run.header.source.files


def test_browser_use(tmp_path: Path, imported: Importing) -> None:
    run = imported("browser-use", browser_use(tmp_path)).trajectory
    assert [tag_of(step.action) for step in run.steps] == ["goto", "click", "fill", "answer"]
    assert [step.t for step in run.steps] == [0, 1000, 1000, 3000]
    target = run.steps[1].action.element
    assert target == Element(
        ref="4", tag="button", name="Buy", xpath="/b", attributes={"id": "b"}, box=(1, 2, 3, 4)
    )
    assert run.steps[2].error is not None and run.steps[2].error.message == "gone"
    assert run.steps[0].thought == "Go.\nSee." and run.answer == "Bought."
    assert run.header.task is None and run.channel("screenshots") == "partial"
    assert [(one.kind, one.name) for one in run.of_type(Imported)] == [
        ("judgement", "browser-use"),
        ("label", "self_report"),
    ]
    assert [seen.role for seen in run.of_type(Observation)] == [
        "unaligned",
        "final",
    ]  # a turn without a model's output


def test_browser_use_screenshots_in_the_file_and_out_of_reach(tmp_path: Path, imported: Importing) -> None:
    import base64

    plain = json.loads(browser_use(tmp_path).read_text())
    plain["history"][0]["state"]["screenshot_path"] = "../../secret.png"
    plain["history"][1]["state"]["screenshot"] = base64.b64encode(png(9)).decode()
    (tmp_path.parent / "secret.png").write_bytes(png(5))
    bundle = imported("browser-use", write(tmp_path, "history.json", plain))
    first, second = (step.before for step in bundle.trajectory.steps[:2])
    assert first is not None and first.screenshot is None
    assert (
        second is not None and isinstance(second.screenshot, str) and bundle.blob(second.screenshot) == png(9)
    )


def test_run_jsonl(tmp_path: Path, imported: Importing) -> None:
    run = imported("run-jsonl", run_jsonl(tmp_path, tail='{"t": "user", "te')).trajectory
    assert run.steps[0].action == Click(point=(3, 4)) and run.steps[0].thought == "Hm."
    assert run.steps[1].action == Unknown(name="sing", raw="{}")
    assert run.steps[1].error is not None and run.steps[1].error.message == "cannot"
    assert [(seen.role, seen.of) for seen in run.of_type(Observation)] == [("after", 0)]
    assert run.answer == "Done." and run.header.created == "2026-03-02T09:00:00.000Z"
    assert run.header.task is not None and run.header.task["intent"] == "Buy tea."


def test_run_jsonl_with_broken_lines_is_read_without_them(tmp_path: Path) -> None:
    path = run_jsonl(tmp_path / "in", tail='{"t"\n{"t": "user", "text": "Thanks."}\n[3]\n')
    done = import_run("run-jsonl", path, tmp_path / "run.zst")
    assert [line for line in done.warnings if "line" in line] == [
        "run.jsonl line 8 is no event of an agent: kept beside the steps",
        "run.jsonl line 6 is a line that is no JSON: left out",
        "left out: run.jsonl lines (1)",
    ]
    with open_bundle(tmp_path / "run.zst") as bundle:
        assert len(bundle.trajectory.steps) == 2 and bundle.trajectory.channel("actions") == "partial"
        assert bundle.trajectory.of_type(Message)[-1].text == "Thanks."


def test_a_call_of_run_jsonl_without_a_result_is_unknown(tmp_path: Path, imported: Importing) -> None:
    calls = [{"id": str(at), "name": "click", "arguments": {"point": [at, 4]}} for at in range(2)]
    lines = [
        {"t": "user", "text": "Buy tea."},
        {"t": "assistant", "text": "x", "tool_calls": calls},
        {"t": "tool_result", "call_id": "0", "is_error": False, "text": "ok"},
        {"t": "final", "answer": "Done."},
    ]
    path = write(tmp_path, "run.jsonl", "\n".join(map(json.dumps, lines)).encode())
    one, other = imported("run-jsonl", path).trajectory.steps
    assert isinstance(one.action, Click) and isinstance(other.action, Unknown)


@pytest.mark.parametrize("kind", ["action", "Assistant", ""])
def test_a_line_of_an_unknown_kind_may_be_an_action(kind: str, tmp_path: Path, imported: Importing) -> None:
    path = run_jsonl(tmp_path)
    line = {"t": kind, "tool_calls": [{"id": "x", "name": "click", "arguments": {"selector": "#buy"}}]}
    first, _, rest = path.read_text().partition("\n")
    path.write_text("\n".join([first, json.dumps(line), rest]))
    bundle = imported("run-jsonl", path)
    assert bundle.trajectory.channel("actions") == "partial"


def test_run_jsonl_without_a_line_that_is_json_is_refused(tmp_path: Path, imported: Importing) -> None:
    path = write(tmp_path, "run.jsonl", '{"t":\n{"t"\n')
    with pytest.raises(MalformedSource, match="line 1 is not JSON"):
        imported("run-jsonl", path)


def test_atif(tmp_path: Path, imported: Importing) -> None:
    run = imported("atif", atif(tmp_path)).trajectory
    assert run.steps[0].action == Goto(url="http://x.test/")
    assert run.steps[1].action == Unknown(name="web_click", raw='{"at":3}')
    assert [step.thought for step in run.steps] == ["Hm.", "Hm."] and run.steps[0].turn == 3
    assert [(seen.of, bool(seen.screenshot)) for seen in run.of_type(Observation)] == [(0, True)]
    assert run.answer == "Bought." and [m.text for m in run.of_type(Message)] == ["Buy tea."]
    mapped = imported("atif", atif(tmp_path), tools={"web_click": "click"}).trajectory
    assert mapped.steps[1].action == Click()


@pytest.mark.parametrize("version", ["ATIF-v1.9", "ATIF-v2.0", "1.6"])
def test_atif_of_other_versions(version: str, tmp_path: Path, imported: Importing) -> None:
    path = atif(tmp_path, schema_version=version)
    with pytest.raises(Exception, match="ATIF") as found:
        imported("atif", path)
    assert isinstance(found.value, UnsupportedVersion) or "resembles" in str(found.value) or version == "1.6"


MESSAGE = {"source": "agent", "message": "x"}
NUMBERS = {
    "a step_id out of order": [1, 3, 2],
    "a step_id out of order: steps": [1, 1, 2],
    "a step_id out of order:": [None, None, None],
    "steps are missing": [1, 2, 5],
}


@pytest.mark.parametrize(("says", "ids"), NUMBERS.items())
def test_atif_out_of_order_is_read_and_reported_once(says: str, ids: list[Any], tmp_path: Path) -> None:
    steps = [{**MESSAGE, "step_id": id, "message": f"words {at}"} for at, id in enumerate(ids)]
    done = import_run("atif", atif(tmp_path / "in", steps=steps), tmp_path / "run.zst")
    assert len([line for line in done.warnings if "step_id" in line]) == 1
    assert says in done.warnings[0]
    with open_bundle(tmp_path / "run.zst") as bundle:
        run = bundle.trajectory
        assert [one.text for one in run.of_type(Message)] == ["words 0", "words 1"]
        assert run.answer == "words 2"
        assert run.channel("actions") == ("partial" if "missing" in says else "recorded")


@pytest.mark.parametrize(
    ("wrong", "kept"),
    [
        ({"source": "robot", "message": "beep"}, "beep"),
        ({"source": "agent", "tool_calls": [{"arguments": {"lost": "call"}}]}, "call"),
        ({"source": "agent", "tool_calls": "press the button"}, "press the button"),
        ({"source": "agent", "observation": {"results": [7.25]}}, "7.25"),
        ({"source": "agent", "message": {"a": 4}, "timestamp": {"at": "never"}}, "never"),
        ("a step as text", "a step as text"),
    ],
)
def test_one_flaw_of_atif_costs_no_run(wrong: Any, kept: str, tmp_path: Path) -> None:
    call = {"tool_call_id": "a", "function_name": "goto", "arguments": {"url": "http://x.test/"}}
    if isinstance(wrong, dict):
        wrong = {"step_id": 2, **wrong}
    steps = [{**MESSAGE, "step_id": 1, "tool_calls": [call]}, wrong, {**MESSAGE, "step_id": 3}]
    done = import_run("atif", atif(tmp_path / "in", steps=steps), tmp_path / "run.zst")
    assert len([line for line in done.warnings if not line.startswith("left out")]) == 1
    with open_bundle(tmp_path / "run.zst") as bundle:
        run = bundle.trajectory
        assert run.steps[0].action == Goto(url="http://x.test/")
        assert kept in b"".join(bundle.lines).decode()
        assert run.channel("actions") == "partial"


def test_atif_without_an_agent_or_its_version_is_read(tmp_path: Path, imported: Importing) -> None:
    path = atif(tmp_path, agent={"name": "a"})
    assert imported("atif", path).header.source.tool == "a"


def test_a_harbor_trial(tmp_path: Path, imported: Importing) -> None:
    trial = harbor(tmp_path)
    run = imported("harbor", trial).trajectory
    assert len(run.steps) == 2 and run.answer == "Bought."
    (reward,) = run.of_type(Imported)
    assert (reward.value, reward.file) == ({"reward": 1.0}, "verifier/reward.json")
    (trial / "verifier/reward.json").unlink()
    (reward,) = imported("harbor", trial).trajectory.of_type(Imported)
    assert reward.value == 0.5


@pytest.mark.parametrize(
    ("error", "cause", "validity", "kind"),
    [
        (None, None, "valid", "answered"),
        ("AgentTimeoutError", "agent_exhausted_budget", "valid", "timeout"),
        ("EnvironmentStartTimeoutError", "sandbox_failed", "session_lost", "crashed"),
        ("VerifierTimeoutError", "verifier_failed", "other", "crashed"),
        ("CancelledError", "cancelled", "other", "crashed"),
        ("StrangeError", "unclassified", "other", "crashed"),
    ],
)
def test_why_a_trial_failed(
    error: Any, cause: Any, validity: str, kind: str, tmp_path: Path, imported: Importing
) -> None:
    run = imported("harbor", harbor(tmp_path, error)).trajectory
    assert run.ending is not None and (run.ending.validity, run.ending.kind) == (validity, kind)
    assert run.header.source is not None and run.header.source.extra["cause"] == cause
    assert cause_of({"exception_type": 5}) is None


def test_a_job_of_trials_and_one_in_steps(tmp_path: Path) -> None:
    job = tmp_path / "job"
    write(job, "job.log", "")
    harbor(job)
    write(job, "multi/result.json", {})
    for step in ("one", "two"):
        write(job, f"multi/steps/{step}/agent/answer.txt", step)
        write(job, f"multi/steps/{step}/agent/shots/shot-1.png", png(1))
    done = import_runs("harbor", [job], tmp_path / "out")
    assert [Path(one.path).name for one in done] == ["multi-one.zst", "multi-two.zst", "shop__x1.zst"]


def test_browsergym(tmp_path: Path, imported: Importing) -> None:
    run = imported("browsergym", browsergym(tmp_path)).trajectory
    assert [step.action for step in run.steps] == [Click(element=Element(ref="a")), SendMsgToUser(text="42")]
    assert run.steps[0].error is not None and run.steps[0].error.message == "gone"
    assert run.steps[0].thought == "Hm." and run.answer == "42"
    assert run.header.task is not None and run.header.task["id"] == "miniwob.click"
    assert run.channel("screenshots") == "partial" and run.channel("a11y") == "recorded"
    assert [seen.role for seen in run.of_type(Observation)] == ["final"]
    assert "browsergym" not in __import__("sys").modules


@pytest.mark.parametrize(
    ("summary", "kind"),
    [({"err_msg": "boom"}, "crashed"), ({"truncated": True}, "answered"), ({}, "answered")],
)
def test_browsergym_endings(summary: Any, kind: str, tmp_path: Path, imported: Importing) -> None:
    run = imported("browsergym", browsergym(tmp_path, summary)).trajectory
    assert run.ending is not None and run.ending.kind == kind
    path = browsergym(tmp_path / "b", summary)
    (path / "summary_info.json").unlink()
    ending = imported("browsergym", path).trajectory.ending
    assert ending is not None and ending.kind == "unknown"


class Evil:
    def __init__(self, *what: Any) -> None:
        self.what = what

    def __reduce__(self) -> Any:
        return self.what


@pytest.mark.parametrize(
    "what",
    [
        (os.system, ("touch {mark}",)),
        (builtins.eval, ("open('{mark}', 'w')",)),
        (functools.partial, (print,)),
        (getattr, (object, "__subclasses__")),
    ],
)
def test_pickles_with_effects_are_refused_before_anything_runs(
    what: Any, tmp_path: Path, imported: Importing
) -> None:
    mark = tmp_path / "mark"
    arguments = tuple(a.format(mark=mark) if isinstance(a, str) else a for a in what[1])
    path = browsergym(tmp_path)
    evil = pickle.dumps({"obs": {}, "action": Evil(what[0], arguments)})
    (path / "step_1.pkl.gz").write_bytes(gzip.compress(evil))
    with pytest.raises(UnsafeSource, match=r"step_1\.pkl\.gz \(step 1\) is a pickle that names "):
        imported("browsergym", path)
    assert not mark.exists()


def test_a_bomb_of_zeros_is_refused(tmp_path: Path, imported: Importing) -> None:
    path = browsergym(tmp_path)
    (path / "step_1.pkl.gz").write_bytes(gzip.compress(b"\0" * 3_000_000))
    with pytest.raises(SourceLimitExceeded, match="unpacked"):
        imported("browsergym", path, limits=SourceLimits(member=1_000_000))


def test_a_pickle_may_not_claim_memory() -> None:
    with pytest.raises(Undecodable, match="a memo of 4294967295 places"):
        read_pickle(b"\x80\x02Nr\xff\xff\xff\xff.")


@given(st.binary(max_size=200))
def test_any_bytes_are_refused_or_plain(data: bytes) -> None:
    try:
        read_pickle(data)
    except (Forbidden, Undecodable) as error:
        assert str(error)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(), lambda part: st.lists(part) | st.dictionaries(st.text(), part) | st.tuples(part)), st.integers(3, 5))  # fmt: skip
def test_plain_data_is_read_as_it_is(value: Any, protocol: int) -> None:
    assert read_pickle(pickle.dumps(value, protocol)) == value


def test_one_number_of_an_array_is_read_without_numpy() -> None:
    # The pickle of numpy.float64(0.5), protocol 2.
    data = (
        b"\x80\x02cnumpy.core.multiarray\nscalar\ncnumpy\ndtype\nX\x02\x00\x00\x00f8K\x00K\x01\x87R"
        b"(K\x03X\x01\x00\x00\x00<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
        b"C\x08\x00\x00\x00\x00\x00\x00\xe0?\x86R."
    )
    assert read_pickle(data) == 0.5


def test_kinds_of_actions_of_browser_use(tmp_path: Path, imported: Importing) -> None:
    actions = [
        {"scroll": {"down": False, "num_pages": 1}}, {"send_keys": {"keys": "Enter"}}, {"go_back": {}},
        {"wait": {"seconds": 2}}, {"extract": {"query": "x"}}, {"search": {"query": "tea"}}, {"click_element": 5},
        {"input_text": {"index": 1}}, {},
    ]  # fmt: skip
    item = {"state": {"url": "http://x.test/"}, "model_output": {"action": actions}, "result": [{}] * 9}
    run = imported("browser-use", write(tmp_path, "h.json", {"history": [item]})).trajectory
    assert [tag_of(step.action) for step in run.steps] == [
        "scroll", "press", "go_back", "wait", "tool_call", "goto", "click", "input_text", "none",
    ]  # fmt: skip
    assert not any(isinstance(step.action, Answer | Fill) for step in run.steps)


def test_a_time_of_atif_that_is_none_is_kept(tmp_path: Path) -> None:
    steps = [{**MESSAGE, "step_id": 1, "timestamp": "after lunch"}, {**MESSAGE, "step_id": 2, "message": 4}]
    done = import_run("atif", atif(tmp_path / "in", steps=steps), tmp_path / "run.zst")
    assert sum("timestamp that is no time" in line for line in done.warnings) == 1
    with open_bundle(tmp_path / "run.zst") as bundle:
        assert "after lunch" in b"".join(bundle.lines).decode()
        assert bundle.trajectory.channel("actions") == "recorded" and bundle.trajectory.answer == "4"


def test_actions_of_newer_releases_of_browser_use(tmp_path: Path, imported: Importing) -> None:
    actions = [
        {"input": {"index": 0, "text": "x", "clear": False}}, {"input": {"index": "7", "text": "y", "clear": True}},
        {"click": {"index": None, "coordinate_x": 3, "coordinate_y": 4}}, {"evaluate": {"code": "1"}},
        {"done": {"success": True, "data": {"price": 5}, "files_to_display": []}},
    ]  # fmt: skip
    item = {"state": {"url": "http://x.test/"}, "model_output": {"action": actions}, "result": [{}] * 5}
    run = imported("browser-use", write(tmp_path, "h.json", {"history": [item]})).trajectory
    assert [step.action for step in run.steps] == [
        Type(element=Element(ref="0"), value="x"), Fill(element=Element(ref="7"), value="y"), MouseClick(point=(3, 4)),
        Unknown(name="evaluate", raw='{"code":"1"}'), Answer(text='{"price":5}'),
    ]  # fmt: skip


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_cut_pickle_costs_its_step_alone(number: int, share: float, tmp_path: Path) -> None:
    path = browsergym(tmp_path / "in")
    file = path / f"step_{number}.pkl.gz"
    whole = file.read_bytes()
    file.write_bytes(whole[: int(len(whole) * share)])
    done = import_run("browsergym", path, tmp_path / "run.zst")
    assert len([line for line in done.warnings if "cannot be read" in line]) == 1
    assert len([line for line in done.warnings if not line.startswith("left out")]) == 1
    with open_bundle(tmp_path / "run.zst") as bundle:
        run = bundle.trajectory
        assert [step.turn for step in run.steps] == [at for at in (0, 1) if at != number]
        assert run.channel("actions") == "partial" and run.answer is None
        # The error of an action stands on the next page, so it is known only where that page exists.
        errors = [step.error.message for step in run.steps if step.error]
        assert errors == (["gone"] if number == 2 else [])


def test_an_experiment_of_which_no_pickle_can_be_read_is_refused(tmp_path: Path, imported: Importing) -> None:
    path = browsergym(tmp_path / "in")
    for file in path.glob("*.pkl.gz"):
        file.write_bytes(file.read_bytes()[:20])
    with pytest.raises(MalformedSource, match=r"step_0\.pkl\.gz is no gzip file"):
        imported("browsergym", path)


@pytest.mark.parametrize("file", ["agent/trajectory.json", "result.json", "verifier/reward.json"])
def test_a_broken_file_of_a_trial_costs_that_file_alone(file: str, tmp_path: Path) -> None:
    trial = harbor(tmp_path / "in")
    (trial / file).write_text('{"schema_version": "ATIF-')
    done = import_run("harbor", trial, tmp_path / "run.zst")
    assert len([line for line in done.warnings if "unreadable" in line]) == 1
    with open_bundle(tmp_path / "run.zst") as bundle:
        run = bundle.trajectory
        assert run.answer == "Bought." and bool(run.steps) is ("trajectory" not in file)
        rewards = [one.value for one in run.of_type(Imported)]
        assert rewards == ([0.5] if "reward" in file else [{"reward": 1.0}])
        absent = run.channel("actions") == "absent"
        assert absent is ("trajectory" in file)
