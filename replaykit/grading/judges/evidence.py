"""What a judge may see of a run, and which pictures it gets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from replaykit.bundle.blobs import image_size
from replaykit.bundle.format import PIXMAP
from replaykit.errors import BundleError, JudgeError, ReplayError
from replaykit.grading.request import ImagePart
from replaykit.grading.values.text import fold, includes
from replaykit.replay.player import Replay
from replaykit.tasks.task import Task
from replaykit.trajectory.observation import Observation

IMAGES_MAX = 100
"""Pictures that one request may carry."""

Dedupe = Literal["consecutive", "none"]

_POLICY = re.compile(r"(?:(first\+last|last):([1-9][0-9]{0,8})|(all)|(none))")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_QUOTED = re.compile(r"[\"“”']([^\"“”'\n]{2,80})[\"“”']")


class Shot(Struct, frozen=True, kw_only=True):
    """One screenshot of a run."""

    id: str
    """Blob id: its identity everywhere."""
    step: int
    """Step it shows."""
    role: str
    """`start before after final`."""


class Selection(Struct, frozen=True, kw_only=True):
    """Which pictures are sent, in the order of the run."""

    sent: tuple[Shot, ...]
    """The pictures sent."""
    n_available: int
    """Pictures that the run has."""
    n_selected: int
    """Pictures that the policy asks for."""

    def report(self) -> dict[str, object]:
        """Return counts and identities for the judgement."""
        return {
            "n_available": self.n_available,
            "n_selected": self.n_selected,
            "n_sent": len(self.sent),
            "n_deduped": self.n_selected - len(self.sent),
            "n_unscored": 0,
            "n_dropped": 0,
            "sent": [{"step": shot.step, "digest": shot.id, "role": shot.role} for shot in self.sent],
        }


class ImagePolicy(Struct, frozen=True, kw_only=True):
    """Which pictures a judge gets."""

    first: bool = False
    """The first one besides."""
    last: int | None = None
    """So many of the last ones; None = all."""

    def select(self, shots: Sequence[Shot], dedupe: Dedupe) -> Selection:
        """Return the pictures to send; equal ones in a row are sent once if told so."""
        count = len(shots) if self.last is None else self.last
        chosen = [
            shot for at, shot in enumerate(shots) if at >= len(shots) - count or (self.first and at == 0)
        ]
        alike = [
            dedupe == "consecutive" and at > 0 and chosen[at - 1].id == s.id for at, s in enumerate(chosen)
        ]
        sent = tuple(shot for shot, is_repeated in zip(chosen, alike, strict=True) if not is_repeated)
        return Selection(sent=sent, n_available=len(shots), n_selected=len(chosen))


class JudgeEvidence(Struct, frozen=True, kw_only=True):
    """Everything that a judge may see."""

    task: str
    """The task in the user's words."""
    answer: str | None
    """The agent's answer; None = none was given."""
    images: tuple[ImagePart, ...]
    """Pictures sent, oldest first."""
    selection: Selection
    """How they were chosen."""
    grounding: tuple[dict[str, object], ...] = ()
    """Numbers and quotations of the answer, with the steps whose visible text holds them."""


def image_policy(text: str) -> ImagePolicy:
    """Read `last:k`, `first+last:k`, `all` or `none`; raise JudgeError for anything else."""
    found = _POLICY.fullmatch(text)
    if found is None:
        allowed = "last:k or first+last:k with an integer k from 1, all, or none"
        raise JudgeError(what=f"option images: {text!r} is not {allowed}")
    if found[4]:
        return ImagePolicy(last=0)
    return ImagePolicy(first=found[1] == "first+last", last=int(found[2]) if found[2] else None)


def gather(task: Task, replay: Replay, policy: ImagePolicy, dedupe: Dedupe) -> JudgeEvidence:
    """Return the evidence of a run. Reads the chosen pictures only, none where the policy is `none`.

    Raises BundleError where a picture is missing or damaged.
    """
    selection = policy.select(list(shots(replay)), dedupe)
    return JudgeEvidence(
        task=task.intent,
        answer=replay.answer,
        images=tuple(_image(replay, shot) for shot in selection.sent),
        selection=selection,
        grounding=tuple(grounding(replay)),
    )


def shots(replay: Replay) -> Iterator[Shot]:
    """Yield the screenshot of each step in order.

    Of a step that is the page acted on, and the last look at what followed. The end of the run stands
    in where its last step has no picture of what followed, and its start where no step has any.
    """
    trajectory = replay.trajectory
    found: list[Shot] = []
    for step in trajectory.steps:
        after = trajectory.after(step)
        found += [shot for seen in (step.before, after) for shot in _shot(seen, step.index)]
    if not found:
        found += [
            s for seen in trajectory.of_type(Observation) if seen.role == "start" for s in _shot(seen, 0)
        ]
    last = len(trajectory.steps) - 1
    if not any(shot.step == last and shot.role == "after" for shot in found):
        finals = [seen for seen in trajectory.of_type(Observation) if seen.role == "final"]
        found += [shot for seen in finals for shot in _shot(seen, max(0, last))]
    yield from found


def grounding(replay: Replay) -> Iterator[dict[str, object]]:
    """Yield the numbers and quotations of the answer with the steps where they were visible."""
    answer = replay.answer or ""
    quotes = [(match[1], "quote") for match in _QUOTED.finditer(answer)]
    numbers = [(match.group(), "number") for match in _NUMBER.finditer(answer)]
    spans = dict.fromkeys(numbers + quotes)
    texts = list(_texts(replay)) if spans else []
    for span, kind in spans:
        steps = {step for step, text in texts if includes(fold(span), text)}
        yield {"span": span, "kind": kind, "steps": sorted(steps)}


def _texts(replay: Replay) -> Iterator[tuple[int, str]]:
    last = max(0, len(replay.steps) - 1)
    for page in replay.pages:
        try:
            text = page.dom.text if page.dom is not None else None
        except (ReplayError, BundleError):
            continue  # nobody can say what this page showed, and grounding decides nothing
        if text is not None:
            yield page.step if page.step is not None else last * (page.role == "final"), fold(text)


def _shot(seen: Observation | None, step: int) -> Iterator[Shot]:
    if seen is not None and isinstance(seen.screenshot, str):
        yield Shot(id=seen.screenshot, step=step, role=seen.role)


def _image(replay: Replay, shot: Shot) -> ImagePart:
    own = replay.bundle.blob_type(shot.id)
    width, height = image_size(replay.bundle.blob(shot.id), own) or (0, 0)
    media_type = "image/png" if own == PIXMAP else own
    return ImagePart(sha256=shot.id, media_type=media_type, width=width, height=height, step=shot.step)
