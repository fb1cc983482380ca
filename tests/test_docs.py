"""Documents that can be checked against the code are."""

from __future__ import annotations

import re
from pathlib import Path

import click
import msgspec
import pytest
from click.testing import CliRunner

import replaykit
from replaykit.cli.main import COMMANDS, cli
from replaykit.report.json_report import report_schema
from replaykit.tasks.policies_schema import policies_schema
from replaykit.tasks.suite import suite_schema

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"


def help_of(command: str) -> str:
    # A fixed width and no colour: the same text on every terminal.
    result = CliRunner().invoke(
        cli, [command, "--help"], terminal_width=100, prog_name="replaykit", color=False
    )
    assert result.exit_code == 0, result.output
    return result.output


def generated_cli() -> str:
    parts = [
        "# Command line",
        "",
        "Data goes to stdout, progress and messages to stderr. Every option has an environment variable",
        "`REPLAYKIT_<COMMAND>_<OPTION>`; `REPLAYKIT_BROWSER` names the browser everywhere.",
        "",
        "Made from the code: `REPLAYKIT_UPDATE=1 pytest tests/test_docs.py` writes it anew.",
    ]
    for command in sorted(COMMANDS):
        parts += ["", f"## replaykit {command}", "", "```", help_of(command).rstrip(), "```"]
    return "\n".join(parts) + "\n"


def compare(path: Path, content: str, update: bool) -> None:
    if update:
        path.write_text(content)
    assert path.read_text() == content


def test_the_command_line_document_is_the_code_s(update_goldens: bool) -> None:
    compare(DOCS / "cli.md", generated_cli(), update_goldens)


def test_the_schemas_are_the_code_s(update_goldens: bool) -> None:
    for name, schema in (
        ("report", report_schema()),
        ("suite", suite_schema()),
        ("policies", policies_schema()),
    ):
        text = msgspec.json.format(msgspec.json.encode(schema), indent=1).decode() + "\n"
        compare(DOCS / f"{name}.schema.json", text, update_goldens)


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_help_ends_with_an_example_and_the_exit_codes(command: str) -> None:
    text = help_of(command)
    assert f"Example: replaykit {command}" in text
    assert text.rstrip().endswith("141 nobody took the output.")


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_option_says_what_it_does(command: str) -> None:
    loaded = cli.get_command(click.Context(cli), command)
    assert loaded is not None
    silent = [p.name for p in loaded.params if isinstance(p, click.Option) and not p.help and not p.hidden]
    assert not silent


def test_the_readme_begins_with_the_two_commands() -> None:
    shell = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.S)
    lines = [line.split("#")[0].strip() for line in "".join(shell).splitlines()]
    lines = [line for line in lines if line and not line.startswith(("git clone", "cd "))]
    assert lines[:2] == ["sh .ci/demo", "sh .ci/test"]


def test_the_readme_s_example_is_real_output(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "README.md").read_text()
    found = re.search(r"^\$ replaykit (grade \S+)\n(.*?)```", text, flags=re.M | re.S)
    assert found is not None
    monkeypatch.chdir(ROOT)
    assert CliRunner().invoke(cli, found[1].split()).output == found[2]


def test_the_readme_names_only_commands_and_names_that_exist() -> None:
    text = (ROOT / "README.md").read_text()
    assert set(re.findall(r"^\$? ?replaykit ([a-z-]+)", text, flags=re.M)) <= set(COMMANDS)
    assert set(re.findall(r"replaykit\.([A-Za-z_]+)\(", text)) <= set(replaykit.__all__)


def test_links_between_documents_resolve() -> None:
    for path in [*DOCS.rglob("*.md"), ROOT / "README.md", ROOT / "SECURITY.md", ROOT / "CHANGELOG.md"]:
        for target in re.findall(r"\]\(([^)#]+)\)", path.read_text()):
            assert "://" in target or (path.parent / target).exists(), f"{path.name}: {target}"


def test_decisions_are_numbered_without_gap() -> None:
    numbers = sorted(int(path.name[:4]) for path in (DOCS / "decisions").glob("*.md"))
    assert numbers == list(range(1, len(numbers) + 1))
