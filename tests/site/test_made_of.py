"""Tests that the site names each license of its pages' Python and editor."""

from __future__ import annotations

import hashlib
import re
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest
from book_extension import licenses
from browser.pyodide import files as pyodide_files
from browser.python import editor_bundle, made_of
from packaging.licenses import canonicalize_license_expression
from site_links import parsed

PINNED = pyodide_files.pinned()
OUTSIDE = [part for part in made_of.parts() if part.source]
NAMES = [part.name for part in OUTSIDE]


def listed() -> list[dict[str, list[str]]]:
    return PINNED["part"]  # type: ignore[return-value]


def test_every_served_file_belongs_to_a_listed_component_or_package() -> None:
    of_packages = {package["file_name"]: name for name, package in made_of.packages().items()}
    of_parts = {name for part in listed() for name in part.get("files", ())}
    assert of_parts.isdisjoint(of_packages)
    assert of_parts | set(of_packages) == set(pyodide_files.wanted())
    inside = {name for part in listed() for name in part.get("packages", ())}
    assert inside <= set(of_packages.values()) == set(PINNED["licenses"])  # type: ignore[call-overload]
    assert all("files" in part or "packages" in part for part in listed())


@pytest.mark.parametrize("part", OUTSIDE, ids=NAMES)
def test_each_component_has_an_spdx_license_an_address_and_a_version(part: made_of.Part) -> None:
    assert canonicalize_license_expression(part.license) == part.license
    assert re.fullmatch(r"https://\S+", part.source)
    assert part.version


def test_versions_match_the_pyodide_release() -> None:
    version = {part.name: part.version for part in OUTSIDE}
    release = made_of.release()
    assert version["Pyodide"] == release["version"] == PINNED["version"]
    assert version["Python"] == release["python"]
    assert "emscripten_" + version["Emscripten"].replace(".", "_") == release["platform"]
    for part in OUTSIDE:
        if part.name in ("Pyodide", "Python", "Emscripten"):
            assert part.source.endswith(part.version)


# Test of the editor's bundle. `make javascript` rebuilds and compares it.


def test_the_editors_bundle_matches_its_license_list() -> None:
    bundle = editor_bundle.BUNDLE.read_bytes()
    assert hashlib.sha256(bundle).hexdigest() == editor_bundle.sha256()
    texts = re.split(r"\n={80}\n\n", editor_bundle.licenses())
    titles = [f"{part.name} {part.version}" for part in made_of.editor()]
    assert [text.partition("\n")[0] for text in texts] == titles
    assert all("Permission is hereby granted, free of charge" in text for text in texts)
    assert all("Marijn Haverbeke" in text for text in texts)
    assert {part.license for part in made_of.editor()} == {"MIT"}
    assert {"@codemirror/view", "@lezer/python", "style-mod"} <= {p.name for p in made_of.editor()}


# Tests of the privacy page and of the file with license texts.


def test_the_privacy_page_and_the_license_texts_name_every_component(site: Path) -> None:
    text = (site / licenses.FILE).read_text(encoding="utf-8")
    table = parsed(site / "chapters/privacy.html").select("table")[-1]
    rows = [
        [cell.get_text(" ", strip=True) for cell in row.select("td")]
        for row in table.select("tbody tr")
    ]
    links = {a.get_text(): a["href"] for a in table.select("a")}
    for part in made_of.parts():
        assert [part.name, part.license, part.version] in rows
        assert links.get(part.name, "") == part.source
        if part.source:
            assert f"\n{part.name}, {part.version}\n" in text
            assert f"\nLicense: {part.license}\n" in text
            assert part.source in text
    assert rows[-1][:2] == [made_of.EDITOR, "MIT"]
    assert len(rows) == len(made_of.parts()) + 1
    assert editor_bundle.licenses() in text


def wheel(folder: Path, name: str, **files: str) -> None:
    with zipfile.ZipFile(folder / made_of.packages()[name]["file_name"], "w") as archive:
        for path, text in files.items():
            archive.writestr(path.replace("__", "/"), text)


def test_a_packages_license_files_are_included(tmp_path: Path) -> None:
    for package in made_of.packages().values():
        (tmp_path / package["file_name"]).touch()
    wheel(tmp_path, "six", x__LICENSE="Do as you like.", x__six="code", x__license_py="def f")
    wheel(tmp_path, "cycler", x__METADATA="Name: cycler")
    text = made_of.texts(tmp_path)
    assert re.search(r"six 1\S+, in the pages’ Python\n=+\n\nx/LICENSE\n\nDo as you like\.\n", text)
    assert re.search(r"cycler .*\n=+\n\nThe package brings no text of its license\.", text)
    assert "code" not in text.partition("six 1")[2].partition("=" * 80 + "\nCode")[0].split()
    assert "numpy 2" not in text


# Long tests with Pyodide's own files.


@pytest.fixture(scope="module")
def runtime() -> Path:
    return pyodide_files.obtain(pyodide_files.cache())


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(made_of.packages()))
def test_licenses_of_packages_match_their_metadata_and_have_a_text(
    runtime: Path, name: str
) -> None:
    path = runtime / made_of.packages()[name]["file_name"]
    with zipfile.ZipFile(path) as archive:
        (entry,) = [each for each in archive.namelist() if each.endswith(".dist-info/METADATA")]
        fields = message_from_bytes(archive.read(entry))
    words = [
        line.rpartition(" :: ")[2] for line in fields.get_all("Classifier", []) if "License" in line
    ]
    own = next(part.license for part in made_of.parts() if part.name == name)
    assert own in (fields["License-Expression"], fields["License"], ", ".join(words))
    text = licenses.of_files(name, made_of.members(path))
    assert "brings no text" not in text
    assert "opyright" in text


MARKS = {
    "Python": b"Python Software Foundation",
    "zlib": b" deflate {version} Copyright",
    "bzip2": b"bzip2/libbzip2",
}


@pytest.mark.long
@pytest.mark.parametrize("name", MARKS)
def test_listed_components_without_files_are_inside_pyodides_wasm_file(
    runtime: Path, name: str
) -> None:
    (part,) = [part for part in OUTSIDE if part.name == name]
    mark = MARKS[name].replace(b"{version}", part.version.encode())
    assert mark in (runtime / "pyodide.asm.wasm").read_bytes()
