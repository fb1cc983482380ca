"""Harbor's verifier: what an agent left in its log folder, judged; a reward on every path, whatever happens.

The reward files are there from the first moment, with 0, and are replaced at the end; a failing write of the
details changes no decided reward. Nothing is installed, and no reference answer is ever read.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from replaykit.bundle.reader import open_bundle
from replaykit.decoders import convert
from replaykit.errors import InteropError, JudgeError, MalformedSource, ReplaykitError, write_refused
from replaykit.grading.judges.clients.client import Client
from replaykit.grading.judges.replies.verdict_token import unfinished
from replaykit.grading.judges.settings_file import named_judge
from replaykit.grading.judges.tape.tape import read_tape
from replaykit.grading.judges.tape.tape_player import judge_from_tape
from replaykit.grading.judges.tape.tape_recorder import TapeRecorder, judge_sync
from replaykit.grading.verdict import Judgement, JudgeOutcome
from replaykit.interop.imported_run import Options, Run
from replaykit.interop.source_files import Folder, SourceLimits, numbered
from replaykit.interop.written_bundles import write_run
from replaykit.patterns import lazy_pattern
from replaykit.replay.player import Replay
from replaykit.tasks.judge_settings import JudgeSettings
from replaykit.tasks.task import Task, decode_task

TESTS, AGENT, OUT = "/tests", "/logs/agent", "/logs/verifier"
"""Where Harbor mounts the task's tests and the agent's log, and looks for the reward."""

IMAGES = "15"
"""Images that upstream attaches at most."""

TEXT, NUMBERS, DETAILS = "reward.txt", "reward.json", "grading_details.json"
"""Files of the reward; the second one wins."""

DETAIL_NAMES = (
    "outcome",
    "reason",
    "verdict_raw",
    "n_images",
    "n_available",
    "answer",
    "model",
    "fingerprint",
)
"""Keys of the details on every path; null where a value is unknown."""

BUNDLE, TAPE = "run.zst", "run.replies.jsonl"
"""Files with the judged run and with every reply: to judge again without a model."""

TRUTH, ANSWER, SHOTS = "ground_truth.json", "answer.txt", "shots/"
"""Files of the task, and of the agent's log."""

_SHOT = lazy_pattern(r"shots/shot-?(\d{0,9})[^/]*\.(?:png|jpg|jpeg|webp)", re.IGNORECASE)


class Order(Struct, frozen=True, kw_only=True):
    """An order to verify a trial. Numbers are texts: a wrong one is an error with a reward."""

    tests: Path = Path(TESTS)
    """Folder of `ground_truth.json`."""
    agent: Path = Path(AGENT)
    """The agent's log folder."""
    out: Path = Path(OUT)
    """Folder of the reward files."""
    judge: str = "webvoyager"
    """A judge, by name or as a file of settings."""
    model: str | None = None
    """Model asked, as `provider:name`; of Claude the bare name is enough."""
    max_images: str = IMAGES
    """Images that the judge gets at most."""
    mode: str = "compat"
    """`compat`: prompt and reading as upstream has them; `strict`: ours."""
    replies: Path | None = None
    """A tape to answer from; no model is asked then."""


class VerifierResult(Struct, frozen=True, kw_only=True):
    """Result of a verification."""

    reward: float = 0.0
    """1 for success, else 0."""
    error: str | None = None
    """Fault in words; None where a verdict was reached."""
    details: dict[str, Any] = {}
    """Contents of the details."""


def verify_trial(order: Order, client: Callable[[], Client]) -> VerifierResult:
    """Write the reward of a trial and return it; `client` makes what asks a model, where one is asked.

    Raises UsageError or BundleWriteError where nothing can be written at all.
    """
    # Before anything can fail: Harbor counts a missing reward as an error of its own.
    _begin(order.out)
    found = _judged(order, client)
    _finish(order.out, found)
    return found


def _begin(out: Path) -> None:
    """Take stale files away and leave a reward of 0 behind, whatever ends this process."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name in (NUMBERS, TEXT, DETAILS, BUNDLE, TAPE):
            # A second try must not be taken for the first one's result.
            (out / name).unlink(missing_ok=True)
        _replace(out / TEXT, b"0.0\n")
        _replace(out / NUMBERS, b'{"reward": 0.0}\n')
    except OSError as error:
        raise write_refused(out, "write the reward to", error) from error
    # Details are for people, and a full disk must not cost the reward.
    with contextlib.suppress(OSError):
        _replace(out / DETAILS, b'{"state": "unfinished", "reward": 0.0, "error": null}\n')


def _finish(out: Path, found: VerifierResult) -> None:
    numbers = {"reward": found.reward, **found.details.get("numbers", {})}
    details = {name: value for name, value in found.details.items() if name != "numbers"}
    state = "error" if found.error is not None else "graded"
    written = {
        "state": state,
        "reward": found.reward,
        **dict.fromkeys(DETAIL_NAMES),
        **details,
        "error": found.error,
    }
    try:
        # Harbor prefers this file, so it comes first.
        _replace(out / NUMBERS, msgspec.json.encode(numbers) + b"\n")
        _replace(out / TEXT, f"{found.reward}\n".encode())
    except OSError as error:
        raise write_refused(out, "write the reward to", error) from error
    with contextlib.suppress(OSError):
        _replace(out / DETAILS, msgspec.json.format(msgspec.json.encode(written), indent=2) + b"\n")


def _judged(order: Order, client: Callable[[], Client]) -> VerifierResult:
    try:
        return _verdict(order, client)
    except ReplaykitError as error:
        return VerifierResult(error=error.message)
    # A trial gets a reward on every path, also where replaykit has a defect.
    except Exception as error:  # noqa: BLE001
        return VerifierResult(error=f"{type(error).__name__}: {error}")


def _verdict(order: Order, client: Callable[[], Client]) -> VerifierResult:
    settings = _settings(order)
    if order.replies is not None and not order.replies.is_file():
        raise JudgeError(what=f"there is no tape {order.replies} to answer from")
    task = _task(order, settings)
    answer, count = _recorded(order, task)
    known = {"answer": answer, "model": settings.model, "n_available": count}
    # No model is paid to judge nothing.
    if not answer and not count:
        return VerifierResult(
            details={**known, "outcome": "FAILURE", "reason": "no_evidence", "n_images": 0, **_NOTHING}
        )
    with open_bundle(order.out / BUNDLE) as bundle:
        replay = Replay(bundle)
        if order.replies is not None:
            judgement = judge_from_tape(settings, task, replay, read_tape(order.replies), _mode(order))
        else:
            recorder = TapeRecorder(bundle, client(), order.out / TAPE, trajectory=bundle.digest)
            judgement = judge_sync(settings, task, replay, recorder, _mode(order))
    return _found(judgement, known)


_NOTHING: dict[str, Any] = {"verdict_raw": None, "fingerprint": None}


def _found(judgement: Judgement, known: dict[str, Any]) -> VerifierResult:
    last = judgement.stages[-1] if judgement.stages else {}
    raw, stopped = last.get("reply_text"), last.get("stop_reason")
    # Upstream reads a verdict from any text. Here a truncated or refused reply has no verdict.
    is_cut = stopped is not None and unfinished(stopped) is not None
    outcome = JudgeOutcome.ERROR if is_cut else judgement.outcome
    is_error = outcome is JudgeOutcome.ERROR
    details = {
        **known,
        "outcome": str(outcome),
        "reason": judgement.reason,
        "verdict_raw": raw,
        "n_images": judgement.images.get("n_sent", 0),
        "fingerprint": judgement.fingerprint,
        "numbers": {
            "judge_success": float(outcome is JudgeOutcome.SUCCESS),
            "judge_abstain": float(outcome is JudgeOutcome.ABSTAIN),
            "judge_error": float(is_error),
        },
    }
    words = f"the reply ended with {stopped}" if is_cut else judgement.detail or "no verdict was reached"
    error = f"{judgement.reason}: {words}" if is_error else None
    return VerifierResult(reward=float(outcome is JudgeOutcome.SUCCESS), error=error, details=details)


def _settings(order: Order) -> JudgeSettings:
    images = _whole(order.max_images)
    judge = named_judge(order.judge)
    changes: dict[str, Any] = {"shots": "all"}
    # Upstream looks at the last images; a judge's own choice wins.
    changes["images"] = judge.images or f"last:{images}"
    if judge.protocol != "webvoyager":
        changes["images"] = judge.images
        changes["max_images"] = min(images, 100)
    if order.model:
        changes["model"] = order.model
    try:
        return convert({**msgspec.to_builtins(judge), **changes}, JudgeSettings)
    except msgspec.ValidationError as error:
        raise JudgeError(what=f"the judge's settings: {error}") from error


def _whole(text: str) -> int:
    # `int` takes digits of any script, and very long ones raise.
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0
    if number < 1:
        raise JudgeError(what=f"max images is {text!r}; expected a whole number from 1")
    return number


def _mode(order: Order) -> str:
    if order.mode not in ("compat", "strict"):
        raise JudgeError(what=f"mode is {order.mode!r}; expected compat or strict")
    return order.mode


def _task(order: Order, settings: JudgeSettings) -> Task:
    """Return the task: its words and nothing that grades it."""
    source = Folder("harbor", order.tests, SourceLimits())
    if TRUTH not in source:
        raise JudgeError(what=f"{TRUTH} is missing in {order.tests}; --tests names another folder")
    plain = source.json(TRUTH)
    words = plain.get("task") if isinstance(plain, dict) else None
    if not isinstance(words, str) or not words.strip():
        source.malformed(f"{TRUTH} task", repr(words)[:80], "the task in words")
    named = plain.get("id")
    return decode_task({"id": named if isinstance(named, str) and named else "task", "intent": words})


def _recorded(order: Order, task: Task) -> tuple[str, int]:
    """Write answer and images as a bundle; return the answer and the number of images."""
    source = Folder("harbor", order.agent, SourceLimits())
    with Run(source, "run", Options()) as run:
        run.header["task"] = {"id": task.id, "intent": task.intent}
        answer = _answer(source)
        run.unaligned(list(_shots(source)))
        run.origin["alignment"] = "unaligned"
        run.end("answered" if answer else "unknown", answer=answer or None)
        count = run.image_count
        write_run(run, order.out / BUNDLE, is_forced=True)
    return answer, count


def _answer(source: Folder) -> str:
    if ANSWER not in source:
        return ""
    try:
        return source.read(ANSWER).decode("utf-8", "strict").strip()
    except UnicodeDecodeError as error:
        raise MalformedSource(
            format=source.format, source=source.name, place=ANSWER, found="not UTF-8", expected="text"
        ) from error


def _shots(source: Folder) -> Iterator[str]:
    if not source.root.is_dir():
        raise InteropError(source=source.name, what="no such folder: the agent left no log")
    names = [name for name in source.names() if _SHOT.fullmatch(name)]
    yield from sorted(names, key=lambda name: (max(0, numbered(name)), name))


def _replace(file: Path, data: bytes) -> None:
    part = file.with_name(f".{file.name}.{os.getpid()}")
    part.write_bytes(data)
    # Harbor may read at any moment, and must not see half a file.
    part.replace(file)
