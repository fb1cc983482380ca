"""The content digest on real recordings: a run recorded twice, each time on a fresh shop on another port."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from fixtures.agents.careless import wrong_target
from fixtures.agents.good import good
from fixtures.agents.good_async import good as good_async
from fixtures.sites.shop.server import serve
from replaykit.bundle.blobs import class_of
from replaykit.bundle.reader import open_bundle
from replaykit.bundle.reduced_story import reduced_lines
from replaykit.bundle.verification import Verification, verify
from replaykit.recorder.agent_runs import record_agent
from replaykit.recorder.scripted_user import load_user
from replaykit.tasks.suite import load_suite
from replaykit.trajectory.action import SelectOption
from tests.thorough import one_in

pytestmark = [pytest.mark.live, pytest.mark.usefixtures("lent")]

ROOT = Path(__file__).parent.parent.parent
SUITE = ROOT / "fixtures" / "tasks" / "shop.yaml"
USERS = ROOT / "fixtures" / "tasks" / "users"


TRIES = 10


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Runs of good agents, by task: what several tests compare with is recorded once."""
    return {"": tmp_path_factory.mktemp("kept")}


def good_run(kept: dict[str, Path], task: str) -> Path:
    if task not in kept:
        kept[task] = kept[""] / f"{task}.zst"
        record(kept[task], task=task)
    return kept[task]


def record(
    path: Path, *, task: str, agent: Callable[..., Any] = good, user: str = "approves"
) -> Verification:
    """Record a run; again where the machine was too slow to look at a page within every action."""
    for _ in range(TRIES):
        with serve() as shop:
            record_agent(
                agent,
                load_suite(SUITE).task(task),
                path,
                sites={"shop": (shop.url,)},
                user=load_user(USERS / f"{user}.yaml"),
                force=True,
            )
        found = verify(path)
        assert found.findings == ()
        if not has_missed(path):
            return found
    pytest.fail(f"in {TRIES} recordings the recorder never had the time to look within every act")


def has_missed(path: Path) -> bool:
    """Whether a page showed an older look at an action of its own: it had no time for another one."""
    with open_bundle(path) as bundle:
        looked = [step for step in bundle.trajectory.steps if step.seq and step.before]
        # Choosing an option sends no event before the change: nobody can look within it.
        able = [step.before for step in looked if not isinstance(step.action, SelectOption)]
        return any(before.stale and before.stale.mutations for before in able)


ADDRESS = rb"127.0.0.1:\d+"
READY = rb'"ready":"\w+"'
BLOB_ID = rb'"([0-9a-f]{64})"'


def reduced(path: Path) -> list[bytes]:
    """Return the reduced story without addresses and blob ids, which hold the port."""
    with open_bundle(path) as bundle:
        lines = reduced_lines(bundle.header, bundle.trajectory.events)
    return [re.sub(ADDRESS + b"|" + BLOB_ID, b"", line) for line in lines]


def shown(path: Path) -> list[list[bytes]]:
    """Return every text that the reduced story names, in its order, without what is chance, in small parts."""
    with open_bundle(path) as bundle:
        lines = reduced_lines(bundle.header, bundle.trajectory.events)
        ids = [found.decode() for line in lines for found in re.findall(BLOB_ID, line)]
        texts = [bundle.blob(id) for id in ids if class_of(bundle.blob_type(id)) not in ("opaque", "pixels")]
    return [re.split(rb"[\n,]", re.sub(ADDRESS + b"|" + READY, b"", text)) for text in texts]


@pytest.mark.parametrize("task", one_in(4, ["order-total", "stock-check", "refund-order", "close-account"]))
def test_a_run_recorded_twice_has_one_content(task: str, kept: dict[str, Path], tmp_path: Path) -> None:
    again = tmp_path / "again.zst"
    first, second = verify(good_run(kept, task)), record(again, task=task)
    assert first.digest != second.digest
    # Each shows more than a digest where they differ.
    assert reduced(kept[task]) == reduced(again)
    for one, other in zip(shown(kept[task]), shown(again), strict=True):
        assert one == other
    assert first.content_digest == second.content_digest != ""


@pytest.mark.thorough
def test_whoever_drives_the_browser_the_content_is_the_same(kept: dict[str, Path], tmp_path: Path) -> None:
    sync = verify(good_run(kept, "refund-order"))
    with ThreadPoolExecutor(1) as apart:  # where no sync driver owns the event loop
        work = apart.submit(record, tmp_path / "async.zst", task="refund-order", agent=good_async)
        assert sync.content_digest == work.result().content_digest


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


def test_one_changed_answer_is_another_content(kept: dict[str, Path], tmp_path: Path) -> None:
    rounded = record(tmp_path / "rounded.zst", task="order-total", agent=rounds_its_answer)
    stories = [reduced(path) for path in (good_run(kept, "order-total"), tmp_path / "rounded.zst")]
    assert [line.replace(b"84.50", b"85") if b'"answer"' in line else line for line in stories[0]] == stories[
        1
    ]
    assert verify(kept["order-total"]).content_digest != rounded.content_digest


@pytest.mark.thorough  # another answer is one, above
def test_another_action_or_reply_is_another_content(kept: dict[str, Path], tmp_path: Path) -> None:
    acted = record(tmp_path / "acted.zst", task="refund-order", agent=wrong_target)
    recorded = record(tmp_path / "replied.zst", task="refund-order", user="refuses")
    found = [verify(good_run(kept, "refund-order")), acted, recorded]
    assert len({one.content_digest for one in found}) == len(found)
