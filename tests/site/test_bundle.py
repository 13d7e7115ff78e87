"""exercises.zip works on its own: its README's commands find what they name, its lock is whole."""

import re
import tomllib
import zipfile
from pathlib import Path

import bundle
import pytest
from repository import ROOT


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive of a release of one exercise, unpacked."""
    folder = tmp_path_factory.mktemp("bundle")
    notebook = folder / "release" / "one" / "one.ipynb"
    notebook.parent.mkdir(parents=True)
    notebook.write_text("{}")
    bundle.write(ROOT, folder / "release", folder / "exercises.zip")
    with zipfile.ZipFile(folder / "exercises.zip") as archive:
        archive.extractall(folder)
    return folder / "exercises"


def commands(unpacked: Path) -> list[str]:
    readme = (unpacked / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```sh\n(.*?)```", readme, re.DOTALL)
    return block.splitlines()


def test_every_file_that_the_readme_names_is_there(unpacked: Path) -> None:
    readme = (unpacked / "README.md").read_text(encoding="utf-8")
    named = [name for name in re.findall(r"`([\w./-]+)`", readme) if not name.startswith("venv")]
    assert {"requirements.txt", "rooflib/", "kit/", "nbgrader_config.py"} <= set(named)
    assert [name for name in named if not (unpacked / name).exists()] == []
    assert (unpacked / "one" / "one.ipynb").exists()


def test_the_commands_name_a_lock_and_every_package(unpacked: Path) -> None:
    lock, packages = (line.split() for line in commands(unpacked) if "pip install" in line)
    assert (unpacked / lock[lock.index("-r") + 1]).is_file()
    paths = [word for word in packages if word.startswith(".")]
    assert len(paths) == len(bundle.PROJECTS)
    for path in paths:
        project = tomllib.loads((unpacked / path / "pyproject.toml").read_text(encoding="utf-8"))
        folder = unpacked / path / project["project"]["name"]
        assert (folder / "__init__.py").is_file()
        assert (folder / "py.typed").is_file()
        readme = project["project"].get("readme", "pyproject.toml")
        assert (unpacked / path / readme).is_file()


def test_the_course_gives_the_same_commands(unpacked: Path) -> None:
    page = (ROOT / "chapters" / "learners.md").read_text(encoding="utf-8")
    assert "\n".join(commands(unpacked)) in page


def test_the_lock_has_what_a_learner_needs_and_no_more(unpacked: Path) -> None:
    lock = (unpacked / "requirements.txt").read_text(encoding="utf-8")
    whole = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    entries = [entry[0] for entry in bundle.ENTRY.finditer(lock)]
    assert "".join(entries) == lock
    assert all(entry in whole for entry in entries)
    names = {bundle.ENTRY.match(entry)["name"] for entry in entries}
    # What is imported, what that needs in turn, and what only Windows needs.
    assert {"numpy", "altair", "jupyterlab", "nbgrader", "pyzmq", "pywinpty", "setuptools"} <= names
    assert not {"jupyter-book", "sphinx", "mypy", "playwright", "distributed"} & names


def test_an_extra_is_needed_only_where_it_is_asked() -> None:
    plain, extra = bundle.closure(["playwright", "nbconvert"]), bundle.closure(["nbconvert[test]"])
    assert "mistune" in plain
    assert "ipykernel" in extra
    assert "ipykernel" not in plain


def test_a_lock_with_hashes_keeps_them() -> None:
    entry = (
        "numpy==2.4.6 ; python_full_version < '3.12' \\\n    --hash=sha256:aa \\\n    --hash=b\n"
    )
    lock = f"sphinx==7.4.7 \\\n    --hash=sha256:cc\n{entry}mypy==1\n"
    assert list(bundle.lock_for(ROOT, lock)) == [entry]


def test_the_same_files_make_the_same_archive(tmp_path: Path) -> None:
    for name in ("one.zip", "two.zip"):
        bundle.write(ROOT, tmp_path, tmp_path / name)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        assert {member.date_time[0] for member in archive.infolist()} == {1980}
