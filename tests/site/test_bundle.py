"""Tests that exercises.zip works alone: README's commands and complete lock."""

import functools
import hashlib
import os
import re
import subprocess
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from commands import environment, handouts
from commands.handouts import bundle, wheels
from repository import ROOT


def wheels_of(packages: Path) -> list[Path]:
    return sorted(packages.glob("*.whl"))


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory, packages: Path) -> Path:
    """Pack a release of one exercise."""
    folder = tmp_path_factory.mktemp("bundle")
    notebook = folder / "release" / "one" / "one.ipynb"
    notebook.parent.mkdir(parents=True)
    notebook.write_text("{}")
    bundle.write(ROOT, folder / "release", wheels_of(packages), folder / "exercises.zip")
    return folder / "exercises.zip"


@pytest.fixture(scope="module")
def unpacked(archive: Path) -> Path:
    with zipfile.ZipFile(archive) as files:
        files.extractall(archive.parent)
    return archive.parent / "exercises"


def commands(unpacked: Path, system: str = "sh") -> list[str]:
    readme = (unpacked / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(rf"```{system}\n(.*?)```", readme, re.DOTALL)
    return block.splitlines()


def test_files_that_the_readme_names_exist(unpacked: Path) -> None:
    table = [line for line in (unpacked / "README.md").read_text().splitlines() if line[:2] == "| "]
    named = [re.match(r"\| `(.+?)` \|", line)[1] for line in table[1:]]
    assert {"requirements.txt", "wheels/", "nbgrader_config.py"} <= set(named)
    assert [name for name in named if not (unpacked / name).exists()] == []
    assert (unpacked / "one" / "one.ipynb").exists()
    there = {path.name for path in unpacked.iterdir()} - {"README.md", "one"}
    assert there == {name.rstrip("/") for name in named}


def test_nbgrader_validate_is_configured_to_show_the_courses_messages(unpacked: Path) -> None:
    for folder in (unpacked, unpacked / "one"):
        assert "validate.install()" in (folder / "nbgrader_config.py").read_text(encoding="utf-8")


def test_three_commands_create_a_venv_install_packages_and_start_jupyterlab(unpacked: Path) -> None:
    make, install, start = commands(unpacked)
    assert make == "python3 -m venv venv"
    assert install == "venv/bin/pip install -r requirements.txt"
    assert start == "venv/bin/jupyter lab"


def test_windows_commands_match_those_for_other_systems(unpacked: Path) -> None:
    ours = [line.replace("python3 ", "py ") for line in commands(unpacked)]
    ours = [line.replace("venv/bin/", "venv\\Scripts\\") for line in ours]
    assert commands(unpacked, "bat") == ours


def test_the_requirements_name_both_wheels_with_their_hashes(unpacked: Path) -> None:
    lock = (unpacked / "requirements.txt").read_text(encoding="utf-8")
    ours = re.findall(r"^(\./wheels/\S+\.whl) \\\n    --hash=sha256:(\w{64})$", lock, re.MULTILINE)
    assert [Path(path).name.partition("-")[0] for path, _ in ours] == ["roofkit", "rooflib"]
    for path, digest in ours:
        assert hashlib.sha256((unpacked / path).read_bytes()).hexdigest() == digest


# Characters that Windows forbids in names, and names that it reserves for devices.
FORBIDDEN = re.compile(
    r'[<>:"\\|?*\x00-\x1f]|[ .](?:/|$)|(?:^|/)(?:con|prn|aux|nul)(?:\.|/|$)', re.I
)


@pytest.mark.parametrize("name", ["a:b", "a\\b", "a ", "a./b", "x/nul.txt", "what?"])
def test_names_forbidden_on_windows_are_detected(name: str) -> None:
    assert FORBIDDEN.search(name)


def test_every_file_can_be_unpacked_and_read_on_windows(archive: Path) -> None:
    with zipfile.ZipFile(archive) as files:
        names = files.namelist()
        for name in names:
            if not name.endswith(".whl"):
                assert "\r" not in files.read(name).decode("utf-8")
    assert [name for name in names if FORBIDDEN.search(name)] == []
    assert max(map(len, names)) < 150
    assert len({name.lower() for name in names}) == len(names)
    assert all(name.isascii() for name in names)


def test_the_learners_chapter_gives_the_commands_of_the_bundles_readme(unpacked: Path) -> None:
    page = (ROOT / "chapters" / "learners.md").read_text(encoding="utf-8")
    assert "\n".join(commands(unpacked)) in page


def test_the_requirements_have_only_what_a_learner_needs(unpacked: Path) -> None:
    lock = (unpacked / "requirements.txt").read_text(encoding="utf-8")
    whole = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    entries = [entry[0] for entry in bundle.ENTRY.finditer(lock)]
    assert lock.endswith("".join(entries))
    assert len(re.findall(r"^[\w.-]+==", lock, re.MULTILINE)) == len(entries)
    assert all(entry in whole for entry in entries)
    names = {bundle.ENTRY.match(entry)["name"] for entry in entries}
    # The lock has direct and indirect dependencies, including those needed only on Windows.
    assert {"numpy", "ipywidgets", "jupyterlab", "nbgrader", "pyzmq", "pywinpty"} <= names
    assert not {"jupyter-book", "sphinx", "mypy", "playwright", "distributed"} & names


def test_packages_of_an_extra_are_included_only_on_request() -> None:
    plain, extra = bundle.closure(["playwright", "nbconvert"]), bundle.closure(["nbconvert[test]"])
    assert "mistune" in plain
    assert "ipykernel" in extra
    assert "ipykernel" not in plain


def test_requirements_keep_the_hashes_of_the_lock() -> None:
    entry = (
        "numpy==2.4.6 ; python_full_version < '3.12' \\\n    --hash=sha256:aa \\\n    --hash=b\n"
    )
    lock = f"sphinx==7.4.7 \\\n    --hash=sha256:cc\n{entry}mypy==1\n"
    assert list(bundle.lock_for(ROOT, lock)) == [entry]


# --- the requirements on other systems ------------------------------------------------------------


@functools.total_ordering
class Python:
    """Python version in a marker; comparisons with strings are numeric."""

    def __init__(self, version: str) -> None:
        self.numbers = numbers(version)

    def __lt__(self, other: str) -> bool:
        return self.numbers < numbers(other)

    def __eq__(self, other: object) -> bool:
        return self.numbers == numbers(str(other))

    __hash__ = None  # type: ignore[assignment]


def numbers(version: str) -> list[int]:
    return [int(number) for number in version.split(".")]


SYSTEMS = {
    "Linux": {"sys_platform": "linux", "os_name": "posix", "platform_machine": "x86_64"},
    "macOS": {"sys_platform": "darwin", "os_name": "posix", "platform_machine": "arm64"},
    "Windows": {"sys_platform": "win32", "os_name": "nt", "platform_machine": "AMD64"},
}
PYTHONS = ("3.11.2", "3.11.7", "3.12.1", "3.13.0")


def holds(marker: str, system: str, python: str, extras: frozenset[str] = frozenset()) -> bool:
    """Return whether a requirement's marker holds for a system and a Python."""
    where: dict[str, object] = {
        **SYSTEMS[system],
        "platform_system": {"macOS": "Darwin"}.get(system, system),
        "platform_release": "",
        "platform_python_implementation": "CPython",
        "implementation_name": "cpython",
        "python_version": Python(python.rpartition(".")[0]),
        "python_full_version": Python(python),
    }
    wanted = [{**where, "extra": extra} for extra in (extras or {""})]
    return not marker.strip() or any(eval(marker, {}, names) for names in wanted)


def needs(name: str, system: str, python: str, extras: frozenset[str]) -> Iterator[str]:
    """Yield what a package installed here requires on that system and Python."""
    try:
        lines = metadata.requires(name) or []
    except metadata.PackageNotFoundError:  # a package for another system
        return
    for line in lines:
        requirement, _, marker = line.partition(";")
        if holds(marker, system, python, extras):
            yield requirement


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("python", PYTHONS)
def test_the_requirements_are_complete_on_every_system(
    unpacked: Path, system: str, python: str
) -> None:
    """All dependencies of the packages for a system are listed, each in one version."""
    lock = (unpacked / "requirements.txt").read_text(encoding="utf-8")
    rows = re.findall(r"^([\w.-]+)==(\S+)(?: ; (.*?))? \\$", lock, re.MULTILINE)
    assert len(rows) == len(re.findall(r"^[\w.-]+==", lock, re.MULTILINE))
    there = [name for name, _, marker in rows if holds(marker, system, python)]
    assert len(there) == len(set(there)) > 100
    assert ("pywinpty" in there) == (system == "Windows")
    assert ("appnope" in there) == (system == "macOS")
    assert ("ptyprocess" in there) == (system != "Windows")
    todo = [(name, frozenset[str]()) for name in there]
    seen = set()
    while todo:
        name, extras = todo.pop()
        assert name in there, f"{name} is missing on {system}"
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        for requirement in needs(name, system, python, extras):
            found = bundle.REQUIREMENT.match(requirement)
            assert found
            asked = frozenset(re.findall(r"[\w.-]+", found["extras"] or ""))
            todo.append((bundle.normal(found["name"]), asked))


def test_the_readme_names_the_supported_python_versions(unpacked: Path) -> None:
    readme = (unpacked / "README.md").read_text(encoding="utf-8")
    oldest, newest = (".".join(map(str, end)) for end in (environment.OLDEST, environment.NEWEST))
    assert f"You need Python {oldest} to {newest}" in readme


def test_the_same_files_make_the_same_archive(tmp_path: Path, packages: Path) -> None:
    for name in ("one.zip", "two.zip"):
        bundle.write(ROOT, tmp_path, wheels_of(packages), tmp_path / name)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        assert {member.date_time[0] for member in archive.infolist()} == {1980}


# --- handouts are made again only if an input has changed -----------------------------------------

RELEASE = """#!/bin/sh
echo "printed"
echo "$PWD $@" >> {log}
exit {status}
"""
# A file of each kind → whether the handouts depend on it.
INPUTS = {
    "exercises/one/one.ipynb": True,
    "exercises/one/one.py": True,
    "exercises/one/.ipynb_checkpoints/one.ipynb": False,
    "exercises/one/picture.png": False,
    "grading/release.py": True,
    "grading/__pycache__/release.pyc": False,
    "locale/zh_CN/LC_MESSAGES/course.po": True,
    "rooflib/__init__.py": True,
    "rooflib/__pycache__/__init__.pyc": False,
    "kit/roofkit/button.js": True,
    "_config.yml": True,
    "requirements.txt": True,
    "site/other.py": False,
}


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a course with a file of each kind; a fake release script logs its calls."""
    for name in (*INPUTS, *map(str, bundle.sources(Path())), *map(str, wheels.sources(Path()))):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("a")
    for name in ("README.md", "LICENSE"):
        (tmp_path / name).write_text("a")
    (tmp_path / "_build").mkdir()
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters/time.md").write_text("A text\n\n# Time\n\nMore.")
    packed: list[tuple[object, ...]] = []
    monkeypatch.setattr(handouts.wheels, "build", lambda book, target: [target / "a.whl"])
    monkeypatch.setattr(handouts.bundle, "write", lambda *told: packed.append(told))
    monkeypatch.setattr(handouts.sys, "executable", str(release_script(tmp_path)))
    for name in ("EDITION", "SOLUTIONS"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def release_script(folder: Path, status: int = 0) -> Path:
    script = folder / "release.sh"
    script.write_text(RELEASE.format(log=folder / "log", status=status))
    script.chmod(0o755)
    return script


@pytest.mark.parametrize("name", INPUTS)
def test_the_digest_of_handouts_changes_only_with_their_inputs(course: Path, name: str) -> None:
    before = handouts.digest_of(course)
    (course / name).write_text("b")
    assert (handouts.digest_of(course) != before) == INPUTS[name]


def test_handouts_depend_on_a_chapters_title_but_not_on_its_text(course: Path) -> None:
    chapter, before = course / "chapters/time.md", handouts.digest_of(course)
    chapter.write_text("Another text\n\n# Time\n\nLess.")
    assert handouts.digest_of(course) == before
    chapter.write_text("A text\n\n# Space\n\nMore.")
    assert handouts.digest_of(course) != before
    chapter.write_text("No title")
    assert handouts.digest_of(course) != before


def test_exercises_are_released_once_in_all_languages(
    course: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    made = course / "_build/course"
    made.mkdir()
    log = course / "log"
    for _ in range(2):
        assert handouts.released(course) == made / "release"
    words = f"{course} -m grading release {made} --language=zh_CN"
    assert log.read_text().splitlines() == [words]
    (course / "_config.yml").write_text("b")
    handouts.released(course)
    assert log.read_text().splitlines() == [words] * 2
    assert capfd.readouterr().out == ""
    (course / "_config.yml").write_text("c")
    release_script(course, status=1)
    for count in (3, 4):
        with pytest.raises(subprocess.CalledProcessError):
            handouts.released(course)
        assert len(log.read_text().splitlines()) == count


def test_pages_have_worked_solutions_only_on_request(
    course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handouts, "released", lambda _: None)
    monkeypatch.setattr(handouts, "worked", lambda notebook: f"worked {notebook.stem}")
    page = course / "_build/solutions/one.md"
    handouts.prepare(course)
    assert page.read_text() == ""
    os.utime(page, (1, 1))
    handouts.prepare(course)
    assert page.stat().st_mtime == 1  # an unchanged page is not parsed again
    monkeypatch.setenv("SOLUTIONS", "1")
    handouts.prepare(course)
    assert page.read_text() == "worked one"
