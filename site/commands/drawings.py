"""Show the drawings that differ between two built sites: ``python site drawings OLD NEW PAGE``.

PAGE becomes an HTML page with each of them, old beside new, in the colors of its own site. For
people to look at: whether a changed drawing is right is not for a program to say. OLD and NEW are
folders such as ``_build/html``.
"""

import argparse
import html
import re
from collections.abc import Iterator
from pathlib import Path

DRAWING = re.compile(
    r"<svg\b[^>]*\bclass=\"[^\"]*\bfigure\b.*?</svg>|<figure class=\"live\".*?</figure>", re.DOTALL
)
STYLES = ("_static/palette.css", "_static/course.css")
HEAD = "<!doctype html><meta charset=utf-8><title>Changed drawings</title>"
LOOK = "<style>iframe { width: 48%; height: 32rem; border: 1px solid #888 }</style>"


def drawings(site: Path) -> Iterator[tuple[tuple[str, int], str]]:
    """Yield each drawing of a site, with its page and its number there."""
    for path in sorted(site.rglob("*.html")):
        page = path.relative_to(site).as_posix()
        for number, found in enumerate(DRAWING.finditer(path.read_text(encoding="utf-8")), 1):
            yield (page, number), found[0]


def framed(site: Path, drawing: str) -> str:
    """Return a drawing in a frame of its own, with its site's style."""
    style = "".join((site / name).read_text(encoding="utf-8") for name in STYLES)
    page = f"<html data-theme=light><meta charset=utf-8><style>{style}</style>{drawing}"
    return f'<iframe srcdoc="{html.escape(page)}"></iframe>'


def main() -> None:
    parser = argparse.ArgumentParser(prog="python site drawings", description=__doc__)
    parser.add_argument("old", type=Path, help="the site before")
    parser.add_argument("new", type=Path, help="the site after")
    parser.add_argument("page", type=Path, help="the page to write")
    asked = parser.parse_args()
    old, new = dict(drawings(asked.old)), dict(drawings(asked.new))
    changed = [place for place in old | new if old.get(place) != new.get(place)]
    shown = [
        f"<h2>{html.escape(page)}, drawing {number}</h2>\n"
        + framed(asked.old, old.get((page, number), "<p>none</p>"))
        + framed(asked.new, new.get((page, number), "<p>none</p>"))
        for page, number in changed
    ]
    asked.page.write_text("\n".join([HEAD, LOOK, *shown]), encoding="utf-8")
    print(f"{len(changed)} of {len(new)} drawings differ: {asked.page}")


if __name__ == "__main__":
    main()
