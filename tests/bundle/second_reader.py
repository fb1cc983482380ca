"""A second reader of bundles, made from docs/bundle-format.md alone; without limits: for files one trusts."""

import hashlib
import json
import struct

import zstandard


def read(content):
    """Return story lines, blobs by id as (type, payload), trajectory digest, torn bytes; or raise."""
    head, letter, version, zeros = struct.unpack("<17scHI", content[:24])
    assert (head, version, zeros) == (b"\x50\x2a\x4d\x18\x10\0\0\0replaykit", 1, 0), "1.1"
    lines, blobs, pending, index, whole, sizes, raws = [], {}, {}, None, 24, [(24, 0)], [b""]
    for start, end, raw in frames(content):
        before, at = len(lines), 0
        while at < len(raw):
            payload_at = raw.index(b"\n", at) + 1
            line = json.loads(raw[at:payload_at])
            at, payload = payload_at + line["n"] + 1, raw[payload_at : payload_at + line["n"]]
            assert raw[at - 1 : at] == b"\n", "1.2: LF"
            if line["k"] == "blob":
                assert hashlib.sha256(payload).hexdigest() == line["sha256"], "1.2: id"
                pending[line["sha256"]] = line["type"], payload
            elif line["k"] == "index":
                index = json.loads(payload)
            elif line["k"] in ("header", "event"):
                assert line.get("i", -1) == len(lines) - 1, "1.2: without gap"
                lines.append(payload)
            assert line["k"] in ("blob", "index", "header", "event") or line["k"].startswith("x-"), "1.2"
        if len(lines) > before:  # 1.3: the story frame is the commit
            blobs, pending = blobs | pending, {}
        whole, sizes, raws = whole if pending else end, [*sizes, (end - start, len(raw))], [*raws, raw]
    story = b"".join(line + b"\n" for line in lines)
    rows = sorted(f"blob {id} {len(payload)} {kind}\n" for id, (kind, payload) in blobs.items())
    text = f"replaykit-manifest 1\nstory {len(lines) - 1} {hashlib.sha256(story).hexdigest()}\n"
    digest = hashlib.sha256((text + "".join(rows)).encode()).hexdigest()
    if letter == b"S":
        count, descriptor, magic = struct.unpack("<IBI", content[-9:])
        assert (magic, descriptor, index["digest"], whole) == (0x8F92EAB1, 0, digest, len(content)), "1.4"
        assert [*struct.iter_unpack("<II", content[-9 - 8 * count : -9])] == sizes[:-1], "1.4: seek table"
        for id, kind, frame, offset, n, *_ in index["blobs"]:
            assert blobs[id] == (index["types"][kind], raws[frame][offset : offset + n]), "1.4: rows"
    assert (letter, index is None) in ((b"S", False), (b"J", True)) and lines, "1"
    return lines, blobs, digest, len(content) - whole


def frames(content, at=24):
    while content[at:].strip(b"\0"):  # 1.10: zeros to the end are a torn tail
        frame, skippable = zstandard.ZstdDecompressor().decompressobj(), content[at] >> 4 == 5
        raw = b"" if skippable else frame.decompress(content[at:])
        size = 8 + int.from_bytes(content[at + 4 : at + 8], "little")
        end = at + size if skippable else len(content) - len(frame.unused_data)
        if end > len(content) or not (skippable or frame.eof):
            return
        yield at, end, raw
        at = end
