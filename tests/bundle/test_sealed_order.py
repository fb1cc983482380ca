from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.bundle import sealed_order
from replaykit.bundle.content_tables import BlobPlace
from replaykit.bundle.sealed_order import References, arrange, restored, shortened


def id_of(n: int) -> str:
    return hashlib.sha256(b"%d" % n).hexdigest()


def order(lines: list[bytes], blobs: dict[str, BlobPlace]) -> list[tuple[str, list[str]]]:
    references = References(blobs)
    for line in lines:
        references.add(line)
    return [(segment.blob_class, segment.ids) for segment in arrange(references, blobs)]


def places(media_type: str, *numbers: int, n: int = 10) -> dict[str, BlobPlace]:
    return {id_of(number): BlobPlace(media_type, 0, 0, n) for number in numbers}


def refer(*numbers: int) -> bytes:
    return b'{"type":"x","ids":[%b]}' % b",".join(b'"%b"' % id_of(n).encode() for n in numbers)


def test_newest_first_by_last_reference() -> None:
    blobs = places("text/html", 1, 2, 3, 4)
    lines = [b"{}", refer(1, 2), refer(3), refer(1)]
    assert order(lines, blobs) == [("text", [id_of(1), id_of(3), id_of(2), id_of(4)])]


def test_unreferenced_blobs_are_oldest_and_sorted_by_id() -> None:
    blobs = places("text/html", *range(8))
    expected = sorted((id_of(n) for n in range(1, 8)), reverse=True)
    assert order([refer(0)], blobs) == [("text", [id_of(0), *expected])]


def test_only_whole_strings_are_references() -> None:
    blobs = places("text/html", 1, 2)
    inside = b'{"text":"see %b or \\"%b\\""}' % (id_of(1).encode(), id_of(1).encode())
    assert order([refer(1), refer(2), inside], blobs) == [("text", [id_of(2), id_of(1)])]


def test_position_in_a_line_counts() -> None:
    blobs = places("text/html", 1, 2)
    assert order([refer(1, 2)], blobs) == [("text", [id_of(2), id_of(1)])]
    assert order([refer(2, 1)], blobs) == [("text", [id_of(1), id_of(2)])]
    assert order([refer(1, 2, 1)], blobs) == [("text", [id_of(1), id_of(2)])]


def test_classes_in_file_order() -> None:
    types = [
        "text/yaml",
        "text/html",
        "application/json",
        "image/x-portable-pixmap",
        "image/png",
        "image/png",
    ]
    blobs = {id_of(n): BlobPlace(media_type, 0, 0, 5) for n, media_type in enumerate(types)}
    found = order([refer(0, 1, 2, 3, 4, 5)], blobs)
    assert [name for name, _ in found] == ["opaque", "opaque", "pixels", "text"]
    assert [ids for _, ids in found[:2]] == [[id_of(4)], [id_of(5)]]


def test_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    blobs = places("text/html", 1, 2, 3, 4, 5, n=100)
    monkeypatch.setattr(sealed_order, "SEGMENT_RAW", 200)
    assert order([refer(1, 2, 3, 4, 5)], blobs) == [
        ("text", [id_of(1)]),
        ("text", [id_of(3), id_of(2)]),
        ("text", [id_of(5), id_of(4)]),
    ]


def test_a_large_blob_stands_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    blobs = places("text/html", 1, 2) | places("text/html", 3, n=10_000)
    monkeypatch.setattr(sealed_order, "SEGMENT_RAW", 1000)
    assert order([refer(1, 3, 2)], blobs) == [
        ("text", [id_of(1)]), ("text", [id_of(3)]), ("text", [id_of(2)]),
    ]  # fmt: skip


@given(st.permutations(range(9)), st.lists(st.lists(st.integers(0, 8), max_size=4), max_size=4))
def test_order_is_a_function_of_content(permuted: list[int], story: list[list[int]]) -> None:
    lines = [refer(*numbers) for numbers in story]
    types = ["text/html", "text/css", "image/png"]
    blobs = {id_of(n): BlobPlace(types[n % 3], 0, 0, n) for n in range(9)}
    shuffled = {id_of(n): blobs[id_of(n)] for n in permuted}
    assert order(lines, blobs) == order(lines, shuffled)
    assert sorted(id for _, ids in order(lines, blobs) for id in ids) == sorted(blobs)


def test_pages_are_newer_than_all_other_texts() -> None:
    blobs = places("application/json", 1) | places("text/html", 2) | places("text/yaml", 3)
    blobs |= places("application/x-replaykit-dom", 4)
    assert order([refer(2, 4, 1, 3)], blobs) == [("text", [id_of(4), id_of(2), id_of(3), id_of(1)])]


@given(st.lists(st.one_of(st.integers(0, 8), st.text(max_size=9)), max_size=9), st.sets(st.integers(0, 8)))
def test_references_come_back(parts: list[int | str], known: set[int]) -> None:
    ids = [id_of(n) for n in sorted(known)]
    line = json.dumps([id_of(part) if isinstance(part, int) else part for part in parts]).encode()
    short = shortened(line, {id: number for number, id in enumerate(ids)})
    assert restored(short, ids) == line
    assert not any(b'"%b"' % id.encode() in short for id in ids)
