"""Tests of the command line: how arguments are parsed, and what commands print.

What the commands do is replaced.
"""

import gc
import io
import sys
from pathlib import Path

import pytest
from repository import ROOT

from grading import __main__ as commands
from grading.allowed_modules import modules_folder
from grading.course import Course
from grading.execution.time_limits import TIME_LIMITS
from grading.parallel import pool
from grading.platforms import check, week
from grading.reports import overview

NAME = "int8-matmul"


def words(command):
    """Return the parsed arguments of a command."""
    return commands.parser().parse_args(command.split())


def ended(command):
    """Run a command; return the exit status or error line with which it exits."""
    with pytest.raises(SystemExit) as raised:
        commands.main(command.split())
    return raised.value.code


@pytest.fixture
def gradings(monkeypatch):
    """Replace the backends, grading and report; return the arguments of each grading."""
    asked = []
    monkeypatch.setattr(pool, "Local", lambda *given: ("local", *given))
    monkeypatch.setattr(pool, "Cluster", lambda *given: ("cluster", *given))
    monkeypatch.setattr(Course, "grade", lambda course, *given: asked.append(given) or 7)
    monkeypatch.setattr(overview, "write", lambda course: ["a line", "another"])
    monkeypatch.delenv("GRADING_UNSAFE", raising=False)
    return asked


@pytest.mark.parametrize(
    ("options", "backend", "unsafe", "seconds"),
    [
        ("", ("local", None, True), False, TIME_LIMITS.notebook),
        ("--workers 3", ("local", 3, True), False, TIME_LIMITS.notebook),
        ("--unsafe", ("local", None, False), True, TIME_LIMITS.notebook),
        ("--notebook-seconds 7", ("local", None, True), False, 7),
        ("--cluster tcp://a:1 --unsafe", ("cluster", "tcp://a:1"), True, TIME_LIMITS.notebook),
    ],
)
def test_options_reach_the_grading(tmp_path, gradings, capsys, options, backend, unsafe, seconds):
    (tmp_path / "submitted").mkdir()
    commands.main(["grade", str(tmp_path), *options.split()])
    ((used, was_unsafe, limits),) = gradings
    assert (used, was_unsafe, limits.notebook) == (backend, unsafe, seconds)
    assert capsys.readouterr().out.splitlines() == [
        "7 graded; the others have not changed since they were graded",
        "a line",
        "another",
        f"grades: {tmp_path / 'grades.csv'}",
    ]
    assert gc.isenabled()


def test_an_environment_variable_allows_grading_without_a_sandbox(tmp_path, gradings, monkeypatch):
    (tmp_path / "submitted").mkdir()
    monkeypatch.setenv("GRADING_UNSAFE", "1")
    commands.main(["grade", str(tmp_path)])
    ((used, was_unsafe, _),) = gradings
    assert (used, was_unsafe) == (("local", None, False), True)


def test_grading_on_a_cluster_starts_no_local_processes(tmp_path, gradings, monkeypatch):
    (tmp_path / "submitted").mkdir()
    monkeypatch.setattr(pool, "Local", None)
    commands.main(["grade", str(tmp_path), "--cluster", "tcp://a:1"])
    assert len(gradings) == 1


def test_again_options_mark_students_and_submissions_for_regrading(tmp_path, gradings, monkeypatch):
    (tmp_path / "submitted").mkdir()
    marked = []
    monkeypatch.setattr(week, "again", lambda course, places: marked.append((course, places)))
    commands.main(["grade", str(tmp_path), "--again", "ada", "--again", f"bob/{NAME}"])
    ((course, places),) = marked
    assert (course.folder, places) == (tmp_path, ["ada", f"bob/{NAME}"])


def test_allowed_packages_are_made_available_before_workers_start(tmp_path, gradings, monkeypatch):
    (tmp_path / "submitted").mkdir()
    used, raw = [], io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="utf-8"))
    monkeypatch.setattr(commands, "allow", lambda *given: used.append(given) or ["one", "two"])
    monkeypatch.setattr(
        commands.modules, "use", lambda *given: used.append((*given, raw.getvalue()))
    )
    monkeypatch.setattr(pool, "Local", lambda *given: used.append("processes"))
    commands.main(["grade", str(tmp_path), "--allow", "one", "--allow", "two"])
    assert used[:3] == [
        (tmp_path, ["one", "two"]),
        (modules_folder(tmp_path), b"one\ntwo\n"),
        "processes",
    ]


def test_release_prints_the_folder_of_each_language(tmp_path, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(Course, "release", lambda course, **given: asked.append(given))
    commands.main(["release", str(tmp_path), "--language", "en", "--language", "zh_CN"])
    commands.main(["release", str(tmp_path)])
    assert asked == [{"languages": ["zh_CN"]}, {"languages": []}]
    released = f"released into {tmp_path / 'release'}"
    translated = f"in zh_CN: {tmp_path / 'release-zh_CN'}"
    assert capsys.readouterr().out.splitlines() == [released, translated, released]


def test_release_defaults_to_the_course_folder_of_the_site_build():
    assert words("release").course == ROOT / "_build" / "course"


def test_the_due_command_passes_its_arguments_and_prints_each_line(tmp_path, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(week, "due", lambda course, *given: asked.append(given) or ["a", "b"])
    commands.main(["due", str(tmp_path), NAME, "2026-11-30"])
    commands.main(["due", str(tmp_path), NAME, "2026-11-30", "--student", "ada"])
    assert asked == [(NAME, "2026-11-30", ""), (NAME, "2026-11-30", "ada")]
    assert capsys.readouterr().out == "a\nb\n" * 2


def test_options_of_collect_and_export_are_parsed():
    assert words("collect my-class one a.zip").replace is False
    assert words("collect my-class one a.zip --replace").replace is True
    assert words("export my-class a.csv b.csv").column == []
    given = words("export my-class a.csv b.csv --column one=Grade --column two=A=B").column
    assert given == [("one", "Grade"), ("two", "A=B")]


@pytest.mark.parametrize("text", ["Grade", "=Grade", "int8-matmul=", "="])
def test_a_column_option_needs_an_exercise_and_a_heading(text, capsys):
    with pytest.raises(SystemExit):
        words(f"export my-class a.csv b.csv --column {text}")
    assert f"{text!r}: write EXERCISE=HEAD, as int8-matmul=Grade" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--student ada", "--replace", "--column one=Grade"])
def test_options_of_other_weekly_commands_are_refused(option, capsys):
    with pytest.raises(SystemExit):
        words(f"exchange my-class folder {option}")
    assert option.split()[0] in capsys.readouterr().err


@pytest.mark.parametrize("lines", [[], ["one problem", "another"]])
def test_check_exits_with_an_error_status_if_it_found_problems(monkeypatch, capsys, lines):
    monkeypatch.setattr(check, "check", lambda course: (lines, f"summary of {course!r}"))
    if lines:
        assert ended("check my-class") == 1
    else:
        commands.main(["check", "my-class"])
    assert capsys.readouterr().out.splitlines() == [*lines, f"summary of {Path('my-class')!r}"]


def test_a_command_is_needed(capsys):
    assert ended("") == 2
    assert "required: command" in capsys.readouterr().err


def test_a_missing_module_is_not_blamed_on_an_unused_cluster(monkeypatch):
    def fails(course):
        raise ModuleNotFoundError("No module named 'elsewhere'", name="elsewhere")

    monkeypatch.setattr(check, "check", fails)
    with pytest.raises(ModuleNotFoundError, match="elsewhere"):
        commands.main(["check", "my-class"])


@pytest.mark.parametrize("interrupted", [True, False])
def test_the_nbgrader_command_first_opens_an_existing_gradebook(tmp_path, monkeypatch, interrupted):
    """Opening a gradebook that an interrupted command left behind repairs it."""
    program = tmp_path / "bin" / "nbgrader"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\necho "$PWD: $PATH: $*" > said\nexit 3\n')
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program.with_name("python")))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    course, opened = tmp_path / "class", []
    monkeypatch.setattr(Course, "gradebook", lambda course: opened.append(course) or io.StringIO())
    course.mkdir()
    if interrupted:
        (course / "gradebook.db").touch()
    assert ended(f"nbgrader {course} export --to grades.csv --help") == 3
    assert (course / "said").read_text() == (
        f"{course}: {program.parent}:/usr/bin:/bin: export --to grades.csv --help\n"
    )
    assert len(opened) == interrupted
    assert (course / "nbgrader_config.py").is_file()
