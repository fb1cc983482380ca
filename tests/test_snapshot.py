from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from replaykit import testing
from replaykit.errors import SnapshotInvalid
from replaykit.snapshot import codec, token_rows
from replaykit.snapshot.codec import SnapshotLines, decode, encode
from replaykit.snapshot.snapshot_format import COMMENT, DOCUMENT, HTML, OMITTED, OTHER, SHADOW, SVG, TEXT
from tests.blocks import ROOT, blocks_of

HEAD = {
    "snapshot": 1, "url": "http://x.test/", "base": "http://x.test/", "title": "T", "content_type": "text/html",
    "charset": "UTF-8", "compat": "CSS1Compat", "ready": "complete", "doctype": ["html", "", ""], "elements": 0,
    "nodes": 0, "styles": [], "sheets": [["", False, -1, True, -1]], "flags": [],
}  # fmt: skip


def lines(tokens: Any, style: Any = (), box: Any = (), **head: Any) -> bytes:
    starts = sum(isinstance(token, str) and token[:1] in "<%&^" for token in tokens if token)
    parts = (HEAD | {"elements": starts} | head, tokens, style, box)
    return b"".join(msgspec.json.encode(part) + b"\n" for part in parts)


INNER = {"url": "u", "base": "", "title": "", "compat": "BackCompat", "ready": "complete", "doctype": None}
EXAMPLE = ["<p", ["id", "x"], "=Hi ", "<b", "=you", 1, "<input", ["value", "a"], {"value": "ab"}, 2]


def test_the_example_of_the_format_becomes_columns() -> None:
    found = decode(
        lines(
            EXAMPLE,
            [0, 0, 1],
            [1, 2, 3, 4, 0, 0, 0, 0, -5, 6, 7, 8],
            styles=["inline|visible|collapse|none", "none"],
        )
    )
    assert found.kind == [DOCUMENT, HTML, TEXT, HTML, TEXT, HTML]
    assert found.name == ["", "p", "Hi ", "b", "you", "input"]
    assert found.parent == [-1, 0, 1, 1, 3, 1]
    assert found.end == [6, 6, 3, 5, 5, 6]
    assert found.nodes == [1, 3, 5]
    assert found.number == [-1, 0, -1, 1, -1, 2]
    assert found.attributes == {1: ["id", "x"], 5: ["value", "a"]}
    assert found.state[5].value == "ab"
    assert found.style == [0, 0, 1]
    assert found.head.doctype == ("html", "", "")


def test_the_example_of_the_format_is_its_document_s() -> None:
    shown = [one.text for one in blocks_of(ROOT / "docs" / "snapshot-format.md")][:2]
    assert json.loads(f"[{shown[1]}]") == EXAMPLE
    made = msgspec.json.decode(testing.snapshot(shown[0].strip()).splitlines()[1])
    as_parsed = [token for token in EXAMPLE[:-1] if token != {"value": "ab"}]
    start = made.index("<p")
    assert made[start:-1] == as_parsed


def test_trees_inside_trees_keep_their_scope() -> None:
    tokens = [
        "<div", "#open", "<slot", 2, "=light", "<iframe", "@", INNER | {"url": "http://in.test/"}, "<html", 3, "<template", "<i", 2,
        "%svg", "^urn:x y", 2, "!c", "?t d", "~", 7, 1,
    ]  # fmt: skip
    found = decode(lines(tokens))
    rows = {name: row for row, name in enumerate(found.name) if name}
    assert found.kind[rows["open"]] == SHADOW
    assert found.scope[rows["slot"]] == rows["open"]
    assert found.scope[rows["light"]] == 0
    document = found.parent[rows["html"]]
    assert (found.kind[document], found.inner[document].url, found.scope[rows["html"]]) == (
        DOCUMENT,
        "http://in.test/",
        document,
    )
    assert found.scope[rows["i"]] == rows["template"]
    assert found.kind[rows["svg"]] == SVG
    assert (found.kind[rows["y"]], found.namespace[rows["y"]]) == (OTHER, "urn:x")
    assert (found.kind[rows["c"]], found.name[rows["t d"]]) == (COMMENT, "t d")
    assert list(found.omitted.values()) == [7]
    assert found.kind[next(iter(found.omitted))] == OMITTED
    assert encode(found) == lines(tokens)


WRONG = [
    (["<p"], "never closed"),
    (["<p", 2], "cannot close"),
    (["<p", 0], "cannot close"),
    (["<p", -1], "cannot close"),
    ([1], "cannot close"),
    (["<p", 2**62, 1], "cannot close"),
    (["<", 1], "without a name"),
    (["^ ", 1], "without a name"),
    ([""], "unknown token"),
    (["p", 1], "unknown token"),
    (["<p", ["a"], 1], "without a value"),
    (["<p", ["a", "b"], ["c", "d"], 1], "attributes"),
    (["=x", ["a", "b"]], "attributes"),
    (["<p", ["a", 1], 1], "str"),
    ([{}], "state"),
    (["<p", {}, {}, 1], "state"),
    (["<p", {}, ["a", "b"], 1], "attributes"),
    (["<p", {"checked": 1}, 1], "checked"),
    (["<p", {"selected": [1.5]}, 1], "selected"),
    (["<p", {"value": None}, {"value": 1}, 1], "state"),
    (["#open", 1], "outside of an element"),
    (["<p", "=x", "#open", 2], "after the first child"),
    (["<p", "#half", 2], "unknown token"),
    (["<p", "@", 2], "cannot close"),
    (["<p", "@", "=x", 2], "operand"),
    (["@", {}, 1], "outside of an element"),
    (["<p", 1, "@"], "outside of an element"),
    (["~"], "operand"),
    (["~", 0], "left out"),
    (["~", "=x"], "operand"),
    ([None], "null"),
    ([True], "bool"),
    ([1.5], "float"),
    ({}, "array"),
]


def test_rows_of_texts_belong_to_elements() -> None:
    expected = lines(["<p", "<b", "=x", 2], texts=[[0, 1, 0, "."], [1]], unseen=[1, 1])
    assert decode(expected).head.texts == [[0, 1, 0, "."], [1]]
    assert decode(encode(decode(expected))) == decode(expected)


@pytest.mark.parametrize(
    "rows",
    [
        {"texts": rows}
        for rows in (
            [[2]], [[-1]], [[0], [0]], [[1], [-1]], [[0], [2]], [["0"]], [[None]], [[]], [[0, 1]], [[0, 1, 1]],
            [[0, -1, 0, ""]], [[0, 0, -1, ""]], [[0, 0, "", 0]], [[0, None, 0, ""]], [[0, None, None]], [[10**30]], [[0], 0],
        )
    ]
    + [{"unseen": unseen} for unseen in ([0], [2, 1], [0, 3], [0, 0], [0, 1, 0, 1], [-1, 1], [0, -1], [1, 1, 1, 1])],
)  # fmt: skip
def test_rows_that_do_not_ascend_or_fit_are_refused(rows: dict[str, Any]) -> None:
    with pytest.raises(SnapshotInvalid):
        decode(lines(["<p", "<b", "=x", 2], **rows))


def test_a_million_rows_are_refused_in_one_pass() -> None:
    with pytest.raises(SnapshotInvalid, match="element 1 is followed"):
        decode(lines(["<p", "<b", "=x", 2], texts=[[0], [1, 0, 0, "a"], *[[1, 0, 0, "a"]] * 10**6]))


@pytest.mark.parametrize(("tokens", "reason"), WRONG, ids=[str(tokens)[:40] for tokens, _ in WRONG])
def test_wrong_tokens_are_refused_with_their_place(tokens: Any, reason: str) -> None:
    with pytest.raises(SnapshotInvalid, match=reason) as caught:
        decode(lines(tokens))
    assert caught.value.fields["place"].startswith("token")


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (b"", "line 1"),
        (lines([])[:-1], "line 1"),
        (lines([]) + b"\n", "line 1"),
        (lines([]).replace(b'"snapshot":1', b'"snapshot":2'), "head"),
        (lines([]).replace(b'"url":"http://x.test/",', b""), "head"),
        (lines([], elements=1), "head"),
        (lines([], doctype=["html"]), "head"),
        (lines(["<p", 1], [0, 0], styles=["none"]), "style"),
        (lines(["<p", 1], [1], styles=["none"]), "style"),
        (lines(["<p", 1], [-2], styles=["none"]), "style"),
        (lines(["<p", 1], [], [1, 2, 3]), "box"),
        (lines(["<p", 1], [], [1, 2, 3, 4.5]), "box"),
        (lines(["=x"]).replace(b"=x", b"=\xff"), "tokens"),
        (lines(["=x"]).replace(b"=x", b"=\\ud800"), "tokens"),
        (lines([]).replace(b"[]\n", b"[" * 100_000 + b"]" * 100_000 + b"\n", 1), "tokens"),
        (lines(["<p", {}, 1]).replace(b"{}", b'{"value":' * 50_000 + b"1" + b"}" * 50_000), "tokens"),
    ],
)  # fmt: skip
def test_wrong_lines_are_refused_with_their_place(data: bytes, place: str) -> None:
    with pytest.raises(SnapshotInvalid) as caught:
        decode(data)
    assert caught.value.fields["place"].startswith(place)


def test_limits_bound_bytes_and_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_rows, "NODES_MAX", 3)
    assert len(decode(lines(["=a", "=b"])).kind) == 3
    with pytest.raises(SnapshotInvalid, match="more than 3 nodes"):
        decode(lines(["=a", "=b", "=c"]))
    monkeypatch.setattr(codec, "BYTES_MAX", 10)
    with pytest.raises(SnapshotInvalid, match="the limit is 10"):
        decode(lines([]))


def test_depth_costs_no_recursion() -> None:
    deep = lines([*["<div"] * 50_000, "=x", 50_000])
    found = decode(deep)
    assert found.end[1] == 50_002
    assert encode(found) == deep


def test_unknown_keys_of_a_newer_writer_are_passed_over() -> None:
    found = decode(lines(["<p", {"value": "v", "later": [1]}, 1], later={"a": 1}))
    assert found.state[1].value == "v"


def test_a_broken_screenshot_differs_from_none() -> None:
    found = decode(
        lines(["<img", {"image": None}, 1, "<img", {"image": [3, 4]}, 1, "<img", {"focus": True}, 1])
    )
    assert [found.state[row].image for row in found.nodes] == [None, (3, 4), msgspec.UNSET]
    assert encode(found) == lines(
        ["<img", {"image": None}, 1, "<img", {"image": [3, 4]}, 1, "<img", {"focus": True}, 1]
    )


NAMES = st.text(st.characters(exclude_categories=("Cs", "Zs", "Cc")), min_size=1, max_size=8)
TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
STATES = st.sampled_from(
    [{"value": "v"}, {"selected": []}, {"checked": False}, {"scroll": [1, 2.5]}, {"files": [["a", 1, "b"]]}]
)
LEAVES = st.tuples(st.sampled_from("=!?"), TEXTS).map("".join)


@st.composite
def starts(draw: Any) -> list[Any]:
    name = draw(NAMES)
    start: list[Any] = [draw(st.sampled_from(["<", "%", "&", "^urn:x ", "^ "])) + name]
    attributes = draw(st.lists(st.tuples(NAMES, TEXTS), max_size=2))
    start += [[part for pair in attributes for part in pair]] if attributes else []
    return start + ([draw(STATES)] if draw(st.booleans()) else [])


def nest(children: Any) -> Any:
    shadow = st.tuples(st.sampled_from(["#open", "#closed"]), st.lists(children, max_size=2)).map(
        lambda part: [[part[0]], part[1]]
    )
    inner = st.lists(children, max_size=2).map(lambda nodes: [["@", INNER], nodes])
    return st.tuples(
        starts(), st.lists(st.one_of(children, inner), max_size=4), st.one_of(st.none(), shadow)
    ).map(lambda part: [part[0], ([part[2]] if part[2] else []) + part[1]])


TREES = st.lists(st.recursive(LEAVES, nest, max_leaves=12), max_size=4)


def flat(node: Any, tokens: list[Any]) -> None:
    if isinstance(node, str):
        tokens.append(node)
        return
    tokens += node[0]
    for child in node[1]:
        flat(child, tokens)
    if isinstance(tokens[-1], int):
        tokens[-1] += 1
    else:
        tokens.append(1)


@settings(max_examples=40)
@given(TREES)
def test_any_tree_survives_both_ways(trees: Any) -> None:
    tokens: list[Any] = []
    for tree in trees:
        flat(tree, tokens)
    written = lines(tokens)
    found = decode(written)
    assert decode(encode(found)) == found
    assert encode(found) == written


@given(trees=TREES, part=st.floats(0, 1))
def test_a_beginning_is_the_first_rows_of_the_whole(trees: Any, part: float) -> None:
    tokens: list[Any] = []
    for tree in trees:
        flat(tree, tokens)
    read = SnapshotLines(lines(tokens))
    count = int(part * len(tokens))
    try:
        begun, whole = read.beginning(tokens[:count]), read.whole()
    except SnapshotInvalid:
        assert tokens[count - 1] in ("@", "~")  # their operand is cut off
        return
    size = len(begun.kind)
    for column in ("kind", "name", "parent", "scope", "number"):
        assert getattr(begun, column) == getattr(whole, column)[:size]
    assert begun.end == [min(end, size) for end in whole.end[:size]]
    assert begun.nodes == [row for row in whole.nodes if row < size]
    assert begun.inner.keys() == {row for row in whole.inner if row < size}
    assert (begun.head, begun.style, begun.box) == (whole.head, whole.style, [])
    if count == len(tokens):
        assert replace(begun, box=whole.box) == whole


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 5)
    | st.sampled_from(["<p", "=x", "@", "~", "#open", "%s", "!", ""]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["url", "value", "selected"]), inner, max_size=2)
    ),
    max_leaves=12,
)


@given(st.lists(JSON, max_size=12))
def test_any_tokens_decode_or_are_refused(tokens: Any) -> None:
    try:
        found = decode(lines([]).replace(b"\n[]\n", b"\n" + msgspec.json.encode(tokens) + b"\n", 1))
    except SnapshotInvalid:
        return
    assert found.end[0] == len(found.kind) == 1 or found.nodes == []


@given(st.binary(max_size=200), st.integers(0, 400))
def test_any_bytes_decode_or_are_refused(noise: bytes, place: int) -> None:
    good = lines(EXAMPLE)
    for data in (noise, good[:place] + noise + good[place:], good[:place]):
        try:
            decode(data)
        except SnapshotInvalid:
            continue
