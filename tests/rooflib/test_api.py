"""Tests of the package: public names, version, docstrings, and import cost."""

from __future__ import annotations

import importlib.metadata
import inspect
import subprocess
import sys
import tomllib

import pytest
import yaml
from repository import ROOT

import rooflib as rl

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_the_version_is_defined_once():
    assert "version" not in PYPROJECT["project"]
    assert PYPROJECT["tool"]["setuptools"]["dynamic"]["version"]["attr"] == "rooflib.__version__"
    assert importlib.metadata.version("rooflib") == rl.__version__


def test_citation_and_changelog_match_the_version():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["version"] == rl.__version__
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## {cited['version']}, {cited['date-released']}\n" in changes


def test_dir_lists_all_public_names():
    code = "import rooflib, sys; print(*dir(rooflib)); print('matplotlib' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names, drawn = run.stdout.splitlines()
    assert names.split() == sorted(rl.__all__)
    assert {"__version__", "plots", "bound", "Chip"} <= set(names.split())
    assert drawn == "False"


@pytest.mark.parametrize("name", [name for name in rl.__all__ if name != "__version__"])
def test_every_public_name_has_a_docstring(name):
    summary = inspect.getdoc(getattr(rl, name)).split("\n\n")[0]
    assert summary.endswith(".")
    assert not summary.startswith(f"{name}(")  # a dataclass's default docstring


def test_imported_names_are_in_all():
    own = {
        name for name, it in vars(rl).items() if getattr(it, "__module__", "").startswith("roof")
    }
    assert {name for name in own if not name.startswith("_")} <= set(rl.__all__)


def test_import_loads_no_heavy_modules():
    heavy = ("matplotlib", "ipywidgets", "decimal", "difflib", "importlib.metadata", "tomllib")
    code = (
        "import numpy, sys; before = set(sys.modules); import rooflib; "
        f"print([m for m in {heavy!r} if m in set(sys.modules) - before])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


def test_plots_is_an_attribute_of_rooflib_and_unknown_names_raise_an_error():
    assert rl.plots.roofline.__module__ == "rooflib.plots"
    with pytest.raises(AttributeError, match="has no attribute 'live'"):
        rl.live  # noqa: B018
