"""Documents that can be checked against the code are."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec
import mypy.api
import pytest
from click.testing import CliRunner

import replaykit
from bench.library_page import page
from replaykit.cli.command_groups import COMMANDS, GROUPS, SectionedCommand
from replaykit.cli.main import cli
from replaykit.report.json_report import report_schema
from replaykit.tasks.policies_schema import policies_schema
from replaykit.tasks.suite import suite_schema

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"


def help_of(command: str) -> str:
    # A fixed width and no colour: the same text on every terminal.
    result = CliRunner().invoke(
        cli, [*command.split(), "--help"], terminal_width=100, prog_name="replaykit", color=False
    )
    assert result.exit_code == 0, result.output
    return result.output


def loaded(path: str) -> click.Command:
    command: click.Command | None = cli
    for name in path.split():
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(command), name)
    assert command is not None
    return command


def below(path: str) -> list[str]:
    command = loaded(path)
    return [f"{path} {name}" for name in sorted(command.commands)] if isinstance(command, click.Group) else []


PATHS = [path for name in sorted(COMMANDS) for path in (name, *below(name))]
"""Every command, and those of the groups after their group."""


def options_of(path: str) -> list[click.Option]:
    return [one for one in loaded(path).params if isinstance(one, click.Option) and not one.hidden]


def generated_cli() -> str:
    parts = [
        "# Command line",
        "",
        "Data goes to stdout. Progress and messages go to stderr. `--quiet`, `--verbose` and `--debug` stand before the",
        "command's name or after it. Every option has an environment variable `REPLAYKIT_<COMMAND>_<OPTION>`, such as",
        "`REPLAYKIT_GRADE_JOBS=2`; `REPLAYKIT_BROWSER` names the browser everywhere. A variable of a command that belongs to",
        "no option is wrong usage.",
        "",
        "Made from the code: `REPLAYKIT_UPDATE=1 pytest tests/test_docs.py` writes it again.",
    ]
    for command in ("", *PATHS):
        level = "###" if " " in command else "##"
        parts += ["", f"{level} replaykit {command}".rstrip(), "", "```", help_of(command).rstrip(), "```"]
    return "\n".join(parts) + "\n"


def compare(path: Path, content: str, update: bool) -> None:
    if update:
        path.write_text(content)
    assert path.read_text() == content


def test_the_command_line_document_is_the_code_s(update_goldens: bool) -> None:
    compare(DOCS / "cli.md", generated_cli(), update_goldens)


def test_the_library_s_document_is_the_code_s(update_goldens: bool) -> None:
    compare(DOCS / "library.md", page(), update_goldens)


def test_the_schemas_are_the_code_s(update_goldens: bool) -> None:
    for name, schema in (
        ("report", report_schema()),
        ("suite", suite_schema()),
        ("policies", policies_schema()),
    ):
        text = msgspec.json.format(msgspec.json.encode(schema), indent=1).decode() + "\n"
        compare(DOCS / f"{name}.schema.json", text, update_goldens)


@pytest.mark.parametrize("command", PATHS)
def test_every_help_ends_with_the_exit_codes_and_an_example(command: str) -> None:
    *_, codes, example = help_of(command).rstrip().split("\n\n")
    assert codes.rstrip().endswith("141 output pipe closed.")
    assert re.fullmatch(rf"  Example: replaykit {command}\b[^\n]*", example)


@pytest.mark.parametrize("command", PATHS)
def test_every_option_says_what_it_does(command: str) -> None:
    assert not [one.name for one in options_of(command) if not (one.help or "").endswith(".")]


@pytest.mark.parametrize("command", PATHS)
def test_an_option_that_may_be_given_again_says_so_and_no_other_does(command: str) -> None:
    assert not [
        one.name for one in options_of(command) if one.multiple != ("may be given again" in (one.help or ""))
    ]


@pytest.mark.parametrize("command", ["", *PATHS])
def test_no_description_of_a_command_is_cut_off(command: str) -> None:
    listed = help_of(command).splitlines()
    assert not [line for line in listed if re.match(r"  [a-z-]+  ", line) and line.endswith("...")]


def test_the_help_lists_every_command_once_under_its_group() -> None:
    listed = re.findall(r"^(\w+):$|^  ([a-z][a-z-]+)  +\S", help_of("").partition("\nRecord:")[2], flags=re.M)
    assert [name for _, name in listed if name] == [name for group in GROUPS.values() for name in group]
    assert [title for title, _ in listed if title] == list(GROUPS)[1:]
    assert len(COMMANDS) == sum(map(len, GROUPS.values()))


def test_the_help_fits_a_narrow_terminal_with_one_line_a_command() -> None:
    text = CliRunner().invoke(cli, ["--help"], terminal_width=80, prog_name="replaykit").output
    lines = text.partition("\nRecord:")[2].splitlines()
    assert all(
        line.endswith(words)
        for name, (_, words) in COMMANDS.items()
        for line in lines
        if line.split()[:1] == [name]
    )


@pytest.mark.parametrize("path", [path for path in PATHS if isinstance(loaded(path), SectionedCommand)])
def test_options_in_sections_stand_in_one_of_them(path: str) -> None:
    command = loaded(path)
    assert isinstance(command, SectionedCommand)
    named = [name for names in command.sections.values() for name in names]
    assert sorted(named) == sorted(str(one.name) for one in options_of(path) if one.name != "help")


def test_the_readme_begins_with_the_two_commands() -> None:
    shell = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.S)
    lines = [line.split("#")[0].strip() for line in "".join(shell).splitlines()]
    lines = [line for line in lines if line and not line.startswith(("git clone", "cd "))]
    assert lines[:2] == ["sh .ci/demo", "sh .ci/test"]


def test_the_quickstart_s_example_is_real_output(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (DOCS / "quickstart.md").read_text()
    found = re.search(r"^\$ replaykit (grade \S+)\n(.*?)```", text, flags=re.M | re.S)
    assert found is not None
    monkeypatch.chdir(ROOT)
    assert CliRunner().invoke(cli, found[1].split()).output == found[2]


def test_the_quickstart_names_only_commands_and_names_that_exist() -> None:
    text = (DOCS / "quickstart.md").read_text()
    assert set(re.findall(r"^\$? ?replaykit ([a-z-]+)", text, flags=re.M)) <= set(COMMANDS)
    assert set(re.findall(r"replaykit\.([A-Za-z_]+)\(", text)) <= set(replaykit.__all__)


def links_that_lead_nowhere(path: Path) -> list[str]:
    targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", path.read_text())
    return [one for one in targets if "://" not in one and not (path.parent / one).exists()]


def test_links_between_documents_resolve() -> None:
    for path in [*DOCS.rglob("*.md"), ROOT / "README.md", ROOT / "SECURITY.md", ROOT / "CHANGELOG.md"]:
        assert links_that_lead_nowhere(path) == [], path.name


def anchors(path: Path) -> set[str]:
    """Return the anchors of a page: its headings, as GitHub writes them."""
    heads = re.findall(r"^#+ (.*)$", path.read_text("utf-8"), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_links_to_a_part_of_a_page_name_one_of_its_headings() -> None:
    for path in [*DOCS.rglob("*.md"), ROOT / "README.md", ROOT / "SECURITY.md", ROOT / "CHANGELOG.md"]:
        for target, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", path.read_text("utf-8")):
            page = path.parent / target if target else path
            assert anchor in anchors(page), f"{path.name}: {target}#{anchor}"


def test_every_decision_has_a_number_of_its_own() -> None:
    numbers = [int(path.name[:4]) for path in (DOCS / "decisions").glob("*.md")]
    assert len(set(numbers)) == len(numbers) > 0


@pytest.fixture
def recursion() -> Iterator[None]:
    """How deep calls may go, which mypy raises for the whole process."""
    limit = sys.getrecursionlimit()
    yield
    sys.setrecursionlimit(limit)


@pytest.mark.thorough
@pytest.mark.usefixtures("recursion")
def test_a_typed_program_may_use_the_quickstart_s_python(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "quickstart.md").read_text(), flags=re.S)
    script.write_text("\n".join(blocks))
    said, faults, code = mypy.api.run(["--strict", "--config-file=", str(script)])
    assert code == 0, said + faults
