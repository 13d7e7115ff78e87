"""Tests of a notebook that installs rooflib and roofkit where they are missing.

The kernel sees the packages of this environment but not ours. pip installs into an empty folder on
the kernel's path, so nothing is downloaded and no environment has to be created.
"""

import json
import shutil
import sys
import sysconfig
from pathlib import Path

import nbformat
import pytest
from book_extension import opening_cell
from classroom import functions
from nbclient import NotebookClient
from nbformat import NotebookNode
from site_server import serving
from submissions import Submission, hand_in

from grading.release import exercises, opening

# Starts a kernel without our editable installs: with `-S`, Python doesn't read their .pth files.
KERNEL = """\
import sys
sys.path[1:1] = [{installed!r}, *{packages!r}]
from ipykernel.kernelapp import launch_new_instance
launch_new_instance()
"""
PAGE = """\
import rooflib as rl
from rooflib import plots
from roofkit import figures

figure = figures.time()
print(rl.chip("TPU v5e").name)
"""


@pytest.fixture(scope="module")
def served(packages: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a site with nothing but the wheels."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(packages, folder / "wheels")
    return folder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create the notebook's folder, and install a kernel named "alone"."""
    installed = tmp_path / "installed"
    packages = sorted({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})
    start = tmp_path / "start.py"
    start.write_text(KERNEL.format(installed=str(installed), packages=packages))
    kernel = tmp_path / "jupyter" / "kernels" / "alone"
    kernel.mkdir(parents=True)
    argv = [sys.executable, "-E", "-S", str(start), "-f", "{connection_file}"]
    (kernel / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "alone"}))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    for name, value in {
        "TARGET": str(installed),
        "NO_DEPS": "1",
        "NO_INDEX": "1",
        "NO_CACHE_DIR": "1",
    }.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    (tmp_path / "notebook").mkdir()
    return tmp_path / "notebook"


def ran(notebook: NotebookNode, folder: Path) -> NotebookNode:
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(
        notebook, kernel_name="alone", resources=resources, timeout=120, allow_errors=True
    ).execute()
    return notebook


def code(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def said(cell: NotebookNode) -> str:
    """Return the text that a cell prints, or its traceback."""
    return "".join(o.get("text") or "\n".join(o.get("traceback", [])) for o in cell.outputs)


def errors(notebook: NotebookNode) -> list[str]:
    outputs = [output for cell in code(notebook) for output in cell.outputs]
    return [output.evalue for output in outputs if output.output_type == "error"]


def exercise(release: Path, name: str, site: str = "") -> NotebookNode:
    """Return an exercise's released notebook, filled in with right answers.

    `site` is the address of the course's site.
    """
    notebook = nbformat.read(release / "release" / name / f"{name}.ipynb", as_version=4)
    mine = Submission(name, "reference", "", {})
    notebook = hand_in(mine, notebook, exercises.source(name), functions(name))
    code(notebook)[0].source = opening.source(site)
    return notebook


NAMES = exercises.names()
ONE = "h100-spec-sheet"  # an exercise that imports rooflib and roofkit
QUICK = [ONE, *(pytest.param(n, marks=pytest.mark.long) for n in NAMES if n != ONE)]


@pytest.mark.parametrize("name", QUICK)
def test_an_exercise_installs_the_wheels_next_to_it(
    release: Path, served: Path, folder: Path, name: str
) -> None:
    for wheel in (served / "wheels").glob("*.whl"):
        (folder / wheel.name).write_bytes(wheel.read_bytes())
    notebook = ran(exercise(release, name), folder)
    assert errors(notebook) == []
    assert said(code(notebook)[0]).splitlines()[-1] == "Both are installed."
    # The last check has passed, so it mentions the hidden cases.
    assert "with others, not shown here" in " ".join(said(code(notebook)[-1]).split())
    again = ran(exercise(release, name), folder)
    assert (errors(again), said(code(again)[0])) == ([], "")


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.long) for name in NAMES])
def test_an_exercise_installs_the_wheels_from_the_site(
    release: Path, served: Path, folder: Path, name: str
) -> None:
    with serving(served) as server:
        notebook = ran(exercise(release, name, server.origin), folder)
        asked = {answer.path for answer in server.sent}
    assert errors(notebook) == []
    assert asked == {f"/wheels/{wheel.name}" for wheel in (served / "wheels").glob("*.whl")}


@pytest.mark.long
def test_a_page_installs_the_wheels_from_the_site(served: Path, folder: Path) -> None:
    with serving(served) as server:
        first = opening_cell.source(PAGE, server.origin)
        cells = [nbformat.v4.new_code_cell(source) for source in (first, PAGE)]
        notebook = ran(nbformat.v4.new_notebook(cells=cells), folder)
    assert errors(notebook) == []
    assert said(cells[1]) == "TPU v5e\n"


def test_a_notebook_that_cannot_install_says_so_in_its_first_cell(
    release: Path, folder: Path
) -> None:
    notebook = ran(exercise(release, ONE), folder)
    words = said(code(notebook)[0])
    assert words.startswith("No module named 'rooflib'. This notebook needs two packages")
    assert str(folder) in words
    assert "Traceback" not in words


@pytest.mark.long
def test_a_failed_installation_shows_the_address_and_pips_message(
    release: Path, folder: Path
) -> None:
    with serving(folder) as server:
        notebook = ran(exercise(release, ONE, server.origin), folder)
    words = said(code(notebook)[0])
    assert f"Installing {server.origin}/wheels/rooflib-" in words
    assert "They could not be installed. pip said:" in words
    assert "404" in words
