"""Secrets taken out of finished bundles: every record, every payload, every id; and what is left is said."""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from replaykit.bundle.blobs import blob_id
from replaykit.bundle.reader import open_bundle
from replaykit.bundle.verification import verify
from replaykit.bundle.writer import Journal, seal
from replaykit.decoders import STORED_NEST_MAX
from replaykit.errors import BundleWriteError, SecretLeft, UsageError
from replaykit.grading.grader import grade
from replaykit.redaction.bundle_redaction import redact
from replaykit.secrets.redactor import Redactor
from replaykit.secrets.secret_looks import LOOK_MIN, LOOKS
from replaykit.testing import snapshot, trajectory
from replaykit.trajectory.action import Click, Element, NodeRef, ToolCall, Unknown
from replaykit.trajectory.exchange import Exchange, Message
from replaykit.trajectory.observation import Frame, Observation, Read
from replaykit.trajectory.scalars import Omitted
from replaykit.trajectory.step import Ending, Header, Probe, Step

SECRET = "hunter22"
TOKEN = "⟦secret:PW⟧"
ROOT = Path(__file__).resolve().parents[2]
DOM = "application/x-replaykit-dom"


def write(path: Path, events: list[Any], *blobs: tuple[str, bytes], **header: Any) -> Path:
    """Write and seal a bundle of these events and payloads."""
    with Journal.create(path) as journal:
        journal.commit([Header(**{"channels": {}, **header})])
        journal.commit(events, [(blob_id(data), kind, data) for kind, data in blobs])
    seal(path)
    return path


def decoded(path: Path) -> str:
    """Every line and every payload of a bundle as one text."""
    with open_bundle(path) as bundle:
        payloads = [bundle.blob(id) for id in bundle.blob_ids]
        return b"\n".join([*bundle.lines, *payloads]).decode("utf-8", "replace")


def events(path: Path) -> tuple[Any, ...]:
    with open_bundle(path) as bundle:
        return bundle.trajectory.events


def step(secret: str, page: str, inner: str, css: str) -> Step:
    element = Element(
        css="#a", text=f"a {secret}", attributes={"data-x": secret}, node=NodeRef(snapshot=page, number=2)
    )
    frames = (Frame(snapshot=inner, url=f"http://x.test/?{secret}"), Frame(why="unreadable"))
    before = Observation(role="before", title=secret, snapshot=page, frames=frames, sheets=(css, None))
    return Step(
        index=0,
        t=5,
        action=Click(element=element),
        before=before,
        thought=secret,
        raw={"call": f"f({secret})"},
    )


def plant(path: Path, secret: str) -> Path:
    """Write a bundle that holds the secret in every kind of record and payload."""
    page, inner = snapshot("<p title='{0}'>{0}</p>".format(escape(secret))), snapshot("<i>nothing</i>")
    css, body = f"/* {secret} */".encode(), json.dumps({"note": secret, "n": [secret]}).encode()
    ids = {
        name: blob_id(data) for name, data in {"page": page, "inner": inner, "css": css, "body": body}.items()
    }
    story = [
        step(secret, ids["page"], ids["inner"], ids["css"]),
        Observation(role="after", of=0, t=9, snapshot=ids["page"], reads=(read(secret),), page=0),
        Exchange(id=0, t=9, method="POST", url=f"http://x.test/{secret}", post=ids["body"], body=ids["body"]),
        Message(role="agent", kind="say", text=f"I say {secret}", t=10),
        Probe(id="p0", phase="post", t=11, requested=f"http://x.test/{secret}", snapshot=ids["page"]),
        Ending(kind="answered", answer=secret, t=12),
    ]
    blobs = [(DOM, page), (DOM, inner), ("text/css", css), ("application/json", body)]
    return write(
        path, story, *blobs, task={"id": "t", "intent": f"Type {secret}."}, options={"mask": [secret]}
    )


def read(secret: str) -> Read:
    return Read(locator="#a", kind="array", value=[secret, {"deep": secret}, 7])


@example("dige")
@example("text")
@example("00<'")
@given(st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=4, max_size=12))
def test_no_record_and_no_payload_keeps_a_secret(
    tmp_path_factory: pytest.TempPathFactory, secret: str
) -> None:
    folder = tmp_path_factory.mktemp("run")
    plant(folder / "plain.zst", "zzzzzz")
    redact(folder / "plain.zst", folder / "words.zst", secrets={"PW": "zzzzzz"})
    words = decoded(folder / "words.zst")
    source = plant(folder / "run.zst", secret)
    before = source.read_bytes()
    done = redact(source, folder / "out.zst", secrets={"PW": secret})
    assert source.read_bytes() == before
    text = decoded(folder / "out.zst")
    # A word of the format itself is no secret: `digest` stays, whatever is hidden.
    assert secret not in text or secret in words
    assert json.dumps(secret)[1:-1] not in text or secret in words
    assert text.count(TOKEN) >= 15
    assert verify(folder / "out.zst").findings == ()
    assert done.blobs >= 3
    assert (done.withheld, done.left) == (0, ())
    assert sorted(path.name for path in folder.iterdir()) == ["out.zst", "plain.zst", "run.zst", "words.zst"]


def test_every_reference_leads_to_the_new_payload(tmp_path: Path) -> None:
    source, out = plant(tmp_path / "run.zst", SECRET), tmp_path / "out.zst"
    redact(source, out, secrets={"PW": SECRET})
    acted, after, exchange, *_, probe, _ = events(out)
    page, inner = acted.before.snapshot, acted.before.frames[0].snapshot
    assert acted.action.element.node == NodeRef(snapshot=page, number=2)
    assert after.snapshot == probe.snapshot == page
    assert inner == events(source)[0].before.frames[0].snapshot
    assert page != events(source)[0].before.snapshot
    with open_bundle(out) as bundle:
        assert TOKEN.encode() in bundle.blob(page)
        assert bundle.blob(acted.before.sheets[0]) == f"/* {TOKEN} */".encode()
        assert json.loads(bundle.blob(exchange.post)) == {"note": TOKEN, "n": [TOKEN]}
        assert bundle.header.task == {"id": "t", "intent": f"Type {TOKEN}."}


def test_the_header_says_what_it_was_made_from(tmp_path: Path) -> None:
    source = plant(tmp_path / "a.zst", SECRET)
    first = redact(source, tmp_path / "b.zst", secrets={"PW": SECRET})
    second = redact(tmp_path / "b.zst", tmp_path / "c.zst", secrets={"OTHER": "nothing-like-it"})
    with open_bundle(tmp_path / "c.zst") as bundle:
        assert [(one.digest, one.by) for one in bundle.header.derived_from] == [
            (first.source, "redact"),
            (first.digest, "redact"),
        ]
        assert bundle.header.secrets == ("OTHER", "PW")
    assert second.source == first.digest


def test_what_newer_versions_wrote_is_cleaned_and_kept(tmp_path: Path) -> None:
    page = snapshot(f"<p>{SECRET}</p>")
    raw = json.dumps({"type": "dance", "with": [SECRET, {"to": SECRET}], "floor": blob_id(page), "n": 1})
    action = Unknown(name="leap", raw=json.dumps({"type": "leap", "over": SECRET, "at": blob_id(page)}))
    story = [Unknown(name="dance", raw=raw), Step(index=0, action=action)]
    source = write(tmp_path / "run.zst", story, (DOM, page))
    redact(source, tmp_path / "out.zst", secrets={"PW": SECRET})
    dance, leap = events(tmp_path / "out.zst")
    new = json.loads(dance.raw)
    assert (new["type"], new["with"], new["n"]) == ("dance", [TOKEN, {"to": TOKEN}], 1)
    assert json.loads(leap.action.raw) == {"type": "leap", "over": TOKEN, "at": new["floor"]}
    with open_bundle(tmp_path / "out.zst") as bundle:
        assert TOKEN.encode() in bundle.blob(new["floor"])


def test_a_payload_in_which_nothing_can_be_replaced_is_left_out(tmp_path: Path) -> None:
    binary, keyed = b"\x00\x01" + SECRET.encode(), json.dumps({SECRET: 1}).encode()
    exchange = Exchange(id=0, method="POST", url="http://x.test/", post=blob_id(binary), body=blob_id(keyed))
    source = write(
        tmp_path / "run.zst", [exchange], ("application/octet-stream", binary), ("application/json", keyed)
    )
    done = redact(source, tmp_path / "out.zst", secrets={"PW": SECRET})
    (found,) = events(tmp_path / "out.zst")
    assert found.post == found.body == Omitted(why="withheld")
    assert done.withheld == 2
    assert SECRET not in decoded(tmp_path / "out.zst")


def test_a_secret_that_cannot_be_taken_out_means_no_file(tmp_path: Path) -> None:
    call = Step(index=0, action=ToolCall(name="shell", arguments={SECRET: 1}))
    source = write(tmp_path / "run.zst", [call])
    with pytest.raises(SecretLeft, match=r"event 0 at \$.action.arguments \(a key\)") as raised:
        redact(source, tmp_path / "out.zst", secrets={"PW": SECRET})
    assert SECRET not in raised.value.message
    assert [path.name for path in tmp_path.iterdir()] == ["run.zst"]


def test_numbers_of_free_values_are_texts_too(tmp_path: Path) -> None:
    call = Step(
        index=0, t=4711, action=ToolCall(name="pin", arguments={"pin": 4711, "more": [14711, 2.5, True]})
    )
    redact(write(tmp_path / "run.zst", [call]), tmp_path / "out.zst", secrets={"PIN": "4711"})
    (found,) = events(tmp_path / "out.zst")
    assert found.action.arguments == {"pin": "⟦secret:PIN⟧", "more": ["1⟦secret:PIN⟧", 2.5, True]}
    assert found.t == 4711


# Patterns


def test_patterns_are_replaced_everywhere_and_what_is_left_is_listed(tmp_path: Path) -> None:
    page = snapshot("<p>case AB-1234</p>")
    call = Step(index=0, action=ToolCall(name="shell", arguments={"AB-9999": "AB-1234"}))
    story = [call, Observation(role="after", of=0, snapshot=blob_id(page))]
    source = write(tmp_path / "run.zst", story, (DOM, page), task={"id": "t", "intent": "Close AB-1234."})
    done = redact(source, tmp_path / "out.zst", patterns=[r"AB-\d{4}"])
    text = decoded(tmp_path / "out.zst")
    assert "AB-1234" not in text
    assert text.count("⟦pattern:given_1⟧") == 3
    assert [(left.place, left.id) for left in done.left] == [
        ("event 0 at $.action.arguments (a key)", "given_1")
    ]


def test_what_looks_like_a_secret_is_listed_without_its_value(tmp_path: Path) -> None:
    card = "4111 1111 1111 1111"
    source = write(
        tmp_path / "run.zst", [Message(role="agent", kind="say", text=card)], task={"intent": card}
    )
    done = redact(source, tmp_path / "out.zst")
    assert events(tmp_path / "out.zst")[0].text == "⟦pattern:card⟧"
    assert [(left.place, left.id) for left in done.left] == [("header at $.task.intent", "card")]
    assert card not in repr(done)


@pytest.mark.parametrize(
    ("pattern", "said"),
    [("(a+)+", "unbounded repeat"), ("(", "not a regular expression"), ("a*", "empty"), ("x" * 1001, "1000")],
)
def test_patterns_that_cannot_be_used_are_usage_errors(pattern: str, said: str, tmp_path: Path) -> None:
    source = plant(tmp_path / "run.zst", SECRET)
    with pytest.raises(UsageError, match=said):
        redact(source, tmp_path / "out.zst", patterns=[pattern])
    assert not (tmp_path / "out.zst").exists()


# Files


def test_an_existing_file_is_never_overwritten_unless_asked(tmp_path: Path) -> None:
    source, out = plant(tmp_path / "run.zst", SECRET), tmp_path / "out.zst"
    out.write_text("mine")
    with pytest.raises(BundleWriteError, match="it exists"):
        redact(source, out)
    assert out.read_text() == "mine"
    redact(source, out, force=True)
    with pytest.raises(UsageError, match="not redacted in place"):
        redact(source, source, force=True)


def test_a_tape_that_is_in_the_way_is_not_overwritten_either(tmp_path: Path) -> None:
    source = plant(tmp_path / "run.zst", SECRET)
    (tmp_path / "out.replies.jsonl").write_text("mine")
    with pytest.raises(BundleWriteError, match=r"out\.replies\.jsonl"):
        redact(source, tmp_path / "out.zst")
    redact(source, tmp_path / "out.zst", force=True)
    assert not (tmp_path / "out.replies.jsonl").exists()


def test_a_folder_that_is_not_there_is_an_error_of_the_family(tmp_path: Path) -> None:
    with pytest.raises(BundleWriteError, match="No such file"):
        redact(plant(tmp_path / "run.zst", SECRET), tmp_path / "none" / "out.zst")


def test_a_journal_becomes_a_sealed_bundle(tmp_path: Path) -> None:
    source = (
        trajectory().goto("http://shop.test/", f"<p>{SECRET}</p>").write(tmp_path / "j.zst", sealed=False)
    )
    redact(source, tmp_path / "out.zst", secrets={"PW": SECRET})
    with open_bundle(tmp_path / "out.zst") as bundle:
        assert bundle.layout == "sealed"
        assert bundle.ending is None


def test_the_mode_of_the_source_is_kept(tmp_path: Path) -> None:
    source = plant(tmp_path / "run.zst", SECRET)
    source.chmod(0o600)
    redact(source, tmp_path / "out.zst")
    assert (tmp_path / "out.zst").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("value", [{"x": SECRET}, [SECRET]], ids=["objects", "lists"])
def test_values_of_as_many_levels_as_can_be_stored_are_redacted(value: Any, tmp_path: Path) -> None:
    for _ in range(STORED_NEST_MAX - 2):
        value = {"deep": value} if isinstance(value, dict) else [value]
    call = Step(index=0, action=ToolCall(name="a", arguments={"a": value}))
    source = write(tmp_path / "run.zst", [call])
    redact(source, tmp_path / "out.zst", secrets={"PW": SECRET})
    assert SECRET in decoded(source) and SECRET not in decoded(tmp_path / "out.zst")


@pytest.mark.parametrize("name", ["return-window--good", "update-price--fabricates", "order-total--good"])
def test_a_recording_without_the_secret_keeps_its_verdict(name: str, tmp_path: Path) -> None:
    folder = ROOT / "recordings" / "conformance"
    with open_bundle(folder / f"{name}.zst") as bundle:
        before = grade(bundle)
    redact(folder / f"{name}.zst", tmp_path / "out.zst", secrets={"PW": "nothing-like-it"})
    with open_bundle(tmp_path / "out.zst") as bundle:
        after = grade(bundle)
    assert (after.completion, after.policies, after.judgements) == (
        before.completion,
        before.policies,
        before.judgements,
    )
    assert [check.outcome for check in after.checks] == [check.outcome for check in before.checks]


@pytest.mark.parametrize(("name", "look"), LOOKS)
@settings(max_examples=settings().max_examples // 5)  # a text of a long pattern takes long to find
@given(data=st.data())
def test_no_built_in_pattern_matches_a_text_that_is_not_tried(
    name: str, look: re.Pattern[str], data: st.DataObject
) -> None:
    compiled = re.compile(look.pattern, look.flags)
    assert len(data.draw(st.from_regex(compiled, fullmatch=True), label=name)) >= LOOK_MIN


def test_the_shortest_text_that_is_tried_is_a_card_number() -> None:
    shortest = "4222222222222"
    assert len(shortest) == LOOK_MIN
    assert Redactor().text(shortest) == "⟦pattern:card⟧"
