"""The reader of ST-WebAgentBench files: the public file where it is found, and small records of our own."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.errors import TaskError
from replaykit.tasks.benchmarks.stwebagentbench import flattened, load, read_stwebagentbench
from replaykit.tasks.checks import StringMatch, UrlMatch
from replaykit.tasks.policy_rules import Informational, Stwab
from replaykit.tasks.suite import load_suite
from replaykit.tasks.task import Task, agent_view, decode_task, fill_task, graded

SHARED = Path(os.environ.get("REPLAYKIT_SHARED_DATA", Path(__file__).parents[2] / "../shared/data"))
PUBLIC = SHARED / "st-webagentbench" / "test.raw.json"


def policy(kind: str = "is_url_match", **fields: Any) -> dict[str, Any]:
    return {
        "policy_template_id": "navigation_limitation",
        "policy_category": "boundary_and_scope_limitation",
        "source": "organization",
        "description": "Stay out of the office.",
        "policy_template": "navigation_limitation",
        "eval": {"eval_types": [kind], "reference_url": "__GITLAB__/office", "url_note": "contains_any"},
        **fields,
    }


def record(*policies: Any, **fields: Any) -> dict[str, Any]:
    return {
        "task_id": 3,
        "sites": ["gitlab"],
        "start_url": "__GITLAB__ |AND| __GITLAB__/x",
        "intent": "Open __GITLAB__.",
        "intent_template_id": 9,
        "eval": {
            "eval_types": ["url_match"],
            "reference_answers": None,
            "reference_url": "__GITLAB__/done",
            "url_note": "GOLD in PRED",
            "program_html": [],
        },
        "policies": list(policies),
        **fields,
    }


def one(*policies: Any, **fields: Any) -> Task:
    return read_stwebagentbench([record(*policies, **fields)], "tasks.json")[0]


def test_a_record_becomes_a_task_and_stays_verbatim() -> None:
    written = record(policy(), task_metadata={"difficulty_tier": "easy"}, setup_scripts=["f()"])
    task = read_stwebagentbench([written], "tasks.json")[0]
    assert (task.id, task.dialect, task.sites) == ("3", "stwebagentbench", ("gitlab",))
    assert task.metadata == {"template": 9, "difficulty_tier": "easy"}
    assert task.checks == (UrlMatch(url="__GITLAB__/done", path="prefix"),)
    assert task.source_record == written
    (kept,) = task.policies
    assert isinstance(kept.rule, Stwab)
    assert (kept.id, kept.rule.record) == ("0-navigation_limitation", written["policies"][0])


def test_placeholders_are_filled_in_every_text_but_the_record() -> None:
    filled = fill_task(one(policy()), {"gitlab": ("http://g.test/",)})
    assert filled.start_urls == ("http://g.test", "http://g.test/x")
    rule = filled.policies[0].rule
    assert isinstance(rule, Stwab)
    assert rule.record["eval"]["reference_url"] == "http://g.test/office"
    assert filled.source_record["start_url"].startswith("__GITLAB__")


def test_a_task_survives_its_own_json() -> None:
    import msgspec

    task = one(policy(), policy(description=""))
    assert decode_task(msgspec.to_builtins(task)) == task


def test_the_agent_sees_the_description_and_no_rule() -> None:
    shown = agent_view(one(policy()), {})
    assert [p.description for p in shown.policies] == ["Stay out of the office."]
    assert "office" not in str(shown.start_urls)


def test_nested_lists_are_read_depth_first() -> None:
    first, second, third, fourth = (policy(description=str(n)) for n in range(4))
    task = one(first, [second, [third]], fourth)
    assert [p.description for p in task.policies] == ["0", "1", "2", "3"]


@given(st.recursive(st.integers(), lambda inner: st.lists(inner, max_size=3), max_leaves=8))
def test_flattening_loses_nothing(nested: Any) -> None:
    found = list(flattened([nested]))
    assert "".join(c for c in json.dumps(nested) if c not in "[] ,") == "".join(map(str, found))
    assert not any(isinstance(one, list) for one in found)


@pytest.mark.parametrize(
    ("category", "dimension"),
    [
        ("consent", "user_consent"),
        ("boundary", "boundary_and_scope_limitation"),
        ("exact_task", "strict_execution"),
    ],
)
def test_categories_of_2024_are_dimensions(category: str, dimension: str) -> None:
    old = policy(policy_category=category)
    del old["source"]
    task = one(old)
    assert (task.policies[0].dimension, task.policies[0].source) == (dimension, "organization")


def test_a_general_policy_of_2024_is_listed_and_not_graded() -> None:
    task = one(policy("is_fake_policy", policy_category="general"))
    assert isinstance(task.policies[0].rule, Informational)
    assert graded(task.policies) == ()


@pytest.mark.parametrize(
    ("task", "path"),
    [
        (record(policy(policy_category="safety")), "$.policies[0].policy_category"),
        (record(policy(policy_category=["consent"])), "$.policies[0].policy_category"),
        (record(policy(), policy(source="law")), "$.policies[1].source"),
        (record("x"), "$.policies[0]"),
        (record(policy(eval=[])), "$.policies[0].eval"),
        ({**record(), "policies": {}}, "$.policies"),
        ({**record(), "eval": {"eval_types": ["vision"]}}, "$.eval.eval_types[0]"),
    ],
)
def test_a_fault_is_named_by_its_path(task: dict[str, Any], path: str) -> None:
    with pytest.raises(TaskError) as caught:
        read_stwebagentbench([task], "tasks.json")
    assert caught.value.fields["path"] == path
    assert str(caught.value.fields["source"]) == "tasks.json#3"


def written(tmp_path: Path, *records: Any) -> Path:
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps(list(records)), encoding="utf-8")
    return path


def test_a_placeholder_without_a_root_is_named_by_its_path(tmp_path: Path) -> None:
    path = written(tmp_path, record(policy()))
    assert load(path)[0].checks == (UrlMatch(url="__GITLAB__/done", path="prefix"),)
    assert load(path, {"gitlab": "http://g.test"})[0].checks == (
        UrlMatch(url="http://g.test/done", path="prefix"),
    )
    with pytest.raises(TaskError) as caught:
        load(path, {"reddit": "http://r.test"})
    assert caught.value.fields["path"] == "$.eval.reference_url"
    assert "__GITLAB__ (and 1 more); sites given: reddit" in str(caught.value)
    assert len(load(path, {}, allow_unresolved=True)) == 1


def test_a_start_page_without_a_root_is_no_matter_of_grading(tmp_path: Path) -> None:
    plain = policy(eval={"eval_types": ["popup_error"]})
    rules = {"eval_types": ["url_match"], "reference_url": "http://x.test/"}
    assert len(load(written(tmp_path, record(plain, eval=rules)), {})) == 1


@pytest.mark.parametrize("text", ["", "{}", "[1]", "\x00"])
def test_what_is_no_task_file_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "tasks.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(TaskError):
        load(path)
    with pytest.raises(TaskError):
        load(tmp_path / "nowhere.json")


def test_a_suite_is_recognised_by_its_policies(tmp_path: Path) -> None:
    (task,) = load_suite(written(tmp_path, record(policy()))).tasks
    assert task.dialect == "stwebagentbench"
    bare = record()
    del bare["policies"]
    assert load_suite(written(tmp_path, bare)).tasks[0].dialect == "webarena"


@pytest.fixture(scope="module")
def public() -> list[Task]:
    if not PUBLIC.exists():
        pytest.skip(f"no public task file at {PUBLIC}: set REPLAYKIT_SHARED_DATA")
    return load(PUBLIC)


def test_the_public_file_has_the_published_counts(public: list[Task]) -> None:
    rules = [p.rule.record for task in public for p in task.policies if isinstance(p.rule, Stwab)]
    assert (len(public), len(rules)) == (375, 3057)
    assert Counter(rule["eval"]["eval_types"][0] for rule in rules) == {
        "is_url_match": 895, "element_action_match": 770, "is_program_html": 377, "is_ask_the_user": 350,
        "is_sensitive_data": 261, "is_action_count": 160, "popup_error": 90, "is_input_hallucination": 87,
        "is_sequence_match": 67,
    }  # fmt: skip
    assert Counter(p.source for task in public for p in task.policies) == {
        "organization": 2300, "user": 700, "task": 57,
    }  # fmt: skip
    assert len({p.tags["template"] for task in public for p in task.policies}) == 11
    assert [min(found := [len(t.policies) for t in public]), max(found)] == [1, 21]
    assert Counter("difficulty_tier" in t.metadata for t in public)[True] == 60
    assert Counter("modality_class" in t.metadata for t in public)[True] == 80
    answers = [c for t in public for c in t.checks if isinstance(c, StringMatch)]
    assert sum(isinstance(c.fuzzy, str) and c.fuzzy != "N/A" for c in answers) == 11


def test_the_public_file_survives_verbatim(public: list[Task]) -> None:
    assert [task.source_record for task in public] == json.loads(PUBLIC.read_text(encoding="utf-8"))
    for task in public:
        assert [p.rule.record for p in task.policies if isinstance(p.rule, Stwab)] == task.source_record[
            "policies"
        ]


def test_the_public_file_is_filled_by_its_three_sites(public: list[Task]) -> None:
    sites = {name: f"http://{name}.test" for name in ("gitlab", "suitecrm", "shopping_admin")}
    assert len(load(PUBLIC, sites)) == len(public)
    with pytest.raises(TaskError, match="__GITLAB__"):
        load(PUBLIC, {name: sites[name] for name in ("suitecrm", "shopping_admin")})
