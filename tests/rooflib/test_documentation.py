"""Examples print what the README and the docstrings say that they print."""

import doctest
import importlib
import inspect
import pkgutil
import re
import shlex
import shutil
import subprocess
import sys
import tomllib

import pytest
from broken_configs import LLAMA, write
from repository import ROOT

import roofkit
import rooflib as rl
import roofmeter

README = (ROOT / "README.md").read_text(encoding="utf-8")
MODULES = [
    found.name
    for package in (rl, roofkit)
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if not found.name.endswith(("__main__", "learner_config"))
]
PUBLIC = {name: getattr(rl, name) for name in (*rl.__all__, *rl.llm.__all__)}


def test_the_python_examples_in_the_readme_have_the_values_that_it_says():
    checked, names = 0, {}
    for block in re.findall(r"^```python\n(.+?)^```", README, re.M | re.S):
        exec(block, names)
        for line in block.splitlines():
            expression, mark, value = line.partition("  # ")
            if mark:
                assert str(eval(expression, names)).replace("\N{NO-BREAK SPACE}", " ") == value, (
                    line
                )
                checked += 1
    assert checked


def answer(*words: object, **how: object) -> str:
    run = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=False, **how
    )
    assert (run.returncode, run.stderr) == (0, ""), words
    return run.stdout


def test_commands_that_readme_pages_and_usage_show_get_an_answer(tmp_path):
    write(tmp_path, LLAMA)
    pages = [path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("chapters/*.md"))]
    usage = answer("-m", "rooflib", "--help")
    for text in (README, "\n".join(pages), usage):
        asked = re.findall(r"^ *python (-m rooflib .+\w)$", text, re.MULTILINE)
        for words in map(shlex.split, asked):
            assert "usage:" not in answer(*words, cwd=tmp_path), words
        assert asked


def test_pip_installs_what_the_readme_says_with_rooflib():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (told,) = (part for part in README.split("\n\n") if "pip install ." in part)
    assert set(project["dependencies"]) == set(re.findall("numpy|matplotlib", told)) != set()


@pytest.mark.parametrize("name", ["rooflib", "roofkit", *MODULES])
def test_the_examples_of_docstrings_give_what_they_show(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def test_every_public_name_says_what_it_is():
    for name in set(PUBLIC) - {"__version__"}:
        assert name in dir(rl)  # what an editor offers
        summary = inspect.getdoc(PUBLIC[name]) or ""
        assert summary.split("\n\n")[0].endswith("."), name
        assert not summary.startswith(f"{name}("), name  # which dataclasses have by default
    assert sum(len(found.examples) for found in doctest.DocTestFinder().find(rl)) > 0


def test_the_page_of_functions_has_every_public_name():
    page = (ROOT / "chapters/api.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\.\. (?:auto)?\w+:: (?:.*\.)?(\w+)", page, re.MULTILINE)
    plots = (each for each in vars(rl.plots).values() if inspect.isfunction(each))
    own = {each.__name__ for each in plots if each.__module__ == rl.plots.__name__}
    assert {name for name in own if name[0] != "_"} | set(PUBLIC) - {"plots"} <= set(shown)


# What the names before a dot stand for, in pages and docstrings.
KNOWN = {"rl.plots": rl.plots, "plots": rl.plots, "rl": rl, "rooflib": rl, "roofmeter": roofmeter}
KNOWN |= {"run": roofmeter.Run, "served": rl.Serving, "mine": rl.Model}
KNOWN |= {name: value for name, value in PUBLIC.items() if isinstance(value, type)}
NAMED = re.compile(rf"(?<![\w./])({'|'.join(KNOWN)})\.([A-Za-z_]\w*)")
CODE = re.compile(r"(?<![}`])`([^`\n]+)`(?!`)|^```python\n(.+?)^```", re.MULTILINE | re.DOTALL)


def test_what_pages_and_docstrings_name_is_there():
    pages = [README, *(path.read_text(encoding="utf-8") for path in ROOT.glob("[cs]*s/*.md"))]
    told = [*PUBLIC.values(), *map(importlib.import_module, MODULES)]
    for text in (*pages, *(inspect.getdoc(each) or "" for each in told)):
        for code in map("".join, CODE.findall(text)):
            for before, name in NAMED.findall(code):
                of = KNOWN[before]
                fields = getattr(of, "__dataclass_fields__", ())
                assert hasattr(of, name) or name in fields, code


def test_importing_rooflib_does_not_import_matplotlib():
    code = "import rooflib, sys; print('matplotlib' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"


ALL_EXERCISES = """
import pathlib, runpy
import rooflib as rl

for path in sorted(pathlib.Path("exercises").glob("*.py")):
    runpy.run_path(str(path))
x1 = rl.chip("X1")
print(x1, float(x1.link().to_group(2)), [p.source.key for p in rl.figures() if p.chip == "X1"])
"""


def test_the_recipe_for_a_chip_works_as_printed(tmp_path):
    """A chip that lacks a peak takes its place in the exercises that don't need it."""
    page = (ROOT / "chapters/hardware.md").read_text(encoding="utf-8")
    (recipe,) = re.findall(r"^```toml\n(.+?)^```", page, re.M | re.S)
    package = shutil.copytree(ROOT / "rooflib", tmp_path / "rooflib")
    with (package / "chips.toml").open("a", encoding="utf-8") as catalog:
        catalog.write("\n" + recipe)
    run = subprocess.run(
        [sys.executable, "-P", "-c", ALL_EXERCISES],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={"PYTHONPATH": f"{tmp_path}:{ROOT / 'kit'}:{ROOT}"},
        check=False,
    )
    assert run.stderr == ""
    assert "400 TFLOP/s in bf16, 2 TB/s and 64 GB" in run.stdout
    assert f"{200e9} {['maker-x1'] * 4}" in run.stdout
