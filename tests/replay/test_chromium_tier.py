"""The Chromium tier of one run, with a browser that gives prepared answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from replaykit.bundle.reader import open_bundle
from replaykit.errors import NoBrowser, ReplayError, Unsupported
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.grader import case_of, grade
from replaykit.grading.workers.worker import grader_digest
from replaykit.replay.offline_page import chromium_reader as tier
from replaykit.replay.offline_page.chromium import Chromium
from replaykit.replay.offline_page.chromium_reader import FAILED, NO_BROWSER, ChromiumReader
from replaykit.replay.offline_page.page_payload import Blueprint
from replaykit.replay.offline_page.page_question import PageQuestion
from replaykit.replay.page_reader import chromium_reader_for, version_of
from replaykit.replay.player import Replay
from replaykit.tasks.checks import Expect, PageCheck
from replaykit.tasks.task import Task
from replaykit.testing import trajectory
from replaykit.trajectory.observation import Read

LOCATOR = "document.images.length"
MASKED = """<input id="p" value="⟦masked⟧" data-live='{"masked": true}'>"""


class FakePage:
    def __init__(self, plan: Blueprint, log: list[str]) -> None:
        self.plan = plan
        self.log = log

    def read(self, wanted: PageQuestion) -> Read:
        self.log.append("read")
        if wanted.locator == "length":
            return Read(locator=wanted.locator, kind="number", value=len(self.plan.tokens))
        return Read(locator=wanted.locator, kind="string", value="seen")

    def close(self) -> None:
        self.log.append("close")


class FakeChromium(Chromium):
    """Says what it was asked; no browser is started."""

    version = "Chrome/1.2.3"

    def __init__(self) -> None:
        self.log: list[str] = []

    def open(self, plan: Blueprint) -> Any:
        self.log.append("open")
        return FakePage(plan, self.log)


def run(tmp_path: Path, html: str = "<p>x</p>") -> Path:
    made = trajectory().goto("http://shop.test/", html).final(html).answer("x")
    return made.write(tmp_path / "run.zst")


def fail(error: Exception) -> Any:
    def start() -> Any:
        raise error

    return start


def test_a_page_is_built_once_and_closed_at_the_end(tmp_path: Path) -> None:
    chromium = FakeChromium()
    with open_bundle(run(tmp_path)) as bundle:
        replay = Replay(bundle)
        assert replay.final is not None
        with ChromiumReader(replay, chromium) as chromium_reader:
            chromium_reader.read(replay.final, PageQuestion(locator="a"))
            chromium_reader.read(replay.final, PageQuestion(locator="b"))
            assert chromium_reader.version == "Chrome/1.2.3"
    assert chromium.log == ["open", "read", "read", "close"]


def test_what_changes_with_masked_words_is_no_answer(tmp_path: Path) -> None:
    with open_bundle(run(tmp_path, MASKED)) as bundle:
        replay = Replay(bundle)
        assert replay.final is not None
        with ChromiumReader(replay, FakeChromium()) as chromium_reader:
            assert chromium_reader.read(replay.final, PageQuestion(locator="text")).value == "seen"
            with pytest.raises(Unsupported, match="masked or cut"):
                chromium_reader.read(replay.final, PageQuestion(locator="length"))


@pytest.mark.parametrize(
    ("error", "reason"),
    [(NoBrowser(tried="/secret/path"), NO_BROWSER), (ReplayError(what="crash"), FAILED)],
)
def test_without_a_browser_nothing_is_guessed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, reason: str
) -> None:
    monkeypatch.setattr(tier, "shared", fail(error))
    task = Task(
        id="t", intent="i", checks=(PageCheck(url="last", locator=LOCATOR, expect=Expect(equals="0")),)
    )
    with open_bundle(run(tmp_path)) as bundle:
        result = grade(bundle, task, options=GradeOptions(replay="auto")).checks[0]
    assert (result.outcome.value, result.missing) == ("UNDECIDED", (f"probe:{LOCATOR}",))
    assert (result.evidence[0].note, result.evidence[0].tier) == (reason, "static")


def test_a_page_that_ends_the_browser_is_tried_once(tmp_path: Path) -> None:
    tried: list[Blueprint] = []

    class Fragile(FakeChromium):
        def open(self, plan: Blueprint) -> Any:
            tried.append(plan)
            raise ReplayError(what="no answer")

    with open_bundle(run(tmp_path)) as bundle:
        replay = Replay(bundle)
        assert replay.final is not None
        with ChromiumReader(replay, Fragile()) as chromium_reader:
            for _ in range(2):
                with pytest.raises(Unsupported, match=FAILED):
                    chromium_reader.read(replay.final, PageQuestion(locator="a"))
    assert len(tried) == 1


def test_static_starts_no_browser_and_names_the_option(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tier, "shared", fail(AssertionError("a browser was started")))
    task = Task(
        id="t", intent="i", checks=(PageCheck(url="last", locator=LOCATOR, expect=Expect(equals="0")),)
    )
    with open_bundle(run(tmp_path)) as bundle:
        result = grade(bundle, task).checks[0]
        with chromium_reader_for(Replay(bundle), "static") as nobody:
            assert nobody is None
    assert (result.outcome.value, result.evidence[0].note) == ("UNDECIDED", "--replay auto")
    assert version_of("static") is None


def test_tier_and_browser_are_part_of_what_a_verdict_depends_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digests = set()
    with open_bundle(run(tmp_path)) as bundle:
        digests.add(grader_digest(case_of(bundle, GradeOptions())))
        for version in ("Chrome/1", "Chrome/2"):
            browser = FakeChromium()
            browser.version = version
            monkeypatch.setattr(tier, "shared", lambda browser=browser: browser)
            digests.add(grader_digest(case_of(bundle, GradeOptions(replay="auto"))))
            digests.add(grader_digest(case_of(bundle, GradeOptions(replay="chromium"))))
        monkeypatch.setattr(tier, "shared", fail(NoBrowser(tried="none")))
        digests.add(grader_digest(case_of(bundle, GradeOptions(replay="auto"))))
        assert digests.isdisjoint({None})
        assert grader_digest(case_of(bundle, GradeOptions())) in digests
    assert len(digests) == 6
