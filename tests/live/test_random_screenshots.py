"""Screenshots of pages that change at once: each shows what the snapshot beside it holds."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.recorder.recorder import Recorder
from replaykit.trajectory.observation import Observation
from tests.live.conftest import Site
from tests.thorough import one_in

pytestmark = [pytest.mark.live, pytest.mark.one_page]

COLOURS = {"red": b"\xff\0\0", "lime": b"\0\xff\0", "blue": b"\0\0\xff", "yellow": b"\xff\xff\0"}

PAGE = """<!doctype html><body style="background: red"><p id=state>state-red</p><button>go</button>
<script>
const colours = ['lime', 'blue', 'yellow', 'red'], button = document.querySelector('button');
let count = 0;
const show = (colour) => {
  document.body.style.background = colour;
  document.querySelector('#state').textContent = 'state-' + colour;
};
const next = () => show(colours[count++ % 4]);
const busy = () => { for (const end = performance.now() + 100; performance.now() < end;); };
CHANGE;
</script>"""

CHANGES = {
    "at once": "button.onclick = next;",
    "by each event": "button.onmousedown = button.onmouseup = button.onclick = next;",
    "with an address": "button.onclick = () => { next(); history.pushState(0, '', '#' + count); };",
    "and blocks": "button.onclick = () => { next(); busy(); };",
    "after it blocked": "button.onclick = () => { busy(); next(); };",
}


def play(page: Page, chance: random.Random) -> None:
    for _ in range(5):
        match chance.choice(["click", "twice", "key", "wait"]):
            case "click":
                page.click("button")
            case "twice":
                page.click("button")
                page.click("button")
            case "key":
                page.press("button", "Enter")
            case "wait":
                page.wait_for_timeout(chance.choice([20, 120, 300]))


def shown(bundle: Bundle) -> Iterator[tuple[bytes, bytes]]:
    """Yield for each observation with a screenshot the colour that its snapshot names, and the one it shows."""
    for seen in bundle.trajectory.events:
        if (
            isinstance(seen, Observation)
            and isinstance(seen.screenshot, str)
            and isinstance(seen.snapshot, str)
        ):
            named = re.search(rb"state-(\w+)", bundle.blob(seen.snapshot))
            assert named is not None
            yield COLOURS[named[1].decode()], bundle.blob(seen.screenshot)[-3:]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("seed", one_in(2, range(2)))
def test_a_screenshot_shows_the_page_of_its_snapshot(
    page: Page, site: Site, tmp_path: Path, change: str, seed: int
) -> None:
    page.goto(site.add("/", PAGE.replace("CHANGE;", CHANGES[change])))
    with Recorder(tmp_path / "run.zst") as recorder:
        recorder.attach(page)
        play(page, random.Random(seed))
        recorder.answer("done")
    with open_bundle(tmp_path / "run.zst") as bundle:
        pairs = list(shown(bundle))
    assert len(pairs) >= 2
    assert [named for named, _ in pairs] == [colour for _, colour in pairs]
