"""Extraction: plain files that give the digest back, names that no recording can choose, errors that say why."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.bundle import extraction
from replaykit.bundle.extraction import FOLDERS, MANIFEST, STORY, extract
from replaykit.bundle.reader import open_bundle
from replaykit.bundle.writer import Journal, seal
from replaykit.errors import BundleError, DigestMismatch, UsageError
from replaykit.trajectory.action import Click
from replaykit.trajectory.exchange import Exchange
from replaykit.trajectory.observation import Frame, Observation
from replaykit.trajectory.step import Ending, Header, Probe, Step

SHIPPED = Path(__file__).parents[2] / "recordings" / "conformance"

# Independent of replaykit: what docs/bundle-format.md 1.6 says, read off the extracted files.
DIGEST = r"""
import hashlib, json, pathlib, struct, sys, zlib
folder = pathlib.Path(sys.argv[1])
listed = json.loads((folder / "manifest.json").read_text())
story = (folder / "trajectory.jsonl").read_bytes()
rows = []
for name, blob in listed["blobs"].items():
    content = (folder / blob["file"]).read_bytes()
    if not blob["verbatim"]:
        width, height = struct.unpack(">II", content[16:24])
        lines = zlib.decompress(content[41:-16])
        pixels = b"".join(lines[at + 1 : at + 1 + 3 * width] for at in range(0, len(lines), 3 * width + 1))
        content = b"P6\n%d %d\n255\n" % (width, height) + pixels
    assert hashlib.sha256(content).hexdigest() == name
    rows.append(f"blob {name} {len(content)} {blob['type']}\n".encode())
events = len(story.splitlines()) - 1
head = f"replaykit-manifest 1\nstory {events} {hashlib.sha256(story).hexdigest()}\n"
print(hashlib.sha256(head.encode() + b"".join(sorted(rows))).hexdigest())
"""


def digest_of(folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-I", "-c", DIGEST, str(folder)], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def manifest_of(folder: Path) -> dict[str, Any]:
    return json.loads((folder / MANIFEST).read_text())


def write(path: Path, events: list[Any], blobs: list[tuple[str, bytes]], **header: Any) -> Path:
    with Journal.create(path) as journal:
        rows = [(hashlib.sha256(data).hexdigest(), media_type, data) for media_type, data in blobs]
        journal.commit([Header(channels={}, **header)], [])
        journal.commit(events, rows)
    return path


@pytest.mark.parametrize("layout", ["journal", "sealed"])
def test_the_files_give_the_digest_back(journal: Path, tmp_path: Path, layout: str) -> None:
    if layout == "sealed":
        seal(journal)
    result = extract(journal, tmp_path / "out")
    with open_bundle(journal) as bundle:
        assert digest_of(tmp_path / "out") == bundle.digest == result.digest
        assert (tmp_path / "out" / STORY).read_bytes() == b"".join(line + b"\n" for line in bundle.lines)
        assert result.content_digest == bundle.content_digest
        listed = manifest_of(tmp_path / "out")
        assert (listed["digest"], listed["content_digest"]) == (bundle.digest, bundle.content_digest)
        assert list(listed["blobs"]) == list(bundle.blob_ids)


def test_a_shipped_recording(tmp_path: Path) -> None:
    path = SHIPPED / "refund-order--good.zst"
    with open_bundle(path) as bundle:
        result = extract(bundle, tmp_path)
        assert digest_of(tmp_path) == bundle.digest
    listed = manifest_of(tmp_path)
    story = (tmp_path / STORY).read_bytes()
    assert listed["story"]["sha256"] == hashlib.sha256(story).hexdigest()
    assert listed["story"]["events"] == story.count(b"\n") - 1
    named = sorted([STORY, MANIFEST, *(row["file"] for row in listed["blobs"].values())])
    assert files(tmp_path) == named
    assert sum(result.files.values()) == len(listed["blobs"])
    shots = sorted(name for name in named if name.startswith("screenshots/"))
    assert shots
    assert all((tmp_path / shot).read_bytes().startswith(b"\x89PNG") for shot in shots)


def test_names_sort_by_step_and_say_what_they_are(tmp_path: Path) -> None:
    def seen(n: int) -> str:
        return hashlib.sha256(b"page %d" % n).hexdigest()

    blobs = [("application/x-replaykit-dom", b"page %d" % n) for n in range(6)]
    blobs += [("image/png", b"shot"), ("text/yaml", b"- button"), ("text/css", b"p{}"), ("text/html", b"<p>")]
    blobs += [("application/json", b"{}"), ("application/json", b"[]"), ("text/plain", b"alone")]
    ids = {data: hashlib.sha256(data).hexdigest() for _, data in blobs}
    events = [
        Observation(role="start", snapshot=seen(0)),
        Step(index=0, action=Click(), before=Observation(role="before", snapshot=seen(0))),
        Observation(role="after", of=0, snapshot=seen(1), frames=(Frame(snapshot=seen(2)),)),
        Step(index=1, action=Click(), before=Observation(role="before", snapshot=seen(3), a11y=ids[b"- button"])),
        Exchange(id=7, method="POST", url="/", post=ids[b"{}"], body=ids[b"<p>"]),
        Observation(role="final", snapshot=seen(4), screenshot=ids[b"shot"], sheets=(None, ids[b"p{}"])),
        Probe(id="../../p0", phase="post", snapshot=seen(5)),
        Ending(kind="answered"),
    ]  # fmt: skip
    extract(write(tmp_path / "run.zst", events, blobs, replies=ids[b"[]"]), tmp_path / "out")
    short = {data: id[:12] for data, id in ids.items()}
    assert files(tmp_path / "out") == sorted([
        f"a11y/001-1-before-{short[b'- button']}.yaml",
        f"bodies/00007-body-{short[b'<p>']}.html",
        f"bodies/00007-post-{short[b'{}']}.json",
        f"dom/000-0-start-{short[b'page 0']}.jsonl",
        f"dom/000-2-after-{short[b'page 1']}.jsonl",
        f"dom/000-2-after-frame-{short[b'page 2']}.jsonl",
        f"dom/001-1-before-{short[b'page 3']}.jsonl",
        f"dom/001-3-final-{short[b'page 4']}.jsonl",
        f"dom/001-4-probe-{short[b'page 5']}.jsonl",
        f"other/{short[b'alone']}.txt",
        f"replies/{short[b'[]']}.json",
        f"screenshots/001-3-final-{short[b'shot']}.png",
        f"styles/001-3-final-{short[b'p{}']}.css",
        MANIFEST, STORY,
    ])  # fmt: skip


MEDIA_TYPES = st.from_regex(r"\A[a-z0-9!#$&^_.+-]{1,40}/[a-z0-9!#$&^_.+-]{1,40}\Z")
ROLES = st.from_regex(r"\A[A-Za-z][A-Za-z0-9_.-]{0,30}\Z")


@given(media_type=MEDIA_TYPES, role=ROLES, phase=ROLES, data=st.binary(max_size=9))
def test_no_name_comes_from_the_recording(
    media_type: str, role: str, phase: str, data: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("hostile")
    id = hashlib.sha256(data).hexdigest()
    events = [Observation(role=role, of=2**53, screenshot=id), Probe(id="p", phase=phase, snapshot=id)]
    extract(write(folder / "run.zst", events, [(media_type, data)]), folder / "out")
    (row,) = manifest_of(folder / "out")["blobs"].values()
    place, _, name = row["file"].partition("/")
    assert place in FOLDERS
    assert name.isascii()
    stem, _, extension = name.partition(".")
    assert extension in {"bin", *extraction._EXTENSIONS.values()}
    assert set(stem) <= set("0123456789abcdefghijklmnopqrstuvwxyz-")
    assert sorted(path.name for path in folder.iterdir()) == ["out", "run.zst"]
    assert digest_of(folder / "out") == manifest_of(folder / "out")["digest"]


@pytest.mark.parametrize(
    ("media_type", "extension"),
    [
        ("image/jpeg", "jpg"),
        ("image/webp", "webp"),
        ("image/svg+xml", "svg"),
        ("text/html", "html"),
        ("application/x-sh", "bin"),
        ("../..", "bin"),
        ("image/x-portable-pixmap", "ppm"),  # a pixmap that is none stays as it is
    ],
)
def test_extensions(media_type: str, extension: str, tmp_path: Path) -> None:
    shot = Observation(role="final", screenshot=hashlib.sha256(b"x").hexdigest())
    extract(write(tmp_path / "run.zst", [shot], [(media_type, b"x")]), tmp_path / "out")
    (row,) = manifest_of(tmp_path / "out")["blobs"].values()
    assert row["file"].endswith("." + extension)
    assert row["verbatim"]
    assert (tmp_path / "out" / row["file"]).read_bytes() == b"x"


def test_ids_that_begin_alike_do_not_meet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extraction, "_ID_DIGITS", 0)
    alike = [("text/plain", b"%d" % n) for n in range(5)]
    extract(write(tmp_path / "run.zst", [Ending(kind="answered")], alike), tmp_path / "out")
    assert len(files(tmp_path / "out" / "other")) == 5
    assert digest_of(tmp_path / "out") == manifest_of(tmp_path / "out")["digest"]


def test_a_folder_that_is_not_empty_is_refused(journal: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("keep")
    with pytest.raises(UsageError, match="not empty"):
        extract(journal, out)
    assert files(out) == ["mine.txt"]
    extract(journal, out, force=True)
    assert (out / "mine.txt").read_text() == "keep"
    first = {name: (out / name).read_bytes() for name in files(out)}
    extract(journal, out, force=True)
    assert {name: (out / name).read_bytes() for name in files(out)} == first


def test_links_do_not_lead_out_of_the_folder(journal: Path, tmp_path: Path) -> None:
    outside, out = tmp_path / "outside", tmp_path / "out"
    outside.mkdir()
    out.mkdir()
    (outside / "notes").write_text("mine")
    (out / STORY).symlink_to(outside / "notes")
    os.link(outside / "notes", out / MANIFEST)
    extract(journal, out, force=True)
    assert files(outside) == ["notes"]
    assert (outside / "notes").read_text() == "mine"
    (out / "dom").rename(tmp_path / "moved")
    (out / "dom").symlink_to(outside)
    with pytest.raises(BundleError, match="a link stands in the place of a folder"):
        extract(journal, out, force=True)
    assert files(outside) == ["notes"]


def test_a_file_in_the_place_of_the_folder(journal: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UsageError, match="is a file: name the folder to write"):
        extract(journal, tmp_path / "file")
    with pytest.raises(BundleError, match="cannot extract"):
        extract(journal, tmp_path / "file" / "below")


def test_a_full_disk_says_so_and_leaves_no_manifest(
    journal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, mode: str) -> Any:
        opened = original(path, mode)
        if path.parent.name == "screenshots":
            opened.close()
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return opened

    original = Path.open
    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(BundleError, match="No space left on device; the existing content has no manifest"):
        extract(journal, tmp_path / "out")
    assert MANIFEST not in files(tmp_path / "out")
    assert STORY in files(tmp_path / "out")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_device_that_is_really_full(journal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extraction, "_new", lambda _: Path("/dev/full").open("wb"))  # noqa: SIM115
    with pytest.raises(BundleError, match="No space left on device"):
        extract(journal, tmp_path / "out")


def test_an_earlier_manifest_does_not_vouch_for_half_an_extraction(
    journal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    extract(journal, tmp_path / "out")
    monkeypatch.setattr(extraction, "_write_blobs", lambda *_: (_ for _ in ()).throw(OSError("gone")))
    with pytest.raises(BundleError, match="gone"):
        extract(journal, tmp_path / "out", force=True)
    assert MANIFEST not in files(tmp_path / "out")


def test_an_event_that_cannot_be_read_is_extracted_as_it_is(tmp_path: Path, hands: Any) -> None:
    lines = [b'{"type":"header","channels":{}}', b'{"type":"ending","kind":7}']
    path = tmp_path / "run.zst"
    path.write_bytes(hands.journal_bytes(hands.blob_raw(b"<p>"), hands.story_raw(lines)))
    result = extract(path, tmp_path / "out")
    assert result.content_digest is None
    assert manifest_of(tmp_path / "out")["content_digest"] is None
    assert digest_of(tmp_path / "out") == result.digest
    assert result.files == {"other": 1}


def test_a_damaged_blob_stops_it(tmp_path: Path, hands: Any) -> None:
    lines = [b'{"type":"header","channels":{}}', msgspec.json.encode(Ending(kind="answered"))]
    raw = hands.blob_raw(b"a page").replace(b"a page", b"a lie!")
    path = tmp_path / "run.zst"
    path.write_bytes(hands.journal_bytes(raw, hands.story_raw(lines)))
    with pytest.raises(DigestMismatch):
        extract(path, tmp_path / "out")
    assert MANIFEST not in files(tmp_path / "out")


def test_one_blob_at_a_time(journal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    new = extraction._new

    def noted(path: Path) -> Any:
        order.append(f"write {path.name.rpartition('-')[2][:12]}")
        return new(path)

    monkeypatch.setattr(extraction, "_new", noted)
    with open_bundle(journal) as bundle:
        read = bundle.blob
        monkeypatch.setattr(bundle, "blob", lambda id: order.append(f"read {id[:12]}") or read(id))
        extract(bundle, tmp_path / "out")
        ids = [id[:12] for id in bundle.blob_ids]
    assert order[1:-1] == [f"{word} {id}" for id in ids for word in ("read", "write")]
