"""What decides about points: with another version, all is released and graded again."""

import ast
import functools
import hashlib
from collections.abc import Iterator
from pathlib import Path

import roofkit
import rooflib
from grading import schema
from grading.release import exercises

HERE, KIT = Path(__file__).parent, Path(roofkit.__file__).parent


@functools.cache
def version(name: str) -> str:
    """Return a digest of all that decides what an exercise's learners are given, and get for it.

    Comments and layout of code don't count: a class is not graded again because of one.
    """
    return hashlib.sha256(b"".join(map(_meaning, _files(name)))).hexdigest()


def _files(name: str) -> Iterator[Path]:
    yield exercises.file_of(name)
    yield from (exercises.FOLDER / exercises.SHARED, schema.MISTAKES)
    yield from (HERE / f"{module}.py" for module in ("grade", "inside", "notebook", "schema"))
    yield from (KIT / "words.py", KIT / "notebook_language.py")
    for folder in (HERE / "release", KIT / "check", Path(rooflib.__file__).parent):
        found = sorted(folder.rglob("*.*"))
        yield from (file for file in found if file.suffix in (".py", ".toml"))
    for catalog in ("checks", "grading"):
        yield from sorted((exercises.ROOT / "locale").glob(f"*/LC_MESSAGES/{catalog}.po"))


@functools.cache
def _meaning(file: Path) -> bytes:
    content = file.read_bytes()
    if file.suffix == ".py":
        content = ast.dump(ast.parse(content)).encode()
    return hashlib.sha256(content).digest()
