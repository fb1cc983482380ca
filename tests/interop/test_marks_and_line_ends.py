"""Text files with a byte order mark, or with the line ends of other systems: the same run."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replaykit.bundle.reader import open_bundle
from replaykit.interop.run_import import import_run
from tests.interop.samples import SAMPLES, ZSTANDARD, unpacked
from tests.thorough import one_in

TEXTS = (".json", ".jsonl", ".har", ".md", ".log", ".txt", ".trace", ".network", ".yml", ".csv")
"""Endings of files that are text."""

CHANGES: dict[str, Callable[[bytes], bytes]] = {
    "mark": lambda data: b"\xef\xbb\xbf" + data,
    "line ends": lambda data: data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"),
    "last line end": lambda data: data.rstrip(b"\n") + b"\n\n",
    "both": lambda data: b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n") + b"\r\n",
}


def changed(path: Path, change: Callable[[bytes], bytes], chosen: Callable[[str], bool]) -> None:
    """Change the text files of a run, or the text members of its archive."""
    if path.suffix in (".zip", ".eval"):
        members = unpacked(path)
        with zipfile.ZipFile(path) as archive:
            if any(one.compress_type == ZSTANDARD for one in archive.infolist()):
                return  # Inspect's own reader knows neither
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in members.items():
                is_text = name.endswith(TEXTS) and chosen(name)
                archive.writestr(zipfile.ZipInfo(name), change(data) if is_text else data)
        return
    folder = path if path.is_dir() else path.parent
    for file in sorted(folder.rglob("*")):
        if file.is_file() and file.suffix in TEXTS and chosen(file.name):
            file.write_bytes(change(file.read_bytes()))


def lines_of(format: str, path: Path, target: Path) -> list[bytes]:
    """Every event of a run; the header differs by the digests of the files."""
    import_run(format, path, target, force=True)
    with open_bundle(target) as bundle:
        return [bytes(line) for line in bundle.lines[1:]]


@pytest.mark.parametrize("format", one_in(3, [*SAMPLES]))
@settings(max_examples=12)
@given(data=st.data())
def test_a_run_is_the_same_with_marks_and_other_line_ends(format: str, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = SAMPLES[format](folder / "in")
        plain = lines_of(format, path, folder / "plain.zst")
        change = CHANGES[data.draw(st.sampled_from(sorted(CHANGES)))]
        changed(path, change, lambda _: data.draw(st.integers(0, 2)) > 0)
        assert lines_of(format, path, folder / "changed.zst") == plain
