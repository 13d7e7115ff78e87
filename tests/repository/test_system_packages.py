"""Tests of tests/system_packages.py, which installs missing system packages."""

import importlib.util
from collections.abc import Callable
from types import ModuleType

import pytest
from repository import ROOT


@pytest.fixture
def system() -> ModuleType:
    path = ROOT / "tests" / "system_packages.py"
    spec = importlib.util.spec_from_file_location("system_packages", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def ran(system: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Replace subprocess calls, which all succeed, and return the recorded commands."""
    commands: list[list[str]] = []

    def call(command: list[str], **_: object) -> int:
        commands.append(command)
        return 0

    monkeypatch.setattr(system.subprocess, "call", call)
    return commands


def lacking(*names: str) -> dict[str, Callable[[], bool]]:
    return {name: lambda: False for name in names} | {"there": lambda: True}


def test_this_machine_has_all_packages(system: ModuleType) -> None:
    assert system.missing() == []
    assert system.main() == 0


def test_unprivileged_users_get_the_command_to_run(
    system: ModuleType, ran: list[list[str]], monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.setattr(system, "NEEDED", lacking("chromium", "bubblewrap"))
    monkeypatch.setattr(system, "as_root", lambda: None)
    assert system.main() == 1
    assert ran == []
    said = capsys.readouterr()
    assert said.out == ""
    line = "the tests need bubblewrap, chromium: sudo apt-get install bubblewrap chromium\n"
    assert said.err == line


def test_missing_packages_are_announced_and_installed(
    system: ModuleType, ran: list[list[str]], monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    there = iter((False, True))
    monkeypatch.setattr(system, "NEEDED", {"git": lambda: True, "postgresql": lambda: next(there)})
    monkeypatch.setattr(system, "as_root", lambda: ["sudo", "-n"])
    assert system.main() == 0
    assert capsys.readouterr().out == "installing postgresql for the tests\n"
    assert [command[:2] for command in ran] == [["sudo", "-n"]] * 2
    assert "update" in ran[0]
    assert ran[1][-1] == "postgresql"


@pytest.mark.parametrize(
    ("known", "taken"),
    [(True, "chromium-headless-shell"), (False, "chromium")],
    ids=["the distribution has it", "it has not"],
)
def test_the_headless_browser_is_preferred(
    system: ModuleType, monkeypatch: pytest.MonkeyPatch, known: bool, taken: str
) -> None:
    installed: list[str] = []

    def call(command: list[str], **_: object) -> int:
        if command[0] == "apt-cache":
            return 0 if known else 100
        if "install" in command:
            installed.extend(command[-2:])
        return 0

    monkeypatch.setattr(system.subprocess, "call", call)
    assert system.install(["bubblewrap", "chromium"], [])
    assert installed == ["bubblewrap", taken]


def test_a_failed_installation_is_reported_with_exit_status_1(
    system: ModuleType, ran: list[list[str]], monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.setattr(system, "NEEDED", lacking("chromium"))
    monkeypatch.setattr(system, "as_root", lambda: [])
    assert system.main() == 1
    assert ran
    assert capsys.readouterr().err == (
        "chromium could not be installed: sudo apt-get install chromium\n"
    )


@pytest.mark.parametrize(
    ("user", "sudo", "prefix"),
    [(0, 1, []), (1000, 0, ["sudo", "-n"]), (1000, 1, None)],
    ids=["root", "sudo without a password", "sudo with a password"],
)
def test_root_and_passwordless_sudo_may_install(
    system: ModuleType, monkeypatch: pytest.MonkeyPatch, user: int, sudo: int, prefix: object
) -> None:
    monkeypatch.setattr(system.os, "geteuid", lambda: user)
    monkeypatch.setattr(system.shutil, "which", lambda name: name)
    monkeypatch.setattr(system.subprocess, "call", lambda *_, **__: sudo)
    assert system.as_root() == prefix
