"""HAR with its bodies beside it in a zip, as Playwright writes them with `content: attach`."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.cli.main import run
from replaykit.errors import UsageError
from replaykit.interop.bundle_export import Choices, export_run, targets, zipped
from replaykit.interop.har.har_files import har_of, har_zip_of
from replaykit.trajectory.exchange import Exchange
from tests.interop.conftest import Importing
from tests.interop.samples import entry, har


def with_body(text: str, url: str = "http://shop.test/") -> dict[str, Any]:
    one = entry(url)
    one["response"]["content"]["text"] = text
    one["request"]["postData"] = {"mimeType": "text/plain", "text": "sent"}
    return one


@pytest.fixture
def bundle(tmp_path: Path, imported: Importing) -> Bundle:
    entries = [with_body("one"), with_body("one", "http://shop.test/b"), with_body("two"), entry(status=-1)]
    return imported("har", har(tmp_path, *entries))


def test_bodies_are_files_and_equal_ones_are_one(bundle: Bundle) -> None:
    with zipfile.ZipFile(io.BytesIO(har_zip_of(bundle))) as archive:
        names = archive.namelist()
        entries = json.loads(archive.read("har.har"))["log"]["entries"]
        named = [one["response"]["content"]["_file"] for one in entries]
        assert names[0] == "har.har" and len(names) == len(set(names)) == 5  # one, two, hello, sent
        assert [archive.read(name) for name in named] == [b"one", b"one", b"two", b"hello"]
        assert archive.read(entries[0]["request"]["postData"]["_file"]) == b"sent"
        assert not any("text" in one["response"]["content"] for one in entries)


def test_the_way_back_is_the_same_as_with_bodies_inside(
    bundle: Bundle, tmp_path: Path, imported: Importing
) -> None:
    inside, beside = tmp_path / "a.har", tmp_path / "b.har.zip"
    inside.write_bytes(har_of(bundle))
    beside.write_bytes(har_zip_of(bundle))
    found = [imported("har", path).trajectory.of_type(Exchange) for path in (inside, beside)]
    assert found[0] == found[1] == bundle.trajectory.of_type(Exchange)
    assert har_zip_of(bundle) == har_zip_of(bundle)


@given(st.dictionaries(st.text("abc.", min_size=1), st.binary(max_size=99), max_size=5))
def test_a_zip_holds_its_files_and_is_the_same_every_time(files: dict[str, bytes]) -> None:
    data = zipped(files)
    assert data == zipped(dict(files))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == files


def test_places_and_formats(tmp_path: Path) -> None:
    attach = Choices(attaches=True)
    assert targets("har", ["a.zst"], tmp_path / "x.har.zip", attach) == {"a.zst": tmp_path / "x.har.zip"}
    assert targets("har", ["a.zst"], tmp_path, attach) == {"a.zst": tmp_path / "a.har.zip"}
    for name in ("atif", "playwright-trace", "webvoyager"):
        with pytest.raises(UsageError, match=r"--attach: .* has no bodies to attach"):
            targets(name, ["a.zst"], tmp_path, attach)
        with pytest.raises(UsageError):
            export_run(name, "a.zst", tmp_path / "x", choices=attach)


def test_on_the_command_line(tmp_path: Path, imported: Importing) -> None:
    made = imported("har", har(tmp_path))
    place = tmp_path / "out.har.zip"
    assert run(["export", "har", str(made.name), "-o", str(place), "--attach"]) == 0
    assert run(["import", "har", str(place), "-o", str(tmp_path / "again")]) == 0
    with open_bundle(tmp_path / "again" / "out.zst") as again:
        assert again.trajectory.of_type(Exchange) == made.trajectory.of_type(Exchange)
