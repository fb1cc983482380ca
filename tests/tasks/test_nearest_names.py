"""A wrong name in a task or policy file is answered with the nearest one, wherever it stands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.demo.starter_files import write_starter
from replaykit.errors import TaskError
from replaykit.tasks.faults.nearest_names import suggestion
from replaykit.tasks.suite import SuiteFile, load_policies, load_suite


@pytest.mark.parametrize(
    ("right", "wrong", "nearest", "among"),
    [
        ("url_match", "url_mach", "url_match", "string_match"),
        ("not_empty", "notempty", "not_empty", "any_of"),
        ("must_exclude", "mustexclude", "must_exclude", "one_of"),
        ("start_urls", "start_url", "start_urls", "intent"),
        ("path: prefix", "path: prefx", "prefix", "regex"),
        ("sites:\n", "sits:\n", "sites", "policies"),
    ],
)
def test_in_a_task_file(right: str, wrong: str, nearest: str, among: str, tmp_path: Path) -> None:
    assert_suggested(load_suite, "tasks.yaml", (right, wrong), (nearest, among), tmp_path)


@pytest.mark.parametrize(
    ("right", "wrong", "nearest", "among"),
    [
        ("url_boundary", "url_bound", "url_boundary", "no_leak"),
        ("allow:", "alow:", "allow", "deny"),
        ("dimension: user_consent", "dimension: user_consnt", "user_consent", "strict_execution"),
        ("guarded:", "guarde:", "guarded", "approval"),
        ("action:", "acton:", "action", "selector"),
        ("description: Open", "descripton: Open", "description", "yields_to"),
    ],
)
def test_in_a_policy_file(right: str, wrong: str, nearest: str, among: str, tmp_path: Path) -> None:
    assert_suggested(load_policies, "policies.yaml", (right, wrong), (nearest, among), tmp_path)


def assert_suggested(
    read: Any, name: str, change: tuple[str, str], expected: tuple[str, str], folder: Path
) -> None:
    write_starter(folder, "http://shop.test")
    file = folder / name
    text = file.read_text()
    assert change[0] in text
    file.write_text(text.replace(*change))
    with pytest.raises(TaskError) as found:
        read(file)
    reason = found.value.fields["reason"]
    assert f"; did you mean {expected[0]}? (there are " in reason
    assert expected[1] in reason.partition("there are")[2]


def test_what_is_near_to_nothing_gets_the_list_only() -> None:
    said = suggestion("Object contains unknown field `zzzzzzzz`", "$", {}, SuiteFile)
    assert said.startswith(" (there are schema, tasks,")


def test_another_fault_gets_no_name() -> None:
    assert suggestion("Expected `str`, got `int`", "$.name", {"name": 1}, SuiteFile) == ""


PLAIN = st.recursive(
    st.none() | st.text(max_size=9),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=9), inner),
)


@given(
    reason=st.sampled_from(
        ["Object contains unknown field `{}`", "Invalid value '{}'", "Invalid enum value '{}'"]
    ),
    word=st.text(),
    path=st.lists(st.sampled_from([".policies", "[0]", "[...]", ".rule", ".type", ".judge", ".nothing"])),
    plain=PLAIN,
)
def test_no_place_and_no_value_is_a_defect(reason: str, word: str, path: list[str], plain: Any) -> None:
    said = suggestion(reason.format(word), "$" + "".join(path), plain, SuiteFile)
    assert said == "" or "(there are " in said
