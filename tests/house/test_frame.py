"""README, Makefile, lock and CI agree, and a machine that lacks something is told so in a line."""

import os
import re
import shlex
import socket
import subprocess
import sys
import urllib.request
from importlib.metadata import packages_distributions
from pathlib import Path

import environment
import pytest
from packaging.requirements import Requirement
from repository import ROOT

from rooflib.__main__ import main


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


TARGETS = set(re.findall(r"^([\w-]+):", read("Makefile"), re.MULTILINE))
LOCKS = ("requirements", "requirements-cluster", "requirements-dev")
CHOSEN = [
    name
    for lock in LOCKS
    for name in re.findall(r"^([\w-]+)(?:\[\w+\])?(?:==\S+)?$", read(f"{lock}.in"), re.MULTILINE)
]


def test_readme_names_every_target_and_no_other() -> None:
    named = set(re.findall(r"\bmake ([\w-]+)", read("README.md").split("You need")[1]))
    named |= set(re.findall(r"^make ([\w-]+)", read("README.md"), re.MULTILINE))
    assert named - {"python3-venv"} == TARGETS - {"dev", "environment", "style", "system"}


def commands(target: str) -> list[str]:
    """What make would run for a target, in order."""
    options = ("--dry-run", "--always-make", "--no-print-directory")
    command = ["make", *options, target, "PYTHON=python3"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_the_test_command_looks_for_the_system_first_and_runs_every_check() -> None:
    ran = [line.replace(".venv/bin/", "") for line in commands("test")]
    assert ran[0] == "python3 tests/system_packages.py"
    assert ran[-3:-1] == ["ruff check .", "ruff format --check ."]
    assert re.fullmatch(r"pytest -n \d+ --dist loadfile --no-loadscope-reorder", ran[-1])


def test_the_longest_files_are_there() -> None:
    names = {path.name for path in (ROOT / "tests").rglob("test_*.py")}
    (listed,) = re.findall(r"LONGEST = \((.*?)\)", read("tests/conftest.py"), re.DOTALL)
    assert set(re.findall(r"\w+\.py", listed)) <= names


def test_ci_runs_the_test_command_and_nothing_else() -> None:
    assert read(".ci/run").splitlines()[2:] == ['cd "$(dirname "$0")/.." && exec make test']


@pytest.mark.parametrize("name", LOCKS)
def test_lock_pins_what_was_chosen_and_names_no_place(name: str) -> None:
    lock, asked = read(f"{name}.txt"), read(f"{name}.in")
    pinned = dict(re.findall(r"^([a-z0-9._-]+)==(\S+)", lock, re.MULTILINE))
    # Each package with a hash of each of its files.
    pins = re.findall(r"^[a-z0-9._-]+==", lock, re.MULTILINE)
    assert len(pins) == len(re.findall(r"^\S.* \\\n    --hash=sha256:", lock, re.MULTILINE))
    assert set(re.findall(r"^([\w-]+)", asked, re.MULTILINE)) - {"-c", "-r"} <= set(pinned)
    for package, version in re.findall(r"^([\w-]+)==(\S+)$", asked, re.MULTILINE):
        assert pinned[package] == version
    # jsonschema loads it in every process that reads a notebook, for a second or two.
    assert "rfc3987-syntax" not in pinned
    assert "://" not in lock
    assert not re.search(r"^\s*-(?!-hash=sha256:[0-9a-f]{64}\b)", lock, re.MULTILINE)


@pytest.mark.parametrize("minor", [11, 12, 13])
def test_no_two_locks_disagree(minor: int) -> None:
    python = {"python_version": f"3.{minor}", "python_full_version": f"3.{minor}.9"}
    versions = set()
    for name in LOCKS:
        for line in re.findall(r"^([a-z0-9._-]+==.+?) \\$", read(f"{name}.txt"), re.MULTILINE):
            pin = Requirement(line)
            if pin.marker is None or pin.marker.evaluate(python):
                versions.add((pin.name, str(pin.specifier)))
    assert len(versions) > 150
    assert len(versions) == len({name for name, _ in versions})


def modules_of_tests_alone() -> set[str]:
    """Return the modules that requirements-dev.txt installs and requirements.txt does not."""
    names = [
        set(re.findall(r"^([a-z0-9._-]+)==", read(f"{lock}.txt"), re.MULTILINE))
        for lock in ("requirements-dev", "requirements")
    ]
    return {
        module
        for module, distributions in packages_distributions().items()
        if {name.lower().replace("_", "-") for name in distributions} <= names[0] - names[1]
    }


@pytest.mark.parametrize("start", ["site", "grading", "kit", "rooflib"])
def test_what_learners_run_imports_nothing_that_only_tests_install(start: str) -> None:
    folder = ROOT / start
    root = folder if start in ("site", "kit") else ROOT
    files = [path.relative_to(root) for path in folder.rglob("*.py")]
    # What prints is called by `make pdf` and `make slides` alone; the sandbox's own files and what
    # measures through torch or jax are not imported here.
    apart = {"pdf.py", "inside", "accelerator", "printing", "__main__.py", "dask_worker.py"}
    modules = [
        ".".join(path.with_suffix("").parts).removesuffix(".__init__")
        for path in files
        if not apart & set(path.parts)
    ]
    code = """
import importlib, sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
blocked, modules = map(str.split, sys.stdin.read().splitlines())
class Missing(MetaPathFinder, Loader):
    def find_spec(self, name, path=None, target=None):
        return ModuleSpec(name, self) if name.partition(".")[0] in blocked else None
    def create_module(self, spec):
        raise ModuleNotFoundError(f"{spec.name} is for tests alone", name=spec.name)
    def exec_module(self, module): ...
sys.meta_path.insert(0, Missing())
for module in modules:
    try:
        importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name.partition(".")[0] in blocked:
            raise
    except (AttributeError, NameError):
        pass  # runs in a notebook, or is read by another program
"""
    blocked = modules_of_tests_alone()
    assert {"pytest", "playwright", "jax"} <= blocked
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=f"{' '.join(blocked)}\n{' '.join(modules)}",
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (root, ROOT, ROOT / "kit")))},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-1500:]


def test_learners_install_nothing_that_only_tests_need() -> None:
    lock = set(re.findall(r"^([a-z0-9._-]+)==", read("requirements.txt"), re.MULTILINE))
    tests = {"pytest", "mypy", "ruff", "jax", "playwright", "hypothesis", "distributed", "psycopg"}
    assert not lock & tests


def test_the_lock_holds_all_that_its_packages_ask_for() -> None:
    command = [sys.executable, "-m", "pip", "check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_contributing_says_why_for_each_package() -> None:
    table = read("CONTRIBUTING.md").split("## The lock")[1]
    rows = re.findall(r"^\| ([\w, -]+) \| .+ \|$", table, re.MULTILINE)
    assert {name.strip() for row in rows for name in row.split(",")} - {"package"} == set(CHOSEN)


def test_the_map_of_contributing_names_what_is_there() -> None:
    page = read("CONTRIBUTING.md")
    places = re.findall(r"`((?:rooflib|kit|grading|site|tests|chapters|exercises)/[^`<]*)", page)
    assert len(places) > 12
    for place in places:
        assert (ROOT / place).exists(), place
    rooms = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert set(rooms) == {path.parent.name for path in ROOT.glob("grading/*/__init__.py")}


def test_the_readme_prints_what_rooflib_prints(capsys) -> None:
    (words,) = re.findall(r"^python -m rooflib (.+)$", read("README.md"), re.MULTILINE)
    (shown,) = re.findall(r"```text\n(.*?)```", read("README.md"), re.DOTALL)
    main(shlex.split(words))
    assert capsys.readouterr().out == shown


def test_no_file_knows_a_machine_or_where_packages_come_from() -> None:
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    # /home/learner is a folder of the sandbox's own world.
    homes = r"home/(?!learner\b)|(?:root|work|Users|opt)/"
    machine = re.compile(rf"(?<![\w.:/-])/(?:{homes})\w|index[-_]url\b")
    for path in (ROOT / name for name in names.split("\0") if name):
        if path.is_file() and path.suffix not in (".png", ".ico", ".woff2"):
            found = machine.search(path.read_text(encoding="utf-8"))
            assert not found, f"{path.name}: {found[0]}"


@pytest.mark.parametrize(
    ("version", "has_venv", "expected"),
    [
        ((3, 10), True, "Python 3.10 found, 3.11 to 3.13 needed"),
        ((3, 14), True, "Python 3.14 found, 3.11 to 3.13 needed"),
        ((3, 11), False, "apt install python3-venv"),
    ],
)
def test_what_python_lacks_is_said_in_one_line(version, has_venv, expected) -> None:
    line = environment.complaint(version, has_venv)
    assert expected in line
    assert "\n" not in line


def test_a_python_that_will_do_is_not_complained_about() -> None:
    for minor in (11, 12, 13):
        assert environment.complaint((3, minor), True) == ""


def test_a_missing_python_is_said_in_one_line() -> None:
    command = ["make", "--silent", "environment", "PYTHON=no-such-python"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode != 0
    assert run.stderr.splitlines()[0].startswith("no-such-python is missing: sudo apt install")


SERVE = [
    sys.executable,
    "-c",
    "import sys, serve, pathlib; sys.exit(serve.serve(*eval(sys.argv[1])))",
]


def served(folder: Path, port: int) -> list[str]:
    return [*SERVE, f"(pathlib.Path({str(folder)!r}), {port})"]


def test_a_taken_port_is_said_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        run = subprocess.run(
            served(tmp_path, port), cwd=ROOT / "site", capture_output=True, text=True
        )
    assert run.returncode == 1
    assert len(run.stderr.splitlines()) == 1
    assert f"try PORT={port + 1} make serve" in run.stderr


def test_serve_says_where_and_serves(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("the book")
    with subprocess.Popen(
        served(tmp_path, 0), cwd=ROOT / "site", stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            address = server.stdout.readline().split()[0]
            assert address.startswith("http://127.0.0.1:")
            with urllib.request.urlopen(address, timeout=10) as page:
                assert page.read() == b"the book"
        finally:
            server.terminate()


def test_every_colour_of_the_plots_has_one_for_dark_pages() -> None:
    colours = set(re.findall(r"#([0-9a-f]{6})\b", read("rooflib/plots.py")))
    assert colours <= set(re.findall(r"--c-([0-9a-f]{6}):", read("site/static/course.css")))
