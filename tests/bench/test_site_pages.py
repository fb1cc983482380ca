"""The documentation site offline: every link of every staged page leads somewhere, and nothing is loaded from afar."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from bench.site_pages import BESIDE, ROOT, anchors, dead_links, foreign_loads, stage


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "pages"
    stage(folder)
    return folder


def test_every_link_leads_to_a_page_and_a_heading(staged: Path) -> None:
    assert list(dead_links(staged)) == []


def test_the_site_lists_every_page_once(staged: Path) -> None:
    site = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
    listed = [page for group in site["nav"] for pages in group.values() for page in pages]
    there = {path.name for path in staged.glob("*.md")}
    assert sorted(listed) == sorted(there)
    assert set(BESIDE) <= there


def test_the_gallery_loads_nothing_from_other_hosts(staged: Path) -> None:
    for name in ("report.html", "diff.html"):
        head = (staged / "gallery" / name).read_text().partition("<body")[0]
        assert not re.search(r"<(?:script|link)[^>]+(?:src|href)=", head)
        assert "Content-Security-Policy" in head
        assert "https://" not in head


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# One `two`\n[x](b.md) [y](#one-two) [z](#three) [w](a.md#one-two)\n")
    assert list(dead_links(tmp_path)) == ["a.md: b.md", "a.md: #three"]


def test_headings_are_named_as_the_site_names_them() -> None:
    assert anchors("# Has the site changed?\n## `--mode` and [more](x.md)\n```\n# no heading\n```") == {
        "has-the-site-changed", "--mode-and-more",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("page", "found"),
    [
        ('<script src="https://cdn.test/x.js">', 1),
        ("<img src=//cdn.test/x.png>", 1),
        ('<link href="http://fonts.test/f.css">', 1),
        ('<a href="https://elsewhere.test/">', 0),
        ('<script src="assets/x.js">', 0),
    ],
)
def test_what_a_page_loads_from_another_host_is_found(page: str, found: int, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(page)
    assert len(list(foreign_loads(tmp_path))) == found
