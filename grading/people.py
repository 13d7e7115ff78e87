"""Who is who: the students of a class, by the numbers and names that platforms write.

Canvas has one number for a person. Moodle numbers people anew for each assignment, so a name that
only one student has comes before a number, and a student keeps all numbers.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

MOST_TEXT = 128  # characters of a name or an address in nbgrader's gradebook
MOST_NUMBERS = 10  # of one person, which fit there


@dataclass(frozen=True)
class Person:
    """A row of a platform's table: `id` names the folder, `number` is the platform's."""

    id: str
    number: str
    first_name: str
    last_name: str
    email: str

    @property
    def name(self) -> str:
        return f"{self.first_name} {self.last_name}".strip()


class People:
    """The students in nbgrader's gradebook."""

    def __init__(self, students: Iterable[Any]) -> None:
        self.students = {one.id: one for one in students}
        self.by_email: dict[str, str] = {}
        self.by_number: dict[str, str] = {}
        self.by_name: defaultdict[str, list[str]] = defaultdict(list)
        for key, one in self.students.items():
            self.by_email[(one.email or "").casefold()] = key
            name = f"{one.first_name or ''} {one.last_name or ''}".strip()
            # Whoever was in no roster has a folder with the platform's name and number.
            unknown = re.fullmatch(r"(.+) (\d+)", key)
            numbers = (one.lms_user_id or "").split()
            if unknown and not name:
                name, numbers = unknown[1], [unknown[2]]
            self.by_number |= dict.fromkeys(numbers, key)
            self.by_name[_key(name)].append(key)
        for found in (self.by_email, self.by_name):
            found.pop("", None)

    def student(self, number: str, name: str) -> str:
        """Return the student of this number and name, "" if nobody, or more than one, fits."""
        fits, numbered = self.named(name), self.by_number.get(number, "")
        return fits[0] if len(fits) == 1 else numbered if numbered in fits or not fits else ""

    def named(self, name: str) -> list[str]:
        return self.by_name.get(_key(name), [])

    def of(self, person: Person) -> str:
        """Return the student whom a table's row is about, "" if nobody, or more than one, fits."""
        if person.id in self.students and person.id != person.number:
            return person.id
        by_email = self.by_email.get(person.email.casefold(), "")
        return by_email or self.student(person.number, person.name)

    def updates(self, people: Sequence[Person]) -> Iterator[tuple[str, dict[str, str]]]:
        """Yield (student, what the gradebook is to say), also for new ones.

        Nothing is erased by a table that lacks it.
        """
        found = [(one, self.of(one)) for one in people]
        claims = Counter(student for _, student in found)
        for one, student in found:
            if claims[student] > 1 or not student:  # a newcomer may have the name of another
                student = one.id
            before = self.students.get(student)
            about = {"email": one.email}
            if one.last_name or not (before and before.last_name):
                about |= {"first_name": one.first_name, "last_name": one.last_name}
            numbers = (before.lms_user_id or "").split() if before else []
            own = [*(number for number in numbers if number != one.number), one.number]
            about["lms_user_id"] = " ".join(own[-MOST_NUMBERS:]).strip()
            yield student, {key: text[:MOST_TEXT] for key, text in about.items() if text}


def _key(name: str) -> str:
    """Return a name's words in one order, without marks that Moodle leaves out of files' names."""
    # The gradebook may hold no more of it.
    folded = unicodedata.normalize("NFKC", name[:MOST_TEXT]).casefold()
    kept = "".join(one for one in folded if one.isalnum() or one.isspace())
    return " ".join(sorted(kept.split()))
