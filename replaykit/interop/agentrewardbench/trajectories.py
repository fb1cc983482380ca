"""Trajectories of AgentRewardBench (arXiv 2504.08942): one JSON file a run, images in a tree beside it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from replaykit.interop.agentrewardbench.arb_judgements import add_judgements
from replaykit.interop.browsergym.gym_endings import GymEnding, came_back, ending_of
from replaykit.interop.browsergym.gym_steps import Seen, add_seen, add_turn
from replaykit.interop.folder_search import json_files
from replaykit.interop.imported_run import Run
from replaykit.interop.registry import Candidate, Importer, letters
from replaykit.trajectory.exchange import Imported
from replaykit.trajectory.step import AgentInfo

OWN = frozenset({"benchmark", "agent", "goal", "steps", "valid"})
"""Keys that mark the layout."""

LEFT_OUT = (".resized", ".improved")
"""Ends of task ids that distinguish variants of one task."""


class ArbStep(Struct, kw_only=True):
    """One step: the page before its action; the last one has none."""

    num: int
    action: str | None = None
    reasoning: str | None = None
    screenshot_path: str | None = None
    url: str | None = None
    open_pages_urls: list[str] | None = None
    last_action_error: str | None = None
    axtree: str | None = None


class TrajectoryFile(Struct, kw_only=True):
    """A trajectory file."""

    benchmark: str
    agent: str
    goal: str
    steps: list[ArbStep]
    valid: bool = True
    model: str | None = None
    experiment: str | None = None
    seed: int | None = None
    summary_info: dict[str, Any] | None = None


def read(run: Run, candidate: Candidate) -> None:
    """Read one trajectory file."""
    plain = run.source.convert(run.source.json(candidate.file), dict[str, Any], candidate.file)
    found = run.converted(plain, TrajectoryFile, candidate.file)
    run.extra["summary_info"] = found.summary_info
    id = Path(candidate.file).stem
    for end in LEFT_OUT:
        id = id.removesuffix(end)
    run.task(id, intent=found.goal, metadata={"benchmark": found.benchmark})
    run.header["agent"] = AgentInfo(name=found.agent, model=found.model)
    run.extra.update(experiment=found.experiment, seed=found.seed)
    seen, summary = [_seen(entry) for entry in found.steps], found.summary_info or {}
    for at, entry in enumerate(found.steps):
        if entry.action is not None:
            # The layout notes an error with the step that follows it.
            after = _error_after(found.steps, at)
            is_reported = at + 1 < len(found.steps) or came_back(entry.num, summary)
            add_turn(
                run, at, entry.action, seen[at],
                thought=entry.reasoning, error=after or None, is_reported=is_reported,
            )  # fmt: skip
        else:
            add_seen(run, seen[at], "final" if at == len(found.steps) - 1 else "unaligned")
    _label(run, found, candidate.file)
    if run.options.judgements is not None:
        stem = Path(candidate.file).stem
        add_judgements(run, run.options.judgements, found.benchmark, found.agent, stem, found.goal)
    run.origin["alignment"] = "exact"
    run.fills(actions="recorded", targets="partial", thoughts="recorded", urls="partial")
    run.fills(
        screenshots=_state(run, [entry.screenshot_path for entry in found.steps]),
        a11y="recorded" if all(entry.axtree for entry in found.steps) else "partial",
    )
    answer = run.last_message()
    is_whole = _is_whole(found.steps, summary)
    if not is_whole:
        run.warn(f"{candidate.file}: steps are missing: the actions there are unknown")
        run.fills(actions="partial")
        answer = None  # the last message may hold another answer
    kind, error = _ending(summary, answer, is_whole=is_whole)
    run.end(kind, answer=answer, error=error, validity="valid" if found.valid else "other")


def _error_after(steps: list[ArbStep], at: int) -> str | None:
    """Return the error of an action; None if the step that would note it is missing."""
    later = steps[at + 1] if at + 1 < len(steps) else None
    return later.last_action_error if later is not None and later.num == steps[at].num + 1 else None


def _ending(summary: dict[str, Any], answer: str | None, *, is_whole: bool) -> GymEnding:
    """Return how a run ended: the summary knows, unless the file holds less than the run."""
    is_stated = is_whole and ("terminated" in summary or "truncated" in summary)
    return ending_of(summary, answer) if is_stated else GymEnding("unknown" if answer is None else "answered")


def _is_whole(steps: list[ArbStep], summary: dict[str, Any]) -> bool:
    """Whether all steps are there: the script that writes the file ends where the screenshots do."""
    numbers = [entry.num for entry in steps]
    count = summary.get("n_steps")
    is_counted = not isinstance(count, int) or not numbers or numbers[-1] >= count
    return numbers == list(range(len(numbers))) and is_counted


def _seen(entry: ArbStep) -> Seen:
    return Seen(
        url=entry.url, urls=tuple(entry.open_pages_urls or ()), shot=entry.screenshot_path, tree=entry.axtree
    )


def _state(run: Run, paths: list[str | None]) -> str:
    named = [path for path in paths if path]
    if not run.image_count:
        return "absent"
    return "recorded" if run.image_count == len(named) == len(paths) else "partial"


def _label(run: Run, found: TrajectoryFile, file: str) -> None:
    reward = (found.summary_info or {}).get("cum_reward")
    if isinstance(reward, int | float):
        run.add(Imported(kind="reward", name=found.benchmark, value=reward, file=file))


def _is_one(plain: Any) -> bool:
    return isinstance(plain, dict) and plain.keys() >= OWN


def find(path: Path) -> Iterator[Candidate]:
    """Yield the trajectory files under a path."""
    for file in json_files(path, _is_one, b'"benchmark"', b'"agent"'):
        yield Candidate(name=file.stem, root=file.parent, file=file.name)


IMPORTER = Importer(
    name="agentrewardbench",
    reads="AgentRewardBench trajectories",
    looks_for="*.json with benchmark, agent, goal, steps, valid",
    channels=letters("R task answer actions thoughts a11y; P targets urls; o screenshots"),
    find=find,
    read=read,
    options=("shots", "judgements", "actions"),
)
"""Reads the layout; images need `--shots`."""
