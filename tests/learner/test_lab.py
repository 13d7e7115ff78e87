"""A learner works in JupyterLab, as `make lab` opens it in a fresh copy of the course.

JupyterLab starts once in English, and in the long tests again in Chinese, over the same work. The
tests of each start share its page, and run in this order.
"""

import html
import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from config_files import ROWS
from lab import Lab, fresh_course, make_lab, own, text_of
from learner import PASSED, graded_points, parts, solutions
from playwright.sync_api import Browser, expect
from repository import ROOT
from untranslated import without

from grading.release import exercises

FIRST = "int8-matmul"
SECOND = "int8-weights"
UNTOUCHED = "weight-per-example"
CHAPTER = "chapters/1-time.ipynb"
HAN = re.compile("[\u4e00-\u9fff]")
ENGLISH = re.compile("[a-z]{2} [a-z]{2}")
OWN = "it takes 2 times as long"  # as a translated line of the chapter, but the learner's own
WIDGET = "application/vnd.jupyter.widget-view+json"
ADDED = "This sentence is new."
# Links to other notebooks; code may contain brackets, too.
LINK = re.compile(r"\]\((?![a-z]+:)([^()\s]+)\)")
CODE = re.compile(r"`+[^`]*`+|\$[^$]*\$")


def title(page: str) -> str:
    """Return the title of a page, such as "chapters/time"."""
    if page.startswith("exercises/"):
        return exercises.load(page.removeprefix("exercises/")).title
    text = (ROOT / f"{page}.md").read_text(encoding="utf-8")
    return re.findall(r"^# (.*)$", text, re.MULTILINE)[0].replace("`", "")


def pages() -> list[str]:
    """Return the course's pages, from its table of contents."""
    found = re.findall(r"file: ([\w/-]+)", (ROOT / "_toc.yml").read_text(encoding="utf-8"))
    return [page for page in found if page.startswith(("chapters/", "exercises/"))]


@pytest.fixture(scope="module")
def course(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the course after the site was built, which has run the cells of all pages."""
    return fresh_course(tmp_path_factory.mktemp("clone") / "course")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def lab(course: Path, home: Path, browser: Browser) -> Iterator[Lab]:
    with make_lab(course, browser, home) as lab:
        yield lab


@pytest.fixture(scope="module")
def work(course: Path) -> Path:
    return course / "my-work"


def solution(course: Path, name: str, system: str = "C.UTF-8") -> subprocess.CompletedProcess[str]:
    """Ask for a solution on a system in this language."""
    command = ["make", "--silent", "solution", f"EXERCISE={name}"]
    given = os.environ | {"LC_ALL": system}
    return subprocess.run(command, cwd=course, env=given, capture_output=True, text=True)


# ---- in English


def test_a_folder_that_cannot_be_written_is_named_in_one_line(course: Path, home: Path) -> None:
    place = course / "my-work"
    place.touch()  # a file where the folder would be
    command = ["make", "--silent", "lab", "LAB_ARGS=--version"]
    done = subprocess.run(command, cwd=course, env=own(home), capture_output=True, text=True)
    place.unlink()
    assert any(line.startswith(str(place)) for line in done.stderr.splitlines())
    assert "Traceback" not in done.stderr
    assert done.returncode != 0
    early = solution(course, FIRST)  # before there is anything to look into
    assert (early.returncode != 0, early.stdout, "make lab" in early.stderr) == (True, "", True)


def test_the_start_page_lists_the_whole_course_and_leads_to_it(lab: Lab) -> None:
    listed = " ".join(lab.prose())
    missing = [page for page in pages() if title(page) not in listed]
    assert missing == []
    sheet = lab.page.locator(".jp-Notebook")
    for name in exercises.names():
        line = sheet.locator("li").filter(has=lab.page.locator(f"a[href*='{name}/{name}.ipynb']"))
        assert "minutes" in line.inner_text()
        assert "Read first" in line.inner_text()
    sheet.locator(f"a[href*='{FIRST}/{FIRST}.ipynb']").click()
    heading = exercises.load(FIRST).title
    lab.page.locator(".jp-Notebook").get_by_role("heading", name=heading).wait_for()
    assert lab.page.locator(".lm-MenuBar-item", has_text="Nbgrader").count() == 0


def test_validate_lists_what_each_failed_check_says(lab: Lab) -> None:
    lab.open(f"{SECOND}/{SECOND}.ipynb")
    first, second, *others = list(parts(SECOND))
    lab.write(f"{first}-solution", solutions(SECOND)[first])
    wrong = f"def {parts(SECOND)[second].function}(**sizes):\n    return 2.0"
    lab.write(f"{second}-solution", wrong)
    lab.run_all()
    lab.save()
    said = lab.validate()
    assert "not right yet" in said
    assert said.count("still to be written") == len(others)
    assert f'check("{first}"' not in said
    assert all(f'check("{key}"' in said for key in (second, *others))


def test_an_exercise_is_solved_checked_and_validated(lab: Lab, work: Path) -> None:
    lab.open(f"{FIRST}/{FIRST}.ipynb")
    keys = list(parts(FIRST))
    lab.write(f"{keys[0]}-solution", "def half(")  # its check finds no function
    lab.run_all()  # continues past it, and past unwritten parts
    for key, source in solutions(FIRST).items():
        lab.write(f"{key}-solution", source)
    lab.run_all()
    said = " ".join(text_of(output) for output in lab.outputs())
    assert said.count(PASSED) == len(keys)
    assert exercises.load(FIRST).moral in " ".join(said.split())
    lab.save()
    assert "Success" in lab.validate()
    assert PASSED in (work / FIRST / f"{FIRST}.ipynb").read_text(encoding="utf-8")


def test_a_chapter_runs_from_top_to_bottom_and_an_edit_changes_its_outputs(
    lab: Lab, work: Path
) -> None:
    lab.open(CHAPTER)
    assert lab.trusts()
    printed = lab.prose()
    assert not [text for text in printed if "{eval}" in text or "Error:" in text]
    assert "numbers in the text" in printed[0]
    lab.run_all()
    assert [out for out in lab.outputs() if out["output_type"] == "error"] == []
    assert lab.prose() == printed
    kinds = {kind for out in lab.outputs() for kind in out.get("data", ())}
    assert WIDGET in kinds
    shown = sum(WIDGET in out.get("data", ()) for out in lab.outputs())
    expect(lab.page.locator("figure.live[data-state=live]")).to_have_count(shown, timeout=60_000)
    assert kinds & {"image/png", "image/svg+xml"}
    themes = "window.jupyterapp.commands.execute('apputils:change-theme', {theme})"
    lab.page.evaluate(f"theme => {themes}", "JupyterLab Dark")
    plot = lab.page.locator(".jp-RenderedSVG > *").first
    expect(plot, "dark words on a dark page").to_have_css("background-color", "rgb(255, 255, 255)")
    lab.page.evaluate(f"theme => {themes}", "JupyterLab Light")
    before = [text_of(out) for out in lab.outputs()]
    lab.write_into("16384", "4096")
    lab.run_all()
    assert [text_of(out) for out in lab.outputs()] != before
    assert lab.prose() == printed
    lab.save()


def test_a_figure_in_jupyterlab_follows_its_slider(lab: Lab) -> None:
    numbers = [
        number
        for number, cell in enumerate(lab.cells())
        if "figures.time()" in "".join(cell["source"])
    ]
    lab.page.evaluate(f"window.jupyterapp.shell.currentWidget.content.scrollToItem({numbers[0]})")
    # The cell's code is folded, so find the cell by its figure.
    output = lab.page.locator(".jp-Cell").filter(has=lab.page.locator("figure.live")).last
    output.locator("figure.live[data-state=live]").wait_for()
    # JupyterLab's own style for such lists would lay the number over its words.
    is_below = "(one) => one.firstElementChild.offsetTop < one.lastElementChild.offsetTop"
    assert output.locator(".live-numbers > div").first.evaluate(is_below)
    before = output.inner_text()
    output.locator("input[type=range]").first.focus()
    lab.page.keyboard.press("ArrowRight")
    lab.page.wait_for_function(
        "([element, before]) => element.innerText !== before", arg=[output.element_handle(), before]
    )


def test_a_config_file_is_read_by_the_figure_in_jupyterlab(work: Path, lab: Lab) -> None:
    (chapter,) = (work / "chapters").glob("*-own-model.ipynb")
    lab.open(f"chapters/{chapter.name}")
    lab.run_all()
    figure = lab.page.locator("figure.live", has=lab.page.locator("[data-part=config]")).last
    figure.locator("details:has([data-part=read]) > summary").click()
    # Another file of the same name stands beside the first.
    names = {"llama-3.1-8b-instruct": "8.03 billion", "mixtral-8x7b-v0.1": "46.7 billion"}
    for name, weights in names.items():
        file = {"name": "llama-3.1-8b.json", "mimeType": "application/json"}
        content = json.dumps(ROWS[name]["config"]).encode()
        figure.locator("[data-part=config]").set_input_files({**file, "buffer": content})
        expect(figure.locator("[data-part=read]")).to_contain_text(weights)
    entries = figure.locator("select[name=model] option", has_text="llama-3.1-8b")
    expect(entries).to_have_count(2)


def test_links_between_chapters_lead_to_a_cell_of_a_notebook(work: Path, lab: Lab) -> None:
    places = [work / "start-here.ipynb", *work.glob("[!.]*/*.ipynb")]
    books = {path: nbformat.read(path, as_version=4) for path in places}
    known = {path.resolve(): {cell.id for cell in book.cells} for path, book in books.items()}
    found, lost = 0, []
    for path, book in books.items():
        for cell in book.cells:
            text = CODE.sub("", cell.source if cell.cell_type == "markdown" else "")
            for target in LINK.findall(text):
                place, _, cell_id = target.partition("#cell-id=")
                there = (path.parent / place).resolve()
                found += 1
                if there not in known or (cell_id and cell_id not in known[there]):
                    lost.append(f"{path.name}: {target}")
    assert lost == []
    assert found > 200


def test_nothing_is_written_outside_of_the_learners_folder(home: Path, lab: Lab) -> None:
    assert [path.name for path in home.rglob("*") if path.is_file()] == []


def test_make_solution_shows_the_solution_of_finished_exercises_only(
    course: Path, lab: Lab
) -> None:
    # Until the learner chooses a language, that of the system is spoken.
    refused = solution(course, SECOND, "zh_CN.UTF-8")
    assert refused.returncode != 0
    (line,) = (line for line in refused.stderr.splitlines() if SECOND in line)
    assert HAN.search(line)
    named = [key for key in parts(SECOND) if re.search(rf"(?<![\w-]){key}(?![\w-])", line)]
    assert named == list(parts(SECOND))[1:]  # the first is right
    assert "return" not in refused.stdout
    shown = solution(course, FIRST)
    assert shown.returncode == 0, shown.stderr
    assert all(f"def {part.function}(" in shown.stdout for part in parts(FIRST).values())


# ---- again, over the same work


@pytest.fixture(scope="module")
def mine(work: Path, lab: Lab) -> dict[str, bytes]:
    """Return notebooks in which the learner has written, one of them an earlier new version."""
    function = next(iter(parts(FIRST).values())).function
    for name, line in ((f"{FIRST}/{FIRST}.ipynb", f"def {function}("), (CHAPTER, "square = ")):
        text = (work / name).read_text(encoding="utf-8")
        assert line in text
        (work / name).write_text(text.replace(line, f"# My own.\\n{line}", 1), encoding="utf-8")
    earlier = work / FIRST / f"{FIRST}.new.ipynb"
    earlier.write_text((work / FIRST / f"{FIRST}.ipynb").read_text().replace("own", "second"))
    # A chapter that had another number when the learner wrote in it.
    (numbered,) = (work / "chapters").glob("*-intensity.ipynb")
    old = numbered.rename(numbered.with_name("99-intensity.ipynb"))
    noted = nbformat.read(old, as_version=4)
    texts = (cell for cell in noted.cells if cell.cell_type == "markdown")
    next(texts).source += "\n\nA note of mine."
    nbformat.write(noted, old)
    names = (
        f"{FIRST}/{FIRST}.ipynb",
        f"{FIRST}/{earlier.name}",
        CHAPTER,
        f"chapters/{old.name}",
    )
    return {name: (work / name).read_bytes() for name in names}


@pytest.fixture(scope="module")
def told(course: Path, home: Path, mine: dict[str, bytes]) -> str:
    """Change the course, and make its notebooks again; return what is printed."""
    for page in ("time", "roofline"):
        path = course / "chapters" / f"{page}.md"
        path.write_text(path.read_text(encoding="utf-8") + f"\n{ADDED}\n", encoding="utf-8")
    # It prepares all, and opens nothing.
    command = ["make", "lab", "LANGUAGE=en", "LAB_ARGS=--version"]
    done = subprocess.run(command, cwd=course, env=own(home), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_changed_course_overwrites_nothing(told: str, work: Path, mine: dict[str, bytes]) -> None:
    assert {name: (work / name).read_bytes() for name in mine} == mine
    beside = CHAPTER.replace(".ipynb", ".new.ipynb")
    assert Path(beside).name in told
    for path in (work / beside, next((work / "chapters").glob("*-roofline.ipynb"))):
        cells = nbformat.read(path, as_version=4).cells
        assert any(cell.source.endswith(ADDED) for cell in cells), path


def test_a_chosen_language_is_remembered(told: str, course: Path) -> None:
    said = solution(course, "no-such", "zh_CN.UTF-8").stderr
    assert "got 'no-such'" in said


# ---- in Chinese, over the same work


@pytest.fixture(scope="module")
def chinese(
    course: Path, home: Path, told: str, mine: dict[str, bytes], browser: Browser
) -> Iterator[Lab]:
    with make_lab(course, browser, home, "LANGUAGE=zh_CN") as lab:
        yield lab


@pytest.mark.long
def test_another_language_overwrites_nothing(
    chinese: Lab, work: Path, mine: dict[str, bytes]
) -> None:
    assert {name: (work / name).read_bytes() for name in mine} == mine
    for name in (f"{FIRST}/{FIRST}.new-2.ipynb", CHAPTER.replace(".ipynb", ".new.ipynb")):
        assert HAN.search(nbformat.read(work / name, as_version=4).cells[0].source)
        assert Path(name).name in chinese.told
    untouched = nbformat.read(next((work / "chapters").glob("*-roofline.ipynb")), as_version=4)
    assert HAN.search(untouched.cells[0].source)


@pytest.mark.long
def test_jupyterlab_and_its_start_page_are_in_chinese(chinese: Lab) -> None:
    chinese.open("start-here.ipynb")  # it may have opened what was open in English
    lines = "\n".join(chinese.prose()).splitlines()
    assert [line for line in map(without, lines) if ENGLISH.search(line)] == []
    efforts = [line for line in lines if "分钟" in line]
    assert [line for line in efforts if re.search(r"\b(?:easy|medium|hard)\b", line)] == []
    assert len(efforts) >= len(exercises.names())
    chinese.page.locator(".lm-MenuBar-itemLabel", has_text="运行").wait_for()
    assert HAN.search(chinese.told)


@pytest.mark.long
def test_a_chinese_chapter_runs_with_its_outputs_in_chinese(chinese: Lab) -> None:
    chinese.open(CHAPTER.replace(".ipynb", ".new.ipynb"))
    printed, built = chinese.prose(), chinese.outputs()
    chinese.write_into("square = ", f"print({OWN!r})\nsquare = ")
    chinese.run_all()
    outputs = chinese.outputs()
    for shown, left in ((built, []), (outputs, [OWN])):
        streams = [text_of(out) for out in shown if out["output_type"] == "stream"]
        lines = "".join(streams).splitlines()
        assert [line for line in lines if ENGLISH.search(line)] == left
        assert any(HAN.search(line) for line in lines)
    assert [out for out in outputs if out["output_type"] == "error"] == []
    assert chinese.prose() == printed
    tables = [html.unescape(text_of(out)) for out in outputs if "<table" in text_of(out)]
    assert all(HAN.search(table) for table in tables)
    figure = chinese.page.locator("figure.live").last
    assert HAN.search(figure.inner_text())


@pytest.mark.long
def test_a_chinese_exercise_is_checked_and_validated_in_chinese(chinese: Lab) -> None:
    chinese.open(f"{UNTOUCHED}/{UNTOUCHED}.ipynb")
    said = chinese.validate()
    assert HAN.search(said)
    assert "still to be written" not in said
    key, source = next(iter(solutions(UNTOUCHED).items()))
    chinese.write(f"{key}-solution", source)
    chinese.run_all()
    chinese.save()
    assert f'check("{key}"' not in chinese.validate()


# ---- handed in


def test_the_notebook_keeps_its_points(lab: Lab, work: Path, release: Path, tmp_path: Path) -> None:
    full = {key: part.points for key, part in parts(FIRST).items()}
    handed_in = {"ada": work / FIRST / f"{FIRST}.ipynb"}
    assert graded_points(release, tmp_path / "class", FIRST, handed_in) == {"ada": full}
