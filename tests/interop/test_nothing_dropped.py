"""Every leaf of a sample is in the bundle, is masked, or is named in the list of what is left out."""

from __future__ import annotations

import io
import json
import re
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import pyarrow.parquet as pq
import pytest

from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.interop.imported_run import Options
from replaykit.interop.registry import IMPORTERS
from replaykit.interop.run_import import import_run
from replaykit.trajectory.exchange import Exchange
from tests.interop.conftest import Importing
from tests.interop.samples import (
    SAMPLES,
    atif,
    browser_use,
    entry,
    har,
    mind2web_second,
    run_jsonl,
    unpacked,
    write,
)

MARK = "⟦"


def texts(value: Any) -> Iterator[str]:
    """Yield every text and number in a value, JSON inside of texts read too."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield str(key)
            yield from texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from texts(part)
    elif isinstance(value, str):
        yield value
        if value[:1] in '{["':
            try:
                yield from texts(json.loads(value))
            except ValueError:
                return
    elif value is not None:
        yield repr(value)


def held(bundle: Bundle) -> str:
    found = [text for line in bundle.lines for text in texts(json.loads(bytes(line)))]
    for id in bundle.blob_ids:
        data = bundle.blob(id).decode("utf-8", "replace")
        found += [
            b64encode(bundle.blob(id)).decode(),
            data,
            *(text for line in data.splitlines() if line[:1] == "{" for text in texts(json.loads(line))),
        ]
    return "\0".join(found)


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield from leaves(part, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for part in value:
            yield from leaves(part, f"{path}[]")
    elif value is not None and value != "" and not isinstance(value, bool):
        yield path, value


def sources(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield name and JSON of each file of a sample, lines one by one."""
    if path.suffix in (".zip", ".eval"):
        members = unpacked(path)
    else:
        members = {
            file.name: file.read_bytes()
            for file in (path.rglob("*") if path.is_dir() else [path])
            if file.is_file()
        }
    for name, data in members.items():
        if name.endswith((".json", ".har")):
            yield name, json.loads(data)
        elif name.endswith((".jsonl", ".trace", ".network")):
            for line in data.splitlines():
                yield name, json.loads(line)
        elif name.endswith(".md"):
            for block in re.findall(r"```json\n(.*?)\n```", data.decode(), re.DOTALL):
                yield name, json.loads(block)
        elif name.endswith(".parquet"):
            for row in pq.read_table(io.BytesIO(data)).to_pylist():
                yield name, in_json(row)


def in_json(value: Any) -> Any:
    """A cell in JSON: images as data URIs, logs of lines as lists."""
    if isinstance(value, bytes):
        return "data:image/png;base64," + b64encode(value).decode()
    if isinstance(value, str) and value[:1] == "{" and "\n" in value:
        return [json.loads(line) for line in value.splitlines()]
    if isinstance(value, dict):
        return {key: in_json(part) for key, part in value.items()}
    return [in_json(part) for part in value] if isinstance(value, list) else value


STRUCTURE = re.compile(
    r"(^|\.)(type|role|source|t|step_id|step_number|num|step|n_steps|schema_version|version|class|origin"
    r"|media_type|mimeType|tool_call_id|source_call_id|call_id|callId|phase|pageId|frameId|monotonicTime|wallTime|sdkLanguage|title)$"
)
"""Fields that only place the others."""

TIME = re.compile(
    r"(time|timestamp|ts|dateTime|started_at)$|^(startTime|endTime)$|\.timings\.", re.IGNORECASE
)


def is_kept(path: str, value: Any, text: str, left: list[str], names: set[str]) -> bool:
    plain = path.removeprefix("snapshot.")
    if isinstance(value, str) and value.startswith("attachment://"):
        return True  # what it stands for is a leaf of its own
    if any(plain == one or plain.startswith((one + ".", one + "[")) for one in left):
        return True
    if isinstance(value, int | float):
        near = {repr(value), str(value), str(round(value)), repr(float(value)), repr(int(value))}
        return (
            value == -1
            or bool(near & set(text.split("\0")))
            or bool(TIME.search(path))
            or STRUCTURE.search(path) is not None
        )
    value = value.rpartition("base64,")[2] if value.startswith("data:image/") else value
    if value.lower() in text.lower() or TIME.search(path) or STRUCTURE.search(path):
        return True
    if value.replace("\\", "/").rpartition("/")[2] in names:
        return True  # a file that was read
    parts = [
        part for part in re.split(r"[\s\"'\[\](){};:<>,|=-]+", value) if part not in ("", "Thought", "Action")
    ]
    return bool(parts) and all(part in text or quote_plus(part) in text for part in parts)


def lost(format: str, path: Path, target: Path, **options: Any) -> list[tuple[str, Any]]:
    import_run(format, path, target, options=Options(**options))
    with open_bundle(target) as bundle:
        source = bundle.header.source
        assert source is not None
        text = held(bundle)
        # `log.entries[].x` of a file is `x` of a line of a trace.
        left = list(source.extra.get("left_out", {}))
        left += [one.removeprefix("log.entries[].") for one in left]
        names = {name.rpartition("/")[2] for name in source.files}
    found = (
        (name, path, value)
        for name, plain in sources(path)
        for path, value in leaves(plain)
        if name not in left
    )
    return [
        (f"{name} {path}", value)
        for name, path, value in found
        if not is_kept(path, value, text, left, names)
    ]


SECRET = "hunter22secret"
"""Text that the samples type into password fields."""


def is_secret(value: Any) -> bool:
    """Whether a leaf has to be masked: a password, a part of one as it is typed, or a header's."""
    text = str(value)
    return any(mark in text for mark in (SECRET[:8], "Bearer ", "sid="))


@pytest.mark.parametrize("format", sorted(set(IMPORTERS) - {"playwright-trace", "rrweb"}))
def test_every_leaf_is_kept_masked_or_named(format: str, tmp_path: Path) -> None:
    found = lost(format, SAMPLES[format](tmp_path / "in"), tmp_path / "run.zst")
    assert [one for one in found if not is_secret(one[1])] == []


def test_so_is_every_leaf_of_a_trace(tmp_path: Path) -> None:
    found = lost("playwright-trace", SAMPLES["playwright-trace"](tmp_path / "in"), tmp_path / "run.zst")
    open_ones = [one for one in found if not is_secret(one[1])]
    # Places of nodes in earlier snapshots, a marker of the tracer's own, and the call that only read.
    marks = (r"trace\.trace snapshot\.html[\[\]]+(\.src)?", r"trace\.trace method")
    assert [one for one in open_ones if not any(re.fullmatch(mark, one[0]) for mark in marks)] == []
    assert ("trace.trace method", "textContent") in open_ones


def test_so_is_every_leaf_of_a_stream_of_rrweb(tmp_path: Path) -> None:
    found = lost("rrweb", SAMPLES["rrweb"](tmp_path / "in"), tmp_path / "run.zst")
    # Ids of nodes are places in the pages, asterisks are a mask; the others are counted by their kinds.
    marks = (r".*\.(id|parentId|nextId)", r".*\.positions.*", r".*\.data\.(text|y)")
    open_ones = [one for one in found if not any(re.fullmatch(mark, one[0]) for mark in marks)]
    assert open_ones == []
    assert [value for name, value in found if name.endswith("data.text")] == ["*" * 14]


def test_so_is_every_leaf_of_the_second_version(tmp_path: Path) -> None:
    assert (
        lost(
            "online-mind2web",
            mind2web_second(tmp_path / "in", extra={"deep": ["LEAF-1"]}),
            tmp_path / "b.zst",
        )
        == []
    )


def strange(value: Any, number: list[int]) -> Any:
    """Put a key that nobody knows into every object of a file."""
    if isinstance(value, dict):
        number[0] += 1
        inner = {key: strange(part, number) for key, part in value.items()}
        return {**inner, "zz_unknown": f"STRANGE-{number[0]}-{len(inner)}"}
    return [strange(part, number) for part in value] if isinstance(value, list) else value


@pytest.mark.parametrize("format", sorted(IMPORTERS))
def test_unknown_keys_are_kept_or_named(format: str, tmp_path: Path) -> None:
    path, number = SAMPLES[format](tmp_path / "in"), [0]
    for file in sorted((path if path.is_dir() else path.parent).rglob("*")):
        if file.suffix in (".json", ".har"):
            write(file.parent, file.name, strange(json.loads(file.read_text()), number))
        elif file.suffix in (".jsonl", ".trace", ".network"):
            lines = [strange(json.loads(line), number) for line in file.read_text().splitlines()]
            write(file.parent, file.name, "".join(json.dumps(line) + "\n" for line in lines))
    found = lost(format, path, tmp_path / "run.zst")
    # Keys of nodes are counted by their names.
    is_counted = re.compile(r".*\.childNodes\[\]\.zz_unknown|.*\.data\.node\.zz_unknown")
    foreign = [one for one in found if "STRANGE" in str(one[1])]
    assert [one for one in foreign if not (format == "rrweb" and is_counted.fullmatch(one[0]))] == []


def test_what_an_action_gave_stays_with_its_step(tmp_path: Path, imported: Importing) -> None:
    done = {"is_done": True, "extracted_content": "The total is 9.50", "long_term_memory": "Saw the total"}
    state = {"url": "http://x.test/", "title": "X", "tabs": [], "interacted_element": [None]}
    items = [
        {"model_output": {"action": [{"extract": {"query": "total"}}]}, "result": [done], "state": state}
    ]
    run = imported("browser-use", browser_use(tmp_path, history=items)).trajectory
    assert run.steps[0].returned == done
    assert imported("run-jsonl", run_jsonl(tmp_path / "l")).trajectory.steps[1].returned == "cannot"
    step = imported("atif", atif(tmp_path / "a")).trajectory.steps[0]
    assert step.returned[0] == {"type": "text", "text": "ok"}


def test_paths_of_an_element_are_kept(tmp_path: Path, imported: Importing) -> None:
    one = {
        "node_name": "A",
        "attributes": {},
        "x_path": "html/body/a[2]",
        "css_selector": "body > a:nth-child(2)",
    }
    state = {"url": "http://x.test/", "tabs": [], "interacted_element": [one]}
    items = [{"model_output": {"action": [{"click": {"index": 4}}]}, "result": [{}], "state": state}]
    (step,) = imported("browser-use", browser_use(tmp_path, history=items)).trajectory.steps
    assert step.action.element is not None
    assert (step.action.element.xpath, step.action.element.css) == ("html/body/a[2]", "body > a:nth-child(2)")


def test_messages_of_a_web_socket_are_kept_each_way(tmp_path: Path, imported: Importing) -> None:
    frames = [
        {"type": "send", "time": 1.5, "opcode": 1, "data": "order tea"},
        {"type": "receive", "time": 1.6, "opcode": 1, "data": "ordered"},
    ]
    bundle = imported("har", har(tmp_path, entry("ws://shop.test/live", 101, _webSocketMessages=frames)))
    (one,) = bundle.trajectory.of_type(Exchange)
    assert (one.sent_frames, one.messages, one.resource) == (1, 1, "websocket")
    assert isinstance(one.post, str) and isinstance(one.body, str)
    assert json.loads(bundle.blob(one.post)) == {"time": 1.5, "opcode": 1, "data": "order tea"}
    assert json.loads(bundle.blob(one.body))["data"] == "ordered"


def test_what_is_left_out_is_counted_and_named_once(tmp_path: Path) -> None:
    path = SAMPLES["webvoyager"](tmp_path / "in")
    write(path, "agent.log", "x")
    write(path, "a.pdf", "x")
    write(path, "b.pdf", "x")
    done = import_run("webvoyager", path, tmp_path / "run.zst")
    assert [line for line in done.warnings if line.startswith("left out")] == [
        "left out: *.log (1), *.pdf (2)"
    ]
