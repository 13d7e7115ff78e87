"""Tests that hostile cells reach nothing outside, and leave nothing behind."""

import hashlib
import os
from pathlib import Path

import hostile
import pytest
import sandboxed
from classroom.processes import descendants, new_descendants, survivors
from sandboxed import run
from series import in_part

from grading import sandbox
from grading.sandbox import cell_channel

# Cells that the test interrupts. Those in STUCK ignore the interrupt or forge an early end, so the
# test interrupts the next cell as well.
INTERRUPTED = {"plain_loop", "many_lines", "many_displays"}
STUCK = {"endless_loop", "stack", "flood_of_outputs", "flood_of_replies", "endless_message"}


def state(folder: Path) -> dict[Path, tuple[int, int, str]]:
    """Return path → mode, modification time and digest of everything in the folder."""
    return {
        path: (path.lstat().st_mode, path.lstat().st_mtime_ns, digest(path))
        for path in sorted(folder.rglob("*"))
        if "__pycache__" not in path.parts
    }


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a course folder on the host with files that cells must not see."""
    folder = tmp_path_factory.mktemp("course")
    for name in ("gradebook.db", ".grading/seed", "submitted/ada/int8-matmul/hand-in.ipynb"):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("SECRET")
    return folder


@pytest.fixture(autouse=True)
def _warm() -> None:
    """Start the shared zygote, so that no test counts its processes as new."""
    with sandbox.open():
        pass


@pytest.mark.parametrize("cell", in_part(hostile.cells()), ids=lambda cell: cell.name)
def test_hostile_cells_are_contained(
    cell: hostile.Cell, course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(course)
    if cell.name in STUCK:
        monkeypatch.setattr(cell_channel, "SEND_SECONDS", 0.5)
        monkeypatch.setattr(sandboxed, "STOP_SECONDS", 0.5)  # interrupts do nothing
    before, running = state(course), descendants(os.getpid())
    late = [1, 2] if cell.name in STUCK else [1] if cell.name in INTERRUPTED else []
    done = run("answer = 42", cell.source, "print('answer', answer)", late=late)
    reached = [line for line in "".join(done.texts).split("\n") if line.startswith("REACHED")]
    assert not reached, cell.does
    assert state(course) == before
    assert not survivors(new_descendants(running))
    if cell.fair == "points" and cell.name not in STUCK:
        assert "answer 42" in done.texts[-1], "earlier definitions are lost"
    if cell.fair == "nothing":
        assert "answer 42" not in done.texts[-1]


def test_each_name_in_interrupted_and_stuck_is_a_hostile_cell() -> None:
    assert {cell.name for cell in hostile.cells()} >= INTERRUPTED | STUCK
