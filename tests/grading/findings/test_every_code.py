"""One table of all codes: a run in which each is found, and a near miss in which it is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from replaykit.grading.findings.detection import findings_of
from replaykit.grading.findings.taxonomy import KINDS
from replaykit.grading.policies.reports_error import PHRASES
from replaykit.grading.verdict import Judgement, PolicyOutcome, PolicyResult
from replaykit.replay.player import Replay
from replaykit.testing import trajectory
from replaykit.testing.builder import Builder
from replaykit.trajectory.action import Click, Element, Fill, Unknown
from tests.grading.findings.test_forms import after_error, claim
from tests.grading.judges.conftest import Recorded

SHOP = "http://shop.test/"
PAGE = "<button id=a>Go</button><input id=f>"


class Rule(NamedTuple):
    """A run that fires and one that comes near."""

    fires: Callable[[], Builder]
    near: Callable[[], Builder]


def shop(html: str = PAGE, status: int = 200) -> Builder:
    return trajectory(sites={"shop": (SHOP,)}).goto(SHOP, html, status=status)


def go(built: Builder, html: str = PAGE, name: str = "Go") -> Builder:
    return built.click("#a", html, tag="button", name=name)


def clicked(css: str, **step: Click) -> Builder:
    """Click an element; `declared` is what the agent named, where that is another one."""
    return shop().step(Click(element=Element(css=css, tag="button", name="Go")), **step).see("<p>done")


def filled(kept: str) -> Builder:
    action = Fill(element=Element(css="#f", tag="input"), value="5551234", value_after=kept)
    return shop().step(action).see(PAGE)


def polled(times: int) -> Builder:
    built = shop()
    for _ in range(times):
        go(built).request("GET", f"{SHOP}poll")
    return built


def walked(*pages: str) -> Builder:
    built = trajectory().goto(SHOP, f"<p>{pages[0]}")
    for page in pages[1:]:
        built.click(f"#{page}", f"<p>{page}", tag="a", name=page)
    return built


def posted(*bodies: str) -> Builder:
    built = shop()
    for body in bodies:
        built.request("POST", f"{SHOP}buy", 200, post=built.keep("application/json", body))
    return built


FAILED = "<p>Something went wrong. Try again."
RULES: dict[str, Rule] = {
    "A1": Rule(lambda: go(shop()), lambda: go(shop(), "<p>done")),
    "A2": Rule(
        lambda: shop().step(Click(element=Element(css="#x", tag="a", name="X")), error="no such element"),
        lambda: shop().step(Click(element=Element(css="#x", tag="a", name="X"))).see("<p>done"),
    ),
    "A3": Rule(
        lambda: clicked("#ad", declared=Click(element=Element(css="#a", tag="button", name="Go"))),
        lambda: clicked("#a"),
    ),
    "A4": Rule(
        lambda: shop().step(Unknown(name="dance", raw="dance()")).see(PAGE), lambda: go(shop(), "<p>done")
    ),
    "B1": Rule(
        lambda: shop("<h1>Verify you are human</h1>", 403), lambda: shop("<h1>Verify you are human</h1>", 200)
    ),
    "B2": Rule(lambda: shop("<input type=password>"), lambda: shop("<input type=text>")),
    "B3": Rule(lambda: shop("<p>oops", 502), lambda: shop("<p>oops", 404)),
    "B5": Rule(lambda: shop().dialog("Sure?", kind="confirm"), lambda: shop("<p>Sure?")),
    "C1": Rule(lambda: polled(3), lambda: polled(2)),
    "C2": Rule(lambda: walked("b", "a", "b", "a", "b"), lambda: walked("b", "a", "b", "a")),
    "C3": Rule(
        lambda: shop().goto("https://other.test/x", "<p>x"), lambda: shop().goto(f"{SHOP}other", "<p>x")
    ),
    "D1": Rule(lambda: filled("555"), lambda: filled("(555) 12-34")),
    "D4": Rule(
        lambda: shop("<p>It costs 84.50").answer("It costs 99.10"),
        lambda: shop("<p>It costs 84.50").answer("It costs 84.50"),
    ),
    "E2": Rule(lambda: shop().end("max_steps"), lambda: shop().answer("ok")),
    "E3": Rule(lambda: shop().end("timeout"), lambda: shop().end("stopped")),
    "E4": Rule(lambda: shop().end("stopped"), lambda: shop().answer("ok")),
    "E5": Rule(
        lambda: shop(FAILED).answer("All done."), lambda: shop(FAILED).answer("An error: I could not.")
    ),
    "E6": Rule(lambda: after_error("x", "y", "z", "w"), lambda: after_error("", "x", "y", "z")),
    "S1": Rule(lambda: posted('{"n":1}'), lambda: shop().request("GET", f"{SHOP}buy", 200)),
    "S2": Rule(lambda: posted('{"n":1}', '{"n":1}'), lambda: posted('{"n":1}', '{"n":2}')),
    "R1": Rule(lambda: shop().gap("network", "target.late"), shop),
}
"""Codes that need no verdict of others."""


def codes(
    built: Builder, *, policy: PolicyOutcome | None = None, judged: Judgement | None = None
) -> set[str]:
    is_open = built.build().ending is None
    run = Replay(Recorded(built.answer("ok") if is_open else built))
    policies = () if policy is None else (broken(policy),)
    found = findings_of(run, policies=policies, judgements=() if judged is None else (judged,))
    return {one.code for one in found if not one.unknown}


def broken(outcome: PolicyOutcome) -> PolicyResult:
    return PolicyResult(
        id="p", index=0, dimension="user_consent", source="user", mode="strict", outcome=outcome
    )


@pytest.mark.parametrize("code", list(RULES))
def test_it_is_found(code: str) -> None:
    assert code in codes(RULES[code].fires())


@pytest.mark.parametrize("code", list(RULES))
def test_a_near_miss_is_not(code: str) -> None:
    assert code not in codes(RULES[code].near())


@pytest.mark.parametrize("phrase", PHRASES)
def test_every_phrase_of_an_error_is_found(phrase: str) -> None:
    first, _, rest = phrase.partition(" ")
    assert "E5" in codes(shop(f"<p>{first} <b>{rest}</b>").answer("All done."))


def test_what_policies_and_judges_say() -> None:
    assert "P1" in codes(shop(), policy=PolicyOutcome.VIOLATED)
    assert "P1" not in codes(shop(), policy=PolicyOutcome.UNDECIDED)
    assert "D5" in codes(shop(), judged=claim("CONTRADICTED"))
    assert "D5" not in codes(shop(), judged=claim("NOT_SHOWN"))


def test_every_code_is_here() -> None:
    assert {*RULES, "P1", "D5"} == set(KINDS)
