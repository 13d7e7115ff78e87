"""A reader guesses before the answer: makes, changes or skips a guess, and hears how it was."""

import math
import re

import pytest
from playwright.sync_api import expect
from reader import FULL, Reader
from site_browser import axe, put_theme

CHAPTER = "chapters/intensity"  # it asks for choices, numbers and a share
BOXES = ".admonition.tip, .guess-told, .guess-skip"
NUMBER = re.compile(r"\d[\d,]*\.?\d*")
# Whether the focus is behind a guess's form.
FOCUS_AFTER = """(name) => document.querySelector(`form.guess[name="${name}"]`)
  .compareDocumentPosition(document.activeElement) === Node.DOCUMENT_POSITION_FOLLOWING"""


def numbers(text: str) -> list[float]:
    return [float(found.replace(",", "")) for found in NUMBER.findall(text)]


def others(reader: Reader, guess: str) -> list[str]:
    """Return the wrong choices of a guess."""
    labels = reader.form(guess).locator("label").all_inner_texts()
    return [label.strip() for label in labels if label.strip() != reader.right(guess)]


# ---- what follows a guess


def test_what_follows_is_covered_until_i_guess_and_then_stays_open(reader: Reader) -> None:
    reader.open(CHAPTER, covered=True)
    first, second = reader.guesses("choice", folded=False)[:2]
    assert not reader.shown_after(first)
    reader.guess(first, "")
    assert reader.noted(first)
    assert not reader.shown_after(first)
    before = reader.form(first).bounding_box()
    wrong = others(reader, first)[0]
    reader.guess(first, wrong)
    assert reader.shown_after(first)
    assert reader.form(first).bounding_box() == before
    assert not reader.shown_after(second)
    assert wrong in reader.told(first)
    assert reader.right(first) in reader.told(first)
    noted_of_wrong = reader.noted(first)
    # Reading goes on there: the focus is behind the form.
    assert reader.page.evaluate(FOCUS_AFTER, first)
    reader.page.reload()
    assert reader.shown_after(first)
    assert reader.form(first).get_by_label(wrong, exact=True).is_checked()
    assert not reader.shown_after(second)
    # A note tells whether the guess was right.
    reader.guess(second, reader.right(second))
    assert "right" in reader.noted(second)
    assert "right" not in noted_of_wrong


def test_all_guesses_of_a_box_are_asked_before_the_page_goes_on(reader: Reader) -> None:
    reader.open("chapters/time", covered=True)
    box = reader.page.locator(".admonition.tip", has=reader.page.locator("form.guess + p + form"))
    names = box.first.locator("form.guess").evaluate_all("(all) => all.map((form) => form.name)")
    assert len(names) > 1
    for name in names:
        assert not reader.shown_after(names[-1])
        reader.guess(name, "20")
    assert reader.shown_after(names[-1])
    assert [bool(reader.noted(name)) for name in names] == [False] * (len(names) - 1) + [True]


def test_one_press_skips_a_guess_for_good(reader: Reader) -> None:
    reader.open(CHAPTER, covered=True)
    guess = reader.guesses("choice", folded=False)[0]
    reader.form(guess).get_by_role("button").focus()
    reader.page.keyboard.press("Tab")
    reader.page.keyboard.press("Enter")
    assert reader.shown_after(guess)
    # Reading goes on there: the focus is at the text that was covered.
    focused = "document.activeElement.compareDocumentPosition(document.querySelector('{}')) & 4"
    assert reader.page.evaluate(focused.format(f"form.guess[name={guess}]")) == 0
    reader.page.reload()
    assert reader.shown_after(guess)
    assert reader.told(guess) == ""
    reader.open("chapters/time", covered=True)
    assert reader.covers


def test_one_switch_shows_all_answers_of_all_pages_until_it_is_turned_off(reader: Reader) -> None:
    switch = reader.page.get_by_role("switch", name="Show all answers")
    folds = reader.page.locator(".bd-article .answer + details")

    def shown() -> tuple[bool, bool, bool]:
        unfolded = folds.evaluate_all("(all) => all.map(({ open }) => open)")
        return switch.is_checked(), reader.covers == 0, set(unfolded) == {True}

    reader.open(CHAPTER, covered=True)
    assert shown() == (False, False, False)
    reader.press("Show all answers")  # beside a guess
    assert shown() == (True, True, True)
    reader.open("chapters/time", covered=True)
    assert shown() == (True, True, True)
    reader.open("chapters/hardware", covered=True)
    long = reader.page.locator("details.hide:has(tr:nth-child(40))")
    assert long.count()
    assert not long.evaluate_all("(all) => all.some(({ open }) => open)")  # no answer
    reader.open("chapters/time", covered=True)
    switch.uncheck()
    assert shown() == (False, False, False)
    reader.page.reload()
    assert shown() == (False, False, False)


def test_the_switch_that_shows_all_answers_is_in_the_menu_of_a_phone(reader: Reader) -> None:
    reader.open(CHAPTER, covered=True)
    reader.phone()
    reader.press("On this page")
    reader.page.get_by_role("switch", name="Show all answers").check()
    assert reader.covers == 0


def test_no_key_reaches_what_is_covered(reader: Reader) -> None:
    reader.open(CHAPTER, covered=True)
    held = reader.page.locator(".guess-covered[hidden]").locator("button, a[href], input, summary")
    assert held.count()
    focusable = "(all) => all.filter((e) => { e.focus(); return document.activeElement === e; })"
    assert reader.page.evaluate(f"(all) => ({focusable})(all).length", held.element_handles()) == 0


def test_a_link_into_what_is_covered_opens_it(reader: Reader) -> None:
    reader.open("chapters/chips", covered=True)
    target = reader.page.locator(".guess-covered [id]").first  # a source, to which its entry leads
    name = target.get_attribute("id")
    assert not target.is_visible()
    reader.page.evaluate("(name) => { location.hash = name; }", name)
    expect(target).to_be_in_viewport()
    # Following a link is no answer: the next visit covers it again.
    reader.page.goto(f"{reader.origin}/chapters/chips.html?again")
    assert not reader.page.locator(f"#{name}").is_visible()
    reader.page.goto(f"{reader.origin}/chapters/chips.html?once-more#{name}")
    expect(reader.page.locator(f"#{name}")).to_be_in_viewport()


def test_words_found_by_search_are_shown_though_covered(reader: Reader) -> None:
    reader.open("chapters/time", covered=True)
    covered = reader.page.locator(".guess-covered[hidden]").first.text_content() or ""
    word = max(re.findall(r"[a-z]+", covered), key=len)
    reader.page.evaluate("(w) => localStorage.setItem('sphinx_highlight_terms', w)", word)
    reader.page.reload()
    expect(reader.page.locator(".guess-covered .highlighted").first).to_be_visible()


def test_paper_and_the_browsers_own_search_reach_what_is_covered(reader: Reader) -> None:
    reader.open("chapters/time", covered=True)
    guess, *_, skipped = reader.guesses(folded=False)
    reader.page.get_by_role("button", name="Skip the guess").last.click()
    reader.page.emulate_media(media="print")
    assert reader.shown_after(guess)
    reader.page.emulate_media(media="screen")
    assert not reader.shown_after(guess)
    assert reader.shown_after(skipped)
    # The event that a browser sends before it shows text found in a covered part.
    part = reader.page.locator(".guess-covered[hidden=until-found]").first
    part.evaluate("(e) => e.dispatchEvent(new Event('beforematch', { bubbles: true }))")
    assert reader.shown_after(guess)


def test_covered_pages_are_accessible(reader: Reader) -> None:
    reader.open("chapters/time", covered=True)
    assert axe(reader.page) == []
    put_theme(reader.page, "dark")
    assert axe(reader.page, BOXES) == []


# ---- what is said about a guess


@pytest.fixture
def asked(reader: Reader) -> tuple[Reader, str]:
    """Return a chapter, and its question for a number with a unit whose answer is folded."""
    reader.open(CHAPTER)
    names = reader.guesses("number", folded=True)
    return reader, next(name for name in names if "FLOP/byte" in reader.right(name))


def test_i_can_change_my_guess(asked: tuple[Reader, str]) -> None:
    reader, guess = asked
    reader.guess(guess, "7")
    first = reader.told(guess)
    reader.guess(guess, "8")
    assert reader.told(guess) != first
    reader.page.reload()
    assert reader.form(guess).get_by_role("textbox").input_value() == "8"
    assert "8" in reader.told(guess)


MEANT = {
    "12,000": 12_000,
    "12 000": 12_000,
    "1,234,567.5": 1_234_567.5,
    "2,5": 2.5,
    "12,5e3": 12_500,
    " .5 FLOP/byte": 0.5,
    "3e1": 30,
    "１２．５": 12.5,
    "１，０００": 1_000,
    "0。5": 0.5,
}
REFUSED = ("10^9", "2×10⁹", "1/3", "4 to 6", "2 million", "5k", "", "e9", "a lot", "5 %")


def test_numbers_are_understood_as_people_write_them(asked: tuple[Reader, str]) -> None:
    reader, guess = asked
    right = numbers(reader.right(guess))[0]
    for written, meant in MEANT.items():
        reader.guess(guess, written)
        factor = max(meant / right, right / meant)
        assert math.isclose(numbers(reader.told(guess))[-1], factor, rel_tol=0.05), written
    said = reader.told(guess)
    for written in REFUSED:
        reader.guess(guess, written)
        assert reader.noted(guess), written
        assert reader.told(guess) == said, written


def test_a_close_guess_is_told_no_factor_and_a_far_one_which_way(asked: tuple[Reader, str]) -> None:
    reader, guess = asked
    right = numbers(reader.right(guess))[0]
    told = []
    for times in (1.01, 4, 0.25):
        reader.guess(guess, f"{times * right:.6f}")
        told.append(reader.told(guess).replace(f"{times * right:.6f}", "GUESS"))
    close, high, low = told
    assert all(reader.right(guess) in said for said in told)
    assert len(numbers(close)) == len(numbers(high)) - 1 == len(numbers(low)) - 1
    assert numbers(high)[-1] == numbers(low)[-1] == 4
    assert re.search(r"your guess is \S+ times as large", high)
    assert re.search(r"that is \S+ times as large as your guess", low)
    assert high != low


def test_a_guessed_share_is_told_in_points(reader: Reader) -> None:
    reader.open(CHAPTER)
    guess = next(n for n in reader.guesses("number", folded=True) if "%" in reader.right(n))
    right = numbers(reader.right(guess))[0]
    reader.guess(guess, f"{right + 12} %")
    assert "points" in reader.told(guess)
    assert numbers(reader.told(guess))[-1] == 12
    # A small share is far off, though it be only a point away.
    reader.open("chapters/machine")
    small = next(n for n in reader.guesses("number") if re.fullmatch(r"0\.\d+%", reader.right(n)))
    reader.guess(small, f"{3 * numbers(reader.right(small))[0]}")
    assert numbers(reader.told(small))[-1] == 3


def test_the_summary_counts_my_guesses_and_says_how_far_off_they_were(reader: Reader) -> None:
    reader.open("chapters/summary")
    told = reader.page.locator(".guesses")
    assert told.is_hidden()
    reader.open(CHAPTER)
    factors, points = iter((2, 4, 8)), []
    for guess in reader.guesses("number", folded=True):
        right = numbers(reader.right(guess))[0]
        if "%" in reader.right(guess):
            points.append(12 + 2 * len(points))
            reader.guess(guess, f"{right + points[-1]}")
        elif factor := next(factors, 0):
            reader.guess(guess, f"{right * factor}")
    right, wrong = reader.guesses("choice", folded=False)[:2]
    reader.guess(wrong, others(reader, wrong)[0])
    reader.guess(right, reader.right(right))
    reader.open("chapters/summary")
    count, off, away = told.locator("p").all_inner_texts()
    assert numbers(count) == [5 + len(points), 1]
    assert numbers(off) == [4]
    assert numbers(away) == [sum(points) / len(points)]
    assert axe(reader.page, ".guesses") == []


def test_without_storage_a_guess_lasts_until_the_page_is_left(reader: Reader) -> None:
    reader = reader.tab()
    reader.page.add_init_script(FULL)
    reader.open(CHAPTER, covered=True)
    guess = reader.guesses("choice", folded=False)[0]
    reader.guess(guess, reader.right(guess))
    assert reader.shown_after(guess)
    assert reader.right(guess) in reader.told(guess)
