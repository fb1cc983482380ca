"""A second reader of bundles, made from docs/bundle-format.md alone; without limits: for files one trusts."""

import hashlib
import json
import re
import struct

import zstandard


def read(content):
    """Return story lines, blobs by id as (type, payload), trajectory digest, torn bytes; or raise."""
    head, letter, version, zeros = struct.unpack("<17scHI", content[:24])
    assert (head, version, zeros) == (b"\x50\x2a\x4d\x18\x10\0\0\0replaykit", 1, 0), "1.1"
    lines, blobs, index, whole = {b"J": journal, b"S": sealed}[letter](content)
    story = b"".join(line + b"\n" for line in lines)
    rows = sorted(f"blob {id} {len(payload)} {kind}\n" for id, (kind, payload) in blobs.items())
    text = f"replaykit-manifest 1\nstory {len(lines) - 1} {hashlib.sha256(story).hexdigest()}\n"
    digest = hashlib.sha256((text + "".join(rows)).encode()).hexdigest()
    assert lines and digest == index.get("digest", digest), "1.4: digest"
    return lines, blobs, digest, len(content) - whole


def journal(content):
    lines, blobs, pending, whole = [], {}, {}, 24
    for _, end, raw in frames(content):
        before, at = len(lines), 0
        while at < len(raw):
            payload_at = raw.index(b"\n", at) + 1
            line = json.loads(raw[at:payload_at])
            at, payload = payload_at + line["n"] + 1, raw[payload_at : payload_at + line["n"]]
            assert raw[at - 1 : at] == b"\n", "1.2: LF"
            if line["k"] == "blob":
                assert hashlib.sha256(payload).hexdigest() == line["sha256"], "1.2: id"
                pending[line["sha256"]] = line["type"], payload
            elif line["k"] in ("header", "event"):
                assert line.get("i", -1) == len(lines) - 1, "1.2: without gap"
                lines.append(payload)
            assert line["k"] in ("blob", "header", "event") or line["k"].startswith("x-"), "1.2"
        if len(lines) > before:  # 1.3: the story frame is the commit
            blobs, pending = blobs | pending, {}
        whole = whole if pending else end
    return lines, blobs, {}, whole


def sealed(content):
    found = [(end - start, raw) for start, end, raw in frames(content)]
    count, descriptor, magic = struct.unpack("<IBI", content[-9:])
    table, *_, index = [*struct.iter_unpack("<II", content[-9 - 8 * count : -9])], json.loads(found[-2][1])
    assert (magic, descriptor, table) == (0x8F92EAB1, 0, [(24, 0), *((n, len(r)) for n, r in found[:-1])]), (
        "1.4"
    )
    columns, rest, blobs = index["blobs"], b"".join(raw for _, raw in found[:-2]), {}
    for kind, n in zip(columns["types"], columns["sizes"], strict=True):
        blobs[hashlib.sha256(rest[:n]).hexdigest()] = index["types"][kind], rest[:n]
        rest = rest[n:]
    assert "".join(blobs) == columns["ids"], "1.4: ids"
    ids = [id.encode() for id in blobs]
    *lines, end = re.sub(rb"\0(\d+)", lambda number: ids[int(number[1])], rest).split(b"\n")
    assert not end and index["story"]["events"] == len(lines) - 1, "1.4: story"
    return lines, blobs, index, len(content)


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
