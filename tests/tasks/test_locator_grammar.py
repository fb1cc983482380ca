import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.errors import LocatorLimit, Unsupported
from replaykit.tasks.grammar.expression import (
    METHODS,
    PROPERTIES,
    Arrow,
    Attempt,
    Body,
    Call,
    Chain,
    Choice,
    Document,
    Either,
    Expression,
    Index,
    Items,
    Literal,
    Name,
    Numeral,
    Property,
    Sum,
)
from replaykit.tasks.grammar.locator_grammar import DEPTH_MAX, SOURCE_MAX, parse

TITLE = Chain(Document(), (Property("title"),))


def test_one_selector_and_a_property() -> None:
    assert parse("document.querySelector('[name=\"a[b\"').value") == Chain(
        Document(), (Call("querySelector", (Literal('[name="a[b"'),)), Property("value"))
    )


@pytest.mark.parametrize(
    ("source", "links"),
    [
        (
            "document.querySelectorAll('a')[1].href",
            (Call("querySelectorAll", (Literal("a"),)), Index(1), Property("href")),
        ),
        ("document.getElementById('x')?.id", (Call("getElementById", (Literal("x"),)), Property("id", True))),
        ("document.body.children?.[0]", (Property("body"), Property("children"), Index(0, True))),
        ("document.title.substring(1, 3)", (Property("title"), Call("substring", (Literal(1), Literal(3))))),
        ("document . title\n.trim ( )", (Property("title"), Call("trim"))),
    ],
)  # fmt: skip
def test_chains(source: str, links: tuple[object, ...]) -> None:
    assert parse(source) == Chain(Document(), links)


def test_parentheses_end_a_chain() -> None:
    assert parse("(document?.body).id") == Chain(
        Chain(Document(), (Property("body", True),)), (Property("id"),)
    )


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (r"'a\'b'", "a'b"),
        (r'"\n\t\x41\u0042\u{43}"', "\n\tABC"),
        ("'a\\\nb'", "ab"),
        (r"'\.x\:y'", ".x:y"),
        ("`plain`", "plain"),
        ("'’“é'", "’“é"),
    ],
)
def test_strings_are_those_of_javascript(written: str, value: str) -> None:
    assert parse(written) == Literal(value)


@pytest.mark.parametrize(
    "source",
    [
        "",
        "document.cookie",
        "document.querySelector('a').click()",
        "document.title ?? ''",
        "document.title && 'x'",
        "document.title - 1",
        "document.title + +1",
        "document.title ++",
        "document.title == 'x'",
        "document.title ? 1",
        "[document.title]",
        "[...document.querySelectorAll('a')].map(e => f.href)",
        "[...document.querySelectorAll('a')].map((e, n) => e.href)",
        "[...document.querySelectorAll('a')].map(e => { return e.href })",
        "[...document.querySelectorAll('a')].map('e')",
        "[...document.querySelectorAll('a')].forEach(e => e.href)",
        "[...document.querySelectorAll('a')].map(e\n=> e.href)",
        "[...document.querySelectorAll('a')].map(document => document.title)",
        "Array.of(document)",
        "parseFloat(1, 2)",
        "(() => { return document.title }",
        "(() => { document.title })()",
        "(() => { name = 'x'; return name })()",
        "(() => { onclick = 'x'; return onclick })()",
        "(() => { a = 1; a = 2; return a })()",
        "(() => { return\ndocument.title })()",
        "(() => { try { return 1 } finally { return 2 } })()",
        "(() => { try { return 1 } catch (e) { return e } })()",
        "() => document.title",
        "window.document.title",
        "document.title;",
        "document.title[-1]",
        "document.title[1.5]",
        "document['title']",
        "document.title = 'x'",
        "document.querySelector(`${1}`)",
        "document.querySelector('a",
        "document.querySelector('a').getAttribute()",
        "document.querySelector(document.querySelector",
        r"'\ud800'",
        r"'\07'",
        "//div",
        "document.title // comment",
        "document.querySelectorAll('a')[0123]",
        "document.constructor",
        "document.toString",
        "fetch('http://x.test')",
    ],
)
def test_refuses_what_it_does_not_understand(source: str) -> None:
    with pytest.raises(Unsupported) as caught:
        parse(source)
    assert caught.value.fields["locator"] == source


def test_bounds_length_and_depth() -> None:
    with pytest.raises(LocatorLimit):
        parse("'" + "x" * SOURCE_MAX + "'")
    with pytest.raises(LocatorLimit):
        parse("(" * (DEPTH_MAX + 1) + "document" + ")" * (DEPTH_MAX + 1))
    assert parse("(" * (DEPTH_MAX - 1) + "document" + ")" * (DEPTH_MAX - 1)) == Document()


FORMS = [
    ("document.title || 'x' || 'y'", Either((TITLE, Literal("x"), Literal("y")))),
    ("document.title + 'x'", Sum((TITLE, Literal("x")))),
    ("'a' + 'b' || 'c'", Either((Sum((Literal("a"), Literal("b"))), Literal("c")))),
    ("1 ? 2 : 3 ? 4 : 5", Choice(Literal(1), Literal(2), Choice(Literal(3), Literal(4), Literal(5)))),
    ("[...document.title]", Items(TITLE)),
    ("Array.from(document.title)", Items(TITLE)),
    ("parseFloat('1')", Numeral("parseFloat", Literal("1"))),
    (
        "[...'ab'].map((c) => c.length)",
        Chain(Items(Literal("ab")), (Call("map", (Arrow("c", Chain(Name("c"), (Property("length"),))),)),)),
    ),
    ("(() => { const a = 1; b = a; return b; })();", Body((("a", Literal(1)), ("b", Name("a"))), Name("b"))),
    ("(() => {try {return 1} catch {return 2}})()", Attempt(Body((), Literal(1)), Body((), Literal(2)))),
]


@pytest.mark.parametrize(("source", "parsed"), FORMS)
def test_forms(source: str, parsed: Expression) -> None:
    assert parse(source) == parsed


SIGNS = "document . ?. [ ] ( ) , 'a' 0 12 + => ' ` é \\ || ? : { } ; = ... e try catch return parseInt map"
FRAGMENTS = st.sampled_from(
    [
        *SIGNS.split(),
        " ",
        "\n",
        *sorted(PROPERTIES | set(METHODS))[::3],
    ]
)


@given(st.one_of(st.text(max_size=80), st.lists(FRAGMENTS, max_size=20).map("".join)))
def test_any_text_is_parsed_or_refused(source: str) -> None:
    try:
        found = parse(source)
    except (Unsupported, LocatorLimit):
        return
    assert isinstance(found, Expression)


@given(st.text(max_size=40).filter(lambda text: text.isprintable()))
def test_any_selector_survives_quoting(selector: str) -> None:
    quoted = "'" + selector.replace("\\", "\\\\").replace("'", "\\'") + "'"
    assert parse(f"document.querySelector({quoted})") == Chain(
        Document(), (Call("querySelector", (Literal(selector),)),)
    )
