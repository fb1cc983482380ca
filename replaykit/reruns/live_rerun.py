"""Re-execute a recorded run on a live site, record it, and report where the two runs diverge.

Only the actions of a recording are used, and only on roots that the user named. Its scripts are not run, its
task is not graded, and its URLs are not opened by themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from replaykit.bundle.reader import open_bundle
from replaykit.errors import MissingExtra, OutputExists, UsageError
from replaykit.recorder.agent_runs import BrowserChoice, Recorded, record_agent
from replaykit.replay.player import Replay
from replaykit.reruns.allowed_addresses import Addresses, addresses
from replaykit.reruns.rerun_diff import Rerun, compare_runs
from replaykit.reruns.rerun_plan import RerunInputs, plan_rerun
from replaykit.tasks.task import Task
from replaykit.trajectory.step import AgentInfo, Header

PATIENCE_S = 5.0
"""How long a target may take to appear."""


def rerun(
    bundle: str | Path,
    out: str | Path,
    *,
    sites: Mapping[str, Sequence[str]] | None = None,
    url_map: Iterable[tuple[str, str]] = (),
    allow: Iterable[str] = (),
    task: Task | None = None,
    fill: Mapping[int, str] | None = None,
    upload: Mapping[int, Sequence[str | Path]] | None = None,
    secrets: Mapping[str, str] | None = None,
    browser: BrowserChoice | None = None,
    max_time: float | None = None,
    patience: float = PATIENCE_S,
    **options: Any,
) -> tuple[Rerun, Recorded]:
    """Carry out the actions of a bundle on a live site, and record them into a new bundle.

    `sites`: site names of the recording to live roots. `url_map`: pairs of recorded and live root. `allow`:
    roots that stay as they are. `task`: task of the new run, so that it can be graded; default: only id and
    intent of the recorded task. `fill`: step number to a text that the recording does not hold. `upload`:
    step number to the files to choose. `max_time` and `patience`: seconds for the whole run, and for an
    element to appear. `options`: settings of `Recorder`. Unless `agent` is given, the agent of the new run is
    called `rerun`.

    Returns the differences and the new recording. Raises UsageError, BundleError, RecorderError, NoBrowser.

    Example:
        found, recorded = replaykit.rerun("run.zst", "again.zst", sites={"shop": ["http://localhost:8000"]})
    """
    walk_type = _walk_type()
    # Asked before the run, which may take minutes.
    _check_places(Path(bundle), Path(out), is_forced=bool(options.get("force")))
    # Texts to enter are declared as secrets, so that the new bundle does not hold them.
    texts = {f"fill-{step}": text for step, text in (fill or {}).items()}
    with open_bundle(bundle) as opened:
        before = Replay(opened)
        header = before.trajectory.header
        places = addresses(header.sites, sites=sites, url_map=url_map, allow=allow)
        files = {step: tuple(map(Path, names)) for step, names in (upload or {}).items()}
        plan = plan_rerun(before, places, RerunInputs(secrets=secrets or {}, texts=fill or {}, files=files))
        if not plan.count:
            raise UsageError(what=f"{opened.name} has no step that can be re-executed")
        walk = walk_type(plan, places, patience)
        recorded = record_agent(
            walk,
            _task(header, task, plan.start),
            out,
            sites=_live_sites(header, places),
            browser=_like(header, browser or BrowserChoice()),
            max_time=max_time,
            secrets={**(secrets or {}), **texts},
            **{"agent": _agent(opened.digest), **options},
        )
        with open_bundle(out) as made:
            rows = compare_runs(before, Replay(made), plan, walk.outcomes, places)
            digests = {"recorded": f"sha256:{opened.digest}", "rerun": f"sha256:{made.digest}"}
    return Rerun(rows=rows, error=recorded.error, **digests), recorded


def _check_places(bundle: Path, out: Path, *, is_forced: bool) -> None:
    if out.exists() and bundle.exists() and out.samefile(bundle):
        raise UsageError(
            what=f"{out} is the recorded run itself, which is never changed: name another file with -o"
        )
    if out.exists() and not is_forced:
        raise OutputExists(source=str(out), operation="record the new run")


def _agent(digest: str) -> AgentInfo:
    """Return the agent of the new run; it must not be mistaken for the recorded agent."""
    return AgentInfo(name="rerun", harness="replaykit", extra={"recorded": f"sha256:{digest}"})


def _walk_type() -> Any:
    try:
        # Playwright is an extra, and the rest of this module works without it.
        from replaykit.reruns.rerun_agent import Walk
    except ModuleNotFoundError as error:
        raise MissingExtra(package="playwright", extra="browser", purpose="carrying out a run") from error
    return Walk


def _task(header: Header, given: Task | None, start: Sequence[str]) -> Task:
    """Return the task of the new run: never the checks of somebody else's bundle, which ask for pages."""
    recorded = header.task or {}
    if given is None:
        given = Task(id=str(recorded.get("id", "rerun")), intent=str(recorded.get("intent", "")))
    return replace(given, start_urls=tuple(start))


def _live_sites(header: Header, places: Addresses) -> dict[str, tuple[str, ...]]:
    """Return the sites of the recording that have live roots, without a slash at their ends."""
    found = {}
    for name, roots in header.sites.items():
        live = [root.rstrip("/") for root in map(places.live, roots) if root is not None]
        if live:
            found[name] = tuple(dict.fromkeys(live))
    return found


def _like(header: Header, browser: BrowserChoice) -> BrowserChoice:
    """Return the browser with the viewport that was recorded: pages look different in another one."""
    viewport = header.environment.viewport
    return browser if viewport is None else replace(browser, viewport=viewport)
