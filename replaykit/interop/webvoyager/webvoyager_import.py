"""WebVoyager result folders `task<id>/` (arXiv 2401.13919): a chat and numbered screenshots, both ways.

The k-th user message, the k-th assistant message and `screenshot<k>.png` are iteration k; the image was
taken before the action, with numbers of elements drawn in. Upstream: `run.py` of
https://github.com/MinorJerry/WebVoyager.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from replaykit.interop.folder_search import Listing, folders, relative
from replaykit.interop.imported_run import Run
from replaykit.interop.registry import Candidate, Importer, letters
from replaykit.interop.webvoyager.webvoyager_actions import answer_of, peer_action, strict_action
from replaykit.patterns import lazy_pattern
from replaykit.trajectory.action import Action, Answer, Element, Names, Unknown
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.scalars import Threw
from replaykit.trajectory.step import Step

MESSAGES = "interact_messages.json"
"""The chat."""

_TASK = lazy_pattern(r"Now given a task:(.+?)Please interact with", re.DOTALL)
_OTHER_TASK = lazy_pattern(r"(?:.*?given a task:)?(.*?)(?:\s*Observation:.*)?", re.DOTALL | re.IGNORECASE)
_PEER_TASK = lazy_pattern(r"Now given a task:(.+?)Please interact with")
_SITE = lazy_pattern(r"Please interact with\s+(\S+)\s+and get the answer")
_PARTS = lazy_pattern(r"Thought:|Action:|Observation:")
_SHOT = lazy_pattern(r"screenshot(\d{1,9})(_no_box)?\.(?:png|jpe?g|webp)", re.IGNORECASE)
_TREE = lazy_pattern(r"accessibility_tree(\d{1,9})\.(json|txt)")
_ITEM = lazy_pattern(r"\[(\d{1,9})\]: (?:<(button|input|textarea)> )?\"(.*)\"", re.DOTALL)
_ERRORS = ("Format ERROR:", "The action you have chosen cannot be exected.")
"""How an observation begins that reports an error; the second is upstream's own spelling."""


class ReadIteration(NamedTuple):
    """One iteration."""

    number: int
    seen: str
    reply: str | None


def read(run: Run, candidate: Candidate) -> None:
    """Read one result folder."""
    turns, first, last = _turns(run)
    _task(run, candidate, first, is_silent=all(turn.reply is None for turn in turns))
    shots, trees = _images(run)
    turn_numbers = {turn.number for turn in turns}
    for turn in turns:
        _turn(run, turn, turns, shots, trees)
    run.unaligned([name for k, pair in sorted(shots.items()) if k not in turn_numbers for name in pair[:1]])
    run.fills(actions="recorded", targets="partial", thoughts="recorded")
    run.fills(screenshots=_shots_channel(turns, shots), a11y="partial" if trees else "absent")
    run.origin["alignment"] = "exact"
    _end(run, turns, last)


def _turns(run: Run) -> tuple[list[ReadIteration], str, str | None]:
    plain = run.fitted(run.source.json(MESSAGES), list[dict[str, Any]], MESSAGES)
    messages = run.source.convert(plain, list[dict[str, Any]], MESSAGES)
    if not messages:
        run.source.malformed(MESSAGES, "an empty list", "a chat")
    is_mute = all(message.get("role") != "assistant" for message in messages)
    if is_mute and messages[0].get("role") != "system":
        run.source.malformed(f"{MESSAGES} [0].role", repr(messages[0].get("role"))[:80], "system")
    turns: list[ReadIteration] = []
    seen: list[str] = []
    first = ""
    for k, message in enumerate(messages):
        role, text = message.get("role"), _text(run, message.get("content"), k)
        run.keep(MESSAGES, dict(_unread(k, message)))
        if role == "assistant":
            if not seen:
                run.flaw("a reply without a question: it is read as a separate turn", f"{MESSAGES} [{k}]")
            turns.append(ReadIteration(len(turns) + 1, "\n".join(seen), text))
            seen = []
        elif role == "user":
            first = first or text
            seen.append(text)
        elif role != "system":
            run.cut("a message of a role that is unknown: kept beside the steps", f"{MESSAGES} [{k}]")
    if seen:
        turns.append(ReadIteration(len(turns) + 1, "\n".join(seen), None))
    final = messages[-1].get("content")
    return turns, first, final if isinstance(final, str) else None


def _unread(k: int, message: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield what a message holds beside the agent's own words, which are thought and action."""
    for key, value in message.items():
        if key != "role" and not (
            key == "content" and message.get("role") == "assistant" and isinstance(value, str)
        ):
            yield f"[{k}].{key}", value


def _text(run: Run, content: Any, number: int) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    reply = [part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == "text"]
    texts = [text for text in reply if isinstance(text, str)]
    if content is not None and (not parts or len(texts) < len(reply)):
        run.cut("content that is no text: kept beside the steps", f"{MESSAGES} [{number}]")
    return "\n".join(texts)


def _task(run: Run, candidate: Candidate, first: str, *, is_silent: bool) -> None:
    id = (candidate.root.resolve().name).removeprefix("task")
    is_peer = run.options.mode == "compat"
    found = (_PEER_TASK if is_peer else _TASK).search(first)
    if found is None and first and run.options.suite is None:
        if is_peer or is_silent:
            what = "Now given a task: ... Please interact with" + (" on one line" if is_peer else "")
            run.source.malformed(f"{MESSAGES} [1].content", "without a task", what)
        run.flaw("another prompt than the benchmark's: the start URL is absent", f"{MESSAGES} [1].content")
        found = _OTHER_TASK.fullmatch(first)
    site = _SITE.search(first)
    start = (site[1],) if site else ()
    run.task(id, intent=found[1].strip() if found else "", start_urls=start, judge="webvoyager")


def _images(run: Run) -> tuple[dict[int, list[str]], dict[int, str]]:
    """Return iteration to images, the one with marks first, and iteration to accessibility tree."""
    shots: dict[int, list[str]] = {}
    trees: dict[int, str] = {}
    for name in run.source.names():
        shot, tree = _SHOT.fullmatch(name), _TREE.fullmatch(name)
        if shot is not None:
            pair = shots.setdefault(int(shot[1]), ["", ""])
            pair[1 if shot[2] else 0] = name
        elif tree is not None and (int(tree[1]) not in trees or tree[2] == "json"):
            trees[int(tree[1])] = name
    return shots, trees


def _turn(
    run: Run,
    turn: ReadIteration,
    turns: list[ReadIteration],
    shots: dict[int, list[str]],
    trees: dict[int, str],
) -> None:
    look = _look(run, turn, shots, trees)
    if turn.reply is None:
        if look:
            run.add(Observation(role="final", **look))
        return
    thought, text = split_message(turn.reply)
    if text is None and _seen_after(turn, turns).startswith(_ERRORS[0]):
        # The harness asks for both labels before it looks for an action: nothing was carried out.
        run.keep(f"{MESSAGES} reply {turn.number}", {"content": turn.reply})
        run.leave_out("replies that the harness refused")
        if look:
            run.add(Observation(role="unaligned", **look))
        return
    action = Unknown(name="format", raw=turn.reply) if text is None else _action(run, text)
    run.step(
        action=_with_element(action, turn.seen),
        before=Observation(role="before", **look) if look else None,
        thought=thought,
        raw=turn.reply if text is None else text,
        error=_error(turn, turns, text),
        turn=turn.number,
    )


def _look(
    run: Run, turn: ReadIteration, shots: dict[int, list[str]], trees: dict[int, str]
) -> dict[str, Any]:
    marked, clean = shots.get(turn.number, ["", ""])
    tree = trees.get(turn.number)
    look: dict[str, Any] = {"screenshot": run.image(marked) if marked else None}
    look["clean"] = run.image(clean) if clean else None
    if tree is not None:
        look["a11y"] = run.put_file("application/json" if tree.endswith(".json") else "text/plain", tree)
    return {name: blob for name, blob in look.items() if blob is not None}


def split_message(reply: str) -> tuple[str | None, str | None]:
    """Return thought and action; no action where a label is missing."""
    if "Thought:" not in reply or "Action:" not in reply:
        return reply.strip() or None, None
    parts = _PARTS.split(reply)
    return (parts[1].strip() or None, parts[2].strip()) if len(parts) > 2 else (reply.strip(), None)


def _action(run: Run, text: str) -> Action:
    if run.options.mode == "compat":
        return peer_action(text)
    action = strict_action(text)
    return run.wordings.action(text) or action if isinstance(action, Unknown) else action


def _error(turn: ReadIteration, turns: list[ReadIteration], text: str | None) -> Threw | None:
    """Return why an action failed: the next observation reports it."""
    after = _seen_after(turn, turns)
    if after.startswith(_ERRORS[1]):
        return Threw(name="ActionError", message=after)
    if text is None or after.startswith(_ERRORS[0]):
        return Threw(name="FormatError", message=after)
    return None


def _seen_after(turn: ReadIteration, turns: list[ReadIteration]) -> str:
    return turns[turn.number].seen if turn.number < len(turns) else ""


def _with_element(action: Action, seen: str) -> Action:
    """Add what the list of elements in the observation holds about the target."""
    if action.element is None or action.element.ref is None:
        return action
    named = _elements(seen).get(action.element.ref)
    return action if named is None else replace(action, element=named)


def _elements(seen: str) -> dict[str, Element]:
    found = {}
    for item in re.split(r";?\t|\r?\n", seen):
        match = _ITEM.fullmatch(item.removesuffix(";"))
        if match is not None:
            text, _, label = match[3].partition('", "')
            names = Names(text=text or None, aria_label=label or None)
            found[match[1]] = Element(ref=match[1], tag=match[2], text=text, names=names)
    return found


def _shots_channel(turns: list[ReadIteration], shots: dict[int, list[str]]) -> str:
    seen = [turn for turn in turns if not turn.seen.startswith(_ERRORS)]
    return "recorded" if all(shots.get(turn.number, [""])[0] for turn in seen) else "partial"


def _end(run: Run, turns: list[ReadIteration], last: str | None) -> None:
    answer = answer_of(last) if run.options.mode == "compat" else _strict_answer(run)
    if answer is not None:
        run.end("answered", answer=answer)
        return
    limit = run.options.max_iter
    reply = sum(turn.reply is not None for turn in turns)
    run.end("max_steps" if limit is not None and reply >= limit else "unknown")


def _strict_answer(run: Run) -> str | None:
    steps = [event for event in run.events if isinstance(event, Step)]
    action = steps[-1].action if steps else None
    return action.text if isinstance(action, Answer) else None


def _is_one(listing: Listing) -> bool:
    # A run that broke off has images and no chat: reading it reports that.
    is_cut = listing.path.resolve().name.startswith("task") and listing.holds("screenshot[0-9]*.png")
    return listing.holds(MESSAGES) or is_cut


def find(path: Path) -> Iterator[Candidate]:
    """Yield the result folders under a path."""
    for folder in folders(path, _is_one):
        name = relative(folder, path)
        last = name.rpartition("/")
        yield Candidate(name=last[0] + last[1] + last[2].removeprefix("task"), root=folder)


IMPORTER = Importer(
    name="webvoyager",
    reads="WebVoyager result folders",
    looks_for=f"task<id>/{MESSAGES}",
    channels=letters("R task answer actions thoughts screenshots; P targets; o a11y"),
    find=find,
    read=read,
    options=("mode", "max_iter", "actions"),
)
