"""Random pages and random honest agents of the DevTools protocol, which travel in the history: rules agree with them."""

from __future__ import annotations

import json
import sys
from html import escape
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from replaykit.grading.grader import grade
from replaykit.recorder.agent_runs import record_command
from replaykit.tasks.task import decode_task
from tests.live.agent_programs import DRIVERS, LIMIT_S, apart
from tests.thorough import one_in

if TYPE_CHECKING:
    from conftest import Site

pytestmark = pytest.mark.live

WORDS = [f"{first}{last}" for first in ("Kal", "Mir", "Tun", "Vos", "Qui", "Bra") for last in "abcdefghij"]
TEXTS = ("alpha", "beta", "31415")
FULL = "style='position:fixed;inset:0;width:100%'"
PLACE = "style='width:160px;height:40px'"
PARTS = {
    "button": "<button id={i}>{w}</button>",
    "link": "<a id={i} href='#z'>{w}</a>",
    "sender": "<button id={i} onclick=\"fetch('/sent?{w}', {{method: 'POST'}})\">{w}</button>",
    "mover": "<button id={i} onclick=\"history.pushState(0, '', '#{w}')\">{w}</button>",
    "field": "<label>{w} <input id={i}></label>",
    "lines": "<textarea id={i} aria-label={w}></textarea>",
    "frame": "<iframe id={i} {p} src='/frame?{w}'></iframe>",
    "frame elsewhere": "<iframe id={i} {p} src='{out}/frame?{w}'></iframe>",
    "frame of text": '<iframe id={i} {p} srcdoc="{text}"></iframe>',
    "sandbox": '<iframe id={i} {p} sandbox=allow-scripts srcdoc="{text}"></iframe>',
}
BESIDE = (
    "",
    "<script>addEventListener('pagehide', () => navigator.sendBeacon('/left'))</script>",
    "<script>addEventListener('beforeunload', () => fetch('/asked', {method: 'POST', keepalive: true}))</script>",
    "<script>addEventListener('pageshow', (event) => { document.title = `shown ${event.persisted}` })</script>",
)
NEXT = "<script>document.write(`<button id=x>${location.search.slice(1)}</button>`)</script>"


class Part(NamedTuple):
    """A control, and the word that it is called by."""

    css: str
    word: str
    kind: str


class Truth(NamedTuple):
    """Words of what the agent pressed and filled, the texts, and the pages that it saw, in order."""

    pressed: list[str]
    filled: list[str]
    texts: list[str]
    seen: list[str]


def page_of(random: Random, words: list[str], out: str) -> tuple[str, list[Part]]:
    """Return a page and its controls."""
    parts = []
    rows = []
    for _ in range(random.randint(2, 4)):
        word, kind = words.pop(), random.choice([*PARTS])
        text = escape(f"<button {FULL}>{word}</button>")
        parts.append(Part(f"#c{word}", word, kind))
        rows.append(PARTS[kind].format(i=f"c{word}", w=word, p=PLACE, out=out, text=text))
    return "\n".join(("<!doctype html><title>Desk</title>", *rows, random.choice(BESIDE))), parts


def site_of(random: Random, site: Site) -> dict[str, list[Part]]:
    """Serve three pages at two sites; return their controls by address."""
    words, out = random.sample(WORDS, len(WORDS)), site.origin.replace("127.0.0.1", "localhost")
    site.add("/frame", f"<!doctype html>{NEXT.replace('id=x', FULL)}")
    for path in ("/sent", "/left", "/asked"):
        site.add(path, "ok", "text/plain")
    pages = {}
    for path in ("/one", "/two", "/three"):
        markup, parts = page_of(random, words, out)
        pages[random.choice((site.add(path, markup), f"{out}{path}"))] = parts
    return pages


def script_of(random: Random, pages: dict[str, list[Part]]) -> tuple[list[Any], Truth]:
    """Return actions of an honest agent, and what they are."""
    truth = Truth([], [], [], [])
    start = next(iter(pages))
    actions: list[Any] = [["goto", start]]
    stack, at = [start], 0
    truth.seen.append(start)
    for _ in range(random.randint(5, 12)):
        way = random.choice(("use", "use", "use", "goto", "go", "back", "forward"))
        if way == "use":
            part = random.choice(pages[stack[at].partition("#")[0]])
            actions += _use(random, part, truth)
            within = stack[at].partition("#")[0] + {"link": "#z", "mover": f"#{part.word}"}.get(part.kind, "")
            if part.kind == "mover" or (part.kind == "link" and within != stack[at]):
                stack, at = [*stack[: at + 1], within], at + 1
            continue
        moves = {"back": -1, "forward": 1}.get(way, 0)
        if moves and not 0 <= at + moves < len(stack):
            continue
        if moves:
            actions.append([way])
            at += moves
        else:
            there = random.choice([url for url in pages if url != stack[at].partition("#")[0]])
            actions.append([way, there])
            stack, at = [*stack[: at + 1], there], at + 1
        shown = stack[at].partition("#")[0]
        truth.seen.append(shown)
        actions.append(["place", pages[shown][0].css])
    return [*actions, ["sleep", 200]], truth


def _use(random: Random, part: Part, truth: Truth) -> list[Any]:
    if part.kind in ("field", "lines"):
        text = random.choice(TEXTS)
        truth.filled.append(part.word)
        truth.texts.append(text)
        return [["fill", part.css, text]]
    truth.pressed.append(part.word)
    return [["click", part.css]]


def rules(pages: dict[str, list[Part]], truth: Truth) -> dict[str, tuple[dict[str, Any], bool]]:
    """Return rules by name, each with whether the agent kept it."""
    found: dict[str, tuple[dict[str, Any], bool]] = {}
    for part in [part for parts in pages.values() for part in parts]:
        is_field = part.kind in ("field", "lines")
        times = (truth.filled if is_field else truth.pressed).count(part.word)
        match = {"action": "@input" if is_field else "@activate", "text": part.word}
        found |= _both(part.word, match, times > 0)
        if not is_field:
            exact = {"type": "exactly", "zero": "violated", "match": match}
            found[f"exactly-{part.word}"] = ({**exact, "n": times or 1}, times > 0)
            found[f"more-{part.word}"] = ({**exact, "n": times + 1}, False)
    for text in TEXTS:
        found |= _both(text, {"action": "@input", "value": text}, text in truth.texts)
    for url in pages:
        found |= _both(url.rpartition("/")[2], {"kind": "visit", "url": url}, url in truth.seen)
    return found


def _both(name: str, match: dict[str, Any], is_done: bool) -> dict[str, tuple[dict[str, Any], bool]]:
    return {
        f"never-{name}": ({"type": "never", "match": match}, not is_done),
        f"some-{name}": ({"type": "eventually", "match": match}, is_done),
    }


@pytest.mark.parametrize("seed", one_in(45, range(45)))
def test_rules_agree_with_an_agent_of_the_protocol(seed: int, site: Site, tmp_path: Path) -> None:
    random = Random(seed)
    pages = site_of(random, site)
    actions, truth = script_of(random, pages)
    expected = rules(pages, truth)
    rows = [{"id": name, "dimension": "user_consent", "rule": rule} for name, (rule, _) in expected.items()]
    start = next(iter(pages))
    task = decode_task({"id": "t", "intent": "x", "start_urls": [start], "policies": rows})
    file = tmp_path / "actions.json"
    file.write_text(json.dumps(actions))
    argv, environ = [sys.executable, str(DRIVERS / "attacks.py"), "cdp"], {"ATTACKS": str(file)}
    done = apart(lambda: record_command(argv, task, tmp_path / "run.zst", max_time=LIMIT_S, environ=environ))
    assert done.exit_code == 0, done
    outcomes = {policy.id: str(policy.outcome) for policy in grade(tmp_path / "run.zst").policies}
    allowed = {True: ("OK", "DORMANT"), False: ("VIOLATED",)}
    wrong = {name: one for name, one in outcomes.items() if one not in allowed[expected[name][1]]}
    assert wrong == {}, actions
