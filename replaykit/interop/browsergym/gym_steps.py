"""Turns of BrowserGym's agents: action strings, and the page before each of them."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from replaykit.interop.browsergym.gym_execution import executed, is_refused
from replaykit.interop.browsergym.gym_targets import targeted
from replaykit.interop.imported_run import Run
from replaykit.interop.password_masking import typed_password, without_passwords
from replaykit.recorder.session.declared_actions import declared
from replaykit.trajectory.action import Unknown
from replaykit.trajectory.observation import Observation, TabView
from replaykit.trajectory.scalars import Threw


class Seen(Struct, frozen=True, kw_only=True):
    """A page as a harness saw it."""

    url: str | None = None
    """URL of the active tab."""
    urls: tuple[str, ...] = ()
    """URLs of all tabs."""
    titles: tuple[str, ...] = ()
    """Their titles."""
    active: int | None = None
    """Which tab is active."""
    shot: str | None = None
    """Path of its image."""
    tree: str | None = None
    """Accessibility tree as text."""
    html: str | None = None
    """Pruned HTML, which numbers its elements by `bid`."""
    dom: Any = None
    """DOM snapshot, which does so as well."""
    t: int | None = None
    """When it was seen, ms since the start of the run."""


def add_turn(
    run: Run,
    turn: int,
    stated: str,
    seen: Seen,
    *,
    thought: str | None = None,
    error: str | None = None,
    t: int | None = None,
    raw: str | None = None,
    is_reported: bool = True,
) -> None:
    """Add the steps of one action string: one per call in it, unknown where it was perhaps not carried out.

    `error`: one for all calls; `is_reported`: whether the environment came back from them.
    """
    actions = declared(stated)
    if all(isinstance(one, Unknown) for one in actions):
        worded = run.wordings.action(stated)
        actions = actions if worded is None else (worded,)
    actions = tuple(targeted(one, seen.tree, seen.html, seen.dom) for one in actions)
    typed = [] if run.options.keeps_secrets else [text for one in actions if (text := typed_password(one))]
    record = without_passwords(stated if raw is None else raw, typed)
    if is_refused(stated, error):
        add_seen(run, seen, "unaligned")
        run.leave_out("actions that the environment refused")
        run.keep(f"turn {turn}", {"action": record, "error": error, "thought": thought})
        return
    before = look(run, seen, "before", min(t, seen.t) if t is not None and seen.t is not None else None)
    for at, action in enumerate(executed(actions, error, is_reported=is_reported)):
        run.step(
            action=action,
            before=before if at == 0 else None,
            thought=without_passwords(thought, typed) if thought else None,
            raw=record,
            error=Threw(name="ActionError", message=error) if error and at == 0 else None,
            turn=turn,
            t=t,
        )


def add_seen(run: Run, seen: Seen, role: str) -> None:
    """Add a page that no action followed."""
    run.add(look(run, seen, role))


def look(run: Run, seen: Seen, role: str, t: int | None = None) -> Observation:
    """Return an observation of a page."""
    shot = None if seen.shot is None else run.screenshot_at(seen.shot)
    return Observation(
        role=role,
        t=seen.t if t is None else t,
        url=_active_url(seen),
        tabs=_tabs(seen),
        screenshot=shot,
        a11y=None if not seen.tree else run.put("text/plain", seen.tree.encode("utf-8", "replace")),
    )


def _active_url(seen: Seen) -> str | None:
    is_known = seen.url is None and seen.active is not None and 0 <= seen.active < len(seen.urls)
    return seen.urls[seen.active or 0] if is_known else seen.url


def _tabs(seen: Seen) -> tuple[TabView, ...]:
    active = seen.active
    if active is None and seen.urls.count(seen.url or "") == 1:
        active = seen.urls.index(seen.url or "")
    titles: tuple[Any, ...] = seen.titles if len(seen.titles) == len(seen.urls) else (None,) * len(seen.urls)
    pairs = zip(seen.urls, titles, strict=True)
    return tuple(
        TabView(page=page, url=url, title=title, active=page == active)
        for page, (url, title) in enumerate(pairs)
    )
