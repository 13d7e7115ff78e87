"""Locks, CI and the README: what a newcomer installs, and what runs for a pull request."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import jupytext
import pytest
import yaml
from repository import ROOT

import roofkit
import rooflib

# What tells people which commands to run; CHANGELOG.md names some that were there once.
GUIDES = ("README.md", "CONTRIBUTING.md", "site/README.md")
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROGRAMS = Path(sys.executable).parent
GITLAB = (".gitlab-ci.yml",)
# Command → the files that it reads. Without shellcheck and pyflakes, which actionlint would call.
LINTERS = {
    "zizmor --offline --no-config --persona=pedantic --quiet": WORKFLOWS,
    "actionlint -no-color -oneline -shellcheck= -pyflakes=": WORKFLOWS,
    "check-jsonschema -q --builtin-schema vendor.github-workflows": WORKFLOWS,
    "check-jsonschema -q --builtin-schema vendor.gitlab-ci --data-transform gitlab-ci": GITLAB,
}


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)


def test_learners_install_no_test_tools() -> None:
    lock = set(re.findall(r"^([a-z0-9._-]+)==", read("requirements.txt"), re.MULTILINE))
    assert not lock & {"pytest", "mypy", "ruff", "playwright", "hypothesis", "distributed"}


@pytest.mark.parametrize("command", LINTERS)
def test_the_workflows_have_no_fault(command: str) -> None:
    program, *options = command.split()
    done = run(str(PROGRAMS / program), *options, *map(str, LINTERS[command]))
    assert done.returncode == 0, done.stdout + done.stderr


def test_workflows_call_targets_that_the_makefile_has() -> None:
    targets = set(re.findall(r"^([\w-]+):", read("Makefile"), re.MULTILINE))
    others = (".gitlab-ci.yml", ".ci/run", ".devcontainer/devcontainer.json", "Containerfile")
    for path in [*WORKFLOWS, *map(ROOT.joinpath, others)]:
        called = re.findall(r"^[^#]*\bmake(?: -C \S+)? ([a-z -]+)", path.read_text(), re.MULTILINE)
        assert {*" ".join(called).split()} <= targets, path.name


def test_each_supported_python_is_tested() -> None:
    jobs = yaml.safe_load(read(".github/workflows/site.yml"))["jobs"]
    tested = jobs["test"]["strategy"]["matrix"]["python"]
    found = re.search(r"3\.(\d+) to 3\.(\d+)", read("README.md"))
    assert found, "the README names no versions of Python"
    assert tested == [f"3.{minor}" for minor in range(int(found[1]), int(found[2]) + 1)]


def commands_on_pages() -> list[tuple[str, list[str]]]:
    """Return (page, words) of each `make` command on a page that people copy."""
    found = []
    for path in [*map(ROOT.joinpath, GUIDES), *ROOT.glob("chapters/*.md")]:
        text = path.read_text(encoding="utf-8")
        blocks = "\n".join(re.findall(r"^```\w*\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))
        copied = re.findall(r"^(?:[A-Z_]+=\S+ )*make [a-z].*$", blocks, re.MULTILINE)
        copied += re.findall(r"`((?:[A-Z_]+=\S+ )*make [a-z][^`\n…]*)`", text)
        found += [(path.name, shlex.split(one, comments=True)) for one in dict.fromkeys(copied)]
    return found


# What `make help` names, and no page.
ALSO = (
    "make translations PAGE=chapters/time",
    "make serve PORT=8123",
    "PORT=8123 make serve",
    "make pdf LANGUAGE=zh_CN",
    "make slides LANGUAGE=zh_CN",
)


def test_make_takes_every_command_that_a_page_names() -> None:
    """Whoever copies one gets what the page says, and no error about a target that isn't there."""
    refused = []
    for page, words in [*commands_on_pages(), *(("", one.split()) for one in ALSO)]:
        done = run("env", *words, "--dry-run", "--always-make")
        # A variable that no target reads is passed over without a word.
        given = [one.partition("=")[2] for one in words if "=" in one]
        lost = [one for one in given if one not in ("0", "1") and one not in done.stdout]
        if done.returncode or lost:
            refused.append(f"{page}: {words}: {lost or done.stderr}")
    assert refused == []


def test_make_clean_keeps_what_people_made(tmp_path: Path) -> None:
    for name in ("_build/html/page", ".venv/bin/python", "my-work/mine.ipynb", "course/grades.csv"):
        (file := tmp_path / name).parent.mkdir(parents=True)
        file.touch()
    said = run("make", "--directory", str(tmp_path), f"--makefile={ROOT / 'Makefile'}", "clean")
    assert said.returncode == 0
    assert {path.name for path in tmp_path.iterdir()} == {".venv", "my-work", "course"}


def test_make_takes_no_language_from_the_system() -> None:
    """Ubuntu sets LANGUAGE to a list such as this."""
    words = ("LANGUAGE=xx_XX:en", "make", "pdf", "slides", "lab", "release")
    said = run("env", *words, "--dry-run", "--always-make").stdout
    assert "python site lab" in said
    assert "xx_XX" not in said


def test_binder_opens_the_learners_copies_as_make_lab_does() -> None:
    path = f"{PROGRAMS}:{os.environ['PATH']}"
    said = run("env", f"PATH={path}", ".binder/start", "echo", "jupyter", "lab").stdout
    assert said.startswith("jupyter lab ")
    assert f"--ServerApp.root_dir={ROOT / 'my-work'} " in said
    assert "/lab/tree/start-here.ipynb" in said


def test_somebodys_own_virtual_environment_is_left_alone(tmp_path: Path) -> None:
    """Editors make a `.venv`, too."""
    shutil.copytree(ROOT / "site", tmp_path / "site")
    (own := tmp_path / ".venv" / "bin" / "own-program").parent.mkdir(parents=True)
    own.write_text("own")
    done = run(sys.executable, str(tmp_path / "site"), "environment")
    assert (done.returncode, ".venv" in done.stderr, own.read_text()) == (1, True, "own")


def test_make_help_lists_what_make_can_do() -> None:
    said = run("make", "help").stdout
    named = {words[words.index("make") + 1] for _, words in commands_on_pages()}
    listed = {
        word for line in re.findall("^make ((?:[a-z-]+ )+)", said, re.M) for word in line.split()
    }
    assert named - listed == set()


def test_a_python_that_is_missing_is_named_with_the_command_that_installs_one() -> None:
    done = run("make", "environment", "PYTHON=python3.99")
    assert done.returncode != 0
    assert re.search("^python3.99 .*sudo apt install python3", done.stderr, re.MULTILINE)


def test_every_place_that_names_the_version_names_the_same() -> None:
    cited = re.findall(r"\b[Vv]ersion (\d[\d.]*\d)", read("chapters/references.md"))
    packages = [roofkit.__version__, rooflib.__version__]
    assert {*cited, *packages} == {yaml.safe_load(read("CITATION.cff"))["version"]}


@pytest.mark.parametrize("name", [*GUIDES, "CHANGELOG.md"])
def test_links_and_pictures_lead_to_committed_files(name: str) -> None:
    files = set(run("git", "ls-files").stdout.splitlines())
    links = re.findall(r"\]\(([^)#:]+)[)#]|<img [^>]*src=\"([^\":]+)\"", read(name))
    here = (ROOT / name).parent
    for link in filter(None, (part for pair in links for part in pair)):
        assert (here / link).resolve().relative_to(ROOT).as_posix() in files, link


def test_no_file_names_a_path_of_one_machine_or_a_package_index() -> None:
    # /home/learner is the home directory inside the grader's box.
    homes = r"home/(?!learner\b)|(?:root|work|Users|opt)/"
    machine = re.compile(rf"(?<![\w.:/-])/(?:{homes})\w|index[-_]url\b")
    # Of .jsonl: config files as their authors published them.
    for name in run("git", "ls-files", "-z").stdout.split("\0"):
        path = ROOT / name
        if path.is_file() and path.suffix not in (".png", ".ico", ".woff2", ".jsonl"):
            found = machine.search(path.read_text(encoding="utf-8"))
            assert not found, f"{name}: {found[0]}"


@pytest.mark.parametrize(
    "file", sorted((ROOT / "exercises").glob("*.py")), ids=lambda file: file.stem
)
def test_an_exercise_opens_as_a_notebook_and_is_saved_unchanged(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    notebook = jupytext.reads(text, "py:percent")
    assert {cell.cell_type for cell in notebook.cells} == {"raw", "markdown", "code"}
    assert jupytext.writes(notebook, "py:percent") == text
