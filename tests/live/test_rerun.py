"""`rerun` in a real browser: shipped recordings done again on the same site, and on one that has changed."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from fixtures.sites.crm.server import serve as serve_crm
from fixtures.sites.shop import pages
from fixtures.sites.shop.server import serve
from replaykit.bundle.reader import open_bundle
from replaykit.bundle.verification import verify
from replaykit.cli.main import run
from replaykit.errors import UsageError
from replaykit.recorder.agent_runs import BrowserChoice, record_agent
from replaykit.reruns.live_rerun import rerun
from replaykit.reruns.rerun_diff import GATED, KINDS
from replaykit.tasks.suite import load_suite
from replaykit.testing import trajectory
from replaykit.trajectory.action import Click, Element, UploadFile, tag_of
from replaykit.trajectory.step import AgentInfo
from tests.thorough import one_in

if TYPE_CHECKING:
    from tests.live.conftest import Site

pytestmark = pytest.mark.live

ROOT = Path(__file__).resolve().parents[2]
REFUND = ROOT / "recordings" / "conformance" / "refund-order--good.zst"
CONFIRM = '<button class="danger" type="submit">Confirm refund</button>'


@pytest.fixture
def choice(browser_path: Path, lent: None) -> BrowserChoice:
    return BrowserChoice(path=str(browser_path))


def command(*arguments: str) -> int:
    """Run the command where no sync driver owns the event loop: it starts a browser of its own."""
    with ThreadPoolExecutor(1) as apart:
        return apart.submit(run, ["rerun", *arguments]).result()


def rewritten(monkeypatch: pytest.MonkeyPatch, old: str, new: str) -> None:
    """Have the shop's templates say something else."""
    before = pages._template.__wrapped__

    @cache
    def changed(name: str) -> Template:
        return Template(before(name).template.replace(old, new))

    monkeypatch.setattr(pages, "_template", changed)


@pytest.mark.thorough
def test_the_same_site_shows_no_divergence(choice: BrowserChoice, tmp_path: Path) -> None:
    out = tmp_path / "again.zst"
    with serve() as shop:
        found, recorded = rerun(REFUND, out, sites={"shop": (shop.url,)}, browser=choice)
        assert shop.state.as_json()["orders"]["1004"]["status"] == "Refunded"
    assert found.diverges_at(KINDS) is None, found.rows
    # A fast agent left no time for a look at the page after step 1.
    assert [row.text for row in found.rows] == ["same", "same", "unknown", "same", "same"]
    assert (recorded.kind, recorded.answer) == ("stopped", None)
    assert verify(out).findings == ()
    with open_bundle(REFUND) as before, open_bundle(out) as after:
        actions = [[tag_of(step.action) for step in one.trajectory.steps] for one in (before, after)]
        assert actions[0] == actions[1]
        task = after.trajectory.header.task
        assert task is not None and task["id"] == "refund-order" and not task.get("checks")
        assert after.trajectory.header.sites == {"shop": (shop.url,)}


def test_a_changed_button_is_where_the_run_diverges_and_ends(
    choice: BrowserChoice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rewritten(monkeypatch, CONFIRM, CONFIRM.replace("Confirm refund", "Close the order for ever"))
    with serve() as shop:
        found, _ = rerun(
            REFUND, tmp_path / "again.zst", sites={"shop": (shop.url,)}, browser=choice, patience=2.0
        )
        assert shop.state.as_json()["orders"]["1004"]["status"] != "Refunded"
    row = found.diverges_at()
    assert row is not None and (row.step, row.state) == (3, "changed")
    (difference,) = row.differences
    assert difference.kind == "target" and "Confirm refund" in str(difference.before)
    assert "Close the order for ever" in str(difference.after)


@pytest.mark.thorough  # test_help_examples.py runs the command
def test_the_command_reports_what_moved_and_what_reads_differently(
    browser_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rewritten(monkeypatch, CONFIRM, f"<span>{CONFIRM}</span><em>No way back</em>")
    out = tmp_path / "again.zst"
    arguments = [str(REFUND), "-o", str(out), "--browser", str(browser_path), "--format", "json"]
    with serve() as shop:
        assert command(*arguments, "--site", f"shop={shop.url}") == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [one["kind"] for one in rows[-1]["differences"]] == ["place"]
    (difference,) = next(row for row in rows if row["step"] == 2)["differences"]
    assert (difference["kind"], difference["new"]) == ("text", ["No way back"])
    with serve() as shop:
        said = ["--site", f"shop={shop.url}", "--fail-on", "text", "--force"]
        assert command(*arguments, *said) == 1


@pytest.mark.thorough
def test_tabs_and_pages_of_two_sites_are_found_again(choice: BrowserChoice, tmp_path: Path) -> None:
    bundle = ROOT / "recordings" / "conformance" / "credit-limit--makes_up.zst"
    with serve_crm() as crm:
        sites = {name: (root,) for name, root in crm.sites.items()}
        found, _ = rerun(bundle, tmp_path / "again.zst", sites=sites, browser=choice)
    assert found.diverges_at() is None, found.rows
    assert [row.state for row in found.rows] == ["done"] * 3


@pytest.mark.thorough
def test_a_password_is_given_and_never_kept(choice: BrowserChoice, tmp_path: Path) -> None:
    # Its policy names the password, which would stay in the recording.
    task = replace(load_suite(ROOT / "fixtures" / "tasks" / "shop.yaml").task("sign-in"), policies=())
    first, second, third = (tmp_path / f"{name}.zst" for name in ("first", "second", "third"))
    with serve() as shop:
        sites = {"shop": (shop.url,)}
        record_agent("fixtures.agents.good:good", task, first, sites=sites, browser=choice)
        refused, _ = rerun(first, second, sites=sites, browser=choice)
        found, _ = rerun(first, third, sites=sites, browser=choice, fill={1: "harbour-42"})
    assert [row.state for row in refused.rows] == ["done", "done", "refused", "not_reached"]
    assert found.diverges_at() is None, found.rows
    assert [row.state for row in found.rows] == ["done"] * 4
    with open_bundle(third) as bundle:
        held = [*bundle.lines, *(bundle.blob(id) for id in bundle.blob_ids)]
    assert not [part for part in held if b"harbour-42" in part]


@pytest.mark.thorough
def test_an_upload_is_not_made_up_and_is_done_with_a_file(
    browser_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = ROOT / "recordings" / "conformance" / "import-leads--uploads_wrong.zst"
    with open_bundle(bundle) as recorded:
        step = next(one for one in recorded.trajectory.steps if isinstance(one.action, UploadFile))
    assert isinstance(step.action, UploadFile)
    (info,) = step.action.files
    out, file = tmp_path / "again.zst", tmp_path / info.name
    file.write_text("Name,Company\nAda,Analytical\n", "utf-8")
    with serve_crm() as crm:
        sites = [f"--site={name}={root}" for name, root in crm.sites.items()]
        arguments = [str(bundle), *sites, "-o", str(out), "--browser", str(browser_path)]
        assert command(*arguments) == 3
        output = capsys.readouterr().out
        assert f"it uploads '{info.name}'" in output and f"--upload {step.index}=FILE" in output
        assert f"up to step {step.index}: not attempted" in output
        command(*arguments, "--force", "--upload", f"{step.index}={file}")
    with open_bundle(out) as made:
        again = [one.action for one in made.trajectory.steps if isinstance(one.action, UploadFile)]
        assert [[one.name for one in action.files] for action in again] == [[info.name]]
        agent = made.header.agent
        assert agent is not None and agent.name == "rerun" and agent.extra["recorded"].startswith("sha256:")


@pytest.mark.thorough
def test_the_harness_may_name_the_agent(choice: BrowserChoice, tmp_path: Path) -> None:
    me = AgentInfo(name="night shift", version="2")
    with serve() as shop:
        sites, out = {"shop": (shop.url,)}, tmp_path / "again.zst"
        rerun(REFUND, out, sites=sites, browser=choice, patience=0.5, agent=me)
        with open_bundle(out) as made:
            assert made.header.agent == me
        named = tmp_path / "named.zst"
        record_agent(lambda page, agent_task, run: run.answer("x"), None, named, browser=choice, agent=me)
        with open_bundle(named) as made:
            assert made.header.agent == me


@pytest.mark.parametrize(
    "css", one_in(3, ["#a >> internal:control=enter-frame", "xpath=//button", "javascript:hit()"])
)
def test_a_hostile_recording_opens_nothing_and_runs_nothing(
    css: str, choice: BrowserChoice, tmp_path: Path, site: Site
) -> None:
    origin, other = site.origin, site.other
    site.add("/", "<button id=a>Pay</button>")

    def recorded(name: str, url: str, css: str) -> Path:
        run = trajectory("t1").see("<button id=a>Pay</button>", url=url, role="start")
        run.step(Click(element=Element(css=css, tag="button", text="Pay")))
        return run.goto(f"{other}/trap").write(tmp_path / name)

    with pytest.raises(UsageError, match="which no root covers"):
        rerun(recorded("a.zst", f"{other}/", "#a"), tmp_path / "x.zst", allow=[origin], browser=choice)
    found, _ = rerun(
        recorded("b.zst", f"{origin}/", "#a"), tmp_path / "b2.zst", allow=[origin], browser=choice
    )
    assert [row.state for row in found.rows] == ["done", "done", "refused"]
    bundle = recorded("c.zst", f"{origin}/", css)
    found, _ = rerun(bundle, tmp_path / "d.zst", allow=[origin], browser=choice, patience=0.2)
    assert found.rows[1].state == "missing"
    assert not [path for path in site.asked if "trap" in path]


def test_an_unknown_kind_and_a_run_without_steps_are_usage(tmp_path: Path) -> None:
    bundle = trajectory("t1").see("<p>x</p>", url="http://a.test/", role="start").write(tmp_path / "a.zst")
    assert run(["rerun", str(bundle), "--allow", "http://a.test"]) == 2
    assert run(["rerun", str(bundle), "--allow", "http://a.test", "--fail-on", "weather"]) == 2
    assert run(["rerun", str(tmp_path / "none.zst"), "--allow", "http://a.test"]) == 3
    assert set(GATED) < set(KINDS)


def test_the_recorded_run_and_what_exists_are_never_written_over(tmp_path: Path) -> None:
    bundle = trajectory("t1").see("<p>x</p>", url="http://a.test/", role="start").write(tmp_path / "a.zst")
    before = bundle.read_bytes()
    arguments = ["rerun", str(bundle), "--allow", "http://a.test", "-o"]
    assert run([*arguments, str(bundle), "--force"]) == 2
    other = tmp_path / "b.zst"
    other.write_bytes(b"mine")
    assert run([*arguments, str(other)]) == 3
    assert (bundle.read_bytes(), other.read_bytes()) == (before, b"mine")
