"""The documents read easily: short sentences, and the field's words; also in help texts, errors and reasons."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest

from bench.prose import (
    LONGEST,
    MEDIAN,
    ROOT,
    SOURCE_WORDS,
    STARTS,
    WORDS,
    Sentence,
    descriptions,
    documents,
    flagged,
    longest,
    median,
    sentences,
    source_texts,
)
from replaykit import errors
from replaykit.cli.main import COMMANDS, cli

PAGES = {path.name: path.read_text("utf-8") for path in documents()}

DESCRIBED = descriptions()

HELP_WORDS = 2
"""Flagged words in help texts; only ever fewer."""

SOURCE_FLAGS = {"source docstrings": 7, "source comments": 1, "script comments": 0}
"""Flagged words in the source; only ever fewer."""


texts_of = cache(source_texts)
"""Reading the source takes longer than most tests here."""


def fails(found: list[Sentence]) -> str:
    return "\n".join(f"{one.length} words: {one.text}" for one in longest(found))


@pytest.mark.parametrize("name", sorted(PAGES))
def test_sentences_are_short(name: str) -> None:
    found = sentences(PAGES[name])
    assert all(one.length <= LONGEST for one in found), fails(found)
    assert median(found) < MEDIAN, fails(found)


@pytest.mark.parametrize("name", sorted(PAGES))
def test_documents_use_the_words_of_the_field(name: str) -> None:
    found = [f"{name}:{one.line}: {one.found!r}, rather: {one.instead}" for one in flagged(PAGES[name])]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", sorted(DESCRIBED))
def test_docstrings_and_schemas_are_short_and_use_the_words_of_the_field(name: str) -> None:
    texts = DESCRIBED[name]
    words = [(place, one.found, one.instead) for place, text in texts.items() for one in flagged(text)]
    assert words == []
    found = [one for text in texts.values() for one in sentences(text)]
    assert len(found) > 100
    assert all(one.length <= LONGEST for one in found), fails(found)


@pytest.mark.parametrize(("kind", "most"), SOURCE_FLAGS.items())
def test_the_source_uses_the_words_of_the_field(kind: str, most: int) -> None:
    texts = texts_of(ROOT / "replaykit")[kind]
    found = [
        (place, one.found) for place, text in texts.items() for one in flagged(text, WORDS | SOURCE_WORDS)
    ]
    assert len(found) <= most, "\n".join(map(str, found))
    assert len(texts) > 400


@pytest.mark.parametrize("folder", ["replaykit", "bench", "fixtures", "recordings", "tests"])
def test_docstrings_and_comments_begin_with_a_noun_phrase_or_a_verb(folder: str) -> None:
    found = source_texts(ROOT / folder, STARTS).values()  # of all files it takes seconds
    texts = {place: text for kind in found for place, text in kind.items()}
    assert [f"{place}: {text:.60}" for place, text in texts.items() if text.startswith(STARTS)] == []


def test_docstrings_and_comments_are_found_where_they_stand(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(
        '"""Top."""\nX = 1  # why\n# two\n# lines\nY = "no # comment"\n"""Of Y."""\n'
    )
    (tmp_path / "two.js").write_text("let a; // of a line\n  // Three\n  // four\n")
    found = source_texts(tmp_path)
    place = f"{tmp_path.name}/one.py"
    assert found["source docstrings"] == {f"{place}:1": "Top.", f"{place}:6": "Of Y."}
    assert found["source comments"] == {f"{place}:2": "why\ntwo\nlines"}
    assert found["script comments"] == {f"{tmp_path.name}/two.js:2": "Three\nfour"}


def test_what_is_public_is_described_by_a_line_that_ends() -> None:
    firsts = {place: text.partition("\n")[0] for place, text in DESCRIBED["docstrings"].items()}
    assert [place for place, first in firsts.items() if not first.endswith(".")] == []


def test_errors_use_the_words_of_the_field() -> None:
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass)]
    texts = [kind for kind in kinds if issubclass(kind, errors.ReplaykitError)]
    words = {kind.__name__: re.sub(r"\{\w+\}", "X", f"{kind.template}\n\n{kind.hint}") for kind in texts}
    assert {name: found for name, text in words.items() if (found := flagged(text))} == {}


def test_help_texts_use_the_words_of_the_field() -> None:
    found = [(name, one.found, one.instead) for name, text in helps() for one in flagged(text)]
    assert len(found) <= HELP_WORDS, "\n".join(map(str, found))


def helps() -> Iterator[tuple[str, str]]:
    """Help of every command and option; paths of words."""
    for name in sorted(COMMANDS):
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        group = command.commands if isinstance(command, click.Group) else {}
        for path, one in {name: command, **{f"{name} {key}": value for key, value in group.items()}}.items():
            yield path, one.help or ""
            yield from (
                (f"{path} {option.name}", option.help or "")
                for option in one.params
                if isinstance(option, click.Option)
            )


def test_what_is_no_prose_is_left_out() -> None:
    text = "# A head\n\nOne `a. B` two.  Three\nfour! [Five six](x.md).\n\n| a cell | |\n\n```\ncode. Code.\n```\n- item one\n  goes on\n2. next\n"
    assert [one.text for one in sentences(text)] == [
        "One `code` two.",
        "Three four!",
        "Five six.",
        "item one goes on",
        "next",
    ]
    assert [one.length for one in sentences(text)] == [3, 2, 2, 4, 1]


def test_an_abbreviation_ends_no_sentence() -> None:
    assert len(sentences("Clicks, e.g. This one, in 3.5 s. replaykit sees them.")) == 2


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The act\nof a peer.", [(1, "act"), (2, "peer")]),
        ("`action` and [this](acts.md) and acted, too few.", []),
        (
            "It stays,\ntoo.\n\n```\nalone\n```\nWhat is passed\nover is none.",
            [(1, ",\ntoo"), (7, "passed\nover"), (8, "is none")],
        ),
    ],
)
def test_words_are_flagged_where_they_stand(text: str, found: list[tuple[int, str]]) -> None:
    assert [(one.line, one.found) for one in flagged(text)] == found


def test_all_documents_are_read() -> None:
    assert all(Path(name).suffix == ".md" for name in PAGES)
