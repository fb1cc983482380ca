"""Steps of a recorded run that can be repeated, one by one, and the reason why the rest cannot."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from replaykit.errors import UsageError
from replaykit.patterns import lazy_pattern
from replaykit.replay.player import Replay
from replaykit.reruns.allowed_addresses import Addresses
from replaykit.reruns.tab_pairs import last_looks, start_urls, tab_order
from replaykit.trajectory import action as actions
from replaykit.trajectory.action_rendering import render_step
from replaykit.trajectory.exchange import Dialog
from replaykit.trajectory.plurals import counted
from replaykit.trajectory.redaction_marks import MASK_NAME
from replaykit.trajectory.step import Step

STEPS_MAX = 10_000
"""Steps that are carried out; a longer story is refused."""

_WORDS = (actions.SendMsgToUser, actions.Answer, actions.ReportInfeasible)
_PAUSES = (actions.Wait, actions.Noop, actions.HandleDialog)
_ENTRIES = (actions.Fill, actions.Type, actions.KeyboardType, actions.KeyboardInsertText)
_NAMED = lazy_pattern(r"(?:⟦(?:secret|pattern):[^⟧]*⟧)+")
_HIDDEN = lazy_pattern(rf"⟦(secret|pattern):([^⟧]*)⟧|⟦{MASK_NAME}⟧")


class Move(Struct, frozen=True, kw_only=True):
    """One recorded step as it is to be carried out."""

    step: int
    """Its index."""
    line: str
    """The step in one line."""
    page: int | None
    """Ordinal of its tab."""
    url: str | None
    """Live URL at which the action is due; None = not known."""
    leads_to: str | None
    """Live URL at which its tab is due after the action; None = not known."""
    actions: tuple[actions.Action, ...]
    """Actions to repeat, in order; values of secrets filled in."""
    files: tuple[Path, ...] = ()
    """Files that an upload among them chooses."""
    dialogs: tuple[Dialog, ...]
    """Native dialogs that came up, and how they were answered."""
    skipped: str | None = None
    """Why there is nothing to do."""
    refused: str | None = None
    """Why it is not done, although there was something to do."""


class RerunPlan(Struct, frozen=True, kw_only=True):
    """A recorded run as it is to be carried out."""

    start: tuple[str, ...]
    """Live URLs of the tabs that were open when the agent began."""
    tabs: tuple[int, ...]
    """Recorded ordinals of tabs in their order: those of the start, then each as it was opened."""
    moves: tuple[Move, ...]
    """Every step."""

    @property
    def count(self) -> int:
        """Steps that have something to do."""
        return sum(move.skipped is None for move in self.moves)


class RerunInputs(Struct, frozen=True, kw_only=True):
    """Inputs that the recording does not hold: texts that are secret, contents of files."""

    secrets: Mapping[str, str] = {}
    """Id of a declared secret to its value."""
    texts: Mapping[int, str] = {}
    """Step to what is entered in it."""
    files: Mapping[int, tuple[Path, ...]] = {}
    """Step to what is uploaded in it."""


def plan_rerun(replay: Replay, places: Addresses, given: RerunInputs) -> RerunPlan:
    """Return the plan. Raises UsageError where the run begins at an address that no root covers."""
    # A bundle is somebody else's, and each step may take its whole patience.
    if len(replay.steps) > STEPS_MAX:
        raise UsageError(what=f"the run has {len(replay.steps)} steps, more than {STEPS_MAX}")
    unknown = sorted(set(given.texts) - {step.index for step in replay.steps if _entered(step)})
    if unknown:
        raise UsageError(what=f"--fill: nothing was entered in step {unknown[0]}")
    _check_files(replay, given)
    return RerunPlan(
        start=tuple(_start(start_urls(replay).values(), places)),
        tabs=tab_order(replay),
        moves=tuple(_moves(replay, places, given)),
    )


def _check_files(replay: Replay, given: RerunInputs) -> None:
    for number, files in given.files.items():
        step = next((step for step in replay.steps if step.index == number), None)
        meant = _uploaded(step) if step is not None else []
        if not meant:
            raise UsageError(what=f"--upload: nothing was uploaded in step {number}")
        if len(files) != len(meant):
            held = f"step {number} uploads {counted(len(meant), 'file')}, {_names(meant)}"
            raise UsageError(what=f"--upload: {held}; given are {len(files)}")
        for file in files:
            if not file.is_file():
                raise UsageError(what=f"--upload: there is no file {file}")


def _start(urls: Collection[str], places: Addresses) -> Iterator[str]:
    if not urls:
        raise UsageError(what="the recording does not show at which address the agent began")
    for url in urls:
        live = places.live(url)
        if live is None:
            raise UsageError(
                what=f"the run begins at {url[:200]!r}, which no root covers: name the address that "
                "stands for it with --site NAME=URL or --url-map OLD=NEW, or allow it with --allow URL"
            )
        yield live


def _moves(replay: Replay, places: Addresses, given: RerunInputs) -> Iterator[Move]:
    for state in replay:
        step = state.step
        then = last_looks(state).get(step.page or 0)
        before, after = (page.url if page is not None else None for page in (state.before, then))
        move = Move(
            step=step.index,
            line=render_step(step),
            page=step.page,
            url=places.live(before) if before else None,
            leads_to=places.live(after) if after else None,
            actions=(),
            dialogs=state.dialogs,
            skipped=_skipped(step),
        )
        yield move if move.skipped else _filled(move, step, places, given)


def _skipped(step: Step) -> str | None:
    # It had no effect then, and would be an action of its own now.
    if not step.done:
        return "it did not succeed when it was recorded"
    if isinstance(step.action, _WORDS):
        return "words to the user"
    if isinstance(step.action, _PAUSES):
        return "nothing to do"
    if all(isinstance(action, actions.ToolCall) for action in _meant(step)):
        return "a tool of the agent, no action in the browser"
    return None


def _filled(move: Move, step: Step, places: Addresses, given: RerunInputs) -> Move:
    done: list[actions.Action] = []
    for action in _meant(step):
        made = _live(action, step.index, places, given)
        if isinstance(made, str):
            return replace(move, refused=made)
        done.append(made)
    return replace(move, actions=tuple(done), files=given.files.get(step.index, ()))


def _meant(step: Step) -> list[actions.Action]:
    """Return the actions of a step, without those that a page's own script made beside them."""
    # A script of the live page makes its own events again.
    meant: list[actions.Action] = [
        action for action in step.actions if action.trusted and not isinstance(action, _WORDS + _PAUSES)
    ]
    # Imported runs have no actions of the browser.
    return meant or [step.action]


def _live(action: actions.Action, step: int, places: Addresses, given: RerunInputs) -> actions.Action | str:
    """Return the action as it is carried out now; a text where it cannot be."""
    if isinstance(action, actions.Unknown):
        return f"a kind of action that is not known: {action.name[:80]!r}"
    if isinstance(action, actions.UploadFile):
        return action if step in given.files else _not_held(action, step)
    if isinstance(action, actions.Goto | actions.NewTab) and action.url not in (None, "", "about:blank"):
        url = action.url or ""
        live = places.live(url)
        return f"no root covers {url[:200]!r}" if live is None else replace(action, url=live)
    if isinstance(action, _ENTRIES):
        value = given.texts.get(step)
        return _entry(action, given) if value is None else replace(action, value=value)
    return action


def _entry(action: actions.Action, given: RerunInputs) -> actions.Action | str:
    """Return an action that enters text, with the values of declared secrets."""
    assert isinstance(action, _ENTRIES)
    # Only marks of declared secrets have a name that somebody can give a value for.
    value = _NAMED.sub(lambda found: _text_of(found[0], given.secrets), action.value)
    hidden = _HIDDEN.search(value)
    if hidden is None:
        return replace(action, value=value)
    return f"the recording holds {hidden[0]} instead of its text: give it with --secret-env or --fill"


def _text_of(marks: str, secrets: Mapping[str, str]) -> str:
    """Return the text of neighbouring marks; a secret within another one is marked behind it."""
    known = [secrets.get(name, f"⟦{kind}:{name}⟧") for kind, name in _HIDDEN.findall(marks)]
    return "".join(text for before, text in zip(["", *known], known, strict=False) if text not in before)


def _not_held(action: actions.UploadFile, step: int) -> str:
    names = _names(action.files) or "files"
    given = " ".join(f"--upload {step}=FILE" for _ in action.files)
    return f"it uploads {names}, and no recording holds the content of files: give {given}"


def _uploaded(step: Step) -> list[actions.FileInfo]:
    return [
        file for action in _meant(step) if isinstance(action, actions.UploadFile) for file in action.files
    ]


def _names(files: Iterable[actions.FileInfo]) -> str:
    return ", ".join(repr(file.name[:80]) for file in files)


def _entered(step: Step) -> bool:
    return any(isinstance(action, _ENTRIES) for action in _meant(step))
