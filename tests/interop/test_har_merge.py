"""A HAR file joined with a run that was recorded without its network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.bundle.reader import open_bundle
from replaykit.bundle.verification import verify
from replaykit.cli.main import run
from replaykit.errors import BundleWriteError, MalformedSource, UnknownLayout, UsageError
from replaykit.grading.grader import grade
from replaykit.interop.har.har_merge import join_har
from replaykit.interop.imported_run import Options
from replaykit.testing.builder import CREATED, TICK, trajectory
from replaykit.trajectory.exchange import Exchange
from replaykit.trajectory.step import CHANNELS, Step
from tests.interop.samples import entry, har

WITHOUT = {**dict.fromkeys(CHANNELS, "recorded"), "network": "absent"}
PAID = {
    "id": "t1",
    "intent": "Pay.",
    "checks": [{"type": "network", "expected": {"url": "http://shop.test/pay", "http_method": "POST"}}],
}


def at(ms: int, url: str = "http://shop.test/", **changes: Any) -> dict[str, Any]:
    seconds, rest = divmod(ms, 1000)
    return entry(url, startedDateTime=f"{CREATED[:17]}{seconds:02}.{rest:03}Z", **changes)


def recorded(folder: Path, task: str | dict[str, Any] = "t1", **header: Any) -> Path:
    folder.mkdir(exist_ok=True)
    header.setdefault("channels", WITHOUT)
    run = trajectory(task, **header).click("#a", "<p>one</p>").screenshot().click("#b", "<p>two</p>")
    return run.answer("done").write(folder / "run.zst")


def times(path: Path) -> list[int]:
    with open_bundle(path) as bundle:
        return [step.t or 0 for step in bundle.trajectory.steps]


def test_each_exchange_belongs_to_the_step_that_began_before_it(tmp_path: Path) -> None:
    path = recorded(tmp_path)
    before = path.read_bytes()
    first, second = times(path)
    file = har(
        tmp_path,
        at(second + 5, "http://shop.test/b"),
        at(0, "http://shop.test/0"),
        at(first, "http://shop.test/a"),
    )
    done = join_har(file, path, tmp_path / "out")
    assert path.read_bytes() == before
    assert Path(done.path) == tmp_path / "out" / "run.zst"
    assert verify(done.path).findings == ()
    with open_bundle(done.path) as bundle, open_bundle(path) as source:
        story = bundle.trajectory
        found = {one.url[-1]: one.step for one in story.of_type(Exchange)}
        assert found == {"0": None, "a": 0, "b": 1}
        order = [
            event.url[-1] if isinstance(event, Exchange) else event.index
            for event in story.events
            if isinstance(event, Exchange | Step)
        ]
        assert order == ["0", 0, "a", 1, "b"]
        assert story.channel("network") == "recorded"
        assert story.answer == "done" and story.ending == source.trajectory.ending
        (link,) = bundle.header.derived_from
        assert (link.digest, link.by) == (source.digest, "import")
        assert list(bundle.header.options["har"]) == ["net.har"]
        assert bundle.header.source is None
        body = next(story.of_type(Exchange).__iter__()).body
        assert isinstance(body, str) and bundle.blob(body) == b"hello"
        assert set(source.blob_ids) <= set(bundle.blob_ids)


def test_joined_twice_it_is_the_same(tmp_path: Path) -> None:
    path, file = recorded(tmp_path), har(tmp_path, at(50))
    one, other = (join_har(file, path, tmp_path / name) for name in ("a", "b"))
    assert one.digest == other.digest
    assert Path(one.path).read_bytes() == Path(other.path).read_bytes()


@given(st.lists(st.integers(0, 3 * TICK), max_size=12))
def test_nothing_is_lost_and_ids_stay_apart(moments: list[int]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = recorded(Path(folder))
        file = har(
            Path(folder), *[at(ms, f"http://shop.test/{n}") for n, ms in enumerate(moments)] or [at(0)]
        )
        done = join_har(file, path, Path(folder) / "out")
        begun = times(path)
        with open_bundle(done.path) as bundle:
            found = bundle.trajectory.of_type(Exchange)
        assert len({one.id for one in found}) == len(found) == max(1, len(moments))
        for one in found:
            assert one.t is not None
            due = [n for n, start in enumerate(begun) if start <= one.t]
            assert one.step == (due[-1] if due else None)


@pytest.mark.parametrize(("method", "after"), [("POST", "PASS"), ("GET", "FAIL")])
def test_what_was_undecided_is_decided(method: str, after: str, tmp_path: Path) -> None:
    path = recorded(tmp_path, PAID)
    sent = at(times(path)[1] + 5, "http://shop.test/pay")
    sent["request"]["method"] = method
    done = join_har(har(tmp_path, sent), path, tmp_path / "out")
    with open_bundle(path) as before, open_bundle(done.path) as joined:
        assert grade(before).success == "UNDECIDED"
        assert grade(joined).success == after


@pytest.mark.parametrize(("asked", "state"), [("/shop", "recorded"), ("/other", "partial")])
def test_a_file_without_a_page_of_the_run_is_not_whole(asked: str, state: str, tmp_path: Path) -> None:
    run = trajectory("t1", channels=WITHOUT).goto("http://shop.test/shop", "<p>one</p>")
    path = run.answer("done").write(tmp_path / "run.zst")
    done = join_har(har(tmp_path, at(50, f"http://shop.test{asked}")), path, tmp_path / "out")
    assert bool(done.warnings) is (state == "partial")
    with open_bundle(done.path) as bundle:
        assert bundle.trajectory.channel("network") == state


def test_probes_keep_their_ids(tmp_path: Path) -> None:
    run = trajectory("t1", channels=WITHOUT).click("#a").request("GET", "http://shop.test/p", actor="probe")
    path = run.answer("x").write(tmp_path / "run.zst")
    done = join_har(har(tmp_path, at(150)), path, tmp_path / "out")
    with open_bundle(done.path) as bundle:
        assert sorted((one.actor, one.id) for one in bundle.trajectory.of_type(Exchange)) == [
            ("agent", 1), ("probe", 0),
        ]  # fmt: skip


def test_a_bad_entry_leaves_the_channel_partial(tmp_path: Path) -> None:
    done = join_har(har(tmp_path, at(50), {"request": {}}), recorded(tmp_path), tmp_path / "out")
    assert "1 entries without method or URL" in done.warnings[0]
    with open_bundle(done.path) as bundle:
        assert bundle.trajectory.channel("network") == "partial"


def test_declared_secrets_leave_the_file(tmp_path: Path) -> None:
    file = har(tmp_path, at(50, "http://shop.test/?k=open-sesame"))
    done = join_har(
        file, recorded(tmp_path), tmp_path / "out", options=Options(secrets={"KEY": "open-sesame"})
    )
    with open_bundle(done.path) as bundle:
        assert not [line for line in bundle.lines if b"open-sesame" in line]
        assert bundle.header.secrets == ("KEY",)


def test_what_cannot_be_joined_is_refused(tmp_path: Path) -> None:
    file = har(tmp_path, at(50))
    with_own = recorded(tmp_path, channels=dict.fromkeys(CHANNELS, "recorded"))
    with pytest.raises(UsageError, match="a recorded network"):
        join_har(file, with_own, tmp_path / "out")
    timeless = recorded(tmp_path / "b", clock="none")
    with pytest.raises(UsageError, match="does not state when"):
        join_har(file, timeless, tmp_path / "out")
    path = recorded(tmp_path / "c")
    with pytest.raises(UsageError, match="never changed"):
        join_har(file, path, path.parent)
    late = har(tmp_path / "late", entry(startedDateTime="2031-01-01T00:00:00Z"))
    with pytest.raises(MalformedSource, match="of another time than the run"):
        join_har(late, path, tmp_path / "out")
    with pytest.raises(UnknownLayout, match="it is missing"):
        join_har(tmp_path / "none.har", path, tmp_path / "out")
    join_har(file, path, tmp_path / "out")
    with pytest.raises(BundleWriteError, match="it exists"):
        join_har(file, path, tmp_path / "out")
    join_har(file, path, tmp_path / "out", force=True)


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, file = recorded(tmp_path), har(tmp_path, at(50))
    arguments = ["import", "har", str(file), "--into", str(path), "-o", str(tmp_path / "out")]
    assert run(arguments) == 0
    assert capsys.readouterr().out.startswith(f"{tmp_path}/out/run.zst sha256:")
    assert run(arguments) == 3
    assert run(["import", "auto", *arguments[2:]]) == 2
    assert run(["import", "har", str(file), str(file), *arguments[3:]]) == 2
