"""Evidence that was there once: what a damaged run no longer shows is UNDECIDED, and runs cut short are reported."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from replaykit.errors import MalformedSource
from replaykit.grading.grader import grade
from replaykit.grading.verdict import CheckResult
from replaykit.interop.har.har_files import har_of
from replaykit.interop.run_import import ImportResult, import_runs
from replaykit.tasks.task import decode_task
from replaykit.trajectory.completeness import END
from replaykit.trajectory.exchange import Exchange
from replaykit.trajectory.scalars import Omitted
from tests.interop.conftest import Importing
from tests.interop.samples import (
    agentrewardbench,
    atif,
    browser_use,
    browsergym,
    entry,
    har,
    harbor,
    log,
    mind2web,
    mind2web_second,
    png,
    run_jsonl,
    trace,
    wabe,
    webarena_verified,
    webvoyager,
    write,
)


def decided(bundle: Any, *checks: dict[str, Any]) -> list[CheckResult]:
    task = decode_task({"id": "x", "intent": "Find it.", "checks": list(checks)})
    return list(grade(bundle, task).checks)


def request(url: str = "http://shop.test/never", **fields: Any) -> dict[str, Any]:
    """A check on a request; words of the check itself stand beside those of what is expected."""
    own = {name: fields.pop(name) for name in ("should_not_exist", "is_navigation") if name in fields}
    expected = {"url": url, "http_method": "POST", "response_status": 200, **fields}
    return {"type": "network", **own, "expected": expected}


NEVER = request(should_not_exist=True)


def edited(file: Path, change: Callable[[Any], None]) -> None:
    plain = json.loads(file.read_text("utf-8"))
    change(plain)
    file.write_text(json.dumps(plain), "utf-8")


def test_without_snapshots_a_trace_has_an_empty_file_of_the_network(
    tmp_path: Path, imported: Importing
) -> None:
    bundle = imported("playwright-trace", trace(tmp_path, **{"trace.network": b""}))
    assert bundle.trajectory.channel("network") == "absent"
    assert [one.outcome for one in decided(bundle, NEVER, request())] == ["UNDECIDED", "UNDECIDED"]


def test_a_page_that_came_from_nowhere_asked_for_nothing(tmp_path: Path, imported: Importing) -> None:
    from tests.interop.samples import PAGE_HTML, call, shown, trace_events

    action = call("c1", "Frame", "setContent", 10, 40, html="<p>")
    events = [*trace_events()[:2], *action, shown("c1", "after", PAGE_HTML, 41, frameUrl="about:blank")]
    bundle = imported("playwright-trace", trace(tmp_path, events, **{"trace.network": b""}))
    assert bundle.trajectory.channel("network") == "recorded"
    # Nothing is missing but a word about how the run ended.
    assert [(one.outcome, one.missing) for one in decided(bundle, NEVER)] == [("UNDECIDED", (END,))]


def test_a_request_of_a_trace_that_cannot_be_read_leaves_the_channel_partial(
    tmp_path: Path, imported: Importing
) -> None:
    lines = [{"type": "resource-snapshot", "snapshot": one} for one in (entry(), {"request": {}}, 5)]
    network = "\n".join(map(json.dumps, lines)).encode()
    bundle = imported("playwright-trace", trace(tmp_path, **{"trace.network": network}))
    assert bundle.trajectory.channel("network") == "partial"
    assert [one.outcome for one in decided(bundle, NEVER)] == ["UNDECIDED"]


def test_a_file_without_entries_says_nothing(tmp_path: Path, imported: Importing) -> None:
    bundle = imported("har", write(tmp_path, "net.har", log()))
    assert bundle.trajectory.channel("network") == "partial"
    assert [one.outcome for one in decided(bundle, NEVER)] == ["UNDECIDED"]


def posted(request: dict[str, Any], **content: Any) -> dict[str, Any]:
    one = entry("http://shop.test/form")
    one["request"] |= {"method": "POST", **request}
    one["response"]["content"] = {"mimeType": "application/json", **content}
    return one


FORM = {"mimeType": "application/x-www-form-urlencoded", "params": [{"name": "a", "value": "1 2"}]}
FIELD = request("http://shop.test/form", post_data={"a": "1 2"})
REPLY = request("http://shop.test/form", response_content={"ok": True})
EMPTY = [{"name": "Content-Length", "value": "0"}]
SENT = [{"name": "Content-Type", "value": "application/x-www-form-urlencoded"}]


@pytest.mark.parametrize(
    ("one", "check", "outcome"),
    [
        (posted({"bodySize": 9}, size=12), FIELD, "UNDECIDED"),  # `content: omit`
        (posted({"bodySize": -1}), FIELD, "UNDECIDED"),
        (posted({}), FIELD, "UNDECIDED"),
        (posted({"bodySize": 0}), FIELD, "UNDECIDED"),  # so Playwright writes uploads and beacons
        (posted({"bodySize": 0, "headers": EMPTY}), FIELD, "FAIL"),
        (posted({"postData": {"mimeType": "", "_file": "gone.bin"}}), FIELD, "UNDECIDED"),
        (posted({"postData": FORM, "headers": SENT}), FIELD, "PASS"),  # Charles and HAR 1.1: no text
        (posted({"postData": {**FORM, "params": [5]}, "headers": SENT}), FIELD, "UNDECIDED"),
        (posted({}, size=12), REPLY, "UNDECIDED"),
        (posted({}, text="!", encoding="base64"), REPLY, "UNDECIDED"),
        (posted({}, text="eyJvayI6\n IHRydWV9", encoding="Base64"), REPLY, "PASS"),
        (posted({}, size=0), REPLY, "FAIL"),
    ],
)
def test_a_body_that_is_not_in_the_file_is_no_empty_body(
    one: dict[str, Any], check: dict[str, Any], outcome: str, tmp_path: Path, imported: Importing
) -> None:
    first = imported("har", har(tmp_path / "a", one))
    (tmp_path / "b").mkdir()
    (tmp_path / "b/net.har").write_bytes(har_of(first))
    for bundle in (first, imported("har", tmp_path / "b/net.har")):
        assert [result.outcome for result in decided(bundle, check)] == [outcome]


def test_headers_that_were_taken_out_are_not_known(tmp_path: Path, imported: Importing) -> None:
    one = entry("http://shop.test/form")
    one["request"] |= {"method": "POST", "headers": []}
    (found,) = imported("har", har(tmp_path, one)).trajectory.of_type(Exchange)
    assert found.request_headers is None
    bundle = imported("har", tmp_path / "net.har")
    check = request("http://shop.test/form", headers={"x-a": "1"})
    assert [result.outcome for result in decided(bundle, check)] == ["UNDECIDED"]


def test_a_redirect_to_what_is_no_url_leads_nowhere(tmp_path: Path, imported: Importing) -> None:
    moved = entry("http://shop.test/old", 302)
    moved["response"]["redirectURL"] = "http://[::1"
    first, second = imported("har", har(tmp_path, moved, entry())).trajectory.of_type(Exchange)
    assert (first.redirect_to, second.redirect_from) == (None, None)
    assert first.body is not None and not isinstance(first.body, Omitted)


def test_where_no_navigation_is_kept_the_last_is_unknown(tmp_path: Path, imported: Importing) -> None:
    page = request(http_method="GET", is_navigation=True)
    for format, path in (("browser-use", browser_use(tmp_path)), ("playwright-trace", trace(tmp_path))):
        (found,) = decided(imported(format, path), page)
        assert (found.outcome, found.missing) == ("UNDECIDED", ("urls.incomplete",))


ANSWER = {"type": "string_match", "exact": ["41"]}


@pytest.mark.parametrize(("gone", "n_steps"), [([1], 2), ([1, 2], 2), ([1], None), ([0], None)])
def test_what_was_done_in_a_missing_step_is_not_known(
    gone: list[int], n_steps: int | None, tmp_path: Path, imported: Importing
) -> None:
    path = browsergym(tmp_path, {"n_steps": n_steps})
    for number in gone:
        (path / f"step_{number}.pkl.gz").unlink()
    bundle = imported("browsergym", path)
    assert bundle.trajectory.channel("actions") == "partial"
    assert [one.outcome for one in decided(bundle, ANSWER)] == ["UNDECIDED"]


def test_a_number_left_out_is_a_step_left_out(tmp_path: Path, imported: Importing) -> None:
    path = agentrewardbench(tmp_path)
    edited(path, lambda plain: plain["steps"].pop(1))
    bundle = imported("agentrewardbench", path)
    assert bundle.trajectory.channel("actions") == "partial"
    assert [one.outcome for one in decided(bundle, ANSWER)] == ["UNDECIDED"]


@pytest.mark.parametrize(
    "broken", [b"", b"<svg/>", png()[:-12], b"\xff\xd8\xff\xe0", b"GIF89a", b"RIFF\xff\0\0\0WEBP"]
)
def test_a_screenshot_that_is_none_is_no_evidence(broken: bytes, tmp_path: Path, imported: Importing) -> None:
    first, second, turns = mind2web(tmp_path), mind2web_second(tmp_path), run_jsonl(tmp_path)
    (first / "trajectory/1_full_screenshot.png").write_bytes(broken)
    (second / "trajectory/1.png").write_bytes(broken)
    (tmp_path / "shots/shot-1.png").write_bytes(broken)
    states = [imported("online-mind2web", path).trajectory.channel("screenshots") for path in (first, second)]
    assert states == ["partial", "partial"]
    assert imported("run-jsonl", turns).trajectory.channel("screenshots") == "absent"


def test_an_element_that_is_not_named_is_not_known(tmp_path: Path, imported: Importing) -> None:
    path = browser_use(tmp_path)
    assert imported("browser-use", path).trajectory.channel("targets") == "partial"  # one of two is null


def cut(file: Path, share: float = 0.5) -> None:
    file.write_bytes(file.read_bytes()[: int(file.stat().st_size * share)])


def without(name: str) -> Callable[[Path], None]:
    return lambda run: (run / name).unlink()


@pytest.mark.parametrize(
    ("format", "make", "break_off", "says"),
    [
        ("webvoyager", webvoyager, without("interact_messages.json"), "interact_messages.json is missing"),
        ("online-mind2web", mind2web, without("result.json"), "result.json is missing"),
        ("wabe", wabe, lambda run: cut(run / "result.json", 0.99), "result.json is not JSON"),
        ("atif", atif, cut, "tea.json is not JSON"),
        ("browser-use", browser_use, cut, "history.json is not JSON"),
        ("agentrewardbench", agentrewardbench, cut, "wa.12.json is not JSON"),
        ("playwright-trace", trace, cut, "the file is no zip archive, or a cut one"),
        (
            "run-jsonl",
            run_jsonl,
            lambda file: file.write_bytes(file.read_text().encode("utf-16")),
            "in UTF-16",
        ),
        ("har", har, cut, "net.har is not JSON"),
    ],
)
def test_a_run_that_broke_off_is_reported_among_whole_ones(
    format: str,
    make: Callable[[Path], Path],
    break_off: Callable[[Path], object],
    says: str,
    tmp_path: Path,
) -> None:
    make(tmp_path / "in/a")
    break_off(make(tmp_path / "in/b"))
    done = import_runs(format, [tmp_path / "in"], tmp_path / "out")
    assert [one.state for one in done] == ["imported", "failed"]
    assert says in str(done[1].error)


def one_of(done: list[ImportResult]) -> ImportResult:
    (found,) = done
    assert found.error is None, found.error
    return found


def test_a_trial_whose_agent_never_began_counts(tmp_path: Path) -> None:
    trial = harbor(tmp_path / "job", "EnvironmentStartTimeoutError")
    for file in sorted((trial / "agent").rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() else file.unlink()
    (trial / "agent").rmdir()
    write(trial, "trial.log", "started\n")
    write(tmp_path / "job", "result.json", {})
    from replaykit.bundle.reader import open_bundle

    done = one_of(import_runs("harbor", [tmp_path / "job"], tmp_path / "out"))
    with open_bundle(done.path) as bundle:
        ending = bundle.ending
        assert ending is not None and (ending.kind, ending.validity) == ("crashed", "session_lost")


def test_a_response_that_was_never_written_is_no_answer(tmp_path: Path, imported: Importing) -> None:
    path = webarena_verified(tmp_path)
    (path / "agent_response.json").unlink()
    ending = imported("webarena-verified", path).ending
    assert ending is not None and (ending.kind, ending.answer) == ("unknown", None)


@pytest.mark.parametrize(
    ("format", "make", "name"),
    [("har", har, "NET.HAR"), ("atif", atif, "Tea.JSON"), ("playwright-trace", trace, "Trace.Zip")],
)
def test_letter_case_of_endings_means_nothing(
    format: str, make: Callable[[Path], Path], name: str, tmp_path: Path
) -> None:
    file = make(tmp_path / "in")
    file.rename(file.with_name(name))
    for path in (tmp_path / "in", tmp_path / "in" / name):
        assert one_of(import_runs(format, [path], tmp_path / "out", force=True)).state == "imported"


def test_screenshots_of_another_kind_join_their_turns(tmp_path: Path, imported: Importing) -> None:
    path = webvoyager(tmp_path)
    for number, ending in enumerate(("PNG", "jpg", "webp"), 1):
        (path / f"screenshot{number}.png").rename(path / f"screenshot{number}.{ending}")
    run = imported("webvoyager", path).trajectory
    assert run.channel("screenshots") == "recorded"
    assert all(step.before is not None and step.before.screenshot for step in run.steps)


def test_a_number_that_no_bundle_holds_is_reported(tmp_path: Path, imported: Importing) -> None:
    path = browsergym(tmp_path, {"n_steps": 2, "cum_reward": 10**30})
    with pytest.raises(MalformedSource, match=r"event \d+ at .* is a number over 2\^53; expected values"):
        imported("browsergym", path)
