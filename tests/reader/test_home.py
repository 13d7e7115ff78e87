"""The home page works wherever it lies: in a folder, below a path, without network or scripts."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from site_browser import DESK, UNSET_MATHS, Traffic, ready
from site_server import Server, serving


@contextmanager
def visitor(browser: Browser, **settings: object) -> Iterator[tuple[Page, Traffic]]:
    """Open a window of a browser that was never here; at its end, nothing may have gone wrong."""
    context = browser.new_context(viewport=DESK, **settings)  # type: ignore[arg-type]
    traffic = Traffic().listen(context)
    yield context.new_page(), traffic
    context.close()
    assert traffic.wrong == []


def styled(page: Page) -> None:
    """Check that the style sheets of the theme have arrived."""
    assert page.locator(".bd-main").evaluate("(e) => getComputedStyle(e).display") == "flex"


def follows(page: Page) -> None:
    """Check that the first figure answers the arrow keys at its slider."""
    figure = page.locator("figure.live[data-state=live]").first
    slider = figure.locator("input[type=range]").first
    before = figure.inner_text()
    slider.press("ArrowRight")
    page.wait_for_function(
        "([e, was]) => e.innerText !== was", arg=[figure.element_handle(), before]
    )


@pytest.mark.parametrize("name", ["index", pytest.param("zh/index", marks=pytest.mark.long)])
def test_the_site_works_from_a_folder_without_network(
    browser: Browser, site: Path, name: str
) -> None:
    with visitor(browser, offline=True, color_scheme="light") as (page, traffic):
        ready(page, (site / f"{name}.html").as_uri())
        styled(page)
        follows(page)
        # The first link of the text leads into the course, where formulas and figures are, too.
        page.goto((site / name).with_name("chapters").joinpath("matmul.html").as_uri())
        page.wait_for_function("() => document.querySelector('figure.live[data-state=live]')")
        assert page.locator("math").count()
        assert page.evaluate(UNSET_MATHS) == []
        follows(page)
        # Python can't run there, which a press says.
        page.locator(".run-cell").first.click()
        expect(page.locator(".run-note").first).not_to_be_empty()
        page.goto((site / name).with_name("exercises").joinpath("int8-matmul.html").as_uri())
        page.locator(".answer-bar button").click()
        expect(page.locator(".answer-bar .run-note")).to_contain_text("make lab")
        other = "en" if "zh" in name else "zh-CN"
        page.locator(f"a.language[lang={other}]").first.click()
        page.wait_for_load_state()
        assert page.locator("html").get_attribute("lang") == other
        page.locator("a.right-next").click()
        page.wait_for_load_state()
        assert page.locator("main h1").is_visible()
        assert traffic.outside("file://") == []


def test_the_site_works_below_a_path(browser: Browser, site: Path, tmp_path: Path) -> None:
    (tmp_path / "course").symlink_to(site)
    with serving(tmp_path) as server, visitor(browser) as (page, traffic):
        top = f"{server.origin}/course"
        ready(page, f"{top}/index.html")
        follows(page)
        chinese = "a.language[lang=zh-CN]"
        for link in ("a.right-next", "a.right-next", chinese, "a.left-prev", ".navbar-brand"):
            with page.expect_navigation():
                page.locator(link).first.click()
            assert page.locator("main h1").is_visible()
        assert page.url == f"{top}/zh/index.html"
        assert traffic.outside(top) == []


@pytest.mark.parametrize("place", ["", "/course"])
def test_a_missing_address_shows_a_page_of_the_site_that_leads_on(
    browser: Browser, site: Path, tmp_path: Path, place: str
) -> None:
    """A host sends 404.html for every address that it doesn't have."""
    (tmp_path / "course").symlink_to(site)
    folder = tmp_path if place else site
    page = browser.new_page(viewport=DESK)
    with serving(folder) as server:
        top = f"{server.origin}{place}"
        for missing in ("nothing.html", "chapters/deep/down/nothing", "gone/"):
            page.route(f"{top}/{missing}", lambda route: route.fulfill(path=site / "404.html"))
            page.goto(f"{top}/{missing}")
            styled(page)
            assert page.locator("main h1").is_visible()
            home = page.locator("main p a").first
            assert home.evaluate("(a) => a.href") == f"{top}/index.html"
            chinese = page.locator("main [lang=zh-CN] a").first
            assert chinese.evaluate("(a) => a.href") == f"{top}/zh/index.html"
            search = page.locator("main [lang=zh-CN] form")
            assert search.evaluate("(form) => form.action") == f"{top}/zh/search.html"
        page.locator("main input[name=q]").first.fill("ridge point")
        page.locator("main input[name=q]").first.press("Enter")
        page.locator("#search-results li a").first.wait_for()
        assert page.url.startswith(f"{top}/search.html")
    page.close()


@pytest.mark.parametrize("name", ["index", "chapters/time", "zh/chapters/time"])
def test_without_javascript_the_text_and_still_pictures_are_there(
    browser: Browser, server: Server, name: str
) -> None:
    with visitor(browser, java_script_enabled=False) as (page, _):
        page.goto(f"{server.origin}/{name}.html")
        for figure in page.locator("figure.live").all():
            picture = figure.locator("svg").first.bounding_box()
            assert picture
            assert min(picture["width"], picture["height"]) > 100
            assert figure.locator("svg text").count()
            assert figure.locator(".live-says").first.inner_text()
        assert page.locator("figure.live").count()
        # What would answer a press only with scripts isn't shown, or doesn't take presses.
        dead = page.locator("main article :is(button, input, select):visible:enabled")
        assert dead.count() == 0
        assert page.locator(".answer:visible, .guess-covered").count() == 0
        link = page.locator("a.right-next")
        link.click()
        page.locator("main h1").wait_for()
