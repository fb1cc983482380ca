"""`replaykit judge` and `pack`: what they say, what they write, how they exit."""

from __future__ import annotations

import importlib.util
import json
import re
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from replaykit.bundle.reader import open_bundle
from replaykit.grading.engine import grade_many
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.grader import grade
from replaykit.grading.judges.clients.client import ClientAnswer
from replaykit.grading.judges.tape.tape import read_tape
from replaykit.grading.model_request import ModelReply
from replaykit.testing import trajectory
from tests.commands import run_here as run
from tests.grading.judges.messages_server import Server, error, message, says

needs_sdk = pytest.mark.skipif(
    importlib.util.find_spec("anthropic") is None, reason="the extra `judge` (anthropic) is not installed"
)


def write(path: Path, answer: str = "It is 42.") -> Path:
    built = trajectory({"id": path.stem, "intent": "Find the order.", "judge": "webvoyager"})
    built.goto("http://shop.test/", "<p>Order 42</p>").screenshot().click("#a").screenshot(colour=(0, 9, 0))
    return built.answer(answer).write(path)


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return write(tmp_path / "run.zst")


@pytest.fixture(autouse=True)
def no_credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("API_KEY", "AUTH_TOKEN", "BASE_URL", "PROFILE", "CONFIG_DIR"):
        monkeypatch.delenv(f"ANTHROPIC_{name}", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


@needs_sdk
def test_rubrics_are_asked_for_once_and_written_for_review(bundle: Path, tmp_path: Path, capfd: Any) -> None:
    row = {"id": "c1", "statement": "The page shows the order.", "asked": "the order", "proof": ["page"]}
    phantom = {**row, "id": "c2", "asked": "the colour"}
    text = json.dumps({"criteria": [row, phantom], "validity": "valid"})
    again = write(tmp_path / "again.zst")
    suite = tmp_path / "suite.json"
    suite.write_text(
        json.dumps({"schema": "replaykit.suite/1", "tasks": [{"id": "run", "intent": "Find the order."}]})
    )
    folder = tmp_path / "rubrics"
    with Server(says(200, message(text)), says(200, message(text))) as server:
        how = ("-o", folder, "--judge-base-url", server.url)
        code, said, notes = run(capfd, "judge", "rubric", suite, bundle, again, *how)
        assert (code, len(server.seen)) == (0, 2), notes
        assert run(capfd, "judge", "rubric", bundle, *how)[0] == 0
        assert len(server.seen) == 2
    assert said.splitlines() == ["run.yaml  2 criteria  valid", "again.yaml  2 criteria  valid"]
    assert "run.yaml: 1 criteria ask for what the intent does not state: weight 0" in notes
    assert sorted(path.name for path in folder.iterdir()) == ["again.yaml", "run.yaml"]
    code, said, _ = run(capfd, "judge", "plan", bundle, "--judge", "rubric", "--rubrics", folder, "--json")
    assert [one["blocked"] for one in json.loads(said)] == ["verdict", "story"]
    code, _, notes = run(capfd, "judge", "plan", bundle, "--judge", "rubric", "--rubrics", tmp_path / "none")
    assert (code, "no such folder" in notes) == (3, True)
    code, _, notes = run(capfd, "judge", "rubric", bundle, *how, "--judge", "claims")
    assert (code, "expected settings of protocol rubric" in notes) == (2, True)


def test_a_plan_counts_what_is_missing(bundle: Path, capfd: Any) -> None:
    code, said, _ = run(capfd, "judge", "plan", bundle, "--json")
    assert code == 0
    (row,) = json.loads(said)
    assert (row["judge"], row["missing"], row["at_most"], row["images"]) == ("webvoyager", 1, 1, 2)
    assert row["tokens"] > 100
    code, said, _ = run(capfd, "judge", "plan", bundle, "--judge", "webjudge")
    assert "missing: at most 5 calls; re-grading 1000 times from the tape: 0 calls" in said
    assert "recorded: 0 replies" in said
    code, said, _ = run(capfd, "judge", "plan", bundle, "--prices", "3/15")
    assert re.search(r"^1 missing request costs about 0\.\d{4} for what is read$", said, re.MULTILINE)
    code, said, _ = run(capfd, "judge", "plan", bundle, "--judge", "webjudge", "--prices", "3/15")
    assert "for what is read; up to 3 more calls, which need earlier replies, are not part of it" in said


@needs_sdk
def test_run_asks_and_records_and_then_needs_no_model(bundle: Path, capfd: Any) -> None:
    with Server(says(200, message())) as server:
        code, said, _ = run(capfd, "judge", "run", bundle, "--judge-base-url", server.url)
        assert (code, said.split()[1:]) == (0, ["webvoyager", "SUCCESS", "verdict"])
        assert len(server.seen) == 1
        assert run(capfd, "judge", "run", bundle, "--judge-base-url", server.url)[0] == 0
        assert len(server.seen) == 1
        assert run(capfd, "judge", "run", bundle, "--refresh", "--judge-base-url", server.url)[0] == 0
        assert len(server.seen) == 2
    verdict = grade_many([bundle]).verdicts[0]
    assert (verdict.judgements[0].outcome, verdict.judgements[0].origins) == ("SUCCESS", {"live": 1})
    code, said, _ = run(capfd, "judge", "plan", bundle, "--prices", "3/15")
    assert "recorded: 1 reply, 120 tokens read, 7 written" in said
    assert "recorded replies cost 0.0005; asking 1000 times: 0.47" in said


@needs_sdk
def test_grade_can_ask_too(bundle: Path, capfd: Any) -> None:
    with Server(says(200, message("NOT SUCCESS"))) as server:
        code, said, _ = run(
            capfd,
            "grade",
            bundle,
            "--judge-mode",
            "new",
            "--judge-base-url",
            server.url,
            "--fail-on",
            "judge",
        )
    assert code == 1
    assert "FAILURE judge webvoyager" in said
    assert run(capfd, "grade", bundle, "--fail-on", "judge")[0] == 1


@needs_sdk
def test_failures_are_reported_and_fail_with_3(bundle: Path, capfd: Any) -> None:
    with Server(says(401, error("authentication_error", "who are you"))) as server:
        code, said, notes = run(capfd, "judge", "run", bundle, "--judge-base-url", server.url)
    assert code == 3
    assert "ERROR  auth" in said
    assert "1 x auth: AuthenticationError: who are you" in notes


def test_without_a_key_nothing_is_sent(bundle: Path, capfd: Any) -> None:
    code, _, notes = run(capfd, "judge", "run", bundle)
    assert code == 3
    assert "missing_key" in notes or "missing_sdk" in notes
    assert not bundle.with_name("run.replies.jsonl").exists()


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, str]], list[list[str]]]:
    """Answer batches with a text by stage; return the list to which the stages of each batch are added."""

    def answered_with(texts: dict[str, str]) -> list[list[str]]:
        handed_in: list[list[str]] = []

        class Batches:
            def __init__(self, **options: Any) -> None:
                pass

            def close(self) -> None:
                pass

            def ask_many(self, sent: Any) -> list[ClientAnswer]:
                stages = [one.request.stage for one in sent]
                handed_in.append(stages)
                made = {"stop_reason": "end_turn", "model": "m", "origin": "synthetic"}
                return [ClientAnswer(reply=ModelReply(text=texts[stage], **made)) for stage in stages]

        monkeypatch.setattr("replaykit.grading.judges.clients.transports.Transports", Batches)
        return handed_in

    return answered_with


def test_batches_advance_stage_by_stage(bundle: Path, capfd: Any, batches: Any) -> None:
    handed_in = batches({"key_points": "1. order", "score": "Score: 5", "verdict": "Status: success"})
    built = trajectory({"id": "t", "intent": "Find it."}).goto("http://h.test/", "<p>x").screenshot()
    built.answer("x").write(bundle.with_name("other.zst"))
    code, said, _ = run(
        capfd, "judge", "run", bundle.with_name("other.zst"), "--judge", "webjudge", "--batch"
    )
    assert code == 0, said
    assert handed_in == [["key_points"], ["score"], ["verdict"]]


def test_batches_and_refresh_exclude_each_other(bundle: Path, capfd: Any) -> None:
    code, _, notes = run(capfd, "judge", "run", bundle, "--batch", "--refresh")
    assert code == 2
    assert "it does not go with --refresh" in notes


def test_prompt_writes_one_exact_request(bundle: Path, capfd: Any) -> None:
    code, said, _ = run(capfd, "judge", "prompt", bundle)
    request = json.loads(said)
    assert code == 0
    assert (request["model"], request["provider"]) == ("claude-sonnet-5-5", "anthropic")
    kinds = [block["type"] for block in request["messages"][0]["content"]]
    assert kinds == ["text", "blob", "blob", "text"]
    code, _, notes = run(capfd, "judge", "prompt", bundle, "--number", "7")
    assert (code, "from 0: 1 request known" in notes) == (2, True)


@pytest.mark.parametrize("command", ["plan", "run", "prompt"])
def test_no_judge_matches_nothing(tmp_path: Path, capfd: Any, command: str) -> None:
    (tmp_path / "empty").mkdir()
    path = trajectory().goto("http://h.test/", "<p>").answer("x").write(tmp_path / "bare.zst")
    for source, why in ((path, "no judge is named"), (tmp_path / "empty", "no bundle (*.zst)")):
        code, said, notes = run(capfd, "judge", command, source)
        assert (code, said) == (4, "")
        assert why in notes


def test_prices_and_judges_that_mean_nothing(bundle: Path, capfd: Any) -> None:
    for said in ("3", "a/b", "-1/2", "1/0/2"):
        code, _, notes = run(capfd, "judge", "plan", bundle, f"--prices={said}")
        assert (code, "--prices: expected IN/OUT" in notes) == (2, True)
    code, _, notes = run(capfd, "judge", "plan", bundle, "--judge", "nobody")
    assert (code, "no judge 'nobody'" in notes) == (3, True)


@pytest.fixture
def taped(bundle: Path) -> Path:
    from replaykit.grading.judges.clients.client import CallableClient

    client = CallableClient(lambda request, images: "Fine.\nSUCCESS")
    with open_bundle(bundle) as opened:
        grade(opened, client=client, judge_mode="new")
    return bundle


def test_a_packed_bundle_carries_its_tape(taped: Path, tmp_path: Path, capfd: Any) -> None:
    out = tmp_path / "elsewhere" / "packed.zst"
    out.parent.mkdir()
    code, said, notes = run(capfd, "pack", taped, "-o", out)
    assert code == 0, notes
    with open_bundle(taped) as source, open_bundle(out) as packed:
        assert said == f"sha256:{packed.digest}\n"
        assert packed.header.derived_from[-1].by == "pack"
        assert packed.header.derived_from[-1].digest == source.digest
        assert packed.trajectory.events == source.trajectory.events
        before, after = grade(source), grade(packed)
    assert after.judgements == before.judgements
    assert after.success == "PASS"
    assert after.tape == before.tape
    verdict = run(capfd, "verify", out)
    assert verdict[0] == 0, verdict


def test_a_tape_beside_wins_over_the_packed_one(taped: Path, tmp_path: Path, capfd: Any) -> None:
    out = tmp_path / "packed.zst"
    assert run(capfd, "pack", taped, "-o", out)[0] == 0
    tape = taped.with_name("run.replies.jsonl").read_bytes()
    out.with_name("packed.replies.jsonl").write_bytes(tape[: tape.index(b"\n") + 1])
    with open_bundle(out) as packed:
        assert grade(packed).judgements[0].reason == "tape_miss"


def test_asking_on_begins_with_the_packed_tape(taped: Path, tmp_path: Path, capfd: Any) -> None:
    from replaykit.grading.judges.clients.client import CallableClient

    out = tmp_path / "packed.zst"
    assert run(capfd, "pack", taped, "-o", out)[0] == 0
    asked = []
    client = CallableClient(lambda request, images: asked.append(1) or "SUCCESS")
    with open_bundle(out) as packed:
        assert grade(packed, client=client, options=GradeOptions(judge_mode="new")).success == "PASS"
    assert asked == []
    assert len(read_tape(out.with_name("packed.replies.jsonl")).entries) == 1


def test_what_cannot_be_packed(bundle: Path, taped: Path, tmp_path: Path, capfd: Any) -> None:
    out = tmp_path / "out.zst"
    code, _, notes = run(capfd, "pack", bundle, "-o", out, "--replies", tmp_path / "none.jsonl")
    assert (code, "cannot read the tape" in notes) == (3, True)
    (tmp_path / "bad.jsonl").write_bytes(b"{}\n")
    code, _, notes = run(capfd, "pack", bundle, "-o", out, "--replies", tmp_path / "bad.jsonl")
    assert (code, "line 1" in notes) == (3, True)
    code, _, notes = run(capfd, "pack", taped, "-o", taped)
    assert (code, "which pack reads: name another file" in notes) == (2, True)
    assert run(capfd, "pack", taped, "-o", out)[0] == 0
    code, _, notes = run(capfd, "pack", taped, "-o", out)
    assert (code, "it exists" in notes) == (3, True)
    assert run(capfd, "pack", taped, "-o", out, "--force")[0] == 0


def test_the_digest_of_a_bundle_is_the_same_in_every_mode(bundle: Path) -> None:
    from replaykit.grading.judges.clients.client import CallableClient

    data = bundle.read_bytes()
    client = CallableClient(lambda request, images: "SUCCESS")
    for mode in ("none", "new", "refresh", "off"):
        with open_bundle(bundle) as opened:
            grade(opened, client=client, judge_mode=mode)
    assert bundle.read_bytes() == data


def test_verdicts_by_the_number_of_screenshots(taped: Path, capfd: Any) -> None:
    code, said, hint = run(capfd, "judge", "sensitivity", taped, "--k", "all,1,2,15")
    assert code == 0
    assert "`images: last:K`" in hint
    assert run(capfd, "judge", "sensitivity", taped, "--k", "all,2")[2] == ""
    rows = [line.split() for line in said.splitlines()[1:]]
    assert [row[1:] for row in rows] == [
        ["1", "1", "0", "0", "0", "1", "0"],
        ["2", "1", "1", "0", "0", "0", "0"],
        ["15", "1", "1", "0", "0", "0", "0"],
        ["all", "1", "1", "0", "0", "0", "0"],
    ]
    for said in ("0,x", "", "101", "9" * 5000, "last"):
        assert run(capfd, "judge", "sensitivity", taped, "--k", said)[0] == 2


def test_a_judge_never_compared_with_people_is_not_let_through(taped: Path, capfd: Any) -> None:
    calibration = taped.with_name("calibration.json")
    calibration.write_text('{"schema": "replaykit.calibration/2", "judges": {}}')
    code, said, _ = run(capfd, "grade", taped, "--fail-on", "judge", "--require-calibration", calibration)
    assert (code, "was never compared with people" in said) == (3, True)
    with open_bundle(taped) as bundle:
        mark = grade(bundle).judgements[0].fingerprint
    measured = {
        "name": "webvoyager", "n": 60, "n_pos": 30, "n_neg": 30, "kappa_low": 0.5, "fpr_high": 0.1,
        "rubrics": {},
    }  # fmt: skip
    options = ("grade", taped, "--fail-on", "judge", "--require-calibration", calibration)
    write_calibration(calibration, mark, measured)
    assert run(capfd, *options)[0] == 0
    for name, value, words in LACKS:
        write_calibration(calibration, mark, {**measured, name: value})
        code, said, _ = run(capfd, *options)
        assert code == 3
        assert f"judge webvoyager is not calibrated: {words}" in said
    without = {name: value for name, value in measured.items() if name != "rubrics"}
    write_calibration(calibration, mark, without)
    code, _, notes = run(capfd, *options)
    assert (code, "missing required field `rubrics`" in notes) == (3, True)
    write_calibration(calibration, mark, {**measured, "n": 40})
    assert run(capfd, *options, "--calibration-min", "n=40")[0] == 0
    assert run(capfd, *options, "--calibration-min", "n=many")[0] == 2
    assert run(capfd, "grade", taped, "--calibration-min", "n=2")[0] == 2
    calibration.write_text(json.dumps({"schema": "replaykit.calibration/1", "judges": {mark: {}}}))
    code, _, notes = run(capfd, *options)
    assert (code, "version 1, which has no bounds" in notes) == (3, True)


LACKS: list[tuple[str, Any, str]] = [
    ("n", 49, "n is 49, below 50"),
    ("n_pos", 19, "n_pos is 19, below 20"),
    ("n_neg", 0, "n_neg is 0, below 20"),
    ("kappa_low", 0.39, "kappa_low is 0.39, below 0.4"),
    ("kappa_low", None, "kappa_low is unknown: too few labelled runs or tasks"),
    ("fpr_high", 0.151, "fpr_high is 0.151, above 0.15"),
    ("origins", {"live": 3, "synthetic": 1}, "1 of the replies it was measured on are synthetic"),
]
"""Field, value, and what the gate says of it."""


def write_calibration(path: Path, mark: str, measured: dict[str, Any]) -> None:
    path.write_text(json.dumps({"schema": "replaykit.calibration/2", "judges": {mark: measured}}))


def test_grading_in_a_loop(bundle: Path) -> None:
    import asyncio

    from replaykit.grading.grader import grade_async
    from replaykit.grading.judges.clients.client import CallableClient

    async def graded() -> Any:
        client = CallableClient(lambda request, images: "SUCCESS")
        with open_bundle(bundle) as opened:
            return await grade_async(opened, client=client, judge_mode="new")

    assert asyncio.run(graded()).success == "PASS"


@needs_sdk
def test_one_bad_bundle_does_not_stop_the_others(bundle: Path, capfd: Any) -> None:
    bundle.with_name("bad.zst").write_bytes(b"no bundle")
    with Server(says(200, message())) as server:
        code, said, notes = run(capfd, "judge", "run", bundle.parent, "--judge-base-url", server.url)
    assert code == 3
    assert [line.split()[1:] for line in said.splitlines()] == [
        ["-", "ERROR", "evidence_unreadable"],
        ["webvoyager", "SUCCESS", "verdict"],
    ]
    assert "not a replaykit bundle" in notes


def test_a_tape_of_another_bundle_is_reported(taped: Path, tmp_path: Path, capfd: Any) -> None:
    other = write(tmp_path / "other.zst", answer="It is 43.")
    other.with_name("other.replies.jsonl").write_bytes(taped.with_name("run.replies.jsonl").read_bytes())
    assert "other.replies.jsonl was recorded for another bundle" in run(capfd, "judge", "plan", other)[2]
    assert run(capfd, "judge", "plan", taped)[2] == ""


HEAD = '{"tape":"replaykit.replies","version":1,"trajectory":""}\n'


def write_fuzzy(path: Path, **task: Any) -> Path:
    """Write a run whose answer only a model can compare: by meaning, or by the reason that it gives."""
    fuzzy = {"type": "string_match", "fuzzy": ["tea", "cup"]}
    built = trajectory({"id": path.stem, "intent": "What is it?", "checks": [fuzzy], **task})
    return built.goto("http://shop.test/", "<p>x").screenshot().answer("a hot drink").write(path)


@needs_sdk
def test_replies_for_checks_are_planned_asked_and_recorded(tmp_path: Path, capfd: Any) -> None:
    bundle = write_fuzzy(tmp_path / "run.zst")
    (row,) = json.loads(run(capfd, "judge", "plan", bundle, "--json")[1])
    assert (row["judge"], row["model"], row["missing"]) == ("checks", "claude-sonnet-5-5", 3)
    asked = json.loads(run(capfd, "judge", "prompt", bundle, "--number", "2")[1])
    assert "<<reference " in asked["messages"][0]["content"][0]["text"]
    with Server(says(200, message("The same.\ncorrect"))) as server:
        code, said, _ = run(capfd, "judge", "run", bundle, "--judge-base-url", server.url)
        assert (code, said.split()[1:]) == (0, ["checks", "NOT_EVALUATED", "recorded"])
        assert len(server.seen) == 3  # strict asks for both references together, compat for each
        assert run(capfd, "judge", "run", bundle, "--judge-base-url", server.url)[0] == 0
        assert len(server.seen) == 3
        assert run(capfd, "judge", "run", bundle, "--refresh", "--judge-base-url", server.url)[0] == 0
        assert len(server.seen) == 6
    (row,) = json.loads(run(capfd, "judge", "plan", bundle, "--json")[1])
    assert row["missing"] == 0
    assert run(capfd, "grade", bundle)[0] == 0


@needs_sdk
def test_judges_and_checks_of_a_run_are_asked_together(tmp_path: Path, capfd: Any) -> None:
    fuzzy = {"type": "string_match", "must_include": ["drink"], "fuzzy": "N/A", "note": "closed"}
    bundle = write_fuzzy(tmp_path / "run.zst", checks=[fuzzy], judge="webvoyager")
    with Server(says(200, message("same\nSUCCESS\nsame"))) as server:
        code, said, _ = run(capfd, "judge", "run", bundle, "--judge-base-url", server.url)
    assert code == 0
    assert [line.split()[1:] for line in said.splitlines()] == [
        ["webvoyager", "ABSTAIN", "not_final"], ["checks", "NOT_EVALUATED", "recorded"],
    ]  # fmt: skip
    assert "needs_model" not in run(capfd, "grade", bundle)[1]


@needs_sdk
def test_checks_that_get_no_reply_are_reported(tmp_path: Path, capfd: Any) -> None:
    bundle = write_fuzzy(tmp_path / "run.zst")
    with Server(says(401, error("authentication_error", "who are you"))) as server:
        code, said, notes = run(capfd, "judge", "run", bundle, "--judge-base-url", server.url)
    assert (code, said.split()[1:]) == (3, ["checks", "ERROR", "auth"])
    assert "who are you" in notes
    code, said, notes = run(capfd, "grade", bundle)
    assert code == 3
    assert "(needs_model) - missing reply:webarena.fuzzy" in said
    assert "none was asked: --judge-mode new asks it" in said
    code, said, _ = run(capfd, "grade", bundle, "--judge-mode", "new")
    assert code == 3
    assert (
        "ERROR check string_match[0]: missing_key - missing reply:webarena.fuzzy\n    webarena.fuzzy: no cred"
        in said
    )
    bundle.with_name("run.replies.jsonl").write_text(HEAD)
    said = run(capfd, "grade", bundle)[1]
    assert "tape_miss" in said
    assert "    to record it: replaykit grade BUNDLE --judge-mode new" in said


def test_replies_for_checks_come_in_batches(tmp_path: Path, capfd: Any, batches: Any) -> None:
    handed_in = batches(defaultdict(lambda: "correct"))
    bundle = write_fuzzy(tmp_path / "run.zst")
    code, said, _ = run(capfd, "judge", "run", bundle, "--batch")
    assert (code, said.split()[1:], [len(batch) for batch in handed_in]) == (
        0,
        ["checks", "NOT_EVALUATED", "recorded"],
        [3],
    )


@needs_sdk
def test_a_credential_that_the_server_repeats_stands_in_no_byte_of_any_output(
    bundle: Path, tmp_path: Path, capfd: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the terminal, on the tape, and in every format of the report."""
    canary = "sk-canary-0123456789abcdef"
    monkeypatch.setenv("ANTHROPIC_API_KEY", canary)
    outputs = [
        f"--output={tmp_path / f'report.{kind}'}" for kind in ("json", "jsonl", "xml", "html", "md", "csv")
    ]
    refused = says(401, error("authentication_error", f"no account has the key {canary}"))
    answered = says(200, message(f"You sent {canary}.\nSUCCESS"))
    with Server(*[refused] * 2, answered) as server:
        how = ("--judge-base-url", server.url)
        said = [run(capfd, "judge", "run", bundle, *how)]
        said.append(run(capfd, "grade", bundle, "--judge-mode", "new", *how, *outputs))
        assert canary not in "".join(map(str, said)) + "".join(_texts(tmp_path))
        assert run(capfd, "judge", "run", bundle, *how)[0] == 0
    said.append(run(capfd, "grade", bundle, *outputs))
    assert "[credential]" in "".join(_texts(tmp_path))
    assert canary not in "".join(map(str, said)) + "".join(_texts(tmp_path))
    assert any(canary in str(one) for one in server.seen)  # it was sent, to the server alone


def _texts(folder: Path) -> list[str]:
    return [path.read_bytes().decode("latin-1") for path in folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    "command", [("plan",), ("prompt",), ("sensitivity",), ("sensitivity", "--attacks", "again")]
)
def test_bundles_that_cannot_be_judged_are_left_out(
    command: tuple[str, ...], bundle: Path, capfd: Any
) -> None:
    bundle.with_name("bad.zst").write_bytes(b"no bundle")
    code, said, notes = run(capfd, "judge", *command, bundle.parent)
    assert code == 3
    assert "webvoyager" in said or "Find the order" in said
    assert "not judged" in notes and "bad.zst: not a replaykit bundle" in notes


def test_runs_without_the_task_of_a_file_are_left_out(bundle: Path, tmp_path: Path, capfd: Any) -> None:
    write(bundle.parent / "other.zst")
    suite = tmp_path / "suite.yaml"
    suite.write_text(
        "schema: replaykit.suite/1\ntasks: [{id: run, intent: Find the order., judge: webvoyager}]\n"
    )
    code, said, notes = run(capfd, "judge", "plan", bundle.parent, "--task", suite, "--json")
    assert code == 3
    assert [Path(row["source"]).name for row in json.loads(said)] == ["run.zst"]
    assert "no task 'other'" in notes


def test_copies_of_a_run_are_planned_once(bundle: Path, capfd: Any) -> None:
    bundle.with_name("copy.zst").write_bytes(bundle.read_bytes())
    code, said, notes = run(capfd, "judge", "plan", bundle.parent, "--json")
    assert (code, len(json.loads(said))) == (0, 1)
    assert "one run, judged once: " in notes and "copy.zst" in notes and "run.zst" in notes


@needs_sdk
def test_a_model_is_asked_once_about_copies_of_a_run(bundle: Path, capfd: Any) -> None:
    bundle.with_name("copy.zst").write_bytes(bundle.read_bytes())
    with Server(says(200, message())) as server:
        assert run(capfd, "judge", "run", bundle.parent, "--judge-base-url", server.url)[0] == 0
        assert len(server.seen) == 1
    assert "PASS" in run(capfd, "grade", bundle.parent, "--judge", "webvoyager")[1]


@pytest.mark.parametrize("command", [("judge", "plan"), ("judge", "run"), ("grade",)])
def test_a_model_without_its_provider_is_refused(command: tuple[str, ...], bundle: Path, capfd: Any) -> None:
    code, said, notes = run(capfd, *command, bundle, "--judge", "webvoyager", "--judge-model", "gpt-4o")
    assert (code, said) == (2, "")
    assert "'gpt-4o' names no provider; write openai:gpt-4o" in notes
    assert run(capfd, "judge", "plan", bundle, "--judge-model", "claude-opus-4-1")[0] == 0


def test_what_a_killed_pack_left_is_removed_by_the_next_one(taped: Path, tmp_path: Path, capfd: Any) -> None:
    left = tmp_path / ".packing-old"
    left.mkdir()
    (left / "run.zst").write_bytes(taped.read_bytes())
    assert run(capfd, "pack", taped, "-o", tmp_path / "packed.zst")[0] == 0
    assert not left.exists()
