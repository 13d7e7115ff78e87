"""Tests of Pyodide's files: from any source, and only with the right hashes."""

import hashlib
import json
import marshal
import os
import subprocess
import sys
import zipfile
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from types import SimpleNamespace

import pytest
from browser.pyodide import files as pyodide_files
from browser.pyodide import library as pyodide_library
from browser.pyodide.files import NotObtained, obtain
from browser.pyodide.library import LIBRARY, MADE, PACKAGES
from commands import build, pyodide
from repository import ROOT
from site_server import serving

CONTENT = {"python_stdlib.zip": b"a library", "numpy.whl": b"a wheel"}
PACKAGE = {"name": "a-package", "version": "1.0", "folder": "a_package/assets"}


@pytest.fixture
def pinned(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, object]:
    """Replace Pyodide's files by two small ones, with an unreachable release address."""
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in CONTENT.items()}
    lock = tmp_path / "lock.json"
    entry = {"file_name": "numpy.whl", "sha256": hashes["numpy.whl"]}
    lock.write_text(json.dumps({"packages": {"numpy": entry}}))
    found: dict[str, object] = {
        "version": "1",
        "files": {"python_stdlib.zip": hashes["python_stdlib.zip"]},
        "release": {"address": "http://127.0.0.1:9/"},  # no server listens there
        "package": PACKAGE,
    }
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(pyodide_files, "LOCK", lock)
    monkeypatch.setattr(pyodide_files, "pinned", lambda: found)
    return found


def wheel(folder: Path, content: dict[str, bytes]) -> Path:
    """Write a package that pip finds in the folder."""
    folder.mkdir()
    with zipfile.ZipFile(folder / "a_package-1.0-py3-none-any.whl", "w") as archive:
        for name, data in content.items():
            archive.writestr(f"{PACKAGE['folder']}/{name}", data)
        about = "a_package-1.0.dist-info"
        head = "Metadata-Version: 2.1\nName: a-package\nVersion: 1.0\n"
        archive.writestr(f"{about}/METADATA", head)
        tag = "Wheel-Version: 1.0\nGenerator: a test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        archive.writestr(f"{about}/WHEEL", tag)
        archive.writestr(f"{about}/RECORD", "")
    return folder


def find_in(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))


def test_files_are_downloaded_from_the_release_once(pinned, tmp_path: Path) -> None:
    release = tmp_path / "release"
    release.mkdir()
    for name, content in CONTENT.items():
        (release / name).write_bytes(content)
    with serving(release) as server:
        pinned["release"] = {"address": f"{server.origin}/"}
        folder = obtain(tmp_path / "cache")
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == CONTENT
        (folder / "numpy.whl").write_bytes(b"something else")
        server.sent.clear()
        obtain(folder)
        assert [answer.path for answer in server.sent] == ["/numpy.whl"]
        server.sent.clear()
        assert obtain(folder) == folder
        assert server.sent == []


def test_files_come_from_the_pip_package_if_the_release_is_unreachable(
    pinned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find_in(monkeypatch, wheel(tmp_path / "wheels", CONTENT | {"scipy.whl": b"not wanted"}))
    folder = obtain(tmp_path / "users" / "cache")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == CONTENT


def test_files_with_a_wrong_hash_are_refused(pinned, tmp_path: Path) -> None:
    def bring(folder: Path, names: list[str]) -> list[tuple[str, bytes]]:
        return list((CONTENT | {"numpy.whl": b"not the one"}).items())

    with pytest.raises(NotObtained, match=r"a place: numpy\.whl is another file"):
        obtain(tmp_path / "cache", [("a place", bring)])
    assert not (tmp_path / "cache" / "numpy.whl").exists()


def test_missing_files_are_reported_in_one_line(
    pinned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    find_in(monkeypatch, tmp_path / "empty")
    with pytest.raises(NotObtained) as found:
        obtain(tmp_path / "cache")
    assert "its own address: " in str(found.value)
    assert "a package that has it: ERROR: No matching distribution" in str(found.value)
    assert "\n" not in str(found.value)


def test_the_build_continues_without_pyodide_and_warns(
    monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    def nowhere(folder: Path) -> Path:
        raise NotObtained("its own address: out of reach")

    monkeypatch.delenv("PAGE_PYTHON", raising=False)
    monkeypatch.setattr(pyodide_files, "obtain", nowhere)
    assert build.page_python() == ""
    said = capsys.readouterr().err
    assert said == "built without Python in the pages (its own address: out of reach)\n"
    monkeypatch.setenv("PAGE_PYTHON", "0")
    assert build.page_python() == ""
    assert capsys.readouterr().err == ""


# ---- the archives with Python's library and packages, which pages fetch


@pytest.fixture
def got(tmp_path: Path) -> Path:
    """Create a folder with a library and a package; some of their files are unneeded."""
    with zipfile.ZipFile(tmp_path / "python_stdlib.zip", "w") as archive:
        archive.writestr("answers.py", '"""Texts."""\nassert False\nanswer = 42\n')
        archive.writestr("wrong.py", "answer =\n")
        archive.writestr("idlelib/idle.py", "")
    with zipfile.ZipFile(tmp_path / "fonts-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr("fonts/letters.ttf", b"abc")
        archive.writestr("fonts/tests/test_letters.py", "")
        archive.writestr("fonts-1.0.dist-info/LICENSE", "free")
        archive.writestr("fonts-1.0.dist-info/RECORD", "")
    return tmp_path


def names(path: Path) -> set[str]:
    with zipfile.ZipFile(path) as archive:
        return set(archive.namelist())


def test_modules_in_the_library_archive_are_compiled_and_importable(
    got: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    this = int.from_bytes(MAGIC_NUMBER[:2], "little")
    monkeypatch.setattr(pyodide_library, "MAGIC", this)
    pyodide_files.make(got)
    assert names(got / LIBRARY) == {"answers.pyc", "wrong.py"}
    assert names(got / PACKAGES) == {"fonts/letters.ttf", "fonts-1.0.dist-info/LICENSE"}
    load = "import sys; sys.path.insert(0, sys.argv[1]); import answers"
    told = "print(answers.answer, answers.__doc__)"
    command = [sys.executable, "-c", f"{load}; {told}", str(got / LIBRARY)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "42 None\n"


def test_only_some_packages_keep_their_docstrings_and_assertions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pyodide_library, "MAGIC", int.from_bytes(MAGIC_NUMBER[:2], "little"))
    for name, kept in (("numpy/a.py", True), ("other/numpy/a.py", False)):
        entry, content = pyodide_library.as_loaded(name, b'"""Text."""\nassert checked\n')
        assert entry == f"{name}c"
        assert content[:16] == MAGIC_NUMBER + b"\0" * 12
        code = marshal.loads(content[16:])
        assert ("Text." in code.co_consts, "checked" in code.co_names) == (kept, kept)


def test_archives_hold_sources_and_a_warning_is_printed_if_nothing_can_compile(
    got: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pyodide_library, "MAGIC", 0)
    monkeypatch.setattr("shutil.which", lambda name: None)
    pyodide_files.make(got)
    assert names(got / LIBRARY) == {"answers.py", "wrong.py"}
    said = "Python in the pages starts slowly (there is no Node)\n"
    assert capsys.readouterr().err == said
    # The same files aren't packed again, but the compilation is tried again, with the same warning.
    before = [(got / name).stat().st_mtime_ns for name in MADE]
    pyodide_files.make(got)
    assert [(got / name).stat().st_mtime_ns for name in MADE] == before
    assert capsys.readouterr().err == said
    this = int.from_bytes(MAGIC_NUMBER[:2], "little")
    monkeypatch.setattr(pyodide_library, "MAGIC", this)
    pyodide_files.make(got)
    assert "answers.pyc" in names(got / LIBRARY)
    assert capsys.readouterr().err == ""


NODE = """#!/bin/sh
echo "$1 $2 $3" > {log}
echo words
echo "a warning
{last}" >&2
exit {status}
"""


@pytest.mark.parametrize(
    ("status", "last", "reason"),
    [(0, "", ""), (1, "  too old ", "too old"), (1, "", "a warning")],
)
def test_node_compiles_if_this_python_cannot(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    status: int,
    last: str,
    reason: str,
) -> None:
    """Playwright's Node is tried first, then the system's."""
    carried = tmp_path / "playwright" / "driver"
    carried.mkdir(parents=True)
    broken, works = carried / "node", tmp_path / "node"
    broken.write_text("#!/no/such/program\n")
    works.write_text(NODE.format(log=tmp_path / "log", last=last, status=status))
    for program in (broken, works):
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.setattr(pyodide_library, "MAGIC", 0)
    for places in ([str(tmp_path / "playwright")], []):
        spec = SimpleNamespace(submodule_search_locations=places)
        monkeypatch.setattr(pyodide_files, "find_spec", lambda _, spec=spec: spec)
        assert pyodide_files.compiled(tmp_path / "from", tmp_path / "to") == reason
        words = (tmp_path / "log").read_text().split()
        assert words == [str(pyodide_files.COMPILER), str(tmp_path / "from"), str(tmp_path / "to")]
    assert capfd.readouterr() == ("", "")


def test_without_playwright_the_systems_node_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pyodide_library, "MAGIC", 0)
    monkeypatch.setattr(pyodide_files, "find_spec", lambda _: None)
    monkeypatch.setattr("shutil.which", lambda name: name and f"/no/such/{name}")
    assert "/no/such/node" in pyodide_files.compiled(Path("from"), Path("to"))


def test_pyodide_archives_are_built_inside_their_target_folder(
    got: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Moves within a folder are atomic, so readers never see partial files."""
    seen: list[Path] = []

    def compiled(source: Path, target: Path) -> str:
        seen.append(target)
        pyodide_library.made(source, target)
        return ""

    monkeypatch.setattr(pyodide_files, "compiled", compiled)
    before = set(got.iterdir())
    pyodide_files.make(got)
    pyodide_files.make(got)
    assert [target.parent for target in seen] == [got]
    made = {path.name for path in set(got.iterdir()) - before}
    assert made == {*MADE, pyodide_files.MADE_FROM}
    (got / PACKAGES).unlink()
    pyodide_files.make(got)
    assert len(seen) == 2


def test_the_pyodide_cache_is_in_the_users_cache_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = pyodide_files.pinned()["version"]
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    assert pyodide_files.cache() == tmp_path / "own" / "roofline" / f"pyodide-{version}"
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert pyodide_files.cache() == tmp_path / ".cache" / "roofline" / f"pyodide-{version}"


@pytest.mark.parametrize("found", [True, False])
def test_the_command_prints_the_folder_or_a_one_line_error(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    found: bool,
) -> None:
    def obtained(folder: Path) -> Path:
        if not found:
            raise NotObtained("no network")
        return folder

    monkeypatch.setattr(pyodide, "cache", lambda: tmp_path)
    monkeypatch.setattr(pyodide, "obtain", obtained)
    monkeypatch.setattr(pyodide, "make", lambda folder: folder / "made")
    assert pyodide.main() == int(not found)
    out = f"{tmp_path / 'made'}\n" if found else ""
    err = "" if found else "Pyodide could not be had (no network)\n"
    assert capsys.readouterr() == (out, err)


def test_the_lock_has_all_dependencies_and_hashes() -> None:
    packages = json.loads(pyodide_files.LOCK.read_text(encoding="utf-8"))["packages"]
    assert {"numpy", "matplotlib"} <= set(packages)
    for package in packages.values():
        assert set(package["depends"]) <= set(packages)
    assert all(len(digest) == 64 for digest in pyodide_files.wanted().values())


@pytest.mark.long
def test_the_pyodide_command_prints_the_folder_of_its_files() -> None:
    """Use the real files, which are downloaded unless they are in the cache."""
    script = [sys.executable, str(ROOT / "site"), "pyodide"]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    folder = Path(done.stdout.strip())
    assert pyodide_files.missing(folder) == []
    assert pyodide_files.how_made(folder).endswith(" compiled")
    for archive, entry in ((LIBRARY, "json/decoder"), (PACKAGES, "matplotlib/artist")):
        assert f"{entry}.pyc" in names(folder / archive)
        assert f"{entry}.py" not in names(folder / archive)
