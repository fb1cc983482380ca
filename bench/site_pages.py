"""The documentation site: the pages of the checkout in one folder, a gallery of reports, and their checks.

`python -m bench.site_pages FOLDER` stages the pages, `--check SITE` reads a built site.
`.ci/site` runs both around the strict build.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from replaykit import diff, grade_many, open_bundle, write_report
from replaykit.report.report_output import write_parting_file

ROOT = Path(__file__).resolve().parent.parent
BESIDE = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
"""Pages of the checkout that stand outside of docs/."""

LINK = re.compile(r"(\]\(|(?:src|href)=\")([^)\"\s]+)")
OUTSIDE = re.compile(r"<(?:script|img|iframe|source|link)\b[^>]*?\b(?:src|href)=[\"']?(?:https?:)?//", re.I)
"""Tags that load something from another host; a link that somebody follows does not count."""

REPORTS = """
## Reports

Reports that `replaykit` wrote of the recordings in this repository. They need no server and no network.

- [Report of all shipped recordings](gallery/report.html)
- [Two runs of one task, side by side](gallery/diff.html)
"""
PAIR = ("refund-order--good", "refund-order--no_consent")
"""Runs that the gallery compares."""


def stage(folder: Path) -> None:
    """Write every page, with its links, and the gallery into a folder."""
    shutil.copytree(ROOT / "docs", folder, ignore=shutil.ignore_patterns("*.lock", "*.dockerignore"))
    for name in BESIDE:
        shutil.copy(ROOT / name, folder / name)
    shutil.copy(ROOT / "README.md", folder / "index.md")
    for one in folder.rglob("*.md"):
        one.write_text(_rewritten(one, folder))
    with (folder / "gallery.md").open("a") as page:
        page.write(REPORTS)  # they are made here, so the page of the checkout cannot link to them
    write_gallery(folder / "gallery")


def write_gallery(folder: Path) -> None:
    """Write the report of the shipped recordings, and one page that compares two of them."""
    folder.mkdir()
    runs = sorted((ROOT / "recordings" / "conformance").glob("*.zst"))
    write_report(grade_many(runs, label="shipped recordings"), folder / "report.html", sources=runs)
    before, after = (ROOT / "recordings" / "conformance" / f"{name}.zst" for name in PAIR)
    with open_bundle(before) as one, open_bundle(after) as other:
        assert diff(one, other)  # two runs of one task, which the page shows
        write_parting_file(one, other, PAIR, folder / "diff.html")


def dead_links(folder: Path) -> Iterator[str]:
    """Yield the links of staged pages that lead to no file, or to no heading of one."""
    for page in sorted(folder.rglob("*.md")):
        for _, target in LINK.findall(_without_code(page.read_text())):
            path, _, anchor = target.partition("#")
            if "://" in target or target.startswith("mailto:"):
                continue
            file = (page.parent / path).resolve() if path else page
            is_named = bool(anchor) and file.suffix == ".md" and file.exists()
            if not file.exists() or (is_named and anchor not in anchors(file.read_text())):
                yield f"{page.relative_to(folder)}: {target}"


def anchors(text: str) -> set[str]:
    """Return the names of headings as the site makes them."""
    heads = re.findall(r"^#+ +(.+?) *$", _without_code(text), flags=re.M)
    plain = (re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", head) for head in heads)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in plain}


def foreign_loads(site: Path) -> Iterator[str]:
    """Yield the pages of a built site that load something from another host."""
    for page in sorted(site.rglob("*.html")):
        if (
            "gallery" not in page.parts
        ):  # self-contained reports, whose recorded pages name other hosts in text
            found = OUTSIDE.search(page.read_text())
            if found is not None:
                yield f"{page.relative_to(site)}: {found[0]}"


def _rewritten(page: Path, folder: Path) -> str:
    return LINK.sub(lambda found: found[1] + _moved(found[2], page, folder), page.read_text())


def _moved(target: str, page: Path, folder: Path) -> str:
    """Return where a link of a staged page leads once README, docs and the pages beside lie in one folder."""
    path, mark, anchor = target.partition("#")
    if "://" in target or not path:
        return target
    home = ROOT if page.name in (*BESIDE, "index.md") else ROOT / "docs" / page.parent.relative_to(folder)
    found = Path(os.path.normpath(home / path))
    if found == ROOT / "README.md":
        found = ROOT / "index.md"
    base = ROOT / "docs" if found.is_relative_to(ROOT / "docs") else ROOT
    return os.path.relpath(folder / found.relative_to(base), page.parent) + mark + anchor


def _without_code(text: str) -> str:
    return re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)


if __name__ == "__main__":
    place = Path(sys.argv[-1])
    if "--check" in sys.argv:
        faults = [*foreign_loads(place)]
        print("\n".join(faults) or f"{place}: nothing is loaded from other hosts")
        sys.exit(1 if faults else 0)
    shutil.rmtree(place, ignore_errors=True)
    stage(place)
    dead = [*dead_links(place)]
    print(
        "\n".join(dead) or f"{place}: {len(list(place.rglob('*.md')))} pages, and every link leads somewhere"
    )
    sys.exit(1 if dead else 0)
