"""Texts and screenshots of requests about criteria and steps, within their limits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from replaykit.grading.judges.judge_evidence import JudgeEvidence
from replaykit.grading.judges.rubric.criterion_replies import Shown
from replaykit.grading.judges.rubric.rubric_verdict import Met
from replaykit.grading.judges.step_notes import StepNote
from replaykit.grading.model_request import Part, TextPart
from replaykit.tasks.rubric import Criterion

NOTES_MAX = 24_000
"""Characters of all notes of one request: those of the last steps come first."""


class Steps(Struct, frozen=True, kw_only=True):
    """The steps of a run as a request lists them."""

    text: str
    """One paragraph a step."""
    noted: frozenset[int]
    """Steps whose page or requests are in it."""


def criteria_text(criteria: Sequence[Criterion], *, reverse: bool) -> str:
    """Return one line a criterion, with its condition and what can show it."""
    lines = [_criterion(one) for one in criteria]
    return "\n".join(reversed(lines) if reverse else lines)


def choices(*, reverse: bool) -> str:
    """Return the words to choose from."""
    words = [str(one) for one in Met]
    return ", ".join(reversed(words) if reverse else words)


def steps_text(evidence: JudgeEvidence, *, facts: bool, changes: bool = True) -> Steps:
    """Return the actions with their notes; above the limit, the notes of the first steps are left out."""
    notes = {one.step: one for one in evidence.notes}
    left, shown_notes = NOTES_MAX, {}
    for step in sorted(notes, reverse=True):
        lines = _note(notes[step], facts=facts, changes=changes)
        left -= sum(map(len, lines))
        if left < 0:
            break
        shown_notes[step] = lines
    blocks = (
        [
            f"step {step}: {_action(evidence, step)}",
            *shown_notes.get(step, ["(left out)"] if step in notes else []),
        ]
        for step in range(len(evidence.actions))
    )
    text = "\n".join(line for block in blocks for line in block)
    shows = (step for step in shown_notes if _shows(notes[step], facts=facts, changes=changes))
    return Steps(text=text, noted=frozenset(shows))


def actions_text(evidence: JudgeEvidence) -> str:
    """Return the actions only, numbered by step."""
    return "\n".join(f"step {step}: {_action(evidence, step)}" for step in range(len(evidence.actions)))


def frames_text(evidence: JudgeEvidence, frames: Sequence[int]) -> str:
    """Return one line for each screenshot: its step and what was done there."""
    steps = [(frame, evidence.images[frame].step) for frame in frames]
    return "\n".join(f"frame {frame}: step {step}, {_action(evidence, step)}" for frame, step in steps)


def checks_text(evidence: JudgeEvidence) -> str:
    """Return one line a check that asked no model."""
    return "\n".join(evidence.checks.outcomes if evidence.checks is not None else ())


def images(evidence: JudgeEvidence, frames: Sequence[int]) -> list[Part]:
    """Return screenshots, each after its number and step."""
    found: list[Part] = []
    for frame in frames:
        image = evidence.images[frame]
        found += [TextPart(text=f"frame {frame}, step {image.step}:"), image]
    return found


def gaps(evidence: JudgeEvidence) -> str:
    """Return what the recording lacks, in words."""
    unknown = sum(not one.is_page_known for one in evidence.notes)
    missing = [f"the page after {unknown} of {len(evidence.notes)} steps"] if unknown else []
    missing += [] if evidence.images else ["screenshots"]
    missing += [f"{_LACKS[state]} {named}" for named, state in _observed(evidence)]
    return ", ".join(missing) or "nothing"


_OBSERVED = {"network": "requests", "dialogs": "dialogs"}
"""Channels that facts come from: without them, what is not listed may have happened."""

_LACKS = {"absent": "all", "partial": "some"}


def _observed(evidence: JudgeEvidence) -> Iterator[tuple[str, str]]:
    """Yield what facts are about with the state of its channel, where that is not complete."""
    for channel, named in _OBSERVED.items():
        state = evidence.channels.get(channel, "")
        if state in _LACKS:
            yield named, state


def shown(evidence: JudgeEvidence, frames: Sequence[int], steps: Steps, *, has_answer: bool) -> Shown:
    """Return what a request lets a model see."""
    shown_steps = frozenset(evidence.images[frame].step for frame in frames)
    return Shown(
        n_steps=max([len(evidence.actions), *(one.step + 1 for one in evidence.images)]),
        steps=shown_steps | steps.noted,
        shown_steps=shown_steps,
        has_answer=has_answer,
        blocked=evidence.blocked,
    )


def counted_looks(n: int, batch: int) -> list[tuple[int, ...]]:
    """Return the numbers of all screenshots, so many a request."""
    return [tuple(range(at, min(n, at + batch))) for at in range(0, n, batch)]


def _criterion(one: Criterion) -> str:
    when = f' (applies if: "{one.when}")' if one.when else ""
    return f"{one.id}: {one.statement}{when} [shown by {', '.join(one.proof)}]"


def _action(evidence: JudgeEvidence, step: int) -> str:
    """Return what was done at a step; a message of the agent is its answer or reasoning, and is left out."""
    if step >= len(evidence.actions):
        return "(no action)"
    entry = evidence.actions[step]
    return "(the agent spoke)" if entry.is_message else entry.action


def _note(one: StepNote, *, facts: bool, changes: bool) -> list[str]:
    cut = [f"({one.n_cut} more lines)"] if one.n_cut else []
    lines = [*one.changes, *cut] if changes else []
    observed = [*(f"* {fact}" for fact in one.facts), *(f"! {finding}" for finding in one.found)]
    return [*lines, *(observed if facts else [])]


def _shows(one: StepNote, *, facts: bool, changes: bool) -> bool:
    return (changes and one.is_page_known) or (
        facts and any(not fact.startswith("page ") for fact in one.facts)
    )
