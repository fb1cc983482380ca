"""The diagram and the walk of docs/architecture.md: what they name is there."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from bench.architecture import BOXES, HEIGHT, IMAGE, WAYS, WIDTH, image

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")


def test_the_screenshot_is_what_the_command_draws(update_goldens: bool) -> None:
    if update_goldens:
        IMAGE.write_text(image(), "utf-8")
    assert IMAGE.read_text("utf-8") == image()
    assert ElementTree.fromstring(image()).tag.endswith("svg")
    assert f"]({IMAGE.name})" in PAGE


def test_every_room_is_a_folder_and_has_its_place() -> None:
    for box in BOXES:
        assert "." in box.name or (ROOT / "replaykit" / box.name).is_dir()
        assert box.left >= 0 and box.left + box.width <= WIDTH and 0 <= box.top <= HEIGHT - box.height
    assert {name for way in WAYS for name in way} == {box.name for box in BOXES}


def test_no_two_boxes_overlap() -> None:
    for number, one in enumerate(BOXES):
        for other in BOXES[number + 1 :]:
            is_beside = one.left + one.width <= other.left or other.left + other.width <= one.left
            assert is_beside or one.top + one.height <= other.top or other.top + other.height <= one.top


def test_the_walk_names_files_that_exist() -> None:
    _, _, rest = PAGE.partition("## One click, from page to verdict\n")
    files = re.findall(r"`([\w/]+\.(?:py|js))`", rest.partition("\n## ")[0])
    assert len(files) > 10
    assert [name for name in files if not (ROOT / "replaykit" / name).is_file()] == []
