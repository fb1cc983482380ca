"""The command line as a user meets it: a real process, its output, its exit code, its errors."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from replaykit.testing import Builder, trajectory
from replaykit.trajectory.action import Click, Element, Goto
from replaykit.trajectory.observation import Read
from replaykit.trajectory.scalars import Threw
from tests.commands import Commands, Done, commands

TASK: dict[str, Any] = {
    "id": "t1",
    "intent": "Which mug?",
    "checks": [{"type": "string_match", "exact": "the tin mug"}],
    "policies": [
        {
            "id": "stay",
            "dimension": "boundary_and_scope_limitation",
            "rule": {"type": "url_boundary", "deny": ["/admin"]},
        }
    ],
}


class Forking:
    """Where the commands here come from."""

    commands: Commands


@pytest.fixture(scope="module", autouse=True)
def _forking() -> Iterator[None]:
    with commands() as Forking.commands:
        yield


def run(*arguments: str | Path, cwd: Path | None = None, **environ: str) -> Done:
    return Forking.commands.run(*arguments, cwd=cwd, **environ)


def shop(answer: str | None = "the tin mug", task: dict[str, Any] | None = None) -> Builder:
    return (
        trajectory(task=TASK if task is None else task)
        .goto("http://shop.test/", "<h1>Mugs</h1>")
        .answer(answer)
    )


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return shop().write(tmp_path / "good.zst")


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    return (
        trajectory(task=TASK)
        .goto("http://shop.test/admin", "<h1>Payroll</h1>")
        .answer("another mug")
        .write(tmp_path / "broken.zst")
    )


def test_a_run_that_does_well_passes(bundle: Path) -> None:
    done = run("grade", bundle)
    assert done.returncode == 0, done.stderr
    assert "PASS 1/1" in done.stdout
    assert "gate: passed" in done.stdout
    assert done.stderr == ""


def test_a_run_that_does_not_fails_and_says_why(broken: Path) -> None:
    done = run("grade", broken)
    assert done.returncode == 1
    assert "VIOLATED stay [boundary_and_scope_limitation, organization]" in done.stdout
    assert "http://shop.test/admin" in done.stdout
    assert "another mug" in done.stdout


def test_the_report_is_the_same_whatever_the_machine(bundle: Path, broken: Path) -> None:
    folder = bundle.parent
    seen = {
        run(
            "grade", folder, "--format", "json", "--jobs", jobs, PYTHONHASHSEED=seed, TZ=zone, LC_ALL=locale
        ).stdout
        for jobs, seed, zone, locale in [
            ("1", "0", "UTC", "C"),
            ("2", "1", "Asia/Kolkata", "C.UTF-8"),
            ("1", "42", "America/New_York", "POSIX"),
        ]
    }
    assert len(seen) == 1
    report = json.loads(seen.pop())
    assert report["schema"] == "replaykit.report/1"
    assert [v["task_id"] for v in report["verdicts"]] == ["t1", "t1"]
    assert str(folder) not in json.dumps(report)


def test_reports_are_written_by_their_extension(bundle: Path, tmp_path: Path) -> None:
    out = [tmp_path / name for name in ("r.json", "r.jsonl", "r.txt")]
    assert run("grade", bundle, *(part for path in out for part in ("-o", path))).returncode == 0
    assert json.loads(out[0].read_text())["gate"]["status"] == "passed"
    assert json.loads(out[1].read_text())["task_id"] == "t1"
    assert "gate: passed" in out[2].read_text()


def test_grading_changes_nothing(bundle: Path) -> None:
    before = (bundle.read_bytes(), bundle.stat().st_mtime_ns, sorted(bundle.parent.iterdir()))
    run("grade", bundle)
    assert (bundle.read_bytes(), bundle.stat().st_mtime_ns, sorted(bundle.parent.iterdir())) == before


@pytest.mark.parametrize(
    ("kinds", "code"), [("", 0), ("check", 1), ("policy", 1), ("judge", 3), ("undecided", 0), ("error", 0)]
)
def test_the_gate_fails_on_what_is_named(broken: Path, kinds: str, code: int) -> None:
    assert run("grade", broken, "--fail-on", kinds).returncode == code


def test_a_metric_may_be_asked_for(bundle: Path, broken: Path) -> None:
    done = run("grade", bundle.parent, "--fail-on", "", "--fail-under", "CuP=0.8")
    assert done.returncode == 1
    assert "CuP is 0.5, under 0.8" in done.stdout


def test_missing_evidence_is_undecided_and_exit_3(tmp_path: Path) -> None:
    page = {"type": "page", "url": "http://shop.test/cart", "selector": "#n", "expect": {"equals": "1"}}
    path = shop(task={"id": "t1", "intent": "x", "checks": [page]}).write(tmp_path / "a.zst")
    done = run("grade", path)
    assert done.returncode == 3
    assert "UNDECIDED" in done.stdout
    assert "missing page:http://shop.test/cart" in done.stdout


def test_an_interrupted_run_is_undecided_not_failed(tmp_path: Path) -> None:
    path = trajectory(task=TASK).goto("http://shop.test/", "<p>x</p>").write(tmp_path / "a.zst", sealed=False)
    assert run("grade", path).returncode == 3
    sealed = run("seal", path)
    assert sealed.returncode == 0
    assert "1 step, interrupted" in sealed.stderr
    done = run("grade", path)
    assert done.returncode == 3
    assert "missing trajectory.end" in done.stdout


def test_what_is_whole_of_a_damaged_journal_becomes_a_new_bundle(tmp_path: Path) -> None:
    run_of_two = (
        trajectory(task=TASK).goto("http://shop.test/", "<p>x</p>").goto("http://shop.test/2", "<p>y</p>")
    )
    path = run_of_two.answer("1").write(tmp_path / "a.zst", sealed=False)
    damaged = path.read_bytes()[:-9] + b"X" + path.read_bytes()[-8:]
    path.write_bytes(damaged)
    refused = run("seal", path)
    assert refused.returncode == 3
    assert "`replaykit seal --salvage` keeps what is whole" in refused.stderr
    done = run("seal", path, "--salvage", tmp_path / "whole.zst")
    assert done.returncode == 0, done.stderr
    assert "1 event lost" in done.stderr
    assert path.read_bytes() == damaged
    assert "missing trajectory.end" in run("grade", tmp_path / "whole.zst").stdout
    assert run("seal", path, "--salvage", tmp_path / "whole.zst").returncode == 3


def test_blobs_that_a_salvaged_bundle_lacks_are_counted(tmp_path: Path) -> None:
    path = trajectory(task=TASK).goto("http://shop.test/", "<p>x</p>").answer("1").write(tmp_path / "a.zst")
    damaged = bytearray(path.read_bytes())
    damaged[60] ^= 0xFF  # in the first frame of blobs
    path.write_bytes(damaged)
    done = run("seal", path, "--salvage", tmp_path / "whole.zst")
    assert (done.returncode, "1 blob missing" in done.stderr) == (0, True), done.stderr


def test_one_bad_bundle_does_not_stop_the_others(bundle: Path) -> None:
    (bundle.parent / "bad.zst").write_bytes(b"\x28\xb5\x2f\xfd not really")
    done = run("grade", bundle.parent, "--format", "json")
    assert done.returncode == 3
    verdicts = {v["task_id"]: v for v in json.loads(done.stdout)["verdicts"]}
    assert verdicts["t1"]["completion"]["outcome"] == "PASS"
    assert verdicts["bad.zst"]["error"]["class"] in ("NotABundle", "BundleDamaged")


@pytest.mark.parametrize("content", ["task", "nothing"])
def test_the_reward_is_there_on_every_path(bundle: Path, tmp_path: Path, content: str) -> None:
    source = bundle if content == "task" else tmp_path / "nope.zst"
    out = tmp_path / "reward"
    run("grade", source, "--reward-dir", out)
    reward = json.loads((out / "reward.json").read_text())
    assert float((out / "reward.txt").read_text()) == reward["reward"] == (1.0 if content == "task" else 0.0)
    assert all(isinstance(value, float) for value in reward.values())
    details = json.loads((out / "grading_details.json").read_text())
    assert (details["error"] is None) == (content == "task")


def test_show_prints_the_story(bundle: Path) -> None:
    done = run("show", bundle)
    assert done.returncode == 0, done.stderr
    assert "t1: Which mug?" in done.stdout
    assert "page -> GOTO: http://shop.test/" in done.stdout
    assert "ended: answered by agent, answer: 'the tin mug'" in done.stdout
    one = run("show", bundle, "--step", "0", "--json").stdout.splitlines()
    assert json.loads(one[0])["action"] == {"type": "goto", "url": "http://shop.test/"}
    assert run("show", bundle, "--step", "9").returncode == 2


def test_show_says_why_a_page_was_not_reached(tmp_path: Path) -> None:
    login = "<form><input type=password></form>"
    built = (
        trajectory().goto("http://shop.test/", "<p>").step(Goto(url="http://gone.test/"), error="net::ERR_X")
    )
    built.visit("http://gone.test/", committed=False, error="net::ERR_NAME_NOT_RESOLVED").answer("done")
    built.probe("http://shop.test/a", None, status=None, error="net::ERR_CONNECTION_REFUSED")
    built.probe("http://shop.test/b", None, status=503).probe("http://shop.test/c", None, error="timeout")
    built.probe("http://shop.test/login", login, requested="http://shop.test/d")
    built.probe(
        "http://shop.test/e", "", Read(locator="#x.y", kind="exception", threw=Threw(name="TypeError"))
    )
    lines = run("show", built.api("orders", "{}", url="/api").write(tmp_path / "run.zst")).stdout.splitlines()
    assert "page -> GOTO: http://gone.test/ | FAILED [Error: net::ERR_X]" in "\n".join(lines)
    assert lines[lines.index("page loads that failed") + 1] == (
        "  step 1 http://gone.test/: net::ERR_NAME_NOT_RESOLVED"
    )
    assert lines[lines.index("probes") + 1 :][:6] == [
        "  post p0 http://shop.test/a: not reached: the browser could not open it (net::ERR_CONNECTION_REFUSED)",
        "  post p1 http://shop.test/b: not reached: the server answered 503",
        "  post p2 http://shop.test/c: not reached: no answer within the time limit",
        "  post p3 http://shop.test/d: not reached: it led to a page that asks for a password: "
        "http://shop.test/login",
        "  post p4 http://shop.test/e: 200, 1 read, failed reads: #x.y: TypeError",
        "  post h5 orders GET /api: 200",
    ]


def test_verify_says_whether_it_can_be_graded(bundle: Path) -> None:
    good = run("verify", bundle)
    assert good.returncode == 0, good.stdout
    assert "ok: sealed, 1 step" in good.stdout
    damaged = bytearray(bundle.read_bytes())
    damaged[60] ^= 0xFF
    bundle.write_bytes(damaged)
    bad = run("verify", bundle, "--json")
    assert bad.returncode == 3
    assert json.loads(bad.stdout)["findings"] or not json.loads(bad.stdout)["gradable"]


def make(kind: str, tmp_path: Path, bundle: Path) -> list[str | Path]:
    suite = tmp_path / "suite.yaml"
    suite.write_text(
        "schema: replaykit.suite/1\ntasks: [{id: a, intent: b}, {id: c, intent: d, chekcs: []}]\n"
    )
    good = tmp_path / "two.yaml"
    good.write_text("schema: replaykit.suite/1\ntasks: [{id: a, intent: b}, {id: c, intent: d}]\n")
    png = tmp_path / "x.png"
    png.write_bytes(b"\x89PNG\r\n\x1a\n" + b"\0" * 64)
    empty = tmp_path / "empty.zst"
    empty.touch()
    cut = tmp_path / "cut.zst"
    cut.write_bytes(bundle.read_bytes()[:-40])
    return {
        "missing": ["grade", tmp_path / "nope.zst"],
        "empty": ["grade", empty],
        "png": ["grade", png],
        "truncated": ["grade", cut],
        "unknown task": ["grade", bundle, "--task", f"{good}#zzz"],
        "task of another id": ["grade", bundle, "--task", good],
        "unknown field": ["grade", bundle, "--task", suite],
        "task file missing": ["grade", bundle, "--task", tmp_path / "no.yaml"],
        "seal of a png": ["seal", png],
        "show of a folder": ["show", tmp_path],
        "verify missing": ["verify", tmp_path / "nope.zst"],
        "an empty word": ["grade", ""],
        "an empty word to pack": ["pack", "", "-o", tmp_path / "packed.zst"],
        "diff of a device": ["diff", "/dev/null", bundle],
    }[kind]


def test_grading_goes_on_where_it_was_interrupted(bundle: Path, broken: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    first = run("grade", bundle, "--resume", kept, "--format", "json")
    assert first.returncode == 0, first.stderr
    both = run("grade", bundle, broken, "--resume", kept, "--format", "json")
    assert both.stdout == run("grade", bundle, broken, "--format", "json").stdout
    lines = [path.read_text().splitlines() for path in sorted(kept.iterdir())]
    sources = [json.loads(line)["source"] for shard in lines for line in shard]
    assert sources == [str(bundle), str(broken)]


def test_timings_say_what_each_bundle_took(bundle: Path, tmp_path: Path) -> None:
    damaged, file = tmp_path / "damaged.zst", tmp_path / "seconds.jsonl"
    damaged.write_bytes(b"no bundle")
    done = run("grade", bundle, damaged, "--jobs", "2", "--timings", file, "--format", "json")
    assert done.stdout == run("grade", bundle, damaged, "--format", "json").stdout
    bad, good = map(json.loads, file.read_text().splitlines())
    assert bad == {
        "source": str(damaged), "task_id": "damaged.zst", "trajectory": None, "seconds": 0.0, "attempt": 1
    }  # fmt: skip
    assert (good["source"], good["attempt"]) == (str(bundle), 1)
    assert good["seconds"] > 0


def test_timings_count_a_copy_that_the_report_does_not(bundle: Path, tmp_path: Path) -> None:
    copy, file = tmp_path / "copy.zst", tmp_path / "seconds.jsonl"
    shutil.copyfile(bundle, copy)
    done = run("grade", bundle, copy, "--timings", file, "--format", "json")
    assert json.loads(done.stdout)["summary"]["n"] == 1
    sources = [json.loads(line)["source"] for line in file.read_text().splitlines()]
    assert sources == sorted(map(str, [bundle, copy]))


def test_timings_are_written_for_one_bundle_too(bundle: Path, tmp_path: Path) -> None:
    file = tmp_path / "seconds.jsonl"
    assert run("grade", bundle, "--timings", file).returncode == 0
    assert [json.loads(line)["source"] for line in file.read_text().splitlines()] == [str(bundle)]
    nowhere = run("grade", bundle, "--timings", tmp_path / "no" / "x.jsonl")
    assert nowhere.returncode == 2
    assert "x.jsonl" in nowhere.stderr and not nowhere.stdout


def test_show_distinguishes_reported_actions_from_observed_ones(tmp_path: Path) -> None:
    pay, leave = (Click(element=Element(tag="button", name=name)) for name in ("Pay", "Leave"))
    built = trajectory().step(leave, declared=pay, observed=(leave,), origin="both")
    built.step(pay, origin="declared", seen=False).step(pay, origin="both")
    shown = run("show", built.answer("done").write(tmp_path / "run.zst")).stdout
    steps, _, findings = shown.partition("\nfindings\n")
    first, second, third = (line for line in steps.splitlines() if "-> CLICK" in line)
    assert "A3 step 0: wrong target, recovered (the agent reported: <button> Pay -> CLICK)" in findings
    assert "Leave -> CLICK (reported: <button> Pay -> CLICK)" in first
    assert "Pay -> CLICK | FAILED (reported, but the page saw nothing of it)" in second
    assert "Pay -> CLICK" in third
    assert "reported" not in third


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("missing", "no such file"),
        ("empty", "not a replaykit bundle: found an empty file"),
        ("png", "not a replaykit bundle"),
        ("truncated", "truncated"),
        ("unknown task", "no task 'zzz'; it has a, c"),
        ("task of another id", "no task 't1'; it has a, c"),
        ("unknown field", "unknown field `chekcs`; did you mean checks?"),
        ("task file missing", "cannot read the task file"),
        ("seal of a png", "not a replaykit bundle"),
        ("show of a folder", "it is a folder"),
        ("verify missing", "no such file"),
        ("an empty word", "no such file or folder"),
        ("an empty word to pack", "it is a folder"),
        ("diff of a device", "not a regular one"),
    ],
)
def test_wrong_input_gets_a_clear_error(kind: str, said: str, tmp_path: Path, bundle: Path) -> None:
    done = run(*make(kind, tmp_path, bundle))
    assert done.returncode == 3, done.stdout + done.stderr
    assert said in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.splitlines()) <= 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["grade"],
        ["nonsense"],
        ["grade", "--jobs", "0", "x"],
        ["grade", "x", "--fail-under", "CR"],
        ["grade", "x", "--fail-on", "everything"],
        ["grade", "x", "--site", "shop"],
        ["record"],
        ["record", "http://a.test/", "--agent", "a:b"],
        ["record", "--agent", "a:b", "--viewport", "wide"],
        ["record", "--agent", "a:b", "--secret-env", "REPLAYKIT_NO_SUCH_VARIABLE"],
        ["show"],
    ],
)
def test_usage_errors_exit_2(arguments: list[str], tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr


def test_an_empty_folder_never_passes(tmp_path: Path) -> None:
    done = run("grade", tmp_path)
    assert done.returncode == 4
    assert "an empty set never passes" in done.stdout


def test_a_metric_that_does_not_exist_is_a_usage_error(bundle: Path) -> None:
    done = run("grade", bundle, "--fail-under", "XYZ=1")
    assert done.returncode == 2
    assert "there are CR, CuP" in done.stderr


def test_options_may_come_from_the_environment(bundle: Path) -> None:
    done = run("grade", bundle, REPLAYKIT_GRADE_FORMAT="jsonl")
    assert json.loads(done.stdout)["task_id"] == "t1"


def test_variables_have_the_names_that_options_have(broken: Path) -> None:
    task = Path(__file__).parents[2] / "fixtures" / "tasks" / "shop.yaml"
    done = run("grade", broken, REPLAYKIT_GRADE_TASK=f"{task}#no-such-task")
    assert "no task 'no-such-task'" in done.stderr
    assert run("tasks", "sample", task, REPLAYKIT_TASKS_SAMPLE_COUNT="1").stdout.count("\n") == 1


def test_switches_stand_before_the_command_or_after_it(tmp_path: Path) -> None:
    (tmp_path / "empty.zst").touch()
    assert "Traceback" in run("show", tmp_path / "empty.zst", "--debug").stderr
    (tmp_path / "runs").mkdir()
    assert run("judge", "plan", tmp_path / "runs", "-q").stderr == ""


def test_debug_shows_the_traceback(tmp_path: Path) -> None:
    assert "Traceback" in run("--debug", "grade", tmp_path / "nope.zst").stderr


@pytest.mark.parametrize("command", ["grade", "verify", "show"])
def test_a_closed_pipe_fails_with_141_and_prints_nothing(command: str, bundle: Path) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    words = [sys.executable, "-m", "replaykit", command, str(bundle)]
    done = subprocess.run(words, stdout=theirs, stderr=subprocess.PIPE, text=True, check=False)
    os.close(theirs)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize(
    ("words", "code"),
    [(["grade", "no-such.zst"], 3), (["--debug", "grade", "no-such.zst"], 3), (["grad"], 2)],
)
def test_an_error_keeps_its_code_where_its_reader_goes_away(words: list[str], code: int) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    command = [sys.executable, "-m", "replaykit", *words]
    done = subprocess.run(command, stdout=theirs, stderr=theirs, check=False)
    os.close(theirs)
    assert done.returncode == code


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("command", ["grade", "verify", "show"])
def test_output_without_a_reader_is_an_error_and_no_verdict(command: str, bundle: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        words = [sys.executable, "-m", "replaykit", command, str(bundle)]
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (3, "error: input or output: No space left on device\n")


def test_a_defect_is_no_failed_gate(bundle: Path) -> None:
    code = f"""
from replaykit.cli import main
from replaykit.cli.grade import grade_command
def broken(*_, **__): raise LookupError("a defect")
grade_command.found_bundles = broken
main.main(["grade", {str(bundle)!r}])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "LookupError: a defect" in done.stderr


@pytest.mark.parametrize("code", ["0", "1", "'over'", ""])
def test_code_that_ends_the_program_is_no_passed_gate(code: str, bundle: Path) -> None:
    program = f"""
import sys
from replaykit.cli import main
from replaykit.cli.grade import grade_command
def leaves(*_, **__): sys.exit({code})
grade_command.found_bundles = leaves
main.main(["grade", {str(bundle)!r}])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "error: code that was loaded ended the program, with sys.exit(" in done.stderr


@pytest.mark.skipif(shutil.which("strace") is None and not os.environ.get("CI"), reason="no strace on PATH")
def test_grading_opens_no_socket(bundle: Path, tmp_path: Path) -> None:
    log = tmp_path / "calls"
    trace = ["strace", "-f", "-e", "trace=network", "-o", str(log)]
    subprocess.run(
        [*trace, sys.executable, "-m", "replaykit", "grade", str(bundle)], check=True, capture_output=True
    )
    assert "socket(" not in log.read_text()
    assert "exited with 0" in log.read_text()


@pytest.mark.parametrize("arguments", [["verify"], ["policies", "try", "p.yaml"], ["grade"]])
def test_names_of_files_cannot_control_the_terminal(arguments: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    shop().write(folder / "\u202egood.zst")
    (folder / "\u202ebad.zst").write_bytes(b"damaged")
    policy = "{id: p, dimension: user_consent, rule: {type: informational}}"
    (tmp_path / "p.yaml").write_text(f"schema: replaykit.policies/1\npolicies: [{policy}]\n")
    done = run(*arguments, folder, cwd=tmp_path)
    assert "\ufffd" in done.stdout + done.stderr
    assert "\u202e" not in done.stdout + done.stderr
