"""Tests of our steps of nbgrader's autograding: their settings and what they log."""

import logging
import os
import subprocess
from types import SimpleNamespace

import nbformat
import pytest
from nbgrader.apps.api import NbGraderAPI
from nbgrader.converters import Autograde, BaseConverter
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import Execute
from nbgrader.server_extensions.formgrader.base import BaseHandler
from submissions import Submission, hand_in
from traitlets.config import Config

from grading.__main__ import main
from grading.execution.time_limits import TimeLimits
from grading.intake.repair import repair
from grading.nbgrader_setup import patches, preprocessors
from grading.nbgrader_setup.preprocessors import RemoveCopiedFiles, Repair, Values
from grading.release import exercises
from grading.settings import settings

NAME = "int8-matmul"
STUB = ["# YOUR CODE HERE", "raise NotImplementedError"]
LIMITS = ("cell_seconds", "call_seconds", "cell_wall_seconds", "call_wall_seconds")
EACH = {name: float(n) for n, name in enumerate((*LIMITS, "notebook_seconds"), start=1)}


@pytest.mark.parametrize("limit", LIMITS)
def test_each_limit_can_be_configured(limit):
    given = Config({"Values": {limit: 1.5}})
    assert getattr(Values(config=given), limit) == 1.5
    assert getattr(Values(), limit) != 1.5


def test_each_configured_limit_reaches_its_field_in_the_grader(tmp_path, monkeypatch):
    seen, used = [], []
    (tmp_path / ".grading").mkdir()
    (tmp_path / ".grading" / "seed").write_text("the seed\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(preprocessors, "grade", lambda *words: seen.append(words) or "graded")
    monkeypatch.setattr(preprocessors.modules, "use", used.append)
    resources = {"nbgrader": {"assignment": NAME}}
    step = Values(config=Config({"Values": EACH}))
    assert step.preprocess("handed in", resources) == ("graded", resources)
    limits = TimeLimits(**{name.removesuffix("_seconds"): n for name, n in EACH.items()})
    assert seen == [("handed in", NAME, "the seed", limits)]
    assert used == [tmp_path / ".grading" / "modules"]


def test_only_notebooks_and_timestamps_stay_in_the_graded_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mine, other = tmp_path / "autograded" / "ada" / NAME, tmp_path / "autograded" / "bob" / NAME
    for folder in (mine, other):
        (folder / "pages").mkdir(parents=True)
        for name in ("a.ipynb", "timestamp.txt", "page.html", "pages/page.html", "data"):
            (folder / name).write_text("x")
    words = "notebook", {"nbgrader": {"student": "ada", "assignment": NAME}}
    assert RemoveCopiedFiles().preprocess(*words) == words
    assert {path.name for path in mine.rglob("*")} == {"a.ipynb", "timestamp.txt"}
    assert len(list(other.rglob("*"))) == 6


def test_our_sanitize_steps_run_first_and_the_step_values_replaces_execute():
    config = settings().Autograde
    assert config.sanitize_preprocessors[:2] == [RemoveCopiedFiles, Repair]
    steps = Autograde.class_traits()
    assert config.sanitize_preprocessors[2:] == steps["sanitize_preprocessors"].default()
    stock = steps["autograde_preprocessors"].default()
    place = stock.index(Execute)
    assert config.autograde_preprocessors[: len(stock)] == [
        *stock[:place],
        Values,
        *stock[place + 1 :],
    ]


@pytest.mark.parametrize("address", ["", "postgresql://host/book"])
def test_the_course_db_variable_sets_nbgraders_database(monkeypatch, address):
    monkeypatch.setenv("COURSE_DB", address)
    found = settings().CourseDirectory
    assert found.get("db_url") == (address.replace("://", "+psycopg://") if address else None)


# --- the methods of nbgrader that are replaced ----------------------------------------------------

REPLACED = [
    (Autograde, "init_destination"),
    (BaseConverter, "init_notebooks"),
    (CourseDirectory, "get_existing_timestamp"),
    (NbGraderAPI, "get_submitted_students"),
    (BaseHandler, "render"),
]


def test_the_configuration_replaces_each_method_once(monkeypatch):
    def methods():
        return [getattr(owner, name) for owner, name in REPLACED]

    for owner, name in REPLACED:
        method = getattr(owner, name)
        monkeypatch.setattr(owner, name, getattr(method, "__wrapped__", method))
    stock = methods()
    settings()
    replaced = methods()
    assert [method.__wrapped__ for method in replaced] == stock
    settings()
    assert methods() == replaced


def test_a_submission_with_special_files_is_refused(tmp_path):
    begin = patches._refuse_special_files(lambda self, *words: words)
    folder = tmp_path / "submitted" / "ada" / NAME
    folder.mkdir(parents=True)
    course = SimpleNamespace(
        root=str(tmp_path),
        submitted_directory="submitted",
        format_path=lambda *words: "/".join(words),
    )
    step = SimpleNamespace(coursedir=course)
    assert begin(step, NAME, "ada") == (NAME, "ada")
    (folder / "link").symlink_to(tmp_path)
    with pytest.raises(ValueError, match="link is neither a file nor a folder"):
        begin(step, NAME, "ada")


def test_folders_with_invalid_names_are_skipped(caplog):
    def find(self):
        self.assignments = {f"submitted/{name}/{NAME}": [name] for name in names}

    begin = patches._skip_invalid_names(find)
    step = SimpleNamespace(log=logging.getLogger("nbgrader"))
    names = ["*", "ada", "<b>"]
    begin(step)
    assert list(step.assignments.values()) == [["ada"]]
    assert len(caplog.messages) == 2
    assert all("its folder is left out" in line for line in caplog.messages)
    names = ["*"]
    with pytest.raises(NbGraderException, match="No submissions"):
        begin(step)


def test_an_unreadable_timestamp_is_none():
    def read(self, folder):
        if folder == "bad":
            raise OverflowError
        return folder

    found = patches._none_if_unreadable(read)
    assert [found(None, folder) for folder in ("good", "bad")] == ["good", None]


def test_invalid_student_names_are_not_listed():
    names = patches._valid_students(lambda self, name: {"ada", "*", name})
    assert names(None, "bob") == {"ada", "bob"}


def test_formgrader_pages_for_valid_names_are_rendered():
    page = patches._refuse_invalid_ids(lambda self, template, **values: (self, template, values))
    values = {"student_id": "ada", "assignment_id": None, "title": "<b>"}
    assert page("self", "x.tpl", **values) == ("self", "x.tpl", values)


def test_repairs_of_a_notebook_appear_in_nbgraders_log(caplog):
    source = exercises.source(NAME)
    functions = {part.key: part.function for part in exercises.load(NAME).parts}
    notebook = hand_in(Submission(NAME, "reference", "", {}), source, source, functions)
    check = next(cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade"))
    notebook.cells.remove(check)
    step = Repair()
    step.log = logging.getLogger("nbgrader")
    with caplog.at_level(logging.WARNING):
        about = {"nbgrader": {"assignment": NAME}}
        assert step.preprocess(notebook, about) == (notebook, about)
    (line,) = caplog.messages
    assert check.metadata.nbgrader.grade_id in line
    assert repair(notebook, NAME) == ([], [])


@pytest.mark.parametrize("name", exercises.names())
def test_released_solution_cells_end_with_the_stub_quoted_in_the_text(release, name):
    notebook = nbformat.read(release / "release" / name / f"{name}.ipynb", as_version=4)
    words = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    assert all(f"`{line}`" in words for line in STUB)
    for part in exercises.load(name).parts:
        # Skip drafts that learners repair: they define the function, but are no solution cells.
        (cell,) = (
            cell
            for cell in notebook.cells
            if f"def {part.function}(" in cell.source
            and cell.metadata.get("nbgrader", {}).get("solution")
        )
        assert [line.strip() for line in cell.source.splitlines()[-2:]] == STUB


def test_commands_run_without_an_activated_environment(tmp_path, monkeypatch):
    seen = {}

    def call(command, **options):
        seen.update(options, command=command, path=os.environ["PATH"])
        return 3

    monkeypatch.setattr(subprocess, "call", call)
    monkeypatch.setenv("PATH", "/usr/bin")
    with pytest.raises(SystemExit) as ended:
        main(["nbgrader", str(tmp_path / "course"), "list", "--inbound"])
    assert ended.value.code == 3, "nbgrader's own status"
    program, *words = seen["command"]
    assert (os.access(program, os.X_OK), words) == (True, ["list", "--inbound"])
    assert seen["cwd"] == tmp_path / "course"
    assert (seen["cwd"] / "nbgrader_config.py").is_file()
    assert seen["path"] == f"{program.parent}{os.pathsep}/usr/bin"
