"""Downloads of Moodle and Canvas go in, and their tables come out as their importers want them."""

import csv
import io
import itertools
import json
import re
import shutil
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from classroom import NAME, Classroom, one_line, points, said
from importers import (
    CANVAS,
    MOODLE,
    canvas_imports,
    moodle_imports,
    of_canvas,
    of_moodle,
    written,
    zipped,
)

NOTEBOOK = json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


# ---- downloads


def stating(size: int) -> bytes:
    """Return a small zip that declares this unpacked size."""
    whole = bytearray(zipped({"x.ipynb": "x" * 1_000}))
    table = whole.index(b"PK\1\2")
    whole[table + 24 : table + 28] = struct.pack("<L", size)
    return bytes(whole)


def encrypted() -> bytes:
    whole = bytearray(zipped({"x.ipynb": NOTEBOOK}))
    whole[whole.index(b"PK\1\2") + 8] |= 1
    whole[6] |= 1
    return bytes(whole)


ADA = of_moodle("Ada Lovelace", 7, f"{NAME}.ipynb")
# what is in the download → what is then in submitted/ (without the exercise), or words in a line
TAKEN: dict[str, tuple[dict[str, bytes | str], list[str], str]] = {
    "moodle, folders": (
        {of_moodle(who, number, "a.ipynb"): NOTEBOOK for who, number in (("A B", 1), ("王 小", 2))},
        ["A B 1/a.ipynb", "王 小 2/a.ipynb"],
        "",
    ),
    "moodle, no folders": (
        {of_moodle("Björn O'Neil_2", 14, "my_1_2_x.ipynb", folders=False): NOTEBOOK},
        ["Björn ONeil 2 14/my_1_2_x.ipynb"],
        "",
    ),
    "moodle, a name right to left": (
        {of_moodle("علی‌رضا کریمی", 13, "مشق.ipynb"): NOTEBOOK},
        ["علی‌رضا کریمی 13/مشق.ipynb"],
        "",
    ),
    "canvas": (
        {of_canvas("Ada Lovelace", 7, "a_b.ipynb"): NOTEBOOK},
        ["lovelaceada 7/a_b.ipynb"],
        "",
    ),
    "canvas, late": (
        {of_canvas("Ada Lovelace", 7, "a.ipynb", late=True): NOTEBOOK},
        ["lovelaceada 7/a.ipynb"],
        "late, says Canvas",
    ),
    "canvas, typed into the form": (
        {"lovelaceada_7_text.html": "<p>My answer</p>"},
        ["lovelaceada 7/text.html"],
        "no notebook",
    ),
    "canvas, a title with another's name and number": (
        {
            of_canvas("Ada Lovelace", 7, title): NOTEBOOK
            for title in ("b_9_assignsubmission_file_a.ipynb", "x\\b_9_1_b.ipynb")
        },
        ["lovelaceada 7/b_9_1_b.ipynb", "lovelaceada 7/b_9_assignsubmission_file_a.ipynb"],
        "",
    ),
    "two files of one name": (
        {of_canvas("Ada L", 7, "a.ipynb", file=one): NOTEBOOK for one in (1, 2)},
        ["lada 7/2-a.ipynb", "lada 7/a.ipynb"],
        "",
    ),
    "a zip": (
        {
            of_moodle("A B", 1, "w.zip"): zipped(
                {"w/x.ipynb": NOTEBOOK, "__MACOSX/w/._x.ipynb": "x"}
            )
        },
        ["A B 1/x.ipynb"],
        "w.zip is a zip",
    ),
    "backslashes": (
        {"all\\" + ADA.replace("/", "\\"): NOTEBOOK},
        [f"Ada Lovelace 7/{NAME}.ipynb"],
        "",
    ),
    "paths that lead out": (
        {of_moodle("A B", 1, "../../../out.ipynb"): NOTEBOOK, "../x": "x", ADA: NOTEBOOK},
        [f"Ada Lovelace 7/{NAME}.ipynb"],
        "x",
    ),
    "an empty file": (
        {of_moodle("A B", 1, "a.ipynb"): "", ADA: NOTEBOOK},
        [f"Ada Lovelace 7/{NAME}.ipynb"],
        "empty",
    ),
    "not of the platform": (
        {"readme.txt": "x", ADA: NOTEBOOK},
        [f"Ada Lovelace 7/{NAME}.ipynb"],
        "readme.txt",
    ),
    "a time that a learner wrote": (
        {of_moodle("A B", 1, "timestamp.txt"): "2000-01-01 00:00 UTC", ADA: NOTEBOOK},
        [f"Ada Lovelace 7/{NAME}.ipynb"],
        "not the name of a file that learners hand in",
    ),
    "typed into the form": (
        {"A B_1_assignsubmission_onlinetext/onlinetext.html": "<p>My answer</p>"},
        ["A B 1/onlinetext.html"],
        "no notebook",
    ),
}
# What a learner may hand in instead of a notebook: it stays a zip, and a line says why.
STAYS: dict[str, tuple[Callable[[], bytes], str]] = {
    "a zip in a zip": (lambda: zipped({"x.zip": zipped({"x.ipynb": NOTEBOOK})}), "no notebook"),
    "many": (lambda: zipped({f"{n}.ipynb": NOTEBOOK for n in range(21)}), "20 notebooks"),
    "a large file": (lambda: stating(30_000_000), "20 MB"),
    "a bomb": (lambda: zipped({f"{n}.ipynb": bytes(19_000_000) for n in range(6)}), "20 MB"),
    "a false size": (lambda: stating(10), "damaged"),
    "a password": (encrypted, "password"),
    "half of it": (lambda: zipped({"x.ipynb": NOTEBOOK})[:-30], "as a zip"),
}


@pytest.fixture
def course(release: Path, tmp_path: Path) -> Classroom:
    """Return a course folder with an empty gradebook, which takes a while to make."""
    room = Classroom(tmp_path / "course")
    room.folder.mkdir()
    shutil.copy(release / "gradebook.db", room.folder)
    return room


def collected(room: Classroom, download: bytes) -> tuple[list[str], str]:
    """Return what is in submitted/ after a download was collected, and what was printed."""
    folder = room.folder.parent
    (folder / "download.zip").write_bytes(download)
    printed = said(room.here("collect", NAME, folder / "download.zip"))
    top = room.folder / "submitted"
    files = [path.relative_to(top) for path in top.rglob("*") if path.is_file()]
    assert {file.parts[1] for file in files} <= {NAME}
    outside = {path.name for path in folder.iterdir()} | {
        path.name for path in room.folder.iterdir()
    }
    assert "out.ipynb" not in outside
    return sorted("/".join((file.parts[0], *file.parts[2:])) for file in files), printed


# Names that Canvas doesn't mark as UTF-8; of others, the mark says nothing.
UNMARKED = [case for case, (files, *_) in TAKEN.items() if not "".join(files).isascii()]


@pytest.mark.parametrize(
    ("case", "marked"), [*((case, True) for case in TAKEN), *((case, False) for case in UNMARKED)]
)
def test_a_download_lies_in_the_learners_folders(
    course: Classroom, case: str, marked: bool
) -> None:
    files, expected, says = TAKEN[case]
    found, printed = collected(course, zipped(files, marked))
    if case == "paths that lead out":
        found = [file for file in found if file.startswith("Ada")]
    assert [file for file in found if file in expected] == expected, (found, printed)
    assert says in printed


def test_what_cannot_be_unpacked_stays_a_zip_and_others_are_collected(course: Classroom) -> None:
    made = {kind: make() for kind, (make, _) in STAYS.items()}
    files = {of_moodle(f"E {n}", n + 10, "x.zip"): whole for n, whole in enumerate(made.values())}
    found, printed = collected(course, zipped({**files, ADA: NOTEBOOK}))
    assert f"Ada Lovelace 7/{NAME}.ipynb" in found
    for number, (kind, (_, says)) in enumerate(STAYS.items()):
        place = f"E {number} {number + 10}"
        assert f"{place}/x.zip" in found, (kind, printed)
        assert any(line.startswith(place) and says in line for line in printed.splitlines()), (
            kind,
            printed,
        )


def test_a_damaged_download_is_named_in_one_line(course: Classroom, tmp_path: Path) -> None:
    for content in (b"", b"PK\3\4 no more", b"<html>"):
        (tmp_path / "x.zip").write_bytes(content)
        assert "x.zip" in one_line(course.here("collect", NAME, tmp_path / "x.zip"))
    whole, at = zipped({ADA: NOTEBOOK * 50}), 30 + len(ADA)
    found, printed = collected(course, whole[:at] + b"\xff" + whole[at + 1 :])
    assert (found, "is damaged" in printed) == ([], True)


def test_nothing_is_written_through_a_link(course: Classroom, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "course" / "submitted").mkdir(parents=True)
    (tmp_path / "course" / "submitted" / "Ada Lovelace 7").symlink_to(tmp_path / "outside")
    _, printed = collected(course, zipped({ADA: NOTEBOOK}))
    assert "link" in printed
    assert not list((tmp_path / "outside").iterdir())


# ---- tables of people


ENCODINGS = {"UTF-8": "utf-8", "with a mark": "utf-8-sig", "Excel's Unicode Text": "utf-16"}
# a table → the student's id, first name, last name, email address and number at the platform
ROSTERS = {
    "canvas": (
        'Student,ID,SIS User ID,SIS Login ID,Section\n"Lovelace, Ädä",7,u7,ada,One\n',
        ("ada", "Ädä", "Lovelace", "", "7"),
    ),
    "moodle": (
        "First name,Last name,ID number,Email address\nÄdä,Lovelace,,a@x.org\n",
        ("a@x.org", "Ädä", "Lovelace", "a@x.org", ""),
    ),
    "with user names": (
        "Email address,ID number,Username,Full name\na@x.org,u7,ada,Ädä Lovelace\n",
        ("ada", "Ädä Lovelace", "", "a@x.org", ""),
    ),
    "worksheet": (
        "Identifier,Full name,Status,Grade\nParticipant 7,Ädä Lovelace,x,\n,,,\n",
        ("7", "Ädä Lovelace", "", "", "7"),
    ),
    "worksheet, German": (
        "ID,Vollständiger Name,E-Mail-Adresse\nTeilnehmer/in 7,Ädä,a@x.org\n",
        ("7", "", "", "", "7"),
    ),
    "one's own": (
        "id,first_name,last_name,email,lms_user_id\nada,Ädä,Lovelace,a@x.org,7\n",
        ("ada", "Ädä", "Lovelace", "a@x.org", "7"),
    ),
    "a test student": (
        'Student,ID,SIS Login ID,Section\n"L, Ädä",7,ada,A\n"Student, Test",8,x,A\n',
        ("ada", "Ädä", "L", "", "7"),
    ),
}
GRADES = "First name,Last name,ID number,Email address\nAda,L,u7,a@x.org\nBo,R,u8,b@x.org\n"
WORKSHEET = (
    "Identifier,Full name,Email address\nParticipant 1,Ada L,a@x.org\nParticipant 2,Bo R,b@x.org\n"
)
DOUBLED = WORKSHEET.replace("Bo R", "Ada L").replace("b@", "c@")
UNNAMED = "Identifier,Full name\nParticipant 11,Ada L\nParticipant 12,Bo R\n"
NAMESAKES = "id,first_name,last_name\na1,Ada,L\na2,L,Ada\n"
LONGER, LATER = (f"Identifier,Full name\nParticipant {n},Ä {'A' * 200}\n" for n in (1, 2))
LONG = f"id,first_name\na1,{'A' * 200}\n{'a' * 200},Ada\n"
# Tables that one class loads, one after the other → the students that it then has.
SEVERAL: dict[str, tuple[list[str], list[str]]] = {
    "grades, then worksheets": ([GRADES, WORKSHEET, UNNAMED, GRADES], ["u7", "u8"]),
    "worksheets, then grades": ([WORKSHEET, UNNAMED, GRADES], ["a@x.org", "b@x.org"]),
    "two of one name": ([NAMESAKES, NAMESAKES], ["a1", "a2"]),
    "one who is there, and a newcomer of that name": ([GRADES, DOUBLED], ["c@x.org", "u7", "u8"]),
    "a long name, numbered anew": ([LONGER, LATER], ["1"]),
    "long names, which PostgreSQL refuses": ([LONG], ["a1"]),
}


@pytest.mark.parametrize("kind", ROSTERS)
def test_a_table_of_people_is_read_in_each_encoding_and_with_each_separator(
    course: Classroom, tmp_path: Path, kind: str
) -> None:
    text, expected = ROSTERS[kind]
    rows = list(csv.reader(io.StringIO(text)))
    for encoding, separator in zip(ENCODINGS.values(), ",;\t", strict=True):
        table = tmp_path / "people.csv"
        table.write_bytes(written(rows, separator).encode(encoding))
        assert "1 students" in said(course.here("roster", table)), (encoding, separator)
    with course.gradebook() as book:
        (person,) = book.students
        about = (person.id, person.first_name, person.last_name, person.email, person.lms_user_id)
        assert tuple(one or "" for one in about) == expected


@pytest.mark.parametrize("case", SEVERAL)
def test_nobody_is_entered_twice_by_another_table(
    course: Classroom, tmp_path: Path, case: str
) -> None:
    tables, expected = SEVERAL[case]
    for text in tables:
        (tmp_path / "people.csv").write_text(text, encoding="utf-8")
        said(course.here("roster", tmp_path / "people.csv"))
    with course.gradebook() as book:
        assert sorted(one.id for one in book.students) == expected
        texts = [
            text or "" for one in book.students for text in (one.id, one.first_name, one.email)
        ]
    assert max(map(len, texts)) <= 128


def test_a_newcomer_gets_nothing_of_somebody_with_that_name(
    course: Classroom, tmp_path: Path
) -> None:
    page = course.folder / "feedback" / "u7" / NAME / f"{NAME}.html"
    page.parent.mkdir(parents=True)
    page.touch()
    first, other = (of_moodle("Ada L", number, f"{NAME}.ipynb") for number in (1, 2))
    download = zipped({other: NOTEBOOK, first: NOTEBOOK})
    for text, folders, pages in (
        (GRADES, [], []),
        (DOUBLED, ["c@x.org", "u7"], [first.replace(".ipynb", ".html")]),
    ):
        (tmp_path / "people.csv").write_text(text)
        said(course.here("roster", tmp_path / "people.csv"))
        found, printed = collected(course, download)
        assert found == [f"{one}/{NAME}.ipynb" for one in folders]
        assert ("u7: 1 and 2" in printed) == (not pages)
        back = tmp_path / f"{len(pages)}.zip"
        said(course.here("return", NAME, tmp_path / "download.zip", back))
        with zipfile.ZipFile(back) as given:
            assert given.namelist() == pages


def test_who_shares_a_name_is_asked_about_and_then_known(course: Classroom, tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    table.write_text(NAMESAKES)
    said(course.here("roster", table))
    download = zipped({of_moodle("Ada L", 7, f"{NAME}.ipynb"): NOTEBOOK})
    found, printed = collected(course, download)
    assert (found, "may be a1 or a2" in printed) == ([], True)
    table.write_text("id,lms_user_id\na2,7\n")
    assert "1 students in the table, 2 in the class" in said(course.here("roster", table))
    others = {of_moodle("Ada L", 7, f"{NAME}.ipynb"): NOTEBOOK}
    others[of_moodle("Eve L", 8, f"{NAME}.ipynb")] = NOTEBOOK
    found, printed = collected(course, zipped(others))
    assert found == [f"Eve L 8/{NAME}.ipynb", f"a2/{NAME}.ipynb"]
    assert re.findall("^(.*): .*roster", printed, re.MULTILINE) == ["Eve L 8"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"a,b\n1,2\n",
        "id\nÄda\n".encode("latin-1"),
        zipped({"xl/workbook.xml": "x"}),
        bytes(99),
    ],
    ids=["empty", "no column of people", "another encoding", "an Excel workbook", "no text"],
)
def test_another_kind_of_table_is_refused_in_one_line(
    course: Classroom, tmp_path: Path, content: bytes
) -> None:
    table = tmp_path / "people.csv"
    table.write_bytes(content)
    assert "people.csv" in one_line(course.here("roster", table))
    assert "people.csv" in one_line(course.here("export", table, tmp_path / "x.csv"))


# ---- tables of grades


TYPED = 'See "my, site";\nand <b>more</b>\tthere'
WHEN = "Monday, 23 November 2026, 8:00 AM"
GRADE, ELSE = f"{NAME} (4711)", "Other (12)"


@pytest.fixture(scope="module")
def room(release: Path, tmp_path_factory: pytest.TempPathFactory) -> Classroom:
    """Grade a class: Ada has 17.5 points, Wang all, and Nobody has handed in nothing."""
    folder = tmp_path_factory.mktemp("platforms")
    room = Classroom(folder / "course", release)
    people = [
        ["id", "first_name"],
        ["ada@x.org", "Ada"],
        ["wang@x.org", "王"],
        ["n@x.org", "Nobody"],
    ]
    (folder / "people.csv").write_text(written(people), encoding="utf-8")
    said(room.here("roster", folder / "people.csv"))
    for student in ("ada@x.org", "wang@x.org"):
        room.hand_in(student, NAME, room.solved())
    room.hand_in("n@x.org", "many-chips", room.released("many-chips"))  # and nothing else
    room.grade()
    part, worth = next(iter(points().items()))
    with room.gradebook() as book:
        book.find_grade(part, NAME, NAME, "ada@x.org").manual_score = worth - 2.5
        book.db.commit()
    return room


def exported(room: Classroom, content: bytes, *words: str) -> tuple[bytes, str]:
    theirs, target = room.folder.parent / "theirs.csv", room.folder.parent / "to-import.csv"
    target.unlink(missing_ok=True)
    theirs.write_bytes(content)
    printed = said(room.here("export", theirs, target, *words))
    return target.read_bytes(), printed


def worksheet(
    language: str = "en", comment: str = "Feedback comments", most: str = "20.00"
) -> list[list[str]]:
    words = MOODLE["heads"][language]
    people = {
        "7": ("Ada Lovelace", "ada@x.org"),
        "12": ("王 小明", "wang@x.org"),
        "13": ("Is", "n@x.org"),
    }
    heads = [words["identifier"], "Full name", "Email address", "Status", words["grade"]]
    heads += ["Maximum grade", "Grade can be changed", "Online text", words["modified"], comment]
    rows = [
        [f"{words['participant']}{number}", name, email, "Submitted", "", most, "Yes"]
        + ([TYPED, WHEN, "well done"] if number == "7" else ["", "-", ""])
        for number, (name, email) in people.items()
    ]
    return [heads, *rows]


def test_moodle_imports_each_variant_of_its_worksheet(room: Classroom) -> None:
    languages, encodings = list(MOODLE["heads"]), list(ENCODINGS.values())
    maxima = itertools.cycle([("20.00", "17.5", "20"), ("100,00", "87.5", "100")])
    for language, separator, encoding, (most, ada, wang) in zip(
        languages, itertools.cycle(",;\t"), itertools.cycle(encodings), maxima, strict=False
    ):
        content = written(worksheet(language, most=most), separator).encode(encoding)
        column = f"{NAME}={MOODLE['heads'][language]['grade']}"
        got, printed = exported(room, content, "--column", column)
        line = next(one for one in printed.splitlines() if one.startswith(f"{NAME} → "))
        assert ("100" in line) == most.startswith("100"), "another maximum is told"
        assert moodle_imports(got, language) == {
            "7": (ada, WHEN, "well done"),
            "12": (wang, "-", ""),
            "13": ("", "-", ""),
        }, (language, separator, encoding)


def test_nothing_but_the_grade_changes_in_moodles_worksheet(room: Classroom) -> None:
    for comment in ("Feedback comments", "Status"):  # the second has two columns of one name
        before = worksheet(comment=comment)
        got, _ = exported(room, written(before).encode(), "--column", f"{NAME}=Grade")
        after = list(csv.reader(io.StringIO(got.decode(), newline="")))
        assert [row[:4] + row[5:] for row in after] == [row[:4] + row[5:] for row in before]
        assert [row[4] for row in after] == ["Grade", "17.5", "20", ""]


def test_moodles_gradebook_gets_the_points(room: Classroom) -> None:
    head = f"Assignment:{NAME} (Real)"
    rows = [["First name", "Last name", "ID number", "Email address", head, "Last downloaded"]]
    rows += [["Ada", "L", "", "ada@x.org", "-", "1"], ["王", "小", "", "wang@x.org", "-", "1"]]
    got, _ = exported(room, written(rows, ";").encode("utf-8-sig"))
    filled = list(csv.DictReader(io.StringIO(got.decode("utf-8-sig")), delimiter=";"))
    assert [row[head] for row in filled] == ["17.5", "20"]
    assert set(filled[0]) < set(rows[0]), "Moodle refuses a column that it did not export"


def gradebook(begin: list[str], sis: list[str], own: list[str], mine: str = "3") -> list[list[str]]:
    """Return Canvas's gradebook with these columns first, then custom columns."""
    people = [("7", "u7", "ada@x.org"), ("12", "u12", "wang@x.org"), ("13", "u13", "n@x.org")]
    about = {
        "Student": lambda one: f"Name, {one[0]}",
        "LastName": lambda one: "Name",
        "FirstName": lambda one: one[0],
        "ID": lambda one: one[0],
        "SIS User ID": lambda one: one[1],
        "SIS Login ID": lambda one: one[2],
        "Section": lambda one: "One",
    }
    front = [*begin, *sis, "Section"]
    points = ["    Points Possible", *[""] * (len(front) - 1 + len(own)), "20.00", "5.00"]
    behind = [[mine, "1", "88", "B"], ["", "", "", ""], ["11", "2", "", ""]]
    rows = [
        [*[about.get(head, lambda one: "")(one) for head in front], *["mine"] * len(own), *rest]
        for one, rest in zip(people, behind, strict=True)
    ]
    heads = [*front, *own, GRADE, ELSE, "Current Score", "Final Grade"]
    return [heads, [*points, "(read only)", "(read only)"], *rows]


def test_canvas_imports_each_variant_of_its_gradebook(room: Classroom) -> None:
    known = [one for one in CANVAS["sis"] if one]
    heads = list(itertools.product(CANVAS["begins"], known))
    others = zip(itertools.cycle(([], ["Notes", "Email"])), itertools.cycle(",;\t"))
    for (begin, sis), (own, separator) in zip(heads, others, strict=False):
        got, _ = exported(room, written(gradebook(begin, sis, own), separator).encode("utf-8-sig"))
        assert canvas_imports(got) == {
            (CANVAS["points_row"], GRADE): "20.00",
            ("7", GRADE): "17.5",
            ("12", GRADE): "20",
            ("13", GRADE): "11",  # an empty cell would delete what Canvas has
        }, (begin, sis, own, separator)
        assert got.decode("utf-8-sig").startswith(",".join([*begin, *sis, "Section", GRADE]))


def test_who_is_excused_in_canvas_stays_excused_and_is_named(room: Classroom) -> None:
    table = gradebook(CANVAS["begins"][0], CANVAS["sis"][3], [], mine=CANVAS["excused"])
    got, printed = exported(room, written(table).encode())
    assert canvas_imports(got)["7", GRADE] == CANVAS["excused"]
    assert any("ada@x.org" in line and "excused" in line for line in printed.splitlines())


def test_who_is_missing_in_one_of_the_tables_is_named(room: Classroom) -> None:
    table = gradebook(CANVAS["begins"][0], CANVAS["sis"][3], [])
    table[3][3] = "another@x.org"
    _, printed = exported(room, written(table).encode())
    for name in ("another@x.org", "wang@x.org"):
        assert any(name in line for line in printed.splitlines()), printed


def test_another_column_can_be_named_and_a_mistyped_one_gets_all_others(room: Classroom) -> None:
    table = written(gradebook(CANVAS["begins"][0], CANVAS["sis"][3], [])).encode()
    got, _ = exported(room, table, "--column", f"{NAME}={ELSE}")
    assert canvas_imports(got)["7", ELSE] == "4.375"  # of 5
    for words, nearest in (
        (("--column", f"{NAME}={NAME}(4711)"), GRADE),
        (("--column", f"{NAME}=zzz"), GRADE),
        (("--column", f"{NAME}={ELSE}", "--column", f"many-chips={ELSE}"), ELSE),
        (("--column", "int8-matmul"), "EXERCISE=HEAD"),
    ):
        theirs, target = room.folder.parent / "theirs.csv", room.folder.parent / "none.csv"
        assert nearest in one_line(room.here("export", theirs, target, *words)), words
        assert not target.exists()
