"""Unusual contents of a submission folder, beside the notebook or in place of it.

Each function gets the folder, which contains a correct notebook, and that notebook's path. FAIR has
the fair outcome: "points" (the notebook is graded and all else is ignored) or "listed" (it can't be
graded, and is listed with the reason).
"""

import json
import os
import socket
import stat

MAX_CELLS = 1_000  # the page for instructors says so

FAIR = {}


def fair(what):
    """Return a decorator that records a function's fair outcome in FAIR."""

    def mark(function):
        FAIR[function.__name__] = what
        return function

    return mark


@fair("points")
def link_to_the_gradebook(folder, notebook):
    (folder / "data.db").symlink_to("../../../gradebook.db")


@fair("points")
def link_to_the_machine(folder, notebook):
    (folder / "all").symlink_to("/")


@fair("listed")
def notebook_is_a_link_out(folder, notebook):
    secret = folder.parent.parent.parent / "secret.ipynb"
    secret.write_bytes(notebook.read_bytes())
    notebook.unlink()
    notebook.symlink_to(secret)


@fair("listed")
def notebook_is_a_fifo(folder, notebook):
    notebook.unlink()
    os.mkfifo(notebook)


@fair("points")
def fifo_beside(folder, notebook):
    os.mkfifo(folder / "timestamp.txt")


@fair("points")
def socket_beside(folder, notebook):
    one = socket.socket(socket.AF_UNIX)
    here = os.getcwd()
    os.chdir(folder)  # socket paths are limited to 107 bytes
    try:
        one.bind("talk.ipynb")
    finally:
        os.chdir(here)
        one.close()


@fair("points")
def odd_names(folder, notebook):
    for name in (b"a\nb.txt", b"\xff\xfe.txt", b"-rf", b"$(reboot).txt", b"..%2f..%2fgradebook.db"):
        with open(os.path.join(os.fsencode(folder), name), "wb") as file:
            file.write(b"x")


@fair("points")
def many_files(folder, notebook):
    for number in range(5_000):
        (folder / f"{number}.txt").touch()


@fair("points")
def deep_folders(folder, notebook):
    for _ in range(100):
        folder = folder / "deeper"
        folder.mkdir()


@fair("listed")
def gigabyte_of_notebook(folder, notebook):
    os.truncate(notebook, 1 << 30)  # sparse: takes no disk space, but a gigabyte of memory if read


@fair("points")
def gigabyte_beside(folder, notebook):
    with (folder / "data.bin").open("wb") as file:
        file.truncate(1 << 30)


@fair("listed")
def nested_lists(folder, notebook):
    notebook.write_bytes(b"[" * 15_000_000)


@fair("listed")
def cells_of_other_types(folder, notebook):
    content = json.loads(notebook.read_text(encoding="utf-8"))
    content["cells"] = [1, None, "x", [], {"cell_type": ["code"]}, {"cell_type": "code"}]
    notebook.write_text(json.dumps(content))


@fair("listed")
def a_list_of_notebooks(folder, notebook):
    notebook.write_text(f"[{notebook.read_text(encoding='utf-8')}]")


@fair("points")
def scripts_in_the_text(folder, notebook):
    content = json.loads(notebook.read_text(encoding="utf-8"))
    text = "<script>document.title='REACHED'</script><img src=x onerror=alert(1)> [x](javascript:1)"
    cell = {"cell_type": "markdown", "id": "odd", "metadata": {}, "source": text}
    cell["attachments"] = {"../../x.png": {"image/svg+xml": "<svg onload='alert(1)'/>"}}
    content["cells"].insert(0, cell)
    content["metadata"]["title"] = text
    content["metadata"]["kernelspec"] = {"name": "../../x", "display_name": text, "language": text}
    notebook.write_text(json.dumps(content))


@fair("points")
def metadata_of_ours(folder, notebook):
    content = json.loads(notebook.read_text(encoding="utf-8"))
    content["metadata"]["rooflib"] = {"trouble": "", "parts": [{"key": "x", "points": 20}]}
    for cell in content["cells"]:
        if "nbgrader" in cell["metadata"]:
            cell["metadata"]["nbgrader"]["points"] = 1e308
    notebook.write_text(json.dumps(content))


@fair("listed")
def nobody_may_read_it(folder, notebook):
    """Make the notebook unreadable, except for root, who can read and grade it."""
    notebook.chmod(0)


@fair("listed")
def notebook_is_a_device(folder, notebook):
    """Replace the notebook with /dev/zero: a device node, or a symlink if not root."""
    notebook.unlink()
    try:
        os.mknod(notebook, stat.S_IFCHR | 0o666, os.makedev(1, 5))
    except PermissionError:
        notebook.symlink_to("/dev/zero")


@fair("points")
def modules_beside(folder, notebook):
    for name in ("numpy.py", "rooflib.py", "json.py", "sitecustomize.py"):
        (folder / name).write_text("raise ImportError('REACHED')\n")


@fair("points")
def configuration_beside(folder, notebook):
    (folder / "nbgrader_config.py").write_text("raise SystemExit('REACHED')\n")
    (folder / "gradebook.db").write_bytes(b"SQLite format 3\0")
    (folder / ".ipynb_checkpoints").mkdir()


@fair("points")
def strange_timestamp(folder, notebook):
    (folder / "timestamp.txt").write_bytes(b"\xff\x00 9999-99-99 99:99:99 UTC")


@fair("points")
def names_that_lead_out(folder, notebook):
    content = json.loads(notebook.read_text(encoding="utf-8"))
    text = "![](../../../gradebook.db) ![](/etc/passwd) ![a](attachment:../../x.png)"
    cell = {"cell_type": "markdown", "id": "way-out", "source": text}
    cell["metadata"] = {"name": "../../x", "filename": "/etc/passwd", "tags": ["x"]}
    cell["attachments"] = {"../../x.png": {"image/png": "REACHED"}, "/etc/x": {"image/png": "x"}}
    content["cells"].insert(0, cell)
    content["metadata"] |= {"name": "../../x", "path": "/etc", "title": "../../x"}
    notebook.write_text(json.dumps(content))


@fair("points")
def texts_that_parsers_choke_on(folder, notebook):
    """Add texts that take parsers more than linear time.

    The parsers are those of Markdown, of our headings, Python and HTML.
    """
    content = json.loads(notebook.read_text(encoding="utf-8"))
    texts = ["[" * 90_000, "[a](" * 30_000, "*a " * 30_000, "<!--" * 20_000, "`" * 90_000]
    texts.append("## " + "1" * 1_000_000)
    codes = ["(" * 50_000, "-" * 50_000 + "1"]
    for text in texts:
        content["cells"].insert(0, {"cell_type": "markdown", "metadata": {}, "source": text})
    for text in codes:
        cell = {"cell_type": "code", "metadata": {}, "source": text, "outputs": []}
        content["cells"].insert(0, cell | {"execution_count": None})
    content["nbformat_minor"] = 4
    for cell in content["cells"]:
        cell.pop("id", None)
    notebook.write_text(json.dumps(content))


@fair("points")
def many_cells(folder, notebook):
    content = json.loads(notebook.read_text(encoding="utf-8"))
    cell = {"cell_type": "markdown", "metadata": {}, "source": "x"}
    room = MAX_CELLS - len(content["cells"])
    content["cells"][:0] = [cell | {"id": f"n{number}"} for number in range(room)]
    notebook.write_text(json.dumps(content))


@fair("listed")
def notebook_is_missing(folder, notebook):
    notebook.unlink()
