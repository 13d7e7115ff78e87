"""The wheels that the site serves: complete, reproducible, and usable by pip."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from book_extension import opening_cell
from commands import handouts
from commands.handouts import wheels
from repository import HEADER, ROOT, Book
from site_server import serving

import roofkit
import rooflib

WORDS = {"roofkit/locale/zh_CN.mo"}
VERSIONS = {"rooflib": rooflib.__version__, "roofkit": roofkit.__version__}


def wheel(packages: Path, name: str) -> Path:
    """Return the path of a wheel, named as a notebook's first cell requests it."""
    return packages / f"{name}-{VERSIONS[name]}-py3-none-any.whl"


def test_each_package_has_a_wheel_of_its_version(packages: Path) -> None:
    names = {path.name for path in packages.iterdir()}
    assert names == {wheel(packages, name).name for name in VERSIONS} | {"index.html"}


@pytest.mark.parametrize(("name", "folder"), [("rooflib", "."), ("roofkit", "kit")])
def test_a_wheel_holds_every_file_of_its_package(packages: Path, name: str, folder: str) -> None:
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", name]
    listed = subprocess.run(listing, cwd=ROOT / folder, capture_output=True, text=True, check=True)
    with zipfile.ZipFile(wheel(packages, name)) as archive:
        for path in listed.stdout.split():
            assert archive.read(path) == (ROOT / folder / path).read_bytes()
        packed = {path for path in archive.namelist() if path.startswith(f"{name}/")}
    # The words of translations are compiled into one file for each language.
    assert packed - set(listed.stdout.split()) == (WORDS if name == "roofkit" else set())


@pytest.mark.parametrize("name", ["rooflib", "roofkit"])
def test_everybody_may_read_the_files_of_a_wheel(packages: Path, name: str) -> None:
    with zipfile.ZipFile(wheel(packages, name)) as files:
        modes = {entry.filename: entry.external_attr >> 16 for entry in files.infolist()}
    assert [name for name, mode in modes.items() if mode & 0o444 != 0o444] == []


def test_a_wheel_has_the_translations_of_checks_and_chapters(
    packages: Path, tmp_path: Path
) -> None:
    with zipfile.ZipFile(wheel(packages, "roofkit")) as archive:
        archive.extractall(tmp_path)
    code = "from roofkit.words import _, use; use('zh_CN'); print(_('a list'), _('scores kept'))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    # The first text is from checks, the second from a chapter's table.
    assert done.stdout == "一个列表 分数留在片上\n"


def test_extensions_are_where_jupyterlab_finds_them(packages: Path) -> None:
    with zipfile.ZipFile(wheel(packages, "roofkit")) as archive:
        names = [name for name in archive.namelist() if "/share/jupyter/labextensions/" in name]
    assert sorted("/".join(Path(name).parts[-2:]) for name in names) == [
        "roofkit-start/package.json",
        "roofkit-start/start.css",
        "roofkit-start/start.js",
        "roofkit-validate/button.js",
        "roofkit-validate/messages.json",
        "roofkit-validate/package.json",
    ]


@pytest.fixture
def umask() -> Iterator[None]:
    old = os.umask(0o077)
    yield
    os.umask(old)


def test_wheels_are_reproducible_replace_older_ones_and_leave_the_sources_alone(
    packages: Path, tmp_path: Path, umask: None
) -> None:
    book = tmp_path / "book"
    for source in wheels.sources(ROOT):
        copy = book / source.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(source.read_bytes())  # with other dates and permissions
    before = sorted(book.rglob("*"))
    again = tmp_path / "wheels"
    again.mkdir()
    (again / "rooflib-0.0.1-py3-none-any.whl").touch()
    made = wheels.build(book, again)
    assert made == sorted(again / path.name for path in packages.glob("*.whl"))
    assert {path.name for path in again.iterdir()} == {path.name for path in packages.iterdir()}
    for path in packages.iterdir():
        assert (again / path.name).read_bytes() == path.read_bytes()
    assert sorted(book.rglob("*")) == before


def test_setuptools_errors_are_shown(tmp_path: Path) -> None:
    for source in wheels.sources(ROOT):
        copy = tmp_path / source.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, copy)
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 1\n")
    with pytest.raises(RuntimeError, match=r"(?s)could not build a wheel:\n.*must contain"):
        wheels.build(tmp_path, tmp_path / "wheels")


@pytest.mark.long
def test_the_index_page_has_hashes_that_pip_verifies(packages: Path, tmp_path: Path) -> None:
    shutil.copytree(packages, tmp_path / "wheels")
    into = tmp_path / "installed"
    with serving(tmp_path) as server:
        address = f"{server.origin}/wheels/index.html"
        pip = [sys.executable, "-m", "pip", "--isolated", "--disable-pip-version-check"]
        command = [*pip, "install", "--no-deps", "--no-index", "--find-links", address]
        command += ["--no-cache-dir", "--target", str(into), *VERSIONS]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        page = tmp_path / "wheels" / "index.html"
        page.write_text(re.sub(r"=[0-9a-f]{64}", f"={'0' * 64}", page.read_text()))
        wrong = subprocess.run(command, capture_output=True, text=True, check=False)
    assert {name for name in VERSIONS if (into / name / "__init__.py").exists()} == set(VERSIONS)
    assert wrong.returncode != 0
    assert "DO NOT MATCH THE HASHES" in wrong.stderr


@pytest.mark.long
def test_each_build_replaces_the_wheels_of_the_site(book: Book) -> None:
    served = book.folder / handouts.SERVED / "wheels"
    old = book.folder / "_build" / "html" / "wheels" / "old.whl"
    for folder in (served, old.parent):
        folder.mkdir(parents=True)
    old.touch()
    (served / "new.whl").write_text("a wheel")
    book.page.write_text(f"{HEADER}\n# A page\n")
    built = book.build()
    assert built.returncode == 0, built.stderr
    assert {path.name for path in old.parent.iterdir()} == {"new.whl"}
    # The wheels are replaced even if no page has changed.
    (served / "new.whl").rename(served / "newer.whl")
    shutil.rmtree(book.folder / "_build" / "html" / "wheels")
    built = book.build()
    assert built.returncode == 0, built.stderr
    assert {path.name for path in old.parent.iterdir()} == {"newer.whl"}


# --- the first cell of a page's notebook ----------------------------------------------------------


def call(code: str, site: str = "") -> tuple[object, ...]:
    last = opening_cell.source(code, site).splitlines()[-1]
    arguments = eval(last.removeprefix("set_up_notebook"))
    assert isinstance(arguments, tuple)
    return arguments


def test_the_first_cell_requires_the_packages_that_the_page_imports() -> None:
    assert call("import rooflib as rl") == ("", VERSIONS, "rooflib", "roofkit")
    drawn = call("import rooflib as rl\nfrom roofkit import figures", "https://example.org")
    assert drawn == ("https://example.org", VERSIONS, "rooflib", "roofkit.figures")


def test_pages_without_our_packages_get_no_first_cell() -> None:
    assert opening_cell.source("import numpy as np", "https://example.org") == ""


def test_first_cells_of_pages_and_exercises_differ_only_in_the_last_line() -> None:
    # Only the last line, the call, differs: site/ must not import grading/, so each writes its own.
    from grading.release import opening

    ours, theirs = opening_cell.source("import rooflib", "x"), opening.source("x")
    assert ours.rpartition("\n")[0] == theirs.rpartition("\n")[0]
    assert call("import rooflib", "x")[:2] == ("x", VERSIONS)


def test_packages_without_a_version_are_refused(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "__init__.py").touch()
    monkeypatch.setattr(opening_cell, "PACKAGES", {"rooflib": tmp_path})
    with pytest.raises(ValueError, match="names no __version__"):
        opening_cell.versions()
