"""Experiment folders of BrowserGym and AgentLab: a pickle or JSON a step, read without running anything."""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from replaykit.errors import MalformedSource
from replaykit.interop.browsergym.gym_endings import came_back, ending_of
from replaykit.interop.browsergym.gym_steps import Seen, add_seen, add_turn
from replaykit.interop.browsergym.pickles import Forbidden, Undecodable, plain_values, read_pickle
from replaykit.interop.extra_fields import holds_data
from replaykit.interop.folder_search import folders
from replaykit.interop.har.har_entries import Base, stamp
from replaykit.interop.imported_run import Run
from replaykit.interop.registry import Candidate, Importer, letters
from replaykit.interop.source_files import kind_of
from replaykit.interop.unreadable.lfs_pointers import FETCH
from replaykit.patterns import lazy_pattern
from replaykit.trajectory.exchange import Imported, Message
from replaykit.trajectory.step import AgentInfo

SUMMARY, ARGUMENTS, GOAL = "summary_info.json", "exp_args.pkl", "goal_object.pkl.gz"
"""Files of an experiment: its result, settings and goal; each may be missing."""

STEPS_MAX = 1_000_000
"""Steps that their file names can number."""

_STEP = lazy_pattern(r"step_(\d{1,6})\.pkl\.gz")
_JSON_STEP = lazy_pattern(r"steps?_info_(\d{1,6})\.json")
_READ = frozenset({
    "chat_messages", "goal", "last_action_error", "open_pages_urls", "open_pages_titles", "active_page_index",
    "url", "axtree_txt",
})  # fmt: skip
"""Fields of an observation that are read."""

_LARGE = frozenset({"dom_object", "axtree_object", "extra_element_properties", "screenshot"})
"""Parts of an observation that its texts and files hold as well: left out."""

_FOLDER = lazy_pattern(r"(?:\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d_)?(.+)_on_(.+)_(\d+)(?:_\w+)?")
_TREES = ("axtree_txt", "pruned_axtree_txt", "axtree_text")


class Gym(Struct, kw_only=True):
    """One step of the environment: the page before its action; the last one has none."""

    number: int
    obs: dict[Any, Any]
    action: str | None
    thought: str | None
    truncated: bool
    is_seen: bool
    """Whether the environment came back to it with a page."""
    raw: str | None = None
    clock: dict[str, float] = {}
    """Moments of the harness, s since 1970."""


def read(run: Run, candidate: Candidate) -> None:
    """Read one experiment folder."""
    steps = _steps(run)
    summary = run.beside(SUMMARY)
    fields = summary if isinstance(summary, dict) else {}
    run.keep(SUMMARY, {key: value for key, value in fields.items() if holds_data(value)})
    stated_goal = _goal(_setting(run, GOAL))
    _add_agent(run, _setting(run, ARGUMENTS))
    if not steps:
        _end_unstarted(run, candidate, fields)
        return
    missing = _missing(steps, summary)
    if missing and not run.is_cut:
        run.warn(f"step {missing[0]} is missing, {len(missing)} in all: the actions there are unknown")
    goal = next((goal for step in steps if isinstance(goal := step.obs.get("goal"), str)), stated_goal)
    named = _FOLDER.fullmatch(candidate.root.resolve().name)
    run.task(named[2] if named else candidate.name, intent=goal)
    base = _clock(run, steps)
    for place, step in enumerate(steps):
        after = next((one.obs for one in steps[place + 1 : place + 2] if one.number == step.number + 1), {})
        # An observation names the error of the action that came before it.
        error = after.get("last_action_error")
        t = _acted(base, step, steps[place + 1 : place + 2])
        error = error if isinstance(error, str) else None
        is_reported = _is_reported(step, steps[place + 1 : place + 2], fields)
        _add(run, step, error, base, t, is_last=place == len(steps) - 1, is_reported=is_reported)
    stated = _chat(run, steps[-1].obs, base)
    _fill(run, steps, is_chat=stated)
    is_whole = not missing and not run.is_cut
    run.fills(actions="recorded" if is_whole else "partial")
    clock = steps[-1].clock
    gave_up = steps[-1].action is None and "agent_stop" in clock if clock else None
    _end(run, summary if isinstance(summary, dict) else None, is_whole=is_whole, gave_up=gave_up)


def _steps(run: Run) -> list[Gym]:
    """Return the steps in order; where a step is there in both forms, its JSON is read."""
    plain = {int(m[1]): n for n in run.source.names() if (m := _JSON_STEP.fullmatch(n))}
    # JSON first: reading it needs no trust in stubs.
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
            cause = f" ({fault.fields['found']})" if FETCH in str(fault.fields["found"]) else ""
            run.cut(f"a step that cannot be read{cause}: left out, the actions there are unknown", name)
            run.leave_out(name)
    # With no step at all, the folder is unreadable, not merely damaged.
    if faults and not found:
        raise faults[0]
    return found


def _end_unstarted(run: Run, candidate: Candidate, summary: dict[str, Any]) -> None:
    """End an experiment that left no steps: it crashed before its first one, or was never begun."""
    named = _FOLDER.fullmatch(candidate.root.resolve().name)
    run.task(named[2] if named else candidate.name, intent="")
    error = summary.get("err_msg")
    what = "crashed" if isinstance(error, str) and error else "never begun, or its steps are lost"
    # A crash before the first step is a result, and a rate must count it.
    run.warn(f"an experiment without steps: {what}; it counts as a failed run")
    run.fills(actions="partial")
    _end(run, {**summary, "err_msg": error or what}, is_whole=True)


def _json_step(run: Run, number: int, name: str) -> Gym:
    return _gym(run, number, name, run.source.convert(run.source.json(name), dict[str, Any], name))


def _gym(run: Run, number: int, name: str, plain: dict[str, Any]) -> Gym:
    """Return a step of plain values, and keep what no field has a place for."""
    obs = plain.get("obs")
    if obs is not None and not isinstance(obs, dict):
        run.source.malformed(f"{name} obs", kind_of(obs), "object")
    seen = dict(obs or {})
    active = seen.get("active_page_index")
    # AgentLab writes a number as an array with one element.
    seen["active_page_index"] = active[0] if isinstance(active, list) and active else active
    stated, action = _stated(plain.get("action")), None
    thought = _field(plain.get("agent_info"), "think")
    if isinstance(stated, str):
        thinking, action = split_thought(stated)
        thought = thought if isinstance(thought, str) else thinking
    beside = {key: value for key, value in plain.items() if key not in ("obs", "action", "step")}
    _keep(run, name, beside | {f"obs.{key}": seen[key] for key in seen if key not in _READ})
    return Gym(
        number=number, obs=seen, action=action, thought=thought if isinstance(thought, str) else None,
        truncated=plain.get("truncated") is True, is_seen=obs is not None, raw=stated,
        clock=_moments(plain.get("profiling")),
    )  # fmt: skip


def _stated(action: Any) -> str | None:
    """Return an action as text: agents with tools of their own state a call instead, or several."""
    if action is None or isinstance(action, str):
        return action
    return msgspec.json.encode(action).decode()


def _keep(run: Run, name: str, stated: dict[str, Any]) -> None:
    """Keep what a step holds; what is large is left out and counted."""
    # Text and files hold the same, and these parts have megabytes a step.
    for key in [key for key in stated if key.removeprefix("obs.") in _LARGE]:
        run.leave_out(f"{_NUMBER.sub('*', name, count=1)} {key}", int(holds_data(stated.pop(key))))
    run.keep(name, {key: value for key, value in stated.items() if holds_data(value)})


_NUMBER = lazy_pattern(r"\d+")


def _moments(profiling: Any) -> dict[str, float]:
    stated = profiling if isinstance(profiling, dict) else {}
    return {key: float(at) for key, at in stated.items() if isinstance(at, int | float) and 0 < at < 2**33}


_THINK = lazy_pattern(r"\s*(?:<think>(.*?)</think>|<thought>(.*?)</thought>)", re.DOTALL)
_FENCE = lazy_pattern(r"```(?:[a-z]+\s+(?!`))?\s*(.*?)```", re.DOTALL)
_CALL = lazy_pattern(r"\b[a-z]+(?:_[a-z]+)*\(['\"\d)]")
_END = "</action>"
_TAGGED = lazy_pattern(r"<action>(.*?)</action>", re.DOTALL)


def split_thought(stated: str) -> tuple[str | None, str]:
    """Return what a model thought and the actions it wrote, without tags and fences.

    The harness carries out every call in a text: where one stands in prose, the text stays whole.
    """
    thinking = _THINK.match(stated)
    thought = None if thinking is None else (thinking[1] or thinking[2] or "").strip()
    left = stated if thinking is None else stated[thinking.end() :]
    # Tags first: an action may hold a fence, such as the text to type.
    # Up to the last end only: tags that nothing closes would each be looked for to the end of the text.
    closed = left.rfind(_END) + len(_END) if _END in left else 0
    pattern = _TAGGED if _TAGGED.search(left, 0, closed) else _FENCE
    closed = closed if pattern is _TAGGED else len(left)
    written = [one[1].strip() for one in pattern.finditer(left, 0, closed)]
    beside = (pattern.sub("\n", left[:closed]) + left[closed:]).strip()
    if not written or (pattern is _FENCE and _CALL.search(beside)):
        return thought or None, left.strip()
    return "\n".join(part for part in (thought, beside) if part) or None, "\n".join(written)


def _missing(steps: list[Gym], summary: Any) -> list[int]:
    """Return the numbers of the steps with an action that there were and that are no more."""
    stated = summary.get("n_steps") if isinstance(summary, dict) else None
    # The summary is foreign, and a set of that size is built.
    count = min(stated, STEPS_MAX) if isinstance(stated, int) else 0
    return sorted(set(range(max(count, steps[-1].number))) - {step.number for step in steps})


def _step(run: Run, number: int, name: str) -> Gym:
    found = _unpickled(run, name, f"{name} (step {number})")
    return _gym(run, number, name, run.source.convert(found, dict[str, Any], name))


def _unpickled(run: Run, name: str, place: str) -> Any:
    """Return what a pickle holds as values of JSON. Raises InteropError."""
    lost: list[str] = []
    data = _unpacked(run, name) if name.endswith(".gz") else run.source.read(name)
    try:
        found = plain_values(read_pickle(data), lost.append)
    except Forbidden as error:
        run.source.unsafe(place, f"a pickle that names {error}", "plain data")
    except Undecodable as error:
        run.source.malformed(name, f"no pickle ({error})", "a pickle of BrowserGym", error)
    for path in lost:
        run.leave_out(f"{_NUMBER.sub('*', name, count=1)} {path}")
    return found


def _setting(run: Run, name: str) -> Any:
    """Return and keep what the experiment was given: its goal in parts, or the settings of its agent."""
    try:
        found = _unpickled(run, name, name) if name in run.source else None
    except MalformedSource as fault:
        run.flaw(f"unreadable ({fault.fields['found']}): left out", name)
        run.leave_out(name)
        return None
    run.keep(name, {"value": found} if holds_data(found) else {})
    return found


def _goal(parts: Any) -> str:
    """Return the texts of a goal; its images are kept beside the steps."""
    texts = [_field(one, "text") for one in parts] if isinstance(parts, list) else []
    return "\n".join(text for text in texts if isinstance(text, str))


def _add_agent(run: Run, settings: Any) -> None:
    agent = _field(settings, "agent_args")
    name, model = _field(agent, "agent_name"), _field(agent, "model_name")
    model = _field(_field(agent, "chat_model_args"), "model_name") or model
    if isinstance(name, str):
        run.header["agent"] = AgentInfo(name=name, model=model if isinstance(model, str) else None)


def _unpacked(run: Run, name: str) -> bytes:
    limit = run.source.limits.member
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(run.source.read(name))) as stream:
            # Bounded: a small gzip file may unpack to any size.
            data = stream.read(limit + 1)
    except (OSError, EOFError, zlib.error) as error:
        run.source.malformed(name, f"no gzip file ({error})", "a gzip file", error)
    run.source.check("member", len(data), f"{name} unpacked", "bytes")
    return data


def _field(of: Any, name: str) -> Any:
    return of.get(name) if isinstance(of, dict) else None


def _clock(run: Run, steps: list[Gym]) -> Base:
    """Return where times count from: the first moment that the harness noted."""
    known = [at for step in steps for at in step.clock.values()]
    if not known:
        return Base()
    start = _EPOCH + timedelta(seconds=min(known))
    run.header.update(created=stamp(start), clock="source")
    return Base(start=start)


def _when(seconds: Any) -> datetime | None:
    is_time = isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 < seconds < 2**33
    return _EPOCH + timedelta(seconds=seconds) if is_time else None


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _acted(base: Base, step: Gym, after: list[Gym]) -> int | None:
    """Return when an action was done: from the step after it, else when the agent had stated it."""
    follows = after[0].clock if after and after[0].number == step.number + 1 else {}
    # The moment of the action is noted with the observation that follows.
    return base.ms(_when(follows.get("env_start") or step.clock.get("agent_stop")))


def _is_reported(step: Gym, after: list[Gym], summary: dict[str, Any]) -> bool:
    """Whether the environment came back from an action: a page follows, or the summary counts one."""
    if after and after[0].number == step.number + 1:
        return after[0].is_seen
    return bool(after) or came_back(step.number, summary)


def _add(
    run: Run,
    step: Gym,
    error: str | None,
    base: Base,
    t: int | None,
    *,
    is_last: bool,
    is_reported: bool,
) -> None:
    seen = _seen(run, step, base)
    if step.action is not None:
        add_turn(
            run, step.number, step.action, seen, thought=step.thought, error=error or None, t=t, raw=step.raw,
            is_reported=is_reported,
        )  # fmt: skip
    else:
        add_seen(run, seen, "final" if is_last else "unaligned")


def _seen(run: Run, step: Gym, base: Base) -> Seen:
    obs = step.obs
    active, url, html = obs.get("active_page_index"), obs.get("url"), obs.get("pruned_html")
    shots = (f"screenshot_step_{step.number}.{end}" for end in ("png", "jpg"))
    return Seen(
        url=url if isinstance(url, str) else None,
        urls=_texts(obs.get("open_pages_urls")),
        titles=_texts(obs.get("open_pages_titles")),
        active=active if isinstance(active, int) else None,
        shot=next((shot for shot in shots if shot in run.source), None),
        tree=next((tree for name in _TREES if isinstance(tree := obs.get(name), str)), None),
        html=html if isinstance(html, str) else None,
        dom=obs.get("dom_object"),
        t=base.ms(_when(step.clock.get("env_stop"))),
    )


def _texts(value: Any) -> tuple[str, ...]:
    values = value if isinstance(value, list | tuple) else ()
    return tuple(one for one in values if isinstance(one, str))


def _chat(run: Run, obs: dict[Any, Any], base: Base) -> bool:
    """Add the messages; the first user message is the task. What is no word of either is kept."""
    messages = obs.get("chat_messages")
    for at, one in enumerate(messages if isinstance(messages, list) else ()):
        role, text = (one.get("role"), one.get("message")) if isinstance(one, dict) else (None, None)
        t = base.ms(_when(one.get("timestamp"))) if isinstance(one, dict) else None
        if role in ("user", "assistant") and isinstance(text, str):
            run.add(Message(role="user" if role == "user" else "agent", kind="say", text=text, stated_at=t))
        else:
            run.keep(f"chat_messages[{at}]", {"message": one})
    return isinstance(messages, list)


def _fill(run: Run, steps: list[Gym], *, is_chat: bool) -> None:
    run.fills(targets="partial", urls="partial")
    thoughts = [step.thought for step in steps if step.action is not None]
    run.fills(thoughts="recorded" if thoughts and all(thoughts) else "partial" if any(thoughts) else "absent")
    shots = "recorded" if run.image_count == len(steps) else "partial"
    run.fills(screenshots=shots if run.image_count else "absent", messages="partial" if is_chat else "absent")
    trees = [any(isinstance(step.obs.get(name), str) for name in _TREES) for step in steps]
    run.fills(a11y="recorded" if all(trees) else "partial" if any(trees) else "absent")
    run.origin["alignment"] = "exact"


def _end(run: Run, summary: dict[str, Any] | None, *, is_whole: bool, gave_up: bool | None = None) -> None:
    """End the run as the summary says. `gave_up`: the agent was asked for an action and gave none."""
    answer = run.last_message()
    if summary is None or not is_whole:
        # A message in a step that is missing may be the answer, or another one.
        run.end("unknown", answer=answer if is_whole else None)
        return
    reward = summary.get("cum_reward")
    if isinstance(reward, int | float):
        run.add(Imported(kind="reward", name="browsergym", value=reward, file=SUMMARY))
    kind, error = ending_of(summary, answer, gave_up=gave_up)
    run.end(kind, answer=answer, error=error)


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
    channels=letters("R task answer actions; P targets urls; o thoughts screenshots a11y messages times"),
    find=find,
    read=read,
    options=("actions",),
)
