"""Online-Mind2Web result folders (arXiv 2504.01382), versions 1 and 2: `result.json` beside `trajectory/`."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path, PurePath, PurePosixPath
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from replaykit.errors import UnsupportedVersion
from replaykit.interop.folder_search import Listing, folders, peek, relative
from replaykit.interop.imported_run import Run
from replaykit.interop.online_mind2web.mind2web_actions import (
    ANSWER,
    FAILED,
    SUCCESS,
    has_failed,
    read_action,
)
from replaykit.interop.registry import Candidate, Importer, letters
from replaykit.interop.source_files import numbered
from replaykit.patterns import lazy_pattern
from replaykit.trajectory.action_history import SECOND
from replaykit.trajectory.exchange import Imported
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.scalars import Blob, Threw

RESULT = "result.json"
"""File that marks a result folder."""

_SEEACT = "confirmed_task"
"""SeeAct's name of the task."""

SHOTS = "trajectory/"
"""Folder of its images."""

VERSION = SECOND
"""The other version that this release reads; the first one has no version number."""

_ENDINGS = (".png", ".jpg", ".jpeg", ".webp", ".gif")
_ID = lazy_pattern(r"[A-Za-z0-9_-]+")


class First(Struct, kw_only=True):
    """`result.json` of version 1; other keys are kept as they are."""

    task_id: str
    task: str
    action_history: list[str | None]
    thoughts: list[str | None] = []
    final_result_response: str | None = None


class AnswerOnly(Struct, kw_only=True):
    """A published `result.json` without what was done."""

    task_id: str
    task: str
    final_result_response: str | None = None


class Mind2WebAction(Struct, kw_only=True):
    """One action of version 2."""

    step: int | None = None
    screenshot: str | None = None
    url: str | None = None
    action: str
    action_status: str | None = None
    thought: str | UnsetType | None = UNSET


class Second(Struct, kw_only=True):
    """`result.json` of version 2; the benchmark's own script asks for more of these keys."""

    schema_version: str
    task_id: str
    task: str
    agent_final_answer: str | None = None
    reference_length: int | None = None
    action_history: list[Mind2WebAction]


def read(run: Run, candidate: Candidate) -> None:
    """Read one result folder of either version."""
    plain = run.source.convert(run.source.json(RESULT), dict[str, Any], RESULT)
    version = plain.get("schema_version")
    if version is None and _SEEACT in plain:
        plain = _of_seeact(run, plain)
    if version is None and is_answer(plain):
        _read_answer(run, plain)
    elif version is None:
        read_first(run, plain)
    elif version == VERSION:
        _read_second(run, plain)
    else:
        raise UnsupportedVersion(
            format=run.source.format, source=run.source.name, place=f"{RESULT} schema_version",
            found=repr(version)[:80], expected=f"none, or {VERSION!r}",
            advice="Install a newer replaykit-web.",
        )  # fmt: skip


def _of_seeact(run: Run, plain: Mapping[str, Any]) -> dict[str, Any]:
    """Return a result of SeeAct, from which version 1 comes, under its keys."""
    label = plain.get("success_or_not")
    if label not in ("", None):
        run.add(Imported(kind="label", name="success_or_not", value=label, file=RESULT))
    renamed = {key: value for key, value in plain.items() if key not in (_SEEACT, "success_or_not")}
    return {**renamed, "task": plain[_SEEACT]}


def _with_texts(run: Run, plain: Mapping[str, Any]) -> dict[str, Any]:
    """Return a result of version 1 with its folder as a missing id, and with its actions as texts."""
    rows, thoughts = plain.get("action_history"), plain.get("thoughts")
    own = {"task_id": PurePath(run.source.name).name, **plain}
    if isinstance(rows, list):
        own["action_history"] = [_as_line(one) for one in rows]
    if isinstance(thoughts, str):  # joined: which belongs to which action is not known
        run.keep(RESULT, {"thoughts": own.pop("thoughts")})
    return own


def _as_line(row: Any) -> Any:
    """Return an action of a tool, `{"action": "click", ...}`, as its JSON; anything else as it is."""
    is_call = isinstance(row, dict) and any(
        isinstance(row.get(key), str) for key in ("action", "type", "name")
    )
    return msgspec.json.encode(row).decode() if is_call else row


def read_first(run: Run, plain: Mapping[str, Any]) -> None:
    """Read version 1; `wabe` reads its own folders with it."""
    plain = _with_texts(run, plain)
    result = run.source.convert(run.fitted(plain, First, RESULT), First, RESULT)
    known = set(First.__struct_fields__)
    run.extra.update({key: value for key, value in plain.items() if key not in known and value is not None})
    if plain.get("thoughts") == []:
        run.extra["thoughts"] = []  # the benchmark's script reads it otherwise than a missing key
    run.task(result.task_id, intent=result.task)
    shots = _sorted_shots(run)
    run.extra["screenshots"] = list(shots)
    actions = first_steps(run, result.action_history, result.thoughts)
    alignment = place_shots(run, actions, shots)
    run.origin["alignment"] = alignment
    run.fills(
        actions="recorded", targets="partial", thoughts=thoughts_state([one["thought"] for one in actions])
    )
    run.fills(screenshots=shots_state(run, alignment, shots))
    answer = result.final_result_response
    run.end("unknown" if answer is None else "answered", answer=answer)


def thoughts_state(thoughts: Sequence[object]) -> str:
    """Return how much of the thoughts there is, one for each action."""
    known = [isinstance(one, str) for one in thoughts]
    return "recorded" if all(known) else "partial" if any(known) else "absent"


def first_steps(
    run: Run, actions: Sequence[str | None], thoughts: Sequence[str | None]
) -> list[dict[str, Any]]:
    """Return the fields of each step; thoughts are paired up to the shorter list."""
    if thoughts and len(thoughts) != len(actions):
        run.warn(f"{len(thoughts)} thoughts for {len(actions)} actions: paired up to the shorter")
    # Thoughts without an action have no step to stand in.
    run.keep("thoughts", {f"[{at}]": text for at, text in enumerate(thoughts) if at >= len(actions)})
    for at, line in enumerate(actions):
        if line is None:
            # It keeps its place: thoughts and screenshots are counted.
            run.cut(
                "a null in the place of an action: the actions there are unknown", f"action_history[{at}]"
            )
    return [
        {
            "action": read_action(line or "", run.wordings),
            "raw": line,
            "thought": thoughts[at] if at < len(thoughts) else None,
            "error": Threw(name="Failed") if has_failed(line or "") else None,
        }
        for at, line in enumerate(actions)
    ]


def place_shots(run: Run, actions: Sequence[Mapping[str, Any]], shots: Sequence[str]) -> str:
    """Add the steps with the images between them; return how they were matched.

    One image more than actions: the first shows the start. As many: each shows what followed. Any other
    number: no one knows, so they hang on the run.
    """
    # Some agents take an image before the first action, others do not.
    starts = len(shots) == len(actions) + 1
    is_aligned = bool(shots) and (starts or len(shots) == len(actions))
    if starts and (shot := run.image(shots[0])):
        run.add(Observation(role="start", screenshot=shot))
    for at, fields in enumerate(actions):
        step = run.step(**fields)
        shot = run.image(shots[at + starts]) if is_aligned else None
        if shot is not None:
            run.add(Observation(role="after", of=step.index, screenshot=shot))
    # With other numbers, any pairing would be a guess.
    if not is_aligned:
        run.unaligned(list(shots))
        return "unaligned"
    return "n_plus_1" if starts else "n"


def shots_state(run: Run, alignment: str, shots: Sequence[object]) -> str:
    """Return how much of the images there is: what is no image shows nothing."""
    if alignment == "unaligned" or not run.image_count:
        return "absent"
    return "recorded" if run.image_count == len(shots) else "partial"


def _sorted_shots(run: Run) -> list[str]:
    names = [name for name in run.source.names() if _is_shot(name)]
    for name in names:
        if numbered(name) < 0:
            run.source.malformed(name, "an image without a number", "an integer in its name")
    # By number: as text, `10` comes before `2`.
    return sorted(names, key=lambda name: (numbered(name), name))


def _is_shot(name: str) -> bool:
    return PurePosixPath(name).parent.as_posix() + "/" == SHOTS and name.lower().endswith(_ENDINGS)


GAP, GAP_NAME = (
    b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAEAAAAAkCAAAAAAcZ2NOAAAAIUlEQVR42mNooBAwjBowasCoAaMGjBowasCoAaMGDD8DAD2y"
        "gD2g5crTAAAAAElFTkSuQmCC"
    ),
    "no_screenshot",
)
"""A grey image, and the end of its name: what exports put where a run has no screenshot, on demand."""


def _read_second(run: Run, plain: Mapping[str, Any]) -> None:
    result = run.converted(plain, Second, RESULT)
    _check(run, result)
    history = _ordered(run, result.action_history)
    run.extra["reference_length"] = result.reference_length
    shots = [_shot_name(run, entry) for entry in history]
    run.extra["screenshots"] = [name for name in shots if name is not None]
    run.origin.update(version=VERSION, alignment="exact")
    run.task(result.task_id, intent=result.task, metadata={"reference_length": result.reference_length})
    for entry, shot in zip(history, shots, strict=True):
        _add_entry(run, entry, shot)
    thoughts = thoughts_state([entry.thought for entry in history])
    run.fills(actions="recorded", targets="partial", thoughts=thoughts, urls="partial")
    run.fills(screenshots=shots_state(run, "exact", history))
    answer = result.agent_final_answer
    run.end("unknown" if answer is None else "answered", answer=answer)


def _ordered(run: Run, history: list[Mind2WebAction]) -> list[Mind2WebAction]:
    """Return the actions by their numbers; a number left out is an action left out."""
    numbers = [entry.step for entry in history]
    known = [number for number in numbers if number is not None]
    if len(set(known)) < len(numbers):
        return history
    order = sorted(history, key=lambda entry: entry.step or 0)
    if any(after - one > 1 for one, after in pairwise(sorted(known))) or (known and min(known) > 1):
        run.cut("without some numbers of steps: the actions there are unknown", f"{RESULT} action_history")
    return order


def _shot_name(run: Run, entry: Mind2WebAction) -> str | None:
    """Return the file of an action's image, also where it is named by a path of another machine."""
    return run.source.ending(entry.screenshot, PurePosixPath(SHOTS)) if entry.screenshot else None


def _add_entry(run: Run, entry: Mind2WebAction, name: str | None) -> None:
    # Either place may hold it; where both do, `_check` reports a difference.
    is_failed = entry.action_status == "FAILED" or has_failed(entry.action)
    step = run.step(
        action=read_action(entry.action, run.wordings),
        raw=entry.action,
        url=entry.url,
        thought=None if entry.thought is UNSET else entry.thought,
        error=Threw(name="Failed") if is_failed else None,
    )
    shot = _shot(run, entry, name)
    run.add(Observation(role="after", of=step.index, url=entry.url, screenshot=shot))


def _shot(run: Run, entry: Mind2WebAction, name: str | None) -> Blob | None:
    if name is None:
        held = entry.screenshot or ""
        return run.screenshot_in(held) if held.startswith("data:") else None
    # The bytes decide: an agent may name an image of its own like that.
    if GAP_NAME in name and run.source.read_any(name) == GAP:
        run.flaw("a grey image in the place of a screenshot: left out", name)
        return None
    return run.image(name)


def _check(run: Run, result: Second) -> None:
    """Hold the rules of version 2; a breach is a flaw of its own kind, reported with step and key."""
    if not _ID.fullmatch(result.task_id):
        run.flaw("another id than letters, digits, _ and -", f"{RESULT} task_id {result.task_id!r:.80}")
    if not result.action_history:
        run.flaw("an empty list: at least the final answer was expected", f"{RESULT} action_history")
    for at, entry in enumerate(result.action_history):
        for key, what in _breaches(run, at, entry):
            run.flaw(what, f"{RESULT} action_history[{at}].{key}")
    _check_answer(run, result)


def _check_answer(run: Run, result: Second) -> None:
    last = result.action_history[-1].action if result.action_history else ""
    where = f"{RESULT} action_history[{len(result.action_history) - 1}].action"
    if result.action_history and not last.startswith(ANSWER.rstrip()):
        run.flaw(f"not the final answer, {ANSWER}...", where)
        return
    text = last.removeprefix(ANSWER.rstrip()).removesuffix(SUCCESS).removesuffix(FAILED)
    # By words: white space differs between the two places.
    if text.split() != (result.agent_final_answer or "").split():
        run.flaw("another text than agent_final_answer, which counts", where)


def _breaches(run: Run, at: int, entry: Mind2WebAction) -> Iterator[tuple[str, str]]:
    if entry.step != at:
        yield "step", "not the number of its place"
    if not (entry.screenshot or "").startswith("data:") and _shot_name(run, entry) is None:
        yield "screenshot", f"{entry.screenshot!r:.80}, which is not in {SHOTS}"
    if entry.action_status not in ("SUCCESS", "FAILED", None):
        yield "action_status", f"{entry.action_status!r:.40}, neither SUCCESS nor FAILED"
        run.keep(f"{RESULT} action_history[{at}]", {"action_status": entry.action_status})
    status = next((end for end in (SUCCESS, FAILED) if entry.action.endswith(end)), None)
    if (
        status is not None
        and entry.action_status in ("SUCCESS", "FAILED")
        and status != f" | {entry.action_status}"
    ):
        yield "action_status", "not as its action ends: one of them marks it as failed"
    if entry.thought is UNSET:
        yield "thought", "missing"


def _read_answer(run: Run, plain: Mapping[str, Any]) -> None:
    """Read a published result of which only the answer is left: what was done is absent."""
    result = run.source.convert(plain, AnswerOnly, RESULT)
    known = {*AnswerOnly.__struct_fields__, "judge"}
    run.extra.update({key: value for key, value in plain.items() if key not in known and value is not None})
    run.task(result.task_id, intent=result.task)
    run.flaw("without action_history: what was done is not known", RESULT)
    run.unaligned(_sorted_shots(run))
    run.origin["alignment"] = "unaligned"
    if plain.get("judge") is not None:
        run.add(Imported(kind="judgement", name="judge", value=plain["judge"], file=RESULT))
    answer = result.final_result_response
    run.end("unknown" if answer is None else "answered", answer=answer)


def is_result(plain: Any) -> bool:
    """Whether a JSON value is a `result.json` of either version."""
    if not isinstance(plain, dict) or "task_id" not in plain or not {"task", _SEEACT} & plain.keys():
        return False
    return "action_history" in plain or is_answer(plain)


def is_answer(plain: Mapping[str, Any]) -> bool:
    """Whether a `result.json` has an answer and no list of actions."""
    return "action_history" not in plain and isinstance(plain.get("final_result_response"), str)


def _is_one(listing: Listing) -> bool:
    # A folder of images without a result is a run that broke off: reading it reports that.
    is_named = SHOTS.rstrip("/") in listing.folders
    return is_named or (listing.holds(RESULT) and is_result(peek(listing.path / RESULT)))


def find(path: Path) -> Iterator[Candidate]:
    """Yield the result folders under a path: `trajectory/`, or a `result.json` of this layout."""
    for folder in folders(path, _is_one):
        yield Candidate(name=relative(folder, path), root=folder)


IMPORTER = Importer(
    name="online-mind2web",
    reads="Online-Mind2Web result folders, versions 1 and 2",
    looks_for=f"<task_id>/{RESULT} beside {SHOTS}",
    channels=letters("R task answer actions; P targets screenshots; o thoughts urls"),
    find=find,
    read=read,
    options=("actions",),
)
"""Reads both versions; URLs are those of version 2, one a step."""
