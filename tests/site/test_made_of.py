"""Of all that Python in the pages and its editor are made of, somebody is told the licence."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from email import message_from_bytes
from importlib import metadata
from pathlib import Path

import pyodide_files
import pytest
from book_extension import licences
from packaging.licenses import canonicalize_license_expression
from page_python import codemirror, made_of
from site_links import parsed

PINNED = pyodide_files.pinned()
OUTSIDE = [part for part in made_of.parts() if part.source]
NAMES = [part.name for part in OUTSIDE]


def told() -> list[dict[str, list[str]]]:
    return PINNED["part"]  # type: ignore[return-value]


def test_every_file_that_is_served_is_of_parts_with_a_licence() -> None:
    of_packages = {package["file_name"]: name for name, package in made_of.packages().items()}
    of_parts = {name for part in told() for name in part.get("files", ())}
    assert of_parts.isdisjoint(of_packages)
    assert of_parts | set(of_packages) == set(pyodide_files.wanted())
    inside = {name for part in told() for name in part.get("packages", ())}
    assert inside <= set(of_packages.values()) == set(PINNED["licences"])  # type: ignore[call-overload]
    assert all("files" in part or "packages" in part for part in told())


@pytest.mark.parametrize("part", OUTSIDE, ids=NAMES)
def test_a_part_has_a_licence_that_spdx_knows_and_a_place(part: made_of.Part) -> None:
    assert canonicalize_license_expression(part.licence) == part.licence
    assert re.fullmatch(r"https://\S+", part.source)
    assert part.version


def test_parts_are_those_of_the_release() -> None:
    version = {part.name: part.version for part in OUTSIDE}
    release = made_of.release()
    assert version["Pyodide"] == release["version"] == PINNED["version"]
    assert version["Python"] == release["python"]
    assert "emscripten_" + version["Emscripten"].replace(".", "_") == release["platform"]
    for part in OUTSIDE:
        if part.name in ("Pyodide", "Python", "Emscripten"):
            assert part.source.endswith(part.version)


# The editor.


def yarns() -> Iterator[tuple[str, list[str]]]:
    """Name and dependencies of each package of JupyterLab, as its own lock has them."""
    lab = Path(str(metadata.distribution("jupyterlab").locate_file("jupyterlab")))
    for block in (lab / "staging/yarn.lock").read_text(encoding="utf-8").split("\n\n"):
        if head := re.match(r'\s*"((?:@[^@/]+/)?[^@"]+)@', block):
            part = re.search(r"^  dependencies:\n((?:    .*(?:\n|$))*)", block, re.MULTILINE)
            names = re.findall(r'^    "?([^":]+)"?:', part[1], re.MULTILINE) if part else []
            yield head[1], names


def test_every_package_of_the_editor_is_named_with_its_licence() -> None:
    needs: dict[str, set[str]] = {}
    for name, names in yarns():
        needs.setdefault(name, set()).update(names)
    found, left = set(), set(codemirror.WANTED)
    while left:
        name = left.pop()
        found.add(name)
        left |= needs[name] - found
    assert {"crelt", "@lezer/python"} <= found
    assert found == {part.name for part in made_of.editor()}
    assert {part.licence for part in made_of.editor()} == {"MIT"}
    text = codemirror.licences(codemirror.STATIC)
    assert [name for name in found if not re.search(rf"(?m)(^|, ){name}[ ,]", text)] == []
    assert text in codemirror.script()


# What the site says.


def test_the_page_and_the_texts_name_all_of_it(site: Path) -> None:
    text = (site / licences.FILE).read_text(encoding="utf-8")
    table = parsed(site / "chapters/privacy.html").select("table")[-1]
    rows = [
        [cell.get_text(" ", strip=True) for cell in row.select("td")]
        for row in table.select("tbody tr")
    ]
    links = {a.get_text(): a["href"] for a in table.select("a")}
    for part in made_of.parts():
        assert [part.name, part.licence, part.version] in rows
        assert links.get(part.name, "") == part.source
        if part.source:
            assert f"\n{part.name}, {part.version}\n" in text
            assert f"\nLicence: {part.licence}\n" in text
            assert part.source in text
    assert rows[-1][:2] == [made_of.EDITOR, "MIT"]
    assert len(rows) == len(made_of.parts()) + 1
    assert codemirror.licences(codemirror.STATIC) in text


def wheel(folder: Path, name: str, **files: str) -> None:
    with zipfile.ZipFile(folder / made_of.packages()[name]["file_name"], "w") as archive:
        for path, text in files.items():
            archive.writestr(path.replace("__", "/"), text)


def test_a_package_hands_on_its_texts(tmp_path: Path) -> None:
    for package in made_of.packages().values():
        (tmp_path / package["file_name"]).touch()
    wheel(tmp_path, "six", x__LICENSE="Do as you like.", x__six="code", x__licence_py="def f")
    wheel(tmp_path, "cycler", x__METADATA="Name: cycler")
    text = made_of.texts(tmp_path)
    assert re.search(r"six 1\S+, in the pages’ Python\n=+\n\nx/LICENSE\n\nDo as you like\.\n", text)
    assert re.search(r"cycler .*\n=+\n\nThe package brings no text of its licence\.", text)
    assert "code" not in text.partition("six 1")[2].partition("=" * 80 + "\nCode")[0].split()
    assert "numpy 2" not in text


# Pyodide's own files, which the tests of every day do without.


@pytest.fixture(scope="module")
def runtime() -> Path:
    return pyodide_files.obtain(pyodide_files.cache())


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(made_of.packages()))
def test_a_packages_licence_has_its_own_words_and_a_text(runtime: Path, name: str) -> None:
    path = runtime / made_of.packages()[name]["file_name"]
    with zipfile.ZipFile(path) as archive:
        (entry,) = [each for each in archive.namelist() if each.endswith(".dist-info/METADATA")]
        fields = message_from_bytes(archive.read(entry))
    words = [
        line.rpartition(" :: ")[2] for line in fields.get_all("Classifier", []) if "License" in line
    ]
    own = next(part.licence for part in made_of.parts() if part.name == name)
    assert own in (fields["License-Expression"], fields["License"], ", ".join(words))
    text = licences.of_files(name, made_of.members(path))
    assert "brings no text" not in text
    assert "opyright" in text


SAID = {
    "Python": b"Python Software Foundation",
    "zlib": b" deflate {version} Copyright",
    "bzip2": b"bzip2/libbzip2",
}


@pytest.mark.long
@pytest.mark.parametrize("name", SAID)
def test_a_part_is_in_the_file_that_it_is_said_to_be_in(runtime: Path, name: str) -> None:
    (part,) = [part for part in OUTSIDE if part.name == name]
    said = SAID[name].replace(b"{version}", part.version.encode())
    assert said in (runtime / "pyodide.asm.wasm").read_bytes()
