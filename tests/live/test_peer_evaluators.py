"""WebArena's own evaluators, unchanged, on recorded pages: their verdicts are those of our compat mode.

Runs are recorded on the shop in a real browser; then the shop is stopped, and nothing is asked of it any more.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import sync_playwright

from fixtures.sites.shop.server import serve
from replaykit.bundle.reader import open_bundle
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.grader import grade
from replaykit.recorder.agent_runs import record_agent
from replaykit.tasks.suite import load_tasks
from replaykit.tasks.task import Task
from tests.blocks import ROOT, block
from tests.live.flags import LEAN
from tests.live.lent import Lent
from tests.needed import missing
from tests.thorough import one_in

pytestmark = pytest.mark.live

PEERS = ROOT / ".venv" / "peers"
SUITE = ROOT / "fixtures" / "tasks" / "webarena-shop.json"
SITE = "__SHOP__"


class Recorded(NamedTuple):
    """A run of a task, and where its site was."""

    path: Path
    record: dict[str, Any]
    root: str


class Case(NamedTuple):
    """A task, as it is or with other rules, graded on a run."""

    name: str
    run: Recorded
    record: dict[str, Any]


def in_texts(change: Callable[[str], str]) -> Callable[[Any], Any]:
    """Return a rewriting of every text in a value."""

    def changed(value: Any) -> Any:
        if isinstance(value, list):
            return [changed(one) for one in value]
        if isinstance(value, dict):
            return {key: changed(one) for key, one in value.items()}
        return change(value) if isinstance(value, str) else value

    return changed


def targets(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda rules: {**rules, "program_html": [change(one) for one in rules["program_html"]]}


def references(change: Callable[[str], str]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    contents = in_texts(change)
    rewritten = targets(lambda target: {**target, "required_contents": contents(target["required_contents"])})
    return lambda rules: {**rewritten(rules), "reference_answers": contents(rules["reference_answers"])}


def located(locator: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return targets(lambda target: {**target, "locator": locator})


OTHER_RULES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "as it is": lambda rules: rules,
    "in capitals": references(str.upper),
    "quoted": references(lambda text: f" '{text}' "),
    "one more letter": references(lambda text: text + "x"),
    "escaped": references(lambda text: text.replace("€", "&euro;")),
    "nothing there": located("document.querySelector('#nothing').outerText"),
    "no script": located("document.querySelector("),
    "all elements": located("document.querySelectorAll('h1')"),
    "another type": located("document.querySelector('h1').childElementCount"),
    "another page": lambda rules: {**rules, "reference_url": rules["reference_url"] + "0"},
    "another tab": lambda rules: {**rules, "reference_url": f"{SITE}/orders/1003?tab=items"},
    "either page": lambda rules: {**rules, "reference_url": f"{rules['reference_url']} |OR| {SITE}/x"},
}


A_FEW = slice(2, 4)
"""A task about an address, and one about a page."""


@pytest.fixture(scope="module", params=one_in(2, [A_FEW, slice(None)]), ids=["a few", "all"])
def runs(
    request: pytest.FixtureRequest, browser_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[Recorded]]:
    if not (PEERS / "webarena").is_dir():
        missing("libwebarena is not installed beside the environment; sh .ci/setup installs it")
    folder = tmp_path_factory.mktemp("runs")
    with ThreadPoolExecutor(1) as apart:  # a sync driver owns the event loop of its thread
        yield apart.submit(recorded, load_tasks(SUITE)[request.param], folder, browser_path).result()


def recorded(tasks: Sequence[Task], folder: Path, browser_path: Path) -> list[Recorded]:
    """Record tasks, each on a shop of its own."""
    found = []
    with sync_playwright() as playwright, pytest.MonkeyPatch.context() as patch:
        browser = playwright.chromium.launch(
            executable_path=browser_path, chromium_sandbox=os.geteuid() != 0, args=[LEAN]
        )
        patch.setattr("playwright.sync_api.sync_playwright", lambda: Lent(browser))
        for task in tasks:
            path = folder / f"{task.id}.zst"
            with serve() as shop:
                record_agent("fixtures.agents.good:good", task, path, sites={"shop": (shop.url,)})
                found.append(Recorded(path, task.source_record, shop.url))
        browser.close()
    return found


def theirs(cases: list[Case], browser: Path, folder: Path) -> list[list[Any]]:
    """Return score, fault and what was missing, as the published evaluators and OfflinePage say."""
    jobs = []
    for number, case in enumerate(cases):
        config = folder / f"{number}.json"
        config.write_text(json.dumps(case.record).replace(SITE, case.run.root), "utf-8")
        jobs.append([str(case.run.path), str(config)])
    answered = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("webarena_process.py"))],
        input=json.dumps({"browser": str(browser), "jobs": jobs}),
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(PEERS), str(ROOT)])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answered.returncode == 0, answered.stderr[-2000:]
    found: list[list[Any]] = json.loads(answered.stdout)
    return found


def ours(case: Case, folder: Path) -> str:
    suite = folder / "suite.json"
    suite.write_text(json.dumps([case.record]), "utf-8")
    (task,) = load_tasks(suite)
    with open_bundle(case.run.path) as bundle:
        completion = grade(bundle, task, options=GradeOptions(mode="compat", replay="auto")).completion
    assert completion is not None
    return completion.outcome.value


FIELDS = {"string_match": "reference_answers", "url_match": "reference_url", "program_html": "program_html"}
"""Fields that each evaluator reads."""


def other_rules(rules: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the rules that say something else to the evaluators that they name, by name."""
    found, known = {}, []
    for name, change in OTHER_RULES.items():
        changed = change(rules)
        read = [changed[FIELDS[kind]] for kind in rules["eval_types"]]
        if read not in known:
            found[name] = changed
            known.append(read)
    return found


BRIEFLY = ("as it is", "one more letter", "nothing there", "another page", "either page")
"""Questions to every run; further questions to a recorded page take longer, and go to the first one only."""


def asked(runs: list[Recorded]) -> Iterator[Case]:
    """Yield every run with every rule that is asked of it."""
    pages = [run for run in runs if "program_html" in run.record["eval"]["eval_types"]]
    for run in runs:
        for name, rules in other_rules(run.record["eval"]).items():
            if run not in pages[1:] or name in BRIEFLY:
                yield Case(name, run, {**run.record, "eval": rules})


@pytest.mark.thorough  # below, a published evaluator scores a run; tests of the checks compare many verdicts
def test_published_evaluators_have_our_verdicts(
    runs: list[Recorded], browser_path: Path, tmp_path: Path
) -> None:
    cases = [
        case
        for case in asked(runs)
        # Cases that need a model are left out.
        if "fuzzy_match" not in json.dumps(case.run.record["eval"]["reference_answers"])
        or case.name == "as it is"
    ]
    said = theirs(cases, browser_path, tmp_path)
    assert all(missing == [] for _, _, missing in said)
    expected = ["ERROR" if fault else "PASS" if score == 1 else "FAIL" for score, fault, _ in said]
    found = [ours(case, tmp_path) for case in cases]
    differ = [
        (case.run.record["task_id"], case.name, one, other)
        for case, one, other in zip(cases, expected, found, strict=True)
        if one != other
    ]
    assert differ == [], differ
    assert {outcome: outcome in found for outcome in ("PASS", "FAIL")} == {"PASS": True, "FAIL": True}


SHOWN = """
import webarena_process
webarena_process.evaluators()
import replaykit
{block}
print(score)
"""
"""A block of a page, where what the published module wants is there."""


def test_the_page_about_offline_pages_scores_a_run(
    runs: list[Recorded], browser_path: Path, tmp_path: Path
) -> None:
    script = block("docs/offline-pages.md", "from webarena").text
    (name,) = set(re.findall(r"(\d+)\.json", script))
    (run,) = [one for one in runs if str(one.record["task_id"]) == name]
    shutil.copy(run.path, tmp_path / "run.zst")
    (tmp_path / f"{name}.json").write_text(json.dumps(run.record).replace(SITE, run.root), "utf-8")
    path = os.pathsep.join(map(str, (PEERS, ROOT, Path(__file__).parent)))
    done = subprocess.run(
        [sys.executable, "-c", SHOWN.format(block=script)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path, "REPLAYKIT_BROWSER": str(browser_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "1.0\n"), done.stderr[-2000:]
