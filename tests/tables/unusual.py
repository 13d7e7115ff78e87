"""Unusual submissions, accidental or deliberate, and their expected outcomes.

Each table maps a name to (how to make the submission, points); the points are None if it can't be
graded and must be listed as such.
"""

import copy
import gzip
import io
import json
import zipfile

import nbformat
from accidents import FULL
from classroom import answers, cell, code

LAST = "bounds"  # part worth 3 points that no other part needs
WITHOUT_LAST = FULL - 3


def each_solution(change):
    """Return an edit that applies `change` to the text of each answer."""

    def changed(nb):
        for one in answers(nb):
            one.source = change(one.source)
        return nb

    return changed


def last(change):
    """Return an edit that applies `change` to the text of the last answer."""

    def changed(nb):
        one = cell(nb, f"{LAST}-solution")
        one.source = change(one.source)
        return nb

    return changed


def marked(**metadata):
    """Return an edit that adds this metadata to each answer's cell."""

    def changed(nb):
        for one in answers(nb):
            one.metadata.update(copy.deepcopy(metadata))
        return nb

    return changed


def marks_of_nothing(nb):
    for one in nb.cells:
        if "nbgrader" in one.metadata:
            one.metadata["nbgrader"] = None
    return nb


def same_ids(nb):
    for one in nb.cells:
        one.id = "a"
    return nb


def outputs(nb):
    """Add long outputs and a huge execution count, as some front ends do."""
    for one in nb.cells:
        if one.cell_type == "code":
            one.outputs = [
                nbformat.from_dict({"output_type": "stream", "name": "stdout", "text": "x" * 9999})
            ]
            one.execution_count = 10**9
    return nb


def each_in_two(nb):
    """Insert a comment cell after each cell, as some converters do."""
    for one in list(nb.cells):
        nb.cells.insert(nb.cells.index(one) + 1, code("# ---"))
    return nb


def with_widgets(nb):
    state = {"application/vnd.jupyter.widget-state+json": {"state": {"a": 1}, "version_major": 2}}
    nb.metadata["widgets"] = state
    return nb


NOTEBOOKS = {
    "tabs": (each_solution(lambda text: text.replace("    ", "\t")), FULL),
    "windows-lines": (each_solution(lambda text: text.replace("\n", "\r\n")), FULL),
    "hard-spaces": (last(lambda text: text.replace("    return", "\xa0\xa0return")), WITHOUT_LAST),
    "curly-quotes": (last(lambda text: f"# “quoted”\n{text}"), FULL),
    "timed": (each_solution(lambda text: f"%%time\n{text}"), FULL),
    "from-the-future": (
        each_solution(lambda text: f"from __future__ import annotations\n{text}"),
        FULL,
    ),
    "long-comment": (last(lambda text: f"{text}\n# {'x' * 300_000}"), FULL),
    "tagged-to-be-skipped": (marked(tags=["skip-execution"]), FULL),
    "tags-of-another-kind": (marked(tags=7), FULL),
    "hidden": (marked(collapsed=True, jupyter={"source_hidden": True}, editable=False), FULL),
    "marks-of-nothing": (marks_of_nothing, FULL),
    "one-id-for-all": (same_ids, FULL),
    "old-outputs": (outputs, FULL),
    "comments-between": (each_in_two, FULL),
    "widgets": (with_widgets, FULL),
}

# name → (code in a learner's first cell, before correct answers; points)
FIRST = {
    "another-folder": ("import os\nos.chdir('/tmp')", FULL),
    "no-environment": ("import os\nos.environ.clear()", FULL),
    "strict-numpy": ("import numpy\nnumpy.seterr(all='raise')", FULL),
    "awaits": ("import asyncio\nawait asyncio.sleep(0)", FULL),
    "waits-at-exit": ("import atexit, time\natexit.register(time.sleep, 10_000)", FULL),
    "thread-for-ever": (
        "import threading, time\nthreading.Thread(target=time.sleep, args=(10_000,)).start()",
        FULL,
    ),
    "little-recursion": ("import sys\nsys.setrecursionlimit(150)", FULL),
    "own-print": ("print = sum = len = range = None", FULL),
    "own-sockets": ("import socket\nsocket.socket.sendall = lambda *_: None", 0),
}


def bytes_of(change):
    """Return a function that writes the notebook with its bytes changed."""

    def made(folder, name, text):
        (folder / f"{name}.ipynb").write_bytes(change(text))

    return made


def named(file):
    """Return a function that saves the notebook under `file` instead of its usual name."""

    def made(folder, name, text):
        path = folder / file.format(name=name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    return made


def zipped(text):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("int8-matmul.ipynb", text)
    return stream.getvalue()


def content(change):
    """Return a function that writes the notebook with a change of what its JSON says."""

    def changed(text):
        said = json.loads(text)
        change(said)
        return json.dumps(said).encode()

    return bytes_of(changed)


def cells(change):
    """Return a function that writes the notebook with a change of each cell in its JSON."""
    return content(lambda said: [change(one) for one in said["cells"]])


def without_outputs(one):
    one.pop("outputs", None)
    one.pop("execution_count", None)


NULL = {"cell_type": "code", "source": None, "metadata": {}, "outputs": []}


def secret_is_a_folder(folder, name, text):
    (folder / f"{name}.ipynb").write_text(text, encoding="utf-8")
    (folder / "submission_secret.txt").mkdir()
    (folder / "timestamp.txt").mkdir()


FILES = {
    "utf-32": (bytes_of(lambda text: text.encode("utf-32")), FULL),
    "later-version": (
        content(lambda said: said.update(nbformat_minor=99, of_tomorrow=[1])),
        FULL,
    ),
    "not-a-number": (content(lambda said: said["metadata"].update(zoom=float("nan"))), FULL),
    "a-language-without-a-name": (
        content(lambda said: said["metadata"].update(language_info={})),
        FULL,
    ),
    "padded": (bytes_of(lambda text: text.encode() + bytes(4096)), None),
    "cut-off": (bytes_of(lambda text: text.encode()[:3000]), None),
    "compressed": (bytes_of(lambda text: gzip.compress(text.encode())), None),
    "merge-conflict": (
        bytes_of(lambda text: f"<<<<<<< HEAD\n{text}\n=======\n>>>>>>> x".encode()),
        None,
    ),
    "a-source-of-nothing": (content(lambda said: said["cells"].append(NULL)), FULL),
    "no-outputs": (cells(without_outputs), FULL),
    "no-metadata": (cells(lambda one: one.pop("metadata")), FULL),
    "fields-of-others": (
        cells(lambda one: one.update(language="python", editor={"x": 1}, id=7)),
        FULL,
    ),
    "nothing-but-cells": (
        bytes_of(lambda text: json.dumps({"cells": json.loads(text)["cells"]}).encode()),
        FULL,
    ),
    "a-source-of-numbers": (cells(lambda one: one.update(source=[1, 2])), None),
    "a-web-page": (bytes_of(lambda text: f"<!DOCTYPE html><pre>{text}</pre>".encode()), None),
    "only-a-zip": (lambda folder, name, text: (folder / "x.zip").write_bytes(zipped(text)), None),
    "only-a-checkpoint": (named(".ipynb_checkpoints/{name}-checkpoint.ipynb"), None),
    "other-hyphen": (named("int8\u2011matmul.ipynb"), FULL),
    "secret-is-a-folder": (secret_is_a_folder, FULL),
}
