"""Tests of .ci/prose_only.py, which detects changes that don't need all tests."""

import subprocess
from pathlib import Path

import pytest
from repository import ROOT

PAGE = """\
---
kernelspec: python3
---

(name)=
# Title

A sentence with {eval}`text(1)`.

```{code-cell}
x = 1
```
"""


NAMES = (
    *("chapters/page.md", "slides/deck.md", "references.bib", "rooflib/code.py"),
    *("locale/fr/LC_MESSAGES/chapters/page.po", "locale/fr/LC_MESSAGES/checks.po"),
)


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=tests", "-c", "user.email=tests@example.org"]
    command = ["git", *identity, *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """Return a repository with one commit: pages, translations and some code."""
    for name in NAMES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(PAGE)
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "first")
    return tmp_path


def is_prose_only(folder: Path) -> bool:
    """Commit all changes, and return the script's answer."""
    before = git(folder, "rev-parse", "HEAD")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "second")
    done = subprocess.run([ROOT / ".ci/prose_only.py", before], cwd=folder)
    assert done.returncode in (0, 1)
    return done.returncode == 0


@pytest.mark.parametrize(
    ("file", "before", "after", "prose_only"),
    [
        ("chapters/page.md", "A sentence", "Two sentences. One", True),
        ("chapters/page.md", "# Title", "# Another title", True),
        ("slides/deck.md", "A sentence", "Another sentence", True),
        ("references.bib", "A sentence", "Another source", True),
        ("locale/fr/LC_MESSAGES/chapters/page.po", "A sentence", "Une phrase", True),
        ("locale/fr/LC_MESSAGES/checks.po", "A sentence", "Une phrase", False),
        ("chapters/page.md", "x = 1", "x = 2", False),
        ("chapters/page.md", "text(1)", "text(2)", False),
        ("chapters/page.md", "kernelspec: python3", "kernelspec: other", False),
        ("chapters/page.md", "(name)=", "(other)=", False),
        ("chapters/page.md", "```{code-cell}\nx = 1\n```\n", "", False),
        ("rooflib/code.py", "A sentence", "Another", False),
    ],
)
def test_prose_and_code_changes_are_distinguished(
    history: Path, file: str, before: str, after: str, prose_only: bool
) -> None:
    text = (history / file).read_text()
    assert before in text
    (history / file).write_text(text.replace(before, after))
    assert is_prose_only(history) is prose_only


def test_a_change_of_prose_and_code_is_not_prose_only(history: Path) -> None:
    (history / "rooflib/code.py").write_text("x = 2\n")
    (history / "chapters/page.md").write_text(PAGE.replace("A sentence", "Another"))
    assert not is_prose_only(history)


def test_new_renamed_and_deleted_pages_are_not_prose_only(history: Path) -> None:
    (history / "chapters/new.md").write_text("# New\n")
    assert not is_prose_only(history)
    (history / "chapters/new.md").rename(history / "chapters/other.md")
    assert not is_prose_only(history)
    (history / "chapters/other.md").unlink()
    assert not is_prose_only(history)


@pytest.mark.parametrize("commit", ["", "0" * 40, "main; rm -r x"])
def test_an_invalid_commit_exits_with_2_so_that_all_tests_run(history: Path, commit: str) -> None:
    done = subprocess.run([ROOT / ".ci/prose_only.py", commit], cwd=history, capture_output=True)
    assert done.returncode == 2
