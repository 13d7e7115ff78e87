"""Tests of CI workflows: make commands, one lock, pinned actions, permissions.

Workflows run only at their hosts, so these tests check their form and the commands they call.
"""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from commands import binder, environment, lab
from commands.handouts import bundle
from repository import ROOT

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
SITE = ROOT / ".github/workflows/site.yml"
LOCKS = ROOT / ".github/workflows/locks.yml"
GITLAB = ROOT / ".gitlab-ci.yml"
CONTAINER = ROOT / ".devcontainer/devcontainer.json"
BINDER = sorted((ROOT / ".binder").iterdir())
HOSTED = [*WORKFLOWS, GITLAB, CONTAINER, *BINDER]
ids = [path.relative_to(ROOT).as_posix() for path in HOSTED]
PROGRAMS = Path(sys.executable).parent
ZIZMOR = [str(PROGRAMS / "zizmor"), "--offline", "--no-config", "--persona=pedantic", "--quiet"]
# Turn off shellcheck and pyflakes, which actionlint would call if installed.
ACTIONLINT = [str(PROGRAMS / "actionlint"), "-no-color", "-oneline", "-shellcheck=", "-pyflakes="]
SCHEMA = [str(PROGRAMS / "check-jsonschema"), "--quiet", "--builtin-schema"]
GITHUB_SCHEMA = [*SCHEMA, "vendor.github-workflows"]
GITLAB_SCHEMA = [*SCHEMA, "vendor.gitlab-ci", "--data-transform", "gitlab-ci"]


def linted(command: list[str], *files: Path) -> subprocess.CompletedProcess[str]:
    words = [*command, *map(str, files)]
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)


def test_zizmor_finds_no_fault_in_the_workflows() -> None:
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
def test_zizmor_finds_a_planted_fault(tmp_path: Path, before: str, after: str, found: str) -> None:
    text = (ROOT / ".github/workflows/site.yml").read_text(encoding="utf-8")
    assert before in text
    faulty = tmp_path / "site.yml"
    faulty.write_text(text.replace(before, after), encoding="utf-8")
    done = linted(ZIZMOR, faulty)
    assert done.returncode != 0
    assert found in done.stdout


def test_actionlint_finds_no_fault_in_the_workflows() -> None:
    done = linted(ACTIONLINT, *WORKFLOWS)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("needs: [changes, test,", "needs: [changes, tests,", 'needs job "tests"'),
        ("steps.deployed.outputs", "steps.published.outputs", '"published" is not defined'),
        ("github.event_name", "github.event_nam", 'property "event_nam" is not defined'),
    ],
)
def test_actionlint_finds_a_planted_fault(
    tmp_path: Path, before: str, after: str, found: str
) -> None:
    text = (ROOT / ".github/workflows/site.yml").read_text(encoding="utf-8")
    assert before in text
    faulty = tmp_path / "site.yml"
    faulty.write_text(text.replace(before, after), encoding="utf-8")
    done = linted(ACTIONLINT, faulty)
    assert done.returncode != 0
    assert found in done.stdout


def test_workflow_files_match_their_hosts_schemas() -> None:
    for command, files in ((GITHUB_SCHEMA, WORKFLOWS), (GITLAB_SCHEMA, [GITLAB])):
        done = linted(command, *files)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("command", "file", "before", "after"),
    [
        (GITHUB_SCHEMA, SITE, "runs-on:", "runs-at:"),
        (GITLAB_SCHEMA, GITLAB, "    paths: [public]", "    paths: {public: yes}"),
    ],
)
def test_schemas_find_a_planted_fault(
    tmp_path: Path, command: list[str], file: Path, before: str, after: str
) -> None:
    text = file.read_text(encoding="utf-8")
    assert before in text
    (tmp_path / file.name).write_text(text.replace(before, after), encoding="utf-8")
    assert linted(command, tmp_path / file.name).returncode != 0


def test_each_action_is_pinned_to_one_hash_and_version() -> None:
    pinned: dict[str, set[str]] = {}
    for path in WORKFLOWS:
        for line in re.findall(r"uses: (.+)", path.read_text(encoding="utf-8")):
            action = re.fullmatch(r"([\w/-]+)@([0-9a-f]{40} # v\d+\.\d+\.\d+)", line)
            assert action, line
            pinned.setdefault(action[1], set()).add(action[2])
    assert {name: pins for name, pins in pinned.items() if len(pins) > 1} == {}


def scripts(value: object) -> list[str]:
    """Return the command lines in a workflow file, at any depth."""
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


def test_workflows_call_the_expected_make_targets() -> None:
    called = {}
    for path in (*WORKFLOWS, GITLAB, CONTAINER):
        lines = scripts(yaml.safe_load(path.read_text(encoding="utf-8")))
        called[path.name] = {
            target for line in lines for target in re.findall(r"\bmake ([\w-]+)", line)
        }
    assert called == {
        "release.yml": {"pdf"},
        "locks.yml": {"lock"},
        "long.yml": {"test-all"},
        "site.yml": {"javascript", "test", "test-book", "book", "editions"},
        ".gitlab-ci.yml": {"javascript", "test", "test-book", "book", "editions", "pdf"},
        "devcontainer.json": {"book"},
    }


def test_workflows_use_files_that_the_commands_create() -> None:
    made = {
        "_build/html": "site/commands/build.py",
        "_build/public": "site/commands/editions.py",
        "_build/editions": "site/commands/editions.py",
        "_build/roofline.pdf": "site/commands/pdf.py",
        "_build/served/wheels": "site/commands/handouts/__init__.py",
    }
    for path in (*WORKFLOWS, GITLAB):
        for place in re.findall(r"_build/[\w./-]*\w", path.read_text(encoding="utf-8")):
            (found,) = [top for top in made if place.startswith(top)]
            name = Path(found).name
            assert f'"{name}"' in source(made[found]) or f"/{name}" in source(made[found]), place


def source(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def read(name: str) -> dict[Any, Any]:
    """Return a workflow file as data; YAML parses the key `on` as True."""
    return yaml.safe_load(source(name))


def test_jobs_have_only_the_permissions_that_they_need() -> None:
    given = {}
    for path in WORKFLOWS:
        workflow = read(str(path))
        assert workflow["permissions"] == {}
        given |= {name: job["permissions"] for name, job in workflow["jobs"].items()}
    reads = {"contents": "read"}
    assert given == {
        **dict.fromkeys(("changes", "test", "javascript", "book", "files", "upgrade"), reads),
        "test-all": reads,
        "propose": {"actions": "write", "contents": "write", "pull-requests": "write"},
        "publish": {"pages": "write", "id-token": "write"},
        "release": {"contents": "write", "actions": "write"},
    }


def test_only_main_is_published_and_only_if_the_tests_it_needs_pass() -> None:
    publish = read(".github/workflows/site.yml")["jobs"]["publish"]
    assert publish["needs"] == ["changes", "test", "javascript", "book"]
    assert publish["if"].split(" && ") == [
        "!cancelled()",
        "github.event_name != 'pull_request'",
        "github.ref == 'refs/heads/main'",
        "needs.book.result == 'success'",
        "needs.javascript.result == 'success'",
        "(needs.test.result == 'success' || needs.changes.outputs.prose_only == 'true')",
    ]
    gitlab = read(".gitlab-ci.yml")
    assert (gitlab["test"]["stage"], gitlab["pages"]["stage"]) == ("test", "deploy")
    assert gitlab["pages"]["rules"] == [{"if": "$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH"}]


def test_each_pull_request_uploads_a_preview_of_the_site() -> None:
    workflow = read(".github/workflows/site.yml")
    assert "pull_request" in workflow[True]
    (preview,) = [s for s in workflow["jobs"]["book"]["steps"] if s.get("name") == "Keep a preview"]
    assert preview["if"] == "github.event_name == 'pull_request'"
    assert preview["uses"].startswith("actions/upload-artifact@")
    assert preview["with"]["path"] == "_build/html"
    book = read(".gitlab-ci.yml")["book"]
    assert book["rules"] == [{"if": '$CI_PIPELINE_SOURCE == "merge_request_event"'}]
    assert book["artifacts"]["paths"] == ["_build/html"]


def test_a_tag_releases_wheel_and_pdf_and_publishes_the_site_from_main() -> None:
    jobs = read(".github/workflows/release.yml")["jobs"]
    kept = jobs["files"]["steps"][-1]["with"]["path"].split()
    assert kept == ["_build/roofline.pdf", "_build/served/wheels/rooflib-*.whl"]
    _, release, publish = (step["run"] for step in jobs["release"]["steps"])
    # Paths in an artifact are relative to the common parent folder of its files.
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
def test_no_workflow_lists_packages(path: Path) -> None:
    text = re.sub(r"(?m)(?:^|\s)#.*", "", path.read_text(encoding="utf-8"))
    words = set(re.findall(r"[\w.-]+", text.lower()))
    locks = "".join(source(name) for name in ("requirements.txt", "requirements-dev.txt"))
    lock = set(re.findall(r"^([a-z0-9._-]+)==", locks, re.MULTILINE))
    assert len(lock) > 100
    assert words & lock == set()


def test_colab_notebooks_install_our_packages_and_only_locked_dependencies() -> None:
    lock = set(re.findall(r"^([a-z0-9._-]+)==", source("requirements.txt"), re.MULTILINE))
    first = source("kit/roofkit/first_cell.py").lower()
    # The cell contains the word "notebook", which is also a package.
    assert set(re.findall(r"[\w.-]+", first)) & lock == {"notebook"}
    asked: set[str] = set()
    for name in bundle.PROJECTS:
        project = tomllib.loads(source(str(name)))["project"]
        lines = [project["dependencies"], *project.get("optional-dependencies", {}).values()]
        found = (bundle.REQUIREMENT.match(line) for group in lines for line in group)
        asked |= {bundle.normal(requirement["name"]) for requirement in found if requirement}
    assert {"numpy", "ipywidgets"} <= asked <= lock | {"rooflib", "roofkit"}


def test_binder_and_make_environment_install_the_same_packages() -> None:
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


def test_venv_cache_keys_include_locks_and_on_github_the_python_version() -> None:
    site = read(".github/workflows/site.yml")
    # The cached .venv contains the path of its Python, which includes the full version.
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
    # GitLab allows at most two files in a key; `make` reinstalls if others have changed.
    jobs = read(".gitlab-ci.yml")
    for cache in (jobs["default"]["cache"], jobs["pages"]["cache"][0]):
        assert cache == {"key": {"files": ["requirements.txt"]}, "paths": [".venv"]}
    test = jobs["test"]["cache"]["key"]
    assert test == {"files": ["requirements-dev.txt"], "prefix": "$PYTHON_MINOR"}


def test_every_supported_python_is_tested() -> None:
    supported = [
        f"3.{minor}" for minor in range(8, 20) if not environment.complaint((3, minor), True)
    ]
    github = read(".github/workflows/site.yml")["jobs"]["test"]["strategy"]["matrix"]["python"]
    (gitlab,) = read(".gitlab-ci.yml")["test"]["parallel"]["matrix"]
    assert github == gitlab["PYTHON_MINOR"] == supported


def test_workflows_use_supported_pythons() -> None:
    versions = []
    for path in HOSTED:
        versions += re.findall(r"python(?:-version)?(?:: \"|:|-)(3\.\d+)", path.read_text())
    assert len(versions) >= 5
    for version in versions:
        assert environment.complaint(tuple(map(int, version.split("."))), True) == ""


# Scheduled workflows: the nightly long tests, and the weekly upgrade of the locks.


def test_the_long_tests_run_every_night() -> None:
    workflow = read(".github/workflows/long.yml")
    assert set(workflow[True]) == {"schedule", "workflow_dispatch"}
    (when,) = workflow[True]["schedule"]
    assert re.fullmatch(r"\d+ \d+ \* \* \*", when["cron"])
    assert "make test-all" in scripts(workflow)


def test_the_job_that_installs_packages_has_no_write_permission() -> None:
    workflow = read(".github/workflows/locks.yml")
    assert set(workflow[True]) == {"schedule", "workflow_dispatch"}
    upgrade, propose = workflow["jobs"]["upgrade"], workflow["jobs"]["propose"]
    assert "make lock LOCK_ARGS=--upgrade" in scripts(upgrade)
    assert upgrade["permissions"] == {"contents": "read"}
    assert propose["needs"] == "upgrade"
    programs = {line.split()[0] for line in scripts(propose)}
    assert programs == {"git", "gh", "if", "fi"}


def test_make_lock_passes_lock_args_to_pip_compile() -> None:
    command = ["make", "--dry-run", "--always-make", "lock", "LOCK_ARGS=--upgrade"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    (line,) = (
        line for line in done.stdout.replace("\\\n", " ").splitlines() if "pip compile" in line
    )
    assert " --upgrade " in line
    for option in ("--universal", "--generate-hashes"):
        assert option in line


# Binder.


def test_binder_calls_existing_commands() -> None:
    for path in (ROOT / ".binder/postBuild", ROOT / ".binder/start"):
        assert os.access(path, os.X_OK)
        called = re.findall(r"python3 site (\S+)", path.read_text(encoding="utf-8"))
        assert called
        assert all((ROOT / f"site/commands/{name}.py").is_file() for name in called)


class Replaced(Exception):
    """Raised where the process would have been replaced by another program."""


def test_binder_starts_jupyterlab_on_the_readers_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    def become(program: str, command: list[str]) -> None:
        raise Replaced(program, command)

    monkeypatch.setattr(binder.os, "execvp", become)
    with pytest.raises(Replaced) as replaced:
        binder.main(["start", "jupyter-lab", "--ip=0.0.0.0"])
    program, command = replaced.value.args
    assert program == "jupyter-lab"
    assert command[:2] == ["jupyter-lab", "--ip=0.0.0.0"]
    assert command[2:] == lab.command(lab.WORK)[3:]
    assert f"--ServerApp.root_dir={lab.WORK}" in command


def test_binder_refuses_unknown_commands_and_lists_the_allowed_ones(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert binder.main(["stop"]) == 2
    assert capsys.readouterr().err == (
        "['stop'] came; `build`, or `start` and a command, is allowed\n"
    )


def test_one_command_sets_the_dev_container_up() -> None:
    settings = json.loads(CONTAINER.read_text(encoding="utf-8"))
    assert settings["postCreateCommand"] == "make book"
    assert "features" not in settings
