"""The bytes of every frozen file of format 1: as our writer makes them, and as none of ours would."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from recordings.frozen_run import CLEAN, Commit, NewBlob, new_blob, noise, pixmap_run, snapshot, whole_run
from replaykit.bundle.bundle_format import Limits, Preamble
from replaykit.bundle.index import FrameOffsets, parse_seek_table, seek_table
from replaykit.bundle.records import blob_line, event_record, header_record
from replaykit.bundle.sealed_order import shortened
from replaykit.bundle.trajectory_digest import trajectory_digest
from replaykit.bundle.writer import Journal, seal
from replaykit.bundle.zstd_frames import compress

FUTURE = 65_535
"""The last version that a preamble can name: never to be read."""

NOTE = b'{"k":"x-note","n":5}\nhello\n'
"""A private record."""

FOREIGN_FRAME = b"\x51\x2a\x4d\x18\x07\x00\x00\x00foreign"
"""A skippable frame that is not ours."""

PAGE = new_blob(snapshot("1", "Order 1042 placed"), "application/x-replaykit-dom")
SCAN = new_blob(b"\x00" + noise(b"scan", 90), "image/x-hologram")
MODEL = new_blob(b"glTF" + noise(b"model", 40), "model/gltf-binary")

UNKNOWN_STORY = (
    b'{"type":"header","channels":{"actions":"recorded","smells":"recorded"},"mood":"calm"}',
    b'{"type":"step","t":100,"page":0,"index":0,"action":{"type":"teleport","to":[1,2]},'
    b'"observed":[{"type":"teleport","to":[1,2]},{"type":"click","pressure":0.5}],"url":"http://shop.test/"}',
    b'{"type":"step","t":120,"page":0,"index":1,"action":{"type":"click"},"declared":{"type":"dance"}}',
    b'{"type":"hologram","t":150,"page":0,"scan":"%b","model":"%b","depth":{"type":"step"}}'
    % (SCAN[0].encode(), MODEL[0].encode()),
    b'{"type":"observation","t":160,"page":0,"role":"after","of":1,"snapshot":"%b","lumen":40}'
    % PAGE[0].encode(),
    b'{"type":"ending","t":300,"kind":"answered","answer":"1042","applause":true}',
)
"""Event types, action types, fields and a channel that format 1 does not have."""

KNOWN_STORY = (
    b'{"type":"header","channels":{"actions":"recorded","snapshots":"recorded"}}',
    b'{"type":"step","t":100,"page":0,"index":0,"action":{"type":"click"},'
    b'"before":{"type":"observation","role":"before","snapshot":"%b"}}' % PAGE[0].encode(),
    b'{"type":"ending","t":300,"kind":"answered","answer":"1042"}',
)


class SealedByHand:
    """A sealed file, frame by frame."""

    def __init__(self) -> None:
        self._frames = [Preamble("sealed", 1).pack()]
        self._raws = [0]
        self._blobs: list[NewBlob] = []
        self._lines: list[bytes] = []

    def skippable(self, frame: bytes) -> None:
        """Add a frame that is passed over."""
        self._put(frame, 0)

    def blobs(self, *blobs: NewBlob) -> None:
        """Add a frame of blobs."""
        self._blobs += blobs
        self._add(b"".join(payload for _, _, payload in blobs))

    def story(self, lines: Sequence[bytes]) -> None:
        """Add a frame of story lines."""
        self._lines += lines
        numbers = {id: number for number, (id, _, _) in enumerate(self._blobs)}
        self._add(b"".join(shortened(line, numbers) + b"\n" for line in lines))

    def finish(
        self, fields: Mapping[str, Any] | None = None, columns: Mapping[str, Any] | None = None
    ) -> bytes:
        """Return the file; its index has further `fields`, and its blobs further `columns`."""
        self._add(json.dumps(self._index(columns or {}) | dict(fields or {})).encode())
        return b"".join(self._frames) + seek_table(list(map(len, self._frames)), self._raws)

    def _add(self, raw: bytes) -> None:
        self._put(compress(raw, 3), len(raw))

    def _put(self, frame: bytes, raw: int) -> None:
        self._frames.append(frame)
        self._raws.append(raw)

    def _index(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        story = sha256(b"".join(line + b"\n" for line in self._lines)).hexdigest()
        events, types = len(self._lines) - 1, sorted({kind for _, kind, _ in self._blobs})
        digest = trajectory_digest(events, story, [(id, len(data), kind) for id, kind, data in self._blobs])
        blobs = {
            "ids": "".join(id for id, _, _ in self._blobs),
            "types": [types.index(kind) for _, kind, _ in self._blobs],
            "sizes": [len(data) for _, _, data in self._blobs],
        }
        return {
            "format": 1, "digest": digest, "story": {"events": events, "sha256": story}, "types": types,
            "blobs": {**blobs, **columns},
        }  # fmt: skip


def story_records(lines: Sequence[bytes], first: int) -> bytes:
    """Return the records of story lines; `first` -1 is the header."""
    numbered = enumerate(lines, first)
    return b"".join(header_record(line) if n < 0 else event_record(n, line) for n, line in numbered)


def journal(commits: Sequence[Commit]) -> tuple[bytes, list[int]]:
    """Return a journal as our writer makes it, and its size after each commit, the preamble first."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.zst"
        with Journal.create(path) as file:
            sizes = [file.size]
            for events, blobs in commits:
                file.commit(events, blobs)
                sizes.append(file.size)
        return path.read_bytes(), sizes


def sealed(content: bytes) -> bytes:
    """Return a journal sealed by our writer."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.zst"
        path.write_bytes(content)
        seal(path)
        return path.read_bytes()


@cache
def v1_journal() -> bytes:
    return journal(whole_run())[0]


@cache
def v1() -> bytes:
    return sealed(v1_journal())


def v1_torn() -> bytes:
    return v1_journal()[:-25]


def v1_pixels() -> bytes:
    return sealed(journal(pixmap_run())[0])


def unknown_types() -> bytes:
    file = SealedByHand()
    file.blobs(SCAN)
    file.skippable(FOREIGN_FRAME)
    file.blobs(PAGE, MODEL)
    file.story(UNKNOWN_STORY[:1])
    file.story(UNKNOWN_STORY[1:3])
    file.story(UNKNOWN_STORY[3:])
    more = {"thumbnails": {"first": None}, "colour": "teal"}
    return file.finish(more, columns={"shades": [7, "more", None]})


def x_record() -> bytes:
    line = blob_line(PAGE[0], len(PAGE[2]), PAGE[1]).replace(b"}", b',"seen":true}')
    blob, story = line + PAGE[2] + b"\n", story_records(KNOWN_STORY, -1)
    cut = story.index(b'{"k":"event"')
    raws = NOTE, story[:cut] + b'{"k":"x-","n":0}\n\n', NOTE + blob, NOTE + story[cut:], NOTE
    return Preamble("journal", 1).pack() + b"".join(compress(raw, 3) for raw in raws)


def truncated() -> bytes:
    return v1()[:-200]


def bit_flipped() -> bytes:
    frames = frames_of(v1())
    return flipped(v1(), frames.offsets[-2] + frames.lengths[-2] // 2)


def bit_flipped_blob() -> bytes:
    return flipped(v1(), v1().index(CLEAN[2][:64]) + 40)


def bit_flipped_journal() -> bytes:
    content, sizes = journal(whole_run())
    return flipped(content, sizes[5] - 40)


def from_the_future() -> bytes:
    content, frames = v1(), frames_of(v1())
    index = b'{"format":%d,"mystery":true}' % FUTURE
    parts = [Preamble("sealed", FUTURE).pack(), content[24 : frames.offsets[-1]], compress(index, 3)]
    lengths, raws = [*frames.lengths[:-1], len(parts[-1])], [*frames.raws[:-1], len(index)]
    return b"".join(parts) + seek_table(lengths, raws)


def flipped(content: bytes, at: int) -> bytes:
    """Return `content` with one bit of byte `at` changed."""
    return content[:at] + bytes([content[at] ^ 0x10]) + content[at + 1 :]


def frames_of(content: bytes) -> FrameOffsets:
    """Return the frames of a sealed file by its seek table."""
    start = len(content) - 17 - 8 * int.from_bytes(content[-9:-5], "little")
    return parse_seek_table(content[start:], start, "frozen", Limits())


class FrozenFile(NamedTuple):
    """How a frozen file is made."""

    what: str
    """Content of the file, in words."""
    make: Callable[[], bytes]
    """Returns its bytes."""
    story_as: str = ""
    """File whose description holds its story too."""


FILES: Mapping[str, FrozenFile] = {
    "v1": FrozenFile("A sealed run: every event, action and field of format 1, every class of blobs.", v1),
    "v1-journal": FrozenFile("The same run before it was sealed.", v1_journal, "v1"),
    "v1-torn": FrozenFile("v1-journal without its last 25 bytes: the last commit is torn.", v1_torn, "v1"),
    "v1-pixels": FrozenFile("Sealed: two screenshots share a segment, the newer one first.", v1_pixels),
    "unknown-types": FrozenFile(
        "A sealed run with unknown event types, action types, media types, fields, index fields and"
        " columns, a skippable frame of someone else, and its story in three frames.",
        unknown_types,
    ),
    "x-record": FrozenFile(
        "A journal with private records, in frames of their own and in those of others, and an unknown line"
        " key.",
        x_record,
    ),
    "truncated": FrozenFile(
        "v1 without its last 200 bytes. Nothing of it may be read, nor salvaged.", truncated
    ),
    "bit-flipped": FrozenFile("v1 with one bit changed in its story. Its blobs can be read.", bit_flipped),
    "bit-flipped-blob": FrozenFile(
        "v1 with one bit changed in a screenshot. All else can be read.", bit_flipped_blob, "v1"
    ),
    "bit-flipped-journal": FrozenFile(
        "v1-journal with one bit changed in the story frame of its fifth commit. Nothing may be read;"
        " four whole commits can be salvaged.",
        bit_flipped_journal,
    ),
    "from-the-future": FrozenFile("A sealed run of format 65535, in preamble and index.", from_the_future),
}
"""Every frozen file by name."""
