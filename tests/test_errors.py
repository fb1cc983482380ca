"""The error family: one root, fields, exit codes, and a table in the documents made from the code."""

from __future__ import annotations

import inspect
import pickle
import string
from pathlib import Path

import pytest

from replaykit import errors
from replaykit.errors import ReplaykitError

TABLE = Path(__file__).parent.parent / "docs" / "errors.md"
FAMILY = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, ReplaykitError)]


def names(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


def example(kind: type[ReplaykitError]) -> ReplaykitError:
    fields = {name: f"<{name}>" for name in names(kind.template) | names(kind.hint)}
    return kind(**fields)


def generated_table() -> str:
    lines = [
        "# Errors",
        "",
        "Every exception that replaykit raises on purpose, with its fields and the exit code of the",
        "command line. Made from the code: `REPLAYKIT_UPDATE=1 pytest tests/test_errors.py` writes it again.",
        "",
        "| class | under | exit | message | what to do |",
        "| --- | --- | --- | --- | --- |",
    ]
    for kind in sorted(FAMILY, key=lambda kind: kind.__name__):
        above = kind.__mro__[1].__name__
        cells = [f"`{kind.__name__}`", above, str(kind.exit_code), f"`{kind.template}`", kind.hint or "-"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("kind", FAMILY)
def test_it_renders_with_its_fields_and_survives_a_process_border(kind: type[ReplaykitError]) -> None:
    error = example(kind)
    assert str(error)
    assert str(error) in error.message
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert again.fields == error.fields
    assert str(again) == str(error)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (errors.TaskError(source="t.yaml", path="$", reason="no such file"), "t.yaml: no such file"),
        (errors.TaskError(source="t.yaml", path="$.id", reason="no"), "t.yaml: no - at `$.id`"),
        (errors.TapeError(source="t.jsonl", line=0, reason="cannot read"), "t.jsonl: cannot read"),
        (errors.LabelError(source="l.csv", line=0, reason="cannot read"), "l.csv: cannot read"),
        (errors.LabelError(source="l.csv", line=2, reason="no label"), "l.csv: line 2: no label"),
    ],
)
def test_an_error_of_a_whole_file_names_no_place_in_it(error: ReplaykitError, words: str) -> None:
    assert str(error) == words


def test_fields_of_an_error_in_a_report_give_its_message() -> None:
    fields = {"source": "a.zst", "found": "an empty file"}
    assert errors.message_of("NotABundle", fields) == "a.zst: not a replaykit bundle: found an empty file"
    assert errors.message_of("NotABundle", {"source": "a.zst"}) == "NotABundle: source=a.zst"
    for foreign in ("OfTheFuture", "told", "Mapping", "__builtins__"):
        assert errors.message_of(foreign, {"kind": "x"}) == f"{foreign}: kind=x"


@pytest.mark.parametrize("kind", FAMILY)
def test_its_docstring_names_its_fields(kind: type[ReplaykitError]) -> None:
    if kind is not ReplaykitError:
        for name in names(kind.template) | names(kind.hint):
            assert name in (kind.__doc__ or ""), f"{kind.__name__} does not document {name}"


@pytest.mark.parametrize("kind", FAMILY)
def test_its_exit_code_is_documented(kind: type[ReplaykitError]) -> None:
    assert kind.exit_code == (2 if kind is errors.UsageError else 3)


def test_the_documented_table_is_the_code_s(update_goldens: bool) -> None:
    if update_goldens:
        TABLE.write_text(generated_table())
    assert TABLE.read_text() == generated_table()
