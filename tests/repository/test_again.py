"""Tests of again.py, which reruns failed test files and ignores one-off failures."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from repository import ROOT

GOOD, BAD = "def test_it():\n    pass\n", "def test_it():\n    assert False\n"


def again(folder: Path, files: dict[str, str], status: int) -> int:
    """Run again.py after a run in which all these files failed; return its status."""
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
        pytest.param(
            [GOOD] * 4, 1, 1, marks=pytest.mark.long
        ),  # too many files: assume a common cause
        ([GOOD], 2, 2),  # interrupted: not all tests ran
    ],
)
def test_failures_of_a_few_files_are_ignored_if_the_files_pass_alone(
    tmp_path: Path, codes: list[str], status: int, expected: int
) -> None:
    files = {f"test_{number}.py": code for number, code in enumerate(codes)}
    assert again(tmp_path, files, status) == expected
