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
    "updated by another kind": [
        [data(SHOW, "a", "one")],
        [("update_display_data", {**data(UPDATE, "", "one")[1], "data": {"text/html": "b"}})],
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


def taken(messages: list[Message], *cells: list[Message]) -> list[list[Any]]:
    """Pass each cell's messages to Outputs; return the outputs of each cell."""
    ours, shown = Outputs(), list[list[Any]]()
    for cell in (messages, *cells):
        shown.append([])
        ours.begin(shown[-1])
        for message in cell:
            ours.take(*message)
    return shown


SIZE = len(str(text("a")[1]))


@pytest.mark.parametrize(
    ("limit", "size", "counts"),
    [
        ("OUTPUT_CHARACTERS", 2 * SIZE, [2, 2]),
        ("OUTPUT_CHARACTERS", 2 * SIZE - 1, [1, 1]),
        ("NOTEBOOK_CHARACTERS", 4 * SIZE, [3, 1]),
        ("NOTEBOOK_CHARACTERS", 4 * SIZE - 1, [3, 0]),
    ],
)
def test_output_limits_are_exact_to_the_character(
    monkeypatch: Any, limit: str, size: int, counts: list[int]
) -> None:
    monkeypatch.setattr(outputs, limit, size)
    assert list(map(len, taken([text("a")] * 3, [text("a")] * 3))) == counts


def test_output_before_the_first_cell_is_dropped() -> None:
    ours = Outputs()
    ours.take(*text("x"))
    ours.begin(shown := [])
    assert shown == []


def test_output_limits_apply_to_each_cell_separately(monkeypatch: Any) -> None:
    monkeypatch.setattr(outputs, "OUTPUT_CHARACTERS", 2 * SIZE)
    monkeypatch.setattr(outputs, "MAX_ERRORS", 1)
    cell = [text("a"), text("b"), text("c"), ERROR, ERROR]
    assert list(map(len, taken(cell, cell))) == [3, 3]
    monkeypatch.setattr(outputs, "OUTPUT_CHARACTERS", 1000 * SIZE)
    monkeypatch.setattr(outputs, "MAX_OUTPUTS", 2)
    assert list(map(len, taken(cell, cell))) == [3, 3]


def test_default_limits_allow_thousands_of_outputs_and_millions_of_characters(
    monkeypatch: Any,
) -> None:
    monkeypatch.setattr(Outputs, "_take", lambda self, kind, _: self.outputs.append(kind))
    many = [text("a")] * 1_001
    shown = taken(many, many, many, many)
    assert list(map(len, shown)) == [1_000, 1_000, 1_000, 0]
    assert len(taken([ERROR] * 11)[0]) == 10
    (first, *rest) = taken([text("a" * 900_000)] * 2, *[[text("a" * 900_000)] for _ in range(5)])
    assert list(map(len, [first, *rest])) == [1, 1, 1, 1, 1, 0]


def test_an_output_that_did_not_fit_leaves_room_for_smaller_ones(monkeypatch: Any) -> None:
    """Check later cells: the cell that exceeded its own limit shows nothing more."""
    monkeypatch.setattr(outputs, "OUTPUT_CHARACTERS", 100)
    monkeypatch.setattr(outputs, "NOTEBOOK_CHARACTERS", 100 + SIZE)
    monkeypatch.setattr(outputs, "NOTEBOOK_OUTPUTS", 2)
    shown = taken([text("a" * 200), text("b")], [text("c")], [text("d")], [text("e")])
    assert [[one.text for one in cell] for cell in shown] == [[], ["c"], ["d"], []]


def test_a_display_update_does_not_count_as_another_output(monkeypatch: Any) -> None:
    monkeypatch.setattr(outputs, "MAX_OUTPUTS", 2)
    monkeypatch.setattr(outputs, "NOTEBOOK_OUTPUTS", 3)
    cell = [data(SHOW, "a", "one"), data(UPDATE, "b", "one"), data(UPDATE, "c", "one"), text("d")]
    shown = taken(cell, [data(UPDATE, "e", "one"), text("f"), text("g")])
    assert list(map(len, shown)) == [2, 1]
    assert shown[0][0].data["text/plain"] == "e"


def test_the_characters_of_an_update_count_for_each_output_that_shows_it(monkeypatch: Any) -> None:
    """An update replaces the text of each output with its display id."""
    update = data(UPDATE, "x" * 100, "one")
    size = len(str(update[1]))
    show = data(SHOW, "a", "one")
    start = len(str(show[1])) * (1 + 1 + 2)
    for more, updated in ((0, True), (-1, False)):
        monkeypatch.setattr(outputs, "OUTPUT_CHARACTERS", start + 3 * size + more)
        (shown,) = taken([show, show, show, update])
        assert len(shown) == 3
        assert ("x" in shown[0].data["text/plain"]) is updated


def test_outputs_without_a_display_id_count_once_each(monkeypatch: Any) -> None:
    show = data(SHOW, "a")
    monkeypatch.setattr(outputs, "OUTPUT_CHARACTERS", 3 * len(str(show[1])))
    assert list(map(len, taken([show] * 4))) == [3]


def test_a_long_traceback_is_cut_at_its_end() -> None:
    long = ERROR[1] | {"traceback": [str(line) for line in range(1_000)]}
    ((shown,),) = taken([("error", long)])
    assert shown.traceback == long["traceback"][: outputs.TRACEBACK_LINES]
    assert len(long["traceback"]) == 1_000
