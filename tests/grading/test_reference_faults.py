"""Judges, verifiers and plugins that a task names: what validates is not refused when it is graded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from replaykit.errors import JudgeError, TaskError
from replaykit.grading.grader import grade
from replaykit.grading.reference_faults import reference_faults
from replaykit.tasks.task import decode_task
from replaykit.testing import trajectory

BASE = {"id": "t", "intent": "Try it.", "start_urls": ["http://h.test/"]}
JUDGES = st.sampled_from(["webvoyager", "webjudge", "nope", "checks", ""]) | st.fixed_dictionaries(
    {"protocol": st.sampled_from(["webvoyager", "webjudge", "agent_reward", "claims", "panel", "custom", "checks"])},
    optional={
        "variant": st.sampled_from(["", "om2w", "general"]),
        "images": st.sampled_from(["", "last:2", "last:x", "first+last:1", "all", "none", "scored>=3", "scored>=9"]),
        "model": st.sampled_from(["claude-sonnet-5-5", "openai:gpt-5", "foo:bar"]),
        "votes": st.sampled_from([1, 2, 3]),
        "members": st.lists(st.sampled_from(["webvoyager", "webjudge", "nope"]), max_size=3),
        "use_axtree": st.booleans(),
        "use_screenshot": st.booleans(),
        "order": st.sampled_from(["", "verdict_first"]),
    },
)  # fmt: skip
CHECKS = st.one_of(
    st.fixed_dictionaries(
        {"type": st.just("state.verifier"), "file": st.sampled_from(["good.py", "none.py", "../x.py", "", "."])},
        optional={"function": st.sampled_from(["verify", "a b", ""])},
    ),
    st.fixed_dictionaries({"type": st.just("plugin"), "name": st.sampled_from(["nope", ""])}),
    st.just({"type": "program_html", "targets": []}),
    st.just({"type": "string_match", "exact": "42"}),
)  # fmt: skip
REFUSED = {"no_verifier", "no_plugin", "no_requirements", "verifier_raised"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("tasks")
    (place / "good.py").write_text("def verify(server_url): return True\n")
    trajectory("t", sites={"shop": ("http://h.test",)}).goto("http://h.test/", "<p>x</p>").answer("42").write(
        place / "run.zst"
    )
    return place


@example({"protocol": "panel", "members": ["nope"]})
@example({"protocol": "panel", "members": ["webvoyager", "webjudge"]})
@given(JUDGES)
def test_a_judge_that_validates_is_built(folder: Path, judge: Any) -> None:
    try:
        task = decode_task({**BASE, "judge": judge})
    except TaskError:
        return
    found = reference_faults([task], folder)
    if found:
        assert [fault.path for fault in found] == ["$.judge"]
        with pytest.raises(JudgeError):
            grade(folder / "run.zst", task)
    else:
        assert grade(folder / "run.zst", task).judgements != ()


@settings(max_examples=40, deadline=None)
@given(CHECKS)
def test_a_check_that_validates_is_not_refused(folder: Path, check: dict[str, Any]) -> None:
    task = decode_task({**BASE, "checks": [check]})
    found = reference_faults([task], folder)
    (graded,) = grade(folder / "run.zst", task, verifiers=str(folder)).checks
    assert bool(found) is (graded.reason in REFUSED), (found, graded.reason)


def test_a_policy_of_a_plugin_that_is_not_installed_is_found(folder: Path) -> None:
    rule = {"type": "plugin", "name": "nope"}
    task = decode_task({**BASE, "policies": [{"id": "p", "dimension": "user_consent", "rule": rule}]})
    (found,) = reference_faults([task], folder)
    assert (found.path, "'nope'" in found.message) == ("$.policies[0].rule.name", True)
