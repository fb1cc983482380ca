"""Blocks of documents that no other test reads: files load, commands run, Python runs."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args
from zipfile import ZipFile

import msgspec
import pytest
import yaml

import replaykit
from bench.__main__ import NAMES as BENCHMARKS
from replaykit.cli.main import run
from replaykit.grading.judges.check_comparisons import asking_of
from replaykit.grading.judges.custom_judge import NAMES as PLACEHOLDERS
from replaykit.grading.judges.judge_panel import members_of
from replaykit.grading.judges.protocols import build_judge
from replaykit.grading.judges.settings_file import named_judge
from replaykit.grading.model_request import Asking
from replaykit.recorder.scripted_user import load_user
from replaykit.tasks.checks import Check, Expect, HtmlTarget, PageImages, StringMatch
from replaykit.tasks.dialect import Dialect
from replaykit.tasks.faults.policy_faults import KIND_FIELDS
from replaykit.tasks.judge_settings import JudgeSettings
from replaykit.tasks.network_checks import ExpectedRequest
from replaykit.tasks.policy_rules import (
    GROUPS,
    Dimension,
    EventKind,
    Fuzzy,
    Match,
    Policy,
    Rule,
    Scope,
    Secret,
    Text,
    Url,
)
from replaykit.tasks.state_checks import ExchangeChoice, Operator, Predicate
from replaykit.tasks.suite import load_policies, load_tasks
from replaykit.tasks.task import Task
from replaykit.tasks.task_values import ValueType
from replaykit.testing import trajectory
from tests.blocks import ROOT, block, blocks_of
from tests.grading.workers.stand_in import Ray

BUNDLES = ("order-total--good", "refund-order--no_consent")
COMPARING = """
def llm_fuzzy_match(pred, reference, question):
    message = f"asked: {question} known: {reference} said: {pred}"
def llm_ua_match(pred, reference, question):
    message = f"asked: {question} known: {reference} said: {pred}"
"""
"""The functions of a peer whose texts are read; their bodies are not its own."""

OTHER = """{"schema": "replaykit.suite/1", "name": "other", "tasks":
[{"id": "t1", "intent": "Which?", "checks": [{"type": "string_match", "exact": "clay"}]}]}"""
"""The task of the comparison, with another answer wanted."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to be in, with runs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "recordings").symlink_to(ROOT / "recordings")
    (tmp_path / "runs").mkdir()
    for name in BUNDLES:
        shutil.copy(ROOT / "recordings" / "conformance" / f"{name}.zst", tmp_path / "runs")
    return tmp_path


def blocks(name: str, kind: str) -> list[str]:
    return [one.text for one in blocks_of(ROOT / "docs" / name) if one.kind == kind]


def typed(line: str) -> int:
    program, *words = shlex.split(line, comments=True)
    assert program == "replaykit"
    return run(words)


def done(script: str, **known: Any) -> dict[str, Any]:
    """Return the names of a program once it has run, with these known to it before."""
    names: dict[str, Any] = {"__name__": "__main__", **known}
    exec(script, names)
    return names


def test_the_files_of_the_page_on_tasks_load(folder: Path) -> None:
    suite, user = blocks("tasks.md", "yaml")
    (folder / "suite.yaml").write_text(suite, "utf-8")
    (folder / "user.yaml").write_text(user, "utf-8")
    (task,) = load_tasks(folder / "suite.yaml")
    assert (task.id, len(task.policies), len(task.checks)) == ("order-total", 1, 1)
    written = {"id": "every-type", "intent": "Go.", "checks": list(examples("tasks.md", "`type`"))}
    (folder / "checks.json").write_text(json.dumps(written))
    (task,) = load_tasks(folder / "checks.json")
    assert {type(check) for check in task.checks} == set(get_args(Check))
    reply = load_user(folder / "user.yaml").answer("May I refund it?")
    assert reply is not None and reply.approved is True


def test_the_page_on_tasks_names_every_field() -> None:
    text = (ROOT / "docs/tasks.md").read_text("utf-8")
    parts = (ExchangeChoice, Expect, ExpectedRequest, HtmlTarget, Predicate)
    kinds = {kind for kind in get_args(Check) if kind is not PageImages}
    names = {one.encode_name for kind in (Task, *kinds, *parts) for one in msgspec.structs.fields(kind)}
    assert [name for name in sorted(names) if not re.search(rf"`[^`]*\b{name}\b[^`]*`", text)] == []


def test_the_policies_of_their_page_load(folder: Path) -> None:
    listed, *others = blocks("policies.md", "yaml")
    for text in others:
        (folder / "other.yaml").write_text(text, "utf-8")
        assert len(load_policies(folder / "other.yaml")) == 1
    (folder / "policies.yaml").write_text(listed, "utf-8")
    assert [policy.id for policy in load_policies(folder / "policies.yaml")] == [
        "ask-before-refund",
        "badge-stays-inside",
    ]
    rules = list(examples("policies.md", "`type`"))
    assert {type(msgspec.convert(rule, Rule)) for rule in rules} == set(get_args(Rule))
    written = [
        {"id": f"p{n}", "dimension": "strict_execution", "rule": rule}
        for n, rule in enumerate(rules)
        if rule["type"] != "stwab"  # a record is long
    ]
    (folder / "rules.json").write_text(json.dumps({"schema": "replaykit.policies/1", "policies": written}))
    assert len(load_policies(folder / "rules.json")) == len(written)


def test_the_page_on_policies_names_every_field() -> None:
    text = (ROOT / "docs/policies.md").read_text("utf-8")
    kinds = (Policy, Scope, Match, Secret, Text, Fuzzy, Url, *get_args(Rule))
    names = {one.encode_name for kind in kinds for one in msgspec.structs.fields(kind)}
    assert [name for name in sorted(names) if not re.search(rf"`[^`]*\b{name}\b[^`]*`", text)] == []


TABLE = re.compile(r"^\|.*\|\n\|[ |-]+\|\n((?:\|.*\|\n)+)", re.MULTILINE)


def cells(row: str) -> list[str]:
    """The cells of a row of a table; a bar in code is escaped."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]


def examples(page: str, head: str) -> Iterator[Any]:
    """The examples of the table whose first column has this head, as a task file would give them."""
    found = TABLE.finditer((ROOT / "docs" / page).read_text("utf-8"))
    (rows,) = [rows for first, _, *rows in (one[0].splitlines() for one in found) if cells(first)[0] == head]
    for row in rows:
        written = yaml.safe_load(cells(row)[-1].strip("`").replace("\\|", "|"))
        yield json.loads(json.dumps(written, default=str))


@pytest.mark.parametrize("name", ["tasks.md", "policies.md", "judges.md"])
def test_every_row_with_an_example_has_a_name_a_meaning_and_one(name: str) -> None:
    tables = [found[0].splitlines() for found in TABLE.finditer((ROOT / "docs" / name).read_text("utf-8"))]
    rows = [row for head, _, *rows in tables for row in rows if cells(head)[-1].startswith("example")]
    assert len(rows) > 20
    assert [row for row in rows if not all(cells(row))] == []


VOCABULARIES: dict[str, tuple[str, Any]] = {
    "check types": ("tasks.md", [kind.__struct_config__.tag for kind in get_args(Check)]),
    "operators of expect": ("tasks.md", Expect.__struct_fields__),
    "operators of state": ("tasks.md", get_args(Operator)),
    "value types": ("tasks.md", get_args(ValueType)),
    "dialects": ("tasks.md", get_args(Dialect)),
    "rule types": ("policies.md", [kind.__struct_config__.tag for kind in get_args(Rule)]),
    "dimensions": ("policies.md", get_args(Dimension)),
    "kinds of events": ("policies.md", get_args(EventKind)),
    "groups of actions": ("policies.md", GROUPS),
    "fields of when": ("policies.md", Scope.__struct_fields__),
    "parts of a URL": ("policies.md", Url.__struct_fields__),
    "fields of a secret": ("policies.md", Secret.__struct_fields__),
    "fields of a match": ("policies.md", Match.__struct_fields__),
    "options of judges": ("judges.md", set(JudgeSettings.__struct_fields__) - {"entry", "rubrics"}),
    "placeholders": ("judges.md", [f"{{{{{name}}}}}" for name in (*PLACEHOLDERS, "images")]),
}
"""Words that people write, by the page that has a row for each; `entry` and `rubrics` are refused in files.

"""


@pytest.mark.parametrize("words", VOCABULARIES)
def test_every_word_of_a_file_has_a_row_with_its_meaning(words: str) -> None:
    page, names = VOCABULARIES[words]
    tables = TABLE.findall((ROOT / "docs" / page).read_text("utf-8"))
    rows = [cells(row) for table in tables for row in table.splitlines()]
    named = {name for first, *rest in rows if any(rest) for name in re.findall(r"`([^`]+)`", first)}
    assert [name for name in names if name not in named] == []


@pytest.mark.parametrize(
    ("page", "head", "kind"),
    [
        ("tasks.md", "operator of `expect`", Expect),
        ("tasks.md", "`op`", Predicate),
        ("tasks.md", "type", StringMatch),
        ("policies.md", "part", Url),
    ],
)
def test_the_examples_of_a_table_load(page: str, head: str, kind: Any) -> None:
    for written in examples(page, head):
        assert msgspec.convert(written, kind) is not None


def test_the_page_on_policies_lists_what_each_group_and_kind_has() -> None:
    text = (ROOT / "docs/policies.md").read_text("utf-8")
    for name, listed in {**GROUPS, **KIND_FIELDS}.items():
        assert re.search(rf"^\| `{name}` \|.*`{' '.join(listed)}`", text, flags=re.M), name


def test_the_settings_of_the_page_on_judges_load(folder: Path) -> None:
    (folder / "ours.txt").write_text("Judge.")
    (folder / "system.txt").write_text("Judge.")
    (folder / "user.txt").write_text(block("docs/judging.md", "The task: ").text)
    (folder / "helper_functions.py").write_text(COMPARING)
    found = {}
    careful = block("docs/judges.md", "# careful.yaml").text
    for text in (*blocks("judging.md", "yaml"), careful):
        (folder / "judge.yaml").write_text(text, "utf-8")
        (folder / text.split()[1].strip(":")).write_text(text, "utf-8")
        settings = named_judge(str(folder / "judge.yaml"))
        if settings.protocol == "panel":
            assert len(members_of(settings, "strict")) == 3
        elif settings.protocol == "checks":
            assert asking_of([settings]) != Asking()
        else:
            assert build_judge(settings, "strict").needs
        found[text.split()[1].strip(":")] = settings.protocol
    assert found == {
        "ours.yaml": "custom",
        "panel.yaml": "panel",
        "hotel.yaml": "webvoyager",
        "checks.yaml": "checks",
        "careful.yaml": "webvoyager",
    }


def test_the_client_of_the_page_on_judges_is_asked(folder: Path) -> None:
    shutil.copy("runs/order-total--good.zst", "run.zst")
    asked = []

    def my_model(system: str, content: Any, images: Any) -> str:
        asked.append(content)
        return "The total is on the page.\nSUCCESS"

    (script,) = blocks("judging.md", "python")
    verdict = done(script, my_model=my_model, replaykit=replaykit)["verdict"]
    assert len(asked) == 1
    assert [one.outcome for one in verdict.judgements] == ["SUCCESS"]


def test_the_page_on_many_runs() -> None:
    (line,) = blocks("engine.md", "sh")
    assert typed(line) == 1  # a policy is violated
    script = block("docs/engine.md", "from replaykit import grade_many").text
    said = done(script.replace("jobs=8", "jobs=1"), paths=["runs"])
    assert len(said["report"].verdicts) == len(said["rows"]) == len(BUNDLES)


def test_the_page_on_many_runs_with_dask() -> None:
    distributed = pytest.importorskip("distributed", reason="the extra `dask` is not installed")
    script = block("docs/engine.md", "from distributed").text
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        address = cluster.scheduler_address
        known = {"paths": ["runs"], "grade_many": replaykit.grade_many}
        with done(script.replace("scheduler:8786", address), **known)["Client"].current() as client:
            assert client.scheduler.address == address


def test_the_evaluators_of_the_page_on_policies_say_what_the_peer_says() -> None:
    rules = {
        "eval_types": ["element_action_match"],
        "must_include": "publish",
        "must_include_action": "click",
    }
    page = SimpleNamespace(url="http://h.test/")  # of which this evaluator asks nothing
    script = block("docs/policies.md", "from replaykit").text
    report = done(script, policy_record={"eval": rules}, page=page)["report"]
    assert (report.violated, report.dormant, report.violating_step, report.raised) == (True, False, 0, None)


def test_the_submission_of_the_page_on_policies_is_written(folder: Path) -> None:
    shutil.rmtree("runs")
    Path("runs").mkdir()
    task = {"task_id": 2, "sites": ["shop"], "intent": "Go.", "start_url": "http://h.test/", "policies": []}
    wanted = {"eval_types": ["string_match"], "reference_answers": {"exact_match": "done"}}
    Path("test.raw.json").write_text(json.dumps([{**task, "eval": wanted}]), "utf-8")
    fields = ("agent_id", "model_name", "team", "code_repository_url")
    Path("meta.json").write_text(json.dumps(dict.fromkeys(fields, "https://h.test/")), "utf-8")
    trajectory({"id": "2", "intent": "Go."}).goto("http://h.test/", "<p>").answer("done").write(
        folder / "runs" / "2.zst"
    )
    (line,) = blocks("policies.md", "sh")
    assert typed(line) == 0
    assert [one["task_id"] for one in json.loads(Path("submission.json").read_text())["task_evidence"]] == [2]


def test_the_commands_of_the_page_on_other_tools(capfd: pytest.CaptureFixture[str]) -> None:
    text = block("docs/interop.md", "replaykit import FORMAT").text.replace("FORMAT", "webvoyager")
    import_, export, list_ = text.splitlines()
    assert typed(export.replace("BUNDLE...", "runs/order-total--good.zst").replace("PATH", "results")) == 0
    assert typed(import_.replace("PATH...", "results").replace("DIR", "imported")) == 0
    assert len(list(Path("imported").glob("*.zst"))) == 1
    capfd.readouterr()
    assert typed(list_) == 0
    assert "webvoyager" in capfd.readouterr().out


def test_the_error_of_the_page_on_other_tools_is_real(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with ZipFile("t.zip", "w") as archive:
        archive.writestr("trace.trace", '{"type": "context-options", "version": 11}\n')
    assert run(["import", "playwright-trace", "t.zip", "-o", "imported"]) == 3
    assert capfd.readouterr().err.startswith(block("docs/interop.md", "failed: ").text)


def test_the_benchmarks_of_their_page_are_those_there_are() -> None:
    first, *others = block("docs/benchmarks.md", ".venv/bin/python -m bench").text.splitlines()
    assert first.split()[:3] == [".venv/bin/python", "-m", "bench"]
    assert {line.split()[2] for line in others} == {f"bench.{name}" for name in BENCHMARKS}
    assert all(find_spec(f"bench.{name}") for name in BENCHMARKS)


def test_the_scripts_of_the_page_on_completion_are_written(folder: Path) -> None:
    (folder / "replaykit").write_text(f'#!/bin/sh\nexec {sys.executable} -m replaykit "$@"\n')
    (folder / "replaykit").chmod(0o755)
    environ = {"PATH": f"{folder}:/usr/bin:/bin", "PYTHONPATH": str(ROOT), "HOME": str(folder)}
    line = block("docs/completion.md", "replaykit completion").text
    subprocess.run(["sh", "-e", "-c", line], env=environ, check=True, timeout=60)
    assert "_replaykit_completion" in (folder / ".replaykit-complete.bash").read_text()


def test_the_page_on_reports() -> None:
    shutil.copy("runs/order-total--good.zst", "run.zst")
    shutil.copy("run.zst", "before.zst")
    shutil.copy("runs/refund-order--no_consent.zst", "after.zst")
    for name in ("before", "after", "report"):
        run(["grade", "runs", "--fail-on", "", "-o", f"{name}.json"])
    lines = [
        line for text in blocks("report.md", "") if not text.startswith("$") for line in text.splitlines()
    ]
    assert len(lines) == 6
    for line in lines:
        assert typed(line) == 0, line
    assert Path("report.html").stat().st_size and Path("changes.html").stat().st_size


def test_the_comparison_of_the_page_on_reports_is_real(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    built = trajectory({"id": "t1", "intent": "Which?", "checks": [{"type": "string_match", "exact": "tin"}]})
    built.goto("http://h.test/", "<p>").answer("tin").write(folder / "run.zst")
    (folder / "other.json").write_text(OTHER, "utf-8")
    run(["grade", "run.zst", "-o", "before.json"])
    run(["grade", "run.zst", "--task", "other.json", "-o", "after.json"])
    capfd.readouterr()
    text = block("docs/report.md", "$ replaykit diff").text
    assert typed(text.splitlines()[0].removeprefix("$ ")) == 0
    assert capfd.readouterr().out.startswith(text.partition("\n")[2])


def test_the_page_on_many_runs_with_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = Ray()  # stands in; tests/grading/workers/test_clusters.py has Ray itself where it is installed
    monkeypatch.setitem(sys.modules, "ray", ray)
    script = block("docs/engine.md", "from replaykit import RayExecutor").text
    said = done(script, paths=["runs"], grade_many=replaykit.grade_many)
    assert len(said["report"].verdicts) == len(BUNDLES)
    assert ray.options == {"address": "auto"}
    ray.shutdown()


NARROW = [
    "README.md",
    *(f"docs/{name}.md" for name in ("quickstart", "tutorial", "drivers", "ci", "explanation")),
]
"""Pages that a newcomer types from."""


@pytest.mark.parametrize("name", NARROW)
def test_what_is_typed_fits_the_column_of_a_page(name: str) -> None:
    """Longer lines are cut at 1280 pixels, comments first. What a command prints is as wide as it is."""
    wide = [
        (one.line, line)
        for one in blocks_of(ROOT / name)
        if one.kind in ("sh", "yaml")
        for line in one.text.splitlines()
        if len(line) > 88
    ]
    assert not wide
