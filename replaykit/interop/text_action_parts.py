"""Parts of a line that states an action: verbs, quoted texts, the names of elements."""

from __future__ import annotations

import re
from itertools import pairwise

from replaykit.patterns import lazy_pattern
from replaykit.trajectory.action import Element

QUOTES: tuple[tuple[str, str], ...] = tuple(
    (pair[0], pair[1]) for pair in ('""', "''", "“”", "‘’", "«»", "„“", "„”", "「」", "『』", "``", "‹›")
)
"""Marks before and after a quoted text."""

QUOTED = "(?:" + "|".join(rf"{re.escape(first)}.+?{re.escape(last)}" for first, last in QUOTES) + ")"
"""Form of a quoted text; what follows decides at which of its marks it ends."""

_VERBS = {
    verb: (*(f"{stem}{end}" for end in ends.split()), *others.split())
    for verb, stem, ends, others in (
        ("click", "click", "ed s ing", ""), ("tap", "tap", "ped s ping", ""), ("type", "typ", "ed es ing", ""),
        ("press", "press", "ed es ing", ""), ("hit", "hit", "s ting", ""), ("scroll", "scroll", "ed s ing", ""),
        ("hover", "hover", "ed s ing", ""), ("move", "mov", "ed es ing", ""), ("drag", "drag", "ged s ging", ""),
        ("select", "select", "ed s ing", ""), ("choose", "choos", "es ing", "chose chosen"),
        ("pick", "pick", "ed s ing", ""), ("enter", "enter", "ed s ing", ""), ("input", "input", "ted s ting", ""),
        ("write", "writ", "es ing", "wrote written"), ("fill", "fill", "ed s ing", ""),
        ("clear", "clear", "ed s ing", ""), ("check", "check", "ed s ing", ""), ("tick", "tick", "ed s ing", ""),
        ("uncheck", "uncheck", "ed s ing", ""), ("untick", "untick", "ed s ing", ""),
        ("wait", "wait", "ed s ing", ""), ("sleep", "sleep", "s ing", "slept"), ("pause", "paus", "ed es ing", ""),
        ("go", "go", "es ing", "went gone"), ("navigate", "navigat", "ed es ing", ""),
        ("browse", "brows", "ed es ing", ""), ("open", "open", "ed s ing", ""), ("visit", "visit", "ed s ing", ""),
        ("load", "load", "ed s ing", ""), ("access", "access", "ed es ing", ""),
        ("create", "creat", "ed es ing", ""), ("refresh", "refresh", "ed es ing", ""),
        ("reload", "reload", "ed s ing", ""), ("switch", "switch", "ed es ing", ""),
        ("change", "chang", "ed es ing", ""), ("focus", "focus", "ed es ing", ""),
        ("close", "clos", "ed es ing", ""), ("upload", "upload", "ed s ing", ""),
        ("attach", "attach", "ed es ing", ""), ("take", "tak", "es ing", "took taken"),
        ("capture", "captur", "ed es ing", ""), ("accept", "accept", "ed s ing", ""),
        ("dismiss", "dismiss", "ed es ing", ""),
    )
}  # fmt: skip
_LEMMAS = {form: verb for verb, forms in _VERBS.items() for form in forms}

_LEAD = lazy_pattern(
    r"(?:(?:so|then|next|now|first|finally|ok|okay)\b,?\s+){0,2}"
    r"(?:(?:I|we)(?:'ll|’ll| will| am going to| need to| should| have|'ve|’ve)?(?: now| just| then| first)?|let me|let's)\s+",
    re.IGNORECASE,
)
_VERB = lazy_pattern(r"((?:double|triple|right|middle|left)[ _-])?([A-Za-z]{2,12})\b")
_THEN_PRESSED = lazy_pattern(r"\b(and|then)\s+(press|hit)(?:ed|ting|ing|es|s)\b", re.IGNORECASE)


def plain_line(text: str) -> str:
    """Return a line with its verb in the imperative, without its subject: `I clicked on X` is `click on X`."""
    line = text.strip()
    lead = _LEAD.match(line)
    rest = line if lead is None else line[lead.end() :]
    verb = _VERB.match(rest)
    word = "" if verb is None else verb[2].lower()
    lemma = word if word in _VERBS else _LEMMAS.get(word)
    if verb is None or lemma is None:
        return line
    changed = (verb[1] or "") + (verb[2] if lemma == word else lemma) + rest[verb.end() :]
    return _THEN_PRESSED.sub(r"\1 \2", changed) if lemma in _TYPING else changed


_TYPING = ("type", "enter", "input", "write", "fill")


_EFFECTS = (
    "add(?:ed)?|appl(?:y|ied)|approved?|book(?:ed)?|buy|bought|cancel(?:l?ed)?|confirm(?:ed)?|deleted?|"
    "download(?:ed)?|log(?:ged)?|order(?:ed)?|pay|paid|placed?|post(?:ed)?|publish(?:ed)?|purchased?|"
    "removed?|saved?|search(?:ed)?|send|sent|sign(?:ed)?|submit(?:s|ted|ting)?"
)
_ANY_VERB = "|".join([*sorted({*_VERBS, *_LEMMAS}), _EFFECTS])
_ALSO = r"(?:(?:and|then|also|next|finally|I|we|it|to)\s+){0,3}(?:(?:double|triple|right|middle|left)[ _-])?"
_MORE = lazy_pattern(
    rf"(?:[,:&]|\b(?:and|but|before|after))\s*{_ALSO}(?:{_ANY_VERB})\b"
    rf"|(?i:(?:[;.\n]\s*|\bthen\s+){_ALSO}(?:{_ANY_VERB})\b)"
)
"""Begin of a second action. A name has a capital, `Save and Close`, if no more than `and` stands before it."""
_NAMED = lazy_pattern(QUOTED, re.DOTALL)


def states_more(line: str) -> bool:
    """Whether a line goes on with a second action, outside of what it quotes: `... and clicked Delete`."""
    return _MORE.search(_NAMED.sub("''", _spaced(line))) is not None


def _spaced(line: str) -> str:
    """Return a line with one space, or one line break, for each run of them: a long one takes quadratic time."""
    return _SPACES.sub(lambda run: "\n" if "\n" in run[0] else " ", line)


_SPACES = lazy_pattern(r"\s+")


def statements(line: str) -> list[str]:
    """Return the parts of a line that states several actions: `Scrolled down and clicked Delete`."""
    line = _spaced(line)
    # A quoted text keeps its length, so that places are those of the line.
    plain = _NAMED.sub(lambda quoted: quoted[0][0] * len(quoted[0]), line)
    begins = [0, *(found.start() for found in _MORE.finditer(plain)), len(line)]
    return [_JOINT.sub("", line[at:end]).strip(" .;,") for at, end in pairwise(begins)]


_JOINT = lazy_pattern(r"\A[\s,:&;.]*(?:(?:and|but|before|after|then|also|next|finally|I|we|it|to)\s+){0,4}")

_FAILURE = (
    r"(?:fail(?:ed|s|ure)?|timed?[ -]?out|timeout|unsuccessful(?:ly)?|skipped|cancel?led|aborted|blocked|rejected|denied"
    r"|ignored|error(?:ed)?|not (?:found|done|successful|possible|executed|clickable|visible|available))"
)
_NOT_DONE = lazy_pattern(
    rf"(?<=[\s'(\[]){_FAILURE}[\s.!)\]]*\Z"
    rf"|(?<=[\s'(\[]){_FAILURE}(?:\s*[:;,(\[]|\s+(?:-|after|because|due|as|since)\s)"
    rf"|(?i:\s(?:->|=>|→|[-–—:])\s*{_FAILURE}(?:\s*\Z|:))"
    r"|\b(?:did|does|do|was|is|has|had|could|can|would)(?: not|n['’]t)\b|\bcannot\b"
    r"|\b(?:nothing happened|(?:had |with )?no effect|no change)\b"
    r"|\b(?:if|unless)\s|['\])]\s*[✗✘❌✖]\ufe0f?\s*\Z"
)
"""Words that deny that an action happened, or bind it to a condition. A name has a capital: `Click Retry Failed`."""


def is_denied(line: str) -> bool:
    """Whether a line says, outside of what it quotes, that its action did not happen: `Click "Save" failed`."""
    return _NOT_DONE.search(_NAMED.sub("''", line)) is not None


_ASKED = lazy_pattern(r"[?？]\s*\Z")  # the second is that of Chinese
_NAMED_QUESTION = lazy_pattern(
    r"(?i)[\w-]+(?: on)?(?: the)? (?:forgot(?:ten)?|lost|need|trouble|problems|have|already|new|not|looking|why|what|how|where|who"
    r"|when|which|is|are|do|does|did|(?:ca|do|have|did|wo)n['’]t|can|what['’]s)\b"
)
"""A name that is a question, as pages have them: `Click Forgot password?`."""


def is_question(line: str) -> bool:
    """Whether a line asks, outside of what it quotes, for its action: `Click Delete?`."""
    return _ASKED.search(_NAMED.sub("''", line)) is not None and _NAMED_QUESTION.match(line) is None


def unquoted(text: str) -> str:
    """Take off quotation marks around a whole text; marks inside of it lose their backslashes."""
    text = text.strip()
    for first, last in QUOTES:
        if len(text) > 1 and text[0] == first and text[-1] == last:
            inner = text[1:-1]
            return inner.replace("\\" + first, first) if first == last else inner
    return text


_KIND = (
    r"(?:button|link|tab|icon|field|element|option|item|input|box|check ?box|drop ?down|menu|text ?box|radio)"
)
_KIND_FIRST = lazy_pattern(rf"{_KIND}(?: (?:labell?ed|named|called|with(?: the)? (?:text|label|name)))?:? ({QUOTED})(?: .{{0,40}})?",
                         re.IGNORECASE)  # fmt: skip
_QUOTED_FIRST = lazy_pattern(rf"({QUOTED})(?: (?:[\w-]+ ?){{1,6}})?")
_NUMBERED = lazy_pattern(
    rf"(?:{_KIND} )?(?:(?:with )?(?:the )?(?:index|id|ref|number|no\.?|bid)\s*[:=#]?\s*)?[\[(#]?([A-Za-z]{{0,3}}\d{{1,9}})[\])]?",
    re.IGNORECASE,
)
_LAST_KIND = lazy_pattern(r"\s+(?:button|link|tab|icon|field)$", re.IGNORECASE)


def named(text: str) -> Element:
    """Return the element that words name: by its number or reference, else by its text."""
    text = text.strip()
    number = _NUMBERED.fullmatch(text)
    if number is not None and text != number[1]:
        return Element(ref=number[1])
    found = _KIND_FIRST.fullmatch(text) or _QUOTED_FIRST.fullmatch(text)
    return Element(text=unquoted(found[1] if found else _LAST_KIND.sub("", text))[:1024])
