"""docs/benchmarks-supported.md: each feature of three benchmarks, with commands that parse and tests that exist."""

from __future__ import annotations

import ast
import json
import re
import shlex
import tomllib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import click
import msgspec
import pytest

import replaykit
from replaykit.cli.main import cli
from replaykit.tasks.policy_rules import DIMENSIONS, SOURCES

ROOT = Path(__file__).parents[2]
SOURCE, DOCUMENT = Path(__file__).with_name("supported.toml"), ROOT / "docs" / "benchmarks-supported.md"
UNSUPPORTED = "not supported"
CODE = re.compile(r"`([^`]+)`")


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    title: str
    rows: tuple[tuple[str, str, tuple[str, ...]], ...]


class Benchmark(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    source: str
    revision: str
    part: tuple[Part, ...]


class Written(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    benchmark: tuple[Benchmark, ...]


BENCHMARKS = msgspec.convert(tomllib.loads(SOURCE.read_text()), Written).benchmark
ROWS = [(one, part, *row) for one in BENCHMARKS for part in one.part for row in part.rows]


def document() -> str:
    done = sum(bool(tests) for *_, tests in ROWS)
    lines = [
        "# Supported features of three benchmarks",
        "",
        "This page lists the features of ST-WebAgentBench, WABE, and WebVoyager on Harbor, as read in their repositories. Each",
        "row names what does the same here, and the tests that prove it. What is not done is in its row, with the reason.",
        f"Of {len(ROWS)} features {done} are supported. How exactly results agree: [parity](parity.md).",
        "",
        "Made from `tests/interop/supported.toml`: `REPLAYKIT_UPDATE=1 pytest tests/interop/test_supported.py` writes it again.",
    ]
    for one in BENCHMARKS:
        lines += ["", f"## {one.name}", "", f"Read at: {one.source}, revision {one.revision}."]
        for part in one.part:
            lines += [
                "",
                f"### {one.name}: {part.title}",
                "",
                "| feature | here | tests |",
                "| --- | --- | --- |",
            ]
            lines += [_row(*row) for row in part.rows]
    return "\n".join(lines) + "\n"


def _row(feature: str, here: str, tests: tuple[str, ...]) -> str:
    proof = " ".join(f"`{test}`" for test in tests)
    return f"| {feature.replace('|', chr(92) + '|')} | {here} | {proof} |"


def test_the_document_is_what_is_written_down(update_goldens: bool) -> None:
    if update_goldens:
        DOCUMENT.write_text(document())
    assert DOCUMENT.read_text() == document()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0].name}-{row[2][:40]}")
def test_every_row_has_tests_or_a_reason(row: tuple[Benchmark, Part, str, str, tuple[str, ...]]) -> None:
    *_, here, tests = row
    assert bool(tests) != here.startswith(UNSUPPORTED), here
    if not tests:
        reason = here.partition(": ")[2]
        assert len(reason.split()) >= 5, here
    for test in tests:
        file, _, name = test.partition("::")
        assert name in _functions(file), test


@lru_cache
def _functions(file: str) -> set[str]:
    tree = ast.parse((ROOT / "tests" / file).read_text())
    return {one.name for one in tree.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)}


COMMANDS = sorted(
    {code for *_, here, _ in ROWS for code in CODE.findall(here) if code.startswith("replaykit ")}
)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_parses(command: str) -> None:
    _, *words = shlex.split(command)
    found: click.Command = cli
    # With its settings: click keeps the help option that it makes first.
    with click.Context(cli, **cli.context_settings) as context:
        while isinstance(found, click.Group):
            *options, name = words[: next(n for n, word in enumerate(words) if word[0] != "-") + 1]
            assert set(options) <= _options(found), command
            found, words = found.get_command(context, name), words[len(options) + 1 :]
            assert found is not None, command
        given = [word for word in words if word.startswith("-")]
        assert set(given) <= _options(found), command
        # Values are checked, files are not: `show run.zst` names a run of the reader.
        found.make_parser(click.Context(found, parent=context)).parse_args(args=list(words))


def _options(command: click.Command) -> set[str]:
    return {name for option in command.params if isinstance(option, click.Option) for name in option.opts}


def test_a_command_that_does_not_exist_is_noticed() -> None:
    for command in ("replaykit grades", "replaykit grade --no-such", "replaykit tasks sample --nothing"):
        with pytest.raises((AssertionError, click.UsageError)):
            test_every_command_parses(command)


def test_names_of_the_library_and_files_exist() -> None:
    for *_, here, _ in ROWS:
        for code in CODE.findall(here):
            name, _, member = code.partition("(")[0].partition(".")
            if name in replaykit.__all__ and member:
                assert hasattr(getattr(replaykit, name), member), code
            if code.startswith(("fixtures/", "tests/")):
                assert (ROOT / code).exists(), code


def test_every_dimension_and_source_has_its_row() -> None:
    named = _named("ST-WebAgentBench")
    assert {*DIMENSIONS, *SOURCES} <= named


def test_every_field_of_the_public_file_has_its_row(public: Callable[[str], Path]) -> None:
    records = json.loads(public("st-webagentbench/test.raw.json").read_text())
    fields = set().union(*(record for record in records), *(record["eval"] for record in records))
    about = set().union(*(record.get("task_metadata", {}) for record in records))
    policies = [policy for record in records for policy in record["policies"]]
    rules = set().union(*(policy for policy in policies), *(policy["eval"] for policy in policies))
    kinds = {kind for policy in policies for kind in policy["eval"]["eval_types"]}
    answers = set().union(*(record["eval"]["reference_answers"] or {} for record in records))
    structure = {"eval", "policies"}
    assert (fields | about | rules | kinds | answers) - structure - _named("ST-WebAgentBench") == set()


def _named(benchmark: str) -> set[str]:
    features = [feature for one, _, feature, *_ in ROWS if one.name == benchmark]
    return {
        word for feature in features for code in CODE.findall(feature) for word in re.findall(r"\w+", code)
    }
