"""Every fenced block of the documents is run, loaded or compared by a test, or says why it is not.

tests/doc_blocks.toml names the tests; those that follow hold it against the documents and the tests.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from replaykit.cli.main import cli
from tests.blocks import DOCUMENTS, ROOT, Block, blocks_of

LISTED: dict[str, str | list[list[str]]] = tomllib.loads((ROOT / "tests/doc_blocks.toml").read_text("utf-8"))
BLOCKS = [one for path in DOCUMENTS for one in blocks_of(path)]
NOT_RUN = "not run: "
COMMAND_LINE: click.Command = cli
UNRUN = 5
"""Blocks without a test: screenshots, grammars, commands that wait for a person or a browser. Fewer is better."""

LISTED_TESTS = sorted(
    {
        (name, test)
        for name, rows in LISTED.items()
        for test in ([rows] if isinstance(rows, str) else [r[2] for r in rows])
    }
)


def test_the_list_names_every_document_that_has_blocks() -> None:
    assert sorted(LISTED) == sorted({one.document for one in BLOCKS})


def test_every_fence_opens_or_closes_a_block() -> None:
    for path in DOCUMENTS:
        fences = re.findall(r"^ *(?:`{3,}|~{3,})", path.read_text("utf-8"), flags=re.MULTILINE)
        assert len(fences) == 2 * len(blocks_of(path)), path.name


@pytest.mark.parametrize("document", sorted(name for name, rows in LISTED.items() if isinstance(rows, list)))
def test_the_list_has_every_block(document: str) -> None:
    rows = LISTED[document]
    found = blocks_of(ROOT / document)
    assert [one.kind for one in found] == [kind for kind, _, _ in rows]
    for one, (_, head, _) in zip(found, rows, strict=True):
        assert one.head.startswith(head), f"{document}:{one.line}: {one.head!r} is not listed here"


@pytest.mark.parametrize(("document", "test"), LISTED_TESTS)
def test_the_test_of_a_block_is_there_and_reads_the_document(document: str, test: str) -> None:
    if test.startswith(NOT_RUN):
        return
    path, name = test.split("::")
    text, functions = source(path)
    assert name in functions, test
    assert Path(document).stem in text, f"{path} does not name {document}"


def test_no_more_blocks_than_these_are_left_out() -> None:
    assert len([test for _, test in LISTED_TESTS if test.startswith(NOT_RUN)]) == UNRUN


@cache
def source(path: str) -> tuple[str, set[str]]:
    """The text of a test file, and its test functions."""
    text = (ROOT / path).read_text("utf-8")
    return text, {node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)}


# Without a run


READERS: dict[str, Callable[[str], Any]] = {
    "python": ast.parse,
    "yaml": yaml.safe_load,
    "json": lambda text: json.loads(f"[{text}]"),  # a part of a list is one of its own
}


@pytest.mark.parametrize(
    "one", [one for one in BLOCKS if one.kind in READERS], ids=lambda one: f"{one.document}:{one.line}"
)
def test_what_a_block_says_it_is_it_is(one: Block) -> None:
    assert READERS[one.kind](one.text)


def test_a_block_says_what_it_is_in_a_word_that_is_known() -> None:
    assert {one.kind for one in BLOCKS} == {*READERS, "", "sh", "js", "html"}


def commands() -> list[str]:
    """Every line of a block that calls the program, with what it goes on to in the next lines; no redirections."""
    found = []
    for one in BLOCKS:
        for line in one.text.replace("\\\n", " ").splitlines():
            called = re.match(r"(?:\s*(?:run: |\$ |Example: )?)(?:[A-Z_]+=\S+ )*(replaykit [a-z].*)", line)
            if called:
                found.append(re.split(" [>|] ", called[1])[0])
    return sorted(set(found))


@pytest.mark.parametrize("line", commands())
def test_every_command_line_is_one_that_the_command_takes(line: str) -> None:
    _, *words = shlex.split(line.replace("FORMAT", "webvoyager"), comments=True)
    command, ctx = COMMAND_LINE, None
    while isinstance(command, click.Group):
        ctx = click.Context(command, ctx, obj={}, **command.context_settings)
        found = command.get_command(ctx, words[0])
        assert found is not None, words[0]
        command, words = found, words[1:]
    command.make_context(command.name, words, parent=ctx)  # raises the error that a person would see
