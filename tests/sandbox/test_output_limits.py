"""Limits on how much output a notebook sends to the grader.

Messages are counted one by one, with small limits.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grading.sandbox.inside import output

SMALL = {"CELL_MESSAGES": 4, "ALL_MESSAGES": 9, "CELL_BYTES": 300, "ALL_BYTES": 800}
CELL_ERRORS = 2
NOTE = "[What this cell showed from here on was left out]\n"

# Made-up notebooks: for each cell, its messages as (whether it is an error, length of its text).
NOTEBOOKS = st.lists(
    st.lists(st.tuples(st.booleans(), st.integers(0, 200)), max_size=9), max_size=7
)


class RecordedLines(output.Lines):
    """A `Lines` session that collects lines in a list instead of a socket."""

    def __init__(self) -> None:
        super().__init__(key=b"unused")
        self.written: list[bytes] = []

    def write(self, line: bytes) -> None:
        self.written.append(line)


def content(kind: str, text: str) -> dict[str, Any]:
    return {"name": "stdout", "text": text} if kind == "stream" else {"ename": text}


def expected(notebook: list[list[tuple[bool, int]]]) -> list[list[Any]]:
    """Return the messages and notes sent under the limits SMALL and CELL_ERRORS."""
    sent: list[list[Any]] = []
    in_all: list[int] = []
    for number, cell in enumerate(notebook, start=1):
        tried: list[int] = []
        errors, noted = 0, False
        for is_error, length in cell:
            kind = "error" if is_error else "stream"
            message = [number, kind, content(kind, "x" * length)]
            if is_error:
                errors += 1
                sent += [message] if errors <= CELL_ERRORS else []
                continue
            size = len(json.dumps(message))
            tried.append(size)
            if (
                len(tried) <= SMALL["CELL_MESSAGES"]
                and sum(tried) <= SMALL["CELL_BYTES"]
                and len(in_all) + 1 <= SMALL["ALL_MESSAGES"]
                and sum(in_all) + size <= SMALL["ALL_BYTES"]
            ):
                in_all.append(size)
                sent.append(message)
            elif not noted:
                noted = True
                sent.append([number, "stream", {"name": "stderr", "text": NOTE}])
    return sent


@given(NOTEBOOKS)
def test_messages_within_limits_are_sent_and_one_note_per_truncated_cell(
    notebook: list[list[tuple[bool, int]]],
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name, limit in SMALL.items():
            patch.setattr(output, name, limit)
        patch.setattr(output, "CELL_ERRORS", CELL_ERRORS)
        lines = RecordedLines()
        for lines.number, cell in enumerate(notebook, start=1):
            for is_error, length in cell:
                kind = "error" if is_error else "stream"
                lines.send(None, kind, content(kind, "x" * length))
    assert [json.loads(line) for line in lines.written] == expected(notebook)


def test_fast_printing_is_sent_in_messages_of_the_flush_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output.time, "monotonic", lambda: 1.0)  # no time passes
    monkeypatch.setattr(output, "FLUSH_CHARACTERS", 1_000)
    lines = RecordedLines()
    with (tmp_path / "descriptor").open("w") as file:
        stream = output.Stream("stdout", file.fileno(), lines)
        printed = [f"{number}\n" for number in range(20_000)]
        for text in printed:
            stream.write(text)
        stream.flush()
    texts = [json.loads(line)[2]["text"] for line in lines.written]
    assert "".join(texts) == "".join(printed)
    assert len(texts) > 1
    assert all(1_000 < len(text) <= 1_000 + max(map(len, printed)) for text in texts[:-1])
