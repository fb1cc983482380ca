"""Bundles into other tools' layouts: each file is there whole or not at all, and the same every time."""

from __future__ import annotations

import importlib
import io
import os
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby, pairwise
from math import inf
from pathlib import Path

from msgspec import Struct

from replaykit.bundle.blobs import png
from replaykit.bundle.bundle_format import PIXMAP
from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.bundle.sealing import put, scratch_folder, write_error
from replaykit.errors import BundleWriteError, CannotExport, OutputExists, UsageError
from replaykit.file_types import DEVICE, is_device
from replaykit.grading.verdict import Verdict
from replaykit.trajectory.action import Answer
from replaykit.trajectory.exchange import Message
from replaykit.trajectory.scalars import Blob
from replaykit.trajectory.step import Step, Trajectory

MEMBER_DATE = (1980, 1, 1, 0, 0, 0)
"""Of every file in a zip."""

Files = Mapping[str, bytes]
"""Relative name to content."""


class Choices(Struct, frozen=True, kw_only=True):
    """Options of an export."""

    task_type: str | None = None
    """Task type of the agent's response (webarena-verified)."""
    status: str | None = None
    """Status of the agent's response (webarena-verified)."""
    attaches: bool = False
    """Whether bodies become separate files in a zip (har)."""
    verdicts: tuple[Verdict, ...] = ()
    """Verdicts of any runs; those of the exported bundle are included."""
    has_images: bool = True
    """Whether screenshots are written (inspect)."""
    schema: str | None = None
    """Version of the layout (online-mind2web, atif); None = the first version of the exporter."""
    fills_gaps: bool = False
    """Whether a grey image replaces each missing screenshot (online-mind2web, version 2)."""


class Exporter(Struct, frozen=True, kw_only=True):
    """One layout that can be written."""

    name: str
    """FORMAT."""
    writes: str
    """In a few words."""
    make: Callable[[Bundle, Choices], Files]
    """Returns the files of one bundle. Raises CannotExport."""
    ending: str = ""
    """Ending of its one file; empty where it is a folder."""
    schemas: tuple[str, ...] = ()
    """Versions that it writes, the default first."""
    ending_attached: str = ""
    """The same where bodies are attached; empty where they cannot be."""

    def check_schema(self, choices: Choices) -> None:
        """Raise UsageError for a version that it does not write."""
        if choices.schema is not None and choices.schema not in self.schemas:
            known = f"it writes {', '.join(self.schemas)}" if self.schemas else "it has one version only"
            raise UsageError(what=f"--schema: {self.name} has no version {choices.schema!r}; {known}")

    def ending_of(self, choices: Choices) -> str:
        """Return the ending of the one file. Raises UsageError where nothing can be attached."""
        if choices.attaches and not self.ending_attached:
            raise UsageError(what=f"--attach: {self.name} has no bodies to attach; har has")
        return self.ending_attached if choices.attaches else self.ending


EXPORTERS = {
    "atif": "replaykit.interop.atif.atif_export",
    "har": "replaykit.interop.har.har_files",
    "inspect": "replaykit.interop.inspect.inspect_export",
    "online-mind2web": "replaykit.interop.online_mind2web.mind2web_export",
    "playwright-trace": "replaykit.interop.playwright_trace.trace_export",
    "webarena-verified": "replaykit.interop.webarena_verified.output_folders",
    "webvoyager": "replaykit.interop.webvoyager.webvoyager_export",
}
"""FORMAT to the module whose `EXPORTER` writes it."""

OF_ALL = ("parquet", "stwab-submission")
"""Formats of all bundles together, which other functions write."""


def exporter(name: str) -> Exporter:
    """Return the exporter of a format. Raises UsageError."""
    if name not in EXPORTERS:
        raise UsageError(
            what=f"no export format {name!r}; there are {', '.join(sorted((*EXPORTERS, *OF_ALL)))}"
        )
    found: Exporter = importlib.import_module(EXPORTERS[name]).EXPORTER
    return found


def export_run(
    format: str,
    bundle: str | Path,
    target: str | Path,
    *,
    choices: Choices | None = None,
    force: bool = False,
) -> Path:
    """Write one bundle in the layout of another tool, as a folder or a single file.

    `format`: a name of `replaykit export --list`. `target`: where to write. `choices`: options of the format.
    `force`: replace existing files. Returns the path written. Raises UsageError, OutputExists, BundleError,
    CannotExport.

    Example:
        print(replaykit.export_run("webvoyager", "run.zst", "exported"))
    """
    one, choices = exporter(format), choices or Choices()
    one.ending_of(choices)
    one.check_schema(choices)
    place = Path(target)
    if os.path.lexists(place) and not force:
        raise OutputExists(source=str(place), operation="export")
    if not one.ending and place.exists() and not place.is_dir():
        raise BundleWriteError(source=str(place), operation="write the export", reason="it is not a folder")
    with open_bundle(bundle) as opened:
        found = one.make(opened, choices)
    for name, data in found.items():
        write_file(place if one.ending else place / name, data, is_forced=force)
    if not one.ending:
        _remove_stale(place, found)
    return place


def _remove_stale(place: Path, written: Files) -> None:
    """Remove the numbered files of an earlier, longer export: they would be read as a part of this one."""
    forms = {_NUMBER.sub("*", name) for name in written if _NUMBER.search(name)}
    kept = {place / name for name in written}
    try:
        for old in sorted({old for form in forms for old in place.glob(form)} - kept):
            if _NUMBER.sub("*", old.relative_to(place).as_posix()) in forms:
                old.unlink()
    except OSError as error:
        raise BundleWriteError(
            source=str(place), operation="remove the earlier export", reason=error.strerror or str(error)
        ) from error


_NUMBER = re.compile(r"\d+")


def targets(
    format: str, bundles: Iterable[str], place: Path, choices: Choices | None = None
) -> dict[str, Path]:
    """Return bundle to where its export goes: the place itself for one, a name of its own in it for many."""
    named, choices = list(dict.fromkeys(bundles)), choices or Choices()
    ending = exporter(format).ending_of(choices)
    exporter(format).check_schema(choices)
    if len(named) == 1 and place.name.endswith(ending):
        return {named[0]: place}
    if place.is_file():
        raise UsageError(
            what=f"{place} is a file: name a folder" + (f", or a file *{ending}" if ending else "")
        )
    found = {bundle: place / (Path(bundle).name.removesuffix(".zst") + ending) for bundle in named}
    if len(set(found.values())) < len(found):
        raise UsageError(what="two bundles have one name: export them into folders of their own")
    return found


def zipped(files: Files) -> bytes:
    """Return a zip of the files in their order: the same bytes whenever it is made."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            member = zipfile.ZipInfo(name, MEMBER_DATE)
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, data)
    return target.getvalue()


def image_bytes(bundle: Bundle, blob: Blob | None) -> bytes | None:
    """Return the bytes of an image: captures as PNG, images of other tools as they were."""
    if not isinstance(blob, str):
        return None
    data = bundle.blob(blob)
    return png(data) if bundle.blob_type(blob) == PIXMAP else data


def refuse(format: str, bundle: Bundle, missing: Iterable[str], advice: str) -> CannotExport:
    """Return the error that lists what a layout needs and the bundle lacks."""
    found = list(missing)
    more = f" (and {len(found) - 5} more)" if len(found) > 5 else ""
    return CannotExport(format=format, source=bundle.name, missing="; ".join(found[:5]) + more, advice=advice)


def conversation(run: Trajectory) -> Iterator[list[Step] | Message]:
    """Yield the agent's turns and the messages between them, in order; the answer at the end is left out."""
    messages = list(_messages(run))
    actions = run.steps[:-1] if run.steps and isinstance(run.steps[-1].action, Answer) else run.steps
    # A step without a turn is a group by itself: its negative key equals no other.
    groups = groupby(actions, key=lambda step: step.turn if step.turn is not None else -1 - step.index)
    turns = [list(group) for _, group in groups]
    starts = [-1, *(turn[0].index for turn in turns), inf]
    for turn, (start, end) in zip([[], *turns], pairwise(starts), strict=True):
        if turn:
            yield turn
        yield from (message for at, message in messages if start <= at < end)


def _messages(run: Trajectory) -> Iterator[tuple[int, Message]]:
    """Yield all messages except the answer, each with the index of the step before it, or -1."""
    last = -1
    for event in run.events:
        if isinstance(event, Step):
            last = event.index
        elif isinstance(event, Message) and event.kind != "answer":
            yield last if event.step is None else event.step, event


def thought_of_answer(run: Trajectory) -> str | None:
    """Return what the agent thought when it answered."""
    last = run.steps[-1] if run.steps else None
    return last.thought if last is not None and isinstance(last.action, Answer) else None


def write_file(file: Path, data: bytes, *, is_forced: bool) -> None:
    """Write a file whole or not at all, its folders with it. Raises BundleWriteError.

    `is_forced`: it replaces one that is there, else that is OutputExists.
    """
    operation = "write the export"
    if is_device(file):
        raise BundleWriteError(source=str(file), operation=operation, reason=DEVICE)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with scratch_folder(file.parent, "exporting") as place:
            part = place / "part"
            part.write_bytes(data)
            part.chmod(0o644)
            put(part, file, operation, is_forced=is_forced)
    except OSError as error:
        raise write_error(str(file), operation, error) from error
