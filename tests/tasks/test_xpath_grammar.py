import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.errors import LocatorLimit, Unsupported
from replaykit.tasks.grammar.xpath_grammar import (
    DEPTH_MAX,
    SOURCE_MAX,
    Function,
    Operation,
    Path,
    XPath,
    XPathStep,
    XPathValue,
    is_xpath,
    parse,
)

DESCEND = XPathStep("descendant-or-self", "node()")


@pytest.mark.parametrize(
    ("source", "parsed"),
    [
        ("//a", Path(True, (DESCEND, XPathStep("child", "a")))),
        ("/", Path(True, ())),
        (".//@id", Path(False, (XPathStep("self", "node()"), DESCEND, XPathStep("attribute", "id")))),
        ("../text()", Path(False, (XPathStep("parent", "node()"), XPathStep("child", "text()")))),
        ("following::input[1]", Path(False, (XPathStep("following", "input", (XPathValue(1.0),)),))),
        ("(//a)[2]", Path(False, (), Path(True, (DESCEND, XPathStep("child", "a"))), (XPathValue(2.0),))),
        ("and", Path(False, (XPathStep("child", "and"),))),
        ("1 < 2", Operation("<", XPathValue(1.0), XPathValue(2.0))),
        ("not('a') or 'b'", Operation("or", Function("not", (XPathValue("a"),)), XPathValue("b"))),
        ("*[* = '*']", Path(False, (XPathStep("child", "*", (
            Operation("=", Path(False, (XPathStep("child", "*"),)), XPathValue("*")),)),))),
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


def test_paths_are_distinguished_from_scripts() -> None:
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
