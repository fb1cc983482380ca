"""The selector matcher against `querySelectorAll` of a real browser."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from replaykit.errors import SelectorInvalid, Unsupported
from replaykit.replay.dom import Dom
from tests.thorough import one_in

pytestmark = [pytest.mark.live, pytest.mark.one_page]


Watch = Callable[..., Any]

BODY = """
<div id=main class="box Wide first"><p class=a lang=en-US data-x="one two">1</p><p class="a b" title="T &quot;q&quot;">2</p>
<ul><li>x<li class=b>y<li class="a c"><a href=# class=link>z</a><li><!--c--><li> <li></ul>
<form id=f name="p[q]"><input name="p[q]" value=v required><input type=CHECKBOX checked name=box><input type=radio name=r>
<input type=radio name=r checked><select name="s[1][2]"><option>o<option selected value=2>p</select><textarea placeholder=x>
</textarea><fieldset disabled><legend><input class=ok></legend><input class=no><button>b</button></fieldset>
<input placeholder=shown><input placeholder=filled value=1 disabled><button type=submit>go</button></form>
<SECTION Id=Main2 CLASS="Box" data-y="a-b c"><h2>h</h2><h2 class=b>i</h2><span></span><em>e</em></SECTION>
<svg viewBox="0 0 1 1"><linearGradient id=lg class=g /><a xlink:href="#x" href="y"><text>t</text></a></svg>
<template><p class=a>hidden</p></template><table><tr><td headers=q>1<td>2</table><details open><summary>s</summary></details>
<div id="a.b" class="x:y 1n">esc</div><progress></progress><dialog open>d</dialog><div class=deep><div><div><b>q</b></div></div></div>
<nav><p>1</p><div>2</div><p>3</p><p class=b>4</p></nav></div>
"""

SELECTORS = """
*|p|.a|.a.b|#main|#Main2|#main2|p.a|div p|div > p|p + p|p ~ ul|h2 ~ *|ul li:nth-child(2)|li:nth-child(odd)
li:nth-child(2n+1)|li:nth-child(-n+3)|li:nth-last-child(2)|li:nth-child(+3)|li:nth-child( 2n - 1 )|li:first-child|li:last-child
li:only-child|:only-child|p:first-of-type|h2:last-of-type|p:nth-of-type(2)|p:nth-last-of-type(1)|:only-of-type
li:nth-child(2 of .b, .c)|:nth-child(even of p)|:nth-last-child(1 of p)|li:empty|:empty|:root|:scope|:scope > body|:root > *
[title]|[lang=en-US]|[lang=EN-us]|[lang|=en]|[lang|=EN]|[data-x~=two]|[data-x~="one two"]|[data-x^=one]|[data-x$=two]|[data-x*="e t"]
[data-x^=""]|[data-x*=""]|[data-x=ONE]|[data-x="ONE TWO" i]|[data-x="one two" s]|[type=checkbox]|[type=CheckBox]|[type=checkbox s]
[type="submit" i]|[DATA-X]|[viewBox]|[viewbox]|lineargradient|linearGradient|LINEARGRADIENT|svg a|[xlink\\:href]|[*|href]|*|a|a[href]
[title='T "q"']|[title="T \\"q\\""]|[name="p[q]"]|[name='p[q]']|[name=p\\[q\\]]|[name="s[1][2]"] option|#a\\.b|.x\\:y|.\\31 n|#\\61 \\.b
:checked|input:checked|option:checked|:disabled|:enabled|input:disabled|fieldset :enabled|:required|:optional|:link|:any-link|:visited
:indeterminate|:placeholder-shown|:not(p)|:not(.a, .b)|p:not(.b)|:not(:not(p))|:is(p, li).b|:where(p, li).b|:is(.a > a, h2)|:is()
:is(:unknown, p)|:is(p, ..x)|:not(:is(div *))|div:has(> p)|div:has(p)|p:has(+ p)|h2:has(~ em)|:has(#f)|ul:has(li.b, x)|:has(> .a > .link)
li:has(> a):not(.b)|:is(ul:has(a), nav) > *|section > h2 + h2|div div div|.deep div b|.deep > div > div > b|ul>li|ul >li|ul> li
p,li|p , li|ul li a,  .b|p/* c */.a|p /* c */ .a|/* c */p|div\tp|div\np|.box.Wide|.box.wide|.Box|section.Box|SECTION|sEcTion
p::before|::before|li::marker|p::first-line|*::after, p|:first-child:last-child|td:first-child|template p|template > .a
html body|body > div|html:root|:ROOT|LI:First-Child|li:NTH-CHILD(2N+1)|:nth-child(0)|:nth-child(n)|:nth-child(-2)|:nth-child(0n+3)
||..k|.|#|>|> p|p >|p +|,|p,|,p|p,,q|:|::|:unknown|:contains(x)|:has-text("x")|p:contains("1")|:nth-child(|:nth-child()|:nth-child(x)
:nth-child(2 of)|:nth-of-type(2 of p)|:not()|:has()|:has(:has(a))|:not(::before)|:is(::before)|[|[a|[title|[title=|[title="|[title='T
[title="T|[title=T|[data-x|[name=p[q]]|[name="p[q]|[name="p[q]"|[name="p[q|[=x]|[1a]|[a=1]|[a==b]|[a b]|[data-x="one two" x]|a)|a]|a}|(a)|a(
:not(.x|:not(.x, .b|:is(p|:is(p, .a|:has(> p|div:has(p:not(.b|ul li:nth-child(2|:nth-child(2n+1|.1a|#1a|.-a|.--a|.-1|#-|._a|a.|a#|a[]|p..a|p.a.
!p|p!|p@|$p|%|&|& p|@media|1p|-p|p > > li|p + + p|p > + li|+ p|~ p|p ~|*p|p*|**|* *|*.a|*#main|*[title]|ns|p|ns\\|p||a|p|*|*|*|b||*|
::unknown|::-webkit-anything|p::before.a|p::before p|:before|:after|:first-line|div:::before|p: first-child|p :first-child|:first-child()
:nth-child(1 2)|:nth-child(2n + 1 )|:nth-child(2n+ 1)|:nth-child(2 n)|:nth-child(n2)|:nth-child(+ 2n)|li:nth-child(2 of li.b)|:lang(en)x
p:not|p:is|:where(|:where()|:where(.a|[data-x='one two|[data-x="one two"i]|[data-x="one two" I]|[data-x=one\\ two]|[title="a\\
"]|[data-x="one \\
two"]
""".strip()

UNRECORDED = ":hover|:focus|a:active|:focus-within|:valid|:invalid|:target|:lang(en)|:dir(ltr)|:read-only|:default|:defined"


EDGES = (
    "&p", "p&", "a &", "&.a", ":not(&)", "p::before:hover", "::before::after", "::slotted(p) a", "[a=b  i]", "[a=b/**/i]",
    "a/**/b", "[/**/a]", "[ a = b ]", "[a= 'b' ]", "/**/", "<!--", "-->a", "a<!--", "a{}", "a;", "a()", "a:is(b)c", "\\",
    "a\\", "#\\", "\u00e9", "#\u00e9", "\U0001f600", ":nth-child(1 of)", ":nth-child(1 of,)", ":nth-child(of a)",
    ":nth-child(1of a)", ":nth-child(2n of p)", ":has(::before)", ":has(:is())", ":is(:has(:has(a)))", ":not(:unknown)",
    ":where(:unknown)", ":has(:unknown)", ":has(a, :unknown)", ":has(>)", ":has(> a >)", "p:not( .b )", "p:not([title", "p:not([title='",
    "[a=url(b)]", "url(a)", "[a='x\\", "li:nth-child(2 /*c*/)", ":is(p,,li)", ":is(,)", ":not(p,)", "--a", "-", "-a", "[--a]",
    "*:not(*)", "::before *", "*::before", "::part(x)", "::cue(p)", "::scroll-button(left)", "::picker(select)", "::column",
    "::-moz-focus-inner", "::content", "::shadow", ":matches(p)", ":-webkit-any(p, li)", ":playing", ":blank", ":any(p)",
)  # fmt: skip


def listed() -> list[str]:
    """Selectors of one to four lines' fields; the bar of a namespace is written between two of them."""
    fields = [field for line in SELECTORS.split("\n") for field in line.split("|")]
    return [
        *dict.fromkeys(fields),
        "*|p",
        "*|a",
        "|p",
        "ns|p",
        "*|*",
        "[*|href]",
        "[|href]",
        "[ns|href]",
        "",
        " ",
    ]


def generated(chance: random.Random, count: int) -> Iterator[str]:
    """Yield selectors put together from parts, a third of them truncated."""
    for _ in range(count):
        made = _complex(chance, 2)
        yield made[: chance.randint(1, len(made))] if chance.random() < 0.33 else made


_SIMPLE = (
    "p", "li", "div", "*", ".a", ".b", "#main", "[title]", '[name="p[q]"]', "[data-x~=two]", ":first-child", ":last-child",
    ":nth-child(2n)", ":nth-child(2)", ":nth-of-type(2)", ":empty", ":checked", ":enabled", ":only-child", "[class*=a i]",
)  # fmt: skip


def _compound(chance: random.Random, depth: int) -> str:
    parts = sorted(
        {chance.choice(_SIMPLE) for _ in range(chance.randint(1, 2))},
        key=lambda part: not part[0].isalpha() and part != "*",
    )
    if depth and chance.random() < 0.3:
        parts.append(f":{chance.choice(('not', 'is', 'where', 'has'))}({_complex(chance, depth - 1)})")
    return "".join(parts)


def _complex(chance: random.Random, depth: int) -> str:
    made = _compound(chance, depth)
    for _ in range(chance.choice((0, 0, 1, 1, 2))):
        made += chance.choice((" ", " > ", " + ", " ~ ", ">", ", ")) + _compound(chance, depth)
    return made


ASK = """(selectors) => {
  const all = [...document.querySelectorAll('*')];
  const order = new Map(all.map((element, index) => [element, index]));
  return selectors.map((selector) => {
    try { return [...document.querySelectorAll(selector)].map((element) => order.get(element)); } catch { return 'invalid'; }
  });
}"""


def own(dom: Dom, order: dict[int, int], selector: str) -> Any:
    try:
        return [order[node.row] for node in dom.select_all(selector)]
    except SelectorInvalid:
        return "invalid"
    except Unsupported:
        return "unsupported"


def disagreements(watched: Any, doctype: str, selectors: list[str]) -> list[tuple[str, Any, Any]]:
    watched.page.set_content(f"{doctype}<html><head><title>T</title></head><body>{BODY}</body></html>")
    dom = Dom(watched.ask().text.encode())
    order = {node.row: place for place, node in enumerate(dom.select_all("*"))}
    live = watched.page.evaluate(ASK, selectors)
    pairs = [
        (selector, theirs, own(dom, order, selector))
        for selector, theirs in zip(selectors, live, strict=True)
    ]
    return [pair for pair in pairs if pair[1] != pair[2]]


@pytest.mark.parametrize("doctype", ["<!doctype html>", ""], ids=["standards", "quirks"])
def test_listed_selectors_agree(watch: Watch, doctype: str) -> None:
    assert disagreements(watch(), doctype, listed()) == []


@pytest.mark.parametrize("seed", one_in(3, range(3)))
def test_generated_selectors_agree(watch: Watch, seed: int) -> None:
    assert disagreements(watch(), "<!doctype html>", list(generated(random.Random(seed), 700))) == []


def test_what_is_not_recorded_is_refused_not_guessed(watch: Watch) -> None:
    found = disagreements(watch(), "<!doctype html>", UNRECORDED.split("|"))
    assert [own for _, _, own in found] == ["unsupported"] * len(UNRECORDED.split("|"))
