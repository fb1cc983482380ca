"""Names of elements that a page may have, and selectors that name none of them."""

from __future__ import annotations

from replaykit.patterns import lazy_pattern


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_HTML = _words(
    "a abbr acronym address applet area article aside audio b base basefont bdi bdo bgsound big blink "
    "blockquote body br button canvas caption center cite code col colgroup content data datalist dd del "
    "details dfn dialog dir div dl dt em embed fencedframe fieldset figcaption figure font footer form "
    "frame frameset geolocation h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe image img input ins "
    "isindex kbd keygen label layer legend li link listing main map mark marquee menu menuitem meta meter "
    "model multicol nav nextid nobr noembed noframes noscript object ol optgroup option output p param "
    "permission picture plaintext portal pre progress q rb rbc rp rt rtc ruby s samp script search "
    "section select selectedcontent shadow slot small source spacer span strike strong style sub summary "
    "sup table tbody td template textarea tfoot th thead time title tr track tt u ul var video wbr xmp"
)
_SVG = _words(
    "animate animatemotion animatetransform circle clippath defs desc discard ellipse feblend "
    "fecolormatrix fecomponenttransfer fecomposite feconvolvematrix fediffuselighting fedisplacementmap "
    "fedistantlight fedropshadow feflood fefunca fefuncb fefuncg fefuncr fegaussianblur feimage femerge "
    "femergenode femorphology feoffset fepointlight fespecularlighting fespotlight fetile feturbulence "
    "filter foreignobject g hatch hatchpath line lineargradient marker mask mesh meshgradient metadata "
    "mpath path pattern polygon polyline radialgradient rect set stop svg switch symbol text textpath "
    "tref tspan unknown use view"
)
_MATH = _words(
    "annotation maction math menclose merror mfenced mfrac mglyph mi mlabeledtr mmultiscripts mn mo mover "
    "mpadded mphantom mprescripts mroot mrow ms mspace msqrt mstyle msub msubsup msup mtable mtd mtext "
    "mtr munder munderover none semantics"
)
_KNOWN = _HTML | _SVG | _MATH

_BARE = lazy_pattern(r"[A-Za-z]+(?:\s+[A-Za-z]+)*")
"""Words as a person writes them. Custom elements have a hyphen."""


ROLES_OF_ELEMENTS = {
    "a": "link", "div": "generic", "input": "textbox", "li": "listitem", "nav": "navigation", "ol": "list",
    "p": "paragraph", "select": "combobox", "span": "generic", "td": "cell", "textarea": "textbox",
    "th": "columnheader", "tr": "row", "ul": "list", **{f"h{level}": "heading" for level in range(1, 7)},
}  # fmt: skip
"""Elements whose names are not roles, and the role that each has."""


def unknown_elements(css: str) -> tuple[str, ...]:
    """Return the words of a selector that consists of words of which none is the name of an element."""
    plain = css.strip()
    words = tuple(plain.split()) if _BARE.fullmatch(plain) else ()
    return words if not any(word.lower() in _KNOWN for word in words) else ()
