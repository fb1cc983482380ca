"""Thousands of damaged bundles, from a fixed seed: whatever is asked of them, a BundleError or a sound answer.

Half of them are damaged as bytes. The other half are damaged inside of their frames, which are then
compressed again with true checksums, so that every check behind the decoder is reached too.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from replaykit.bundle.bundle_format import Preamble
from replaykit.bundle.index import seek_table
from replaykit.bundle.opening import open_container
from replaykit.bundle.reader import open_bundle
from replaykit.bundle.verification import verify
from replaykit.bundle.writer import salvage, seal
from replaykit.bundle.zstd_frames import compress
from replaykit.errors import BundleError
from tests.thorough import one_in

MUTATIONS = one_in(2, [500, 2500])
"""For each of two layouts and two depths."""

JSON_BYTES = b'0123456789"[]{},:-.e\n\\x'


def mutated(content: bytes, chance: random.Random) -> bytes:
    """Flip, cut, splice, repeat, overwrite, insert zeros, cut off, or forge a byte of JSON; once or more."""
    spoiled = bytearray(content)
    for _ in range(chance.choice([1, 1, 1, 2, 4])):
        size = len(spoiled)
        at, other = chance.randrange(size + 1), chance.randrange(size + 1)
        length = chance.choice([1, 2, 4, 8, 30, 200])
        kind = chance.randrange(7)
        if kind == 0 and size:
            spoiled[at % size] ^= 1 << chance.randrange(8)
        elif kind == 1:
            del spoiled[at : at + length]
        elif kind == 2:
            spoiled[at:at] = spoiled[other : other + length]
        elif kind == 3:
            spoiled[at:at] = bytes(length)
        elif kind == 4:
            spoiled[at : at + length] = spoiled[other : other + length]
        elif kind == 5:
            del spoiled[at:]
        elif size:
            spoiled[at % size] = chance.choice(JSON_BYTES)
    return bytes(spoiled)


def rearranged(raws: list[bytes], chance: random.Random) -> list[bytes]:
    """Swap, repeat or leave out a frame, or spoil what it holds."""
    raws, at, other = list(raws), chance.randrange(len(raws)), chance.randrange(len(raws))
    kind = chance.randrange(6)
    if kind == 0:
        raws[at], raws[other] = raws[other], raws[at]
    elif kind == 1:
        raws.insert(other, raws[at])
    elif kind == 2:
        del raws[at]
    else:
        raws[at] = mutated(raws[at], chance) or b"\n"
    return raws


def packed(raws: list[bytes], layout: str) -> bytes:
    """Return a file of these frames whose checksums and sizes are true."""
    parts = [Preamble("sealed" if layout == "sealed" else "journal", 1).pack()]
    parts += [compress(raw, 1) for raw in raws]
    table = seek_table([len(part) for part in parts], [0, *map(len, raws)])
    return b"".join(parts) + (table if layout == "sealed" else b"")


def raw_frames(path: Path) -> list[bytes]:
    container = open_container(path)
    try:
        return [container.frame(number) for number, raw in enumerate(container.tables.frames.raws) if raw]
    finally:
        container.close()


def content(path: Path) -> tuple[str, tuple[bytes, ...], dict[str, bytes]]:
    """Return digest, lines and blobs; every event has been decoded."""
    with open_bundle(path) as bundle:
        assert bundle.trajectory.header is bundle.header
        return bundle.digest, bundle.lines, {id: bundle.blob(id) for id in bundle.blob_ids}


class Fuzzed:
    """One damaged file, and all that can be asked of it."""

    def __init__(self, folder: Path, data: bytes) -> None:
        self.path, self.copy, self.rescue = (folder / name for name in ("run.zst", "copy.zst", "rescue.zst"))
        for path in (self.path, self.copy, self.rescue):
            path.unlink(missing_ok=True)  # disks wait for what is written over a file
        self.path.write_bytes(data)
        self.copy.write_bytes(data)
        self.data = data

    def read(self) -> None:
        self.content = content(self.path)

    def verify(self) -> None:
        if verify(self.path).error:
            raise BundleError(source="", what="said, not raised")

    def seal(self) -> None:
        digest = seal(self.copy).digest
        with open_bundle(self.copy) as bundle:
            assert (bundle.layout, bundle.digest) == ("sealed", digest)

    def salvage(self) -> None:
        salvage(self.path, self.rescue)
        with open_bundle(self.rescue) as bundle:
            assert [entry.by for entry in bundle.header.derived_from][-1] == "salvage"
            self.rescued = bundle.lines[1:]

    def ask(self) -> Iterator[str]:
        """Ask everything; yield what was answered. Anything but a BundleError comes through."""
        for action in (self.read, self.verify, self.seal, self.salvage):
            try:
                action()
            except BundleError:
                continue
            yield action.__name__
        assert self.path.read_bytes() == self.data
        assert {path.name for path in self.path.parent.iterdir()} <= {"run.zst", "copy.zst", "rescue.zst"}


@pytest.fixture
def sound(tmp_path: Path, hands: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Write the sound bundle of a layout."""
    monkeypatch.setattr(os, "fsync", lambda _: None)

    def write(layout: str) -> Path:
        (tmp_path / "fuzz").mkdir()
        path = tmp_path / "sound.zst"
        hands.write_journal(path, hands.small_commits()[:4])
        if layout == "sealed":
            seal(path)
        return path

    return write


@pytest.mark.parametrize("mutations", MUTATIONS)
@pytest.mark.parametrize("layout", ["journal", "sealed"])
def test_damaged_bytes(layout: str, mutations: int, sound: Callable[[str], Path], tmp_path: Path) -> None:
    path = sound(layout)
    before, whole, chance = content(path), path.read_bytes(), random.Random(layout)
    outcomes: Counter[str] = Counter()
    for _ in range(mutations):
        fuzzed = Fuzzed(tmp_path / "fuzz", mutated(whole, chance))
        answers = list(fuzzed.ask())
        outcomes.update(answers)
        if {"read", "verify"} <= set(answers):
            digest, lines, blobs = fuzzed.content
            assert lines == before[1][: len(lines)]
            assert blobs.items() <= before[2].items()
            assert layout == "journal" or digest == before[0]
        if "salvage" in answers:
            assert fuzzed.rescued == before[1][1 : 1 + len(fuzzed.rescued)]
    # Damage that nobody notices, or that nobody survives, would make this test an empty one.
    # Of a sealed file, less than a thirtieth of these bytes may change so that its index still describes the rest.
    assert outcomes["salvage"] > mutations // (10 if layout == "journal" else 40)
    assert outcomes["seal"] < mutations // 2
    assert outcomes["seal"] or (layout, mutations) == ("sealed", 500)  # of so few all may be noticed


@pytest.mark.parametrize("mutations", MUTATIONS)
@pytest.mark.parametrize("layout", ["journal", "sealed"])
def test_damaged_content_under_true_checksums(
    layout: str, mutations: int, sound: Callable[[str], Path], tmp_path: Path
) -> None:
    raws, chance = raw_frames(sound(layout)), random.Random(layout + "s")
    outcomes: Counter[str] = Counter()
    for _ in range(mutations):
        fuzzed = Fuzzed(tmp_path / "fuzz", packed(rearranged(raws, chance), layout))
        outcomes.update(fuzzed.ask())
    assert outcomes["salvage"] > mutations // 10
    assert 0 < outcomes["seal"] < mutations
