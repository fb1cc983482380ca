"""Evidence that a judge may see of a run, and the choice of its screenshots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from replaykit.bundle.blobs import image_size
from replaykit.bundle.bundle_format import PIXMAP
from replaykit.errors import BundleError, ReplayError
from replaykit.grading.blocked_pages import block_of
from replaykit.grading.findings.side_effects import has_network, unexplained_changes
from replaykit.grading.grounding import grounding
from replaykit.grading.judges.claims.run_facts import RunFacts
from replaykit.grading.judges.claims.unexplained_requests import UNKNOWN, plain_change
from replaykit.grading.judges.screenshot_choice import (
    Dedupe,
    ImagePolicy,
    RunScreenshot,
    Selection,
    Shots,
    all_shots,
    filed_shots,
    shots,
)
from replaykit.grading.judges.step_notes import StepNote, step_notes
from replaykit.grading.model_request import ImagePart
from replaykit.grading.verdict import CheckResult
from replaykit.replay.agent_made_pages import is_forged
from replaykit.replay.player import Replay
from replaykit.tasks.task import Task
from replaykit.trajectory.action import tag_of
from replaykit.trajectory.action_history import ActionHistory, action_history
from replaykit.trajectory.action_rendering import MESSAGES, render_step
from replaykit.trajectory.completeness import state_of
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.step import CHANNELS, Step


class EvidenceNeeds(Struct, frozen=True, kw_only=True):
    """Evidence that a judge needs in addition to the task, the answer and the actions."""

    images: ImagePolicy
    """Which screenshots."""
    dedupe: Dedupe = "consecutive"
    """Whether equal screenshots in a row are sent once."""
    shots: Shots = "steps"
    """One look a step, every look, or the files of an imported run."""
    tree: bool = False
    """The last accessibility tree."""
    text: bool = False
    """The text of the last page."""
    forged: bool = False
    """Pages that the agent had a hand in too, as compat mode has it: their screenshots, tree and text."""
    facts: bool = False
    """The run itself, for judges that decide by code what a model states."""
    notes: bool = False
    """Changes of each step, and the steps at which a page blocked the agent."""
    findings: bool = False
    """With the notes: what detectors find at each step."""
    checks: bool = False
    """Outcomes of checks that ask no model, and requests that nothing explains."""


class AgentAction(Struct, frozen=True, kw_only=True):
    """One action of the agent, as a judge reads it."""

    action: str
    """In one line."""
    url: str
    """Page acted on; empty = unknown."""
    thought: str
    """The agent's reasoning; empty = none was recorded."""
    returned: str = ""
    """The text that the action returned to the agent; empty = nothing was recorded."""
    is_message: bool = False
    """The agent spoke to the user: never part of a factual history."""


class JudgeEvidence(Struct, frozen=True, kw_only=True):
    """Everything that a judge may see."""

    task: str
    """The task in the user's words."""
    answer: str | None
    """The agent's answer; None = none was given."""
    actions: tuple[AgentAction, ...] = ()
    """Actions of the agent, in order."""
    history: ActionHistory = ActionHistory(actions=(), thoughts=None)
    """The same as the file of an imported run has it."""
    tree: str = ""
    """The last accessibility tree."""
    text: str = ""
    """Visible text of the last page."""
    recorded_at: str = ""
    """When the run began, RFC 3339, as recorded in the bundle."""
    images: tuple[ImagePart, ...]
    """Screenshots sent, oldest first."""
    selection: Selection
    """How they were chosen."""
    grounding: tuple[dict[str, object], ...] = ()
    """Numbers and quotations of the answer, with the steps whose visible text holds them."""
    facts: RunFacts | None = None
    """The run as predicates see it, where it was asked for."""
    task_id: str = ""
    """Id of the task."""
    start_urls: tuple[str, ...] = ()
    """Where the task begins."""
    sites: tuple[str, ...] = ()
    """Names of the sites that the task uses."""
    notes: tuple[StepNote, ...] = ()
    """Changes of each step, if the judge needs them."""
    checks: CheckFacts | None = None
    """Outcomes of checks that ask no model, if the judge needs them."""
    channels: Mapping[str, str] = {}
    """State of each channel of the recording, where notes were asked for: what was never captured."""
    blocked: tuple[int, ...] = ()
    """Steps at which a page blocked the agent, where notes were asked for."""
    is_reversed: bool = False
    """Under an attack: lists of criteria and of words to choose from are given in the reverse order."""


_SHOTS = {"steps": shots, "all": all_shots, "files": filed_shots}


def gather(task: Task, replay: Replay, needs: EvidenceNeeds) -> JudgeEvidence:
    """Return the evidence of a run. Reads the chosen screenshots only, none where the policy is `none`.

    Raises BundleError where a screenshot is missing or damaged.
    """
    found = list(_SHOTS[needs.shots](replay))
    made = frozenset() if needs.forged else replay.memo(_made_by_the_agent)
    honest = [shot for shot in found if shot.id not in made]
    selection = needs.images.select(honest, needs.dedupe)
    selection = replace(selection, n_forged=len(found) - len(honest))
    return JudgeEvidence(
        task=task.intent,
        answer=replay.answer,
        actions=tuple(_entry(step) for step in replay.steps),
        history=action_history(replay.trajectory),
        tree=_last_tree(replay, needs.forged) if needs.tree else "",
        text=_last_text(replay, needs.forged) if needs.text else "",
        recorded_at=replay.trajectory.header.created or "",
        images=tuple(_image(replay, shot) for shot in selection.sent),
        selection=selection,
        grounding=tuple(grounding(replay)),
        facts=RunFacts(replay, task) if needs.facts else None,
        task_id=task.id,
        start_urls=task.start_urls,
        sites=task.sites,
        notes=step_notes(replay, forged=needs.forged, findings=needs.findings) if needs.notes else (),
        checks=check_facts(task, replay) if needs.checks else None,
        channels={name: state_of(replay.trajectory, name).state for name in CHANNELS} if needs.notes else {},
        blocked=tuple(_blocked(replay)) if needs.notes else (),
    )


def _blocked(replay: Replay) -> Iterator[int]:
    """Yield the steps after which a page blocks the agent."""
    last = max(0, len(replay.steps) - 1)
    for page in replay.pages:
        if page.role in ("start", "after", "final") and block_of(page) is not None:
            yield last * (page.role == "final") if page.step is None else page.step


def _entry(step: Step) -> AgentAction:
    before = step.before.url if step.before is not None else None
    return AgentAction(
        action=render_step(step),
        url=before or step.url or "",
        thought=step.thought or "",
        returned=_text(step.returned),
        is_message=tag_of(step.action) in MESSAGES,
    )


def _text(returned: Any) -> str:
    if returned is None or isinstance(returned, str):
        return returned or ""
    return msgspec.json.encode(returned).decode()


def _made_by_the_agent(replay: Replay) -> frozenset[str]:
    """Return the screenshots that only pages show which the agent had a hand in."""
    shown: dict[bool, set[str]] = {True: set(), False: set()}
    for page in replay.pages:
        if page.screenshot_id is not None:
            shown[is_forged(page, replay)].add(page.screenshot_id)
    return frozenset(shown[True] - shown[False])


def _last_tree(replay: Replay, forged: bool) -> str:
    """Return the last accessibility tree as text; empty where none was recorded."""
    pages = (page for page in replay.pages if forged or not is_forged(page, replay))
    seen = [page.seen for page in pages if isinstance(page.seen, Observation)]
    trees = [one.a11y for one in seen if isinstance(one.a11y, str)]
    return replay.bundle.blob(trees[-1]).decode("utf-8", "replace") if trees else ""


def _last_text(replay: Replay, forged: bool) -> str:
    """Return the visible text of the last page that can be read; empty where none can."""
    for page in reversed(replay.pages):
        if not forged and is_forged(page, replay):
            continue
        try:
            text = page.dom.text if page.dom is not None else None
        except (ReplayError, BundleError):
            continue
        if text is not None:
            return text
    return ""


def _image(replay: Replay, shot: RunScreenshot) -> ImagePart:
    own = replay.bundle.blob_type(shot.id)
    width, height = image_size(replay.bundle.blob(shot.id), own) or (0, 0)
    media_type = "image/png" if own == PIXMAP else own
    return ImagePart(sha256=shot.id, media_type=media_type, width=width, height=height, step=shot.step)


class CheckFacts(NamedTuple):
    """The same whatever the options of a grading: strict, without a browser, without verifiers."""

    outcomes: tuple[str, ...]
    """One line a check: name, kind and outcome, never a reference value."""
    side_effects: tuple[dict[str, Any], ...]
    """Requests that changed something and that neither a passing check nor `allow:` of the task explains."""


def check_facts(task: Task, replay: Replay) -> CheckFacts:
    """Return what the checks of a task find that need no model, and what nothing explains."""
    # Loaded for judges that read check results: checks have more code than judges.
    from replaykit.grading.checks.check_grading import grade_checks

    results = [one for one in grade_checks(task, replay, "strict") if not _needs_model(one)]
    left = tuple(plain_change(one) for one in unexplained_changes(replay, results, task.allow))
    return CheckFacts(
        outcomes=tuple(f"{one.id} ({one.type}): {one.outcome}" for one in results),
        side_effects=left if has_network(replay) else UNKNOWN,
    )


def _needs_model(result: CheckResult) -> bool:
    return any(code.startswith("reply:") for code in result.missing)
