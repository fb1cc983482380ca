import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.values.urls import EXACT, UrlRules, matches, parse, peer_matches, post_url, shown

SITES = {"shop": ("http://s.test:7770/", "http://10.0.0.1"), "admin": ("http://s.test:7770/admin",)}
SUBSET = UrlRules()


@pytest.mark.parametrize(
    ("reference", "found", "expected"),
    [
        ("http://s.test/tea", "http://s.test/teapots", True),
        ("http://s.test/", "https://s.test/deep/page", True),
        ("http://s.test/a", "http://s.test/A", False),
        ("http://s.test/s?q=tea", "http://s.test/s?page=2&q=tea", True),
        ("http://s.test/s?q=tea", "http://s.test/s", False),
        ("http://s.test/s?q=", "http://s.test/s", True),
        ("http://s.test/a?x=1 |OR| http://s.test/b?x=2", "http://s.test/a?x=2", True),
        ("http://s.test/a?x=1&x=2", "http://s.test/a?x=2", True),
        ("http://s.test/a///", "http://s.test/a", True),
        ("http://s.test/mail", "http://s.test/mail#/inbox", True),
        ("http://s.test/mail#/sent", "http://s.test/mail#/inbox", True),
        ("http://s.test/a/", "http://s.test/a/?b=1", True),
        ("http://s.test//a", "http://s.test/a", False),
        ("", "http://anywhere.test/", True),
    ],
)
def test_the_peers_rule(reference: str, found: str, expected: bool) -> None:
    assert peer_matches(reference, found) is expected


def test_the_peer_raises_as_urlparse_does() -> None:
    with pytest.raises(ValueError, match="IPv6"):
        peer_matches("http://[::1/a", "http://s.test/")


@pytest.mark.parametrize(
    ("reference", "found", "expected"),
    [
        ("http://s.test/tea", "https://S.test:443/tea/", True),
        ("http://s.test/tea", "http://s.test/teapots", False),
        ("http://s.test/a//b/./c/../d", "http://s.test/a/b/d", True),
        ("http://s.test/%7Euser", "http://s.test/~user", True),
        ("http://s.test/a%2Fb", "http://s.test/a/b", False),
        ("http://s.test/@ada/tea,%20green", "http://s.test/%40ada/tea%2c%20green", True),
        ("http://s.test/#in(1)", "http://s.test/#in%281%29", True),
        ("http://s.test/a%3Fb", "http://s.test/a?b", False),
        ("http://s.test/A", "http://s.test/a", False),
        ("http://s.test/s?q=blue+tea", "http://s.test/s?q=blue%20tea&p=1", True),
        ("http://s.test/s?a=1&a=1", "http://s.test/s?a=1", False),
        ("http://s.test/s?q=", "http://s.test/s", False),
        ("http://s.test/m#/in?b=1", "http://s.test/m#/in/?c=2&b=1", True),
        ("http://s.test/m#/in", "http://s.test/m#/out", False),
        ("http://s.test/m", "http://s.test/m#/out", True),
        ("http://s.test/m#top", "http://s.test/m", False),
        ("http://s.test:8080/", "http://s.test/", False),
        ("/tea", "http://s.test/tea", False),
        ("http://s.test/tea", "about:blank", False),
        ("about:blank", "about:blank", True),
    ],
)
def test_strict_by_parts(reference: str, found: str, expected: bool) -> None:
    assert matches(reference, found, SUBSET) is expected


@pytest.mark.parametrize(
    ("rules", "reference", "found", "expected"),
    [
        (UrlRules(scheme="exact"), "http://s.test/", "https://s.test/", False),
        (UrlRules(path="prefix"), "http://s.test/a/b", "http://s.test/a/b/c", True),
        (UrlRules(path="prefix"), "http://s.test/a/b", "http://s.test/a/bc", False),
        (
            UrlRules(path="prefix"),
            "http://s.test/f/cats",
            "http://s.test./f/cats/12/a-slug/?sort=new#c1",
            True,
        ),
        (UrlRules(path="prefix"), "http://s.test/f/cats/12", "http://s.test/f/cats/", False),
        (UrlRules(path="prefix"), "http://s.test/id/1/", "http://s.test/id/1/key/0a3f/", True),
        (UrlRules(path="prefix"), "http://s.test/id/1/", "http://s.test/id/10/key/0a3f/", False),
        (
            UrlRules(path="prefix"),
            "http://s.test/r/?q=usb+hub",
            "http://s.test/r/index/?p=2&q=usb%20hub",
            True,
        ),
        (UrlRules(path="prefix"), "http://s.test/r/?l%5B%5D=a%20b", "http://s.test/r?s=1&l[]=a+b", True),
        (UrlRules(path="prefix"), "http://s.test/r/?q=usb", "http://s.test/r/?q=usb+hub", False),
        (UrlRules(path="prefix"), "http://s.test/f/cats", "http://cats.s.test/f/cats", False),
        (UrlRules(path="prefix"), "http://s.test/#/admin", "http://s.test/#/admin/users?x=1", True),
        (UrlRules(path="prefix"), "http://s.test/#/admin", "http://s.test/#/administration", False),
        (UrlRules(path="prefix"), "http://s.test/#/admin", "http://s.test/app#/admin", False),
        (UrlRules(path="prefix"), "http://s.test/a#top", "http://s.test/a#top-2", False),
        (UrlRules(), "http://s.test/a", "http://s.test./a", True),
        (UrlRules(path="regex"), r"http://s.test/orders/\d+", "http://s.test/orders/17/?x=1", True),
        (UrlRules(path="regex"), r"http://s.test/orders/\d+", "http://s.test/orders/17/edit", False),
        (UrlRules(path="regex"), r"orders/\d+", "http://s.test/orders/17", False),
        (EXACT, "http://s.test/?a=1", "http://s.test/?a=1&b=2", False),
        (EXACT, "http://s.test/?b=2&a=1", "http://s.test/?a=1&b=2", True),
        (UrlRules(query="exact", ignore=("t",)), "http://s.test/?a=1", "http://s.test/?t=9&a=1", True),
        (UrlRules(query="ignore"), "http://s.test/?a=1", "http://s.test/", True),
        (UrlRules(fragment="exact"), "http://s.test/", "http://s.test/#x", False),
        (UrlRules(fragment="ignore"), "http://s.test/#y", "http://s.test/#x", True),
    ],
)
def test_options(rules: UrlRules, reference: str, found: str, expected: bool) -> None:
    assert matches(reference, found, rules) is expected


def test_all_roots_of_a_site_are_equal_and_the_longest_names_it() -> None:
    assert matches("http://s.test:7770/cart", "http://10.0.0.1/cart", SUBSET, SITES)
    assert not matches("http://s.test:7770/admin/x", "http://10.0.0.1/x", SUBSET, SITES)
    found = parse("http://s.test:7770/admin/x?a=1#f", SITES)
    assert found is not None
    assert shown(found) == "@admin/x?a=1#f"


def test_a_root_is_no_text_prefix() -> None:
    found = parse("http://s.test:7770/administrators", SITES)
    assert found is not None
    assert found.host == "@shop"


@pytest.mark.parametrize(
    ("url", "post"),
    [
        ("http://r.test/f/books/59421/a-title", "http://r.test/f/books/59421/"),
        ("http://r.test/f/books/59421/-/comment/3#x", "http://r.test/f/books/59421/"),
        ("http://r.test/f/books", "http://r.test/f/books"),
        ("http://r.test/user/x/submissions", "http://r.test/user/x/submissions"),
    ],
)
def test_post_url(url: str, post: str) -> None:
    assert post_url(url) == post


PART = st.text(alphabet="abz-_.09", min_size=1, max_size=4).filter(lambda part: part.strip("."))


@given(st.lists(PART, max_size=3), st.lists(PART, max_size=3), st.booleans())
def test_a_prefix_is_what_the_peer_finds_that_ends_with_a_segment(
    path: list[str], more: list[str], has_end: bool
) -> None:
    reference = "http://s.test/" + "/".join(path)
    found = "/".join(["http://s.test", *path, *more]) + "/" * has_end
    assert matches(reference, found, UrlRules(path="prefix"))
    assert peer_matches(reference, found)
    if path:
        assert not matches(reference, f"http://s.test/{'/'.join(path)}x", UrlRules(path="prefix"))


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    found = parse(text)
    assert found is None or matches(text, text)


SEGMENT = st.text(alphabet="abc%2Fé .;~", max_size=6)


@given(st.lists(SEGMENT, max_size=4), st.dictionaries(SEGMENT, SEGMENT, max_size=3))
def test_a_url_equals_itself_with_its_query_reordered(path: list[str], query: dict[str, str]) -> None:
    def url(pairs: list[tuple[str, str]]) -> str:
        return "http://s.test/" + "/".join(path) + "?" + "&".join(f"{k}={v}" for k, v in pairs) + "#end"

    pairs = list(query.items())
    assert matches(url(pairs), url(pairs[::-1]))
