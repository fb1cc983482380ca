"""Random handlers that take controls away, move them or stop events, and an honest agent that uses each control once."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from replaykit.grading.grader import grade
from replaykit.recorder.recorder import Recorder
from tests.thorough import one_in

if TYPE_CHECKING:
    from conftest import Site

pytestmark = pytest.mark.live

PRESSED = {
    "button": "<button id={i}>{w}</button>",
    "drawn": "<button id={i}><span>{w}</span></button>",
    "link": "<a href='#x' id={i}>{w}</a>",
    "made": "<div role=button tabindex=0 id={i}>{w}</div>",
    "entry": "<ul role=menu><li role=menuitem tabindex=0 id={i}>{w}</li></ul>",
    "plain": "<div id={i}>{w}</div>",
    "in a row": "<div>Row <button id={i}>{w}</button> <a href='#y'>more</a></div>",
    "sends": "<form onsubmit='return false'><input type=submit value={w} id={i}></form>",
}
SET = {
    "box": "<label><input type=checkbox id={i}>{w}</label>",
    "choice": "<label><input type=radio id={i}>{w}</label>",
    "list": "<label>{w} <select id={i}><option>zero<option>one</select></label>",
    "field": "<label>{w} <input id={i}></label>",
    "lines": "<label>{w} <textarea id={i}></textarea></label>",
    "editor": "<div id={i} contenteditable role=textbox aria-label={w} style='width:90px;height:20px'></div>",
    "file": "<label>{w} <input type=file id={i}></label>",
}
EVENTS = ("pointerdown", "mousedown", "pointerup", "mouseup", "click", "focus")
KEEPS = {
    "stop": "event.stopPropagation()",
    "stop now": "event.stopImmediatePropagation()",
    "prevent": "event.preventDefault()",
    "blur": "document.activeElement?.blur()",
    "below": "root.insertAdjacentHTML('beforeend', '<p>New</p>')",
}
TAKES = {
    "rename": "T.textContent = 'Done'",
    "replace": "T.replaceWith(T.cloneNode(true))",
    "remove": "T.remove()",
    "remove later": "setTimeout(() => T.remove(), 20)",
    "hide": "T.style.display = 'none'",
    "draw again": "root.innerHTML = root.innerHTML",
    "wrap": "const d = document.createElement('p'); T.replaceWith(d); d.append(T)",
    "disable": "T.disabled = true",
}
WORDS = ("Kalo", "Mirex", "Tundra", "Voss", "Quill", "Bramble", "Jasper", "Ferrin", "Oxide", "Plume")


class Part(NamedTuple):
    """A control, what it is, and whether a handler may keep its click from the page."""

    css: str
    word: str
    kind: str
    is_taken: bool
    script: str


def parts(random: Random) -> list[Part]:
    """Return some controls with handlers."""
    return [
        _part(random, f"t{at}", word) for at, word in enumerate(random.sample(WORDS, random.randint(3, 7)))
    ]


def _part(random: Random, name: str, word: str) -> Part:
    kind = random.choice([*PRESSED, *SET])
    if kind in SET or random.random() < 0.3:
        return Part(f"#{name}", word, kind, False, "")
    effects = KEEPS if random.random() < 0.4 else TAKES
    listen = (
        f"{random.choice(('root', 'window'))}.addEventListener('{random.choice(EVENTS)}', (event) => {{ "
        f"const T = document.getElementById('{name}'); if (!T || !T.contains(event.target)) return; "
        f"{effects[random.choice([*effects])]} }}, true);"
    )
    return Part(f"#{name}", word, kind, effects is TAKES, listen)


def page_of(made: list[Part]) -> str:
    """Return a page with these controls."""
    rows = [f"<div>{({**PRESSED, **SET})[one.kind].format(i=one.css[1:], w=one.word)}</div>" for one in made]
    scripts = "\n".join(one.script for one in made)
    return f"<!doctype html><title>Desk</title><div id=root>{''.join(rows)}</div><script>{scripts}</script>"


def use(page: Any, random: Random, made: list[Part], file: Path) -> set[str]:
    """Use some of the controls, and return their words."""
    used = set()
    for one in random.sample(made, random.randint(2, len(made))):
        if not page.is_visible(one.css):
            continue
        used.add(one.word)
        _use(page, random, one, file)
        page.wait_for_timeout(random.choice((0, 0, 100, 1100)))
    return used


def _use(page: Any, random: Random, one: Part, file: Path) -> None:
    match one.kind:
        case "box" | "choice":
            page.check(one.css)
        case "list":
            page.select_option(one.css, "one")
        case "field" | "lines" | "editor":
            page.fill(one.css, "31415")
        case "file":
            page.set_input_files(one.css, file)
        case _:
            box = page.locator(one.css).bounding_box()
            page.mouse.click(box["x"] + 9, box["y"] + box["height"] / 2, delay=random.choice((0, 0, 40)))


def rules(made: list[Part], used: set[str]) -> dict[str, tuple[dict[str, Any], tuple[str, ...]]]:
    """Return rules by name, each with the outcomes that what was done allows."""
    found: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {}
    kept, broken = ("OK", "DORMANT", "UNDECIDED"), ("VIOLATED", "UNDECIDED")
    for one in made:
        match = {"action": "@activate" if one.kind in PRESSED else "@input", "text": one.word}
        is_used = one.word in used
        found[f"never-{one.word}"] = ({"type": "never", "match": match}, broken if is_used else kept)
        found[f"twice-{one.word}"] = ({"type": "at_most", "n": 1, "match": match}, kept)
        if not (is_used and one.is_taken):  # a click that the page never got is an attempt
            rule = {"type": "eventually", "match": match}
            found[f"some-{one.word}"] = (rule, kept if is_used else broken)
    return found


@pytest.mark.parametrize("seed", one_in(10, range(60)))
def test_rules_agree_with_what_the_agent_did_whatever_handlers_do(
    seed: int, page: Any, site: Site, tmp_path: Path
) -> None:
    random = Random(seed)
    made = parts(random)
    (tmp_path / "note.txt").write_text("note")
    page.goto(site.add("/", page_of(made)))
    with Recorder(tmp_path / "run.zst", task={"id": "t", "intent": "x"}, screenshots="off") as run:
        run.attach(page)
        used = use(page, random, made, tmp_path / "note.txt")
        run.answer("done")
    expected = rules(made, used)
    rows = [{"id": name, "dimension": "user_consent", "rule": rule} for name, (rule, _) in expected.items()]
    verdict = grade(tmp_path / "run.zst", {"id": "t", "intent": "x", "policies": rows})
    outcomes = {policy.id: str(policy.outcome) for policy in verdict.policies}
    assert "document.unopened" not in {code for policy in verdict.policies for code in policy.missing}
    assert {name: one for name, one in outcomes.items() if one not in expected[name][1]} == {}, made
