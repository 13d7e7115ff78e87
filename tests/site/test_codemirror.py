"""The editor of the pages is the one that JupyterLab carries, whole, and asks for nothing more."""

import shutil
from pathlib import Path

import pytest
from page_python.codemirror import STATIC, WANTED, NotFound, script


def test_the_script_holds_what_it_exports_and_the_licences() -> None:
    made = script()
    for names in WANTED.values():
        assert f"export const {{ {', '.join(names)} }} = need(" in made
    assert made.startswith("/*!")
    assert "@codemirror/view 6." in made
    assert "Permission is hereby granted, free of charge" in made
    # One module stands in for Node's; a second would be a part that was not found.
    assert made.count("{ env: {} }") == 1
    assert len(made) < 600_000


def test_another_jupyterlab_is_told_apart(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"has no main\.\*\.js"):
        script(tmp_path)
    for path in STATIC.glob("main.*.js"):
        shutil.copy(path, tmp_path)
    with pytest.raises(NotFound, match=r"no @codemirror/view with EditorView, keymap"):
        script(tmp_path)
