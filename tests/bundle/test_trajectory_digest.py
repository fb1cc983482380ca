"""The worked example of docs/bundle-format.md, through the manifest and through a whole bundle."""

from __future__ import annotations

import hashlib
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from replaykit.bundle.opening import open_container
from replaykit.bundle.trajectory_digest import manifest, trajectory_digest
from replaykit.bundle.writer import seal
from tests.blocks import ROOT, blocks_of

PAGE = b"<!doctype html><p>Order 7 shipped</p>"
PAGE_ID = "06dc767213ea6d9322842c479418794e96ee977dc4f4dd14619c2d7da058b5f5"
STORY = (
    b'{"type":"header","created":"2025-01-02T03:04:05Z"}\n'
    b'{"type":"step","t":1200,"snapshot":"06dc767213ea6d9322842c479418794e96ee977dc4f4dd14619c2d7da058b5f5"}\n'
    b'{"type":"ending","t":1500,"answer":"shipped"}\n'
)
STORY_SHA256 = "80b7cc5a230418a81d08bb573607ba5b3f4e292ed373309ee9f5f69452a254f4"
DIGEST = "d5bb3342932079b7edbf9ca3a12c100cb5b1328ec1b5a6d8b50bc30ccb50c862"


def test_example_digest() -> None:
    assert hashlib.sha256(PAGE).hexdigest() == PAGE_ID
    assert hashlib.sha256(STORY).hexdigest() == STORY_SHA256
    assert trajectory_digest(2, STORY_SHA256, [(PAGE_ID, 37, "text/html")]) == DIGEST


def test_example_bundle(tmp_path: Path, hands) -> None:
    path = tmp_path / "example.zst"
    lines = STORY.splitlines()
    path.write_bytes(
        hands.journal_bytes(hands.story_raw(lines[:1]), hands.blob_raw(PAGE), hands.story_raw(lines[1:], 0))
    )
    assert open_container(path).digest == DIGEST
    assert seal(path).digest == DIGEST
    assert open_container(path).digest == DIGEST


def test_example_is_documented() -> None:
    found = [one.text for one in blocks_of(ROOT / "docs" / "bundle-format.md")]
    at = found.index(f"{PAGE.decode()}\n")
    example = manifest(2, STORY_SHA256, [(PAGE_ID, 37, "text/html")]).decode()
    assert found[at + 1 : at + 3] == [STORY.decode(), example]
    values = (("2", "<events>"), (STORY_SHA256, "<sha256>"), (PAGE_ID, "<sha256>"), ("37", "<n>"))
    for value, name in (*values, ("text/html", "<type>")):
        example = example.replace(f" {value}", f" {name}")
    assert found[at - 1] == example
    text = (ROOT / "docs" / "bundle-format.md").read_text("utf-8")
    assert f"has the id `{PAGE_ID}`" in text and f"the trajectory digest `{DIGEST}`" in text


def test_blob_order_does_not_matter() -> None:
    rows = [("b" * 64, 2, "text/html"), ("a" * 64, 10, "text/css")]
    assert manifest(0, "0" * 64, rows) == manifest(0, "0" * 64, rows[::-1])
    text = manifest(0, "0" * 64, rows).decode().splitlines()
    assert text[0] == "replaykit-manifest 1"
    assert text[2:] == [f"blob {'a' * 64} 10 text/css", f"blob {'b' * 64} 2 text/html"]


@given(st.lists(st.tuples(st.text(), st.integers(0, 2**53), st.text()), max_size=5))
def test_lines_are_sorted_by_their_bytes(rows: list[tuple[str, int, str]]) -> None:
    rows = [(id.replace("\n", ""), n, media_type.replace("\n", "")) for id, n, media_type in rows]
    lines = sorted(f"blob {id} {n} {media_type}\n".encode() for id, n, media_type in rows)
    assert manifest(0, "0" * 64, rows) == manifest(0, "0" * 64, []) + b"".join(lines)
