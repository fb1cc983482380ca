"""Pages that are hard to read without a browser, by the construct that makes them so."""

from __future__ import annotations

import random

PAGES = {
    "blocks": """
        <h1> A  title </h1><h2>b</h2><p>one<br>two <br> three</p><p></p><p>four</p><div></div>tail <b> bold </b> end
        <blockquote>q<footer>f</footer></blockquote><address>ad</address><center>c</center><hr>x<ul><li>a<ul><li>b</ul>
        <li><p>c</p></ul><ol><li style="list-style-position:inside"> in <li>out</ol><dl><dt>t<dd>d<dd>e</dl>
        <figure><img alt=x> <figcaption>cap</figcaption></figure><div>l1</div><div>l2</div><p>p1</p><p>p2</p>
        <div><span>a<div>b</div>c </span> d</div><p style="display:inline">i</p><p style="display:inline-block">j</p>z""",
    "tables": """
        <table><caption> c </caption><colgroup><col></colgroup><tr><th>1<th>2<tr><td colspan=2>x
        <tr style="display:none"><td>h<tr><td>z<td style="display:none">q</table>
        <table><tfoot><tr><td>f</tfoot><tbody><tr><td>b</tbody><tbody></tbody><thead><tr><td>h</thead></table>
        <table><tr><td><table><tr><td>i<td>j</table><td>k<tr><td>1<td><td>3<tr><td><td></table>
        <table><tr style="visibility:collapse"><td>1<td>2<tr><td>x</table>
        <table><tr style="display:block"><td>1<td>2<tr><td>x</table>
        <table><tr><td style="display:block">1<td style="display:block">2<tr><td>x</table>
        <div style="display:table"><div style="display:table-row"><div style="display:table-cell">a</div>txt
        <div style="display:table-cell">b</div></div><div>zz</div></div>
        <div>x <table style="display:inline-table"><tr><td>1<td>2<tr><td>3</table> y</div>
        <div><span style="display:table-cell">a</span> <span style="display:table-cell">b</span></div>
        <i> k <b style="display:table-cell">a</b> y</i>""",
    "flex and grid": """
        <div style="display:flex">t1 <!-- c --> t2 <b>x</b> <i> y </i> t3</div>
        <div style="display:grid">x <span>y</span> z</div><p>a <span style="display:inline-flex"> b  <b>c</b> </span> d</p>
        <div style="white-space:pre-wrap;display:flex">\n<div>a</div>\n<div>b</div>\n x</div>
        <div style="display:-webkit-box">a <b>b</b></div><ul style="display:flex"><li> one </li> <li>two</li></ul>
        <div style="display:flex"><span style="display:contents"> a <b>b</b> </span></div>
        <div style="column-count:2">a <b>b</b><p style="column-span:all">z</p></div>""",
    "atoms": """
        <p>a <img> b <input value=v> c <button> Save </button> d <select><option>o</select> e <textarea>t</textarea> f</p>
        <p><span style="display:inline-block"> a  b </span> <span style="display:inline-block"> c </span></p>
        <p>x<iframe></iframe>y <canvas>fallback <b>cb</b></canvas> z <video><b>vb</b></video> <audio controls>au</audio>
        <meter><b>mb</b></meter> <progress><b>pb</b></progress> w</p><p>x <img style="display:block"> y <img> z</p>
        <p>l<input type=hidden> <input type=hidden> x <wbr> y<wbr>z</p><p>o <object> inner </object> p</p>""",
    "white space": """
        <pre>\n\n a\tb\r\n c\n</pre><div style="white-space:pre-line"> a  b \n c\n\n</div><div style="white-space:pre-wrap">
        <div>a</div>\n<div>b</div>\n</div><p style="white-space:nowrap"> a  \n b </p><p>x <span style="white-space:pre"> y </span> z
        </p><p>a\u00a0 b \u2003 c\u00ad\u200b\nd e\u200b f</p><p><em>a</em><span> </span><em>b</em><span> </span> </p>
        <p>\u6f22\u5b57\n\u6f22\u5b57</p><p> a <br> b <br> <br>c </p><p>a<br style="display:none">b</p><div>\n<br></div>
        <a>1</a>\n<a>2</a>\n<!-- c -->\n<a>3</a><div style="white-space:break-spaces"> a  \n b </div>
        <p style="white-space:pre-line">x  <b> y\n </b>\n z</p>""",
    "hidden": """
        <div hidden>h<br>i<p>x<b>y</b></p></div><div style="visibility:hidden">x<b style="visibility:visible">y</b><p>z</p></div>
        <details><summary> S </summary>body <b>bold</b><div>x</div></details><details open> <summary>S</summary> body
        <b>b</b></details><details>no summary <i>i</i></details><details><p>x</p><summary>late</summary></details>
        <div style="content-visibility:hidden">t<p>x<b>y</b></p></div><span style="content-visibility:hidden">shown</span>
        <div style="opacity:0">o</div><div style="font-size:0">f</div><dialog>d</dialog><dialog open>o</dialog>
        <div popover>p</div><div inert>in</div><template><b>t</b></template><noscript>n<b>o</b></noscript>
        <div style="width:0;overflow:hidden">w</div><div style="display:contents">c<p>d</p></div><script>s</script>""",
    "case": """
        <p style="text-transform:capitalize">it's o\u2019neil x-y foo_bar 3rd (foo) a.b a:b x/y "q" \u00e9 \u01c6 \ufb01ne
        foo\u00a0bar a1b <b>b</b>ar b<b>ar</b> 'tis rock'n'roll a&shy;b <br>hello world<img>x <i>y</i></p>
        <p style="text-transform:uppercase" lang=tr>i\u0131</p><p style="text-transform:uppercase">stra\u00dfe \u0149</p>
        <p lang=el style="text-transform:uppercase">\u03ac\u03ad \u03ca</p>
        <p style="text-transform:lowercase">\u0130 \u0391\u03a3 \u03a3</p>""",
    "ruby and math": """
        <p>q <ruby> \u6f22 <rp>(</rp><rt> kan </rt><rp>)</rp></ruby> x</p><p dir=rtl>\u05e9\u05dc <bdi>abc</bdi>
        <bdo dir=rtl>x y</bdo> z</p><p>a <math><mi>x</mi><mo>+</mo><mn>2</mn><mrow><mi>y</mi> </mrow><mtext>m t</mtext>
        <mfrac><mi>a</mi><mi>bc</mi></mfrac></math> b <q>quoted</q> c</p>""",
    "svg": """
        <button><svg><title>Icon</title><path d="M0 0"/></svg> Save</button><div><svg><desc>D</desc><text>tx <tspan>ts</tspan>
        </text><defs><text>df</text></defs><style>q{}</style><foreignObject><p>fo</p></foreignObject><g>gg</g>
        <a><text>l</text></a></svg> Z</div>""",
    "controls": """
        <form><input id=t value=a><input value=" b "><input type=number value=12x><input type=range><input type=color>
        <input type=date value=2020-01-01><input type=email value=" a@b "><input type=checkbox checked><input type=checkbox
        value=v><input type=radio name=r checked><input type=radio name=r value=2><input type=file><input type=submit>
        <input type=button value=B><input type=image><input type=hidden value=h><input type=nonsense value=n>
        <input type=url value=" x "><input type=time value=25:00><input type=search value="a\nb">
        <textarea id=a>\none\ntwo &amp; </textarea><textarea></textarea><button value=bv>B</button><button>C</button>
        <select id=s><option>A  b<option value=2 selected>B</select><select id=n></select><select><option disabled>x
        <option>y</select><select multiple id=m><option selected>1<option>2<option selected>3</select>
        <select size=3><optgroup label=G><option> A  b<option>B</optgroup><option label=LL>C</select>
        <div>x<select><optgroup><option>1</select>y</div><datalist><option>1</datalist><option>loose</option>
        <output>out <b>put</b></output><ol><li value=7>a<li>b</ol><progress value=.5></progress><progress max=0></progress>
        <meter min=2 max=9 value=11></meter><data value=d>dd</data><label> L <input> </label>
        <fieldset disabled><legend> L <input id=ok></legend> x <input id=no> y</fieldset></form>""",
    "shadow": """
        <div id=a><template shadowrootmode=open><b>sh </b><slot name=n></slot><div><slot></slot></div></template>tx
        <i slot=n> nn </i><u>un</u> t2<s slot=zz>zz</s></div><div><template shadowrootmode=open><b>only</b></template>gone
        <i>x</i></div><div><template shadowrootmode=open><slot>fallback</slot></template></div><p>a <span><template
        shadowrootmode=open>[<slot></slot>]</template> in </span> b</p><div><template shadowrootmode=open><slot
        style="display:none"></slot></template>t<b>u</b></div>""",
    "icons": """<style>.i::before{content:"x"} .j::before{content:"";display:inline-block;width:9px}</style>
        <button><i class=i></i> Save</button><a> <i class=j></i> Open <i class=i></i> </a><p><i></i> none <b class=i></b></p>""",
    "generated": """<style>.i::before{content:"x"} .r::after{content:"*"} .q::before{content:"» "} .e::before,.e::after{content:""}
        .s::before,.s::after{content:" "} .a::before{content:"x";position:absolute} .u::before{content:url(#)}</style>
        <p><b class=r>Name </b></p><label class=r> Name </label><p>a <b class=q> b </b> c</p><p><b class=e> d </b></p><p><b
        class=s> e </b></p><p><b class=a> f </b></p><button class=i> Save </button><a class=i> <b>g</b> </a>h<p>
        <i style="padding:4px"></i> x</p><p><i style="border:4px solid"></i> y</p><p><i class=r></i> z</p><p><i class=e></i>
        x</p><p><i class=s></i> y</p><p><i class=a></i> z</p><p>k <s style="display:contents" class="i r"> l </s> m</p><p>
        <i class=u></i> n</p><p><object data="data:,x"></object> o</p><p><x-closed></x-closed> p</p>
        <script>customElements.define('x-closed', class extends HTMLElement { connectedCallback() {
          this.attachShadow({mode: 'closed'}).innerHTML = '<b>in</b>'; } });</script>""",
    "floats": """<style>.f{float:left} .g{float:right} .a{position:absolute} .x{position:fixed}</style>
        <p>a <b class=f> x </b> b</p><p><b class=f>x</b> b <b class=g>y</b></p><p>a<b class=f>x</b> b</p><p>a <i><b
        class=f>x</b></i> b</p><p> <img class=f> t <img> <img class=g> u</p><div><div class=f>one</div> <div class=f>two</div>
        tail</div><p>a <b class=f>x</b><b class=f>y</b> b <b class=a>z</b></p><p>a <br> <b class=f>x</b> b</p>
        <p>a<span class=x>close</span> b <i class=a></i> c</p><button> Save <span class=a>now</span> </button>
        <p>a <b style="position:sticky"> s </b> <b style="position:relative"> r </b> b</p><p>a <select class=a><option>o
        </select> b <input class=a> c <textarea class=f>t</textarea> d <canvas class=f></canvas> e</p><p>a <table class=f><tr>
        <td>1<td>2</table> b</p><div style="display:flex">a <b class=a>x</b> b</div><div style="display:grid">
        <b class=a>x</b> t </div><span style="display:inline-flex"> a <b class=f>x</b> b</span><table><tr><td>a <b class=a>x</b>
        b<td class=a>z<td>q</table><div style="display:table">a <b class=a>x</b> b</div><pre>a <b class=f>x</b> b</pre>
        <details open><summary class=f> S </summary> a <b class=a>x</b> b</details><dialog open> d </dialog> e""",
    "skipped": """<style>.v{content-visibility:auto}</style><div class=v>near <b>x</b></div><div style="height:9000px"></div>
        <div class=v>far <b>x</b></div><div class=v>only</div><div class=v><div hidden>h</div><p>x</div><span class=v> in <b>x
        </b></span><div class=v></div><div class=v><div class=v><i>t</i></div></div><div class=v><template
        shadowrootmode=open><b>s</b><slot></slot></template>light <i>i</i></div><table class=v><tr><td>1</table><ul class=v>
        <li>1<li>2</ul><div style="content-visibility:hidden">h <b>x</b></div>""",
    "frames": """
        <iframe srcdoc="<p>in <b>frame</b><select><option>o</select><p style='display:none'>h"></iframe> after
        <iframe srcdoc="<iframe srcdoc='<p>deep'></iframe>"></iframe>
        <iframe style="display:none" srcdoc="<p>unseen<br>x"></iframe>""",
    "broken markup": """
        <p>a<div>b</p>c</div><b><p>x</b>y</p><table>foster <tr><td>c</table></div></span><a>1<a>2</a><form><form><input name=attributes>
        <button><button>n</button></form><ul><div>d</div><li>l</ul><p><table><td>t</table>u<h1><h2>v</h1>""",
}
"""Body markup that gives a page of its own, by name."""

_TAGS = """div div div span span span b i a p p ul li ol h2 section table tr td tbody button label em small pre br img
    input svg select textarea details summary dl dt dd fieldset legend form code hr iframe figure article font"""
_STYLES = """display:none display:inline display:block display:inline-block display:flex display:inline-flex display:grid
    display:contents display:table display:table-cell display:list-item visibility:hidden visibility:visible white-space:pre
    white-space:pre-line white-space:pre-wrap white-space:nowrap text-transform:uppercase opacity:0 font-size:0"""
_TEXTS = (
    "foo",
    "bar baz",
    " x",
    "y ",
    "  ",
    "\n",
    " \n ",
    "z\nw",
    "a  b",
    "\u00e9 \u00fc",
    "\t",
    "q\u00a0r",
    "a\n\nb ",
)
_VOID = ("br", "img", "input", "hr")


def random_page(seed: int) -> str:
    """Return body markup of random elements, styles and blanks."""
    return _content(random.Random(seed), 0)


def _content(chance: random.Random, depth: int) -> str:
    return "".join(_piece(chance, depth) for _ in range(chance.randint(1, 4 if depth else 8)))


def _piece(chance: random.Random, depth: int) -> str:
    kind = chance.random()
    if kind < 0.45 or depth > 6:
        return chance.choice(_TEXTS)
    if kind < 0.48:
        return "<!-- c -->"
    tag = chance.choice(_TAGS.split())
    style = f' style="{chance.choice(_STYLES.split())}"' if chance.random() < 0.3 else ""
    if tag in _VOID:
        return f"<{tag}{style}>"
    is_open = " open" if tag == "details" and chance.random() < 0.5 else ""
    return f"<{tag}{style}{is_open}>{_content(chance, depth + 1)}</{tag}>"
