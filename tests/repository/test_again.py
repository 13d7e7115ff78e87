"""Tests of the second run of failed files: passing then counts."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from repository import ROOT

GOOD, BAD = "def test_it():\n    pass\n", "def test_it():\n    assert False\n"


def again(folder: Path, files: dict[str, str], status: int) -> int:
    """Return the status after a first run in which each of these files failed."""
    tests, cache = folder / "tests", folder / ".pytest_cache" / "v" / "cache"
    for place in (tests, cache):
        place.mkdir(parents=True)
    shutil.copy(ROOT / "tests" / "again.py", tests)
    for name, code in files.items():
        (tests / name).write_text(code, encoding="utf-8")
    failed = {f"tests/{name}::test_it": True for name in files}
    (cache / "lastfailed").write_text(json.dumps(failed), encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    command = [sys.executable, str(tests / "again.py"), str(status)]
    return subprocess.run(command, capture_output=True, check=False).returncode


@pytest.mark.parametrize(
    ("codes", "status", "expected"),
    [
        pytest.param([GOOD], 1, 0, marks=pytest.mark.long),
        ([GOOD, BAD], 1, 1),
        pytest.param([GOOD] * 4, 1, 1, marks=pytest.mark.long),  # many failures have a common cause
        ([GOOD], 2, 2),  # interrupted: not all tests ran
    ],
)
def test_failures_are_ignored_if_the_tests_pass_alone(
    tmp_path: Path, codes: list[str], status: int, expected: int
) -> None:
    files = {f"test_{number}.py": code for number, code in enumerate(codes)}
    assert again(tmp_path, files, status) == expected
