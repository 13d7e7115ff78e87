"""Fixtures of all tests of grading."""

import functools

import nbgrader.api
import pytest

from grading.records import gradebook


@pytest.fixture(autouse=True, scope="session")
def _alembic_asked_once() -> None:
    """Cache the schema version of nbgrader's tables.

    nbgrader starts a program each time that it needs the version.
    """
    real = nbgrader.api.get_alembic_version

    @functools.cache
    def version() -> str:
        with gradebook.tools_on_path():
            return str(real())

    nbgrader.api.get_alembic_version = version
    gradebook.get_alembic_version = version
