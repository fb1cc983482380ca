"""The files are plain zstd: the public command line reads both layouts, and a short script the digest."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from pathlib import Path

import pytest

from replaykit.bundle.reader import open_bundle
from replaykit.bundle.writer import seal


@pytest.fixture(params=["journal", "sealed"])
def bundle(request: pytest.FixtureRequest, journal: Path) -> Path:
    if request.param == "sealed":
        seal(journal)
    return journal


def run(*command: str) -> bytes:
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_integrity(zstd: str, bundle: Path) -> None:
    run(zstd, "-t", str(bundle))


def test_listing(zstd: str, bundle: Path) -> None:
    with open_bundle(bundle) as opened:
        skips = 1 if opened.layout == "journal" else 2
    assert run(zstd, "-l", str(bundle)).decode().splitlines()[1].split()[1] == str(skips)


def digest_of(stream: bytes) -> str:
    """Compute the trajectory digest of a journal from the decompressed bytes, as the format's text says."""
    story, blobs, events, position = hashlib.sha256(), [], -1, 0
    while position < len(stream):
        start = stream.index(b"\n", position) + 1
        line = json.loads(stream[position:start])
        payload, position = stream[start : start + line["n"]], start + line["n"] + 1
        if line["k"] in ("header", "event"):
            story.update(payload + b"\n")
            events += 1
        elif line["k"] == "blob":
            assert hashlib.sha256(payload).hexdigest() == line["sha256"]
            blobs.append(f"blob {line['sha256']} {line['n']} {line['type']}\n")
    text = f"replaykit-manifest 1\nstory {events} {story.hexdigest()}\n" + "".join(sorted(blobs))
    return hashlib.sha256(text.encode()).hexdigest()


def digest_of_sealed(stream: bytes) -> str:
    """Compute that of a sealed file: blobs, story and index follow one another."""
    index = json.loads(stream[stream.rindex(b'{"format":') :])
    blobs, at = [], 0
    for kind, n in zip(index["blobs"]["types"], index["blobs"]["sizes"], strict=True):
        blobs.append((hashlib.sha256(stream[at : at + n]).hexdigest(), n, index["types"][kind]))
        at += n
    assert "".join(id for id, _, _ in blobs) == index["blobs"]["ids"]
    short = stream[at : stream.rindex(b'{"format":')]
    story = re.sub(rb"\0(\d+)", lambda found: blobs[int(found[1])][0].encode(), short)
    rows = "".join(sorted(f"blob {id} {n} {kind}\n" for id, n, kind in blobs))
    events = index["story"]["events"]
    text = f"replaykit-manifest 1\nstory {events} {hashlib.sha256(story).hexdigest()}\n{rows}"
    return hashlib.sha256(text.encode()).hexdigest()


def test_digest_from_the_outside(zstd: str, bundle: Path) -> None:
    with open_bundle(bundle) as opened:
        compute = digest_of if opened.layout == "journal" else digest_of_sealed
        assert compute(run(zstd, "-dc", str(bundle))) == opened.digest


def test_every_frame_by_the_seek_table(zstd: str, journal: Path, tmp_path: Path) -> None:
    """Read as any reader of the public seekable format does: footer, table, one frame at a time."""
    seal(journal)
    content = journal.read_bytes()
    count = int.from_bytes(content[-9:-5], "little")
    table = content[-9 - 8 * count : -9]
    whole, offset = b"", 0
    for at in range(0, len(table), 8):
        length, raw = (int.from_bytes(table[at + cell : at + cell + 4], "little") for cell in (0, 4))
        frame = tmp_path / "frame.zst"
        frame.write_bytes(content[offset : offset + length])
        part = run(zstd, "-dc", str(frame))
        assert len(part) == raw
        whole, offset = whole + part, offset + length
    assert whole == run(zstd, "-dc", str(journal))
