"""Seeded pages of everything that makes text and controls hard to read without a browser, and what scripts do to them."""

from __future__ import annotations

from random import Random


def _words(text: str) -> list[str]:
    return text.split()


BLOCKS = _words("""div div div p section article ul ol dl blockquote pre h2 figure fieldset form details dialog table
    center address menu search main nav""")
INLINES = _words("""span span span b i a em code small q sub label button abbr mark kbd bdi bdo font u time output
    ruby x-a""")
VOIDS = _words(
    "br br br img input hr wbr input select textarea meter progress iframe video canvas audio object svg embed"
)
CONTENTS = {
    "ul": "li", "ol": "li", "menu": "li", "dl": "dt dd", "table": "tr tr caption thead tbody tfoot colgroup",
    "thead": "tr", "tbody": "tr", "tfoot": "tr", "tr": "td td th", "fieldset": "legend div", "figure": "figcaption div",
    "details": "summary div", "ruby": "rt rb rp",
}  # fmt: skip
STYLES = _words("""display:none display:inline display:block display:inline-block display:flex display:inline-flex display:grid
    display:inline-grid display:contents display:table display:inline-table display:table-cell display:table-row
    display:table-row-group display:table-caption display:list-item display:flow-root display:ruby
    visibility:hidden visibility:visible visibility:collapse white-space:pre white-space:pre-line white-space:pre-wrap
    white-space:nowrap white-space:break-spaces white-space-collapse:preserve-spaces text-transform:uppercase
    text-transform:lowercase text-transform:capitalize text-transform:none text-transform:full-width opacity:0 font-size:0
    float:left float:right position:absolute position:fixed position:sticky position:relative clear:both overflow:hidden
    content-visibility:hidden content-visibility:auto width:0 height:0;overflow:hidden direction:rtl writing-mode:vertical-rl
    column-count:2 transform:scale(0) transform:rotate(90deg) clip-path:inset(100%) text-indent:-999px
    letter-spacing:3px word-break:break-all list-style-position:inside order:2 flex-direction:row-reverse
    unicode-bidi:bidi-override width:30px text-overflow:ellipsis;overflow:hidden;white-space:nowrap;width:20px
    display:flex;flex-direction:column-reverse user-select:none zoom:0.5 contain:strict contain:content
    -webkit-line-clamp:1;display:-webkit-box;-webkit-box-orient:vertical;overflow:hidden text-wrap:balance tab-size:2
    hyphens:auto word-spacing:4px line-height:0 all:unset all:revert appearance:none field-sizing:content
    """)
TEXTS = (
    "foo", "bar baz", " x", "y ", "  ", "\n", " \n ", "z\nw", "a  b", "\u00e9 \u00fc", "\t", "q\u00a0r", "a\n\nb ",
    "\u6f22\u5b57", "\u6f22\n\u5b57", "\u05e9\u05dc\u05d5\u05dd 12", "\u0627\u0644", "it's o'neil", "x-y z_w", "1st 2nd",
    "stra\u00dfe \ufb01", "\u00ad", "a\u00adb", "\u2003", "&amp;&lt;", "\U0001f600 ok", "\u200d", "\u2028",
    "\u3000", "e\u0301", "\u01c6", "\u0130i", "\u03a3\u03c3\u03c2", "a&#13;&#10;b", "a&#12;b", "\u202e x", "\u1e9e", "(a) [b]",
)  # fmt: skip
SHEETS = (
    ".g::before{content:'*'}", ".g::after{content:' '}", ".g::before{content:'a '}", ".g::after{content:counter(c)}",
 ".g::after{content:'';display:inline-block;width:5px}", ".g::before{content:''}",
    ".g::after{content:' y';position:absolute}", ".g::before{content:attr(class);float:left}", ".g:empty{display:none}",
    ".g::before{content:open-quote}", ".g::after{content:url()}", "q{quotes:none}", ".g::marker{content:'-'}",
    ".g{text-transform:uppercase}", "li{display:inline}", "tr:nth-child(2){display:none}", "td{display:block}",
    ".g{white-space:pre-line}", "label{display:block}", "summary{display:block}", "summary{list-style:none}",
    "option{display:block}", "legend{float:left}", "slot{display:block}", "::slotted(*){display:block}",
    "button{display:flex}", "br{display:none}", "br{display:block}", "br{content:'|'}",
    "@media print{*{display:none}}", ":host{display:block}", "input{display:block}", "rt{display:none}", "caption{display:none}",
)  # fmt: skip
INPUTS = _words("""text search tel url email password number range date month week time datetime-local color checkbox checkbox
    radio radio file submit button reset image hidden nonsense""")
VALUES = ("", "a", " b ", "3", "-1.5", "12e3", "2020-02-30", "2020-02-03", "25:00", "10:30", "#ff0000", "red", "a\nb", "2020-W05",
          "on", "x@y.z ", "\u00e9", "2020-01-01T10:00")  # fmt: skip


class WildPage:
    """One random page: markup for head and body, and a script that changes it once it is there."""

    def __init__(self, seed: int) -> None:
        self._chance = Random(seed)
        chance = self._chance
        self.head = "".join(f"<style>{chance.choice(SHEETS)}</style>" for _ in range(chance.randint(0, 3)))
        self.body = "".join(self._piece(0) for _ in range(chance.randint(4, 12)))
        self.script = "".join(self._change() for _ in range(chance.randint(0, 12)))

    def _maybe(self, share: float) -> bool:
        return self._chance.random() < share

    def _piece(self, depth: int) -> str:
        chance, kind = self._chance, self._chance.random()
        if kind < 0.38 or depth > 7:
            return chance.choice(TEXTS)
        if kind < 0.40:
            return "<!-- c -->"
        if kind < 0.55:
            return self._void(chance.choice(VOIDS), depth)
        if kind < 0.57:
            return self._shadow(depth)
        return self._element(chance.choice(BLOCKS if kind < 0.78 else INLINES), depth)

    def _marks(self) -> str:
        chance, marks = self._chance, ""
        if self._maybe(0.25):
            marks += f' style="{chance.choice(STYLES)}"'
        if self._maybe(0.15):
            marks += " class=g"
        if self._maybe(0.05):
            marks += chance.choice((" hidden", " hidden=until-found", " dir=rtl", " lang=tr", " lang=el", " inert", " popover",
                                    " contenteditable", " contenteditable=plaintext-only", " tabindex=0", " translate=no", " lang=nl"))  # fmt: skip
        return marks

    def _element(self, tag: str, depth: int) -> str:
        chance = self._chance
        own = CONTENTS.get(tag)
        count = chance.randint(0, 3 if depth else 5)
        inside = ""
        for _ in range(count):
            if own and self._maybe(0.75):
                inside += self._element(chance.choice(own.split()), depth + 1)
            else:
                inside += self._piece(depth + 1)
        extra = ""
        if tag in ("details", "dialog") and self._maybe(0.5):
            extra = " open"
        elif tag == "fieldset" and self._maybe(0.3):
            extra = " disabled"
        elif tag == "td" and self._maybe(0.2):
            extra = chance.choice((" colspan=2", " rowspan=2"))
        elif tag == "li" and self._maybe(0.3):
            extra = f" value={chance.choice(('3', '-2', 'x', '99999999999'))}"
        elif tag == "button" and self._maybe(0.4):
            extra = f' value="{chance.choice(VALUES)}"'
        return f"<{tag}{extra}{self._marks()}>{inside}</{tag}>"

    def _void(self, tag: str, depth: int) -> str:
        chance, marks = self._chance, self._marks()
        match tag:
            case "input":
                return f"<input type={chance.choice(INPUTS)}{self._control()}{marks}>"
            case "select":
                return f"<select{self._control()}{chance.choice(('', '', '', ' multiple', ' size=3', ' multiple size=1'))}{marks}>{self._options()}</select>"
            case "textarea":
                return f"<textarea{self._control()}{marks}>{chance.choice(TEXTS)}{chance.choice(TEXTS)}</textarea>"
            case "meter" | "progress":
                marks += chance.choice(
                    ("", " value=3", " value=0.3 max=2", " min=1 max=5 value=9", " value=x max=0")
                )
                return f"<{tag}{marks}>{chance.choice(TEXTS)}</{tag}>"
            case "iframe":
                inside = self._piece(6).replace('"', "'") if self._maybe(0.6) else ""
                return (
                    f'<iframe srcdoc="{inside}"{marks}></iframe>' if inside else f"<iframe{marks}>f</iframe>"
                )
            case "object":
                return f"<object{chance.choice(('', ' data=nothing', ' type=x/y'))}{marks}>{self._piece(6)}</object>"
            case "svg":
                return f"<svg{marks}>{chance.choice(('<title>T</title>', '<text>a b</text>', '<text> a <tspan>b</tspan></text>', '<g>x</g>', '<foreignObject><div>d</div></foreignObject>', ''))}</svg>"
            case "video" | "canvas" | "audio":
                return f"<{tag}{chance.choice(('', ' controls'))}{marks}>{self._piece(6)}</{tag}>"
        return f"<{tag}{marks}>"

    def _control(self) -> str:
        chance, marks = self._chance, ""
        if self._maybe(0.5):
            marks += f' value="{chance.choice(VALUES)}"'
        for mark in (
            " checked",
            " disabled",
            " readonly",
            " required",
            " placeholder=p",
            " name=r",
            " list=dl",
            " multiple",
        ):
            if self._maybe(0.12):
                marks += mark
        return marks

    def _options(self) -> str:
        chance, text = self._chance, ""
        for _ in range(chance.randint(0, 4)):
            kind = chance.random()
            mark = chance.choice(
                (
                    "",
                    "",
                    " selected",
                    " disabled",
                    " value=v",
                    ' label="L l"',
                    " hidden",
                    " class=g",
                    ' value=""',
                )
            )
            if kind < 0.7:
                text += f"<option{mark}>{chance.choice(TEXTS)}{chance.choice(('', '', ' z', '<!-- c -->'))}</option>"
            elif kind < 0.9:
                text += (
                    f"<optgroup label=g{chance.choice(('', ' disabled', ' style=display:none'))}>"
                    + self._options()
                    + "</optgroup>"
                )
            else:
                text += "<hr>"
        return text

    def _shadow(self, depth: int) -> str:
        chance = self._chance
        tree = "".join(self._piece(5) for _ in range(chance.randint(0, 2)))
        slots = "".join(
            chance.choice(
                (
                    "<slot></slot>",
                    "<slot name=s></slot>",
                    "<slot>fallback</slot>",
                    "<div><slot></slot></div>",
                    "<slot name=s><b>fb</b></slot>",
                )
            )
            for _ in range(chance.randint(0, 2))
        )
        light = "".join(
            chance.choice(
                ("<b slot=s>ls</b>", "<div slot=t>lt</div>", "lone", " ", "<p>lp</p>", "<i>li</i> ")
            )
            for _ in range(chance.randint(0, 3))
        )
        host = chance.choice(("div", "span", "x-b", "p", "section"))
        return (
            f"<{host}{self._marks()}><template shadowrootmode=open>{tree}{slots}</template>{light}</{host}>"
        )

    def _change(self) -> str:
        """Return a statement that changes one element, by number, as scripts of pages do."""
        chance = self._chance
        number, value = chance.randint(0, 200), chance.choice(VALUES)
        changes = (
            f"for (const e of pick('input,textarea', {number})) {{ try {{ e.value = {value!r}; }} catch {{}} }}",
            f"for (const e of pick('select', {number})) e.selectedIndex = {chance.randint(-1, 3)};",
            f"for (const e of pick('option', {number})) e.selected = {chance.choice(('true', 'false'))};",
            f"for (const e of pick('input', {number})) e.checked = {chance.choice(('true', 'false'))};",
            f"for (const e of pick('*:not(input,embed,progress,meter)', {number})) e.append({chance.choice(TEXTS)!r}, {chance.choice(TEXTS)!r});",
            f"for (const e of pick('p,div,span', {number})) e.appendChild(document.createElement({chance.choice(BLOCKS)!r})).textContent = ' m ';",
            f"for (const e of pick('details', {number})) e.open = !e.open;",
            f"for (const e of pick('dialog:not([open])', {number})) try {{ e.showModal(); e.close(); }} catch {{}}",
            f"for (const e of pick('[popover]', {number})) try {{ e.showPopover(); }} catch {{}}",
            f"for (const e of pick('*', {number})) e.style.cssText = {chance.choice(STYLES)!r};",
            f"for (const e of pick('option,optgroup', {number})) e.disabled = true;",
            f"for (const e of pick('select', {number})) e.options.add(new Option('n', 'nv', true, true));",
            f"for (const e of pick('ul,table,div', {number})) e.insertBefore(document.createElement({chance.choice(INLINES)!r}), e.firstChild).append(' i ');",
        )
        return chance.choice(changes) + "\n"


PRELUDE = """const pick = (css, number) => {
  const found = [...document.body.querySelectorAll(css)];
  return found.length === 0 ? [] : [found[number % found.length]];
};
"""
