"""What the report and the pages of feedback must say, by the tables that lie beside them.

Sums, means and counts are made here of the rows of grades.csv and parts.csv.
"""

import re
from collections import Counter
from statistics import fmean

from bs4 import BeautifulSoup, Tag
from classroom import Classroom

Row = dict[str, str]
MISSING = "not handed in"


def text(tag: Tag | None) -> str:
    return " ".join(tag.get_text(" ").split()) if tag else ""


def lines(table: Tag) -> list[list[str]]:
    return [[text(cell) for cell in row.select("th, td")] for row in table.select("tr")]


def grouped(rows: list[Row], *heads: str) -> dict[tuple[str, ...], list[Row]]:
    """Return values of these columns → their rows, in the order in which they come."""
    found: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[head] for head in heads), []).append(row)
    return found


def check_links(page: BeautifulSoup) -> None:
    lost = [one["href"] for one in page.select("a[href^='#']") if not page.find(id=one["href"][1:])]
    assert lost == []


def check_tables(room: Classroom) -> None:
    """Compare the grades with the parts and with the remarks."""
    grades = grouped(room.table("grades.csv"), "student", "assignment")
    remarks = grouped(room.table("remarks.csv"), "student", "assignment")
    parts = grouped(room.table("parts.csv"), "student", "assignment")
    assert parts.keys() == grades.keys()
    for key, (grade,) in grades.items():
        own = remarks.get(key, [])
        said = [row["remark"] for row in own if row["kind"] in ("not graded", "late")]
        is_missing = {row["cause"] == MISSING for row in parts[key]}
        assert is_missing == {grade["note"] == MISSING}, key
        assert grade["note"] in (MISSING, "; ".join(said)), key
        taken = re.findall(r", ([\d.]+) points taken off", grade["note"])
        points = sum(float(row["points"]) for row in parts[key]) - sum(map(float, taken))
        assert float(grade["score"]) == max(0, points), key
        assert float(grade["max_score"]) == sum(float(row["of"]) for row in parts[key]), key


def check_report(room: Classroom) -> None:
    """Compare each number and row of the report with the tables."""
    page = BeautifulSoup((room.folder / "report.html").read_text(encoding="utf-8"), "html.parser")
    check_links(page)
    shown = {str(one["id"]): lines(one.parent) for one in page.select("section > h2") if one.parent}
    grades, parts = room.table("grades.csv"), room.table("parts.csv")
    of_students = grouped(grades, "student")
    handed_in = sum(row["note"] != MISSING for row in grades)
    said = text(page.select_one("header"))
    assert f"{len(of_students)} students, {handed_in} submissions." in said

    heads = dict.fromkeys(f"{row['assignment']} of {row['max_score']}" for row in grades)
    expected = [["Student", *heads, "Sum"]]
    for (student,), own in of_students.items():
        scores = ["–" if row["note"] == MISSING else row["score"] for row in own]
        expected.append([student, *scores, f"{sum(float(row['score']) for row in own):g}"])
    assert shown["scores"] == expected

    averages, mistakes = [], []
    for place, rows in grouped(parts, "assignment", "part").items():
        own = [row for row in rows if row["cause"] != MISSING]
        causes = Counter(row["cause"] for row in own if row["cause"])
        if own:
            mean = f"{fmean(float(row['points']) for row in own):.2f}"
            right = str(len(own) - causes.total())
            averages.append([*place, rows[0]["of"], str(len(own)), right, mean])
        for cause in sorted(causes, key=lambda one: (-causes[one], one)):
            mistakes.append([*place, cause, str(causes[cause])])
    assert shown["parts"][1:] == averages
    assert [row[:4] for row in shown["misconceptions"][1:]] == mistakes
    assert [[*row.values()] for row in room.table("misconceptions.csv")] == mistakes
    counts = [int(row[3]) for row in mistakes]
    bars = [float(str(one["width"])) for one in page.select("rect")]
    assert bars == [round(100 * count / max(counts), 1) for count in counts]

    for (kind,), rows in grouped(room.table("remarks.csv"), "kind").items():
        assert f"{kind.capitalize()}: {len(rows)}" in said
        expected = [[row["student"], row["assignment"], row["remark"]] for row in rows]
        found = [" ".join(cells) for cells in shown[kind.replace(" ", "-")][1:]]
        assert found == [" ".join(" ".join(cells).split()) for cells in expected]
    tables = {text(one) for one in page.select("section:has(#details) h3")}
    assert tables == {row["assignment"] for row in parts if row["cause"] != MISSING}
    for table in page.select("section:has(#details) table"):
        name = text(table.find_previous("h3"))
        mine = [row for row in parts if row["assignment"] == name]
        heads = dict.fromkeys(f"{row['part']} of {row['of']}" for row in mine)
        expected = [["Student", *heads]]
        for (student,), own in grouped(mine, "student").items():
            cells = [f"{row['points']} {row['cause']}".strip() for row in own]
            missing = own[0]["cause"] == MISSING
            expected.append([student, *(["–"] * len(own) if missing else cells)])
        assert lines(table) == expected


def check_page(room: Classroom, student: str, name: str) -> None:
    """Compare the points on a page of feedback with the tables, and look where its links lead."""
    key = (student, name)
    (grade,) = grouped(room.table("grades.csv"), "student", "assignment")[key]
    parts = grouped(room.table("parts.csv"), "student", "assignment")[key]
    page = BeautifulSoup(room.page(*key), "html.parser")
    heading = re.search(r"\((\S+) of (\S+) points\)$", text(page.h1))
    assert heading
    for said, column in zip(heading.groups(), ("score", "max_score"), strict=True):
        assert float(said) == float(grade[column])
    assert student in text(page.title)
    assert not page.select("#opening, #cases"), "cells that nobody wants to read"
    assert page.table
    cells = room.released(name).cells
    titles = [t for cell in cells for t in re.findall(r"^## (Part .*)$", cell.source, re.M)]
    expected = [
        (title, f" {row['points']} / {row['of']}") for title, row in zip(titles, parts, strict=True)
    ]
    for late, _, off in re.findall(r"([\d.]+ h) late(, ([\d.]+) points)?", grade["note"]):
        expected += [(late, ""), *([("", f"−{off}")] if off else [])]
    for (what, points), (first, last) in zip(expected, lines(page.table), strict=True):
        assert what in first, (key, first)
        assert last.endswith(points), (key, first, last)
    for row, link in zip(parts, page.table.select("a"), strict=True):
        (section,) = page.select(f"section{link['href']}")
        assert f'check("{row["part"]}"' in section.get_text(), key
        colors = {word for one in section.select("pre") for word in one.get("class", ())}
        right = row["points"] == row["of"]
        assert colors & {"right", "wrong"} == {"right" if right else "wrong"}, (key, row)
