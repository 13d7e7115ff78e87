"""No reference solution leaks into the site, its downloads or the release."""

from __future__ import annotations

import html
import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from browser.pyodide import files as pyodide_files
from commands import handouts, lab
from repository import ROOT

SOLUTION = re.compile(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", re.DOTALL)
TAG = re.compile(r"</?[a-zA-Z][^>]*>")  # a regex: an HTML parser takes ten times as long
HARMLESS = {"for size in sizes:"}  # lines that reveal no more than the question
MIN_LENGTH = 16  # shorter lines, such as `return 2 * B * D`, may occur anywhere


def solution_lines() -> set[str]:
    """Return the distinctive lines of the reference solutions."""
    lines = set()
    for path in ROOT.glob("exercises/*/*.ipynb"):
        for cell in nbformat.read(path, as_version=4).cells:
            for solution in SOLUTION.findall(cell.source):
                lines |= {line.strip() for line in solution.splitlines()}
    return {line for line in lines if len(line) >= MIN_LENGTH and line not in HARMLESS}


def texts(name: str, content: bytes) -> Iterator[tuple[str, str]]:
    """Yield (name, text) of a file, or of each file in an archive, recursively."""
    if name.endswith((".zip", ".whl")):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for member in archive.namelist():
                yield from texts(f"{name}/{member}", archive.read(member))
    elif name.endswith(".html"):
        yield name, html.unescape(TAG.sub("", content.decode("utf-8")))
    elif name.endswith(".ipynb"):
        cells = json.loads(content)["cells"]
        yield name, "\n".join("".join(cell["source"]) for cell in cells)
    elif name.endswith((".js", ".json", ".md", ".txt", ".py", ".csv")):
        yield name, content.decode("utf-8", errors="replace")


def leaks(files: list[tuple[str, bytes]]) -> list[tuple[str, str]]:
    """Return (file, line) for each solution line that one of the files contains.

    Only whole lines count.
    """
    wanted = solution_lines()
    return [
        (name, line.strip())
        for path, content in files
        for name, text in texts(path, content)
        for line in text.splitlines()
        if line.strip() in wanted
    ]


def contents(folder: Path) -> list[tuple[str, bytes]]:
    """Return all non-empty files, except unmodified files of the Pyodide release."""
    foreign = pyodide_files.wanted()
    return [
        (str(path), path.read_bytes())
        for path in folder.rglob("*")
        if path.is_file()
        and path.stat().st_size
        and (path.name not in foreign or foreign[path.name] != pyodide_files.sha256(path))
    ]


def test_the_solutions_have_distinctive_lines() -> None:
    assert len(solution_lines()) >= 30


def test_the_site_and_its_downloads_contain_no_solution(site: Path) -> None:
    files = contents(site)
    names = " ".join(name for name, _ in files)
    assert "exercises.zip" in names
    assert names.count(".ipynb") >= 9
    assert names.count(".whl") == 2
    assert "course.zip" in names
    assert names.count(".steps.json") >= 9
    assert leaks(files) == []


def test_the_release_contains_no_solution(site: Path) -> None:
    files = contents(ROOT / "_build" / "course" / "release")
    assert len(files) == 9
    assert leaks(files) == []


def test_the_readers_working_copies_contain_no_solution(site: Path) -> None:
    copies = lab.notebooks(ROOT, ROOT / "_build" / "course" / "release")
    files = [(f"{name}.ipynb", nbformat.writes(made).encode()) for name, made in copies.items()]
    assert len([name for name, _ in files if name.startswith("exercises/")]) == 9
    assert leaks(files) == []


def test_the_site_and_the_bundle_lack_the_solution_command(site: Path) -> None:
    """Check that neither the script nor the Makefile of `make solution` is published."""
    names = [name for name, _ in contents(site)]
    bundle = next(name for name in names if name.endswith("exercises.zip"))
    with zipfile.ZipFile(bundle) as archive:
        names += archive.namelist()
    assert len(names) > 100
    assert not [name for name in names if Path(name).name in ("solution.py", "Makefile")]


@pytest.mark.parametrize("kind", ["html", "ipynb", "whl", "zip"])
def test_a_solution_line_is_found_in_every_kind_of_file(kind: str) -> None:
    line = sorted(solution_lines())[0]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(f"x = 1\n    {line}")])
    leaking = {
        "html": f"<pre><span>x = 1</span>\n    {line.replace(' ', ' <b></b>')}</pre>".encode(),
        "ipynb": nbformat.writes(notebook).encode(),
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("inside.ipynb", leaking["ipynb"])
    leaking["whl"] = leaking["zip"] = packed.getvalue()
    assert [found for _, found in leaks([(f"page.{kind}", leaking[kind])])] == [line]


def test_solution_pages_for_instructors_contain_every_solution() -> None:
    pages = [
        (f"{path.stem}.md", handouts.worked(path).encode())
        for path in ROOT.glob("exercises/*/*.ipynb")
    ]
    assert {line for _, line in leaks(pages)} == solution_lines()
    assert not any(b"SOLUTION" in page for _, page in pages)
