"""Pages of exercises in MyST, made of the exercises' files.

An exercise is one file, exercises/<name>.py, a notebook in the percent format. Its cells called
"page" are what its page says; `grading.release.exercises` says what the others are.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from nbformat import NotebookNode

FOLDER = "exercises"
MISTAKES = Path(FOLDER, "misconceptions.toml")
SHARED = "every-notebook.md"  # texts of all exercises' notebooks
PAGE = """\
---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
    format_version: 0.13
kernelspec:
  display_name: Python 3
  language: python
  name: python3
myst:
  html_meta:
    description: "{description}"
---

(exercise-{name})=
# {title}

```{{code-cell}} ipython3
:tags: [remove-cell]

import rooflib as rl
from roofkit.exercise_facts import facts

known = facts("{name}")

{code}
```

**Effort:** {{eval}}`known.effort`. **Read first:** {{ref}}`chapter-{read_first}`.

{text}

## Work on it

The notebook: {{download}}`{name}.ipynb <../_build/course/release/{name}/{name}.ipynb>`.
It asks for one function per part, and checks each one as you work.
{{doc}}`../chapters/learners` explains how to open it, check it and hand it in.

```{{include}} ../_build/solutions/{name}.md
```
"""


def files(book: Path) -> list[Path]:
    """Return the files of a book's exercises."""
    return sorted((book / FOLDER).glob("*.py"))


def markdown_of(file: Path) -> str:
    """Return a page's MyST; of an exercise, the page that its file describes."""
    text = file.read_text(encoding="utf-8")
    return page(file.stem, text) if file.suffix == ".py" else text


def page(name: str, text: str) -> str:
    """Return the page of an exercise, whose file has this text."""
    notebook = read(text)
    code = [cell.source for cell in notebook.cells if is_of(cell, "code", "given", "page")]
    said = [cell.source for cell in notebook.cells if is_of(cell, "markdown", "page")]
    values = {"name": name, "code": "\n\n".join(code), "text": "\n\n".join(said)}
    return PAGE.format(**values, **facts(notebook))


def top(file: Path) -> str:
    """Return the lines at the top of an exercise's file: its facts, and no solution."""
    _, lines, _ = file.read_text(encoding="utf-8").split("# ---\n", 2)
    return f"# ---\n{lines}# ---\n"


def facts(notebook: NotebookNode) -> dict[str, Any]:
    """Return what stands at the top of an exercise's file: title, minutes and so on."""
    found: dict[str, Any] = yaml.safe_load(notebook.cells[0].source.strip("-\n"))
    return found


def texts(file: Path) -> Iterator[str]:
    """Yield the texts of an exercise's own notebook, without those of all notebooks."""
    notebook = read(file.read_text(encoding="utf-8"))
    yield f"# {facts(notebook)['title']}"
    yield from (cell.source for cell in notebook.cells if is_of(cell, "markdown", "", "next"))


def closing(file: Path) -> Iterator[str]:
    """Yield what an exercise shows and what to compare with its last question."""
    notebook = read(file.read_text(encoding="utf-8"))
    for cell in notebook.cells:
        if is_of(cell, "markdown", "moral", "thoughts"):
            yield " ".join(cell.source.split())


def solutions(file: Path) -> Iterator[tuple[str, str]]:
    """Yield the heading of each part and its reference solution."""
    heading = ""
    for cell in read(file.read_text(encoding="utf-8")).cells:
        if is_of(cell, "markdown", "") and cell.source.startswith("## "):
            heading = cell.source.splitlines()[0].removeprefix("## ")
        elif is_of(cell, "code", ""):
            yield heading, cell.source


def given(file: Path) -> Iterator[str]:
    """Yield the code that an exercise's notebook gives."""
    notebook = read(file.read_text(encoding="utf-8"))
    yield from (cell.source for cell in notebook.cells if is_of(cell, "code", "given"))


def read(text: str) -> NotebookNode:
    """Read an exercise's file; its first cell is what stands at the top."""
    import jupytext  # late, since a build that finds nothing to do needs no exercise

    found: NotebookNode = jupytext.reads(text, fmt="py:percent")
    return found


def is_of(cell: NotebookNode, kind: str, *titles: str) -> bool:
    return cell.cell_type == kind and cell.metadata.get("title", "") in titles
