"""Bounded memory, asked from the kernel: a process of its own reads each forged file under an eye.

`tracemalloc` does not see what zstd allocates, so the peak is that of the resident set.
"""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
import zstandard

from replaykit.bundle.bundle_format import Preamble
from replaykit.bundle.index import seek_table
from replaykit.bundle.zstd_frames import compress

ROOT = Path(__file__).parents[2]
MIB = 1 << 20
GIB = 1 << 30
CLAIM = 4 * GIB
HOLE = 256 * MIB
"""Long enough to distinguish memory that grows with a file from memory that does not: a journal is read to its end."""
LINE = b'{"type":"header","channels":{}}'
PIXMAP = "image/x-portable-pixmap"

READER = """
import json, os, resource, shutil, sys
from pathlib import Path
from replaykit.bundle.blobs import image_size, pixmap, png
from replaykit.bundle.reader import open_bundle
from replaykit.bundle.verification import verify
from replaykit.bundle.writer import salvage, seal
from replaykit.errors import BundleError

def peak():
    # Linux keeps ru_maxrss across exec: a large parent would hide what this process takes.
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

def read(path):
    with open_bundle(path) as bundle:
        bundle.trajectory
        for id in bundle.blob_ids:
            bundle.blob(id)

def verified(path):
    found = verify(path)
    if found.error:
        raise BundleError(source=path, what=found.error)

def sealed(path):
    shutil.copyfile(path, path + ".copy")
    seal(path + ".copy")

def salvaged(path):
    salvage(path, path + ".salvaged")

def shown(path):
    for ask in (png, lambda data: image_size(data, "image/x-portable-pixmap")):
        try:
            ask(Path(path).read_bytes())
        except BundleError:
            continue
        sys.exit("a screenshot was made of it")
    raise BundleError(source=path, what="refused")

def captured(path):
    assert pixmap(Path(path).read_bytes()) is None
    image_size(Path(path).read_bytes(), "image/png")

def answer(path, acts):
    before = peak()
    outcomes = {}
    for name in acts:
        try:
            globals()[name](path)
            outcomes[name] = "read"
        except BundleError as error:
            outcomes[name] = type(error).__name__
    print(json.dumps({"outcomes": outcomes, "peak": peak(), "more": peak() - before}), flush=True)

# Of a fork the kernel counts the peak anew, and nothing is imported again.
for line in sys.stdin:
    path, *acts = json.loads(line)
    child = os.fork()
    if not child:
        answer(path, acts)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        print("null", flush=True)
"""


class Forking:
    """The process from which those come that read a file each."""

    process: subprocess.Popen[str]


@pytest.fixture(scope="module", autouse=True)
def _forking() -> Iterator[None]:
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", READER], stdin=pipe, stdout=pipe, text=True, cwd=ROOT
    ) as Forking.process:
        yield
        Forking.process.communicate()


def look(path: Path, *actions: str) -> SimpleNamespace:
    """Do this to a file in a process of its own; return outcomes, peak and growth of its memory in bytes."""
    asked, output = Forking.process.stdin, Forking.process.stdout
    assert asked is not None and output is not None
    asked.write(json.dumps([str(path), *actions]) + "\n")
    asked.flush()
    seen = json.loads(output.readline())
    assert seen is not None, "the process ended; it said why on standard error"
    return SimpleNamespace(**seen)


def forged_frame(size: int, content: bytes = b"x" * 100) -> bytes:
    """Return a frame whose header claims `size` bytes and a window of 1 MiB."""
    frame = compress(content, 1)
    header = zstandard.frame_header_size(frame)
    return frame[:4] + bytes([0b11000100, 80]) + size.to_bytes(8, "little") + frame[header:]


def journal(*frames: bytes) -> bytes:
    return Preamble("journal", 1).pack() + b"".join(frames)


def sealed(frames: list[bytes], raws: list[int]) -> bytes:
    parts = [Preamble("sealed", 1).pack(), *frames]
    return b"".join(parts) + seek_table([len(part) for part in parts], [0, *raws])


def record(line: str) -> bytes:
    return compress(f"{line}\nshort\n".encode(), 1)


ID = "0" * 64
STORY = compress(b'{"k":"header","n":%d}\n%b\n' % (len(LINE), LINE), 1)
RAW = len(b'{"k":"header","n":%d}\n%b\n' % (len(LINE), LINE))
TEXT = compress(LINE + b"\n", 1)
INDEX = compress(b"{}" * 18, 1)
BLOB = f'{{"k":"blob","n":{CLAIM},"sha256":"{ID}","type":"text/html"}}'

CLAIMS: dict[str, bytes] = {
    "journal: content size": journal(STORY, forged_frame(CLAIM)),
    "journal: content size of the story": journal(forged_frame(CLAIM)),
    "journal: content size at the limit": journal(forged_frame(64 * MIB)),
    "journal: n of the header": journal(record(f'{{"k":"header","n":{CLAIM}}}')),
    "journal: n of an event": journal(STORY, record(f'{{"k":"event","n":{CLAIM},"i":0}}')),
    "journal: n of a blob": journal(record(BLOB), STORY),
    "journal: n of a private record": journal(record(f'{{"k":"x-note","n":{CLAIM}}}'), STORY),
    "journal: length of a skippable frame": journal(b"\x51\x2a\x4d\x18\xff\xff\xff\xff", STORY),
    "journal: number of an event": journal(STORY, record(f'{{"k":"event","n":5,"i":{CLAIM}}}')),
    "sealed: content size of the index": sealed([STORY, forged_frame(CLAIM)], [RAW, 2**32 - 1]),
    "sealed: content size against the table": sealed([STORY, forged_frame(CLAIM)], [RAW, 100]),
    "sealed: content size at the limit": sealed([STORY, forged_frame(64 * MIB)], [RAW, 64 * MIB]),
    "sealed: no index": sealed([STORY, INDEX], [RAW, 36]),
    "sealed: sum of the table": sealed([STORY] * 64 + [INDEX], [64 * MIB] * 65),
    "sealed: count of the table": sealed([STORY, INDEX], [RAW, 36])[:-9] + struct.pack("<IBI", 2**32 - 1, 0, 0x8F92EAB1),
    "sealed: sizes of the table": sealed([STORY, INDEX], [2**32 - 1] * 2),
}  # fmt: skip


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_claim_of_four_gib_takes_no_memory(claim: str, tmp_path: Path) -> None:
    path = tmp_path / "run.zst"
    path.write_bytes(CLAIMS[claim])
    seen = look(path, "read", "verified", "sealed", "salvaged")
    salvaged = seen.outcomes.pop("salvaged")
    assert "read" not in seen.outcomes.values(), seen
    assert salvaged == "read" or claim.startswith("sealed") or salvaged in ("NotABundle", "LimitExceeded"), (
        seen
    )
    assert seen.peak < 200 * MIB, seen
    assert seen.more < 16 * MIB, seen


@pytest.mark.parametrize("field", ["sizes", "types", "events"])
def test_an_index_that_claims_four_gib(field: str, tmp_path: Path, hands: SimpleNamespace) -> None:
    index = msgspec.json.decode(hands.story_index([LINE], [hands.blob(b"<p>")]))
    if field == "events":
        index["story"]["events"] = CLAIM
    else:
        index["blobs"][field] = [CLAIM]
    path = tmp_path / "run.zst"
    path.write_bytes(hands.sealed_bytes([b"<p>", hands.story_text([LINE])], msgspec.json.encode(index)))
    seen = look(path, "read", "verified", "sealed")
    assert "read" not in seen.outcomes.values(), seen
    assert seen.more < 16 * MIB, seen


@pytest.mark.parametrize("layout", ["journal", "sealed"])
def test_a_file_that_is_all_hole(layout: str, tmp_path: Path) -> None:
    path = tmp_path / "run.zst"
    path.write_bytes(Preamble("sealed" if layout == "sealed" else "journal", 1).pack())
    with path.open("r+b") as file:
        file.truncate(HOLE)
    seen = look(path, "read")
    assert seen.outcomes["read"] == ("NotABundle" if layout == "journal" else "BundleTruncated")
    assert seen.more < 16 * MIB, seen


def pixmap_of(width: int, height: int) -> bytes:
    return b"P6\n%d %d\n255\n" % (width, height) + bytes(300)


def png_of(width: int, height: int, rows: bytes) -> bytes:
    def chunk(name: bytes, part: bytes) -> bytes:
        return struct.pack(">I", len(part)) + name + part + struct.pack(">I", zlib.crc32(name + part))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = chunk(b"IHDR", header), chunk(b"IDAT", rows), chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


@pytest.mark.parametrize("sides", [(37_838, 37_838), (2**31, 2**31), (8000, 8000), (1, CLAIM // 3)])
def test_a_pixmap_that_claims_four_gib(
    sides: tuple[int, int], tmp_path: Path, hands: SimpleNamespace
) -> None:
    lying = pixmap_of(*sides)
    (tmp_path / "picture").write_bytes(lying)
    seen = look(tmp_path / "picture", "shown")
    assert seen.outcomes == {"shown": "BundleError"}
    assert seen.more < 16 * MIB, seen
    raw = hands.blob_raw(lying, media_type=PIXMAP)
    (tmp_path / "run.zst").write_bytes(hands.journal_bytes(raw, hands.story_raw([LINE])))
    seen = look(tmp_path / "run.zst", "read", "verified", "sealed")
    assert set(seen.outcomes.values()) == {"read"}  # a finding: whoever asks for the screenshot is refused
    assert seen.more < 16 * MIB, seen


@pytest.mark.parametrize("sides", [(37_838, 37_838), (2**31, 2**31), (8000, 7999), (4, 2)])
def test_a_png_that_inflates_past_its_size(sides: tuple[int, int], tmp_path: Path) -> None:
    rows = zlib.compress(bytes(64 * MIB if sides == (4, 2) else 300))
    (tmp_path / "picture").write_bytes(png_of(*sides, rows))
    seen = look(tmp_path / "picture", "captured")
    assert seen.outcomes["captured"] == ("read" if sides[0] <= 8000 else "BundleDamaged")
    assert seen.more < 16 * MIB, seen


def bomb() -> bytes:
    return zstandard.ZstdCompressor(level=1, write_checksum=True).compress(bytes(256 * MIB))


def index_of(change: Callable[[dict], object]) -> Callable[[SimpleNamespace], bytes]:
    def build(hands: SimpleNamespace) -> bytes:
        index = msgspec.json.decode(hands.story_index([LINE]))
        change(index)
        return bytes(hands.sealed_bytes([hands.story_text([LINE])], msgspec.json.encode(index)))

    return build


BOMBS: dict[str, tuple[Callable[[SimpleNamespace], bytes], int]] = {
    "256 MiB in a frame of a journal": (lambda hands: journal(STORY, bomb()), 16),
    "256 MiB in the index": (lambda hands: sealed([STORY, bomb()], [RAW, 256 * MIB]), 16),
    "32 MiB of media types": (index_of(lambda index: index.update(types=["a"] * 8_000_000)), 128),
    "32 MiB of blob sizes": (index_of(lambda index: index["blobs"].update(sizes=[0] * 16_000_000)), 128),
    "32 MiB of blob types": (index_of(lambda index: index["blobs"].update(types=[999] * 8_000_000)), 128),
    "32 MiB of blob ids": (index_of(lambda index: index["blobs"].update(ids=ID * 500_000)), 128),
    "a story where the index stands": (
        lambda hands: hands.sealed_bytes([hands.story_text([LINE]), b"{}\n" * 7_000_000]), 64,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb(name: str, tmp_path: Path, hands: SimpleNamespace) -> None:
    build, most = BOMBS[name]
    path = tmp_path / "run.zst"
    path.write_bytes(build(hands))
    seen = look(path, "read", "verified")
    assert "read" not in seen.outcomes.values(), seen
    assert seen.more < most * MIB, seen


def test_a_note_of_any_length_is_not_kept(tmp_path: Path, hands: SimpleNamespace) -> None:
    notes = {f"{n:x}": 1 for n in range(1_000_000)}
    build = index_of(lambda index: index.update({"acme.notes": notes}))
    (tmp_path / "run.zst").write_bytes(build(hands))
    seen = look(tmp_path / "run.zst", "read")
    assert seen.outcomes == {"read": "read"}
    assert seen.more < 64 * MIB, seen


def test_salvage_keeps_positions_not_records(tmp_path: Path, hands: SimpleNamespace) -> None:
    note = b'{"k":"x-%d","n":0}\n\n'
    notes = b"".join(note % n for n in range(150_000))
    same = b'{"k":"blob","n":0,"sha256":"%b","type":"a/b"}\n\n' % hands.blob(b"")[0].encode()
    damaged = hands.journal_bytes(hands.story_raw([LINE]), notes, same * 50_000) + b"x"
    (tmp_path / "run.zst").write_bytes(damaged)
    seen = look(tmp_path / "run.zst", "salvaged")
    assert seen.outcomes == {"salvaged": "read"}
    assert seen.more < 32 * MIB, seen


@pytest.mark.parametrize("layout", ["journal", "sealed"])
def test_a_large_story_frame_is_read_line_by_line(
    layout: str, tmp_path: Path, hands: SimpleNamespace
) -> None:
    said = b'{"type":"hologram","text":"%b"}' % (b"x" * 4_000_000)
    lines = [LINE, *[said] * 16]
    content = hands.journal_bytes(hands.story_raw(lines))
    if layout == "sealed":
        content = hands.sealed_bytes([hands.story_text(lines)], hands.story_index(lines))
    (tmp_path / "run.zst").write_bytes(content)
    seen = look(tmp_path / "run.zst", "verified")
    assert seen.outcomes == {"verified": "read"}
    assert seen.peak < 150 * MIB, seen


def test_large_frames_are_read_one_at_a_time(tmp_path: Path, hands: SimpleNamespace) -> None:
    large = [bytes([n]) * (31 * MIB) for n in range(4)]
    raws = [hands.blob_raw(*large[:2]), hands.blob_raw(*large[2:])]
    (tmp_path / "run.zst").write_bytes(hands.journal_bytes(*raws, hands.story_raw([LINE])))
    seen = look(tmp_path / "run.zst", "read", "sealed")
    assert set(seen.outcomes.values()) == {"read"}
    assert seen.peak < 200 * MIB, seen
