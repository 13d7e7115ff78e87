"""The start page (roofkit-start/start.js) with stand-ins for JupyterLab.

test_validate_button.py tests it in JupyterLab itself.
"""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Error, Page, Route
from repository import ROOT

EXTENSION = ROOT / "kit/roofkit/validate/labextensions/roofkit-start/start.js"
LAB = "http://lab.test/user/lab"
COURSE = {
    "title": "A course",
    "parts": [
        {
            "caption": "Chapters",
            "pages": [
                {"path": "chapters/1-time.ipynb", "title": "Time", "number": "1"},
                {"path": "chapters/2 more.ipynb", "title": "More", "number": "2"},
            ],
        },
        {"caption": "Exercises", "pages": []},
    ],
    "exercises": [
        {
            "path": "one/one.ipynb",
            "title": "Exercise 1",
            "caption": "Exercises",
            "parts": ["a", "b"],
            "minutes": 20,
            "difficulty": "easy",
            "first": {"path": "chapters/1-time.ipynb", "title": "Time"},
        },
        {
            "path": "two/two.ipynb",
            "title": "Exercise 2",
            "caption": "Exercises",
            "parts": ["c", "d"],
        },
    ],
}
# Stand-ins for JupyterLab's parts that the extension uses. `lab.files` has the files by path. If
# `lab.hold` is set, files are read only when the test calls the functions in `lab.held`.
STAND_INS = """() => {
  class Widget {
    constructor({ node } = {}) {
      this.node = node ?? document.createElement("div");
      this.title = {};
    }
    addClass(name) {
      this.node.classList.add(name);
    }
    onAfterShow() {}
  }
  const lab = { files: {}, cells: [], opened: [], main: [], held: [], hold: false };
  const folder = (path) => {
    const names = Object.keys(lab.files).map((file) => {
      const rest = path ? file.slice(path.length + 1) : file;
      return file.startsWith(path) && rest ? rest.split("/")[0] : "";
    });
    const inside = [...new Set(names)].filter(Boolean);
    return inside.map((name) => ({ name, path: path ? `${path}/${name}` : name }));
  };
  const contents = {
    fileChanged: { connect: (listener) => (lab.changed = listener) },
    async get(path, options) {
      if (!options) return { content: folder(path) };
      if (!options.content) return {};
      const content = lab.files[path];
      if (lab.hold) await new Promise((resolve) => lab.held.push(resolve));
      if (content === "unreadable") throw new Error("not JSON");
      return { content };
    },
  };
  const show = (widget) => {
    widget.isVisible = true;
    widget.onAfterShow?.();
  };
  const shell = {
    widgets: () => lab.main[Symbol.iterator](),
    add(widget, area, { activate = true } = {}) {
      if (area === "main") lab.main.push(widget);
      document.body.append(widget.node);
      if (activate) show(widget);
    },
    activateById: (id) => show(lab.main.find((widget) => widget.id === id)),
  };
  const cell = ([type, source, grade_id], number) => ({
    type,
    id: `${number}`,
    sharedModel: { getSource: () => source },
    getMetadata: (key) => (key === "nbgrader" && grade_id ? { grade_id } : undefined),
  });
  const commands = {
    async execute(command, { path }) {
      lab.opened.push(command, path);
      const content = {
        model: { cells: lab.cells.map(cell) },
        setFragment: async (fragment) => lab.opened.push(content.activeCellIndex, fragment),
      };
      return { context: { ready: Promise.resolve() }, revealed: Promise.resolve(), content };
    },
  };
  const serviceManager = { contents, serverSettings: { baseUrl: "http://lab.test/user/" } };
  lab.app = { restored: Promise.resolve(), commands, serviceManager, shell };
  window.lab = lab;
  lab.start = async () => {
    const { init, get } = window._JUPYTERLAB["roofkit-start"];
    init({ "@lumino/widgets": { "2.0": { get: async () => () => ({ Widget }) } } });
    const { default: plugin } = (await get())();
    plugin.activate(lab.app);
    return plugin.autoStart;
  };
  // A notebook in which these parts have passed their checks.
  lab.notebook = (parts, more = []) => {
    const cells = [...parts, ...more].map((part, number) => {
      const said = [`${part}: `, `${parts.includes(part) ? "right" : "wrong"} for 3 cases\\n`];
      return {
        metadata: { nbgrader: { grade: true, grade_id: part } },
        outputs: [{}, { text: ["Checked\\n"] }, { text: number ? said.join("") : said }],
      };
    });
    const notRun = { metadata: { nbgrader: { grade: true, grade_id: "d" } } };
    return { cells: [...cells, { metadata: {} }, notRun] };
  };
}"""


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """Yield a page with stand-ins for JupyterLab, and without a course."""

    def answer(route: Route) -> None:
        if route.request.url.endswith("start.js"):
            route.fulfill(path=EXTENSION)
        else:
            html = route.request.resource_type == "document"
            route.fulfill(body="<script src='start.js'></script>" if html else "")

    errors: list[Error] = []
    with browser.new_page() as page:
        page.on("pageerror", lambda error: errors.append(error))
        page.set_default_timeout(10_000)  # short, since nothing is fetched or computed
        page.route("http://lab.test/**", answer)
        page.goto(f"{LAB}/start")
        page.evaluate(STAND_INS)
        yield page
    assert errors == []


def start(page: Page, course: object = COURSE, files: str = "{}") -> None:
    """Start the extension in a folder with this course and these files."""
    page.evaluate("(course) => { lab.files['course.json'] = course; }", json.dumps(course))
    page.evaluate(f"() => {{ Object.assign(lab.files, {files}); }}")
    assert page.evaluate("lab.start()") is True
    page.locator(".roofkit-sheet h1").wait_for()


def lines(page: Page, place: str) -> list[str]:
    return [" ".join(text.split()) for text in page.locator(place).all_inner_texts()]


def test_the_page_shows_the_course_and_what_is_next(page: Page) -> None:
    warnings: list[str] = []
    page.on("console", lambda line: warnings.append(line.text))
    start(
        page, files="{ 'one/one.ipynb': lab.notebook(['a'], ['b']), 'two/two.ipynb': 'unreadable' }"
    )
    assert page.locator("link[rel=stylesheet][href$='/lab/start.css']").count() == 1
    assert lines(page, "section:has(.exercise) h2") == ["Exercises"]

    assert "two/two.ipynb" in warnings[0]
    assert lines(page, "h1, h2") == ["A course", "Chapters", "Exercises"]
    assert lines(page, ".page") == ["1Time", "2More"]
    assert lines(page, ".exercise") == [
        "Exercise 1 20 minutes, easy Read first: Time 1 of 2 parts done",
        "Exercise 2 0 of 2 parts done",
    ]
    assert lines(page, ".summary") == ["1 of 4 parts done; next: exercise 1, part 2"]
    meters = page.locator("progress").evaluate_all("(all) => all.map((e) => [e.value, e.max])")
    assert meters == [[1, 4], [1, 2], [0, 2]]
    assert page.locator("ul:not(:has(li)), ol:not(:has(li)), p:empty, .news").count() == 0
    addresses = page.locator(".page a").evaluate_all("(all) => all.map((link) => link.href)")
    assert addresses == [
        "http://lab.test/user/lab/tree/chapters/1-time.ipynb",
        "http://lab.test/user/lab/tree/chapters/2%20more.ipynb",
    ]


def test_a_finished_course_has_no_next_part(page: Page) -> None:
    files = (
        "{ 'one/one.ipynb': lab.notebook(['a', 'b']), 'two/two.ipynb': lab.notebook(['c', 'd']) }"
    )
    start(page, files=files)
    assert lines(page, ".summary") == ["4 of 4 parts done"]


def test_a_course_without_exercises_has_no_summary(page: Page) -> None:
    start(page, COURSE | {"exercises": []})
    assert page.locator(".summary, .exercise, progress").count() == 0
    assert lines(page, ".roofkit-sheet") == ["A course Chapters 1Time 2More Exercises"]


def test_the_page_is_in_the_language_of_the_course(page: Page) -> None:
    words = {"{right} of {all} parts done": "{all} 题完成 {right}", "Start page": "开始"}
    start(page, COURSE | {"words": words})
    assert "4 题完成 0" in lines(page, ".summary")[0]
    assert page.get_by_role("button", name="开始").count() == 1


def test_the_start_page_links_to_newer_versions_of_a_notebook(page: Page) -> None:
    names = ["one/one.new.ipynb", "one/one.new2.ipynb", "one/one.new.txt", "one/other.ipynb"]
    start(page, files=json.dumps(dict.fromkeys(names)))
    said = "The course or its language has changed since you began. New: "
    assert lines(page, ".news") == [f"{said}one.new.ipynb, one.new2.ipynb"]
    page.get_by_role("link", name="one.new2.ipynb").click()
    assert page.evaluate("lab.opened") == ["docmanager:open", "one/one.new2.ipynb"]


# Clicks a link while a modifier key is held; returns whether the start page handled the click.
HANDLED = """(link, key) => new Promise((resolve) => {
  const heard = (event) => {
    resolve(event.defaultPrevented);
    event.preventDefault();
  };
  addEventListener("click", heard, { once: true });
  link.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, [key]: true }));
})"""


@pytest.mark.parametrize(("done", "place"), [("[]", 0), ("['a']", 2)])
def test_links_open_a_notebook_at_its_part(page: Page, done: str, place: int) -> None:
    page.evaluate(
        """() => {
          lab.cells = [
            ["markdown", "## Part 1"], ["code", "check", "a"], ["markdown", "## Part 2"],
            ["code", "## no heading"], ["markdown", "more"], ["code", "check", "b"],
            ["markdown", "## Part 3"],
          ];
        }"""
    )
    start(page, files=f"{{ 'one/one.ipynb': lab.notebook({done}) }}")
    link = page.locator(".summary a")
    link.click()
    page.wait_for_function("lab.opened.length === 4")
    assert page.evaluate("lab.opened") == [
        "docmanager:open",
        "one/one.ipynb",
        place,
        f"#cell-id={place}",
    ]
    page.get_by_role("link", name="More").click()
    assert page.evaluate("lab.opened.slice(4)") == ["docmanager:open", "chapters/2 more.ipynb"]
    # Clicks with a modifier key are left to the browser, which opens another tab or window.
    for key in ("ctrlKey", "metaKey", "shiftKey"):
        assert link.evaluate(HANDLED, key) is False
    assert page.evaluate("lab.opened.length") == 6


def test_an_open_notebook_counts_with_its_unsaved_results(page: Page) -> None:
    start(page, files="{ 'one/one.ipynb': lab.notebook([]) }")
    assert "0 of 4 parts done" in lines(page, ".summary")[0]
    page.evaluate(
        """() => {
          const model = { cells: [], toJSON: () => lab.notebook(["a", "b"]) };
          lab.main.unshift({ context: { path: "one/one.ipynb" }, content: { model } });
          lab.main.unshift({ context: { path: "one/one.ipynb" }, content: {} }, {});
          lab.changed();
        }"""
    )
    page.get_by_text("2 of 4 parts done; next: exercise 2, part 1").wait_for()


# Update the page three times; the first update's answer arrives after the second's.
RACE = """async () => {
  const settled = () => new Promise((resolve) => setTimeout(resolve));
  const shown = () => document.querySelector(".summary").textContent;
  lab.hold = true;
  lab.changed();
  await settled();
  const [first] = lab.held.splice(0);
  lab.files["one/one.ipynb"] = lab.notebook(["a"]);
  lab.changed();
  await settled();
  const [second] = lab.held.splice(0);
  lab.files["one/one.ipynb"] = lab.notebook(["a", "b"]);
  lab.changed();
  await settled();
  const found = [];
  for (const answer of [second, first, ...lab.held.splice(0)]) {
    answer();
    await settled();
    found.push(shown().slice(0, 4));
  }
  return found;
}"""


def test_a_late_answer_to_an_earlier_update_is_ignored(page: Page) -> None:
    start(page, files="{ 'one/one.ipynb': lab.notebook([]) }")
    assert page.evaluate(RACE) == ["1 of", "1 of", "2 of"]


PANEL = "lab.main.find(({ id }) => id === 'roofkit-start')"


def test_a_hidden_start_page_is_updated_when_it_is_shown_again(page: Page) -> None:
    start(page)
    page.evaluate(f"() => {{ {PANEL}.isVisible = false; }}")
    page.evaluate("() => { lab.files['one/one.ipynb'] = lab.notebook(['a']); lab.changed(); }")
    page.evaluate("new Promise((resolve) => setTimeout(resolve))")
    assert "0 of 4 parts done" in lines(page, ".summary")[0]
    page.evaluate(f"{PANEL}.onAfterShow()")
    page.get_by_text("1 of 4 parts done; next").wait_for()
    page.get_by_role("button", name="Start page").click()
    assert page.evaluate(f"{PANEL}.isVisible")
    assert page.locator(".roofkit-sheet").count() == 1


def test_the_button_reopens_a_closed_start_page(page: Page) -> None:
    start(page)
    close = f"const panel = {PANEL}; panel.isDisposed = true; panel.node.remove();"
    page.evaluate(f"() => {{ {close} lab.main.length = 0; }}")
    page.get_by_role("button", name="Start page").click()
    page.locator(".roofkit-sheet h1").wait_for()
    assert page.evaluate(f"{PANEL}.isVisible")
    assert page.evaluate(f"{PANEL}.title") == {
        "label": "Start page",
        "caption": "A course: chapters, exercises, and what is done",
        "closable": True,
    }
    assert page.evaluate(f"{PANEL}.node.tabIndex") == 0  # for scrolling by keyboard


@pytest.mark.parametrize(
    ("address", "front"), [("lab", True), ("lab/tree/a.ipynb", False), ("doc/a", False)]
)
def test_the_start_page_stays_behind_a_notebook_named_in_the_address(
    page: Page, address: str, front: bool
) -> None:
    page.evaluate("(path) => history.replaceState(null, '', path)", f"/user/{address}")
    start(page)
    drawn = page.evaluate("Boolean(lab.main.find(({ id }) => id === 'roofkit-start').isVisible)")
    assert drawn is front


def test_a_folder_without_a_course_has_no_start_page(page: Page) -> None:
    warnings: list[str] = []
    page.on("console", lambda line: warnings.append(line.text))
    page.evaluate("() => { lab.files = { 'other.json': '{}' }; }")
    page.evaluate("lab.start()")
    page.evaluate("new Promise((resolve) => setTimeout(resolve))")
    assert page.locator("button, h1").count() == 0
    assert warnings == []
