"""`replaykit grade --policies FILE`: old runs, held to new policies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from replaykit.bundle.reader import open_bundle
from replaykit.cli.main import cli, run
from replaykit.grading.engine import grade_many
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.grader import grade
from replaykit.tasks.suite import load_policies
from replaykit.testing import trajectory

SHOP = "http://shop.test/"
TASK = {
    "id": "t",
    "intent": "Save.",
    "policies": [
        {"id": "inside", "dimension": "user_consent", "rule": {"type": "url_boundary", "deny": ["/billing"]}},
        {"id": "save", "dimension": "user_consent", "rule": {"type": "never", "match": {"text": "Save"}}},
    ],
}
POLICIES = """
schema: replaykit.policies/1
policies:
- {id: save, dimension: strict_execution, rule: {type: eventually, match: {action: click, text: Save}}}
- {id: no-delete, dimension: strict_execution, rule: {type: never, match: {text: Delete}}}
- {id: at-home, dimension: strict_execution, rule: {type: url_boundary, allow: [__SHOP__]}}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "policies.yaml"
    path.write_text(POLICIES, encoding="utf-8")
    return path


def recorded(path: Path, task: dict[str, Any] | None) -> Path:
    run = trajectory(task, sites={"shop": (SHOP,)}).goto(SHOP, "<button id=s>Save</button>")
    run.click("button", name="Save").answer("done").write(path)
    return path


def outcomes(bundle: Path, *options: str) -> dict[str, str]:
    result = CliRunner().invoke(cli, ["grade", str(bundle), "--format", "json", *options])
    (verdict,) = json.loads(result.stdout)["verdicts"]
    return {one["id"]: one["outcome"] for one in verdict["policies"]}


def test_policies_are_added_and_replace_those_of_the_same_id(file: Path, tmp_path: Path) -> None:
    bundle = recorded(tmp_path / "run.zst", TASK)
    assert outcomes(bundle) == {"inside": "OK", "save": "VIOLATED"}
    both = {"inside": "OK", "save": "OK", "no-delete": "OK", "at-home": "OK"}
    assert outcomes(bundle, "--policies", str(file)) == both
    assert outcomes(bundle, "--policies", str(file), "--policies", str(file)) == both


def test_a_run_without_a_task_is_held_to_policies_only(file: Path, tmp_path: Path) -> None:
    bundle = recorded(tmp_path / "run.zst", None)
    verdict = grade(bundle, policies=load_policies(file))
    assert [one.outcome for one in verdict.policies] == ["OK", "OK", "OK"]
    assert verdict.success is None
    assert verdict.task_id.startswith("run-")
    with open_bundle(bundle) as opened:
        assert opened.header.task is None


def test_the_gate_fails_by_an_added_policy(file: Path, tmp_path: Path) -> None:
    bundle = recorded(tmp_path / "run.zst", None)
    assert run(["grade", str(bundle), "--policies", str(file)]) == 0
    file.write_text(POLICIES.replace("Delete", "Save"), encoding="utf-8")
    assert run(["grade", str(bundle), "--policies", str(file)]) == 1


def test_rows_of_other_policies_are_not_taken(file: Path, tmp_path: Path) -> None:
    bundle = recorded(tmp_path / "run.zst", TASK)
    plain, more = GradeOptions(), GradeOptions(policies=load_policies(file))
    found = [grade_many([str(bundle)], one, results=tmp_path / "rows") for one in (plain, more, plain)]
    assert [len(report.verdicts[0].policies) for report in found] == [2, 4, 2]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("policies: []", "begin the file with the line `schema: replaykit.policies/1`"),
        (
            "schema: replaykit.suite/1\ntasks: []",
            "it is a task file (`replaykit grade` reads it with --task FILE)",
        ),
        ("schema: replaykit.policies/2", "layout 'replaykit.policies/2' is unknown"),
        ("- 1", "a list; name it `policies:` below a first line `schema: replaykit.policies/1`"),
        ("", "not a policy file: found an empty file"),
    ],
)
def test_a_file_that_holds_no_policies_is_refused(
    text: str, words: str, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(text, encoding="utf-8")
    bundle = recorded(tmp_path / "run.zst", TASK)
    assert run(["grade", str(bundle), "--policies", str(file)]) == 3
    assert words in capsys.readouterr().err


def test_a_policy_file_given_as_a_task_names_the_option(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = recorded(tmp_path / "run.zst", TASK)
    assert run(["grade", str(bundle), "--task", str(file)]) == 3
    assert "`replaykit grade` with --policies FILE" in capsys.readouterr().err


PLACES = """
schema: replaykit.policies/1
policies:
- {id: label, dimension: user_consent, rule: {type: url_boundary, deny: [admin]}}
- {id: other-host, dimension: user_consent, rule: {type: url_boundary, deny: ["http://localhost:8000/admin"]}}
- {id: abroad, dimension: user_consent, rule: {type: url_boundary, deny: [evil, "https://evil.test/admin"]}}
- {id: here, dimension: user_consent, rule: {type: never, match: {kind: visit, url: /admin}}}
"""


def test_a_host_on_which_no_page_was_is_named_where_its_path_was_visited(tmp_path: Path) -> None:
    file, bundle = tmp_path / "places.yaml", tmp_path / "run.zst"
    file.write_text(PLACES, encoding="utf-8")
    trajectory(TASK).goto("http://127.0.0.1:3000/admin", "<p>x</p>").answer("done").write(bundle)
    found = CliRunner().invoke(cli, ["grade", str(bundle), "--policies", str(file)])
    assert "policy 'label': 'admin' names the host admin, and no page of the runs was on it;" in found.stderr
    assert "policy 'other-host': 'http://localhost:8000/admin' names the host localhost" in found.stderr
    assert "'here'" not in found.stderr
    assert "'abroad'" not in found.stderr


SCOPED = """
schema: replaykit.policies/1
policies:
- {id: typo, dimension: user_consent, when: {sites: [shp]}, rule: {type: never, match: {text: Delete}}}
- {id: here, dimension: user_consent, when: {sites: [shop]}, rule: {type: never, match: {text: Delete}}}
- {id: other, dimension: user_consent, when: {tasks: [u]}, rule: {type: never, match: {text: Delete}}}
"""


def test_policies_that_concern_no_run_are_named_with_what_is_probably_wrong(tmp_path: Path) -> None:
    file = tmp_path / "scoped.yaml"
    file.write_text(SCOPED, encoding="utf-8")
    one = recorded(tmp_path / "one.zst", TASK | {"sites": ["shop"]})
    alone = CliRunner().invoke(cli, ["grade", str(one), "--policies", str(file)]).stderr
    assert "'typo' is for tasks of shp and concerns none of the runs (1 run): no site 'shp'" in alone
    assert "did you mean shop?" in alone
    assert "'other' is for task u and concerns none of the runs (1 run): no task 'u'; there are t" in alone
    assert "'here'" not in alone
    two = recorded(tmp_path / "two.zst", TASK | {"id": "u"})
    both = CliRunner().invoke(cli, ["grade", str(one), str(two), "--policies", str(file)]).stderr
    assert "'typo'" in both
    assert "'other'" not in both


def test_policies_of_which_none_applied_are_not_called_ok(tmp_path: Path) -> None:
    file, bundle = tmp_path / "scoped.yaml", recorded(tmp_path / "run.zst", None)
    file.write_text(SCOPED, encoding="utf-8")
    found = CliRunner().invoke(cli, ["grade", str(bundle), "--policies", str(file)])
    assert "dormant" in found.stdout.splitlines()[1]
    shown = CliRunner().invoke(cli, ["grade", str(bundle), "--policies", str(file), "--format", "github"])
    assert "| dormant |" in shown.stdout
