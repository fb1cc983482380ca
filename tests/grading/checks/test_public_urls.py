"""URLs that runs of the public WebArena tasks end on: what was rewarded passes, what is beside it does not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from replaykit.grading.values.urls import UrlRules, matches, pairs, peer_matches
from replaykit.tasks.checks import UrlMatch, texts
from replaykit.tasks.suite import load_tasks
from replaykit.tasks.task import fill_task

SHARED = Path(os.environ.get("REPLAYKIT_SHARED_DATA", Path(__file__).parents[3] / "../shared/data"))
FILE = SHARED / "webarena/test.raw.json"
SITES = {
    "shopping": ("http://shop.test:7770",),
    "shopping_admin": ("http://shop.test:7780/admin",),
    "reddit": ("http://forum.test:9999",),
    "gitlab": ("http://git.test:8023",),
    "map": ("http://map.test:3000",),
}


@pytest.fixture(scope="module")
def checks() -> list[UrlMatch]:
    if not FILE.exists():
        pytest.skip(f"public data is not here: {FILE}")
    tasks = [fill_task(task, SITES) for task in load_tasks(FILE)]
    found = [check for task in tasks for check in task.checks if isinstance(check, UrlMatch)]
    assert len(found) == 205
    return found


def references(checks: list[UrlMatch]) -> list[tuple[str, UrlRules]]:
    return [
        (part, UrlRules(path=check.path, query=check.query, fragment=check.fragment))
        for check in checks
        for url in texts(check.url)
        for part in url.split(" |OR| ")
    ]


def rewarded(reference: str) -> list[str]:
    """Return where a run with reward may end: what a site adds by itself, and what lies below."""
    base, mark, query = reference.partition("?")
    turned = "&".join(f"{key}={value}" for key, value in reversed(pairs(query))).replace(" ", "+")
    turned = turned.replace("[", "%5B").replace("]", "%5D")
    return [
        reference,
        f"{base}{mark}{query}{'&' if mark else '?'}first_page_size=20&p=2",
        f"{base}{mark}{turned}#note_12",
        f"{base.rstrip('/')}/{mark}{query}",
        f"{base.rstrip('/')}/12/-/a-slug_of.it{mark}{query}",
        f"{base.rstrip('/')}/key/0a1b2c/{mark}{query}",
    ]


def beside(reference: str) -> list[str]:
    """Return where a run without reward may end."""
    base, mark, query = reference.partition("?")
    head, _, last = base.rstrip("/").rpartition("/")
    found = [head, f"{head}/other", f"{base.rstrip('/')[:-1]}", base.replace("://", "://x.", 1)]
    found.append(f"{head}/-/{last}{mark}{query}")
    if query:
        found += [base, f"{base}?{query}x", f"{base}?{pairs(query)[0][0]}=other"]
    return found


def test_what_was_rewarded_passes(checks: list[UrlMatch]) -> None:
    for reference, rules in references(checks):
        for found in rewarded(reference):
            if peer_matches(reference, found):
                assert matches(reference, found, rules, SITES), (reference, found)


def test_what_lies_beside_it_does_not(checks: list[UrlMatch]) -> None:
    for reference, rules in references(checks):
        for found in beside(reference):
            assert not matches(reference, found, rules, SITES), (reference, found)


def test_a_longer_name_is_another_page(checks: list[UrlMatch]) -> None:
    for reference, rules in references(checks):
        base, mark, query = reference.partition("?")
        found = f"{base.rstrip('/')}er{mark}{query}"
        assert not matches(reference, found, rules, SITES), (reference, found)
