"""The Containerfile: README's steps and what the tests need. It is not built here."""

import re

from repository import ROOT

TEXT = (ROOT / "Containerfile").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
# What `make test` installs, see tests/system_packages.py.
NEEDED = re.findall(
    r'^    "([\w-]+)": lambda',
    (ROOT / "tests" / "system_packages.py").read_text(encoding="utf-8"),
    re.MULTILINE,
)
# One instruction a line, without comments.
STEPS = [
    tuple(line.split(maxsplit=1))
    for line in re.sub(r"\\\n\s*", "", re.sub(r"^#.*\n", "", TEXT, flags=re.MULTILINE)).splitlines()
]


def test_it_installs_what_readme_and_the_tests_name_and_nothing_else() -> None:
    (line,) = [words for step, words in STEPS if step == "RUN" and "apt-get" in words]
    update, install = line.split(" && ")
    assert update == "apt-get update"
    words = install.split()
    assert words[:4] == ["apt-get", "install", "--yes", "--no-install-recommends"]
    named = set(re.findall(r"[\w-]+", " ".join(re.findall(r"sudo apt install ([^`)]+)", README))))
    assert "make" in named
    assert "bubblewrap" in NEEDED
    assert set(words[4:]) == named | set(NEEDED)


def test_its_other_steps_are_the_course_s_own_commands() -> None:
    others = [words for step, words in STEPS if step == "RUN" and "apt-get" not in words]
    assert others == ["make environment"]
    assert "\nenvironment:\n" in (ROOT / "Makefile").read_text(encoding="utf-8")
    assert [step for step, _ in STEPS] == ["FROM", "RUN", "COPY", "WORKDIR", "RUN", "CMD"]


def test_nothing_is_copied_that_is_made_again_inside() -> None:
    left_out = (ROOT / ".containerignore").read_text(encoding="utf-8").split()
    assert left_out == [".venv", "_build", "my-work"]


def test_the_page_says_how_it_is_used_and_that_it_was_not_run() -> None:
    page = (ROOT / "chapters" / "instructors.md").read_text(encoding="utf-8")
    section = page.split("### macOS and Windows")[1].split("\n#")[0]
    commands = re.findall(r"^#     (.*)$", TEXT, re.MULTILINE)
    for command in commands:
        assert command.strip() in section
    assert "was not run" in section
