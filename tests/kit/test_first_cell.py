"""First cell of a downloaded notebook: installation and messages.

The packages are fictitious and nothing is installed: `subprocess.run` is replaced by a fake pip.
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
RUN = subprocess.run
Pip = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield the notebook's folder; modules in installed/ are importable."""
    (tmp_path / "notebook folder").mkdir()
    (tmp_path / "installed").mkdir()
    monkeypatch.chdir(tmp_path / "notebook folder")
    monkeypatch.syspath_prepend(tmp_path / "installed")
    # Bytecode caches compare modification times in seconds, so a stale one could be loaded.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(subprocess, "run", unexpected)
    loaded = dict(sys.modules)
    yield tmp_path / "notebook folder"
    for name in [name for name in sys.modules if name.startswith("alone")]:
        del sys.modules[name]
    sys.modules.update(loaded)  # the cell may have unloaded rooflib, which other tests use


def unexpected(command: list[str], **_: object) -> None:
    raise AssertionError(f"unexpected command: {command}")


def put(folder: Path, lib: str = "0.2.0", kit: str = "0.3.1") -> None:
    """Make the packages importable in these versions."""
    installed = folder.parent / "installed"
    (installed / "alonelib.py").write_text(f'__version__ = "{lib}"\n')
    (installed / "alonekit").mkdir(exist_ok=True)
    (installed / "alonekit" / "__init__.py").write_text(f'__version__ = "{kit}"\n')
    (installed / "alonekit" / "check.py").touch()


def pip(monkeypatch: pytest.MonkeyPatch, does: Callable[[], None], error: str = "") -> list[str]:
    """Replace pip by `does`; return the list that its command line is appended to."""
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
    # A notebook shows only the message, without a traceback.
    assert caught.value._render_traceback_() == str(caught.value).splitlines()
    return str(caught.value)


def test_nothing_happens_if_all_modules_can_be_imported(folder: Path, capsys) -> None:
    put(folder)
    set_up_notebook("https://example.org", NEEDED, *MODULES)
    versions = {"rooflib": rooflib.__version__, "roofkit": roofkit.__version__}
    set_up_notebook("", versions, "rooflib", "roofkit.check")
    assert capsys.readouterr() == ("", "")


def test_without_wheels_and_site_the_message_says_what_to_download(folder: Path) -> None:
    words = said()
    assert words.startswith("No module named 'alonelib'. This notebook needs two packages")
    for needed in (*FILES, '"Working on the exercises"', str(folder), "html.baseurl"):
        assert needed in words
    assert max(len(line) for line in words.splitlines() if str(folder) not in line) <= 100


def test_a_single_missing_module_is_named_in_the_message(folder: Path) -> None:
    put(folder)
    (folder.parent / "installed" / "alonekit" / "check.py").unlink()
    assert said().startswith("No module named 'alonekit.check'")


@pytest.mark.parametrize("site", ["https://example.org/book", "https://example.org/book/"])
def test_both_packages_are_installed_from_the_site(
    folder: Path, monkeypatch, capsys, site: str
) -> None:
    words = pip(monkeypatch, lambda: put(folder))
    set_up_notebook(site, NEEDED, *MODULES)
    assert words[:3] == [sys.executable, "-m", "pip"]
    assert "install" in words
    lib, kit = (f"https://example.org/book/wheels/{file}" for file in FILES)
    assert words[-2:] == [f"alonelib @ {lib}", f"alonekit @ {kit}"]
    first, last = capsys.readouterr().out.splitlines()
    assert first == f"No module named 'alonelib'. Installing {lib}, {kit}"
    assert last == "Both are installed."


def test_wheels_next_to_the_notebook_take_precedence_over_the_site(
    folder: Path, monkeypatch
) -> None:
    words = pip(monkeypatch, lambda: put(folder))
    for file in FILES:
        (folder / file).touch()
    set_up_notebook("https://example.org", NEEDED, *MODULES)
    # The URI escapes the space in the folder's name.
    assert words[-2:] == [
        f"{name} @ {(folder / file).as_uri()}" for name, file in zip(NEEDED, FILES, strict=True)
    ]
    assert "notebook%20folder" in words[-1]


def test_a_single_wheel_next_to_the_notebook_is_ignored(folder: Path) -> None:
    (folder / FILES[0]).touch()
    assert FILES[1] in said()


def test_wheels_of_other_versions_are_ignored(folder: Path) -> None:
    for name in NEEDED:
        (folder / f"{name}-0.1.0-py3-none-any.whl").touch()
    assert "Download" in said()


def test_importing_figures_installs_their_extra_dependencies(monkeypatch) -> None:
    versions = {"rooflib": "99.0", "roofkit": "99.0"}
    words = pip(monkeypatch, lambda: None)
    with pytest.raises(ImportError):
        set_up_notebook("https://x.org", versions, "roofkit.figures", "alonelib")
    assert words[-1].startswith("roofkit[figures] @ https://x.org/wheels/roofkit-99.0-")
    words.clear()
    with pytest.raises(ImportError):
        set_up_notebook("https://x.org", versions, "roofkit", "alonelib")
    assert words[-1].startswith("roofkit @ ")


def test_errors_of_pip_are_shown(folder: Path, monkeypatch, capfd) -> None:
    python = folder / "python"
    python.write_text("#!/bin/sh\necho Progress\necho ERROR: no such host >&2\nexit 1\n")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setattr(subprocess, "run", RUN)
    words = said("https://example.org")
    assert words == "They could not be installed. pip said:\nERROR: no such host"
    printed = capfd.readouterr()
    assert "Progress" not in printed.out
    assert not printed.err


def test_messages_are_in_the_language_of_the_notebook(folder: Path, monkeypatch, capsys) -> None:
    pip(monkeypatch, lambda: put(folder))
    words = {"Both are installed.": "都已安装。"}
    set_up_notebook("https://example.org", NEEDED, *MODULES, words=words)
    installing, both = capsys.readouterr().out.splitlines()
    assert installing.startswith("No module named 'alonelib'. Installing")
    assert both == "都已安装。"


def test_a_restart_is_requested_if_installed_modules_are_not_found(monkeypatch) -> None:
    pip(monkeypatch, lambda: None)
    words = said("https://example.org")
    assert words.startswith("No module named 'alonelib', though both are installed: restart")


def test_an_old_version_is_unloaded_after_installation(folder: Path, monkeypatch) -> None:
    put(folder, lib="0.1.0")
    (folder.parent / "installed" / "alonekit" / "check.py").unlink()
    pip(monkeypatch, lambda: put(folder))
    set_up_notebook("https://example.org", NEEDED, *MODULES)
    assert sys.modules["alonelib"].__version__ == "0.2.0"


@pytest.mark.parametrize(("found", "is_older"), [("0.1.9", True), ("0.10.0", False), ("1", False)])
def test_an_older_installed_package_is_reported_but_not_updated(
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


def test_without_a_site_address_the_update_hint_starts_with_a_download(
    folder: Path, capsys
) -> None:
    put(folder, kit="0.3.0")
    set_up_notebook("", NEEDED, *MODULES)
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:] == [
        f"To update it, download {FILES[1]} from the course's site,",
        f'run %pip install --upgrade --no-deps "{FILES[1]}"',
        "and restart the kernel.",
    ]


def test_import_caches_are_invalidated_before_and_after_pip_runs(folder: Path, monkeypatch) -> None:
    # Python's cached folder listing may be stale if the folder changed within the same second.
    steps: list[str] = []
    monkeypatch.setattr(importlib, "invalidate_caches", lambda: steps.append("anew"))
    pip(monkeypatch, lambda: steps.append("pip") or put(folder))
    set_up_notebook("https://example.org", NEEDED, *MODULES)
    assert steps == ["anew", "pip", "anew"]


@pytest.mark.parametrize("wheels", ["wheels", "../wheels", "exercises/wheels"])
def test_wheels_of_the_unpacked_archive_take_precedence_over_the_site(
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


def test_in_vs_code_wheels_are_found_relative_to_the_notebook(folder: Path, monkeypatch) -> None:
    words = pip(monkeypatch, lambda: put(folder))
    unpacked = folder / "somewhere" / "else"
    (unpacked / "wheels").mkdir(parents=True)
    for file in FILES:
        (unpacked / "wheels" / file).touch()
    notebook = str(unpacked / "task" / "task.ipynb")
    monkeypatch.setitem(set_up_notebook.__globals__, "__vsc_ipynb_file__", notebook)
    set_up_notebook("", NEEDED, *MODULES)
    assert words[-1] == f"alonekit @ {(unpacked / 'wheels' / FILES[1]).as_uri()}"


def test_both_wheels_must_be_in_the_same_folder(folder: Path) -> None:
    (folder / "wheels").mkdir()
    (folder / FILES[0]).touch()
    (folder / "wheels" / FILES[1]).touch()
    assert "Download" in said()
