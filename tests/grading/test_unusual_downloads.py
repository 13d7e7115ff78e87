"""Tests of downloads with unusual packing, file names or encodings."""

import bz2
import html
import io
import json
import struct
import zipfile
import zlib

import pytest
from classroom import Classroom

from grading.errors import Unable
from grading.platforms import downloads, hand_ins, nested, week, zip_names

NAME = "int8-matmul"
NOTEBOOK = json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
PEOPLE = [("7", "ada", "Ada", "Lovelace"), ("12", "mueller", "Jörg", "Müller")]
PEOPLE += [("13", "sakata", "ダイキ", "坂田表"), ("14", "sergey", "Сергей", "Юдин")]


def moodle(person, number, title, kind="file"):
    return f"{person}_{number}_assignsubmission_{kind}/{title}"


ADA = moodle("Ada Lovelace", 7, f"{NAME}.ipynb")


def packed(files):
    """Return a zip with these files.

    Names given as bytes are written without the UTF-8 flag.
    """
    names = {}
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as made:
        for number, (name, content) in enumerate(files.items()):
            if isinstance(name, bytes):
                stand_in = f"{number:03}".ljust(len(name), "~")
                names[stand_in.encode()] = name
                name = stand_in
            made.writestr(name, content)
    whole = stream.getvalue()
    for stand_in, name in names.items():
        assert whole.count(stand_in) == 2
        whole = whole.replace(stand_in, name)
    return whole


@pytest.fixture
def room(tmp_path, release):
    return Classroom(tmp_path / "course", release)


def enter_roster(room, tmp_path, people=PEOPLE):
    table = tmp_path / "people.csv"
    rows = ["lms_user_id,id,first_name,last_name", *map(",".join, people)]
    table.write_text("\n".join(rows), encoding="utf-8")
    week.roster(room.course, table)


def collected(room, tmp_path, files):
    """Collect a download; return (path → content, all lines but the last).

    The paths are relative to submitted/.
    """
    archive = tmp_path / "download.zip"
    archive.write_bytes(files if isinstance(files, bytes) else packed(files))
    *lines, last = week.collect(room.course, NAME, archive)
    assert "collected" in last
    base = room.folder / "submitted"
    found = {one.relative_to(base).as_posix(): one for one in base.rglob("*") if one.is_file()}
    return {place: file.read_bytes() for place, file in found.items()}, lines


# --- zips in zips ---------------------------------------------------------------------------------


def test_a_submitted_zip_is_unpacked(room, tmp_path):
    inner = {
        f"work/{NAME}.ipynb": NOTEBOOK,
        "work/data.bin": b"x" * 100,
        "__MACOSX/work/._x.ipynb": "litter",
        f"work/.ipynb_checkpoints/{NAME}-checkpoint.ipynb": "old",
    }
    files, lines = collected(room, tmp_path, {moodle("Ada Lovelace", 7, "work.zip"): packed(inner)})
    assert files == {f"Ada Lovelace 7/{NAME}/{NAME}.ipynb": NOTEBOOK.encode()}
    assert lines == [f"Ada Lovelace 7: work.zip is a zip; in it: {NAME}.ipynb"]


def test_nested_zips_are_unpacked(room, tmp_path):
    inner = packed({"b.zip": packed({"c.zip": packed({"x.ipynb": NOTEBOOK})})})
    files, _ = collected(room, tmp_path, {moodle("Ada", 7, "a.ZIP"): inner})
    assert list(files) == [f"Ada 7/{NAME}/x.ipynb"]


def stated(size):
    """Return a small zip that declares this unpacked size."""
    whole = bytearray(packed({"x.ipynb": "x" * 1_000}))
    table = whole.index(b"PK\1\2")
    whole[table + 24 : table + 28] = struct.pack("<L", size)
    return bytes(whole)


def nested_in(content, times):
    for _ in range(times):
        content = packed({"x.zip": content})
    return content


def by_method(method):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as made:
        made.writestr("x.ipynb", bytes(19_000_000))
    return stream.getvalue()


def encrypted():
    whole = bytearray(packed({"x.ipynb": NOTEBOOK}))
    whole[whole.index(b"PK\1\2") + 8] |= 1
    whole[6] |= 1
    return bytes(whole)


def of_format_64():
    whole = packed({"x.ipynb": NOTEBOOK})
    end = whole.index(b"PK\5\6")
    return whole[:end] + b"PK\6\7" + bytes(16) + whole[end:]


def of_many_bytes():
    return packed({f"{one}.ipynb": bytes(19_000_000) for one in range(6)})


ODD = {
    "deep": (lambda: nested_in(NOTEBOOK.encode(), 4), "more than 3 deep"),
    "many files": (lambda: packed(dict.fromkeys(map(str, range(1_001)), "")), "more than 1000"),
    "a long table": (
        lambda: packed({f"{one:0250}": "" for one in range(1_500)}),
        "more than 1000",
    ),
    "a large file": (lambda: stated(30_000_000), "more than 20 MB"),
    "much in all": (of_many_bytes, "more than 100 MB"),
    "a false size": (lambda: stated(10), "is damaged"),
    "bzip2": (lambda: by_method(zipfile.ZIP_BZIP2), "unusual way"),
    "lzma": (lambda: by_method(zipfile.ZIP_LZMA), "unusual way"),
    "a password": (encrypted, "needs a password"),
    "half of it": (lambda: packed({"x.ipynb": NOTEBOOK})[:-30], "table of contents is missing"),
    "zip64": (of_format_64, "more than 1000"),
    "no notebook": (lambda: packed({"x.txt": "x"}), "no notebook"),
}


@pytest.mark.parametrize("kind", ODD)
def test_unpackable_zips_are_reported_and_kept(room, tmp_path, kind):
    make, says = ODD[kind]
    bad = make()
    name = moodle("Eve", 8, "x.zip")
    files, lines = collected(room, tmp_path, {name: bad, ADA: NOTEBOOK})
    assert sorted(files) == [f"Ada Lovelace 7/{NAME}/{NAME}.ipynb", f"Eve 8/{NAME}/x.zip"]
    assert files[f"Eve 8/{NAME}/x.zip"] == bad, "grading then says that there is no notebook"
    (line,) = lines
    assert line.startswith("Eve 8: x.zip")
    assert says in line


def test_the_files_of_a_learner_may_reach_but_not_exceed_the_limits():
    budget = nested.Budget()
    budget.take_files(1_000)
    budget.take_bytes(100_000_000)
    with pytest.raises(nested.CannotOpen, match="more than 1000 files"):
        budget.take_files(1)
    with pytest.raises(nested.CannotOpen, match="more than 100 MB"):
        budget.take_bytes(1)


def test_a_file_in_a_zip_may_be_as_large_as_the_limit(monkeypatch):
    monkeypatch.setattr(nested, "MAX_FILE_BYTES", 5)
    inner = packed({"x.ipynb": "x" * 5})
    assert nested.notebooks(inner, nested.Budget()) == [("x.ipynb", b"x" * 5)]


def test_the_size_of_a_zips_central_directory_is_known_before_parsing():
    """A central directory takes 46 bytes for each file, plus the file's name."""
    names = ["x" * 10, "y" * 300]
    assert nested._table_bytes(packed(dict.fromkeys(names, "x"))) == 2 * 46 + 10 + 300


def test_a_zip_with_too_large_a_central_directory_is_not_parsed(monkeypatch):
    """1000 files with names of 254 bytes are parsed; one more file is too many."""
    zips = [packed({f"{one:0254}": "" for one in range(count)}) for count in (1_000, 1_001)]
    assert nested.notebooks(zips[0], nested.Budget()) == []
    monkeypatch.setattr(zipfile, "ZipFile", lambda _: pytest.fail("was parsed"))
    with pytest.raises(nested.CannotOpen, match="more than 1000 files"):
        nested.notebooks(zips[1], nested.Budget())


def test_only_visible_notebooks_are_taken_from_a_zip(room, tmp_path):
    inner = {
        "old.ipynb/": "",
        "a\\b.ipynb": NOTEBOOK,
        b"\x81.ipynb": NOTEBOOK,
        "empty.zip": "no zip",
        ".": "x",
        "a*.ipynb": "x",
        "__MACOSX/c.ipynb": "x",
    }
    files, lines = collected(room, tmp_path, {moodle("Ada", 7, "x.zip"): packed(inner)})
    assert sorted(files) == [f"Ada 7/{NAME}/b.ipynb", f"Ada 7/{NAME}/ü.ipynb"]
    assert lines == [
        "Ada 7: x.zip is a zip; in it: b.ipynb, ü.ipynb, a*.ipynb",
        "Ada 7: a*.ipynb: not the name of a file",
    ]


def test_a_zip_may_have_a_comment(room, tmp_path):
    stream = io.BytesIO(packed({"x.ipynb": NOTEBOOK}))
    with zipfile.ZipFile(stream, "a") as made:
        made.comment = b"x" * 65_535
    files, _ = collected(room, tmp_path, {moodle("Ada", 7, "x.zip"): stream.getvalue()})
    assert list(files) == [f"Ada 7/{NAME}/x.ipynb"]


def test_a_file_that_is_a_zip_by_name_only_is_kept(room, tmp_path):
    files, lines = collected(room, tmp_path, {moodle("Ada", 7, "x.zip"): "text"})
    assert (files, lines) == ({f"Ada 7/{NAME}/x.zip": b"text"}, [])


def test_limits_apply_to_all_zips_of_a_learner_together(room, tmp_path, monkeypatch):
    monkeypatch.setattr(nested, "MAX_FILES", 3)
    inner = packed({"a.ipynb": "a", "b.ipynb": "b"})
    names = {moodle("Eve", 8, f"{one}.zip"): inner for one in range(2)}
    _, lines = collected(room, tmp_path, names | {moodle("Ada", 7, "0.zip"): inner})
    assert lines == [
        "Ada 7: 0.zip is a zip; in it: a.ipynb, b.ipynb",
        "Eve 8: 0.zip is a zip; in it: a.ipynb, b.ipynb",
        "Eve 8: 1.zip holds more than 3 files",
    ]


def test_unusual_compression_methods_are_not_unpacked():
    """Check that bzip2 is refused before it is unpacked.

    zipfile unpacks bzip2 before it checks the declared size.
    """
    assert len(bz2.compress(bytes(19_000_000))) < 100
    with pytest.raises(nested.CannotOpen, match="unusual way"):
        nested.notebooks(by_method(zipfile.ZIP_BZIP2), nested.Budget())


def test_a_zip_of_group_downloads_is_collected(room, tmp_path):
    groups = {f"group {one}.zip": packed({moodle("A", one, "x.ipynb"): "x"}) for one in (1, 2)}
    files, lines = collected(room, tmp_path, groups)
    assert (sorted(files), lines) == ([f"A {one}/{NAME}/x.ipynb" for one in (1, 2)], [])


def test_a_damaged_inner_download_does_not_affect_others(room, tmp_path):
    groups = {"a.zip": b"PK\3\4 no more", "b.zip": packed({ADA: "x"})}
    groups["c.zip"] = nested_in(packed({ADA: "x"}), 2)
    groups["d.zip"] = nested_in(packed({moodle("Ben", 8, "x.ipynb"): "x"}), 1)
    groups["e.zip"] = by_method(zipfile.ZIP_BZIP2)
    files, lines = collected(room, tmp_path, packed_with_odd_zip(groups))
    assert list(files) == [f"Ada Lovelace 7/{NAME}/{NAME}.ipynb", f"Ben 8/{NAME}/x.ipynb"]
    assert [line.partition(":")[0].partition(" is")[0] for line in lines] == [
        *("a.zip", "x.zip", "x.ipynb", "odd.zip"),
    ]
    assert "more than 3 deep" in lines[1]


def packed_with_odd_zip(files):
    """Return a zip with these files, and a last one whose content is damaged."""
    whole = packed(files | {"odd.zip": "x" * 1_000})
    at = whole.rindex(b"PK\3\4")
    at += 30 + len("odd.zip")
    return whole[:at] + b"\xff" + whole[at + 1 :]  # an invalid deflate block type


@pytest.mark.parametrize(("size", "said"), [(2_000_000_000, False), (2_000_000_001, True)])
def test_inner_downloads_larger_than_two_gigabytes_are_not_unpacked(room, tmp_path, size, said):
    whole = bytearray(packed({"a.zip": packed({ADA: "x"})}))
    table = whole.rindex(b"PK\1\2")
    whole[table + 24 : table + 28] = struct.pack("<L", size)
    _, lines = collected(room, tmp_path, bytes(whole))
    assert any("too large a zip in a zip" in line for line in lines) == said


def test_an_inner_download_in_an_unusual_compression_is_not_unpacked(room, tmp_path):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_BZIP2) as made:
        made.writestr("a.zip", packed({ADA: "x"}))
    files, (line,) = collected(room, tmp_path, stream.getvalue())
    assert (files, line.partition(":")[0]) == ({}, "a.zip")


def test_a_damaged_file_in_an_inner_download_is_reported_with_its_zip(room, tmp_path):
    name = moodle("Ada", 7, "x.ipynb")
    whole = packed({name: "x" * 1_000})
    at = 30 + len(name)
    groups = {"a.zip": whole[:at] + b"\xff" + whole[at + 1 :]}
    with pytest.raises(Unable, match=r"^a.zip is damaged \(.*\); download it again"):
        collected(room, tmp_path, groups)


def test_large_and_empty_files_of_a_download_are_left_out(room, tmp_path, monkeypatch):
    monkeypatch.setattr(downloads, "MAX_FILE_BYTES", 5)
    names = {moodle("Ada", 7, f"{count}.ipynb"): "x" * count for count in (0, 5, 6)}
    files, lines = collected(room, tmp_path, names)
    assert list(files) == [f"Ada 7/{NAME}/5.ipynb"]
    assert lines == ["Ada 7: 0.ipynb: empty", "Ada 7: 6.ipynb: more than 20 MB"]


def test_unusual_compression_of_a_download_is_refused(room, tmp_path):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_BZIP2) as made:
        made.writestr(ADA, bytes(19_000_000))
    with pytest.raises(Unable, match="compressed as no platform does it"):
        collected(room, tmp_path, stream.getvalue())


# --- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("top", ["", "submissions\\", "a\\b\\"])
def test_backslashes_in_paths_are_accepted(room, tmp_path, top):
    names = [ADA.replace("/", "\\"), "lovelaceben_8_4711_x.ipynb"]
    files, lines = collected(room, tmp_path, {top + name: "x" for name in names})
    assert sorted(files) == [f"Ada Lovelace 7/{NAME}/{NAME}.ipynb", f"lovelaceben 8/{NAME}/x.ipynb"]
    assert not lines


def test_system_files_and_an_outer_folder_are_skipped(room, tmp_path):
    names = [
        "all/",
        f"all/{ADA}",
        "all/.DS_Store",
        "__MACOSX/all/._x",
        "all/lovelaceben_8_4711_x.ipynb",
    ]
    files, lines = collected(room, tmp_path, {name: name[:-1] and "x" for name in names})
    assert sorted(files) == [f"Ada Lovelace 7/{NAME}/{NAME}.ipynb", f"lovelaceben 8/{NAME}/x.ipynb"]
    assert not lines


ENCODED = [
    ("cp437", "Jörg Müller", "12", "Übung.ipynb"),
    ("cp1252", "Jörg Müller", "12", "Übung.ipynb"),
    ("cp932", "ダイキ 坂田表", "13", "課題ソ表.ipynb"),
    ("cp1251", "Сергей Юдин", "14", "Задача.ipynb"),
    ("cp866", "Сергей Юдин", "14", "Задача.ipynb"),
]


@pytest.mark.parametrize(("encoding", "person", "number", "title"), ENCODED)
@pytest.mark.parametrize("separator", ["/", "\\"])
def test_a_roster_reveals_the_encoding_of_names(
    room, tmp_path, encoding, person, number, title, separator
):
    enter_roster(room, tmp_path)
    name = moodle(person, number, title).replace("/", separator).encode(encoding)
    files, lines = collected(room, tmp_path, {name: "x", ADA: "y"})
    student = {one[0]: one[1] for one in PEOPLE}[number]
    assert sorted(files) == sorted([f"{student}/{NAME}/{title}", f"ada/{NAME}/{NAME}.ipynb"])
    assert not lines


def test_backslashes_in_names_with_unknown_encoding_are_accepted(room, tmp_path):
    name = moodle("Jörg Müller", 12, "x.ipynb").replace("/", "\\").encode("cp1252")
    files, _ = collected(room, tmp_path, {name: "x"})
    assert list(files) == [f"12/{NAME}/x.ipynb"]


@pytest.mark.parametrize(("encoding", "person", "number", "title"), ENCODED)
def test_names_with_unknown_encoding_are_reported(room, tmp_path, encoding, person, number, title):
    name = moodle(person, number, "x.ipynb").encode(encoding)
    files, lines = collected(room, tmp_path, {name: "x", ADA: "y"})
    assert sorted(files) == [f"{number}/{NAME}/x.ipynb", f"Ada Lovelace 7/{NAME}/{NAME}.ipynb"]
    (line,) = lines
    assert "the names of 1 learners are neither in UTF-8 nor in the roster" in line
    assert "run `roster` first" in line


def test_people_whose_name_is_not_decoded_are_found_by_their_number(room, tmp_path):
    enter_roster(room, tmp_path, [("12", "mueller", "J.", "M.")])
    name = moodle("Jörg Müller", 12, "x.ipynb").encode("cp1252")
    files, lines = collected(room, tmp_path, {name: "x"})
    assert (list(files), lines) == ([f"mueller/{NAME}/x.ipynb"], [])


def test_a_learners_ascii_name_is_read_though_the_encoding_is_unknown(room, tmp_path):
    name = moodle("Ada Lovelace", 7, "\x81.ipynb").encode("latin-1")
    files, lines = collected(room, tmp_path, {name: "x"})
    assert (list(files), lines) == ([f"Ada Lovelace 7/{NAME}/ü.ipynb"], [])


def test_unflagged_utf_8_and_info_zip_names_are_read(room, tmp_path):
    plain = moodle("王 小明", 9, "x.ipynb").encode()
    whole = bytearray(packed({b"M_8_assignsubmission_file/\x81.ipynb": "x", plain: "y"}))
    name = b"M_8_assignsubmission_file/\x81.ipynb"
    field = b"\1" + struct.pack("<L", zlib.crc32(name)) + moodle("Mü", 8, "ü.ipynb").encode()
    field = struct.pack("<HH", 0x7075, len(field)) + field
    table = whole.index(b"PK\1\2")
    end = table + 46 + len(name)
    whole[end:end] = field
    whole[table + 30 : table + 32] = struct.pack("<H", len(field))
    last = whole.index(b"PK\5\6")
    size = struct.unpack("<L", whole[last + 12 : last + 16])[0] + len(field)
    whole[last + 12 : last + 16] = struct.pack("<L", size)
    files, lines = collected(room, tmp_path, bytes(whole))
    assert sorted(files) == [f"Mü 8/{NAME}/ü.ipynb", f"王 小明 9/{NAME}/x.ipynb"]
    assert not lines


PLAIN = b"\x81.ipynb"
TIMES = (0x5455, b"\x01" + bytes(4))  # an extra field with a time
PATH = (0x7075, b"\x01" + struct.pack("<L", zlib.crc32(PLAIN)))


def extra(*fields):
    return b"".join(struct.pack("<HH", kind, len(field)) + field for kind, field in fields)


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        (extra((PATH[0], PATH[1] + "ö".encode())), "ö"),
        (extra((PATH[0], PATH[1] + b"a")), "a"),
        (extra(TIMES, (PATH[0], PATH[1] + b"a")), "a"),
        (extra((PATH[0], PATH[1] + b"a"), TIMES), "a"),
        (extra((PATH[0], PATH[1] + b"a")) + b"\0", "a"),
        (extra((PATH[0], PATH[1] + b"\xff")), PLAIN),
        (extra((PATH[0], b"\2" + PATH[1][1:] + b"a")), PLAIN),
        (extra((PATH[0], PATH[1][:-1] + b"?a")), PLAIN),
        (extra((0x7076, PATH[1] + b"a")), PLAIN),
        (extra(TIMES), PLAIN),
        (extra((PATH[0], b"\1")), PLAIN),
        (b"\0", PLAIN),
    ],
)
def test_names_in_extra_fields_are_used_if_their_checksum_is_right(fields, name):
    entry = zipfile.ZipInfo(PLAIN.decode("cp437"))
    entry.extra = fields
    assert zip_names.certain(entry) == name


def test_zip_entry_names_are_utf_8_if_flagged_or_valid_utf_8():
    entry = zipfile.ZipInfo("ü")
    entry.flag_bits = 0x2  # another flag
    assert zip_names.certain(entry) == "ü".encode("cp437")
    entry.flag_bits = 0x800
    assert zip_names.certain(entry) == "ü"
    assert zip_names.certain(zipfile.ZipInfo("ü".encode().decode("cp437"))) == "ü"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Ada Lovelace", "lovelaceada", True),
        ("O'Neil", "oneil", True),
        ("ダイキ", "ﾀﾞｲｷ", True),
        ("Ada", "Adam", False),
        ("", "", False),
    ],
)
def test_names_with_the_same_letters_are_of_the_same_person(one, other, same):
    assert zip_names.same_person(one, other) is same


def test_the_encoding_that_fits_the_names_of_the_roster_is_chosen():
    def person(name):
        return name.partition(" ")[::2] if " " in name else None

    people = {"1": "Jörg", "2": "Åsa", "3": "Łukasz"}
    names = [
        f"{number} {name}".encode("cp1250") for number, name in people.items() if number != "2"
    ]
    assert zip_names.encoding([*names, b"alone"], person, people) == "cp1250"
    assert zip_names.encoding([*names, b"4 x"], person, {}) is None
    # An encoding must decode all names. Those in which 0xF6 is ö leave 0x81 undefined.
    assert zip_names.encoding(["1 Jörg".encode("cp1252"), b"\x81"], person, people) is None
    assert zip_names.encoding([b"2 \x8fsa", b"1 J\x94rg"], person, people) == "cp437"


def test_feedback_pages_are_returned_under_names_that_moodle_can_import(room, tmp_path):
    """Moodle's import reads the second part of NAME_NUMBER_… as the participant's number."""
    page = room.course.feedback("13", NAME)
    page.parent.mkdir(parents=True)
    page.write_text("well")
    archive, target = tmp_path / "in.zip", tmp_path / "out.zip"
    archive.write_bytes(packed({moodle("ダイキ 坂田表", 13, "x.ipynb").encode("cp932"): "x"}))
    week.give_back(room.course, NAME, archive, target)
    (name,) = zipfile.ZipFile(target).namelist()
    assert name == f"participant_13_assignsubmission_file/{NAME}.html"


def test_feedback_pages_are_returned_in_the_folder_of_a_repacked_download(room, tmp_path):
    page = room.course.feedback("lovelaceben 8", NAME)
    page.parent.mkdir(parents=True)
    page.write_text("well")
    archive, target = tmp_path / "in.zip", tmp_path / "out.zip"
    archive.write_bytes(packed({"all/lovelaceben_8_4711_x.ipynb": "x"}))
    week.give_back(room.course, NAME, archive, target)
    assert zipfile.ZipFile(target).namelist() == [f"all/lovelaceben_8_4711_{NAME}.html"]


@pytest.mark.parametrize("title", ["x" * 300 + ".ipynb", "課" * 200 + ".ipynb"])
def test_long_file_names_are_shortened(room, tmp_path, title):
    files, _ = collected(room, tmp_path, {moodle("Ada", 7, title): "x", moodle("B", 8, title): "y"})
    assert len(files) == 2
    assert all(place.endswith(".ipynb") for place in files)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("a" * 300 + ".ipynb", "a" * 239 + ".ipynb"),
        ("a" * 300 + "." + "b" * 300, "a" * 225 + "b" * 20),
    ],
)
def test_shortened_names_leave_ten_bytes_for_a_number(room, tmp_path, title, name):
    files, _ = collected(room, tmp_path, {moodle("Ada", 7, title): "x"})
    assert list(files) == [f"Ada 7/{NAME}/{name}"]


def test_a_name_too_long_for_a_folder_is_reported(room, tmp_path):
    names = {moodle("A" * length, 7, "x.ipynb"): "x" for length in (253, 254)}
    files, lines = collected(room, tmp_path, names)
    assert list(files) == [f"{'A' * 253} 7/{NAME}/x.ipynb"]
    assert "too long for a folder" in lines[0]


def test_a_student_whose_name_has_a_slash_gets_no_folder(room, tmp_path):
    with room.course.gradebook() as gradebook:
        gradebook.update_or_create_student("a/b", lms_user_id="7")
    assert collected(room, tmp_path, {ADA: "x"}) == ({}, ["a/b: a name with a slash"])


def test_a_student_with_an_invalid_name_gets_no_folder(room, tmp_path):
    files = {moodle("[Ada]", 7, "x.ipynb"): "x"}
    assert collected(room, tmp_path, files) == ({}, ["[Ada] 7: not a name that a student can have"])


# --- online text ----------------------------------------------------------------------------------


def page(words):
    return f'<!DOCTYPE html><html><head><meta charset="UTF-8"></head><body>{words}</body></html>'


FORMS = {
    "a folder of Moodle's": moodle("Ada", 7, "onlinetext.html", "onlinetext"),
    "an older Moodle's": "Ada_7_assignsubmission_onlinetext_/onlinetext.html",
    "all in one folder": "Ada_7_assignsubmission_onlinetext_onlinetext.html",
    "Canvas's": "Ada_7_text.html",
    "Canvas's, late": "Ada_LATE_7_text.html",
}


@pytest.mark.parametrize("name", FORMS.values(), ids=FORMS)
def test_online_text_without_a_notebook_is_reported(room, tmp_path, name):
    files, lines = collected(room, tmp_path, {name: page("<p>See my site</p>")})
    assert list(files) == [f"Ada 7/{NAME}/onlinetext.html"]
    assert lines == ["Ada 7: a text was handed in and no notebook"]


@pytest.mark.parametrize("name", FORMS.values(), ids=FORMS)
def test_a_pasted_notebook_is_accepted(room, tmp_path, name):
    cell = {"cell_type": "code", "source": "if 1 < 2:\n    x = '<b>&'"}
    pasted = json.dumps({"cells": [cell], "nbformat": 4}, indent=1)
    lines = [html.escape(line).replace(" ", "&nbsp;") for line in pasted.splitlines()]
    typed = "".join(f"<p>{line}</p>\n" for line in lines)
    files, lines = collected(room, tmp_path, {name: page(typed)})
    assert list(files) == [f"Ada 7/{NAME}/onlinetext.ipynb"]
    assert json.loads(*files.values())["cells"] == [cell]
    assert lines == ["Ada 7: a notebook was pasted as text; it is taken as onlinetext.ipynb"]


def test_online_text_beside_a_notebook_is_reported_unless_empty(room, tmp_path):
    both = {
        moodle("Ada", 7, "x.ipynb"): "x",
        moodle("Ada", 7, "y.txt"): "y",
        FORMS["all in one folder"]: page("Sorry!"),
    }
    both |= {moodle("Ben", 8, "x.ipynb"): "x"}
    both |= {moodle("Ben", 8, "onlinetext.html", "onlinetext"): page("<p>&nbsp;</p>")}
    files, lines = collected(room, tmp_path, both)
    places = [f"Ada 7/{NAME}/x.ipynb", f"Ada 7/{NAME}/y.txt", f"Ben 8/{NAME}/x.ipynb"]
    assert sorted(files) == places
    assert lines == ["Ada 7: a text was handed in beside the notebook; read it on the platform"]


@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 200_000 + "}", "<a" * 100_000, "<!--"])
def test_online_text_that_breaks_the_parser_is_kept_as_html(room, tmp_path, text):
    name = FORMS["Canvas's"]
    files, _ = collected(room, tmp_path, {name: page(f"x {text}")})
    assert list(files) == [f"Ada 7/{NAME}/onlinetext.html"]


@pytest.mark.parametrize("words", ["<IMG src='x'>", "{&quot;a&quot;: 1}", "[]"])
def test_online_text_with_a_picture_or_other_json_is_kept_as_html(room, tmp_path, words):
    files, _ = collected(room, tmp_path, {FORMS["Canvas's"]: page(words)})
    assert list(files) == [f"Ada 7/{NAME}/onlinetext.html"]


def test_pictures_in_online_text_are_left_out(room, tmp_path):
    files = {moodle("Ada", 7, "picture.png", "onlinetext"): "x"}
    assert collected(room, tmp_path, files) == ({}, [])


def test_a_submitted_url_is_reported(room, tmp_path):
    _, lines = collected(room, tmp_path, {"Ada_7_link.html": page("https://example.org")})
    assert lines == ["Ada 7: a link was handed in and no notebook"]


def test_a_download_with_too_many_files_is_refused(room, tmp_path, monkeypatch):
    monkeypatch.setattr(downloads, "MAX_FILES", 2)
    names = [moodle("Ada", one, "x.ipynb") for one in range(4)]
    assert len(collected(room, tmp_path, dict.fromkeys(names[:2], "x"))[0]) == 2
    with pytest.raises(Unable, match="more than 2 files"):
        collected(room, tmp_path, dict.fromkeys(names[:3], "x"))
    groups = {f"{one}.zip": packed(dict.fromkeys(names[one : one + 2], "x")) for one in (0, 2)}
    assert collected(room, tmp_path, groups)[1] == ["2.zip has more than 2 files"]


def test_a_download_may_have_at_most_20_000_files(room, tmp_path, monkeypatch):
    entry = zipfile.ZipInfo("readme.txt")
    monkeypatch.setattr(zipfile.ZipFile, "infolist", lambda _: [entry] * 20_001)
    with pytest.raises(Unable, match="more than 20000 files"):
        collected(room, tmp_path, {})


def test_only_small_regular_files_are_compared(tmp_path, monkeypatch):
    monkeypatch.setattr(hand_ins, "MAX_FILE_BYTES", 3)
    (tmp_path / "a").write_text("xxx")
    (tmp_path / "b").write_text("xxxx")
    (tmp_path / "c").symlink_to(tmp_path / "a")
    (tmp_path / "d").mkdir()
    assert hand_ins.content(tmp_path) == {"a": b"xxx"}


@pytest.mark.parametrize("kind", ["link", "folder"])
def test_leftovers_of_an_interrupted_collect_do_not_stop_a_new_one(tmp_path, kind):
    outside, folder = tmp_path / "outside", tmp_path / "ada" / NAME
    outside.mkdir()
    (outside / "x").write_text("kept")
    folder.mkdir(parents=True)
    (folder / "old").touch()
    for word in ("new", "old"):
        place = folder.with_name(f".{NAME}.{word}")
        if kind == "link":
            place.symlink_to(outside)
        else:
            place.mkdir()
            (place / "left").touch()
    hand_ins.put(folder, {"a": b"x"})
    assert [path.name for path in folder.parent.iterdir()] == [NAME]
    assert [path.name for path in folder.iterdir()] == ["a"]
    assert (outside / "x").read_text() == "kept"
