"""Doctests of rooflib and roofkit."""

import doctest
import importlib
import pkgutil
from collections.abc import Iterator

import pytest

import roofkit
import rooflib


def modules() -> Iterator[str]:
    for package in (rooflib, roofkit):
        yield package.__name__
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not found.name.endswith(("__main__", "learner_config")):
                yield found.name


@pytest.mark.parametrize("name", list(modules()))
def test_docstring_examples_are_correct(name: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def test_docstrings_have_examples() -> None:
    finder = doctest.DocTestFinder()
    found = [len(one.examples) for one in finder.find(rooflib)]
    assert sum(found) >= 3
