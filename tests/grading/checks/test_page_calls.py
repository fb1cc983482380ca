"""Values that the benchmarks' calls read on pages: found, missing, malformed."""

from __future__ import annotations

from typing import Any

import pytest

from replaykit.errors import Unsupported
from replaykit.grading.checks.pages.page_calls import PAGE_CALLS, page_answer, peer_default
from replaykit.replay.dom import Dom
from replaykit.testing.pages import snapshot

MEMBERS = """
<table><tr><td data-label="Account"><span class="gl-avatar-labeled-sublabel">@ann</span></td>
<td class="col-max-role"><span>Owner</span></td></tr>
<tr><td data-label="Account"><span class="gl-avatar-labeled-sublabel">@bo</span></td>
<td class="col-max-role"><span>Guest</span></td></tr></table>
"""
PRODUCT = """
<div id="maincontent"><div class="columns"><div><div class="product-info-main">
<div class="product-info-price"><div class="price-box price-final_price"><span><span>$1,234.50</span></span>
</div></div></div></div></div></div>
<div class="rating-result" title="87%"></div><a id="tab-label-reviews-title">Reviews 12</a>
<table id="productDetails_detailBullets_sections1"><tbody>
<tr><th>Manufacturer</th><td>Acme</td></tr><tr><th>Brand Name</th><td>Tea Co</td></tr></tbody></table>
"""
ORDER = """
<table id="my-orders-table"><tbody><tr><td class="col name">Tea<dl><dt>Size</dt><dd>Big</dd></dl></td>
<td class="col sku">A1 </td><td class="col qty">Ordered2</td></tr></tbody>
<tbody><tr><td class="col name">Cup</td><td class="col sku">B2</td><td class="col qty">Ordered13</td></tr>
</tbody></table>
"""


def comment(user: str, text: str, day: int, level: int, inside: str = "") -> str:
    return (
        f"<article class=comment data-level={level}><div class=comment__main><header><h1>"
        f"<a class=fg-inherit>{user}</a><span><time datetime='2023-03-{day:02}T10:00:00+00:00'></time></span>"
        f"</h1></header><div class=comment__content>{text}</div><span class=vote__net-score>1</span></div>"
        f"{inside}</article>"
    )


def thread(*comments: str) -> str:
    return "<div id=main>" + comment("op", "post", 1, 0, "".join(comments)) + "</div>"


THREAD = thread(comment("ann", "first", 2, 1, comment("bo", "reply", 3, 2)), comment("ann", "second", 5, 1))
ROLE, TEXT = "gitlab_get_project_memeber_role", "get_query_text"
ORDERED = "shopping_get_order_product_"
LATEST = "reddit_get_latest_comment_content_by_username"
PARENT = "reddit_get_parent_comment_username_of_latest_comment_by_username"


def answer(html: str, name: str, *arguments: str) -> Any:
    return page_answer(name, arguments, Dom(snapshot(html)))


@pytest.mark.parametrize(
    ("html", "name", "arguments", "found"),
    [
        (MEMBERS, ROLE, ["bo"], "Guest"),
        (MEMBERS, ROLE, ["b"], None),
        ("<p></p>", ROLE, ["bo"], None),
        (MEMBERS.replace("col-max-role", "x"), ROLE, ["bo"], None),
        ("<p class=a>One<i> two</i></p>", TEXT, [".a"], "One two"),
        ("<p class=a>One</p>", "get_query_text_lowercase", [".a"], "one"),
        ("<p>One</p>", TEXT, [".a"], None),
        ("<p>One</p>", TEXT, ["..a"], None),
        ("<p id='1'>One</p>", TEXT, [r"#\\31"], "One"),
        (PRODUCT, "shopping_get_product_price", [], 1),
        (PRODUCT.replace("$1,234.50", "$12.50"), "shopping_get_product_price", [], 12.5),
        (PRODUCT.replace("$1,234.50", "free"), "shopping_get_product_price", [], None),
        ("<p></p>", "shopping_get_product_price", [], None),
        (PRODUCT, "shopping_get_num_reviews", [], 12),
        (PRODUCT.replace("Reviews 12", "Reviews"), "shopping_get_num_reviews", [], None),
        (PRODUCT, "shopping_get_rating_as_percentage", [], 87),
        (PRODUCT, "shopping_get_product_attributes", ["brand name |OR| manufacturer"], "Acme, Tea Co"),
        (PRODUCT, "shopping_get_product_attributes", ["colour"], ""),
        (PRODUCT.replace("<td>Acme</td>", ""), "shopping_get_product_attributes", ["manufacturer"], None),
        ("<p></p>", "shopping_get_product_attributes", ["manufacturer"], None),
        (ORDER, ORDERED + "name_list", [], "Tea\nSize\nBig |OR| Cup"),
        (ORDER, ORDERED + "quantity", ["B2"], 13),
        (ORDER, ORDERED + "quantity", ["C3 |OR| A1"], 2),
        (ORDER, ORDERED + "quantity", ["C3"], None),
        (ORDER.replace("Ordered13", "many"), ORDERED + "quantity", ["B2"], None),
        (ORDER.replace("col sku", "sku"), ORDERED + "quantity", ["A1"], None),
        (ORDER, ORDERED + "option", ["A1", "Size"], "Big"),
        (ORDER, ORDERED + "option", ["A1", "Colour"], None),
        (ORDER.replace("<dd>Big</dd>", ""), ORDERED + "option", ["A1", "Size"], None),
        ("<p></p>", ORDERED + "name_list", [], None),
        (THREAD, LATEST, ["ann"], "second"),
        (THREAD, LATEST, ["bo"], "reply"),
        (THREAD, LATEST, ["eve"], None),
        (THREAD, PARENT, ["bo"], "ann"),
        (THREAD, PARENT, ["ann"], "op"),
        (THREAD, PARENT, ["op"], None),
        (THREAD.replace("vote__net-score", "x", 1), LATEST, ["ann"], "second"),
        (THREAD.replace("vote__net-score", "x"), LATEST, ["ann"], None),
        ("<p></p>", LATEST, ["ann"], None),
    ],
)
def test_answers(html: str, name: str, arguments: list[str], found: Any) -> None:
    assert answer(html, name, *arguments) == found


@pytest.mark.parametrize(
    ("html", "name", "arguments"),
    [
        (MEMBERS, ROLE, []),
        (MEMBERS, TEXT, ["a", "b"]),
        ("<p></p>", TEXT, ["a' + 'b"]),
        (THREAD.replace("2023-03-02T10:00:00+00:00", "yesterday"), LATEST, ["ann"]),
    ],
)
def test_never_guesses(html: str, name: str, arguments: list[str]) -> None:
    with pytest.raises(Unsupported):
        answer(html, name, *arguments)


def test_the_peers_give_an_empty_text_or_zero() -> None:
    assert {name: peer_default(name) for name in PAGE_CALLS} == {
        name: 0 if "price" in name or "num_" in name or "rating" in name or "quantity" in name else ""
        for name in PAGE_CALLS
    }
