"""The first cell of a notebook that may be alone: what it installs, from where, and what it says.

The packages here are invented, and nothing is installed: what pip would do is played.
"""

import importlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import roofkit
import rooflib
from roofkit.first_cell import set_up_notebook

NEEDED = {"alonelib": "0.2.0", "alonekit": "0.3.1"}
MODULES = ("alonelib", "alonekit.check")
FILES = ("alonelib-0.2.0-py3-none-any.whl", "alonekit-0.3.1-py3-none-any.whl")
Pip = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The notebook's folder; what lies in installed/ can be imported, and is forgotten after."""
    (tmp_path / "notebook folder").mkdir()
    (tmp_path / "installed").mkdir()
    monkeypatch.chdir(tmp_path / "notebook folder")
    monkeypatch.syspath_prepend(tmp_path / "installed")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # else an old one of the same second
    monkeypatch.setattr(subprocess, "run", unexpected)
    loaded = dict(sys.modules)
    yield tmp_path / "notebook folder"
    for name in [name for name in sys.modules if name.startswith("alone")]:
        del sys.modules[name]
    sys.modules.update(loaded)  # a cell forgets an old rooflib, and others here go on with it


def unexpected(command: list[str], **_: object) -> None:
    raise AssertionError(f"nothing was to be run: {command}")


def put(folder: Path, lib: str = "0.2.0", kit: str = "0.3.1") -> None:
    """Install the packages in these versions."""
    installed = folder.parent / "installed"
    (installed / "alonelib.py").write_text(f'__version__ = "{lib}"\n')
    (installed / "alonekit").mkdir(exist_ok=True)
    (installed / "alonekit" / "__init__.py").write_text(f'__version__ = "{kit}"\n')
    (installed / "alonekit" / "check.py").touch()


def pip(monkeypatch: pytest.MonkeyPatch, does: Callable[[], None], error: str = "") -> list[str]:
    """Have pip do this when it is called; the words of its command."""
    words: list[str] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        words.extend(command)
        does()
        return subprocess.CompletedProcess(command, bool(error), "", error)

    monkeypatch.setattr(subprocess, "run", run)
    return words


def said(site: str = "", *modules: str) -> str:
    with pytest.raises(ImportError) as caught:
        set_up_notebook(site, NEEDED, *(modules or MODULES))
    # A notebook shows the message alone.
    assert caught.value._render_traceback_() == str(caught.value).splitlines()
    return str(caught.value)


def test_where_all_is_there_nothing_is_done_or_said(folder: Path, capsys) -> None:
    put(folder)
    set_up_notebook("https://example.org", NEEDED, *MODULES)
    versions = {"rooflib": rooflib.__version__, "roofkit": roofkit.__version__}
    set_up_notebook("", versions, "rooflib", "roofkit.check")
    assert capsys.readouterr() == ("", "")


def test_without_files_and_address_it_says_what_to_do(folder: Path) -> None:
    words = said()
    assert words.startswith("No module named 'alonelib'. This notebook needs two packages")
    for needed in (*FILES, '"Working on the exercises"', str(folder), "html.baseurl"):
        assert needed in words
    assert max(len(line) for line in words.splitlines() if str(folder) not in line) <= 100


def test_one_missing_module_is_enough(folder: Path) -> None:
    put(folder)
    (folder.parent / "installed" / "alonekit" / "check.py").unlink()
    assert said().startswith("No module named 'alonekit.check'")


@pytest.mark.parametrize("site", ["https://example.org/book", "https://example.org/book/"])
def test_it_installs_both_from_the_site(folder: Path, monkeypatch, capsys, site: str) -> None:
    words = pip(monkeypatch, lambda: put(folder))
    set_up_notebook(site, NEEDED, *MODULES)
    assert words[:3] == [sys.executable, "-m", "pip"]
    assert "install" in words
    lib, kit = (f"https://example.org/book/wheels/{file}" for file in FILES)
    assert words[-2:] == [f"alonelib @ {lib}", f"alonekit @ {kit}"]
    first, last = capsys.readouterr().out.splitlines()
    assert first == f"No module named 'alonelib'. Installing {lib} and {kit}"
    assert last == "Both are installed."


def test_files_beside_the_notebook_go_before_the_site(folder: Path, monkeypatch) -> None:
    words = pip(monkeypatch, lambda: put(folder))
    for file in FILES:
        (folder / file).touch()
    set_up_notebook("https://example.org", NEEDED, *MODULES)
    # As an address, in which the space of the folder's name is written otherwise.
    assert words[-2:] == [
        f"{name} @ {(folder / file).as_uri()}" for name, file in zip(NEEDED, FILES, strict=True)
    ]
    assert "notebook%20folder" in words[-1]


def test_one_file_beside_the_notebook_is_not_enough(folder: Path) -> None:
    (folder / FILES[0]).touch()
    assert FILES[1] in said()


def test_a_file_of_another_version_is_not_taken(folder: Path) -> None:
    for name in NEEDED:
        (folder / f"{name}-0.1.0-py3-none-any.whl").touch()
    assert "Download" in said()


def test_figures_that_move_bring_what_they_need(monkeypatch) -> None:
    versions = {"rooflib": "99.0", "roofkit": "99.0"}
    words = pip(monkeypatch, lambda: None)
    with pytest.raises(ImportError):
        set_up_notebook("https://x.org", versions, "roofkit.figures", "alonelib")
    assert words[-1].startswith("roofkit[figures] @ https://x.org/wheels/roofkit-99.0-")
    words.clear()
    with pytest.raises(ImportError):
        set_up_notebook("https://x.org", versions, "roofkit", "alonelib")
    assert words[-1].startswith("roofkit @ ")


def test_what_pip_says_when_it_fails_is_shown(monkeypatch) -> None:
    pip(monkeypatch, lambda: None, "ERROR: no such host\n")
    words = said("https://example.org")
    assert words == "They could not be installed. pip said:\nERROR: no such host"


def test_a_kernel_that_does_not_see_what_was_installed_is_to_be_restarted(monkeypatch) -> None:
    pip(monkeypatch, lambda: None)
    words = said("https://example.org")
    assert words.startswith("No module named 'alonelib', though both are installed: restart")


def test_an_old_version_that_was_loaded_is_forgotten(folder: Path, monkeypatch) -> None:
    put(folder, lib="0.1.0")
    (folder.parent / "installed" / "alonekit" / "check.py").unlink()
    pip(monkeypatch, lambda: put(folder))
    set_up_notebook("https://example.org", NEEDED, *MODULES)
    assert sys.modules["alonelib"].__version__ == "0.2.0"


@pytest.mark.parametrize(("found", "is_older"), [("0.1.9", True), ("0.10.0", False), ("1", False)])
def test_an_older_version_is_named_and_left_alone(
    folder: Path, capsys, found: str, is_older: bool
) -> None:
    put(folder, lib=found)
    set_up_notebook("https://example.org", NEEDED, *MODULES)
    lines = capsys.readouterr().out.splitlines()
    address = f"https://example.org/wheels/{FILES[0]}"
    assert lines == is_older * [
        f"alonelib {found} is installed; this notebook was made with 0.2.0.",
        f'To update it, run %pip install --upgrade --no-deps "{address}"',
        "and restart the kernel.",
    ]


def test_an_older_version_without_an_address_is_downloaded_first(folder: Path, capsys) -> None:
    put(folder, kit="0.3.0")
    set_up_notebook("", NEEDED, *MODULES)
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:] == [
        f"To update it, download {FILES[1]} from the course's site,",
        f'run %pip install --upgrade --no-deps "{FILES[1]}"',
        "and restart the kernel.",
    ]


def test_folders_are_looked_at_anew_once_pip_has_run(folder: Path, monkeypatch) -> None:
    # Python may hold a listing of a folder that was changed within the same second.
    steps: list[str] = []
    monkeypatch.setattr(importlib, "invalidate_caches", lambda: steps.append("anew"))
    pip(monkeypatch, lambda: steps.append("pip") or put(folder))
    set_up_notebook("https://example.org", NEEDED, *MODULES)
    assert steps == ["anew", "pip", "anew"]


@pytest.mark.parametrize("wheels", ["wheels", "../wheels", "exercises/wheels"])
def test_files_of_the_unpacked_archive_go_before_the_site(
    folder: Path, monkeypatch, wheels: str
) -> None:
    words = pip(monkeypatch, lambda: put(folder))
    (folder / wheels).mkdir(parents=True)
    for file in FILES:
        (folder / wheels / file).touch()
    set_up_notebook("https://example.org", NEEDED, *MODULES)
    place = (folder / wheels).resolve()
    assert words[-2:] == [
        f"{name} @ {(place / file).as_uri()}" for name, file in zip(NEEDED, FILES, strict=True)
    ]


def test_in_vs_code_the_notebooks_own_folder_counts_wherever_it_is_run(
    folder: Path, monkeypatch
) -> None:
    words = pip(monkeypatch, lambda: put(folder))
    unpacked = folder / "somewhere" / "else"
    (unpacked / "wheels").mkdir(parents=True)
    for file in FILES:
        (unpacked / "wheels" / file).touch()
    notebook = str(unpacked / "task" / "task.ipynb")
    monkeypatch.setitem(set_up_notebook.__globals__, "__vsc_ipynb_file__", notebook)
    set_up_notebook("", NEEDED, *MODULES)
    assert words[-1] == f"alonekit @ {(unpacked / 'wheels' / FILES[1]).as_uri()}"


def test_one_file_here_and_one_there_are_not_enough(folder: Path) -> None:
    (folder / "wheels").mkdir()
    (folder / FILES[0]).touch()
    (folder / "wheels" / FILES[1]).touch()
    assert "Download" in said()
