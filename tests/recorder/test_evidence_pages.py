"""Pages that an option names, and the plan that it leads to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from replaykit.errors import RecorderError, UsageError
from replaykit.recorder.agent_command import without_secrets
from replaykit.recorder.evidence_pages import FILE_MAX, EvidencePages, as_evidence, load_urls
from replaykit.recorder.settings import as_settings, probe_plan, stored_options
from replaykit.tasks.suite import Suite
from replaykit.tasks.task import Task, decode_task

SITES = {"shop": ("http://shop.test",), "wiki": ("http://wiki.test",)}


def task(name: str, url: str, *sites: str) -> Task:
    check = {"type": "page", "url": url, "selector": "#a", "expect": {"not_empty": True}}
    return decode_task({"id": name, "intent": "x", "sites": list(sites), "checks": [check]})


OWN = task("own", "__SHOP__/own", "shop")
NEAR = task("near", "__SHOP__/near", "shop")
FAR = task("far", "__WIKI__/far", "shop", "wiki")


def urls(evidence: Any, own: Task | None = OWN, **options: Any) -> list[str]:
    plan = probe_plan(as_settings({"evidence": evidence, **options}), own, SITES)
    return [page.url for page in plan.pages if page.phase == "post"]


def test_by_default_it_is_the_task_s_own_pages() -> None:
    assert urls("task") == ["http://shop.test/own"]
    assert as_settings({}).evidence == EvidencePages() == as_evidence("task")


@pytest.mark.parametrize("suite", [Suite(tasks=(OWN, NEAR, FAR)), [OWN, NEAR, FAR]], ids=["suite", "tasks"])
def test_a_suite_adds_the_pages_of_its_tasks_on_the_same_sites(suite: Any) -> None:
    assert urls(suite) == ["http://shop.test/own", "http://shop.test/near"]
    assert urls(suite, own=FAR) == ["http://wiki.test/far", "http://shop.test/own", "http://shop.test/near"]
    assert urls(suite, own=None) == ["http://shop.test/own", "http://shop.test/near", "http://wiki.test/far"]


def test_a_file_lists_urls_with_comments_and_placeholders(tmp_path: Path) -> None:
    file = tmp_path / "urls.txt"
    file.write_text("\ufeff# after the run\n\n  __SHOP__/a?x=1#top \r\nhttps://b.test/\n", "utf-8")
    assert load_urls(file) == ("__SHOP__/a?x=1#top", "https://b.test/")
    assert urls(str(file)) == ["http://shop.test/own", "http://shop.test/a?x=1#top", "https://b.test/"]
    assert urls(file) == urls(["__SHOP__/a?x=1#top", "https://b.test/"])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"http://a.test/\nfile:///etc/passwd\n", "line 2: 'file:///etc/passwd' is no URL"),
        (b"javascript:alert(1)\n", "line 1"),
        (b"http://a.test/ http://b.test/", "line 1"),
        (b"\xff\xfe", "not UTF-8"),
        (b"#" * (FILE_MAX + 1), f"more than {FILE_MAX} bytes"),
    ],
)
def test_a_file_that_is_no_list_is_refused_with_its_line(content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "urls.txt").write_bytes(content)
    with pytest.raises(RecorderError, match=said.replace("(", r"\(")):
        as_evidence(tmp_path / "urls.txt")


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecorderError, match="cannot read the list of URLs"):
        as_evidence(str(tmp_path / "none.txt"))


@pytest.mark.parametrize("said", ["suite", 7, None, ["ftp://a.test/"], [OWN, "http://a.test/"]], ids=str)
def test_what_means_nothing_is_a_usage_error(said: Any) -> None:
    with pytest.raises(UsageError, match="evidence"):
        as_settings({"evidence": said})


def test_a_placeholder_without_a_root_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match=r"no root for __CRM__, there are __SHOP__, __WIKI__"):
        urls(["__CRM__/"])


def test_the_header_says_which_and_holds_no_task_of_the_suite() -> None:
    assert stored_options(as_settings({"evidence": [OWN], "mask": ["#a"]})) == {
        "mask": ["#a"],
        "screenshots": "png",
        "network": "bodies",
        "pre_probes": "auto",
        "evidence": "suite",
    }


def test_options_that_came_by_variables_are_not_handed_on() -> None:
    environ = {"REPLAYKIT_RECORD_TASK": "shop.yaml", "REPLAYKIT_RECORD_SITE": "shop=x", "HOME": "/"}
    kept, hidden = without_secrets(environ, (), ("REPLAYKIT_RECORD_SITE",))
    assert kept == {"REPLAYKIT_RECORD_SITE": "shop=x", "HOME": "/"}
    assert hidden == ()
