"""Tests of README, Makefile, locks and CI, and of missing programs' messages."""

import contextlib
import functools
import http.client
import io
import os
import re
import shlex
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest
from commands import environment, serve
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


def test_the_readme_lists_all_make_targets_but_internal_ones() -> None:
    named = set(re.findall(r"\bmake ([\w-]+)", read("README.md").split("You need")[1]))
    named |= set(re.findall(r"^make ([\w-]+)", read("README.md"), re.MULTILINE))
    assert named - {"python3-venv"} == TARGETS - {"dev", "environment", "style", "system"}


def commands(target: str) -> list[str]:
    """Return the commands that make would run for a target, in order."""
    options = ("--dry-run", "--always-make", "--no-print-directory")
    command = ["make", *options, target, "PYTHON=python3"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_make_test_checks_the_system_first_and_runs_every_check() -> None:
    ran = [line.replace(".venv/bin/", "") for line in commands("test")]
    assert ran[0] == "python3 tests/system_packages.py"
    assert ran[-3:-1] == ["ruff check .", "ruff format --check ."]
    first, again = ran[-1].split(" || ")
    assert re.fullmatch(r"pytest -n \d+ -p no:nbval --dist loadfile --no-loadscope-reorder", first)
    assert again == "python tests/again.py $?"


def test_every_test_file_listed_in_longest_exists() -> None:
    names = {path.name for path in (ROOT / "tests").rglob("test_*.py")}
    (listed,) = re.findall(r"LONGEST = \((.*?)\)", read("tests/conftest.py"), re.DOTALL)
    assert set(re.findall(r"\w+\.py", listed)) <= names


def test_ci_runs_make_test() -> None:
    assert read(".ci/run").splitlines()[2:] == ['cd "$(dirname "$0")/.." && exec make test']


@pytest.mark.parametrize("name", LOCKS)
def test_locks_pin_every_chosen_package_by_hash_without_urls(name: str) -> None:
    lock, asked = read(f"{name}.txt"), read(f"{name}.in")
    pinned = dict(re.findall(r"^([a-z0-9._-]+)==(\S+)", lock, re.MULTILINE))
    # Every package has at least one hash.
    pins = re.findall(r"^[a-z0-9._-]+==", lock, re.MULTILINE)
    assert len(pins) == len(re.findall(r"^\S.* \\\n    --hash=sha256:", lock, re.MULTILINE))
    assert set(re.findall(r"^([\w-]+)", asked, re.MULTILINE)) - {"-c", "-r"} <= set(pinned)
    for package, version in re.findall(r"^([\w-]+)==(\S+)$", asked, re.MULTILINE):
        assert pinned[package] == version
    # If rfc3987-syntax were installed, jsonschema would import it in each process that reads a
    # notebook, which takes a second or two.
    assert "rfc3987-syntax" not in pinned
    assert "://" not in lock
    assert not re.search(r"^\s*-(?!-hash=sha256:[0-9a-f]{64}\b)", lock, re.MULTILINE)


@pytest.mark.parametrize("minor", [11, 12, 13])
def test_locks_pin_the_same_versions(minor: int) -> None:
    python = {"python_version": f"3.{minor}", "python_full_version": f"3.{minor}.9"}
    versions = set()
    for name in LOCKS:
        for line in re.findall(r"^([a-z0-9._-]+==.+?) \\$", read(f"{name}.txt"), re.MULTILINE):
            pin = Requirement(line)
            if pin.marker is None or pin.marker.evaluate(python):
                versions.add((pin.name, str(pin.specifier)))
    assert len(versions) > 150
    assert len(versions) == len({name for name, _ in versions})


def dev_only_modules() -> set[str]:
    """Return modules of packages in requirements-dev.txt, not requirements.txt."""
    names = [
        set(re.findall(r"^([a-z0-9._-]+)==", read(f"{lock}.txt"), re.MULTILINE))
        for lock in ("requirements-dev", "requirements")
    ]
    return {
        module
        for module, distributions in packages_distributions().items()
        if {name.lower().replace("_", "-") for name in distributions} <= names[0] - names[1]
    }


def test_code_for_learners_and_graders_imports_no_dev_dependencies() -> None:
    roots = {"site": ROOT / "site", "kit": ROOT / "kit", "grading": ROOT, "rooflib": ROOT}
    files = [
        path.relative_to(root)
        for name, root in roots.items()
        for path in (ROOT / name).rglob("*.py")
    ]
    # Only `make pdf` and `make slides` import the code for printing; the code inside sandboxes is
    # never imported by path.
    apart = {"pdf.py", "inside", "printing", "__main__.py", "dask_worker.py"}
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
    blocked = dev_only_modules()
    assert {"pytest", "playwright"} <= blocked
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=f"{' '.join(blocked)}\n{' '.join(modules)}",
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, set(roots.values())))},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-1500:]


def test_learners_install_no_test_tools() -> None:
    lock = set(re.findall(r"^([a-z0-9._-]+)==", read("requirements.txt"), re.MULTILINE))
    tests = {"pytest", "mypy", "ruff", "playwright", "hypothesis", "distributed", "psycopg"}
    assert not lock & tests


@pytest.mark.long
def test_installed_packages_have_their_dependencies() -> None:
    command = [sys.executable, "-m", "pip", "check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_contributing_gives_a_reason_for_each_package() -> None:
    table = read("CONTRIBUTING.md").split("## The lock")[1]
    rows = re.findall(r"^\| ([\w, -]+) \| .+ \|$", table, re.MULTILINE)
    assert {name.strip() for row in rows for name in row.split(",")} - {"package"} == set(CHOSEN)


def test_contributing_names_only_files_that_exist() -> None:
    page = read("CONTRIBUTING.md")
    places = re.findall(r"`((?:rooflib|kit|grading|site|tests|chapters|exercises)/[^`<]*)", page)
    tests = re.findall(r"\btests/[\w/]+\.py(?![<\w])", page)
    assert len(places) > 50
    assert len(tests) > 40
    assert [place for place in (*places, *tests) if not (ROOT / place).exists()] == []


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_and_pictures_lead_to_committed_files(name: str) -> None:
    tree = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    files = set(tree.stdout.splitlines())
    links = re.findall(r"\]\(([^)#:]+)[)#]|<img [^>]*src=\"([^\":]+)\"", read(name))
    assert {link or picture for link, picture in links} <= files


def test_contributing_describes_each_subpackage_of_grading() -> None:
    named = re.findall(r"^\| `(\w+)` \|", read("CONTRIBUTING.md"), re.MULTILINE)
    assert set(named) == {path.parent.name for path in ROOT.glob("grading/*/__init__.py")}


def test_the_readme_shows_what_rooflib_prints(capsys) -> None:
    (words,) = re.findall(r"^python -m rooflib (.+)$", read("README.md"), re.MULTILINE)
    (shown,) = re.findall(r"```text\n(.*?)```", read("README.md"), re.DOTALL)
    main(shlex.split(words))
    assert capsys.readouterr().out == shown


def test_no_file_contains_machine_paths_or_package_indexes() -> None:
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    # /home/learner is the home directory inside the sandbox.
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
def test_an_unsuitable_python_is_explained_in_one_line(version, has_venv, expected) -> None:
    line = environment.complaint(version, has_venv)
    assert expected in line
    assert "\n" not in line


@pytest.mark.parametrize("kind", environment.LOCKS)
def test_each_changed_lock_or_project_file_changes_the_digest(kind, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    names = (*environment.LOCKS[kind], "pyproject.toml", "kit/pyproject.toml")
    (tmp_path / "kit").mkdir()
    for name in names:
        (tmp_path / name).write_text("a")
    digests = {environment.lock_digest(kind)}
    for name in names:
        (tmp_path / name).write_text("b")
        digests.add(environment.lock_digest(kind))
    assert len(digests) == 1 + len(names)


def test_a_supported_python_is_accepted() -> None:
    for minor in (11, 12, 13):
        assert environment.complaint((3, minor), True) == ""


class Machine:
    """A folder with locks, in which commands are recorded instead of run.

    `failing`: a word of the command that fails.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.venv = folder, folder / ".venv"
        self.commands: list[list[str]] = []
        self.printed = io.BytesIO()
        self.shown_before = b""
        self.failing = ""

    def call(self, command: list[str], **options: Any) -> int:
        if not self.commands:
            self.shown_before = self.printed.getvalue()
        self.commands.append(command)
        if "venv" in command:
            self.made_by("{}.{}".format(*sys.version_info))
        else:
            assert options["cwd"] == str(self.folder)
            uv = Path(options["env"]["PYTHONPATH"])
            assert re.fullmatch(
                r"uv==\S+ \\\n(    --hash=\S+( \\\n)?)+", (uv / "uv.txt").read_text()
            )
        return int(self.failing in command)

    def made_by(self, python: str) -> None:
        self.venv.mkdir(exist_ok=True)
        (self.venv / "pyvenv.cfg").write_text(f"home = /usr/bin\nversion = {python}.1\n")

    def steps(self, *words: str) -> tuple[int, list[str]]:
        """Run the command; return its status and the kinds of the commands that it ran."""
        self.commands.clear()
        with contextlib.redirect_stdout(io.TextIOWrapper(self.printed)):
            status = environment.main([*words])
            sys.stdout.detach()  # type: ignore[attr-defined]
        kinds = {"venv": "make", "--target": "get uv", "-r": "install locks", "-e": "install ours"}
        return status, [next(kinds[w] for w in command if w in kinds) for command in self.commands]


ALL = ["get uv", "install locks", "install ours"]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    (tmp_path / "kit").mkdir()
    for name in ("pyproject.toml", "kit/pyproject.toml", *(f"{lock}.txt" for lock in LOCKS)):
        (tmp_path / name).write_text(read(name))
    made = Machine(tmp_path)
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.setattr(environment, "VENV", made.venv)
    monkeypatch.setattr(environment.subprocess, "call", made.call)
    monkeypatch.delenv("PYTHON", raising=False)
    return made


def test_an_environment_is_made_once_and_follows_the_locks(machine: Machine) -> None:
    assert machine.steps() == (0, ["make", *ALL])
    assert machine.shown_before == b"installing requirements.txt into .venv, once\n"
    assert machine.steps() == (0, [])
    assert machine.steps("cluster") == (0, ALL)
    assert machine.steps("dev") == (0, ALL)
    # The environment "dev" includes the packages of "cluster".
    (machine.venv / "cluster.sha256").unlink()
    assert machine.steps("dev") == machine.steps("cluster") == (0, [])
    (machine.folder / "requirements.txt").write_text("changed")
    assert machine.steps() == (0, ALL)
    assert machine.steps() == (0, [])


def test_a_failed_installation_step_is_reported_and_the_next_run_repeats_it(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.failing = "venv"
    assert machine.steps() == (1, ["make"])
    assert capsys.readouterr().err == ""  # the failed program printed the reason
    machine.failing = "--require-hashes"
    assert machine.steps() == (1, ["make", "get uv", "install locks"])
    assert capsys.readouterr().err.startswith("could not make .venv: see the message above")
    machine.failing = ""
    assert machine.steps() == (0, ["make", *ALL])


def test_an_environment_is_replaced_if_another_python_is_requested(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.steps()
    machine.made_by("3.2")
    assert machine.steps() == (0, [])
    monkeypatch.setenv("PYTHON", "python3")
    (machine.venv / "old").touch()
    assert machine.steps() == (0, ["make", *ALL])
    assert not (machine.venv / "old").exists()
    assert machine.steps() == (0, [])


def test_the_here_option_installs_into_the_running_python_for_binder(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.steps()
    monkeypatch.setattr(environment, "has_venv", lambda: False)
    assert machine.steps("--here") == (0, ALL)
    assert {command[0] for command in machine.commands} == {sys.executable}
    machine.failing = "-e"
    assert machine.steps("--here") == (1, ALL)


def test_without_venv_no_command_runs(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert environment.has_venv()
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    assert machine.steps() == (1, [])
    assert "python3-venv" in capsys.readouterr().err


def test_a_missing_python_is_explained_in_one_line() -> None:
    command = ["make", "--silent", "environment", "PYTHON=no-such-python"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode != 0
    assert run.stderr.splitlines()[0].startswith("no-such-python is missing: sudo apt install")


SERVE = [
    sys.executable,
    "-c",
    "import sys, pathlib; from commands.serve import serve; sys.exit(serve(*eval(sys.argv[1])))",
]


def served(folder: Path, port: int) -> list[str]:
    return [*SERVE, f"(pathlib.Path({str(folder)!r}), {port})"]


def test_a_port_in_use_is_explained_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        run = subprocess.run(
            served(tmp_path, port), cwd=ROOT / "site", capture_output=True, text=True
        )
    assert run.returncode == 1
    assert len(run.stderr.splitlines()) == 1
    assert f"try PORT={port + 1} make serve" in run.stderr


def test_serve_prints_its_address_and_serves(tmp_path: Path) -> None:
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


@contextlib.contextmanager
def listening(folder: Path) -> Iterator[http.client.HTTPConnection]:
    handler = functools.partial(serve.Quiet, directory=str(folder))
    with serve.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_serve_sends_the_sites_404_page_for_missing_pages(tmp_path: Path, method: str) -> None:
    (tmp_path / "404.html").write_text("没有", encoding="utf-8")
    with listening(tmp_path) as connection:
        connection.request(method, "/missing.html")
        answer = connection.getresponse()
        assert answer.status == 404
        assert answer.getheader("Content-Type") == "text/html; charset=utf-8"
        assert answer.getheader("Content-Length") == "6"
        assert answer.read().decode() == ("没有" if method == "GET" else "")


@pytest.mark.parametrize(("method", "status"), [("GET", 404), ("POST", 501)])
def test_serve_sends_other_errors_as_pythons_own_server_does(
    tmp_path: Path, method: str, status: int
) -> None:
    if status != 404:
        (tmp_path / "404.html").write_text("missing")
    with listening(tmp_path) as connection:
        connection.request(method, "/missing.html")
        answer = connection.getresponse()
        assert answer.status == status
        assert b"Error code explanation" in answer.read()


def test_control_c_ends_serve_without_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(serve.ThreadingHTTPServer, "serve_forever", stopped)
    assert serve.serve(tmp_path, 0) == 0
    # The last newline lets the shell's prompt begin on a new line.
    assert re.fullmatch(r"http://\S+ \(stop with Ctrl\+C\)\n\n", capsys.readouterr().out)


def test_every_plot_color_has_a_dark_variant() -> None:
    colors = set(re.findall(r"#([0-9a-f]{6})\b", read("rooflib/plots.py")))
    assert colors <= set(
        re.findall(r"--c-([0-9a-f]{6}):", read("site/book_extension/static/course.css"))
    )
