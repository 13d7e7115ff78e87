"""What is around and in a page: links, languages, menus, terms, themes, notebooks, licenses."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest
import yaml
from book_extension import languages
from bs4 import BeautifulSoup, Tag
from playwright.sync_api import Browser, expect
from reader import Reader
from repository import ROOT
from site_browser import DESK, PHONE, axe, put_theme, ready
from site_links import broken, parsed
from site_server import Server
from site_sweep import FOLDERS, PAGES, TRANSLATED, WRITTEN
from untranslated import without

HAN = re.compile("[\u4e00-\u9fff]")
LANGS = {"en": "en", "zh": "zh-CN"}
DECKS = sorted(f"slides/{path.stem}" for path in (ROOT / "slides").glob("*.md"))
BOTH = [(language, name) for language, names in PAGES.items() for name in names if name != "404"]


def page_of(site: Path, language: str, name: str) -> BeautifulSoup:
    return parsed(site / f"{FOLDERS[language]}{name}.html")


def only(page: BeautifulSoup, selector: str) -> Tag:
    (found,) = page.select(selector)
    return found


@cache
def title(page: Path) -> str:
    return "".join(one.get_text() for one in parsed(page).select("article h1")).removesuffix("#")


# ---- links

NUMBERED = r"(?:(?:chapter|exercise) )?(\d+)(?:: .+)?"


def test_every_link_leads_somewhere_and_anchors_too(site: Path) -> None:
    assert broken(site) == []


def test_next_and_previous_walk_through_the_contents(site: Path) -> None:
    for language in PAGES:
        for before, after in pairwise(WRITTEN):
            for name, other, side in (
                (before, after, "a.right-next"),
                (after, before, "a.left-prev"),
            ):
                path, target = (site / f"{FOLDERS[language]}{one}.html" for one in (name, other))
                link = only(parsed(path), side)
                assert (path.parent / str(link["href"])).resolve() == target.resolve()
                assert only(link, ".title").get_text() in title(target)


def test_the_menu_lists_all_pages_and_marks_the_one_i_read(site: Path) -> None:
    for language, name in BOTH:
        if name not in WRITTEN[1:]:
            continue
        path = site / f"{FOLDERS[language]}{name}.html"
        menu = parsed(path).select(".bd-links a")
        listed = [
            (path.parent / str(link["href"])).resolve() for link in menu if link["href"] != "#"
        ]
        assert len(set(listed)) == len(WRITTEN) - 1, name
        (here,) = (link for link in menu if link["href"] == "#")
        assert "current" in here.get_attribute_list("class")
        assert here.get_text().strip() in title(path)


def told(name: str, fact: str) -> str:
    """Return a fact at the top of a page's source, "" if it isn't told there."""
    (source,) = ROOT.glob(f"{name}.*")
    top = re.split("^(?:# )?---$", source.read_text(encoding="utf-8"), maxsplit=2, flags=re.M)[1]
    facts = yaml.safe_load(re.sub("^# ?", "", top, flags=re.M))
    return str({**facts.get("myst", {}).get("html_meta", {}), **facts}.get(fact, ""))


PARTS = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))["parts"]


def test_a_page_says_where_in_its_part_it_is_and_how_long_it_takes(site: Path) -> None:
    """Among the exercises, only they are counted; their minutes stand below their title."""
    for part in PARTS:
        names = [str(entry["file"]) for entry in part["chapters"]]
        counted = [name for name in names if name.startswith("exercises/")] or names
        for language, name in ((language, name) for language in PAGES for name in names):
            is_counted = len(counted) > 1 and name in counted
            place = [counted.index(name) + 1, len(counted)] if is_counted else []
            minutes = told(name, "minutes") if name.startswith("chapters/") else ""
            shown = only(page_of(site, language, name), "article .place").get_text()
            assert [*map(int, re.findall(r"\d+", shown))] == [*place, *map(int, minutes.split())]


def test_a_card_of_the_home_page_has_its_chapters_title_question_and_picture(site: Path) -> None:
    chapters = [
        entry["file"] for part in PARTS if part.get("numbered") for entry in part["chapters"]
    ]
    for language in PAGES:
        cards = page_of(site, language, "index").select(".cards > li")
        for name, card in zip(chapters, cards, strict=True):
            assert only(card, "a")["href"] == f"{name}.html"
            assert only(card, "a").get_text() in title(site / f"{FOLDERS[language]}{name}.html")
            pictures = [Path(str(img["src"])).stem for img in card.select("img")]
            assert pictures in ([name.removeprefix("chapters/")], [])
            asked = card.select("p")[1]
            # A new question stays English until it is translated, and is marked as such.
            is_english = language == "en" or asked.get("lang") == "en"
            text = asked.get_text()
            assert text == told(name, "question") if is_english else HAN.search(text)


def test_an_exercises_page_leads_to_its_notebook_and_to_what_to_read_first(site: Path) -> None:
    for language, name in BOTH:
        if not name.startswith("exercises/"):
            continue
        path, own = site / f"{FOLDERS[language]}{name}.html", name.removeprefix("exercises/")
        number = [one for one in WRITTEN if one.startswith("exercises/")].index(name) + 1
        assert re.findall(r"\d+", title(path))[0] == str(number), "titles count"
        effort = parsed(path).select("article h1 + p")[0]
        chapter = told(name, "read_first")
        assert only(effort, "a")["href"] == f"../chapters/{chapter}.html#chapter-{chapter}"
        said = only(effort, ".computed").get_text()
        assert told(name, "minutes") in said
        assert told(name, "difficulty") in said or language != "en"
        # That chapter leads back.
        assert page_of(site, language, f"chapters/{chapter}").select(
            f"article a[href*='exercises/{own}.html']"
        )
        assert bool(HAN.search(said)) == bool(HAN.search(said.split()[-1])) == (language == "zh")
        link = str(only(parsed(path), "a.download")["href"])
        assert Path(link).name == f"{own}.ipynb"
        book = nbformat.read(path.parent / link, as_version=4)
        assert book.cells[0].source.splitlines()[0] == f"# {title(path)}"


def test_the_syllabus_adds_up_the_minutes_of_a_session(site: Path) -> None:
    """They go through all exercises, and through all chapters in their order."""
    page = page_of(site, "en", "chapters/instructors")
    led = [str(a["href"]).partition(".html")[0] for a in page.select("tr a[href]")]
    for part in PARTS:
        there = [entry["file"].removeprefix("chapters/") for entry in part["chapters"]]
        if part.get("numbered"):
            assert [name for name in led if name in there] == there
    assert {f"../{name}" for name in WRITTEN if name.startswith("exercises/")} <= {*led}
    for row in page.select("tr:has(a[href*='exercises/'])"):
        names = [Path(str(a["href"])).name.split(".")[0] for a in row.select("a[href*=exercises]")]
        minutes = sum(int(told(f"exercises/{name}", "minutes")) for name in names)
        assert f"{minutes}" in [cell.get_text().strip() for cell in row.select("td")], names


def test_a_number_in_a_link_is_that_of_the_chapter_or_exercise(site: Path) -> None:
    """Also where it is typed, as in "exercise 4"."""
    wrong, seen = [], set()
    for language, name in BOTH:
        path = site / f"{FOLDERS[language]}{name}.html"
        for link in parsed(path).select("article a[href*='.html']"):
            target = (path.parent / str(link["href"]).partition("#")[0]).resolve()
            said = re.fullmatch(NUMBERED, link.get_text().strip(), re.IGNORECASE)
            if said and target.is_file() and (number := re.search(r"\d+", title(target))):
                seen.add(language)
                if number[0] != said[1]:
                    wrong.append(f"{path}: {link.get_text()} leads to {title(target)}")
    assert wrong == []
    assert seen == {*PAGES}


# ---- titles, descriptions, languages


def test_no_space_stands_between_chinese_characters(site: Path) -> None:
    """Nor beside full-width punctuation: also where a value or a reference is Chinese."""
    marks = "，。；：？！（）、“”《》"
    spaced = re.compile(rf"[\u4e00-\u9fff{marks}] +[\u4e00-\u9fff]|[\u4e00-\u9fff] +[{marks}]")
    found = []
    for name in TRANSLATED:
        for block in page_of(site, "zh", name).select("article :is(p, td, th, dt, h1, h2, h3)"):
            text = "".join("x" if one.find_parent("math") else one for one in block.strings)
            found += [f"{name}, {one[0]}: {text[:40]}" for one in spaced.finditer(text)]
    assert found == []


def test_words_in_formulas_are_in_the_language_of_the_page(site: Path) -> None:
    chinese = languages.words(languages.chosen("zh_CN"))
    left = [
        f"{name}: {word}"
        for name in TRANSLATED
        for word in (one.get_text() for one in page_of(site, "zh", name).select("mtext"))
        if chinese(word) != word
    ]
    assert left == []


CODE = ("code", "pre", "script", "style", "template")
# Bold words, but no power such as 2**10; a link to a page or an address.
MARKDOWN = r"(?<![A-Za-z0-9)\]*])\*\*(?=[^\W\d]|[“‘（(])[^*]*\*\*|\]\((?:https?:|#|[\w./-]+\.\w)"


def test_no_markdown_is_left_in_the_text_of_a_page(site: Path) -> None:
    """Bold that ends in full-width punctuation isn't bold, and a link may be broken as well."""
    found = []
    for language, name in [*BOTH, *((language, name) for language in PAGES for name in DECKS)]:
        for text in page_of(site, language, name).strings:
            is_code = any(e.name in CODE or "sig" in e.get("class", ()) for e in text.parents)
            if not is_code and re.search(MARKDOWN, text):
                found.append(f"{language} {name}: {text.strip()}")
    assert found == []


def test_each_page_says_in_its_language_what_it_is_about(site: Path) -> None:
    """Search engines and link previews show a page's title, description and picture."""
    seen: dict[tuple[str, str], str] = {}
    for language, name in BOTH:
        page, place = page_of(site, language, name), f"{language} {name}"
        assert page.html
        assert page.html["lang"] == LANGS[language], place
        assert page.title
        if name not in WRITTEN:
            continue
        meta = {
            str(one.get("name") or one.get("property")): str(one["content"])
            for one in page.select("meta[content]")
        }
        assert meta["og:title"] in only(page, "article h1").get_text(), place
        assert meta["og:title"] in page.title.get_text(), place
        assert "description" in meta, f"{place}: its front matter has no description or question"
        assert meta["description"] == meta["og:description"], place
        assert len(meta["description"]) > 10, place
        if language == "en":
            written = told(name, "description") or told(name, "question")
            assert meta["description"] == written, place
        elif name in TRANSLATED:
            assert HAN.search(meta["description"]) or not without(meta["description"]), place
        described = (language, meta["description"])
        assert described not in seen, (place, seen[described])
        seen[described] = place
        picture = (site / f"{FOLDERS[language]}{name}.html").parent / meta["og:image"]
        assert picture.is_file(), place


def test_the_other_language_is_offered_at_the_same_page(site: Path) -> None:
    for language, name in BOTH:
        path = site / f"{FOLDERS[language]}{name}.html"
        other = "zh" if language == "en" else "en"
        link = only(parsed(path), f"a.language[lang={LANGS[other]}]")
        target = (site / f"{FOLDERS[other]}{name}.html").resolve()
        assert (path.parent / str(link["href"])).resolve() == target, path
        assert target.is_file()
        places = {LANGS[language]: path.resolve(), LANGS[other]: target}
        for one in parsed(path).select("link[rel=alternate]"):
            if one["hreflang"] in places:
                assert (path.parent / str(one["href"])).resolve() == places[one["hreflang"]]


def test_both_languages_have_the_same_sections_figures_values_and_formulas(site: Path) -> None:
    for name in WRITTEN:
        english, chinese = (
            only(page_of(site, language, name), "article") for language in ("en", "zh")
        )
        for what in ("[id]", "figure.live", "math", "table", ".answer", ".admonition", "pre"):
            assert len(chinese.select(what)) == len(english.select(what)), (name, what)
        ids = [[str(e["id"]) for e in page.select("section[id]")] for page in (english, chinese)]
        assert ids[0] == ids[1], name


def test_the_other_language_is_one_press_away_at_the_same_place(reader: Reader) -> None:
    reader.open("chapters/time")
    # The second time, the address names another section than the one that is read.
    for number, folder in ((3, "/zh"), (6, "")):
        section = reader.page.locator("article section > section[id]").nth(number)
        name = section.get_attribute("id")
        section.evaluate("(e) => e.scrollIntoView({ behavior: 'instant' })")
        reader.page.wait_for_function(
            "(name) => document.querySelector('.bd-toc-nav a[aria-current]')?.hash === `#${name}`",
            arg=name,
        )
        reader.other_language()
        assert reader.page.url == f"{reader.origin}{folder}/chapters/time.html#{name}"
        expect(reader.page.locator(f"#{name} > :is(h2, h3)").first).to_be_in_viewport()
        assert bool(HAN.search(reader.page.locator("main h1").inner_text())) == bool(folder)
    reader.other_language()
    assert reader.page.url == f"{reader.origin}/zh/chapters/time.html#{name}"


# ---- the frame in use


def test_the_theme_is_chosen_by_keyboard_and_kept(reader: Reader) -> None:
    reader.open("chapters/references")
    assert reader.theme == "light"
    switch = reader.page.locator(".theme-switch-button").first
    switch.focus()
    for _ in range(3):
        reader.page.keyboard.press("Enter")
        if reader.theme == "dark":
            break
    assert reader.theme == "dark"
    reader.open("index")
    assert reader.theme == "dark"
    # Next comes the other theme, whatever the system says, and then what the system says, which
    # looks otherwise on the button.
    reader.page.emulate_media(color_scheme="dark")
    switch.focus()
    chosen = switch.screenshot()
    for theme in ("light", "dark"):
        switch.press("Enter")
        assert reader.theme == theme
    assert switch.screenshot() != chosen
    reader.page.emulate_media(color_scheme="light")
    expect(reader.page.locator("html")).to_have_attribute("data-theme", "light")
    # A page that is open in another tab follows, and forced colors still show the button.
    other = reader.tab().open("chapters/references")
    other.press("light/dark")
    expect(reader.page.locator("html")).to_have_attribute("data-theme", "dark")
    reader.page.emulate_media(color_scheme="light", forced_colors="active")
    expect(reader.page.locator("html")).to_have_attribute("data-theme", "light")
    chosen = switch.screenshot()
    switch.press("Enter")
    assert switch.screenshot() != chosen
    reader.page.emulate_media(forced_colors="none")


def test_a_browser_that_refuses_its_storage_changes_colors_and_searches(
    browser: Browser, server: Server
) -> None:
    context = browser.new_context(color_scheme="dark")
    context.add_init_script(
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException(); } })"
    )
    page = context.new_page()
    ready(page, f"{server.origin}/search.html?q=bandwidth", covered=True)
    page.locator("#search-results p.context").first.wait_for()
    ready(page, f"{server.origin}/chapters/references.html", covered=True)
    seen = []
    for _ in range(3):
        seen.append(page.locator("html").get_attribute("data-theme"))
        page.get_by_role("button", name="light/dark").click()
    assert seen == ["dark", "dark", "light"]  # what the system says, and what is chosen
    context.close()


def test_the_first_tab_leads_past_the_menu(reader: Reader) -> None:
    reader.open("chapters/references")
    reader.page.keyboard.press("Tab")
    reader.page.keyboard.press("Enter")
    reader.page.keyboard.press("Tab")
    assert reader.page.evaluate("Boolean(document.activeElement.closest('main'))")


# Whether the element that has the focus looks otherwise than without it.
STANDS_OUT = """() => {
  const one = document.activeElement;
  const look = () => {
    const { outline, boxShadow, border, backgroundColor } = getComputedStyle(one);
    return [outline, boxShadow, border, backgroundColor].join();
  };
  const focused = look();
  one.blur();
  const differs = look() !== focused;
  one.focus({ preventScroll: true });
  return differs ? "" : one.outerHTML.slice(0, 90);
}"""


def test_who_goes_on_by_tab_sees_where(reader: Reader) -> None:
    reader.open("chapters/intensity", covered=True)
    reader.page.locator("article h1").click()
    found = []
    for _ in range(25):
        reader.page.keyboard.press("Tab")
        found.append(reader.page.evaluate(STANDS_OUT))
    assert [*filter(None, found)] == []


def test_menus_of_a_phone_open_and_lead_on(reader: Reader) -> None:
    reader.phone()
    reader.open("chapters/time")
    links = reader.page.locator(".bd-links a").nth(3)
    assert not links.is_visible()
    reader.page.locator("button.primary-toggle").first.click()
    expect(links).to_be_in_viewport()
    with reader.page.expect_navigation():
        links.click()
    assert "time" not in reader.page.url
    reader.page.locator("button.secondary-toggle").first.click()
    section = reader.page.locator(".bd-toc-nav a").nth(1)
    expect(section).to_be_in_viewport()
    name = section.get_attribute("href") or ""
    section.click()
    expect(reader.page.locator(name)).to_be_in_viewport()
    expect(section).not_to_be_visible()  # the menu has done its work
    reader.page.keyboard.press("Meta+k")
    expect(reader.page.locator("input[type=search]:visible")).to_be_focused()
    reader.desk()


def test_code_is_copied_by_one_press(browser: Browser, server: Server) -> None:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    ready(page, f"{server.origin}/chapters/time.html")
    code = page.locator("article div.highlight:has(button.copybtn):has(pre span)").first
    code.hover()
    code.locator("button.copybtn").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.strip() == (code.locator("pre").text_content() or "").strip()
    context.close()


def test_a_term_is_explained_where_it_stands(reader: Reader, site: Path) -> None:
    reader.open("chapters/time")
    term, note = reader.term("FLOP-s"), reader.note()
    heading = reader.page.locator("main h1").first
    term.hover()
    note.wait_for()
    glossary = page_of(site, "en", "chapters/glossary").select("dt[id='term-FLOP-s'] ~ dd")[0]
    told = " ".join(note.inner_text().split())
    assert " ".join(glossary.get_text().split()).startswith(told)
    for theme in ("light", "dark"):
        put_theme(reader.page, theme)
        assert axe(reader.page, "#term-note") == []
    expect(term).to_have_accessible_description(note.inner_text())
    heading.hover()
    expect(note).to_be_hidden()
    term.evaluate("(e) => e.scrollIntoView({ block: 'end', behavior: 'instant' })")
    term.hover()
    expect(note).to_be_in_viewport(ratio=1)
    reader.page.keyboard.press("Escape")
    assert not note.is_visible()
    term.focus()
    note.wait_for()
    heading.hover()
    assert note.is_visible()  # the focused term's note stays
    reader.page.keyboard.press("Escape")
    assert not note.is_visible()
    with reader.page.expect_navigation():
        reader.page.keyboard.press("Enter")
    assert reader.page.url.endswith("/glossary.html#term-FLOP-s")


@pytest.mark.parametrize("language", PAGES)
def test_the_note_of_every_term_begins_what_the_glossary_says(site: Path, language: str) -> None:
    script = (site / f"{FOLDERS[language]}_static/terms.js").read_text(encoding="utf-8")
    notes = json.loads(script.partition("= ")[2].rstrip().rstrip(";"))
    glossary = page_of(site, language, "chapters/glossary")
    for term in glossary.select("dt[id^=term-]"):
        said = term.find_next_sibling("dd")
        note = notes.pop(str(term["id"]))
        assert plain(said.get_text() if said else "").startswith(plain(note) or "nothing"), term
        assert not re.search(r"(?<!\.\w)[.?!]\s+[A-Z]|[。？！]\w", note), "more than a sentence"
        assert re.search(r"[.?!。？！][)”）]?$", note.strip()), "less than a sentence"
    assert notes == {}


def test_a_term_is_explained_by_a_touch_and_opened_by_a_second(
    browser: Browser, server: Server
) -> None:
    context = browser.new_context(viewport=PHONE, has_touch=True)
    page = context.new_page()
    ready(page, f"{server.origin}/zh/chapters/time.html")
    term = Reader(page, server.origin, None).term("FLOP-s")  # type: ignore[arg-type]
    note = page.get_by_role("tooltip")
    term.tap()
    note.wait_for()
    assert HAN.search(note.inner_text())
    box = note.bounding_box()
    assert box
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= PHONE["width"]
    term.tap()
    page.wait_for_url("**/zh/chapters/glossary.html#term-FLOP-s")
    context.close()


def test_tables_too_wide_for_a_phone_keep_their_headings_in_sight(reader: Reader) -> None:
    reader.phone()
    reader.open("chapters/hardware")
    tables = reader.page.locator("table:has(th:nth-child(4))")
    wide = "(all) => all.findIndex((t) => t.scrollWidth > t.parentElement.clientWidth + 150)"
    table = tables.nth(tables.evaluate_all(wide))
    cell = table.locator("tbody td").first
    before = cell.bounding_box()
    scrolled = "(t) => { t.parentElement.scrollLeft = 200; return t.parentElement.scrollLeft; }"
    assert table.evaluate(scrolled) > 100
    assert cell.bounding_box() == before  # the first column stays
    reader.desk()


def test_drawings_have_only_colors_that_follow_the_theme(site: Path) -> None:
    for language, name in BOTH:
        for drawing in page_of(site, language, name).select("article svg"):
            assert re.findall(r"(?:fill|stroke|color)(?:=\"|: ?)#\w+", str(drawing)) == [], name


# ---- a chapter as a notebook

ROLES = re.compile(r"\{(?:eval|ref|term|cite|download|doc)[^}]*\}`|^:::|^```\{", re.MULTILINE)


# What a page and its notebook say, and what only the page has.
SAID = ("p", "td", "th", "dt", "caption", "figcaption")
APART = {"answer", "live", "cell_output", "above-input", "guesses", "place"}
ADDRESSES_AND_MARKS = r"\]\([^)\s]*\)|[\\*`]"


def texts(page: BeautifulSoup) -> Iterator[str]:
    for one in only(page, "article").find_all(SAID):
        around = [one, *one.parents]
        apart = APART - {"cell_output"} if one.find_parent("figcaption") else APART
        is_apart = any(e.name == "summary" or apart & {*e.get("class", ())} for e in around)
        if not is_apart and not one.find(["p", "math", "img"]) and not one.select(".answer"):
            yield one.get_text()


def plain(text: str) -> str:
    """Return the words of a text."""
    return " ".join(re.findall(r"\w+", text))


@pytest.mark.parametrize("language", PAGES)
def test_the_notebook_of_a_page_has_its_text_and_cells(site: Path, language: str) -> None:
    offered = 0
    for name in WRITTEN:
        path = site / f"{FOLDERS[language]}{name}.html"
        page = parsed(path)
        links = page.select("a[download][href$='.ipynb']")
        if not links or name.startswith("exercises/"):
            continue  # an exercise offers the file that is handed in
        offered += 1
        notebook = nbformat.read(path.parent / str(links[0]["href"]), as_version=4)
        nbformat.validate(notebook)
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
        shown = [
            "".join(re.findall(r"\S", pre.get_text()))
            for pre in page.select("article .cell_input .highlight pre")
        ]
        sources = ["".join(re.findall(r"\S", cell.source)) for cell in code]
        places = [sources.index(text) for text in shown if text in sources]
        assert len(places) == len(shown), name
        assert places == sorted(places), name
        assert ROLES.findall(prose) == [], name
        said = plain(re.sub(ADDRESSES_AND_MARKS, "", prose))
        assert [text for text in texts(page) if plain(text) not in said] == [], name
        headings = re.findall(r"^#+ ", prose, re.MULTILINE)
        assert len(headings) == len(page.select("article :is(h1, h2, h3, h4)")), name
        # Code that the page hides is folded; what cells print is there.
        folded = [cell.metadata.get("jupyter", {}).get("source_hidden", False) for cell in code]
        assert folded == [at not in places for at in range(len(code))], name
        hidden = [cell.metadata.get("jupyter", {}).get("outputs_hidden", False) for cell in code]
        folds = page.select("article div.cell > details:has(.cell_output)")
        assert sum(hidden) == len(folds), name
        outputs = [output.get("text", "") for cell in code for output in cell.outputs]
        printed = page.select("article .cell_output .stream pre")
        if language == "en":  # a page's are translated, a notebook's when it is run
            assert [pre.get_text() for pre in printed if pre.get_text() not in outputs] == [], name
        data = [output.get("data", {}) for cell in code for output in cell.outputs]
        tables = "\n".join(one.get("text/markdown", "") for one in data)
        cells = {plain(one) for one in re.sub(ADDRESSES_AND_MARKS, "", tables).split("|")}
        in_tables = [one.get_text() for one in page.select("article .cell_output :is(th, td)")]
        assert [one for one in in_tables if plain(one) not in cells] == [], name
        assert bool(HAN.search(prose)) == (language == "zh"), name
    assert offered > 10


@pytest.mark.long
def test_the_notebook_of_a_page_runs_from_top_to_bottom(site: Path) -> None:
    notebook = site / "chapters" / "intensity.ipynb"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--nbval-lax", "-q", "-p", "no:xdist", str(notebook)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'kit'}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:]


# ---- what the site keeps and what it is made of


def privacy(site: Path) -> BeautifulSoup:
    return page_of(site, "en", "chapters/privacy")


def test_the_privacy_page_names_all_that_the_browser_keeps(
    browser: Browser, server: Server, site: Path
) -> None:
    context = browser.new_context(viewport=DESK)
    page = context.new_page()
    ready(page, f"{server.origin}/chapters/roofline.html")  # skips its guesses
    page.locator(".theme-switch-button").first.click()
    page.locator(".live-own summary").first.click()
    page.locator("[data-own=peak]").first.fill("500")
    ready(page, f"{server.origin}/search.html?q=ridge")
    page.locator("#search-results li a").first.click()
    page.wait_for_load_state()
    stored = page.evaluate("Object.keys({ ...localStorage, ...sessionStorage })")
    kept = {name.split(":")[0] for name in stored}
    assert kept
    named = {code.get_text().split(":")[0] for code in privacy(site).select("article code")}
    assert kept - named == set()
    assert context.cookies() == []
    context.close()


def test_the_packages_that_the_site_serves_are_named_with_license_and_version(site: Path) -> None:
    tables = privacy(site).select("article table")
    rows = [
        [cell.get_text(" ", strip=True) for cell in row.select("td")]
        for table in tables
        for row in table.select("tbody tr")
    ]
    text = (site / "licenses.txt").read_text(encoding="utf-8")
    installed = {
        re.sub(r"[-_.]+", "-", p.metadata["Name"]).lower() for p in metadata.distributions()
    }
    versions = [row for row in rows if len(row) == 4 and row[2].split()[-1] in installed]
    assert versions
    for _, license, package, version in versions:
        name = package.split()[-1]
        shown = metadata.distribution(name)
        assert version.endswith(shown.version), name
        assert re.search("[A-Z]", license), name
        assert f"\n{shown.metadata['Name']} {shown.version}\n" in text
    # Pyodide, the editor and what they contain.
    served = [row for row in rows if len(row) == 3]
    listed = {name: version for name, _, version in served}
    browser_files = ROOT / "site" / "browser"
    lock = json.loads((browser_files / "pyodide" / "pyodide-lock.json").read_text(encoding="utf-8"))
    parts = {name: one["version"] for name, one in lock["packages"].items()}
    parts |= {"Pyodide": lock["info"]["version"], "Python": lock["info"]["python"]}
    made_of = (browser_files / "python" / "codemirror" / "packages.json").read_text("utf-8")
    editor = {one["name"]: one["version"] for one in json.loads(made_of)["packages"]}
    assert listed == listed | parts | {"CodeMirror, with Lezer": editor["@codemirror/view"]}
    for name, license, version in served:
        assert license, name
        has_own_text = re.search(r"\d", version) and "CodeMirror" not in name
        assert (
            re.search(rf"^{re.escape(name)},? {re.escape(version)}\b", text, re.M | re.I)
            or not has_own_text
        )
    for words_of in ("SIL OPEN FONT LICENSE", "Redistribution and use in source", "Apache License"):
        assert words_of in text
