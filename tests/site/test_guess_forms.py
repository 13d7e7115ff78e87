"""Forms for guesses on small pages: feedback, storage, hidden text, summary."""

import json
from collections.abc import Callable, Iterator

import pytest
from live_pages import PHRASE
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect
from repository import ROOT

SCRIPT = (ROOT / "site/browser/guesses/guesses.js").read_text(encoding="utf-8")
ADDRESS = "http://guesses.test/"
KEY = "roofline-guess:"
SPACE = "<p style='height: 3000px'>space</p>"
BOX = "<div class='admonition tip'>A question</div>"
FOLDED = "<details><summary>Answer</summary><div class='sd-summary-content'>because</div></details>"


def answer(
    name: str, kind: str, right: str, choices: tuple[str, ...] = (), ask: str = "", until: str = ""
) -> str:
    parts = [f"<span class='right'>{right}</span>"]
    parts += [f"<span class='choice'>{choice}</span>" for choice in choices]
    end = f" data-until='{until}'" if until else ""
    return (
        f"<div class='answer' hidden data-name='{name}' data-kind='{kind}' data-ask='{ask}'{end}>"
        f"{''.join(parts)}</div>"
    )


def folded(name: str, kind: str, right: str, *choices: str, ask: str = "") -> str:
    return f"<section>{answer(name, kind, right, choices, ask)}{FOLDED}</section>"


def html(*sections: str) -> str:
    """Return a page with these sections and the summary of all guesses."""
    return (
        "<!doctype html><style>[hidden] { display: none; }</style><article class='bd-article'>"
        f"<section><h1>2. Title<a class='headerlink'>#</a></h1>{''.join(sections)}</section>"
        "<div class='guesses' hidden></div></article>"
        f"<script>{PHRASE}</script><script data-page='chapter'>{SCRIPT}</script>"
    )


Opened = Callable[..., Page]


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context()
    yield context
    context.close()


@pytest.fixture
def opened(context: BrowserContext) -> Iterator[Opened]:
    """Return a function that opens a page with these sections.

    The page's scripts must not fail.
    """
    errors: list[str] = []
    context.on("weberror", lambda error: errors.append(str(error.error)))

    def opens(*sections: str, at: str = "") -> Page:
        body, kind = html(*sections), "text/html; charset=utf-8"
        context.route(f"{ADDRESS}**", lambda route: route.fulfill(body=body, content_type=kind))
        page = context.new_page()
        page.goto(f"{ADDRESS}{at}")
        return page

    yield opens
    assert errors == []


def form(page: Page, name: str) -> Locator:
    return page.locator(f"form.guess[name={name}]")


def told(page: Page, name: str) -> Locator:
    place = f".answer[data-name={name}]"
    return page.locator(f"{place} + .guess-told, {place} + details .guess-told")


def note(page: Page, name: str) -> Locator:
    return page.locator(f"form.guess[name={name}] + .guess-note")


def write(page: Page, name: str, guess: str) -> None:
    form(page, name).get_by_role("textbox").fill(guess)
    form(page, name).get_by_role("button").click()


NUMBERS = {
    ("5%", "10"): "Your guess was 10%, and it is 5%: 5 points away.",
    ("4.9%", "9.8%"): "Your guess was 9.8%, and it is 4.9%: your guess is 2 times as large.",
    ("0%", "3"): "Your guess was 3%, and it is 0%: 3 points away.",
    ("3%", "0"): "Your guess was 0%, and it is 3%: 3 points away.",
    ("50%", "50.5"): "Your guess was 50.5%, and it is 50%: 0.5 points away.",
    ("50%", "50.4"): "Your guess was 50.4%, and it is 50%.",
    ("40% of it", "30 %"): "Your guess was 30%, and it is 40% of it: 10 points away.",
    ("40% of it", "30% of it"): "Your guess was 30%, and it is 40% of it: 10 points away.",
    ("0 bytes", "5"): "Your guess was 5 bytes, and it is 0 bytes.",
    ("5 bytes", "0"): "Your guess was 0 bytes, and it is 5 bytes.",
    ("10 s", "1234"): "Your guess was 1234 s, and it is 10 s: your guess is 123 times as large.",
    ("10 s", "12.34"): "Your guess was 12.34 s, and it is 10 s: your guess is 1.2 times as large.",
    ("10 s", "10.6"): "Your guess was 10.6 s, and it is 10 s: your guess is 1.1 times as large.",
    ("10 s", "10.4 s"): "Your guess was 10.4 s, and it is 10 s.",
    ("3 times", "1"): "Your guess was 1, and it is 3 times: "
    "that is 3 times as large as your guess.",
    ("12", "12"): "Your guess was 12, and it is 12.",
}


def test_feedback_on_a_number_compares_it_with_the_right_one(opened: Opened) -> None:
    page = opened(*(folded(f"n{i}", "number", right) for i, (right, _) in enumerate(NUMBERS)))
    for i, ((_, guess), words) in enumerate(NUMBERS.items()):
        write(page, f"n{i}", guess)
        assert told(page, f"n{i}").text_content() == words


def test_numbers_are_asked_for_in_a_unit_and_refused_in_another(opened: Opened) -> None:
    page = opened(
        folded("size", "number", "5 bytes", ask="How many"),
        folded("share", "number", "40% of it"),
        folded("plain", "number", "12"),
    )
    labels = {
        "size": "How many, in bytes",
        "share": "Your guess, in % of it",
        "plain": "Your guess",
    }
    for name, label in labels.items():
        field = form(page, name).get_by_role("textbox", name=label, exact=True)
        assert field.input_value() == ""
    assert form(page, "size").inner_text().startswith("How many:")
    assert form(page, "size").locator(".guess-field").inner_text() == "bytes"
    for name, guess in {"size": "5 %", "share": "30 bytes", "plain": "12 x"}.items():
        write(page, name, guess)
        refusal = note(page, name)
        expect(refusal).to_have_text("Write a number, such as 12, 0.5 or 1e9.")
        expect(refusal).to_have_role("status")
        assert not told(page, name).is_visible()
        write(page, name, guess.split()[0])
        assert refusal.text_content() == "Kept. Now unfold the answer."


def test_guesses_are_remembered_and_final_once_the_answer_was_seen(opened: Opened) -> None:
    page = opened(
        folded("number", "number", "5 bytes"),
        folded("choice", "choice", "more", "less", "more"),
        folded("order", "order", "b, a, c", "a", "b", "c"),
    )
    chosen = "(all) => all.map((select) => select.selectedOptions[0]?.textContent)"
    selects = form(page, "order").get_by_role("group", name="Your order").locator("select")
    assert form(page, "choice").get_by_role("group", name="Your guess", exact=True).count() == 1

    def order(*places: str) -> None:
        for select, place in zip(selects.all(), places, strict=True):
            select.select_option(label=place)
        form(page, "order").get_by_role("button").click()

    assert selects.evaluate_all(chosen) == ["–"] * 3
    for places in (("1", "2", "–"), ("1", "2", "2"), ("1", "1", "3")):
        order(*places)
        assert note(page, "order").text_content() == "Give each a place of its own."
    order("1", "2", "3")
    assert told(page, "order").text_content() == (
        "In your order 1 of 3 stood in their place. It is: b, a, c."
    )
    order("2", "1", "3")
    assert told(page, "order").text_content() == "Your order was right: b, a, c."
    write(page, "number", "7")
    form(page, "choice").get_by_role("button").click()
    assert note(page, "choice").text_content() == "Choose one."
    form(page, "choice").get_by_label("less").check()
    form(page, "choice").get_by_role("button").click()
    # The feedback is inside the folded answer, so it isn't visible yet.
    assert not told(page, "choice").is_visible()

    page.reload()
    assert form(page, "number").get_by_role("textbox").input_value() == "7"
    assert form(page, "choice").get_by_label("less").is_checked()
    assert selects.evaluate_all(chosen) == ["2", "1", "3"]
    page.locator("details").nth(1).locator("summary").click()
    assert told(page, "choice").inner_text() == "Your guess was “less”. It is “more”."
    for _ in range(2):
        expect(form(page, "choice").get_by_label("more")).to_be_disabled()
        expect(form(page, "choice").get_by_role("button")).to_be_disabled()
        assert form(page, "number").get_by_role("textbox").is_enabled()
        page.reload()


def test_the_summary_has_a_line_for_each_chapter(opened: Opened) -> None:
    guesses = {
        "right": ("choice", "more", "more"),
        "wrong": ("choice", "more", "less"),
        "nothing": ("number", "0 bytes", "0"),
        "twice": ("number", "10 s", "20"),
        "eighth": ("number", "8 s", "1"),
        "near": ("number", "50%", "54"),
        "far": ("number", "50%", "42"),
    }
    sections = [
        folded(name, kind, right, *(("less", "more") if kind == "choice" else ()))
        for name, (kind, right, _) in guesses.items()
    ]
    page = opened(*sections, folded("unanswered", "number", "3"))
    for name, (kind, _, guess) in guesses.items():
        if kind == "choice":
            form(page, name).get_by_label(guess).check()
            form(page, name).get_by_role("button").click()
        else:
            write(page, name, guess)
    table = page.locator(".guesses")
    for _ in range(2):
        # The summary lists only chapters with guesses whose answers were seen; so far, none was.
        assert not table.is_visible()
        page.reload()
    page.evaluate("document.querySelectorAll('details').forEach((e) => { e.open = true; })")
    for name in guesses:
        told(page, name).scroll_into_view_if_needed()
        expect(form(page, name).get_by_role("button")).to_be_disabled()
    others = {
        "page:numbers": {"title": "Numbers", "names": ["one", "former"], "address": "/numbers"},
        "numbers:one": {"kind": "number", "guess": "3", "right": "1 s", "seen": True},
        "numbers:no-more": {"kind": "number", "guess": "3", "right": "1 s", "seen": True},
        "page:choices": {"title": "Choices", "names": ["one"], "address": "/choices"},
        "choices:one": {"kind": "choice", "guess": "a", "right": "b", "seen": True},
        "page:unseen": {"title": "Unseen", "names": ["one"], "address": "/unseen"},
        "unseen:one": {"kind": "choice", "guess": "a", "right": "b", "seen": False},
    }
    stored = {f"{KEY}{name}": json.dumps(value) for name, value in others.items()}
    page.evaluate("(all) => Object.assign(localStorage, all)", stored)
    page.reload()
    assert table.is_visible()
    rows = [row.locator("td").all_inner_texts() for row in table.locator("tbody tr").all()]
    assert sorted(rows) == [
        ["2. Title", "7 of 8", "2 of 3", "a factor of 4; 6 points"],
        ["Choices", "1 of 1", "0 of 1", "–"],
        ["Numbers", "1 of 2", "–", "a factor of 3"],
    ]
    links = table.locator("a").evaluate_all("(all) => all.map((e) => e.getAttribute('href'))")
    assert sorted(links) == ["/", "/choices", "/numbers"]


def test_guesses_work_without_storage(context: BrowserContext, opened: Opened) -> None:
    context.add_init_script("Object.defineProperty(window, 'localStorage', {get() { throw 1; }})")
    page = opened(
        f"<section>{BOX}<p id='next'>Next</p>{answer('one', 'number', '5 bytes')}</section>"
    )
    assert not page.locator("#next").is_visible()
    write(page, "one", "6")
    assert page.locator("#next").is_visible()
    assert told(page, "one").inner_text().startswith("Your guess was 6 bytes")


# ---- where forms are placed, and which text they hide


def test_forms_are_in_the_nearest_box_above_their_answer_or_right_before_it(opened: Opened) -> None:
    page = opened(
        f"<section>{BOX}<p>one</p>{answer('first', 'number', '1')}{BOX}<p>two</p>"
        f"{answer('second', 'number', '2', ask='This')}{answer('third', 'number', '3', ask='That')}"
        f"<p>three</p>{answer('fourth', 'number', '4')}{folded('fifth', 'number', '5', ask='So')}"
        f"</section><section>{answer('sixth', 'number', '6')}</section>"
    )
    boxes = page.locator(".admonition")
    names = "(all) => all.map((form) => form.name)"
    assert boxes.nth(0).locator("form").evaluate_all(names) == ["first"]
    assert boxes.nth(1).locator("form").evaluate_all(names) == ["second", "third"]
    for name in ("fourth", "fifth", "sixth"):
        assert form(page, name).evaluate("(e) => e.nextElementSibling.nextElementSibling.matches("
                                         "'.answer, .guess-skip, .guess-covered')")  # fmt: skip
        assert form(page, name).evaluate("(e) => !e.closest('.admonition')")


def test_the_text_hidden_by_a_guess_ends_before_the_element_that_until_names(
    opened: Opened,
) -> None:
    ends = answer("one", "number", "1", until="end")
    page = opened(
        f"<section><div>{BOX}<p id='covered'>covered</p>{ends}<p id='end'>end</p></div>"
        "<p id='after'>after</p></section><p id='later'>later</p>"
    )
    shown = {name: page.locator(f"#{name}").is_visible() for name in ("covered", "end", "after")}
    assert shown == {"covered": False, "end": True, "after": True}


def test_skipping_a_guess_shows_all_sections_that_the_guess_hid(opened: Opened) -> None:
    ends = answer("one", "number", "1", until="end")
    page = opened(
        f"{SPACE}<section>{BOX}<p id='near'>near</p>{SPACE}{ends}</section>"
        "<section><p id='far'>far</p></section><section><p id='end'>end</p></section>"
    )
    near, far = page.locator("#near"), page.locator("#far")
    assert [near.is_visible(), far.is_visible()] == [False, False]
    assert page.locator("#end").is_visible()
    skip = page.get_by_role("button", name="Skip the guess", exact=True)
    assert page.locator(".guess-skip + .guess-covered", has=near).count() == 1
    skip.evaluate("(e) => e.scrollIntoView({ block: 'end' })")
    before = page.evaluate("scrollY")
    skip.click()
    # The focus moves to the text that was hidden, and Tab doesn't stop at it again.
    part = page.locator(".guess-covered", has=near)
    expect(part).to_be_focused()
    assert part.evaluate("(e) => e.tabIndex") == -1
    assert page.evaluate("scrollY") == before
    assert [near.is_visible(), far.is_visible()] == [True, True]
    page.reload()
    assert near.is_visible()
    page.evaluate("localStorage.clear()")
    page.goto(f"{ADDRESS}?again#far")
    assert [near.is_visible(), far.is_visible()] == [True, True]


# Simulates browsers that don't know hidden="until-found": they hide the element completely.
OLDER = """const { setAttribute } = Element.prototype;
Element.prototype.setAttribute = function (name, value) {
  setAttribute.call(this, name, name === "hidden" ? "" : value);
};"""


def test_a_link_shows_only_the_hidden_text_that_has_its_target(
    context: BrowserContext, opened: Opened
) -> None:
    context.add_init_script(OLDER)
    covers = [
        f"<section>{BOX}{SPACE}<p id='{name}'>target</p>{answer(name, 'number', '1')}</section>"
        for name in ("one", "two")
    ]
    page = opened(*covers, "<a href='#one'>link</a><p id='open'>open</p>", at="#two")
    one, two = page.locator("#one"), page.locator("#two")
    expect(two).to_be_in_viewport()
    assert not one.is_visible()
    assert page.locator(".guess-skip").count() == 1
    page.get_by_role("link", name="link").click()
    expect(one).to_be_in_viewport()
    for address in ("?again#%E0", "?again#open"):
        page.goto(f"{ADDRESS}{address}")
        assert page.locator(".guess-skip").count() == 2
    page.evaluate("location.hash = '#one'")
    expect(one).to_be_in_viewport()
    assert not two.is_visible()
