"""Tests of tables saved by spreadsheets.

Unambiguous tables are read; others are refused with advice.
"""

import codecs
import io
import zipfile

import pytest
from classroom import Classroom

from grading import __main__ as commands
from grading.errors import Unable
from grading.platforms import week
from grading.platforms.roster import Person, Table, text_of

TEXT = "id,first_name,last_name\r\nada,Ada,Lovelace\r\nj,Jörg,Müller\r\n"
MUELLER = Person("j", "", "Jörg", "Müller")


def people(text):
    return Table(text).people()[0]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("note", ["", "sep={0}\r\n", "SEP={0}\n"])
def test_tables_written_by_spreadsheets_are_read(encoding, delimiter, note):
    text = note.format(delimiter) + TEXT.replace(",", delimiter)
    assert people(text_of(text.encode(encoding)))[1] == MUELLER


def test_both_byte_orders_of_utf_16_are_read():
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        assert people(text_of(mark + TEXT.encode(encoding)))[1] == MUELLER


def workbook():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as made:
        made.writestr("xl/workbook.xml", "<workbook/>")
    return stream.getvalue()


REFUSED = {
    "cp1252": (TEXT.encode("cp1252"), "is not in UTF-8"),
    "cp932": ("id,氏名\nada,坂田\n".encode("cp932"), "is not in UTF-8"),
    "UTF-16 without a mark": (TEXT.encode("utf-16-le"), "is not in UTF-8"),
    "half of a character": (codecs.BOM_UTF16_LE + b"a", "is not in UTF-8"),
    "xlsx": (workbook(), "is a workbook or another zip and not a table"),
    "xls": (b"\xd0\xcf\x11\xe0" + bytes(500), "is a workbook of an old Excel"),
}


@pytest.mark.parametrize("kind", REFUSED)
@pytest.mark.parametrize("step", ["roster", "export"])
def test_other_file_formats_are_refused_with_advice(tmp_path, release, kind, step):
    content, says = REFUSED[kind]
    file = tmp_path / "people.csv"
    file.write_bytes(content)
    room = Classroom(tmp_path / "course", release)
    out = tmp_path / "out.csv"
    steps = {
        "roster": lambda: week.roster(room.course, file),
        "export": lambda: week.export(room.course, file, out, {}),
    }
    with pytest.raises(Unable) as raised:
        steps[step]()
    line = str(raised.value)
    assert line.startswith(f"{file} {says}")
    assert "Excel: Save As, CSV UTF-8" in line
    assert not out.exists()


def test_delimiters_inside_quotes_are_text():
    text = '"Notes, by a, b, c, d";id;first_name\nx;ada;Ada\n'
    assert people(text) == [Person("ada", "", "Ada")]


def test_rows_of_any_length_are_read():
    assert [one.id for one in people("id,section\nada\nben,b,more,more\n\n,,\n")] == ["ada", "ben"]


def test_a_very_long_table_cell_is_read():
    """Moodle's worksheet has a cell with all of a learner's online text."""
    assert people(f'id,"Online text"\nada,"{"x" * 500_000}"\n') == [Person("ada")]


def test_an_unparsable_table_is_reported():
    with pytest.raises(ValueError, match="is not a table that can be read"):
        Table('id,email\nada,"' + "x" * 21_000_000 + '"\n')


def test_carriage_returns_end_lines():
    assert [one.id for one in people("id,email\rada,\rben,\r")] == ["ada", "ben"]


@pytest.mark.parametrize("given", ["int8-matmul", "=Grade", "int8-matmul=", ""])
def test_a_malformed_column_option_is_explained(given, capsys):
    with pytest.raises(SystemExit):
        commands.main(["export", "course", "theirs.csv", "out.csv", "--column", given])
    assert "write EXERCISE=HEAD, as int8-matmul=Grade" in capsys.readouterr().err
