"""What `make book` does again after a change, and what it reports."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path
from typing import Any

import pytest
from book_extension.languages import Language
from browser.pyodide import files as pyodide_files
from commands import build, executed_pages, handouts, languages, slides, translated

PYODIDE, BUILT = "python", "_build/html/index.html"
# A file of each kind → the parts of a build's state that depend on it.
PARTS = {
    "index.md": {"pages"},
    "chapters/page.md": {"pages"},
    "grading/code.py": {"pages"},
    "slides/deck.md": {"pages"},
    "requirements.txt": {"pages"},
    "exercises/one/one.ipynb": {"pages", "packages"},
    "kit/roofkit/code.py": {"pages", "packages"},
    "locale/zh_CN/LC_MESSAGES/figures.po": {"pages", "packages"},
    "rooflib/data.toml": {"pages", "packages"},
    "site/code.py": {"extensions"},
    "site/style.css": {"theme"},
    f"{PYODIDE}/{pyodide_files.MADE_FROM}": {"library"},
    BUILT: {"output"},
    "chapters/__pycache__/code.pyc": set(),
    "exercises/one/.ipynb_checkpoints/one.ipynb": set(),
    "my-work/mine.md": set(),
}
NOTEBOOK = {"cells": [{"source": "1"}], "metadata": {"exercise": {"minutes": 5}}}


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a book with each file of PARTS."""
    for name in PARTS:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(json.dumps(NOTEBOOK) if name.endswith(".ipynb") else "a")
    monkeypatch.setattr(build, "ROOT", tmp_path)
    monkeypatch.setattr(build.os, "environ", {build.PYODIDE: str(tmp_path / PYODIDE)})
    return tmp_path


@pytest.mark.parametrize("name", PARTS)
def test_a_changed_file_changes_only_the_parts_of_the_state_that_depend_on_it(
    book: Path, name: str
) -> None:
    before = build.state(book)
    assert build.state(book) == before
    (book / name).write_text(json.dumps(NOTEBOOK | {"cells": []}))
    os.utime(book / name, (1, 1))
    after = build.state(book)
    assert {part for part in after if after[part] != before[part]} == PARTS[name]


def test_another_python_version_or_language_setting_changes_the_builds_state(
    book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = build.state(book)
    monkeypatch.setattr(build.sys, "version", "another")
    (book / "locale/zh_CN/edition.toml").write_text("published = false")
    after = build.state(book)
    changed = {part for part in after if after[part] != before[part]}
    assert changed == {"python", "languages", "pages", "packages"}


@pytest.mark.parametrize(
    ("name", "text", "again"),
    [
        ("rooflib/data.toml", "b", True),
        ("kit/roofkit/code.py", "b", True),
        ("kit/roofkit/style.css", "b", False),
        ("requirements.txt", "b", True),
        ("locale/zh_CN/LC_MESSAGES/figures.po", "b", True),
        ("locale/zh_CN/LC_MESSAGES/course.po", "b", False),
        ("chapters/page.md", "b", False),
        ("exercises/one/one.ipynb", json.dumps(NOTEBOOK | {"cells": []}), False),
        ("exercises/one/one.ipynb", json.dumps(NOTEBOOK | {"metadata": {}}), True),
    ],
)
def test_code_digest_changes_only_with_files_that_cells_use(
    book: Path, name: str, text: str, again: bool
) -> None:
    before = build.code_digest(book)
    (book / name).write_text(text)
    assert (build.code_digest(book) != before) == again


class Builds:
    """Simulated builds that only record their steps.

    `failing`: the steps that fail.
    """

    def __init__(self, book: Path) -> None:
        self.book, self.failing = book, set[str]()
        self.steps: list[str] = []
        self.options: dict[str, bool] = {}
        self.environment = book / "_build/.doctrees/environment.pickle"
        self.environment.parent.mkdir(parents=True)

    def step(self, name: str) -> bool:
        self.steps.append(name)
        return name not in self.failing

    def cells(self, book: Path) -> Path:
        self.step("cells")
        return book / "cache"

    def pages(self, book: Path, html: Path, cache: Path, **options: bool) -> int:
        assert (html, cache) == (book / "_build/html", book / "cache")
        self.options |= options | {"parsed": not self.environment.exists()}
        self.environment.touch()
        return int(not self.step("pages"))

    def slides(self, book: Path, cache: Path) -> bool:
        assert (book, cache) == (self.book, self.book / "cache")
        return self.step("slides")

    def translations(self, book: Path, cache: Path, *, fresh: bool, force_all: bool) -> Any:
        assert (book, cache) == (self.book, self.book / "cache")
        self.options |= {"fresh": fresh, "of translations": force_all}
        return self

    def finish(self, *, report: bool) -> bool:
        self.options["report"] = report
        return self.step("translations")

    def run(self) -> bool:
        self.steps.clear()
        return build.build(self.book, self.book / PYODIDE)


@pytest.fixture
def builds(book: Path, monkeypatch: pytest.MonkeyPatch) -> Builds:
    made = Builds(book)
    monkeypatch.setattr(build, "run_pages", made.cells)
    monkeypatch.setattr(build, "build_pages", made.pages)
    monkeypatch.setattr(slides, "build", made.slides)
    monkeypatch.setattr(languages, "Translations", made.translations)
    return made


ALL = ["cells", "pages", "slides", "translations"]


def test_a_second_build_does_nothing(builds: Builds) -> None:
    assert builds.run()
    assert builds.steps == ALL
    assert builds.run()
    assert builds.steps == []
    os.utime(builds.book / BUILT, (1, 1))
    assert builds.run()
    assert builds.steps == ALL


@pytest.mark.parametrize(
    ("name", "parsed", "written"),
    [
        ("chapters/page.md", False, False),
        ("site/code.py", True, False),
        ("site/style.css", False, True),
        ("rooflib/data.toml", False, True),
        (f"{PYODIDE}/{pyodide_files.MADE_FROM}", False, True),
        ("locale/fr/LC_MESSAGES/course.po", False, True),
    ],
)
def test_a_build_parses_and_writes_all_pages_only_if_needed(
    builds: Builds, name: str, parsed: bool, written: bool
) -> None:
    builds.run()
    (builds.book / name).parent.mkdir(parents=True, exist_ok=True)
    (builds.book / name).write_text("b")
    assert builds.run()
    assert builds.options == {
        "parsed": parsed,
        "fresh": parsed,
        "force_all": written,
        "of translations": written,
        "report": True,
    }


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("after", [True, False])
def test_pages_are_written_again_if_they_get_or_lose_python(
    builds: Builds, monkeypatch: pytest.MonkeyPatch, before: bool, after: bool
) -> None:
    monkeypatch.setattr(pyodide_files, "how_made", lambda _: "the same")
    monkeypatch.setattr(build, "must_download", lambda: False)
    for number, has_python in enumerate((before, after)):
        monkeypatch.setattr(build, "page_python", lambda has=has_python: "a folder" * has)
        (builds.book / "index.md").write_text(str(number))
        builds.steps.clear()
        assert build.build(builds.book)
        assert builds.steps == ALL
        assert build.os.environ[build.PYODIDE] == ("a folder" if has_python else "")
    assert builds.options["force_all"] == (before != after)


@pytest.mark.parametrize("needed", [True, False])
def test_cells_run_while_python_for_pages_is_downloaded(
    builds: Builds, monkeypatch: pytest.MonkeyPatch, needed: bool
) -> None:
    monkeypatch.setattr(build, "must_download", lambda: needed)
    monkeypatch.setattr(build, "page_python", lambda: "")
    assert build.build(builds.book)
    assert builds.steps == ["cells"] * needed + ALL


@pytest.mark.parametrize(
    ("failing", "steps"),
    [("pages", [step for step in ALL if step != "slides"]), ("slides", ALL), ("translations", ALL)],
)
def test_a_failed_build_is_repeated(builds: Builds, failing: str, steps: list[str]) -> None:
    builds.failing = {failing}
    for _ in range(2):
        assert builds.run() is False
        assert builds.steps == steps
        # Sphinx warns only while parsing a page: a retry must parse it again.
        assert builds.environment.exists() == (failing != "pages")
        assert builds.options["report"] == (failing != "pages")
    builds.failing = set()
    assert builds.run()
    assert builds.steps == ALL


@pytest.mark.parametrize(("wanted", "lacking", "expected"), [
    ("", ["a file"], True), ("0", ["a file"], False), ("", [], False),
])  # fmt: skip
def test_python_for_pages_is_downloaded_unless_disabled_or_present(
    monkeypatch: pytest.MonkeyPatch, wanted: str, lacking: list[str], expected: bool
) -> None:
    monkeypatch.setenv("PAGE_PYTHON", wanted)
    monkeypatch.setattr(pyodide_files, "missing", lambda _: lacking)
    assert build.must_download() == expected


def test_cached_outputs_are_removed_when_the_code_changes(
    book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[object] = []
    monkeypatch.setattr(handouts, "prepare", ran.append)
    monkeypatch.setattr(executed_pages, "fill_cache", lambda *told: ran.append(told))
    cache = build.run_pages(book)
    assert ran == [book, (book, cache, ["zh_CN"])]
    assert build.os.environ["ROOFKIT_LIVE"] == "page"
    cache.mkdir(parents=True)
    build.run_pages(book)
    assert cache.is_dir()
    (book / "rooflib/data.toml").write_text("b")
    assert build.run_pages(book).parent == cache.parent
    assert not cache.exists()


@pytest.mark.parametrize("before", ["", "/packages"])
def test_kernels_import_the_books_packages_first(
    book: Path, monkeypatch: pytest.MonkeyPatch, before: str
) -> None:
    monkeypatch.setitem(build.os.environ, "PYTHONPATH", before)
    for _ in range(2):
        build.os.environ["PYTHONPATH"] = before
        build.prepare_kernels(book, book / "made/ipython")
    paths = build.os.environ["PYTHONPATH"].split(os.pathsep)
    assert paths == [str(book), str(book / "kit"), *filter(None, [before])]
    profile = Path(build.os.environ["IPYTHONDIR"])
    settings = json.loads((profile / "profile_default/ipython_kernel_config.json").read_text())
    assert settings["IPKernelApp"]["log_level"] > logging.WARNING


def test_served_files_replace_those_of_an_earlier_build(tmp_path: Path) -> None:
    files, html = tmp_path / "served", tmp_path / "html"
    (html / "wheels").mkdir(parents=True)
    (html / "wheels/old.whl").touch()
    (html / "index.html").touch()
    build.serve(files, html)
    assert [path.name for path in html.iterdir()] == ["index.html"]
    (files / "wheels").mkdir(parents=True)
    (files / "wheels/new.whl").touch()
    build.serve(files, html)
    build.serve(files, html)
    assert [path.name for path in (html / "wheels").iterdir()] == ["new.whl"]
    assert (html / "index.html").exists()


@pytest.mark.parametrize("succeeded", [True, False])
def test_the_command_prints_the_path_of_the_title_page_or_an_error(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    succeeded: bool,
) -> None:
    asked: list[object] = []
    monkeypatch.setattr(build, "build", lambda *told: asked.append(told) or succeeded)
    monkeypatch.setattr("sys.argv", ["build", str(tmp_path / "a" / ".."), "--python", "folder"])
    assert build.main() == int(not succeeded)
    assert asked == [(tmp_path, Path("folder"))]
    said = capsys.readouterr()
    if succeeded:
        assert said.out == f"{tmp_path / BUILT}\n"
    else:
        assert (said.out, len(said.err.splitlines())) == ("", 1)
    monkeypatch.setattr("sys.argv", ["build"])
    build.main()
    assert asked[1] == (build.ROOT, None)


# Translations of the same book, each built by a process of its own.


@pytest.fixture
def settings(book: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Replace the build of pages by a fake; return the settings that it receives."""
    found: dict[str, Any] = {"status": 0, "slides": True}

    def pages(book: Path, html: Path, cache: Path, settings: Any, **options: Any) -> int:
        environment = html.parent / ".doctrees/environment.pickle"
        found.update(html=html, cache=cache, parsed=not environment.exists(), **settings, **options)
        environment.parent.mkdir(parents=True, exist_ok=True)
        environment.touch()
        return int(found["status"])

    def decks(book: Path, cache: Path, language: Language, **where: Path) -> bool:
        assert cache == book / "cache"
        found.update(deck_language=language.code, **where)
        return bool(found["slides"])

    monkeypatch.setattr(translated, "build_pages", pages)
    monkeypatch.setattr(slides, "build", decks)
    return found


def translate(book: Path, *options: str, monkeypatch: pytest.MonkeyPatch) -> int:
    words = ["translated", "zh_CN", str(book), str(book / "cache"), *options]
    monkeypatch.setattr("sys.argv", words)
    return translated.main()


def test_a_translation_is_built_from_its_catalogs(
    book: Path, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = "locale/zh_CN/LC_MESSAGES/chapters/page.po"
    for folder in (book, book / "others"):
        (folder / catalog).parent.mkdir(parents=True)
        (folder / catalog).write_text('msgid "A"\nmsgstr "一"\n')
    (book / "locale/zh_CN/LC_MESSAGES/figures.po").unlink()
    assert translate(book, monkeypatch=monkeypatch) == 0
    assert settings["html"] == book / "_build/zh_CN/html"
    assert settings["cache"] == book / "cache"
    assert settings["language"] == settings["deck_language"] == "zh_CN"
    assert settings["output"] == book / "_build/zh_CN"
    assert settings["source"] == book / "locale/zh_CN/LC_MESSAGES"
    (compiled,) = settings["locale_dirs"]
    assert (Path(compiled) / "zh_CN/LC_MESSAGES/chapters/page.mo").is_file()
    # Catalogs are one per page; the command compiles them, so Sphinx must not.
    assert settings["gettext_compact"] is settings["gettext_auto_build"] is False
    options = ["--catalogs", str(book / "others/locale/zh_CN/LC_MESSAGES")]
    options += ["--output", str(book / "elsewhere")]
    assert translate(book, *options, monkeypatch=monkeypatch) == 0
    assert settings["html"] == book / "elsewhere/html"
    assert settings["output"] == book / "elsewhere"
    assert settings["source"] == book / "others/locale/zh_CN/LC_MESSAGES"


def test_a_translation_is_parsed_again_after_a_failure_or_on_request(
    book: Path, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    (book / "locale/zh_CN/LC_MESSAGES/figures.po").write_text("")
    seen = []
    for options, status, decks in (
        ((), 0, True),
        ((), 0, True),
        (("--fresh",), 0, False),
        (("--force-all",), 1, True),
        ((), 0, True),
    ):
        settings.update(status=status, slides=decks, deck_language="")
        failed = translate(book, *options, monkeypatch=monkeypatch)
        seen.append([failed, settings["parsed"], settings["force_all"], settings["deck_language"]])
    assert seen == [
        [0, True, False, "zh_CN"],
        [0, False, False, "zh_CN"],
        [1, True, False, "zh_CN"],
        [1, False, True, ""],
        [0, True, False, "zh_CN"],
    ]


@pytest.mark.parametrize(
    ("fresh", "force_all", "options"), [(True, False, ["--fresh"]), (False, True, ["--force-all"])]
)
@pytest.mark.parametrize("report", [True, False])
def test_a_translation_is_built_separately_and_published_only_with_the_original(
    book: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    fresh: bool,
    force_all: bool,
    options: list[str],
    report: bool,
) -> None:
    command = book / "command.py"
    command.write_text("import sys\nprint(*sys.argv[1:], sep='\\n', file=sys.stderr)\n")
    monkeypatch.setattr(languages, "SITE", command)
    shared: list[tuple[Path, ...]] = []
    monkeypatch.setattr(languages.shared_files, "publish", lambda *told: shared.append(told))
    html = book / "_build/html"
    (html / "zh").mkdir()
    builds = languages.Translations(book, book / "cache", fresh=fresh, force_all=force_all)
    assert builds.finish(report=report)
    words = ["translated", "zh_CN", str(book), str(book / "cache"), *options]
    assert capfd.readouterr().err.splitlines() == (words if report else [])
    assert shared == ([(book / "_build/zh_CN/html", html, html / "zh")] if report else [])
    assert (html / "zh").exists() != report


def test_an_unpublished_translation_is_removed_from_the_site(
    book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (book / "locale/zh_CN/edition.toml").write_text("published = false")
    (book / "_build/html/zh").mkdir()
    assert languages.Translations(book, book, fresh=False, force_all=False).finish(report=True)
    assert not (book / "_build/html/zh").exists()
