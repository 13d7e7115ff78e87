"""Who is who: the students of a class, by the numbers and names that platforms write.

Canvas has one number for a person. Moodle numbers people anew for each assignment, so a name that
only one student has comes before a number.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from typing import Any


class People:
    """The students in nbgrader's gradebook."""

    def __init__(self, students: Iterable[Any]) -> None:
        self.by_number: dict[str, str] = {}
        self.by_name: defaultdict[str, list[str]] = defaultdict(list)
        for one in students:
            if one.lms_user_id:
                self.by_number[one.lms_user_id] = one.id
            if name := _key(f"{one.first_name or ''} {one.last_name or ''}"):
                self.by_name[name].append(one.id)

    def student(self, number: str, name: str) -> str:
        """Return the student of this number and name, "" if nobody, or more than one, fits."""
        fits = self.named(name)
        return fits[0] if len(fits) == 1 else self.by_number.get(number, "")

    def named(self, name: str) -> list[str]:
        return self.by_name.get(_key(name), [])


def _key(name: str) -> str:
    """Return a name's words in one order, without marks that Moodle leaves out of files' names."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    kept = "".join(one for one in folded if one.isalnum() or one.isspace())
    return " ".join(sorted(kept.split()))
