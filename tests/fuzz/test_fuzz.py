"""Fuzz tests of all code that reads what a submission controls.

Hypothesis draws the inputs. Each draw is read in a fork with limits on CPU time and memory:
exceeding them is a finding, and so is raising an error. `make fuzz` draws many more examples than
`make test-all`.
"""

import os
import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import targets
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from grading.limits import Overrun, run_limited
from grading.reports import feedback

MAX_SECONDS, MAX_BYTES = 2.0, 500_000_000  # per draw
EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "15"))
PLANTED_EXAMPLES = 2000  # about one draw in ten finds the planted fault, which ends the test
usual = settings(
    phases=[Phase.generate],  # shrinking slow draws would take hours
    report_multiple_bugs=False,
    deadline=None,
    database=None,
    print_blob=True,  # so that a finding can be reproduced
    suppress_health_check=list(HealthCheck),
)


def read_all(
    draw: Callable[[Any], Any], read: Callable[[Any], str], examples: int = EXAMPLES
) -> None:
    """Fuzz `read` with inputs from `draw`; raise Overrun, or its error as RuntimeError."""

    @settings(usual, max_examples=examples)
    @given(st.randoms(use_true_random=False).map(draw))
    def reads(drawn: Any) -> None:
        def quietly() -> str:
            warnings.simplefilter("ignore")
            return read(drawn)

        run_limited(quietly, cpu=MAX_SECONDS, more_bytes=MAX_BYTES)

    reads()


@pytest.mark.long
@pytest.mark.parametrize("name", targets.TARGETS)
def test_readers_handle_all_drawn_inputs(name: str) -> None:
    read_all(*targets.TARGETS[name])


def failing_message(monkeypatch: pytest.MonkeyPatch) -> str:
    """Plant a reader that fails on each output; one draw in ten has an output."""

    def fails(outputs: Any, kind: str, content: Any) -> None:
        raise AssertionError("a planted fault")

    monkeypatch.setattr(targets.Outputs, "take", fails)
    return "messages"


def endless_pattern(monkeypatch: pytest.MonkeyPatch) -> str:
    """Plant a pattern that takes exponential time on some texts."""
    clean = feedback._text
    endless = re.compile(r"(\s*\**\s*)*\Z.")

    def slow(text: str) -> str:
        endless.search(text + " *" * 60 if "*" in text else "")
        return clean(text)

    monkeypatch.setattr(feedback, "_text", slow)
    return "text"


@pytest.mark.long
@pytest.mark.parametrize(
    ("plant", "error"), [(failing_message, RuntimeError), (endless_pattern, Overrun)]
)
def test_fuzzing_finds_a_planted_fault(
    monkeypatch: pytest.MonkeyPatch,
    plant: Callable[[pytest.MonkeyPatch], str],
    error: type[Exception],
) -> None:
    with pytest.raises(error):
        read_all(*targets.TARGETS[plant(monkeypatch)], examples=PLANTED_EXAMPLES)
