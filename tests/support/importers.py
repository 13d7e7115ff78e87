"""What Moodle and Canvas name their downloads, and what their importers make of a table.

The rules are in `tests/tables/importers.toml`. Names of files: Moodle's
mod/assign/classes/downloader.php and clean_filename of lib/moodlelib.php; lib/content_zipper.rb of
Canvas LMS, and rubyzip, which writes UTF-8 without saying so.
"""

import csv
import io
import re
import tomllib
import zipfile
from collections.abc import Iterable, Mapping

from repository import ROOT

RULES = tomllib.loads((ROOT / "tests" / "tables" / "importers.toml").read_text(encoding="utf-8"))
MOODLE, CANVAS, FEEDBACK = RULES["moodle_worksheet"], RULES["canvas"], RULES["feedback"]


def of_moodle(person: str, number: int, title: str, folders: bool = True) -> str:
    """Return a file's path in Moodle's zip, with or without a folder per learner."""
    prefix = f"{person.replace('_', ' ')}_{number}_assignsubmission_file"
    clean = re.sub(r'[&<>"`|\':\\/\x00-\x1f]', "", prefix)
    return f"{clean}/{title}" if folders else f"{clean}_{title}"


def of_canvas(person: str, number: int, title: str, late: bool = False, file: int = 4711) -> str:
    """Return a file's name in Canvas's zip: the sortable name in lower case, letters only."""
    first, _, last = person.partition(" ")
    name = re.sub(r"_(\d+)_", r"\1", f"{last}, {first}").lower()
    head = "_".join([name, *(["LATE"] if late else []), str(number)])
    head = "".join(one for one in head if one == "_" or re.match(r"\w", one))
    return f"{head}_{file}_{title}"


def zipped(files: Mapping[str, bytes | str], marked: bool = True) -> bytes:
    """Return a zip; unless `marked`, it does not say that its names are UTF-8."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            made.writestr(name, content)
    data = bytearray(stream.getvalue())
    for signature, place in () if marked else ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        start = 0
        while (start := data.find(signature, start)) >= 0:
            data[start + place + 1] &= ~0x08 & 0xFF
            start += 4
    return bytes(data)


def written(rows: list[list[str]], separator: str = ",") -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=separator).writerows(rows)
    return text.getvalue()


def moodle_imports(content: bytes, language: str = "en") -> dict[str, tuple[str, str, str]]:
    """Import a worksheet by Moodle's rules; return number → (grade, time, feedback)."""
    text = content.decode(MOODLE["encoding"]).removeprefix("\ufeff")
    heads, *rows = csv.reader(io.StringIO(text, newline=""), delimiter=MOODLE["separator"])
    words = MOODLE["heads"][language]
    missing = {words[one] for one in ("identifier", "grade", "modified")} - set(heads)
    assert not missing, f"Moodle: the file is not a grading worksheet ({missing})"
    found = {}
    for row in rows:
        assert len(row) == len(heads), "Moodle: the number of columns is not constant"
        cells = dict(zip(heads, row, strict=True))
        number = cells[words["identifier"]].removeprefix(words["participant"])
        assert number.isdecimal()
        feedback = "".join(cells.get(one, "") for one in MOODLE["feedback"])
        found[number] = cells[words["grade"]], cells[words["modified"]], feedback
    return found


def canvas_imports(content: bytes) -> dict[tuple[str, str], str]:
    """Import a gradebook by Canvas's rules; return (learner's number, assignment) → cell."""
    text = content.decode("utf-8").removeprefix("\ufeff")
    cells = {
        one: [len(row) for row in csv.reader(text.splitlines()[:3], delimiter=one)]
        for one in CANVAS["separators"]
    }
    counts = {one: wide[0] if len(set(wide)) == 1 else 0 for one, wide in cells.items()}
    separator = ";" if counts[";"] > counts[","] else ","
    heads, *rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    begin = next((one for one in CANVAS["begins"] if heads[: len(one)] == one), None)
    assert begin, "Canvas: invalid header row"
    rest = heads[len(begin) :]
    sis = next(one for one in CANVAS["sis"] if rest[: len(one)] == one)
    assert rest[len(sis)] == CANVAS["then"], "Canvas: invalid header row"
    first = len(begin) + len(sis) + 1
    behind = [
        (place, head)
        for place, head in enumerate(heads)
        if place >= first and not any(one in head for one in CANVAS["summaries"])
    ]
    assert all(re.fullmatch(CANVAS["assignment"], head) for _, head in behind), "a new assignment"
    found = {}
    for row in rows:
        number = row[begin.index("ID")]
        key = CANVAS["points_row"] if CANVAS["points_row"] in row[0] else number
        found |= {(key, head): row[place] for place, head in behind}
    return found


def moodle_takes_feedback(paths: Iterable[str]) -> dict[str, str]:
    """Return the participant's number → the path of the page that Moodle gives to that person."""
    found = {}
    for path in paths:
        for part in path.split("/"):
            words = part.split("_", 4)
            if len(words) >= FEEDBACK["moodle_words"] and words[1].isdecimal():
                found[words[1]] = path
    return found


def canvas_takes_feedback(paths: Iterable[str]) -> dict[str, str]:
    """Return the user's number → the path of the page that Canvas gives to that person."""
    found = {}
    for path in paths:
        numbers = [word for word in path.rpartition("/")[2].split("_") if word.isdecimal()]
        if len(numbers) >= FEEDBACK["canvas_numbers"]:
            found[numbers[0]] = path
    return found
