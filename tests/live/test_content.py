"""The content digest on real recordings: a run recorded twice, each time on a fresh shop on another port."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fixtures.agents.careless import wrong_target
from fixtures.agents.good import good
from fixtures.agents.good_async import good as good_async
from fixtures.sites.shop.server import serve
from replaykit.bundle.reader import open_bundle
from replaykit.bundle.reduction import reduced_lines
from replaykit.bundle.verification import Verification, verify
from replaykit.recorder.running import BrowserChoice, record_agent
from replaykit.recorder.user import load_user
from replaykit.tasks.suite import load_suite
from replaykit.trajectory.action import SelectOption

pytestmark = pytest.mark.live

ROOT = Path(__file__).parent.parent.parent
SUITE = ROOT / "fixtures" / "tasks" / "shop.yaml"
USERS = ROOT / "fixtures" / "tasks" / "users"


TRIES = 10


def record(
    path: Path, browser_path: Path, *, task: str, agent: Callable[..., Any] = good, user: str = "approves"
) -> Verification:
    """Record a run; again where the machine was too slow to look at a page within every act."""
    for _ in range(TRIES):
        with serve() as shop:
            record_agent(
                agent,
                load_suite(SUITE).task(task),
                path,
                sites={"shop": (shop.url,)},
                user=load_user(USERS / f"{user}.yaml"),
                browser=BrowserChoice(path=str(browser_path)),
                force=True,
            )
        found = verify(path)
        assert found.findings == ()
        if not has_missed(path):
            return found
    pytest.fail(f"in {TRIES} recordings the recorder never had the time to look within every act")


def has_missed(path: Path) -> bool:
    """Whether a page showed an older look at an act of its own: it had no time for another one."""
    with open_bundle(path) as bundle:
        looked = [step for step in bundle.trajectory.steps if step.seq and step.before]
        # Choosing an option sends no event before the change: nobody can look within it.
        able = [step.before for step in looked if not isinstance(step.action, SelectOption)]
        return any(before.stale and before.stale.mutations for before in able)


def reduced(path: Path) -> list[bytes]:
    """Return the reduced story without addresses and blob ids, which hold the port."""
    with open_bundle(path) as bundle:
        lines = reduced_lines(bundle.header, bundle.trajectory.events)
    return [re.sub(rb'127.0.0.1:\d+|"[0-9a-f]{64}"', b"", line) for line in lines]


@pytest.mark.parametrize("task", ["order-total", "refund-order", "stock-check", "close-account"])
def test_a_run_recorded_twice_has_one_content(task: str, browser_path: Path, tmp_path: Path) -> None:
    first, second = (record(tmp_path / f"{n}.zst", browser_path, task=task) for n in range(2))
    assert first.digest != second.digest
    assert reduced(tmp_path / "0.zst") == reduced(tmp_path / "1.zst")  # tells more where they differ
    assert first.content_digest == second.content_digest != ""


def test_whoever_drives_the_browser_the_content_is_the_same(browser_path: Path, tmp_path: Path) -> None:
    found = [
        record(tmp_path / f"{n}.zst", browser_path, task="refund-order", agent=agent)
        for n, agent in enumerate((good, good_async))
    ]
    assert found[0].content_digest == found[1].content_digest


class _Rounded:
    """A run whose last answer is another; all else goes through."""

    def __init__(self, run: Any) -> None:
        self._run = run

    def __getattr__(self, name: str) -> Any:
        return getattr(self._run, name)

    def answer(self, text: str) -> None:
        self._run.answer(text.replace("84.50", "85"))


def rounds_its_answer(page: Any, task: Any, run: Any) -> None:
    good(page, task, _Rounded(run))


def test_one_changed_answer_is_another_content(browser_path: Path, tmp_path: Path) -> None:
    agents = {"good": good, "rounded": rounds_its_answer}
    found = {
        name: record(tmp_path / f"{name}.zst", browser_path, task="order-total", agent=agent)
        for name, agent in agents.items()
    }
    stories = [reduced(tmp_path / f"{name}.zst") for name in agents]
    assert [line.replace(b"84.50", b"85") if b'"answer"' in line else line for line in stories[0]] == stories[
        1
    ]
    assert found["good"].content_digest != found["rounded"].content_digest


def test_another_act_or_reply_is_another_content(browser_path: Path, tmp_path: Path) -> None:
    cases: dict[str, dict[str, Any]] = {
        "good": {},
        "acted otherwise": {"agent": wrong_target},
        "told otherwise": {"user": "refuses"},
    }
    found = {
        name: record(tmp_path / f"{name}.zst", browser_path, task="refund-order", **how)
        for name, how in cases.items()
    }
    assert len({one.content_digest for one in found.values()}) == len(found)
