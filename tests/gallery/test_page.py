"""docs/gallery.md: every row has its section, its lock and its test, and the shop starts as it says."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.blocks import ROOT, block
from tests.gallery.conftest import PAGE, section

ROWS = re.findall(r"^\| \[(.+?)\]\(#(\S+)\) \|.*\| (.*?) \|$", (ROOT / PAGE).read_text("utf-8"), flags=re.M)
"""Title, anchor, and the packages of each example."""
HERE = Path(__file__).parent


def test_every_lock_has_a_test() -> None:
    locks = {path.stem.removesuffix("-alone").replace("-", "_") for path in HERE.glob("*.lock")}
    tests = {path.stem.removeprefix("test_") for path in HERE.glob("test_*.py")}
    assert locks <= tests


@pytest.mark.parametrize(("title", "anchor", "tried"), ROWS)
def test_a_row_has_its_section_and_names_what_its_lock_pins(title: str, anchor: str, tried: str) -> None:
    assert anchor == title.lower().replace(" ", "-")
    assert all(section(title))
    npm = json.loads((HERE / "node" / "package.json").read_text("utf-8"))["dependencies"]
    locked = "".join(f"{name.rpartition('/')[2]}=={version} \n" for name, version in npm.items())
    locked += "".join(path.read_text("utf-8") for path in HERE.glob("*.lock"))
    for name, version in re.findall(r"([\w-]+) (\d[\w.]*)", tried):
        assert re.search(rf"^{name}=={re.escape(version)} ", locked, flags=re.M), (
            f"no lock pins {name} {version}"
        )


def test_a_lock_has_hashes_and_names_no_index() -> None:
    for path in HERE.glob("*.lock"):
        head, *lines = path.read_text("utf-8").splitlines()
        assert head.startswith("# Written by: ")
        assert not [line for line in lines if "://" in line or line.startswith("--")], path.name
        pinned = [number for number, line in enumerate(lines) if "==" in line and not line.startswith(" ")]
        assert pinned and all(lines[number + 1].startswith("    --hash=sha256:") for number in pinned)


def test_the_shop_starts_as_the_page_says() -> None:
    _, *words = shlex.split(block(PAGE, "python fixtures/sites").text.replace("8000", "0"))
    with subprocess.Popen([sys.executable, *words], cwd=ROOT, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        url = running.stdout.readline().split()[0]
        with urlopen(f"{url}/orders") as reply:
            assert reply.status == 200
        running.terminate()
