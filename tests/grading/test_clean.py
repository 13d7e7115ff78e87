"""Tests of `clean` and the Markdown filter, without a course, kernel or browser."""

import base64
import html
import io
import struct

import nbformat
import pytest
from matplotlib.figure import Figure
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output, new_raw_cell

from grading.reports import feedback
from grading.reports.feedback import (
    MAX_CELLS,
    MAX_OUTPUT_CHARACTERS,
    MAX_PICTURE_BYTES,
    MAX_PIXELS,
    MAX_TEXT_CHARACTERS,
)

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
)


def shown(content, kind="image/png"):
    return {kind: base64.b64encode(content).decode()}


def cleaned(*outputs, **notebook):
    nb = nbformat.v4.new_notebook(cells=[new_code_cell("1", outputs=list(outputs))], **notebook)
    feedback.clean(nb)
    nbformat.validate(nb)
    return nb


def outputs(*those):
    return cleaned(*those).cells[0].outputs


@pytest.mark.parametrize(
    "output",
    [
        {"output_type": "stream", "name": "<b>", "text": {"a": 1}},
        {"output_type": "stream", "text": ["a", 1, None]},
        {"output_type": "error", "ename": 1, "evalue": None, "traceback": "text"},
        {"output_type": "error"},
        {"output_type": "display_data", "data": "text"},
        {"output_type": "display_data", "data": {"image/png": ["!", 1]}},
        {"output_type": "execute_result", "data": {"text/plain": 1}, "execution_count": "<b>"},
        {"output_type": "<b>"},
        {},
    ],
)
def test_malformed_outputs_become_valid_ones(output):
    nb = nbformat.v4.new_notebook(cells=[new_code_cell("1")])
    nb.cells[0].outputs = [nbformat.from_dict(output)]
    nb.cells[0].execution_count = "<script>"
    feedback.clean(nb)
    nbformat.validate(nb)
    assert nb.cells[0].execution_count is None
    assert "<" not in nbformat.writes(nb)


def test_missing_fields_of_outputs_become_empty_texts():
    nb = nbformat.v4.new_notebook(cells=[new_code_cell("1")])
    nb.cells[0].outputs = [
        *map(nbformat.from_dict, ({"output_type": "stream"}, {"output_type": "error"})),
        *map(nbformat.from_dict, ({"data": {"text/plain": None}}, {"data": None})),
    ]
    feedback.clean(nb)
    stream, error, data, unknown = nb.cells[0].outputs
    assert stream == {"output_type": "stream", "name": "stdout", "text": ""}
    assert error == {"output_type": "error", "ename": "", "evalue": "", "traceback": [""]}
    about = {"output_type": "display_data", "metadata": {}}
    assert data == about | {"data": {"text/plain": ""}}
    assert unknown == about | {"data": {"text/plain": "(nothing: not shown here)"}}


@pytest.mark.parametrize("count", [0, 7, None])
def test_a_valid_execution_count_is_kept(count):
    nb = nbformat.v4.new_notebook(cells=[new_code_cell("1", execution_count=count)])
    feedback.clean(nb)
    assert nb.cells[0].execution_count == count


def test_a_note_names_the_media_types_that_are_not_shown():
    kinds = [f"{letter}/{'x' * 90}" for letter in "abcdefg"]
    (output,) = outputs(new_output("display_data", dict.fromkeys(kinds, "1")))
    named = ", ".join(kind[:60] for kind in kinds[:5])
    assert output.data["text/plain"] == f"({named}: not shown here)"


@pytest.mark.parametrize("count", [-1, True, 1.5, "1"])
def test_an_invalid_execution_count_becomes_none(count):
    nb = nbformat.v4.new_notebook(cells=[new_code_cell("1")])
    nb.cells[0].execution_count = count
    nb.cells[0].outputs = [new_output("execute_result", {"text/plain": "3"}, execution_count=1)]
    feedback.clean(nb)
    nbformat.validate(nb)
    assert (nb.cells[0].execution_count, nb.cells[0].outputs[0].execution_count) == (None, None)


def test_streams_errors_and_results_are_kept():
    nb = cleaned(
        new_output("stream", name="stderr", text="careful"),
        new_output("stream", name="stdout", text=["a", "b"]),
        new_output("error", ename="E", evalue="why", traceback=["one", "two"]),
        new_output("execute_result", {"text/plain": "3"}, execution_count=7),
    )
    nb.cells[0].execution_count = 7
    stderr, stdout, error, _ = nb.cells[0].outputs
    assert (stderr.name, stderr.text) == ("stderr", "careful")
    assert (stdout.name, stdout.text) == ("stdout", "ab")
    assert (error.ename, error.evalue, error.traceback) == ("E", "why", ["one", "two"])
    feedback.clean(nb)
    result = nb.cells[0].outputs[-1]
    assert (result.data, result.execution_count) == ({"text/plain": "3"}, 7)


def test_surrogates_and_control_characters_are_removed():
    nb = cleaned(new_output("stream", name="stdout", text="a\ud800b\x00c\x1b[2Jd\x1b[31me"))
    assert nb.cells[0].outputs[0].text == "abcd\x1b[31me"
    nbformat.writes(nb).encode()


# --- limits --------------------------------------------------------------------------------------


def test_long_outputs_are_truncated_with_a_note():
    (output,) = outputs(new_output("stream", text="x" * (MAX_OUTPUT_CHARACTERS + 50_000)))
    assert (
        output.text == "x" * MAX_OUTPUT_CHARACTERS + "\n(50000 more characters are left out here)\n"
    )
    (output,) = outputs(new_output("stream", text="x" * MAX_OUTPUT_CHARACTERS))
    assert output.text == "x" * MAX_OUTPUT_CHARACTERS


@pytest.mark.parametrize("kind", ["stream", "error", "text/plain"])
def test_the_total_text_of_a_notebook_is_limited(kind):
    def one(text):
        if kind == "stream":
            return new_output("stream", text=text)
        if kind == "error":
            return new_output("error", ename="E", evalue="", traceback=[text])
        return new_output("display_data", {kind: text})

    def texts(output):
        if kind == "text/plain":
            return output.data[kind]
        return output.text if kind == "stream" else "\n".join(output.traceback)

    nb = nbformat.v4.new_notebook(
        cells=[new_code_cell("1", outputs=[one("x" * 90_000)]) for _ in range(50)]
    )
    feedback.clean(nb)
    total = sum(texts(cell.outputs[0]).count("x") for cell in nb.cells)
    # The notes about truncation also count toward the limit.
    assert MAX_TEXT_CHARACTERS - 1_000 < total <= MAX_TEXT_CHARACTERS
    assert texts(nb.cells[-1].outputs[0]) == "\n(90000 more characters are left out here)\n"


def test_the_total_picture_size_of_a_notebook_is_limited():
    large = PNG + bytes(MAX_PICTURE_BYTES // 4)  # in base64, two fit; a third exceeds the limit
    drawn = [new_output("display_data", shown(large)) for _ in range(3)]
    small = new_output("display_data", shown(PNG))
    nb = nbformat.v4.new_notebook(
        cells=[new_code_cell("1", outputs=[one]) for one in (*drawn, small)]
    )
    feedback.clean(nb)
    kept = [set(cell.outputs[0].data) for cell in nb.cells]
    assert kept == [{"image/png"}, {"image/png"}, {"text/plain"}, {"image/png"}]
    assert nb.cells[2].outputs[0].data["text/plain"] == "(image/png: not shown here)"


def test_a_picture_that_exactly_reaches_the_limit_is_kept(monkeypatch):
    monkeypatch.setattr(feedback, "MAX_PICTURE_BYTES", len(base64.b64encode(PNG)))
    one, other = outputs(*[new_output("display_data", shown(PNG)) for _ in range(2)])
    assert set(one.data) == {"image/png"}
    assert set(other.data) == {"text/plain"}


def test_error_messages_are_truncated():
    (output,) = outputs(new_output("error", ename="E" * 9_000, evalue="v" * 9_000, traceback=["t"]))
    assert output.ename == "E" * 200
    assert output.evalue == "v" * 2_000 + "\n(7000 more characters are left out here)\n"


def png(width, height):
    return PNG[:16] + struct.pack(">II", width, height) + PNG[24:]


def jpeg(width, height):
    frame = b"\xff\xc0" + struct.pack(">HBHH", 17, 8, height, width) + bytes(10)
    return b"\xff\xd8\xff\xe0" + struct.pack(">H", 16) + bytes(14) + frame + b"\xff\xd9"


@pytest.mark.parametrize(("kind", "made"), [("image/png", png), ("image/jpeg", jpeg)])
def test_the_pixels_of_a_picture_are_limited(kind, made):
    side = int(MAX_PIXELS**0.5)
    assert side * side == MAX_PIXELS
    for size, kept in (
        ((side, side), True),
        ((side, side + 1), False),
        ((0, 5), False),
        ((5, 0), False),
    ):
        (output,) = outputs(new_output("display_data", shown(made(*size), kind)))
        assert (kind in output.data) is kept, size


@pytest.mark.parametrize(
    "make",
    [
        *("svg", "text", "html before", "half", "jpeg as png", "no end"),
        *("another start", "another first part"),
    ],
)
def test_invalid_png_data_is_refused(make):
    content = {
        "svg": b"<svg/>",
        "text": b"text",
        "html before": b"<script>" + PNG,
        "half": PNG[:20],
        "jpeg as png": b"\xff\xd8\xff\xe0",
        "no end": PNG.replace(b"IEND", b"IENX"),
        "another start": b"\x88" + PNG[1:],
        "another first part": PNG.replace(b"IHDR", b"IHDX"),
    }[make]
    (output,) = outputs(new_output("display_data", shown(content)))
    assert set(output.data) == {"text/plain"}
    assert output.data["text/plain"] == "(image/png: not shown here)"


@pytest.mark.parametrize(
    "content",
    [
        b"GI" + jpeg(5, 5)[2:],
        jpeg(5, 5)[:20],
        b"\xff\xd8\xff\xe0\x00\x10" + bytes(14) + b"<script>",
        # JPEGs whose only segment (DHT, JPG, DAC) looks like a frame header, but isn't one
        b"\xff\xd8" + b"\xff\xc4\x00\x09" + bytes([8, 0, 5, 0, 5, 0, 0]),
        b"\xff\xd8" + b"\xff\xc8\x00\x09" + bytes([8, 0, 5, 0, 5, 0, 0]),
        b"\xff\xd8" + b"\xff\xcc\x00\x09" + bytes([8, 0, 5, 0, 5, 0, 0]),
        b"\xff\xd8\xff\xda\x00\x02" + jpeg(5, 5)[20:],  # a JPEG with data before its size
        PNG,
    ],
    ids=["another start", "half", "no frame", "DHT", "JPG", "DAC", "data first", "a PNG"],
)
def test_invalid_jpeg_data_is_refused(content):
    (output,) = outputs(new_output("display_data", shown(content, "image/jpeg")))
    assert output.data == {"text/plain": "(image/jpeg: not shown here)"}


def test_invalid_base64_is_refused():
    text = base64.b64encode(PNG).decode()
    for odd in (f'{text}" onerror="1', f"{text[:8]}<b>{text[8:]}"):
        (output,) = outputs(new_output("display_data", {"image/png": odd}))
        assert "image/png" not in output.data
    (output,) = outputs(new_output("display_data", {"image/png": f"{text[:8]}\n{text[8:]}\n"}))
    assert output.data["image/png"] == text


def test_a_picture_in_several_lines_is_joined():
    text = base64.b64encode(PNG).decode()
    (output,) = outputs(new_output("display_data", {"image/png": [text[:8], text[8:]]}))
    assert output.data["image/png"] == text


def test_png_and_jpeg_figures_are_kept():
    for kind, name in (("image/png", "png"), ("image/jpeg", "jpeg")):
        drawn = io.BytesIO()
        Figure().savefig(drawn, format=name)
        (output,) = outputs(new_output("display_data", shown(drawn.getvalue(), kind)))
        assert base64.b64decode(output.data[kind]) == drawn.getvalue()
        assert output.metadata == {kind: {"alt": feedback.ALT_TEXT}}


# --- cells and metadata --------------------------------------------------------------------------


def test_only_known_metadata_is_kept():
    # The grade id contains a Cyrillic letter that looks like a Latin one.
    marks = {"grade": True, "points": 3, "grade_id": 'a"><é\u0430b'}
    marks |= {"other": "<b>", "checksum": "<1f>"}
    nb = nbformat.v4.new_notebook(cells=[new_code_cell("1"), new_code_cell("2"), new_raw_cell("3")])
    nb.cells[0].metadata = {"nbgrader": marks, "jupyter": {"source_hidden": True, "x": 1}, "a": 1}
    nb.cells[1].metadata = {"nbgrader": "text", "jupyter": {"source_hidden": "yes"}}
    nb.cells[1].id = "<b>"
    nb.cells[2].id = nb.cells[0].id
    nb.metadata.update(title="<b>", rooflib={"a": ["\x00b", {"c": "\x1b[2Jd"}], "e": 1})
    feedback.clean(nb)
    assert nb.cells[0].metadata == {
        "nbgrader": {"grade": True, "points": 3, "grade_id": "ab", "checksum": "1f"},
        "jupyter": {"source_hidden": True},
    }
    assert nb.cells[1].metadata == {}
    assert [cell.id for cell in nb.cells[1:]] == ["number-1", "number-2"]
    assert nb.metadata.rooflib == {"a": ["b", {"c": "d"}], "e": 1}
    assert set(nb.metadata) == {"kernelspec", "language_info", "rooflib"}


def test_the_language_of_a_notebook_is_kept():
    nb = nbformat.v4.new_notebook()
    nb.metadata["exercise"] = {"language": "zh_CN", "name": "<b>"}
    feedback.clean(nb)
    assert nb.metadata.exercise == {"language": "zh_CN"}


def test_cells_of_an_older_format_remain_without_ids():
    nb = nbformat.v4.new_notebook(cells=[new_code_cell("1", metadata={"nbgrader": {}})])
    del nb.cells[0]["id"]
    nb.nbformat_minor = 4
    feedback.clean(nb)
    nbformat.validate(nb)
    assert "id" not in nb.cells[0]
    assert nb.cells[0].metadata == {"nbgrader": {}}


def test_only_pictures_are_kept_among_attachments():
    attached = {"a.png": shown(PNG), "b.svg": {"image/svg+xml": "x"}, "c": "text"}
    nb = nbformat.v4.new_notebook(cells=[new_markdown_cell("text"), new_code_cell("1")])
    nb.cells += [new_code_cell("1"), new_markdown_cell("text")]
    for cell in nb.cells[:2]:
        cell.attachments = dict(attached)
    feedback.clean(nb)
    assert nb.cells[0].attachments == {"a.png": shown(PNG)}
    assert not any("attachments" in cell for cell in nb.cells[1:])


@pytest.mark.parametrize("more", [0, 1, 40])
def test_long_notebooks_show_only_their_first_cells_and_graded_ones(more):
    cells = [new_code_cell(f"number_{index}") for index in range(MAX_CELLS + more)]
    graded = new_code_cell("graded", metadata={"nbgrader": {"grade_id": "a"}})
    short = feedback.without_extra_cells(nbformat.v4.new_notebook(cells=[*cells, graded]))
    note = [f"{more} cells of this notebook are not shown here."] if more else []
    assert [cell.source for cell in short.cells] == [
        *note,
        *(cell.source for cell in cells[:MAX_CELLS]),
        "graded",
    ]
    if more:
        assert short.cells[0] == {"cell_type": "markdown", "metadata": {}, "source": note[0]}


# --- Markdown ------------------------------------------------------------------------------------


def rendered(source, pictures=None):
    return feedback._rendered(source, pictures or {})


def test_markdown_is_rendered():
    assert rendered("a *b* ~~c~~").strip() == "<p>a <em>b</em> <del>c</del></p>"
    assert '<ol start="3">' in rendered("3. three\n4. four")
    assert "<td>1</td>" in rendered("| a |\n|---|\n| 1 |")
    assert "<code>$a &lt; b$</code>" in rendered("$a < b$")
    assert "<code>$$a &lt; b$$</code>" in rendered("$$a < b$$")
    environment = "\\begin{align}a &lt; b\\end{align}"
    assert f"<code>{environment}</code>" in rendered(html.unescape(environment))
    # HTML and links are shown as text, and an address is not repeated.
    assert "&lt;b&gt;" in rendered("<b>a</b>")
    assert rendered("<http://a.example/?b&c>") == "<p>http://a.example/?b&amp;c</p>\n"


def test_long_sources_are_not_rendered_or_highlighted():
    assert rendered("*" + "x" * 3_998 + "*").startswith("<p><em>")
    assert rendered("*" + "x" * 3_999 + "*").startswith("<pre>*")
    assert "<span" in feedback.highlighted("1 + 1")
    assert "<span" in feedback.highlighted("#" * 4_000)
    assert "<span" not in feedback.highlighted("#" * 4_001)
    assert (
        feedback.as_text("<" * (MAX_OUTPUT_CHARACTERS + 1)).count("&lt;") == MAX_OUTPUT_CHARACTERS
    )


def test_markdown_that_breaks_the_parser_is_shown_as_plain_text(monkeypatch):
    def fails(*_):
        raise RecursionError

    monkeypatch.setattr(feedback, "MarkdownWithMath", fails)
    assert rendered("<b>*a*") == f"<pre>{html.escape('<b>*a*')}</pre>"


def test_only_attached_pictures_are_embedded():
    pictures = {"a.png": shown(PNG)}
    assert 'src="data:image/png;base64,' in rendered("![alt](attachment:a.png)", pictures)
    for source in ("![alt](attachment:b.png)", "![alt](http://elsewhere.example/p.png)"):
        made = rendered(source, pictures)
        assert "<img" not in made
        assert "alt" in made
    assert "<a" not in rendered("[text](http://elsewhere.example)")
    assert rendered(f"![<b>](http://{'x' * 400})") == f"<p>[&lt;b&gt;] (http://{'x' * 93})</p>\n"
    assert rendered(f"[text](http://{'x' * 400})") == f"<p>text (http://{'x' * 293})</p>\n"


@pytest.mark.parametrize(
    ("made", "left"),
    [
        ("<script>alert(1)</script>a", "a"),
        ("<style>p {color: red}</style>a", "a"),
        ("<p onclick='x' style='color: red' class='c' id='i' title='t'>a</p>", "<p>a</p>"),
        ("<a href='javascript:x'>a</a>", "a"),
        ("<a href='http://elsewhere.example'>a</a>", "a"),
        ("<img src='http://elsewhere.example/p.png' alt='a'>", '<img alt="a">'),
        ("<img src='data:image/svg+xml;base64,AAAA'>", "<img>"),
        ("<img src='data:text/html;base64,AAAA'>", "<img>"),
        ("<img src='p.png' srcset='q.png 2x' onerror='x'>", "<img>"),
        ("<img src='data:image/png;base64,AAAA'>", '<img src="data:image/png;base64,AAAA">'),
        ("<img src='data:image/jpeg;base64,AAAA'>", '<img src="data:image/jpeg;base64,AAAA">'),
        ("<p src='data:image/png;base64,AAAA'>a</p>", "<p>a</p>"),
        ("<ol start='3' type='a'><li>a</li></ol>", '<ol start="3"><li>a</li></ol>'),
        ("<svg onload='x'><circle/></svg>a", "a"),
        ("<iframe src='data:text/html,x'></iframe>a", "a"),
        ("<form><input><button>a</button></form>", "a"),
        ("<math><mtext><style><img src=x onerror=x></style></mtext></math>a", "a"),
        ("a<!-- b -->", "a"),
        ("<div data-x='1'>a</div>", "a"),
    ],
)
def test_the_sanitizer_removes_what_the_parser_lets_through(made, left, monkeypatch):
    class Hole:
        def __init__(self, *_, **__):
            pass

        def render(self, _):
            return made

    monkeypatch.setattr(feedback, "MarkdownWithMath", Hole)
    assert rendered("source") == left


def test_student_names_are_escaped_in_the_formgrader():
    about = {"first_name": "<b>", "last_name": None, "student": "O'B & <i>", "index": 3}
    _, made = feedback.Clean().preprocess(nbformat.v4.new_notebook(), dict(about))
    assert made == about | {"first_name": "&lt;b&gt;", "student": "O&#x27;B &amp; &lt;i&gt;"}
