"""The specification is enough: a reader of eighty lines, made from it alone, reads every recording as ours does."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from replaykit.bundle.reader import open_bundle
from replaykit.bundle.writer import seal
from tests.bundle import second_reader

RECORDINGS = Path(__file__).parents[2] / "recordings"
FILES = {str(path.relative_to(RECORDINGS)): path for path in sorted(RECORDINGS.rglob("*.zst"))}


def refused(path: Path) -> bool:
    described = path.with_suffix(".json")
    return described.exists() and bool(json.loads(described.read_text())["refused"])


def agree(path: Path) -> None:
    lines, blobs, digest, torn_bytes = second_reader.read(path.read_bytes())
    with open_bundle(path) as bundle:
        assert tuple(lines) == bundle.lines
        assert blobs == {id: (bundle.blob_type(id), bundle.blob(id)) for id in bundle.blob_ids}
        assert (digest, torn_bytes) == (bundle.digest, bundle.torn_bytes)


def test_there_is_something_to_read() -> None:
    folders = [name.split("/")[0] for name in FILES]
    assert folders.count("format") >= 9
    assert folders.count("conformance") >= 9


@pytest.mark.parametrize("name", [name for name, path in FILES.items() if not refused(path)])
def test_both_readers_agree(name: str) -> None:
    agree(FILES[name])


@pytest.mark.parametrize("name", [name for name, path in FILES.items() if refused(path)])
def test_both_readers_refuse(name: str) -> None:
    with pytest.raises((AssertionError, ValueError, zstandard.ZstdError)):
        second_reader.read(FILES[name].read_bytes())


@given(
    st.lists(
        st.tuples(
            st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
            st.binary(max_size=300),
            st.sampled_from(["text/html", "image/jpeg", "text/yaml", "application/json", "a/b"]),
        ),
        max_size=5,
    ),
    st.integers(0, 60),
)
def test_both_readers_agree_on_any_run(
    scratch: Callable[[bytes], Path], hands, run: list[tuple[str, bytes, str]], cut: int
) -> None:
    raws, seen = [hands.story_raw([b'{"type":"header","channels":{}}'])], set()
    for number, (text, payload, media_type) in enumerate(run):
        id = hashlib.sha256(payload).hexdigest()
        if id not in seen:
            raws.append(hands.blob_raw(payload, media_type=media_type))
        seen.add(id)
        event = {"type": "message", "role": "user", "kind": "say", "text": text + id}
        raws.append(hands.story_raw([json.dumps(event).encode()], number))
    content = hands.journal_bytes(*raws)
    # A cut that spares the header is a torn tail.
    shortest = len(hands.journal_bytes(raws[0]))
    path = scratch(content[: max(shortest, len(content) - cut)])
    agree(path)
    seal(path)
    agree(path)


def test_it_is_short_and_needs_little() -> None:
    source = Path(second_reader.__file__).read_text()
    assert len(source.splitlines()) <= 80
    tree = ast.walk(ast.parse(source))
    imported = {alias.name for node in tree if isinstance(node, ast.Import) for alias in node.names}
    assert imported <= {"hashlib", "json", "re", "struct", "zstandard"}
    assert "ImportFrom" not in {type(node).__name__ for node in ast.walk(ast.parse(source))}
