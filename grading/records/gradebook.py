"""Opens a course's gradebook, and repairs it after an interrupted command."""

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from nbgrader.api import (  # type: ignore[import-untyped]
    Base,
    Comment,
    Grade,
    Gradebook,
    MissingEntry,
    SubmittedAssignment,
    SubmittedNotebook,
    get_alembic_version,
)
from sqlalchemy import create_engine, inspect, text
from sqlalchemy.orm import Session

VERSION_TABLE = "alembic_version"  # the table that `nbgrader db upgrade` reads


@contextlib.contextmanager
def tools_on_path() -> Iterator[None]:
    """Put this environment first on the PATH: nbgrader runs its programs by name."""
    before = os.environ.get("PATH")
    own = str(Path(sys.executable).parent)
    os.environ["PATH"] = own if before is None else os.pathsep.join([own, before])
    try:
        yield
    finally:
        if before is None:
            del os.environ["PATH"]
        else:
            os.environ["PATH"] = before


def opened(address: str, course: str) -> Any:
    """Open the gradebook at this URL; create it if it does not exist."""
    with tools_on_path():
        book = Gradebook(address, course)
        try:
            _write_version(book)
        except BaseException:
            book.close()
            raise
    return book


def _write_version(book: Any) -> None:
    """Write the schema version if it is missing.

    It is missing if the command that created the tables was interrupted. Tables of another version
    are left to `nbgrader db upgrade`.
    """
    found = inspect(book.engine)
    has_table = found.has_table(VERSION_TABLE)
    if has_table and book.db.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).first():
        return
    for name, table in Base.metadata.tables.items():
        if {column.name for column in table.columns} - {
            column["name"] for column in found.get_columns(name)
        }:
            return
    if not has_table:
        book.db.execute(text(f"CREATE TABLE {VERSION_TABLE} (version_num VARCHAR(32) NOT NULL)"))
    insert = text(f"INSERT INTO {VERSION_TABLE} (version_num) VALUES (:version)")
    book.db.execute(insert, {"version": get_alembic_version()})
    book.db.commit()


def prepare_extended(book: Any, exercises: Iterable[str]) -> None:
    """Let nbgrader release exercises for which a student already has an extension.

    nbgrader refuses to add a notebook to an assignment with submissions, and an extension creates a
    submission.
    """
    for exercise in exercises:
        with contextlib.suppress(MissingEntry):
            if not book.find_assignment(exercise).notebooks:
                book.add_notebook(exercise, exercise)


def add_missing_notebooks(book: Any) -> None:
    """Add notebook rows to gradebook submissions older than their exercise's release."""
    query = book.db.query(SubmittedAssignment).filter(~SubmittedAssignment.notebooks.any())
    for submission in query.all():
        for notebook in submission.assignment.notebooks:
            submitted = SubmittedNotebook(notebook_id=notebook.id, assignment_id=submission.id)
            submitted.grades = [Grade(cell_id=cell.id) for cell in notebook.grade_cells]
            submitted.comments = [Comment(cell_id=cell.id) for cell in notebook.solution_cells]
            book.db.add(submitted)
    book.db.commit()


@contextlib.contextmanager
def read_only(address: str) -> Iterator[Session | None]:
    """Yield a read-only session of the gradebook, None if there is no gradebook yet."""
    place = address.removeprefix("sqlite:///")
    if place != address:
        if not Path(place).is_file():
            yield None
            return
        address = f"sqlite:///file:{quote(place)}?mode=ro&uri=true"
    engine = create_engine(address)
    try:
        if inspect(engine).has_table(SubmittedAssignment.__tablename__):
            with Session(engine) as session:
                yield session
        else:
            yield None
    finally:
        engine.dispose()
