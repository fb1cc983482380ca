"""Older formats are lifted while they are read; newer ones are refused by name."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordings.freeze_format import FOLDER
from replaykit.bundle import bundle_format as constants
from replaykit.bundle import migrate, story_lines
from replaykit.bundle.bundle_format import FORMAT_VERSION
from replaykit.bundle.migrate import STEPS
from replaykit.bundle.reader import open_bundle
from replaykit.bundle.verification import verify
from replaykit.bundle.writer import salvage, seal
from replaykit.errors import BundleDamaged, BundleError, BundleFromTheFuture, EventInvalid
from replaykit.trajectory.action import Click
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.step import Ending, Header, Step, Trajectory

Install = Callable[..., None]

PAGE = b"<p>Order 7 shipped"
PAGE_ID = hashlib.sha256(PAGE).hexdigest()

# A format 1 that never was: endings had an `outcome`, times were in seconds, a header listed its channels.
OLD_LINES = (
    b'{"type":"header","channels":["actions"]}',
    b'{"type":"step","t":1.5,"index":0,"action":{"type":"click"},'
    b'"before":{"type":"observation","role":"before","snapshot":"%b"}}' % PAGE_ID.encode(),
    b'{"type":"ending","t":2,"outcome":"answered","answer":"shipped"}',
)
TODAY = Trajectory(
    header=Header(channels={"actions": "recorded"}),
    events=(
        Step(index=0, t=1500, action=Click(), before=Observation(role="before", snapshot=PAGE_ID)),
        Ending(t=2000, kind="answered", answer="shipped"),
    ),
)


def renamed(event: dict[str, Any]) -> dict[str, Any]:
    """Lift 1 to 2: `outcome` of an ending is now called `kind`; channels have states."""
    if event["type"] == "ending":
        return {key: value for key, value in event.items() if key != "outcome"} | {"kind": event["outcome"]}
    if event["type"] == "header":
        return event | {"channels": dict.fromkeys(event["channels"], "recorded")}
    return event


def in_ms(event: dict[str, Any]) -> dict[str, Any]:
    """Lift 2 to 3: times are whole milliseconds."""
    return event | {"t": round(event["t"] * 1000)} if "t" in event else event


def unchanged(event: dict[str, Any]) -> dict[str, Any]:
    return event


@pytest.fixture
def release(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Make this release read formats up to `version` by the steps given."""
    return lambda version, *steps: install(monkeypatch, version, *steps)


def install(monkeypatch: pytest.MonkeyPatch, version: int, *steps: Callable[..., Any]) -> None:
    for module in (constants, story_lines, migrate):
        monkeypatch.setattr(module, "FORMAT_VERSION", version)
    monkeypatch.setattr(migrate, "STEPS", dict(enumerate(steps, 1)))


@pytest.fixture(params=["journal", "sealed"])
def old_file(request: pytest.FixtureRequest, tmp_path: Path, hands) -> Path:
    """A bundle of the old format 1, made before the release that reads it."""
    path, blob, lines = tmp_path / "old.zst", hands.blob_raw(PAGE), hands.story_raw(OLD_LINES)
    index = hands.story_index(OLD_LINES, [(PAGE_ID, "text/html", PAGE)])
    journal = request.param == "journal"
    path.write_bytes(
        hands.journal_bytes(blob, lines)
        if journal
        else hands.sealed_bytes([PAGE, hands.story_text(OLD_LINES)], index)
    )
    return path


def test_there_is_a_step_for_every_older_format() -> None:
    assert set(STEPS) == set(range(1, FORMAT_VERSION))


def test_an_older_file_is_read_as_one_of_today(old_file: Path, release: Install) -> None:
    before = old_file.read_bytes()
    with open_bundle(old_file) as bundle:
        digest = bundle.digest
        with pytest.raises(EventInvalid):
            _ = bundle.trajectory
    release(3, renamed, in_ms)
    with open_bundle(old_file) as bundle:
        assert bundle.trajectory == TODAY
        assert (bundle.format, bundle.digest, bundle.lines) == (1, digest, OLD_LINES)
        assert bundle.blob(PAGE_ID) == PAGE
    assert old_file.read_bytes() == before


def test_it_is_verified_as_one_of_today(old_file: Path, release: Install) -> None:
    assert not verify(old_file).gradable
    release(3, renamed, in_ms)
    found = verify(old_file)
    assert (found.gradable, found.findings, found.format, found.steps) == (True, (), 1, 1)


def test_sealing_keeps_the_format_of_the_lines(old_file: Path, release: Install) -> None:
    """Lines are copied, so the file goes on saying which format they are in."""
    digest = verify(old_file).digest
    release(3, renamed, in_ms)
    assert seal(old_file).digest == digest
    with open_bundle(old_file) as bundle:
        assert (bundle.format, bundle.layout, bundle.lines) == (1, "sealed", OLD_LINES)
        assert bundle.trajectory == TODAY


def test_steps_follow_one_another(old_file: Path, release: Install) -> None:
    release(3, in_ms, renamed)
    with open_bundle(old_file) as bundle:
        assert bundle.trajectory == TODAY
    release(2, renamed)
    with open_bundle(old_file) as bundle, pytest.raises(EventInvalid, match="float"):
        _ = bundle.trajectory


def test_a_file_starts_at_its_own_format(tmp_path: Path, hands, release: Install) -> None:
    lines = [json.dumps(renamed(json.loads(line))).encode() for line in OLD_LINES]
    path = tmp_path / "second.zst"
    path.write_bytes(hands.journal_bytes(hands.blob_raw(PAGE), hands.story_raw(lines), version=2))
    release(3, renamed, in_ms)
    with open_bundle(path) as bundle:
        assert bundle.trajectory == TODAY
        assert bundle.format == 2


def test_a_step_that_is_missing_is_no_silent_pass(old_file: Path, release: Install) -> None:
    release(3, renamed)
    with open_bundle(old_file) as bundle, pytest.raises(KeyError):
        _ = bundle.trajectory


@pytest.mark.parametrize(
    "line",
    [
        b"[]",
        b"7",
        b"null",
        b"{}",
        b'{"type":"ending","t":"soon","outcome":"answered"}',
        b'{"type":"ending","t":1,"outcome":"answered","extra":123456789012345678901234567890}',
        b'{"type":"ending","t":1,"outcome":"answered","extra":"\\ud800"}',
        b'{"type":"ending","t":1,"outcome":"answered","extra":"\xff"}',
        b'{"type":"ending","t":1,"outcome":' + b"[" * 5000 + b"]" * 5000 + b"}",
        b'{"type":"ending","t":1',
    ],
)
def test_a_line_that_does_not_fit_a_step_is_refused(line: bytes, release: Install) -> None:
    release(3, renamed, in_ms)
    with pytest.raises(EventInvalid):
        story_lines.decode_line(line, 0, "test", 1)


def test_unknown_events_pass_every_step(release: Install) -> None:
    release(3, renamed, in_ms)
    event = story_lines.decode_line(b'{"type":"hologram","t":2}', 0, "test", 1)
    assert (event.name, json.loads(event.raw)) == ("hologram", {"type": "hologram", "t": 2000})


@pytest.mark.parametrize(
    "path",
    [path for path in sorted(FOLDER.glob("*.zst")) if (FOLDER / "v1.zst").exists()],
    ids=lambda p: p.stem,
)
def test_frozen_files_are_read_by_a_later_release(path: Path, release: Install) -> None:
    """A step through formats 1 and 2 reads their common parts as without it."""
    before = reading(path)
    release(2, unchanged)
    assert reading(path) == before


def reading(path: Path) -> tuple[Any, ...]:
    try:
        with open_bundle(path) as bundle:
            return bundle.digest, bundle.lines, bundle.trajectory.header, known(bundle.trajectory)
    except BundleError as error:
        return (type(error),)


def known(run: Trajectory) -> list[object]:
    # The text of what is unknown is written anew by a step; what it says is the same.
    events = [event for event in run.events if isinstance(event, (Step, Observation, Ending))]
    return [event for event in events if "raw=" not in repr(event)]


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abct", max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    st.lists(
        st.builds(
            lambda kind, fields: {**fields, "type": kind},
            st.sampled_from(["ending", "step", "message", "hologram"]),
            st.dictionaries(st.sampled_from(["t", "kind", "outcome", "index", "text", "x"]), json_values),
        ),
        max_size=4,
    )
)
def test_lifting_never_changes_the_digest(
    scratch: Callable[[bytes], Path], hands, events: list[dict[str, Any]]
) -> None:
    lines = [OLD_LINES[0], *(json.dumps(event).encode() for event in events)]
    content = hands.journal_bytes(hands.story_raw(lines), version=1)
    path = scratch(content)
    text = b"".join(line + b"\n" for line in lines)
    manifest = f"replaykit-manifest 1\nstory {len(events)} {hashlib.sha256(text).hexdigest()}\n"
    with pytest.MonkeyPatch.context() as monkeypatch, open_bundle(path) as bundle:
        install(monkeypatch, 3, renamed, in_ms)
        with suppress(EventInvalid):
            assert len(bundle.trajectory.events) == len(events)
        assert bundle.digest == hashlib.sha256(manifest.encode()).hexdigest()
        assert bundle.lines == tuple(lines)
    assert path.read_bytes() == content


def sealed_run(hands, preamble: int, index: int) -> bytes:
    lines = [b'{"type":"header","channels":{}}']
    payload = json.loads(hands.story_index(lines))
    written = json.dumps(payload | {"format": index}).encode()
    return hands.sealed_bytes([hands.story_text(lines)], written, version=preamble)


@pytest.mark.parametrize(("preamble", "index"), [(2, 1), (1, 2), (2, 2), (65_535, 65_535), (1, 2**53)])
def test_a_newer_format_is_named_wherever_it_stands(
    preamble: int, index: int, scratch: Callable[[bytes], Path], hands
) -> None:
    path = scratch(sealed_run(hands, preamble, index))
    with pytest.raises(BundleFromTheFuture) as caught:
        open_bundle(path)
    assert caught.value.fields["found"] == max(preamble, index)
    assert caught.value.fields["supported"] == FORMAT_VERSION
    assert "Install a newer" in caught.value.message
    assert verify(path).error == "BundleFromTheFuture"


def test_a_newer_journal_is_named_whatever_it_holds(scratch: Callable[[bytes], Path], hands) -> None:
    path = scratch(hands.journal_bytes(b"no records at all", version=2))
    with pytest.raises(BundleFromTheFuture):
        open_bundle(path)


def test_nothing_is_salvaged_from_the_future(tmp_path: Path, scratch: Callable[[bytes], Path], hands) -> None:
    """The same bytes may mean something else there."""
    path = scratch(hands.journal_bytes(hands.story_raw(OLD_LINES[:1]), version=2))
    with pytest.raises(BundleFromTheFuture):
        salvage(path, tmp_path / "salvaged.zst")
    assert not (tmp_path / "salvaged.zst").exists()


@pytest.mark.parametrize(("preamble", "index"), [(2, 1), (1, 2), (1, 0), (2, 0)])
def test_preamble_and_index_name_one_format(
    preamble: int, index: int, scratch: Callable[[bytes], Path], hands, release: Install
) -> None:
    release(2, unchanged)
    for number in (1, 2):
        open_bundle(scratch(sealed_run(hands, number, number))).close()
    with pytest.raises(BundleDamaged):
        open_bundle(scratch(sealed_run(hands, preamble, index)))
