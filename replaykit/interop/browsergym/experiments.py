"""Experiment folders of BrowserGym and AgentLab: a pickle or JSON a step, read without running anything."""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from replaykit.errors import MalformedSource
from replaykit.interop.browsergym.gym_steps import Seen, add_seen, add_turn
from replaykit.interop.browsergym.pickles import Forbidden, Stub, Undecodable, read_pickle
from replaykit.interop.imported_run import Run
from replaykit.interop.registry import Candidate, Importer, letters
from replaykit.interop.run_search import folders
from replaykit.interop.source_files import kind_of
from replaykit.interop.unread_fields import says
from replaykit.trajectory.exchange import Imported, Message
from replaykit.trajectory.scalars import Threw

SUMMARY, ARGUMENTS = "summary_info.json", "exp_args.pkl"
"""What an experiment came to, and what it was given; either may be missing."""

STEPS_MAX = 1_000_000
"""Steps that their file names can number."""

_STEP = re.compile(r"step_(\d{1,6})\.pkl\.gz")
_JSON_STEP = re.compile(r"steps?_info_(\d{1,6})\.json")
_READ = frozenset({
    "chat_messages", "goal", "last_action_error", "open_pages_urls", "open_pages_titles", "active_page_index",
    "url", "axtree_txt",
})  # fmt: skip
"""What is read of an observation."""

_FOLDER = re.compile(r"(?:\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d_)?(.+)_on_(.+)_(\d+)(?:_\w+)?")
_TREES = ("axtree_txt", "pruned_axtree_txt", "axtree_text")


class Gym(Struct, kw_only=True):
    """One step of the environment: the page before its action; the last one has none."""

    number: int
    obs: dict[Any, Any]
    action: str | None
    thought: str | None
    truncated: bool
    raw: str | None = None


def read(run: Run, candidate: Candidate) -> None:
    """Read one experiment folder."""
    steps = _steps(run)
    summary = run.beside(SUMMARY)
    told = summary if isinstance(summary, dict) else {}
    run.keep(SUMMARY, {key: value for key, value in told.items() if says(value)})
    if not steps:
        _end_unstarted(run, candidate, told)
        return
    missing = _missing(steps, summary)
    if missing and not run.is_cut:
        run.warn(f"step {missing[0]} is missing, {len(missing)} in all: what was done there is not known")
    goal = next((goal for step in steps if isinstance(goal := step.obs.get("goal"), str)), None)
    named = _FOLDER.fullmatch(candidate.root.resolve().name)
    run.task(named[2] if named else candidate.name, intent=goal)
    for place, step in enumerate(steps):
        after = next((one.obs for one in steps[place + 1 :][:1] if one.number == step.number + 1), {})
        error = after.get("last_action_error")
        _add(run, step, error if isinstance(error, str) else None, is_last=place == len(steps) - 1)
    said = _chat(run, steps[-1].obs)
    _fill(run, steps, is_chat=said)
    is_whole = not missing and not run.is_cut
    run.fills(actions="recorded" if is_whole else "partial")
    _end(run, summary if isinstance(summary, dict) else None, is_whole=is_whole)


def _steps(run: Run) -> list[Gym]:
    """Return the steps in order; where a step is there in both forms, its JSON is read."""
    plain = {int(m[1]): n for n in run.source.names() if (m := _JSON_STEP.fullmatch(n))}
    pickled = {
        int(m[1]): n for n in run.source.names() if (m := _STEP.fullmatch(n)) and int(m[1]) not in plain
    }
    readers = [(number, name, _json_step) for number, name in plain.items()]
    readers += [(number, name, _step) for number, name in pickled.items()]
    found, faults = [], []
    for number, name, reader in sorted(readers):
        try:
            found.append(reader(run, number, name))
        except MalformedSource as fault:
            faults.append(fault)
            run.cut("a step that cannot be read: left out, what was done there is not known", name)
            run.leave_out(name)
    if faults and not found:
        raise faults[0]
    return found


def _end_unstarted(run: Run, candidate: Candidate, summary: dict[str, Any]) -> None:
    """End an experiment that left no steps: it crashed before its first one, or was never begun."""
    named = _FOLDER.fullmatch(candidate.root.resolve().name)
    run.task(named[2] if named else candidate.name, intent="")
    error = summary.get("err_msg")
    what = "crashed" if isinstance(error, str) and error else "never begun, or its steps are lost"
    run.warn(f"an experiment without steps: {what}; it counts as a failed run")
    run.fills(actions="partial")
    _end(run, {**summary, "err_msg": error or what}, is_whole=True)


def _json_step(run: Run, number: int, name: str) -> Gym:
    plain = run.source.convert(run.source.json(name), dict[str, Any], name)
    obs = plain.get("obs")
    if obs is not None and not isinstance(obs, dict):
        run.source.malformed(f"{name} obs", kind_of(obs), "object")
    seen = dict(obs or {})
    active = seen.get("active_page_index")
    seen["active_page_index"] = active[0] if isinstance(active, list) and active else active
    said, action = plain.get("action"), None
    thought = _field(plain.get("agent_info"), "think")
    if isinstance(said, str):
        thinking, action = split_thought(said)
        thought = thought if isinstance(thought, str) else thinking
    run.keep(
        name,
        {key: value for key, value in plain.items() if key not in ("obs", "action", "step") and says(value)},
    )
    run.keep(name, {f"obs.{key}": value for key, value in seen.items() if key not in _READ and says(value)})
    return Gym(
        number=number, obs=seen, action=action, thought=thought if isinstance(thought, str) else None,
        truncated=plain.get("truncated") is True, raw=said,
    )  # fmt: skip


_THINK = re.compile(r"\s*(?:<think>(.*?)</think>|<thought>(.*?)</thought>)", re.DOTALL)
_FENCE = re.compile(r"```[a-z]*\s*\n?(.*?)```", re.DOTALL)
_TAGGED = re.compile(r"<action>(.*?)</action>", re.DOTALL)


def split_thought(said: str) -> tuple[str | None, str]:
    """Return what a model thought and the action it said, without tags and fences."""
    thinking = _THINK.match(said)
    thought = None if thinking is None else (thinking[1] or thinking[2] or "").strip()
    left = said if thinking is None else said[thinking.end() :]
    inner = _TAGGED.search(left) or _FENCE.search(left)
    if inner is None:
        return thought or None, left.strip()
    before = left[: inner.start()].strip()
    return "\n".join(part for part in (thought, before) if part) or None, inner[1].strip()


def _missing(steps: list[Gym], summary: Any) -> list[int]:
    """Return the numbers of the steps with an action that there were and that are no more."""
    said = summary.get("n_steps") if isinstance(summary, dict) else None
    count = min(said, STEPS_MAX) if isinstance(said, int) else 0
    return sorted(set(range(max(count, steps[-1].number))) - {step.number for step in steps})


def _step(run: Run, number: int, name: str) -> Gym:
    try:
        found = read_pickle(_unpacked(run, name))
    except Forbidden as error:
        run.source.unsafe(f"{name} (step {number})", f"a pickle that names {error}", "plain data")
    except Undecodable as error:
        run.source.malformed(name, f"no pickle ({error})", "a step of BrowserGym", error)
    obs, action = _field(found, "obs"), _field(found, "action")
    if not isinstance(obs, dict):
        if obs is not None:
            run.source.malformed(f"{name} obs", kind_of(obs), "a dict")
        obs = {}
    for key, value in obs.items():
        if str(key) not in _READ and value is not None:
            run.leave_out(f"step_*.pkl.gz obs.{str(key)[:64]}")
    thought = _field(_field(found, "agent_info"), "think")
    return Gym(
        number=number,
        obs=obs,
        action=action if isinstance(action, str) else None,
        thought=thought if isinstance(thought, str) else None,
        truncated=_field(found, "truncated") is True,
    )


def _unpacked(run: Run, name: str) -> bytes:
    limit = run.source.limits.member
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(run.source.read(name))) as stream:
            data = stream.read(limit + 1)
    except (OSError, EOFError, zlib.error) as error:
        run.source.malformed(name, f"no gzip file ({error})", "a gzip file", error)
    run.source.check("member", len(data), f"{name} unpacked", "bytes")
    return data


def _field(of: Any, name: str) -> Any:
    return of.field(name) if isinstance(of, Stub) else of.get(name) if isinstance(of, dict) else None


def _add(run: Run, step: Gym, error: str | None, *, is_last: bool) -> None:
    seen = _seen(run, step)
    if step.action is not None:
        add_turn(run, step.number, step.action, seen, thought=step.thought, error=error or None, raw=step.raw)
    else:
        add_seen(run, seen, "final" if is_last else "unaligned")


def _seen(run: Run, step: Gym) -> Seen:
    obs = step.obs
    urls, titles = _texts(obs.get("open_pages_urls")), _texts(obs.get("open_pages_titles"))
    active = obs.get("active_page_index")
    url = obs.get("url")
    shots = (f"screenshot_step_{step.number}.{end}" for end in ("png", "jpg"))
    return Seen(
        url=url if isinstance(url, str) else None,
        urls=urls,
        titles=titles,
        active=active if isinstance(active, int) else None,
        shot=next((shot for shot in shots if shot in run.source), None),
        tree=next((tree for name in _TREES if isinstance(tree := obs.get(name), str)), None),
    )


def _texts(value: Any) -> tuple[str, ...]:
    values = value if isinstance(value, list | tuple) else ()
    return tuple(one for one in values if isinstance(one, str))


def _chat(run: Run, obs: dict[Any, Any]) -> bool:
    """Add what was said; the first user message is the task."""
    messages = obs.get("chat_messages")
    for one in messages if isinstance(messages, list | tuple) else ():
        role, text = (one.get("role"), one.get("message")) if isinstance(one, dict) else (None, None)
        if role in ("user", "assistant") and isinstance(text, str):
            run.add(Message(role="user" if role == "user" else "agent", kind="say", text=text))
    return isinstance(messages, list | tuple)


def _fill(run: Run, steps: list[Gym], *, is_chat: bool) -> None:
    run.fills(targets="partial", urls="partial")
    thoughts = [step.thought for step in steps if step.action is not None]
    run.fills(thoughts="recorded" if thoughts and all(thoughts) else "partial" if any(thoughts) else "absent")
    shots = "recorded" if run.pictures == len(steps) else "partial"
    run.fills(screenshots=shots if run.pictures else "absent", messages="partial" if is_chat else "absent")
    trees = [any(isinstance(step.obs.get(name), str) for name in _TREES) for step in steps]
    run.fills(a11y="recorded" if all(trees) else "partial" if any(trees) else "absent")
    run.origin["alignment"] = "exact"


def _end(run: Run, summary: dict[str, Any] | None, *, is_whole: bool) -> None:
    answer = run.said_answer()
    if summary is None or not is_whole:
        # What was said in a step that is missing may be the answer, or another one.
        run.end("unknown", answer=answer if is_whole else None)
        return
    reward = summary.get("cum_reward")
    if isinstance(reward, int | float):
        run.add(Imported(kind="reward", name="browsergym", value=reward, file=SUMMARY))
    error = summary.get("err_msg")
    if isinstance(error, str) and error:
        run.end("crashed", answer=answer, error=Threw(name="Error", message=error))
    elif answer is not None:
        run.end("answered", answer=answer)
    else:
        run.end("max_steps" if summary.get("truncated") is True else "stopped")


def find(path: Path) -> Iterator[Candidate]:
    """Yield the experiment folders under a path."""
    for folder in folders(
        path, lambda one: one.holds("step_[0-9]*.pkl.gz", "step*_info_[0-9]*.json", ARGUMENTS)
    ):
        yield Candidate(name=folder.resolve().name, root=folder)


IMPORTER = Importer(
    name="browsergym",
    reads="experiment folders of BrowserGym and AgentLab",
    looks_for=f"step_<i>.pkl.gz or steps_info_<i>.json, {SUMMARY}",
    channels=letters("R task answer actions; P targets urls; o thoughts screenshots a11y messages"),
    find=find,
    read=read,
    options=("actions",),
)
"""Reads the layout."""
