"""Dragging, the reader's own chip, and animated steps of figures."""

import re
from collections.abc import Iterator
from itertools import count

import live_pages
import pytest
import site_browser
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

import rooflib as rl
from roofkit import figures
from roofkit.figures import ring
from roofkit.figures.engine.controls import Steps
from roofkit.figures.engine.expressions import FUNCTIONS, value
from roofkit.figures.engine.own_chip import OWN, QUANTITIES
from roofkit.figures.roofline_figure import X, Y, roofline

KEPT = "JSON.parse(localStorage.getItem('roofline-my-own-chip'))"


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport=site_browser.DESK)
    yield context
    context.close()


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport=site_browser.DESK)
    yield live_pages.opened(context, roofline())
    context.close()


@pytest.fixture
def page(tab: Page) -> Page:
    """Return the roofline's page, reloaded with empty storage."""
    tab.evaluate("localStorage.clear()")
    tab.reload()
    live_pages.settled(tab, "roofline")
    return tab


def says(page: Page) -> str:
    return live_pages.settled(page, "roofline").locator(".live-says").text_content() or ""


def knob(page: Page, name: str) -> Locator:
    return page.get_by_role("slider", name=name, exact=True)


def drag(page: Page, held: Locator, x: float, y: float) -> None:
    """Drag a handle to a position in the picture."""
    at = held.bounding_box()
    picture = page.locator(".live-picture svg").bounding_box()
    assert at is not None
    assert picture is not None
    page.mouse.move(at["x"] + at["width"] / 2, at["y"] + at["height"] / 2)
    page.mouse.down()
    page.mouse.move(picture["x"] + x, picture["y"] + y, steps=4)
    page.mouse.up()


def place(page: Page, intensity: float, reached: float) -> tuple[float, float]:
    """Return a point's position in pixels at the picture's current width."""
    picture = page.locator(".live-picture svg").bounding_box()
    assert picture is not None
    names = {**FUNCTIONS, "wide": picture["width"]}
    return value(X.at(intensity), names), value(Y.at(reached), names)


def test_the_algorithms_point_follows_a_drag(page: Page) -> None:
    for intensity in (1.5, 1e5, 300.0):  # the last is next to the roof's corner
        drag(page, knob(page, "the algorithm"), *place(page, intensity, 1e12))
        assert says(page) == roofline().texts(intensity=intensity)["says"]
        shown = page.get_by_label("intensity of the algorithm").get_attribute("aria-valuetext")
        assert shown == knob(page, "the algorithm").get_attribute("aria-valuetext")
        assert shown == rl.text(intensity, "FLOP/byte")
        across = knob(page, "the algorithm").evaluate(
            "(e) => [e.ariaValueNow, String(Math.round(new DOMMatrix(e.style.transform).e))]"
        )
        assert across[0] == across[1]
    assert page.evaluate("getSelection().toString()") == ""
    # The handle has the focus, and follows the pointer only while a button is pressed.
    expect(knob(page, "the algorithm")).to_be_focused()
    box = knob(page, "the algorithm").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] - 2, box["y"] + 2)
    assert says(page) == roofline().texts(intensity=intensity)["says"]


def test_an_arrow_key_moves_the_algorithms_point_by_one_step(page: Page) -> None:
    options = roofline().controls[0].options
    knob(page, "the algorithm").focus()
    for key, step in (("ArrowRight", 1), ("ArrowLeft", 0), ("ArrowLeft", -1)):
        page.keyboard.press(key)
        expected = options[options.index(20) + step]
        assert says(page) == roofline().texts(intensity=expected)["says"]


def test_the_tab_key_leaves_a_handle(page: Page) -> None:
    knob(page, "the algorithm").focus()
    page.keyboard.press("Tab")
    expect(knob(page, "the roof's corner")).to_be_focused()
    page.keyboard.press("Tab")
    expect(knob(page, "the roof's corner")).not_to_be_focused()
    # The list of chips is followed by the section of the reader's own chip, not by a handle.
    page.locator("select[name=chip]").focus()
    page.keyboard.press("Tab")
    expect(page.locator(".live-own summary")).to_be_focused()


def test_dragging_the_roofs_corner_changes_peak_and_bandwidth(page: Page) -> None:
    drag(page, knob(page, "the roof's corner"), *place(page, 100, 1.4e15))
    assert OWN in says(page)
    at = {name: float(v) for name, v in _numbers(page).items()}
    # The corner may be off by about two pixels.
    assert at["ridge"] == pytest.approx(100, rel=0.1)
    assert at["reached"] == pytest.approx(20 * at["bandwidth"])
    assert at["bandwidth"] * at["ridge"] == pytest.approx(1.4e15, rel=0.1)
    typed = page.locator("[data-own=peak]").input_value()
    assert len(typed.replace(".", "").strip("0")) <= 3


PLACE = "(e) => { const { e: x, f: y } = new DOMMatrix(e.style.transform); return [x, y]; }"
SCROLLS = "addEventListener('keydown', (e) => { window.scrolls = !e.defaultPrevented; })"


def test_arrow_keys_move_the_roofs_corner(page: Page) -> None:
    corner = knob(page, "the roof's corner")
    page.evaluate(SCROLLS)
    corner.focus()
    steps = {"ArrowUp": (0, -4), "ArrowDown": (0, 4), "ArrowLeft": (-4, 0), "ArrowRight": (4, 0)}
    for key, (right, down) in steps.items():
        x, y = corner.evaluate(PLACE)
        before = _roof(page)
        page.keyboard.press(key)
        assert corner.evaluate(PLACE) == pytest.approx([x + right, y + down], abs=0.6)
        peak, bandwidth = (now / then for now, then in zip(_roof(page), before, strict=True))
        if down:
            assert (peak > 1) == (down < 0)
        else:
            assert peak == pytest.approx(1, abs=0.01)
            assert (bandwidth > 1) == (right < 0)
        assert not page.evaluate("window.scrolls")


def _roof(page: Page) -> tuple[float, float]:
    """Return peak and bandwidth of the roof that is drawn."""
    at = {name: float(v) for name, v in _numbers(page).items()}
    return at["bandwidth"] * at["ridge"], at["bandwidth"]


def test_handles_stay_on_their_points_in_a_narrower_window(page: Page) -> None:
    names = ("the algorithm", "the roof's corner")
    page.set_viewport_size(site_browser.PHONE)
    page.wait_for_function(
        "document.querySelector('.live-picture svg').getAttribute('width') < innerWidth"
    )
    resized = [knob(page, name).bounding_box() for name in names]
    page.reload()
    live_pages.settled(page, "roofline")
    assert resized == [knob(page, name).bounding_box() for name in names]
    page.set_viewport_size(site_browser.DESK)


def test_dragging_beyond_the_picture_stops_at_its_edge(page: Page) -> None:
    drag(page, knob(page, "the roof's corner"), 5000, -5000)
    says(page)
    assert float(_numbers(page)["ridge"]) == pytest.approx(1e5, rel=0.02)


def _numbers(page: Page) -> dict[str, str]:
    found: dict[str, str] = page.locator("figure.live data").evaluate_all(
        "all => Object.fromEntries(all.map((one) => [one.dataset.name, one.value]))"
    )
    return found


def test_a_drag_does_not_overwrite_typed_numbers(page: Page) -> None:
    page.locator(".live-own summary").click()
    page.locator("[data-own=peak]").fill("500")
    drag(page, knob(page, "the roof's corner"), *place(page, 10, 1e13))
    says(page)
    assert page.evaluate(KEPT) == {"peak": 500e12}
    # A change that another page stores doesn't move the roof back either.
    before = _roof(page)
    page.evaluate("dispatchEvent(new StorageEvent('storage', { key: 'roofline-way' }))")
    assert _roof(page) == before


def test_a_typed_chip_is_stored_and_shared_with_other_open_pages(context: BrowserContext) -> None:
    typed = {"peak": 500.0, "bandwidth": 2000.0, "memory": 24.0, "link": 25.0}
    page = live_pages.opened(context, roofline())
    page.locator(".live-own summary").click()
    for name, number in typed.items():
        page.locator(f"[data-own={name}]").fill(str(number))
    in_units = {name: number * QUANTITIES[name].factor for name, number in typed.items()}
    expected = roofline().with_own(**in_units)
    assert says(page) == expected.texts(chip=OWN)["says"]
    page.reload()
    live_pages.settled(page, "roofline")
    page.locator("select[name=chip]").select_option(OWN)
    assert says(page) == expected.texts(chip=OWN)["says"]
    # Another open page updates without a reload.
    other = context.new_page()
    other.goto(live_pages.ADDRESS)
    other.locator("select[name=chip]").select_option(OWN)
    page.locator(".live-own summary").click()
    page.locator("[data-own=peak]").fill("50")
    again = roofline().with_own(**(in_units | {"peak": 50e12})).texts(chip=OWN)["says"]
    expect(other.locator(".live-says")).to_have_text(again)


def test_an_invalid_number_changes_nothing_and_says_what_is_allowed(page: Page) -> None:
    page.locator(".live-own summary").click()
    field, quantity = page.locator("[data-own=bandwidth]"), QUANTITIES["bandwidth"]
    told = page.locator("div:has(> label)", has=field).get_by_role("status")
    told.evaluate(live_pages.LISTEN)
    for nonsense in ("", "0", "-3", "1e12", "0.001"):
        field.fill(nonsense)
        assert field.get_attribute("aria-invalid") == "true"
        assert says(page) == roofline().texts()["says"]
        allowed = quantity.problem(float(nonsense or "nan"), quantity.start)
        assert told.text_content() == allowed == told.inner_text()
        assert "0.01 to 10,000,000 GB/s. Until then it stays 1,000 GB/s" in allowed
    assert page.evaluate("window.announced") == 1
    field.fill("2000")
    assert field.get_attribute("aria-invalid") == "false"
    assert told.text_content() == ""


def test_the_last_valid_number_is_kept(page: Page) -> None:
    page.locator(".live-own summary").click()
    field = page.locator("[data-own=bandwidth]")
    told = page.locator("div:has(> label)", has=field).get_by_role("status")
    field.fill("")
    field.press_sequentially("2000.50")
    assert field.input_value() == "2000.50"  # as typed, not rewritten
    field.press_sequentially("e")  # "2000.5e" is not a number yet
    assert "stays 2,000.5 GB/s" in (told.text_content() or "")
    # Changing another field keeps the last valid number of this one, which then shows it again.
    page.locator("[data-own=peak]").fill("500")
    expected = roofline().with_own(peak=500e12, bandwidth=2000.5e9)
    assert says(page) == expected.texts(chip=OWN)["says"]
    assert (field.input_value(), told.text_content()) == ("2000.5", "")
    assert page.evaluate(KEPT) == {"peak": 500e12, "bandwidth": 2000.5e9}


def test_figures_work_without_local_storage(context: BrowserContext) -> None:
    context.add_init_script("Object.defineProperty(window, 'localStorage', {get() { throw 1; }})")
    page = live_pages.opened(context, roofline())
    page.locator(".live-own summary").click()
    page.locator("[data-own=peak]").fill("500")
    assert OWN in says(page)


@pytest.mark.parametrize("name", ["time", "intensity", "roofline", "matmul", "chips", "attention"])
def test_figures_about_chips_offer_the_readers_own_chip(name: str) -> None:
    figure = getattr(figures, name)()
    choice = next(c for c in figure.controls if OWN in c.options)
    doubled = {q: 2 * one.start * one.factor for q, one in QUANTITIES.items()}
    first = figure.values(**{choice.name: OWN})
    second = figure.with_own(**doubled).values(**{choice.name: OWN})
    times = {n for n in first if n.startswith("t_") or n in ("ceiling", "bandwidth")}
    for one in times:
        factor = 2.0 if one in ("ceiling", "bandwidth") else 0.5
        assert second[one] == pytest.approx(factor * first[one])
    assert "live-own" in figure.html()
    assert re.search(r'data-own="link"[^>]*value="50"', figure.html())


def test_the_browser_roof_picture_is_opaque_before_the_browser_is_measured(
    context: BrowserContext,
) -> None:
    page = live_pages.opened(context, figures.browser_roof())
    opacity = "picture => getComputedStyle(picture).opacity"
    assert page.locator(".live-picture.live-void").evaluate(opacity) == "1"


def test_a_picture_in_a_narrow_container_leaves_no_space_below(context: BrowserContext) -> None:
    """Check that a narrow picture leaves no space below.

    Before the script draws it, space is reserved for a picture as wide as the page.
    """
    figure = figures.attention()
    page = live_pages.opened(context, figure)
    picture = page.locator(".live-picture")
    svg = picture.get_by_role("img", name=figure.title, exact=True)
    high = float(svg.get_attribute("height") or 0)
    page.locator("figure.live").evaluate("(e) => { e.style.width = '400px'; }")
    expect(svg).not_to_have_attribute("height", f"{high:g}")
    place, drawn = picture.bounding_box(), svg.bounding_box()
    assert place is not None
    assert drawn is not None
    assert place["height"] == pytest.approx(drawn["height"], abs=10)
    assert drawn["height"] < high - 20


# Tests of animated steps, which control the browser's clock.

PACE = int(1000 * next(c.seconds for c in ring().controls if isinstance(c, Steps)))
FRAME = 50  # ms: more than one animation frame
REST_MS = 300  # ms without input before the description is updated
PICTURE = "svg => svg.innerHTML"


class Player:
    """The slider and the buttons of the ring figure, whose last step is 6."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.slider = self.page.locator("input[name=step]")
        self.back, self.play, self.next = (
            self.page.locator(f"[data-does={does}]") for does in ("back", "play", "next")
        )

    def wait(self, ms: int) -> None:
        self.page.clock.run_for(ms)

    @property
    def step(self) -> int:
        return int(self.slider.input_value())

    @property
    def plays(self) -> bool:
        named = self.play.get_attribute("aria-label")
        pressed = self.play.get_attribute("aria-pressed") == "true"
        assert named == ("Stop" if pressed else "Play")
        return pressed

    @property
    def picture(self) -> str:
        return str(self.page.locator(".live-picture svg").evaluate(PICTURE))

    def assert_stopped_at(self, step: int) -> None:
        """Check that the animation is stopped, with picture and text at a whole step."""
        assert not self.plays
        self.wait(5 * PACE)
        assert self.step == step
        assert says_of(self.page) == ring().texts(step=step)["says"]
        before = self.picture
        self.slider.dispatch_event("input")
        self.wait(FRAME)
        assert self.picture == before


def says_of(page: Page) -> str:
    return page.locator(".live-says").text_content() or ""


HOURS = count(1)


@pytest.fixture(scope="module")
def ring_tab(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport=site_browser.DESK)
    context.clock.install(time=0)
    yield live_pages.opened(context, ring())
    context.close()


@pytest.fixture
def player(ring_tab: Page) -> Player:
    """Return the player of the reloaded page, with a paused clock."""
    ring_tab.emulate_media(reduced_motion="no-preference")
    ring_tab.clock.resume()
    ring_tab.reload()
    live_pages.settled(ring_tab, "ring")
    ring_tab.clock.pause_at(3_600_000 * next(HOURS))
    return Player(ring_tab)


def test_play_advances_step_by_step_and_stops_at_the_end(player: Player) -> None:
    assert player.step == 3
    player.play.click()
    assert player.plays
    for step in (3, 4, 5):
        assert player.step == step
        before = player.picture
        player.wait(PACE // 2)
        # Between two steps only the picture moves, not the slider.
        assert player.picture != before
        assert player.step == step
        player.wait(PACE // 2 + FRAME)
    player.assert_stopped_at(6)
    # At the end, Play starts again from the first step.
    player.play.click()
    assert player.step == 0
    player.wait(PACE + FRAME)
    assert (player.step, player.plays) == (1, True)


@pytest.mark.long
def test_stop_returns_to_the_last_whole_step(player: Player) -> None:
    player.play.click()
    player.wait(PACE + PACE // 2)
    player.play.click()
    player.assert_stopped_at(4)


def test_step_buttons_stop_the_animation(player: Player) -> None:
    player.play.click()
    player.wait(PACE + PACE // 2)
    player.next.click()
    player.assert_stopped_at(5)
    player.back.click()
    player.play.click()
    player.wait(PACE // 2)
    player.back.click()
    player.assert_stopped_at(3)


@pytest.mark.long
def test_there_is_no_step_before_the_first_or_after_the_last(player: Player) -> None:
    for _ in range(5):
        player.next.click()
    player.assert_stopped_at(6)
    for _ in range(8):
        player.back.click()
    player.assert_stopped_at(0)


def test_the_animation_can_be_controlled_by_keyboard(player: Player) -> None:
    player.back.focus()
    player.page.keyboard.press("Tab")
    player.page.keyboard.press("Enter")
    assert player.plays
    player.wait(PACE + PACE // 2)
    player.page.keyboard.press("Space")
    player.assert_stopped_at(4)
    player.page.keyboard.press("Tab")
    player.page.keyboard.press("Space")
    player.assert_stopped_at(5)


@pytest.mark.long
def test_an_arrow_key_on_the_slider_stops_the_animation(player: Player) -> None:
    player.play.click()
    player.wait(PACE + PACE // 2)
    player.slider.press("ArrowLeft")
    player.assert_stopped_at(3)


def test_dragging_the_slider_stops_the_animation(player: Player) -> None:
    player.play.click()
    player.wait(PACE // 2)
    box = player.slider.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    player.page.mouse.move(box["x"] + box["width"] / 2, middle)
    player.page.mouse.down()
    player.page.mouse.move(box["x"] + 1, middle, steps=4)
    player.page.mouse.up()
    player.assert_stopped_at(0)
    # Play starts from a whole step.
    player.play.click()
    player.wait(PACE // 2)
    assert (player.step, player.plays) == (0, True)
    player.wait(PACE // 2 + FRAME)
    assert (player.step, player.plays) == (1, True)


def test_the_description_waits_until_a_slider_rests(player: Player) -> None:
    before = says_of(player.page)
    player.page.locator(".live-says").evaluate(live_pages.LISTEN)
    for _ in range(2):
        player.slider.press("ArrowLeft")
        player.wait(REST_MS - 100)
        assert says_of(player.page) == before
    player.wait(200)
    assert says_of(player.page) == ring().texts(step=1)["says"]
    # An unchanged description isn't announced again.
    player.slider.dispatch_event("input")
    player.wait(2 * REST_MS)
    assert player.page.evaluate("window.announced") == 1


def test_a_page_reached_by_the_back_button_shows_its_restored_controls(player: Player) -> None:
    page = player.page
    page.clock.resume()
    player.slider.fill("0")
    page.goto("about:blank")
    page.go_back()
    expect(page.locator(".live-says")).to_have_text(ring().texts(step=0)["says"])
    assert player.step == 0
    assert player.slider.get_attribute("aria-valuetext") == "0"
    # This figure doesn't start to play when it comes into view.
    page.locator(".live-picture").scroll_into_view_if_needed()
    assert not player.plays


def test_fewer_steps_end_the_animation_earlier(player: Player) -> None:
    player.play.click()
    player.wait(PACE // 2)
    # With two chips there are two steps, so the third no longer exists.
    player.page.locator("input[name=N]").press("Home")
    player.wait(2 * PACE)
    assert (player.step, player.plays) == (2, False)
    assert says_of(player.page) == ring().texts(step=2, N=2)["says"]


def test_reduced_motion_draws_whole_steps_only(player: Player) -> None:
    player.page.emulate_media(reduced_motion="reduce")
    player.play.click()
    for step in (3, 4, 5):
        before = player.picture
        for _ in range(4):
            player.wait(PACE // 5)
            assert player.picture == before
        player.wait(PACE // 5 + FRAME)
        assert player.step == step + 1
        assert player.picture != before
    player.assert_stopped_at(6)
