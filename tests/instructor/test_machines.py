"""Many machines, and another database: the same class gives the same files."""

import contextlib
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import postgres
import pytest
from classroom import COMMAND, NAME, Classroom, command, one_line, said
from repository import ROOT, with_other_words
from server_process import serving
from submissions import submissions

pytestmark = pytest.mark.long
DASK = Path(sys.executable).with_name("dask")
SCHEDULER = (DASK, "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
WORKER = (sys.executable, "-m", "distributed.cli.dask_worker")


@pytest.fixture(scope="module")
def handed_in(release: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    room = Classroom(tmp_path_factory.mktemp("here") / "course", release)
    (room.folder / ".grading" / "seed").write_text("the seed of all machines\n")
    for number, one in enumerate(submissions(NAME)[:6]):
        room.hand_in(f"student-{number}", NAME, room.solved(submission=one.name))
    (room.folder_of("broken") / f"{NAME}.ipynb").write_text("")
    return room.folder


@pytest.fixture(scope="module")
def alone(handed_in: Path, tmp_path_factory: pytest.TempPathFactory) -> Classroom:
    room = Classroom(tmp_path_factory.mktemp("alone") / "course", handed_in)
    room.grade()
    return room


@contextlib.contextmanager
def started(*words: object, folder: Path = ROOT) -> Iterator[str]:
    """Start a process in the repository, or in another state of it; yield its address."""
    given = os.environ | {"PYTHONPATH": f"{folder}:{folder / 'kit'}"}
    with serving(words, r"tcp://\S+", given, folder) as (address, _):
        yield address


def test_a_scheduler_that_is_there_already_gives_the_same_files(
    alone: Classroom, handed_in: Path, tmp_path: Path
) -> None:
    room = Classroom(tmp_path / "there", handed_in)
    with (
        started(*SCHEDULER) as address,
        started(*WORKER, address, "--nthreads", "1"),
        started(*WORKER, address, "--nthreads", "1"),
    ):
        assert "7 graded" in said(room.run("grade", "--scheduler", address))
    assert room.files() == alone.files()


def test_a_worker_in_another_state_of_the_course_grades_nothing(
    handed_in: Path, tmp_path: Path
) -> None:
    room = Classroom(tmp_path / "there", handed_in)
    later = with_other_words(tmp_path / "later")
    with (
        started(*SCHEDULER) as address,
        started(*WORKER, address, "--nthreads", "1", folder=later),
    ):
        assert "another state of" in one_line(room.here("grade", "--scheduler", address))
    assert not (room.folder / "grades.csv").exists()


def test_a_scheduler_that_is_not_there_is_named_in_one_line(
    handed_in: Path, tmp_path: Path
) -> None:
    room = Classroom(tmp_path / "there", handed_in)
    for address in ("tcp://127.0.0.1:9", "tcp://127.0.0.1:port", "nowhere"):
        assert address in one_line(room.here("grade", "--scheduler", address))
    words = ("--scheduler", "tcp://127.0.0.1:9", "--workers", 2)
    assert "workers" in one_line(room.here("grade", *words))


def test_a_gradebook_in_postgresql_gives_the_same_files(
    alone: Classroom, handed_in: Path, tmp_path: Path
) -> None:
    found = postgres.binaries()
    if found is None:
        pytest.fail(postgres.MISSING, pytrace=False)
    room = Classroom(tmp_path / "server", handed_in)
    (room.folder / "gradebook.db").unlink()
    shutil.rmtree(room.folder / "release")
    with postgres.server(found) as folder:
        address = f"postgresql+psycopg://postgres@/gradebook?host={folder}"
        with (room.folder / "nbgrader_config.py").open("a") as own:
            own.write(f"c.CourseDirectory.db_url = {address!r}\n")
        for step in ("release", "grade"):
            said(command(*COMMAND, step, room.folder))
        assert not (room.folder / "gradebook.db").exists()
        assert room.files() == alone.files()
        people = tmp_path / "people.csv"  # SQLite takes names of any length
        people.write_text(f"id,first_name,last_name\nada,{'A' * 200},{'李' * 200}\n")
        said(room.run("roster", people))
        room.hand_in("a" * 129, NAME, room.solved())
        assert "0 graded" in said(room.run("grade"))
