"""What a newcomer does wrong first, and what is said about it: what was found, what is accepted, what next."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from replaykit import load_tasks
from replaykit.cli.main import cli
from replaykit.testing import trajectory

SUITE = """schema: replaykit.suite/1
tasks:
  - id: t1
    intent: Open the cart
    checks: [{type: url_match, url: "http://shop.test/cart"}]
"""


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("url_match", "url", ("Invalid value 'url'", "did you mean url_match?", "string_match")),
        ("intent:", "intnet:", ("unknown field `intnet`", "did you mean intent?", "start_urls")),
        ("schema: replaykit.suite/1\n", "", ("begin the file with the line `schema: replaykit.suite/1`",)),
    ],
)
def test_a_suite_with_a_mistake(right: str, wrong: str, said: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "suite.yaml"
    file.write_text(SUITE.replace(right, wrong))
    result = CliRunner().invoke(cli, ["tasks", "validate", str(file)])
    assert result.exit_code == 3
    assert [words for words in said if words not in result.stderr] == []


def test_the_suite_without_a_mistake_passes(tmp_path: Path) -> None:
    file = tmp_path / "suite.yaml"
    file.write_text(SUITE)
    assert CliRunner().invoke(cli, ["tasks", "validate", str(file)]).exit_code == 0


def test_a_wrong_judge_names_those_there_are() -> None:
    bundle = "recordings/conformance/order-total--good.zst"
    result = CliRunner().invoke(cli, ["grade", bundle, "--judge", "webvoyger"])
    assert "no judge 'webvoyger'; there are webvoyager, webjudge, agent_reward" in str(result.exception)


def test_two_folders_are_graded_before_they_are_compared(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "new").mkdir()
    result = CliRunner().invoke(cli, ["diff", str(tmp_path / "old"), str(tmp_path / "new")])
    said = str(result.exception)
    assert "old is a folder" in said
    assert "two reports (.json) or two bundles (.zst)" in said
    assert "replaykit grade" in said


SHOP = """schema: replaykit.suite/1
tasks:
  - id: t1
    intent: Open the cart
    checks: [{type: url_match, url: "__SHOP__/cart"}]
"""
GOOD = Path("recordings/conformance/order-total--good.zst").resolve()


def test_a_site_that_nobody_named_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "suite.yaml"
    file.write_text(SHOP)
    found = CliRunner().invoke(cli, ["tasks", "validate", str(file)])
    assert found.exit_code == 3
    assert "__SHOP__ is no site of the task: add `sites: {shop: URL}`" in found.output
    bundle = trajectory(load_tasks(str(file))[0]).goto("http://h.test/cart", "<h1>x</h1>").answer("x")
    found = CliRunner().invoke(cli, ["grade", str(bundle.write(tmp_path / "run.zst"))])
    assert found.exit_code == 3
    assert "the task names a site, and nothing says where it is (site_unknown)" in found.stdout
    assert "to decide it: name the site: --site shop=URL" in found.stdout


def test_labels_without_columns_name_those_that_are_read(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("a,b\n1,2\n")
    CliRunner().invoke(cli, ["grade", str(GOOD), "-o", str(tmp_path / "report.json")])
    found = CliRunner().invoke(cli, ["agree", str(tmp_path / "labels.csv"), str(tmp_path / "report.json")])
    said = str(found.exception)
    assert "labels.csv: no labels" in said
    assert "CSV with columns such as trajectory, label, annotator" in said


def test_an_empty_folder_says_how_runs_come_into_it(tmp_path: Path) -> None:
    found = CliRunner().invoke(cli, ["grade", str(tmp_path)])
    assert found.exit_code == 4
    for words in ("no bundle (*.zst) in this folder or below", "`replaykit record`", "`replaykit import`"):
        assert words in found.stderr


@pytest.mark.skipif(
    importlib.util.find_spec("anthropic") is None, reason="the extra `judge` is not installed"
)
def test_a_judge_without_a_key_says_which_variable_to_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    bundle = shutil.copy(GOOD, tmp_path / "run.zst")
    found = CliRunner().invoke(cli, ["grade", str(bundle), "--judge", "webvoyager", "--judge-mode", "new"])
    assert found.exit_code == 3
    assert "no API key is set for the provider (missing_key)" in found.stdout
    assert "set ANTHROPIC_API_KEY" in found.stdout
    assert "--judge-mode none" in found.stdout


def test_pytest_on_bundles_without_verdicts_says_how_to_store_them(tmp_path: Path) -> None:
    shutil.copy(GOOD, tmp_path / "run.zst")
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    found = subprocess.run(words, check=False, capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert found.returncode == 5
    assert "run.zst, say, has no run.verdict.json beside it" in found.stdout
    assert "pytest FOLDER --replaykit-update" in found.stdout
