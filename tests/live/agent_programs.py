"""The shop task that agents of every make do: what its recording must hold, its verdict, and helpers for agents."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import TypeVar

import pytest
from playwright.sync_api import Error

from replaykit.bundle.reader import open_bundle
from replaykit.bundle.verification import verify
from replaykit.errors import BundleError
from replaykit.grading.grader import grade
from replaykit.tasks.suite import load_suite
from replaykit.trajectory.action import Action, Fill, Press, SelectOption, Type, tag_of
from replaykit.trajectory.exchange import Gap
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.step import Step, Trajectory
from tests.needed import missing

DRIVERS = Path(__file__).parent / "drivers"
TASK = load_suite(DRIVERS / "shop_task.yaml").task("shop-task")
ANSWER = "€33.00"
WAIT_S = 60.0
"""Patience; the shop task takes about two seconds."""

LIMIT_S = 280.0
"""When an agent is ended that hangs. It is no condition of a test: the slowest machine needs a minute."""

ActionBase = tuple[str, str, str, str]
"""Tag, role and name of the element, value."""

SHOP_TASK: list[ActionBase] = [
    ("click", "link", "Orders", ""),
    ("type", "searchbox", "Search", "Ines"),
    ("press", "searchbox", "Search", "Enter"),
    ("click", "link", "1010", ""),
    ("click", "link", "Settings", ""),
    ("fill", "textbox", "Contact email", "desk@harbour.test"),
    ("select_option", "combobox", "Language", "fi Suomi"),
    ("check", "checkbox", "Send the weekly digest", ""),
    ("click", "button", "Save settings", ""),
]
"""Actions of every client."""

CRASHES = 12
"""Every other time Playwright's own driver dies of the crash of a frame: then it is made again with another one."""

T = TypeVar("T")


def _value(action: Action) -> str:
    match action:
        case Fill() | Type():
            return action.value
        case Press():
            return action.key
        case SelectOption():
            return " ".join((*action.values, *action.labels))
    return ""


def action_of(step: Step) -> ActionBase:
    """Return what a step does."""
    element = step.action.element
    assert element is not None, step
    return tag_of(step.action), element.role or "", element.name or "", _value(step.action)


def held(path: Path) -> Trajectory:
    """Return what a whole bundle holds."""
    assert verify(path).findings == ()
    with open_bundle(path) as bundle:
        assert bundle.layout == "sealed"
        return bundle.trajectory


def prove(path: Path, said: list[ActionBase] = SHOP_TASK, origin: str = "observed") -> Trajectory:
    """Raise AssertionError unless the bundle holds these actions, all of them whole, and is graded as it was done."""
    run = held(path)
    assert [action_of(step) for step in run.steps] == said
    assert all(step.action.completed and step.origin == origin for step in run.steps)
    assert all(step.before is not None and step.before.snapshot for step in run.steps)
    assert run.of_type(Gap) == ()
    with open_bundle(path) as bundle:
        verdict = grade(bundle)
    assert [(check.outcome, check.reason) for check in verdict.checks] == [("PASS", None)] * 5
    assert [policy.outcome for policy in verdict.policies] == ["OK", "OK"]
    assert (verdict.success, verdict.cup) == ("PASS", 1)
    return run


def saved(state: dict[str, object]) -> None:
    """Raise AssertionError unless the shop's own state says that the shop task is done."""
    settings = state["settings"]
    assert isinstance(settings, dict)
    assert (settings["contact_email"], settings["language"]) == ("desk@harbour.test", "fi")
    assert settings["weekly_digest"] is True


def until_begun(out: Path, url: str | None = None) -> None:
    """Wait until a journal holds the first look at a page, or at the page of that URL."""
    deadline = monotonic() + WAIT_S
    while monotonic() < deadline:
        with suppress(OSError, BundleError), open_bundle(out) as journal:
            if any(url in (None, look.url) for look in journal.trajectory.of_type(Observation)):
                return
        sleep(0.02)
    raise AssertionError("the recording did not begin")


def apart(work: Callable[[], T]) -> T:
    """Run where no sync driver owns the event loop."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


def outlived(crash: Callable[[], T]) -> T:
    """Return what comes of a crash in a browser and a driver of its own, once the driver outlives it."""
    for _ in range(CRASHES):
        try:
            return apart(crash)
        except Error as error:
            if "closed" not in str(error):
                raise
    pytest.fail(f"Playwright's driver died {CRASHES} times")


def needs(*programs: str, package: str = "") -> None:
    """Skip the test where a program, or a package from npm, is missing; fail it in CI."""
    absent = [name for name in programs if shutil.which(name) is None]
    if package and not (DRIVERS / "node_modules" / package).is_dir():
        absent.append(package)
    if absent:
        missing(f"{', '.join(absent)}: not installed; sh .ci/setup installs it")
