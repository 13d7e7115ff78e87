"""Collect what is published: the built site, and each tag's edition in a folder.

    python site editions     # after `make book`; prints the folder to publish

A tag is a version, 0.2.0 or v0.2.0. Its edition is built once, from its own sources and its own
lock. The pages of older editions get a banner with a link to the newest.
"""

import html
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VERSION = re.compile(r"v?\d+(\.\d+)+")
MAIN = re.compile(r'<main id="main-content"[^>]*>')
BANNER = """
<aside class="edition" aria-label="Edition" style="padding: 0.5rem 1rem; \
border-bottom: 1px solid var(--line, #d3d9de); background: var(--ochre-tint, #faf6e6); \
color: var(--ink, #22262b); font: 1rem/1.4 var(--sans, sans-serif)">
This is edition {this}. <a href="{address}">{words}</a>
</aside>"""
SAME = "The same page in edition {newest}, the newest"
GONE = "To edition {newest}, the newest, which has no such page"


def tags(repository: Path) -> list[str]:
    """Return the tags that are versions, oldest first."""
    listed = _git(repository, "tag", "--list").split()
    return sorted(filter(VERSION.fullmatch, listed), key=numbers)


def numbers(tag: str) -> list[int]:
    """Return a version as numbers, so that 0.10.0 sorts after 0.9.0."""
    return [int(digits) for digits in re.findall(r"\d+", tag)]


def built(repository: Path, tag: str, kept: Path) -> Path:
    """Build a tag's site with its own ``make book``; rebuild it if the tag has moved."""
    commit = _git(repository, "rev-parse", f"{tag}^{{commit}}").strip()
    target = kept / f"{tag}-{commit}"
    if target.is_dir():
        return target
    with tempfile.TemporaryDirectory() as folder:
        sources = Path(folder) / "course"
        _git(repository, "clone", "--quiet", "--no-checkout", str(repository), str(sources))
        _git(sources, "checkout", "--quiet", "--detach", commit)
        environment = os.environ | {"EDITION": tag}
        # Drop the variables by which make configures a nested make, and the path that kernels would
        # import packages from.
        for name in ("MAKEFLAGS", "MAKELEVEL", "PYTHONPATH"):
            environment.pop(name, None)
        subprocess.run(["make", "book"], cwd=sources, env=environment, stdout=2, check=True)
        kept.mkdir(exist_ok=True)
        for old in kept.glob(f"{tag}-*"):
            shutil.rmtree(old)
        unfinished = kept / f".{target.name}"
        shutil.rmtree(unfinished, ignore_errors=True)
        shutil.copytree(sources / "_build" / "html", unfinished)
        unfinished.rename(target)  # only a complete edition gets this name
    return target


def collect(site: Path, editions: dict[str, Path], target: Path) -> None:
    """Copy a site and its editions into an emptied folder.

    `editions` is tag → folder, oldest first. On an error the folder keeps its old content.
    """
    unfinished = target.with_name(f".{target.name}.new")
    shutil.rmtree(unfinished, ignore_errors=True)
    _collect(site, editions, unfinished)
    shutil.rmtree(target, ignore_errors=True)
    unfinished.rename(target)


def _collect(site: Path, editions: dict[str, Path], target: Path) -> None:
    shutil.copytree(site, target)
    for tag, folder in editions.items():
        if (target / tag).exists():
            raise FileExistsError(f"the site has a page or folder {tag!r}, and a tag of that name")
        shutil.copytree(folder, target / tag)
    *older, newest = editions or [""]
    for tag in older:
        for page in sorted((target / tag).rglob("*.html")):
            if page.name != "404.html":  # hosts send only the 404 page of the whole site
                page.write_text(with_banner(page, target, tag, newest), encoding="utf-8")


def with_banner(page: Path, top: Path, tag: str, newest: str) -> str:
    """Return a page of an older edition with a link to the newest edition at its top.

    Slides and lists of files aren't pages of the book and stay unchanged.
    """
    name = page.relative_to(top / tag)
    same = (top / newest / name).is_file()
    leads_to = top / newest / (name if same else "index.html")
    address = os.path.relpath(leads_to, page.parent).replace(os.sep, "/")
    words = (SAME if same else GONE).format(newest=newest)
    banner = BANNER.format(this=tag, address=html.escape(address), words=words)
    text = page.read_text(encoding="utf-8")
    return MAIN.sub(lambda found: found[0] + banner, text)


def _git(repository: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=repository, stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout


def main() -> int:
    output = ROOT / "_build"
    found = {}
    for tag in tags(ROOT):
        try:
            found[tag] = built(ROOT, tag, output / "editions")
        except subprocess.CalledProcessError:
            print(f"edition {tag} was not built: see the messages above", file=sys.stderr)
            return 1
    collect(output / "html", found, output / "public")
    print(output / "public")
    return 0


if __name__ == "__main__":
    sys.exit(main())
