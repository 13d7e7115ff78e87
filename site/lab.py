"""Open the chapters and the exercises in JupyterLab: ``python site/lab.py [its options]``.

A reader works on copies in my-work/, made once and never written again.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
from bundle import NBGRADER
from notebooks.lab_copy import chapter_notebook

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "my-work"


def copy_chapters(chapters: Path, target: Path) -> tuple[list[str], list[str]]:
    """Copy each chapter as a notebook; the names of those made, and of those kept as they were."""
    made, kept = [], []
    target.mkdir(parents=True, exist_ok=True)
    for chapter in sorted(chapters.glob("*.md")):
        notebook = target / f"{chapter.stem}.ipynb"
        if notebook.exists():
            kept.append(notebook.name)
        else:
            nbformat.write(chapter_notebook(chapter), notebook)
            made.append(notebook.name)
    return made, kept


def copy_exercises(exercises: Path, target: Path) -> list[str]:
    """Copy each exercise, as it is released, into a folder of its own; the names of those made."""
    names = [notebook.stem for notebook in sorted(exercises.glob("*/*.ipynb"))]
    missing = [name for name in names if not (target / name / f"{name}.ipynb").exists()]
    if missing:
        with tempfile.TemporaryDirectory() as course:
            release = [sys.executable, "-m", "grading", "release", course]
            subprocess.run(release, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
            for name in missing:
                folder = target / name
                folder.mkdir(parents=True, exist_ok=True)
                released = Path(course) / "release" / name / f"{name}.ipynb"
                shutil.copy(released, folder / f"{name}.ipynb")
    for folder in [target, *(target / name for name in names)]:
        copy_nbgrader_config(folder)
    return missing


def copy_nbgrader_config(folder: Path) -> None:
    """Let `nbgrader validate` say what the checks compared, where it is started in this folder."""
    if not (folder / "nbgrader_config.py").exists():
        shutil.copy(ROOT / NBGRADER, folder / "nbgrader_config.py")


def command(folder: Path, *options: str) -> list[str]:
    """What starts JupyterLab on a folder, with the words of our checks in its Validate dialog."""
    return [
        *(sys.executable, "-m", "jupyterlab"),
        f"--ServerApp.root_dir={folder}",
        f"--LabApp.extra_labextensions_path={ROOT / 'kit/roofkit/validate/labextensions'}",
        f"--LabApp.extra_labextensions_path={ROOT / 'site/notebooks/labextensions'}",
        *options,
    ]


def main(options: list[str]) -> None:
    made, kept = copy_chapters(ROOT / "chapters", WORK / "chapters")
    print(f"my-work/chapters: {len(made)} made, {len(kept)} of yours kept as they were", flush=True)
    made = copy_exercises(ROOT / "exercises", WORK)
    print(f"my-work: {len(made)} exercises made, yours kept as they were", flush=True)
    start = "--LabApp.default_url=/lab/tree/chapters/introduction.ipynb"
    jupyterlab = command(WORK, start, *options)
    os.execv(jupyterlab[0], jupyterlab)


if __name__ == "__main__":
    main(sys.argv[1:])
