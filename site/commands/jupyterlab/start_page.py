"""Contents of JupyterLab's start page, written as course.json.

The file lies in JupyterLab's root folder. A JupyterLab extension,
kit/roofkit/validate/labextensions/roofkit-start, draws the page. It counts the parts that are done
in the reader's notebooks.
"""

import json
from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import yaml
from book_extension.contents import Page
from book_extension.languages.markdown import Words
from nbformat import NotebookNode

from commands.jupyterlab.copies import write_whole

FILE = "course.json"


def contents(
    title: str,
    pages: list[Page],
    names: Mapping[str, str],
    notebooks: Mapping[str, NotebookNode],
    translate: Words = str,
    said: Iterable[str] = (),
) -> dict[str, Any]:
    """Return the course as plain data.

    The data has its pages in order, and its exercises with their parts.

    translate: gives words in the language of the notebooks. said: what the extension itself says.
    """
    mine = [page for page in pages if page.docname in notebooks]
    chapters = [page for page in mine if not page.docname.startswith("exercises/")]
    exercises = [page for page in mine if page not in chapters]
    first = {
        Path(page.docname).name: {
            "path": names[page.docname],
            "title": heading(notebooks[page.docname]),
        }
        for page in chapters
    }
    return {
        "title": translate(title),
        "parts": [
            {
                "caption": translate(caption),
                "pages": [
                    {
                        "path": names[page.docname],
                        "number": page.number,
                        "title": heading(notebooks[page.docname]),
                    }
                    for page in group
                    if page in chapters
                ],
            }
            for caption, group in groupby(mine, key=lambda page: page.caption)
        ],
        "exercises": [
            exercise(names[page.docname], page.caption, notebooks[page.docname], first, translate)
            for page in exercises
        ],
        "words": {message: translate(message) for message in said},
    }


def exercise(
    path: str,
    caption: str,
    notebook: NotebookNode,
    chapters: Mapping[str, Mapping[str, Any]],
    translate: Words,
) -> dict[str, Any]:
    """Return one exercise as plain data; unknown facts are "" or None.

    first: the chapter to read first. Exercises are listed in the order of the course, not by that
    chapter.
    """
    facts = notebook.metadata.get("exercise", {})
    return {
        "path": path,
        "caption": translate(caption),
        "title": heading(notebook),
        "minutes": facts.get("minutes", ""),
        "difficulty": translate(facts.get("difficulty", "")),
        "first": chapters.get(facts.get("read_first")),
        "parts": [
            cell.metadata["nbgrader"]["grade_id"]
            for cell in notebook.cells
            if cell.metadata.get("nbgrader", {}).get("grade")
        ],
    }


def heading(notebook: NotebookNode) -> str:
    """Return a notebook's first "# " heading, with backticks removed; "" if none."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            for line in cell.source.splitlines():
                if line.startswith("# "):
                    return str(line.removeprefix("# ").replace("`", "").strip())
    return ""


def write(work: Path, content: Mapping[str, Any]) -> None:
    """Write the file where the JupyterLab extension reads it."""
    write_whole(work / FILE, json.dumps(content) + "\n")


def title_of(book: Path) -> str:
    """Return the title of the book."""
    return str(yaml.safe_load((book / "_config.yml").read_text(encoding="utf-8"))["title"])
