"""The HTML report as a file: the same bytes, inert, whole, bounded, whatever was recorded."""

from __future__ import annotations

import io
import re
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from replaykit.grading.engine import build_report
from replaykit.grading.verdict import Judgement, JudgeOutcome, Report
from replaykit.report.html.escaping import source_hash
from replaykit.report.html.report_file import HtmlOptions, as_html, write_html
from replaykit.report.html.shell import SCRIPTS, program
from replaykit.report.report_output import write_report
from replaykit.testing import Builder, trajectory

ReportOf = Callable[..., Report]
Shop = Callable[..., Builder]


def page_of(report: Report, *sources: Path, **options: Any) -> str:
    out = io.StringIO()
    write_html(report, sources, out, HtmlOptions(**options))
    return out.getvalue()


def test_the_same_input_gives_the_same_bytes(
    recordings: list[Path], report_of: ReportOf, tmp_path: Path
) -> None:
    report = report_of(*recordings[:6])
    first = as_html(report, recordings[:6])
    assert as_html(report, recordings[5::-1]) == first
    write_report(report, tmp_path / "r.html", sources=recordings[:6])
    assert (tmp_path / "r.html").read_bytes() == first


def test_every_shipped_run_is_in_it_with_its_screenshots(
    recordings: list[Path], report_of: ReportOf, markup: Any
) -> None:
    report = report_of(*recordings)
    found = markup(page_of(report, *recordings))
    rows = found.report["runs"]
    assert len(rows) == len(report.verdicts) == len(recordings)
    for row, verdict in zip(rows, report.verdicts, strict=True):
        run = found.run(row["id"])
        assert run["verdict"] == msgspec.json.decode(msgspec.json.encode(verdict))
        assert row["steps"] == len(run["steps"])
        assert run["left_out"] == 0
        for name, kind, width, height in run["screenshots"].values():
            assert found.blocks[name].startswith("iVBOR")
            assert kind == "image/png"
            assert (width, height) in {(1280, 720), (760, 680)}  # a popup is smaller
        for step in run["steps"]:
            # Of a tab that was just opened there is no screenshot yet.
            assert step.get("shown", 0) < len(run["looks"])


def test_a_step_that_a_judge_cites_says_what_changed_on_the_page(
    report_of: ReportOf, markup: Any, tmp_path: Path
) -> None:
    path = trajectory().goto("http://s.test/", "<p>Open").click("#b", "<p>Paid <b>&lt;i&gt;").answer("ok")
    source = path.write(tmp_path / "run.zst")
    (verdict,) = report_of(source).verdicts
    criterion = {
        "id": "c1",
        "statement": "It is paid.",
        "kind": "outcome",
        "verdict": "YES",
        "reason": "",
        "steps": [1],
    }
    cited = Judgement(
        judge="rubric", outcome=JudgeOutcome.SUCCESS, reason="", fingerprint="", criteria=(criterion,)
    )
    member = {"judge": "rubric", "outcome": "SUCCESS", "criteria": [criterion]}
    panel = Judgement(judge="p", outcome=JudgeOutcome.SUCCESS, reason="", fingerprint="", members=(member,))
    for one in (cited, panel):
        found = markup(page_of(build_report([replace(verdict, judgements=(one,))]), source))
        assert found.run(found.report["runs"][0]["id"])["changes"] == {"1": ["- Open", "+ Paid <i>"]}
    found = markup(page_of(build_report([verdict]), source))
    assert found.run(found.report["runs"][0]["id"])["changes"] == {}


def test_the_target_of_a_step_has_a_place_on_its_drawn_page(
    recordings: list[Path], report_of: ReportOf, markup: Any
) -> None:
    source = next(path for path in recordings if path.stem == "refund-order--good")
    report = report_of(source)
    found = markup(page_of(report, source))
    run = found.run(found.report["runs"][0]["id"])
    step = run["steps"][3]
    look = run["looks"][step["before"]]
    spot = ":".join(map(str, step["action"]["element"]["node"]))
    assert run["pages"][look["page"]]["boxes"][spot] == [681, 428, 145, 39]


def test_a_judge_s_transcript_is_read_from_the_tape(
    recordings: list[Path], report_of: ReportOf, markup: Any
) -> None:
    source = next(path for path in recordings if path.stem == "return-window--good")
    found = markup(page_of(report_of(source), source))
    run = found.run(found.report["runs"][0]["id"])
    (exchange,) = run["judges"][0]["exchanges"]
    assert exchange["reply"].rstrip().endswith("SUCCESS")
    assert "within how many days" in exchange["parts"][0]["text"]
    assert exchange["parts"][1]["screenshot"] in run["screenshots"]
    assert exchange["system"]


def test_the_policy_allows_this_program_and_nothing_else(
    shop: Shop, report_of: ReportOf, tmp_path: Path
) -> None:
    text = page_of(report_of(shop().write(tmp_path / "a.zst")))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy[1].replace("&#x27;", "'").split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == source_hash(program())
    assert rules["img-src"] == "blob:"
    assert "unsafe" not in rules["script-src"] + rules["style-src-elem"]
    assert rules["require-trusted-types-for"] == "'script'"
    scripts = re.findall(r"<script>(.*?)</script>", text, flags=re.S)
    assert [source_hash(script) for script in scripts] == [rules["script-src"]]


def test_it_asks_nothing_of_anybody(report_of: ReportOf, recordings: list[Path]) -> None:
    text = page_of(report_of(recordings[0]), recordings[0])
    program_and_style = re.sub(
        r'<script type="[^"]*" id="[^"]*">.*?</script>|<noscript>.*?</noscript>', "", text, flags=re.S
    )
    assert re.findall(r"https?://[^\s\"']+", program_and_style) == ["http://www.w3.org/2000/svg"]
    assert not re.findall(
        r"\b(?:innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval|Function)\b", program_and_style
    )


SAID = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        [
            "</script><script>alert(1)</script>",
            "<!--<script>",
            "</style>",
            "</noscript><img src=x>",
            "{{title}}",
        ]
    ),
)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(SAID, SAID, SAID)
def test_recorded_text_changes_no_tag(
    markup: Any,
    report_of: ReportOf,
    tmp_path_factory: pytest.TempPathFactory,
    intent: str,
    answer: str,
    title: str,
) -> None:
    folder = tmp_path_factory.mktemp("words")

    def written(*said: str) -> Any:
        task = {
            "id": said[0] or "t",
            "intent": said[0],
            "checks": [{"type": "string_match", "exact": said[1]}],
        }
        path = (
            trajectory(task)
            .goto("http://shop.test/", "<p>x</p>")
            .answer(said[1])
            .write(folder / f"{len(list(folder.iterdir()))}.zst")
        )
        return markup(page_of(report_of(path, label=said[2]), path))

    plain, found = written("a", "b", "c"), written(intent, answer, title)

    def shape(one: Any) -> list[Any]:
        return [(tag, [name for name, _ in attributes]) for tag, attributes in one.tags]

    assert shape(found) == shape(plain)


def test_a_bundle_that_cannot_be_read_is_reported_and_the_rest_is_there(
    shop: Shop, report_of: ReportOf, tmp_path: Path, markup: Any
) -> None:
    good = shop().write(tmp_path / "good.zst")
    bad = tmp_path / "bad.zst"
    bad.write_bytes(b"nothing of the kind")
    found = markup(page_of(report_of(good, bad), good, bad))
    rows = {row["name"]: row for row in found.report["runs"]}
    assert rows["bad"]["error"] == "bad.zst: not a replaykit bundle: found a text file"
    assert "not a replaykit bundle" in found.run(rows["bad"]["id"])["unreadable"]
    assert str(tmp_path) not in found.run(rows["bad"]["id"])["unreadable"]
    assert rows["good"]["steps"] == 2


def test_a_damaged_screenshot_is_left_out_and_the_run_is_shown(
    shop: Shop, report_of: ReportOf, tmp_path: Path, markup: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = shop().write(tmp_path / "a.zst")
    monkeypatch.setattr("replaykit.report.html.embedded_screenshots.png", lambda data: b"")
    monkeypatch.setattr("replaykit.report.html.embedded_evidence.screenshot", lambda bundle, id: None)
    found = markup(page_of(report_of(path), path))
    run = found.run(found.report["runs"][0]["id"])
    assert set(map(tuple, run["screenshots"].values())) == {(None,)}
    assert len(run["steps"]) == 2


def test_a_report_without_bundles_shows_its_verdicts(
    shop: Shop, report_of: ReportOf, tmp_path: Path, markup: Any
) -> None:
    found = markup(page_of(report_of(shop().write(tmp_path / "a.zst"))))
    (row,) = found.report["runs"]
    assert row["success"] == "PASS"
    assert "steps" not in row
    assert set(found.run(row["id"])) == {"verdict"}


def test_bundles_are_found_by_what_is_in_them(
    shop: Shop, report_of: ReportOf, tmp_path: Path, markup: Any
) -> None:
    path = shop().write(tmp_path / "a.zst")
    report = report_of(path)
    renamed = path.rename(tmp_path / "another name.zst")
    other = shop(answer="else").write(tmp_path / "b.zst")
    (row,) = markup(page_of(report, other, renamed)).report["runs"]
    assert row["name"] == "another name"


def test_screenshots_go_to_runs_that_ask_to_be_looked_at(
    shop: Shop, report_of: ReportOf, tmp_path: Path, markup: Any
) -> None:
    paths = [
        shop(task=name, answer=said).write(tmp_path / f"{name}.zst")
        for name, said in (("a", "the tin mug"), ("b", "wrong"))
    ]
    found = markup(page_of(report_of(*paths), *paths, most=1))
    good, bad = (found.run(row["id"]) for row in found.report["runs"])
    assert len([one for one in bad["screenshots"].values() if one[0]]) == 1
    assert good["left_out"] > 0
    assert found.report["left_out"]["pieces"] > 0


def test_memory_does_not_grow_with_the_runs(shop: Shop, report_of: ReportOf, tmp_path: Path) -> None:
    def run(number: int) -> Path:
        made = shop(task=f"t{number:03}")
        return made.screenshot(600, 400, (number, 0, 0)).answer("x").write(tmp_path / f"{number}.zst")

    paths = [run(number) for number in range(24)]
    few, many = report_of(*paths[:6]), report_of(*paths)

    def peak(report: Report) -> int:
        with (tmp_path / "out.html").open("w") as file:
            tracemalloc.start()
            write_html(report, paths, file)
            _, most = tracemalloc.get_traced_memory()
            tracemalloc.stop()
        return most

    peak(few)
    assert peak(many) < 1.5 * peak(few)


def test_no_asset_is_named_that_is_not_there_and_none_is_forgotten() -> None:
    from importlib.resources import files

    folder = files("replaykit.report.html").joinpath("script")
    assert {f"{name}.js" for name in SCRIPTS} == {entry.name for entry in folder.iterdir()}
