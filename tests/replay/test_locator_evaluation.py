from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.errors import LocatorLimit, Unsupported
from replaykit.replay.dom import Dom
from replaykit.replay.selectors.locator_evaluation import evaluate, read_selector
from replaykit.tasks.grammar.expression import METHODS, PROPERTIES
from replaykit.testing.pages import snapshot

PAGE = """
<html><head><title>Tea</title></head><body>
<div id="a" class="box wide" title="tip"><p>one</p><p>two<br>lines</p>tail</div>
<form id="f"><input name="p[q]" value="15" data-live='{"value": "20"}'>
<input type="checkbox" name="c" data-live='{"checked": true}'>
<select name="s" data-live='{"selected": [1]}'><option value="x">X</option><option value="y">Y</option></select>
<input name="id" value="n"></form>
<a href="/rel?x=1">link</a><img src="i.png" alt="A"><svg><text>in svg</text></svg>
<textarea data-live='{"value": "typed"}'>default</textarea><button disabled>go</button><x-tea></x-tea>
</body></html>
"""


def page() -> Dom:
    data = snapshot(PAGE, "http://s.test/dir/page")
    return Dom(data.replace(b'"<svg"', b'"%svg"').replace(b'"<text"', b'"%text"'))


@pytest.fixture(scope="module")
def dom() -> Dom:
    return page()


def q(selector: str) -> str:
    return f"document.querySelector('{selector}')"


@pytest.mark.parametrize(
    ("locator", "value"),
    [
        ("document.title", "Tea"),
        ("document.URL", "http://s.test/dir/page"),
        ("document.querySelector('[name=\"p[q]\"').value", "20"),
        (q("[name=c]") + ".checked", True),
        (q("[name=c]") + ".checked.toString()", "true"),
        (q("select") + ".selectedIndex", 1),
        (q("select") + ".value", "y"),
        (q("select") + ".options[0].selected", False),
        (q("select") + ".options.length", 2),
        (q("textarea") + ".value", "typed"),
        (q("button") + ".disabled", True),
        ("document.getElementById('a').className", "box wide"),
        ("document.getElementById('a').title", "tip"),
        (q("#a") + ".querySelector('p').outerText", "one"),
        ("document.querySelectorAll('#a p')[1].innerText", "two\nlines"),
        ("document.querySelectorAll('#a p').length", 2),
        ("document.querySelectorAll('#a p').item(1).textContent", "twolines"),
        (q("#a") + ".firstElementChild.outerText", "one"),
        (q("#a") + ".lastElementChild.previousElementSibling.innerText", "one"),
        (q("#a") + ".lastChild.textContent", "tail"),
        (q("#a") + ".children[1].textContent", "twolines"),
        (q("#a") + ".getAttribute('class').split(' ')[1]", "wide"),
        (q("#a") + ".hasAttribute('hidden')", False),
        (q("#a") + ".hidden", False),
        (q("p") + ".closest('.box').id", "a"),
        (q("p") + ".parentElement.matches('.wide')", True),
        (q("p") + ".tagName", "P"),
        (q("a") + ".href", "http://s.test/rel?x=1"),
        (q("a") + ".getAttribute('href')", "/rel?x=1"),
        (q("img") + ".src", "http://s.test/dir/i.png"),
        (q("#a") + ".innerHTML", "<p>one</p><p>two<br>lines</p>tail"),
        (q("p") + ".outerHTML", "<p>one</p>"),
        ("document.getElementsByClassName('wide box')[0].id", "a"),
        ("document.getElementsByTagName('p').length", 2),
        ("document.getElementsByName('c')[0].checked", True),
        (q("p") + "?.outerText", "one"),
        ("document.body.children[0].id", "a"),
        ("document.documentElement.tagName", "HTML"),
    ],
)
def test_reads_what_the_page_showed(dom: Dom, locator: str, value: Any) -> None:
    found = evaluate(locator, dom)
    assert (found.value, type(found.value)) == (value, type(value))
    assert found.locator == locator


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("' a '.trim()", "a"),
        ("'\\ufeffa\\u0085'.trim()", "a\u0085"),
        ("'aBc'.toUpperCase()", "ABC"),
        ("'abcdef'.substring(4, 2)", "cd"),
        ("'abc'.substring(1)", "bc"),
        ("'abc'.substr(1, 1)", "b"),
        ("'abc'.slice(1)", "bc"),
        ("'abc'.slice(2, 1)", ""),
        ("'a,b'.split(',').join('-')", "a-b"),
        ("'ab'.split('').length", 2),
        ("'a b'.split(' ').toString()", "a,b"),
        ("'abc'.includes('b')", True),
        ("'abc'.startsWith('b')", False),
        ("'abc'.endsWith('bc')", True),
        ("'a-a'.replace('a', 'b')", "b-a"),
        ("'x😀y'.length", 4),
        ("'x😀y'.indexOf('y')", 3),
        ("'x😀y'.substring(3)", "y"),
        ("'abc'[1]", "b"),
        ("'a'.includes(1)", False),
    ],
)
def test_texts_are_those_of_javascript(dom: Dom, expression: str, value: Any) -> None:
    assert evaluate(expression, dom).value == value


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("'' || 0 || 'x'", "x"),
        ("'' || 0", 0),
        (q(".none") + "?.id || 'none'", "none"),
        (q("#a") + " ? 'yes' : 'no'", "yes"),
        ("document.querySelectorAll('.none') ? 'yes' : 'no'", "yes"),
        (q("#a") + ".id + " + q("#a") + ".getAttribute('none')", "anull"),
        ("'n: ' + " + q(".none") + "?.id", "n: undefined"),
        ("1 + 2", 3),
        ("1 + '2'", "12"),
        ("[...document.querySelectorAll('#a p')].map(e => e.textContent).join('|')", "one|twolines"),
        ("Array.from(document.querySelectorAll('p')).filter(p => p.children.length).length", 1),
        (
            "[...document.querySelectorAll('p')].find(p => p.textContent.includes('two')).textContent",
            "twolines",
        ),
        ("[...document.querySelectorAll('p')].some(p => p.id)", False),
        ("[...document.querySelectorAll('#a, a')].map(e => e.getAttribute('href')).join(' ')", " /rel?x=1"),
        ("[...'a😀'].length", 2),
        ("[...'ab'].map(a => [...'cd'].map(c => a + c).join('')).join(' ')", "acad bcbd"),
        ("parseFloat(' 3.50kg')", 3.5),
        ("parseFloat('12abc') + 1", 13),
        ("parseInt('12.9')", 12),
        ("parseFloat('.5e1x')", 5),
        ("(() => { a = '1'; b = a + 2; return b })()", "12"),
        ("(() => { try { return " + q(".none") + ".id } catch (e) { return 'none' } })()", "none"),
        ("(() => { try { return " + q("..x") + " } catch { return 'bad' } })();", "bad"),
        ("(() => { const r = parseFloat('x'); return r ? r : 0 })()", 0),
    ],
)
def test_forms_of_more_than_one_chain(dom: Dom, expression: str, value: Any) -> None:
    found = evaluate(expression, dom)
    assert (found.value, type(found.value)) == (value, type(value))


def test_numbers_that_json_lacks_are_named(dom: Dom) -> None:
    specials = [evaluate(f"parseFloat('{text}')", dom).special for text in ("x", "Infinity", "-Infinity")]
    assert specials == ["nan", "inf", "-inf"]
    assert str(evaluate("parseFloat('-0')", dom).value) == "-0.0"


def test_an_array_of_nodes_is_one_of_texts(dom: Dom) -> None:
    found = evaluate("[...document.querySelectorAll('p')]", dom)
    assert (found.kind, found.value) == ("array", ["ref: <Node>"] * 2)


def test_the_work_of_arrows_is_bounded() -> None:
    crowd = Dom(snapshot("<p>x</p>" * 2000))
    everything = "[...document.querySelectorAll('p')].map(p => document.querySelectorAll('p').length)"
    with pytest.raises(LocatorLimit):
        evaluate(everything, crowd)
    assert len(evaluate("[...document.querySelectorAll('p')].map(p => p.textContent)", crowd).value) == 2000


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("//input[@name='p[q]']", "20"),
        ("//select", "y"),
        (".//textarea", "typed"),
        ("//p", ""),
        ("//none", ""),
    ],
)
def test_a_path_asks_for_the_value_of_a_control(dom: Dom, path: str, value: str) -> None:
    assert (evaluate(path, dom).kind, evaluate(path, dom).value) == ("string", value)


@pytest.mark.parametrize(
    ("locator", "kind"),
    [
        (q(".none"), "null"),
        (q("#a") + ".getAttribute('none')", "null"),
        (q("#a") + ".value", "undefined"),
        (q("svg text") + ".innerText", "undefined"),
        (q(".none") + "?.outerText", "undefined"),
        (q(".none") + "?.parentElement.id", "undefined"),
        ("document.querySelectorAll('p')[9]", "undefined"),
        ("document.querySelectorAll('p').item(9)", "null"),
        ("'abc'[7]", "undefined"),
        (q("#a"), "node"),
        ("document", "node"),
        ("document.querySelectorAll('p')", "object"),
        ("'a b'.split(' ')", "array"),
        ("document.getElementById('')", "null"),
    ],
)
def test_kinds(dom: Dom, locator: str, kind: str) -> None:
    assert evaluate(locator, dom).kind == kind


@pytest.mark.parametrize(
    ("locator", "name"),
    [
        (q(".none") + ".outerText", "TypeError"),
        ("(" + q(".none") + "?.parentElement).id", "TypeError"),
        ("document.querySelectorAll('p')[9].id", "TypeError"),
        (q("#a") + ".value.trim()", "TypeError"),
        ("document.querySelectorAll('p').map(p => p.id)", "TypeError"),
        ("[..." + q(".none") + "]", "TypeError"),
        ("[...document.querySelectorAll('p')].find(p => p.id).id", "TypeError"),
        (q("#a") + ".getElementById('x')", "TypeError"),
        ("document.querySelectorAll('p').getAttribute('x')", "TypeError"),
        (q("..k"), "SyntaxError"),
        (q(""), "SyntaxError"),
    ],
)
def test_throws_as_values(dom: Dom, locator: str, name: str) -> None:
    found = evaluate(locator, dom)
    assert found.kind == "exception"
    assert found.threw is not None
    assert found.threw.name == name


def test_a_missing_element_is_named_as_the_browser_does(dom: Dom) -> None:
    threw = evaluate(q(".none") + ".outerText", dom).threw
    assert threw is not None
    assert threw.message == "Cannot read properties of null (reading 'outerText')"


@pytest.mark.parametrize(
    "locator",
    [
        q("#f") + ".id",
        q("#f") + ".length",
        q("#a") + ".children.title",
        q("x-tea") + ".value",
        q("svg") + ".className",
        q("#a") + ".lastChild.nextElementSibling",
        q("#a") + ".lastChild.length",
        q("select") + ".item(1)",
        q("svg") + ".getElementById('a')",
        "document.hidden",
        "document.childNodes",
        q("#a") + ".toString()",
        q("p:hover") + ".id",
        "'a'.replace('a', '$&')",
        "document.cookie",
        "document.getElementsByTagName('a b')",
        "document.querySelector(document)",
        "'' + " + q("#a"),
        "[..." + q("#f") + "]",
        "[...1]",
        q("#a") + ".hidden + 1",
        "parseInt('0x10')",
        "parseFloat('" + "9" * 401 + "')",
        "'abc'.slice(parseInt('-1'))",
        "[...'ab'].map(c => parseFloat(c))",
        "[...'ab'].indexOf(parseFloat('x'))",
    ],
)
def test_never_guesses(dom: Dom, locator: str) -> None:
    with pytest.raises(Unsupported):
        evaluate(locator, dom)


def test_long_results_are_refused(dom: Dom) -> None:
    long = Dom(snapshot("<p>" + "x" * (1 << 20) + "x</p>"))
    with pytest.raises(LocatorLimit):
        evaluate("document.querySelector('p').textContent", long)


@pytest.mark.parametrize(
    ("selector", "prop", "kind", "value"),
    [
        ("p", "text", "string", "one"),
        ("[name=c]", "checked", "bool", True),
        ("select", "selectedIndex", "number", 1),
        ("textarea", "value", "string", "typed"),
        ("#a", "class", "string", "box wide"),
        ("#a", "none", "null", None),
        ("p", "value", "undefined", None),
        (".none", "text", "undefined", None),
        ("..k", "text", "exception", None),
    ],
)
def test_reads_selectors(dom: Dom, selector: str, prop: str, kind: str, value: Any) -> None:
    found = read_selector("key", selector, prop, dom)
    assert (found.locator, found.kind, found.value) == ("key", kind, value)


KINDS = ("bool", "null", "undefined", "number", "string", "array", "object", "node", "exception")
LINKS = st.one_of(
    st.sampled_from(sorted(PROPERTIES)).map(lambda name: f".{name}"),
    st.sampled_from(sorted(PROPERTIES)).map(lambda name: f"?.{name}"),
    st.integers(0, 3).map(lambda number: f"[{number}]"),
    st.tuples(st.sampled_from(sorted(METHODS)), st.sampled_from(["'p'", "'a', 1", "0", "1, 2", ""])).map(
        lambda call: f".{call[0]}({call[1]})"
    ),
)


@given(st.lists(LINKS, max_size=5))
def test_any_chain_gives_a_read_or_is_refused(links: list[str]) -> None:
    dom = page()
    try:
        found = evaluate("document" + "".join(links), dom)
    except (Unsupported, LocatorLimit):
        return
    assert found.kind in KINDS
