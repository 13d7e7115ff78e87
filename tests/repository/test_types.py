"""Tests that mypy accepts our code; a test, so that other tests run meanwhile."""

import subprocess
import sys
from pathlib import Path

from repository import ROOT

MYPY = [str(Path(sys.executable).with_name("mypy")), "--no-color-output"]


def test_mypy_finds_nothing() -> None:
    done = subprocess.run(MYPY, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no issues found" in done.stdout


def test_mypy_would_find_a_wrong_type(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import rooflib as rl\n\nname: str = rl.chip('TPU v5e').bandwidth\n")
    done = subprocess.run([*MYPY, str(wrong)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    assert "Incompatible types in assignment" in done.stdout
