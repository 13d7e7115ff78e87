"""What hosts run to make the course: the README's commands, one lock, actions pinned, rights few.

The workflows themselves run at their hosts alone. What is tested is what they call, and their form.
"""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import binder
import bundle
import environment
import lab
import pytest
import yaml
from repository import ROOT

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
GITLAB = ROOT / ".gitlab-ci.yml"
CONTAINER = ROOT / ".devcontainer/devcontainer.json"
BINDER = sorted((ROOT / ".binder").iterdir())
HOSTED = [*WORKFLOWS, GITLAB, CONTAINER, *BINDER]
ids = [path.relative_to(ROOT).as_posix() for path in HOSTED]
PROGRAMS = Path(sys.executable).parent
ZIZMOR = [str(PROGRAMS / "zizmor"), "--offline", "--no-config", "--persona=pedantic", "--quiet"]
# Without what else it would call if that happened to be installed.
ACTIONLINT = [str(PROGRAMS / "actionlint"), "-no-color", "-oneline", "-shellcheck=", "-pyflakes="]
SCHEMA = [str(PROGRAMS / "check-jsonschema"), "--quiet", "--builtin-schema"]
GITHUB_SCHEMA = [*SCHEMA, "vendor.github-workflows"]
GITLAB_SCHEMA = [*SCHEMA, "vendor.gitlab-ci", "--data-transform", "gitlab-ci"]


def linted(command: list[str], *files: Path) -> subprocess.CompletedProcess[str]:
    words = [*command, *map(str, files)]
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)


def test_zizmor_finds_nothing() -> None:
    done = linted(ZIZMOR, *WORKFLOWS)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("@3d3c42e5aac5ba805825da76410c181273ba90b1", "@v7", "unpinned-uses"),
        ("permissions: {}\n", "permissions: write-all\n", "excessive-permissions"),
        ("run: make book", "run: echo ${{ github.head_ref }}", "template-injection"),
    ],
)
def test_zizmor_would_find_a_fault(tmp_path: Path, before: str, after: str, found: str) -> None:
    text = (ROOT / ".github/workflows/site.yml").read_text(encoding="utf-8")
    assert before in text
    faulty = tmp_path / "site.yml"
    faulty.write_text(text.replace(before, after), encoding="utf-8")
    done = linted(ZIZMOR, faulty)
    assert done.returncode != 0
    assert found in done.stdout


def test_actionlint_finds_nothing() -> None:
    done = linted(ACTIONLINT, *WORKFLOWS)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("needs: [test, book]", "needs: [tests, book]", 'needs job "tests"'),
        ("steps.deployed.outputs", "steps.published.outputs", '"published" is not defined'),
        ("github.event_name", "github.event_nam", 'property "event_nam" is not defined'),
    ],
)
def test_actionlint_would_find_a_fault(tmp_path: Path, before: str, after: str, found: str) -> None:
    text = (ROOT / ".github/workflows/site.yml").read_text(encoding="utf-8")
    assert before in text
    faulty = tmp_path / "site.yml"
    faulty.write_text(text.replace(before, after), encoding="utf-8")
    done = linted(ACTIONLINT, faulty)
    assert done.returncode != 0
    assert found in done.stdout


def test_the_files_have_the_form_that_their_hosts_ask_for() -> None:
    for command, files in ((GITHUB_SCHEMA, WORKFLOWS), (GITLAB_SCHEMA, [GITLAB])):
        done = linted(command, *files)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("command", "file", "before", "after"),
    [
        (GITHUB_SCHEMA, WORKFLOWS[-1], "runs-on:", "runs-at:"),
        (GITLAB_SCHEMA, GITLAB, "    paths: [public]", "    paths: {public: yes}"),
    ],
)
def test_a_wrong_form_would_be_found(
    tmp_path: Path, command: list[str], file: Path, before: str, after: str
) -> None:
    text = file.read_text(encoding="utf-8")
    assert before in text
    (tmp_path / file.name).write_text(text.replace(before, after), encoding="utf-8")
    assert linted(command, tmp_path / file.name).returncode != 0


def test_an_action_has_one_hash_and_says_its_version() -> None:
    pinned: dict[str, set[str]] = {}
    for path in WORKFLOWS:
        for line in re.findall(r"uses: (.+)", path.read_text(encoding="utf-8")):
            action = re.fullmatch(r"([\w/-]+)@([0-9a-f]{40} # v\d+\.\d+\.\d+)", line)
            assert action, line
            pinned.setdefault(action[1], set()).add(action[2])
    assert len(pinned) == 6
    assert {name: pins for name, pins in pinned.items() if len(pins) > 1} == {}


def scripts(value: object) -> list[str]:
    """The lines that a host runs, wherever they stand in its file."""
    if isinstance(value, list):
        return [line for part in value for line in scripts(part)]
    if not isinstance(value, dict):
        return []
    found = []
    for key, part in value.items():
        if key in ("run", "script", "before_script", "postCreateCommand"):
            found += part if isinstance(part, list) else part.splitlines()
        else:
            found += scripts(part)
    return found


def test_they_call_the_commands_of_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `make ([\w-]+)` \|", readme, re.MULTILINE))
    called = {}
    for path in (*WORKFLOWS, GITLAB, CONTAINER):
        lines = scripts(yaml.safe_load(path.read_text(encoding="utf-8")))
        called[path.name] = {line.removeprefix("make ") for line in lines if line[:5] == "make "}
    assert called == {
        "release.yml": {"pdf"},
        "site.yml": {"test", "book", "editions"},
        ".gitlab-ci.yml": {"test", "book", "editions", "pdf"},
        "devcontainer.json": {"book"},
    }
    assert set().union(*called.values()) <= named


def test_what_they_take_from_the_build_is_what_the_commands_make() -> None:
    made = {
        "_build/html": "site/build.py",
        "_build/public": "site/editions.py",
        "_build/editions": "site/editions.py",
        "_build/roofline.pdf": "site/pdf.py",
        "_build/served/wheels": "site/handouts.py",
    }
    for path in (*WORKFLOWS, GITLAB):
        for place in re.findall(r"_build/[\w./-]*\w", path.read_text(encoding="utf-8")):
            (found,) = [top for top in made if place.startswith(top)]
            name = Path(found).name
            assert f'"{name}"' in source(made[found]) or f"/{name}" in source(made[found]), place


def source(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def read(name: str) -> dict[Any, Any]:
    """A host's file; YAML takes a key `on` for true."""
    return yaml.safe_load(source(name))


def test_a_job_has_the_rights_that_it_needs_and_no_other() -> None:
    given = {}
    for path in WORKFLOWS:
        workflow = read(str(path))
        assert workflow["permissions"] == {}
        given |= {name: job["permissions"] for name, job in workflow["jobs"].items()}
    reads = {"contents": "read"}
    assert given == {
        **{"test": reads, "book": reads, "files": reads},
        "publish": {"pages": "write", "id-token": "write"},
        "release": {"contents": "write", "actions": "write"},
    }


def test_main_alone_is_published_and_only_what_is_tested() -> None:
    publish = read(".github/workflows/site.yml")["jobs"]["publish"]
    assert publish["needs"] == ["test", "book"]
    assert publish["if"].split(" && ") == [
        "github.event_name != 'pull_request'",
        "github.ref == 'refs/heads/main'",
    ]
    gitlab = read(".gitlab-ci.yml")
    assert (gitlab["test"]["stage"], gitlab["pages"]["stage"]) == ("test", "deploy")
    assert gitlab["pages"]["rules"] == [{"if": "$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH"}]


def test_a_change_keeps_the_site_as_a_preview() -> None:
    workflow = read(".github/workflows/site.yml")
    assert "pull_request" in workflow[True]
    (preview,) = [s for s in workflow["jobs"]["book"]["steps"] if s.get("name") == "Keep a preview"]
    assert preview["if"] == "github.event_name == 'pull_request'"
    assert preview["uses"].startswith("actions/upload-artifact@")
    assert preview["with"]["path"] == "_build/html"
    book = read(".gitlab-ci.yml")["book"]
    assert book["rules"] == [{"if": '$CI_PIPELINE_SOURCE == "merge_request_event"'}]
    assert book["artifacts"]["paths"] == ["_build/html"]


def test_a_tag_keeps_the_wheel_and_the_pdf_and_publishes_main_anew() -> None:
    jobs = read(".github/workflows/release.yml")["jobs"]
    kept = jobs["files"]["steps"][-1]["with"]["path"].split()
    assert kept == ["_build/roofline.pdf", "_build/served/wheels/rooflib-*.whl"]
    _, release, publish = (step["run"] for step in jobs["release"]["steps"])
    # What is kept together lies below the folder that all of it shares.
    assert release.split()[-2:] == [path.replace("_build/", "files/") for path in kept]
    assert "workflow_dispatch" in read(f".github/workflows/{publish.split()[3]}")[True]
    gitlab = read(".gitlab-ci.yml")
    for name in ("release", "publish"):
        assert gitlab[name]["rules"] == [{"if": "$CI_COMMIT_TAG"}]
    assert gitlab["release"]["artifacts"]["paths"] == [
        str(Path(path).parent) if "*" in path else path for path in kept
    ]
    assert gitlab["publish"]["trigger"]["branch"] == "$CI_DEFAULT_BRANCH"


# One lock.


@pytest.mark.parametrize("path", HOSTED, ids=ids)
def test_no_file_has_a_list_of_packages_of_its_own(path: Path) -> None:
    text = re.sub(r"(?m)(?:^|\s)#.*", "", path.read_text(encoding="utf-8"))
    words = set(re.findall(r"[\w.-]+", text.lower()))
    locks = "".join(source(name) for name in ("requirements.txt", "requirements-dev.txt"))
    lock = set(re.findall(r"^([a-z0-9._-]+)==", locks, re.MULTILINE))
    assert len(lock) > 100
    assert words & lock == set()


def test_a_notebook_alone_installs_what_the_lock_has() -> None:
    """As on Colab: its first cell names our packages alone, and these ask for what is locked."""
    lock = set(re.findall(r"^([a-z0-9._-]+)==", source("requirements.txt"), re.MULTILINE))
    first = source("kit/roofkit/first_cell.py").lower()
    # Which is what the cell stands in.
    assert set(re.findall(r"[\w.-]+", first)) & lock == {"notebook"}
    asked: set[str] = set()
    for name in bundle.PROJECTS:
        project = tomllib.loads(source(str(name)))["project"]
        lines = [project["dependencies"], *project.get("optional-dependencies", {}).values()]
        found = (bundle.REQUIREMENT.match(line) for group in lines for line in group)
        asked |= {bundle.normal(requirement["name"]) for requirement in found if requirement}
    assert {"numpy", "altair"} <= asked <= lock | {"rooflib", "roofkit"}


def test_binder_and_the_environment_install_the_same() -> None:
    here, there = (environment.commands(name, "base", "uv") for name in ("here", "there"))
    assert [[w for w in step if w != "here"] for step in here] == [
        [w for w in step if w != "there"] for step in there
    ]
    assert here[1][-2:] == ["-r", "requirements.txt"]
    assert {step[0] for step in here} == {"here"}


def test_binder_installs_into_the_python_that_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[list[str]] = []
    monkeypatch.setattr(environment.subprocess, "call", lambda step, **_: ran.append(step) or 0)
    assert environment.main(["--here"]) == 0
    assert {step[0] for step in ran} == {sys.executable}
    assert len(ran) == len(environment.commands("", "base", ""))


def test_caches_are_keyed_by_what_decides_what_is_installed() -> None:
    site = read(".github/workflows/site.yml")
    # An environment leads to its Python by a path that has all of the version.
    version = "${{ steps.python.outputs.python-version }}"
    locks = {"test": "requirements*.txt", "book": "requirements.txt"}
    kinds = {"test": "test", "book": "venv"}
    for job, lock in locks.items():
        steps = site["jobs"][job]["steps"]
        (cache,) = (s["with"] for s in steps if s.get("with", {}).get("path") == ".venv")
        files = f"hashFiles('{lock}', 'pyproject.toml', 'kit/pyproject.toml')"
        assert cache["key"] == f"{kinds[job]}-{version}-${{{{ {files} }}}}"
        assert [s["id"] for s in steps if "setup-python" in s.get("uses", "")] == ["python"]
    assert "actions/cache@" not in source(".github/workflows/release.yml")
    # GitLab takes two files at most; `make` itself sees to what the others change.
    jobs = read(".gitlab-ci.yml")
    for cache in (jobs["default"]["cache"], jobs["pages"]["cache"][0]):
        assert cache == {"key": {"files": ["requirements.txt"]}, "paths": [".venv"]}


def test_each_takes_a_python_that_the_course_runs_on() -> None:
    versions = []
    for path in HOSTED:
        versions += re.findall(r"python(?:-version)?(?:: \"|:|-)(3\.\d+)", path.read_text())
    assert len(versions) >= 5
    for version in versions:
        assert environment.complaint(tuple(map(int, version.split("."))), True) == ""


# Binder.


def test_binder_calls_what_is_there() -> None:
    for path in (ROOT / ".binder/postBuild", ROOT / ".binder/start"):
        assert os.access(path, os.X_OK)
        called = re.findall(r"python3 (\S+)", path.read_text(encoding="utf-8"))
        assert called
        assert all((ROOT / name).is_file() for name in called)


def test_binder_starts_jupyterlab_on_the_readers_copies() -> None:
    command = binder.started(["jupyter-lab", "--ip=0.0.0.0"])
    assert command[:2] == ["jupyter-lab", "--ip=0.0.0.0"]
    assert command[2:] == lab.command(lab.WORK)[3:]
    assert f"--ServerApp.root_dir={lab.WORK}" in command


def test_binder_says_what_it_may_be_asked(capsys: pytest.CaptureFixture[str]) -> None:
    assert binder.main(["stop"]) == 2
    assert capsys.readouterr().err == (
        "['stop'] came; `build`, or `start` and a command, is allowed\n"
    )


def test_the_container_is_made_by_one_command() -> None:
    settings = json.loads(CONTAINER.read_text(encoding="utf-8"))
    assert settings["postCreateCommand"] == "make book"
    assert "features" not in settings
