"""Pages of exercises in MyST, made of the exercises' files.

An exercise is one file, exercises/<name>.py, a notebook in the percent format. Its cells called
"page" are what its page says; `grading.release.exercises` says what the others are.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from nbformat import NotebookNode

from roofkit.texts import with_docstrings

FOLDER = "exercises"
MISTAKES = Path(FOLDER, "misconceptions.toml")
SHARED = "every-notebook.md"  # texts of all exercises' notebooks
POINTS = re.compile(r"\s*[(\uff08][^()\uff08\uff09]*[)\uff09]$")  # at the end of a part's heading
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

{solutions}
"""


def files(book: Path) -> list[Path]:
    """Return the files of a book's exercises."""
    return sorted((book / FOLDER).glob("*.py"))


def markdown_of(file: Path) -> str:
    """Return a page's MyST; of an exercise, the page that its file describes."""
    return page(file) if file.suffix == ".py" else file.read_text(encoding="utf-8")


def page(file: Path) -> str:
    """Return the page that an exercise's file describes."""
    notebook = read(file)
    return PAGE.format(
        **facts(notebook),
        name=file.stem,
        code="\n\n".join(cells(notebook, "code", "given", "page")),
        text="\n\n".join(cells(notebook, "markdown", "page")),
        solutions=worked(notebook) if os.environ.get("SOLUTIONS") else "",
    )


def worked(notebook: NotebookNode, _: Callable[[str], str] = str) -> str:
    """Return each part's reference solution as Markdown, under its heading without the points."""
    title = _("Worked solution")
    found, heading = [f"## {title}"], ""
    for cell in notebook.cells:
        if is_of(cell, "markdown", "") and cell.source.startswith("## "):
            said = _(cell.source.splitlines()[0].removeprefix("## "))
            heading = f"### {POINTS.sub('', said)}"
        elif is_of(cell, "code", ""):
            found += [heading, f"```python\n{with_docstrings(cell.source, _)}\n```"]
    return "\n\n".join(found)


def top(file: Path) -> str:
    """Return the lines at the top of an exercise's file: its facts, and no solution."""
    _, lines, _ = file.read_text(encoding="utf-8").split("# ---\n", 2)
    return f"# ---\n{lines}# ---\n"


def facts(notebook: NotebookNode) -> dict[str, Any]:
    """Return what stands at the top of an exercise's file: title, minutes and so on."""
    found: dict[str, Any] = yaml.safe_load(notebook.cells[0].source.strip("-\n"))
    return found


def texts(notebook: NotebookNode) -> list[str]:
    """Return the texts of an exercise's own notebook, without those of all notebooks."""
    return [f"# {facts(notebook)['title']}", *cells(notebook, "markdown", "", "next")]


def closing(notebook: NotebookNode) -> list[str]:
    """Return what an exercise shows and what to compare with its last question."""
    return [" ".join(text.split()) for text in cells(notebook, "markdown", "moral", "thoughts")]


def read(file: Path) -> NotebookNode:
    """Read an exercise's file; its first cell is what stands at the top."""
    import jupytext  # late, since a build that finds nothing to do needs no exercise

    found: NotebookNode = jupytext.read(file, fmt="py:percent")
    return found


def cells(notebook: NotebookNode, kind: str, *titles: str) -> list[str]:
    """Return the sources of the cells that have one of these titles, "" for none."""
    return [cell.source for cell in notebook.cells if is_of(cell, kind, *titles)]


def is_of(cell: NotebookNode, kind: str, *titles: str) -> bool:
    return cell.cell_type == kind and cell.metadata.get("title", "") in titles
