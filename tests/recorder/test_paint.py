"""Black boxes in pixmaps."""

from __future__ import annotations

import pytest

from replaykit.secrets.black_boxes import MARGIN_PX, blacken

WHITE = b"\xff\xff\xff"


def pixmap(width: int, height: int) -> bytes:
    return b"P6\n%d %d\n255\n" % (width, height) + WHITE * (width * height)


def black(image: bytes, width: int) -> set[tuple[int, int]]:
    pixels = image[image.index(b"\n255\n") + 5 :]
    return {
        (at % width, at // width)
        for at in range(len(pixels) // 3)
        if pixels[3 * at : 3 * at + 3] == b"\0\0\0"
    }


def test_without_boxes_nothing_changes() -> None:
    image = pixmap(3, 2)
    assert blacken(image, (), 1.0) is image


@pytest.mark.parametrize(
    ("box", "scale", "columns", "rows"),
    [
        ((20, 10, 5, 2), 1.0, range(20 - MARGIN_PX, 25 + MARGIN_PX), range(10 - MARGIN_PX, 12 + MARGIN_PX)),
        ((10, 6, 2, 1), 2.0, range(12, 32), range(4, 22)),
        ((-50, -50, 60, 60), 1.0, range(14), range(14)),
        ((38, 28, 500, 500), 1.0, range(34, 40), range(24, 30)),
        ((500, 500, 5, 5), 1.0, range(0), range(0)),
    ],
)
def test_box_with_its_margin_is_black_and_nothing_else(
    box: tuple[int, int, int, int], scale: float, columns: range, rows: range
) -> None:
    painted = blacken(pixmap(40, 30), (box,), scale)
    assert len(painted) == len(pixmap(40, 30))
    assert black(painted, 40) == {(x, y) for x in columns for y in rows}
