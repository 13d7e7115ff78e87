"""A learner works with exercises.zip, as the site serves it, and a Python of one's own."""

import hashlib
import json
import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from importlib.metadata import PackageNotFoundError, requires
from itertools import dropwhile
from pathlib import Path

import nbformat
import pytest
from learner import PASSED, answered, parts
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from repository import ROOT
from submissions import Submission

import rooflib
from grading.release import exercises

NAME = "int8-weights"
PAGE = "chapters/learners.html"
LINK = re.compile(r'href="([^"]*/exercises\.zip)"')
OURS = ("rooflib", "roofkit")
HAN = re.compile("[\u4e00-\u9fff]")
CODE = re.compile(r"```\w*\n(.*?)```", re.DOTALL)
ENTRY = re.compile(r"^([\w.-]+)(?:\[([\w,-]+)\])?==", re.MULTILINE)


def linked(page: Path) -> Path:
    """Return the archive to which a page of the site leads."""
    (target,) = set(LINK.findall(page.read_text(encoding="utf-8")))
    return page.parent / target


@pytest.fixture(scope="module")
def unpacked(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unpacked here")
    with zipfile.ZipFile(linked(site / PAGE)) as files:
        files.extractall(folder)
    return folder / "exercises"


@pytest.fixture(scope="module")
def own_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a Python that has pip and every installed package but the course's own."""
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


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    given = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    given |= {"PIP_NO_INDEX": "1", "PIP_NO_CACHE_DIR": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    return subprocess.run(
        command, cwd=folder, env=given, capture_output=True, text=True, check=False
    )


def cells(notebook: Path) -> list[str]:
    book = json.loads(notebook.read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "code"]


def commands(readme: Path) -> list[str]:
    """Return the lines to run on Linux: the first block of code."""
    return CODE.findall(readme.read_text(encoding="utf-8"))[0].splitlines()


def test_the_archive_has_every_exercise_and_what_its_readme_names(
    site: Path, unpacked: Path
) -> None:
    found = {path.name for path in unpacked.iterdir()}
    assert set(exercises.names()) <= found
    readme = (unpacked / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"^- `([\w./-]+)`: ", readme, re.MULTILINE)
    assert named
    assert {name.strip("/") for name in named} <= found
    make, install, start = commands(unpacked / "README.md")
    assert "-m venv" in make
    assert install.endswith("-r requirements.txt")
    assert start.endswith("jupyter lab")
    # The environment that a line makes is the one whose programs the next lines run.
    made = re.findall(r"-m venv (\S+)$", readme, re.MULTILINE)
    assert made == re.findall(r"^(\S+?)[/\\]\w+[/\\]pip ", readme, re.MULTILINE)
    assert made == re.findall(r"^(\S+?)[/\\]\w+[/\\]jupyter ", readme, re.MULTILINE)
    installed = (unpacked / "requirements.txt").read_text(encoding="utf-8")
    for package in ("jupyterlab", "nbgrader", "anywidget", "matplotlib"):
        assert re.search(rf"^{package}==", installed, re.MULTILINE), package
    wheels = [*(unpacked / "wheels").glob("*.whl")]
    # A notebook alone gets them from the site.
    index = (site / "wheels" / "index.html").read_text(encoding="utf-8")
    for wheel in wheels:
        assert (site / "wheels" / wheel.name).read_bytes() == wheel.read_bytes()
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        assert f'href="{wheel.name}#sha256={digest}"' in index
    packed = {name for wheel in wheels for name in zipfile.ZipFile(wheel).namelist()}
    ours = run(["git", "ls-files", "rooflib", "kit/roof*", ":!*.md"], ROOT).stdout.splitlines()
    assert {name.removeprefix("kit/") for name in ours} - packed == set()
    for name in exercises.names():
        nbformat.validate(nbformat.read(unpacked / name / f"{name}.ipynb", as_version=4))


def test_the_chinese_archive_has_the_same_in_chinese(
    site: Path, unpacked: Path, own_python: Path, tmp_path: Path
) -> None:
    with zipfile.ZipFile(linked(site / "zh" / PAGE)) as files:
        names = files.namelist()
        readme = files.read("exercises/README.md").decode()
        for name in exercises.names():
            book = json.loads(files.read(f"exercises/{name}/{name}.ipynb"))
            assert HAN.search("".join(book["cells"][0]["source"]))
        alone = Path(files.extract(f"exercises/{NAME}/{NAME}.ipynb", tmp_path))
    assert {name.removeprefix("exercises/") for name in names if not name.endswith("/")} == {
        path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()
    }
    english = (unpacked / "README.md").read_text(encoding="utf-8")
    assert HAN.search(readme)
    assert CODE.findall(readme) == CODE.findall(english)
    # It says in Chinese what to download.
    lines = run([str(own_python), "-c", cells(alone)[0]], tmp_path).stderr.splitlines()
    told = [*dropwhile(lambda line: not HAN.search(line), lines)]
    assert [line for line in told if not (HAN.search(line) or line.endswith(".whl"))] == []
    assert len(told) > len(OURS)


def test_the_oldest_pip_finds_the_extras_that_packages_ask_for(unpacked: Path) -> None:
    """Before pip 23.3, `name==1` with a hash did not do for a package that needs `name[extra]`.

    Python 3.11 brings such a pip.
    """
    text = (unpacked / "requirements.txt").read_text(encoding="utf-8")
    pinned = {
        canonicalize_name(name): set(extras.split(",")) - {""}
        for name, extras in ENTRY.findall(text)
    }
    missing = []
    for name, extras in pinned.items():
        try:
            needed = [Requirement(line) for line in requires(name) or ()]
        except PackageNotFoundError:  # of another system
            continue
        for one in needed:
            if one.marker and not any(one.marker.evaluate({"extra": e}) for e in (*extras, "")):
                continue
            lacking = one.extras - pinned.get(canonicalize_name(one.name), set())
            missing += [f"{name} needs {one.name}[{extra}]" for extra in lacking]
    assert missing == []


@pytest.mark.parametrize(
    ("folder", "editor"),
    [
        (NAME, "jupyter"),
        pytest.param("elsewhere", "vs code", marks=pytest.mark.long),
        pytest.param(".", "jupyter", marks=pytest.mark.long),
    ],
)
def test_the_first_cell_installs_the_packages_and_the_checks_work(
    site: Path, unpacked: Path, own_python: Path, folder: str, editor: str, tmp_path: Path
) -> None:
    """A finished notebook runs; nothing comes from this repository."""
    place = unpacked / folder
    place.mkdir(exist_ok=True)
    imported = [str(own_python), "-c", "import rooflib"]
    assert run(imported, unpacked).returncode != 0
    notebook = unpacked / NAME / f"{NAME}.ipynb"
    known = f"__vsc_ipynb_file__ = {str(notebook)!r}\n" if editor == "vs code" else ""
    first = run([str(own_python), "-c", known + cells(notebook)[0]], place)
    assert (first.returncode, first.stderr) == (0, "")
    mine = answered(Submission(NAME, "reference", "", {}))
    nbformat.write(mine, tmp_path / "mine.ipynb")
    code = "\n\n".join(cells(tmp_path / "mine.ipynb")) + "\nimport roofkit.figures, rooflib"
    code += "\nprint(len(rooflib.chips()), rooflib.__file__)"
    done = run([str(own_python), "-c", code], tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(PASSED) == len(parts(NAME))
    assert str(own_python.parents[1]) in done.stdout.splitlines()[-1]
    both = [notebook.name, str(tmp_path / "mine.ipynb")]
    said = run([str(own_python), "-m", "nbgrader", "validate", *both], notebook.parent)
    assert said.returncode == 1, said.stderr
    assert said.stdout.count("still to be written") == len(parts(NAME))
    # A notebook that was made with newer packages names the line that updates each.
    translated = tmp_path / "translated.ipynb"
    with zipfile.ZipFile(linked(site / "zh" / PAGE)) as files:
        translated.write_bytes(files.read(f"exercises/{NAME}/{NAME}.ipynb"))
    for book in (notebook, translated):
        newer = re.sub(r"'\d+\.\d+[\w.]*'", "'99.0'", cells(book)[0])
        printed = run([str(own_python), "-c", newer], tmp_path).stdout
        for name in OURS:
            assert re.search(rf"%pip install --upgrade --no-deps \S*{name}-99\.0\S*\.whl", printed)
            # What is installed is named with its own version.
            assert re.search(rf"{name} {re.escape(rooflib.__version__)}\b", printed)
            assert f"{name} 99.0" not in printed
    removed = run([str(own_python), "-m", "pip", "uninstall", "--yes", *OURS], tmp_path)
    assert removed.returncode == 0


def test_a_notebook_outside_of_the_archive_says_what_to_download(
    unpacked: Path, own_python: Path, tmp_path: Path
) -> None:
    source = cells(unpacked / NAME / f"{NAME}.ipynb")[0]
    done = run([str(own_python), "-c", source], tmp_path)
    assert done.returncode != 0
    said = done.stderr.split("ImportError")[-1]
    assert "Download" in said
    assert all(f"{name}-" in said for name in OURS)


@pytest.mark.long
def test_the_lines_of_the_readme_install_everything_and_validate_works(unpacked: Path) -> None:
    """The first pip is the one that this Python brings; everything is downloaded."""
    make, install, start = commands(unpacked / "README.md")
    for line in (make, install):
        done = subprocess.run(
            line, shell=True, cwd=unpacked, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr[-2000:]
    version = subprocess.run([*start.split(), "--version"], cwd=unpacked, check=False)
    assert version.returncode == 0
    book = answered(Submission(NAME, "reference", "", {}))
    nbformat.write(book, unpacked / NAME / f"{NAME}.ipynb")
    validate = unpacked / "venv" / "bin" / "jupyter-nbconvert"
    command = [str(validate), "--to", "notebook", "--execute", "--stdout", f"{NAME}.ipynb"]
    done = subprocess.run(command, cwd=unpacked / NAME, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.count('"state": "right"') == len(parts(NAME))
    assert sys.prefix not in done.stdout
