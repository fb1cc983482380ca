"""Random pages used by mouse, keys, drags and dialogs by an honest agent: every rule about it is decided, and as it was."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from replaykit.grading.grader import grade
from replaykit.recorder.recorder import Recorder
from tests.live.conftest import WAIT_S
from tests.thorough import one_in

if TYPE_CHECKING:
    from conftest import Site

pytestmark = pytest.mark.live

REPORT = "navigator.sendBeacon('/did/{w}')"
SHAPES = {
    "button": '<button id={i} accesskey={k} onclick="{t}">{w}</button>',
    "link": '<a href="#{w}" id={i} accesskey={k} onclick="{t}">{w}</a>',
    "made": '<div role=button tabindex=0 id={i} onclick="{t}" onkeydown="if (event.key === \'Enter\') this.click()">{w}</div>',
    "asks": '<button id={i} accesskey={k} onclick="if (confirm(\'Sure?\')) {{ {t} }}">{w}</button>',
    "says": '<button id={i} accesskey={k} onclick="alert(\'Done\'); {t}">{w}</button>',
    "moves on": '<button id={i} accesskey={k} onclick="{t}; history.pushState(0, 0, \'/p/{w}\')">{w}</button>',
    "twice": '<button id={i} onclick="{t}" ondblclick="this.remove()">{w}</button>',
    "saves": '<a id={i} href=/file download=file.txt onclick="{t}">{w}</a>',
    "sends": '<form onsubmit="{t}; return false"><input name=x aria-label="x{w}"><button id={i}>{w}</button></form>',
    "opens": "<details id={i}-d><summary id={i} onclick=\"{t}\">{w}</summary>more</details>",
    "prints": '<button id={i} onclick="{t}; print()">{w}</button>',
}  # fmt: skip
DRAGGED = "<div id={i} draggable=true ondragend=\"{t}\" style='width:90px'>{w}</div>"
MOVED = (
    "<div id={i} style='width:90px;touch-action:none' onpointerdown='this.setPointerCapture(event.pointerId)' "
    'onpointerup="{t}">{w}</div>'
)
PLACE = "<div id=place ondragover='event.preventDefault()' style='width:200px;height:60px'>Place</div>"
WORDS = ("Kalo", "Mirex", "Tundra", "Voss", "Quill", "Bramble", "Jasper", "Ferrin", "Oxide", "Plume")


class Part(NamedTuple):
    """A control, what it is, and its access key."""

    css: str
    word: str
    kind: str
    key: str


def parts(random: Random) -> list[Part]:
    """Return some controls."""
    words = random.sample(WORDS, random.randint(3, 7))
    kinds = [*SHAPES, "dragged", "moved"]
    return [Part(f"#t{at}", word, random.choice(kinds), "abcdefghij"[at]) for at, word in enumerate(words)]


def page_of(made: list[Part]) -> str:
    """Return a page with these controls, and a place to drag to."""
    shapes = {**SHAPES, "dragged": DRAGGED, "moved": MOVED}
    facts = [{"i": one.css[1:], "w": one.word, "k": one.key, "t": REPORT.format(w=one.word)} for one in made]
    rows = [f"<div>{shapes[one.kind].format(**fact)}</div>" for one, fact in zip(made, facts, strict=True)]
    return "\n".join(("<!doctype html><title>Desk</title>", *rows, PLACE))


class Agent:
    """Uses controls in random ways, and keeps what it did by kind and word."""

    def __init__(self, random: Random, page: Any) -> None:
        self.random = random
        self.page = page
        self.did: Counter[tuple[str, str]] = Counter()

    def use(self, one: Part) -> None:
        """Use a control in one of the ways that it has."""
        if not self.page.is_visible(one.css):
            return
        if one.kind in ("dragged", "moved"):
            self._drag(one)
            return
        ways = [self._click, self._click, self._hover, self._walk]
        ways += [self._twice] if one.kind in ("button", "twice", "made", "link") else []
        ways += [self._access] if "accesskey" in SHAPES[one.kind] else []
        self.random.choice(ways)(one)

    def _click(self, one: Part) -> None:
        self.did["press", one.word] += 1
        self.page.click(one.css, delay=self.random.choice((0, 0, 30)))

    def _twice(self, one: Part) -> None:
        self.did["press", one.word] += 1
        self.did["twice", one.word] += 1
        self.page.dblclick(one.css)

    def _hover(self, one: Part) -> None:
        self.page.hover(one.css)

    def _walk(self, one: Part) -> None:
        """Go to a control by Tab, in either direction, and press it."""
        key = self.random.choice(("Tab", "Tab", "Shift+Tab"))
        for _ in range(40):
            self.page.keyboard.press(key)
            if self.page.locator(f"{one.css}:focus").count():
                break
        else:
            return
        last = "Enter" if one.kind in ("link", "saves", "made") else self.random.choice(("Enter", "Space"))
        self.did["press", one.word] += 1
        self.page.keyboard.press(last)

    def _access(self, one: Part) -> None:
        self.did["access", one.word] += 1
        self.page.keyboard.press(f"Alt+{one.key}")

    def _drag(self, one: Part) -> None:
        self.did["drag", one.word] += 1
        if one.kind == "dragged" or self.random.random() < 0.5:
            self.page.drag_and_drop(one.css, "#place")
            return
        start, end = (self.page.locator(css).bounding_box() for css in (one.css, "#place"))
        self.page.mouse.move(start["x"] + 9, start["y"] + 9)
        self.page.mouse.down()
        self.page.mouse.move(end["x"] + 30, end["y"] + 30, steps=4)
        self.page.mouse.up()


def rules(made: list[Part], did: Counter[tuple[str, str]]) -> dict[str, tuple[dict[str, Any], bool]]:
    """Return rules by name, each with whether the agent kept it."""
    found: dict[str, tuple[dict[str, Any], bool]] = {}
    for one in made:
        times = {kind: did[kind, one.word] for kind in ("press", "twice", "drag", "access")}
        if not times["access"]:
            found |= _counted(f"press-{one.word}", {"action": "@activate", "text": one.word}, times["press"])
        found |= _counted(f"twice-{one.word}", {"action": "dblclick", "text": one.word}, times["twice"])
        found |= _counted(f"drag-{one.word}", {"action": "drag_and_drop", "text": one.word}, times["drag"])
    return found


def _counted(name: str, match: dict[str, Any], times: int) -> dict[str, tuple[dict[str, Any], bool]]:
    exact = {"type": "exactly", "zero": "violated", "match": match}
    return {
        f"never-{name}": ({"type": "never", "match": match}, times == 0),
        f"some-{name}": ({"type": "eventually", "match": match}, times > 0),
        f"exactly-{name}": ({**exact, "n": times or 1}, times > 0),
        f"more-{name}": ({**exact, "n": times + 1}, False),
        f"most-{name}": ({"type": "at_most", "n": times, "match": match}, True),
    }


def until_reported(page: Any, site: Site, made: list[Part], did: Counter[tuple[str, str]]) -> None:
    """Wait until the server was asked for what the agent did: a double click is two clicks, and an access key any."""
    words = [one.word for one in made if one.kind in SHAPES and not did["access", one.word]]
    clicks = {word: did["press", word] + did["twice", word] for word in words}
    deadline = monotonic() + WAIT_S
    while (asked := {word: site.asked.count(f"/did/{word}") for word in words}) != clicks:
        assert monotonic() < deadline, (asked, clicks)
        page.wait_for_timeout(20)


@pytest.mark.parametrize("seed", one_in(20, [22, *range(60)]))
def test_rules_agree_with_what_the_agent_did_by_mouse_and_keys(
    seed: int, page: Any, site: Site, tmp_path: Path
) -> None:
    random = Random(seed)
    made = parts(random)
    site.add("/file", "text", "text/plain")
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(site.add("/", page_of(made)))
    agent = Agent(random, page)
    with Recorder(tmp_path / "run.zst", task={"id": "t", "intent": "x"}, screenshots="off") as run:
        run.attach(page)
        for _ in range(random.randint(3, 8)):
            agent.use(random.choice(made))
            page.wait_for_timeout(random.choice((0, 0, 100)))
        until_reported(page, site, made, agent.did)
        run.answer("done")
    expected = rules(made, agent.did)
    rows = [{"id": name, "dimension": "user_consent", "rule": rule} for name, (rule, _) in expected.items()]
    verdict = grade(tmp_path / "run.zst", {"id": "t", "intent": "x", "policies": rows})
    outcomes = {policy.id: str(policy.outcome) for policy in verdict.policies}
    allowed = {True: ("OK", "DORMANT"), False: ("VIOLATED",)}
    wrong = {name: one for name, one in outcomes.items() if one not in allowed[expected[name][1]]}
    assert wrong == {}, (agent.did, made)
