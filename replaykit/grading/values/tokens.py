"""Words of a text, with the membership of NLTK's `word_tokenize` (release 3.10, English).

WebArena asks whether a reference of one character is a token of the answer. NLTK needs a data download at
run time, so the rules are written down here. Texts are lower-cased, as WebArena lower-cases answers first;
differences to the trained sentence splitter are limited to dotted abbreviations it has not met.
"""

from __future__ import annotations

import re
from itertools import pairwise

from replaykit.patterns import lazy_pattern

_LISTED = """
adm ala ariz aug ave bros c calif cie co col colo conn corp cos ct d dec dr e f feb fla fri ft g ga gen h ill
inc jan jr k kan ky l lt ltd m maj messrs mg mich minn mr mrs ms n nev nov oct ok okla ore p pa prof r rep
reps s sen sep sept sr st sw t tenn tues v va vs vt w wash wed wis yr ph.d
"""
_BLANKS = " \t\n\r\v\f"
_ABBREVIATIONS = frozenset(_LISTED.split())

_END_OF_WORD = r"[)\";}\]*:@'({\[!?‘’“”«»]"
_RUN = r"-{2,}|\.{2,}|(?:\.\s){2,}\."
_STOP = lazy_pattern(rf"[.?!](?=(?P<sign>{_END_OF_WORD})|\s+(?P<word>\S+))")
_PIECE = lazy_pattern(
    rf"{_RUN}|[^(\"`{{\[:;&#*@)}}\]\-,\s]\S*?(?=\s|$|{_END_OF_WORD}|{_RUN}|,(?:$|\s|{_END_OF_WORD}|{_RUN}))|\S"
)
_CLOSERS = lazy_pattern(r"\s*[\"')\]}‘’“”«»]+?(?=\s|--|$)")
_NEVER_FIRST = (";", ":", ",", ".", "!", "?")
_NUMBER = lazy_pattern(r"-?[.,]?\d[\d,.-]*")
_DOTTED = lazy_pattern(r"(?:[^\W\d_]\.)+[^\W\d_]")

_CLITIC = r"(?:re|ve|ll|m|t|s|d|n)\b"
_BEFORE_QUOTES = (
    (lazy_pattern(r"([«“‘„]|`+)"), r" \1 "),
    (lazy_pattern(r'^"'), "``"),
    (lazy_pattern(r"(``)"), r" \1 "),
    (lazy_pattern(r"([ (\[{<])(?:\"|'')"), r"\1 `` "),
    (lazy_pattern(rf"(?<!\w)'(?!{_CLITIC})(?=\w)", re.I), "' "),
)
_PUNCTUATION = (
    (lazy_pattern(r"([^.])\.([\])}>\"'»”’ ]*)\s*$"), r"\1 . \2 "),
    (lazy_pattern(r"([:,])(\D)"), r" \1 \2"),
    (lazy_pattern(r"([:,])$"), r" \1 "),
    (lazy_pattern(r"(\.{2,})"), r" \1 "),
    (lazy_pattern(r"([;@#$%&‒–—―])"), r" \1 "),
    (lazy_pattern(r"([^.])\.([\])}>\"']*)\s*$"), r"\1 .\2 "),
    (lazy_pattern(r"([?!])"), r" \1 "),
    (lazy_pattern(r"([^'])' "), r"\1 ' "),
    (lazy_pattern(r"(\*)"), r" \1 "),
    (lazy_pattern(r"([\]\[(){}<>])"), r" \1 "),
    (lazy_pattern(r"--"), " -- "),
)
_AFTER_QUOTES = (
    (lazy_pattern(r"([»”’])"), r" \1 "),
    (lazy_pattern(r"''|\""), " '' "),
    (lazy_pattern(r"\s+"), " "),
    (lazy_pattern(r"([^' ])('[sSmMdD]|') "), r"\1 \2 "),
    (lazy_pattern(r"([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) "), r"\1 \2 "),
)
_JOINED = (
    (lazy_pattern(r"\b(can)(not)\b", re.I), r" \1 \2 "),
    (lazy_pattern(r"\b(d)('ye)\b", re.I), r" \1 \2 "),
    (lazy_pattern(r"\b(gim)(me)\b", re.I), r" \1 \2 "),
    (lazy_pattern(r"\b(gon)(na)\b", re.I), r" \1 \2 "),
    (lazy_pattern(r"\b(got)(ta)\b", re.I), r" \1 \2 "),
    (lazy_pattern(r"\b(lem)(me)\b", re.I), r" \1 \2 "),
    (lazy_pattern(r"\b(more)('n)\b", re.I), r" \1 \2 "),
    (lazy_pattern(r"\b(wan)(na)(?=\s)", re.I), r" \1 \2 "),
    (lazy_pattern(r" ('t)(is|was)\b", re.I), r" \1 \2 "),
)


def tokens(text: str) -> list[str]:
    """Split a text into its words and signs, sentence by sentence."""
    return [word for sentence in _sentences(text) for word in _words(sentence)]


def _sentences(text: str) -> list[str]:
    starts = [stop.end() for stop in _stops(text) if _is_cut(_word_before(text, stop), stop)]
    pieces = [text[a:b] for a, b in zip([0, *starts], [*starts, len(text.rstrip())], strict=True)]
    return [piece.strip() for piece in _with_closers(pieces) if piece.strip()]


def _stops(text: str) -> list[re.Match[str]]:
    """Return the signs that may end a sentence: of each word written without blanks the last one."""
    last: dict[int, re.Match[str]] = {}
    for stop in _STOP.finditer(text):
        last[stop.start() - len(_word_before(text, stop))] = stop
    return list(last.values())


def _word_before(text: str, stop: re.Match[str]) -> str:
    start = max(text.rfind(blank, 0, stop.start()) for blank in _BLANKS)
    return text[start + 1 : stop.start()]


def _is_cut(word: str, stop: re.Match[str]) -> bool:
    after = stop["sign"] or f" {stop['word']}"
    pieces = _PIECE.findall(word + stop[0] + after)
    return any(_ends(piece, following) for piece, following in pairwise(pieces))


def _ends(piece: str, following: str) -> bool:
    if piece in (".", "?", "!"):
        return True
    word = piece[:-1]
    if not piece.endswith(".") or word.endswith(".") or _is_abbreviation(word):
        return False
    is_initial = len(word) == 1 and (word.isalpha() or word == "_")
    if is_initial or _NUMBER.fullmatch(word):
        return following not in _NEVER_FIRST and not following[0].islower()
    return True


def _is_abbreviation(word: str) -> bool:
    return word in _ABBREVIATIONS or word.split("-")[-1] in _ABBREVIATIONS or bool(_DOTTED.fullmatch(word))


def _with_closers(sentences: list[str]) -> list[str]:
    """Give each sentence the closing brackets and quotes that stand before the next one."""
    whole: list[str] = []
    for sentence in sentences:
        closers = _CLOSERS.match(sentence) if whole else None
        if closers:
            whole[-1] += closers[0]
            sentence = sentence[closers.end() :]
        whole.append(sentence)
    return whole


def _words(sentence: str) -> list[str]:
    for pattern, put in (*_BEFORE_QUOTES, *_PUNCTUATION):
        sentence = pattern.sub(put, sentence)
    sentence = f" {sentence} "
    for pattern, put in (*_AFTER_QUOTES, *_JOINED):
        sentence = pattern.sub(put, sentence)
    return sentence.split()
