"""docs/bundle-format.md and the code say the same: constants, tables, orders, examples, refusals."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
import zstandard

from replaykit.bundle import bundle_format as constants
from replaykit.bundle.blobs import class_of, is_markup
from replaykit.bundle.bundle_format import (
    CLASSES,
    FORMAT_VERSION,
    JOURNAL_LEVELS,
    PREAMBLE_SIZE,
    SEALED_LEVELS,
    Layout,
    Limits,
    Place,
    Preamble,
    is_media_type,
)
from replaykit.bundle.content_tables import BlobPlace
from replaykit.bundle.index import BundleIndex
from replaykit.bundle.reader import open_bundle
from replaykit.bundle.records import blob_line, event_record, header_record, records
from replaykit.bundle.sealed_order import arrange, shortened
from replaykit.bundle.story_lines import ACTION_TAGS, EVENT_TAGS
from replaykit.bundle.verification import verify
from replaykit.bundle.zstd_frames import bound, compress
from replaykit.decoders import NEST_MAX
from replaykit.errors import BundleDamaged, BundleFromTheFuture, LimitExceeded, UnknownRecordKind
from replaykit.trajectory.action import Action
from replaykit.trajectory.scalars import INT_MAX
from replaykit.trajectory.step import Event, Header

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "bundle-format.md").read_text("utf-8")
CODE = Path(constants.__file__).read_text("utf-8")
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
TEST = Place("test", 0)


def section(number: str) -> str:
    """Return the text under a heading, up to the next one of its rank or above."""
    rank = "###" if "." in number else "##"
    found = re.search(rf"^{rank} {re.escape(number)}[. ].*?$(.*?)(?=^##? |\Z{'|^### ' if '.' in number else ''})",
                      TEXT, re.MULTILINE | re.DOTALL)  # fmt: skip
    assert found, number
    return found[1]


def tables(text: str) -> list[list[list[str]]]:
    """Return every table as rows of cells, head and rule left out."""
    blocks = re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE)
    rows = [
        [[cell.strip() for cell in line[1:-1].split(" | ")] for line in block.splitlines()]
        for block in blocks
    ]
    return [[[cell.strip(" |") for cell in row] for row in table[2:]] for table in rows]


def table(number: str, which: int = 0) -> list[list[str]]:
    return tables(section(number))[which]


def quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def fences(text: str) -> list[str]:
    return re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def size(text: str) -> int:
    number, power, unit = re.match(r"([0-9,]+)(?:\^([0-9]+))? ?([KMG]iB)?", text).groups()
    return int(number.replace(",", "")) ** int(power or 1) * UNITS.get(unit, 1)


def sealed(hands, tail: bytes = b"", **changes: Any) -> bytes:
    """Return a sealed file of a header."""
    lines = [b'{"type":"header","channels":{}}']
    index = json.loads(hands.story_index(lines)) | changes
    return hands.sealed_bytes([hands.story_text(lines)], json.dumps(index).encode(), tail=tail)


# Order and words


def test_the_code_follows_the_order_and_words_of_the_document() -> None:
    headings = re.findall(r"^##+ (\d+(?:\.\d+)?)\.? (.+)$", TEXT, re.MULTILINE)
    marks = re.findall(r"^# (\d+(?:\.\d+)?)\.? (.+)$", CODE, re.MULTILINE)
    assert len(marks) >= 8
    assert marks == [heading for heading in headings if heading in marks]


def test_headings_are_numbered_in_order() -> None:
    numbers = [tuple(map(int, n.split("."))) for n in re.findall(r"^##+ (\d+(?:\.\d+)?)", TEXT, re.MULTILINE)]
    assert numbers == sorted(set(numbers))
    for number in re.findall(r"\((\d\.\d+)\)|[Ss]ection (\d)\b", TEXT):
        assert tuple(map(int, "".join(number).split("."))) in numbers


def test_the_last_version_of_the_history_is_the_code_s() -> None:
    history = tables(TEXT)[0]
    assert [int(row[0]) for row in history] == list(range(1, FORMAT_VERSION + 1))
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", row[1]) for row in history)


# 1 to 1.2: container, preamble, records


def test_the_bound_of_a_frame() -> None:
    assert "`raw + raw/256 + 512`" in TEXT
    for raw in (1, 255, 256, 10_000_000):
        assert bound(raw) == raw + raw // 256 + 512


@pytest.mark.parametrize("layout", get_args(Layout))
def test_the_preamble_is_its_table(layout: Layout) -> None:
    rows = {row[0]: row[1] for row in table("1.1")}
    assert list(rows) == ["0-7", "8-16", "17", "18-19", "20-23"]
    letters = dict(zip(("journal", "sealed"), quoted(rows["17"]), strict=True))
    written = (
        bytes.fromhex(quoted(rows["0-7"])[0]) + quoted(rows["8-16"])[0].encode() + letters[layout].encode()
    )
    packed = Preamble(layout, 0x0102).pack()
    assert packed == written + b"\x02\x01" + bytes(4)
    assert len(packed) == PREAMBLE_SIZE == int(re.search(r"skippable frame of (\d+) bytes", TEXT)[1])


def test_magic_numbers() -> None:
    written = {int(number, 16) for number in re.findall(r"\b0x([0-9A-F]{8})\b", TEXT)}
    ours = {int.from_bytes(m, "little") for m in (constants.PREAMBLE_HEAD[:4], constants.SEEK_TABLE_MAGIC)}
    assert written == ours | {constants.SEEK_FOOTER_MAGIC}
    assert constants.ZSTD_MAGIC.hex(" ").upper() in TEXT


LINES = {
    "header": header_record(b"{}"),
    "event": event_record(0, b"{}"),
    "blob": blob_line("0" * 64, 2, "a/b") + b"{}\n",
    "x-…": b'{"k":"x-note","n":2}\n{}\n',
}
KINDS = {quoted(row[0])[0]: quoted(row[1]) for row in table("1.2") if quoted(row[0])}


def test_every_record_kind_is_documented() -> None:
    assert list(KINDS) == list(LINES)
    assert table("1.2")[-1][0] == "any other"


@pytest.mark.parametrize("kind", LINES)
def test_record_lines_have_the_keys_of_the_table(kind: str) -> None:
    raw = LINES[kind]
    line = json.loads(raw.split(b"\n")[0])
    assert list(line) == ["k", *KINDS[kind]]
    [record] = records(raw, TEST, Limits())
    assert raw[record.start : record.start + record.n] == b"{}"
    for key in line:
        short = json.dumps({name: value for name, value in line.items() if name != key}).encode()
        with pytest.raises(BundleDamaged):
            list(records(short + b"\n{}\n", TEST, Limits()))


@pytest.mark.parametrize("kind", ["blobs", "Header", "", "y-note"])
def test_any_other_kind_is_refused(kind: str) -> None:
    with pytest.raises(UnknownRecordKind):
        list(records(json.dumps({"k": kind, "n": 0}).encode() + b"\n\n", TEST, Limits()))


def test_media_types() -> None:
    pattern = next(text for text in quoted(section("1.2")) if text.startswith("["))
    assert pattern in CODE
    assert "at\n  most 127 bytes" in section("1.2")
    assert is_media_type("a/" + "b" * 125)
    assert not is_media_type("a/" + "b" * 126)


def test_the_records_of_the_example() -> None:
    [example] = fences(section("1.2"))
    raw = example.encode()
    found = list(records(raw, TEST, Limits()))
    payloads = [raw[record.start : record.start + record.n] for record in found]
    header, event, blob = payloads
    line = blob_line(found[2].id, len(blob), found[2].media_type)
    assert [record.kind for record in found] == ["header", "event", "blob"]
    assert raw == header_record(header) + event_record(0, event) + line + blob + b"\n"


# 1.3 to 1.5: layouts, order, classes


def test_journal_levels() -> None:
    levels = re.search(
        r"zstd level (-?\d+), blobs of the opaque class \(1\.5\) with (-?\d+), pixels with (-?\d+)\.",
        section("1.3"),
    )
    default, opaque, pixels = map(int, levels.groups())
    others = dict.fromkeys(("text", "story"), default)
    assert {"opaque": opaque, "pixels": pixels, **others} == JOURNAL_LEVELS


def test_the_index_has_the_fields_of_its_table(hands) -> None:
    rows = {quoted(row[0])[0]: row[1] for row in table("1.4")}
    assert list(rows) == list(BundleIndex.__struct_fields__)
    written = json.loads(hands.story_index([b"{}"], [("0" * 64, "text/html", b"<p>1")]))
    assert list(written) == list(rows)
    assert list(written["story"]) == re.findall(r'"(\w+)":', rows["story"])
    assert list(written["blobs"]) == re.findall(r'"(\w+)":', rows["blobs"])
    assert written["blobs"] == {"ids": "0" * 64, "types": [0], "sizes": [4]}


def test_the_example_of_a_reference() -> None:
    line, short = re.findall(r"`(\{\"type\":\"observation\".*?\})`", section("1.4"))
    id = "16de" + "0" * 56 + "bcdc"
    written = shortened(line.replace("16de…bcdc", id).encode(), {id: 7})
    assert written == short.replace("␀", "\0").encode()


CLASS_ROWS = {row[0]: row[1:] for row in table("1.5")}


def test_classes_stand_in_their_order() -> None:
    assert [*CLASSES, "story"] == list(CLASS_ROWS)
    assert {name: int(row[2]) for name, row in CLASS_ROWS.items()} == SEALED_LEVELS


@pytest.mark.parametrize(
    ("name", "media_type"), [(name, kind) for name in CLASSES for kind in quoted(CLASS_ROWS[name][0])]
)
def test_media_types_have_the_class_of_the_table(name: str, media_type: str) -> None:
    # Accessibility trees stand in the row as an example of `text/*`.
    assert class_of(media_type.replace("*", "x-anything")) == name


def test_every_other_media_type_is_text() -> None:
    assert "everything else" in CLASS_ROWS["text"][0]
    for media_type in ("application/json", "model/gltf-binary", "a/b", "text/html", "text/yaml"):
        assert class_of(media_type) == "text"


def test_pages_are_those_of_the_text() -> None:
    pages = quoted(re.search(r"These are of type(.*?)\.\s", section("1.5"), re.DOTALL)[1])
    assert len(pages) == 4
    for media_type in (*pages, "text/css", "application/json", "image/png"):
        assert is_markup(media_type) == (media_type in pages)


def test_small_frames() -> None:
    most, level = re.search(r"Frames of at most (\d+ KiB) of .*? have level (\d+)", TEXT, re.DOTALL).groups()
    assert (size(most), int(level)) == (constants.SMALL_RAW, constants.SMALL_LEVEL)


@pytest.mark.parametrize("name", CLASSES)
def test_framing_is_that_of_the_table(name: str) -> None:
    framing = CLASS_ROWS[name][1]
    media_type = next(
        k for k in [*quoted(CLASS_ROWS[name][0]), "a/b"] if class_of(k.replace("*", "x")) == name
    )
    third = size(re.search(r"at most (.*)", framing)[1]) // 3 if "at most" in framing else 1000
    blobs = {f"{n:064x}": BlobPlace(media_type.replace("*", "x"), 0, 0, third - 200) for n in range(4)}
    cut = [segment.ids for segment in arrange(References(blobs), blobs)]
    first, second, third_id, newest = blobs
    alone = [[first], [second], [third_id], [newest]]
    assert cut == (alone if "one blob per frame" in framing else [[first], [newest, third_id, second]])


class References:
    """Blobs, each referred to later than the one before."""

    def __init__(self, ids: dict[str, BlobPlace]) -> None:
        self.last = {id: (number, 0) for number, id in enumerate(ids)}


def test_story_frames_and_windows() -> None:
    assert size(re.search(r"at most (.*)", CLASS_ROWS["story"][1])[1]) == constants.STORY_RAW
    least, most, pixels = map(
        int, re.search(r"at least (\d+) and at most (\d+), for pixels at most (\d+)", TEXT).groups()
    )
    for raw, window in ((100, 1 << least), (3000, 1 << 12), (9 << 20, 1 << most)):
        frame = zstandard.get_frame_parameters(compress(bytes(raw), 1, most))
        assert frame.window_size in (window, raw)
    assert 1 << pixels == constants.WINDOW_MAX


# 1.7: limits


def test_limits_are_those_of_the_table() -> None:
    documented = {quoted(row[0])[0]: size(row[1]) for row in table("1.7")}
    written = re.findall(r"^([A-Z][A-Z_]*_MAX) = ", CODE, re.MULTILINE)
    assert (documented.pop("INT_MAX"), documented.pop("NEST_MAX")) == (INT_MAX, NEST_MAX)
    assert list(documented) == written
    assert documented == {name: getattr(constants, name) for name in documented}
    defaults = {f"{name.upper()}_MAX": getattr(Limits(), name) for name in Limits.__struct_fields__}
    assert defaults.items() <= documented.items()
    assert set(documented) - set(defaults) == {"LINE_MAX", "IMAGE_PIXELS_MAX"}


# 1.8 and 1.9: levels, what is ignored, what is refused


def test_levels_of_verification() -> None:
    assert [row[0] for row in table("1.8")] == ["`open`", "`read`", "`full`"]


NOTE = b'{"k":"x-acme","n":0}\n\n'
SKIPPABLE = b"\x51\x2a\x4d\x18\x03\x00\x00\x00our"


def _journal(hands, *raws: bytes, after: bytes = b"") -> bytes:
    return hands.journal_bytes(hands.story_raw([b'{"type":"header","channels":{}}']), *raws) + after


def _without(hands, **settings: bool) -> bytes:
    frame = zstandard.ZstdCompressor(level=1, **settings).compress(NOTE)
    return _journal(hands, after=frame)


def _with_dictionary(hands) -> bytes:
    words = zstandard.train_dictionary(1024, [b"%d replaykit %d" % (n, n * n) for n in range(2000)])
    return _journal(
        hands, after=zstandard.ZstdCompressor(dict_data=words, write_checksum=True).compress(NOTE)
    )


def _resized(hands) -> bytes:
    content = bytearray(sealed(hands))
    count = int.from_bytes(content[-9:-5], "little")
    content[-9 - 8 * count + 8] ^= 1
    return bytes(content)


def _reserved(hands) -> bytes:
    content = bytearray(_journal(hands))
    content[21] = 1
    return bytes(content)


def _event(fields: bytes) -> Callable[[Any], bytes]:
    return lambda hands: _journal(hands, hands.story_raw([b"{" + fields + b"}"], 0))


def _line_with_another_key(hands) -> bytes:
    raw = hands.story_raw([b'{"type":"ending","kind":"stopped"}'], 0)
    return _journal(hands, raw.replace(b',"i":0}', b',"i":0,"acme.x":[1]}'))


def _unknown_media_type(hands) -> bytes:
    ending = hands.story_raw([b'{"type":"ending","kind":"stopped"}'], 0)
    return _journal(hands, hands.blob_raw(b"x", media_type="a/b"), ending)


IGNORED: dict[str, list[Callable[[Any], bytes]]] = {
    "unknown JSON fields: events, index, lines": [
        _event(b'"type":"gap","channel":"a","why":"b","acme.x":1'),
        lambda hands: sealed(hands, **{"acme.x": 1}),
        _line_with_another_key,
    ],
    "unknown event and action types: read as `Unknown(name, raw)`": [
        _event(b'"type":"acme.thermal"'),
        _event(b'"type":"step","index":0,"action":{"type":"acme.wave"}'),
    ],
    "unknown media types: opaque bytes": [_unknown_media_type],
    "skippable frames other than ours": [lambda hands: _journal(hands, after=SKIPPABLE)],
    "private records": [lambda hands: _journal(hands, NOTE)],
}

Refusal = tuple[type[Exception], Callable[[Any], bytes]]

REFUSED: dict[str, list[Refusal]] = {
    "a newer format, in preamble or index": [
        (BundleFromTheFuture, lambda hands: hands.journal_bytes(NOTE, version=FORMAT_VERSION + 1)),
        (BundleFromTheFuture, lambda hands: sealed(hands, format=FORMAT_VERSION + 1)),
    ],
    "unknown record kinds, except `x-…`": [
        (UnknownRecordKind, lambda hands: _journal(hands, b'{"k":"y-acme","n":0}\n\n')),
    ],
    "frames without content size or checksum, with a dictionary, or over a limit": [
        (BundleDamaged, lambda hands: _without(hands, write_checksum=True, write_content_size=False)),
        (BundleDamaged, lambda hands: _without(hands, write_checksum=False)),
        (BundleDamaged, _with_dictionary),
        (LimitExceeded, lambda hands: _journal(hands, bytes(constants.FRAME_RAW_MAX + 1))),
    ],
    "bytes after the seek table": [(BundleDamaged, lambda hands: sealed(hands, tail=b"x"))],
    "a table whose sizes do not add up to the file": [(BundleDamaged, _resized)],
    "a second preamble, a seek table in a journal": [
        (BundleDamaged, lambda hands: _journal(hands, after=_journal(hands))),
        (BundleDamaged, lambda hands: _journal(hands, after=constants.SEEK_TABLE_MAGIC + b"\0\0\0\0")),
    ],
    "reserved bytes that are not zero": [(BundleDamaged, _reserved)],
}


def _columns() -> tuple[list[str], list[str]]:
    ignore, refuse = zip(*table("1.9", 1), strict=True)
    return [cell for cell in ignore if cell], [cell for cell in refuse if cell]


def test_every_entry_has_its_case() -> None:
    assert _columns() == (list(IGNORED), list(REFUSED))


@pytest.mark.parametrize("case", [case for cases in IGNORED.values() for case in cases])
def test_what_is_ignored(case: Callable[[Any], bytes], scratch: Callable[[bytes], Path], hands) -> None:
    path = scratch(case(hands))
    with open_bundle(path) as bundle:
        assert bundle.trajectory.header == Header(channels={})
    assert verify(path).gradable


@pytest.mark.parametrize(("error", "case"), [case for cases in REFUSED.values() for case in cases])
def test_what_is_refused(
    error: type[Exception], case: Callable[[Any], bytes], scratch: Callable[[bytes], Path], hands
) -> None:
    with pytest.raises(error):
        open_bundle(scratch(case(hands)))


# 3: events


def _required(struct: Any) -> list[str]:
    return [field.name for field in msgspec.structs.fields(struct) if field.required]


def test_every_event_type_and_its_required_fields() -> None:
    rows = {quoted(row[0])[0]: quoted(row[1]) for row in table("3")}
    assert rows == {str(e.__struct_config__.tag): _required(e) for e in (Header, *get_args(Event))}
    assert set(rows) == EVENT_TAGS


def test_every_action_type_and_its_required_fields() -> None:
    rows = {tag: quoted(row[1]) for row in table("3", 1) for tag in quoted(row[0])}
    assert rows == {str(e.__struct_config__.tag): _required(e) for e in get_args(Action)}
    assert set(rows) == ACTION_TAGS


MISSING = "0" * 64
HEADER_LINE = '"type":"header","channels":{}'
LOOK, REQUEST = '"type":"observation","role":"start"', '"type":"exchange","id":0,"method":"GET","url":""'
REFERRING = {
    "snapshot": (LOOK, f'"frames":[{{"snapshot":"{MISSING}"}}]'),
    "screenshot": (LOOK, f'"screenshot":"{MISSING}"'),
    "clean": (LOOK, f'"clean":"{MISSING}"'),
    "a11y": (LOOK, f'"a11y":"{MISSING}"'),
    "post": (REQUEST, f'"post":"{MISSING}"'),
    "body": (REQUEST, f'"body":"{MISSING}"'),
    "replies": (HEADER_LINE, f'"replies":"{MISSING}"'),
    "sheets": (LOOK, f'"sheets":[null,"{MISSING}"]'),
}


def test_fields_that_refer_to_blobs_are_documented() -> None:
    item = re.search(r"^- The fields (.*?) refer to", section("3"), re.MULTILINE | re.DOTALL)
    assert quoted(item[1]) == list(REFERRING)


@pytest.mark.parametrize("field", REFERRING)
def test_a_field_that_refers_to_a_blob(field: str, scratch: Callable[[bytes], Path], hands) -> None:
    lines = [f"{{{','.join(REFERRING[field])}}}".encode()]
    if REFERRING[field][0] != HEADER_LINE:
        lines.insert(0, f"{{{HEADER_LINE}}}".encode())
    [finding] = verify(scratch(hands.journal_bytes(hands.story_raw(lines)))).findings
    assert MISSING in finding


# 5: files to test a reader with


def frozen() -> Iterator[dict[str, Any]]:
    return (json.loads(path.read_text()) for path in sorted((ROOT / "recordings" / "format").glob("*.json")))


def test_every_frozen_file_is_documented() -> None:
    named = [name for row in table("5") for name in quoted(row[0])]
    assert sorted(named) == sorted(path.stem for path in (ROOT / "recordings" / "format").glob("*.zst"))


def test_every_key_of_their_descriptions_is_documented() -> None:
    documented = {name for row in table("5", 1) for name in quoted(row[0])}
    assert documented == {key for description in frozen() for key in description}


# The shape of format.py


def test_constants_are_in_use() -> None:
    """A constant that nothing reads is a promise that nothing keeps."""
    assigned = {
        target.id
        for node in ast.parse(CODE).body
        if isinstance(node, (ast.Assign, ast.AnnAssign))
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    sources = "\n".join(path.read_text() for path in (ROOT / "replaykit" / "bundle").glob("*.py"))
    for name in assigned:
        assert len(re.findall(rf"\b{name}\b", sources)) > 1, name
