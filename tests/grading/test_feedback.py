"""Tests that hostile submissions stay inert on pages and in the formgrader.

A hostile notebook is put into autograded/ as if no step of the grading had cleaned it, and
nbgrader's own commands make pages of it. The tests parse the pages as HTML and open them in a
browser. test_clean.py tests in detail what is removed.
"""

import base64
import copy
import os
import secrets
import sys
from urllib.parse import unquote

import nbformat
import pytest
import server_process
from bs4 import BeautifulSoup
from classroom import Classroom, cell
from hostile.texts import ATTACKS, ELSEWHERE, INJECTED, RUN
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output, new_raw_cell
from site_browser import PHONE, SIDEWAYS, STICKING_OUT, Traffic, contrast

from grading import sandbox
from grading.release import exercises, translation
from grading.reports import feedback
from grading.reports import feedback_page as pages
from grading.settings import settings

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
NAME = "int8-weights"
STUDENT = "mallory"
MARKDOWN = {
    "markdown-link": f"[click](javascript:{RUN})",
    "data-link": "[click](data:text/html;base64,PHNjcmlwdD4xPC9zY3JpcHQ+)",
    "file-link": "[click](evil.html)",
    "web-link": f"[click]({ELSEWHERE}/click)",
    "web-picture": f"![alt]({ELSEWHERE}/p.png)",
    "picture-with-quotes": f'![a" onerror="{RUN}](x "y\' onerror=\'{RUN}")',
    "reference": f"[x][y]\n\n[y]: javascript:{RUN}",
    "autolink": f"<javascript:{RUN}> {ELSEWHERE}/auto",
    "fence": f"```html\n<script>{RUN}</script>\n```",
    "mermaid": f"```mermaid\n</pre><script>{RUN}</script>\n```",
    "fence-language": f'```"><script>{RUN}</script>\nx\n```',
    "heading": f"# <script>{RUN}</script>",
    "table": f"| a | b |\n|:-:|---|\n| <img src=x onerror={RUN}> | b |",
    "tasks": "- [x] done\n- [ ] not done",
    "formula": f"$a < b$ and $$<script>{RUN}</script>$$ \\begin{{x}}<b onclick=1>\\end{{x}}",
    "svg-attached": "![a](attachment:a.svg)",
    "page-attached": "![a](attachment:a.html)",
    "missing": "![a](attachment:nowhere.png)",
    "deep": "> " * 1500 + "deep",
}
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
)
SVG = base64.b64encode(b"<svg xmlns='http://www.w3.org/2000/svg' onload='1'/>").decode()
# Valid folder names that look like attacks, and hostile roster entries.
ENCODED = f"%3Cimg src=x onerror={RUN.partition(';')[0]}%3E"  # percent-encoded as in URLs
ODD = "o'dd & co; `x`${1} {{7+7}} &lt;img src=x onerror=1&gt; javascript:1"
PEOPLE = {
    STUDENT: {"first_name": ATTACKS["handler"], "last_name": ATTACKS["closing"]},
    ENCODED: {},
    ODD: {"first_name": ATTACKS["svg"], "last_name": "</a>{{ 7 * 7 }}", "email": ATTACKS["script"]},
}
ACTIVE = (
    *("script", "style", "link", "meta", "base", "template", "noscript", "portal"),
    *("iframe", "frame", "frameset", "object", "embed", "applet", "svg", "math"),
    *("form", "input", "button", "select", "textarea", "video", "audio", "source"),
)


def shown(content, kind="image/png"):
    return {kind: base64.b64encode(content).decode()}


def hostile(released):
    """Return the released notebook with attacks wherever a notebook can hold text."""
    nb = copy.deepcopy(released)
    script = ATTACKS["closing"]
    for name, text in ATTACKS.items():
        loud = new_code_cell(f"# {text}", metadata={"name": text, "tags": [text]})
        loud.outputs = [
            new_output("stream", name="stdout", text=f"out {name} {text}"),
            new_output("stream", name="stderr", text=text),
            new_output("error", ename=text, evalue=text, traceback=[text]),
            new_output("display_data", {"text/plain": f"plain {name} {text}", "text/html": text}),
            new_output("display_data", {"text/html": text}, metadata={"isolated": True}),
            new_output(
                "display_data", {"text/html": text}, metadata={"text/html": {"isolated": 1}}
            ),
            new_output("display_data", {"text/markdown": text, "text/latex": text}),
            new_output("execute_result", {"application/javascript": RUN}, execution_count=1),
            new_output("display_data", {"image/svg+xml": text, "application/pdf": "x"}),
            new_output("display_data", {"application/vnd.jupyter.widget-view+json": {"a": text}}),
            new_output("display_data", {"text/vnd.mermaid": text, text: text}),
            new_output(
                "display_data", {"image/png": f'x"{text}'}, metadata={"image/png": {"width": text}}
            ),
            new_output("display_data", shown(PNG), metadata={"image/png": {"alt": text}}),
            new_output("display_data", shown(b"<script>", "image/jpeg")),
            new_output("display_data", shown(PNG), metadata={"filenames": {"image/png": text}}),
        ]
        nb.cells += [
            loud,
            new_markdown_cell(f"md {name} {text}", metadata={"tags": [text], "alt": text}),
            new_raw_cell(text, metadata={"raw_mimetype": "text/html"}),
            new_raw_cell(text),
        ]
    attached = {
        "a.svg": {"image/svg+xml": SVG},
        "a.html": {"text/html": base64.b64encode(script.encode()).decode()},
        "a.png": {"image/png": f'x" onerror="{RUN}'},
    }
    for name, text in MARKDOWN.items():
        nb.cells.append(new_markdown_cell(f"{text}", attachments=attached, metadata={"name": name}))
    for one in nb.cells[-3:]:
        one.id = "not-" + secrets.token_hex(4)
    answer = next(one for one in nb.cells if one.metadata.get("nbgrader", {}).get("solution"))
    answer.source = f'"""{script}"""'
    nb.metadata.update(
        title=script,
        authors=[{"name": script}],
        language_info={"name": script, "pygments_lexer": script, "codemirror_mode": script},
        widgets={"application/vnd.jupyter.widget-state+json": {"state": {"x": script}}},
    )
    nb.metadata.kernelspec = {"name": script, "display_name": script, "language": script}
    return nb


@pytest.fixture(scope="module")
def room(tmp_path_factory, release):
    """Set up a course with the hostile notebook among the graded ones."""
    room = Classroom(tmp_path_factory.mktemp("course"), release)
    nb = hostile(room.released(NAME))
    (part, *_) = exercises.load(NAME).parts
    says = f"{part.key}: 2 of {part.points:g} points.\nThe sentence about it.\n"
    cell(nb, part.key).outputs = [new_output("stream", name="stdout", text=says)]
    solution = cell(nb, f"{part.key}-solution").metadata.nbgrader.grade_id
    with room.course.gradebook() as gradebook:
        for student, about in PEOPLE.items():
            gradebook.update_or_create_student(student, **about)
            room.hand_in(student, NAME, room.released(NAME))
        others = [gradebook.update_or_create_submission(NAME, one) for one in (ODD, ENCODED)]
        room.others = [one.notebooks[0].id for one in others]
        submission = gradebook.update_or_create_submission(NAME, STUDENT)
        for grade in submission.notebooks[0].grades:
            grade.auto_score = 2 if grade.name == part.key else 0
        for comment in submission.notebooks[0].comments:
            if comment.name == solution:
                comment.manual_comment = f"Well *done*. {ATTACKS['script']}"
        gradebook.db.commit()
        room.submission = submission.notebooks[0].id
    for student in PEOPLE:
        file = room.course.graded(student, NAME)
        file.parent.mkdir(parents=True)
        nbformat.write(nb if student == STUDENT else room.released(NAME), file)
    return room


@pytest.fixture(scope="module", params=["the command", "the programming interface"])
def page(request, room):
    """Write a feedback page with nbgrader's command or its API; return its path."""
    file = room.course.feedback(STUDENT, NAME)
    file.unlink(missing_ok=True)
    if request.param == "the command":
        command = room.nbgrader("generate_feedback", NAME)
        assert command.returncode == 0, command.stderr[-2000:]
    else:
        with room.course._nbgrader() as api:
            result = api.generate_feedback(NAME, STUDENT)
            assert result["success"], result
    return file


def active(soup):
    """Return the active elements in this HTML, and all attributes not known to be harmless."""
    found = [str(one)[:200] for one in soup.find_all(ACTIVE)]
    for one in soup.find_all(True):
        for name, value in one.attrs.items():
            text = " ".join(value) if isinstance(value, list) else value
            local = name == "href" and text.startswith("#")
            picture = name == "src" and text.startswith(("data:image/png;", "data:image/jpeg;"))
            harmless = name in ("class", "alt", "id", "name", "start") and ELSEWHERE not in text
            harmless = harmless or (name, one.name) == ("tabindex", "div")
            color = name == "style" and one.name == "span" and text.startswith("color: rgb(")
            if not (local or (picture and one.name == "img") or harmless or color):
                found.append(f"{one.name} {name}={text[:100]}")
    return found


def test_feedback_pages_by_nbgrader_have_no_active_content(page):
    soup = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
    assert active(soup.body) == []
    head = {one.name for one in soup.head.find_all(True)}
    assert head == {"meta", "title", "style"}
    (policy,) = soup.head.find_all("meta", attrs={"http-equiv": True})
    assert policy["content"].startswith("default-src 'none'; img-src data:;")
    styles = "".join(style.get_text() for style in soup.head.find_all("style"))
    assert ELSEWHERE not in styles
    assert soup.title.get_text() == NAME


def test_feedback_pages_by_make_grade_have_no_active_content(room):
    parts = [
        {"key": part.key, "points": 0, "of": part.points} for part in exercises.load(NAME).parts
    ]
    text = pages.page(room.graded(STUDENT, NAME), NAME, STUDENT, parts, {})
    soup = BeautifulSoup(text, "html.parser")
    assert active(soup.body) == []
    assert "http-equiv" in str(soup.head)
    assert ATTACKS["closing"] in soup.body.get_text()


def test_submissions_cannot_forge_css_classes_or_ids_of_a_page(page):
    soup = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
    classes = {one for tag in soup.body.find_all(True) for one in tag.get("class", ())}
    assert not classes & {"full-credit", "no-credit", "score-saved"}
    own = {part.key for part in exercises.load(NAME).parts}
    assert own <= {tag["name"] for tag in soup.body.find_all("a", attrs={"name": True})}
    assert not own & {tag["id"] for tag in soup.body.find_all(id=True)}


def test_hostile_text_is_shown_as_text(page):
    text = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser").body.get_text()
    for name, attack in ATTACKS.items():
        if name != "ansi":
            assert text.count(attack) >= 4, name
            assert f"out {name}" in text
            assert f"plain {name}" in text
            assert f"md {name}" in text
    assert "{{ 7 * 7 }}" in text
    assert "$a < b$" in text


def test_feedback_pages_show_points_sentences_figures_and_comments(page):
    soup = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
    text = soup.get_text()
    assert "(Score: 2.0 / 20.0)" in text
    assert "The sentence about it." in text
    assert "Well done." in text
    assert "done" in [words.get_text() for words in soup.find_all("em")]
    pictures = soup.find_all("img")
    assert len(pictures) == 2 * len(ATTACKS)
    for picture in pictures:
        assert base64.b64decode(picture["src"].partition(",")[2]) == PNG
        assert picture["alt"] == feedback.ALT_TEXT


def test_feedback_pages_run_no_scripts_and_send_no_requests(page, browser):
    context = browser.new_context()
    traffic = Traffic().listen(context)
    tab = context.new_page()
    tab.goto(page.as_uri())
    tab.wait_for_load_state("networkidle")
    assert tab.evaluate("document.documentElement.dataset.ran") is None
    assert {url for url in traffic.asked if not url.startswith("data:")} == {page.as_uri()}
    assert traffic.wrong == []
    assert tab.evaluate("[...document.images].every((one) => one.naturalWidth === 1)")
    assert tab.title() == NAME
    context.close()


# Elements in a feedback page's headings that stick out of their heading, below or at the right.
OUTSIDE_HEADINGS = """() => [...document.querySelectorAll(".panel-heading")].flatMap((heading) => {
  const box = heading.getBoundingClientRect();
  return [...heading.querySelectorAll("*")].filter((part) => {
    const own = part.getBoundingClientRect();
    return own.bottom > box.bottom + 1 || own.right > box.right + 1;
  }).map((part) => part.textContent.trim());
})"""


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_long_names_of_parts_fit_on_a_phone(room, browser, tmp_path, language):
    name, long = "weight-per-example", "a-name-" * 12
    nb = room.released(name)
    if language != "en":
        nb = translation.translated(nb, name, language)
    parts = [{"key": part.key, "points": 0, "of": 1} for part in exercises.load(name).parts]
    parts.append({"key": long, "points": 0, "of": 1})
    check = next(one for one in nb.cells if one.metadata.get("nbgrader", {}).get("grade"))
    more = copy.deepcopy(check)
    more.metadata.nbgrader.grade_id = long
    more.id = "more"
    nb.cells.append(more)
    file = tmp_path / "page.html"
    file.write_text(pages.page(nb, name, STUDENT, parts, {}), encoding="utf-8")
    context = browser.new_context(viewport=PHONE, bypass_csp=True)  # so that axe's script may run
    tab = context.new_page()
    tab.goto(file.as_uri())
    assert tab.locator(".panel-heading", has_text=long).count() == 2
    assert tab.evaluate(SIDEWAYS) <= 0
    assert tab.evaluate(STICKING_OUT) == []
    assert tab.evaluate(OUTSIDE_HEADINGS) == []
    assert contrast(tab) == []
    context.close()


def test_the_content_policy_alone_blocks_scripts_and_pictures(page, browser, tmp_path):
    """Add attacks to a finished page, where only the content policy can block them."""
    broken = tmp_path / "broken.html"
    text = page.read_text(encoding="utf-8")
    start = text.index('<a name="top">')
    attacks = "".join(ATTACKS[name] for name in ("script", "handler", "remote-picture", "object"))
    broken.write_text(f"{text[:start]}{attacks}{text[start:]}", encoding="utf-8")
    context = browser.new_context()
    tab = context.new_page()
    tab.goto(broken.as_uri())
    tab.wait_for_load_state("networkidle")
    assert tab.evaluate("document.documentElement.dataset.ran") is None
    assert tab.evaluate("document.images[0].naturalWidth") == 0
    context.close()


# --- the formgrader, where the browser is logged in ----------------------------------------------


@pytest.fixture(scope="module")
def formgrader(room, tmp_path_factory):
    """Start a formgrader in the course folder; yield its address and token."""
    home, token = tmp_path_factory.mktemp("home"), secrets.token_hex()
    places = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    given = os.environ | {name: str(home / name) for name in places} | {"JUPYTER_TOKEN": token}
    command = [sys.executable, "-m", "jupyter_server", *server_process.OPTIONS]
    command += [
        "--ServerApp.jpserver_extensions={'nbgrader.server_extensions.formgrader': True}",
    ]
    with server_process.serving(command, given, room.folder) as address:
        yield address, token


def test_feedback_pages_link_parts_and_omit_unchanged_set_up_and_cases_cells(room):
    released = room.released(NAME)
    parts = [{"key": part.key, "points": 0, "of": 1} for part in exercises.load(NAME).parts]
    html = pages.page(released, NAME, STUDENT, parts, {})
    links = BeautifulSoup(html, "html.parser").select("#toc a")
    assert {part["key"] for part in parts} <= {link.get_text() for link in links}
    assert "Test cell" not in html
    (cases,) = (one for one in released.cells if "import cases" in one.source)
    (opening,) = (one for one in released.cells if "def set_up_notebook" in one.source)
    for added, line in ((cases, cases.source.splitlines()[3]), (opening, "def set_up_notebook")):
        text = BeautifulSoup(html, "html.parser").get_text()
        assert line not in text
        added.source += "\nmine = 1"
        changed = pages.page(released, NAME, STUDENT, parts, {})
        assert line in BeautifulSoup(changed, "html.parser").get_text()


@pytest.mark.long
def test_submissions_run_no_scripts_in_the_formgrader(room, formgrader, browser):
    address, token = formgrader
    context = browser.new_context()
    tab = context.new_page()
    tab.goto(f"{address}/login?token={token}")
    traffic = Traffic().listen(context)
    tab.goto(f"{address}/formgrader/submissions/{room.submission}/")
    tab.wait_for_load_state("networkidle")
    assert tab.evaluate("document.documentElement.dataset.ran") is None
    assert traffic.outside(address) == []
    # Ignore the login page's icon, whose request was aborted when the page was left.
    assert [one for one in traffic.wrong if "/favicon.ico" not in one] == []
    # The page works: it shows scores and comments from the gradebook.
    (part, *_) = exercises.load(NAME).parts
    assert tab.locator(f"input#{part.key}").get_attribute("placeholder") == "2"
    comment = tab.locator(f"#{part.key}-solution-comment")
    assert comment.input_value().startswith("Well *done*.")
    with tab.expect_response(lambda one: one.request.method == "PUT") as saved:
        comment.fill("Well *done*.")
        comment.blur()
    assert saved.value.ok
    notebook = BeautifulSoup(tab.content(), "html.parser").find(id="notebook-container")
    own = notebook.select(".panel-heading, .panel-footer")
    marked = [one for one in room.graded(STUDENT, NAME).cells if "nbgrader" in one.metadata]
    assert len(own) < 2 * len(marked)
    for one in own:  # remove the formgrader's own inputs and buttons
        one.decompose()
    assert active(notebook) == []
    assert len(notebook.find_all("img")) == 2 * len(ATTACKS)
    context.close()


@pytest.mark.long
def test_names_run_no_scripts_in_formgrader_lists(room, formgrader, browser):
    address, token = formgrader
    context = browser.new_context()
    dialogs = []
    tab = context.new_page()
    tab.goto(f"{address}/login?token={token}")
    tab.wait_for_load_state("networkidle")
    traffic = Traffic().listen(context)
    tab.on("dialog", lambda one: (dialogs.append(one.message), one.dismiss()))
    start = f"{address}/formgrader"
    waiting = [f"{start}/manage_assignments", f"{start}/gradebook", f"{start}/manage_students"]
    waiting += [f"{start}/submissions/{one}/" for one in room.others]
    of_interest = (f"{start}/gradebook/{NAME}", f"{start}/manage_s")
    seen, texts = set(), ""
    while waiting:
        place = waiting.pop(0)
        seen.add(place)
        tab.goto(place)
        tab.wait_for_load_state("networkidle")
        assert tab.evaluate("document.documentElement.dataset.ran") is None, place
        assert tab.evaluate(INJECTED) == [], place
        texts += tab.evaluate("document.body.innerText")
        # Follow the pages' own links, as the browser resolves them.
        links = tab.evaluate("[...document.querySelectorAll('tbody a')].map((one) => one.href)")
        more = [one for one in links if one.startswith(of_interest)]
        waiting += [one for one in dict.fromkeys(more) if one not in {*seen, *waiting}]
    assert dialogs == []
    assert traffic.outside(address) == []
    # Links don't escape the % in this student's name, so "%3C" means "<" and no such page exists.
    assert {unquote(one) for one in seen if "%3C" in one} == {
        f"{start}/manage_students/{unquote(ENCODED)}{rest}" for rest in ("", f"/{NAME}")
    }
    assert [one for one in traffic.wrong if "%3C" not in one and "404 (Not Found)" not in one] == []
    for name in (ODD, ENCODED, *(text for about in PEOPLE.values() for text in about.values())):
        assert name in texts
    context.close()


# --- clean ---------------------------------------------------------------------------------------


def test_cleaning_makes_a_valid_notebook_and_is_idempotent(room):
    nb = hostile(room.released(NAME))
    feedback.clean(nb)
    nbformat.validate(nb)
    once = nbformat.writes(nb)
    kinds = {
        kind for one in nb.cells for out in one.get("outputs", ()) for kind in out.get("data", ())
    }
    assert kinds == {"text/plain", "image/png"}
    assert not any("attachments" in one for one in nb.cells)
    assert set(nb.metadata) == {"kernelspec", "language_info"}
    feedback.clean(nb)
    assert nbformat.writes(nb) == once


def test_nbgrader_metadata_is_kept(room):
    before = room.released(NAME)
    after = copy.deepcopy(before)
    feedback.clean(after)
    for was, now in zip(before.cells, after.cells, strict=True):
        assert now.metadata.get("nbgrader") == was.metadata.get("nbgrader")
        assert (now.source, now.get("id")) == (was.source, was.get("id"))


def test_clean_is_the_last_autograde_preprocessor_and_the_only_one_for_pages():
    config = settings()
    assert config.Autograde.autograde_preprocessors[-1] is feedback.Clean
    assert config.HTMLExporter.preprocessors == [feedback.Clean]


def test_autograde_requires_a_sandbox():
    assert settings().Autograde.pre_convert_hook is sandbox.require
