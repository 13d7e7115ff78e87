"""Tests that the Containerfile matches README and tests, without building it."""

import re

from repository import ROOT

TEXT = (ROOT / "Containerfile").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
# The packages that `make test` installs.
NEEDED = re.findall(
    r'^    "([\w-]+)": lambda',
    (ROOT / "tests" / "system_packages.py").read_text(encoding="utf-8"),
    re.MULTILINE,
)
# The Containerfile's instructions, as (instruction, arguments).
STEPS = [
    tuple(line.split(maxsplit=1))
    for line in re.sub(r"\\\n\s*", "", re.sub(r"^#.*\n", "", TEXT, flags=re.MULTILINE)).splitlines()
]


def test_the_containerfile_installs_what_readme_and_tests_need() -> None:
    (line,) = [words for step, words in STEPS if step == "RUN" and "apt-get" in words]
    update, install = line.split(" && ")
    assert update == "apt-get update"
    words = install.split()
    assert words[:4] == ["apt-get", "install", "--yes", "--no-install-recommends"]
    named = set(re.findall(r"[\w-]+", " ".join(re.findall(r"sudo apt install ([^`)]+)", README))))
    assert "make" in named
    assert "bubblewrap" in NEEDED
    assert set(words[4:]) == named | set(NEEDED)


def test_apart_from_apt_get_the_containerfile_runs_only_make_environment() -> None:
    others = [words for step, words in STEPS if step == "RUN" and "apt-get" not in words]
    assert others == ["make environment"]
    assert "\nenvironment:\n" in (ROOT / "Makefile").read_text(encoding="utf-8")
    assert [step for step, _ in STEPS] == ["FROM", "RUN", "COPY", "WORKDIR", "RUN", "CMD"]


def test_build_outputs_are_not_copied_into_the_container() -> None:
    left_out = (ROOT / ".containerignore").read_text(encoding="utf-8").split()
    assert left_out == [".venv", "_build", "my-work"]


def test_the_instructors_page_shows_the_commands_in_the_containerfile() -> None:
    page = (ROOT / "chapters" / "instructors.md").read_text(encoding="utf-8")
    section = page.split("### macOS and Windows")[1].split("\n#")[0]
    commands = re.findall(r"^#     (.*)$", TEXT, re.MULTILINE)
    for command in commands:
        assert command.strip() in section
