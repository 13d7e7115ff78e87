"""Shell commands of a notebook, `!command`: their output and exit status."""

import os
import signal
import subprocess
from types import SimpleNamespace
from typing import Any

import pytest

from grading.sandbox.inside import commands


def shell(**more: Any) -> Any:
    """Return a fake IPython shell that expands {x} to an echo of the stack depth."""
    found = SimpleNamespace(user_ns={}, **more)
    found.var_expand = lambda command, depth: command.replace("{x}", f"echo depth {depth}")
    commands.set_up(found)
    return found


@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("true", 0),
        ("exit 3", 3),
        ("exit 128", 128),
        ("kill -9 $$", -9),
        ("sh -c 'kill -15 $$'; exit $?", -15),
        ("no-such-command", 127),
    ],
)
def test_the_exit_status_is_left_in_exit_code_as_in_ipython(command: str, status: int) -> None:
    one = shell()
    for run in (one.system, one.system_piped):
        one.user_ns.clear()
        run(command)
        assert one.user_ns == {"_exit_code": status}


@pytest.mark.parametrize(
    ("raises", "command"), [(True, "exit 1"), (True, "exit 0"), (False, "exit 1")]
)
def test_a_failing_command_raises_only_if_system_raise_on_error_is_set(
    raises: bool, command: str
) -> None:
    one = shell(system_raise_on_error=raises)
    if raises and command == "exit 1":
        with pytest.raises(subprocess.CalledProcessError, match="exit 1") as error:
            one.system(command)
        assert error.value.returncode == 1
    else:
        one.system(command)


def test_stdout_and_stderr_are_printed_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    shell().system("echo one; echo two >&2; printf '\\303\\244\\377'; {x}; cat; tty")
    expected = "one\r\ntwo\r\nä\ufffddepth 1\r\nnot a tty\r\n"
    assert capsys.readouterr().out == expected


def test_characters_split_between_two_reads_of_output_are_decoded(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shell().system("head -c 300001 /dev/zero | tr '\\0' 'x' | sed 's/x/ä/g'")
    assert capsys.readouterr().out == "ä" * 300_001


def test_background_commands_are_refused() -> None:
    with pytest.raises(OSError, match="Background processes not supported"):
        shell().system("sleep 1 & ")


def test_an_interrupt_kills_the_commands_process_group(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    killed = []

    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    kill = os.killpg
    monkeypatch.setattr(commands, "_print", interrupt)
    monkeypatch.setattr(os, "killpg", lambda *words: killed.append(words) or kill(*words))
    with pytest.raises(KeyboardInterrupt):
        shell().system("sleep 600")
    assert [number for _, number in killed] == [signal.SIGKILL]


def test_the_shell_variable_names_the_shell_that_runs_commands(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SHELL", "/bin/echo")
    shell().system("true")
    assert capsys.readouterr().out == "-c true\r\n"
