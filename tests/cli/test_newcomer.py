"""What a newcomer does wrong first, and what is said about it: what was found, what is accepted, what next."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from replaykit.cli.main import cli

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
