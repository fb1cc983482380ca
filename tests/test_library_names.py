"""Names of the library as a program uses them: comparing, trying policies, checks and judges of one's own."""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import replaykit
from replaykit.grading.judges.judge_evidence import EvidenceNeeds, JudgeEvidence
from replaykit.grading.judges.judge_interface import Replies, Round
from replaykit.grading.judges.judge_options import unasked
from replaykit.grading.judges.screenshot_choice import image_policy
from replaykit.grading.policies.events.scope_window import Window
from replaykit.grading.policies.rule_finding import Witness
from replaykit.grading.verdict import Judgement, JudgeOutcome
from replaykit.testing import trajectory

SET = Path(__file__).parent.parent / "recordings" / "conformance"
ASKED, UNASKED = SET / "refund-order--good.zst", SET / "refund-order--no_consent.zst"

# Comparing


def test_two_reports_are_compared_open_or_by_their_paths(tmp_path: Path) -> None:
    reports = [replaykit.grade_many([path]) for path in (ASKED, UNASKED)]
    paths = [tmp_path / "before.json", tmp_path / "after.json"]
    for report, path in zip(reports, paths, strict=True):
        replaykit.write_report(report, path)
    found = replaykit.diff(*reports)
    (pair,) = found.pairs
    assert (pair.task_id, pair.kind) == ("refund-order", "regressed")
    assert replaykit.diff(paths[0], str(paths[1])) == found


def test_two_runs_are_compared_open_or_by_their_paths() -> None:
    with replaykit.open_bundle(ASKED) as one, replaykit.open_bundle(UNASKED) as other:
        found = replaykit.diff(one, other)
    assert found.parts and found.before != found.after
    assert replaykit.diff(ASKED, UNASKED) == found


@pytest.mark.parametrize("swap", [False, True])
def test_a_report_is_not_compared_with_a_run(swap: bool, tmp_path: Path) -> None:
    report = replaykit.grade_many([ASKED])
    replaykit.write_report(report, tmp_path / "report.json")
    for one in (report, tmp_path / "report.json"):
        pair = (UNASKED, one) if swap else (one, UNASKED)
        with pytest.raises(replaykit.ReplaykitError, match="two reports or two bundles, not") as caught:
            replaykit.diff(*pair)
        assert caught.value.exit_code == 2


def test_what_is_neither_is_named() -> None:
    with pytest.raises(replaykit.ReplaykitError, match="not dict with dict"):
        replaykit.diff({}, {})  # type: ignore[call-overload]  # what a program without types may give


# Trying policies


def test_the_policies_that_a_run_was_recorded_with_are_tried() -> None:
    found = replaykit.try_policies(UNASKED)
    assert {trial.result.id: str(trial.result.outcome) for trial in found.policies}[
        "ask-before-refund"
    ] == "VIOLATED"
    assert found.mutation is None


def test_policies_of_a_file_are_tried_on_a_run_and_on_its_mutants(tmp_path: Path) -> None:
    (tmp_path / "policies.yaml").write_text(
        "schema: replaykit.policies/1\npolicies:\n"
        "- {id: no-admin, dimension: boundary_and_scope_limitation, rule: {type: url_boundary, deny: [/admin]}}\n"
    )
    policies = replaykit.load_policies(tmp_path / "policies.yaml")
    with replaykit.open_bundle(ASKED) as bundle:
        found = replaykit.try_policies(bundle, policies, mutates=True)
    (trial,) = found.policies
    assert trial.result.outcome is replaykit.PolicyOutcome.OK
    assert "/admin" in trial.breaks
    assert found.mutation is not None
    noticed, made = found.mutation.scores["no-admin"]
    assert 0 < noticed <= made


def test_a_task_brings_its_policies(tmp_path: Path) -> None:
    bare = trajectory().goto("http://shop.test/admin", "<p>").write(tmp_path / "run.zst")
    (task,) = replaykit.load_tasks(SET.parent.parent / "fixtures/tasks/shop.yaml#order-total")
    (trial,) = replaykit.try_policies(bare, task).policies
    assert trial.result.outcome is replaykit.PolicyOutcome.VIOLATED


def test_without_a_task_policies_have_to_be_given(tmp_path: Path) -> None:
    header = {"task": None}
    bare = trajectory(**header).goto("http://shop.test/", "<p>").write(tmp_path / "run.zst")
    with pytest.raises(replaykit.TaskError, match="no task was recorded: give policies to try"):
        replaykit.try_policies(bare)
    assert replaykit.try_policies(bare, ()).policies == ()


# One's own

Install = Callable[[str, object], None]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Make a function the entry point `ours` of a group."""

    def installed(wanted: str, function: object) -> None:
        point = SimpleNamespace(name="ours", dist=None, load=lambda: function)

        def points(group: str, name: str = "ours") -> list[Any]:
            return [point] if (group, name) == (wanted, "ours") else []

        monkeypatch.setattr("importlib.metadata.entry_points", points)
        monkeypatch.setattr("replaykit.grading.checks.check_plugins.entry_points", points)

    return installed


def visits(params: dict[str, Any], replay: replaykit.Replay, task: replaykit.Task) -> replaykit.Ruling:
    """Pass where the run went to an address."""
    has_been = any(state.url == params["url"] for state in replay)
    return replaykit.Ruling(
        outcome=replaykit.Outcome.PASS if has_been else replaykit.Outcome.FAIL, rule=f"visits {params['url']}"
    )


def stays(
    params: dict[str, Any], replay: replaykit.Replay, window: Window, witness: Witness
) -> replaykit.Finding:
    """Find the first step on an address that is closed."""
    for state in replay:
        if state.url == params["url"]:
            where = replaykit.Evidence(url=witness.mask(state.url))
            return replaykit.Finding(outcome=replaykit.PolicyOutcome.VIOLATED, active=True, evidence=(where,))
    return replaykit.Finding(outcome=replaykit.PolicyOutcome.OK, active=True)


CHECK: replaykit.CheckFunction = visits
POLICY: replaykit.PolicyFunction = stays


@pytest.mark.parametrize(("url", "outcome"), [("http://h.test/b", "PASS"), ("http://h.test/c", "FAIL")])
def test_a_check_of_one_s_own_rules(url: str, outcome: str, install: Install, tmp_path: Path) -> None:
    install("replaykit.checks", CHECK)
    check = {"type": "plugin", "name": "ours", "params": {"url": url}}
    run = trajectory({"id": "t", "intent": "Go.", "checks": [check]})
    run.goto("http://h.test/a", "<p>").goto("http://h.test/b", "<p>").write(tmp_path / "run.zst")
    (result,) = replaykit.grade(tmp_path / "run.zst").checks
    assert result.outcome == outcome


@pytest.mark.parametrize(("url", "outcome"), [("http://h.test/a", "VIOLATED"), ("http://h.test/c", "OK")])
def test_a_policy_of_one_s_own_finds(url: str, outcome: str, install: Install, tmp_path: Path) -> None:
    install("replaykit.policies", POLICY)
    policy = {
        "id": "closed",
        "dimension": "boundary_and_scope_limitation",
        "rule": {"type": "plugin", "name": "ours", "params": {"url": url}},
    }
    run = trajectory({"id": "t", "intent": "Go.", "policies": [policy]})
    run.goto("http://h.test/a", "<p>").answer("x").write(tmp_path / "run.zst")
    (result,) = replaykit.grade(tmp_path / "run.zst").policies
    assert result.outcome == outcome


class Trusting:
    """A judge that believes every answer."""

    name, fingerprint, needs = "trusting", "sha256:1", EvidenceNeeds(images=image_policy("none"))

    def deliberate(self, evidence: JudgeEvidence) -> Generator[Round, Replies, Judgement]:
        return unasked(self, JudgeOutcome.SUCCESS, f"it says {evidence.answer}")
        yield ()


def make(settings: object, mode: str) -> replaykit.Judge:
    """Make the judge, as the command does by `file.py@make`."""
    return Trusting()


def test_a_judge_of_one_s_own_judges(install: Install, tmp_path: Path) -> None:
    install("replaykit.judges", make)
    run = trajectory({"id": "t", "intent": "Go."}).answer("x").write(tmp_path / "run.zst")
    from replaykit.grading.judges.settings_file import named_judge

    (judged,) = replaykit.grade(run, judges=(named_judge("ours"),)).judgements
    assert (judged.judge, judged.outcome, judged.reason) == ("trusting", "SUCCESS", "it says x")
