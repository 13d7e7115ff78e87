"""Plain nbgrader on the same course: autograde, feedback, export, formgrader, exchange."""

import contextlib
import getpass
import os
import secrets
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import accidents
import hostile
import nbformat
import pytest
import server_process
from classroom import (
    NAME,
    Classroom,
    cell,
    code,
    command,
    on_the_page,
    one_line,
    points,
    said,
    with_first,
)
from hostile import folders, texts
from playwright.sync_api import Browser
from processes import nothing_left
from series import in_part

FULL = sum(points().values())
STUDENTS = ("right", "wrong", "moved")
LOOKS = next(one for one in hostile.cells() if one.name == "course_walk")
REFUSED = in_part(["notebook_is_a_fifo", "link_to_the_machine", "fifo_beside"])


@pytest.fixture(scope="module")
def ours(release: Path, tmp_path_factory: pytest.TempPathFactory) -> Classroom:
    """Grade a few students with `python -m grading grade`."""
    room = Classroom(tmp_path_factory.mktemp("ours") / "course", release)
    (room.folder / ".grading" / "seed").write_text("the seed of both\n")
    room.hand_in("right", NAME, room.solved())
    room.hand_in("wrong", NAME, room.solved(submission="wrong_output_not_counted"))
    room.hand_in("moved", NAME, accidents.RIGHT["in-reverse-order"][0](room.solved()))
    (room.folder_of("right") / "timestamp.txt").write_text("2026-12-05 08:00:00 UTC")
    room.grade()
    return room


@pytest.fixture(scope="module")
def plain(ours: Classroom, release: Path, tmp_path_factory: pytest.TempPathFactory) -> Classroom:
    """Grade the same with nbgrader's own commands, beside a hostile student."""
    room = Classroom(tmp_path_factory.mktemp("plain") / "course", release)
    (room.folder / ".grading" / "seed").write_text("the seed of both\n")
    shutil.copytree(ours.folder / "submitted", room.folder / "submitted")
    room.hand_in("looks", NAME, with_first(room.solved(), LOOKS.source))
    with nothing_left():
        room.nbgrader("autograde", NAME)
    room.nbgrader("generate_feedback", NAME)
    return room


def test_nbgraders_commands_write_the_same_notebooks_and_pages(
    ours: Classroom, plain: Classroom
) -> None:
    for student in STUDENTS:
        assert plain.page(student) == ours.page(student), student
        for mine, theirs in zip(
            ours.graded(student).cells, plain.graded(student).cells, strict=True
        ):
            assert mine.source == theirs.source
            assert mine.get("outputs") == theirs.get("outputs")


def test_nbgraders_gradebook_has_the_same_rows(ours: Classroom, plain: Classroom) -> None:
    def rows(room: Classroom) -> list[object]:
        found: list[object] = []
        with room.gradebook() as book:
            for one in book.find_assignment(NAME).submissions:
                if one.student.id not in STUDENTS:
                    continue
                (notebook,) = one.notebooks
                grades = sorted(
                    (g.name, g.auto_score, g.needs_manual_grade) for g in notebook.grades
                )
                found.append((one.student.id, one.score, str(one.timestamp), grades))
        return sorted(found, key=repr)

    assert rows(ours) == rows(plain)


def test_nbgraders_commands_use_the_sandbox_and_its_limits(plain: Classroom) -> None:
    with plain.gradebook() as book:
        assert book.find_submission(NAME, "looks").score == FULL
    outputs = [one.get("outputs") for one in plain.graded("looks").cells]
    assert "REACHED" not in str(outputs)


@pytest.mark.parametrize("name", REFUSED)
def test_nbgraders_commands_end_at_a_folder_that_would_harm(
    release: Path, tmp_path: Path, name: str
) -> None:
    """nbgrader would follow its links, and wait for ever at a FIFO."""
    room = Classroom(tmp_path / "course", release)
    notebook = room.hand_in("odd", NAME, room.solved())
    room.hand_in("zoe", NAME, room.solved())
    getattr(folders, name)(notebook.parent, notebook)
    if not notebook.is_file():  # nbgrader sees only folders with a notebook
        shutil.copy(room.folder_of("zoe") / f"{NAME}.ipynb", notebook.parent / "more.ipynb")
    done = room.nbgrader("autograde", NAME)
    assert done.returncode != 0
    assert f"odd/{NAME}" in done.stderr
    assert not (room.folder / "autograded" / "odd").exists()


def test_nbgrader_refuses_to_grade_without_the_courses_settings(
    ours: Classroom, tmp_path: Path
) -> None:
    """Otherwise it would run submissions outside of the sandbox."""
    room = Classroom(tmp_path / "course")
    shutil.copytree(ours.folder / "submitted", room.folder / "submitted")
    own = (ours.folder / "nbgrader_config.py").read_text()
    own = own.replace("nbgrader_config.py", "elsewhere.py")
    (room.folder / "nbgrader_config.py").write_text(own)
    done = room.nbgrader("autograde", NAME)
    assert done.returncode != 0
    assert not (room.folder / "autograded").exists()


def test_nbgraders_validate_runs_no_submission_with_the_instructors_rights(
    ours: Classroom, tmp_path: Path
) -> None:
    room = Classroom(tmp_path / "course", ours.folder)
    source = f"open({str(tmp_path / 'reached')!r}, 'w').write('REACHED')"
    path = room.hand_in("acts", NAME, with_first(room.solved(), source))
    path.with_name("ipykernel_launcher.py").write_text(source)  # a kernel would start with it
    assert "make grade" in one_line(room.nbgrader("validate", str(path)))
    with jupyter(room.folder, tmp_path, "validate_assignment") as (address, token):
        asked = f"{address}/assignments/validate?token={token}"
        about = {"path": str(path.relative_to(room.folder))}
        with urlopen(Request(asked, urlencode(about).encode())) as answer:
            assert "make grade" in answer.read().decode()
    assert not (tmp_path / "reached").exists()


@contextlib.contextmanager
def jupyter(folder: Path, home: Path, extension: str) -> Iterator[tuple[str, str]]:
    """Start Jupyter in a course folder with an extension of nbgrader's; yield address and token."""
    token = secrets.token_hex()
    places = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    given = os.environ | {name: str(home / name) for name in places} | {"JUPYTER_TOKEN": token}
    words = [sys.executable, "-m", "jupyter_server", *server_process.JUPYTER]
    extensions = {f"nbgrader.server_extensions.{extension}": True}
    words += [f"--ServerApp.jpserver_extensions={extensions}"]
    with server_process.serving(words, server_process.ADDRESS, given, folder) as (address, _):
        server_process.wait_for(address)
        yield address, token


@pytest.mark.long
def test_the_formgrader_shows_points_and_comments_and_nothing_that_acts(
    ours: Classroom, browser: Browser, tmp_path: Path
) -> None:
    """The instructor's browser is logged in there; comment on a cell that somebody has emptied."""
    room = Classroom(tmp_path / "course", ours.folder)
    part, worth = next(iter(points().items()))
    shown = with_first(room.solved(), "from IPython.display import HTML, display")
    for number, text in enumerate(texts.ATTACKS.values()):
        shown.cells.append(nbformat.v4.new_markdown_cell(text))
        shown.cells[0].source += f"\nprint({text!r})\ndisplay(HTML({text!r}))"
        cell(shown, "bounds-solution").source += f"\n# {number} {text}"
    emptied = cell(shown, f"{part}-solution")
    shown.cells.append(code(emptied.source))
    emptied.source = ""
    room.hand_in("acts", NAME, shown)
    room.grade()
    with room.gradebook() as book:
        key = book.find_submission(NAME, "acts").notebooks[0].id
    with jupyter(room.folder, tmp_path / "home", "formgrader") as (address, token):
        context = browser.new_context()
        asked: list[str] = []
        context.on("request", lambda request: asked.append(request.url))
        page = context.new_page()
        page.goto(f"{address}/login?token={token}")
        page.goto(f"{address}/formgrader/gradebook/{NAME}", wait_until="networkidle")
        page.goto(f"{address}/formgrader/submissions/{key}/", wait_until="networkidle")
        assert page.evaluate("document.documentElement.dataset.ran") is None
        assert page.evaluate(texts.INJECTED) == []
        page.wait_for_url("**/?index=0")  # the first field is selected
        assert page.locator(f"input#{part}").get_attribute("placeholder") == f"{worth:g}"
        comment = page.locator(f"#{part}-solution-comment")
        with page.expect_response(lambda answer: answer.request.method == "PUT") as saved:
            comment.fill("Well done.")
            comment.blur()
        assert saved.value.ok
        context.close()
    assert [url for url in asked if not url.startswith((address, "data:"))] == []
    room.grade()
    assert "Well done." in room.page("acts")


# ---- the exchange


def set_up(room: Classroom, exchange: Path) -> str:
    """Make nbgrader's exchange, as the manual says; return its line of configuration."""
    exchange.mkdir()
    exchange.chmod(0o777)
    root = f"c.Exchange.root = {str(exchange)!r}"
    with (room.folder / "nbgrader_config.py").open("a") as file:
        file.write(f"{root}\n")
    return root


def test_the_exchange_takes_what_students_submit_and_skips_what_harms(
    release: Path, tmp_path: Path
) -> None:
    room, exchange = Classroom(tmp_path / "course", release), tmp_path / "exchange"
    set_up(room, exchange)
    inbound = exchange / "roofline" / "inbound"
    inbound.mkdir(parents=True)
    at = "2026-03-02 10:00:00.000000 UTC"

    def submit(student: str, text: str, time: str = at) -> Path:
        folder = inbound / f"{student}+{NAME}+{time}+x"
        folder.mkdir()
        (folder / f"{NAME}.ipynb").write_text(text)
        (folder / "timestamp.txt").write_text(time)
        return folder

    for student in ("ada", "bob"):
        first = submit(student, "the first")
        submit(student, "the second", at.replace("10:", "12:"))
    shutil.copytree(first, room.folder_of("bob"), dirs_exist_ok=True)  # collected already
    for name in ("*", "..", "<img src=x>", ""):
        submit(name, "theirs")
    os.mkfifo(submit("fifo", "theirs") / "waits")
    (submit("link", "theirs") / "out").symlink_to(room.folder)
    with (submit("large", "theirs") / "sparse").open("wb") as file:
        file.truncate(1 << 30)
    (inbound / f"whole+{NAME}+{at}+x").symlink_to(room.folder)
    line = on_the_page("make nbgrader", "collect")
    log = room.nbgrader(*shlex.split(line)[-1].removeprefix("ARGS=").split()).stderr
    assert "Traceback" not in log
    found = {path.name: path for path in (room.folder / "submitted").iterdir()}
    assert found.keys() == {"ada", "bob"}, log
    for folder in found.values():
        assert (folder / NAME / f"{NAME}.ipynb").read_text() == "the second"
    for name in ("fifo", "link", "large", "whole"):
        assert f"{name}+{NAME}" in log


@pytest.mark.long
def test_a_learner_fetches_submits_and_gets_the_own_feedback_through_the_exchange(
    release: Path, tmp_path: Path
) -> None:
    room, exchange = Classroom(tmp_path / "course", release), tmp_path / "exchange"
    root = set_up(room, exchange)
    said(room.nbgrader("release_assignment", NAME))
    home, me = tmp_path / "home", getpass.getuser()
    home.mkdir()
    (home / "nbgrader_config.py").write_text(
        f"c = get_config()\n{root}\nc.CourseDirectory.course_id = 'roofline'\n"
        f"c.Exchange.cache = {str(tmp_path / 'cache')!r}\n"
    )

    def learner(*words: str) -> str:
        done = command(Path(sys.executable).with_name("nbgrader"), *words, cwd=home)
        return said(done) + done.stderr

    assert NAME in learner("list")
    learner("fetch_assignment", NAME)
    (home / NAME / f"{NAME}.ipynb").write_text(nbformat.writes(room.solved()))
    learner("submit", NAME)
    said(room.nbgrader("collect", NAME))
    room.grade()
    assert room.scores()[me] == FULL
    said(room.nbgrader("release_feedback", NAME))
    learner("fetch_feedback", NAME)
    (page,) = (home / NAME / "feedback").glob(f"*/{NAME}.html")
    assert page.read_text(encoding="utf-8") == room.page(me)
