"""Files in which `tasks validate` finds no fault, and which grading accepts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.errors import TaskError
from replaykit.grading.checks.check_grading import grade_checks
from replaykit.grading.checks.grading_faults import task_faults
from replaykit.grading.policies.policy_grading import grade_policies
from replaykit.replay.player import Replay
from replaykit.tasks.policy_faults import faults
from replaykit.tasks.task import Task, decode_task, fill_task
from replaykit.testing.builder import Builder, trajectory

from .conftest import replay_of
from .validated import BASE, TASKS

SITES = {"shop": ("http://h.test",)}


def recorded() -> Replay:
    """A run with something for every kind of check to look at."""
    run: Builder = trajectory("t", sites=SITES).goto(
        "http://h.test/a", "<h1 id=b>Paid 42</h1><a href=/x>x</a>"
    )
    body = run.keep("application/json", '{"a": [{"b": 1}], "b": "Paid"}')
    for method, path in (("POST", "a"), ("GET", "a"), ("GET", "api"), ("POST", "api")):
        run.request(method, f"http://h.test/{path}", post=body if method == "POST" else None, body=body)
    run.click("#b", text="Paid").press("#b", "Enter")
    return replay_of(
        run.final().answer('{"task_type": "retrieve", "status": "SUCCESS", "retrieved_data": [42]}')
    )


RUN = recorded()


def errors_of(task: Task) -> list[str]:
    """Return what grading refuses."""
    filled = fill_task(task, SITES)
    checks = grade_checks(filled, RUN, "strict", sites=SITES)
    found = [(one.type, one.reason) for one in checks if one.outcome == "ERROR"]
    found += [(one.id, one.reason) for one in grade_policies(filled, RUN) if one.outcome == "ERROR"]
    return [f"{name}: {reason}" for name, reason in found]


@pytest.mark.parametrize("kind", TASKS)
def test_what_validates_is_graded(kind: str) -> None:
    @given(TASKS[kind])
    def graded(record: dict[str, Any]) -> None:
        try:
            task = decode_task(record)
        except TaskError:
            return
        refused = list(faults(task.policies))  # by `load_suite`
        if not refused and not [fault for fault in task_faults([task], tuple(SITES)) if fault.is_error]:
            assert errors_of(task) == []

    graded()


@pytest.mark.parametrize(
    ("check", "place", "words"),
    [
        ({"type": "string_match"}, "", "nothing is demanded: use exact"),
        ({"type": "string_match", "must_include": "a |OR| "}, ".must_include[0]", "empty reference"),
        ({"type": "url_match", "url": []}, ".url", "no URL"),
        ({"type": "url_match", "url": "/a"}, ".url[0]", "begin with http:// or https://"),
        ({"type": "url_match", "url": "http://["}, ".url[0]", "no URL that a browser"),
        ({"type": "url_match", "url": "http://h.test/{a,b}"}, ".url[0]", "path: regex"),
        ({"type": "url_match", "url": "http://h.test/[0-9]+"}, ".url[0]", "path: regex"),
        ({"type": "url_match", "url": "http://h.test/\\d+"}, ".url[0]", "path: regex"),
        ({"type": "url_match", "url": "http://h.test/(a|b)"}, ".url[0]", "path: regex"),
        ({"type": "url_match", "url": "^http://h.test/a", "path": "regex"}, ".url[0]", "begin with a root"),
        ({"type": "url_match", "url": "http://h.test/*", "path": "regex"}, ".url[0]", "nothing to repeat"),
        ({"type": "url_match", "url": "http://h.test/a\\?b=1", "path": "regex"}, ".url[0]", "give the query"),
        ({"type": "page", "selector": "//h1", "expect": {"equals": "x"}}, ".selector", "`locator`"),
        ({"type": "page", "selector": "h1:has-text('x')", "expect": {"equals": "x"}}, ".selector", "has-text"),
        ({"type": "page", "locator": "document.querySelector('p:has-text(1)').innerText", "expect": {"equals": "x"}},
         ".locator", "has-text"),
        ({"type": "page", "expect": {"all_of": [""]}}, ".expect.all_of[0]", "empty reference"),
        ({"type": "network", "expected": {"url": "/a"}}, ".expected.url[0]", "no URL"),
        ({"type": "network", "expected": {"url": "^[$"}}, ".expected.url[0]", "regular expression"),
        ({"type": "network", "expected": {"url": "http://h.test/a", "post_data": {"$[": 1}}}, ".expected.post_data.$[", "cannot be read"),
        ({"type": "network", "expected": {"url": "http://h.test/a", "post_data": {"a": ["^(a*)*$"]}}}, ".expected.post_data.a[0]", "repeat"),
        ({"type": "network", "expected": {"url": "http://h.test/a"}, "ignored_query_params_patterns": ["["]},
         ".ignored_query_params_patterns[0]", "regular expression"),
        ({"type": "agent_response", "expected": {"task_type": "retrieve", "retrieved_data": ["^[$"]}},
         ".expected.retrieved_data[0]", "regular expression"),
    ],
)  # fmt: skip
def test_a_fault_is_found_before_and_is_an_error_after(check: dict[str, Any], place: str, words: str) -> None:
    task = decode_task({**BASE, "checks": [check]})
    found = [fault for fault in task_faults([task], tuple(SITES)) if fault.is_error]
    assert [fault.path for fault in found] == [f"$.checks[0]{place}"]
    assert words in found[0].message
    assert errors_of(task) != []


@given(
    st.sampled_from(["http", "https"]), st.from_regex(r"/([a-z]{1,5}/){0,2}(\?[a-z]=[0-9])?", fullmatch=True)
)
def test_a_plain_url_has_no_fault(scheme: str, rest: str) -> None:
    task = decode_task({**BASE, "checks": [{"type": "url_match", "url": f"{scheme}://h.test{rest}"}]})
    assert task_faults([task]) == []
