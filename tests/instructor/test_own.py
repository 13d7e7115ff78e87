"""An exercise of a class's own, beside those of this course, and one that the course corrects."""

import re
import shlex
import shutil
from pathlib import Path

import pytest
from classroom import COMMAND, NAME, Classroom, answers, cell, command, on_the_page, one_line, said
from repository import OTHER_WORDS, ROOT, set_addresses, with_other_words

from grading.release import exercises

PLACES = ("release", "source", "release-zh_CN")
OWN, CHANGED = "loading-time", "As in class"
WRONG, WORDS = "output-not-counted", "What we said on Monday about the output."
WITHOUT_THE_WIDTH = """\
def loading_time(rows, columns, width, bandwidth):
    return rows * columns / bandwidth
"""


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Classroom:
    """Release the exercise that the manual prints, and the class's own version of one of ours."""
    folder = tmp_path_factory.mktemp("own")
    room = Classroom(folder / "course")
    page = (ROOT / "chapters" / "instructors-year.md").read_text(encoding="utf-8")
    (printed,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    file = room.folder / "exercises" / f"{OWN}.py"
    file.parent.mkdir(parents=True)
    file.write_text(printed, encoding="utf-8")
    ours = (ROOT / "exercises" / f"{NAME}.py").read_text(encoding="utf-8")
    changed = ours.replace('# title: "', f'# title: "{CHANGED}: ', 1)
    says = f'says={{"{WRONG}": ("{WORDS}", "Our notes.")}}'  # which the course has words for
    changed = changed.replace("    wrong={", f"    {says},\n    wrong={{")
    file.with_name(f"{NAME}.py").write_text(changed, encoding="utf-8")
    said(room.here("release", OWN, NAME))
    return room


def take_out(room: Classroom, what: str, printed: str, name: str) -> None:
    """Run the page's command that takes out a student or an exercise, for another than it names."""
    arguments = shlex.split(on_the_page(f"db {what} remove {printed}"))[-1].removeprefix("ARGS=")
    said(room.nbgrader(*arguments.replace(printed, name).split()))


def test_a_class_has_an_exercise_of_its_own_until_it_is_taken_back(
    room: Classroom, tmp_path: Path
) -> None:
    wrong = room.released(OWN)
    cell(wrong, f"{OWN}-solution").source = WITHOUT_THE_WIDTH
    assert room.released().cells[0].source.startswith(f"# {CHANGED}: ")
    room.hand_in("ada", OWN, room.solved(OWN))
    room.hand_in("bob", OWN, wrong)
    room.hand_in("bob", NAME, room.solved(submission="wrong_output_not_counted"))
    # In a process of its own: that of the tests is to know only our version of this exercise.
    assert said(room.run("grade")).startswith("3 graded")
    assert room.scores(OWN) == {"ada": 4, "bob": 0}
    assert room.causes(OWN)["bob"] == {OWN: "elements"}
    assert "These are elements and not bytes" in room.page("bob", OWN)
    assert {*room.causes()["bob"].values()} == {WRONG}, "and these are told in its own words"
    assert WORDS in room.page("bob")
    assert room.not_graded() == {}
    (tmp_path / "theirs.csv").write_text(f"id,{OWN}\nada,\nbob,\n")
    said(room.here("export", tmp_path / "theirs.csv", tmp_path / "x.csv"))
    assert (tmp_path / "x.csv").read_text().split() == [f"id,{OWN}", "ada,4", "bob,0"]
    # Other points count for all. Parts are those of the hand-ins: with another, nothing is lost.
    file = room.folder / "exercises" / f"{OWN}.py"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("(4 points)", "(5 points)"), encoding="utf-8")
    assert said(room.run("grade")).startswith("2 graded")
    assert room.scores(OWN) == {"ada": 5, "bob": 0}
    file.write_text(
        text.replace("    cases=(", '    key="another",\n    cases=('), encoding="utf-8"
    )
    assert "submissions" in one_line(room.run("grade"))
    file.write_text(text, encoding="utf-8")
    assert said(room.run("grade")).startswith("2 graded")
    assert room.scores(OWN) == {"ada": 4, "bob": 0}
    # Bob leaves the class.
    shutil.rmtree(room.folder / "submitted" / "bob")
    take_out(room, "student", "ada", "bob")
    said(room.here("grade"))
    assert room.nbgrader("export").returncode == 0
    assert room.scores(OWN) == {"ada": 4}, "also beside nbgrader's own table"
    # The exercise is taken back.
    shutil.rmtree(room.folder / "release" / OWN)
    take_out(room, "assignment", "attention", OWN)
    said(room.here("grade"))
    assert {row["assignment"] for row in room.table("grades.csv")} == {NAME}


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (" (4 points)", "", "no question"),
        (" (4 points)", " on (3 chips)", "no question"),
        ('wrong={"elements"', 'wrong={"no-words-for-this"', "no-words-for-this"),
        ("\npart(\n", "\nmine = part(\n", "no part"),
        ("    return rows", "    return rows rows", "SyntaxError"),
        ('rows": 64', 'rows": sixty', "NameError"),
        ("read_first: time", "read_first: tomorrow", "tomorrow"),
        ("difficulty: easy", "difficulty: fun", "fun"),
        ("# minutes: 10\n", "", "minutes"),
    ],
)
def test_an_exercise_of_ones_own_that_cannot_be_used_is_named_with_the_reason(
    room: Classroom, old: str, new: str, says: str
) -> None:
    file = room.folder / "exercises" / "other.py"
    text = file.with_name(f"{OWN}.py").read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    line = one_line(room.here("release", "other"))
    file.unlink()
    assert "other.py" in line
    assert says in line


def test_what_stands_around_a_question_does_not_change_its_points(room: Classroom) -> None:
    """A heading may have other brackets; an author may keep code that no part asks for."""
    name, file = "variant", room.folder / "exercises" / "variant.py"
    text = file.with_name(f"{OWN}.py").read_text().replace(" (4 points)", " (2 chips) (1 point)")
    trial = f"# %%\nprint({OWN.replace('-', '_')}(1, 2, 3, 4))\n\n"
    file.write_text(text.replace("# %% moral", f"{trial}# %% moral"))
    said(room.here("release", name))
    nb = room.released(name)
    shutil.rmtree(room.folder / "release" / name)
    file.unlink()
    assert [one.metadata.nbgrader.points for one in nb.cells if exercises.is_check(one)] == [1]
    assert not any("print(" in one.source for one in answers(nb))


def test_what_the_course_corrects_reaches_notebooks_and_feedback(
    release: Path, tmp_path: Path
) -> None:
    room = Classroom(tmp_path / "course", release)
    for one in (room.folder / "release").iterdir():
        if one.name != NAME:
            shutil.rmtree(one)
    said(room.here("release", NAME, "--language", "zh_CN"))
    before = [cell(room.released(language=one), "cases").source for one in ("", "zh_CN")]
    room.hand_in("bob", NAME, room.solved(submission="wrong_output_not_counted"))
    later, site = with_other_words(tmp_path / "later"), "https://example.org/course"
    set_addresses(later / "_config.yml", site, "")
    paths = f"{later}:{later / 'kit'}"
    said(command(*COMMAND, "grade", room.folder, cwd=later, PYTHONPATH=paths))
    after = [cell(room.released(language=one), "cases").source for one in ("", "zh_CN")]
    assert [old == new for old, new in zip(before, after, strict=True)] == [False, False]
    assert OTHER_WORDS in room.page("bob")
    # From here the first cell installs what is missing.
    assert site in cell(room.released(), "opening").source


def test_what_was_edited_by_hand_stays_until_the_exercise_is_released_again(
    release: Path, tmp_path: Path
) -> None:
    room, edited = Classroom(tmp_path / "course", release), "Our word"
    room.hand_in("ada", NAME, room.solved())
    said(room.here("release", NAME, "--language", "zh_CN"))
    places = [room.folder / one / NAME / f"{NAME}.ipynb" for one in PLACES]
    for place in places:
        text = place.read_text(encoding="utf-8")
        place.write_text(text.replace('"# ', f'"# {edited} ', 1), encoding="utf-8")
    assert said(room.here("grade")).startswith("1 graded")
    assert [edited in place.read_text(encoding="utf-8") for place in places] == [True] * 3
    places[0].write_text("{", encoding="utf-8")  # a full disk, say
    said(room.here("release", NAME))
    assert room.released().cells
    assert [edited in place.read_text(encoding="utf-8") for place in places] == [False] * 3


def test_nbgrader_does_not_run_an_ordinary_assignment_with_the_instructors_rights(
    room: Classroom,
) -> None:
    room.hand_in("eve", "essay", room.released(NAME))
    assert room.nbgrader("autograde", "essay").returncode != 0
    assert not (room.folder / "autograded" / "eve").exists()
    shutil.rmtree(room.folder / "submitted" / "eve")
