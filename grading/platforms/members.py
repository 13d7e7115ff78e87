"""Who is in the class: the roster's people, and whoever has handed something in."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbgrader.api import Student  # type: ignore[import-untyped]
from rapidfuzz import fuzz, process

from grading.intake.names import shown
from grading.intake.submissions import handed_in
from grading.records import results
from grading.records.seed import FOLDER

ROSTER = "roster.json"  # the gradebook does not tell who came from a roster, and who otherwise
MIN_SCORE = 60  # per cent alike, below which no name is suggested


@dataclass(frozen=True)
class Members:
    """roster: name of the folder → what the roster says of the person, for a search.

    known: everybody in the gradebook. handed_in: who has a folder in submitted/.
    """

    roster: Mapping[str, list[str]]
    known: frozenset[str]
    handed_in: frozenset[str]

    @property
    def all(self) -> set[str]:
        """The class. Without a roster, those who have handed something in."""
        return {*self.roster, *self.handed_in}

    def nearest(self, name: str, among: Iterable[str] | None = None) -> str:
        """The member who may be meant, with the full name, fit to be shown; "" if nobody is."""
        words = {
            (one, place): text.casefold()
            for one in sorted(self.all if among is None else among)
            for place, text in enumerate([one, *self.roster.get(one, [])])
            if text
        }
        found = process.extractOne(
            name.casefold(), words, scorer=fuzz.WRatio, score_cutoff=MIN_SCORE
        )
        if found is None:
            return ""
        one = found[2][0]
        full = next(iter(self.roster.get(one, [])), "")
        return shown(one) + (f" ({shown(full)})" if full else "")


def members(folder: Path, session: Any) -> Members:
    """The members of the course in this folder, whose gradebook `session` reads."""
    listed = set(results.read(folder / FOLDER / ROSTER) or ())
    people = session.query(Student).all() if session else []
    told = {one.id: _words(one) for one in people}
    # Whoever has a name came from a roster too: of an earlier version, or nbgrader's own.
    roster = {one: words for one, words in told.items() if one in listed or any(words)}
    return Members(roster, frozenset(told), frozenset(handed_in(folder)))


def _words(one: Any) -> list[str]:
    """[full name, email, what the platform calls a hand-in of a student it was not told of]."""
    full = " ".join(filter(None, (one.first_name, one.last_name)))
    return [full, one.email or "", f"{full} {one.lms_user_id}" if one.lms_user_id else ""]


def add(folder: Path, names: Iterable[str]) -> None:
    """Keep these as members of the class, beside those of earlier rosters."""
    file = folder / FOLDER / ROSTER
    results.write(file, sorted({*(results.read(file) or ()), *names}))
