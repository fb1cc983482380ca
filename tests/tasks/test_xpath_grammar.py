import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.errors import LocatorLimit, Unsupported
from replaykit.tasks.xpath_grammar import (
    DEPTH_MAX,
    SOURCE_MAX,
    Function,
    Operation,
    Path,
    Step,
    Value,
    XPath,
    is_xpath,
    parse,
)

DESCEND = Step("descendant-or-self", "node()")


@pytest.mark.parametrize(
    ("source", "parsed"),
    [
        ("//a", Path(True, (DESCEND, Step("child", "a")))),
        ("/", Path(True, ())),
        (".//@id", Path(False, (Step("self", "node()"), DESCEND, Step("attribute", "id")))),
        ("../text()", Path(False, (Step("parent", "node()"), Step("child", "text()")))),
        ("following::input[1]", Path(False, (Step("following", "input", (Value(1.0),)),))),
        ("(//a)[2]", Path(False, (), Path(True, (DESCEND, Step("child", "a"))), (Value(2.0),))),
        ("and", Path(False, (Step("child", "and"),))),
        ("1 < 2", Operation("<", Value(1.0), Value(2.0))),
        ("not('a') or 'b'", Operation("or", Function("not", (Value("a"),)), Value("b"))),
        ("*[* = '*']", Path(False, (Step("child", "*", (
            Operation("=", Path(False, (Step("child", "*"),)), Value("*")),)),))),
    ],
)  # fmt: skip
def test_parses(source: str, parsed: XPath) -> None:
    assert parse(source) == parsed


@pytest.mark.parametrize(
    "source",
    ["", "//", "//a[", "//a]", "//svg:a", "$x", "1 + 2", "//a[last() - 1]", "namespace::a", "id('x')", "//a b",
     "contains('a')", "foo::a", "processing-instruction('x')", "a!b", "'a"],
)  # fmt: skip
def test_refuses_what_it_does_not_understand(source: str) -> None:
    with pytest.raises(Unsupported):
        parse(source)


def test_bounds_length_and_depth() -> None:
    with pytest.raises(LocatorLimit):
        parse("/" * (SOURCE_MAX + 1))
    with pytest.raises(LocatorLimit):
        parse("(" * (DEPTH_MAX + 1) + "a" + ")" * (DEPTH_MAX + 1))


def test_paths_are_told_from_scripts() -> None:
    assert is_xpath("//a")
    assert is_xpath(".//a")
    assert not is_xpath("document.title")
    assert not is_xpath("/a")


WORDS = "// / . .. @ * a and or [ ] ( ) , | = < last() 'x' 1 following:: text() not("
PARTS = st.sampled_from(WORDS.split())


@given(st.one_of(st.text(max_size=60), st.lists(PARTS, max_size=15).map(" ".join)))
def test_any_text_is_parsed_or_refused(source: str) -> None:
    try:
        parse(source)
    except (Unsupported, LocatorLimit):
        return
