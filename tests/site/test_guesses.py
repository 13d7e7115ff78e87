"""Tests of guesses: saved, with feedback at the answer; no forms without scripts."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from browser import guesses
from browser.guesses import answer, problem, unanswered
from bs4 import BeautifulSoup, SoupStrainer, Tag
from docutils import nodes
from docutils.core import publish_doctree, publish_from_doctree
from docutils.parsers.rst import directives
from docutils.utils import new_document
from docutils.writers.html5_polyglot import HTMLTranslator, Writer
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect
from site_browser import (
    DESK,
    PHONE,
    SIDEWAYS,
    UNCOVER,
    Traffic,
    axe,
    contrast,
    put_theme,
    put_width,
    ready,
    structure,
)
from site_server import Server, serving

# Tip boxes, which hold the forms, and what guesses add elsewhere on a page. Other tests check the
# rest of each page.
BOXES = ".admonition.tip, .guess-told, .guess-skip"
# Enables the forms, which are disabled once the answer has been seen.
AGAIN = "() => document.querySelectorAll('.guess :disabled').forEach((e) => (e.disabled = false))"


# Simulates a full storage for the course's keys; the theme can still save its own.
FULL = """const { setItem } = Storage.prototype;
Storage.prototype.setItem = function (key, value) {
  if (key.startsWith("roofline-")) throw new DOMException("", "QuotaExceededError");
  setItem.call(this, key, value);
};"""


@pytest.fixture(scope="module")
def server(site: Path, below: str) -> Iterator[Server]:
    with serving(site, below) as server:
        yield server


@pytest.fixture(scope="module")
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport=DESK, color_scheme="light", reduced_motion="reduce")
    yield context
    context.close()


@pytest.fixture(scope="module")
def chapter(context: BrowserContext, server: Server) -> Page:
    page = context.new_page()
    ready(page, f"{server.origin}/chapters/intensity.html")
    return page


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport=DESK, color_scheme="light", reduced_motion="reduce")
    yield context.new_page()
    context.close()


@pytest.fixture
def reader(tab: Page, server: Server) -> Page:
    """Return a tab of the site that has no guess stored."""
    tab.goto(f"{server.origin}/_static/favicon.svg")
    tab.evaluate("localStorage.clear()")
    tab.set_viewport_size(DESK)
    tab.emulate_media(color_scheme="light", media="screen")
    return tab


def opened(reader: Page, server: Server, page: str) -> Page:
    """Open a page, and wait until the text after its guesses is hidden."""
    ready(reader, f"{server.origin}/{page}", covered=True)
    return reader


def right(page: Page, name: str) -> str:
    """Return the right answer in the page's HTML."""
    text = page.locator(f".answer[data-name={name}] .right").text_content()
    return " ".join((text or "").split())


def told(page: Page, name: str) -> str:
    """Return the feedback, which is after the answer or inside the folded answer."""
    place = f".answer[data-name={name}]"
    return page.locator(f"{place} + .guess-told, {place} + details .guess-told").inner_text()


def choose(page: Page, name: str, choice: str) -> None:
    form = page.locator(f"form.guess[name={name}]")
    form.get_by_label(choice).check()
    form.get_by_role("button").click()


def number(page: Page, name: str, guess: str) -> None:
    form = page.locator(f".answer[data-name={name}]").locator("xpath=preceding::form[1]")
    form.locator("input").fill(guess)
    form.get_by_role("button").click()


def first_number(text: str) -> float:
    found = re.match(r"[\d,.]+", text)
    assert found
    return float(found[0].replace(",", ""))


def test_choices_are_made_in_the_box_with_feedback_at_the_answer(chapter: Page) -> None:
    box = chapter.locator(".admonition.tip", has_text="vectors of a billion numbers")
    expect(box.locator(".guess")).to_have_count(1)
    choose(chapter, "long-vectors", "about a thousand")
    assert told(chapter, "long-vectors") == (
        f"Your guess was “about a thousand”. It is “{right(chapter, 'long-vectors')}”."
    )
    chapter.evaluate(AGAIN)
    choose(chapter, "long-vectors", "still less than one")
    assert told(chapter, "long-vectors") == ("Your guess was “still less than one”, and so it is.")


# Enters a number in the form with this name; returns the texts at the answer and below the form.
TRY = """([name, written]) => {
  const form = document.querySelector(`form.guess[name=${name}]`);
  const [field, button] = [form.querySelector("input"), form.querySelector("button")];
  field.disabled = button.disabled = false;
  field.value = written;
  button.click();
  const answer = document.querySelector(`.answer[data-name=${name}] + details`);
  const told = answer.querySelector(".guess-told").textContent;
  return [told, form.nextElementSibling.textContent];
}"""


def tried(page: Page, written: str) -> tuple[str, str]:
    told, noted = page.evaluate(TRY, ["check-mixed", written])
    return told, noted


@pytest.mark.parametrize(
    ("times", "words"),
    [
        (4.0, ": your guess is 4 times as large."),
        (0.25, ": that is 4 times as large as your guess."),
        (1.01, "."),
    ],
)
def test_feedback_on_a_number_gives_the_factor_unless_the_guess_is_close(
    chapter: Page, times: float, words: str
) -> None:
    answer = right(chapter, "check-mixed")
    guess = f"{times * first_number(answer):.6f}"
    told, _ = tried(chapter, guess)
    assert told == f"Your guess was {guess} FLOP/byte, and it is {answer}{words}"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("12,000", 12_000),
        ("12 000", 12_000),
        ("1,234,567.5", 1_234_567.5),
        ("2,5", 2.5),
        ("12,5e3", 12_500),
        (" .5 FLOP/byte", 0.5),
        ("3e1", 30),
    ],
)
def test_number_formats_are_parsed(chapter: Page, written: str, meant: float) -> None:
    told, _ = tried(chapter, written)
    answer = first_number(right(chapter, "check-mixed"))
    factor = max(meant / answer, answer / meant)
    found = re.search(r": .*?([\d,.]+) times as large", told)
    assert found
    assert first_number(found[1]) == pytest.approx(factor, rel=0.05)


@pytest.mark.parametrize("written", ["10^9", "2×10⁹", "1/3", "4 to 6", "2 million", "5k", "", "e9"])
def test_anything_but_a_plain_number_is_refused(chapter: Page, written: str) -> None:
    before, _ = tried(chapter, "7")
    told, noted = tried(chapter, written)
    assert noted == "Write a number, such as 12, 0.5 or 1e9."
    assert told == before


def test_percentages_get_feedback_in_points_and_text_without_a_number_is_refused(
    chapter: Page,
) -> None:
    chapter.locator(".answer[data-name=check-laptop] + details").evaluate("(e) => (e.open = true)")
    place = chapter.locator(".answer[data-name=check-laptop]")
    number(chapter, "check-laptop", "a lot")
    note = place.locator("xpath=preceding::p[1]")
    assert note.inner_text() == "Write a number, such as 12, 0.5 or 1e9."
    answer = right(chapter, "check-laptop")
    number(chapter, "check-laptop", f"{first_number(answer) + 12}")
    assert told(chapter, "check-laptop").endswith(f"and it is {answer}: 12 points away.")


def test_feedback_on_shares_below_one_percent_is_a_factor(reader: Page, server: Server) -> None:
    page = opened(reader, server, "chapters/machine.html")
    page.evaluate(UNCOVER)
    answer = right(page, "check-small")
    assert first_number(answer) < 1
    number(page, "check-small", f"{4 * first_number(answer)}")
    note = page.locator("form.guess[name=check-small] + .guess-note")
    assert note.inner_text() == "Kept. Now unfold the answer."
    said = page.locator(".answer[data-name=check-small] + details .guess-told").text_content()
    assert said is not None
    assert said.endswith(f"%, and it is {answer}: your guess is 4 times as large.")
    summary = page.context.new_page()
    ready(summary, f"{server.origin}/chapters/summary.html")
    assert summary.locator(".guesses").is_hidden()
    folded = page.locator(".answer[data-name=check-small] + details")
    folded.evaluate("(e) => (e.open = true)")
    folded.scroll_into_view_if_needed()
    expect(page.locator("form.guess[name=check-small] input")).to_be_disabled()
    summary.reload()
    assert summary.locator(".guesses tbody tr td").nth(1).inner_text().startswith("1 of ")
    summary.close()


def test_feedback_on_a_guessed_order_counts_the_items_at_their_right_position(
    chapter: Page,
) -> None:
    order = put_in_order(chapter)
    assert told(chapter, "check-order") == (
        f"In your order 1 of 3 stood in their place. It is: {', '.join(order)}."
    )


def put_in_order(chapter: Page) -> list[str]:
    """Guess an order with only the last of three items right; return the right order."""
    place = chapter.locator(".answer[data-name=check-order]")
    chapter.locator(".answer[data-name=check-order] + details").evaluate("(e) => (e.open = true)")
    order = right(chapter, "check-order").split(", ")
    form = place.locator("xpath=preceding::form[1]")
    for at, name in enumerate([order[1], order[0], order[2]]):
        form.get_by_label(name).select_option(index=at + 1)
    form.get_by_role("button").click()
    return order


@pytest.mark.long
def test_answered_guesses_are_final_and_counted_in_the_summary(
    reader: Page, server: Server
) -> None:
    chapter = opened(reader, server, "chapters/intensity.html")
    chapter.evaluate(UNCOVER)
    put_in_order(chapter)
    said = chapter.locator(".answer[data-name=check-order] + details .guess-told")
    said.scroll_into_view_if_needed()
    expect(chapter.locator(".guess select").first).to_be_disabled()
    chapter.reload()
    told = chapter.locator(".guess-told", has_text="In your order").text_content()
    assert told is not None
    assert "1 of 3" in told
    page = chapter.context.new_page()
    ready(page, f"{server.origin}/chapters/summary.html")
    cells = page.locator(".guesses tbody tr td").all_inner_texts()
    assert cells[0].endswith("Arithmetic intensity")
    assert re.fullmatch(r"\d of 11", cells[1])
    assert axe(page, ".guesses") == []
    page.close()


def test_guesses_are_accessible(chapter: Page) -> None:
    tried(chapter, "7")
    chapter.locator(".answer[data-name=check-mixed] + details").evaluate("(e) => (e.open = true)")
    assert axe(chapter, BOXES) == []
    put_width(chapter, PHONE)
    put_theme(chapter, "dark")
    assert contrast(chapter, within=BOXES) == []
    assert chapter.evaluate(SIDEWAYS) <= 0


# Enters the right answer to each guess; returns {name: [kind, right answer, feedback]}.
ANSWERED = """() => Object.fromEntries([...document.querySelectorAll(".answer")].map((answer) => {
  const { name, kind } = answer.dataset;
  const right = answer.querySelector(".right").textContent.trim();
  const form = document.querySelector(`form.guess[name="${name}"]`);
  if (kind === "number") {
    form.querySelector("input").value = /^[\\d.,]+/.exec(right)[0];
  } else if (kind === "choice") {
    const radio = [...form.querySelectorAll("input")].find(({ value }) => value === right);
    radio.checked = true;
  } else {
    const order = right.split(", ");
    for (const label of form.querySelectorAll("label")) {
      const select = label.querySelector("select");
      const name = label.textContent.replace(select.textContent, "").trim();
      select.value = order.indexOf(name);
    }
  }
  form.querySelector("button").click();
  const folded = answer.nextElementSibling?.matches("details") ? answer.nextElementSibling : null;
  const told = folded ? folded.querySelector(".guess-told") : answer.nextElementSibling;
  return [name, [kind, right, told.textContent]];
}))"""
GUESSING = ("introduction", "time", "intensity", "roofline", "matmul", "chips", "attention")
GUESSING += ("machine", "own-model", "hardware", "homework", "summary")


@pytest.mark.long
@pytest.mark.parametrize("name", GUESSING)
def test_every_guess_accepts_its_right_answer(browser: Browser, server: Server, name: str) -> None:
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    ready(page, f"{server.origin}/chapters/{name}.html")
    said = page.evaluate(ANSWERED)
    assert len(said) == page.locator(".answer").count() > 0
    for kind, right, told in said.values():
        if kind == "number":
            assert told.endswith(f", and it is {right}."), told
        elif kind == "choice":
            assert told == f"Your guess was “{right}”, and so it is."
        else:
            assert told == f"Your order was right: {right}."
    print(name, len(said), "guesses")
    context.close()


def test_without_storage_guesses_last_until_the_page_is_left(reader: Page, server: Server) -> None:
    page = reader.context.new_page()
    page.add_init_script(FULL)
    traffic = Traffic().listen(page.context)
    ready(page, f"{server.origin}/chapters/intensity.html")
    choose(page, "long-vectors", "about a thousand")
    assert told(page, "long-vectors").startswith("Your guess was “about a thousand”.")
    assert traffic.wrong == []
    page.close()


# ---- text that is hidden until the reader answers a guess

# Returns whether each element after a guess's form, in the same section, is rendered.
RENDERED = """(name) => {
  const answer = document.querySelector(`.answer[data-name="${name}"]`);
  const form = document.querySelector(`form.guess[name="${name}"]`);
  const all = [...answer.closest("section").querySelectorAll("p, pre, table, figure, ul")];
  const after = all.filter((one) => form.compareDocumentPosition(one) & 4)
    .filter((one) => !one.closest(".admonition.tip, .guess-skip, .guess-told, .answer, details"));
  return after.map((one) => one.checkVisibility());
}"""
# Controls that can be focused in text hidden by a guess.
FOCUSABLE = """() => [...document.querySelectorAll(".guess-covered[hidden]")].flatMap((part) =>
  [...part.querySelectorAll("button, a[href], input, select, summary")].filter((one) => {
    one.focus();
    return document.activeElement === one;
  }).map((one) => one.outerHTML))"""


def rendered(page: Page, name: str) -> set[bool]:
    found = page.evaluate(RENDERED, name)
    assert len(found) > 1
    return set(found)


def test_text_after_a_guess_is_hidden_until_the_guess_is_answered(
    reader: Page, server: Server
) -> None:
    page = opened(reader, server, "chapters/intensity.html")
    assert rendered(page, "long-vectors") == {False}
    form = page.locator("form.guess[name=long-vectors]")
    # Pressing the button without an answer doesn't show the hidden text.
    form.get_by_role("button").click()
    assert page.locator(".admonition.tip .guess-note").first.inner_text() == "Choose one."
    assert rendered(page, "long-vectors") == {False}
    before = form.bounding_box()
    choose(page, "long-vectors", "about a thousand")
    assert rendered(page, "long-vectors") == {True}
    assert form.bounding_box() == before
    page.reload()
    assert rendered(page, "long-vectors") == {True}
    assert rendered(page, "dot-share") == {False}


def test_skipping_a_guess_shows_its_hidden_text_for_good_and_moves_the_focus(
    reader: Page, server: Server
) -> None:
    page = opened(reader, server, "chapters/intensity.html")
    page.locator("form.guess[name=long-vectors] button").focus()
    page.keyboard.press("Tab")
    focused = page.locator(":focus")
    assert focused.inner_text() == "Skip the guess"
    page.keyboard.press("Enter")
    assert rendered(page, "long-vectors") == {True}
    # The focus moves to the text that was hidden, so that reading continues there.
    assert page.evaluate("document.activeElement.className") == "guess-covered"
    page.reload()
    assert rendered(page, "long-vectors") == {True}
    assert page.locator(".guess-told:visible").count() == 0


def test_controls_in_text_hidden_by_a_guess_cannot_be_focused(reader: Page, server: Server) -> None:
    page = opened(reader, server, "chapters/intensity.html")
    assert page.locator(".guess-covered[hidden] .run-cell").count() > 0
    # A guess with a folded answer hides no text.
    for name in ("check-laptop", "check-order"):
        place = page.locator(f".answer[data-name={name}]")
        assert place.evaluate("(e) => !e.closest('.guess-covered')")
        assert page.locator(f"form.guess[name={name}]").is_visible()
    assert page.evaluate(FOCUSABLE) == []
    page.evaluate(UNCOVER)
    assert page.locator(".guess-covered[hidden], .guess-skip").count() == 0


def test_all_guesses_in_a_box_must_be_answered_before_the_hidden_text_is_shown(
    reader: Page, server: Server
) -> None:
    page = opened(reader, server, "chapters/time.html")
    for name, guess in {"nvlink-slower": "1", "ici-slower": "20"}.items():
        page.locator(f"form.guess[name={name}] input").fill(guess)
        page.locator(f"form.guess[name={name}] button").click()
        assert rendered(page, name) == {False}
    box = page.locator(".admonition.tip", has=page.locator("form[name=dcn-slower]"))
    notes = box.locator(".guess-note")
    assert notes.all_inner_texts() == ["Kept. Answer the others too."] * 2 + [""]
    page.locator("form.guess[name=dcn-slower] input").fill("300")
    page.locator("form.guess[name=dcn-slower] button").click()
    assert rendered(page, "nvlink-slower") == {True}
    assert notes.all_inner_texts() == ["", "", "Kept. Read on to see how far off it is."]
    # A guess of 1 for a factor is shown as “1”, not as “1 times”.
    said = page.locator(".answer[data-name=nvlink-slower] + .guess-told").text_content() or ""
    assert said.startswith(f"Your guess was 1, and it is {right(page, 'nvlink-slower')}: ")


def test_a_link_into_text_hidden_by_a_guess_shows_the_text(reader: Page, server: Server) -> None:
    page = opened(reader, server, "chapters/time.html")
    target = page.locator("#fig-time-factor")
    assert rendered(page, "bounds-apart") == {False}
    page.evaluate("location.hash = '#fig-time-factor'")
    expect(target).to_be_in_viewport()
    assert rendered(page, "bounds-apart") == {True}
    # Following a link does not count as an answer.
    ready(page, f"{server.origin}/chapters/time.html?again", covered=True)
    assert rendered(page, "bounds-apart") == {False}
    page = opened(reader, server, "chapters/time.html#fig-time-factor")
    expect(page.locator("#fig-time-factor")).to_be_in_viewport()
    # Clicking a link opens its target also if the address already names it and it is hidden again.
    page.evaluate("dispatchEvent(new Event('beforeprint')); dispatchEvent(new Event('afterprint'))")
    add = (
        "(e) => e.append(Object.assign(document.createElement('a'), { href: '#fig-time-factor' }))"
    )
    page.locator(".bd-article").evaluate(add)
    page.locator(".bd-article > a[href='#fig-time-factor']").evaluate("(e) => e.click()")
    expect(page.locator("#fig-time-factor")).to_be_in_viewport()


def test_highlighted_search_words_are_shown_in_text_hidden_by_a_guess(
    reader: Page, server: Server
) -> None:
    page = opened(reader, server, "chapters/time.html")
    page.evaluate("localStorage.setItem('sphinx_highlight_terms', 'unequal')")
    page.reload()
    mark = page.locator(".guess-covered .highlighted").first
    expect(mark).to_be_visible()


def test_print_and_find_in_page_reach_text_hidden_by_a_guess(reader: Page, server: Server) -> None:
    page = opened(reader, server, "chapters/time.html")
    page.emulate_media(media="print")
    assert rendered(page, "bounds-apart") == {True}
    assert page.locator(".guess-skip:visible").count() == 0
    page.emulate_media(media="screen")
    assert rendered(page, "bounds-apart") == {False}
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert rendered(page, "bounds-apart") == {True}
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert rendered(page, "bounds-apart") == {False}
    part = page.locator(".guess-covered", has=page.locator("#fig-time-factor")).last
    assert part.get_attribute("hidden") == "until-found"
    assert part.evaluate("(e) => getComputedStyle(e).contentVisibility") == "hidden"
    # Find-in-page sends this event before the browser shows the text that it found.
    part.evaluate("(e) => e.dispatchEvent(new Event('beforematch', { bubbles: true }))")
    assert rendered(page, "bounds-apart") == {True}


def test_hidden_text_ends_at_the_label_that_the_answer_names(reader: Page, server: Server) -> None:
    def end_early(route: Route) -> None:
        response = route.fetch()
        mark = 'data-name="bounds-apart"'
        body = response.text().replace(mark, f'{mark} data-until="fig-time-factor"')
        route.fulfill(response=response, body=body)

    reader.route("**/chapters/time.html", end_early, times=1)
    page = opened(reader, server, "chapters/time.html")
    form = page.locator("form.guess[name=bounds-apart]")
    assert not form.is_visible()  # hidden by the previous guess
    choose(page, "layer-takes", "something in between")
    assert form.is_visible()
    assert page.locator("#fig-time-factor").is_visible()
    code = page.locator(".cell", has_text="apart = (1 + ratio)").first
    assert not code.is_visible()


def test_the_text_hidden_by_a_guess_may_end_in_a_later_section(
    reader: Page, server: Server
) -> None:
    page = opened(reader, server, "chapters/chips.html")
    between = page.get_by_role("heading", name="5.3.", exact=False)
    after = page.get_by_role("heading", name="5.5.", exact=False)
    assert between.count() == 0
    assert after.is_visible()
    page.evaluate(UNCOVER)
    assert between.is_visible()


@pytest.mark.long
def test_pages_with_text_hidden_by_guesses_are_accessible(reader: Page, server: Server) -> None:
    page = opened(reader, server, "chapters/time.html")
    buttons = {
        name: page.locator(f"form.guess[name={name}] button").text_content()
        for name in ("dcn-slower", "check-v5e", "check-faster")
    }
    assert buttons == {
        "dcn-slower": "Keep my guess",
        "check-v5e": "Keep my answer",
        "check-faster": "Keep my answer",
    }
    assert [*structure(page), *contrast(page, within=BOXES)] == []
    put_width(page, PHONE)
    put_theme(page, "dark")
    assert contrast(page, within=BOXES) == []
    assert page.evaluate(SIDEWAYS) <= 0
    # Units stay to the right of their fields, on the same line.
    fields = page.locator("form.guess .guess-field:visible")
    assert fields.count() >= 3
    for field in fields.all():
        box, unit = (field.locator(one).bounding_box() for one in ("input", "span"))
        assert box
        assert unit
        assert unit["x"] >= box["x"] + box["width"]
        assert unit["y"] < box["y"] + box["height"]


def test_without_javascript_guesses_have_no_forms_and_hide_no_text(
    browser: Browser, server: Server
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{server.origin}/chapters/intensity.html")
    assert page.locator(".answer").count() == 11
    assert page.locator(".answer:visible, .guess, .guess-told, .guess-covered").count() == 0
    context.close()


def test_a_right_answer_that_does_not_fit_its_kind_is_reported() -> None:
    assert problem("number", "12.5 times", []) == ""
    assert problem("number", "1,024", []) == ""
    assert "does not begin with a number" in problem("number", "about 3", [])
    assert problem("choice", "twice", ["twice", "more"]) == ""
    assert "“thrice” is none of twice, more" in problem("choice", "thrice", ["twice", "more"])
    assert problem("order", "b, a", ["a", "b"]) == ""
    assert "in an order" in problem("order", "a, c", ["a", "b"])


# Tests of the answer directive's output.


@pytest.fixture
def warned(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that records the build's warnings."""
    found: list[str] = []
    monkeypatch.setattr(
        guesses.logger, "warning", lambda said, *rest, location: found.append(said % rest)
    )
    return found


def read(source: str) -> nodes.document:
    """Parse reStructuredText, with the directives `answer` and `guesses`."""
    for name, made in {"answer": guesses.Answer, "guesses": guesses.Guesses}.items():
        directives.register_directive(name, made)
    return publish_doctree(source, settings_overrides={"report_level": 5})


def as_html(document: nodes.document) -> Tag:
    class Translator(HTMLTranslator):
        visit_answer, depart_answer = guesses.visit_answer, guesses.depart
        visit_part, depart_part = guesses.visit_part, guesses.depart_part
        visit_guesses, depart_guesses = guesses.visit_guesses, guesses.depart

    writer = Writer()
    writer.translator_class = Translator
    html = publish_from_doctree(document, writer=writer).decode()
    found = BeautifulSoup(html, "html.parser").body
    assert found
    return found


NUMBER_ASKED = ".. answer:: size\n   :ask: How large\n   :until: The end\n\n   1,024.5 bytes\n"
CHOSEN = ".. answer:: more\n\n   twice\n\n   - once\n   - twice\n"
ORDERED = ".. answer:: order\n   :order:\n\n   c, a, b\n\n   - a\n   - b\n   - c\n"


def test_an_answer_becomes_a_hidden_element_for_the_script(warned: list[str]) -> None:
    document = read(f"{NUMBER_ASKED}\n{CHOSEN}\n.. guesses::\n")
    guesses.follow_translation(gettext_or_html("html"), document)
    asked, chosen = as_html(document).select("div.answer")
    assert asked.attrs == {
        "class": ["answer"],
        "hidden": "hidden",
        "data-name": "size",
        "data-kind": "number",
        "data-ask": "How large",
        "data-until": "the-end",
    }
    assert {key: chosen[key] for key in chosen.attrs if key[:5] == "data-"} == {
        "data-name": "more",
        "data-kind": "choice",
        "data-ask": "",
    }
    shown = [(part["class"], part.get_text()) for part in chosen.select("span")]
    assert shown == [(["right"], "twice"), (["choice"], "once"), (["choice"], "twice")]
    assert [part.get_text() for part in asked.select("span")] == ["1,024.5 bytes"]
    assert [box.attrs for box in as_html(document).select(".guesses")] == [
        {"class": ["guesses"], "hidden": "hidden"}
    ]
    assert warned == []


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (NUMBER_ASKED.replace("1,024.5", "many"), "answer size: “many bytes” does not begin"),
        (NUMBER_ASKED.replace("1,024.5 bytes", ""), "answer size: “” does not begin"),
        (CHOSEN.replace("   twice\n\n", "   thrice\n\n"), "answer more: “thrice” is none of"),
        (ORDERED.replace("c, a, b", "c, a"), "answer order: “c, a” is not a, b, c"),
    ],
)
def test_an_invalid_answer_directive_warns_and_is_dropped(
    warned: list[str], source: str, said: str
) -> None:
    assert list(read(source).findall(answer)) == []
    (warning,) = warned
    assert warning.startswith(said)


def gettext_or_html(builder: str) -> Any:
    return SimpleNamespace(builder=SimpleNamespace(name=builder))


@pytest.mark.parametrize(
    ("source", "right", "now"),
    [(CHOSEN, "twice", "zweimal"), (ORDERED, "c, a, b", "C, A, B"), (NUMBER_ASKED, None, None)],
)
@pytest.mark.parametrize("computed", [True, False])
def test_the_right_answer_is_translated_with_its_options(
    source: str, right: str, now: str, computed: bool
) -> None:
    document = read(source)
    made = next(iter(document.findall(answer)))
    if computed:
        (part,) = [part for part in made.children if "right" in part["classes"]]
        part.children = [nodes.inline("", part.astext(), classes=["computed"])]
    for text in list(made.findall(nodes.Text)):
        if "choice" in text.parent["classes"]:
            words = {"once": "einmal", "twice": "zweimal"}
            text.parent.children = [nodes.Text(words.get(text.astext(), text.astext().upper()))]
        elif "ask" in text.parent["classes"]:
            text.parent.children = [nodes.Text("Wie gross")]
    before = made.deepcopy()
    guesses.follow_translation(gettext_or_html("gettext"), document)
    assert made.pformat() == before.pformat()
    for _ in range(2):
        guesses.follow_translation(gettext_or_html("html"), document)
        (part,) = [part for part in made.children if "right" in part["classes"]]
        changed = part[0] if computed else part
        if right:
            assert (part.astext(), changed["original"]) == (now, right)
        else:
            assert (part.astext(), changed.get("original")) == ("1,024.5 bytes", None)
            assert made["ask"] == "Wie gross"
            assert [p["classes"] for p in made.children] == [["right"]]


def test_the_right_answer_stays_unchanged_without_translated_options() -> None:
    document = read(CHOSEN)
    guesses.follow_translation(gettext_or_html("html"), document)
    (part, *_) = next(iter(document.findall(answer))).children
    assert "original" not in part


def test_an_answer_that_names_a_missing_end_label_is_reported(warned: list[str]) -> None:
    document = read(f"{NUMBER_ASKED}\n{CHOSEN}")
    guesses.check_ends(gettext_or_html("html"), document)
    assert warned == ["answer size: there is no label “the-end” on this page"]
    warned.clear()
    document.ids["the-end"] = nodes.section()
    guesses.check_ends(gettext_or_html("html"), document)
    assert warned == []


def test_a_guess_box_without_an_answer_directive_is_reported_with_its_first_line(
    warned: list[str],
) -> None:
    document = new_document("page")
    document += nodes.section("", guess_box("How many?\nThink first."))
    guesses.check_boxes(gettext_or_html("html"), document)
    assert warned == ["the box “Your guess” has no {answer} below it in its section: How many?"]


@pytest.mark.parametrize(
    ("source", "loads"), [(CHOSEN, 1), (".. guesses::\n", 1), ("Text.\n", 0), (None, 0)]
)
def test_only_pages_with_guesses_load_their_script(source: str | None, loads: int) -> None:
    app = Mock()
    document = None if source is None else read(source)
    guesses.add_script(app, "chapters/time", "page.html", {}, document)
    assert app.add_css_file.call_count == app.add_js_file.call_count == loads
    if loads:
        assert app.add_js_file.call_args.kwargs == {
            "loading_method": "defer",
            "data-page": "chapters/time",
        }


def guess_box(words: str, title: str = "Your guess") -> nodes.admonition:
    inside = [nodes.title("", title), nodes.paragraph("", words)]
    return nodes.admonition("", *inside, classes=["tip"])


def test_guess_boxes_without_an_answer_directive_are_found() -> None:
    section, other = nodes.section(), nodes.section()
    document = new_document("page")
    document += [section, other]
    section += [guess_box("answered"), nodes.paragraph("", "text"), answer("", name="first")]
    section += [
        guess_box("no form"),
        nodes.section("", guess_box("inner"), answer("", name="second")),
    ]
    section += [guess_box("hint", title="Tip")]
    other += [
        guess_box("one too many"),
        guess_box("last"),
        answer("", name="third"),
        guess_box("too late"),
    ]
    missing = [found[1].astext() for found in unanswered(document)]
    assert missing == ["no form", "one too many", "too late"]


def test_chapters_have_guesses_with_unique_names(site: Path) -> None:
    asking = {}
    for path in sorted((site / "chapters").glob("*.html")):
        text = path.read_text(encoding="utf-8")
        soup = BeautifulSoup(text, "html.parser", parse_only=SoupStrainer(class_="answer"))
        names = [str(one["data-name"]) for one in soup.select(".answer")]
        assert len(names) == len(set(names)), path.name
        asking[path.stem] = len(names)
    assert sum(asking.values()) >= 50, json.dumps(asking)
    assert {name for name, asks in asking.items() if asks} == set(GUESSING)
