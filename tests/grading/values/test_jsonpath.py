import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.values.jsonpath import find
from replaykit.grading.values.jsonpath_limits import VISITS_MAX, PathFault

DOCUMENT = {
    "todos": [{"id": 7, "done": True, "tag": {"x": "p"}}, {"id": 8, "done": False, "tag": {"x": "q"}}],
    "b c": {"d/e": 3, "m~n": 4},
    "list": [0, 1, 2, 3],
    "true": "1",
    "marks": ["a && b", "c || d", "axxy"],
}


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("$.todos[0].id", [7]),
        ("$.todos[-1].id", [8]),
        ("$.todos[9].id", []),
        ("$.todos[*].id", [7, 8]),
        ("$['todos'][1]['done']", [False]),
        ('$["b c"]["d/e"]', [3]),
        ("$..x", ["p", "q"]),
        ("$.list[1:3]", [1, 2]),
        ("$.list[::2]", [0, 2]),
        ("$.list[::0]", []),
        ("$.todos[?(@.id == 7)].done", [True]),
        ("$.todos[?@.tag.x == 'q'].id", [8]),
        ("$.todos[?@.id > 7 && @.done == false].id", [8]),
        ("$.todos[?@.id == 7 || @.id == 8].id", [7, 8]),
        ("$.todos[?@.id != 7].id", [8]),
        ("$.todos[?@.tag].id", [7, 8]),
        ("$.todos[?@.done == 1].id", []),
        ("$.todos[?@.none == 1].id", []),
        ("$.true", ["1"]),
        ("$.todos[?@['tag']['x'] == 'p'].id", [7]),
        ("$.todos[0]['id', 'done']", [7, True]),
        ("$.list[0, 2:4]", [0, 2, 3]),
        ("$.todos[?!@.done || @.id == 7].id", [7]),
        ("$.todos[?!(@.id == 7)].id", [8]),
        ("$.todos[?(@.id == 7 || @.id == 8) && @.tag.x == 'q'].id", [8]),
        ("$.marks[?@ == 'a && b' || @ == 'c || d']", ["a && b", "c || d"]),
        ("$.marks[?length(@) == 6]", ["a && b", "c || d"]),
        ("$.todos[?count(@.*) == 3].id", [7, 8]),
        ("$.todos[?match(@.tag.x, '[pr]')].id", [7]),
        ("$.marks[?search(@, 'x+y')]", ["axxy"]),
        ("$.marks[?search(@, '(')]", []),
        ("$.todos[?@.id > $.list[3]].id", [7, 8]),
        ("$..[?@.x == 'q'].x", ["q"]),
        ("$['b c']['d/e', 'm~n']", [3, 4]),
        ("/todos/0/id", [7]),
        ("/b c/d~1e", [3]),
        ("/b c/m~0n", [4]),
        ("/list/9", []),
        ("/list/01", []),
        ("/none/x", []),
    ],
)
def test_finds(path: str, values: list[Any]) -> None:
    assert find(path, DOCUMENT) == values


def test_the_whole_document() -> None:
    assert find("$", DOCUMENT) == find("", DOCUMENT) == [DOCUMENT]


@pytest.mark.parametrize(
    "path",
    [
        "x",
        "$x",
        "$.",
        "$.a[",
        "$.a[b]",
        "$.a[?]",
        "$.a[?(@.b == c)]",
        "$.a[?length(@)]",
        "$.a[?unknown(@) == 1]",
        "$.a | $.b",
        "$[" + "!(" * 300,
        "$" + ".a" * 600,
    ],
)
def test_refuses_what_is_no_path(path: str) -> None:
    with pytest.raises(PathFault):
        find(path, DOCUMENT)


def test_the_work_is_bounded() -> None:
    deep: Any = [[0] * 1000] * 500
    with pytest.raises(PathFault, match=str(VISITS_MAX)):
        find("$..*", deep)


@pytest.mark.parametrize(
    "path",
    [
        "$[?$[?$[?1 == 2]]]",
        "$" + "[*, *, *, *]" * 9,
        "$..[?$..[?@ == 1]]",
        "$[?$[0] == $[1]]",
        "$[*,*,*,*,*,*,*,*,*,*]..none",
    ],
)
def test_neither_filters_nor_unions_escape_the_bound(path: str) -> None:
    same = [[{"a": [1, "x" * 3]}] * 300] * 300
    with pytest.raises(PathFault, match=str(VISITS_MAX)):
        find(path, same)


def test_names_cost_nothing_however_long_they_are() -> None:
    document: Any = 0
    for _ in range(2000):
        document = {"n" * 1000: document, "m": [1]}
    assert len(find("$..m", document)) == 2000


def test_expressions_that_take_for_ever_are_refused() -> None:
    with pytest.raises(PathFault):
        find("$.a[?search(@, '(a*)*b')]", {"a": ["a" * 50]})


@pytest.mark.parametrize("document", ["{}", "[1", "x", 1, None, True])
def test_a_document_may_be_one_value(document: Any) -> None:
    assert find("$", document) == [document]
    assert find("$.a", document) == find("$..[?@.a]", document) == []


def test_every_search_has_the_whole_bound() -> None:
    big = [0] * (VISITS_MAX // 2)
    assert [len(find("$[*]", big)) for _ in range(3)] == [len(big)] * 3


def test_the_library_is_loaded_for_paths_only() -> None:
    said = "import sys; from replaykit.grading.values.jsonpath import find; find({!r}, []); print('jsonpath' in sys.modules)"
    loads = [
        subprocess.run([sys.executable, "-c", said.format(path)], check=True, capture_output=True, text=True)
        for path in ("/a", "$")
    ]
    assert [one.stdout.strip() for one in loads] == ["False", "True"]


PARTS = st.sampled_from(
    [".a", "..a", "[0]", "[-1]", "[*]", ".*", "[1:2]", "[?@.a == 1]", "['a b']", "[?@.a]"]
)
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["a", "b", "a b"]), inner, max_size=3)
    ),
)


@given(st.lists(PARTS, max_size=5).map("".join), JSON)
def test_any_path_leads_to_a_list(path: str, document: Any) -> None:
    assert isinstance(find("$" + path, document), list)


@given(st.text(max_size=30))
def test_any_text_is_a_path_or_refused(path: str) -> None:
    try:
        find(path, DOCUMENT)
    except PathFault:
        return
