"""Which screenshots of a run a judge gets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from replaykit.errors import JudgeError
from replaykit.patterns import lazy_pattern
from replaykit.replay.player import Replay
from replaykit.trajectory.action_history import is_own
from replaykit.trajectory.observation import Observation

Dedupe = Literal["consecutive", "none"]
"""Whether equal screenshots in a row are sent once."""

Shots = Literal["steps", "all", "files"]
"""One look a step, every look, or the files of an imported run."""

_POLICY = lazy_pattern(r"(?:(first\+last|last):([1-9][0-9]{0,8})|(all)|(none)|scored>=([1-5]))")


class RunScreenshot(Struct, frozen=True, kw_only=True):
    """One screenshot of a run."""

    id: str
    """Blob id: its identity everywhere."""
    step: int
    """Step it shows."""
    role: str
    """`start before after final`."""


class Selection(Struct, frozen=True, kw_only=True):
    """Which screenshots are sent, in the order of the run."""

    sent: tuple[RunScreenshot, ...]
    """The screenshots sent."""
    n_available: int
    """Screenshots that the run has."""
    n_selected: int
    """Screenshots that the policy asks for."""
    n_forged: int = 0
    """Screenshots left out because the agent had a hand in their pages."""

    def report(self) -> dict[str, object]:
        """Return counts and identities for the judgement."""
        forged = {"n_forged": self.n_forged} if self.n_forged else {}
        return {
            **forged,
            "n_available": self.n_available,
            "n_selected": self.n_selected,
            "n_sent": len(self.sent),
            "n_deduped": self.n_selected - len(self.sent),
            "n_unscored": 0,
            "n_dropped": 0,
            "sent": [{"step": shot.step, "digest": shot.id, "role": shot.role} for shot in self.sent],
        }


class ImagePolicy(Struct, frozen=True, kw_only=True):
    """Which screenshots a judge gets."""

    first: bool = False
    """Also the first one."""
    last: int | None = None
    """So many of the last ones; None = all."""
    scored: int | None = None
    """Least score of a screenshot that the verdict is given on; None = no screenshot is scored."""
    among: int | None = None
    """Of so many of the first ones; None = of all."""

    def select(self, shots: Sequence[RunScreenshot], dedupe: Dedupe) -> Selection:
        """Return the screenshots to send; equal ones in a row are sent once if `dedupe` asks for it."""
        n_available, shots = len(shots), shots[: self.among]
        count = len(shots) if self.last is None else self.last
        chosen = [
            shot for at, shot in enumerate(shots) if at >= len(shots) - count or (self.first and at == 0)
        ]
        alike = [
            dedupe == "consecutive" and at > 0 and chosen[at - 1].id == s.id for at, s in enumerate(chosen)
        ]
        sent = tuple(shot for shot, is_repeated in zip(chosen, alike, strict=True) if not is_repeated)
        return Selection(sent=sent, n_available=n_available, n_selected=len(chosen))


def image_policy(text: str) -> ImagePolicy:
    """Read `last:k`, `first+last:k`, `all`, `none` or `scored>=t`; raise JudgeError for anything else."""
    found = _POLICY.fullmatch(text)
    if found is None:
        allowed = "last:k or first+last:k with an integer k from 1, all, none, or scored>=t with t 1 to 5"
        raise JudgeError(what=f"option images: {text!r} is not {allowed}")
    if found[4]:
        return ImagePolicy(last=0)
    return ImagePolicy(
        first=found[1] == "first+last",
        last=int(found[2]) if found[2] else None,
        scored=int(found[5]) if found[5] else None,
    )


def shots(replay: Replay) -> Iterator[RunScreenshot]:
    """Yield the screenshot of each step in order.

    Of a step that is the page acted on, and the last look at what followed. The end of the run stands
    in where its last step has no screenshot of what followed, and its start where no step has any.
    """
    trajectory = replay.trajectory
    found: list[RunScreenshot] = []
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


def all_shots(replay: Replay) -> Iterator[RunScreenshot]:
    """Yield the screenshot of every look at a page of the agent, in the order of the story."""
    last = max(0, len(replay.steps) - 1)
    for page in replay.pages:
        if isinstance(page.seen, Observation):
            step = page.step if page.step is not None else last * (page.role == "final")
            yield from _shot(page.seen, step)


def filed_shots(replay: Replay) -> Iterator[RunScreenshot]:
    """Yield every screenshot of an imported run, in the order of its files, whatever their number.

    Of a run of another layout than Online-Mind2Web's, the screenshot of each step.
    """
    if not is_own(replay.trajectory):
        yield from shots(replay)
        return
    last = max(0, len(replay.steps) - 1)
    for seen in replay.trajectory.of_type(Observation):
        yield from _shot(seen, seen.of if seen.of is not None else last * (seen.role != "start"))


def _shot(seen: Observation | None, step: int) -> Iterator[RunScreenshot]:
    if seen is not None and isinstance(seen.screenshot, str):
        yield RunScreenshot(id=seen.screenshot, step=step, role=seen.role)
