"""Every exception that replaykit raises on purpose.

Each class has keyword fields, one message template over them, an exit code and, where one helps, a hint that
names the next action. Messages are written for the person who reads them in a terminal. `docs/errors.md`
shows them all, with the class above each.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, ClassVar

RAISED_BY_LOADED_CODE = (Exception, SystemExit)
"""Exceptions of code that people load (agents, checks, policies, judges): all, and that of its `sys.exit`.

They are a result of that code and do not end a command. An interrupt still does.
"""

_WHOLE = "{source}: {reason}"


class ReplaykitError(Exception):
    """Base class of all errors of replaykit. Its fields, given by keyword, fill the message of the class."""

    template: ClassVar[str] = "{what}"
    hint: ClassVar[str] = ""
    exit_code: ClassVar[int] = 3
    whole: ClassVar[tuple[str, object] | None] = None
    """Field and value that stand for no place in a file but all of it: source and reason say enough."""

    def __init__(self, **fields: Any) -> None:
        self.fields = {name: _writable(value) for name, value in fields.items()}
        is_whole = self.whole is not None and fields.get(self.whole[0]) == self.whole[1]
        super().__init__(_writable((_WHOLE if is_whole else self.template).format_map(self.fields)))

    @property
    def message(self) -> str:
        """The error in one line, with its hint as a second where there is one."""
        hint = self.hint.format_map(self.fields) if self.hint else ""
        return f"{self}\n{hint}" if hint else str(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.fields)


def _writable(value: Any) -> Any:
    """Return a text that every report can hold: bytes of file names that are not UTF-8 become escapes."""
    return value.encode(errors="backslashreplace").decode() if isinstance(value, str) else value


def _rebuild(kind: type[ReplaykitError], fields: dict[str, Any]) -> ReplaykitError:
    # Exceptions pickle their args, not their keywords: worker processes need this.
    return kind(**fields)


def with_clean_fields(error: ReplaykitError, clean: Callable[[str], str]) -> ReplaykitError:
    """Return the same error with all texts of its fields cleaned."""
    texts = {name: clean(value) for name, value in error.fields.items() if isinstance(value, str)}
    return type(error)(**{**error.fields, **texts})


def message_of(kind: str, fields: Mapping[str, Any]) -> str:
    """Return the message of an error that a report holds as its class's name and its fields."""
    found = globals().get(kind)
    with suppress(TypeError, ValueError, KeyError):  # of another release, or of somebody else
        if isinstance(found, type) and issubclass(found, ReplaykitError):
            return str(found(**fields))
    return f"{kind}: " + ", ".join(f"{name}={value}" for name, value in sorted(fields.items()))


class UsageError(ReplaykitError):
    """A command or call is invalid. Fields: what."""

    exit_code = 2


class BundleError(ReplaykitError):
    """A bundle cannot be read or written. Fields: source, what."""

    template = "{source}: {what}"


class SourceError(BundleError):
    """The source cannot be read. Fields: source, operation, reason."""

    template = "{source}: cannot {operation}: {reason}"


class NotABundle(BundleError):
    """The file is not a bundle. Fields: source, found."""

    template = "{source}: not a replaykit bundle: found {found}"
    hint = "A bundle is written by `replaykit record`; runs of other tools have to be imported first."


class BundleFromTheFuture(BundleError):
    """The format is newer than this release. Fields: source, found, supported (integers)."""

    template = "{source}: bundle format {found}, this release reads up to {supported}"
    hint = "Install a newer replaykit-web."


class UnknownRecordKind(BundleError):
    """A record kind outside the format. Fields: source, kind, offset (bytes)."""

    template = "{source}: unknown record kind {kind!r} at byte {offset}"


class BundleDamaged(BundleError):
    """Bytes contradict the format. Fields: source, what, offset (bytes), expected, found."""

    template = "{source}: damaged at byte {offset}: {what}: expected {expected}, found {found}"
    hint = "Copy the file again from where it was written; `replaykit seal --salvage` keeps what is whole."


class BundleTruncated(BundleDamaged):
    """A sealed file lost its tail. Fields: source, size (bytes)."""

    template = "{source}: truncated: a sealed bundle of {size} bytes without a valid seek table at its end"
    hint = (
        "Copy the file again from where it was sealed. Its end lists the parts: without it none can be read "
        "or salvaged."
    )


class DigestMismatch(BundleDamaged):
    """Content differs from its digest. Fields: source, what, expected, found."""

    template = "{source}: {what} does not match its digest: expected {expected}, found {found}"


class EventInvalid(BundleError):
    """An event contradicts the data model. Fields: source, number, path, reason."""

    template = "{source}: event {number} is invalid at {path}: {reason}"


class LimitExceeded(BundleError):
    """A limit of the format is exceeded. Fields: source, limit, allowed, found, unit."""

    template = "{source}: {limit} allows {allowed} {unit}, found {found}"


class BlobMissing(BundleError):
    """A referenced blob is absent. Fields: source, id, referred_by."""

    template = "{source}: blob {id} is missing (referred to by {referred_by})"


class BundleWriteError(BundleError):
    """Writing failed. Fields: source, operation, reason."""

    template = "{source}: cannot {operation}: {reason}"
    hint = "Check the path, its permissions and the free space."


class BundleBusy(BundleWriteError):
    """A running recorder writes the file. Fields: source, operation."""

    template = "{source}: cannot {operation}: it is still being recorded"
    hint = (
        "Wait until the recording ends, or end that process. The part recorded so far can be read and graded."
    )


class OutputExists(BundleWriteError):
    """The output exists already. Fields: source, operation."""

    template = "{source}: cannot {operation}: it exists"
    hint = "Name another file. Most commands replace it with --force (`force=True` in a program)."


_WRONG_PLACE = (
    errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTSUP,
)  # fmt: skip
"""Errors of a place that no file can have; all others come from a disk or its permissions."""


def write_refused(place: object, operation: str, error: OSError) -> ReplaykitError:
    """Return the error of a file that could not be written: wrong usage if its place is wrong."""
    reason = error.strerror or str(error)
    if error.errno in _WRONG_PLACE:
        return UsageError(what=f"cannot {operation} {place}: {reason}")
    return BundleWriteError(source=str(place), operation=operation, reason=reason)


class TaskError(ReplaykitError):
    """A task, suite or policy file is invalid.

    Fields: source, path (`$` = the whole file), reason, and others: further faults, one line each.
    """

    template = "{source}: {reason} - at `{path}`"
    whole = ("path", "$")

    @property
    def message(self) -> str:
        """The error in one line, with a line for each further fault of the file."""
        return "\n".join([super().message, *self.fields.get("others", ())])


class UnknownTask(TaskError):
    """No task has that id. Fields: source, id, known."""

    template = "{source}: no task {id!r}; it has {known}"
    hint = "A run is graded against the task with its own id; FILE#ID names one for runs of any task."


class RecorderError(ReplaykitError):
    """A recording cannot start or continue. Fields: what."""


class NoBrowser(RecorderError):
    """No browser was found. Fields: tried."""

    template = "no browser found (tried {tried})"
    hint = (
        "Run `replaykit install-browser`, or name one with --browser PATH or REPLAYKIT_BROWSER. "
        "A named browser must exist."
    )


class NotAttachable(RecorderError):
    """A recorder cannot record this object. Fields: found, api."""

    template = "attach: expected a Page, BrowserContext or Browser of playwright.{api}_api, found {found}"
    hint = "Recorder takes those of playwright.sync_api, AsyncRecorder those of playwright.async_api."


class BrowserNotSupported(NotAttachable):
    """The browser does not report what a recording needs. Fields: browser."""

    template = "cannot record {browser}: only browsers of the Chromium family report what a recording needs"
    hint = "Start the agent with playwright.chromium, or with its channel `chrome` or `msedge`."


class DriverTooOld(NotAttachable):
    """The installed Playwright does not report what happens in a page. Fields: version."""

    template = "cannot record with playwright {version}: its CDP sessions deliver no events"
    hint = "Install playwright 1.60 or newer, or record over CDP (docs/harnesses.md)."


class AgentError(RecorderError):
    """The agent's entry point cannot be used. Fields: entry, reason."""

    template = "cannot use agent {entry!r}: {reason}"
    hint = "An agent is MODULE:FUNCTION, called with (page, task, run), or a program after --."


class SecretFound(RecorderError):
    """A declared secret reached the recording. Fields: source, id, place."""

    template = "{source}: the value of secret {id!r} was found in {place}; nothing was sealed"
    hint = "Remove the journal, then record again with --mask SELECTOR for the place named."


class SecretLeft(RecorderError):
    """A declared secret cannot be removed from a bundle. Fields: source, id, place."""

    template = "{source}: the value of secret {id!r} is still in {place}; nothing was written"
    hint = "Nothing is redacted there, for example in the name of a field. Record again without the secret."


class ReplayError(ReplaykitError):
    """A recorded page cannot be read. Fields: what."""


class SnapshotInvalid(ReplayError):
    """A snapshot contradicts its format. Fields: what, place."""

    template = "snapshot invalid at {place}: {what}"


class SelectorInvalid(ReplayError):
    """A selector that no browser accepts. Fields: selector, reason."""

    template = "not a CSS selector: {selector!r}: {reason}"


class Unsupported(ReplayError):
    """A question that a recorded page cannot answer. Fields: locator, reason."""

    template = "cannot evaluate {locator!r} on a recorded page: {reason}"


class LocatorLimit(ReplayError):
    """A locator asks for more than the limits allow. Fields: locator, limit."""

    template = "locator {locator!r} exceeds the limit of {limit}"


class PageNotRecorded(ReplayError):
    """The run holds no current recording of this page. Fields: url."""

    template = "page not recorded: {url}"
    hint = "Record the run with --evidence FILE, where FILE names this URL."


class PageInert(ReplayError):
    """A recorded page does not accept actions. Fields: action, offered."""

    template = "cannot {action}: a recorded page only answers"
    hint = "Available: {offered}."


class JudgeError(ReplaykitError):
    """A judge cannot be built or asked. Fields: what."""


class TapeError(JudgeError):
    """A tape of replies is damaged. Fields: source, line (0 = the whole file), reason."""

    template = "{source}: line {line}: {reason}"
    whole = ("line", 0)


class LabelError(JudgeError):
    """A file of labels cannot be read. Fields: source, line (0 = the whole file), reason."""

    template = "{source}: line {line}: {reason}"
    whole = ("line", 0)


class EngineError(ReplaykitError):
    """Many bundles cannot be graded together. Fields: what."""


class WorkerDied(EngineError):
    """A bundle repeatedly ended the process that graded it. Fields: source, attempts."""

    template = "{source}: the worker that graded it died {attempts} times"


class TimeLimit(EngineError):
    """Grading took too long. Fields: source, limit."""

    template = "{source}: not graded within {limit} s"


class InternalError(EngineError):
    """A defect of replaykit occurred while one bundle was graded. Fields: source, error, reason."""

    template = "{source}: {error}: {reason}"
    hint = "This is a defect of replaykit: please report it with the bundle."


class NondeterministicVerdict(EngineError):
    """Two gradings of the same run, task and tape differ. Fields: trajectory, first, second."""

    template = "{trajectory}: two verdicts of one kind differ: {first} and {second}"
    hint = "This is a defect of replaykit, or results of different releases in one folder: please report it."


class InteropError(ReplaykitError):
    """A file or folder of another tool is not as expected. Fields: source, what."""

    template = "{source}: {what}"


class UnknownLayout(InteropError):
    """The path does not have the layout of the format. Fields: format, source, found, expected."""

    template = "cannot import {format} from {source}: it is {found}; expected {expected}"
    hint = "`replaykit import --list` lists the formats; FORMAT `auto` recognises them by their files."


class UnsupportedVersion(InteropError):
    """The version of the source is not supported. Fields: format, source, place, found, expected, advice."""

    template = "cannot import {format} from {source}: {place} has version {found}; expected {expected}"
    hint = "{advice}"


class MalformedSource(InteropError):
    """A part is missing, wrong or undecodable. Fields: format, source, place, found, expected."""

    template = "cannot import {format} from {source}: {place} is {found}; expected {expected}"
    hint = "Copy the source again from the tool that wrote it, or leave this run out."


class WideSource(MalformedSource):
    """The source is text in UTF-16 or UTF-32. Fields: format, source, place, found, expected, encoding."""

    hint = "Convert it to UTF-8 first: iconv -f {encoding} -t UTF-8 FILE > COPY"


class UnsafeSource(InteropError):
    """The source would run code or leave its folder. Fields: format, source, place, found, expected."""

    template = "cannot import {format} from {source}: {place} is {found}; expected {expected}"
    hint = "Nothing was run or followed. Do not open this source with other tools either."


class SourceLimitExceeded(InteropError):
    """A limit of importing is exceeded. Fields: format, source, place, found, limit, allowed, unit."""

    template = "cannot import {format} from {source}: {place} is {found} {unit}; expected at most {allowed}"
    hint = "If you trust the source, allow more with --limit {limit}=NUMBER."


class CannotExport(InteropError):
    """The bundle lacks something that the target format needs. Fields: format, source, missing, advice."""

    template = "cannot export {format} from {source}: {missing}"
    hint = "{advice}"


class MissingExtra(ReplaykitError):
    """An optional dependency is not installed. Fields: package, extra, purpose."""

    template = "{purpose} needs the package {package!r}, which is not installed"
    hint = "Install it with: pip install 'replaykit-web[{extra}]'"
