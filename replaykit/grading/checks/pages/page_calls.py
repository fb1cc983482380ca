"""Calls that read a page (`func:NAME(__page__, ...)`), answered from its snapshot.

Names, and what is read, are the benchmarks' (WebArena, VisualWebArena). None = the page lacks it, where
the benchmarks give an empty text or 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from replaykit.errors import SelectorInvalid, Unsupported
from replaykit.patterns import lazy_pattern
from replaykit.replay.dom import Dom, Node
from replaykit.replay.selectors.locator_operators import numeral, truthy
from replaykit.tasks.grammar.expression import Literal
from replaykit.tasks.grammar.locator_grammar import parse

_PRICE = (
    "#maincontent > div.columns > div > div.product-info-main > div.product-info-price"
    " > div.price-box.price-final_price > span > span"
)
_POSTED = ".comment__main > header > h1 > span > time"
_ORDERED = len("Ordered")
_COMMENTS_DEPTH = 100
_WHOLE = lazy_pattern(r"\s*([+-]?\d{1,18})\s*", re.ASCII)


class Comment(Struct, frozen=True, kw_only=True):
    """A post or comment with the comments below it."""

    user: str
    """Who wrote it."""
    content: str
    """Its text."""
    time: datetime
    """When it was written."""
    children: tuple[Comment, ...]
    """Direct replies."""


def page_answer(name: str, arguments: tuple[str, ...], dom: Dom) -> Any:
    """Return what a call reads on a page: a text, a number, or None.

    Raises `Unsupported` where the snapshot does not show it.
    """
    least_and_most, answer = PAGE_CALLS[name]
    if len(arguments) not in least_and_most:
        raise Unsupported(locator=name, reason=f"{len(arguments)} arguments")
    try:
        return answer(dom, *arguments)
    except SelectorInvalid:
        return None


def peer_default(name: str) -> str | int:
    """Return what the benchmarks give where the page does not show it."""
    return 0 if name in _NUMBERS else ""


def _role(dom: Dom, account: str) -> str | None:
    accounts = dom.select_all("td[data-label='Account'] span.gl-avatar-labeled-sublabel")
    place = next((n for n, node in enumerate(accounts) if node.text == f"@{account}"), None)
    roles = dom.select_all("td.col-max-role span")
    return roles[place].text if place is not None and place < len(roles) else None


def _query_text(dom: Dom, css: str) -> str | None:
    # The benchmark inserts the selector into a script between single quotes, escapes included.
    written = parse(f"'{css}'")
    if not isinstance(written, Literal):
        raise Unsupported(locator=css, reason="a quote in the selector")
    node = dom.select(str(written.value))
    return None if node is None else node.text_content


def _lower_query_text(dom: Dom, css: str) -> str | None:
    found = _query_text(dom, css)
    return None if found is None else found.lower()


def _number_in(text: str, kind: str) -> int | float | None:
    found = numeral(kind, text, "text")
    return found if truthy(found) else None


def _price(dom: Dom) -> int | float | None:
    node = dom.select(_PRICE)
    return None if node is None else _number_in(node.text[1:], "parseFloat")


def _reviews(dom: Dom) -> int | float | None:
    node = dom.select("#tab-label-reviews-title")
    words = node.text.split(" ") if node is not None else []
    return _number_in(words[1], "parseInt") if len(words) > 1 else None


def _rating(dom: Dom) -> int | float | None:
    node = dom.select(".rating-result")
    title = node.attribute("title") if node is not None else None
    return None if title is None else _number_in(title.replace("%", "", 1), "parseFloat")


def _attributes(dom: Dom, wanted: str) -> str | None:
    body = dom.select("#productDetails_detailBullets_sections1 > tbody")
    terms = wanted.lower().split(" |or| ")
    rows = [row.children for row in body.children] if body is not None else [[]]
    if not all(rows):
        return None
    hits = [cells for cells in rows if any(term in cells[0].text.lower() for term in terms)]
    return ", ".join(cells[1].text for cells in hits) if all(len(cells) > 1 for cells in hits) else None


def _products(dom: Dom) -> list[dict[str, Any]] | None:
    """Return the rows of an order: cells by the second word of their class, options by their term."""
    table = dom.select("#my-orders-table")
    found = []
    for body in table.select_all("tbody") if table is not None else []:
        product: dict[str, Any] = {}
        for cell in body.select_all("td"):
            key = _second_word(cell)
            product[key] = cell.text
            terms = cell.select("dl") if key == "name" else None
            if terms is not None:
                options = [node.text for node in terms.children]
                if len(options) % 2:
                    return None
                product["options"] = dict(zip(options[::2], options[1::2], strict=True))
        found.append(product)
    return None if table is None else found


def _second_word(cell: Node) -> str:
    words = (cell.attribute("class") or "").split(" ")
    return words[1] if len(words) > 1 else "undefined"


def _ordered_names(dom: Dom) -> str | None:
    products = _products(dom)
    if not products or not all("name" in product for product in products):
        return None
    return " |OR| ".join(product["name"] for product in products)


def _ordered_one(dom: Dom, skus: list[str]) -> dict[str, Any] | None:
    """Return the first product of an order with one of these numbers; None where a row has no number."""
    for product in _products(dom) or ():
        if "sku" not in product or product["sku"].strip() in skus:
            return product if "sku" in product else None
    return None


def _quantity(dom: Dom, sku: str) -> int | None:
    product = _ordered_one(dom, sku.split(" |OR| ") if "|OR|" in sku else [sku])
    found = _WHOLE.fullmatch(product.get("qty", "")[_ORDERED:]) if product is not None else None
    return int(found[1]) if found else None


def _option(dom: Dom, sku: str, name: str) -> str | None:
    product = _ordered_one(dom, [sku])
    return None if product is None else product.get("options", {}).get(name)


def _thread(dom: Dom) -> Comment | None:
    """Return the post of a page with its comments; None where any of them lacks a part."""
    main = dom.select("#main")
    try:
        return None if main is None else _comment(main, 0)
    except _NoPart:
        return None


class _NoPart(Exception):
    """A comment without author, score, text or time."""


def _comment(node: Node, level: int) -> Comment:
    if level > _COMMENTS_DEPTH:
        raise Unsupported(locator=".comment", reason="comments too deep")
    user, _, content, posted = (
        _part(node, css) for css in (".fg-inherit", ".vote__net-score", ".comment__content", _POSTED)
    )
    below = [
        child for child in node.select_all(".comment") if child.attribute("data-level") == str(level + 1)
    ]
    return Comment(
        user=user.text,
        content=content.text,
        time=_time(posted.attribute("datetime") or ""),
        children=tuple(_comment(child, level + 1) for child in below),
    )


def _part(node: Node, css: str) -> Node:
    found = node.select(css)
    if found is None:
        raise _NoPart
    return found


def _time(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise Unsupported(locator="time", reason=f"the time {text!r}") from error
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _walk(comment: Comment) -> Iterator[Comment]:
    yield comment
    for child in comment.children:
        yield from _walk(child)


def _latest_comment(dom: Dom, user: str) -> str | None:
    thread = _thread(dom)
    own = [one for one in _walk(thread) if one.user == user] if thread is not None else []
    return max(own, key=lambda one: one.time).content if own else None


def _answered_user(dom: Dom, user: str) -> str | None:
    """Return whom the user's latest comment answers; replies below the user's own comments do not count."""
    thread = _thread(dom)
    pairs = list(_answers(thread, user)) if thread is not None else []
    return max(pairs, key=lambda pair: pair[1].time)[0].user if pairs else None


def _answers(parent: Comment, user: str) -> Iterator[tuple[Comment, Comment]]:
    for child in parent.children:
        if child.user == user:
            yield parent, child
        else:
            yield from _answers(child, user)


PAGE_CALLS: dict[str, tuple[tuple[int, ...], Callable[..., Any]]] = {
    "gitlab_get_project_memeber_role": ((1,), _role),
    "get_query_text": ((1,), _query_text),
    "get_query_text_lowercase": ((1,), _lower_query_text),
    "shopping_get_product_price": ((0,), _price),
    "shopping_get_num_reviews": ((0,), _reviews),
    "shopping_get_rating_as_percentage": ((0,), _rating),
    "shopping_get_product_attributes": ((1,), _attributes),
    "shopping_get_order_product_name_list": ((0,), _ordered_names),
    "shopping_get_order_product_quantity": ((1,), _quantity),
    "shopping_get_order_product_option": ((2,), _option),
    "reddit_get_latest_comment_content_by_username": ((1,), _latest_comment),
    "reddit_get_parent_comment_username_of_latest_comment_by_username": ((1,), _answered_user),
}
"""Call to its numbers of arguments after the page, and what answers it (names as upstream spells them)."""

_NUMBERS = (
    "shopping_get_product_price",
    "shopping_get_num_reviews",
    "shopping_get_rating_as_percentage",
    "shopping_get_order_product_quantity",
)
