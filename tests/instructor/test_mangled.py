"""What nobody thought of: random notebooks, downloads and tables never end in a traceback."""

import copy
import csv
import io
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from classroom import NAME, Classroom, points
from importers import of_canvas, of_moodle, zipped

PEOPLE = ("Ada Lovelace", "李小龙", "سارا علوی", "O'Brien", "van der Berg-Müller", "anon", "a_b")
TITLES = (f"{NAME}.ipynb", "Int8-Matmul (1).ipynb", "._a.ipynb", "a.ipynb.txt", "x.zip", "a_b.py")
HEADS = (
    *("Student", "ID", "SIS Login ID", "Username", "Full name", "Identifier", "Email address"),
    *("First name", "id", "int8-matmul (4711)", "Assignment:int8-matmul (Real)", "Section"),
)  # fmt: skip
ODD = [*"\ufeff\u202e\ud7ff'\"\n", "", "=1+1", "a/b", "..", "<b>", "%s{}", "9" * 99]
VALUES = (None, [], {}, "", 0, -1, 1e308, True, [None], {"a": []}, "x" * 9999, [[[[]]]], *ODD)


def inside(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield (container, key) of everything in a value."""
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from inside(value[key])


def mangled(chance: random.Random, notebook: str) -> bytes:
    """Return a notebook in which some values are others, or some bytes."""
    content = json.loads(notebook)
    for _ in range(chance.choice((1, 1, 3, 10))):
        place, key = chance.choice([*inside(content)] or [({}, 0)])
        place[key] = copy.deepcopy(chance.choice(VALUES))
        if chance.random() < 0.2:
            del place[key]
    return damaged(chance, json.dumps(content).encode())


def damaged(chance: random.Random, content: bytes) -> bytes:
    """Return a file in which some bytes may be others, or which may end too early."""
    raw = bytearray(content)
    for _ in range(chance.choice((0, 0, 0, 0, 1, 5))):
        raw[chance.randrange(len(raw))] = chance.randrange(256)
    return bytes(raw[: chance.randrange(len(raw))] if chance.random() < 0.05 else raw)


def table(chance: random.Random) -> bytes:
    stream, heads = io.StringIO(), chance.sample(HEADS, chance.randrange(1, 7))
    writer = csv.writer(stream, delimiter=chance.choice(",;\t"))
    writer.writerow(heads)
    for _ in range(chance.randrange(6)):
        entries = ("Participant 12", "Lovelace, Ada", "ada", "7", *PEOPLE, *ODD)
        row = [chance.choice(entries) for _ in heads]
        writer.writerow(row[: chance.randrange(len(row) + 1)] if chance.random() < 0.1 else row)
    encoding = chance.choice(("utf-8", "utf-8", "utf-8-sig", "utf-16"))
    return damaged(chance, stream.getvalue().encode(encoding, "replace"))


def download(chance: random.Random) -> bytes:
    names = (*PEOPLE, *TITLES, *ODD)
    files: dict[str, bytes | str] = {}
    for number in range(chance.randrange(5)):
        who, title = chance.choice(names), chance.choice(names)
        flags = {"late": chance.random() < 0.5}
        name = chance.choice(
            (of_moodle(who, number, title), of_canvas(who, number, title, **flags), title)
        )
        files[name or "x"] = chance.choice((b"", b"{}", bytes(30_000), b"PK\3\4"))
    return damaged(chance, zipped(files))


FEW_AND_MANY = pytest.mark.parametrize(
    "count", [8, pytest.param(1_000, marks=pytest.mark.long)], ids=["few", "many"]
)


@pytest.mark.parametrize(
    ("step", "draw"), [("collect", download), ("roster", table), ("export", table)]
)
@FEW_AND_MANY
def test_any_file_of_a_platform_is_taken_or_refused_in_words(
    release: Path, tmp_path: Path, step: str, draw: Callable[[random.Random], bytes], count: int
) -> None:
    file = tmp_path / "file"
    words = {"collect": (NAME, file), "roster": (file,), "export": (file, tmp_path / "to.csv")}[
        step
    ]
    room = Classroom(tmp_path / "course", release)
    for seed in range(count):
        file.write_bytes(draw(random.Random(seed)))
        done = room.here(step, *words)  # any other error than a SystemExit fails this test
        assert done.returncode in (0, 1), seed
        assert len(done.stderr.splitlines()) == done.returncode, (seed, done.stderr)
        (tmp_path / "to.csv").unlink(missing_ok=True)
    assert {path.name for path in tmp_path.iterdir()} == {"file", "course"}


@pytest.mark.parametrize(
    "count", [4, pytest.param(300, marks=pytest.mark.long)], ids=["few", "many"]
)
def test_any_notebook_is_graded_or_listed_with_a_reason(
    release: Path, tmp_path: Path, count: int
) -> None:
    room = Classroom(tmp_path / "course", release)
    chance, solved = random.Random(count), nbformat.writes(room.solved())
    for number in range(count):
        place = room.folder_of(f"{chance.choice(PEOPLE)}{number}")
        (place / f"{NAME}.ipynb").write_bytes(mangled(chance, solved))
        (place / "timestamp.txt").write_text(chance.choice((*PEOPLE, *ODD)), encoding="utf-8")
    room.grade()
    listed = " ".join(room.not_graded())
    reasons = " ".join(room.not_graded().values())
    assert "the grading itself failed" not in reasons, reasons
    for row in room.table("grades.csv"):
        if row["assignment"] == NAME and not row["note"]:
            assert 0 <= float(row["score"]) <= sum(points().values())
    assert "Traceback" not in listed + reasons
