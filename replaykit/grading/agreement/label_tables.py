"""Rows of a table of labels: CSV as programs and spreadsheets write it."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence

from replaykit.errors import LabelError

DELIMITERS = ",;\t"
"""Between the cells of a row: spreadsheets write `;` where a comma stands in numbers."""


def read_table(text: str, name: str) -> tuple[list[str], Iterator[tuple[int, dict[str, str]]]]:
    """Return the columns, trimmed and in lower case, and the rows: number of the line, and cells by column.

    Raises LabelError, also while rows are read, for what is not a table, and for two columns of one name.
    """
    head = text.lstrip("\r\n").partition("\n")[0]
    rows = _cells(text, max(DELIMITERS, key=head.count), name)
    _, first = next(rows, (0, []))
    columns = [cell.strip().lower() for cell in first]
    twice = [column for column, n in Counter(columns).items() if n > 1 and column]
    if twice:
        reason = f"two columns are called {twice[0]!r}: rename one, or remove it"
        raise LabelError(source=name, line=1, reason=reason)
    return columns, ((number, dict(zip(columns, cells, strict=False))) for number, cells in rows)


def _cells(text: str, delimiter: str, name: str) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield number of the line and cells of each row that is not empty."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        yield from ((rows.line_num, cells) for cells in rows if any(map(str.strip, cells)))
    except csv.Error as error:
        raise LabelError(source=name, line=rows.line_num, reason=f"malformed: {error}") from error
