"""Each hostile cell reaches nothing, leaves nothing, and harms no more than its own process."""

import hashlib
import os
from pathlib import Path

import hostile
import pytest
from classroom.processes import descendants, outliving, since
from sandboxed import run

from grading import sandbox
from grading.sandbox import cell_channel

# Cells that are stopped after a moment. Those of the second set cannot be stopped by an interrupt,
# or say too early that they have ended, so that the cell after them is stopped as well.
STOPPED = {"plain_loop", "many_lines", "many_displays"}
STUCK = {"endless_loop", "stack", "flood_of_outputs", "flood_of_replies", "endless_message"}


def state(folder: Path) -> dict[Path, tuple[int, int, str]]:
    """Everything about the files in a folder that a writer would change."""
    return {
        path: (path.lstat().st_mode, path.lstat().st_mtime_ns, digest(path))
        for path in sorted(folder.rglob("*"))
        if "__pycache__" not in path.parts
    }


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course folder on the host with something of each kind that must stay unseen."""
    folder = tmp_path_factory.mktemp("course")
    for name in ("gradebook.db", ".grading/seed", "submitted/ada/int8-matmul/hand-in.ipynb"):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("SECRET")
    return folder


@pytest.fixture(autouse=True)
def _warm() -> None:
    """The zygote stays from test to test; it is started before anything is counted."""
    with sandbox.open():
        pass


@pytest.mark.parametrize("cell", hostile.cells(), ids=lambda cell: cell.name)
def test_hostile_code_reaches_nothing(
    cell: hostile.Cell, course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(course)
    if cell.name in STUCK:
        monkeypatch.setattr(cell_channel, "SEND_SECONDS", 0.5)
    before, running = state(course), descendants(os.getpid())
    late = [1, 2] if cell.name in STUCK else [1] if cell.name in STOPPED else []
    done = run("answer = 42", cell.source, "print('answer', answer)", late=late)
    reached = [line for line in "".join(done.texts).split("\n") if line.startswith("REACHED")]
    assert not reached, cell.does
    assert state(course) == before
    assert not outliving(since(running))
    if cell.fair == "points" and cell.name not in STUCK:
        assert "answer 42" in done.texts[-1], "what was defined before is there no more"
    if cell.fair == "nothing":
        assert "answer 42" not in done.texts[-1]


def test_the_sets_above_name_cells() -> None:
    assert {cell.name for cell in hostile.cells()} >= STOPPED | STUCK
