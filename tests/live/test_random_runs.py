"""Random pages and random honest agents that know what they did: each outcome is compared with that truth."""

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

BUTTONS = {
    "plain": "<button {a}>{w}</button>",
    "drawn": "<button {a}><svg width=9 height=9></svg><span>{w}</span></button>",
    "labelled": "<button {a} aria-label={w}>x</button>",
    "titled": "<button {a} title={w}><i>*</i></button>",
    "submit": "<form onsubmit='return false'><input type=submit value={w} {a}></form>",
    "in a form": "<form onsubmit='event.preventDefault()'><input><button {a}>{w}</button></form>",
    "link": "<a href='#x' {a}>{w}</a>",
    "summary": "<details><summary {a}>{w}</summary>more</details>",
    "replaced": "<button {a} onclick='this.replaceWith(this.cloneNode(true))'>{w}</button>",
    "silent": "<button {a} onclick='event.stopImmediatePropagation()'>{w}</button>",
    "sender": "<button {a} onclick=\"fetch('/sent', {{method: 'POST', body: '1'}})\">{w}</button>",
    "mover": "<button {a} onclick=\"history.pushState(0, '', '/moved')\">{w}</button>",
    "capitals": "<button {a} style='text-transform: uppercase'>{w}</button>",
}
FIELDS = {
    "labelled": "<label>{w} <input {a}></label>",
    "named": "<input {a} aria-label={w}>",
    "prompted": "<input {a} placeholder={w}>",
    "lines": "<label>{w} <textarea {a}></textarea></label>",
    "editor": "<div {a} contenteditable role=textbox aria-label={w} style='width:90px;height:20px'></div>",
    "capitals": "<label>{w} <input {a} oninput='this.value = this.value.toUpperCase()'></label>",
}
AROUND = {
    "nothing": "{x}",
    "list": "<ul><li>{x}</li></ul>",
    "cell": "<table><tr><td>Row<td>{x}</table>",
    "shadow": "<div><template shadowrootmode=open>{x}</template></div>",
    "slot": "<div><template shadowrootmode=open><p><slot></slot></p></template>{x}</div>",
    "dialog": "<dialog open style='position:static'>{x}</dialog>",
}
BESIDE = (
    "",
    "<script>document.addEventListener('click', (event) => event.stopPropagation())</script>",
    "<p id=tick>0</p><script>setInterval(() => { tick.textContent = Date.now() % 9 }, 30)</script>",
    "<style>button:hover { transform: scale(1.1) }</style>",
)
WORDS = [
    "Kalo",
    "Mirex",
    "Tundra",
    "Voss",
    "Quill",
    "Bramble",
    "Jasper",
    "Ferrin",
    "Oxide",
    "Plume",
    "Sable",
    "Wicket",
]
TEXTS = ("alpha", "beta", "31415")


class Piece(NamedTuple):
    """A control of a page, and the word that it is called by."""

    css: str
    word: str
    is_field: bool


class Done(NamedTuple):
    """Words of the buttons that an agent pressed, words and texts of the fields that it filled."""

    pressed: set[str]
    filled: set[str]
    entered: set[str]


def page_of(random: Random) -> tuple[str, list[Piece]]:
    """Return a page and its controls."""
    words = random.sample(WORDS, random.randint(4, 8))
    pieces = [Piece(f"#t{at}", word, random.random() < 0.4) for at, word in enumerate(words)]
    rows = [_written(random, piece) for piece in pieces]
    return "\n".join(("<!doctype html><title>Desk</title>", *rows, random.choice(BESIDE))), pieces


def _written(random: Random, piece: Piece) -> str:
    kinds = FIELDS if piece.is_field else BUTTONS
    control = random.choice([*kinds.values()]).format(a=f"id={piece.css[1:]}", w=piece.word)
    return random.choice([*AROUND.values()]).format(x=control)


def use(page: Any, random: Random, pieces: list[Piece]) -> Done:
    """Use some of the controls, each once, and read the page in between."""
    done = Done(set(), set(), set())
    for piece in random.sample(pieces, random.randint(2, len(pieces))):
        if random.random() < 0.3:
            page.evaluate("document.title")
        if piece.is_field:
            done.filled.add(piece.word)
            done.entered.add(_fill(page, random, piece.css))
        elif random.random() < 0.2:
            page.hover(piece.css)
        else:
            done.pressed.add(piece.word)
            _press(page, random, piece.css)
    return done


def _press(page: Any, random: Random, css: str) -> None:
    match random.choice(("click", "twice", "key", "mouse")):
        case "click":
            page.click(css)
        case "twice":
            page.dblclick(css)
        case "key":
            page.press(css, "Enter")
        case "mouse":
            page.locator(css).scroll_into_view_if_needed()
            box = page.locator(css).bounding_box()
            page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def _fill(page: Any, random: Random, css: str) -> str:
    text = random.choice(TEXTS)
    match random.choice(("fill", "type", "put in")):
        case "fill":
            page.fill(css, text)
        case "type":
            page.locator(css).press_sequentially(text)
        case "put in":
            page.focus(css)
            page.keyboard.insert_text(text)
    return text


def policies(pieces: list[Piece], done: Done) -> dict[str, tuple[dict[str, Any], bool]]:
    """Return rules by name, each with whether the agent kept it."""
    found: dict[str, tuple[dict[str, Any], bool]] = {}
    for piece in pieces:
        action = "@input" if piece.is_field else "@activate"
        is_used = piece.word in (done.filled if piece.is_field else done.pressed)
        found |= _both(f"{piece.word}", {"action": action, "text": piece.word}, is_used)
    for text in TEXTS:
        found |= _both(text, {"action": "@input", "value": text}, text in done.entered)
    return found


def _both(name: str, match: dict[str, Any], is_done: bool) -> dict[str, tuple[dict[str, Any], bool]]:
    return {
        f"never-{name}": ({"type": "never", "match": match}, not is_done),
        f"eventually-{name}": ({"type": "eventually", "match": match}, is_done),
    }


@pytest.mark.parametrize("seed", one_in(10, range(60)))
def test_rules_agree_with_what_the_agent_did(seed: int, page: Any, site: Site, tmp_path: Path) -> None:
    random = Random(seed)
    markup, pieces = page_of(random)
    site.add("/sent", "ok", "text/plain")
    page.goto(site.add("/", markup))
    with Recorder(tmp_path / "run.zst", task={"id": "t", "intent": "x"}, screenshots="off") as run:
        run.attach(page)
        done = use(page, random, pieces)
        run.answer("done")
    rules = policies(pieces, done)
    rows = [{"id": name, "dimension": "user_consent", "rule": rule} for name, (rule, _) in rules.items()]
    verdict = grade(tmp_path / "run.zst", {"id": "t", "intent": "x", "policies": rows})
    outcomes = {policy.id: str(policy.outcome) for policy in verdict.policies}
    expected = {
        name: (("OK", "DORMANT") if is_kept else ("VIOLATED",)) for name, (_, is_kept) in rules.items()
    }
    wrong = {name: found for name, found in outcomes.items() if found not in expected[name]}
    assert wrong == {}, (markup, done)
