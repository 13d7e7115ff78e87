"""Open chapters and exercises in JupyterLab: ``python site lab [its options]``.

A reader works on copies of the notebooks in my-work/ and begins at start-here.ipynb.
``--language zh_CN`` chooses the language, which is remembered.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path

import nbformat
import yaml
from book_extension.contents import KERNEL, START, Page, names, pages
from book_extension.languages import ORIGINAL, TRANSLATIONS, Language, chosen, words
from nbformat import NotebookNode

from commands import handouts, notebooks
from commands.copies import bring_up_to_date, summary, write_whole
from commands.handouts.bundle import NBGRADER

VARIABLE = "ROOFLINE_LANGUAGE"  # from which kernels take the language; see roofkit.words
# The first variable that is set decides about the language at a first start.
OF_SYSTEM = (VARIABLE, "LC_ALL", "LC_MESSAGES", "LANG")
ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "my-work"
# Folders of JupyterLab's own files below my-work/.jupyter, so that HOME stays untouched.
FOLDERS = {
    "JUPYTER_CONFIG_DIR": "config",
    "JUPYTER_DATA_DIR": "data",
    "JUPYTER_RUNTIME_DIR": "runtime",
    "JUPYTERLAB_SETTINGS_DIR": "settings",
    "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
    "IPYTHONDIR": "ipython",
    "MPLCONFIGDIR": "matplotlib",
}
QUIET = {"fetchNews": "false", "checkForUpdates": False}
# In a dark theme JupyterLab puts dark pictures on a light ground, but no SVG, as plots are.
STYLE = '[data-jp-theme-light="false"] .jp-RenderedSVG > * { background: white; }\n'
# What nbgrader shows to instructors; Validate stays.
INSTRUCTORS = ("assignment-list", "course-list", "create-assignment", "formgrader", "menu")


class NotMade(Exception):
    """Raised if the notebooks could not be made; a message said why."""


def prepare(book: Path, work: Path, language: Language) -> dict[str, list[str]]:
    """Make or update the copies of all notebooks; add nbgrader's settings."""
    if not notebooks.make(book, language):
        raise NotMade
    release = handouts.released(book)
    translated = release.with_name(f"{release.name}-{language.code}")
    release = translated if translated.is_dir() else release
    named = names(book / "_toc.yml")
    supplied = {}
    for page in named:
        name = page.rpartition("/")[2]
        chapter = notebooks.folder(book, language) / f"{page}.ipynb"
        file = release / name / f"{name}.ipynb" if page.startswith("exercises/") else chapter
        if file.exists():
            supplied[page] = nbformat.read(file, as_version=4)
    start = start_notebook(book, language, named, supplied)
    report = bring_up_to_date({"start": start, **supplied}, {"start": START, **named}, work)
    folders = {work / named[page] for page in supplied if page.startswith("exercises/")}
    for folder in (work, *(path.parent for path in folders)):
        # With it, `nbgrader validate` exits with 1 if a part is wrong.
        if not (config := folder / "nbgrader_config.py").exists():
            write_whole(config, (ROOT / NBGRADER).read_text(encoding="utf-8"))
    return report


def start_notebook(
    book: Path, language: Language, named: Mapping[str, str], supplied: Mapping[str, NotebookNode]
) -> NotebookNode:
    """Return the notebook that lists all others."""
    _ = words(language)
    title = yaml.safe_load((book / "_config.yml").read_text(encoding="utf-8"))["title"]
    links = {page: f"[{heading(one)}]({named[page]})" for page, one in supplied.items()}
    how = _("A press on a title opens its notebook. What you write in it is never overwritten.")

    def lines(listed: Iterable[Page]) -> str:
        found = []
        for page in listed:
            facts = supplied[page.docname].metadata.get("exercise", {})
            line = f"{page.number}. " if page.number else "- "
            line += links[page.docname]
            if facts:
                minutes = _("{minutes} minutes").format(minutes=facts["minutes"])
                line += f"  \n  {minutes}{_(', ')}{_(facts['difficulty'])}"
            if first := links.get(f"chapters/{facts.get('read_first')}"):
                before = _("Read first: {chapter}").format(chapter=first)
                line += f"  \n  {before}"
            found.append(line)
        return "\n".join(found)

    texts = [f"# {_(title)}\n\n{how}"]
    listed = [page for page in pages(book / "_toc.yml") if page.docname in supplied]
    for caption, group in groupby(listed, key=lambda page: page.caption):
        texts.append(f"## {_(caption)}\n\n{lines(group)}")
    cells = [
        nbformat.v4.new_markdown_cell(text, id=f"cell-{number}")
        for number, text in enumerate(texts)
    ]
    made: NotebookNode = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNEL})
    return made


def heading(notebook: NotebookNode) -> str:
    """Return a notebook's title."""
    texts = (cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    title = next(text for text in texts if text.startswith("# "))
    return str(title.splitlines()[0].removeprefix("# "))


def language_of(folder: Path, told: str | None, environment: Mapping[str, str]) -> Language:
    """Return the language of the option, else the remembered one, else that of the system."""
    file = folder / "language"
    if told:
        language = chosen(told)
        write_whole(file, f"{language.code}\n")
        return language
    if file.exists():
        return chosen(file.read_text(encoding="utf-8").strip())
    name = next(filter(None, map(environment.get, OF_SYSTEM)), "")
    spoken = name.partition("_")[0].lower()
    return next((one for one in TRANSLATIONS if one.code.partition("_")[0] == spoken), ORIGINAL)


def variables(folder: Path, environment: Mapping[str, str], home: Path) -> dict[str, str]:
    """Return variables that move the folders of Jupyter's tools below `folder`.

    Variables that the user's environment already sets stay. So does the settings folder of the
    user's JupyterLab, if there is one: its theme and keyboard shortcuts apply here, too.
    """
    found = {variable: str(folder / name) for variable, name in FOLDERS.items()}
    config = Path(environment.get("JUPYTER_CONFIG_DIR", home / ".jupyter"))
    settings = config / "lab" / "user-settings"
    if settings.is_dir():
        found["JUPYTERLAB_SETTINGS_DIR"] = str(settings)
    return found | {name: environment[name] for name in FOLDERS if environment.get(name)}


def write_settings(folder: Path, language: Language) -> None:
    """Set what JupyterLab shows, and the language of menus and of kernels' tables and plots.

    The settings are defaults, which the user's own override.
    """
    defaults: dict[str, object] = {"@jupyterlab/apputils-extension:notification": QUIET}
    if language is not ORIGINAL:
        defaults["@jupyterlab/translation-extension:plugin"] = {"locale": language.code}
    hidden = {f"@jupyter/nbgrader:{name}": True for name in INSTRUCTORS}
    files = {
        "config/labconfig/default_setting_overrides.json": defaults,
        "config/labconfig/page_config.json": {"disabledExtensions": hidden},
        "ipython/profile_default/ipython_kernel_config.json": {
            "IPKernelApp": {"extensions": ["roofkit.kernel_language"]}
        },
    }
    for name, content in files.items():
        write_whole(folder / name, json.dumps(content))
    write_whole(folder / "config/custom/custom.css", STYLE)


def command(folder: Path, *options: str) -> list[str]:
    """Return the command for JupyterLab on a folder."""
    return [
        *(sys.executable, "-m", "jupyterlab"),
        f"--ServerApp.root_dir={folder}",
        f"--LabApp.default_url=/lab/tree/{START}",
        # Looking for language servers starts npm, which writes into HOME.
        "--LanguageServerManager.autodetect=False",
        "--LabApp.custom_css=True",
        *options,
    ]


def main(options: list[str]) -> None:
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--language")
    told, others = parser.parse_known_args(options)
    # Set these before anything writes to the folders; a build sets others, for its kernels.
    own = WORK / ".jupyter"
    given = os.environ | variables(own, os.environ, Path.home())
    os.environ.update(given)
    try:
        language = language_of(own, told.language, os.environ)
        write_settings(own, language)
        report = prepare(ROOT, WORK, language)
    except (ValueError, NotMade) as error:
        sys.exit(str(error) or 1)
    except OSError as error:
        sys.exit(
            f"{WORK} can't be written: {error}. Make the place writable, or move the course to "
            "where you can write, and run `make lab` again."
        )
    _ = words(language)
    print(f"my-work: {summary(report, _)}")
    fresh = _(
        "For a fresh copy of a notebook, rename or delete yours and run `make lab` again. "
        "Nothing of yours is overwritten."
    )
    print(fresh, flush=True)
    jupyterlab = command(WORK, *others)
    # Kernels and nbgrader's Validate inherit the language.
    os.execve(jupyterlab[0], jupyterlab, given | {VARIABLE: language.code})


if __name__ == "__main__":
    main(sys.argv[1:])
