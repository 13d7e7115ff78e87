"""Tests that outputs assembled from a kernel's messages match nbclient's."""

from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from grading.execution import outputs
from grading.execution.outputs import Outputs

Message = tuple[str, dict[str, Any]]


def text(words: str, name: str = "stdout") -> Message:
    return "stream", {"name": name, "text": words}


def data(kind: str, words: str, display: str | None = None, **more: Any) -> Message:
    content = {"data": {"text/plain": words}, "metadata": {"m": words}, "transient": {}, **more}
    if display is not None:
        content["transient"]["display_id"] = display
    return kind, content


SHOW, UPDATE, RESULT = "display_data", "update_display_data", "execute_result"
CLEAR, CLEAR_NEXT = ("clear_output", {}), ("clear_output", {"wait": True})
ERROR = ("error", {"ename": "E", "evalue": "1", "traceback": ["a", "b"]})
CELLS: dict[str, list[list[Message]]] = {
    "texts": [[text("a"), text("b"), text("c", "stderr"), text("d")]],
    "data": [[data(SHOW, "a"), data(RESULT, "b", execution_count=1), ERROR]],
    "cleared": [[text("a"), CLEAR, text("b")], [text("c"), CLEAR]],
    "cleared by the next": [[text("a"), CLEAR_NEXT], [text("b"), CLEAR_NEXT, text("c"), text("d")]],
    "cleared twice": [[text("a"), CLEAR_NEXT, CLEAR, text("b"), text("c")]],
    "updated": [[data(SHOW, "a", "one"), text("b"), data(UPDATE, "c", "one")]],
    "updated later": [
        [data(SHOW, "a", "one"), data(SHOW, "b", "two")],
        [data(UPDATE, "c", "one"), data(UPDATE, "d", "unknown"), data(UPDATE, "e")],
    ],
    "shown twice": [
        [data(SHOW, "a", "one"), data(RESULT, "b", "one", execution_count=1)],
        [data(SHOW, "c", "one"), data(UPDATE, "d", "one"), data(SHOW, "e", "")],
    ],
    "updated though cleared": [
        [data(SHOW, "a", "one")],
        [data(SHOW, "b", "one"), CLEAR, text("c"), data(UPDATE, "d", "one")],
        [data(SHOW, "e", "one"), CLEAR_NEXT, data(UPDATE, "f", "one"), text("g")],
    ],
}


def by_nbclient(cells: list[list[Message]]) -> list[Any]:
    nb = new_notebook(cells=[new_code_cell(outputs=[]) for _ in cells])
    client = NotebookClient(nb, record_timing=False)
    client.reset_execution_trackers()
    for place, (cell, messages) in enumerate(zip(nb.cells, cells, strict=True)):
        client.clear_before_next_output = False
        for kind, content in messages:
            header = {"msg_type": kind, "msg_id": "1"}
            message = {"header": header, "parent_header": {"msg_id": "2"}}
            client.process_message(message | {"msg_type": kind, "content": content}, cell, place)
    return [cell.outputs for cell in nb.cells]


@pytest.mark.parametrize("name", CELLS)
def test_outputs_match_nbclients(name: str) -> None:
    ours, shown = Outputs(), []
    for messages in CELLS[name]:
        shown.append([])
        ours.begin(shown[-1])
        for kind, content in messages:
            ours.take(kind, content)
    assert shown == by_nbclient(CELLS[name])
    assert sum(map(len, shown)) > 0
    nbformat.validate(
        new_notebook(cells=[new_code_cell(outputs=one, execution_count=1) for one in shown])
    )


ODD: list[Message] = [
    data(RESULT, "x", execution_count=-1),
    data(RESULT, "x", execution_count=True),
    ("common", {}),
    ("stream", {}),
    (SHOW, {"data": {}}),
]


@pytest.mark.parametrize("odd", ODD, ids=[one[0] for one in ODD])
def test_invalid_messages_do_not_stop_a_notebook(odd: Message) -> None:
    ours, shown = Outputs(), []
    ours.begin(shown)
    ours.take(*odd)
    ours.take(*text("x"))
    assert shown[-1].text == "x"


def test_outputs_are_limited_per_cell(monkeypatch: Any) -> None:
    monkeypatch.setattr(outputs, "OUTPUT_CHARACTERS", 100)
    ours = Outputs()
    for kind in (text("x" * 30), data(SHOW, "x" * 10), data(RESULT, "x", execution_count=1)):
        shown: list[Any] = []
        ours.begin(shown)
        for _ in range(5):
            ours.take(*kind)
        ours.take(*ERROR)
        assert 0 < len(shown) - 1 < 5, "an error is always shown"
