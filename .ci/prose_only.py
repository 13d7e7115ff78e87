#!/usr/bin/env python3
"""Check that only prose changed since a commit: `.ci/prose_only.py COMMIT`.

The exit status is 0 if only sentences of pages and slides, their translations, or entries of the
bibliography have changed: no file was added, removed or renamed, and code cells, computed values
and directives are unchanged. Such a change can be published once the book builds and `make
test-book` passes, which compares the parts of each translation with those of its source.
Everything else needs all tests.
"""

import re
import subprocess
import sys

PAGE = r"(?:(?:chapters|slides)/[^/]+|index)"
PROSE = re.compile(rf"{PAGE}\.md|locale/\w+/LC_MESSAGES/{PAGE}\.po|references\.bib")
# The rest of a page: directives such as code cells, computed values, the header, link targets.
NOT_PROSE = re.compile(
    r"^(?P<fence>`{3,}|:{3,})\{.*?^(?P=fence)$|\{(?:eval|while)\}`+[^`]*`+|\A---\n.*?^---$|^\(.*\)=$",
    re.DOTALL | re.MULTILINE,
)


def git(*words: str) -> str:
    done = subprocess.run(["git", *words], stdout=subprocess.PIPE, check=True, encoding="utf-8")
    return done.stdout


def unchanging(text: str) -> "list[str]":
    """Return the parts of a page that are not prose."""
    return [found.group(0) for found in NOT_PROSE.finditer(text)]


def is_prose_only(before: str) -> bool:
    """Return whether the changes from a commit to HEAD are only prose."""
    lines = git("diff", "--name-status", "--no-renames", before, "HEAD").splitlines()
    changes = [line.split("\t") for line in lines]
    if not changes or any(kind != "M" or not PROSE.fullmatch(path) for kind, path in changes):
        return False
    pages = [path for _, path in changes if path.endswith(".md")]
    return all(
        unchanging(git("show", f"{before}:{path}")) == unchanging(git("show", f"HEAD:{path}"))
        for path in pages
    )


def main() -> int:
    if len(sys.argv) != 2 or not re.fullmatch(r"[0-9a-f]{40}", sys.argv[1]):
        return 2  # no commit is given, as for a manual run
    try:
        return 0 if is_prose_only(sys.argv[1]) else 1
    except subprocess.CalledProcessError:
        return 2  # no such commit: forty zeros for a first push, or a force push removed it


if __name__ == "__main__":
    sys.exit(main())
