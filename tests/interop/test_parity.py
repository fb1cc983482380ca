"""docs/parity.md: complete by what the code knows, and each claim with a test that exists."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import msgspec
import pytest

from replaykit.grading.checks.benchmark_rules import RULES
from replaykit.interop.bundle_export import EXPORTERS
from replaykit.interop.registry import IMPORTERS

ROOT = Path(__file__).parents[2]
SOURCE, DOCUMENT = Path(__file__).with_name("parity.toml"), ROOT / "docs" / "parity.md"
JUDGES = {"webvoyager", "webjudge", "agent_reward"}


class Peer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    kind: str
    names: tuple[str, ...]
    agrees: str
    beside: str
    tests: tuple[str, ...]
    deviations: tuple[tuple[str, str], ...]
    revision: str = "-"


class Written(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    peer: tuple[Peer, ...]


def peers() -> tuple[Peer, ...]:
    return msgspec.convert(tomllib.loads(SOURCE.read_text()), Written).peer


def document() -> str:
    lines = [
        "# Parity",
        "",
        "This page lists the benchmarks and tools whose results or layouts are reproduced, what agrees, the tests that prove it,",
        "and where results differ on purpose. *Tested with*: which code or files of the original take part in these tests.",
        "",
        "Made from `tests/interop/parity.toml`: `REPLAYKIT_UPDATE=1 pytest tests/interop/test_parity.py` writes it again.",
    ]
    for peer in peers():
        names = ", ".join(f"`{name}`" for name in peer.names)
        lines += ["", f"## {peer.name}", "", "| | |", "| --- | --- |", f"| kind | {peer.kind} |"]
        lines += [f"| revision | {peer.revision} |", f"| here | {names} |", f"| agrees | {peer.agrees} |"]
        lines += [f"| tested with | {peer.beside} |", *(f"| test | `tests/{test}` |" for test in peer.tests)]
        lines += [f"| differs | {what}: {why} |" for what, why in peer.deviations]
    return "\n".join(lines) + "\n"


def test_the_document_is_what_is_written_down(update_goldens: bool) -> None:
    if update_goldens:
        DOCUMENT.write_text(document())
    assert DOCUMENT.read_text() == document()


def test_every_dialect_judge_and_layout_has_its_peer() -> None:
    named = [name for peer in peers() for name in peer.names]
    known = {*RULES, *IMPORTERS, *EXPORTERS, *JUDGES, "stwab-submission"}
    assert set(named) == known
    assert len(set(named)) == len(named)


def test_revisions_are_the_code_s() -> None:
    written = {name: peer.revision for peer in peers() for name in peer.names}
    for dialect, rules in RULES.items():
        if "@" in rules.name:
            assert written[dialect] == rules.name.partition("@")[2], dialect


@pytest.mark.parametrize("peer", peers(), ids=lambda peer: peer.name)
def test_every_claim_has_a_test(peer: Peer) -> None:
    assert peer.tests
    for test in peer.tests:
        file, _, name = test.partition("::")
        tree = ast.parse((ROOT / "tests" / file).read_text())
        assert name in {one.name for one in tree.body if isinstance(one, ast.FunctionDef)}, test
