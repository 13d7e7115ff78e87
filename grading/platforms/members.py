"""The students of a course: everybody in the roster or with a submission."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbgrader.api import Student  # type: ignore[import-untyped]
from rapidfuzz import process

from grading.intake.names import printable
from grading.intake.submissions import handed_in
from grading.records import results
from grading.records.seed import FOLDER

ROSTER = "roster.json"  # lists the students who came from a roster; the gradebook doesn't mark them
MIN_SCORE = 60  # % similarity that a suggested name must have


@dataclass(frozen=True)
class Members:
    """The students of a course, from three sources.

    roster: folder name → searchable texts about the person. known: students in the gradebook.
    handed_in: students with a folder in submitted/.
    """

    roster: Mapping[str, list[str]]
    known: frozenset[str]
    handed_in: frozenset[str]

    @property
    def all(self) -> set[str]:
        """Return all members: the roster, and everybody who submitted."""
        return {*self.roster, *self.handed_in}

    def nearest(self, name: str, among: Iterable[str] | None = None) -> str:
        """Return the printable name of the member most similar to `name`, "" if none is."""
        words = {
            (one, place): text.casefold()
            for one in sorted(self.all if among is None else among)
            for place, text in enumerate([one, *self.roster.get(one, [])])
        }
        found = process.extractOne(name.casefold(), words, score_cutoff=MIN_SCORE)
        if found is None:
            return ""
        one = found[2][0]
        full = next(iter(self.roster.get(one, [])), "")
        return printable(one) + (f" ({printable(full)})" if full else "")


def members(folder: Path, session: Any) -> Members:
    """Return the members of a course.

    session: reads the gradebook; None if there is none.
    """
    listed = set(results.read(folder / FOLDER / ROSTER) or ())
    people = session.query(Student).all() if session else []
    known = {one.id: _texts(one) for one in people}
    # Students with a name or email count as imported from a roster even if ROSTER does not list
    # them: an older version, or nbgrader, imported them.
    roster = {one: texts for one, texts in known.items() if one in listed or any(texts)}
    return Members(roster, frozenset(known), frozenset(handed_in(folder)))


def _texts(one: Any) -> list[str]:
    """Return a student's full name, email, and default folder name in `collect`."""
    full = " ".join(filter(None, (one.first_name, one.last_name)))
    return [full, one.email or "", f"{full} {one.lms_user_id}" if one.lms_user_id else ""]


def add(folder: Path, names: Iterable[str]) -> None:
    """Add these students, given by folder name, to the stored roster."""
    file = folder / FOLDER / ROSTER
    results.write(file, sorted({*(results.read(file) or ()), *names}))
