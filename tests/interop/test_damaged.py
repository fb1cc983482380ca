"""Small runs of every layout, damaged at random: an error that says where, or a bundle that verifies.

`test_every_importer.py` flips and cuts bytes; here values are wrong that JSON, zip and pickle have no words on.
"""

from __future__ import annotations

import copy
import io
import json
import re
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replaykit.bundle.reader import open_bundle
from replaykit.bundle.verification import verify
from replaykit.errors import InteropError
from replaykit.grading.grader import grade
from replaykit.interop.run_import import import_runs
from tests.interop.samples import SAMPLES, browsergym, gym_pickle, mind2web_second, rr_events, unpacked, write
from tests.interop.test_every_importer import TASK
from tests.thorough import one_in


def rrweb_zip(folder: Path) -> Path:
    """Two streams of rrweb in a zip, one of them packed: each is a run."""
    path = folder / "streams.zip"
    folder.mkdir(parents=True, exist_ok=True)
    packed = [zlib.compress(json.dumps(one).encode()).decode("latin-1") for one in rr_events()]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(zipfile.ZipInfo("a/one.json"), json.dumps(rr_events()))
        archive.writestr(zipfile.ZipInfo("b/two.json"), json.dumps(packed))
    return path


LAYOUTS: dict[str, tuple[str, Callable[[Path], Path]]] = {
    **{format: (format, make) for format, make in SAMPLES.items()},
    "online-mind2web-v2": ("online-mind2web", mind2web_second),
    "rrweb-zip": ("rrweb", rrweb_zip),
}
"""Damaged parts, and the format that reads each."""

ODD: tuple[Any, ...] = (
    None, "", "x", 0, -1, 1.5, 1e308, -1e308, 10**30, 2**53 + 1, 2**64, True, [], {}, [None], [[]], [{}],
    {"a": None}, "\ud800", "a\0b", "y" * 5000, "../../x", "/etc/passwd", "a\nb", float("nan"), float("inf"),
    "2026-99-99T00:00:00Z", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00+23:59", "data:image/png;base64,AAAA",
    "http://[::1", "http://x.test:99999/", ["x"] * 3, {"type": "click"}, "\u202e\u2028",
)  # fmt: skip
"""Values that nobody expects where they stand."""

KEYS = ("", "\0", "type", "\ud800", "k" * 300)

Damage = Callable[[st.DataObject, bytes], bytes]


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place inside of a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield (*at, key)
        yield from places(part, (*at, key))


def value_damaged(data: st.DataObject, value: Any) -> Any:
    """A JSON value with one or two wrongs in it."""
    value = copy.deepcopy(value)
    for _ in range(data.draw(st.integers(1, 2))):
        known = list(places(value))
        if not known:
            return copy.deepcopy(data.draw(st.sampled_from(ODD)))
        *path, key = data.draw(st.sampled_from(known))
        of = value
        for step in path:
            of = of[step]
        match data.draw(st.sampled_from(["odd", "odd", "gone", "twice", "wrapped", "renamed"])):
            case "odd":
                of[key] = copy.deepcopy(data.draw(st.sampled_from(ODD)))
            case "gone":
                del of[key]
            case "twice" if isinstance(of, list):
                of.insert(key, copy.deepcopy(of[key]))
            case "renamed" if isinstance(of, dict):
                of[data.draw(st.sampled_from(KEYS))] = of.pop(key)
            case _:
                of[key] = [of[key]]
    return value


def json_damaged(data: st.DataObject, whole: bytes) -> bytes:
    return json.dumps(value_damaged(data, json.loads(whole))).encode()


def lines_damaged(data: st.DataObject, whole: bytes) -> bytes:
    lines = whole.splitlines()
    at = data.draw(st.integers(0, len(lines) - 1))
    match data.draw(st.sampled_from(["line", "line", "line", "gone", "twice", "first"])):
        case "gone":
            del lines[at]
        case "twice":
            lines.insert(at, lines[at])
        case "first":
            lines.insert(0, lines.pop(at))
        case _:
            lines[at] = json_damaged(data, lines[at])
    return b"\n".join(lines)


def archive_damaged(data: st.DataObject, whole: bytes) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        members = unpacked(write(Path(folder), "whole.zip", whole))
    name = data.draw(st.sampled_from(sorted(members)))
    match data.draw(st.sampled_from(["inside", "inside", "inside", "gone", "away", "elsewhere"])):
        case "gone":
            del members[name]
        case "away":
            members["../../" + name] = members.pop(name)
        case "elsewhere":
            members[f"a b/\n{name}"] = members.pop(name)
        case _:
            members[name] = damage_of(name)(data, members[name])
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return target.getvalue()


def bytes_damaged(data: st.DataObject, whole: bytes) -> bytes:
    broken = (
        b"",
        whole[: len(whole) // 2],
        b"\xef\xbb\xbf" + whole,
        whole.replace(b"\n", b"\r\n"),
        b"GIF89a",
    )
    return data.draw(st.sampled_from(broken))


def markdown_damaged(data: st.DataObject, whole: bytes) -> bytes:
    """A log with a wrong in one of its blocks of JSON, or with a line that is gone, twice or elsewhere."""
    blocks = list(re.finditer(rb"```json\n(.*?)\n```", whole, re.DOTALL))
    if blocks and data.draw(st.booleans()):
        one = data.draw(st.sampled_from(blocks))
        return whole[: one.start(1)] + json_damaged(data, one[1]) + whole[one.end(1) :]
    lines = whole.split(b"\n")
    at = data.draw(st.integers(0, len(lines) - 1))
    line = lines.pop(at)
    if data.draw(st.booleans()):
        lines.insert(data.draw(st.integers(0, len(lines))), line)
    return b"\n".join(lines)


def damage_of(name: str) -> Damage:
    """Return the damage that a file of that name can have."""
    endings: dict[str, Damage] = {
        ".json": json_damaged, ".har": json_damaged, ".jsonl": lines_damaged, ".trace": lines_damaged,
        ".network": lines_damaged, ".md": markdown_damaged, ".zip": archive_damaged, ".eval": archive_damaged,
    }  # fmt: skip
    return endings.get(Path(name).suffix, bytes_damaged)


def disturb(data: st.DataObject, path: Path) -> None:
    """Damage a file of a run, or put it out of place."""
    folder = path if path.is_dir() else path.parent
    names = sorted(one.relative_to(folder).as_posix() for one in folder.rglob("*") if one.is_file())
    file = folder / data.draw(st.sampled_from(names))
    match data.draw(
        st.sampled_from(["inside"] * 6 + ["bytes", "gone", "folder", "loop", "upper", "odd name"])
    ):
        case "bytes":
            file.write_bytes(bytes_damaged(data, file.read_bytes()))
        case "gone":
            file.unlink()
        case "folder":
            file.unlink()
            file.mkdir()
        case "loop":
            file.unlink()
            file.symlink_to(file)
        case "upper":
            file.rename(file.with_name(file.name.upper()))
        case "odd name":
            file.rename(file.with_name("a b\né" + file.name))
        case _:
            file.write_bytes(damage_of(file.name)(data, file.read_bytes()))


def check(format: str, path: Path, folder: Path) -> None:
    """Import, verify and grade: no exception but ours, no check on what was never there passed."""
    for one in import_runs(format, [path], folder):
        if one.error is not None:
            assert isinstance(one.error, InteropError) and one.error.exit_code == 3
            assert one.error.message.startswith(f"cannot import {format} from "), one.error.message
            continue
        assert verify(one.path).findings == ()
        with open_bundle(one.path) as bundle:
            assert not [check for check in grade(bundle, TASK).checks if check.outcome == "PASS"]


@pytest.mark.parametrize("layout", one_in(3, [*LAYOUTS]))
@settings(max_examples=settings().max_examples // 2)
@given(data=st.data())
def test_what_is_damaged_is_reported_or_read(layout: str, data: st.DataObject) -> None:
    format, make = LAYOUTS[layout]
    with tempfile.TemporaryDirectory() as name:
        path = make(Path(name) / "in")
        disturb(data, path)
        check(format, path, Path(name) / "out")


OBSERVED = (
    "url", "goal", "open_pages_urls", "open_pages_titles", "active_page_index", "last_action_error", "axtree_txt",
    "chat_messages",
)  # fmt: skip
PICKLED = st.recursive(
    st.sampled_from((*ODD, b"x", 1j)),
    lambda part: (
        st.lists(part, max_size=2).map(tuple) | st.dictionaries(st.sampled_from(("role", "message", 1)), part)
    ),
    max_leaves=4,
)
ACTIONS = (
    None,
    "",
    "f(",
    "click('a')",
    "send_msg_to_user('\ud800')",
    "noop()\nclick('b')",
    5,
    ["x"],
    "\ud800",
)


@settings(max_examples=60)
@given(
    seen=st.lists(st.dictionaries(st.sampled_from(OBSERVED), PICKLED, max_size=3), min_size=1, max_size=3),
    actions=st.lists(st.sampled_from(ACTIONS), min_size=3, max_size=3),
)
def test_what_is_odd_in_a_pickle_is_reported_or_read(seen: list[dict[str, Any]], actions: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as name:
        run = browsergym(Path(name) / "in")
        for number, (obs, action) in enumerate(zip(seen, actions, strict=False)):
            write(run, f"step_{number}.pkl.gz", gym_pickle(number, action, **obs))
        check("browsergym", run, Path(name) / "out")
