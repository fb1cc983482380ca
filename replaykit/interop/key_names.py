"""Names of keys and chords, as tools and models write them: `ctrl + a`, `Page_Down`, `cmd-v`."""

from __future__ import annotations

_KEYS = {
    "enter": "Enter", "return": "Enter", "esc": "Escape", "escape": "Escape", "tab": "Tab",
    "space": "Space", "backspace": "Backspace", "delete": "Delete", "del": "Delete", "ctrl": "Control",
    "control": "Control", "cmd": "Meta", "command": "Meta", "meta": "Meta", "super": "Meta",
    "win": "Meta", "alt": "Alt", "option": "Alt", "shift": "Shift", "up": "ArrowUp", "down": "ArrowDown",
    "left": "ArrowLeft", "right": "ArrowRight", "arrowup": "ArrowUp", "arrowdown": "ArrowDown",
    "arrowleft": "ArrowLeft", "arrowright": "ArrowRight", "pageup": "PageUp", "page_up": "PageUp",
    "pagedown": "PageDown", "page_down": "PageDown", "home": "Home", "end": "End", "insert": "Insert",
    "kp_enter": "Enter",
}  # fmt: skip


_CHARACTERS = {" ": "Space", "\n": "Enter", "\r": "Enter", "\r\n": "Enter", "\t": "Tab", "\b": "Backspace"}
"""Character to the key that writes it."""


def key_name(args: str) -> str:
    """Return a key or a chord by Playwright's names: `ctrl + a` is `Control+a`."""
    if args in _CHARACTERS:
        return _CHARACTERS[args]
    # A single `+` is a key.
    chord, is_plus = (args.strip()[:-1], True) if args.strip().endswith("++") else (args.strip(), False)
    parts = [part.strip() for part in chord.split("+")] if len(chord) > 1 else [chord]
    # xdotool joins keys by `+`, other tools by `-`; a lone `-` is a key.
    if len(parts) == 1 and "-" in parts[0] and parts[0].lower().partition("-")[0] in _KEYS:
        parts = parts[0].split("-")
    apart = parts[0].split() if len(parts) == 1 else []
    if len(apart) > 1 and all(part.lower() in _KEYS for part in apart[:-1]):
        parts = apart  # `ctrl a`, as agents with few words say it
    named = [_KEYS.get(part.lower(), part) for part in parts if part]
    return "+".join([*named, "+"] if is_plus else named)


MODIFIERS = {
    **{key: name for key, name in _KEYS.items() if name in ("Alt", "Control", "Meta", "Shift")},
    "controlormeta": "Control",
}
"""Name of a key to that of the modifier that it is."""
