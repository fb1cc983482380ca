"""A run of another tool on its way into a bundle: header, events, payloads without secrets."""

from __future__ import annotations

import base64
import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, Self

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from replaykit.bundle.blobs import blob_id, image_size
from replaykit.bundle.bundle_format import BLOB_MAX
from replaykit.errors import MalformedSource
from replaykit.interop.extra_fields import rest
from replaykit.interop.image_types import IMAGES, image_type
from replaykit.interop.oversized_events import cut, storable
from replaykit.interop.password_masking import fitted, is_worth_finding, masked, masked_step
from replaykit.interop.repaired_values import Unfit, mended
from replaykit.interop.screen_grid import on_screen
from replaykit.interop.source_files import Folder, SourceFiles, SourceLimits
from replaykit.interop.text_actions import Wordings
from replaykit.interop.unreadable.lfs_pointers import FETCH, is_pointer
from replaykit.interop.unreadable.wide_text import conversion, wide_encoding, wide_words
from replaykit.patterns import lazy_pattern
from replaykit.secrets.redactor import Redactor
from replaykit.secrets.secret_spellings import secret_pattern
from replaykit.tasks.suite import Suite
from replaykit.trajectory.action import Answer, ReportInfeasible, SendMsgToUser, ToolCall
from replaykit.trajectory.exchange import Imported, Rest
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.scalars import Blob, Omitted
from replaykit.trajectory.step import CHANNELS, Ending, Event, Header, Step
from replaykit.trajectory.step import Source as Origin

INERT = (Answer, SendMsgToUser, ReportInfeasible, ToolCall)
"""Actions that leave the page as it was."""

_PART = lazy_pattern(r"[^\[]*\[\d+\]")
"""The part of a file that a path is in."""

INTENT_MAX = 100_000
"""Characters of a task's text in the header."""

EXTRA_MAX = 100_000
"""Bytes of a remark on the source in the header: longer ones stand beside the steps."""

FAULTS_MAX = 1000
"""Lines of a file that may be no JSON."""


class Options(Struct, frozen=True, kw_only=True):
    """Options of an import. Each importer lists those that it accepts."""

    mode: str = "strict"
    """`strict`: a careful reading. `compat`: what the benchmark's own reader sees."""
    suite: Suite | None = None
    """Tasks that replace those of the source."""
    max_iter: int | None = None
    """Number of turns after which the harness stops an agent."""
    shots: Path | None = None
    """Folder of screenshots that are not in the source."""
    judgements: Path | None = None
    """Folder of judgements of the runs."""
    sidecar: Path | None = None
    """JSON file with values that the layout cannot hold: task, answer, thoughts, messages."""
    url_event: str | None = None
    """Tag of custom events that carry the URL of the page."""
    tools: Mapping[str, str] = {}
    """Name of each foreign tool to the type of an action."""
    keeps_secrets: bool = False
    """Whether typed passwords stay readable."""
    secrets: Mapping[str, str] = {}
    """Id of each declared secret to its value."""
    limits: SourceLimits = SourceLimits()
    """Limits of size for one run."""
    actions: Mapping[str, Any] = {}
    """Wordings of actions of a harness of your own."""
    columns: Mapping[str, Any] = {}
    """Name of each field to the column of a table that holds it."""

    def stored(self) -> dict[str, Any]:
        """Return the options that shaped the content, without paths and secrets."""
        options = {"mode": self.mode, "max_iter": self.max_iter, "tools": dict(self.tools) or None}
        options["url_event"] = self.url_event
        options["actions"] = dict(self.actions) or None
        options["columns"] = dict(self.columns) or None
        options["keep_secrets"] = self.keeps_secrets or None
        return {name: value for name, value in options.items() if value is not None}


class Payload(NamedTuple):
    """A blob that is read when it is written."""

    media_type: str
    """Media type."""
    load: Callable[[], bytes]
    """Returns its bytes, redacted."""


class Run:
    """One run under construction. `source`: where it is read from; `name`: what its bundle is called.

    `secrets`: what an earlier reading of it found typed or given as a secret; it is hidden everywhere.
    """

    def __init__(self, source: SourceFiles, name: str, options: Options, secrets: Iterable[str] = ()) -> None:
        self.source = source
        self.name = name
        self.options = options
        # The longest first, as one may be a part of another.
        known = sorted(secrets, key=lambda one: (-len(one), one))
        looks = tuple(("password", re.compile(secret_pattern(one))) for one in known)
        self.redactor = Redactor(
            options.secrets,
            given=looks,
            has_names=not options.keeps_secrets,
            hides_keys=True,
            found=self.secret,
        )
        #: Actions in plain words, those of `--actions` first.
        self.wordings = Wordings(options.actions)
        #: Secrets that the source itself names as such.
        self.passwords: set[str] = set(known)
        self.channels = dict.fromkeys(CHANNELS, "absent")
        self.extra: dict[str, Any] = {}
        self.events: list[Event] = []
        #: What is not in the bundle: a path in the source, and how often.
        self.left_out: Counter[str] = Counter()
        self._remarks: list[str] = []
        self._flaws: dict[str, list[str]] = {}
        #: Whether the source lacks something that no channel shows.
        self.is_cut = False
        self._rests: list[Rest] = []
        self._returned: Any = None
        self.header: dict[str, Any] = {}
        self.origin: dict[str, Any] = {}
        self.blobs: dict[str, Payload] = {}
        self.steps = 0
        #: Steps whose places are parts of a thousand of the screenshot.
        self.on_grid: set[int] = set()
        #: Images kept, equal ones each time.
        self.image_count = 0
        self._shots = Folder(source.format, options.shots, options.limits) if options.shots else None
        self._spool = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the run

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._spool.close()

    def fills(self, **channels: str) -> None:
        """Set the state of the named channels: `recorded`, `partial`, `absent`."""
        self.channels.update(channels)

    def warn(self, words: str) -> None:
        """Keep a remark about the source, which the command line shows."""
        self._remarks.append(words)

    def flaw(self, what: str, place: str) -> None:
        """Keep a flaw that may be there often: it is reported once, with how often and the first place."""
        self._flaws.setdefault(what, []).append(place)

    def beside(self, name: str) -> Any:
        """Return the JSON value of a file beside the run itself; None where none can be read."""
        try:
            return self.source.json(name) if name in self.source else None
        except MalformedSource as fault:
            self.flaw(f"unreadable ({fault.fields['found']}): left out", name)
            self.leave_out(name)
            return None

    def text_beside(self, name: str) -> str | None:
        """Return the text of a file beside the run; None if absent. A pointer, or no UTF-8, is a flaw."""
        data = self.source.read_any(name) if name in self.source else None
        if data is None:
            return None
        try:
            if not is_pointer(data):
                return data.decode("utf-8-sig").replace("\r\n", "\n")
            self.flaw(f"a pointer of Git LFS, left out: {FETCH}", name)
        except UnicodeDecodeError:
            encoding = wide_encoding(data)
            found = wide_words(encoding) if encoding else "not UTF-8"
            self.flaw(f"{found}, left out: {conversion(encoding or 'ENCODING')}", name)
        return None

    def lines(self, name: str) -> Iterator[tuple[int, Any]]:
        """Yield number and value of each JSON line of a file; other lines are skipped and count as a flaw.

        Raises InteropError where no line is JSON.
        """
        faults: list[MalformedSource] = []
        read = 0
        for number, line in self.source.raw_lines(name):
            try:
                value = self.source.decode(line, f"{name} line {number}")
            except MalformedSource as fault:
                # Bounded: a large file that is no JSON has a fault in each line.
                faults += [fault] if len(faults) <= FAULTS_MAX else []
                continue
            read += 1
            yield number, value
        # A file of which every line is faulty has another layout; it is not a damaged one.
        if faults and (not read or len(faults) > FAULTS_MAX):
            raise faults[0]
        for one in faults:
            self.cut("a line that is no JSON: left out", str(one.fields["place"]))
        self.leave_out(f"{name} lines", len(faults))

    def cut(self, what: str, place: str) -> None:
        """Keep a flaw by which the run lacks something: no channel is whole then."""
        self.flaw(what, place)
        self.is_cut = True

    @property
    def warnings(self) -> list[str]:
        """Remarks about the source, each kind of flaw once, what is left out last."""
        flaws = [_flaw(what, places) for what, places in self._flaws.items()]
        parts = ", ".join(f"{name} ({count})" for name, count in sorted(self.left_out.items()))
        found = [*self._remarks, *flaws, *([f"left out: {parts}"] if parts else [])]
        return [self.redactor.text(one) for one in found]

    def leave_out(self, what: str, count: int = 1) -> None:
        """Count what is in the source and not in the bundle, by its path there."""
        if count:
            self.left_out[what] += count

    def converted(self, value: Any, kind: Any, place: str) -> Any:
        """Return plain values as a type; what it does not read, or cannot, is kept.

        Raises MalformedSource where nothing that the type needs is there.
        """
        fit = self.fitted(value, kind, place)
        self.keep(place, dict(rest(fit, kind)))
        return self.source.convert(fit, kind, place)

    def fitted(self, value: Any, kind: Any, place: str) -> Any:
        """Return plain values without the parts that do not fit a type, which are kept: a flaw.

        A value of which nothing fits stays as it is, for the error that reports what is wrong.
        """
        lost: dict[str, Any] = {}
        try:
            fit = mended(value, kind, lost.__setitem__)
        except Unfit:
            return value
        self.keep(place, lost)
        for path in lost:
            self.cut("a value of another kind than the layout has: kept beside the steps", f"{place} {path}")
        return fit

    def keep(self, place: str, values: Mapping[str, Any]) -> None:
        """Keep what a source holds beside the fields that are read, path to value: an event a part."""
        parts: dict[str, dict[str, Any]] = {}
        for path, value in values.items():
            part = _PART.match(path)
            parts.setdefault(part[0] if part else "", {})[path] = value
        self._rests += [Rest(place=f"{place} {part}".strip(), value=value) for part, value in parts.items()]

    def secret(self, text: str) -> None:
        """Learn of a secret that the source names as such."""
        if is_worth_finding(text):
            self.passwords.add(text)

    def add(self, event: Event) -> None:
        """Add an event, without secrets."""
        if isinstance(event, Step):
            self.steps += 1
            self.source.check("steps", self.steps, "the run", "steps")
            seen, self._returned = self._returned, event.returned
            event = event if self.options.keeps_secrets else masked_step(event, self.secret, seen)
        elif isinstance(event, Imported | Rest) and not self.options.keeps_secrets:
            event = replace(event, value=masked(event.value, self.secret))
        event, is_cut = storable(self.redactor.event(fitted(event)))
        if is_cut:
            self.cut("longer than a bundle takes: its longest texts are cut", f"event {len(self.events)}")
        self.events.append(event)

    def last_message(self) -> str | None:
        """Return the text of the last message or answer among the actions; None if absent."""
        actions = [event.action for event in self.events if isinstance(event, Step)]
        texts = [action.text for action in actions if isinstance(action, SendMsgToUser | Answer)]
        return texts[-1] if texts else None

    def put(self, media_type: str, data: bytes) -> Blob:
        """Keep a payload that was made or unpacked; return its id, or why it is left out."""
        data = self.redactor.blob(media_type, data)
        if blob_id(data) in self.blobs:
            self.image_count += media_type in IMAGES
            return blob_id(data)
        start, size = self._spool.seek(0, os.SEEK_END), len(data)
        self._spool.write(data)
        return self._named(media_type, data, lambda: self._spooled(start, size))

    def put_file(self, media_type: str, name: str) -> Blob:
        """Keep a file of the source as a payload, read again when it is written."""
        data = self.source.read_any(name)
        if is_pointer(data):
            self.flaw(f"a pointer of Git LFS, left out: {FETCH}", name)
            return Omitted(why="failed")
        return self._kept_file(media_type, name, data)

    def _kept_file(self, media_type: str, name: str, data: bytes) -> Blob:
        def load() -> bytes:
            return self.redactor.blob(media_type, self.source.read_again(name))

        return self._named(media_type, self.redactor.blob(media_type, data), load)

    def image(self, name: str) -> Blob | None:
        """Keep an image of the source; None where the file is no whole image that is known."""
        data = self.source.read_any(name)
        media_type = self._screenshot_type(data, name)
        return None if media_type is None else self._kept_file(media_type, name, data)

    def screenshot_at(self, path: str) -> Blob | None:
        """Keep an image that a source names by a path of the machine it was written on.

        Looked for by ever shorter ends of the path, in the source and then in the folder of `--shots`; None
        where it is in neither.
        """
        own = self.source.ending(path)
        if own is not None:
            return self.image(own)
        folder = self._shots
        name = None if folder is None else folder.ending(path)
        if folder is None or name is None:
            return None
        data = folder.read_any(name)
        self.source.files[f"shots/{name}"] = folder.files[name]
        media_type = self._screenshot_type(data, name)
        return None if media_type is None else self.put(media_type, data)

    def screenshot_named(self, path: str, folder: PurePosixPath) -> Blob | None:
        """Keep an image that a record names by its path or holds as a data URL; else report a flaw."""
        name = (folder / path[:4096]).as_posix()
        if path.startswith("data:"):
            return self.screenshot_in(path)
        if name in self.source:
            return self.image(name)
        found = self._looked_for(path, folder) if "://" not in path else None
        if found is not None:
            return found
        what = "at an address: not fetched" if "://" in path else "that is named and not there"
        self.flaw(f"a screenshot {what}", path[:200])
        return None

    def _looked_for(self, path: str, folder: PurePosixPath) -> Blob | None:
        """Keep an image named by a path of another machine: beside the record first, then anywhere."""
        own = self.source.ending(path, folder)
        return self.image(own) if own is not None else self.screenshot_at(path)

    def screenshot_in(self, encoded: str) -> Blob | None:
        """Keep an image given as base64; None for any other text."""
        try:
            data = base64.b64decode(encoded.rpartition(",")[2], validate=True)
        except ValueError:
            return None
        return self.screenshot_of(data, "an image in the file")

    def screenshot_of(self, data: bytes, place: str) -> Blob | None:
        """Keep an image given as bytes; None for any other bytes."""
        media_type = self._screenshot_type(data, place)
        return None if media_type is None else self.put(media_type, data)

    def _screenshot_type(self, data: bytes, name: str) -> str | None:
        media_type = image_type(data)
        if is_pointer(data):
            self.flaw(f"a pointer of Git LFS, left out: {FETCH}", name)
        elif media_type is None:
            self.flaw("no whole PNG, JPEG, GIF or WebP: left out", name)
        return media_type

    def task(self, id: str | None, **fields: Any) -> None:
        """Set the task: the one of that id in the suite given, else what the source states."""
        suite = self.options.suite
        if suite is not None:
            one = suite.task_of_run(id, self.source.name)
            self.header["task"] = msgspec.to_builtins(one)
            self.header["sites"] = suite.sites
        elif id is not None and fields.get("intent") is not None:
            task = {"id": id, **{key: value for key, value in fields.items() if value}}
            self.header["task"] = cut(task, INTENT_MAX)
            if self.header["task"] != task:
                self.flaw(f"longer than {INTENT_MAX} characters: cut", "the task")

    def step(self, **fields: Any) -> Step:
        """Add a step with the next index."""
        one = Step(index=self.steps, origin="imported", **fields)
        self.add(one)
        return one

    def unaligned(self, names: list[str]) -> None:
        """Hang images on the run that belong to no step."""
        for name in names:
            shot = self.image(name)
            if shot is not None:
                self.add(Observation(role="unaligned", screenshot=shot))

    def end(self, kind: str, **fields: Any) -> None:
        """End the run: the page that no action followed is its final one; the rest of the source is kept."""
        if self.on_grid and not on_screen(self.events, self.on_grid, self._size):
            self.flaw(
                "a place on a grid of 1000, without a screenshot that shows how large: left in the record",
                f"step {min(self.on_grid)}",
            )
        final = self._final()
        if final is not None:
            self.add(final)
        for key in [key for key, part in self.extra.items() if len(msgspec.json.encode(part)) > EXTRA_MAX]:
            self.keep("extra", {key: self.extra.pop(key)})  # the header takes one MiB
        for one in self._rests:
            self.add(one)
        self.add(Ending(kind=kind, **fields))

    def _size(self, shot: Blob | None) -> tuple[int, int] | None:
        payload = self.blobs.get(shot) if isinstance(shot, str) else None
        return None if payload is None else image_size(payload.load(), payload.media_type)

    def _final(self) -> Observation | None:
        """Return the page before a last turn that acted on no page; None where a later look shows it."""
        looks = [at for at, event in enumerate(self.events) if _is_look(event)]
        last = [event for event in self.events[looks[-1] + 1 if looks else 0 :] if isinstance(event, Step)]
        while last and (last[0].before is None or not all(isinstance(one.action, INERT) for one in last)):
            last = last[1:]
        if not last or last[0].before is None or last[-1].index != self.steps - 1:
            return None
        page = replace(last[0].before, role="final", screenshot=None, clean=None)
        return page if page.url or page.snapshot or page.a11y else None

    def built_header(self) -> Header:
        """Return the header; called last, since it names the files that were read."""
        files = dict(sorted(self.source.files.items()))
        origin = Origin(
            format=self.source.format,
            files=dict(zip(self.redactor.names(files), files.values(), strict=True)),
            options=self.options.stored() or None,
            extra=self._cleaned({**self.extra, **self._uncarried()}),
            **self.origin,
        )
        fields = {"clock": "none", **self.header}
        # A suite is the user's own: what it gives for a test stays.
        if self.options.suite is None and "task" in fields:
            fields["task"] = self._cleaned(fields["task"])
        return self.redactor.event(
            Header(
                channels={name: self._state(name) for name in CHANNELS},
                secrets=tuple(sorted(self.options.secrets)),
                source=origin,
                **fields,
            )
        )

    def _cleaned(self, stated: dict[str, Any]) -> Any:
        """Return what the source states, without secrets."""
        return self.redactor.event(Rest(place="", value=masked(stated, self.secret))).value

    def _state(self, channel: str) -> str:
        state = self.channels[channel]
        return "partial" if self.is_cut and state == "recorded" else state

    def _uncarried(self) -> dict[str, Any]:
        return {"left_out": dict(sorted(self.left_out.items()))} if self.left_out else {}

    def _spooled(self, start: int, size: int) -> bytes:
        self._spool.seek(start)
        return self._spool.read(size)

    def _named(self, media_type: str, data: bytes, load: Callable[[], bytes]) -> Blob:
        id = blob_id(data)
        self.image_count += media_type in IMAGES
        if len(data) > BLOB_MAX:
            return Omitted(why="cap", n=len(data), sha256=id)
        if self.options.secrets and self._is_secret_left(data):
            return Omitted(why="withheld", n=len(data))
        self.blobs.setdefault(id, Payload(media_type, load))
        return id

    def _is_secret_left(self, data: bytes) -> bool:
        """Whether a payload holds a declared secret where none can be replaced: in a key, or in bytes."""
        found = self.redactor.scan(data)
        return found is not None and found.is_declared


def _flaw(what: str, places: list[str]) -> str:
    if len(places) == 1:
        return f"{places[0]} is {what}"
    return f"{len(places)} times, first {places[0]}: {what}"


def _is_look(event: Event) -> bool:
    return isinstance(event, Observation) and event.role in ("after", "final")
