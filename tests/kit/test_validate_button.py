"""What the Validate button says, and that each way of starting JupyterLab has its words."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import bundle
import lab
import nbformat
import pytest
from classroom import Classroom, cell, code, points
from playwright.sync_api import Browser, Page
from repository import ROOT
from site_browser import DESK

from roofkit.validate import MESSAGE

NAME = "int8-weights"  # the smallest exercise
SECONDS = 60
NEWS = "--LabApp.check_for_updates_class=jupyterlab.handlers.announcements.NeverCheckForUpdate"


@contextmanager
def jupyterlab(folder: Path, home: Path) -> Iterator[tuple[str, str]]:
    """JupyterLab as `make lab` starts it, with no settings of the user's: its address and token."""
    token = secrets.token_hex()
    options = ("--no-browser", "--allow-root", "--ip=127.0.0.1", NEWS)
    rooms = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    with subprocess.Popen(
        lab.command(folder, *options, "--ServerApp.port_retries=500"),
        env=os.environ | {name: str(home / name) for name in rooms} | {"JUPYTER_TOKEN": token},
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        ready, lines = Event(), []
        # It takes the first port that is free, and says which.
        address = re.compile(r"http://127\.0\.0\.1:\d+(?=/lab)")

        def listen() -> None:
            for line in server.stderr or ():
                lines.append(line)
                if address.search(line):
                    ready.set()
            ready.set()

        listener = Thread(target=listen, daemon=True)
        listener.start()
        try:
            assert ready.wait(SECONDS), "".join(lines)
            assert server.poll() is None, "".join(lines)
            yield address.findall("".join(lines))[0], token
        finally:
            server.terminate()
            listener.join(SECONDS)


@pytest.fixture(scope="module")
def room(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Classroom:
    """A course with the exercises that the build of the book has released."""
    room = Classroom(tmp_path_factory.mktemp("course"))
    shutil.copytree(site.parent / "course" / "release", room.folder / "release")
    return room


@pytest.fixture(scope="module")
def page(
    room: Classroom, browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Page]:
    """JupyterLab in a browser, on a folder with four notebooks."""
    work = tmp_path_factory.mktemp("work")
    half = room.released(NAME)
    first = next(iter(points(NAME)))
    cell(half, f"{first}-solution").source = cell(room.solved(NAME), f"{first}-solution").source
    foreign = nbformat.v4.new_notebook(cells=[code("assert True")])
    foreign.metadata.kernelspec = half.metadata.kernelspec
    foreign.cells[0].metadata.nbgrader = dict(cell(half, first).metadata.nbgrader)
    del foreign.cells[0].metadata.nbgrader["checksum"]
    for name, notebook in {
        "finished": room.solved(NAME),
        "untouched": room.released(NAME),
        "half-done": half,
        "foreign": foreign,
    }.items():
        nbformat.write(notebook, work / f"{name}.ipynb")
    with jupyterlab(work, tmp_path_factory.mktemp("home")) as (address, token):
        context = browser.new_context(viewport=DESK, base_url=address)
        context.set_default_timeout(1000 * SECONDS)
        page = context.new_page()
        page.goto(f"/lab?token={token}")
        yield page
        context.close()


def validated(page: Page, name: str) -> str:
    """Open a notebook, press Validate, and read the dialog."""
    # A workspace of its own, so that no other notebook is open.
    page.goto(f"/lab/workspaces/{name}/tree/{name}.ipynb")
    page.locator(".jp-Notebook .jp-Cell").first.wait_for()
    page.get_by_role("button", name="Validate").click()
    message = page.locator("#validation-message")
    message.wait_for()
    return message.inner_text()


def test_a_finished_notebook_gets_the_words_of_the_command(page: Page) -> None:
    said = validated(page, "finished")
    assert said.split() == MESSAGE.format(checks=len(points(NAME))).split()


@pytest.mark.parametrize(
    ("name", "done"), [pytest.param("untouched", 0, marks=pytest.mark.long), ("half-done", 1)]
)
def test_an_unfinished_notebook_gets_the_words_of_its_checks(
    page: Page, name: str, done: int
) -> None:
    said = validated(page, name)
    missing = len(points(NAME)) - done
    assert said.count("The function is still to be written.") == missing
    assert said.count("with values that are not shown here") == missing
    assert "All checks pass" not in said


def test_a_notebook_of_another_course_keeps_the_words_of_nbgrader(page: Page) -> None:
    assert validated(page, "foreign") == "Success! Your notebook passes all the tests."


def test_the_bundle_brings_the_words_of_the_command(tmp_path: Path) -> None:
    (tmp_path / "release" / NAME).mkdir(parents=True)
    (tmp_path / "release" / NAME / f"{NAME}.ipynb").touch()
    bundle.write(ROOT, tmp_path / "release", [], tmp_path / "exercises.zip")
    with zipfile.ZipFile(tmp_path / "exercises.zip") as archive:
        archive.extractall(tmp_path)
    unpacked = tmp_path / "exercises"
    for folder in (unpacked, unpacked / NAME):
        assert "validate.install()" in (folder / "nbgrader_config.py").read_text(encoding="utf-8")


def test_a_learners_own_settings_of_nbgrader_are_kept(tmp_path: Path) -> None:
    mine = tmp_path / "nbgrader_config.py"
    mine.write_text("mine")
    lab.copy_nbgrader_config(tmp_path)
    assert mine.read_text() == "mine"
