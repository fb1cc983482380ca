"""`replaykit tasks` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from replaykit.cli.main import cli

SUITE = """
schema: replaykit.suite/1
sites: {shop: "http://s.test"}
tasks:
  - {id: a, intent: Find it., checks: [{type: string_match, exact: x}], metadata: {level: easy}}
  - {id: b, intent: "Buy\tit.", checks: [{type: url_match, url: __SHOP__/b}], metadata: {level: hard}}
"""


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["tasks", *map(str, arguments)])


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    file = tmp_path / "suite.yaml"
    file.write_text(SUITE)
    return file


def test_a_good_file(suite: Path) -> None:
    found = run("validate", suite)
    assert (found.exit_code, found.output) == (0, f"{suite}: 2 tasks, 0 errors, 0 notes\n")


def test_faults_are_all_named(suite: Path) -> None:
    suite.write_text(SUITE.replace("exact: x", "must_include: ['']").replace("__SHOP__", "__SHIP__"))
    found = run("validate", suite)
    assert found.exit_code == 3
    assert "error: a: $.checks[0].must_include[0]: an empty reference" in found.output
    assert "error: b: $: __SHIP__ is no site of the task" in found.output


def test_counts(suite: Path) -> None:
    assert run("list", suite).output.startswith("2 tasks, 0 policies\n")
    assert json.loads(run("list", suite, "--json").output)["checks"] == {"string_match": 1, "url_match": 1}
    assert run("list", suite, "--ids").output.splitlines()[0] == "a\tstring_match\tFind it."


def test_a_sample(suite: Path) -> None:
    assert run("sample", suite, "--by", "level", "--count", "1").output.split() == ["a", "b"]
    assert json.loads(run("sample", suite, "--json").output) == ["a", "b"]


def test_schemas() -> None:
    assert json.loads(run("schema").output)["$ref"].endswith("SuiteFile")
    assert json.loads(run("schema", "report").output)
    assert run("schema", "nothing").exit_code == 2
