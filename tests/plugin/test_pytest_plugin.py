"""The pytest plugin, in a pytest of its own, on the shipped recordings."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.pytest_plugin.verdict_files import differences

ROOT = Path(__file__).resolve().parents[2]
SET = ROOT / "recordings" / "conformance"
GOOD, BAD = "deal-won--good", "refund-order--no_consent"


def run(folder: Path, *arguments: str, code: int = 0) -> str:
    """Return the output of a pytest with the plugin in a folder; it must end with that code."""
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    environ.pop("PYTEST_ADDOPTS", None)
    argv = [
        sys.executable,
        "-W",
        "error",
        "-m",
        "pytest",
        "-p",
        "replaykit.pytest_plugin",
        "-p",
        "no:cacheprovider",
    ]
    done = subprocess.run(
        [*argv, "-ra", *arguments],
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def put(folder: Path, name: str, *, verdict: bool = True) -> Path:
    """Copy a recording and its stored verdict."""
    shutil.copy(SET / f"{name}.zst", folder)
    if verdict:
        shutil.copy(SET / f"{name}.verdict.json", folder)
    return folder / f"{name}.zst"


def rewrite(path: Path, change: Any) -> None:
    plain = json.loads(path.read_text("utf-8"))
    change(plain)
    path.write_text(json.dumps(plain), "utf-8")


def test_bundles_with_a_stored_verdict_are_tests(tmp_path: Path) -> None:
    put(tmp_path, GOOD)
    put(tmp_path, BAD)  # what is stored is that it violates a policy: that has not changed
    put(tmp_path, "move-card--wrong_card", verdict=False)
    output = run(tmp_path, "-v")
    assert f"{GOOD}.zst::verdict PASSED" in output
    assert f"{BAD}.zst::verdict PASSED" in output
    assert "2 passed" in output


def test_a_changed_verdict_fails_with_reason_and_evidence_and_is_updated_on_demand(tmp_path: Path) -> None:
    bundle = put(tmp_path, BAD)
    stored = bundle.with_suffix(".verdict.json")
    right = stored.read_bytes()

    def keep(plain: dict[str, Any]) -> None:
        plain["policies"][1].update(outcome="OK", reason=None, evidence=[])
        plain["cup"] = 1

    rewrite(stored, keep)
    output = run(tmp_path, code=1)
    assert "policy ask-before-refund: OK -> VIOLATED (no_request)" in output
    assert "CuP: 1 -> 0" in output
    assert "step 3; <button> Confirm refund" in output
    assert "pytest --replaykit-update" in output
    assert "Traceback" not in output
    output = run(tmp_path, "--replaykit-update")
    assert "verdicts written" in output
    assert str(stored) in output
    assert stored.read_bytes() == right
    assert "verdicts written" not in run(tmp_path, "--replaykit-update")  # nothing is new


def test_evidence_that_moved_is_a_change_too(tmp_path: Path) -> None:
    stored = put(tmp_path, GOOD).with_suffix(".verdict.json")
    rewrite(stored, lambda plain: plain["checks"][0]["evidence"][0].update(step=1))
    output = run(tmp_path, code=1)
    assert "checks[0].evidence[0].step: 1 -> 2" in output
    assert "success:" not in output


def test_an_update_stores_verdicts_of_new_bundles(tmp_path: Path) -> None:
    bundle = put(tmp_path, GOOD, verdict=False)
    run(tmp_path, code=5)  # nothing was collected, and pytest says so
    run(tmp_path, "--replaykit-update")
    stored = bundle.with_suffix(".verdict.json")
    assert stored.read_bytes() == (SET / stored.name).read_bytes()
    assert "1 passed" in run(tmp_path)


@pytest.mark.parametrize("update", [(), ("--replaykit-update",)], ids=["compare", "update"])
def test_a_damaged_bundle_fails_and_its_verdict_stays(tmp_path: Path, update: tuple[str, ...]) -> None:
    bundle = put(tmp_path, GOOD)
    bundle.write_bytes(b"no bundle")
    output = run(tmp_path, *update, code=1)
    assert bundle.name in output
    assert "1 failed" in output
    assert "Traceback" not in output
    stored = bundle.with_suffix(".verdict.json")
    assert stored.read_bytes() == (SET / stored.name).read_bytes()


def test_a_stored_verdict_that_is_none_fails(tmp_path: Path) -> None:
    put(tmp_path, GOOD).with_suffix(".verdict.json").write_text("{}")
    assert "is no verdict" in run(tmp_path, code=1)


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")], ids=["pipe", "zero"])
def test_a_stored_verdict_that_does_not_end_is_not_read(tmp_path: Path, make: Any) -> None:
    put(tmp_path, GOOD, verdict=False)
    make(tmp_path / f"{GOOD}.verdict.json")
    assert "it is a device or a pipe" in run(tmp_path, code=1)


def test_grade_bundle_fails_a_test_with_reason_and_evidence(tmp_path: Path) -> None:
    put(tmp_path, BAD, verdict=False)
    put(tmp_path, GOOD, verdict=False)
    (tmp_path / "test_runs.py").write_text(f"""
def test_good(grade_bundle):
    assert grade_bundle("{GOOD}.zst").success == "PASS"

def test_bad(grade_bundle):
    grade_bundle("{BAD}.zst")

def test_checks_alone(grade_bundle):
    assert grade_bundle("{BAD}.zst", fail_on=["check"]).cup == 0

def test_another_task(grade_bundle):
    grade_bundle("{GOOD}.zst", "other.yaml#deal-won")
""")
    (tmp_path / "other.yaml").write_text("""
schema: replaykit.suite/1
tasks:
  - id: deal-won
    intent: Say it.
    checks: [{type: string_match, exact: never said}]
""")
    output = run(tmp_path, "-v", code=1)
    for name, outcome in (
        ("good", "PASSED"),
        ("bad", "FAILED"),
        ("checks_alone", "PASSED"),
        ("another_task", "FAILED"),
    ):
        assert f"test_{name} {outcome}" in output
    assert "refund-order: policy ask-before-refund is VIOLATED" in output
    assert "step 3; <button> Confirm refund" in output
    assert f"bundle: {tmp_path / BAD}.zst" in output
    assert "never said" in output


def test_grade_bundle_compares_with_the_stored_verdict(tmp_path: Path) -> None:
    stored = put(tmp_path, BAD, verdict=False).with_suffix(".verdict.json")
    (tmp_path / "test_runs.py").write_text(f"""
def test_same(grade_bundle):
    grade_bundle("{BAD}.zst", stored=True)
""")
    assert "no verdict is stored" in run(tmp_path, "test_runs.py", code=1)
    run(tmp_path, "test_runs.py", "--replaykit-update")
    assert stored.exists()
    run(tmp_path, "test_runs.py")


def test_judges_may_be_switched_off(tmp_path: Path) -> None:
    put(tmp_path, "return-window--good", verdict=False)
    (tmp_path / "test_runs.py").write_text("""
def test_judge(grade_bundle):
    verdict = grade_bundle("return-window--good.zst", fail_on=["check"])
    print([one.outcome.value for one in verdict.judgements])
""")
    assert "NOT_EVALUATED" in run(tmp_path, "-s", "--replaykit-judge-mode", "off")
    # There is no tape beside the copy: a judge that cannot be answered is never silent.
    assert "judgements are errors" in run(tmp_path, "-s", code=1)


def test_an_unknown_kind_is_refused(tmp_path: Path) -> None:
    put(tmp_path, GOOD, verdict=False)
    (tmp_path / "test_runs.py").write_text(f"""
def test_kind(grade_bundle):
    grade_bundle("{GOOD}.zst", fail_on=["checks"])
""")
    assert "cannot fail on checks" in run(tmp_path, code=1)


def test_kinds_in_one_text_are_refused_as_such(tmp_path: Path) -> None:
    put(tmp_path, GOOD, verdict=False)
    (tmp_path / "test_runs.py").write_text(f"""
def test_kind(grade_bundle):
    grade_bundle("{GOOD}.zst", fail_on="check")
""")
    assert "fail_on: expected a tuple of kinds, such as ('check',), got 'check'" in run(tmp_path, code=1)


def test_it_loads_nothing_until_a_bundle_is_met(tmp_path: Path) -> None:
    (tmp_path / "test_nothing.py").write_text("""
import sys

def test_nothing():
    heavy = {"playwright", "msgspec", "zstandard", "yaml", "click", "rich", "anthropic"}
    assert not heavy & set(sys.modules)
    assert "replaykit.pytest_plugin" in sys.modules
""")
    run(tmp_path)


def test_grading_loads_no_browser_driver(tmp_path: Path) -> None:
    put(tmp_path, GOOD, verdict=False)
    (tmp_path / "test_driver.py").write_text(f"""
import sys

def test_driver(grade_bundle):
    grade_bundle("{GOOD}.zst")
    assert "playwright" not in sys.modules
    assert "replaykit.recorder" not in sys.modules
""")
    run(tmp_path)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=3),
    max_leaves=8,
)


@given(VALUES)
def test_nothing_differs_from_itself(value: Any) -> None:
    assert not list(differences(value, json.loads(json.dumps(value))))


@given(VALUES, VALUES)
def test_what_differs_is_named(one: Any, other: Any) -> None:
    # A key that is null and one that is not there say the same.
    same = json.dumps(_without_nulls(one), sort_keys=True) == json.dumps(
        _without_nulls(other), sort_keys=True
    )
    assert bool(list(differences(one, other))) != same


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}
    return [_without_nulls(inner) for inner in value] if isinstance(value, list) else value
