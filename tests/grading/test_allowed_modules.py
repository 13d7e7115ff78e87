"""Tests of packages that an instructor allows, installed from local wheels."""

import csv
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy
import pytest
from classroom import Classroom, done, points
from repository import ROOT

from grading import allowed_modules
from grading.__main__ import main
from grading.allowed_modules import CannotAllow, allow, modules_folder
from grading.records import results
from grading.sandbox import modules
from grading.sandbox.modules import is_installed

NAME = "int8-weights"
MODULE = "made_up_tables"
SAID = f"{MODULE} is not installed where notebooks are graded."


@pytest.fixture
def wheels(tmp_path, monkeypatch):
    """Make pip install from a folder with two wheels instead of an index."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    wheel(folder, "made-up-tables", MODULE, "def same(value):\n    return value\n")
    wheel(folder, "numpy-2", "numpy", "raise RuntimeError\n")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    yield folder
    modules.use("")


def wheel(folder, package, module, source):
    name, version = package.replace("-", "_"), "1.0"
    about = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as file:
        file.writestr(f"{module}/__init__.py", source)
        file.writestr(
            f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n"
        )
        file.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        file.writestr(f"{about}/RECORD", "")


def using_module(room):
    notebook = room.solved(NAME)
    for one in notebook.cells:
        if one.metadata.get("nbgrader", {}).get("solution"):
            one.source = re.sub(r"return (.*)", r"return made_up_tables.same(\1)", one.source)
            one.source = f"import {MODULE}\n{one.source}"
    return notebook


def grade(room, *words):
    return subprocess.run(
        [sys.executable, "-m", "grading", "grade", room.folder, "--workers", "1", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def table(room):
    with (room.folder / "parts.csv").open(encoding="utf-8") as file:
        return {
            row["part"]: (float(row["points"]), row["cause"])
            for row in csv.DictReader(file)
            if row["assignment"] == NAME and row["student"] == "ada"
        }


@pytest.mark.long
def test_allowing_a_missing_module_triggers_regrading(tmp_path, release, wheels):
    room = Classroom(tmp_path / "course", release)
    room.hand_in("ada", NAME, using_module(room))
    room.hand_in("bob", NAME, room.solved(NAME))
    main(["grade", str(room.folder), "--workers", "1"])
    assert table(room) == dict.fromkeys(points(NAME), (0, f"not installed: {MODULE}"))
    page = room.course.feedback("ada", NAME).read_text(encoding="utf-8")
    assert page.count(SAID) == len(points(NAME))
    allowed = grade(room, "--allow", "made-up-tables")
    done(allowed)
    assert allowed.stdout.splitlines()[:2] == [
        "allowed in notebooks: made-up-tables",
        "1 graded; the others have not changed since they were graded",
    ]
    assert table(room) == {key: (most, "") for key, most in points(NAME).items()}
    assert SAID not in room.course.feedback("ada", NAME).read_text(encoding="utf-8")


@pytest.mark.long
def test_allowed_modules_work_without_a_sandbox_and_with_nbgrader(tmp_path, release, wheels):
    room = Classroom(tmp_path / "course", release)
    room.hand_in("ada", NAME, using_module(room))
    allow(room.folder, ["made-up-tables"])
    for words in ([], ["--unsafe", "--again", "ada"]):
        done(grade(room, *words))
        assert table(room) == {key: (most, "") for key, most in points(NAME).items()}
    assert "\n0 graded" in f"\n{grade(room).stdout}", "it stays allowed, and nothing has changed"
    done(room.nbgrader("autograde", NAME, "--student", "ada", "--force"))
    done(room.nbgrader("generate_feedback", NAME, "--student", "ada", "--force"))
    assert SAID not in room.course.feedback("ada", NAME).read_text(encoding="utf-8")


def test_allowed_modules_count_as_installed_only_while_their_folder_is_used(tmp_path):
    folder = modules_folder(tmp_path)
    (folder / MODULE).mkdir(parents=True)
    modules.use(folder)
    assert is_installed(MODULE)
    modules.use("")
    assert not is_installed(MODULE)


def test_packages_are_installed_when_the_list_of_a_course_changes(tmp_path, monkeypatch):
    installed = []

    def install(packages, folder):
        installed.append(packages)
        folder.mkdir(exist_ok=True)

    monkeypatch.setattr(allowed_modules, "_install", install)
    for package in ("a", "b", "a"):
        allow(tmp_path, [package])
    assert installed == [["a"], ["a", "b"]]
    modules_folder(tmp_path).rmdir()
    allow(tmp_path, ["b"])
    assert installed == [["a"], ["a", "b"], ["a", "b"]]


class Pip:
    """Stand-in for pip: writes a module and a package; fails if given errors."""

    def __init__(self, monkeypatch, *errors):
        self.errors, self.command, self.status = errors, [], 0
        monkeypatch.setattr(subprocess, "run", self)

    def __call__(self, command, **options):
        self.command = command
        self.folder = self.after("--target")
        self.constraints = self.after("--constraint").read_text(encoding="utf-8")
        (self.folder / "package").mkdir(parents=True, mode=0o700)
        for file in (self.folder / "one.py", self.folder / "package" / "two.py"):
            file.touch(mode=0o600)
        return subprocess.CompletedProcess(command, len(self.errors), "", "\n".join(self.errors))

    def after(self, option):
        return Path(self.command[self.command.index(option) + 1])


def test_installed_packages_are_readable_by_the_user_that_sandboxes_run_as(tmp_path, monkeypatch):
    """Check file modes: sandboxes read modules as another user; the rest is private."""
    pip = Pip(monkeypatch)
    allow(tmp_path, ["one", "two"])
    folder = modules_folder(tmp_path)
    modes = {path.name: path.stat().st_mode & 0o7777 for path in (folder, *folder.rglob("*"))}
    assert modes == {"modules": 0o755, "package": 0o755, "one.py": 0o644, "two.py": 0o644}
    assert folder.parent.stat().st_mode & 0o7777 == 0o700
    assert pip.command[:4] == [sys.executable, "-m", "pip", "install"]
    assert pip.command[-3:] == ["--", "one", "two"]
    assert pip.after("--only-binary") == Path(":all:")
    assert f"numpy=={numpy.__version__}" in pip.constraints.splitlines()
    assert pip.folder.is_relative_to(folder.parent), "a file system that the course is not on"
    monkeypatch.setattr(subprocess, "run", Pip(monkeypatch))
    allow(tmp_path, ["three"])
    assert sorted(one.name for one in folder.parent.iterdir()) == ["allowed.txt", "lock", "modules"]


@pytest.mark.parametrize(
    ("errors", "why"),
    [
        (["WARNING: x", "ERROR: first", "ERROR: last", "more of it"], "last"),
        (["first", "last", " ", ""], "last"),
        ([""], "pip said nothing"),
    ],
)
def test_pips_last_error_says_why_nothing_was_installed(tmp_path, monkeypatch, errors, why):
    Pip(monkeypatch, *errors)
    with pytest.raises(CannotAllow, match=rf"^one, two could not be installed: {why}$"):
        allow(tmp_path, ["one", "two"])
    assert not modules_folder(tmp_path).exists()
    assert not (modules_folder(tmp_path).parent / "allowed.txt").exists()


def test_nothing_is_installed_while_the_course_is_graded(tmp_path, monkeypatch):
    monkeypatch.setattr(allowed_modules, "_install", lambda *_: pytest.fail("it was installed"))
    folder = modules_folder(tmp_path).parent
    folder.mkdir()
    with results.lock(folder / "lock"), pytest.raises(CannotAllow, match="is being graded"):
        allow(tmp_path, ["one"])


@pytest.mark.long
def test_allowing_more_packages_keeps_earlier_ones(tmp_path, wheels, monkeypatch):
    assert allow(tmp_path, ["numpy-2"]) == ["allowed in notebooks: numpy-2"]
    both = ["allowed in notebooks: numpy-2, made-up-tables"]
    assert allow(tmp_path, ["made-up-tables"]) == both
    folder = modules_folder(tmp_path)
    assert (folder / MODULE).is_dir()
    assert (folder / "numpy").is_dir()
    assert sorted(one.name for one in folder.parent.iterdir()) == ["allowed.txt", "lock", "modules"]
    monkeypatch.setenv("PIP_FIND_LINKS", "/nowhere")
    assert allow(tmp_path, ["numpy-2"]) == both, "nothing is left to install"


@pytest.mark.long
def test_a_failed_installation_changes_nothing(tmp_path, wheels):
    allow(tmp_path, ["made-up-tables"])
    with pytest.raises(CannotAllow, match=r"no-such-package could not be installed: .*no-such"):
        allow(tmp_path, ["no-such-package"])
    assert (modules_folder(tmp_path) / MODULE).is_dir()
    assert allow(tmp_path, ["made-up-tables"]) == ["allowed in notebooks: made-up-tables"]


@pytest.mark.parametrize(
    "package",
    ["--no-binary=x", "./folder", "/tmp/x.whl", "a b", "x @ file:///x", "", "x\ny", "a;b"],
)
def test_only_package_names_reach_pip(tmp_path, package, monkeypatch):
    monkeypatch.setattr(allowed_modules, "_install", lambda *_: pytest.fail("it was installed"))
    with pytest.raises(CannotAllow, match="not the name of a package"):
        allow(tmp_path, [package])


@pytest.mark.parametrize("package", ["pandas", "pandas==2.2.*", "x[one,two]>=1, <2", "a.b-c~=1.0"])
def test_an_allowed_package_may_have_version_constraints(tmp_path, package, monkeypatch):
    monkeypatch.setattr(allowed_modules, "_install", lambda wanted, _: Path(wanted[0]))
    assert allow(tmp_path, [package]) == [f"allowed in notebooks: {package}"]


def test_allowing_packages_does_not_create_a_missing_course(tmp_path):
    with pytest.raises(CannotAllow, match="is missing"):
        allow(tmp_path / "typo", ["pandas"])
    assert list(tmp_path.iterdir()) == []


def test_grade_refuses_an_invalid_package_name(tmp_path):
    with pytest.raises(SystemExit, match="a b: not the name of a package"):
        main(["grade", str(tmp_path), "--allow", "a b"])
