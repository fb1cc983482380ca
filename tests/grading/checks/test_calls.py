import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.checks.pages.calls import ParsedCall, parse_call


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ("func:shopping_get_latest_order_url()", "shopping_get_latest_order_url", ()),
        ("func:reddit_get_post_url('__last_url__')", "reddit_get_post_url", ("http://s.test/",)),
        ("func:role(__page__, 'ann')", "role", ("__page__", "ann")),
        (r"func: f ( 'a\'b' , " '"c") ', "f", ("a'b", "c")),
        ("func:f('x')func:g()", "f", ("x",)),
    ],
)
def test_parses_calls(text: str, name: str, arguments: tuple[str, ...]) -> None:
    assert parse_call(text, "http://s.test/") == ParsedCall(name=name, arguments=arguments)


@pytest.mark.parametrize(
    "text",
    [
        "func:",
        "func:f",
        "func:f(1)",
        "func:f(g())",
        "func:f('a' 'b')",
        "func:f('a",
        "func:__import__('os').x",
    ],
)
def test_refuses_what_is_no_call_with_texts(text: str) -> None:
    assert parse_call(text, "") is None


@given(st.text(max_size=40), st.text(max_size=20))
def test_any_text_is_parsed_or_refused(text: str, url: str) -> None:
    found = parse_call("func:" + text, url)
    assert found is None or isinstance(found, ParsedCall)
