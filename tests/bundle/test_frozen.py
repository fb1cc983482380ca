"""Frozen files: whatever else changes, each is read, or refused, exactly as its `.json` says."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from recordings.freeze_format import FOLDER, describe, freeze, readable
from recordings.frozen_files import FILES, FrozenFile
from replaykit.bundle.bundle_format import FORMAT_VERSION
from replaykit.bundle.reader import open_bundle
from replaykit.bundle.story_lines import decode_line, encode_line
from replaykit.bundle.verification import verify
from replaykit.bundle.writer import seal
from replaykit.bundle.zstd_frames import LIBZSTD
from replaykit.errors import BundleError, BundleFromTheFuture
from tests.bundle.second_reader import frames

NAMES = sorted(path.stem for path in FOLDER.glob("*.zst"))
WRITTEN: dict[str, dict[str, Any]] = {
    path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))
}
OPENED = [name for name in NAMES if "digest" in WRITTEN[name]]
WHOLE = [name for name in OPENED if not WRITTEN[name]["refused"]]
PROMISED = {
    "v1", "v1-journal", "v1-torn", "v1-pixels", "unknown-types", "x-record", "truncated", "bit-flipped",
    "from-the-future",
}  # fmt: skip


def frozen(name: str) -> Path:
    return FOLDER / f"{name}.zst"


@pytest.fixture
def copy(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    return Path(shutil.copy(frozen(request.param), tmp_path / "copy.zst"))


def test_every_file_is_described_and_every_description_has_a_file() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {
        f"{n}{end}" for n in NAMES for end in (".zst", ".json")
    }
    assert set(NAMES) >= PROMISED


@pytest.mark.parametrize("name", NAMES)
def test_it_is_read_as_written_down(name: str) -> None:
    written = WRITTEN[name]
    found = describe(frozen(name), FrozenFile(written["what"], bytes, written.get("story_as", "")))
    assert json.loads(readable(found)) == written


@pytest.mark.parametrize("name", NAMES)
def test_its_bytes_never_change(name: str) -> None:
    assert hashlib.sha256(frozen(name).read_bytes()).hexdigest() == WRITTEN[name]["sha256"]


@pytest.mark.parametrize("name", [name for name in NAMES if "story_as" in WRITTEN[name]])
def test_it_holds_the_story_of_another_file(name: str) -> None:
    written = WRITTEN[name]
    with open_bundle(frozen(name)) as bundle:
        lines = [json.loads(line) for line in bundle.lines]
    assert lines == WRITTEN[written["story_as"]]["story"][: written["events"] + 1]


@pytest.mark.parametrize("name", OPENED)
def test_what_verification_says_is_what_opening_says(name: str) -> None:
    found, written = verify(frozen(name)), WRITTEN[name]
    assert (found.digest, found.events, found.layout) == tuple(
        written[k] for k in ("digest", "events", "layout")
    )
    assert bool(found.error) == bool(written["refused"])


@pytest.mark.parametrize("copy", WHOLE, indirect=True)
def test_sealing_it_keeps_its_digest(copy: Path) -> None:
    with open_bundle(copy) as bundle:
        digest, lines, format_found = bundle.digest, bundle.lines, bundle.format
    private = verify(copy).private
    sealed = seal(copy)
    assert (sealed.digest, sealed.private) == (digest, private)
    with open_bundle(copy) as bundle:
        assert (bundle.digest, bundle.lines, bundle.layout) == (digest, lines, "sealed")
        assert bundle.format == format_found


@pytest.mark.parametrize("copy", ["v1-journal", "v1"], indirect=True)
def test_sealing_it_gives_the_sealed_file(copy: Path) -> None:
    v1 = frozen("v1").read_bytes()
    assert seal(copy).digest == WRITTEN["v1"]["digest"]
    # The bytes are promised for one version of the library alone.
    if b'"libzstd":"%b"' % LIBZSTD.encode() in index_of(v1):
        assert copy.read_bytes() == v1


def index_of(sealed: bytes) -> bytes:
    return [raw for _, _, raw in frames(sealed) if raw][-1]


@pytest.mark.parametrize("name", [name for name in WHOLE if name != "unknown-types"])
def test_names_types_and_defaults_never_change(name: str) -> None:
    """Reading and writing again gives the same line: no field was renamed, retyped or has a new default."""
    with open_bundle(frozen(name)) as bundle:
        lines = bundle.lines
    for number, line in enumerate(lines, -1):
        assert encode_line(decode_line(line, number, name), number, name) == (line, 0)


@pytest.mark.skipif(FORMAT_VERSION != 1, reason="today's writer writes a newer format")
@pytest.mark.parametrize("name", OPENED)
def test_today_s_writer_makes_the_same_trajectory(name: str, tmp_path: Path) -> None:
    with open_bundle(freeze(name, tmp_path)) as bundle:
        assert bundle.digest == WRITTEN[name]["digest"]


def test_a_frozen_file_is_never_written_again(tmp_path: Path) -> None:
    freeze("truncated", tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for path in before:
        with pytest.raises(FileExistsError, match="frozen"):
            freeze("truncated", tmp_path)
        path.unlink()
    assert set(before) == {tmp_path / "truncated.zst", tmp_path / "truncated.json"}


def test_the_future_stays_the_future() -> None:
    with pytest.raises(BundleFromTheFuture) as caught:
        open_bundle(frozen("from-the-future"))
    assert caught.value.fields["supported"] == FORMAT_VERSION < caught.value.fields["found"] == 65_535


def test_one_damaged_screenshot_spoils_nothing_else() -> None:
    """Level `open` passes, `read` refuses the one blob, `full` refuses the file."""
    [refusal] = WRITTEN["bit-flipped-blob"]["refused"]
    with open_bundle(frozen("bit-flipped-blob")) as bundle, open_bundle(frozen("v1")) as whole:
        assert bundle.trajectory == whole.trajectory
        for id in whole.blob_ids:
            if id != refusal["id"]:
                assert bundle.blob(id) == whole.blob(id)
        with pytest.raises(BundleError):
            bundle.blob(refusal["id"])
    assert verify(frozen("bit-flipped-blob")).error


def test_every_maker_s_file_is_there() -> None:
    assert set(FILES) <= set(NAMES)
