"""CONTRIBUTING.md, docs/releasing.md and the forms of .github: what they name exists."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.test_docs import links_that_lead_nowhere

ROOT = Path(__file__).resolve().parent.parent
GUIDE = ROOT / "CONTRIBUTING.md"
RELEASING = ROOT / "docs" / "releasing.md"
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
ROOTS = ("replaykit", "tests", "docs", "fixtures", "recordings", "bench", ".ci")


def named_paths(page: Path) -> list[str]:
    """Every path below the root that a page writes as code, alone or in a command."""
    words = " ".join(re.findall(r"`([^`\n]+)`", page.read_text("utf-8"))).split()
    return [word for word in words if "/" in word and word.split("/")[0] in ROOTS and "NNNN" not in word]


@pytest.mark.parametrize("page", [GUIDE, RELEASING], ids=lambda page: str(page.name))
def test_every_path_that_a_page_names_exists(page: Path) -> None:
    paths = named_paths(page)
    assert paths
    assert [path for path in paths if not list(ROOT.glob(path))] == []


def test_the_guide_has_a_line_for_every_folder() -> None:
    listed = set(re.findall(r"^\| `(\S+)/` \|", GUIDE.read_text("utf-8"), flags=re.M))
    parts = {path.parent for path in (ROOT / "replaykit").glob("*/*.py")}
    others = {"fixtures", "recordings", "tests", "bench", "docs"}
    assert listed == others | {path.relative_to(ROOT).as_posix() for path in parts}


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("tasks/checks.py", "Check"),
        ("grading/checks/dispatch.py", "items_of"),
        ("grading/checks/benchmark_rules.py", "RULES"),
        ("tasks/faults/check_faults.py", "_of_check"),
        ("tasks/policy_rules.py", "Rule"),
        ("tasks/faults/policy_faults.py", "_rule"),
        ("grading/policies/rule_registry.py", "RULES"),
        ("grading/findings/taxonomy.py", "KINDS"),
        ("grading/findings/detection.py", "findings_of"),
        ("recorder/session/gestures/recogniser.py", "_STARTERS"),
        ("grading/judges/protocols.py", "_PROTOCOLS"),
        ("grading/judges/judge_options.py", "PROTOCOLS"),
        ("interop/registry.py", "IMPORTERS"),
        ("interop/bundle_export.py", "EXPORTERS"),
        ("report/report_formats.py", "FORMATS"),
        ("report/report_formats.py", "BY_EXTENSION"),
    ],
)
def test_a_place_of_registration_is_where_the_guide_says(path: str, name: str) -> None:
    guide = " ".join(GUIDE.read_text("utf-8").split())
    assert f"`replaykit/{path}`" in guide and re.search(rf"[`.]{name}`", guide), name
    assert name in defined(ROOT / "replaykit" / path)


def defined(path: Path) -> set[str]:
    """Names of functions, and of what is assigned, at any depth."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found


def test_the_guide_begins_with_the_two_commands() -> None:
    (block,) = re.findall(r"```sh\n(.*?)```", GUIDE.read_text("utf-8"), flags=re.S)
    assert [line.split("#")[0].strip() for line in block.splitlines()] == ["sh .ci/demo", "sh .ci/test"]


def test_the_entry_points_that_the_guide_names_are_those_that_are_read() -> None:
    source = "\n".join(path.read_text("utf-8") for path in (ROOT / "replaykit/grading").rglob("*.py"))
    groups = set(re.findall(r'^GROUP = "(.+)"', source, flags=re.M))
    assert set(re.findall(r"group\s+`(replaykit\.\w+)`", GUIDE.read_text("utf-8"))) == groups


def test_links_of_the_guide_resolve() -> None:
    assert links_that_lead_nowhere(GUIDE) == []


def test_the_versions_that_ci_tests_are_those_that_the_page_on_releasing_names() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text("utf-8"))
    (versions,) = re.findall(r"CI tests ([0-9., and]+)\.", RELEASING.read_text("utf-8"))
    assert re.split(r", | and ", versions) == workflow["jobs"]["test"]["strategy"]["matrix"]["python"]


def test_there_is_a_form_for_each_kind_of_issue() -> None:
    assert {path.stem for path in FORMS} == {"wrong-verdict", "failed-import", "feature", "config"}


@pytest.mark.parametrize(
    "path", [path for path in FORMS if path.stem != "config"], ids=lambda path: str(path.stem)
)
def test_a_form_is_one_that_github_takes(path: Path) -> None:
    form: dict[str, Any] = yaml.safe_load(path.read_text("utf-8"))
    assert form["name"] and form["description"]
    asked = [part for part in form["body"] if part["type"] != "markdown"]
    assert {part["type"] for part in asked} <= {"textarea", "input", "dropdown", "checkboxes"}
    assert len({part["id"] for part in asked}) == len(asked) > 0
    assert all(part["attributes"]["label"] for part in asked)
    assert any(part.get("validations", {}).get("required") for part in asked)


def test_the_form_of_a_wrong_verdict_demands_what_a_verdict_rests_on() -> None:
    form = yaml.safe_load((ROOT / ".github/ISSUE_TEMPLATE/wrong-verdict.yml").read_text("utf-8"))
    needed = {part["id"] for part in form["body"] if part.get("validations", {}).get("required")}
    assert needed >= {"task", "expected", "bundle"}


def test_the_build_of_the_page_on_releasing_is_the_project_s() -> None:
    backend = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["build-system"]["build-backend"]
    assert f"python -m {backend.partition('.')[0]} build" in RELEASING.read_text("utf-8")
