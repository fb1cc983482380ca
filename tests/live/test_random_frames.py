"""Random pages with frames in frames and popups, an honest agent in several tabs, and rules about all that it did."""

from __future__ import annotations

import json
from html import escape
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

WORDS = [f"{first}{last}" for first in ("Kal", "Mir", "Tun", "Vos", "Qui", "Bra") for last in "abcdefghij"]
TEXTS = ("alpha", "beta", "31415", "gamma")
SHAPES = {
    "press": ("<button id={i}>{w}</button>", "<a href='#z' id={i}>{w}</a>", "<div role=button tabindex=0 id={i}>{w}</div>"),
    "field": ("<label>{w} <input id={i}></label>", "<input id={i} aria-label={w}>", "<label>{w}<textarea id={i}></textarea></label>"),
}  # fmt: skip
PLACE = "style='width:300px;height:120px'"
FRAMES = ("same", "other", "text", "written", "object", "blob", "sandbox")
POPUPS = {
    "window": "<button id=pop onclick=\"window.open('{url}')\">pop</button>",
    "small": "<button id=pop onclick=\"window.open('{url}', '', 'width=400,height=400')\">pop</button>",
    "stranger": "<button id=pop onclick=\"window.open('{url}', '', 'noopener')\">pop</button>",
    "link": "<a id=pop target=_blank href='{url}'>pop</a>",
    "kin": "<a id=pop target=_blank rel=opener href='{url}'>pop</a>",
}


class Part(NamedTuple):
    """A control somewhere on a page."""

    css: str
    word: str
    kind: str


class Sheet(NamedTuple):
    """A page that has an address, and all controls in it and in its frames."""

    path: str
    parts: list[Part]


class Record(NamedTuple):
    """One thing that the agent did: `press`, `field`, `visit`, `reload` or `close`."""

    kind: str
    word: str
    value: str = ""


class Maker:
    """Makes pages of random parts for a site."""

    def __init__(self, random: Random, site: Site) -> None:
        self.random = random
        self.site = site
        self.words = random.sample(WORDS, len(WORDS))
        self._count = 0

    def name(self) -> str:
        """Return an id that nothing has yet."""
        self._count += 1
        return f"n{self._count}"

    def body(self, depth: int) -> tuple[str, list[Part]]:
        """Return controls, and frames around others."""
        parts = [self._part() for _ in range(self.random.randint(1, 2))]
        rows = [self.random.choice(SHAPES[one.kind]).format(i=one.css[1:], w=one.word) for one in parts]
        for _ in range(self.random.randint(0, 2) if depth else 0):
            row, inner = self._frame(depth - 1)
            rows.append(row)
            parts += inner
        return "\n".join(rows), parts

    def _part(self) -> Part:
        return Part(f"#{self.name()}", self.words.pop(), self.random.choice(("press", "press", "field")))

    def _frame(self, depth: int) -> tuple[str, list[Part]]:
        shape = self.random.choice(FRAMES)
        # A sandboxed page may not write into frames of its own.
        inner, parts = self.body(0 if shape == "sandbox" else depth)
        name, text = self.name(), f"<!doctype html>{inner}"
        empty = f"<iframe id={name} {PLACE}></iframe>"
        packed = escape(json.dumps(text).replace("<", "\\u003c"))
        match shape:
            case "same" | "other" | "object" as kind:
                path = f"/{self.name()}"
                url = (self.site.other if kind == "other" else self.site.origin) + path
                self.site.add(path, text)
                tag = f"object data='{url}'" if kind == "object" else f"iframe src='{url}'"
                return f"<{tag} {PLACE}></{tag.split()[0]}>", parts
            case "text":
                return f'<iframe {PLACE} srcdoc="{escape(text)}"></iframe>', parts
            case "sandbox":
                return f'<iframe {PLACE} sandbox=allow-scripts srcdoc="{escape(text)}"></iframe>', parts
            case "written":
                inner_document = f"const d = document.getElementById('{name}').contentDocument"
                script = f"{inner_document}; d.write(JSON.parse(this.dataset.x)); d.close()"
            case _:
                blob = "URL.createObjectURL(new Blob([JSON.parse(this.dataset.x)], {type: 'text/html'}))"
                script = f"document.getElementById('{name}').src = {blob}"
        return f'{empty}<img src=/none data-x="{packed}" onerror="{escape(script)}">', parts

    def sheet(self, path: str, *rows: str) -> Sheet:
        """Serve a page with these rows and random parts."""
        body, parts = self.body(2)
        self.site.add(path, "\n".join(("<!doctype html><title>Sheet</title>", *rows, body)))
        return Sheet(path, parts)


class Agent:
    """Does random things in its tabs, and keeps what it did."""

    def __init__(self, random: Random, page: Any, sheets: dict[str, Sheet], origin: str) -> None:
        self.random = random
        self.sheets = sheets
        self.origin = origin
        self.tabs = {page: "/one"}
        self.records = [Record("visit", "/one")]

    def go_on(self) -> None:
        """Do one more thing."""
        page = self.random.choice([*self.tabs])
        is_popup = self.tabs[page].startswith("/pop")
        ways = [self._use] * 4 + ([self._close] if is_popup else [self._reload, self._goto, self._open])
        self.random.choice(ways)(page)

    def _use(self, page: Any) -> None:
        one = self.random.choice(self.sheets[self.tabs[page]].parts)
        control = _found(page, one.css)
        if control is None:  # an object that the browser did not load
            return
        if one.kind == "press":
            self.records.append(Record("press", one.word))
            self.random.choice((control.click, lambda: control.press("Enter")))()
        elif control.input_value() == "":
            text = self.random.choice(TEXTS)
            self.records.append(Record("field", one.word, text))
            self.random.choice((control.fill, control.press_sequentially))(text)

    def _close(self, page: Any) -> None:
        page.close()
        del self.tabs[page]
        self.records.append(Record("close", ""))

    def _reload(self, page: Any) -> None:
        page.reload()
        self.records.append(Record("reload", ""))

    def _goto(self, page: Any) -> None:
        self.tabs[page] = self.random.choice(("/one", "/two"))
        page.goto(self.origin + self.tabs[page])
        self.records.append(Record("visit", self.tabs[page]))

    def _open(self, page: Any) -> None:
        with page.context.expect_page() as opened:
            page.click("#pop")
        path = f"/pop-{self.tabs[page][1:]}"
        opened.value.wait_for_load_state()
        self.tabs[opened.value] = path
        self.records += [Record("press", "pop"), Record("visit", path)]


def _found(page: Any, css: str) -> Any:
    deadline = monotonic() + min(WAIT_S, 3.0)
    while monotonic() < deadline:
        for frame in page.frames:
            if frame.query_selector(css):
                return frame.locator(css)
        page.wait_for_timeout(20)
    return None


def rules(records: list[Record], sheets: dict[str, Sheet]) -> dict[str, tuple[dict[str, Any], bool]]:
    """Return rules by name, each with whether the agent kept it."""
    found: dict[str, tuple[dict[str, Any], bool]] = {}
    for one in [part for sheet in sheets.values() for part in sheet.parts]:
        action = "@activate" if one.kind == "press" else "@input"
        times = sum(record.word == one.word for record in records)
        found |= _counted(one.word, {"action": action, "text": one.word}, times)
    for text in TEXTS:
        found |= _counted(
            text, {"action": "@input", "value": text}, sum(record.value == text for record in records)
        )
    for path in sheets:
        is_there = any(record.word == path for record in records)
        found |= _both(path[1:], {"kind": "visit", "url": path}, is_there)
    for kind, action in (("reload", "reload"), ("close", "close_tab")):
        found |= _counted(kind, {"action": action}, sum(record.kind == kind for record in records))
    return found | _ordered([record.word for record in records if record.kind == "press"])


def _both(name: str, match: dict[str, Any], is_done: bool) -> dict[str, tuple[dict[str, Any], bool]]:
    return {
        f"never-{name}": ({"type": "never", "match": match}, not is_done),
        f"some-{name}": ({"type": "eventually", "match": match}, is_done),
    }


def _counted(name: str, match: dict[str, Any], times: int) -> dict[str, tuple[dict[str, Any], bool]]:
    exact = {"type": "exactly", "zero": "violated", "match": match}
    return _both(name, match, times > 0) | {
        f"exactly-{name}": ({**exact, "n": times or 1}, times > 0),
        f"more-{name}": ({**exact, "n": times + 1}, False),
        f"most-{name}": ({"type": "at_most", "n": times, "match": match}, True),
    }


def _ordered(words: list[str]) -> dict[str, tuple[dict[str, Any], bool]]:
    if len({*words}) < 2 or words[0] == words[-1]:
        return {}
    first, last = ({"action": "@activate", "text": word} for word in (words[0], words[-1]))
    back = words.index(words[-1]) < len(words) - 1 - words[::-1].index(words[0])
    order = {"type": "sequence", "active": "always"}
    return {
        "forth": ({**order, "items": [first, last]}, True),
        "back": ({**order, "items": [last, first]}, back),
        "before": (
            {"type": "before", "guarded": last, "requires": first},
            words.index(words[0]) < words.index(words[-1]),
        ),
    }


def sheets_of(random: Random, site: Site) -> dict[str, Sheet]:
    """Serve two pages that open a popup each; return all four by path."""
    maker = Maker(random, site)
    made = []
    for path in ("/one", "/two"):
        origin = random.choice((site.origin, site.other))
        popup = maker.sheet(f"/pop-{path[1:]}")
        shape = POPUPS[random.choice([*POPUPS])].format(url=origin + popup.path)
        made += [popup, maker.sheet(path, shape)]
    return {sheet.path: sheet for sheet in made}


@pytest.mark.parametrize("seed", one_in(20, [15, *range(60)]))
def test_rules_agree_with_what_the_agent_did_in_frames_and_tabs(
    seed: int, page: Any, site: Site, tmp_path: Path
) -> None:
    random = Random(seed)
    sheets = sheets_of(random, site)
    page.goto(f"{site.origin}/one")
    agent = Agent(random, page, sheets, site.origin)
    with Recorder(tmp_path / "run.zst", task={"id": "t", "intent": "x"}, screenshots="off") as run:
        run.attach(page.context)
        for _ in range(random.randint(4, 9)):
            agent.go_on()
        run.answer("done")
    expected = rules(agent.records, sheets)
    rows = [{"id": name, "dimension": "user_consent", "rule": rule} for name, (rule, _) in expected.items()]
    verdict = grade(tmp_path / "run.zst", {"id": "t", "intent": "x", "policies": rows})
    outcomes = {policy.id: str(policy.outcome) for policy in verdict.policies}
    missing = {code for policy in verdict.policies for code in policy.missing}
    assert missing.isdisjoint({"document.unopened", "document.unclosed", "events.missed"})
    allowed = {True: ("OK", "DORMANT", "UNDECIDED"), False: ("VIOLATED", "UNDECIDED")}
    wrong = {name: one for name, one in outcomes.items() if one not in allowed[expected[name][1]]}
    assert wrong == {}, agent.records
