"""Settings of a recording: options of the caller, and the header, page script and probes made of them."""

from __future__ import annotations

import logging
import os
import platform
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from replaykit.decoders import convert
from replaykit.errors import RecorderError, UsageError
from replaykit.patterns import lazy_pattern
from replaykit.recorder.evidence_pages import EvidencePages, as_evidence
from replaykit.recorder.scripted_user import User
from replaykit.recorder.session.session import SessionOptions
from replaykit.recorder.session.tab_lifecycle import PAGE_CHANNELS
from replaykit.tasks.benchmarks.policy_secrets import plain_texts, policy_secrets, sought_texts
from replaykit.tasks.benchmarks.stwab_rules import probe_checks
from replaykit.tasks.checks import ProbePlan, plan, skipped_pages
from replaykit.tasks.faults.suite_faults import root_faults
from replaykit.tasks.grammar.selectors import selector_fault
from replaykit.tasks.task import Sites, Task, decode_task, fill_task, unresolved
from replaykit.trajectory.step import AgentInfo, Environment

if TYPE_CHECKING:
    from replaykit.tasks.suite import Suite

log = logging.getLogger("replaykit.recorder")

SECRET_MIN = 4
"""A shorter value would be found everywhere."""


TRACEPARENT = "REPLAYKIT_TRACEPARENT"
"""Variable with the trace context of the run."""

UNWATCHED: Mapping[str, str] = {
    channel: "partial" if channel in ("actions", "targets") else "absent"
    for channel in (*PAGE_CHANNELS, "probes")
}
"""Channels of a run to which no page was attached: a harness may have declared some of its steps."""

_TRACE = lazy_pattern(r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of a recording."""

    secrets: dict[str, str] = {}
    """Id to value of what may not reach the file."""
    mask: tuple[str, ...] = ()
    """CSS selectors of what is masked in snapshots and painted over in screenshots."""
    keep_headers: tuple[str, ...] = ()
    """Names of headers whose values are kept although they look secret."""
    screenshots: Literal["png", "off"] = "png"
    """Whether screenshots are taken."""
    a11y: bool = False
    """Whether the accessibility tree of every page at rest is kept as well."""
    network: Literal["bodies", "meta", "off"] = "bodies"
    """Requests with the bodies that checks read, without them, or none."""
    pre_probes: Literal["auto", "on", "off"] = "auto"
    """Whether probes also run before the first action: `auto`, those of the task; `on`, all of them."""
    evidence: EvidencePages = EvidencePages()
    """Which pages are read in addition to those of the task's own checks; see `as_evidence` for its forms."""
    user: User | None = None
    """Who answers the agent's questions."""
    replies: bool = True
    """Whether the harness can pass on a user's replies: without one, no reply proves nothing."""
    max_steps: int | None = None
    """Steps allowed, the task's own by default; the action after the last one ends the run."""
    is_begun: bool = True
    """False: what happens before `begin` is called is no step of the agent."""
    in_process: bool = True
    """False: the agent calls a driver of its own, and not the one that is attached."""
    agent: AgentInfo | None = None
    """The agent, as its harness says."""
    run: str | None = None
    """Label of the attempt."""
    traceparent: str | None = None
    """W3C trace context that the run belongs to; default: the variable `REPLAYKIT_TRACEPARENT`."""
    durability: Literal["process", "power"] = "process"
    """Event that every commit survives: the end of this process, or of the machine."""
    force: bool = False
    """Replace an existing file."""


def as_settings(options: Mapping[str, Any]) -> Settings:
    """Turn keywords into settings. Raises UsageError for names and values that mean nothing."""
    given = {"traceparent": os.environ.get(TRACEPARENT) or None, **options}
    if "evidence" in given:
        given["evidence"] = as_evidence(given["evidence"])
    try:
        settings = convert(given, Settings)
    except msgspec.ValidationError as error:
        from replaykit.tasks.faults.field_faults import field_fault  # for what is wrong only

        path, reason = field_fault(error, given, Settings)
        where = "" if path == "$" else f" - at `{path.removeprefix('$.')}`"
        raise UsageError(what=f"an option of the recorder is wrong: {reason}{where}") from error
    refuse_selectors(settings.mask)
    if settings.traceparent is not None:
        refuse_traceparent(settings.traceparent, f"traceparent ({TRACEPARENT})")
    for name, value in settings.secrets.items():
        if len(value) < SECRET_MIN:
            what = f"secret {name!r} has {len(value)} characters, at least {SECRET_MIN} are needed"
            raise UsageError(what=f"{what}; use --mask SELECTOR for the field that shows it")
    return settings


def as_task(
    task: Task | Mapping[str, Any] | Suite | str | Path | None,
) -> tuple[Task | None, dict[str, tuple[str, ...]]]:
    """Return a task and the roots of the sites of its suite; a text names a file, as `FILE#ID`.

    Raises TaskError, UnknownTask, UsageError where a suite has several tasks.
    """
    if task is None or isinstance(task, Task):
        return task, {}
    if isinstance(task, Mapping):
        return decode_task(task), {}
    if isinstance(task, list | tuple):
        how = "give one, such as load_tasks('suite.yaml#ID')[0], or the text 'suite.yaml#ID'"
        raise UsageError(what=f"task: expected one task, found a list of {len(task)}; {how}")
    from replaykit.tasks.suite import Suite, load_suite  # readers of files are loaded for who names files

    suite = task if isinstance(task, Suite) else load_suite(task)
    if len(suite.tasks) != 1:
        count = len(suite.tasks)
        raise UsageError(what=f"task: the suite has {count} tasks: name one, as in 'suite.yaml#ID'")
    return suite.tasks[0], dict(suite.sites)


def as_sites(sites: Mapping[str, str | Sequence[str]] | None) -> Sites:
    """Return site names with tuples of roots; a single root may be given as it is. Raises UsageError."""
    if not isinstance(sites, Mapping | None):
        raise UsageError(
            what=f"sites: expected names with their roots, such as {{'shop': URL}}, got {sites!r}"
        )
    given = (sites or {}).items()
    found = {name: (roots,) if isinstance(roots, str) else tuple(roots) for name, roots in given}
    for place, fault in root_faults(found):
        raise UsageError(what=f"sites{place}: {fault}")
    return found


def refuse_traceparent(text: str, option: str) -> None:
    """Raise UsageError for a text that is no trace context."""
    if not _TRACE.fullmatch(text):
        form = "00-<32 hex digits>-<16 hex digits>-01"
        raise UsageError(what=f"{option}: expected {form}, found {text!r}")


def active_traceparent() -> str | None:
    """Return the trace context of OpenTelemetry's active span; None if absent."""
    api = sys.modules.get("opentelemetry.trace")  # who has not loaded it has no span
    place = api.get_current_span().get_span_context() if api is not None else None
    if place is None or not place.is_valid:
        return None
    return f"00-{place.trace_id:032x}-{place.span_id:016x}-{int(place.trace_flags):02x}"


def refuse_selectors(mask: Iterable[str], option: str = "mask") -> None:
    """Raise UsageError for what no browser accepts: the page's script could neither mask nor record."""
    for selector in mask:
        fault = selector_fault(selector)
        if fault is not None:
            raise UsageError(what=f"{option}: not a CSS selector: {selector!r}: {fault}")


def all_secrets(settings: Settings, task: Task | None) -> dict[str, str]:
    """Return the declared secrets, those of the task's policies included.

    Raises RecorderError where a policy names a variable that is not set.
    """
    secrets = dict(settings.secrets)
    for secret in policy_secrets(task):
        if secret.secret_env is None:
            continue
        value = os.environ.get(secret.secret_env, "")
        if len(value) < SECRET_MIN:
            state = "too short" if value else "not set"
            raise RecorderError(what=f"a policy's secret is in {secret.secret_env}, which is {state}")
        secrets[secret.id or secret.secret_env] = value
    return secrets


def probe_plan(settings: Settings, task: Task | None, sites: Sites) -> ProbePlan:
    """Return what has to be looked at for the task's checks, and for whatever else the settings name."""
    filled = fill_task(task, sites) if task else None
    wanted = (*filled.checks, *probe_checks(filled.policies)) if filled else ()
    roots = {**sites, **_start_roots(filled)} if filled else sites
    if filled is not None:
        _require_sites(filled)
    made = plan(
        wanted,
        roots,
        others=settings.evidence.checks(task, sites),
        urls=settings.evidence.pages(sites),
        pre="all" if settings.pre_probes == "on" else "own",
    )
    if filled is not None:
        _announce(filled, looked_at(made), skipped_pages(wanted, roots))
    return made


def looked_at(plan: ProbePlan) -> tuple[str, ...]:
    """Return the addresses that are opened after the run, in order, without the agent's own last page."""
    urls = [page.url for page in plan.pages if page.phase == "post" and page.url != "last"]
    return tuple(dict.fromkeys([*urls, *(http.url for http in plan.http if http.phase == "post")]))


def _start_roots(task: Task) -> Sites:
    """Return the origins that a task starts on, as the roots of a site without a name."""
    parts = (urlsplit(url) for url in task.start_urls)
    roots = tuple(dict.fromkeys(f"{one.scheme}://{one.netloc}" for one in parts if one.scheme and one.netloc))
    return {"": roots} if roots else {}


def _require_sites(task: Task) -> None:
    """Raise UsageError if a placeholder of the task names a site whose URL was not given."""
    missing = unresolved((task.start_urls, task.checks, task.policies), task.sites)
    if missing:
        named = ", ".join(f"__{name.upper()}__" for name in missing)
        how = ", ".join(f"{name!r}: URL" for name in missing)
        raise UsageError(
            what=f"task {task.id}: {named} is no address: give the site's address with sites={{{how}}} or "
            f"--site {missing[0]}=URL, or name the suite that does: task='suite.yaml#{task.id}'"
        )


def _announce(task: Task, looked: Sequence[str], skipped: Sequence[str]) -> None:
    """Say which pages will be looked at after the run and which will not, before anything is recorded."""
    log.info("task %s: looked at afterwards: %s", task.id, _listed(looked) or "only the agent's last page")
    if skipped:
        log.warning(
            "task %s: outside of its sites, so not looked at afterwards: %s", task.id, _listed(skipped)
        )


def _listed(urls: Sequence[str]) -> str:
    return ", ".join(urls[:5]) + (" ..." if len(urls) > 5 else "")


def stored_options(settings: Settings) -> dict[str, Any]:
    """Return the options that affect content, without values of secrets, paths and tasks."""
    kept = {
        "mask": settings.mask,
        "keep_headers": settings.keep_headers,
        "screenshots": settings.screenshots,
        "a11y": settings.a11y,
        "network": settings.network,
        "pre_probes": settings.pre_probes,
        "evidence": settings.evidence.kind,
    }
    return {name: list(value) if isinstance(value, tuple) else value for name, value in kept.items() if value}


def session_options(settings: Settings, task: Task | None, secrets: Mapping[str, str]) -> SessionOptions:
    """Return what the session has to know of the settings."""
    limit = task.max_steps if task else None
    return SessionOptions(
        has_screenshots=settings.screenshots != "off",
        has_outlines=settings.a11y,
        network=settings.network,
        has_pre_probes=settings.pre_probes != "off",
        max_steps=limit if settings.max_steps is None else settings.max_steps,
        is_begun=settings.is_begun,
        in_process=settings.in_process,
        secrets=dict(secrets),
        mask=settings.mask,
        plain=plain_texts(task),
        sought=sought_texts(task),
        keep_headers=settings.keep_headers,
        replies="recorded" if settings.replies else "absent",
    )


def completed(environment: Environment) -> Environment:
    """Return what a driver knows of its environment, with the releases and the system."""
    return replace(
        environment,
        replaykit=_release("replaykit-web"),
        driver_version=_release("playwright"),
        os=platform.system().lower() or None,
    )


def rfc3339(epoch_ms: float) -> str:
    """Return a moment as text, in UTC and to the millisecond."""
    moment = datetime.fromtimestamp(epoch_ms / 1000, tz=UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _release(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
