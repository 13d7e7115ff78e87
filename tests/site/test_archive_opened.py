"""Tests of exercises.zip for learners with their own Python.

They check what a notebook's first cell finds. Each notebook's first cell is run in an environment
with pip, numpy and matplotlib, in which the course's two packages are missing and no index can be
asked.
"""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands.handouts import bundle
from repository import ROOT

OURS = ("rooflib", "roofkit")
NAME = "int8-matmul"
IMPORTED = "import roofkit.check, rooflib; print(rooflib.__file__)"


@pytest.fixture(scope="module")
def unpacked(release: Path, packages: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpack the archive into a folder, which then contains `exercises`."""
    folder = tmp_path_factory.mktemp("unpacked here")
    ours = sorted(packages.glob("*.whl"))
    bundle.write(ROOT, release / "release", ours, folder / "exercises.zip")
    with zipfile.ZipFile(folder / "exercises.zip") as files:
        files.extractall(folder)
    return folder


@pytest.fixture(scope="module")
def own_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create an environment with all installed packages but the course's own.

    pip is among them.
    """
    folder = tmp_path_factory.mktemp("own")
    others = folder / "others"
    others.mkdir()
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if not any(name in path.name for name in (*OURS, "__editable__", "distutils-precedence")):
            (others / path.name).symlink_to(path)
    venv.create(folder / "venv", symlinks=True)
    (site,) = (folder / "venv" / "lib").glob("python*/site-packages")
    (site / "others.pth").write_text(f"{others}\n")
    return folder / "venv" / "bin" / "python"


@pytest.fixture
def empty_python(own_python: Path) -> Iterator[Path]:
    yield own_python
    run(own_python, ROOT / "tests", "-m", "pip", "uninstall", "--yes", *OURS)


def run(python: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    given = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    given |= {"PIP_NO_INDEX": "1", "PIP_NO_CACHE_DIR": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    command = [str(python), *words]
    return subprocess.run(
        command, cwd=folder, env=given, capture_output=True, text=True, check=False
    )


def first_cell(notebook: Path) -> str:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return "".join(next(cell for cell in cells if cell["cell_type"] == "code")["source"])


@pytest.mark.long
@pytest.mark.parametrize(
    ("folder", "editor"),
    [
        (f"exercises/{NAME}", "jupyter"),
        (f"exercises/{NAME}", "vs code"),
        ("exercises", "jupyter"),
        ("exercises", "vs code"),
        (".", "jupyter"),
        ("elsewhere", "vs code"),
    ],
)
def test_the_first_cell_finds_the_wheels_from_any_folder(
    unpacked: Path, empty_python: Path, folder: str, editor: str
) -> None:
    """The kernel may start in the notebook's folder, above it, or in a workspace."""
    notebook = unpacked / "exercises" / NAME / f"{NAME}.ipynb"
    place = unpacked / folder
    place.mkdir(exist_ok=True)
    before = run(empty_python, unpacked, "-c", IMPORTED)
    assert "ModuleNotFoundError" in before.stderr
    known = f"__vsc_ipynb_file__ = {str(notebook)!r}\n" if editor == "vs code" else ""
    done = run(empty_python, place, "-c", known + first_cell(notebook))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("Both are installed.\n")
    after = run(empty_python, unpacked, "-c", IMPORTED)
    assert Path(after.stdout.strip()).is_relative_to(Path(empty_python).parents[1]), after.stderr
    assert sys.prefix not in after.stdout


@pytest.mark.long
def test_a_notebook_outside_the_archive_says_what_to_download(
    unpacked: Path, own_python: Path, tmp_path: Path
) -> None:
    shutil.copy(unpacked / "exercises" / NAME / f"{NAME}.ipynb", tmp_path)
    done = run(own_python, tmp_path, "-c", first_cell(tmp_path / f"{NAME}.ipynb"))
    assert done.returncode == 1
    assert "This notebook needs two packages of the course." in done.stderr
