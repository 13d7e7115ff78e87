"""Tests that all workers of a test run collect the same tests in the same order."""

import itertools
import subprocess
import sys

from repository import ROOT

# Each file has tests with and without a browser. pytest groups tests that share a site address.
FILES = [f"tests/{name}.py" for name in ("locale/test_chinese_values", "site/test_ways")]


def collected(files: tuple[str, ...]) -> list[str]:
    options = ["--collect-only", "-q", "-o", "addopts=--import-mode=importlib", "-p", "no:nbval"]
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options, *files]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [line for line in done.stdout.splitlines() if "::" in line]


def test_the_order_of_tests_does_not_depend_on_the_order_of_files() -> None:
    one, other = map(collected, itertools.permutations(FILES))
    assert one == other
    assert len(one) > 20
