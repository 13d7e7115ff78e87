"""Tests that mypy accepts our code; run as a test, in parallel with the others."""

import subprocess
import sys
from pathlib import Path

from repository import ROOT

MYPY = [str(Path(sys.executable).with_name("mypy")), "--no-color-output"]


def test_mypy_finds_nothing() -> None:
    done = subprocess.run(MYPY, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no issues found" in done.stdout


def test_mypy_finds_a_planted_type_error(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import rooflib as rl\n\nname: str = rl.chip('TPU v5e').bandwidth\n")
    done = subprocess.run([*MYPY, str(wrong)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    assert "Incompatible types in assignment" in done.stdout
